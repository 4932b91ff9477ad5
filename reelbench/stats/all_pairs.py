"""All pairs of a table's runs, tested at once.

It gives the numbers of `stats.paired`, pair by pair and to the bit, from matrices with a row a run.
A pair's numbers do not depend on the pairs beside it, so those that are known stay as they are
when a run is added.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from reelbench.stats import intervals, paired, student_t
from reelbench.stats.intervals import Array, Bounds, Places, RunNoise, standard_errors
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
    added: Array
    deviations: Array
    run_variances: Array
    run_freedoms: Array

    @classmethod
    def of(cls, runs: Sequence[Resampled]) -> "Scores":
        """Stack runs that have a value, draws and parts."""
        values: list[float] = []
        draws: list[Array] = []
        added: list[Array] = []
        deviations: list[Array] = []
        for run in runs:
            assert run.value is not None  # noqa: S101 - the caller has looked
            assert run.draws is not None  # noqa: S101
            assert run.parts is not None  # noqa: S101
            values.append(run.value)
            draws.append(run.draws)
            added.append(paired.without_rounding(run.parts.added))
            deviations.append(run.parts.deviations)
        noises = [RunNoise.of(run.runs) for run in runs]
        stacked_draws = np.stack(draws)
        is_drawn = ~np.isnan(stacked_draws).any(axis=0)
        # In the order of its rows: sums along a row then round alike in every matrix.
        return cls(
            values=np.array(values),
            draws=np.ascontiguousarray(stacked_draws[:, is_drawn]),
            added=np.stack(added),
            deviations=np.stack(deviations),
            run_variances=np.array([noise.variance for noise in noises]),
            run_freedoms=np.array([noise.freedom for noise in noises], dtype=np.float64),
        )

    def at(self, places: Places | slice) -> "Scores":
        """Return the scores of some of the runs."""
        return Scores(*(getattr(self, field.name)[places] for field in fields(self)))

    def followed_by(self, more_runs: "Scores") -> "Scores":
        """Return these runs and more after them."""
        arrays: list[Array] = []
        for field in fields(self):
            arrays.append(
                np.concatenate([getattr(self, field.name), getattr(more_runs, field.name)])
            )
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
        """Return the tests of runs before any is made."""
        return cls(*(np.full((runs, runs), np.nan) for _ in fields(cls)))

    def at(self, places: Places) -> "PairedTests":
        """Return the tests of some of the runs."""
        square = np.ix_(places, places)
        return PairedTests(*(getattr(self, field.name)[square] for field in fields(self)))

    def intervals(
        self, first: Places, second: Places, levels: Array, bounds: Bounds
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
            # Most pairs share the level of the first that isn't told apart.
            tested_levels = levels[has_degrees]
            distinct_levels = distinct(tested_levels)
            quantiles = student_t.quantiles(1 - distinct_levels / 2, int(degrees))
            t[has_degrees] = quantiles[np.searchsorted(distinct_levels, tested_levels)]
        half_length = t * self.error[first, second]
        low, high = bounds
        starts = np.clip(centre - half_length, low, high)
        ends = np.clip(centre + half_length, low, high)
        return starts, ends


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
    known_runs = 0
    if first_tests is not None:
        known_runs = len(first_tests.p)
        first = slice(0, known_runs)
        for field in fields(first_tests):
            getattr(tests, field.name)[first, first] = getattr(first_tests, field.name)
    for run in range(max(known_runs, 1), runs):
        _test_run(tests, run, lowest, highest, common)
    _set_p(tests, known_runs, is_mirrored=lowest is highest)
    return tests


def _test_run(
    tests: PairedTests, run: int, lowest: Scores, highest: Scores, common: CommonItems
) -> None:
    """Test a run and all before it, in both directions, but for p."""
    if common.clusters < intervals.MIN_CLUSTERS:
        return
    itself = slice(run, run + 1)
    earlier = slice(0, run)
    run_lowest = lowest.at(itself)
    earlier_lowest = lowest.at(earlier)
    errors = _errors_of_differences(run_lowest, earlier_lowest, common)
    tests.resampled_error[run, earlier] = errors
    tests.resampled_error[earlier, run] = errors
    if lowest.draws.shape[1] < 2:  # noqa: PLR2004
        return
    if lowest is highest:
        row = _test_against_each(run_lowest, earlier_lowest, errors, common)
        column = _PairedTestRow(-row.centre, row.error, row.freedom)
    else:
        row = _test_at_ends(run_lowest, highest.at(earlier), common)
        column = _test_at_ends(earlier_lowest, highest.at(itself), common)
    for name in _PairedTestRow.__slots__:
        getattr(tests, name)[run, earlier] = getattr(row, name)
        getattr(tests, name)[earlier, run] = getattr(column, name)


@dataclass(frozen=True, slots=True)
class _PairedTestRow:
    """Tests of one run with others. Each array is (others)."""

    centre: Array
    error: Array
    freedom: Array


def _test_at_ends(first: Scores, second: Scores, common: CommonItems) -> _PairedTestRow:
    """Test each run of `first` at one end less each of `second` at the other."""
    errors = _errors_of_differences(first, second, common)
    return _test_against_each(first, second, errors, common)


def _test_against_each(
    first: Scores, second: Scores, errors: Array, common: CommonItems
) -> _PairedTestRow:
    """Test each run of `first` less each of `second`.

    One of the two is a single run. `errors` are the standard errors of their differences.
    """
    difference = first.values - second.values
    variances: list[Array] = []
    for deviations in _differences(first.deviations, second.deviations):
        variances.append(paired.sums_of_squares(deviations))
    is_other = first.added != second.added
    items = paired.Items(
        n=common.n,
        variance=np.concatenate(variances),
        differing=np.count_nonzero(is_other, axis=1).astype(np.float64),
    )
    guarded = paired.guarded_errors(difference, errors, common.clusters, items, common.bounds)
    noisy = intervals.with_run_noise(
        guarded.error,
        common.clusters - 1,
        RunNoise(first.run_variances, first.run_freedoms),
        RunNoise(second.run_variances, second.run_freedoms),
    )
    return _PairedTestRow(guarded.centre, noisy.error, noisy.freedom)


def _errors_of_differences(first: Scores, second: Scores, common: CommonItems) -> Array:
    """Return the standard errors, by the resamples, of `first` less `second`.

    One of the two is a single run.
    """
    errors: list[Array] = []
    for draws in _differences(first.draws, second.draws):
        errors.append(standard_errors(draws, common.clusters, room=draws))
    return np.concatenate(errors)


def _differences(first: Array, second: Array) -> Iterator[Array]:
    """Yield the rows of `first` less those of `second`, some at a time.

    All are yielded in the same array, one after the other. One of the two may be a single row,
    which is taken with each of the other's.
    """
    rows = max(len(first), len(second))
    # A new array each time would be new memory each time, which takes longer than the differences.
    room = np.empty((min(rows, _ROWS_AT_ONCE), first.shape[1]))
    for start in range(0, rows, _ROWS_AT_ONCE):
        end = start + _ROWS_AT_ONCE
        first_rows = first
        if len(first) > 1:
            first_rows = first[start:end]
        second_rows = second
        if len(second) > 1:
            second_rows = second[start:end]
        room_of_rows = room[: min(rows - start, _ROWS_AT_ONCE)]
        yield np.subtract(first_rows, second_rows, out=room_of_rows)


def _set_p(tests: PairedTests, known_runs: int, *, is_mirrored: bool) -> None:
    """Set the p of all tests but those of the known runs among themselves."""
    runs = len(tests.p)
    is_new = np.ones((runs, runs), dtype=bool)
    is_new[:known_runs, :known_runs] = False
    below = np.tri(runs, k=-1, dtype=bool) & is_new
    tests.p[below] = paired.two_sided_p(
        tests.centre[below], tests.error[below], tests.freedom[below]
    )
    above = below.T
    if is_mirrored:
        tests.p[above] = tests.p.T[above]
    else:
        tests.p[above] = paired.two_sided_p(
            tests.centre[above], tests.error[above], tests.freedom[above]
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
