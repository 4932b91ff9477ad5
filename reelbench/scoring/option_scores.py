"""Multiple choice by likelihood: the option with the highest log-probability on record is the answer.

ReXTime's supplement (C.5) compares the probability of each option's sentence. Whether that is a sum
or a mean, over the sentence or the option alone, it leaves open, so all are kept and each can be
computed again without the model.
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
        sentences: What the model was held to, option by option.
        options: The options' own words.
        tokens: The sentences' tokens.
        logprobs: Their natural log-probabilities, each after the prompt and the tokens before it.

    InputError where a sentence has no token, or a log-probability is not a finite number of at most
    0.
    """
    if not all(tokens) or any(
        len(ids) != len(held) for ids, held in zip(tokens, logprobs, strict=True)
    ):
        raise InputError(
            "option scores: every sentence needs one log-probability for each of its tokens, and a token"
        )
    shortest = min(map(len, tokens))
    # One token of each is scored at least, also where one sentence goes on where another ends.
    start = next((n for n in range(shortest) if len({ids[n] for ids in tokens}) > 1), shortest - 1)
    return [
        OptionScore(sentence=_likelihood(held, sentence), option=_likelihood(held[start:], option))
        for sentence, option, held in zip(sentences, options, logprobs, strict=True)
    ]


def _likelihood(logprobs: Sequence[float], words: str) -> Likelihood:
    # A probability of 1 may come out as one a rounding above it.
    return Likelihood(
        sum=min(fsum(logprobs), 0.0), tokens=len(logprobs), characters=max(len(words), 1)
    )


def value(score: OptionScore, answering: Answering) -> float:
    """Return the value by which an option is compared; higher is likelier."""
    part = score.sentence if answering.over == "sentence" else score.option
    return part.sum / {"mean": part.tokens, "sum": 1, "chars": part.characters}[answering.norm]


def likeliest(scores: Sequence[OptionScore], answering: Answering) -> list[str]:
    """Return the letters of the likeliest options: several where they tie."""
    values = [value(score, answering) for score in scores]
    return [
        letter
        for letter, found in zip(answers.LETTERS, values, strict=False)
        if found == max(values)
    ]


def parse(
    scores: Sequence[OptionScore], prediction: object, answering: Answering
) -> dict[str, Any]:
    """Return `Sample.parsed`: the likeliest option, of several the first, and the span where it was asked for.

    `prediction` is what the model wrote when it was asked for that.
    """
    read: dict[str, Any] = {"answer": likeliest(scores, answering)[0]}
    if answering.span == "predicted":
        read["span"] = answers.read_span(prediction if isinstance(prediction, str) else "")
    return read


def choose_again(item: Item, answering: Answering) -> Item:
    """Return an item with its answer chosen again; an item without option scores is returned unchanged."""
    if item.option_scores is None:
        return item
    read = parse(item.option_scores, item.prediction, answering)
    text = "-" if item.prediction is None else str(item.prediction)
    return item.model_copy(update={"parsed": read, "flags": answers.flags(text, read)})
