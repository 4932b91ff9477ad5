"""Make the overall table: each model's place over the benchmarks whose data is open.

`rules.md` is the one definition.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from reelbench.leaderboard import board_settings
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.leaderboard.ranking import Noise
from reelbench.leaderboard.store import StoredResult
from reelbench.leaderboard.table_pairs import Signs
from reelbench.registry.spec import BenchmarkSpec
from reelbench.stats.intervals import Array
from reelbench.stats.multiple_comparisons import adjusted_by_holm

LEAST = 3
"""Models from which on there is an overall ranking."""

UNSTATED = "run"
"""The setting of a run that states none."""
_SETTINGS_OF_ONE_TABLE = ("zero-shot", "reasoning")
"""Settings whose rows stand in one table. Those of others have tables of their own."""

ModelKey = tuple[str, str | None, str]
"""A model overall: its one name, its revision (None where it is not told by one), its setting."""

_TableSigns = Mapping[RankingGroup, Signs]
"""Each group that counts -> the signs between its models, in the order of its table."""
_BestRows = dict[ModelKey, dict[RankingGroup, BoardEntry]]
_WinRates = dict[ModelKey, dict[RankingGroup, Fraction]]
_Tables = Mapping[RankingGroup, Mapping[ModelKey, BoardEntry]]
"""Each group that counts -> the best ranked row of each of its models."""


class BetterBelow(NamedTuple):
    """A model below another one, though the benchmarks that both ran say otherwise.

    Attributes:
        key: The model below.
        groups: Where it is the better one. Of the others that both ran it is worse on none.
    """

    key: ModelKey
    groups: Sequence[RankingGroup]


@dataclass(frozen=True, slots=True)
class Overall:
    """A model's place in the overall table.

    Attributes:
        key: The model.
        rank: None where it is ranked on fewer than half of the benchmarks that count.
        win_rate: Mean of its win rates, 0 to 1, over the benchmarks that it has.
        ranks: The best and the worst rank that the data don't rule out. None where the pairs are
            not known.
        covered: Benchmarks on which it is ranked, of those that count.
        of: Benchmarks that count.
        cells: Group -> the model's best row.
        rates: Group -> its win rate, of the groups that count and have others to beat.
        better_below: Models below it, though the benchmarks that both ran say otherwise.
    """

    key: ModelKey
    rank: int | None
    win_rate: float | None
    ranks: tuple[int, int] | None
    covered: int
    of: int
    cells: Mapping[RankingGroup, BoardEntry]
    rates: Mapping[RankingGroup, float]
    better_below: Sequence[BetterBelow] = ()


def set_apart(
    settings: board_settings.BoardSettings | None,
    groups: Mapping[RankingGroup, Sequence[BoardEntry]],
) -> dict[RankingGroup, str]:
    """Return the groups that can't stand for their benchmark, and why.

    The board's settings name neither their judge nor their declaration.
    """
    reasons: dict[RankingGroup, str] = {}
    if settings is None:
        return reasons
    runs: dict[RankingGroup, list[StoredResult]] = {}
    all_runs: list[StoredResult] = []
    for group, rows in groups.items():
        runs[group] = [row.stored for row in rows if row.stored is not None]
        all_runs += runs[group]
    trusted_keys = settings.trusted_keys((run.key, run.filed.benchmark) for run in all_runs)
    for group, group_runs in runs.items():
        if not group_runs:
            continue
        is_trusted = any(run.key in trusted_keys for run in group_runs)
        if group.differs or not is_trusted:
            reasons[group] = board_settings.DECLARED_OTHERWISE
        elif not _has_trusted_judge(settings, group_runs):
            reasons[group] = board_settings.BY_OTHERS
    return reasons


def _has_trusted_judge(
    settings: board_settings.BoardSettings, runs: Sequence[StoredResult]
) -> bool:
    """Return True where a run's judge is trusted, or no run has a judge."""
    judged_runs = [run for run in runs if run.result.judge is not None]
    if not judged_runs:
        return True
    for run in judged_runs:
        judge = run.result.judge
        if run.filed_row.vouched or (judge is not None and settings.names(judge)):
            return True
    return False


