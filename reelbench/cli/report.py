"""What a scored benchmark prints: a table on stdout, or JSON; what did not fit on stderr."""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reelbench.cli import console
from reelbench.registry.errors import InputError, ReelbenchError, first_of

if TYPE_CHECKING:
    from reelbench.registry.records import JudgeRecord, MetricValue, Result, Sample
    from reelbench.registry.spec import BenchmarkSpec, Metric
    from reelbench.tasks.score import Outcome

_SHOWN = 10
_ID, _ANSWER = 60, 120
"""Characters shown of an unreadable answer's id, and of the answer."""
_WHOLE = 0.9
"""Share of the items from which on a value is printed without saying how many are behind it."""


def report(outcomes: "list[Outcome]", *, as_json: bool, again: Sequence[str], quiet: bool = False) -> None:
    """Print results: JSON on stdout if asked for (a list for several), else tables; notes go to stderr.

    `again` is the command that scores the same once more: what is not judged yet is said with it. With `quiet` nothing
    is printed but the JSON.
    """
    from reelbench.scoring.result_files import as_json as document

    if not quiet:
        for outcome in outcomes:
            _tell(outcome)
        _tell_unjudged(outcomes, again)
    if as_json:
        documents = [document(outcome.result) for outcome in outcomes]
        console.write(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False))
    elif not quiet:
        for outcome in outcomes:
            _show(outcome)


def check_judged(outcomes: Sequence["Outcome"]) -> None:
    """Raise ReelbenchError where a judge that was named and needed gave no score, or no answer came to its end."""
    failed = [
        f"{outcome.result.benchmark.id}: {why}"
        for outcome in outcomes
        if (why := outcome.unanswered or outcome.judge_failed)
    ]
    if failed:
        raise ReelbenchError("; ".join(failed))


def _tell(outcome: "Outcome") -> None:
    for line in outcome.notes:
        console.note(line)
    for what, ids in (("missing", outcome.missing), ("extra", outcome.extra), ("duplicate", outcome.duplicate)):
        if ids:
            console.note(f"{len(ids)} {what} ids: {first_of(ids, _SHOWN)}")


def _tell_unjudged(outcomes: "list[Outcome]", again: Sequence[str]) -> None:
    """Say how to finish: by the same command where it names a judge, else with one for each task."""
    from reelbench.registry import discovery

    waiting: dict[str, int] = Counter()
    for outcome in outcomes:
        result = outcome.result
        if number := result.counts.unscored.get("judge_unavailable", 0):
            command = list(again)
            if "--judge" not in command:
                scale = discovery.get(result.benchmark.id).judge
                judge = result.judge.requested if result.judge else scale.suggested if scale else "MODEL"
                only = ["--task", outcome.folder.name] if "--run" in command and len(outcomes) > 1 else []
                command += [*only, "--judge", judge]
            waiting[shlex.join(command)] += number
    for command, number in waiting.items():
        console.note(f"{number} answers are not judged (judge_unavailable); to finish: {command}")


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
        if no_interval := _without_interval(spec, result):
            console.write(f"no interval for {', '.join(no_interval)}: fewer than 10 videos")
    else:
        console.write(title)
    if counts.parse_failed or counts.empty:
        share = f" ({100 * counts.unread_share:.1f} % of {counts.items})" if counts.parse_failed else ""
        # Where the answers are hidden nothing is scored here, and the owners will find them wrong.
        what = "scored as wrong" if counts.scored else "read as no answer"
        console.write(f"{what}: {counts.parse_failed} unreadable{share}, {counts.empty} empty")
    for sample in outcome.unread:
        lacks = _lacks(spec, sample)
        console.write(f"  unreadable{lacks}, {line_of(sample.id, _ID)}: {line_of(sample.prediction, _ANSWER)}")
    if result.judge is not None:
        console.write(_asked(result.judge))
    console.write(f"written to {outcome.folder}")


