"""What agents looked at: a line for each look, which `frames serve` writes and `score --looked` reads."""

import json
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from reelbench.base.base_record import Amount, Record, record_of
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import read_jsonl

AGENTIC = "agentic"  # frames, and label, of answers by an agent that chose for each question what it looked at

_ROUNDED = 1e-3  # seconds


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
        # The frame that is on screen when the window begins came on before.
        before = sorted(time for time in self.times if time < self.start - _ROUNDED)
        after = [time for time in self.times if time > self.end + _ROUNDED]
        if outside := [*before[1:], *after]:
            raise ValueError(
                f"{outside[0]:g} s is outside its window, {self.start:g} to {self.end:g} s"
            )
        return self


def append(log: Path, look: Look) -> None:
    """Add a look in one write, so that servers never mix their lines; ReelbenchError where there is no room for it."""
    line = (json.dumps(look.model_dump(), ensure_ascii=False) + "\n").encode()
    with log.open("ab", buffering=0) as file:
        if file.write(line) != len(line):
            raise ReelbenchError(f"{log}: a look can't be written whole; make room there")


def read(log: Path) -> list[tuple[int, Look]]:
    """Return the looks of a log with the numbers of their lines; InputError names the line that is not one."""
    more = "; is it a log of `frames serve`?"
    return [
        (number, record_of(Look, line, f"{log}, line {number}", more, mark=": "))
        for number, line in read_jsonl(log)
    ]
