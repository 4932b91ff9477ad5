"""Requests of several tasks at once: each gets its own answer, and a task that can't be asked fails alone."""

from types import SimpleNamespace

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.tasks.lmms import adapter_patches, option_scores

pytest.importorskip("loguru")
ROWS = [{"id": f"q{number}", "video": f"v{number}", "split": "mini"} for number in range(3)]


class Adapter:
    batch_size, rank = 1, 0

    def __init__(self, *tasks):
        self.task_dict = {task: {"mini": ROWS} for task in tasks}

    def generate_until(self, requests):
        return [f"{request.task_name} {request.args[1]}" for request in requests]


def answers(monkeypatch, asked, *tasks):
    monkeypatch.setattr(option_scores, "ask_options", asked)
    requests = [
        SimpleNamespace(task_name=task, args=(None, number, task, "mini"))
        for number in range(3)
        for task in tasks
    ]
    given = adapter_patches._answers_in_order(Adapter(*tasks), requests, Adapter.generate_until)
    pairs = list(zip(requests, given, strict=True))
    return {
        task: [answer for request, answer in pairs if request.task_name == task] for task in tasks
    }


def refused(*_, **__):
    raise ReelbenchError("this server gives no log-probabilities")


def test_each_request_gets_its_own_answer_whatever_is_between(monkeypatch):
    def asked(_, request, __, **ways):
        assert ways["task"].name == request.task_name
        return f"scores of {request.args[1]}"

    found = answers(monkeypatch, asked, "mmmu_val", "rextime_options_mini", "rextime_mini")
    assert found["mmmu_val"] == [f"mmmu_val {number}" for number in range(3)]
    assert found["rextime_mini"] == [f"rextime_mini {number}" for number in range(3)]
    assert found["rextime_options_mini"] == [f"scores of {number}" for number in range(3)]


def test_a_task_that_can_t_be_asked_fails_alone_and_ends_a_run_of_its_own(monkeypatch):
    found = answers(monkeypatch, refused, "rextime_options_mini", "rextime_mini")
    assert found["rextime_mini"] == [f"rextime_mini {number}" for number in range(3)]
    assert (
        found["rextime_options_mini"]
        == ["[LMMS_EVAL_REQUEST_FAILED: this server gives no log-probabilities]"] * 3
    )
    with pytest.raises(ReelbenchError, match="gives no log-probabilities"):
        answers(monkeypatch, refused, "rextime_options_mini")
