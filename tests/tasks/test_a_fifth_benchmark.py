"""A benchmark in another package, one folder and an entry point: everything works on it, tests included."""

import json
import os
import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path

import pytest

from tests.several import run_commands

HERE = Path(__file__).resolve().parent

SPEC = '''\
"""Silhouettes: which of three shapes crosses the field?"""

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
    splits={
        "dev": SplitSpec(
            source=HubFile(repo_id="example/silhouettes", filenames=("dev.jsonl",)), needed=("right.jsonl",), rows=6
        )
    },
    default_split="dev",
    package=__name__,
    media=(MediaSource(title="Clips", kind="form", location="https://example.org/form", layouts=("{video}",)),),
    tasks=(
        TaskSpec(name="silhouettes", split="dev", tags=("reelbench",)),
        TaskSpec(name="silhouettes_mini", split="mini", tags=("reelbench_mini",)),
    ),
    kinds=("choice",),
    metrics=(
        Metric(
            name="accuracy", title="Accuracy", unit="percent", aggregate=Mean(column="correct", scale=100)
        ),
        Metric(
            name="by_shape", title="Mean over shapes", unit="percent",
            aggregate=Macro(column="correct", facet="shape", scale=100),
        ),
    ),
    facets=(Facet(name="shape", title="Shape"),),
    paper=Paper(
        key="nobody2026", title="Silhouettes", authors=("Nobody",), venue="Nowhere", year=2026, url="https://example.org"
    ),
)
'''

READER = '''\
"""Silhouettes' files -> rows: the questions, and what is right."""

from reelbench.base.files import read_jsonl


def read(paths, split):
    """Yield the rows."""
    questions, answers = paths
    right = {entry["n"]: entry["right"] for _, entry in read_jsonl(answers)}
    for _, entry in read_jsonl(questions):
        yield {
            "id": entry["n"], "video": entry["clip"], "question": entry["ask"], "language": "en",
            "options": entry["of"], "answer": right[entry["n"]], "shape": [right[entry["n"]]],
        }
'''

FORMATS = '''\
"""Silhouettes' predictions: {"n", "letter"} lines."""

from reelbench.tasks.submissions import Prediction


def read(questions, path, document):
    """Read predictions by id."""
    return {row["n"]: Prediction(row["letter"], {"answer": row["letter"]}) for row in document}
'''

PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "silhouettes-bench"
version = "1.0"

[project.entry-points."reelbench.benchmarks"]
silhouettes = "silhouettes_bench:SPEC"

[tool.setuptools]
packages = ["silhouettes_bench"]

