"""Multiple choice by likelihood: the option with the highest recorded log-probability.

ReXTime's supplement (C.5) compares the probability of each option's sentence. Whether that is a sum
or a mean, over the sentence or the option alone, it leaves open. So all are recorded, and each can
be computed again without the model.
"""

from collections.abc import Sequence
from math import fsum
from typing import Any

from reelbench.base.base_record import Likelihood, OptionScore
from reelbench.base.errors import InputError
from reelbench.registry.decoding import Answering
from reelbench.registry.records import Item
from reelbench.scoring import answers


def of_tokens(
    sentences: Sequence[str],
    options: Sequence[str],
    tokens: Sequence[Sequence[int]],
    logprobs: Sequence[Sequence[float]],
) -> list[OptionScore]:
    """Return the recorded score of each option.

    Args:
        sentences: The text that the model's likelihood is of, option by option.
        options: The options' own words.
        tokens: The sentences' tokens.
        logprobs: Their natural log-probabilities, each after the prompt and the tokens before it.

    Raises:
        InputError: A sentence has no token, or a log-probability is not a finite number of at most
            0.
    """
    for ids, values in zip(tokens, logprobs, strict=True):
        if not ids or len(ids) != len(values):
            raise InputError(
                "option scores: every sentence needs one log-probability for each of its tokens, "
                "and a token"
            )
    start = _first_difference(tokens)
    scores: list[OptionScore] = []
    for sentence, option, values in zip(sentences, options, logprobs, strict=True):
        score = OptionScore(
            sentence=_likelihood(values, sentence), option=_likelihood(values[start:], option)
        )
        scores.append(score)
    return scores


def _first_difference(tokens: Sequence[Sequence[int]]) -> int:
    """Return the place of the first token in which sentences differ.

    At least one token of each is scored, also where one sentence goes on where another ends.
    """
    last_place = min(map(len, tokens)) - 1
    for place in range(last_place):
        if len({ids[place] for ids in tokens}) > 1:
            return place
    return last_place


def _likelihood(logprobs: Sequence[float], words: str) -> Likelihood:
    # A probability of 1 may come out as one a rounding above it.
    logprob = min(fsum(logprobs), 0.0)
    return Likelihood(sum=logprob, tokens=len(logprobs), characters=max(len(words), 1))


def value(score: OptionScore, answering: Answering) -> float:
    """Return the value by which an option is compared. Higher is likelier."""
    part = score.option
    if answering.over == "sentence":
        part = score.sentence
    match answering.norm:
        case "mean":
            return part.sum / part.tokens
        case "chars":
            return part.sum / part.characters
        case "sum":
            return part.sum / 1


def likeliest(scores: Sequence[OptionScore], answering: Answering) -> list[str]:
    """Return the letters of the likeliest options: several where they tie."""
    values = [value(score, answering) for score in scores]
    highest = max(values)
    letters: list[str] = []
    for letter, option_value in zip(answers.LETTERS, values, strict=False):
        if option_value == highest:
            letters.append(letter)
    return letters


def parse(
    scores: Sequence[OptionScore], prediction: object, answering: Answering
) -> dict[str, Any]:
    """Return `Sample.parsed`: the likeliest option, of several the first.

    Args:
        scores: The options' scores.
        prediction: What the model wrote when it was asked for a span.
        answering: The way of answering. It says whether a span was asked for.
    """
    parsed: dict[str, Any] = {"answer": likeliest(scores, answering)[0]}
    if answering.span == "predicted":
        text = ""
        if isinstance(prediction, str):
            text = prediction
        parsed["span"] = answers.read_span(text)
    return parsed


def choose_again(item: Item, answering: Answering) -> Item:
    """Return an item with its answer chosen again.

    An item without option scores is returned unchanged.
    """
    if item.option_scores is None:
        return item
    parsed = parse(item.option_scores, item.prediction, answering)
    text = "-"
    if item.prediction is not None:
        text = str(item.prediction)
    return item.model_copy(update={"parsed": parsed, "flags": answers.flags(text, parsed)})