def show_by(outcomes: Sequence["Outcome"], facet: str) -> None:
    """Print the metrics for each label of a facet; InputError where no result is broken down by it."""
    from reelbench.registry import discovery

    shown = [outcome.result for outcome in outcomes if facet in outcome.result.breakdowns]
    if not shown:
        facets = sorted({name for outcome in outcomes for name in outcome.result.breakdowns})
        raise InputError(f"--by {facet}: no such facet; results here are broken down by {', '.join(facets) or 'none'}")
    for result in shown:
        spec = discovery.get(result.benchmark.id)
        labels = result.breakdowns[facet]
        names = [metric.name for metric in spec.metrics if any(metric.name in row for row in labels.values())]
        table = console.table(f"{spec.id} by {facet}", facet, *(f"#{name}" for name in names), "#n")
        for label, values in labels.items():
            cells = [
                _cells(spec, spec.metric(name), values[name], result)[0] if name in values else "" for name in names
            ]
            number = max((value.n for value in values.values()), default=0)
            table.add_row(label, *(cell.partition(" (")[0] for cell in cells), str(number))
        console.show(table)


def _lacks(spec: "BenchmarkSpec", sample: "Sample") -> str:
    """Return what an unreadable answer lacks, where an option stands in it and the benchmark asks for a span too."""
    if spec.asks_choice and spec.asks_span and (sample.parsed or {}).get("answer"):
        return " (an option without its span)"
    return ""


def _cells(spec: "BenchmarkSpec", metric: "Metric", value: "MetricValue", result: "Result") -> tuple[str, str, str]:
    """Return a metric's value, unit and interval as they are printed."""
    unit = metric.in_unit
    digits = unit.long_digits
    if value.value is None:
        return "N/A", unit.label, ""
    partial = _behind(spec, metric, result) < _WHOLE * result.counts.items
    number = f"{value.value:.{digits}f}" + (f" ({value.n} of {result.counts.items})" if partial else "")
    interval = "" if value.ci95 is None else " to ".join(f"{bound:.{digits}f}" for bound in value.ci95)
    return number, unit.label, interval


def _without_interval(spec: "BenchmarkSpec", result: "Result") -> list[str]:
    """Return the metrics that would have an interval on more videos."""
    from reelbench.registry.spec import Corpus

    return [
        name
        for name, metric in result.metrics.items()
        if metric.value is not None and metric.ci95 is None and not isinstance(spec.metric(name).aggregate, Corpus)
    ]


def _behind(spec: "BenchmarkSpec", metric: "Metric", result: "Result") -> int:
    """Return how many items are behind a value; of a mean of metrics, behind the one with the fewest."""
    from reelbench.registry.spec import MeanOf

    how = metric.aggregate
    parts = [spec.metric(name) for name in how.metrics] if isinstance(how, MeanOf) else []
    own = result.metrics[metric.name].n if metric.name in result.metrics else 0
    return min([own, *(_behind(spec, part, result) for part in parts)])


def line_of(value: Any, length: int) -> str:  # noqa: ANN401 - whatever a model or a file gave
    """Return what was given as one line of at most `length` characters: its start and its end, nothing that acts."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # The space between is where a cut falls; an answer stands at the end.
    half = (length - 3) // 2
    head, tail = _inert(text[: 4 * length]), _inert(text[-4 * length :])
    return head if len(text) <= 4 * length and len(head) <= length else f"{head[:half]} … {tail[-half:]}"


def _inert(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _asked(judge: "JudgeRecord") -> str:
    if judge.panel:
        alphas = (judge.agreement or {}).items()
        agreement = ", ".join(f"{name} {'undefined' if alpha is None else f'{alpha:.2f}'}" for name, alpha in alphas)
        return "\n".join([*map(_asked, judge.panel), f"the panel's agreement (Krippendorff's alpha): {agreement}"])
    cost = "" if judge.cost_usd is None else f", ${judge.cost_usd:.4f}"
    return (
        f"judge {judge.requested}: {judge.calls} calls, {judge.cached} replies from the cache, "
        f"{judge.prompt_tokens} tokens in and {judge.completion_tokens} out{cost}"
    )
