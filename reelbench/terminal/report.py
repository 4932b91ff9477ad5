"""Prints scored benchmarks: tables or JSON on stdout. What did not fit goes to stderr."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError, first_of, number_of, printable
from reelbench.base.files import read_json
from reelbench.base.values import as_text
from reelbench.terminal import console

if TYPE_CHECKING:
    from pathlib import Path

    from reelbench.judges.cost_estimate import CostEstimate
    from reelbench.registry.records import AskedRecord, JudgeRecord, ReadingRecord, Result
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.tasks.score import Outcome

_SHOWN = 10
_ID, _ANSWER = 60, 120
"""Characters shown of an unreadable answer's id, and of the answer."""


def report(
    outcomes: "list[Outcome]", *, as_json: bool, again: Sequence[str], quiet: bool = False
) -> None:
    """Print results: JSON on stdout if asked for (a list for several), else tables.

    Notes go to stderr. `again` is the command that scores the same once more: what is not judged
    yet is said with it. With `quiet` nothing is printed but the JSON.
    """
    if not quiet:
        for outcome in outcomes:
            _tell_notes(outcome)
    if as_json:
        _write_json([_result_document(outcome.result) for outcome in outcomes])
    elif not quiet:
        for outcome in outcomes:
            _print_outcome(outcome)
    if not quiet:
        _tell_unjudged(outcomes, again)


def _tell_notes(outcome: "Outcome") -> None:
    for line in outcome.notes:
        console.note(line)
    ids_of = {
        "missing": outcome.missing,
        "extra": outcome.extra,
        "duplicate": outcome.duplicate,
    }
    for what, ids in ids_of.items():
        if ids:
            console.note(f"{number_of(len(ids), f'{what} id')}: {first_of(ids, _SHOWN)}")


def _result_document(result: "Result") -> dict[str, Any]:
    numbers = result.model_dump(mode="json", include={"counts", "metrics", "breakdowns"})
    return {"benchmark": result.benchmark.id, "version": result.benchmark.version, **numbers}


def _write_json(documents: list[dict[str, Any]]) -> None:
    if len(documents) == 1:
        console.write_json(documents[0])
    else:
        console.write_json(documents)


def report_runs(
    folders: "Sequence[Path]", outcomes: "Sequence[Outcome]" = (), *, as_json: bool, quiet: bool
) -> None:
    """Print the summary of several runs of a model, a table a benchmark.

    Who was asked follows. With `as_json` the JSON is printed.
    """
    from reelbench.methods.runs import RUNS_FILE

    folders = [folder for folder in folders if (folder / RUNS_FILE).is_file()]
    documents: list[dict[str, Any]] = [read_json(folder / RUNS_FILE) for folder in folders]
    if as_json:
        _write_json(documents)
    if as_json or quiet:
        return
    for document in documents:
        _show_runs(document)
    for outcome in outcomes:
        _show_asked(outcome.result)
    for folder in folders:
        console.write(f"written to {folder}")


def _show_runs(document: Mapping[str, Any]) -> None:
    """Print the summary of a benchmark's runs, as `runs.json` has it."""
    from reelbench.registry import discovery

    spec = discovery.get(document["benchmark"])
    title = f"{spec.title} {document['split']} · {document['model']} · {document['runs']} runs"
    table = console.table(title, "metric", "#mean", "#spread", "95 % interval", "#of each run")
    has_interval = False
    for name, metric in document["metrics"].items():
        digits = spec.metric(name).in_unit.long_digits
        ends = ""
        if metric["ci95"] is not None:
            low, high = metric["ci95"]
            ends = f"{low:.{digits}f} to {high:.{digits}f}"
            has_interval = True
        values = ", ".join(f"{value:.{digits}f}" for value in metric["values"])
        shown_name = name
        if name == document["primary"]:
            shown_name = f"{name} (primary)"
        mean = f"{metric['mean']:.{digits}f}"
        spread = f"{metric['spread']:.{digits}f}"
        table.add_row(shown_name, mean, spread, ends, values)
    console.show(table)
    if has_interval:
        console.write(
            f"intervals over {document['items']} items scored in every run: {document['method']}"
        )
    else:
        console.write("no interval: fewer than 10 videos, or no variation")


