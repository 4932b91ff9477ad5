"""Answers of a run that its limit cut off while the model was reasoning, and requests that failed: unscored, both."""

import json

import pytest

from reelbench.data import loading
from reelbench.registry import discovery
from reelbench.registry.splits import upstream_split
from tests import lmms_runs

CUT = "<think>First the square waits, then"
ANSWERS = {
    "rextime": "(A) from 0 s to 2 s",
    "moviecore": "It waits.",
    "curve": "It waits.",
    "dramaqa_cogme": "(A)",
}
each_benchmark = pytest.mark.parametrize("name", ANSWERS)


@pytest.fixture
def run(tmp_path):
    """Write what lmms-eval leaves of a run: run("rextime", cut) with the numbers of the answers that were cut off."""

    def write(name, cut, text=CUT, model_args=""):
        spec = discovery.get(name)
        functions = lmms_runs.functions(spec)
        task = f"{name}_mini"
        config = {"dataset_path": f"reelbench:{task}@0123456789abcdef;media_missing=0"}
        config_of_run = {"model": "openai", "model_args": model_args}
        document = {"results": {task: {}}, "configs": {task: config}, "config": config_of_run}
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "1_results.json").write_text(json.dumps(document), encoding="utf-8")
        rows = [
            {**row, "split": upstream_split(spec, "mini")} for row in loading.load(name, "mini")
        ]
        details = [
            functions.process_results(row, [text if number in cut else ANSWERS[name]])
            for number, row in enumerate(rows)
        ]
        lines = "".join(json.dumps(detail) + "\n" for detail in details)
        (tmp_path / "run" / f"1_samples_{task}.jsonl").write_text(lines, encoding="utf-8")
        return tmp_path / "run", [detail[spec.primary.name]["sample"] for detail in details]

    return write


@each_benchmark
def test_it_is_unscored_and_neither_wrong_nor_unreadable(name, run):
    _, samples = run(name, {0})
    assert (samples[0]["state"], samples[0]["reason"], samples[0]["scores"]) == (
        "unscored",
        "cut_off",
        {},
    )
    assert list(samples[0]["flags"]) == []
    assert samples[0]["prediction"] == CUT
    assert samples[1]["reason"] != "cut_off"


def test_some_that_were_cut_off_are_one_line_with_what_to_do(run, reelbench):
    folder, _ = run("rextime", {0, 3})
    done = reelbench("score", "--run", folder, "--json")
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if "cut off" in line]
    assert "2 of 12 answers were cut off" in line
    assert "--max-tokens" in line
    assert "--thinking" in line
    assert json.loads(done.stdout)["counts"]["unscored"] == {"cut_off": 2}


def test_where_all_were_cut_off_the_command_fails_and_prints_its_json(run, reelbench):
    folder, _ = run("rextime", set(range(12)))
    done = reelbench("score", "--run", folder, "--json")
    assert done.returncode == 1
    assert "12 of 12 answers were cut off" in done.stderr
    assert json.loads(done.stdout)["counts"]["scored"] == 0


NOT_FOUND = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error code: 404 - {'detail': 'Not Found'}"


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        (
            "http://box:8123",
            "; http://box:8123 has no path, and most servers have /v1: add it to base_url",
        ),
        ("http://box:8123/v1", ""),
    ],
)
def test_where_every_request_failed_the_command_fails_with_what_the_server_said(
    run, reelbench, tmp_path, url, advice
):
    folder, _ = run("rextime", set(range(12)), NOT_FOUND, f"model=m,base_url={url}")
    done = reelbench("score", "--run", folder, "--output", tmp_path / "scored")
    assert done.returncode == 1
    said = f"12 of 12 answers are missing: the model failed: Error code: 404 - {{'detail': 'Not Found'}}{advice}"
    assert [line for line in done.stderr.splitlines() if "404" in line] == [
        f"reelbench: rextime: {said}"
    ]
    added = reelbench("leaderboard", "add", tmp_path / "scored", "--store", tmp_path / "store")
    assert added.returncode == 2
    [line] = added.stderr.splitlines()
    assert "no question has an answer (12 model_failed)" in line
    assert not (tmp_path / "store").exists()


def test_a_run_of_before_is_read_so_too(run, reelbench):
    folder, _ = run("rextime", {0})
    [samples] = folder.glob("*_samples_*.jsonl")
    text = samples.read_text(encoding="utf-8")
    older = text.replace('"unscored"', '"scored"').replace('"cut_off"', "null")
    samples.write_text(older, encoding="utf-8")
    document = json.loads(reelbench("score", "--run", folder, "--json").stdout)
    assert document["counts"]["unscored"] == {"cut_off": 1}
    assert document["counts"]["parse_failed"] == 0


def test_in_a_file_of_predictions_it_stays_unreadable_as_nobody_knows_the_limit(
    tmp_path, reelbench
):
    rows = loading.load("rextime_mini")
    table = [{"id": row["id"], "prediction": CUT} for row in rows]
    (tmp_path / "p.json").write_text(json.dumps(table), encoding="utf-8")
    done = reelbench("score", "rextime_mini", "--predictions", tmp_path / "p.json", "--json")
    counts = json.loads(done.stdout)["counts"]
    assert (counts["parse_failed"], counts["unscored"]) == (12, {})
