"""Ways of asking a model, beside one answer to each question: several candidates.

Each is a short text that the command line, the environment and the records share.
"""

import re
from dataclasses import dataclass
from typing import Literal, Self

from reelbench.registry import settings
from reelbench.registry.errors import InputError

MOST_CANDIDATES = 64
_CANDIDATES = re.compile(r"(?P<how>beam|sample):(?P<k>[0-9]{1,4})(?:,t=(?P<t>[0-9]*\.?[0-9]+))?")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Several answers to each question, the first of which is the prediction.

    Attributes:
        how: `beam`: the best sequences of one beam search, best first; `sample`: answers drawn one by one.
        k: How many, 2 or more.
        temperature: Of the samples; None for beams.
    """

    how: Literal["beam", "sample"]
    k: int
    temperature: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `beam:5` or `sample:5,t=0.7`; InputError where it is something else."""
        stated = _CANDIDATES.fullmatch(text.strip())
        if stated is None or (stated["how"] == "beam") != (stated["t"] is None):
            raise InputError(f"candidates {text!r}: give beam:K or sample:K,t=T, e.g. beam:5 or sample:5,t=0.7")
        k, temperature = int(stated["k"]), float(stated["t"] or 1)
        if not 2 <= k <= MOST_CANDIDATES:  # noqa: PLR2004 - one candidate is a plain answer
            raise InputError(f"candidates {text!r}: K is from 2 to {MOST_CANDIDATES}")
        if temperature == 0:
            raise InputError(f"candidates {text!r}: at t=0 all samples are the same; give a higher one, e.g. t=0.7")
        if stated["how"] == "beam":
            return cls("beam", k)
        return cls("sample", k, temperature)

    def __str__(self) -> str:
        return f"{self.how}:{self.k}" + (f",t={self.temperature:g}" if self.temperature is not None else "")

    @classmethod
    def from_environment(cls) -> Self | None:
        """Return what the environment asks for; None where it asks for one answer."""
        text = settings.CANDIDATES.get()
        return cls.parse(text) if text else None