def check_judged(outcomes: Sequence["Outcome"], *, strict: bool = False) -> None:
    """Check that a needed judge gave scores, and that some answer ended.

    With `strict`, too, that no item is unscored, that all ids fit, and that models were shown what
    was asked for.

    Raises:
        ReelbenchError: It is otherwise.
    """
    failures: list[str] = []
    for outcome in outcomes:
        reason = outcome.unanswered or outcome.judge_failed
        if reason:
            failures.append(f"{outcome.result.benchmark.id}: {reason}")
    if strict:
        for outcome in outcomes:
            problem = _strict_problem(outcome)
            if problem is not None:
                failures.append(f"--strict: {outcome.folder.name}: {problem}")
    if failures:
        raise ReelbenchError("; ".join(failures))


def _strict_problem(outcome: "Outcome") -> str | None:
    """Return the problem of a result under `--strict`, or None."""
    shown_otherwise = outcome.result.settings.shown_otherwise
    if outcome.complete and not shown_otherwise:
        return None
    unscored = outcome.result.counts.unscored
    parts = [f"{number} {reason}" for reason, number in unscored.items()]
    if shown_otherwise:
        parts.append(shown_otherwise)
    return ", ".join(parts) or "ids don't fit"


class _ToJudge(NamedTuple):
    """The command that judges the rest, and what it waits for."""

    command: str
    reason: str


def _tell_unjudged(outcomes: "list[Outcome]", again: Sequence[str]) -> None:
    """Say by which commands the rest is judged."""
    answers: Counter[_ToJudge] = Counter()
    for outcome in outcomes:
        number = outcome.result.counts.unscored.get("judge_unavailable", 0)
        if number:
            to_judge = _to_judge(outcome, again, has_others=len(outcomes) > 1)
            answers[to_judge] += number
    for to_judge, number in answers.items():
        await_a_judge = f"{number} answers await"
        if number == 1:
            await_a_judge = "1 answer awaits"
        console.note(f"{await_a_judge} {to_judge.reason}; to finish: {to_judge.command}")


def _to_judge(outcome: "Outcome", again: Sequence[str], *, has_others: bool) -> _ToJudge:
    """Return the command that judges an outcome's answers, and what they wait for.

    Args:
        outcome: The outcome.
        again: The command that scores it again.
        has_others: True where the command scores other tasks, too.
    """
    command = list(again)
    if "--judge" in command:
        reason = "the judge"
        if outcome.judge_trouble is not None:
            reason = f"the judge ({outcome.judge_trouble})"
        return _ToJudge(shlex.join(command), reason)
    if "--run" in command and has_others:
        command += ["--task", outcome.folder.name]
    judge, words = _judge_to_name(outcome.result)
    command += ["--judge", judge]
    reason = "a judge, and none was named"
    if words:
        reason += f" ({words})"
    return _ToJudge(shlex.join(command), reason)


class _NamedJudge(NamedTuple):
    """A judge to name, and what it is to the benchmark's paper, if anything."""

    name: str
    words: str


def _judge_to_name(result: "Result") -> _NamedJudge:
    """Return the judge that was asked for, else the suggested one, else a placeholder."""
    from reelbench.registry import discovery

    if result.judge:
        return _NamedJudge(result.judge.requested, "")
    scale = discovery.spec_of(result.benchmark).judge
    if scale is None:
        return _NamedJudge("MODEL", "")
    return _NamedJudge(scale.suggested, scale.suggested_in_words)


def _checked_again(asked_record: "AskedRecord") -> str:
    """Return the words on kept answers that were asked for again."""
    repeats = asked_record.repeats
    firm = len(asked_record.firmly_unlike or ())
    if not repeats.number:
        return ""
    words = "the same"
    if repeats.same < repeats.number:
        words = f"{repeats.same} the same, {repeats.number - repeats.same} otherwise"
    if firm:
        words += f" ({firm} each time)"
    return f"; {repeats.number} of these re-checked: {words}"