def main_groups(
    specs: Mapping[str, BenchmarkSpec],
    entries: Iterable[BoardEntry],
    ranks: Mapping[str, int],
    apart: Container[RankingGroup] = (),
) -> dict[str, RankingGroup]:
    """Return benchmark -> the group that stands for it, none of `apart`.

    Benchmarks whose data is not open have one, too.
    """
    run_counts: Counter[RankingGroup] = Counter()
    row_counts: Counter[RankingGroup] = Counter()
    for entry in entries:
        group = entry.group
        if entry.key in ranks and group.plain and group not in apart:
            row_counts[group] += 1
            if entry.kind == "run":
                run_counts[group] += 1
    groups = list(run_counts) or list(row_counts)
    mini = all(group.mini for group in groups)

    def weight(group: RankingGroup) -> tuple[int, int, bool, int, str]:
        is_default = group.split == specs[group.benchmark].default_split
        return group.version, run_counts[group], is_default, row_counts[group], group.id

    best: dict[str, RankingGroup] = {}
    for group in row_counts:
        if group.mini != mini:
            continue
        best_group = best.setdefault(group.benchmark, group)
        best[group.benchmark] = max(best_group, group, key=weight)
    return dict(sorted(best.items()))


def counted_groups(
    main: Mapping[str, RankingGroup],
    specs: Mapping[str, BenchmarkSpec],
    entries: Iterable[BoardEntry],
    ranks: Mapping[str, int],
) -> list[RankingGroup]:
    """Return the groups that count overall.

    Groups of published numbers alone don't, where any other was run.
    """
    open_groups = [group for name, group in main.items() if specs[name].open_data]
    run_groups: set[RankingGroup] = set()
    for entry in entries:
        if entry.kind == "run" and entry.key in ranks:
            run_groups.add(entry.group)
    return [group for group in open_groups if group in run_groups] or open_groups


def unstated_settings(models: Sequence[Overall]) -> dict[ModelKey, list[str]]:
    """Return each model's benchmarks on which its run states no setting.

    Empty where no run of the board states one: then none is told apart by it.
    """
    any_states_one = False
    unstated: dict[ModelKey, list[str]] = {}
    for model in models:
        for group, entry in model.cells.items():
            if entry.kind != "run":
                continue
            if entry.setting == UNSTATED:
                unstated.setdefault(model.key, []).append(group.benchmark)
            else:
                any_states_one = True
    return unstated if any_states_one else {}


def model_keys(entries: Sequence[BoardEntry], names: Mapping[str, str]) -> dict[str, ModelKey]:
    """Return a row's key -> its model.

    A row that states no setting is its model's in the only setting that other rows state.

    `names` has the one name of each row's model.
    """
    revisions: dict[str, set[str]] = defaultdict(set)
    settings: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        name = names[entry.model]
        if entry.revision is not None:
            revisions[name].add(entry.revision)
        if entry.setting in _SETTINGS_OF_ONE_TABLE:
            settings[name].add(entry.setting)
    keys: dict[str, ModelKey] = {}
    for entry in entries:
        name = names[entry.model]
        revision = entry.revision
        if len(revisions[name]) <= 1:
            revision = next(iter(revisions[name]), None)
        setting = entry.setting
        if setting == UNSTATED:
            setting = "zero-shot"
            if len(settings[name]) == 1:
                [setting] = settings[name]
        keys[entry.key] = (name, revision, setting)
    return keys