[tool.setuptools.package-data]
silhouettes_bench = ["*.txt", "*.yaml", "*.md", "mini/*"]
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Build and install the package into an environment of its own, laid over this one; returns its `bin` folder."""
    root = tmp_path_factory.mktemp("fifth")
    folder = root / "project" / "silhouettes_bench"
    (folder / "mini").mkdir(parents=True)
    shapes = [{"n": f"q{n}", "clip": f"c{n % 3}", "ask": f"Which shape is number {n}?",
               "of": ["circle", "square", "star"]} for n in range(6)]  # fmt: skip
    right = [{"n": f"q{n}", "right": "ABC"[n % 3]} for n in range(6)]
    for name, text in {
        "../pyproject.toml": PROJECT,
        "__init__.py": SPEC,
        "data.py": READER,
        "formats.py": FORMATS,
        "prompt.txt": "{question}\n{options}\nReply with the letter alone.\n",
        "mini/dev.jsonl": "".join(json.dumps(shape) + "\n" for shape in shapes),
        "mini/right.jsonl": "".join(json.dumps(entry) + "\n" for entry in right),
        "README.md": "# Silhouettes\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    write = [sys.executable, "-m", "reelbench.tasks.lmms.codegen", "silhouettes_bench"]
    subprocess.run(
        write, cwd=folder.parent, env={**os.environ, "PYTHONPATH": str(folder.parent)}, check=True
    )
    layered = root / "environment"
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, layered], check=True)
    python = layered / "bin" / "python"
    install = [*uv, "pip", "install", "--python", python, "--no-deps", folder.parent]
    subprocess.run(install, check=True)
    ours = sysconfig.get_path("purelib")
    theirs = next(layered.glob("lib/python*/site-packages"))
    (theirs / "layered.pth").write_text(
        f"import site; site.addsitedir({ours!r})\n", encoding="utf-8"
    )
    return python.parent


@pytest.fixture
def run(environment, reelbench_home):
    def run(*command, **more):
        environ = {**os.environ, "REELBENCH_HOME": str(reelbench_home), "COLUMNS": "160"}
        return subprocess.run(
            [environment / "python", *command],
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            **more,
        )

    return run


@pytest.fixture
def commands(environment, reelbench_home):
    """Run commands, one after the other."""
    environ = {**os.environ, "REELBENCH_HOME": str(reelbench_home), "COLUMNS": "160"}
    return partial(run_commands, environment / "python", env=environ)


@pytest.mark.slow
def test_the_tests_of_every_benchmark_run_on_it_and_pass(run):
    done = run(
        "-m", "pytest", "-q", HERE / "test_every_benchmark.py", "-k", "silhouettes", "-p", "no:cacheprovider",
        cwd=HERE.parent.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(done.stdout.strip().splitlines()[-1].split(" passed")[0].split()[-1]) >= 10, (
        done.stdout
    )


def test_it_is_listed_and_scored_without_a_line_of_code_for_it(commands, tmp_path):
    predictions = tmp_path / "p.jsonl"
    predictions.write_text(
        "".join(json.dumps({"n": f"q{n}", "letter": "A"}) + "\n" for n in range(6)), "utf-8"
    )
    score = ("score", "silhouettes", "--predictions", predictions, "--split", "mini", "--json")
    listed, done = commands(("list",), score)
    assert listed.returncode == 0, listed.stderr
    assert "silhouettes" in listed.stdout
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["metrics"]["accuracy"]["value"] == pytest.approx(100 / 3)
    assert document["breakdowns"]["shape"]["A"]["accuracy"]["value"] == 100


def test_a_file_of_references_is_read_with_those_that_lie_beside_it(
    environment, commands, tmp_path
):
    (mini,) = environment.parent.glob("lib/python*/site-packages/silhouettes_bench/mini")
    predictions, alone = tmp_path / "p.jsonl", tmp_path / "dev.jsonl"
    predictions.write_text(
        "".join(json.dumps({"n": f"q{n}", "letter": "B"}) + "\n" for n in range(6)), "utf-8"
    )
    alone.write_bytes((mini / "dev.jsonl").read_bytes())
    score = ("score", "silhouettes", "--predictions", predictions, "--json", "--references")
    done, refused = commands((*score, mini / "dev.jsonl"), (*score, alone))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["accuracy"]["value"] == pytest.approx(100 / 3)
    assert (refused.returncode, refused.stderr.splitlines()[-1]) == (
        2,
        f"reelbench: {alone}: right.jsonl must be next to it",
    )


@pytest.mark.lmms
@pytest.mark.slow
def test_a_bare_lmms_eval_runs_it(run, tmp_path):
    done = run(
        "-m", "lmms_eval", "--tasks", "silhouettes_mini", "--model", "reelbench_baseline",
        "--model_args", "kind=first_option", "--output_path", tmp_path / "out", "--log_samples",
    )  # fmt: skip
    (results,) = (tmp_path / "out").rglob("*_results.json")
    metrics = json.loads(results.read_text(encoding="utf-8"))["results"]["silhouettes_mini"]
    assert metrics["accuracy,none"] == pytest.approx(100 / 3), done.stderr[-2000:]


WRONG = [
    (
        "prompt.txt",
        "{question}",
        "{qestion}",
        "silhouettes: prompt.txt names {qestion}; it can name answer, id, language,",
    ),
    (
        "__init__.py",
        'column="correct"',
        'column="corect"',
        "'corect', which nothing gives; there are correct",
    ),
    ("__init__.py", 'id="silhouettes"', "id=nobody", "NameError: name 'nobody' is not defined"),
]


@pytest.mark.parametrize("change", WRONG, ids=[new for _, _, new, _ in WRONG])
def test_what_does_not_fit_together_is_one_line_and_costs_no_other_benchmark(
    environment, commands, change
):
    file, old, new, why = change
    (path,) = environment.parent.glob(f"lib/python*/site-packages/silhouettes_bench/{file}")
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(old, new), encoding="utf-8")
    try:
        score = ("score", "silhouettes_mini", "--predictions", path)
        listed, asked = commands(("list",), score)
    finally:
        path.write_text(right, encoding="utf-8")
    assert listed.returncode == 0
    assert "rextime" in listed.stdout
    [line] = listed.stderr.splitlines()
    assert "the benchmark silhouettes of silhouettes_bench is left out: " in line
    assert why in line
    assert asked.returncode == 2
    assert why in asked.stderr.splitlines()[-1]


def test_a_reference_that_is_none_of_its_options_is_refused(environment, commands, tmp_path):
    (mini,) = environment.parent.glob(
        "lib/python*/site-packages/silhouettes_bench/mini/right.jsonl"
    )
    right = mini.read_text(encoding="utf-8")
    predictions = tmp_path / "p.csv"
    predictions.write_text("id,prediction\nq0,A\n", encoding="utf-8")
    mini.write_text(right.replace('"right": "B"', '"right": "star"', 1), encoding="utf-8")
    try:
        score = ("score", "silhouettes", "--split", "mini", "--predictions", predictions)
        [done] = commands(score)
    finally:
        mini.write_text(right, encoding="utf-8")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert (
        "row 2 (id 'q1'): answer is 'star', expected the letter of one of its options: A, B, C"
        in line
    )
