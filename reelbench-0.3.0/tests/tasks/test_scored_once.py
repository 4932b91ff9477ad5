"""What is scored is located, read and scored once: questions are one value, and a run's own scores are believed."""

import json
from dataclasses import replace

import pytest

import reelbench
from reelbench.data import loading, rows_on_disk
from reelbench.registry import discovery
from reelbench.scoring import aggregation
from reelbench.tasks import score_runs
from reelbench.tasks.lmms.run_logs import logged_tasks
from reelbench.tasks.score import Options, score_files
from reelbench.tasks.submissions import Inputs
from tests import lmms_runs

NAME = "rextime_mini"


@pytest.fixture
def count(monkeypatch):
    """Counts calls of a function of a module or class."""

    def counted(owner, name):
        calls, original = [], getattr(owner, name)

        def noting(*args, **kwargs):
            calls.append(args)
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, noting)
        return calls

    return counted


@pytest.fixture
def logged(tmp_path):
    """A run's log of ReXTime's mini questions, each answered with A."""
    folder = tmp_path / "run" / "model"
    folder.mkdir(parents=True)
    spec, _ = discovery.find_task(NAME)
    named = f"reelbench:{NAME}@{loading.locate(NAME).source.fingerprint[:16]};media_missing=0"
    document = {
        "results": {NAME: {}},
        "configs": {NAME: {"dataset_path": named}},
        "config": {"model": "openai"},
    }
    (folder / "1_results.json").write_text(json.dumps(document))
    details = [
        lmms_runs.functions(spec).process_results(row, ["(A)"])
        for row in reelbench.load(spec.id, "mini")
    ]
    (folder / f"1_samples_{NAME}.jsonl").write_text(
        "".join(json.dumps(detail) + "\n" for detail in details)
    )
    [one] = logged_tasks(folder)
    return one


def test_a_file_is_scored_on_questions_that_are_located_and_read_once(count, tmp_path):
    located, read = count(loading, "locate"), count(loading.SplitData, "read")
    answers = tmp_path / "answers.jsonl"
    rows = loading.locate_files(*loading.find_split(NAME), None, fetch=False).rows
    read.clear()
    answers.write_text(
        "".join(json.dumps({"id": row["id"], "prediction": "A [1, 4]"}) + "\n" for row in rows)
    )
    score_files(NAME, Inputs(answers), Options()).write(tmp_path / "out")
    assert (len(located), len(read)) == (0, 1)


def test_what_the_own_run_has_scored_is_not_scored_again(count, logged, tmp_path):
    scored, located = count(aggregation, "item_columns"), count(loading, "locate")
    made = score_runs.score_logged(replace(logged, is_own=True), tmp_path / "own", Options())
    assert (len(scored), len(located)) == (0, 0)
    again = score_runs.score_logged(logged, tmp_path / "again", Options())
    assert len(scored) == made.result.counts.items == 12
    assert made.result.metrics == again.result.metrics
    own, other = ((tmp_path / name / "samples.jsonl").read_bytes() for name in ("own", "again"))
    assert own == other


def test_scores_in_a_strangers_log_are_not_believed(logged, tmp_path):
    before = score_runs.score_logged(logged, tmp_path / "before", Options()).result.metrics
    lines = [json.loads(line) for line in logged.samples.read_text().splitlines()]
    for line in lines:
        for detail in line.values():
            if "sample" in detail:
                detail["sample"]["scores"] = dict.fromkeys(detail["sample"]["scores"], 1.0)
    logged.samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert score_runs.score_logged(logged, tmp_path / "after", Options()).result.metrics == before
    [(evaluation, _)] = score_runs.run_evaluations(
        logged.results.parent, tmp_path / "run-again", Options()
    )
    assert evaluation.scored.numbers.metrics == before


def test_a_scorers_failure_in_the_own_run_is_scored_now(logged, tmp_path):
    before = score_runs.score_logged(logged, tmp_path / "before", Options()).result
    text = logged.samples.read_text().splitlines()
    line = json.loads(text[0])
    for detail in line.values():
        if "sample" in detail:
            detail["sample"] |= {"state": "unscored", "reason": "scorer_failed", "scores": {}}
    logged.samples.write_text("\n".join([json.dumps(line), *text[1:]]) + "\n")
    after = score_runs.score_logged(
        replace(logged, is_own=True), tmp_path / "after", Options()
    ).result
    assert (after.metrics, after.counts) == (before.metrics, before.counts)


def test_the_rows_of_a_task_are_located_once_however_often_they_are_asked_for(count):
    located = count(loading, "locate_files")
    data = rows_on_disk.RowsOnDisk(NAME)
    assert data.ready() is None
    assert {data.__fspath__() for _ in range(3)} == {data.__fspath__()}
    assert {str(data) for _ in range(3)} == {str(data)}
    assert len(located) == 1
    assert data.ready() is None  # another run looks anew
    assert len(located) == 2
