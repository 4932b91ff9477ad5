"""How rows are ranked in a group, and its models against each other: one paired test for each pair, counted at once.

`rules.md` is the one definition, and what the site prints.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import NamedTuple

import numpy as np

from reelbench.judges.identity import judge_as_answered
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.standing import ranked_samples
from reelbench.pages.shell_page import page_asset
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import comparison
from reelbench.scoring.comparison import AtBothEnds
from reelbench.scoring.value_bounds import MOST_UNSCORED
from reelbench.stats import intervals, multiple_comparisons, power

MOST_COMPARED = 100
"""Models that are compared each with each: of so many that is 4,950 tests, some two seconds."""


class PairedDifference(NamedTuple):
    """By how much one row is above another, as the rows show it.

    `p`, of no difference, is adjusted by Holm for all pairs of the table (`alone` as if this were
    the only one), None of too few videos; `ci95` is that same test's at the pair's step in Holm: it
    excludes 0 exactly where `told`.
    """

    by: float
    p: float | None
    ci95: tuple[float, float] | None = None
    alone: float | None = None

    @property
    def direction(self) -> int:
        """1 where the row is better, -1 where it is worse, 0 where the two can't be told apart."""
        return self.told_among(1)

    def told_among(self, tables: int) -> int:
        """Return the same where so many tables are looked at together (Bonferroni)."""
        return (
            0 if self.p is None or self.p * tables > power.ALPHA else (self.by > 0) - (self.by < 0)
        )


@dataclass(frozen=True, slots=True)
class Noise:
    """What a table's pairs say together: by the keys of two models' rows their difference.

    `ranges` are a row's best and worst rank: 1 and those that are better, and all less those that
    are worse. `smallest` is the smallest difference that two of its runs show with power 0.8, in
    the primary metric's unit, by the median noise of its pairs; None of fewer than two runs, and
    where so few `videos` as are behind them promise no power.
    """

    ranges: Mapping[str, tuple[int, int]]
    smallest: float | None
    pairs: Mapping[tuple[str, str], PairedDifference] = field(default_factory=dict)
    videos: int = 0

    def pair(self, ours: str, theirs: str) -> PairedDifference | None:
        """Return by how much one row, named by its key, is above another; None where they weren't compared."""
        if (found := self.pairs.get((ours, theirs))) is not None:
            return found
        if (found := self.pairs.get((theirs, ours))) is None:
            return None
        return found._replace(by=-found.by, ci95=found.ci95 and (-found.ci95[1], -found.ci95[0]))


def rules() -> str:
    """Return the rules of the tables and of the overall table, for a reader."""
    numbers = {
        "videos": intervals.MIN_CLUSTERS,
        "power_from": power.MIN_CLUSTERS,
        "most_compared": MOST_COMPARED,
    }
    text = page_asset("rules.md", "leaderboard").rstrip("\n")
    return text.format(**numbers, most_unscored=f"{100 * MOST_UNSCORED:g}")


def rank_group(
    spec: BenchmarkSpec,
    entries: Sequence[BoardEntry],
    models: Mapping[str, Hashable] | None = None,
    noise: Noise | None = None,
) -> tuple[dict[str, int], Noise]:
    """Return key -> rank within one group, and what its pairs say together; a key that is not there is not ranked.

    `models` has the model that each row is of, by default as its name, revision and setting say;
    `noise` is what the pairs say, where that is known.
    """
    primary = spec.primary.name
    scores: dict[str, float] = {}
    for entry in entries:
        score = metric_value(entry.metrics, primary)
        if score is None or entry.is_reference or entry.unranked is not None:
            continue
        # A value with less than half of a run's items behind it ranks nobody.
        if 2 * entry.metrics[primary].n >= (entry.facts.get("items") or 0):
            scores[entry.key] = score
    rows = [entry for entry in entries if entry.key in scores]
    runs = [entry for entry in rows if entry.stored is not None]
    of = {
        row.key: (models or {}).get(row.key, (row.model.casefold(), row.revision, row.setting))
        for row in rows
    }
    best: dict[Hashable, BoardEntry] = {}
    for row in sorted(runs or rows, key=lambda row: (-scores[row.key], row.model, row.key)):
        best.setdefault(of[row.key], row)
    ranks = {
        row.key: 1
        + sum(
            scores[one.key] > scores[row.key] for model, one in best.items() if model != of[row.key]
        )
        for row in runs or rows
    }
    return ranks, noise or (compare_runs(spec, list(best.values())) if runs else Noise({}, None))


