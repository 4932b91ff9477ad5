"""What people read of a submission, as Markdown for a comment on a pull request.

What a stranger wrote stands in code spans alone: there nothing links, loads or runs, and no name
calls a person (GitHub notifies whoever stands behind an @ in any other text, an escaped one too).
"""

import re
from collections.abc import Iterator
from importlib.metadata import version

from reelbench.base.errors import cut_in_the_middle, number_of, printable
from reelbench.base.text_tables import interval, number, p_value
from reelbench.leaderboard.submission import Report, SubmittedResult
from reelbench.pages.markdown import table

LONGEST = 60_000
"""Characters of a comment; GitHub takes 65,536."""

TITLE = "### Reelbench:"
"""What every text begins with."""

COMMIT = re.compile(rf"{TITLE}[^\n]*\n\nCommit: `([0-9a-f]{{40}})`\n")
"""The two lines of a text's head, in which nothing of a stranger's stands: the commit that it is about."""

_NAME, _REASON = 80, 1000
"""Characters shown of a stranger's name, and of why a result is refused."""
_LISTED = 20

_VERDICTS = {"holds": "holds", "partial": "holds, not ranked", "refused": "**refused**"}
_PLACES = {
    "replaced": "which it replaces",
    "best": "best of the table",
    "above": "next above",
    "below": "next below",
}


def markdown(report: Report, *, commit: str | None = None) -> str:
    """Return the text: what came of it in a line, then a section for each result as long as there is room.

    `commit` is what was checked, where it is a commit.
    """
    results = len(report.submissions)
    held = results - report.refused
    head = [f"{TITLE} {held} of {number_of(results, 'result')} hold{'s' if results == 1 else ''}"]
    head += [f"Commit: `{commit}`"] if commit else []
    head.append(
        f"Every number was computed again from its samples, by Reelbench {version('reelbench')}."
    )
    lines = [
        f"- **refused**: {verbatim(problem, _REASON)}" for problem in report.problems[:_LISTED]
    ]
    if len(report.problems) > _LISTED:
        lines.append(f"- and {len(report.problems) - _LISTED} more")
    lines += [f"- {verbatim(note, _REASON)}" for note in report.notes]
    text = "\n\n".join([*head, *(["\n".join(lines)] if lines else [])])
    for place, submission in enumerate(report.submissions):
        section = "\n\n".join(_section(submission))
        left = len(report.submissions) - place
        more = f"\n\n{left} more results: no room here; `reelbench leaderboard check` shows them.\n"
        if len(text) + len(section) + len(more) > LONGEST:
            return text + more
        text += f"\n\n{section}"
    return text + "\n"


def markdown_unchecked(commit: str, why: str) -> str:
    """Return the text for what could not be looked at to its end."""
    return f"{TITLE} not checked\n\nCommit: `{commit}`\n\n- **not checked**: {why}\n"


def verbatim(text: str, longest: int = _NAME) -> str:
    """Return a stranger's text as a code span of one line, its middle left out where it is longer."""
    line = " ".join(printable(text[: 4 * longest] + text[4 * longest :][-longest:]).split())
    text = cut_in_the_middle(line, longest)
    fence = "`" * (
        1 + max(map(len, re.findall("`+", text)), default=0)
    )  # a span ends at as many as it began with
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text or ' '}{fence}"


def _section(submission: SubmittedResult) -> Iterator[str]:
    result = submission.result
    name = verbatim(result.model.id) if result else verbatim(str(submission.folder))
    of = f", {verbatim(f'{result.benchmark.id} {result.benchmark.split}')}" if result else ""
    yield f"#### {name}{of}: {_VERDICTS[submission.verdict]}"
    if submission.why:
        yield verbatim(submission.why, _REASON)
    spec = submission.spec
    if submission.metrics and spec is not None:
        lines = []
        for metric in map(spec.metric, submission.metrics):
            stated, again = submission.metrics[metric.name]
            digits = metric.in_unit.long_digits
            shown = f"**{metric.name}**" if metric == spec.primary else metric.name
            values = [number(found and found.value, digits) for found in (stated, again)]
            ends = interval(again and again.ci95, digits)
            lines.append(
                (shown, metric.in_unit.label, *values, ends, str(again.n) if again else "")
            )
        yield table(("metric", "unit", "#stated", "#recomputed", "#95 % interval", "#n"), lines)
    if submission.rank is not None:
        rank, ranked = submission.rank
        where = verbatim(submission.table or "", 2 * _NAME)
        yield f"It would be rank {rank} of {ranked} in {where}, in which all pairs of models are compared at once."
    if submission.near and spec is not None:
        metric, digits = spec.primary, spec.primary.in_unit.long_digits
        heads = (
            "row",
            "",
            f"#{metric.name}",
            "#difference",
            "#95 % interval",
            "#p",
            "#questions",
            "#videos",
        )
        rows = []
        for row in submission.near:
            paired = row.paired
            if paired is None:
                cells = ("no question in common", "", "", "0", "0")
            else:
                ends, p = interval(paired.ci95, digits), p_value(paired.p, 3)
                cells = (
                    f"{paired.difference:+.{digits}f}",
                    ends,
                    p,
                    str(paired.n),
                    str(paired.videos),
                )
            rows.append(
                (verbatim(row.model), _PLACES[row.place], f"{row.value:.{digits}f}", *cells)
            )
        yield table(heads, rows)
    replaced = [
        f"it takes the place of {verbatim(row.key, 4 * _NAME)}: the dataset's history tells whose that was"
        for row in submission.near
        if row.place == "replaced"
    ]
    if known := [*replaced, *submission.missing]:
        yield "\n".join(["To know:", "", *(f"- {line}" for line in known)])
