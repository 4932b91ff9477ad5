"""All pairs of a table's runs, tested at once.

It gives the numbers of `stats.paired`, pair by pair, from matrices with a row a run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.stats import intervals, paired, student_t
from reelbench.stats.intervals import Array, Bounds, Places, standard_errors


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of runs on the same items, a row a run.

    Attributes:
        values: Of the whole sample.
        draws: Of each resample (runs x resamples).
        added: What each item adds to the value (runs x items).
        deviations: How far each item moves the value, to first order (runs x items).
    """

    values: Array
    draws: Array
    added: Array
    deviations: Array

    @classmethod
    def of(
        cls, values: Sequence[float], draws: Sequence[Array], parts: Sequence[paired.Parts]
    ) -> "Scores":
        """Stack the runs' values, resamples, and items' parts, each in the runs' order."""
        return cls(
            np.array(values, dtype=np.float64),
            np.stack(draws),
            np.stack([part.added for part in parts]),
            np.stack([part.deviations for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class PairedTests:
    """The tests of all pairs, in the order of `itertools.combinations`.

    Attributes:
        difference: The first run less the second.
        centre: As `paired.PairedTest` has it; NaN where there is no test.
        error: Its standard error.
        freedom: Degrees of freedom, the same of all pairs.
        bounds: The least and the most that a difference can be.
        resampled_error: The standard error by the resamples alone.
    """

    difference: Array
    centre: Array
    error: Array
    freedom: int
    bounds: Bounds
    resampled_error: Array

    def p(self) -> Array:
        """Return each pair's two-sided p of no difference.

        It is NaN where there is no test.
        """
        with np.errstate(invalid="ignore"):
            p = student_t.two_sided_p(self.centre / self.error, self.freedom)
        return np.where(np.isnan(self.centre), np.nan, np.maximum(p, paired.SMALLEST_P))

    def intervals(self, levels: Array) -> tuple[Array, Array]:
        """Return the low and the high ends of each pair's interval, at its own level.

        They are `paired.PairedTest.interval`, and NaN where there is no test.
        """
        low, high = self.bounds
        starts = np.full(len(levels), np.nan)
        ends = np.full(len(levels), np.nan)
        is_tested = ~np.isnan(self.centre)
        # Most pairs share the level of the first that isn't told apart.
        distinct_levels, place = np.unique(levels[is_tested], return_inverse=True)
        reach = student_t.quantiles(1 - distinct_levels / 2, self.freedom)[place]
        reach *= self.error[is_tested]
        starts[is_tested] = np.clip(self.centre[is_tested] - reach, low, high)
        ends[is_tested] = np.clip(self.centre[is_tested] + reach, low, high)
        return starts, ends


def tests_of_all_pairs(
    first: Scores, second: Scores, *, n: int, clusters: int, bounds: Bounds
) -> PairedTests | None:
    """Test each run of `first` against all later ones of `second`.

    Both are the same runs, or the same runs with unscored items counted otherwise. Memory holds
    one run's differences to all others beside the matrices.

    Args:
        first: The scores of the pairs' first runs.
        second: The scores of their second runs.
        n: The items that take part.
        clusters: The clusters (videos) that take part.
        bounds: The least and the most that a value can be.

    Returns:
        The tests; None under `MIN_CLUSTERS` clusters.
    """
    if clusters < intervals.MIN_CLUSTERS or first.draws.shape[1] < 2:  # noqa: PLR2004
        return None
    runs = len(first.values)
    rows, columns = np.triu_indices(runs, k=1)
    difference = first.values[rows] - second.values[columns]
    is_drawn = ~np.isnan(first.draws).any(axis=0) & ~np.isnan(second.draws).any(axis=0)
    first_added = paired.without_rounding(first.added)
    second_added = paired.without_rounding(second.added)
    errors = _errors(first.draws[:, is_drawn], second.draws[:, is_drawn], clusters)
    differing: list[Array] = [np.empty(0)]
    for run in range(runs - 1):
        later = slice(run + 1, None)
        is_other = first_added[run] != second_added[later]
        differing.append(is_other.sum(axis=1).astype(np.float64))
    items_differing = np.concatenate(differing)
    items = paired.Items(
        n, _variances(first, second, rows, columns, items_differing), items_differing
    )
    guarded = paired.guarded_errors(difference, errors, clusters, items, bounds)
    scale = bounds[1] - bounds[0]
    return PairedTests(
        difference=difference,
        centre=guarded.centre,
        error=guarded.error,
        freedom=clusters - 1,
        bounds=(-scale, scale),
        resampled_error=errors,
    )


def errors_of_all_pairs(draws: Array, clusters: int) -> Array:
    """Return the standard error of each pair's difference, in the order of the tests.

    Args:
        draws: Of each resample, a row a run.
        clusters: The clusters (videos) that take part.
    """
    is_drawn = ~np.isnan(draws).any(axis=0)
    return _errors(draws[:, is_drawn], draws[:, is_drawn], clusters)


def _errors(first: Array, second: Array, clusters: int) -> Array:
    errors: list[Array] = [np.empty(0)]
    for run in range(len(first) - 1):
        errors.append(standard_errors(first[run] - second[run + 1 :], clusters))
    return np.concatenate(errors)


def _variances(
    first: Scores, second: Scores, rows: Places, columns: Places, differing: Array
) -> Array:
    """Return the variance that each difference would have if items were independent.

    It is the squared length of the deviations' difference, by the law of cosines.
    """
    first_squares = np.einsum("ri,ri->r", first.deviations, first.deviations)
    second_squares = np.einsum("ri,ri->r", second.deviations, second.deviations)
    products = first.deviations @ second.deviations.T
    variances = first_squares[rows] + second_squares[columns] - 2 * products[rows, columns]
    # What rounding leaves of equal runs is no variance.
    return np.where(differing == 0, 0.0, np.maximum(variances, 0.0))
