"""What `reelbench score` prints and where it writes."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.cli.loggers import check_arguments
from reelbench.data.loading import locate
from reelbench.scoring import result_files
from tests.servers.judge import Answer, JudgeServer


@pytest.fixture
def predictions(tmp_path):
    """Answers to a mini split's questions, a table of ids and texts; returns its path."""

    def write(name, text=lambda _: "(A) from 1 to 3"):
        path = tmp_path / f"{name}.json"
        rows = locate(name, "mini").read()
        path.write_text(json.dumps({row["id"]: text(row) for row in rows}), encoding="utf-8")
        return path

    return write


def rows_of(text):
    """The table's rows by metric."""
    return {line.split()[0]: line for line in text.splitlines() if line}


def test_a_value_has_its_unit_and_the_primary_metric_is_marked(predictions, reelbench):
    done = reelbench("score", "dramaqa_cogme_mini", "--predictions", predictions("dramaqa_cogme"))
    assert done.returncode == 0, done.stderr
    title, header, *_ = done.stdout.splitlines()
    assert title == "dramaqa_cogme mini · dramaqa_cogme · 12 of 12 scored"
    assert header.split()[:3] == ["metric", "value", "unit"]
    # By hand: A is right in three of the twelve.
    assert rows_of(done.stdout)["accuracy"].split()[1:4] == ["(primary)", "25.00", "%"]


def test_a_result_of_another_benchmark_or_of_more_answers_is_not_overwritten(
    predictions, reelbench, tmp_path
):
    where = ("--output", tmp_path / "out", "--model", "m", "--no-overlap")
    path = predictions("rextime", lambda _: "A [1, 2]")
    assert reelbench("score", "rextime_mini", "--predictions", path, *where).returncode == 0
    kept = (tmp_path / "out" / "samples.jsonl").read_bytes()
    other = predictions("moviecore", lambda _: "A fox.")
    few = tmp_path / "few.txt"
    few.write_text("mini1\nmini2\n", encoding="utf-8")
    for arguments, said in (
        (
            ("moviecore_mini", "--predictions", other),
            "has a result with benchmark rextime, not moviecore",
        ),
        (
            ("rextime_mini", "--predictions", path, "--frames", "all"),
            "has a result with frames unknown, not all",
        ),
        (
            ("rextime_mini", "--predictions", path, "--ids", few),
            "has 12 answers, and this result would have 2",
        ),
    ):
        refused = reelbench("score", *arguments, *where)
        assert refused.returncode == 2
        assert f"{tmp_path / 'out'}: {said}; give this one its own --output" in refused.stderr
    assert (tmp_path / "out" / "samples.jsonl").read_bytes() == kept


def test_another_model_s_result_is_not_overwritten(predictions, reelbench, tmp_path):
    where = ("--predictions", predictions("rextime"), "--output", tmp_path / "out")
    assert reelbench("score", "rextime_mini", *where, "--model", "one").returncode == 0
    refused = reelbench("score", "rextime_mini", *where, "--model", "other")
    assert refused.returncode == 2
    assert (
        f"{tmp_path / 'out'}: has the result of one; give other its own --output" in refused.stderr
    )
    assert result_files.read(tmp_path / "out").model.id == "one"
    assert reelbench("score", "rextime_mini", *where, "--model", "one").returncode == 0


@pytest.mark.java
def test_fractions_have_four_digits(predictions, reelbench):
    done = reelbench(
        "score",
        "moviecore_mini",
        "--predictions",
        predictions("moviecore", lambda row: row["answer"]),
    )
    rows = rows_of(done.stdout)
    # A text is all of itself: BLEU-4 of 1, and CIDEr, of 10 at most, short of it only by rounding.
    assert rows["bleu4"].split()[1:] == ["1.0000", "fraction,", "0", "to", "1", "12"]
    assert "points, 0 to 5" in rows["average"]


