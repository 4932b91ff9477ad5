"""Rank the rows of a group, and compare its models with each other.

Each pair has one paired test. All pairs are adjusted at once. `rules.md` is the one definition, and
the site prints it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from reelbench.judges.identity import judge_as_answered
from reelbench.leaderboard.compared_runs import compared_runs
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.pair_tests import TestPair, Tests
from reelbench.leaderboard.standing import ranked_samples, score_columns
from reelbench.leaderboard.store import StoredResult
from reelbench.leaderboard.table_pairs import (
    PairedDifference,
    RowPair,
    Signs,
    TablePairs,
    direction_of,
)
from reelbench.pages.shell_page import page_asset
from reelbench.registry.records import JudgeRecord
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import comparison
from reelbench.scoring.comparison import AtBothEnds
from reelbench.scoring.score_columns import columns_at_both_ends
from reelbench.scoring.value_bounds import MOST_UNSCORED
from reelbench.stats import intervals, power, sorting
from reelbench.stats.intervals import Array

_ROWS_AT_HAND = 8
"""Rows whose samples stay in memory for the next pair."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The comparisons of a table's models, taken together.

    Attributes:
        ranges: Key of a row -> its best rank, one below all that are better, and its worst, one
            above all that are worse.
        smallest: The smallest difference that two of its runs show with power 0.8, in the primary
            metric's unit, by the median noise of its pairs. None of fewer than two runs, or of too
            few videos for any power.
        pairs: Keys of two models' rows -> their difference.
        videos: Videos behind the runs.
    """

    ranges: Mapping[str, tuple[int, int]]
    smallest: float | None
    pairs: Mapping[RowPair, PairedDifference] = field(default_factory=dict)
    videos: int = 0

    @property
    def p_alone(self) -> Array:
        """Each pair's p as if it were the only one (pairs).

        NaN where there is no test.
        """
        if isinstance(self.pairs, TablePairs):
            return self.pairs.p_alone
        # A file of an earlier version has the adjusted p alone, which is larger.
        p_values: list[float | None] = []
        for pair in self.pairs.values():
            p = pair.p_alone
            if p is None:
                p = pair.p
            p_values.append(p)
        return np.array(p_values, dtype=np.float64)

    def signs(self, keys: Sequence[str], p_values: Array | None = None) -> Signs:
        """Return each row's sign against each other one, by their keys (rows x rows).

        It is 1 where the first is better, -1 where it is worse, 0 where the two aren't told apart
        or weren't compared.

        Args:
            keys: The rows' keys.
            p_values: Each pair's adjusted p (pairs); by default that of this table alone.
        """
        if isinstance(self.pairs, TablePairs):
            return self.pairs.signs(keys, p_values)
        place_of = {pair: place for place, pair in enumerate(self.pairs)}
        signs = np.zeros((len(keys), len(keys)), dtype=np.int8)
        for (i, first), (j, second) in combinations(enumerate(keys), 2):
            pair = self.pair(first, second)
            if pair is None:
                continue
            p = pair.p
            if p_values is not None:
                keys_of_pair = (first, second) if (first, second) in place_of else (second, first)
                p = p_values[place_of[keys_of_pair]]
            signs[i, j] = direction_of(pair.difference, p)
            signs[j, i] = -signs[i, j]
        return signs

    def work_out_intervals(self) -> None:
        """Work out the intervals of all pairs, for who looks at most of them."""
        if isinstance(self.pairs, TablePairs):
            self.pairs.work_out_intervals()

    def pair(self, first: str, second: str) -> PairedDifference | None:
        """Return the first row less the second, by their keys. None where they weren't compared."""
        pair = self.pairs.get((first, second))
        if pair is not None:
            return pair
        pair = self.pairs.get((second, first))
        return None if pair is None else pair.reversed()


class GroupRanking(NamedTuple):
    """The ranks of a group's rows by key, and what its pairs say together.

    A row whose key is not in `ranks` is not ranked.
    """

    ranks: dict[str, int]
    noise: Noise


def rules() -> str:
    """Return the rules of the tables and of the overall table, for a reader."""
    numbers = {
        "videos": intervals.MIN_CLUSTERS,
        "power_from": power.MIN_CLUSTERS,
    }
    text = page_asset("rules.md", "leaderboard").rstrip("\n")
    return text.format(**numbers, most_unscored=f"{100 * MOST_UNSCORED:g}")


def rank_group(
    spec: BenchmarkSpec,
    entries: Sequence[BoardEntry],
    models: Mapping[str, Hashable] | None = None,
    noise: Noise | None = None,
) -> GroupRanking:
    """Return the ranking of a group's runs; without any, of its published rows.

    Args:
        spec: The benchmark.
        entries: The group's rows.
        models: Key of a row -> its model; by default its name, revision and setting.
        noise: What the pairs say, where that is known already.
    """
    scores = _scores(spec, entries)
    rows = [entry for entry in entries if entry.key in scores]
    runs = [entry for entry in rows if entry.stored is not None or entry.kind == "owner"]
    ranked_rows = runs or rows

    def order(row: BoardEntry) -> tuple[float, str, str]:
        return -scores[row.key], row.model, row.key

    ranked_rows.sort(key=order)
    model_of: dict[str, Hashable] = {}
    best_rows: dict[Hashable, BoardEntry] = {}
    for row in ranked_rows:
        model = (row.model.casefold(), row.revision, row.setting)
        if models is not None and row.key in models:
            model = models[row.key]
        model_of[row.key] = model
        best_rows.setdefault(model, row)
    ranks: dict[str, int] = {}
    best_scores = sorted(scores[row.key] for row in best_rows.values())
    for row in ranked_rows:
        score = scores[row.key]
        better_models = len(best_scores) - bisect_right(best_scores, score)
        if scores[best_rows[model_of[row.key]].key] > score:
            better_models -= 1  # the model itself, by a better row
        ranks[row.key] = 1 + better_models
    if noise is None:
        noise = Noise({}, None)
        compared = [row for row in best_rows.values() if row.stored is not None]
        if compared:
            noise = compare_runs(spec, compared)
    return GroupRanking(ranks, noise)