def _show_asked(result: "Result") -> None:
    """Print how many answers were asked for, and how many were kept."""
    from reelbench.llm.budget import shown_dates
    from reelbench.registry.model_ids import other_ids

    asked_record = result.provenance.asked
    if asked_record is None:
        return
    name = result.model.id
    if result.settings.run:
        name = f"{name}, run {result.settings.run}"
    line = f"{name}: {asked_record.asked} asked, {asked_record.kept} kept"
    line += shown_dates(asked_record.kept_from, asked_record.kept_to)
    if asked_record.probed:
        probed = number_of(asked_record.probed, "test question")
        line += f"; plus {probed} on whether it sees pictures"
    other_models = other_ids(result.model.id, asked_record.returned or {})
    line += _checked_again(asked_record)
    console.write(line)
    if other_models:
        console.write(f"{name}: answered as {', '.join(other_models)}")


def _print_outcome(outcome: "Outcome") -> None:
    """Print a result: its metrics, unreadable answers, calls and folder."""
    from reelbench.registry import discovery
    from reelbench.scoring import metric_table

    result = outcome.result
    spec = discovery.spec_of(result.benchmark)
    benchmark = result.benchmark
    title = metric_table.title(benchmark.id, benchmark.split, result.counts, result.model.id)
    if result.metrics:
        rows = metric_table.rows(spec, result.metrics, result.counts.items)
        console.show(console.table(title, *metric_table.COLUMNS, rows=rows))
        line = metric_table.without_interval(spec, result.metrics)
        if line:
            console.write(line)
    else:
        console.write(title)
    _show_unreadable(outcome, spec)
    _show_asked(result)
    if result.provenance.reading is not None:
        console.write(_reader_line(result, result.provenance.reading))
    if result.judge is not None:
        console.write(_judge_line(result.judge))
    console.write(f"written to {outcome.folder}")


def _show_unreadable(outcome: "Outcome", spec: "BenchmarkSpec") -> None:
    """Print how many answers can't be read, and some of them."""
    from reelbench.scoring import metric_table

    line = metric_table.without_answer(spec, outcome.result.counts)
    if line:
        console.write(line)
    asks_both = spec.asks_choice and spec.asks_span
    for sample in outcome.unread:
        has_option = asks_both and (sample.parsed or {}).get("answer")
        is_number = spec.asks_choice and str(sample.prediction).strip().isdecimal()
        lack = ""
        if has_option:
            lack = " (an option without its span)"
        elif is_number:
            lack = " (options are answered by letter)"
        answer = shortened(sample.prediction, _ANSWER)
        console.write(f"  unreadable{lack}, {shortened(sample.id, _ID)}: {answer}")
    for name, reply in outcome.unread_replies:
        text = shortened(reply, _ANSWER)
        console.write(f"  the judge's reply is unreadable, {shortened(name, _ID)}: {text}")


def show_by(outcomes: Sequence["Outcome"], facet: str) -> None:
    """Print the metrics for each label of a facet.

    Raises:
        InputError: No result is broken down by it.
    """
    from reelbench.registry import discovery
    from reelbench.scoring import metric_table

    results = [outcome.result for outcome in outcomes if facet in outcome.result.breakdowns]
    if not results:
        facets: set[str] = set()
        for outcome in outcomes:
            facets.update(outcome.result.breakdowns)
        raise InputError(
            f"--by {facet}: no such facet; results here are broken down by "
            f"{', '.join(sorted(facets)) or 'none'}"
        )
    for result in results:
        spec = discovery.spec_of(result.benchmark)
        columns, rows = metric_table.by_label(spec, result.breakdowns, facet)
        console.show(console.table(f"{spec.id} by {facet}", *columns, rows=rows))


