"""Temporal grounding: how well a predicted window of a video covers the true one.

The rules are those of ReXTime's evaluator. The overlap is the intersection over the *hull* of the
two windows. A threshold counts when it is met exactly. Where there are several true windows, the
one with the highest IoU counts. A window that has no length, runs backwards or is missing gives 0.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from reelbench.base.errors import InputError
from reelbench.registry.records import Item
from reelbench.scoring import choice
from reelbench.stats.assignment import largest_assignment

RECALL_THRESHOLDS = (0.3, 0.5)
MOMENT_THRESHOLDS = (*RECALL_THRESHOLDS, 0.7)
"""Those that the literature on moment retrieval reports."""
GROUNDED_THRESHOLD = 0.5

Overlap = Literal["iou", "iop"]
"""With the true window, or of the predicted window within the true one (precision)."""

_THRESHOLD_COLUMNS: dict[tuple[Overlap, float], str] = {
    ("iou", 0.3): "recall_at_0.3",
    ("iou", 0.5): "recall_at_0.5",
    ("iou", 0.7): "recall_at_0.7",
    ("iop", 0.3): "iop_at_0.3",
    ("iop", 0.5): "iop_at_0.5",
    ("iop", 0.7): "iop_at_0.7",
}
_CORRECT_COLUMNS: dict[Overlap, str] = {
    "iou": "correct_at_iou_0.5",
    "iop": "correct_at_iop_0.5",
}

_SLACK = 1.02
"""A window may end a little behind its video's stated length: by 2 percent and a second."""
_MOST_LATE_WINDOWS = 0.05
"""Share of windows that may end behind their video without a doubt about the unit."""
_NEARLY_ALL = 0.9
_FEWEST_WINDOWS = 5
"""Windows from which on their ends say something about the unit."""

Window = Sequence[float]
"""Start and end in seconds. Anything after them (a confidence) is ignored."""
Columns = Callable[[Item], dict[str, float]]
_ItemScorer = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, float]]
"""From what was read of an answer and the target to the item's columns."""


def iou(predicted: Window, target: Window) -> float:
    """Return the intersection of two windows over their hull, 0 to 1.

    The hull equals the union wherever windows overlap. The result is 0 for windows that don't
    overlap, that have no length (even two equal ones), that run backwards, or that have an end that
    is not a finite number.
    """
    start, end = predicted[:2]
    true_start, true_end = target[:2]
    if not _all_finite(start, end, true_start, true_end):
        return 0.0
    intersection = min(end, true_end) - max(start, true_start)
    if intersection <= 0:
        return 0.0
    hull = max(end, true_end) - min(start, true_start)
    return intersection / hull


def iop(predicted: Window, target: Window) -> float:
    """Return the intersection of two windows over the predicted one, 0 to 1.

    A moment within the true window gives 1
    (NExT-GQA's evaluator), a window that runs backwards 0.
    """
    start, end = predicted[:2]
    true_start, true_end = target[:2]
    if not _all_finite(start, end, true_start, true_end) or end < start:
        return 0.0
    if start == end:
        return float(true_start <= start <= true_end)
    intersection = _shared_seconds(start, end, true_start, true_end)
    return intersection / (end - start)


def _shared_seconds(start: float, end: float, true_start: float, true_end: float) -> float:
    """Return the length of what two windows share, 0 where they don't overlap."""
    return max(0.0, min(end, true_end) - max(start, true_start))


def _all_finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def score_item(
    parsed: Mapping[str, Any],
    target: Mapping[str, Any],
    thresholds: Sequence[float] = RECALL_THRESHOLDS,
    kind: Overlap = "iou",
) -> dict[str, float]:
    """Score one window, and the answer with it where both sides have one.

    Args:
        parsed: `{"span": [start, end] or None}`, with `"answer": "B" or None` where the item was
            answered too.
        target: `{"spans": [[start, end], ...]}`, with `"answer": "B"` where it is a question.
        thresholds: IoUs at which recall is computed.
        kind: Of overlap.

    Returns:
        `iou` (0 to 1), `recall_at_0.3`, `recall_at_0.5` and, with answers, `correct_at_iou_0.5`
        (each 0 or 1).

    Raises:
        InputError: The target has no window, as in a split whose answers are hidden.
    """
    true_spans = target.get("spans")
    if not true_spans:
        raise InputError(
            "temporal span: the item has no true window to compare with; "
            "its split can't be scored here"
        )
    overlap = iop
    if kind == "iou":
        overlap = iou
    span = parsed.get("span")
    score = 0.0
    if span:
        score = max(overlap(span, true_span) for true_span in true_spans)
    return _columns(kind, score, thresholds, parsed, target)


