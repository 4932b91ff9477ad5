"""How often a fixed way to choose an option is right, and how far chance explains that.

Chance means that the right option stands at any place of its question's options, while questions
about one video may go together as they like: one draw may place the right options of a whole video.
So the places of all right options of a video are shifted together, by any step around its options,
and each video by a step of its own. Under either null (one draw a question, one draw a video) what
was seen is one of these shifts, and none is likelier than another.

The p value is Chernoff's bound on the share of shifts that are right at least as often: never too
small, for however few videos (Chernoff 1952, Ann. Math. Statist. 23).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reelbench.stats.intervals import Array, Estimate, Places, share_over_clusters

_MOST_STEPS = 840
"""Steps around a video's options: questions with 2 to 8 options share this number."""

_TRIALS = 10  # exponents that are tried, by Newton's method: every one gives a true bound
_LONGEST_STEP = 3.0  # of the exponent, by its own size


@dataclass(frozen=True, slots=True)
class GuessTest:
    """The share of right choices of a way to choose an option, beside chance.

    Attributes:
        estimate: The share of right choices, 0 to 1, with its interval over videos.
        chance: The share that chance gives.
        p_above: An upper bound on the chance of so many right choices, or more.
        p_below: The same of so few, or fewer.
    """

    estimate: Estimate
    chance: float
    p_above: float
    p_below: float

    @property
    def value(self) -> float:
        """The share of right choices, 0 to 1."""
        return self.estimate.value or 0.0


@dataclass(frozen=True)
class RightOptions:
    """The right option of each question.

    Attributes:
        indices: Its index among the question's options.
        options: The number of options of each question.
        videos: The video of each question.
    """

    indices: Places
    options: Places
    videos: Sequence[str]

    def subset(self, mask: NDArray[np.bool_]) -> "RightOptions":
        """Return the questions that a mask chooses."""
        videos = list(itertools.compress(self.videos, mask.tolist()))
        return RightOptions(self.indices[mask], self.options[mask], videos)

    def test(self, credit: Array) -> GuessTest:
        """Test how often a way to choose is right, beside chance.

        Args:
            credit: Questions x options: what the choice is worth if that option is right.

        Raises:
            ValueError: There is no question.
        """
        if not len(self.indices):
            raise ValueError("a test needs at least one question")
        questions = len(self.indices)
        sums = self._credit_by_video_and_step(credit)
        means = sums.mean(axis=1, keepdims=True)
        deviations = sums - means
        # The first step shifts nothing: its sum is the observed one.
        observed = credit[np.arange(questions), self.indices]
        observed_deviation = float(deviations[:, 0].sum())
        return GuessTest(
            estimate=share_over_clusters(observed, self._video_numbers),
            chance=float(means.sum() / questions),
            p_above=_chernoff_bound(deviations, observed_deviation),
            p_below=_chernoff_bound(-deviations, -observed_deviation),
        )

    @cached_property
    def _steps(self) -> int:
        option_counts = np.unique(self.options).tolist()
        return min(_MOST_STEPS, math.lcm(*option_counts))

    @cached_property
    def _video_numbers(self) -> Places:
        distinct = dict.fromkeys(self.videos)
        number_of = {video: number for number, video in enumerate(distinct)}
        numbers = [number_of[video] for video in self.videos]
        return np.array(numbers, dtype=np.intp)

    def _credit_by_video_and_step(self, credit: Array) -> Array:
        """Return the sum of each video's credit after each step: videos x steps."""
        questions = np.arange(len(self.indices))
        videos = int(self._video_numbers.max()) + 1
        sums = np.empty((videos, self._steps))
        for step in range(self._steps):
            shift = step * self.options // self._steps
            shifted_indices = (self.indices + shift) % self.options
            credit_of_questions = credit[questions, shifted_indices]
            sums[:, step] = np.bincount(self._video_numbers, credit_of_questions, videos)
        return sums


def _chernoff_bound(deviations: Array, seen: float) -> float:
    """Return Chernoff's bound on the chance that the videos' deviations sum to `seen` or more.

    Args:
        deviations: Videos x steps, with a mean of 0 in each video.
        seen: The sum that was seen.
    """
    variances = np.mean(deviations**2, axis=1)
    variance = float(variances.sum())
    if seen <= 0 or variance == 0:
        return 1.0
    exponent = seen / variance  # the best where the sum is normal
    lowest = 0.0
    for _ in range(_TRIALS):
        tilted = _exponential_tilt(deviations, exponent)
        lowest = min(lowest, tilted.log_mean - exponent * seen)
        longest_step = _LONGEST_STEP * exponent
        step = longest_step
        if tilted.variance > 0:
            step = (seen - tilted.mean) / tilted.variance
        bounded_below = max(-exponent / 2, step)
        exponent += min(longest_step, bounded_below)
    return math.exp(lowest)


@dataclass(frozen=True, slots=True)
class _TiltedSum:
    """The sum over videos under weights exp(exponent x deviation).

    Attributes:
        log_mean: The logarithm of the weights' mean.
        mean: The mean of the sum.
        variance: Its variance.
    """

    log_mean: float
    mean: float
    variance: float


def _exponential_tilt(deviations: Array, exponent: float) -> _TiltedSum:
    raised = exponent * deviations
    largest = raised.max(axis=1, keepdims=True)
    weights = np.exp(raised - largest)
    totals = weights.sum(axis=1)
    means = (weights * deviations).sum(axis=1) / totals
    squares = (weights * deviations**2).sum(axis=1) / totals
    log_means = np.log(totals / deviations.shape[1]) + largest[:, 0]
    variances = squares - means**2
    return _TiltedSum(
        log_mean=float(log_means.sum()),
        mean=float(means.sum()),
        variance=float(variances.sum()),
    )
