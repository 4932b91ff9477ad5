"""A benchmark that nobody has heard of, added by writing one folder: everything works on it, tests included."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

SPEC = '''\
"""Silhouettes: which of three shapes crosses the field?"""

from reelbench.registry.data.rows_on_disk import RowsOnDisk
from reelbench.registry.spec import (
    BenchmarkSpec, Facet, HubFile, Macro, Mean, MediaSource, Metric, Paper, SplitSpec, TaskSpec
)

SPEC = BenchmarkSpec(
    id="silhouettes",
    title="Silhouettes",
    version=1,
    summary="Choose the shape that crosses the field.",
    homepage="https://example.org/silhouettes",
    license="cc0-1.0",
    languages=("en",),
    row_kind="choice",
    splits={"dev": SplitSpec(source=HubFile(repo_id="example/silhouettes", filenames=("dev.jsonl",)), rows=6)},
    default_split="dev",
    reader="reelbench.tasks.silhouettes.data:read",
    formats="reelbench.tasks.silhouettes.formats",
    media=(MediaSource(title="Clips", kind="form", location="https://example.org/form", layouts=("{video}",)),),
    tasks=(TaskSpec(name="silhouettes", split="dev"), TaskSpec(name="silhouettes_mini", split="mini")),
    kinds=("choice",),
    metrics=(
        Metric(
            name="accuracy", title="Accuracy", unit="percent", high=100, aggregate=Mean(column="correct", scale=100)
        ),
        Metric(
            name="by_shape", title="Mean over shapes", unit="percent", high=100,
            aggregate=Macro(column="correct", facet="shape", scale=100),
        ),
    ),
    facets=(Facet(name="shape", title="Shape"),),
    paper=Paper(
        key="nobody2026", title="Silhouettes", authors=("Nobody",), venue="Nowhere", year=2026, url="https://example.org"
    ),
)
DATASET = RowsOnDisk("silhouettes")
MINI_DATASET = RowsOnDisk("silhouettes_mini")
DATA = (DATASET, MINI_DATASET)
'''

READER = '''\
"""Silhouettes' file -> rows."""

from reelbench.registry.files import read_jsonl


def read(paths, split):
    """Yield the rows."""
    for path in paths:
        for _, entry in read_jsonl(path):
            yield {
                "id": entry["n"], "video": entry["clip"], "question": entry["ask"], "language": "en",
                "options": entry["of"], "answer": entry["right"], "shape": [entry["right"]],
            }
'''

FORMATS = '''\
"""Silhouettes' predictions: {"n", "letter"} lines."""

from reelbench.registry.files import read_jsonl
from reelbench.tasks.submissions import Prediction, join, references_of


def read(spec, inputs):
    """Read predictions and hold them against the benchmark's own rows."""
    predictions = {
        row["n"]: Prediction(row["letter"], {"answer": row["letter"]}) for _, row in read_jsonl(inputs.predictions)
    }
    references, source, split = references_of(spec, inputs, lambda path: [])
    return join(predictions, references, source, path=inputs.predictions, split=split)
'''

YAML = """\
task: silhouettes
tag: [reelbench]
dataset_path: !function reelbench.tasks.silhouettes.DATASET
dataset_kwargs:
  load_from_disk: true
test_split: dev
output_type: generate_until
process_docs: !function reelbench.tasks.silhouettes.lmms.process_docs
doc_to_messages: !function reelbench.tasks.silhouettes.lmms.doc_to_messages
doc_to_visual: !function reelbench.tasks.silhouettes.lmms.doc_to_visual
doc_to_text: !function reelbench.tasks.silhouettes.lmms.doc_to_text
doc_to_target: !function reelbench.tasks.silhouettes.lmms.doc_to_target
process_results: !function reelbench.tasks.silhouettes.lmms.process_results
generation_kwargs:
  until: []
cluster_key: video
metric_list:
  - metric: accuracy
    aggregation: !function reelbench.tasks.silhouettes.lmms.aggregate
    higher_is_better: true
  - metric: by_shape
    aggregation: !function reelbench.tasks.silhouettes.lmms.aggregate
    higher_is_better: true
metadata:
  version: 1
"""

MINI_YAML = """\
include: silhouettes.yaml
task: silhouettes_mini
tag: [reelbench_mini]
dataset_path: !function reelbench.tasks.silhouettes.MINI_DATASET
test_split: mini
output_type: generate_until
"""

# pytest imports it as a plugin, which is how a folder outside the checkout becomes one of reelbench.tasks.
PLUGIN = "import reelbench.tasks\nreelbench.tasks.__path__.append({folder!r})\n"


@pytest.fixture
def environ(tmp_path):
    """Write the one folder; returns an environment in which it is one of the benchmarks."""
    folder = tmp_path / "more" / "silhouettes"
    (folder / "mini").mkdir(parents=True)
    lmms = (HERE.parent.parent / "tasks" / "moviecore" / "lmms.py").read_text(encoding="utf-8")
    shapes = [{"n": f"q{n}", "clip": f"c{n % 3}", "ask": f"Which shape is number {n}?",
               "of": ["circle", "square", "star"], "right": "ABC"[n % 3]} for n in range(6)]  # fmt: skip
    for name, text in {
        "__init__.py": SPEC,
        "data.py": READER,
        "formats.py": FORMATS,
        "lmms.py": lmms.replace("moviecore", "silhouettes"),
        "prompt.txt": "{question}\n{options}\nReply with the letter alone.\n",
        "silhouettes.yaml": YAML,
        "silhouettes_mini.yaml": MINI_YAML,
        "mini/dev.jsonl": "".join(json.dumps(shape) + "\n" for shape in shapes),
        "README.md": "# Silhouettes\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    (tmp_path / "fifth_benchmark.py").write_text(PLUGIN.format(folder=str(tmp_path / "more")), encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(tmp_path), "REELBENCH_HOME": str(tmp_path / "home")}


def test_the_tests_of_every_benchmark_run_on_it_and_pass(environ):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "fifth_benchmark", HERE / "test_every_benchmark.py",
         "-k", "silhouettes", "-p", "no:cacheprovider"],
        cwd=HERE.parent.parent, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(done.stdout.strip().splitlines()[-1].split(" passed")[0].split()[-1]) >= 10, done.stdout


def test_it_is_scored_without_a_line_of_code_for_it(environ, tmp_path):
    predictions = tmp_path / "p.jsonl"
    predictions.write_text("".join(json.dumps({"n": f"q{n}", "letter": "A"}) + "\n" for n in range(6)), "utf-8")
    code = (
        "import sys, fifth_benchmark\nsys.argv = ['reelbench', *sys.argv[1:]]\nfrom reelbench.cli import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "score", "silhouettes", "--predictions", predictions, "--split", "mini", "--json"],
        env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["metrics"]["accuracy"]["value"] == pytest.approx(100 / 3)
    assert document["breakdowns"]["shape"]["A"]["accuracy"]["value"] == 100
