"""Ways to ask a model other than for one answer to each question: several candidates, or scores of the options.

Each is a short text that the command line, the environment and the records share.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

from reelbench.base.errors import InputError
from reelbench.registry.spec import TaskSpec

MOST_CANDIDATES = 64
_CANDIDATES = re.compile(r"(?P<how>beam|sample):(?P<k>[0-9]{1,4})(?:,t=(?P<t>[0-9]*\.?[0-9]+))?")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Several answers to each question, the first of which is the prediction: 2 or more.

    By `beam`, the best sequences of one beam search, best first; by `sample`, drawn one by one at a
    temperature.
    """

    how: Literal["beam", "sample"]
    k: int
    temperature: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `beam:5` or `sample:5,t=0.7`; InputError where it is something else."""
        stated = _CANDIDATES.fullmatch(text.strip())
        if stated is None or (stated["how"] == "beam") != (stated["t"] is None):
            raise InputError(
                f"candidates {text!r}: give beam:K or sample:K,t=T, e.g. beam:5 or sample:5,t=0.7"
            )
        k, temperature = int(stated["k"]), float(stated["t"] or 1)
        if not 2 <= k <= MOST_CANDIDATES:  # noqa: PLR2004 - one candidate is a plain answer
            raise InputError(f"candidates {text!r}: K is from 2 to {MOST_CANDIDATES}")
        if temperature == 0:
            raise InputError(
                f"candidates {text!r}: at t=0 all samples are the same; give a higher one, e.g. t=0.7"
            )
        return cls("beam", k) if stated["how"] == "beam" else cls("sample", k, temperature)

    def __str__(self) -> str:
        return f"{self.how}:{self.k}" + (
            f",t={self.temperature:g}" if self.temperature is not None else ""
        )


Norm = Literal["mean", "sum", "chars"]
Over = Literal["sentence", "option"]
Span = Literal["predicted", "truth", "none"]
_KNOBS: dict[str, Any] = {"norm": Norm, "over": Over, "span": Span}


@dataclass(frozen=True, slots=True)
class Answering:
    """A choice by the options' own likelihood: no letter is written, and the likeliest continuation is the answer.

    `norm` says what of a continuation's log-probability is compared: its mean over tokens (the code
    of ReXTime), its sum (the prose of ReXTime's supplement, C.5), or its sum over characters
    (lm-evaluation-harness' `acc_norm`); `over` the whole sentence, or from the first token at which
    the options' sentences differ. Each sentence names a `span`: what the model says it is, the true
    one (an oracle, which is never ranked with others), or none; None stands for the task's own.
    """

    norm: Norm = "mean"
    over: Over = "sentence"
    span: Span | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `options` or `options:norm=sum,over=option,span=none`; InputError where it is something else."""
        head, _, rest = text.strip().partition(":")
        parts = [part.partition("=") for part in rest.split(",")] if rest else []
        pairs: list[tuple[str, Any]] = [(name, value) for name, _, value in parts]
        given = dict(pairs)
        if head != "options" or len(given) != len(pairs):
            raise InputError(f"answering {text!r}: give options[:norm=…,over=…,span=…], each once")
        for name, value in given.items():
            if name not in _KNOBS or value not in get_args(_KNOBS[name]):
                known = "; ".join(
                    f"{knob}={'|'.join(get_args(values))}" for knob, values in _KNOBS.items()
                )
                raise InputError(
                    f"answering {text!r}: {name}={value} is not known; there are {known}"
                )
        return cls(**given)

    def __str__(self) -> str:
        span = f",span={self.span}" if self.span is not None else ""
        return f"options:norm={self.norm},over={self.over}{span}"

    def for_task(self, task: TaskSpec) -> Self:
        """Return the way in which a task's options are scored: with its own span where none was chosen."""
        grounded = task.options is not None and task.options.grounded is not None
        if self.span is None:
            return replace(self, span="predicted" if grounded else "none")
        if self.span != "none" and not grounded:
            raise InputError(
                f"answering {self}: the answers of {task.name} name no span; leave it out"
            )
        return self


def check(task: TaskSpec, candidates: Candidates | None, answering: Answering | None) -> None:
    """Raise InputError where a task can't be asked in the chosen way."""
    if task.options is None and answering is not None:
        raise InputError(
            f"{task.name}: its answers are written, so it can't be answered by {answering}"
        )
    if task.options is not None:
        (answering or Answering()).for_task(task)
        if candidates is not None:
            raise InputError(
                f"{task.name}: its options are scored and nothing is written, so it has no {candidates}"
            )
