"""Reduce results on secret answers to rounded totals.

Whoever guesses at an answer must find nothing to hold the guess against: no hash of samples (which
repeat the answers), no unrounded value, no part of the questions, no comparison of two rows.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reelbench.data import ownership
from reelbench.data.redistribution import why_withheld
from reelbench.leaderboard.entries import BoardEntry
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.records import JudgeRecord, Metrics, Result
from reelbench.registry.spec import BenchmarkSpec

_FACTS_OF_ANSWERS = ("calibrated", "calibration", "bound", "stated_score", "intervals")
"""Columns of a row that are made from the right answers."""


def row_of_totals(row: BoardEntry) -> BoardEntry:
    """Return a run's row with nothing made from the answers but rounded totals."""
    stored = row.stored
    if stored is None or not ownership.has_secret_answers(stored.spec, row.group.split):
        return row
    facts: dict[str, Any] = {}
    for name, value in row.facts.items():
        facts[name] = None if name in _FACTS_OF_ANSWERS else value
    return replace(
        row,
        metrics=_rounded_metrics(stored.spec, row.metrics),
        breakdowns={},
        lowest=None,
        facts=facts,
        stored=_stored_totals(stored),
    )


def _stored_totals(stored: StoredResult) -> StoredResult:
    return replace(
        stored,
        result=result_of_totals(stored.spec, stored.result),
        withheld=why_withheld(stored.spec, stored.result.benchmark.split),
    )


def result_of_totals(spec: BenchmarkSpec, result: Result) -> Result:
    """Return a result on secret answers as it may be published."""
    source = result.benchmark.source.model_copy(update={"fingerprint": ""})
    errata = result.benchmark.errata
    if errata is not None:
        errata = errata.model_copy(update={"sha256": None})
    benchmark = result.benchmark.model_copy(update={"source": source, "errata": errata})
    provenance = result.provenance.model_copy(update={"samples_sha256": None})
    judge = result.judge
    if judge is not None:
        judge = _without_scores(judge)
    return result.model_copy(
        update={
            "benchmark": benchmark,
            "metrics": _rounded_metrics(spec, result.metrics),
            "breakdowns": {},
            "provenance": provenance,
            "judge": judge,
        }
    )


def _rounded_metrics(spec: BenchmarkSpec, metrics: Mapping[str, Any]) -> Metrics:
    digits = {metric.name: metric.in_unit.digits for metric in spec.metrics}
    rounded: Metrics = {}
    for name, metric in metrics.items():
        value = metric.value
        if value is not None:
            value = round(value, digits[name])
        rounded[name] = metric.model_copy(update={"value": value, "ci95": None})
    return rounded


def _without_scores(judge: JudgeRecord) -> JudgeRecord:
    panel = judge.panel
    if panel is not None:
        panel = [_without_scores(member) for member in panel]
    return judge.model_copy(update={"panel": panel, "agreement": None, "metrics": None})
