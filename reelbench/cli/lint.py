"""`reelbench data lint`: faults in a benchmark's rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench import __version__
from reelbench.base.errors import InputError, first_of, number_of, visible
from reelbench.base.text_tables import interval, number, p_value
from reelbench.cli.data import Data, Name
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json, Split, reports_status

if TYPE_CHECKING:
    from reelbench.stats.option_guesses import GuessTest
    from reelbench.tasks.lint.benchmark_lint import BenchmarkLint
    from reelbench.tasks.lint.findings import RowIssue
    from reelbench.tasks.lint.linter import RuleResult, ShortcutTest

_SHOWN_ISSUES = 5  # of a rule


@reports_status
def lint(
    name: Name,
    *,
    split: Split = None,
    data: Data = None,
    baseline: Annotated[
        bool,
        typer.Option(
            "--baseline/--no-baseline", help="Train a model on words alone, too (extra `lint`)."
        ),
    ] = True,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write lint.json beside the benchmark, for its card."),
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", metavar="FILE", help="Write a page of the rows with their texts to FILE."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find faults in a benchmark's rows, without media, a model or a network.

    Nothing is fetched. What is shown are ids, rules and numbers, and no text of a row: logs of CI
    are public. Exits with 0 where nothing is found but what `lint.yaml` beside the benchmark
    accepts (rule, rows and a reason), and with 1 where something else is.
    """
    from reelbench.tasks.lint import benchmark_lint, lint_page

    report = benchmark_lint.lint_benchmark(
        name, split, data, baseline=baseline, bar=console.progress
    )
    document = benchmark_lint.document(report, __version__)
    if write:
        _write_beside(report)
    if page is not None:
        lint_page.write(report, page)
        console.note(f"written to {page}; it shows the rows' texts")
    if as_json:
        console.write_json(document)
    else:
        _show(report)
    for reason in report.absent.values():
        console.note(f"not linted: {reason}")
    if report.text_only_untried is not None:
        console.note(report.text_only_untried)
    for entry in report.unused_acceptances():
        console.note(f"{entry.where}: {entry.rule} no longer finds anything there; remove it")
    if report.findings > report.accepted:
        raise typer.Exit(1)


def _write_beside(report: "BenchmarkLint") -> None:
    """Write what was found beside the benchmark, where its card reads it."""
    from reelbench.base.files import write_json
    from reelbench.tasks.lint import benchmark_lint, lint_file

    path = report.spec.folder / lint_file.NAME
    if report.absent:
        raise InputError(
            f"--write: {', '.join(report.absent)} isn't here; {lint_file.NAME} is of all splits"
        )
    if len(report.splits) < len(report.spec.splits):
        raise InputError(f"--write: {lint_file.NAME} is of all splits; leave --split out")
    write_json(path, benchmark_lint.document(report, __version__, name_rows=False))
    console.note(f"written to {path}")


def _show(report: "BenchmarkLint") -> None:
    for linted in report.splits:
        questions = number_of(linted.rows, "question")
        line = f"{report.spec.id} {linted.name}: {questions} on {number_of(linted.videos, 'video')}"
        if linted.unreadable:
            rows = number_of(linted.unreadable, "further row")
            line += f"; {rows} can't be read (`reelbench check` says why)"
        console.write(line)
    for result in report.results:
        _show_issues(report, result)
    _show_shortcuts(report)
    _show_text_only(report)
    console.write(_summary(report))


def _show_issues(report: "BenchmarkLint", result: "RuleResult") -> None:
    """Print the first faults that nobody has accepted."""
    issues = [issue for issue in result.issues if report.acceptance(result, issue) is None]
    for issue in issues[:_SHOWN_ISSUES]:
        console.write(_issue_line(report, result, issue))
    if len(issues) > _SHOWN_ISSUES:
        more = len(issues) - _SHOWN_ISSUES
        console.write(f"{result.rule.name}: and {more:,} more; --json has all")


def _issue_line(report: "BenchmarkLint", result: "RuleResult", issue: "RowIssue") -> str:
    """Return a fault in a line: rule, rows by split, and what is wrong."""
    ids_of_split: dict[str, dict[str, None]] = {}
    for question in issue.rows:
        ids_of_split.setdefault(question.split, {})[question.id] = None
    rows_of_splits = [f"{split} {first_of(list(ids), 3)}" for split, ids in ids_of_split.items()]
    return visible(f"{result.rule.name}: {'; '.join(rows_of_splits)}: {report.describe(issue)}")


def _show_shortcuts(report: "BenchmarkLint") -> None:
    """Print the ways to choose an option, and how far chance explains each."""
    table = console.table(
        "Ways to choose an option without understanding it",
        "rule",
        "split",
        "way",
        "#rows",
        "#videos",
        "#% right",
        "#chance",
        "#95 % interval",
        "#p (Holm)",
        "",
    )
    for result in report.results:
        for shortcut_test in result.shortcut_tests:
            mark = ""
            if shortcut_test.is_finding:
                mark = "finding"
                if report.acceptance_of_shortcut(result, shortcut_test) is not None:
                    mark = "accepted"
            table.add_row(result.rule.name, *_cells(shortcut_test), mark)
    if table.row_count:
        console.show(table)


def _show_text_only(report: "BenchmarkLint") -> None:
    """Print what words alone can do, by split and label."""
    for score in report.words:
        _write_text_only_score(f"{report.spec.id} {score.split}", score.test)
        for label, part in score.by_label.items():
            _write_text_only_score(f"  {label}", part.test)
        console.write(f"  always the training folds' best letter: {100 * score.constant:.1f} %")


def _write_text_only_score(name: str, test: "GuessTest") -> None:
    """Print how often words alone are right in a split, or under a label."""
    line = f"{name}: words alone, trained: {100 * test.value:.1f} % "
    line += f"(chance {100 * test.chance:.1f}; interval {_interval(test)})"
    console.write(visible(line))


def _interval(test: "GuessTest") -> str:
    ends = None
    if test.estimate.ci95 is not None:
        ends = [100 * end for end in test.estimate.ci95]
    return interval(ends, 1)


def _cells(shortcut_test: "ShortcutTest") -> list[str]:
    return [
        shortcut_test.split,
        shortcut_test.shortcut.description,
        f"{shortcut_test.rows:,}",
        f"{shortcut_test.videos:,}",
        number(100 * shortcut_test.test.value, 1),
        number(100 * shortcut_test.test.chance, 1),
        _interval(shortcut_test.test),
        p_value(shortcut_test.p_adjusted),
    ]


def _summary(report: "BenchmarkLint") -> str:
    counts: list[str] = []
    for result in report.results:
        if result.findings:
            counts.append(f"{result.rule.name} {result.findings:,}")
    by_words = sum(score.is_finding for score in report.words)
    if by_words:
        counts.append(f"words_alone {by_words:,}")
    if not counts:
        return f"nothing found by {number_of(len(report.results), 'rule')}"
    line = f"{number_of(report.findings, 'finding')}: {', '.join(counts)}"
    if report.accepted:
        line += f"; {report.accepted:,} accepted in lint.yaml"
    return line
