"""The kinds of scoring. A kind is declared here alone, its code is a line of `scoring/aggregation`.

`llm_judge` is a room of its own, `text_overlap` and `cognitive_profile` score no item by itself.
"""

from collections.abc import Mapping
from typing import NamedTuple

Kind = str
"""The name of a kind of scoring, in `SCORING_KINDS`."""


class ScoringKind(NamedTuple):
    """A kind of scoring.

    Attributes:
        columns: The columns of an item's scores, over which metrics are. A judge's are its
            criteria.
        takes_all_windows: It looks at all windows of an answer, and not at the first alone.
        is_of_numbers: A right answer in words is a number.
    """

    columns: tuple[str, ...] = ()
    takes_all_windows: bool = False
    is_of_numbers: bool = False


_IOU_COLUMNS = ("iou", "recall_at_0.3", "recall_at_0.5")

SCORING_KINDS: Mapping[Kind, ScoringKind] = {
    "choice": ScoringKind(("correct",)),
    # Several right options.
    "any_choice": ScoringKind(("correct",)),
    "all_choices": ScoringKind(("correct",)),
    # A choice counted from what guessing gets.
    "above_chance": ScoringKind(("above_chance",)),
    "temporal_span": ScoringKind((*_IOU_COLUMNS, "correct_at_iou_0.5")),
    # A span without options.
    "moment": ScoringKind((*_IOU_COLUMNS, "recall_at_0.7")),
    # How much of the answered window is right.
    "covered": ScoringKind(("iop", "iop_at_0.3", "iop_at_0.5", "correct_at_iop_0.5")),
    "union_spans": ScoringKind(
        (*_IOU_COLUMNS, "recall_at_0.7", "correct_at_iou_0.5"),
        takes_all_windows=True,
    ),
    "ranked_spans": ScoringKind(
        ("map", "map_at_0.5", "map_at_0.75"),
        takes_all_windows=True,
    ),
    "f1_spans": ScoringKind(
        ("f1", "f1_at_0.1", "f1_at_0.3", "f1_at_0.5", "f1_at_0.7"),
        takes_all_windows=True,
    ),
    "matched_spans": ScoringKind(
        ("etf1", "count_right", "tf1_at_0.3", "tf1_at_0.5", "tf1_at_0.7"),
        takes_all_windows=True,
    ),
    "exact_match": ScoringKind(("exact_match",)),
    "relative_accuracy": ScoringKind(("mra",), is_of_numbers=True),
    "off_by_one": ScoringKind(("within_one",), is_of_numbers=True),
    "number_error": ScoringKind(
        ("number_right", "error", "relative_error"),
        is_of_numbers=True,
    ),
    # Rows with options beside rows with words or numbers.
    "mixed": ScoringKind(("correct",)),
    "mixed_relative_accuracy": ScoringKind(("correct",), is_of_numbers=True),
    "mixed_off_by_one": ScoringKind(("correct",), is_of_numbers=True),
    "text_overlap": ScoringKind(),
    "cognitive_profile": ScoringKind(),
    "llm_judge": ScoringKind(),
}

KINDS_OF_SEVERAL_SPANS = frozenset(
    [name for name, kind in SCORING_KINDS.items() if kind.takes_all_windows]
)
KINDS_OF_NUMBERS = frozenset([name for name, kind in SCORING_KINDS.items() if kind.is_of_numbers])
