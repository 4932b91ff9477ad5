"""A benchmark's data, linted: its splits that are here, and the document of what was found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.base.progress import Bar, counted, no_bar
from reelbench.data import loading, mapped_rows
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini, upstream_split
from reelbench.stats.option_guesses import GuessTest
from reelbench.tasks.lint import accepted, words_alone
from reelbench.tasks.lint.accepted import Acceptance
from reelbench.tasks.lint.findings import FAMILY_LEVEL, RowIssue
from reelbench.tasks.lint.linter import RuleResult, ShortcutTest, lint
from reelbench.tasks.lint.questions import ChoiceQuestions, Question, questions_of
from reelbench.tasks.lint.words_alone import TextOnlyScore


@dataclass(frozen=True, slots=True)
class LintedSplit:
    """A split that was linted.

    Attributes:
        name: The split.
        fingerprint: The fingerprint of its rows.
        rows: The number of its rows that can be read.
        unreadable: The number of those that can't.
        videos: The number of its videos.
        secret: True where its answers are public nowhere, so that no row is named by its answer.
    """

    name: str
    fingerprint: str
    rows: int
    unreadable: int
    videos: int
    secret: bool


@dataclass(frozen=True, slots=True)
class BenchmarkLint:
    """A linted benchmark, with each rule's result.

    Attributes:
        spec: The benchmark.
        splits: The splits that were linted.
        absent: Split -> why its rows aren't here.
        results: What each rule found, in the rules' order.
        acceptances: The findings that the author accepts.
        words: The scores of words alone, of splits with enough questions with options.
        text_only_untried: Why they were not tried where they could have been.
    """

    spec: BenchmarkSpec
    splits: tuple[LintedSplit, ...]
    absent: dict[str, str]
    results: tuple[RuleResult, ...]
    acceptances: tuple[Acceptance, ...]
    words: tuple[TextOnlyScore, ...] = ()
    text_only_untried: str | None = None

    @property
    def findings(self) -> int:
        """The number of findings of all rules."""
        count = sum(score.is_finding for score in self.words)
        return count + sum(result.findings for result in self.results)

    @property
    def accepted(self) -> int:
        """The number of those that the author accepts."""
        count = sum(self.acceptance_of_text_only(score) is not None for score in self.words)
        return count + sum(self.accepted_of(result) for result in self.results)

    def accepted_of(self, result: RuleResult) -> int:
        """Return the number of a rule's findings that the author accepts."""
        count = 0
        for issue in result.issues:
            if self.acceptance(result, issue) is not None:
                count += 1
        for shortcut_test in result.shortcut_tests:
            if self.acceptance_of_shortcut(result, shortcut_test) is not None:
                count += 1
        return count

    def acceptance(self, result: RuleResult, issue: RowIssue) -> Acceptance | None:
        """Return the entry that accepts a fault."""
        for entry in self.acceptances:
            if entry.covers(result.rule.name, issue):
                return entry
        return None

    def acceptance_of_shortcut(
        self, result: RuleResult, shortcut_test: ShortcutTest
    ) -> Acceptance | None:
        """Return the entry that accepts a way to choose that is a finding."""
        if not shortcut_test.is_finding:
            return None
        return self._acceptance_of_split(result.rule.name, shortcut_test.split)

    def acceptance_of_text_only(self, score: TextOnlyScore) -> Acceptance | None:
        """Return the entry that accepts what words alone can do, where that is a finding."""
        if not score.is_finding:
            return None
        return self._acceptance_of_split(words_alone.RULE.name, score.split)

    def _acceptance_of_split(self, rule: str, split: str) -> Acceptance | None:
        for entry in self.acceptances:
            if entry.covers_split(rule, split):
                return entry
        return None

    def describe(self, issue: RowIssue) -> str:
        """Return a fault in words; of a secret right answer it says nothing."""
        if any(self.is_secret(question.split) for question in issue.rows):
            return issue.description
        return issue.description + issue.answer_note

    def unused_acceptances(self) -> list[Acceptance]:
        """Return the entries that accept nothing that was found."""
        entries = [self.acceptance_of_text_only(score) for score in self.words]
        for result in self.results:
            entries += [self.acceptance(result, issue) for issue in result.issues]
            entries += [self.acceptance_of_shortcut(result, part) for part in result.shortcut_tests]
        busy = {entry.where for entry in entries if entry is not None}
        idle: list[Acceptance] = []
        for entry in self.acceptances:
            # What was not tried may still be so.
            is_tried = entry.rule != words_alone.RULE.name or bool(self.words)
            if is_tried and entry.where not in busy:
                idle.append(entry)
        return idle

    def is_secret(self, split: str) -> bool:
        """Return True where a split's rows must not be named by their answers."""
        return any(linted.secret for linted in self.splits if linted.name == split)


