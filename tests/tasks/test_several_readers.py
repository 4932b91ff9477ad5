"""Many answers are read by several processes: the result is the one that a single process gives, byte for byte."""

import json
import os

import pytest

from reelbench.base import workers
from reelbench.base.errors import ReelbenchError
from reelbench.registry.records import Sample
from reelbench.scoring.answers import scored
from reelbench.tasks.score import Options, score_files
from reelbench.tasks.submissions import Inputs
from tests.scoring.answers.table import ROWS

FAILED = "[LMMS_EVAL_REQUEST_FAILED] 3 tries"


@pytest.fixture
def several(monkeypatch):
    """Have two processes read from two answers on; the numbers of answers that were given to processes."""
    shared = []
    over_processes = workers._results_of_processes

    def spied(pool, work, parts):
        shared.append(sum(map(len, parts)))
        return over_processes(pool, work, parts)

    monkeypatch.setattr(workers, "usable_cores", lambda: 2)
    monkeypatch.setattr(scored, "MANY", 2)
    monkeypatch.setattr(workers, "_results_of_processes", spied)
    return shared


@pytest.fixture
def inputs(tmp_path):
    """Answers of every family, one question each with its own options; one has no text, and one is a failed request."""
    predictions, references = tmp_path / "model.jsonl", tmp_path / "references.jsonl"
    texts = [None, FAILED, *(row.text for row in ROWS)]
    options = [ROWS[0].options, ROWS[0].options, *(row.options for row in ROWS)]
    answers = [{"id": f"q{n}", "prediction": text} for n, text in enumerate(texts)]
    questions = [
        {
            "qid": f"q{n}",
            "vid": f"v{n // 8}",
            "query": "Why?",
            "options": list(given),
            "ans": "A",
            "relevant_windows": [[3, 12]],
        }
        for n, given in enumerate(options)
    ]
    predictions.write_text("\n".join(map(json.dumps, reversed(answers))), encoding="utf-8")
    references.write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    return Inputs(predictions, references)


def written(inputs, folder):
    score_files("rextime", inputs, Options()).write(folder)
    lines = (folder / "samples.jsonl").read_bytes()
    result = json.loads((folder / "result.json").read_bytes())
    del result["provenance"]["date"]
    return lines, result, (folder / "questions.jsonl").read_bytes()


def test_they_read_as_one_process_does(inputs, several, tmp_path, monkeypatch):
    shared = written(inputs, tmp_path / "shared")
    assert several == [len(ROWS) + 1]
    monkeypatch.setattr(workers, "usable_cores", lambda: 1)
    assert written(inputs, tmp_path / "alone") == shared
    assert len(several) == 1
    samples = [Sample.model_validate_json(line) for line in shared[0].splitlines()]
    assert [sample.id for sample in samples] == [f"q{n}" for n in range(len(ROWS) + 2)]
    assert [sample.reason for sample in samples[:3]] == ["prediction_missing", "model_failed", None]
    assert [sample.prediction for sample in samples[2:]] == [row.text for row in ROWS]
    known = [(row.letter, row.span) for row in ROWS]
    read = [(sample.parsed["answer"], sample.parsed["span"]) for sample in samples[2:]]
    # What the readers are held to is in tests/scoring/answers; here nearly all agree, or the order
    # is lost.
    assert sum(a[0] == b[0] for a, b in zip(read, known, strict=True)) > 0.98 * len(ROWS)


def test_few_answers_start_no_process(inputs, several, tmp_path, monkeypatch):
    monkeypatch.setattr(scored, "MANY", len(ROWS) + 2)
    written(inputs, tmp_path / "few")
    assert several == []


@pytest.mark.usefixtures("several")
def test_a_process_that_dies_is_an_error(inputs, monkeypatch, tmp_path):
    monkeypatch.setattr(scored, "_parsed", _DIES)
    with pytest.raises(ReelbenchError, match="process ended"):
        written(inputs, tmp_path / "none")
    assert not (tmp_path / "none").exists()


class _Dies:
    def __call__(self, *_):
        raise AssertionError

    def __reduce__(self):
        return exit_now, ()


def exit_now():
    os._exit(9)


_DIES = _Dies()