def test_a_value_with_too_little_behind_it_says_how_much(predictions, reelbench):
    depth = (
        Path(import_module("reelbench.tasks.moviecore").__path__[0]) / "judge" / "depth.txt"
    ).read_text("utf-8")
    odd = [row["question"] for row in locate("moviecore", "mini").read()][1::2]

    def marks(call):
        unsure = call.system.strip() == depth.strip() and any(
            question in call.user for question in odd
        )
        return Answer("hard to say" if unsure else "{'score': 4}")

    with JudgeServer(marks) as server:
        done = reelbench(
            "score", "moviecore_mini", "--predictions", predictions("moviecore"), "--no-overlap", "--judge", "judge-1",
            "--judge-url", server.url, "--judge-price", "1,2",
        )  # fmt: skip
    rows = rows_of(done.stdout)
    # Half of the depths can't be read: the average counts the answers that have all its parts.
    assert rows["depth_per_question"].split()[1:4] == ["4.00", "(6", "of"]
    assert rows["average"].split()[2:6] == ["4.00", "(6", "of", "12)"]
    assert rows["accuracy_per_question"].split()[1:3] == ["4.00", "points,"]
    judge = result_files.read(Path(done.stdout.splitlines()[-1].removeprefix("written to "))).judge
    # By hand: four criteria and six depths once, six depths three times, for each of twelve
    # answers.
    assert judge.calls == 4 * 12 + 6 + 6 * 3
    tokens = (
        f"{judge.prompt_tokens} tokens in and {judge.completion_tokens} out, ${judge.cost_usd:.4f}"
    )
    assert f"judge judge-1: {judge.calls} calls, 0 replies from the cache, {tokens}" in done.stdout


def test_a_table_is_not_cut_where_nobody_looks_at_a_terminal(predictions, reelbench):
    model = "org/" + "m" * 150
    done = reelbench(
        "score",
        "rextime_mini",
        "--predictions",
        predictions("rextime"),
        "--model",
        model,
        env={"COLUMNS": "40"},
    )
    assert done.stdout.splitlines()[0] == f"rextime mini · {model} · 12 of 12 scored"
    assert "recall_at_0.3" in done.stdout
    assert "recall_at_0.5" in done.stdout
    assert "…" not in done.stdout