def lint_benchmark(
    name: str,
    split: str | None = None,
    data: Path | None = None,
    *,
    baseline: bool = True,
    bar: Bar = no_bar,
) -> BenchmarkLint:
    """Lint the rows of a benchmark that are on this machine. Nothing is fetched.

    Args:
        name: A benchmark, one of its tasks, or the path of its file or folder.
        split: One split; by default all but the mini ones.
        data: The user's own copy of the annotations.
        baseline: Try what words alone can do, too.
        bar: It shows how many splits are read, rules applied, and models of words trained.

    Raises:
        InputError: The name or split is unknown, or no row can be read.
        DataUnavailableError: No split's rows are here.
    """
    named = loading.find_split(name, split)
    spec = named.spec
    split_names = [named.split]
    names_whole_benchmark = split is None and named.task is None and not is_mini(named.split)
    if names_whole_benchmark:
        split_names = list(spec.splits)
    linted: list[LintedSplit] = []
    absent: dict[str, str] = {}
    questions: list[Question] = []
    with bar("reading splits", len(split_names)) as show:
        for split_name in counted(split_names, show):
            try:
                located = loading.locate_files(spec, split_name, named.task, data, fetch=False)
            except DataUnavailableError as error:
                absent[split_name] = str(error)
                continue
            read = _read_rows(located)
            split_questions = questions_of(spec, split_name, read.rows)
            questions += split_questions
            # What their answer can't name, such as one of two equal options, is a fault of theirs.
            questions += questions_of(spec, split_name, read.unanswerable)
            linted.append(_lint_summary(located, read, split_questions))
    if not linted:
        raise DataUnavailableError("; ".join(absent.values()))
    acceptances = accepted.read(spec.folder, spec.splits)
    words: list[TextOnlyScore] = []
    untried: str | None = None
    questions_to_train_on = _splits_large_enough(questions)
    if baseline and questions_to_train_on:
        untried = words_alone.reason_not_tried()
        if untried is None:
            words = list(_score_text_only(questions_to_train_on, bar))
    return BenchmarkLint(
        spec,
        tuple(linted),
        absent,
        tuple(lint(questions, bar=bar)),
        acceptances,
        tuple(words),
        untried,
    )


def _splits_large_enough(questions: Sequence[Question]) -> dict[str, ChoiceQuestions]:
    """Return the splits with enough questions with options."""
    splits = dict.fromkeys(question.split for question in questions)
    enough: dict[str, ChoiceQuestions] = {}
    for split in splits:
        choices = ChoiceQuestions.of(question for question in questions if question.split == split)
        if words_alone.has_enough_questions(choices):
            enough[split] = choices
    return enough


def _score_text_only(
    choices_by_split: Mapping[str, ChoiceQuestions], bar: Bar
) -> Iterator[TextOnlyScore]:
    with bar("training on words", len(choices_by_split)) as show:
        for split, choices in counted(choices_by_split.items(), show):
            score = words_alone.score_text_only_model(split, choices)
            if score is not None:
                yield score


@dataclass(frozen=True, slots=True)
class _SplitRows:
    """The rows of a split.

    Attributes:
        rows: Those that can be read.
        unanswerable: Of the others, those with a readable question and options.
        unreadable: The number of all others.
    """

    rows: Sequence[Row]
    unanswerable: Sequence[Row] = ()
    unreadable: int = 0


def _read_rows(located: loading.SplitData) -> _SplitRows:
    """Return a split's rows; of a declared table, those that can be read.

    Raises:
        InputError: None can be read.
    """
    spec = located.spec
    if spec.mapping is None or located.task is not None:
        return _SplitRows(located.rows)
    rows: list[Row] = []
    errors: list[InputError] = []
    unanswerable: list[Row] = []
    split = upstream_split(spec, located.split)
    for entry in mapped_rows.read_rows_or_errors(spec, located.paths, split):
        if isinstance(entry.row, InputError):
            errors.append(entry.row)
            if entry.row_without_answer is not None:
                unanswerable.append(entry.row_without_answer)
        else:
            rows.append(entry.row)
    if not rows and errors:
        raise errors[0]
    return _SplitRows(rows, unanswerable, len(errors))


def _lint_summary(
    located: loading.SplitData, read: _SplitRows, questions: Sequence[Question]
) -> LintedSplit:
    videos: set[str] = set()
    for question in questions:
        videos.update(question.videos)
    declared_split = located.spec.splits[upstream_split(located.spec, located.split)]
    return LintedSplit(
        located.split,
        located.source.fingerprint,
        len(read.rows),
        read.unreadable,
        len(videos),
        secret=declared_split.secret,
    )


