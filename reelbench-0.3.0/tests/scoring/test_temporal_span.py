"""Windows against the numbers of ReXTime's own evaluator (github ReXTime/ReXTime at cb9f484) on made-up submissions."""

import json
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.registry.records import Item
from reelbench.scoring import temporal_span
from reelbench.scoring.temporal_span import columns, iou, score_item

# True windows, predicted windows, true answer, predicted answer; then what the authors' script
# printed for this item alone as a whole submission: MR-full-mIoU, R1@0.3, R1@0.5, VQA,
# "VQA,mIoU@0.5".
AUTHORS = {
    "exactly 0.3": ([[0, 10]], [[0, 3]], "A", "A", 30.0, 100, 0, 1, 0),
    "exactly 0.5": ([[0, 10]], [[0, 5]], "B", "B", 50.0, 100, 100, 1, 1),
    "disjoint": ([[2, 12]], [[20, 30]], "C", "c", 0.0, 0, 0, 0, 0),
    "reversed": ([[5, 9]], [[9, 5]], "D", "D", 0.0, 0, 0, 1, 0),
    "zero against zero": ([[4, 4]], [[4, 4]], "A", "A", 0.0, 0, 0, 1, 0),
    "second true window, a score behind it": (
        [[0, 20], [30, 40]],
        [[31, 40, 0.93]],
        "B",
        "B",
        90.0,
        100,
        100,
        1,
        1,
    ),
    "zero length": ([[0, 10]], [[2, 2]], "C", "C", 0.0, 0, 0, 1, 0),
    "a second window is ignored": ([[0, 10]], [[0, 10], [50, 60]], "D", "D", 100.0, 100, 100, 1, 1),
    "overlap": ([[3, 7]], [[5, 9]], "A", "A", 33.33, 100, 0, 1, 0),
    "fractions of seconds": ([[10, 20]], [[12.5, 25.25]], "B", "C", 49.18, 100, 0, 0, 0),
}
# The same ten as one submission.
AUTHORS_ALL = {"miou": 35.25, "recall_at_0.3": 60.0, "recall_at_0.5": 30.0}
AUTHORS_ALL_GROUNDED = 0.3

REXTIME_VAL = Path(__file__).parents[2].parent / "shared" / "data" / "rextime_val.jsonl"


@pytest.mark.parametrize("case", AUTHORS)
def test_one_item_scores_as_in_the_authors_evaluator(case):
    spans, windows, answer, given, miou, at_3, at_5, vqa, grounded = AUTHORS[case]

    scores = score_item({"span": windows[0], "answer": given}, {"spans": spans, "answer": answer})

    assert round(100 * scores.pop("iou"), 2) == miou
    assert scores == {
        "recall_at_0.3": at_3 / 100,
        "recall_at_0.5": at_5 / 100,
        "correct_at_iou_0.5": grounded,
    }
    assert vqa == (answer == given)


def over_all(truth, windows):
    """The items' columns, and their means in per cent; of an item's windows the first counts."""
    items = {
        key: score_item({"span": windows[key][0] if windows[key] else None}, {"spans": spans})
        for key, spans in truth.items()
    }
    names = {"miou": "iou", "recall_at_0.3": "recall_at_0.3", "recall_at_0.5": "recall_at_0.5"}
    means = {
        name: 100 * sum(item[column] for item in items.values()) / len(items)
        for name, column in names.items()
    }
    return means, items


def test_a_whole_submission_scores_as_in_the_authors_evaluator():
    corpus, items = over_all(
        {case: row[0] for case, row in AUTHORS.items()},
        {case: row[1] for case, row in AUTHORS.items()},
    )

    assert {name: round(value, 2) for name, value in corpus.items()} == AUTHORS_ALL
    assert items["exactly 0.5"] == {"iou": 0.5, "recall_at_0.3": 1.0, "recall_at_0.5": 1.0}
    grounded = [
        score_item({"span": row[1][0], "answer": row[3]}, {"spans": row[0], "answer": row[2]})
        for row in AUTHORS.values()
    ]
    assert (
        sum(scores["correct_at_iou_0.5"] for scores in grounded) / len(grounded)
        == AUTHORS_ALL_GROUNDED
    )


@pytest.mark.skipif(
    not REXTIME_VAL.exists(), reason="ReXTime's validation ground truth is not here"
)
def test_the_whole_validation_split():
    rows = [json.loads(line) for line in REXTIME_VAL.read_text(encoding="utf-8").splitlines()]
    truth = {row["qid"]: row["relevant_windows"] for row in rows}

    whole, items = over_all(truth, {row["qid"]: [[0, row["duration"]]] for row in rows})
    oracle, _ = over_all(truth, truth)

    # The authors' script on "whole video + A", and on the ground truth itself (two windows have no
    # length).
    assert {name: round(value, 2) for name, value in whole.items()} == {
        "miou": 37.25,
        "recall_at_0.3": 43.97,
        "recall_at_0.5": 32.14,
    }
    assert {name: round(value, 2) for name, value in oracle.items()} == dict.fromkeys(oracle, 99.78)
    grounded = sum(items[row["qid"]]["recall_at_0.5"] * (row["ans"] == "A") for row in rows) / len(
        rows
    )
    assert round(grounded, 4) == 0.0901