def _columns(
    kind: Overlap,
    score: float,
    thresholds: Sequence[float],
    parsed: Mapping[str, Any],
    target: Mapping[str, Any],
) -> dict[str, float]:
    """Return the score, its threshold columns and, with answers, the column of both together."""
    columns = {str(kind): score}
    for threshold in thresholds:
        columns[_THRESHOLD_COLUMNS[kind, threshold]] = float(score >= threshold)
    if "answer" in parsed and target.get("answer") is not None:
        is_right = choice.score_item(parsed, target)["correct"]
        if score < GROUNDED_THRESHOLD:
            is_right = 0.0
        columns[_CORRECT_COLUMNS[kind]] = is_right
    return columns


def merge_windows(windows: Sequence[Window]) -> list[Window]:
    """Return windows in order, those that touch as one.

    Windows without finite ends or that run backwards are left out.
    """
    valid: list[tuple[float, float]] = []
    for window in windows:
        start, end = window[:2]
        if _all_finite(start, end) and start <= end:
            valid.append((start, end))
    merged: list[Window] = []
    for start, end in sorted(valid):
        if merged and start <= merged[-1][1]:
            last_start, last_end = merged[-1]
            merged[-1] = (last_start, max(last_end, end))
        else:
            merged.append((start, end))
    return merged


def union_iou(predicted: Sequence[Window], target: Sequence[Window]) -> float:
    """Return the intersection of two sets of windows over their union (CG-Bench's evaluator).

    Each set is merged first.
    """
    predicted_windows = merge_windows(predicted)
    true_windows = merge_windows(target)
    overlaps: list[float] = []
    for start, end in predicted_windows:
        for true_start, true_end in true_windows:
            overlaps.append(_shared_seconds(start, end, true_start, true_end))
    intersection = sum(overlaps)
    lengths = [end - start for start, end in predicted_windows + true_windows]
    union = sum(lengths) - intersection
    if union <= 0:
        return 0.0
    return intersection / union


def _union_scores(parsed: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, float]:
    """Return the columns of an item all of whose windows count, predicted and true."""
    score = union_iou(parsed.get("spans") or (), target["spans"])
    return _columns("iou", score, MOMENT_THRESHOLDS, parsed, target)


_MOST_RANKED = 10  # windows of an answer that QVHighlights' evaluator looks at
AP_THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


def average_precision(
    predicted: Sequence[Window], target: Sequence[Window], threshold: float
) -> float:
    """Return the average precision of windows, interpolated as in ActivityNet's evaluator.

    Args:
        predicted: Windows in order of confidence.
        target: The true windows.
        threshold: The IoU from which on a window is a hit.
    """
    hits = _hits_in_order(predicted, target, threshold)
    precisions: list[float] = []
    for number in range(1, len(hits) + 1):
        precisions.append(sum(hits[:number]) / number)
    interpolated: list[float] = []
    for place, is_hit in enumerate(hits):
        if is_hit:
            interpolated.append(max(precisions[place:]))
    return sum(interpolated) / len(target)


def _hits_in_order(
    predicted: Sequence[Window], target: Sequence[Window], threshold: float
) -> list[bool]:
    """Return True for each predicted window that meets a true one.

    It takes the one that it covers best of those that no earlier window has met.
    """
    unmatched = list(range(len(target)))
    hits: list[bool] = []
    for window in predicted:
        best_iou = -1.0
        best_place = -1
        for place in unmatched:
            overlap = iou(window, target[place])
            if overlap > best_iou:
                best_iou = overlap
                best_place = place
        is_hit = bool(unmatched) and best_iou >= threshold
        if is_hit:
            unmatched.remove(best_place)
        hits.append(is_hit)
    return hits