# --- the document
# ----------------------------------------------------------------------------------------------


def document(report: BenchmarkLint, reelbench: str, *, name_rows: bool = True) -> dict[str, Any]:
    """Return the report as JSON has it.

    It has ids, rules and numbers, and no text of a row.

    Args:
        report: The report.
        reelbench: The version of Reelbench.
        name_rows: Name the rows of each finding, too.
    """
    splits: dict[str, Any] = {}
    for linted in report.splits:
        splits[linted.name] = {
            "rows": linted.rows,
            "unreadable": linted.unreadable,
            "videos": linted.videos,
            "fingerprint": linted.fingerprint,
        }
    rules: dict[str, Any] = {}
    for result in report.results:
        fields: dict[str, Any] = {
            "title": result.rule.title,
            "threshold": result.rule.threshold,
            "findings": result.findings,
            "accepted": report.accepted_of(result),
        }
        if result.rule.find_issues is not None and name_rows:
            fields["faults"] = [_issue_fields(report, result, issue) for issue in result.issues]
        if result.rule.find_shortcuts is not None:
            fields["measures"] = [
                _shortcut_fields(report, result, part, name_rows=name_rows)
                for part in result.shortcut_tests
            ]
        rules[result.rule.name] = fields
    return {
        "benchmark": report.spec.id,
        "version": report.spec.version,
        "reelbench": reelbench,
        "family_level": FAMILY_LEVEL,
        "splits": splits,
        "absent": report.absent,
        "findings": report.findings,
        "accepted": report.accepted,
        "rules": rules,
        "words_alone": {
            "title": words_alone.RULE.title,
            "threshold": words_alone.RULE.threshold,
            "untried": report.text_only_untried,
            "splits": {score.split: _text_only_fields(report, score) for score in report.words},
        },
    }


def _text_only_fields(report: BenchmarkLint, score: TextOnlyScore) -> dict[str, Any]:
    by_label: dict[str, Any] = {}
    for label, label_score in score.by_label.items():
        by_label[label] = {"rows": label_score.rows, **_test_fields(label_score.test)}
    fields: dict[str, Any] = {
        "rows": score.rows,
        "videos": score.videos,
        **_test_fields(score.test),
        "constant": 100 * score.constant,
        "p": score.test.p_above,
        "finding": score.is_finding,
        "by_label": by_label,
        "scikit_learn": score.scikit_learn,
    }
    acceptance = report.acceptance_of_text_only(score)
    if acceptance is not None:
        fields["accepted"] = acceptance.reason
    return fields


def _test_fields(test: GuessTest) -> dict[str, Any]:
    """Return a share of right choices in percent, with its interval and chance."""
    interval = test.estimate.ci95
    ci95 = None
    if interval is not None:
        ci95 = [100 * end for end in interval]
    return {"value": 100 * test.value, "chance": 100 * test.chance, "ci95": ci95}


def _issue_fields(report: BenchmarkLint, result: RuleResult, issue: RowIssue) -> dict[str, Any]:
    rows = [{"split": question.split, "id": question.id} for question in issue.rows]
    fields: dict[str, Any] = {"rows": rows, "what": report.describe(issue)}
    acceptance = report.acceptance(result, issue)
    if acceptance is not None:
        fields["accepted"] = acceptance.reason
    return fields


def _shortcut_fields(
    report: BenchmarkLint, result: RuleResult, shortcut_test: ShortcutTest, *, name_rows: bool
) -> dict[str, Any]:
    """Return a measure's numbers, in percent, and the rows of a finding.

    Of a secret split no row is named.
    """
    fields: dict[str, Any] = {
        "split": shortcut_test.split,
        "what": shortcut_test.shortcut.description,
        "rows": shortcut_test.rows,
        "videos": shortcut_test.videos,
        **_test_fields(shortcut_test.test),
        "smallest_effect": 100 * shortcut_test.shortcut.min_difference,
        "p": shortcut_test.p,
        "p_holm": shortcut_test.p_adjusted,
        "finding": shortcut_test.is_finding,
    }
    if not shortcut_test.is_finding:
        return fields
    acceptance = report.acceptance_of_shortcut(result, shortcut_test)
    if acceptance is not None:
        fields["accepted"] = acceptance.reason
    if name_rows and shortcut_test.solved_questions and not report.is_secret(shortcut_test.split):
        fields["ids"] = [question.id for question in shortcut_test.solved_questions]
    return fields