def shortened(value: object, length: int) -> str:
    """Return an input's start and end in one line of at most `length` characters.

    Nothing in it acts on a terminal.
    """
    text = as_text(value)
    # Blanks go, so more is looked at than is shown.
    longest = 4 * length
    head = _one_line(text[:longest])
    if len(text) <= longest and len(head) <= length:
        return head
    tail = _one_line(text[-longest:])
    # The space between is where a cut falls; an answer stands at the end.
    half = (length - 3) // 2
    return f"{head[:half]} … {tail[-half:]}"


def _one_line(text: str) -> str:
    return " ".join(printable(text).split())


def _reader_line(result: "Result", reading: "ReadingRecord") -> str:
    """Return a line on the answers that a model read, and its calls and cost."""
    reader = result.settings.reader
    name = "" if reader is None else reader.model
    counts = result.counts
    line = f"{counts.read_by_model} of {counts.items} answers read by {name}"
    unread = reading.unread - counts.read_by_model
    if unread:
        line += f", {unread} it could not read either"
    return f"{line}: {_calls_text(reading)}"


def _judge_line(judge: "JudgeRecord") -> str:
    """Return a line on the calls and cost of each judge, and a panel's agreement."""
    from reelbench.judges.identity import judges_by_schema

    if judge.panel:
        agreements: list[str] = []
        for name, alpha in (judge.agreement or {}).items():
            value = "undefined"
            if alpha is not None:
                value = f"{alpha:.2f}"
            agreements.append(f"{name} {value}")
        lines = [_judge_line(member) for member in judge.panel]
        lines.append(f"the panel's agreement (Krippendorff's alpha): {', '.join(agreements)}")
        return "\n".join(lines)
    line = f"judge {judge.requested}: {_calls_text(judge)}"
    if judge.marks is not None:
        line += f"; {judge.marks.from_reasks} of {judge.marks.all} marks came from a re-ask"
    return "\n".join([line, *judges_by_schema(judge)])


def _calls_text(record: "JudgeRecord | ReadingRecord") -> str:
    """Return the calls, tokens and cost of a record."""
    from reelbench.llm.budget import shown_dates

    calls = number_of(record.calls, "call")
    cached = number_of(record.cached, "reply", "replies")
    dates = shown_dates(record.kept_from, record.kept_to)
    tokens = f"{record.prompt_tokens} tokens in and {record.completion_tokens} out"
    text = f"{calls}, {cached} from the cache{dates}, {tokens}"
    if record.cost_usd is not None:
        text += f", ${record.cost_usd:.4f}"
    return text


def show_estimates(estimates: "list[CostEstimate]", *, as_json: bool) -> None:
    """Print the calls and cost of judging, a row a judge and benchmark."""
    if as_json:
        console.write_json([asdict(cost) for cost in estimates])
        return
    table = console.table(
        "estimate of judging",
        "judge",
        "#items",
        "#cached",
        "#in a batch",
        "#calls",
        "#tokens in",
        "#out",
        "#$",
        "#time",
    )
    for cost in estimates:
        table.add_row(cost.judge, *_estimate_cells(cost))
    console.show(table)
    if any(cost.calls and not cost.counted_by for cost in estimates):
        console.note(
            "this judge has no saved replies yet: tokens are estimated at 3 bytes each, and the "
            "time is unknown"
        )
    if any(cost.calls and cost.cost_usd is None for cost in estimates):
        console.note(
            "no price known: give --judge-price IN,OUT (dollars per million tokens) or "
            "--judge-prices FILE"
        )
    shutdowns = {(cost.judge, cost.shutdown) for cost in estimates if cost.shutdown}
    for judge_name, day in shutdowns:
        console.note(f"{judge_name} shuts down on {day}, according to its server")


def _estimate_cells(cost: "CostEstimate") -> list[str]:
    dollars = ""
    if cost.cost_usd is not None:
        dollars = f"{cost.cost_usd:.4f}"
    time = ""
    if cost.seconds is not None:
        time = f"{cost.seconds:.0f} s"
    return [
        str(cost.items),
        str(cost.cached),
        str(cost.pending),
        str(cost.calls),
        str(cost.prompt_tokens),
        str(cost.completion_tokens),
        dollars,
        time,
    ]
