"""The likeliest option from log-probabilities on disk, worked by hand; every variant from the same numbers."""

import pytest

from reelbench.base.base_record import Likelihood, OptionScore
from reelbench.base.errors import InputError
from reelbench.registry.decoding import Answering
from reelbench.registry.records import Item
from reelbench.scoring import option_scores

SENTENCES = ["From 0 to 5, it turns.", "From 0 to 5, it goes on.", "From 0 to 5, no."]
OPTIONS = ["it turns", "it goes on", "no"]
# "From 0 to 5," is two tokens that all share, "it" a third that two share.
TOKENS = [[7, 8, 1, 2], [7, 8, 1, 3, 4], [7, 8, 5]]
LOGPROBS = [[-0.5, -0.5, -1.0, -2.0], [-0.5, -0.5, -1.0, -0.5, -2.0], [-0.5, -0.5, -2.4]]


@pytest.fixture
def scores():
    return option_scores.of_tokens(SENTENCES, OPTIONS, TOKENS, LOGPROBS)


def test_sums_tokens_and_characters_are_kept_of_the_sentence_and_of_where_options_differ(scores):
    assert [tuple(score.sentence.model_dump().values()) for score in scores] == [
        (-4.0, 4, 22), (-4.5, 5, 24), (-3.4, 3, 16),
    ]  # fmt: skip
    # They differ from the third token on, as one of them has another there.
    assert [tuple(score.option.model_dump().values()) for score in scores] == [
        (-3.0, 2, 8),
        (-3.5, 3, 10),
        (-2.4, 1, 2),
    ]


@pytest.mark.parametrize(
    ("answering", "values", "letter"),
    [
        ("options:norm=sum,over=sentence", [-4.0, -4.5, -3.4], "C"),
        ("options:norm=mean,over=sentence", [-1.0, -0.9, -3.4 / 3], "B"),
        ("options:norm=chars,over=sentence", [-4 / 22, -4.5 / 24, -3.4 / 16], "A"),
        ("options:norm=sum,over=option", [-3.0, -3.5, -2.4], "C"),
        ("options:norm=mean,over=option", [-1.5, -3.5 / 3, -2.4], "B"),
        ("options:norm=chars,over=option", [-3 / 8, -3.5 / 10, -2.4 / 2], "B"),
    ],
)
def test_every_variant_is_computed_from_the_same_numbers(scores, answering, values, letter):
    chosen = Answering.parse(f"{answering},span=none")
    assert [option_scores.value(score, chosen) for score in scores] == pytest.approx(values)
    assert option_scores.parse(scores, None, chosen) == {"answer": letter}


def test_of_options_that_tie_the_first_is_the_answer():
    def score(total):
        return OptionScore.model_validate(
            dict.fromkeys(("sentence", "option"), Likelihood(sum=total, tokens=2, characters=4))
        )

    tied = [score(-3.0), score(-2.0), score(-2.0)]
    assert option_scores.likeliest(tied, Answering()) == ["B", "C"]
    assert option_scores.parse(tied, None, Answering(span="none")) == {"answer": "B"}


def test_the_span_is_read_from_what_the_model_wrote_where_it_was_asked(scores):
    predicted = option_scores.parse(scores, "[2, 7.5]", Answering(span="predicted"))
    assert predicted == {"answer": "B", "span": [2.0, 7.5]}
    assert option_scores.parse(scores, "no idea", Answering(span="predicted"))["span"] is None
    assert "span" not in option_scores.parse(scores, None, Answering(span="truth"))


def test_an_item_is_chosen_for_anew(scores):
    item = Item(
        id="q",
        video="v",
        target={"answer": "B"},
        prediction="no idea",
        parsed={"answer": "A"},
        option_scores=scores,
    )
    anew = option_scores.choose_again(item, Answering("sum", "option", "predicted"))
    assert (anew.parsed, anew.flags) == ({"answer": "C", "span": None}, ("parse_failed",))
    plain = Item(id="q", video="v", target={"answer": "B"}, prediction="A", parsed={"answer": "A"})
    assert option_scores.choose_again(plain, Answering()) is plain


def test_a_sentence_that_goes_on_where_another_ends_keeps_a_token_of_each():
    scores = option_scores.of_tokens(
        ["a", "a b"], ["a", "a b"], [[1], [1, 2]], [[-1.0], [-1.0, -3.0]]
    )
    assert [score.option.tokens for score in scores] == [1, 2]


def test_what_can_not_be_a_likelihood_is_refused():
    with pytest.raises(InputError, match="one log-probability for each of its tokens"):
        option_scores.of_tokens(["a", "b"], ["a", "b"], [[1], []], [[-1.0], []])
    with pytest.raises(ValueError, match="finite"):
        option_scores.of_tokens(["a", "b"], ["a", "b"], [[1], [2]], [[-1.0], [float("-inf")]])
