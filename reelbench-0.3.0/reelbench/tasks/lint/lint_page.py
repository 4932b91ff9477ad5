"""A local page of what the linter found: each row, with its texts, beside its fault."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from reelbench.base.errors import number_of
from reelbench.base.files import write_text
from reelbench.pages.shell_page import page_asset, page_head, shell_page
from reelbench.registry.rows import LETTERS
from reelbench.stats.option_guesses import GuessTest
from reelbench.tasks.lint.benchmark_lint import BenchmarkLint
from reelbench.tasks.lint.linter import Measure, RuleResult
from reelbench.tasks.lint.questions import Question

_SHOWN_FAULTS = 200  # of a rule
_SHOWN_ROWS = 20  # of a finding


def write(report: BenchmarkLint, path: Path) -> None:
    """Write the page. Only texts of the rows stand in it, and no media."""
    parts = [_head(report)]
    for result in report.results:
        if result.findings:
            parts.append("".join(_section(report, result)))
    page = shell_page(
        f"{report.spec.id}: faults in the rows",
        "\n".join(parts),
        style=page_asset("lint_page.css", "tasks.lint"),
        head=page_head(),
        kind="lint",
    )
    write_text(path, page)


def _head(report: BenchmarkLint) -> str:
    lines = [f"<h1>Faults in the rows of <bdi>{escape(report.spec.title)}</bdi></h1>"]
    for linted in report.splits:
        questions = number_of(linted.rows, "question")
        videos = number_of(linted.videos, "video")
        lines.append(f"<p>{escape(linted.name)}: {questions} on {videos}</p>")
    findings = number_of(report.findings, "finding")
    lines.append(f'<p class="lead">{findings}, {report.accepted:,} of them accepted.</p>')
    for score in report.words:
        lines.append(f"<p>Words alone, trained, {escape(score.split)}: {_share(score.test)}.</p>")
    return "\n".join(lines)


def _section(report: BenchmarkLint, result: RuleResult) -> Iterator[str]:
    """Yield a rule's section: its threshold, then each finding with its rows."""
    rule = result.rule
    yield f'<section id="{rule.name}" aria-labelledby="h-{rule.name}">'
    yield f'<h2 id="h-{rule.name}">{escape(rule.name)}: {escape(rule.title)}</h2>'
    yield f"<p>Found where: {escape(rule.threshold)}.</p>"
    for fault in result.faults[:_SHOWN_FAULTS]:
        acceptance = report.acceptance(result, fault)
        reason = acceptance.reason if acceptance else ""
        yield _finding(report, report.words_of(fault), fault.rows, reason)
    if len(result.faults) > _SHOWN_FAULTS:
        yield f"<p>And {len(result.faults) - _SHOWN_FAULTS:,} more; --json names them.</p>"
    for measure in result.measures:
        if measure.is_finding:
            yield _measure(report, result, measure)
    yield "</section>"


def _measure(report: BenchmarkLint, result: RuleResult, measure: Measure) -> str:
    acceptance = report.acceptance_of_measure(result, measure)
    reason = acceptance.reason if acceptance else ""
    rows: Sequence[Question] = measure.right_rows
    if report.is_secret(measure.split):
        rows = ()
    what = f"{measure.split}, {measure.way.what}: {_share(measure.test)}"
    return _finding(report, what, rows, reason)


def _share(test: GuessTest) -> str:
    """Return a share of right choices, its chance and its interval."""
    words = f"{100 * test.value:.1f} % right (chance {100 * test.chance:.1f}"
    if test.estimate.ci95 is not None:
        low, high = test.estimate.ci95
        words += f"; interval {100 * low:.1f} to {100 * high:.1f}"
    return words + ")"


def _finding(report: BenchmarkLint, what: str, rows: Sequence[Question], reason: str) -> str:
    """Return a finding with its first rows."""
    parts = [f'<article class="finding"><h3>{escape(what)}</h3>']
    if reason:
        parts.append(f"<p>Accepted: <bdi>{escape(reason)}</bdi></p>")
    for question in rows[:_SHOWN_ROWS]:
        parts.append(_row(question, secret=report.is_secret(question.split)))
    if len(rows) > _SHOWN_ROWS:
        parts.append(f"<p>And {len(rows) - _SHOWN_ROWS:,} more rows.</p>")
    parts.append("</article>")
    return "\n".join(parts)


def _row(question: Question, *, secret: bool) -> str:
    """Return a row. Which option is right is marked by a word, too."""
    name = f"{question.split} {question.id}"
    videos = ", ".join(question.videos)
    parts = [f"<dl><dt>row</dt><dd><bdi>{escape(name)}</bdi></dd>"]
    parts.append(f"<dt>video</dt><dd><bdi>{escape(videos)}</bdi>{_times(question)}</dd>")
    parts.append(f"<dt>question</dt><dd><bdi>{escape(question.text)}</bdi></dd>")
    for place, option in enumerate(question.options):
        mark = ""
        if place in question.right and not secret:
            mark = ' <span class="right">right</span>'
        parts.append(f"<dt>{LETTERS[place]}</dt><dd><bdi>{escape(option)}</bdi>{mark}</dd>")
    if question.answer and not secret:
        parts.append(f"<dt>answer</dt><dd><bdi>{escape(question.answer)}</bdi></dd>")
    if question.spans and not secret:
        windows = ", ".join(f"{start:,.10g} to {end:,.10g} s" for start, end in question.spans)
        parts.append(f"<dt>span</dt><dd>{windows}</dd>")
    parts.append("</dl>")
    return "\n".join(parts)


def _times(question: Question) -> str:
    """Return the length of a question's video, and the part that is shown."""
    times = ""
    if question.duration:
        times += f", {question.duration:,.10g} s"
    if question.clip is not None:
        start, end = question.clip
        times += f", shown from {start:,.10g} to {end:,.10g} s"
    return times
