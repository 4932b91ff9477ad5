"""Temporal grounding: how well a predicted window of a video covers the true one.

The rules are those of ReXTime's evaluator: intersection over the *hull* of the two windows,
thresholds that count when met exactly, the true window with the highest IoU where there are
several, and 0 for a window without length, with its ends the wrong way round, or missing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from reelbench.base.errors import InputError
from reelbench.registry.records import Item
from reelbench.scoring import choice

RECALL_THRESHOLDS = (0.3, 0.5)
MOMENT_THRESHOLDS = (*RECALL_THRESHOLDS, 0.7)
"""Those that the literature on moment retrieval reports."""
GROUNDED_THRESHOLD = 0.5
_NAMES = {
    (kind, at): f"{name}_at_{at}"
    for kind, name in (("iou", "recall"), ("iop", "iop"))
    for at in MOMENT_THRESHOLDS
}
_CORRECT = {kind: f"correct_at_{kind}_{GROUNDED_THRESHOLD}" for kind in ("iou", "iop")}
"""Columns by kind of overlap, the items' own names: made once, as items may be many."""

_SLACK = 1.02
"""A window may end a little behind what a file states as its length: by 2 percent and a second."""
_FEW_BEHIND, _NEARLY, _SOME = 0.05, 0.9, 5

Window = Sequence[float]
"""Start and end in seconds; anything after them (a confidence) is ignored."""
Columns = Callable[[Item], dict[str, float]]


def iou(predicted: Window, target: Window) -> float:
    """Return the intersection of two windows over their hull, 0 to 1.

    The hull equals the union wherever windows overlap. Windows that don't, that have no length or
    run backwards give 0, two equal windows without length too; so does one with an end that is not
    a finite number.
    """
    (start, end), (true_start, true_end) = predicted[:2], target[:2]
    if not all(map(math.isfinite, (start, end, true_start, true_end))):
        return 0.0
    intersection = min(end, true_end) - max(start, true_start)
    if intersection <= 0:
        return 0.0
    return intersection / (max(end, true_end) - min(start, true_start))


def score_item(
    parsed: Mapping[str, Any],
    target: Mapping[str, Any],
    thresholds: Sequence[float] = RECALL_THRESHOLDS,
    kind: Literal["iou", "iop"] = "iou",
) -> dict[str, float]:
    """Score one window, and the answer with it where both sides have one.

    Args:
        parsed: `{"span": [start, end] or None}`, with `"answer": "B" or None` where the item was
            answered too.
        target: `{"spans": [[start, end], ...]}`, with `"answer": "B"` where it is a question.
        thresholds: IoUs at which recall is taken.
        kind: Of overlap: with the true window, or within it (precision).

    Returns:
        `iou` (0 to 1), `recall_at_0.3`, `recall_at_0.5` and, with answers, `correct_at_iou_0.5`
        (each 0 or 1).

    InputError where the target has no window, as in a split whose answers are hidden.
    """
    spans, span = target.get("spans"), parsed.get("span")
    if not spans:
        raise InputError(
            "temporal span: the item has no true window to compare with; its split can't be scored here"
        )
    overlap = iou if kind == "iou" else iop
    return _columns(
        kind, max(overlap(span, one) for one in spans) if span else 0.0, thresholds, parsed, target
    )


def _columns(
    kind: Literal["iou", "iop"],
    score: float,
    thresholds: Sequence[float],
    parsed: Mapping[str, Any],
    target: Mapping[str, Any],
) -> dict[str, float]:
    """Return a score, whether it reaches each threshold and, with answers, whether it is good and the answer right."""
    scores = {kind: score} | {_NAMES[kind, at]: float(score >= at) for at in thresholds}
    if "answer" in parsed and target.get("answer") is not None:
        right = choice.score_item(parsed, target)["correct"]
        scores[_CORRECT[kind]] = right if score >= GROUNDED_THRESHOLD else 0.0
    return scores


def _where_offered(
    score: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, float]], item: Item
) -> dict[str, float]:
    """Return an item's columns by a score of (parsed, target); none where no windows are given at all (no `span`)."""
    return (
        score(item.parsed, item.target) if item.parsed is not None and "span" in item.parsed else {}
    )


