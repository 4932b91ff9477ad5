"""Temporal grounding: how well a predicted window of a video covers the true one.

The rules are those of ReXTime's evaluator: intersection over the *hull* of the two windows, thresholds that count when
met exactly, the true window with the highest IoU where there are several, and 0 for a window without length, with its
ends the wrong way round, or missing.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from reelbench.registry.errors import InputError
from reelbench.registry.records import Item
from reelbench.scoring import choice
from reelbench.scoring.pairing import percent, require_same_ids

RECALL_THRESHOLDS = (0.3, 0.5)
MOMENT_THRESHOLDS = (*RECALL_THRESHOLDS, 0.7)
"""Those that the literature on moment retrieval reports."""
GROUNDED_THRESHOLD = 0.5
_RECALL = {at: f"recall_at_{at}" for at in MOMENT_THRESHOLDS}
_CORRECT = f"correct_at_iou_{GROUNDED_THRESHOLD}"

_SLACK = 1.02
"""A window may end a little behind what a file states as its length: by 2 percent and a second."""
_FEW_BEHIND, _NEARLY, _SOME = 0.05, 0.9, 5

Window = Sequence[float]
"""Start and end in seconds; anything after them (a confidence) is ignored."""


def iou(predicted: Window, target: Window) -> float:
    """Return the intersection of two windows over their hull, 0 to 1.

    The hull equals the union wherever windows overlap. Windows that don't, that have no length or run backwards give 0,
    two equal windows without length too; so does one with an end that is not a finite number.
    """
    (start, end), (true_start, true_end) = predicted[:2], target[:2]
    if not all(map(math.isfinite, (start, end, true_start, true_end))):
        return 0.0
    intersection = min(end, true_end) - max(start, true_start)
    if intersection <= 0:
        return 0.0
    return intersection / (max(end, true_end) - min(start, true_start))


def score_item(
    parsed: Mapping[str, Any], target: Mapping[str, Any], thresholds: Sequence[float] = RECALL_THRESHOLDS
) -> dict[str, float]:
    """Score one window, and the answer with it where both sides have one.

    Args:
        parsed: `{"span": [start, end] or None}`, with `"answer": "B" or None` where the item was answered too.
        target: `{"spans": [[start, end], ...]}`, with `"answer": "B"` where it is a question.
        thresholds: IoUs at which recall is taken.

    Returns:
        `iou` (0 to 1), `recall_at_0.3`, `recall_at_0.5` and, with answers, `correct_at_iou_0.5` (each 0 or 1).

    Raises:
        InputError: the target has no window, as in a split whose answers are hidden.
    """
    if not target.get("spans"):
        raise InputError("temporal span: the item has no true window to compare with; its split can't be scored here")
    span = parsed.get("span")
    best = max(iou(span, true_span) for true_span in target["spans"]) if span else 0.0
    scores = {"iou": best} | {_RECALL[at]: 1.0 if best >= at else 0.0 for at in thresholds}
    if "answer" in parsed and target.get("answer") is not None:
        correct = choice.score_item(parsed, target)["correct"]
        scores[_CORRECT] = correct if best >= GROUNDED_THRESHOLD else 0.0
    return scores


def columns(item: Item, thresholds: Sequence[float] = RECALL_THRESHOLDS) -> dict[str, float]:
    """Return the item's columns; none where the submission gives no windows at all (no key `span`)."""
    if item.parsed is None or "span" not in item.parsed:
        return {}
    return score_item(item.parsed, item.target, thresholds)


moment_columns = partial(columns, thresholds=MOMENT_THRESHOLDS)
"""The columns of an item that asks for a span alone."""


def unit_doubt(windows: Mapping[str, tuple[Window, Window]], lengths: Mapping[str, float]) -> str | None:
    """Say where windows look as if they were no seconds; None where they don't.

    Args:
        windows: Id -> predicted window and true one, of the answers that were read.
        lengths: Id -> length of its video in seconds, where it is known.
    """
    number, known = len(windows), windows.keys() & lengths.keys()
    behind = sum(windows[key][0][1] > lengths[key] * _SLACK + 1 for key in known)
    if behind > _FEW_BEHIND * len(known):
        asked = ": are these seconds?" if 2 * behind > len(known) else ""
        return f"{behind} of {len(known)} windows end behind their video{asked}"
    early = sum(span[1] <= 1 for span, _ in windows.values())
    late = sum(true[1] > 1 for _, true in windows.values())
    if number >= _SOME and early >= _NEARLY * number and late >= _NEARLY * number:
        return f"{early} of {number} windows end within the first second of their video: are these seconds?"
    return None


def compute_score(
    references: Mapping[str, Sequence[Window]], predictions: Mapping[str, Sequence[Window] | None]
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Score windows by id: `({"miou", "recall_at_0.3", "recall_at_0.5"}, {id: columns})`, the first from 0 to 100.

    Args:
        references: Id -> true windows.
        predictions: Id -> predicted windows, of which the first counts; none scores 0.

    Raises:
        InputError: no items, ids that only one side has, or an item without a true window.
    """
    require_same_ids("temporal span", references, predictions)
    items: dict[str, dict[str, float]] = {}
    for key, spans in references.items():
        windows = predictions[key]
        items[key] = score_item({"span": windows[0] if windows else None}, {"spans": spans})
    corpus = {"miou": percent(items, "iou")}
    return corpus | {f"recall_at_{at}": percent(items, f"recall_at_{at}") for at in RECALL_THRESHOLDS}, items