def overall(
    entries: Sequence[BoardEntry],
    ranks: Mapping[str, int],
    main: Mapping[str, RankingGroup],
    specs: Mapping[str, BenchmarkSpec],
    names: Mapping[str, str],
    *,
    noise: Mapping[RankingGroup, Noise],
) -> list[Overall]:
    """Return every model's place, the ranked ones first.

    Of the others, models that were run come before those with published numbers alone.
    """
    entries = [entry for entry in entries if entry.kind != "blind"]
    model_of = model_keys(entries, names)
    cells = _best_rows(entries, ranks, specs, model_of)
    counting = counted_groups(main, specs, entries, ranks)
    tables: dict[RankingGroup, dict[ModelKey, BoardEntry]] = {}
    covered: Counter[ModelKey] = Counter()
    for group in counting:
        tables[group] = {}
        for key, rows in cells.items():
            if group in rows and rows[group].key in ranks:
                tables[group][key] = rows[group]
                covered[key] += 1
    table_signs: dict[RankingGroup, Signs] = {}
    for group, rows in tables.items():
        table_signs[group] = _signs_between(rows, ranks, noise[group])
    rates = _win_rates(tables, table_signs)
    scores: dict[ModelKey, Fraction] = {}
    for key, model_rates in rates.items():
        scores[key] = _mean(list(model_rates.values()))
    if len(counting) == 1:
        # One question has one answer: the order is the table's own.
        [table] = tables.values()
        [group] = counting
        places = {key: ranks[row.key] for key, row in table.items()}
        ranges = _ranges_of_table(table, noise[group])
        better_below: dict[ModelKey, list[BetterBelow]] = {}
    else:
        places = _places(scores, covered, len(counting))
        ranges = _ranges(places, tables, noise)
        better_below = _better_below(places, tables, table_signs)
    if not places:
        scores = {}
    models: list[Overall] = []
    for key in cells:
        win_rate = float(scores[key]) if key in scores else None
        model = Overall(
            key=key,
            rank=places.get(key),
            win_rate=win_rate,
            ranks=ranges.get(key),
            covered=covered[key],
            of=len(counting),
            cells=cells[key],
            rates={group: float(rate) for group, rate in rates[key].items()},
            better_below=better_below.get(key, ()),
        )
        models.append(model)
    run_models = {model_of[entry.key] for entry in entries if entry.kind == "run"}

    def order(model: Overall) -> tuple[bool, int, float, bool, int, str]:
        return (
            model.rank is None,
            model.rank or 0,
            -(model.win_rate or 0),
            model.key not in run_models,
            -model.covered,
            str(model.key).lower(),
        )

    return sorted(models, key=order)


def _places(
    scores: Mapping[ModelKey, Fraction], covered: Mapping[ModelKey, int], benchmarks: int
) -> dict[ModelKey, int]:
    """Return the ranks of models that have half of the benchmarks or more.

    There are none of too few such models.
    """
    ranked = {key: score for key, score in scores.items() if 2 * covered[key] >= benchmarks}
    places: dict[ModelKey, int] = {}
    if len(ranked) < LEAST:
        return places
    for key, score in ranked.items():
        better_models = sum(rival > score for rival in ranked.values())
        places[key] = 1 + better_models
    return places


def _best_rows(
    entries: Sequence[BoardEntry],
    ranks: Mapping[str, int],
    specs: Mapping[str, BenchmarkSpec],
    model_of: Mapping[str, ModelKey],
) -> _BestRows:
    """Return each model's best row in each group. A ranked row is better than others."""

    def weight(entry: BoardEntry) -> tuple[bool, float]:
        primary = specs[entry.group.benchmark].primary
        score = metric_value(entry.metrics, primary.name)
        if score is None:
            score = float("-inf")
        return entry.key in ranks, score

    best_rows: _BestRows = defaultdict(dict)
    for entry in entries:
        rows = best_rows[model_of[entry.key]]
        best_row = rows.setdefault(entry.group, entry)
        rows[entry.group] = max(best_row, entry, key=weight)
    return best_rows


def _signs_between(
    rows: Mapping[ModelKey, BoardEntry], ranks: Mapping[str, int], noise: Noise
) -> Signs:
    """Return each model's sign against each other one of a table (models x models).

    It is 1 where the first is better. Published numbers go by their ranks.
    """
    row_keys = [row.key for row in rows.values()]
    if any(row.stored is not None for row in rows.values()):
        return noise.signs(row_keys)
    places = np.array([ranks[key] for key in row_keys])
    return np.sign(places[np.newaxis, :] - places[:, np.newaxis]).astype(np.int8)


def _win_rates(tables: _Tables, table_signs: _TableSigns) -> _WinRates:
    """Return each model's win rate by group.

    That is the share of a table's other models that it beats. Those from which it can't be told
    apart count half.
    """
    rates: _WinRates = defaultdict(dict)
    for group, rows in tables.items():
        if len(rows) <= 1:
            continue
        rivals = len(rows) - 1
        # Wins less losses.
        balances = table_signs[group].sum(axis=1, dtype=np.int64).tolist()
        for key, balance in zip(rows, balances, strict=True):
            rates[key][group] = Fraction(rivals + balance, 2 * rivals)
    return rates


