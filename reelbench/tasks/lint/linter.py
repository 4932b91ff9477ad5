"""All rules over all questions: faults, tested ways to choose, and which of these are findings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.base.progress import Bar, counted, no_bar
from reelbench.stats.multiple_comparisons import adjusted_by_holm
from reelbench.stats.option_guesses import GuessTest
from reelbench.tasks.lint.findings import FAMILY_LEVEL, FEWEST_ROWS, Fault, Rule, Way
from reelbench.tasks.lint.questions import Choices, Question
from reelbench.tasks.lint.rules import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A way to choose, tried on a split.

    Attributes:
        split: The split.
        way: The way.
        rows: The questions on which it was tried.
        right_rows: Those of them that it gets right, where these are worth naming.
        videos: The number of their videos.
        test: How often it is right, held to chance.
        p: The p value by itself.
        p_adjusted: The same by Holm over all ways of all rules.
    """

    split: str
    way: Way
    rows: int
    right_rows: tuple[Question, ...]
    videos: int
    test: GuessTest
    p: float
    p_adjusted: float

    @property
    def is_finding(self) -> bool:
        """True where chance doesn't explain it, and it is large enough to matter."""
        if self.p_adjusted > FAMILY_LEVEL or self.test.value < self.way.least:
            return False
        difference = self.test.value - self.test.chance
        if self.way.both_sides:
            difference = abs(difference)
        return difference >= self.way.smallest


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule's faults and measures."""

    rule: Rule
    faults: tuple[Fault, ...]
    measures: tuple[Measure, ...]

    @property
    def findings(self) -> int:
        """The number of faults, and of measures that are findings."""
        return len(self.faults) + sum(measure.is_finding for measure in self.measures)


def lint(
    questions: Sequence[Question], rules: Sequence[Rule] = RULES, bar: Bar = no_bar
) -> list[RuleResult]:
    """Run rules on the questions of one benchmark, of one split or of several."""
    measures = _measures(_choices_of_splits(questions), rules)
    results: list[RuleResult] = []
    with bar("applying rules", len(rules)) as show:
        for rule in counted(rules, show):
            faults: tuple[Fault, ...] = ()
            if rule.look is not None:
                faults = tuple(rule.look(questions))
            results.append(RuleResult(rule, faults, tuple(measures.get(rule.name, ()))))
    return results


def _choices_of_splits(questions: Iterable[Question]) -> dict[str, Choices]:
    by_split: dict[str, list[Question]] = {}
    for question in questions:
        by_split.setdefault(question.split, []).append(question)
    return {split: Choices.of(part) for split, part in by_split.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _TriedWay:
    """A way that was tried, before its p value is adjusted."""

    rule: Rule
    split: str
    way: Way
    right_rows: tuple[Question, ...]
    videos: int
    test: GuessTest
    p: float


def _measures(
    choices_of_splits: Mapping[str, Choices], rules: Sequence[Rule]
) -> dict[str, list[Measure]]:
    """Return the measures of each rule."""
    tried_ways: list[_TriedWay] = []
    for split, choices in choices_of_splits.items():
        for rule in rules:
            if rule.ways is None:
                continue
            for way in rule.ways(choices):
                if np.count_nonzero(way.chosen) >= FEWEST_ROWS:
                    tried_ways.append(_try(rule, split, choices, way))
    adjusted = adjusted_by_holm(np.array([tried.p for tried in tried_ways])).tolist()
    measures: dict[str, list[Measure]] = {}
    for tried, p_adjusted in zip(tried_ways, adjusted, strict=True):
        measure = Measure(
            split=tried.split,
            way=tried.way,
            rows=int(np.count_nonzero(tried.way.chosen)),
            right_rows=tried.right_rows,
            videos=tried.videos,
            test=tried.test,
            p=tried.p,
            p_adjusted=p_adjusted,
        )
        measures.setdefault(tried.rule.name, []).append(measure)
    return measures


def _try(rule: Rule, split: str, choices: Choices, way: Way) -> _TriedWay:
    """Hold a way to chance on the questions for which it can be tried."""
    part = choices.right.part(way.chosen)
    part_worth = way.worth[way.chosen]
    test = part.test(part_worth)
    p = test.p_above
    if way.both_sides:
        p = min(1.0, 2 * min(test.p_above, test.p_below))
    right_rows: list[Question] = []
    if way.names_rows:
        for number in np.flatnonzero(way.chosen).tolist():
            question = choices.questions[number]
            if way.worth[number, question.right[0]] > 0:
                right_rows.append(question)
    return _TriedWay(
        rule=rule,
        split=split,
        way=way,
        right_rows=tuple(right_rows),
        videos=len(set(part.videos)),
        test=test,
        p=p,
    )
