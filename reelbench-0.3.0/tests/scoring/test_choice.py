"""Letters, compared as they stand."""

import pytest

from reelbench.base.errors import InputError
from reelbench.registry.records import Item
from reelbench.scoring.choice import columns, score_item


@pytest.mark.parametrize(
    ("given", "correct"),
    [("B", 1.0), ("b", 0.0), ("A", 0.0), (" B", 0.0), ("B.", 0.0), ("", 0.0), (None, 0.0)],
)
def test_only_the_very_letter_is_right(given, correct):
    assert score_item({"answer": given}, {"answer": "B"}) == {"correct": correct}


def test_a_submission_without_answers_has_no_column():
    assert (
        columns(
            Item(id="q", video="v", target={"answer": "B"}, prediction="x", parsed={"span": [0, 1]})
        )
        == {}
    )
    assert columns(Item(id="q", video="v", target={"answer": "B"}, prediction="x")) == {}
    assert columns(
        Item(id="q", video="v", target={"answer": "B"}, prediction="x", parsed={"answer": None})
    ) == {"correct": 0.0}


@pytest.mark.parametrize("hidden", [{}, {"answer": None}])
def test_a_hidden_answer_is_an_error_not_a_zero(hidden):
    with pytest.raises(InputError, match="no correct answer"):
        columns(
            Item(
                id="q", video="v", target=hidden, prediction="A", parsed={"answer": "A"}, facets={}
            )
        )
