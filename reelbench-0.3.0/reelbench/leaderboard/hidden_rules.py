"""The rules of a hidden test: phases, quotas, and when a total takes the place of another.

They bound what an account, and all accounts together, learn of the answers. Each rule follows from
what is public: times, numbers of files, and totals that were shown.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator

from reelbench.base.base_record import Count, Name, Record
from reelbench.base.errors import InputError, number_of
from reelbench.registry.metrics import Metric
from reelbench.registry.records import MetricValue

WEEK = timedelta(days=7)
MONTH = timedelta(days=30)
_QUESTIONS_A_FILE = 10
"""Without a cap of the owner's: questions for each file that is scored in a month."""


def _with_zone(moment: datetime) -> datetime:
    """Return a moment in UTC; without a time zone it is meant so."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)


Moment = Annotated[datetime, AfterValidator(_with_zone)]
"""A day or a moment; without a time zone it is in UTC."""


class Phase(Record):
    """A part of a hidden test, such as validation: its split and its dates.

    Files are scored from `results` on, or at once. After `closes` they are refused or, with `late`,
    scored and not ranked.
    """

    name: Name
    split: Name
    opens: Moment | None = None
    closes: Moment | None = None
    results: Moment | None = None
    late: bool = False

    def takes(self, now: datetime) -> bool:
        """Return True where files are taken, late ones too."""
        if self.opens is not None and now < self.opens:
            return False
        return self.late or not self.is_over(now)

    def is_over(self, now: datetime) -> bool:
        """Return True after its close."""
        return self.closes is not None and now >= self.closes


class Disqualified(Record):
    """An account whose rows are not ranked, and why."""

    account: Name
    reason: Name


class HiddenRules(Record):
    """The rules of one benchmark's hidden test, in a store's `settings.yaml`.

    `files_per_week` is of each account. `files_per_month` is of all accounts in one phase. Left
    out, it is a tenth of the questions.
    """

    files_per_week: Annotated[Count, Field(ge=1)] = 2
    files_per_month: Annotated[Count, Field(ge=1)] | None = None
    phases: tuple[Phase, ...] = ()
    disqualified: tuple[Disqualified, ...] = ()

    @field_validator("phases")
    @classmethod
    def _hold_names(cls, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        names = [phase.name for phase in phases]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two phases have the name {name!r}")
        return phases

    def phases_of(self, split: str) -> list[Phase]:
        """Return the phases of a split: one that is open where none is declared."""
        phases = [phase for phase in self.phases if phase.split == split]
        if not phases and not self.phases:
            return [Phase(name=split, split=split)]
        return phases

    def phase_at(self, split: str, now: datetime) -> Phase:
        """Return the phase that takes a file now, one that is not over first.

        Raises:
            InputError: None does. The line says when one did or will.
        """
        phases = self.phases_of(split)
        taking = [phase for phase in phases if phase.takes(now)]
        taking.sort(key=lambda phase: phase.is_over(now))
        if taking:
            return taking[0]
        later = [phase.opens for phase in phases if phase.opens is not None and phase.opens > now]
        if later:
            raise InputError(f"{split} opens on {moment_in_words(min(later))}")
        if phases:
            raise InputError(f"{split} is closed")
        raise InputError(f"no phase of this test is on {split}")

    def reason_against(self, account: str) -> str | None:
        """Return why an account is disqualified, or None."""
        for disqualified in self.disqualified:
            if disqualified.account.casefold() == account.casefold():
                return disqualified.reason
        return None

    def cap(self, questions: int) -> int:
        """Return the number of files of a phase that are taken in a month."""
        return self.files_per_month or max(1, questions // _QUESTIONS_A_FILE)


def moment_in_words(moment: datetime) -> str:
    """Return a moment in words."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def unanswered_in_words(unanswered: int, questions: int) -> str:
    """Return a line on questions that got no answer."""
    return (
        f"{unanswered} of {number_of(questions, 'question')} without an answer: "
        "counted at the scale's lowest"
    )


@dataclass(frozen=True, slots=True)
class Quota:
    """A limit on files in a span of time.

    Attributes:
        most: The limit.
        remaining: Files that it still allows.
        next_at: When a file is taken again, where nothing is left.
    """

    most: int
    remaining: int
    next_at: datetime | None


def quota_after(taken_at: Iterable[datetime], most: int, span: timedelta, now: datetime) -> Quota:
    """Return the rest of a limit after files that were taken."""
    recent = sorted(moment for moment in taken_at if moment > now - span)
    remaining = most - len(recent)
    if remaining > 0:
        return Quota(most, remaining, None)
    return Quota(most, 0, recent[-most] + span)


# --- the row of an account ------------------------------------------------------------------------


def standard_error(metric: Metric, total: MetricValue) -> float:
    """Return the largest standard error of a mean over its questions, from the total alone."""
    low, high = metric.bounds
    assert total.value is not None  # noqa: S101 - totals have values
    share = (total.value - low) / (high - low)
    return (high - low) * math.sqrt(share * (1 - share) / total.n)


def takes_the_row(metric: Metric, total: MetricValue, row_total: MetricValue | None) -> bool:
    """Return True where a total takes the place of an account's row.

    It must be better by a standard error: else somebody who changes single answers sees each change
    (the Ladder of Blum and Hardt, 2015). Of the two totals' errors the larger one counts.
    """
    if row_total is None:
        return True
    assert total.value is not None  # noqa: S101 - totals have values
    assert row_total.value is not None  # noqa: S101 - as above
    step = max(standard_error(metric, total), standard_error(metric, row_total))
    return total.value >= row_total.value + step