def _better_below(
    places: Mapping[ModelKey, int], tables: _Tables, table_signs: _TableSigns
) -> dict[ModelKey, list[BetterBelow]]:
    """Return each ranked model's better ones below.

    Means over different benchmarks allow that: a common one decides nothing alone.
    """
    models = list(places)
    number_of = {key: number for number, key in enumerate(models)}
    wins = np.zeros((len(models), len(models)), dtype=np.int64)
    losses = np.zeros_like(wins)
    for group, rows in tables.items():
        is_placed = [key in places for key in rows]
        numbers = [number_of[key] for key in rows if key in places]
        signs = table_signs[group][np.ix_(is_placed, is_placed)]
        wins[np.ix_(numbers, numbers)] += signs > 0
        losses[np.ix_(numbers, numbers)] += signs < 0
    ranks = np.array(list(places.values()))
    is_above = ranks[:, np.newaxis] < ranks[np.newaxis, :]
    better_below: dict[ModelKey, list[BetterBelow]] = defaultdict(list)
    for above, below in np.argwhere(is_above & (losses > 0) & (wins == 0)).tolist():
        pair = models[above], models[below]
        groups = _lost_groups(*pair, tables, table_signs)
        better_below[models[above]].append(BetterBelow(models[below], groups))
    return better_below


def _lost_groups(
    model: ModelKey, rival: ModelKey, tables: _Tables, table_signs: _TableSigns
) -> list[RankingGroup]:
    """Return the groups on which a model is worse than its rival."""
    groups: list[RankingGroup] = []
    for group, rows in tables.items():
        keys = list(rows)
        if model in rows and rival in rows:
            sign = table_signs[group][keys.index(model), keys.index(rival)]
            if sign < 0:
                groups.append(group)
    return groups


def _ranges_of_table(
    table: Mapping[ModelKey, BoardEntry], noise: Noise
) -> dict[ModelKey, tuple[int, int]]:
    ranges: dict[ModelKey, tuple[int, int]] = {}
    for key, row in table.items():
        if row.key in noise.ranges:
            ranges[key] = noise.ranges[row.key]
    return ranges


def _ranges(
    places: Mapping[ModelKey, int], tables: _Tables, noise: Mapping[RankingGroup, Noise]
) -> dict[ModelKey, tuple[int, int]]:
    """Return each ranked model's best and worst rank.

    There are none where a table's pairs are not compared.
    """
    if not tables or any(not noise[group].pairs for group in tables):
        return {}
    p_values = _p_over_all_tables(tables, noise)
    low_rates: dict[ModelKey, list[Fraction]] = defaultdict(list)
    high_rates: dict[ModelKey, list[Fraction]] = defaultdict(list)
    for group, rows in tables.items():
        if len(rows) == 1:
            continue
        signs = noise[group].signs([row.key for row in rows.values()], p_values[group])
        wins = np.count_nonzero(signs > 0, axis=1).tolist()
        losses = np.count_nonzero(signs < 0, axis=1).tolist()
        rivals = len(rows) - 1
        for place, key in enumerate(rows):
            low_rates[key].append(Fraction(wins[place], rivals))
            high_rates[key].append(Fraction(rivals - losses[place], rivals))
    lowest_rates: dict[ModelKey, Fraction] = {}
    highest_rates: dict[ModelKey, Fraction] = {}
    for key in places:
        lowest_rates[key] = _mean(low_rates[key])
        highest_rates[key] = _mean(high_rates[key])
    ranges: dict[ModelKey, tuple[int, int]] = {}
    for key, place in places.items():
        model_rows = [rows[key] for rows in tables.values() if key in rows]
        if not all(row.stored for row in model_rows):
            continue
        lowest_rate = lowest_rates[key]
        highest_rate = highest_rates[key]
        surely_better = sum(low > highest_rate for low in lowest_rates.values())
        surely_worse = sum(high < lowest_rate for high in highest_rates.values())
        best = 1 + surely_better
        worst = len(places) - surely_worse
        ranges[key] = (min(best, place), max(worst, place))
    return ranges


def _p_over_all_tables(
    tables: _Tables, noise: Mapping[RankingGroup, Noise]
) -> dict[RankingGroup, Array]:
    """Return the p of each table's pairs, adjusted by Holm over all tables."""
    alone = {group: noise[group].p_alone for group in tables}
    adjusted = adjusted_by_holm(np.concatenate(list(alone.values())))
    p_values: dict[RankingGroup, Array] = {}
    start = 0
    for group, of_table in alone.items():
        p_values[group] = adjusted[start : start + len(of_table)]
        start += len(of_table)
    return p_values


def _mean(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction()) / len(numbers)
