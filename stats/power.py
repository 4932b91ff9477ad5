"""Power over videos: the chance to see a difference, the smallest difference, the videos needed; multiple comparisons.

All rests on the standard error of a score over videos (`standard_error` of its bootstrap), which falls with the root of
their number, and on the t test over videos, so that questions on one video are never taken for independent ones. In
simulation the power is met within 3 points from 30 videos on (`perf/coverage.py`), which is where it is promised. With
10 to 20 videos it is within 3 in the middle of a scale and 3 to 6 off near its end; with 5 up to 20.

Two models that answer the same questions right or wrong differ on the questions that one of them alone has right. A
larger difference than the pilot's takes more of these: they are counted as new ones, which is the most that they can
add (McNemar's variance, share of such questions less the difference's square; Miettinen 1968, Biometrics 24). What a
pilot measured has an error of its own, chi-square on its videos: power is the mean over it; of its difference only what
is beyond that error counts. Where such pairs come all together with the difference, 80 % promised are 76 to 81 from 60
videos on and 76 at 30 (six settings, 400 pilots each); where the models differ evenly they are more.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from reelbench.stats import student_t
from reelbench.stats.intervals import UNBOUNDED, Bounds

MIN_CLUSTERS = 30
"""Videos, both of a pilot and of what is planned, from which on power is promised: within 3 points."""

POWER = 0.8
ALPHA = 0.05
_MOST_VIDEOS = 10_000_000
_DRAWS = 15
"""Equally likely values of a measured error that power is the mean over."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """The noise of a score, or of a difference of two.

    Attributes:
        error: Standard error of the score (unpaired) or of the difference of two models' scores (paired), in points.
        videos: The videos that it was found on.
        paired: Whether both models answer the same questions, and `error` is their difference's.
        value: The score; used unpaired and with `bounds` only.
        bounds: The scale's ends. With them the other model's noise is what fits its own score: on a bounded scale it
            shrinks towards the ends as share·(1 - share) does. Without, it is the same as the pilot's.
    """

    error: float
    videos: int
    paired: bool
    value: float = 0.0
    bounds: Bounds = UNBOUNDED
    discordant: float | None = None
    """Share of questions that one of two models alone has right, where answers are right or wrong; paired only."""
    measured: bool = False
    """Whether `error` was found on a pilot's videos, and is itself uncertain."""

    def difference(self, videos: int, effect: float) -> tuple[float, int]:
        """Return the standard error of a difference of `effect` on so many videos, and its degrees of freedom.

        Raises:
            ValueError: There are fewer than two videos.
        """
        if videos < 2:  # noqa: PLR2004
            raise ValueError(f"videos: {videos} is too few; a variance over videos needs two")
        error = self.error * math.sqrt(self.videos / videos)
        if self.paired:
            return error * math.sqrt(self._more_discordant(effect)), videos - 1
        own, other = self._spread(self.value), self._spread(self.value + effect)
        return error * math.sqrt(1 + (other / own if own else 1.0)), 2 * (videos - 1)

    def _more_discordant(self, effect: float) -> float:
        """Return by what the variance of a paired difference grows where it is `effect` in place of the pilot's."""
        if self.discordant is None or self.bounds == UNBOUNDED:
            return 1.0
        scale = self.bounds[1] - self.bounds[0]
        # Of the pilot's own difference what is beyond its noise: two models alike differ by chance.
        found = math.sqrt(max(0.0, self.value**2 - self.error**2)) / scale
        wanted = min(abs(effect) / scale, 1.0)
        share = min(1.0, self.discordant + max(0.0, wanted - found))
        before = self.discordant - (self.value / scale) ** 2
        return (share - wanted**2) / before if before > 0 and share > wanted**2 else 1.0

    def errors(self) -> list[float]:
        """Return by what the true error may be larger than the one that was found: equally likely factors.

        Degrees of freedom over a chi-square value of so many (Wilson and Hilferty's quantiles); 1 where it is assumed.
        """
        if not self.measured or self.videos < 3:  # noqa: PLR2004
            return [1.0]
        dof = self.videos - 1
        quantiles = (NormalDist().inv_cdf((at + 0.5) / _DRAWS) for at in range(_DRAWS))
        return [max(0.05, 1 - 2 / (9 * dof) + z * math.sqrt(2 / (9 * dof))) ** -1.5 for z in quantiles]

    def _spread(self, value: float) -> float:
        low, high = self.bounds
        if self.bounds == UNBOUNDED:
            return 1.0
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return share * (1 - share)


