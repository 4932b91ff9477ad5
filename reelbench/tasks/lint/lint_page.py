"""A local page of what the linter found: each row, with its texts, beside its fault."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from reelbench.base.errors import number_of
from reelbench.base.files import write_text
from reelbench.pages.shell_page import page_asset, page_head, shell_page
from reelbench.registry.rows import LETTERS
from reelbench.stats.option_guesses import GuessTest
from reelbench.tasks.lint.accepted import Acceptance
from reelbench.tasks.lint.benchmark_lint import BenchmarkLint
from reelbench.tasks.lint.findings import RowIssue
from reelbench.tasks.lint.linter import RuleResult, ShortcutTest
from reelbench.tasks.lint.questions import Question

_SHOWN_ISSUES = 200  # of a rule
_SHOWN_ROWS = 20  # of a finding


def write(report: BenchmarkLint, path: Path) -> None:
    """Write the page. Only texts of the rows stand in it, and no media."""
    parts = [_head(report)]
    for result in report.results:
        if result.findings:
            parts.append("".join(_rule_section(report, result)))
    page = shell_page(
        f"{report.spec.id}: faults in the rows",
        "\n".join(parts),
        style=page_asset("lint_page.css", "tasks.lint"),
        head=page_head(),
        kind="lint",
    )
    write_text(path, page)


def _head(report: BenchmarkLint) -> str:
    title = escape(report.spec.title)
    lines = [f"<h1>Faults in the rows of <bdi>{title}</bdi></h1>"]
    for linted in report.splits:
        name = escape(linted.name)
        questions = number_of(linted.rows, "question")
        videos = number_of(linted.videos, "video")
        lines.append(f"<p>{name}: {questions} on {videos}</p>")
    findings = number_of(report.findings, "finding")
    lines.append(f'<p class="lead">{findings}, {report.accepted:,} of them accepted.</p>')
    for score in report.words:
        split = escape(score.split)
        share = _share_in_words(score.test)
        lines.append(f"<p>Words alone, trained, {split}: {share}.</p>")
    return "\n".join(lines)


def _rule_section(report: BenchmarkLint, result: RuleResult) -> Iterator[str]:
    """Yield a rule's section: its threshold, then each finding with its rows."""
    rule = result.rule
    name = escape(rule.name)
    title = escape(rule.title)
    yield f'<section id="{rule.name}" aria-labelledby="h-{rule.name}">'
    yield f'<h2 id="h-{rule.name}">{name}: {title}</h2>'
    yield f"<p>Found where: {escape(rule.threshold)}.</p>"
    for issue in result.issues[:_SHOWN_ISSUES]:
        yield _issue_article(report, result, issue)
    further = len(result.issues) - _SHOWN_ISSUES
    if further > 0:
        yield f"<p>And {further:,} more; --json names them.</p>"
    for shortcut_test in result.shortcut_tests:
        if shortcut_test.is_finding:
            yield _shortcut_article(report, result, shortcut_test)
    yield "</section>"


def _issue_article(report: BenchmarkLint, result: RuleResult, issue: RowIssue) -> str:
    return _finding_article(
        report,
        report.describe(issue),
        issue.rows,
        report.acceptance(result, issue),
    )


def _shortcut_article(
    report: BenchmarkLint, result: RuleResult, shortcut_test: ShortcutTest
) -> str:
    rows: Sequence[Question] = shortcut_test.solved_questions
    if report.is_secret(shortcut_test.split):
        rows = ()
    share = _share_in_words(shortcut_test.test)
    return _finding_article(
        report,
        f"{shortcut_test.split}, {shortcut_test.shortcut.description}: {share}",
        rows,
        report.acceptance_of_shortcut(result, shortcut_test),
    )


def _share_in_words(test: GuessTest) -> str:
    """Return a share of right choices, its chance and its interval."""
    percentage = 100 * test.value
    chance = 100 * test.chance
    words = f"{percentage:.1f} % right (chance {chance:.1f}"
    if test.estimate.ci95 is not None:
        low, high = test.estimate.ci95
        words += f"; interval {100 * low:.1f} to {100 * high:.1f}"
    return words + ")"


def _finding_article(
    report: BenchmarkLint, description: str, rows: Sequence[Question], acceptance: Acceptance | None
) -> str:
    """Return a finding with its first rows, and the reason for which it was accepted."""
    parts = [f'<article class="finding"><h3>{escape(description)}</h3>']
    if acceptance is not None and acceptance.reason:
        reason = escape(acceptance.reason)
        parts.append(f"<p>Accepted: <bdi>{reason}</bdi></p>")
    for question in rows[:_SHOWN_ROWS]:
        is_secret = report.is_secret(question.split)
        parts.append(_question_list(question, is_secret=is_secret))
    further = len(rows) - _SHOWN_ROWS
    if further > 0:
        parts.append(f"<p>And {further:,} more rows.</p>")
    parts.append("</article>")
    return "\n".join(parts)


def _question_list(question: Question, *, is_secret: bool) -> str:
    """Return a row. Which option is right is marked by a word, too."""
    videos = ", ".join(question.videos)
    parts = [
        "<dl>" + _term("row", f"{question.split} {question.id}"),
        _term("video", videos, _times_of_video(question)),
        _term("question", question.text),
    ]
    for index, option in enumerate(question.options):
        mark = ""
        if index in question.right and not is_secret:
            mark = ' <span class="right">right</span>'
        parts.append(_term(LETTERS[index], option, mark))
    if question.answer and not is_secret:
        parts.append(_term("answer", question.answer))
    if question.spans and not is_secret:
        spans = [f"{start:,.10g} to {end:,.10g} s" for start, end in question.spans]
        windows = ", ".join(spans)
        parts.append(f"<dt>span</dt><dd>{windows}</dd>")
    parts.append("</dl>")
    return "\n".join(parts)


def _term(name: str, text: str, html_behind: str = "") -> str:
    """Return a line of a definition list."""
    return f"<dt>{name}</dt><dd><bdi>{escape(text)}</bdi>{html_behind}</dd>"


def _times_of_video(question: Question) -> str:
    """Return the length of a question's video, and the part that is shown."""
    times = ""
    if question.duration:
        times += f", {question.duration:,.10g} s"
    if question.clip is not None:
        start, end = question.clip
        times += f", shown from {start:,.10g} to {end:,.10g} s"
    return times
