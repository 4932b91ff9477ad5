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

_OF_THE_SAME = 1 / 8
_OF_ANOTHER = 2 / 5
_FALSE_ALARM = 0.005
_MISSED = 0.02
_ANOTHER_FROM = math.log((1 - _MISSED) / _FALSE_ALARM)
_SAME_UP_TO = math.log(_MISSED / (1 - _FALSE_ALARM))
_FIRM = math.log(_OF_ANOTHER / _OF_THE_SAME)
_NOT_FIRM = math.log((1 - _OF_ANOTHER) / (1 - _OF_THE_SAME))

Reading = TypeVar("Reading")
"""What an answer says."""


@dataclass(slots=True)
class Repeats:
    """The outcome of asking kept questions once more, by id.

    Attributes:
        same: Those that read as before.
        otherwise: Those that read otherwise at first.
        firm: Of these, those that did so four times alike.
    """

    same: list[str] = field(default_factory=list[str])
    otherwise: list[str] = field(default_factory=list[str])
    firm: list[str] = field(default_factory=list[str])

    @property
    def number(self) -> int:
        """The number of questions that were answered again."""
        return len(self.same) + len(self.otherwise)

    @property
    def verdict(self) -> Literal["same", "another"] | None:
        """The test's word on the model that answers. None where it is undecided.

        Without a firm difference it is the same model. Fewer than 8 questions decide nothing else.
        """
        if not self.firm:
            return "same"
        if self.number < FIRST:
            return None
        ratio = len(self.firm) * _FIRM + (self.number - len(self.firm)) * _NOT_FIRM
        if ratio >= _ANOTHER_FROM:
            return "another"
        if ratio <= _SAME_UP_TO:
            return "same"
        return None


async def repeat(
    ids: Sequence[str],
    before: Callable[[str], Reading],
    ask: Callable[[Sequence[str]], Awaitable[Sequence[Reading | None]]],
    alike: Callable[[Reading, Reading], bool],
) -> Repeats:
    """Ask kept questions once more until it is told who answers.

    Args:
        ids: The questions in the order in which they are asked; at most `MOST` are.
        before: The reading of a kept answer.
        ask: Asks questions, all of them at once. None where there is no reply.
        alike: True of two readings of one answer.
    """
    repeats = Repeats()
    for start in range(0, min(len(ids), MOST), FIRST):
        round_ids = ids[start : min(start + FIRST, MOST)]
        await _ask_round(repeats, round_ids, before, ask, alike)
        if repeats.verdict is not None:
            break
    return repeats


async def _ask_round(
    repeats: Repeats,
    ids: Sequence[str],
    before: Callable[[str], Reading],
    ask: Callable[[Sequence[str]], Awaitable[Sequence[Reading | None]]],
    alike: Callable[[Reading, Reading], bool],
) -> None:
    """Ask some questions, and those that read otherwise three times more."""
    new_reading: dict[str, Reading] = {}
    for name, reading in zip(ids, await ask(ids), strict=True):
        if reading is None:
            continue
        if alike(before(name), reading):
            repeats.same.append(name)
        else:
            new_reading[name] = reading
    repeats.otherwise += new_reading
    for _ in range(_TIMES_MORE):
        names = list(new_reading)
        if not names:
            return
        # A question right after itself meets its kept prefix: another one goes between.
        if len(names) == 1:
            names += [name for name in ids if name not in new_reading][:1]
        for name, reading in zip(names, await ask(names), strict=True):
            if name not in new_reading:
                continue
            if reading is None or not alike(new_reading[name], reading):
                del new_reading[name]
    repeats.firm += new_reading
