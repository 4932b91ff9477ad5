"""The questions of a discussion beside those of a single pass, which MovieCORE's paper shows by examples only.

MovieCORE's Table 1 (Flesch-Kincaid grade; depth of the parse tree with a parser, Bloom's level and the share of
higher-order ones with a model that tells them), words, and specificity: names and numbers in a text. Each is a mean
over texts, with an interval over videos for the difference (none under ten videos, `stats.intervals`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from reelbench.registry.languages import words
from reelbench.stats.intervals import difference_of_means, mean_over_clusters
from reelbench.studio import bloom, readability
from reelbench.studio.discussion_files import WrittenQuestion

Pairs = Mapping[str, tuple[Sequence[WrittenQuestion], Sequence[WrittenQuestion]]]
"""Video -> the single pass's questions, and the discussion's."""

Side = Literal["question", "answer"]
SIDES: tuple[Side, ...] = ("question", "answer")

Levels = dict[Side, dict[str, int]]
"""Side -> text -> its level of Bloom's taxonomy, where it is known."""

TextMeasure = Callable[[Side, Sequence[str]], Sequence[float | None]]
"""Side and texts -> the value of each, None where it has none."""


# What stands before them is looked at behind their first character: a search for that alone is fast.
_NAME = re.compile(r"[A-Z](?<=[^\s.!?\"“] [A-Z])[\w'’-]*(?: [A-Z][\w'’-]*)*")
_NUMBER = re.compile(r"\d(?<![\w.]\d)\d*(?:[.,:]\d+)*(?!\w)")
_NOT_A_NAME = {"I"}


def specificity(text: str) -> int:
    """Return how many different names and numbers a text has; a name is capitalised within a sentence."""
    names = {name for name in _NAME.findall(text) if name not in _NOT_A_NAME}
    return len(names | set(_NUMBER.findall(text)))


def comparison(
    pairs: Pairs,
    verdicts: Mapping[str, tuple[float, float]] | None,
    parser: readability.Parser | None = None,
    levels: Levels | None = None,
) -> dict[str, Any]:
    """Return what `comparison.json` says.

    Args:
        pairs: The questions of both sets.
        verdicts: Video -> what a judge said in each order (1: the discussion's are better, 0.5: neither); None where
            no judge was asked.
        parser: For the parse depth; None leaves it out.
        levels: Of Bloom's taxonomy; None where no model was asked.
    """
    measures: dict[str, TextMeasure] = {
        "flesch_kincaid": lambda _, texts: [readability.flesch_kincaid(text) for text in texts],
        "words": lambda _, texts: [float(len(words(text))) for text in texts],
        "specificity": lambda _, texts: [float(specificity(text)) for text in texts],
    }
    if parser is not None:
        measures["parse_depth"] = lambda _, texts: list(parser.depths(texts))
    if levels is not None:
        measures["bloom"] = lambda side, texts: [levels[side].get(text) for text in texts]
        measures["higher_order"] = lambda side, texts: [
            None if (level := levels[side].get(text)) is None else 100.0 * (level >= bloom.HIGHER_ORDER)
            for text in texts
        ]
    measured = {
        f"{name}_{side}": _difference(pairs, side, measure) for name, measure in measures.items() for side in SIDES
    }
    return {
        "videos": len(pairs),
        "measures": measured,
        "win_rate": None if not verdicts else _win_rate(verdicts),
    }


def _difference(pairs: Pairs, side: Side, measure: TextMeasure) -> dict[str, Any]:
    """Return both means of a measure, and the difference with its interval, questions or answers."""
    sums = np.zeros((len(pairs), 4))
    for place, sets in enumerate(pairs.values()):
        for which, questions in enumerate(sets):
            values = [
                value
                for value in measure(side, [getattr(question, side) for question in questions])
                if value is not None
            ]
            sums[place, 2 * which : 2 * which + 2] = sum(values), len(values)
    of_first, of_last = sums[:, :2].sum(axis=0), sums[:, 2:].sum(axis=0)
    first, last = (float(total / number) if number else None for total, number in (of_first, of_last))
    test = None
    if first is not None and last is not None:
        _, _, test = difference_of_means(sums[:, [2, 3, 0, 1]])
    return {
        "single_pass": first,
        "discussion": last,
        "difference": None if first is None or last is None else last - first,
        "ci95": list(test.interval()) if test else None,
    }


def _win_rate(verdicts: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Return how often the discussion's questions are the better ones, a tie counting half, and by order."""
    scores = np.array([sum(orders) / 2 for orders in verdicts.values()])
    rate = mean_over_clusters(scores, list(verdicts), bounds=(0, 1))
    return {
        "value": rate.value,
        "ci95": list(rate.ci95) if rate.ci95 else None,
        "videos": len(verdicts),
        "same_in_both_orders": sum(first == second for first, second in verdicts.values()) / len(verdicts),
        "single_pass_shown_first": sum(first for first, _ in verdicts.values()) / len(verdicts),
        "discussion_shown_first": sum(second for _, second in verdicts.values()) / len(verdicts),
    }