def _scores(spec: BenchmarkSpec, entries: Sequence[BoardEntry]) -> dict[str, float]:
    """Return key -> primary metric of the rows that can be ranked."""
    scores: dict[str, float] = {}
    for entry in entries:
        score = metric_value(entry.metrics, spec.primary.name)
        if score is None or entry.is_reference or entry.unranked is not None:
            continue
        # A value with less than half of a run's items behind it ranks nobody.
        items = entry.facts.get("items") or 0
        if 2 * entry.metrics[spec.primary.name].n >= items:
            scores[entry.key] = score
    return scores


def over_judges(spec: BenchmarkSpec, entries: Sequence[BoardEntry]) -> dict[str, tuple[int, int]]:
    """Return key -> best and worst rank over the judges of a panel.

    Each judge's scores are taken alone. The rows are the runs of one group, so the same panel
    judged all of them.
    """
    scores_by_judge: dict[str, dict[str, float]] = defaultdict(dict)
    for entry in entries:
        for member in _panel(entry):
            score = metric_value(member.metrics or {}, spec.primary.name)
            if score is not None:
                judge = judge_as_answered(member)
                scores_by_judge[judge][entry.key] = score
    ranks: dict[str, list[int]] = defaultdict(list)
    for scores in scores_by_judge.values():
        for key, score in scores.items():
            better_runs = sum(rival > score for rival in scores.values())
            ranks[key].append(1 + better_runs)
    return {key: (min(places), max(places)) for key, places in ranks.items()}


def _panel(entry: BoardEntry) -> Sequence[JudgeRecord]:
    if entry.stored is None or entry.unranked is not None:
        return ()
    judge = entry.stored.result.judge
    if judge is None:
        return ()
    return judge.panel or ()


def compare_runs(spec: BenchmarkSpec, rows: Sequence[BoardEntry]) -> Noise:
    """Compare runs of one table with each other, a row a model.

    The tests hold whatever the items without a score would have been scored.
    """
    runs = compared_runs(spec, rows, partial(_run, spec))
    pairs = TablePairs(runs, _tests_of_pair(spec, rows))
    return Noise(
        ranges=pairs.ranges(),
        smallest=_smallest_difference(pairs),
        pairs=pairs,
        videos=runs.videos,
    )


def _tests_of_pair(spec: BenchmarkSpec, rows: Sequence[BoardEntry]) -> TestPair:
    """Return the function that tests two rows on their common items, by their keys.

    It tests at either end of what is unscored. There is no test of too few videos.
    """
    row_of = {row.key: row for row in rows}

    # A row that lacks an item of the others comes up in every pair with it.
    @lru_cache(maxsize=_ROWS_AT_HAND)
    def ids_of(key: str) -> frozenset[str]:
        return comparison.counted_ids(ranked_samples(_stored(row_of[key])))

    @lru_cache(maxsize=_ROWS_AT_HAND)
    def run_on(key: str, ids: frozenset[str]) -> AtBothEnds:
        return _run(spec, row_of[key], ids)

    def tests_of(first: str, second: str) -> Tests:
        shared_ids = ids_of(first) & ids_of(second)
        if not shared_ids:
            return []
        return comparison.tests_at_both_ends(run_on(first, shared_ids), run_on(second, shared_ids))

    return tests_of


def _smallest_difference(pairs: TablePairs) -> float | None:
    """Return `Noise.smallest`: pairs on the same items are its pilots."""
    resampled_errors = pairs.resampled_errors()
    if not resampled_errors:
        return None
    errors = np.concatenate([each.errors for each in resampled_errors])
    error = sorting.median(errors)
    fewest_videos = min(each.videos for each in resampled_errors)
    pilot = power.Pilot(error, fewest_videos, paired=True)
    if not error or power.not_promised(pilot, fewest_videos) is not None:
        return None
    return power.smallest_difference(pilot, fewest_videos)


def _run(spec: BenchmarkSpec, entry: BoardEntry, only: Collection[str] | None = None) -> AtBothEnds:
    """Return a run's main metric at both ends of its unscored items."""
    stored = _stored(entry)
    columns = score_columns(stored)
    if columns is not None:
        ends = columns_at_both_ends(spec, columns, only)
        if ends is not None:
            return ends
    return comparison.at_both_ends(spec, ranked_samples(stored), only)


def _stored(entry: BoardEntry) -> StoredResult:
    assert entry.stored is not None  # noqa: S101 - runs only
    return entry.stored
