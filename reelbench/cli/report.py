"""What a scored benchmark prints: a table on stdout, or JSON; what did not fit on stderr."""

import json
from typing import TYPE_CHECKING

from reelbench.cli import console

if TYPE_CHECKING:
    from reelbench.registry.records import JudgeRecord, MetricValue, Result
    from reelbench.registry.spec import BenchmarkSpec, Metric
    from reelbench.tasks.score import Outcome

_SHOWN = 10
_WHOLE = 0.9
"""Share of the items from which on a value is printed without saying how many are behind it."""


def report(outcomes: "list[Outcome]", *, as_json: bool, again: str, quiet: bool = False) -> None:
    """Print results: JSON on stdout if asked for (a list for several), else tables; notes go to stderr.

    With `quiet` nothing is printed but the JSON.
    """
    from reelbench.judges.results import as_json as document

    if not quiet:
        for outcome in outcomes:
            _tell(outcome, again)
    if as_json:
        documents = [document(outcome.result) for outcome in outcomes]
        console.write(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False))
    elif not quiet:
        for outcome in outcomes:
            _show(outcome)


def _tell(outcome: "Outcome", again: str) -> None:
    from reelbench.registry import discovery

    result = outcome.result
    for line in outcome.notes:
        console.note(line)
    for what, ids in (("missing", outcome.missing), ("extra", outcome.extra), ("duplicate", outcome.duplicate)):
        if ids:
            more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
            console.note(f"{len(ids)} {what} ids: {', '.join(ids[:_SHOWN])}{more}")
    if unjudged := result.counts.unscored.get("judge_unavailable"):
        spec = discovery.get(result.benchmark.id)
        default = spec.judge.default_model if spec.judge else "MODEL"
        console.note(
            f"{unjudged} answers are not judged (judge_unavailable); "
            f"to finish: reelbench score {again} --judge {default}"
        )


def _show(outcome: "Outcome") -> None:
    from reelbench.registry import discovery

    result = outcome.result
    counts = result.counts
    spec = discovery.get(result.benchmark.id)
    unscored = ", ".join(f"{number} {reason}" for reason, number in counts.unscored.items())
    title = (
        f"{result.benchmark.id} {result.benchmark.split} · {result.model.id} · {counts.scored} of {counts.items} scored"
        + (f" ({unscored})" if unscored else "")
    )
    table = console.table(title, "metric", "#value", "unit", "#95 % interval", "#n")
    for name, value in result.metrics.items():
        metric = spec.metric(name)
        shown = f"{name} (primary)" if metric == spec.primary else name
        table.add_row(shown, *_cells(spec, metric, value, result), str(value.n))
    if result.metrics:
        console.show(table)
    else:
        console.write(title)
    if counts.parse_failed or counts.empty:
        console.write(f"scored as wrong: {counts.parse_failed} unreadable, {counts.empty} empty")
    if result.judge is not None:
        console.write(_asked(result.judge))
    console.write(f"written to {outcome.folder}")


def _cells(spec: "BenchmarkSpec", metric: "Metric", value: "MetricValue", result: "Result") -> tuple[str, str, str]:
    """Return a metric's value, unit and interval as they are printed."""
    from reelbench.registry.units import UNITS

    unit = UNITS[metric.unit]
    digits = max(2, unit.digits)
    if value.value is None:
        return "N/A", unit.label, ""
    partial = _behind(spec, metric, result) < _WHOLE * result.counts.items
    number = f"{value.value:.{digits}f}" + (f" ({value.n} of {result.counts.items})" if partial else "")
    interval = "" if value.ci95 is None else " to ".join(f"{bound:.{digits}f}" for bound in value.ci95)
    return number, unit.label, interval


def _behind(spec: "BenchmarkSpec", metric: "Metric", result: "Result") -> int:
    """Return how many items are behind a value; of a mean of metrics, behind the one with the fewest."""
    from reelbench.registry.spec import MeanOf

    how = metric.aggregate
    parts = [spec.metric(name) for name in how.metrics] if isinstance(how, MeanOf) else []
    own = result.metrics[metric.name].n if metric.name in result.metrics else 0
    return min([own, *(_behind(spec, part, result) for part in parts)])


def _asked(judge: "JudgeRecord") -> str:
    cost = "" if judge.cost_usd is None else f", ${judge.cost_usd:.4f}"
    return (
        f"judge {judge.requested}: {judge.calls} calls, {judge.cached} replies from the cache, "
        f"{judge.prompt_tokens} tokens in and {judge.completion_tokens} out{cost}"
    )
