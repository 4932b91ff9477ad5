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
    """Return the number of different names and numbers in a text; a name is capitalised within a sentence."""
    names = {name for name in _NAME.findall(text) if name not in _NOT_A_NAME}
    return len(names | set(_NUMBER.findall(text)))


def comparison(
    pairs: Pairs,
    verdicts: Mapping[str, tuple[float, float]] | None,
    parser: readability.Parser | None = None,
    levels: Levels | None = None,
) -> dict[str, Any]:
    """Return the document of `comparison.json`.

    `verdicts`: what a judge said of each video in each order (1: the discussion's are better, 0.5: neither). Without
    a judge, a parser for the parse depth, or levels of Bloom's taxonomy these are left out.
    """
    measured = {}
    for name, measure in text_measures(parser, levels).items():
        for side in SIDES:
            texts = [[[getattr(one, side) for one in questions] for questions in sets] for sets in pairs.values()]
            measured[f"{name}_{side}"] = difference(texts, side, measure, ("single_pass", "discussion"))
    return {
        "videos": len(pairs),
        "measures": measured,
        "win_rate": None if not verdicts else _win_rate(verdicts),
    }


def text_measures(parser: readability.Parser | None, levels: Levels | None = None) -> dict[str, TextMeasure]:
    """Return the measures of texts by name; parse depth and Bloom's levels where it is known how to tell them."""
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
    return measures


def difference(
    videos: Sequence[Sequence[Sequence[str]]], side: Side, measure: TextMeasure, names: tuple[str, str]
) -> dict[str, Any]:
    """Return a measure's mean over each of two sets, under their names, and `difference` (the second's more), `ci95`.

    `videos` are the texts of the first set and of the second, by video.
    """
    sums = np.zeros((len(videos), 4))
    for place, sets in enumerate(videos):
        for which, texts in enumerate(sets):
            values = [value for value in measure(side, texts) if value is not None]
            sums[place, 2 * which : 2 * which + 2] = sum(values), len(values)
    of_first, of_last = sums[:, :2].sum(axis=0), sums[:, 2:].sum(axis=0)
    first, last = (float(total / number) if number else None for total, number in (of_first, of_last))
    if first is None or last is None:
        return {names[0]: first, names[1]: last, "difference": None, "ci95": None}
    _, _, test = difference_of_means(sums[:, [2, 3, 0, 1]])
    ends = list(test.interval()) if test else None
    return {names[0]: first, names[1]: last, "difference": last - first, "ci95": ends}


def _win_rate(verdicts: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Return the win rate of the discussion's questions, a tie counting half, and by order."""
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
