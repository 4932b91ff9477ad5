"""Classify texts by Bloom's taxonomy: the level of thinking that a question or an answer shows.

Six levels from remembering (1) to creating (6); 4 and up are higher-order thinking (MovieCORE,
section 4.1 and appendix III, which asks GPT-4o-mini). A model classifies each text by itself, with
the same prompt at the same temperature, and is asked again with the error where its reply can't be
read. `profile` asks through a judge, `make discussion` as a role of the chain.

A prompt of the user's (`profile --judge-prompts FILE`; the authors print theirs as a picture,
Fig. S8) has `{answer}` where the text stands. It may have `{question}`, which says whether the text
is a question or an answer.

The judge's modules are imported inside the functions, since chains need only the levels' names.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, NamedTuple

from reelbench.base.progress import Bar, no_bar
from reelbench.llm.material import PromptFiles
from reelbench.llm.reading import UnreadableError
from reelbench.registry.spec import JudgeSpec
from reelbench.scoring.answers import past_reasoning

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.judges.prompting import PromptSet
    from reelbench.registry.records import Item, JudgeRecord

LEVELS = ("Remember", "Understand", "Apply", "Analyze", "Evaluate", "Create")
HIGHER_ORDER = 4
"""The lowest level of higher-order thinking."""
SAMPLING = {"temperature": 0.0}
"""Sent with each question, unless the options of a judge or a role say otherwise."""

SCALE = JudgeSpec(criteria=("level",), low=1, high=len(LEVELS), default_model="gpt-6-luna")
_LEVEL_AND_NAME = re.compile(
    rf"\W*(?:level\W+)?([1-{len(LEVELS)}])(?:\W+({'|'.join(LEVELS)}))?\W*", re.IGNORECASE
)


Side = Literal["question", "answer"]
SIDES: tuple[Side, ...] = ("question", "answer")


class BloomText(NamedTuple):
    """A text to classify, and its side: question or answer."""

    side: Side
    text: str


def read_level(reply: str) -> int:
    """Return the level that a reply states.

    A reply is a number, a number with its level's name, or an object with a `score`.

    Raises:
        UnreadableError: The reply is none of these, or its name belongs to another level.
    """
    from reelbench.judges.parsing import parse_score

    score = parse_score(reply, SCALE.low, SCALE.high, bare_integer=True)
    if score is not None:
        return score
    match = _LEVEL_AND_NAME.fullmatch(reply)
    if match is None:
        raise UnreadableError(f"the reply is not one whole number from {SCALE.low} to {SCALE.high}")
    level = int(match[1])
    name = match[2]
    level_name = LEVELS[level - 1]
    if name is not None and name.capitalize() != level_name:
        raise UnreadableError(f"level {level} is {level_name}, but the reply says {name}")
    return level


@cache
def scale_prompts(prompts: str = "reelbench") -> "PromptSet":
    """Return the prompts that ask for a text's level, as a judge's.

    Args:
        prompts: `reelbench` for ours, or the path of the user's file.
    """
    from reelbench.judges.prompting import load_scale_prompts

    folder = resources.files("reelbench.studio") / "prompts" / "bloom"
    prompt_set = load_scale_prompts("bloom", SCALE, folder, prompts, places=("answer",))
    retry = PromptFiles(folder).retry
    return replace(prompt_set, read=past_reasoning(read_level), again=retry)


def higher_order(level: int | None) -> float | None:
    """Return 100 for a level of higher-order thinking, 0 for another, None for none.

    The mean over texts is the share of higher-order thinking in per cent.
    """
    if level is None:
        return None
    return 100.0 if level >= HIGHER_ORDER else 0.0


def as_item(text: BloomText, place: int = 0) -> "Item":
    """Return a text as a judge's item."""
    from reelbench.registry.records import Item

    return Item(
        id=str(place), video="", target={"text": ""}, prediction=text.text, question=text.side
    )


def classify(
    texts: Iterable[BloomText],
    options: "JudgeOptions",
    note: Callable[[str], None],
    bar: Bar = no_bar,
) -> "tuple[list[int | None], JudgeRecord]":
    """Return each text's level, None where the judge gave none, and the judge's record."""
    from reelbench.judges.judge_run import JudgeRun

    prompts = scale_prompts(options.prompts)
    items = [as_item(text, place) for place, text in enumerate(texts)]
    levels: list[int | None] = []
    with bar("classifying", len(items)) as show:
        run = JudgeRun(SCALE, prompts, items, options, show=show, on_note=note)
        for verdict in run:
            level = verdict.scores.get("level")
            # The mean of several votes may lie between two levels: the nearest counts.
            if level is not None:
                level = round(level)
            levels.append(level)
    return levels, run.record
