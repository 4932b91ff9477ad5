"""Power over videos: the chance to see a difference, the smallest difference, the videos needed.

All rests on the standard error of a score over videos (`standard_error` of its bootstrap), which
falls with the root of their number, and on the t test over videos, so that questions on one video
are never taken for independent ones. From 30 videos on, power is promised: in simulation it is met,
or missed by at most 3 points (`perf/coverage.py`, and `make verification`, whose page has the one
kind in which it is beaten by more). With 10 to 20 videos it is within 3 points in the middle of a
scale and 3 to 6 off near its end; with 5 up to 20.

Two models that answer the same questions right or wrong differ on the questions that one of them
alone has right. A larger difference than the pilot's takes more of these: they are counted as new
ones, which is the most that they can add (McNemar's variance, share of such questions less the
difference's square; Miettinen 1968, Biometrics 24), and which lie in videos as the questions do
that both have wrong. What a pilot measured has an error of its own, chi-square on its videos: power
is the mean over it; of its difference only what is beyond that error counts. So 80 % promised are
78 to 82 in nine of ten settings where such pairs come all together with the difference, 84 in one
(60 videos for 200, the pilot's own difference 8 points), and 87 to 91 where the better model has an
easier time with every question; promised where both have twice as many questions wrong as the
difference (simulated by `make verification`).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from reelbench.stats import student_t
from reelbench.stats.intervals import UNBOUNDED, Bounds

MIN_CLUSTERS = 30
"""Videos, both of a pilot and of what is planned, from which on power is promised: missed by at most 3 points."""

POWER = 0.8
ALPHA = 0.05
_MOST_VIDEOS = 10_000_000
_DRAWS = 15
"""Equally likely values of a measured error that power is the mean over."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """The noise of a score, or of a difference of two.

    Attributes:
        error: Standard error of the score (unpaired) or of the difference of two models' scores
            (paired), in points.
        videos: The videos that it was found on.
        paired: Whether both models answer the same questions, and `error` is their difference's.
        value: The score; used unpaired and with `bounds` only.
        bounds: The scale's ends. With them the other model's noise is what fits its own score: on a
            bounded scale it shrinks towards the ends as share·(1 - share) does. Without, it is the
            same as the pilot's.
    """

    error: float
    videos: int
    paired: bool
    value: float = 0.0
    bounds: Bounds = UNBOUNDED
    discordant: float | None = None
    """Share of questions that one of two models alone has right, where answers are right or wrong; paired only."""
    room: float = 0.0
    """Share of questions that both have wrong: among them a better model's new right answers are."""
    excess: float = 0.0
    """By how much that share's variance over videos is more than that of as many questions of a video each."""
    measured: bool = False
    """Whether `error` was found on a pilot's videos, and is itself uncertain."""

    def difference(self, videos: int, effect: float) -> tuple[float, int]:
        """Return the standard error of a difference of `effect` on so many videos, and its degrees of freedom.

        ValueError where there are fewer than two videos.
        """
        if videos < 2:  # noqa: PLR2004
            raise ValueError(f"videos: {videos} is too few; a variance over videos needs two")
        fewer = math.sqrt(self.videos / videos)
        if self.paired:
            # The standard error on the pilot's videos of a difference that is `effect` in place of
            # the pilot's.
            if self.discordant is None or self.bounds == UNBOUNDED:
                error = self.error
            else:
                scale = self.bounds[1] - self.bounds[0]
                # Of the pilot's own difference what is beyond its noise: two models alike differ by
                # chance.
                found = math.sqrt(max(0.0, self.value**2 - self.error**2)) / scale
                wanted = min(abs(effect) / scale, 1.0)
                new = max(0.0, wanted - found)
                share = min(1.0, self.discordant + new)
                before = self.discordant - (self.value / scale) ** 2
                grown = (share - wanted**2) / before if before > 0 and share > wanted**2 else 1.0
                clustered = self.excess * (new / self.room) ** 2 if self.room else 0.0
                error = math.sqrt(self.error**2 * grown + scale**2 * clustered)
            return error * fewer, videos - 1
        own, other = self._spread(self.value), self._spread(self.value + effect)
        return self.error * fewer * math.sqrt(1 + (other / own if own else 1.0)), 2 * (videos - 1)

    @property
    def freedom(self) -> int | None:
        """The degrees of freedom of a measured error, which is itself uncertain; None of one that is assumed."""
        return self.videos - 1 if self.measured and self.videos > 2 else None  # noqa: PLR2004

    def _spread(self, value: float) -> float:
        low, high = self.bounds
        if self.bounds == UNBOUNDED:
            return 1.0
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return share * (1 - share)