columns: Columns = partial(_where_offered, score_item)
moment_columns: Columns = partial(_where_offered, partial(score_item, thresholds=MOMENT_THRESHOLDS))
"""The columns of an item that asks for a span alone."""
covered_columns: Columns = partial(_where_offered, partial(score_item, kind="iop"))
"""The precision of the predicted window: `iop`, the thresholds, and with an answer whether both are."""


def iop(predicted: Window, target: Window) -> float:
    """Return the share of the predicted window that lies in the true one, 0 to 1 (intersection over prediction).

    A moment within the true window gives 1 (NExT-GQA's evaluator), a window that runs backwards 0.
    """
    (start, end), (true_start, true_end) = predicted[:2], target[:2]
    if not all(map(math.isfinite, (start, end, true_start, true_end))) or end < start:
        return 0.0
    if start == end:
        return float(true_start <= start <= true_end)
    return max(0.0, min(end, true_end) - max(start, true_start)) / (end - start)


def merge_windows(windows: Sequence[Window]) -> list[Window]:
    """Return windows in order, those that touch as one; what has no finite ends or runs backwards is left out."""
    whole: list[Window] = []
    for start, end in sorted(
        (w[0], w[1]) for w in windows if all(map(math.isfinite, w[:2])) and w[0] <= w[1]
    ):
        if whole and start <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(whole[-1][1], end))
        else:
            whole.append((start, end))
    return whole


def union_iou(predicted: Sequence[Window], target: Sequence[Window]) -> float:
    """Return the intersection of two sets of windows over their union, each merged first (CG-Bench's evaluator)."""
    ours, theirs = merge_windows(predicted), merge_windows(target)
    both = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in ours for b in theirs)
    whole = sum(end - start for start, end in (*ours, *theirs)) - both
    return both / whole if whole > 0 else 0.0


def _union_scores(parsed: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, float]:
    """Return the columns of an item all of whose windows count, those of the answer and the right ones."""
    score = union_iou(parsed.get("spans") or (), target["spans"])
    return _columns("iou", score, MOMENT_THRESHOLDS, parsed, target)


union_columns: Columns = partial(_where_offered, _union_scores)
_MOST_RANKED = 10  # windows of an answer that QVHighlights' evaluator looks at
AP_THRESHOLDS = tuple(at / 100 for at in range(50, 100, 5))


def average_precision(
    predicted: Sequence[Window], target: Sequence[Window], threshold: float
) -> float:
    """Return the average precision of windows in order of confidence, interpolated as in ActivityNet's evaluator."""
    free, hits = set(range(len(target))), list[bool]()
    for window in predicted:
        ranked = sorted(free, key=lambda at: -iou(window, target[at]))
        hit = bool(ranked) and iou(window, target[ranked[0]]) >= threshold
        free -= {ranked[0]} if hit else set[int]()
        hits.append(hit)
    precision = [sum(hits[: at + 1]) / (at + 1) for at in range(len(hits))]
    return sum(max(precision[at:]) for at, hit in enumerate(hits) if hit) / len(target)


def _ranked_scores(parsed: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean average precision of an item's windows over IoU 0.5 to 0.95, and at 0.5 and 0.75."""
    windows = (parsed.get("spans") or ())[:_MOST_RANKED]
    at = {each: average_precision(windows, target["spans"], each) for each in AP_THRESHOLDS}
    return {"map": sum(at.values()) / len(at), "map_at_0.5": at[0.5], "map_at_0.75": at[0.75]}


ranked_columns: Columns = partial(_where_offered, _ranked_scores)


def unit_doubt(
    windows: Mapping[str, tuple[Window, Window]], lengths: Mapping[str, float]
) -> str | None:
    """Say where windows look as if they were no seconds; None where they don't.

    Args:
        windows: Id -> predicted window and true one, of the answers that were read.
        lengths: Id -> length of its video in seconds, where it is known.
    """
    number, known = len(windows), windows.keys() & lengths.keys()
    behind = sum(windows[key][0][1] > lengths[key] * _SLACK + 1 for key in known)
    if behind > _FEW_BEHIND * len(known):
        asked = ": are these seconds?" if 2 * behind > len(known) else ""
        return f"{behind} of {len(known)} windows end after their video{asked}"
    early = sum(span[1] <= 1 for span, _ in windows.values())
    late = sum(true[1] > 1 for _, true in windows.values())
    if number >= _SOME and early >= _NEARLY * number and late >= _NEARLY * number:
        return f"{early} of {number} windows end within the first second of their video: are these seconds?"
    return None
