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
easier time with every question. Promised where both have twice as many questions wrong as the
difference (simulated by `make verification`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from reelbench.stats import student_t
from reelbench.stats.intervals import UNBOUNDED, Bounds

MIN_CLUSTERS = 30
"""Videos, of a pilot and of a plan, from which on power is promised to within 3 points."""

POWER = 0.8
ALPHA = 0.05
_MOST_VIDEOS = 10_000_000
_PRECISION = 1e-9
_DRAWS = 15
"""Equally likely values of a measured error that power is the mean over."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """The noise of a score, or of a difference of two.

    Attributes:
        error: Standard error of the score (unpaired) or of the difference of two models' scores
            (paired), in points.
        videos: The videos that it was measured on.
        paired: True where both models answer the same questions, and `error` is their difference's.
        value: The score. Used unpaired and with `bounds` only.
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
    """Share of questions that only one of two models has right. Paired, right or wrong only."""
    room: float = 0.0
    """Share of questions that both have wrong: there a better model has its new right answers."""
    excess: float = 0.0
    """By how much that share's variance over videos exceeds that of independent questions."""
    measured: bool = False
    """True where `error` was measured on a pilot's videos, and is itself uncertain."""

    def difference(self, videos: int, effect: float) -> tuple[float, int]:
        """Return the standard error of a difference, and its degrees of freedom.

        Args:
            videos: The videos of the planned study.
            effect: The difference, in points.

        Raises:
            ValueError: There are fewer than two videos.
        """
        if videos < 2:  # noqa: PLR2004
            raise ValueError(f"videos: {videos} is too few; a variance over videos needs two")
        fewer = math.sqrt(self.videos / videos)
        if self.paired:
            return self._paired_error(effect) * fewer, videos - 1
        spread = self._standard_deviation(self.value)
        ratio_of_spreads = 1.0
        if spread:
            ratio_of_spreads = self._standard_deviation(self.value + effect) / spread
        return self.error * fewer * math.sqrt(1 + ratio_of_spreads), 2 * (videos - 1)

    def _paired_error(self, effect: float) -> float:
        """Return the standard error on the pilot's videos of a difference of `effect`."""
        if self.discordant is None or self.bounds == UNBOUNDED:
            return self.error
        scale = self.bounds[1] - self.bounds[0]
        # Of the pilot's own difference what is beyond its noise: two models alike differ by chance.
        pilot_difference = math.sqrt(max(0.0, self.value**2 - self.error**2)) / scale
        planned_difference = min(abs(effect) / scale, 1.0)
        new_pairs = max(0.0, planned_difference - pilot_difference)
        discordant = min(1.0, self.discordant + new_pairs)
        pilot_variance = self.discordant - (self.value / scale) ** 2
        growth = 1.0
        if pilot_variance > 0 and discordant > planned_difference**2:
            growth = (discordant - planned_difference**2) / pilot_variance
        clustered = 0.0
        if self.room:
            clustered = self.excess * (new_pairs / self.room) ** 2
        return math.sqrt(self.error**2 * growth + scale**2 * clustered)

    @property
    def freedom(self) -> int | None:
        """The degrees of freedom of a measured error. None of an assumed one."""
        if self.measured and self.videos > 2:  # noqa: PLR2004
            return self.videos - 1
        return None

    def _standard_deviation(self, value: float) -> float:
        low, high = self.bounds
        if self.bounds == UNBOUNDED:
            return 1.0
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return share * (1 - share)


def not_promised(pilot: Pilot, videos: int) -> str | None:
    """Return the reason for which power may be missed by more than 3 points.

    None where it is promised at so many videos.
    """
    fewest = min(pilot.videos, videos)
    if fewest < MIN_CLUSTERS:
        return (
            f"with only {fewest} videos: under {MIN_CLUSTERS} the power may be 3 to 10 points off, "
            "under 10 up to 20"
        )
    if pilot.discordant is not None and pilot.bounds != UNBOUNDED:
        scale = pilot.bounds[1] - pilot.bounds[0]
        room_needed = 2 * smallest_difference(pilot, videos) / scale
        if pilot.room < room_needed:
            return (
                f"both have only {100 * pilot.room:.0f} % of the questions wrong: a difference "
                "needs room for twice as many, or the power may be 10 points off"
            )
    return None


def power(pilot: Pilot, effect: float, videos: int, *, alpha: float = ALPHA) -> float:
    """Return the chance that a t test over `videos` videos shows a true difference.

    Both tails count, so that no effect gives `alpha`. Unpaired means two models on so many videos
    each.

    Args:
        pilot: The noise.
        effect: The true difference, in points.
        videos: The videos of the planned study.
        alpha: The level of the test.

    Raises:
        ValueError: There are fewer than two videos.
    """
    error, dof = pilot.difference(videos, effect)
    if error:
        return _power_of_shift(abs(effect) / error, dof, pilot.freedom, alpha)
    if effect:
        return 1.0
    return alpha


def _power_of_shift(shift: float, dof: int, freedom: int | None, alpha: float) -> float:
    """Return the chance that a test shows a difference of `shift` standard errors.

    Args:
        shift: The difference in standard errors.
        dof: The degrees of freedom of the test.
        freedom: The degrees of freedom of the error itself, where it was measured.
        alpha: The level of the test.
    """
    limit = student_t.quantile(1 - alpha / 2, dof)
    chances: list[float] = []
    for factor in _error_factors(freedom):
        true_shift = shift / factor
        chance_above = 1 - student_t.cdf(limit, dof, shift=true_shift)
        chance_below = student_t.cdf(-limit, dof, shift=true_shift)
        chances.append(chance_above + chance_below)
    return sum(chances) / len(chances)


def _error_factors(freedom: int | None) -> list[float]:
    """Return equally likely ratios of the true error to the measured one."""
    if freedom is None:
        return [1.0]
    factors: list[float] = []
    for draw in range(_DRAWS):
        z = NormalDist().inv_cdf((draw + 0.5) / _DRAWS)
        # Chi-square over its degrees of freedom, by Wilson and Hilferty's cube root.
        cube_root = 1 - 2 / (9 * freedom) + z * math.sqrt(2 / (9 * freedom))
        factors.append(max(0.05, cube_root) ** -1.5)
    return factors


@lru_cache(maxsize=256)
def _errors_needed(dof: int, freedom: int | None, chance: float, alpha: float) -> float:
    """Return the standard errors that a difference must be to be shown with a chance."""

    def is_too_small(errors: float) -> bool:
        return _power_of_shift(errors, dof, freedom, alpha) < chance

    return _least_sufficient(is_too_small, first=1.0)


def _least_sufficient(is_too_small: Callable[[float], bool], first: float) -> float:
    """Return the least number that is not too small, a little above it.

    The first one tried is doubled until it is enough. Then the span is halved.
    """
    low = 0.0
    high = first
    while is_too_small(high):
        low = high
        high *= 2
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        if is_too_small(middle):
            low = middle
        else:
            high = middle
    return high


def smallest_difference(
    pilot: Pilot, videos: int, *, chance: float = POWER, alpha: float = ALPHA
) -> float:
    """Return the smallest gain, in points, that `videos` videos show with a chance.

    It may be more than the scale has room for, which says that so few videos show nothing.

    Raises:
        ValueError: There are fewer than two videos.
    """
    error_without_difference, dof = pilot.difference(videos, 0.0)
    if not error_without_difference:
        return 0.0
    errors_needed = _errors_needed(dof, pilot.freedom, chance, alpha)

    def is_too_small(difference: float) -> bool:
        error, _ = pilot.difference(videos, difference)
        return difference < errors_needed * error

    return _least_sufficient(is_too_small, first=error_without_difference)


def videos_needed(
    pilot: Pilot, effect: float, *, chance: float = POWER, alpha: float = ALPHA
) -> int | None:
    """Return the fewest videos that show a true difference with a chance.

    Args:
        pilot: The noise.
        effect: The true difference, in points.
        chance: The power to reach.
        alpha: The level of the test.

    Returns:
        At least 2 (each model's, where unpaired). None where ten million are too few.

    Raises:
        ValueError: `effect` is 0.
    """
    if not effect:
        raise ValueError("effect: no number of videos shows a difference of 0")
    low = 1
    high = 2
    while power(pilot, effect, high, alpha=alpha) < chance:
        low = high
        high *= 2
        if high > _MOST_VIDEOS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if power(pilot, effect, middle, alpha=alpha) < chance:
            low = middle
        else:
            high = middle
    return high