def _ranked_scores(parsed: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean average precision over IoU 0.5 to 0.95, and at 0.5 and 0.75."""
    windows = (parsed.get("spans") or ())[:_MOST_RANKED]
    precisions: dict[float, float] = {}
    for threshold in AP_THRESHOLDS:
        precisions[threshold] = average_precision(windows, target["spans"], threshold)
    return {
        "map": sum(precisions.values()) / len(precisions),
        "map_at_0.5": precisions[0.5],
        "map_at_0.75": precisions[0.75],
    }


F1_THRESHOLDS = (0.1, 0.3, 0.5, 0.7)


def windows_f1(predicted: Sequence[Window], target: Sequence[Window], threshold: float) -> float:
    """Return the F1 of two sets of windows at an IoU.

    This is E.T. Bench's rule (`tal_eval` of its `compute_metrics.py`). Precision is the share of
    answered windows that meet any right one, recall the share of right ones that any answered one
    meets. No window is used up by another.
    """
    met_predictions = _windows_that_meet(predicted, target, threshold)
    met_targets = _windows_that_meet(target, predicted, threshold)
    if not met_predictions:
        return 0.0
    precision = len(met_predictions) / len(predicted)
    recall = len(met_targets) / len(target)
    return 2 * precision * recall / (precision + recall)


def _windows_that_meet(
    windows: Sequence[Window], candidates: Sequence[Window], threshold: float
) -> list[Window]:
    """Return the windows whose IoU with any candidate is at least the threshold."""
    meeting: list[Window] = []
    for window in windows:
        ious = [iou(window, candidate) for candidate in candidates]
        if any(overlap >= threshold for overlap in ious):
            meeting.append(window)
    return meeting


MATCHED_THRESHOLDS = (0.3, 0.5, 0.7)


def _matched_scores(parsed: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores of OMTG-Bench, whose windows are matched one to one.

    Its rule is `compute_one_to_many_metrics` of VLMEvalKit's `omtgbench.py`. The match has the
    largest sum of IoU. `etf1`, the effective F1, is the mean F1 over the thresholds where the
    number of windows is right, else 0. Windows without length are left out.
    """
    predicted = _windows_with_length(parsed.get("spans") or ())
    true_windows = _windows_with_length(target["spans"])
    matched_ious = _matched_ious(predicted, true_windows)
    number_of_windows = len(predicted) + len(true_windows)
    f1_scores: dict[str, float] = {}
    for threshold in MATCHED_THRESHOLDS:
        hits = sum(overlap >= threshold for overlap in matched_ious)
        f1_score = 1.0
        if number_of_windows:
            f1_score = 2 * hits / number_of_windows
        f1_scores[f"tf1_at_{threshold}"] = f1_score
    count_right = float(len(predicted) == len(true_windows))
    mean_f1 = sum(f1_scores.values()) / len(f1_scores)
    return {
        "etf1": count_right * mean_f1,
        "count_right": count_right,
        **f1_scores,
    }


def _windows_with_length(windows: Sequence[Window]) -> list[Window]:
    return [window for window in windows if window[1] > window[0]]


def _matched_ious(predicted: Sequence[Window], target: Sequence[Window]) -> list[float]:
    """Return the IoU of each pair of the match with the largest sum."""
    if not predicted or not target:
        return []
    overlaps = [_ious(window, target) for window in predicted]
    return [overlaps[pair.row][pair.column] for pair in largest_assignment(overlaps)]


def _ious(window: Window, candidates: Sequence[Window]) -> list[float]:
    return [iou(window, candidate) for candidate in candidates]


def _f1_scores(parsed: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, float]:
    """Return the F1 at each threshold, and their mean."""
    predicted = parsed.get("spans") or ()
    true_windows = target["spans"]
    scores: dict[str, float] = {}
    for threshold in F1_THRESHOLDS:
        scores[f"f1_at_{threshold}"] = windows_f1(predicted, true_windows, threshold)
    mean_f1 = sum(scores.values()) / len(scores)
    return {"f1": mean_f1, **scores}


# --- the columns of an item, by kind


def _columns_where_asked(score: _ItemScorer, item: Item) -> dict[str, float]:
    """Return an item's columns. None where the answers have no windows at all (no `span`)."""
    if item.parsed is None or "span" not in item.parsed:
        return {}
    return score(item.parsed, item.target)


columns: Columns = partial(_columns_where_asked, score_item)
moment_columns: Columns = partial(
    _columns_where_asked, partial(score_item, thresholds=MOMENT_THRESHOLDS)
)
"""The columns of an item that asks for a span alone."""
covered_columns: Columns = partial(_columns_where_asked, partial(score_item, kind="iop"))
"""The precision of the predicted window, and with an answer that of both together."""
union_columns: Columns = partial(_columns_where_asked, _union_scores)
ranked_columns: Columns = partial(_columns_where_asked, _ranked_scores)
f1_columns: Columns = partial(_columns_where_asked, _f1_scores)
matched_columns: Columns = partial(_columns_where_asked, _matched_scores)


def unit_doubt(
    windows: Mapping[str, tuple[Window, Window]], lengths: Mapping[str, float]
) -> str | None:
    """Return a line where windows look as if they were not in seconds, else None.

    Args:
        windows: Id -> predicted window and true one, of the answers that were read.
        lengths: Id -> length of its video in seconds, where it is known.
    """
    measured = windows.keys() & lengths.keys()
    late_windows = 0
    for key in measured:
        (_, end), _ = windows[key]
        latest_end = lengths[key] * _SLACK + 1
        if end > latest_end:
            late_windows += 1
    if late_windows > _MOST_LATE_WINDOWS * len(measured):
        line = f"{late_windows} of {len(measured)} windows end after their video"
        if late_windows > len(measured) / 2:
            line += ": did the model answer in seconds?"
        return line
    if len(windows) < _FEWEST_WINDOWS:
        return None
    predicted_in_first_second = 0
    true_ends_later = 0
    for predicted, true_window in windows.values():
        predicted_in_first_second += predicted[1] <= 1
        true_ends_later += true_window[1] > 1
    nearly_all = _NEARLY_ALL * len(windows)
    if predicted_in_first_second >= nearly_all and true_ends_later >= nearly_all:
        return (
            f"{predicted_in_first_second} of {len(windows)} windows end within the first second "
            "of their video: did the model answer in seconds?"
        )
    return None
