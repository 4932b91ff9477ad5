"""Ways to ask a model other than for one answer: several candidates, or scores of the options.

Each is a short text that the command line, the environment and the records share.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

from reelbench.base.errors import InputError
from reelbench.registry.spec import TaskSpec

MOST_CANDIDATES = 64
_LEAST_CANDIDATES = 2  # one candidate is a plain answer
_CANDIDATES = re.compile(r"(?P<how>beam|sample):(?P<k>[0-9]{1,4})(?:,t=(?P<t>[0-9]*\.?[0-9]+))?")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Two or more answers to each question, the first of which is the prediction.

    By `beam`, the best sequences of one beam search, best first; by `sample`, drawn one by one at a
    temperature.
    """

    how: Literal["beam", "sample"]
    k: int
    temperature: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `beam:5` or `sample:5,t=0.7`. InputError for anything else."""
        match = _CANDIDATES.fullmatch(text.strip())
        is_beam = match is not None and match["how"] == "beam"
        has_temperature = match is not None and match["t"] is not None
        if match is None or is_beam == has_temperature:
            raise InputError(
                f"candidates {text!r}: give beam:K or sample:K,t=T, e.g. beam:5 or sample:5,t=0.7"
            )
        k = int(match["k"])
        if not _LEAST_CANDIDATES <= k <= MOST_CANDIDATES:
            raise InputError(f"candidates {text!r}: K is from 2 to {MOST_CANDIDATES}")
        if is_beam:
            return cls("beam", k)
        temperature = float(match["t"])
        if temperature == 0:
            raise InputError(
                f"candidates {text!r}: at t=0 all samples are the same; give a higher one, "
                "e.g. t=0.7"
            )
        return cls("sample", k, temperature)

    def __str__(self) -> str:
        text = f"{self.how}:{self.k}"
        if self.temperature is not None:
            text += f",t={self.temperature:g}"
        return text


Norm = Literal["mean", "sum", "chars"]
Over = Literal["sentence", "option"]
Span = Literal["predicted", "truth", "none"]
_VALUES: dict[str, tuple[str, ...]] = {
    "norm": get_args(Norm),
    "over": get_args(Over),
    "span": get_args(Span),
}


@dataclass(frozen=True, slots=True)
class Answering:
    """A choice by the options' own likelihood, without a written letter.

    The likeliest continuation is the answer.

    Attributes:
        norm: The compared value of a continuation's log-probability: its mean over tokens (the
            code of ReXTime), its sum (the prose of ReXTime's supplement, C.5), or its sum over
            characters (lm-evaluation-harness' `acc_norm`).
        over: The whole sentence, or from the first token at which the options' sentences differ.
        span: The span that each sentence names: the one that the model states, the true one (an
            oracle, which is never ranked with others), or none. None is the task's own.
    """

    norm: Norm = "mean"
    over: Over = "sentence"
    span: Span | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `options` or `options:norm=sum,over=option,span=none`.

        Raises:
            InputError: It is something else.
        """
        head, _, rest = text.strip().partition(":")
        parts = rest.split(",") if rest else []
        fields: dict[str, Any] = {}
        for part in parts:
            name, _, value = part.partition("=")
            fields[name] = value
        if head != "options" or len(fields) != len(parts):
            raise InputError(
                f"answering {text!r}: give options[:norm=…,over=…,span=…], each at most once"
            )
        for name, value in fields.items():
            if value not in _VALUES.get(name, ()):
                choices = [f"{field}={'|'.join(values)}" for field, values in _VALUES.items()]
                raise InputError(
                    f"answering {text!r}: {name}={value} is not known; there are "
                    f"{'; '.join(choices)}"
                )
        return cls(**fields)

    def __str__(self) -> str:
        text = f"options:norm={self.norm},over={self.over}"
        if self.span is not None:
            text += f",span={self.span}"
        return text

    def for_task(self, task: TaskSpec) -> Self:
        """Return the way for a task: with the task's own span where none was chosen."""
        names_span = task.options is not None and task.options.grounded is not None
        if self.span is None:
            span = "predicted" if names_span else "none"
            return replace(self, span=span)
        if self.span != "none" and not names_span:
            raise InputError(
                f"answering {self}: the answers of {task.name} name no span; leave it out"
            )
        return self


def check(task: TaskSpec, candidates: Candidates | None, answering: Answering | None) -> None:
    """Raise InputError where a task can't be asked in the chosen way."""
    if task.options is None:
        if answering is not None:
            raise InputError(
                f"{task.name}: its answers are free text, so they can't be chosen by {answering}"
            )
        return
    (answering or Answering()).for_task(task)
    if candidates is not None:
        raise InputError(
            f"{task.name}: its options are scored and no text is written, so there are no "
            f"{candidates}"
        )