@pytest.mark.parametrize("as_json", [True, False])
def test_quiet_prints_nothing_but_json_and_errors(as_json, predictions, reelbench):
    path = predictions("curve")
    done = reelbench(
        "score", "curve_mini", "--predictions", path, "--quiet", *(["--json"] if as_json else [])
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["benchmark"] == "curve" if as_json else done.stdout == ""
    done = reelbench("score", "curve_mini", "--predictions", path.with_name("none.csv"), "--quiet")
    assert done.returncode == 2
    assert "no such file" in done.stderr


def test_the_same_answers_are_written_to_the_same_place(predictions, reelbench, reelbench_home):
    path = predictions("rextime")
    first, second = (reelbench("score", "rextime_mini", "--predictions", path) for _ in range(2))
    place = first.stdout.splitlines()[-1]
    assert place == second.stdout.splitlines()[-1]
    (folder,) = (reelbench_home / "results").iterdir()
    assert place == f"written to {folder}"
    reelbench("score", "rextime_mini", "--predictions", predictions("rextime", lambda _: "B"))
    assert len(list((reelbench_home / "results").iterdir())) == 2


def test_a_run_has_no_say_beside_its_own(tmp_path, reelbench):
    for option in (["--frames", "none"], ["--id-column", "id"]):
        done = reelbench("score", "--run", tmp_path, *option)
        assert done.returncode == 2
        assert done.stderr.startswith("reelbench: --run reads everything from the run's folder")


def test_frames_that_are_none_are_one_line(predictions, reelbench):
    done = reelbench(
        "score", "rextime_mini", "--predictions", predictions("rextime"), "--frames", "many"
    )
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert "'many' is not a kind of sampling" in line


# --- loggers
# --------------------------------------------------------------------------------------------------------


LOGGED = """
import json, sys
from wandb.proto import wandb_internal_pb2 as records
from wandb.sdk.internal.datastore import DataStore

store, config, history = DataStore(), {}, {}
store.open_for_scan(sys.argv[1])
while (data := store.scan_data()) is not None:
    record = records.Record()
    record.ParseFromString(data)
    for item in record.config.update:
        config[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
    for item in record.history.item:
        history[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
print(json.dumps({"config": config, "history": history}))
"""


@pytest.mark.slow
def test_wandb_gets_the_results_numbers_and_nobodys_sentences(predictions, tmp_path, reelbench):
    pytest.importorskip("wandb")
    env = {"WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path), "WANDB_SILENT": "true"}
    path = predictions("dramaqa_cogme")
    done = reelbench(
        "score", "dramaqa_cogme_mini", "--predictions", path, "--json", "--log", "wandb", env=env
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)  # and nothing else on stdout
    (log,) = (tmp_path / "wandb").glob("offline-run-*/*.wandb")
    read = subprocess.run(
        [sys.executable, "-c", LOGGED, log],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    logged = json.loads(read.stdout)
    for name, metric in document["metrics"].items():
        assert logged["history"][f"dramaqa_cogme/{name}"] == metric["value"]
        assert logged["history"][f"dramaqa_cogme/{name}.n"] == metric["n"]
        assert (
            f"dramaqa_cogme/{name}.low" not in logged["history"]
        )  # of four videos there is no interval
    assert logged["config"]["dramaqa_cogme"]["model"]["id"] == "dramaqa_cogme"
    sent = b"".join(file.read_bytes() for file in (tmp_path / "wandb").rglob("*") if file.is_file())
    assert not any(
        row["question"].encode() in sent for row in locate("dramaqa_cogme", "mini").read()
    )


@pytest.mark.parametrize("folder", ["wandb", ".wandb"])
def test_a_folder_never_says_who_gets_wandbs_key(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--model", "m", "--wandb_args=project=p"]
    assert check_arguments(words) == words
    settings = tmp_path / folder / "settings"
    settings.parent.mkdir()
    settings.write_text("[default]\nbase_url = http://127.0.0.1:9\n")
    with pytest.raises(
        InputError, match=r"settings: wandb takes from this folder's file who gets your key"
    ):
        check_arguments(words)
    assert check_arguments(words[:2]) == words[:2]


@pytest.mark.parametrize("where", ["tensorboard", ""])
def test_an_unknown_logger_says_so_before_anything_is_scored(
    where, predictions, reelbench, reelbench_home
):
    done = reelbench(
        "score", "rextime_mini", "--predictions", predictions("rextime"), "--log", where
    )
    assert done.returncode == 2
    assert done.stderr.strip() == f"reelbench: --log: {where!r} is not known; there is wandb"
    assert not (reelbench_home / "results").exists()


def test_answers_that_the_model_failed_on_are_no_success_where_there_are_no_others(
    predictions, reelbench
):
    failed = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] 404"
    path = predictions("rextime", lambda _: failed)
    done = reelbench(
        "score", "rextime_mini", "--predictions", path, "--output", path.parent / "none"
    )
    assert done.returncode == 1
    assert "rextime: 12 of 12 answers are missing: the model failed" in done.stderr
    assert (path.parent / "none" / "result.json").is_file()
    path = predictions("rextime", lambda row: failed if row["id"] != "mini1" else "A [1, 2]")
    done = reelbench(
        "score", "rextime_mini", "--predictions", path, "--output", path.parent / "some"
    )
    assert (done.returncode, "are missing" in done.stderr) == (0, False)
    assert "1 of 12 scored (11 model_failed)" in done.stdout


def test_nobody_is_told_to_submit_mini_answers(tmp_path, reelbench):
    rows = locate("rextime_test_mini").read()
    path = tmp_path / "p.json"
    path.write_text(json.dumps({row["id"]: "A [1, 2]" for row in rows}), encoding="utf-8")
    done = reelbench(
        "score", "rextime_test_mini", "--predictions", path, "--output", tmp_path / "out"
    )
    assert "submission.jsonl shows the form of a submission" in done.stderr
    assert "submit " not in done.stderr