def over_judges(spec: BenchmarkSpec, entries: Sequence[BoardEntry]) -> dict[str, tuple[int, int]]:
    """Return key -> best and worst rank over the judges of a panel, each judge's scores taken alone.

    Of the runs of one group, so they were judged by the same panel.
    """
    by_judge: dict[str, dict[str, float]] = defaultdict(dict)
    for entry in entries:
        record = entry.stored.result.judge if entry.stored else None
        for member in record.panel or () if record and entry.unranked is None else ():
            score = metric_value(member.metrics or {}, spec.primary.name)
            if score is not None:
                by_judge[judge_as_answered(member)][entry.key] = score
    ranks: dict[str, list[int]] = defaultdict(list)
    for values in by_judge.values():
        for key, own in values.items():
            ranks[key].append(1 + sum(other > own for other in values.values()))
    return {key: (min(places), max(places)) for key, places in ranks.items()}


def compare_runs(spec: BenchmarkSpec, rows: Sequence[BoardEntry]) -> Noise:
    """Compare runs of one table with each other, a row a model, whatever their items without a score would be."""
    if len(rows) > MOST_COMPARED:
        return Noise({}, None, videos=_run(spec, rows[0]).lowest.clusters)
    runs = {row.key: _run(spec, row) for row in rows}
    # At either end of what is unscored, on the items that both have; none of too few videos.
    tests: dict[tuple[str, str], list[intervals.PairedTest]] = {}
    for a, b in combinations(rows, 2):
        of_a, of_b = runs[a.key], runs[b.key]
        shared = None if of_a.ids == of_b.ids else set(of_a.ids) & set(of_b.ids)
        if shared:
            of_a, of_b = _run(spec, a, shared), _run(spec, b, shared)
        tests[a.key, b.key] = (
            comparison.tests_at_both_ends(of_a, of_b) if shared is None or shared else []
        )
    alone = [comparison.p_of(some) for some in tests.values()]
    adjusted, levels = multiple_comparisons.holm(alone), multiple_comparisons.holm_levels(alone)
    pairs: dict[tuple[str, str], PairedDifference] = {}
    for (pair, some), p, one, level in zip(tests.items(), adjusted, alone, levels, strict=True):
        a, b = (runs[key].lowest.value for key in pair)
        interval = None if level is None else comparison.interval_of(some, level)
        if a is not None and b is not None:
            pairs[pair] = PairedDifference(a - b, p, interval, one)
    pilots = [
        (intervals.standard_error(draws[~np.isnan(draws)], a.lowest.clusters), a.lowest.clusters)
        for a, b in combinations(runs.values(), 2)
        if a.ids == b.ids
        and a.lowest.clusters > 1
        and a.lowest.draws is not None
        and b.lowest.draws is not None
        for draws in [a.lowest.draws - b.lowest.draws]
    ]
    smallest = None
    if pilots:
        error, videos = median(error for error, _ in pilots), min(videos for _, videos in pilots)
        pilot = power.Pilot(error, videos, paired=True)
        if error and power.not_promised(pilot, videos) is None:
            smallest = power.smallest_difference(pilot, videos)
    return Noise(
        multiple_comparisons.rank_ranges(
            list(runs), {pair: (found.by, found.alone) for pair, found in pairs.items()}
        ),
        smallest,
        pairs,
        max((run.lowest.clusters for run in runs.values()), default=0),
    )


def _run(spec: BenchmarkSpec, entry: BoardEntry, only: set[str] | None = None) -> AtBothEnds:
    assert entry.stored is not None  # noqa: S101 - runs only
    return comparison.at_both_ends(spec, ranked_samples(entry.stored), only)
