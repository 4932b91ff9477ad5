"""All rules over all questions: faults, tested ways to choose, and which of these are findings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.base.progress import Bar, counted, no_bar
from reelbench.stats.multiple_comparisons import adjusted_by_holm
from reelbench.stats.option_guesses import GuessTest
from reelbench.tasks.lint.findings import FAMILY_LEVEL, FEWEST_ROWS, RowIssue, Rule, Shortcut
from reelbench.tasks.lint.questions import ChoiceQuestions, Question
from reelbench.tasks.lint.rules import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortcutTest:
    """A shortcut, tested on a split.

    Attributes:
        split: The split.
        shortcut: The shortcut.
        rows: The number of questions to which it applies.
        solved_questions: Those of them that it gets right, where these are worth naming.
        videos: The number of their videos.
        test: How often it is right, beside chance.
        p: The p value by itself.
        p_adjusted: The same by Holm over all ways of all rules.
    """

    split: str
    shortcut: Shortcut
    rows: int
    solved_questions: tuple[Question, ...]
    videos: int
    test: GuessTest
    p: float
    p_adjusted: float

    @property
    def is_finding(self) -> bool:
        """True where chance doesn't explain it, and it is large enough to matter."""
        if self.p_adjusted > FAMILY_LEVEL or self.test.value < self.shortcut.min_accuracy:
            return False
        difference = self.test.value - self.test.chance
        if self.shortcut.is_two_sided:
            difference = abs(difference)
        return difference >= self.shortcut.min_difference


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule's faults and measures."""

    rule: Rule
    issues: tuple[RowIssue, ...]
    shortcut_tests: tuple[ShortcutTest, ...]

    @property
    def findings(self) -> int:
        """The number of faults, and of measures that are findings."""
        return len(self.issues) + sum(
            shortcut_test.is_finding for shortcut_test in self.shortcut_tests
        )


def lint(
    questions: Sequence[Question], rules: Sequence[Rule] = RULES, bar: Bar = no_bar
) -> list[RuleResult]:
    """Run rules on the questions of one benchmark, of one split or of several."""
    shortcut_tests = _test_shortcuts(_choices_by_split(questions), rules)
    results: list[RuleResult] = []
    with bar("applying rules", len(rules)) as show:
        for rule in counted(rules, show):
            issues: tuple[RowIssue, ...] = ()
            if rule.find_issues is not None:
                issues = tuple(rule.find_issues(questions))
            tests_of_rule = tuple(shortcut_tests.get(rule.name, ()))
            results.append(RuleResult(rule, issues, tests_of_rule))
    return results


def _choices_by_split(questions: Iterable[Question]) -> dict[str, ChoiceQuestions]:
    questions_by_split: dict[str, list[Question]] = {}
    for question in questions:
        questions_by_split.setdefault(question.split, []).append(question)
    return {split: ChoiceQuestions.of(part) for split, part in questions_by_split.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnadjustedTest:
    """The test of a shortcut, before its p value is adjusted."""

    rule: Rule
    split: str
    shortcut: Shortcut
    solved_questions: tuple[Question, ...]
    videos: int
    test: GuessTest
    p: float


def _test_shortcuts(
    choices_by_split: Mapping[str, ChoiceQuestions], rules: Sequence[Rule]
) -> dict[str, list[ShortcutTest]]:
    """Return the tests of each rule's shortcuts, by the rule's name."""
    unadjusted_tests: list[_UnadjustedTest] = []
    for split, choices in choices_by_split.items():
        for rule in rules:
            if rule.find_shortcuts is None:
                continue
            for shortcut in rule.find_shortcuts(choices):
                if np.count_nonzero(shortcut.applicable) >= FEWEST_ROWS:
                    unadjusted_tests.append(_test_against_chance(rule, split, choices, shortcut))
    p_values = np.array([test.p for test in unadjusted_tests])
    adjusted_p_values = adjusted_by_holm(p_values).tolist()
    shortcut_tests: dict[str, list[ShortcutTest]] = {}
    for unadjusted, p_adjusted in zip(unadjusted_tests, adjusted_p_values, strict=True):
        shortcut_test = ShortcutTest(
            split=unadjusted.split,
            shortcut=unadjusted.shortcut,
            rows=int(np.count_nonzero(unadjusted.shortcut.applicable)),
            solved_questions=unadjusted.solved_questions,
            videos=unadjusted.videos,
            test=unadjusted.test,
            p=unadjusted.p,
            p_adjusted=p_adjusted,
        )
        shortcut_tests.setdefault(unadjusted.rule.name, []).append(shortcut_test)
    return shortcut_tests


def _test_against_chance(
    rule: Rule, split: str, choices: ChoiceQuestions, shortcut: Shortcut
) -> _UnadjustedTest:
    """Test a shortcut on the questions to which it applies."""
    right_options = choices.right.subset(shortcut.applicable)
    test = right_options.test(shortcut.credit[shortcut.applicable])
    p = test.p_above
    if shortcut.is_two_sided:
        p = min(1.0, 2 * min(test.p_above, test.p_below))
    solved_questions: list[Question] = []
    if shortcut.lists_questions:
        for index in np.flatnonzero(shortcut.applicable).tolist():
            question = choices.questions[index]
            right_option = question.right[0]
            if shortcut.credit[index, right_option] > 0:
                solved_questions.append(question)
    return _UnadjustedTest(
        rule=rule,
        split=split,
        shortcut=shortcut,
        solved_questions=tuple(solved_questions),
        videos=len(set(right_options.videos)),
        test=test,
        p=p,
    )
