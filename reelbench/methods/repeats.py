"""Kept questions asked once more: a server's own noise, told apart from another model.

A real server doesn't repeat itself at temperature 0: batches and kept prefixes round otherwise.
So a question that reads otherwise is asked three times more. It differs firmly where all four new
replies agree with each other and not with the kept one. How many do is tested sequentially (Wald
1945, Sequential Tests of Statistical Hypotheses): the same model has an eighth of them at most,
another one two fifths at least.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

FIRST = 8
"""Questions that are asked in each round."""
MOST = 64
"""Questions that are asked at most."""
_TIMES_MORE = 3

_SHARE_OF_SAME = 1 / 8  # consistent differences of one model from itself, at most
_SHARE_OF_ANOTHER = 2 / 5  # of another model, at least
_FALSE_ALARM = 0.005
_MISSED = 0.02
_ANOTHER_FROM = math.log((1 - _MISSED) / _FALSE_ALARM)
_SAME_UP_TO = math.log(_MISSED / (1 - _FALSE_ALARM))
_LOG_RATIO_DIFFERENT = math.log(_SHARE_OF_ANOTHER / _SHARE_OF_SAME)
_LOG_RATIO_OTHER = math.log((1 - _SHARE_OF_ANOTHER) / (1 - _SHARE_OF_SAME))

Reading = TypeVar("Reading")
"""What an answer says."""


@dataclass(slots=True)
class Repeats:
    """The outcome of asking questions again whose answers are cached, by id.

    Attributes:
        same: Questions whose new answer reads as the cached one.
        different: Questions whose new answer reads differently.
        consistently_different: Of these, the ones whose four new answers agree with each other.
    """

    same: list[str] = field(default_factory=list[str])
    different: list[str] = field(default_factory=list[str])
    consistently_different: list[str] = field(default_factory=list[str])

    @property
    def number(self) -> int:
        """The number of questions that were answered again."""
        return len(self.same) + len(self.different)

    @property
    def verdict(self) -> Literal["same", "another"] | None:
        """The result of a sequential test: the same model answers, or another.

        None where it is undecided. Without a consistent difference it is the same model. Fewer than
        8 questions decide nothing else.
        """
        n_different = len(self.consistently_different)
        if n_different == 0:
            return "same"
        if self.number < FIRST:
            return None
        n_others = self.number - n_different
        log_ratio = n_different * _LOG_RATIO_DIFFERENT + n_others * _LOG_RATIO_OTHER
        if log_ratio >= _ANOTHER_FROM:
            return "another"
        if log_ratio <= _SAME_UP_TO:
            return "same"
        return None


async def repeat(
    question_ids: Sequence[str],
    cached_reading: Callable[[str], Reading],
    new_readings: Callable[[Sequence[str]], Awaitable[Sequence[Reading | None]]],
    are_alike: Callable[[Reading, Reading], bool],
) -> Repeats:
    """Ask questions again, in rounds, until it is known whether the same model answers.

    Args:
        question_ids: The questions in the order in which they are asked; at most `MOST` are.
        cached_reading: The reading of a question's cached answer.
        new_readings: Asks questions again, all at once. A reading is None without a reply.
        are_alike: Returns True for two readings of the same answer.
    """
    repeats = Repeats()
    question_ids = question_ids[:MOST]
    for start in range(0, len(question_ids), FIRST):
        ids_of_round = question_ids[start : start + FIRST]
        await _ask_round(repeats, ids_of_round, cached_reading, new_readings, are_alike)
        if repeats.verdict is not None:
            break
    return repeats


async def _ask_round(
    repeats: Repeats,
    question_ids: Sequence[str],
    cached_reading: Callable[[str], Reading],
    new_readings: Callable[[Sequence[str]], Awaitable[Sequence[Reading | None]]],
    are_alike: Callable[[Reading, Reading], bool],
) -> None:
    """Ask some questions again, and those answered differently three times more."""
    first_new: dict[str, Reading] = {}  # of the questions that are answered differently
    readings = await new_readings(question_ids)
    for question_id, reading in zip(question_ids, readings, strict=True):
        if reading is None:
            continue
        if are_alike(cached_reading(question_id), reading):
            repeats.same.append(question_id)
        else:
            first_new[question_id] = reading
    repeats.different += first_new
    for _ in range(_TIMES_MORE):
        if not first_new:
            return
        ids_to_ask = list(first_new)
        if len(ids_to_ask) == 1:
            # Asked twice in a row, a question would meet its own cached prompt on the server. So
            # another question is asked too, whose answer doesn't matter.
            ids_to_ask += [name for name in question_ids if name not in first_new][:1]
        readings = await new_readings(ids_to_ask)
        for question_id, reading in zip(ids_to_ask, readings, strict=True):
            if question_id not in first_new:
                continue
            if reading is None or not are_alike(first_new[question_id], reading):
                del first_new[question_id]  # the new answers don't agree with each other
    repeats.consistently_different += first_new
