"""Scoring never reaches for the network, whatever is or isn't on this machine."""

import json
import subprocess
import sys

import pytest

from reelbench import registry
from reelbench.data import loading
from reelbench.registry.splits import upstream_split
from tests import lmms_runs

SPECS = registry.specs()
each_benchmark = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
MINI_FILES = {
    "curve": "curve.json",
    "dramaqa_cogme": "AnotherMissOhQA_val_set.json",
    "minerva": "minerva.json",
    "moviechat": "test.json",
    "moviecore": "test.json",
    "rextime": "rextime_val.json",
    "timelens": "charades.json",
    "video_holmes": "test_Video-Holmes.json",
}


def default_task(spec):
    return next(task for task in spec.tasks if task.split == spec.default_split and not task.only)


def logged_run(folder, spec, task):
    """What lmms-eval leaves of a run of `task` whose rows are not on this machine (here: answers to the mini rows)."""
    functions = lmms_runs.functions(spec)
    config = {"dataset_path": f"reelbench:{task.name}@0123456789abcdef;media_missing=0"}
    document = {
        "results": {task.name: {}},
        "configs": {task.name: config},
        "config": {"model": "openai"},
    }
    folder.mkdir()
    (folder / "1_results.json").write_text(json.dumps(document), encoding="utf-8")
    with (folder / f"1_samples_{task.name}.jsonl").open("w", encoding="utf-8") as file:
        for row in loading.load(spec.id, "mini"):
            details = functions.process_results(
                {**row, "split": upstream_split(spec, "mini")}, ["(A)"]
            )
            file.write(json.dumps(details) + "\n")


def predictions(path, spec):
    rows = loading.load(spec.id, "mini")
    if spec.id in ("moviecore", "moviechat"):
        document = {
            row["id"]: {"video": row["video"], "question": row["question"], "pred": "x"}
            for row in rows
        }
    else:
        key = {"curve": "key", "rextime": "qid", "dramaqa_cogme": "qid"}.get(spec.id, "id")
        row = {
            "curve": {"pred": "x"},
            "rextime": {"ans": "A"},
            "dramaqa_cogme": {"correct_idx": 0},
        }.get(spec.id, {"prediction": "From 1 to 4 seconds" if spec.asks_span else "A"})
        document = [{key: found["id"], **row} for found in rows]
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@each_benchmark
def test_a_run_is_scored_without_its_rows(spec, tmp_path, network_asked, reelbench):
    task = default_task(spec)
    logged_run(tmp_path / "run", spec, task)
    done = reelbench(
        "score",
        "--run",
        tmp_path / "run",
        "--no-overlap",
        env={"REELBENCH_HOME": str(tmp_path / "empty")},
    )
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.rglob("result.json")
    source = json.loads(result.read_text())["benchmark"]["source"]
    assert (source["kind"], source["fingerprint"]) == ("samples", "0123456789abcdef")
    assert not network_asked.exists()


@each_benchmark
@pytest.mark.parametrize("references", [True, False])
def test_files_are_scored_against_what_is_here(
    spec, references, tmp_path, network_asked, reelbench
):
    own = ("--references", spec.folder / "mini" / MINI_FILES[spec.id]) if references else ()
    file = predictions(tmp_path / "predictions.json", spec)
    done = reelbench(
        "score",
        spec.id,
        "--predictions",
        file,
        *own,
        "--no-overlap",
        env={"REELBENCH_HOME": str(tmp_path / "empty")},
    )
    if references:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 1
        (line,) = done.stderr.strip().splitlines()
        assert "reelbench data fetch" in line if spec.open_data else "REELBENCH_DATA" in line
    assert not network_asked.exists()


def test_no_reader_is_loaded_before_an_answer_is_read():
    """Their patterns take a quarter of a second of each command."""
    read = "import sys, reelbench.tasks.score_runs; sys.exit('reelbench.scoring.answers.spans' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", read], check=False).returncode == 0
