"""All pairs of a table's runs, tested at once.

It gives the numbers of `stats.paired`, pair by pair and to the bit, from matrices with a row a run.
A pair's numbers do not depend on the pairs beside it, so those that are known stay as they are
when a run is added.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from reelbench.stats import intervals, paired, student_t
from reelbench.stats.intervals import Array, Bounds, Indices, RunNoise, standard_errors
from reelbench.stats.ratios import Resampled
from reelbench.stats.sorting import distinct

_ROWS_AT_ONCE = 32
"""Differences of so many runs stay in a processor's cache: so they take a third of the time."""


@dataclass(frozen=True, slots=True)
class CommonItems:
    """The items that runs have in common.

    Attributes:
        n: The items that take part.
        clusters: The clusters (videos) that take part.
        bounds: The least and the most that a value can be.
    """

    n: int
    clusters: int
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of runs on the same items, a row a run.

    Attributes:
        values: Of the whole sample (runs).
        draws: Of each resample that is not empty (runs x resamples).
        added: What each item adds to the value, without rounding (runs x items).
        deviations: How far each item moves the value, to first order (runs x items).
        run_variances: Of the value, where it is the mean of several runs of a model; else 0 (runs).
        run_freedoms: Its degrees of freedom (runs).
    """

    values: Array
    draws: Array
    contributions: Array
    deviations: Array
    run_variances: Array
    run_freedoms: Array

    @classmethod
    def of(cls, runs: Sequence[Resampled]) -> "Scores":
        """Stack runs that have a value, draws and parts."""
        values: list[float] = []
        draws: list[Array] = []
        contributions: list[Array] = []
        deviations: list[Array] = []
        for run in runs:
            assert run.value is not None  # noqa: S101 - the caller has looked
            assert run.draws is not None  # noqa: S101
            assert run.parts is not None  # noqa: S101
            values.append(run.value)
            draws.append(run.draws)
            contributions.append(paired.rounded_contributions(run.parts.contributions))
            deviations.append(run.parts.deviations)
        noises = [RunNoise.of(run.runs) for run in runs]
        stacked_draws = np.stack(draws)
        is_drawn = ~np.isnan(stacked_draws).any(axis=0)
        # In the order of its rows: sums along a row then round alike in every matrix.
        return cls(
            values=np.array(values),
            draws=np.ascontiguousarray(stacked_draws[:, is_drawn]),
            contributions=np.stack(contributions),
            deviations=np.stack(deviations),
            run_variances=np.array([noise.variance for noise in noises]),
            run_freedoms=np.array([noise.freedom for noise in noises], dtype=np.float64),
        )

    def of_runs(self, run_indices: Indices | slice) -> "Scores":
        """Return the scores of some of the runs."""
        arrays = [getattr(self, field.name)[run_indices] for field in fields(self)]
        return Scores(*arrays)

    def followed_by(self, more_runs: "Scores") -> "Scores":
        """Return these runs and more after them."""
        arrays: list[Array] = []
        for field in fields(self):
            rows = getattr(self, field.name)
            more_rows = getattr(more_runs, field.name)
            arrays.append(np.concatenate([rows, more_rows]))
        return Scores(*arrays)


@dataclass(frozen=True, slots=True)
class PairedTests:
    """The tests of each run less each other one, with unscored items against the difference.

    Row and column are runs: what lacks a score is at the scale's lowest in the row's run, and at
    its highest in the column's. All matrices are NaN where there is no test.

    Attributes:
        centre: As `paired.PairedTest` has it (runs x runs).
        error: Its standard error (runs x runs).
        freedom: Its degrees of freedom (runs x runs).
        p: Its two-sided p of no difference (runs x runs).
        resampled_error: The standard error by the resamples alone, of both runs at their lowest
            (runs x runs).
    """

    centre: Array
    error: Array
    freedom: Array
    p: Array
    resampled_error: Array

    @classmethod
    def empty(cls, runs: int) -> "PairedTests":
        """Return the matrices of so many runs before any test: all NaN."""
        matrices = [np.full((runs, runs), np.nan) for _ in fields(cls)]
        return cls(*matrices)

    def of_runs(self, run_indices: Indices) -> "PairedTests":
        """Return the tests of some of the runs among themselves."""
        rows_and_columns = np.ix_(run_indices, run_indices)
        matrices = [getattr(self, field.name)[rows_and_columns] for field in fields(self)]
        return PairedTests(*matrices)

    def intervals(
        self, first: Indices, second: Indices, levels: Array, bounds: Bounds
    ) -> tuple[Array, Array]:
        """Return the low and the high ends of some tests, each at its own level.

        They are `paired.PairedTest.interval`, and NaN where there is no test.

        Args:
            first: The row of each test (tests).
            second: Its column (tests).
            levels: Its level (tests).
            bounds: The least and the most that a difference can be.
        """
        centre = self.centre[first, second]
        freedom = self.freedom[first, second]
        has_test = ~np.isnan(centre)
        t = np.full(len(levels), np.nan)
        for degrees in distinct(freedom[has_test]).tolist():
            has_degrees = has_test & (freedom == degrees)
            levels_of_degrees = levels[has_degrees]
            # Most tests share one level, so a quantile is computed once for each level.
            distinct_levels = distinct(levels_of_degrees)
            quantiles = student_t.quantiles(1 - distinct_levels / 2, int(degrees))
            level_numbers = np.searchsorted(distinct_levels, levels_of_degrees)
            t[has_degrees] = quantiles[level_numbers]
        half_length = t * self.error[first, second]
        low, high = bounds
        low_ends = np.clip(centre - half_length, low, high)
        high_ends = np.clip(centre + half_length, low, high)
        return low_ends, high_ends


def all_tests(
    lowest: Scores, highest: Scores, common: CommonItems, first_tests: PairedTests | None = None
) -> PairedTests:
    """Test all pairs of runs.

    Memory holds a few runs' differences to one run beside the matrices.

    Args:
        lowest: The runs with unscored items at the scale's lowest.
        highest: The same at its highest. The same object where every item of all runs is scored.
        common: Their items. Under `MIN_CLUSTERS` clusters no pair has a test.
        first_tests: The tests of the first runs among themselves, where they are known.
    """
    runs = len(lowest.values)
    tests = PairedTests.empty(runs)
    tested_runs = 0
    if first_tests is not None:
        tested_runs = len(first_tests.p)
        for field in fields(first_tests):
            matrix = getattr(tests, field.name)
            matrix[:tested_runs, :tested_runs] = getattr(first_tests, field.name)
    for run in range(max(tested_runs, 1), runs):
        _test_with_earlier_runs(tests, run, lowest, highest, common)
    _set_p(tests, tested_runs, is_mirrored=lowest is highest)
    return tests


def _test_with_earlier_runs(
    tests: PairedTests, run: int, lowest: Scores, highest: Scores, common: CommonItems
) -> None:
    """Test a run with all before it, in both directions, but for p."""
    if common.clusters < intervals.MIN_CLUSTERS:
        return
    this_run = slice(run, run + 1)
    earlier_runs = slice(0, run)
    lowest_of_run = lowest.of_runs(this_run)
    lowest_of_earlier = lowest.of_runs(earlier_runs)
    errors = _errors_of_differences(lowest_of_run, lowest_of_earlier, common)
    tests.resampled_error[run, earlier_runs] = errors
    tests.resampled_error[earlier_runs, run] = errors
    if lowest.draws.shape[1] < 2:  # noqa: PLR2004
        return
    if lowest is highest:
        # Without unscored items the test of the other direction is the same, with its sign changed.
        row = _test_differences(lowest_of_run, lowest_of_earlier, errors, common)
        column = _PairedTestRow(-row.centre, row.error, row.freedom)
    else:
        row = _test_lowest_with_highest(lowest_of_run, highest.of_runs(earlier_runs), common)
        column = _test_lowest_with_highest(lowest_of_earlier, highest.of_runs(this_run), common)
    for name in _PairedTestRow.__slots__:
        matrix = getattr(tests, name)
        matrix[run, earlier_runs] = getattr(row, name)
        matrix[earlier_runs, run] = getattr(column, name)


@dataclass(frozen=True, slots=True)
class _PairedTestRow:
    """Tests of one run with others. Each array is (others)."""

    centre: Array
    error: Array
    freedom: Array


def _test_lowest_with_highest(
    lowest: Scores, highest: Scores, common: CommonItems
) -> _PairedTestRow:
    """Test the runs in `lowest` less those in `highest`.

    One of the two is a single run.
    """
    errors = _errors_of_differences(lowest, highest, common)
    return _test_differences(lowest, highest, errors, common)


def _test_differences(
    first: Scores, second: Scores, errors: Array, common: CommonItems
) -> _PairedTestRow:
    """Test each run of `first` less each of `second`.

    One of the two is a single run. `errors` are the standard errors of their differences.
    """
    variances: list[Array] = []
    for deviations in _differences(first.deviations, second.deviations):
        variances.append(paired.sums_of_squares(deviations))
    differs = first.contributions != second.contributions
    items = paired.Items(
        n=common.n,
        variance=np.concatenate(variances),
        differing=np.count_nonzero(differs, axis=1).astype(np.float64),
    )
    difference = first.values - second.values
    guarded = paired.guarded_errors(difference, errors, common.clusters, items, common.bounds)
    with_noise = intervals.with_run_noise(
        guarded.error,
        common.clusters - 1,
        RunNoise(first.run_variances, first.run_freedoms),
        RunNoise(second.run_variances, second.run_freedoms),
    )
    return _PairedTestRow(guarded.centre, with_noise.error, with_noise.freedom)


def _errors_of_differences(first: Scores, second: Scores, common: CommonItems) -> Array:
    """Return the standard errors, by the resamples, of `first` less `second`.

    One of the two is a single run.
    """
    errors: list[Array] = []
    for draws in _differences(first.draws, second.draws):
        errors.append(standard_errors(draws, common.clusters, room=draws))
    return np.concatenate(errors)


def _differences(first: Array, second: Array) -> Iterator[Array]:
    """Yield the rows of `first` less those of `second`, some rows at a time.

    All are yielded in the same array, one after the other. One of the two may be a single row,
    which is taken with each of the other's.
    """
    rows = max(len(first), len(second))
    # A new array each time would be new memory each time, which takes longer than the differences.
    room = np.empty((min(rows, _ROWS_AT_ONCE), first.shape[1]))
    for start in range(0, rows, _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        first_rows = first if len(first) == 1 else first[block]
        second_rows = second if len(second) == 1 else second[block]
        room_of_rows = room[: min(rows - start, _ROWS_AT_ONCE)]
        yield np.subtract(first_rows, second_rows, out=room_of_rows)


def _set_p(tests: PairedTests, tested_runs: int, *, is_mirrored: bool) -> None:
    """Set the p of all tests but those among the runs that were tested before."""
    runs = len(tests.p)
    is_new = np.ones((runs, runs), dtype=bool)
    is_new[:tested_runs, :tested_runs] = False
    below_diagonal = np.tri(runs, k=-1, dtype=bool) & is_new
    above_diagonal = below_diagonal.T
    tests.p[below_diagonal] = paired.two_sided_p(
        tests.centre[below_diagonal], tests.error[below_diagonal], tests.freedom[below_diagonal]
    )
    if is_mirrored:
        tests.p[above_diagonal] = tests.p.T[above_diagonal]
    else:
        tests.p[above_diagonal] = paired.two_sided_p(
            tests.centre[above_diagonal], tests.error[above_diagonal], tests.freedom[above_diagonal]
        )


def errors_of_all_pairs(draws: Array, clusters: int) -> Array:
    """Return the standard error of each pair's difference, in the order of combinations.

    Args:
        draws: Of each resample (runs x resamples). A resample with a NaN is left out.
        clusters: The clusters (videos) that take part.
    """
    is_complete = ~np.isnan(draws).any(axis=0)
    # In the order of its rows: sums along a row then round alike in every matrix.
    draws = np.ascontiguousarray(draws[:, is_complete])
    errors: list[Array] = [np.empty(0)]
    for run in range(len(draws) - 1):
        one_run = draws[run : run + 1]
        for differences in _differences(one_run, draws[run + 1 :]):
            errors.append(standard_errors(differences, clusters, room=differences))
    return np.concatenate(errors)
