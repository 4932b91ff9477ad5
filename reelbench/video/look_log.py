"""The log of an agent's looks: written by `frames serve`, read by `score --looked`."""

import json
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from reelbench.base.base_record import Amount, Record, record_of
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import read_jsonl

AGENTIC = "agentic"
"""Frames, and label, of answers by an agent that chose for each question what it looked at."""

_ROUNDED_S = 1e-3


class Look(Record):
    """One look: frames of a video between two moments."""

    question: str | None = Field(
        description="Id of the question that was being answered; null where nobody said."
    )
    video: str
    start: Amount = Field(
        description="Of the window that was asked for, in seconds from the video's first frame."
    )
    end: Amount
    times: list[Amount] = Field(
        description="Of the frames that were given, in seconds from the video's first frame."
    )

    @model_validator(mode="after")
    def _is_of_its_window(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"its window ends at {self.end:g} s, and begins at {self.start:g} s")
        earliest = self.start - _ROUNDED_S
        latest = self.end + _ROUNDED_S
        times_before = sorted(time for time in self.times if time < earliest)
        times_after = [time for time in self.times if time > latest]
        # The frame that is on screen when the window begins came on before.
        times_outside = times_before[1:] + times_after
        if times_outside:
            raise ValueError(
                f"{times_outside[0]:g} s is outside its window, {self.start:g} to {self.end:g} s"
            )
        return self


def append(log: Path, look: Look) -> None:
    """Add a look in one write, so that servers never mix their lines.

    Raises:
        ReelbenchError: There is no room for it.
    """
    line = json.dumps(look.model_dump(), ensure_ascii=False) + "\n"
    data = line.encode()
    with log.open("ab", buffering=0) as file:
        if file.write(data) != len(data):
            raise ReelbenchError(f"{log}: a look can't be written whole; make room there")


class NumberedLook(NamedTuple):
    """A look, and the number of its line."""

    line: int
    look: Look


def read(log: Path) -> list[NumberedLook]:
    """Return the looks of a log.

    Raises:
        InputError: A line is none.
    """
    hint = "; is it a log of `frames serve`?"
    looks: list[NumberedLook] = []
    for number, line in read_jsonl(log):
        look = record_of(Look, line, f"{log}, line {number}", hint, mark=": ")
        looks.append(NumberedLook(number, look))
    return looks
