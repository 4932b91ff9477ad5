"""Bloom's taxonomy: the level of thinking that a question or an answer shows, told by an LLM.

Six levels from remembering (1) to creating (6); 4 and up are higher-order thinking (MovieCORE,
section 4.1 and appendix III, which asks GPT-4o-mini). Each text is classified by itself: the same
question at the same temperature, asked again with the error where a reply can't be read, by
`profile` through a judge and by `make discussion` as a role. A prompt of the user's (`profile
--judge-prompts FILE`; the authors print theirs as a picture, Fig. S8) says `{answer}` where the
text stands, and may say `{question}` where it is told whether that is a question or an answer. What
judges is imported by whoever asks: chains read the levels' names alone.
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
"""Sent with each question, where a judge's own options don't say otherwise."""

SCALE = JudgeSpec(criteria=("level",), low=1, high=len(LEVELS), default_model="gpt-6-luna")
_NAMED = re.compile(
    rf"\W*(?:level\W+)?([1-{len(LEVELS)}])(?:\W+({'|'.join(LEVELS)}))?\W*", re.IGNORECASE
)


Side = Literal["question", "answer"]
SIDES: tuple[Side, ...] = ("question", "answer")


class BloomText(NamedTuple):
    """A text to classify, and what it is."""

    side: Side
    text: str


def read_level(reply: str) -> int:
    """Return the level of a reply that is a number, a number with its level's name, or an object with a `score`."""
    from reelbench.judges.parsing import parse_score

    if (score := parse_score(reply, SCALE.low, SCALE.high, bare_integer=True)) is not None:
        return score
    named = _NAMED.fullmatch(reply)
    if named is None:
        raise UnreadableError(f"the reply is not one whole number from {SCALE.low} to {SCALE.high}")
    level, name = int(named[1]), named[2]
    if name is not None and name.capitalize() != LEVELS[level - 1]:
        raise UnreadableError(f"level {level} is {LEVELS[level - 1]}, and the reply says {name}")
    return level


@cache
def scale_prompts(prompts: str = "reelbench") -> "PromptSet":
    """Return the prompts that ask for a text's level, as a judge's: ours, or those of the user's file."""
    from reelbench.judges.prompting import load_scale_prompts

    own = resources.files("reelbench.studio") / "prompts" / "bloom"
    loaded = load_scale_prompts("bloom", SCALE, own, prompts, places=("answer",))
    return replace(loaded, read=past_reasoning(read_level), again=PromptFiles(own).retry)


def as_item(text: BloomText, place: int = 0) -> "Item":
    """Return a text as an item of a judge's."""
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
    with bar("classifying", len(items)) as show:
        run = JudgeRun(SCALE, prompts, items, options, show=show, on_note=note)
        # Under mean votes a level may lie between two; the nearest counts.
        levels = [
            round(verdict.scores["level"]) if "level" in verdict.scores else None for verdict in run
        ]
    return levels, run.record
