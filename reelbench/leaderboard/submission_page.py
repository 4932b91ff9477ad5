"""Write a submission's report as Markdown, for a comment on a pull request.

A stranger's text stands in code spans alone: there nothing links, loads or runs, and no name calls
a person. (GitHub notifies whoever stands behind an @ in any other text, an escaped one too.)
"""

import re
from collections.abc import Iterator
from importlib.metadata import version

from reelbench.base.errors import cut_in_the_middle, number_of, printable
from reelbench.base.text_tables import interval, number, p_value
from reelbench.leaderboard.submission import Near, Report, SubmittedResult
from reelbench.pages.markdown import table
from reelbench.registry.records import MetricValue
from reelbench.registry.spec import BenchmarkSpec

LONGEST = 60_000
"""Characters of a comment. GitHub takes 65,536."""

TITLE = "### Reelbench:"
"""What every text begins with."""

COMMIT = re.compile(rf"{TITLE}[^\n]*\n\nCommit: `([0-9a-f]{{40}})`\n")
"""The first lines of a text, with the commit. Nothing of a stranger's stands in them."""

_LONGEST_NAME = 80
"""Characters shown of a stranger's name."""
_LONGEST_REASON = 1000
"""Characters shown of why a result is refused."""
_MOST_PROBLEMS = 20

_PLAIN_WORDS = re.compile(r"[\w .,;:()'`%+-]+")
"""Text in which nothing links, loads, runs or calls a person."""

_VERDICTS = {"holds": "valid", "partial": "valid, not ranked", "refused": "**refused**"}
_PLACES = {
    "replaced": "which it replaces",
    "best": "best of the table",
    "above": "next above",
    "below": "next below",
}
_METRIC_HEADS = ("metric", "unit", "#stated", "#recomputed", "#95 % interval", "#n")


def markdown(report: Report, *, commit: str | None = None) -> str:
    """Return the report as Markdown: the outcome, then a section for each result.

    Results for which there is no room are counted. `commit` is what was checked, where it is a
    commit.
    """
    text = "\n\n".join(_head(report, commit))
    for place, submission in enumerate(report.submissions):
        section = "\n\n".join(_section(submission))
        remaining = len(report.submissions) - place
        more = (
            f"\n\n{remaining} more results: no room here; "
            "`reelbench leaderboard check` shows them.\n"
        )
        if len(text) + len(section) + len(more) > LONGEST:
            return text + more
        text += f"\n\n{section}"
    return text + "\n"


def _head(report: Report, commit: str | None) -> Iterator[str]:
    results = len(report.submissions)
    accepted = results - report.refused
    verb = "is" if results == 1 else "are"
    outcome = f"{accepted} of {number_of(results, 'result')} {verb} valid"
    if report.problems:
        outcome = f"refused; {outcome}"
    yield f"{TITLE} {outcome}"
    if commit:
        yield f"Commit: `{commit}`"
    program = f"Reelbench {version('reelbench')}"
    yield f"Every number was computed again from its samples, by {program}."
    problems = [verbatim(problem, _LONGEST_REASON) for problem in report.problems[:_MOST_PROBLEMS]]
    notes = [verbatim(note, _LONGEST_REASON) for note in report.notes]
    lines = [f"- **refused**: {problem}" for problem in problems]
    if len(report.problems) > _MOST_PROBLEMS:
        lines.append(f"- and {len(report.problems) - _MOST_PROBLEMS} more")
    lines += [f"- {note}" for note in notes]
    if lines:
        yield "\n".join(lines)


def markdown_unchecked(commit: str, why: str) -> str:
    """Return the text on a commit that could not be checked to its end."""
    return f"{TITLE} not checked\n\nCommit: `{commit}`\n\n- **not checked**: {why}\n"


def verbatim(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a stranger's text as a code span of one line."""
    start = text[: 4 * longest]
    end = text[4 * longest :][-longest:]
    line = " ".join(printable(start + end).split())
    line = cut_in_the_middle(line, longest)
    if "`" not in line:
        return f"`{line or ' '}`"
    # A code span ends at as many backticks as it began with.
    longest_run = max(len(run) for run in re.findall("`+", line))
    fence = "`" * (longest_run + 1)
    return f"{fence} {line} {fence}"


def _section(submission: SubmittedResult) -> Iterator[str]:
    yield f"#### {_name(submission)}: {_VERDICTS[submission.verdict]}"
    if submission.why:
        yield verbatim(submission.why, _LONGEST_REASON)
    spec = submission.spec
    if submission.metrics and spec is not None:
        yield _metrics_table(submission, spec)
    if submission.rank is not None:
        rank, ranked = submission.rank
        place = verbatim(submission.table or "", 2 * _LONGEST_NAME)
        yield (
            f"It would be rank {rank} of {ranked} in {place}, "
            "in which all pairs of models are compared at once."
        )
    if submission.near and spec is not None:
        yield _near_table(submission, spec)
    lines: list[str] = []
    for row in submission.near:
        if row.place == "replaced":
            key = verbatim(row.key, 4 * _LONGEST_NAME)
            lines.append(
                f"- it takes the place of {key}: the dataset's history tells whose that was"
            )
    lines += [f"- {_inert(text)}" for text in submission.missing]
    if lines:
        yield "\n".join(["To know:", "", *lines])


def _inert(text: str) -> str:
    """Return a line with others' words, in a code span where it has any mark."""
    if _PLAIN_WORDS.fullmatch(text) and "www." not in text.lower():
        return text
    return verbatim(text, _LONGEST_REASON)


def _name(submission: SubmittedResult) -> str:
    result = submission.result
    if result is None:
        return verbatim(str(submission.folder))
    task = verbatim(f"{result.benchmark.id} {result.benchmark.split}")
    return f"{verbatim(result.model.id)}, {task}"


def _metrics_table(submission: SubmittedResult, spec: BenchmarkSpec) -> str:
    lines: list[tuple[str, ...]] = []
    for name, (stated_value, recomputed_value) in submission.metrics.items():
        metric = spec.metric(name)
        digits = metric.in_unit.long_digits
        heading = name
        if metric == spec.primary:
            heading = f"**{name}**"
        ends = ""
        items = ""
        if recomputed_value is not None:
            ends = interval(recomputed_value.ci95, digits)
            items = str(recomputed_value.n)
        line = (
            heading,
            metric.in_unit.label,
            _number_text(stated_value, digits),
            _number_text(recomputed_value, digits),
            ends,
            items,
        )
        lines.append(line)
    return table(_METRIC_HEADS, lines)


def _number_text(metric: MetricValue | None, digits: int) -> str:
    value = None if metric is None else metric.value
    return number(value, digits)


def _near_table(submission: SubmittedResult, spec: BenchmarkSpec) -> str:
    primary = spec.primary
    digits = primary.in_unit.long_digits
    heads = (
        "row",
        "",
        f"#{primary.name}",
        "#difference",
        "#95 % interval",
        "#p",
        "#questions",
        "#videos",
    )
    lines: list[tuple[str, ...]] = []
    for row in submission.near:
        value = f"{row.value:.{digits}f}"
        start = (verbatim(row.model), _PLACES[row.place], value)
        lines.append(start + _difference_cells(row, digits))
    return table(heads, lines)


def _difference_cells(row: Near, digits: int) -> tuple[str, ...]:
    paired = row.paired
    if paired is None:
        return ("no question in common", "", "", "0", "0")
    return (
        f"{paired.difference:+.{digits}f}",
        interval(paired.ci95, digits),
        p_value(paired.p, 3),
        str(paired.n),
        str(paired.videos),
    )