def least_videos(pilot: Pilot) -> int:
    """Return from how many videos on, of the pilot and of what is planned, power is promised: below it is a guess."""
    return MIN_CLUSTERS if pilot.discordant is None else 2 * MIN_CLUSTERS


def is_promised(pilot: Pilot, videos: int) -> bool:
    """Whether the power for so many videos is right within 3 points; paired and right or wrong, 6 at worst."""
    return min(pilot.videos, videos) >= least_videos(pilot)


def power(pilot: Pilot, effect: float, videos: int, *, alpha: float = ALPHA) -> float:
    """Return the chance that a t test over `videos` videos finds a true difference of `effect` points.

    Both tails count, so that no effect gives `alpha`. Unpaired means two models on so many videos each.

    Raises:
        ValueError: There are fewer than two videos.
    """
    error, dof = pilot.difference(videos, effect)
    if not error:
        return 1.0 if effect else alpha
    limit = student_t.quantile(1 - alpha / 2, dof)
    shifts = [abs(effect) / (error * factor) for factor in pilot.errors()]
    chances = [1 - student_t.cdf(limit, dof, shift=shift) + student_t.cdf(-limit, dof, shift=shift) for shift in shifts]
    return sum(chances) / len(chances)


def smallest_difference(pilot: Pilot, videos: int, *, chance: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest gain, in points, that `videos` videos show with the given chance.

    It may be more than the scale has room for, which says that so few videos show nothing.

    Raises:
        ValueError: There are fewer than two videos.
    """
    low, high = 0.0, pilot.difference(videos, 0.0)[0]
    if not high:
        return 0.0
    while power(pilot, high, videos, alpha=alpha) < chance:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if power(pilot, middle, videos, alpha=alpha) < chance else (low, middle)
    return high


def videos_needed(pilot: Pilot, effect: float, *, chance: float = POWER, alpha: float = ALPHA) -> int | None:
    """Return the fewest videos that show a true difference of `effect` points with the given chance.

    Returns:
        Their number, at least 2 (each model's, where unpaired); None where ten million are too few.

    Raises:
        ValueError: `effect` is 0.
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
        low, high = (middle, high) if power(pilot, effect, middle, alpha=alpha) < chance else (low, middle)
    return high


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p values adjusted for their number by Holm's step-down procedure (Holm 1979), in the same order.

    Each may be held against alpha as it is. None (not tested) stays None and counts for nothing.
    """
    tested = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for place, (p, at) in enumerate(tested):
        least = max(least, min(1.0, p * (len(tested) - place)))
        adjusted[at] = least
    return adjusted


def holm_levels(p_values: Sequence[float | None], *, alpha: float = ALPHA) -> list[float | None]:
    """Return the level at which Holm's procedure tests each p value: that of its step, in the same order.

    Those after the first that is not told apart are never tested; they take that one's level. So a p is at most its
    level exactly where `holm` leaves it at most `alpha`, and an interval at that level excludes 0 exactly there.
    """
    tested = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    levels: list[float | None] = [None] * len(p_values)
    level, going = alpha, True
    for place, (p, at) in enumerate(tested):
        if going:
            level = alpha / (len(tested) - place)
            going = p <= level
        levels[at] = level
    return levels


def rank_ranges(
    names: Sequence[str], differences: Mapping[tuple[str, str], tuple[float, float | None]], *, alpha: float = ALPHA
) -> dict[str, tuple[int, int]]:
    """Return for each model the ranks, best and worst, that the data don't rule out.

    A model's best rank is one below the models that are better beyond Holm's adjustment over all pairs, its worst one
    above those that are worse; with probability 1 - alpha all ranges hold at once (as in Al Mohamad, Goeman and van
    Zwet, arXiv 1708.02729, with Tukey's test in place of Holm's).

    Args:
        names: The models.
        differences: (a, b) -> (a minus b, p of no difference), each pair once and in either order; higher is better. A
            pair that is missing, or whose p is None, can't be told apart.
        alpha: How often at most one range or more may be wrong.
    """
    better = dict.fromkeys(names, 0)
    worse = dict.fromkeys(names, 0)
    adjusted = holm([p for _, p in differences.values()])
    for ((a, b), (difference, _)), p in zip(differences.items(), adjusted, strict=True):
        if p is not None and p <= alpha and difference:
            winner, loser = (a, b) if difference > 0 else (b, a)
            better[loser] += 1
            worse[winner] += 1
    return {name: (1 + better[name], len(names) - worse[name]) for name in names}