@pytest.mark.parametrize(
    "bad", [[float("nan"), 5], [0, float("inf")], [float("-inf"), float("inf")]]
)
def test_an_end_that_is_no_finite_number_scores_zero(bad):
    # The authors' evaluator turns the whole mean into NaN for the first of these.
    assert iou(bad, [0, 10]) == 0.0


def test_iou_is_symmetric_and_never_minus_zero():
    assert iou([2, 6], [4, 12]) == iou([4, 12], [2, 6]) == 0.2
    assert (
        iou([2, 6, 0.5], [4, 12]) == iou([2, 6], [4, 12, 0.5]) == 0.2
    )  # with a confidence behind either
    assert str(iou([9, 5], [20, 10])) == "0.0"


@pytest.mark.parametrize("missing", [None, []])
def test_a_missing_window_scores_zero(missing):
    assert score_item({"span": missing, "answer": "A"}, {"spans": [[0, 1]], "answer": "A"}) == {
        "iou": 0.0,
        "recall_at_0.3": 0.0,
        "recall_at_0.5": 0.0,
        "correct_at_iou_0.5": 0.0,
    }


TARGET = {"spans": [[0, 10]], "answer": "A"}


@pytest.mark.parametrize(
    ("parsed", "target", "expected"),
    [
        (
            {"span": [0, 10], "answer": "A"},
            TARGET,
            {"iou", "recall_at_0.3", "recall_at_0.5", "correct_at_iou_0.5"},
        ),
        (
            {"span": None, "answer": None},
            TARGET,
            {"iou", "recall_at_0.3", "recall_at_0.5", "correct_at_iou_0.5"},
        ),
        ({"span": [0, 10]}, TARGET, {"iou", "recall_at_0.3", "recall_at_0.5"}),
        (
            {"span": [0, 10], "answer": "A"},
            {"spans": [[0, 10]]},
            {"iou", "recall_at_0.3", "recall_at_0.5"},
        ),
        ({"answer": "A"}, TARGET, set()),
        (None, TARGET, set()),
    ],
)
def test_columns_are_those_that_the_submission_supports(parsed, target, expected):
    assert (
        columns(Item(id="q", video="v", target=target, prediction="as given", parsed=parsed)).keys()
        == expected
    )


def test_a_hidden_truth_is_an_error_not_a_zero():
    with pytest.raises(InputError, match="no true window"):
        score_item({"span": [0, 1]}, {"spans": []})


@pytest.mark.parametrize("none", [None, []])
def test_a_prediction_without_windows_scores_zero(none):
    corpus, items = over_all({"a": [[0, 10]], "b": [[0, 10]]}, {"a": [[0, 10]], "b": none})
    assert corpus == {"miou": 50, "recall_at_0.3": 50, "recall_at_0.5": 50}
    assert set(items["b"].values()) == {0.0}


class TestUnitDoubt:
    """Windows that are no seconds, told from the videos' lengths, or from all being shorter than a second."""

    IDS = tuple(map(str, range(10)))

    def doubt(self, *spans, lengths=None):
        windows = {key: (span, (3.0, 12.0)) for key, span in zip(self.IDS, spans, strict=False)}
        return temporal_span.unit_doubt(windows, lengths or {})

    def test_windows_behind_their_video_are_counted(self):
        lengths = dict.fromkeys(self.IDS, 30.0)
        said = self.doubt(*[(131.0, 192.0)] * 9, (3.0, 12.0), lengths=lengths)
        assert said == "9 of 10 windows end after their video: did the model answer in seconds?"
        only_some = dict.fromkeys(list(lengths)[:4], 31.0)
        said = self.doubt(*[(131.0, 192.0)] * 9, (3.0, 12.0), lengths=only_some)
        assert said == "4 of 4 windows end after their video: did the model answer in seconds?"
        assert (
            self.doubt((131.0, 192.0), *[(3.0, 12.0)] * 9, lengths=lengths)
            == "1 of 10 windows end after their video"
        )
        assert self.doubt(*[(3.0, 31.5)] * 10, lengths=lengths) is None
        assert self.doubt(*[(131.0, 192.0)] * 10) is None

    def test_windows_all_within_a_second_are_said_where_the_true_ones_are_not(self):
        assert self.doubt(*[(0.1, 0.4)] * 10) == (
            "10 of 10 windows end within the first second of their video: did the model answer in seconds?"
        )
        assert self.doubt(*[(0.1, 0.4)] * 4) is None