def not_promised(pilot: Pilot, videos: int) -> str | None:
    """Return the reason for which power may be missed by more than 3 points at so many videos; None if promised."""
    if (fewest := min(pilot.videos, videos)) < MIN_CLUSTERS:
        return f"with only {fewest} videos: under {MIN_CLUSTERS} the power may be 3 to 10 points off, under 10 up to 20"
    if pilot.discordant is not None and pilot.bounds != UNBOUNDED:
        needed = 2 * smallest_difference(pilot, videos) / (pilot.bounds[1] - pilot.bounds[0])
        if pilot.room < needed:
            return (
                f"both have only {100 * pilot.room:.0f} % of the questions wrong: a difference needs room for twice as "
                "many, or the power may be 10 points off"
            )
    return None


def power(pilot: Pilot, effect: float, videos: int, *, alpha: float = ALPHA) -> float:
    """Return the chance that a t test over `videos` videos finds a true difference of `effect` points.

    Both tails count, so that no effect gives `alpha`. Unpaired means two models on so many videos
    each. ValueError where there are fewer than two videos.
    """
    error, dof = pilot.difference(videos, effect)
    if not error:
        return 1.0 if effect else alpha
    return _chance(abs(effect) / error, dof, pilot.freedom, alpha)


def _chance(shift: float, dof: int, freedom: int | None, alpha: float) -> float:
    """Return the chance to find a difference of `shift` standard errors, whose error has so much freedom itself."""
    limit = student_t.quantile(1 - alpha / 2, dof)
    # By what the true error may be larger than the one that was found: equally likely factors.
    if freedom is None:
        factors = [1.0]
    else:
        quantiles = (NormalDist().inv_cdf((at + 0.5) / _DRAWS) for at in range(_DRAWS))
        factors = [
            max(0.05, 1 - 2 / (9 * freedom) + z * math.sqrt(2 / (9 * freedom))) ** -1.5
            for z in quantiles
        ]
    shifts = [shift / factor for factor in factors]
    chances = [
        1 - student_t.cdf(limit, dof, shift=one) + student_t.cdf(-limit, dof, shift=one)
        for one in shifts
    ]
    return sum(chances) / len(chances)


@lru_cache(maxsize=256)
def _errors_needed(dof: int, freedom: int | None, chance: float, alpha: float) -> float:
    """Return the number of standard errors that a difference must be to be found with a chance."""
    low, high = 0.0, 1.0
    while _chance(high, dof, freedom, alpha) < chance:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _chance(middle, dof, freedom, alpha) < chance else (low, middle)
        )
    return high


def smallest_difference(
    pilot: Pilot, videos: int, *, chance: float = POWER, alpha: float = ALPHA
) -> float:
    """Return the smallest gain, in points, that `videos` videos show with the given chance.

    It may be more than the scale has room for, which says that so few videos show nothing.
    ValueError where there are fewer than two.
    """
    high, dof = pilot.difference(videos, 0.0)
    if not high:
        return 0.0
    low, needed = 0.0, _errors_needed(dof, pilot.freedom, chance, alpha)
    while high < needed * pilot.difference(videos, high)[0]:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if middle < needed * pilot.difference(videos, middle)[0]
            else (low, middle)
        )
    return high


def videos_needed(
    pilot: Pilot, effect: float, *, chance: float = POWER, alpha: float = ALPHA
) -> int | None:
    """Return the fewest videos that show a true difference of `effect` points with the given chance.

    At least 2 (each model's, where unpaired); None where ten million are too few; ValueError where
    `effect` is 0.
    """
    if not effect:
        raise ValueError("effect: no number of videos shows a difference of 0")
    low, high = 1, 2
    while power(pilot, effect, high, alpha=alpha) < chance:
        low, high = high, high * 2
        if high > _MOST_VIDEOS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high) if power(pilot, effect, middle, alpha=alpha) < chance else (low, middle)
        )
    return high
