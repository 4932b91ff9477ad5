"""The overall table: each model's place over the benchmarks whose data is open. `rules.md` is the one definition."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from reelbench.leaderboard import trust
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.leaderboard.ranking import Noise
from reelbench.registry.spec import BenchmarkSpec

LEAST = 3
"""Models from which on there is an overall ranking."""

ModelKey = tuple[str, str | None, str]
"""A model overall: its one name, its revision (None where it is not told by one), its setting."""


@dataclass(frozen=True, slots=True)
class Overall:
    """A model's place overall: it is ranked on `covered` benchmarks `of` those that count; under half it has no rank.

    `win_rate` is the mean of its win rates, 0 to 1, over the benchmarks that it has; `ranks` are
    the best and the worst rank that the data don't rule out, None where the pairs are not known. By
    group: its best row (`cells`), and its win rate, of the groups that count and have others to
    beat (`rates`).
    """

    key: ModelKey
    rank: int | None
    win_rate: float | None
    ranks: tuple[int, int] | None
    covered: int
    of: int
    cells: Mapping[RankingGroup, BoardEntry]
    rates: Mapping[RankingGroup, float]


def set_apart(
    settings: trust.BoardSettings | None, groups: Mapping[RankingGroup, Sequence[BoardEntry]]
) -> dict[RankingGroup, str]:
    """Return the groups that can't stand for their benchmark: their judge or declaration is nobody's here."""
    apart: dict[RankingGroup, str] = {}
    if settings is None:
        return apart
    runs = {
        group: [row.stored for row in rows if row.stored is not None]
        for group, rows in groups.items()
    }
    filed = [one.filed for some in runs.values() for one in some]
    believed = settings.trusted_keys((one.key, one.benchmark) for one in filed)
    for group, some in runs.items():
        judges = [
            (one.check.vouched, one.result.judge) for one in some if one.result.judge is not None
        ]
        if some and (group.differs or not any(one.key in believed for one in some)):
            apart[group] = trust.DECLARED_OTHERWISE
        elif judges and not any(vouched or settings.names(judge) for vouched, judge in judges):
            apart[group] = trust.BY_OTHERS
    return apart


def main_groups(
    specs: Mapping[str, BenchmarkSpec],
    entries: Iterable[BoardEntry],
    ranks: Mapping[str, int],
    apart: Container[RankingGroup] = (),
) -> dict[str, RankingGroup]:
    """Return benchmark -> the group that stands for it, none of `apart`; those whose data is not open have one, too."""
    runs: Counter[RankingGroup] = Counter()
    rows: Counter[RankingGroup] = Counter()
    for entry in entries:
        if entry.key in ranks and entry.group.plain and entry.group not in apart:
            rows[entry.group] += 1
            runs[entry.group] += entry.kind == "run"
    what_was_run = [group for group in rows if runs[group]] or list(rows)
    mini = all(group.mini for group in what_was_run)

    def weight(group: RankingGroup) -> tuple[int, int, bool, int, str]:
        default = group.split == specs[group.benchmark].default_split
        return group.version, runs[group], default, rows[group], group.id

    best: dict[str, RankingGroup] = {}
    for group in sorted((group for group in rows if group.mini == mini), key=weight):
        best[group.benchmark] = group
    return dict(sorted(best.items()))


def counted_groups(
    main: Mapping[str, RankingGroup],
    specs: Mapping[str, BenchmarkSpec],
    entries: Iterable[BoardEntry],
    ranks: Mapping[str, int],
) -> list[RankingGroup]:
    """Return the groups that count overall: published numbers alone decide nothing where anything was run."""
    candidates = [group for name, group in main.items() if specs[name].open_data]
    ran = {entry.group for entry in entries if entry.kind == "run" and entry.key in ranks}
    return [group for group in candidates if group in ran] or candidates


def model_keys(entries: Sequence[BoardEntry], names: Mapping[str, str]) -> dict[str, ModelKey]:
    """Return a row's key -> the model that it is of; `names` has each name's model."""
    revisions: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        if entry.revision is not None:
            revisions[names[entry.model]].add(entry.revision)
    keys = {}
    for entry in entries:
        name = names[entry.model]
        known = revisions[name]
        revision = entry.revision if len(known) > 1 else next(iter(known), None)
        keys[entry.key] = (name, revision, "zero-shot" if entry.setting == "run" else entry.setting)
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
    """Return every model's place, the ranked ones first; then what was run, before what was only published."""
    keys = model_keys(entries, names)
    cells: dict[ModelKey, dict[RankingGroup, BoardEntry]] = defaultdict(dict)
    ran = {keys[entry.key] for entry in entries if entry.kind == "run"}

    def weight(entry: BoardEntry) -> tuple[bool, float]:
        score = metric_value(entry.metrics, specs[entry.group.benchmark].primary.name)
        return entry.key in ranks, float("-inf") if score is None else score

    for entry in entries:
        of_model = cells[keys[entry.key]]
        of_model[entry.group] = max(of_model.get(entry.group, entry), entry, key=weight)
    counting = counted_groups(main, specs, entries, ranks)
    tables = {
        group: {
            key: row for key, rows in cells.items() if (row := rows.get(group)) and row.key in ranks
        }
        for group in counting
    }
    rates: dict[ModelKey, dict[RankingGroup, Fraction]] = defaultdict(dict)
    for group, rows in tables.items():
        for key in rows if len(rows) > 1 else ():
            # A model's share of a table's others that it beats, those that it can't be told from
            # counted half.
            ours, others = rows[key].key, [row.key for other, row in rows.items() if other != key]
            if any(row.stored is not None for row in rows.values()):
                pairs = [noise[group].pair(ours, other) for other in others]
                signs = [pair.direction if pair else 0 for pair in pairs]
            else:
                signs = [
                    (ranks[ours] < ranks[other]) - (ranks[ours] > ranks[other]) for other in others
                ]
            rates[key][group] = Fraction(len(signs) + sum(signs), 2 * len(signs))
    covered = Counter(key for rows in tables.values() for key in rows)
    scores = {key: sum(parts.values(), Fraction()) / len(parts) for key, parts in rates.items()}
    ranked = {key: score for key, score in scores.items() if 2 * covered[key] >= len(counting)}
    if len(ranked) < LEAST:
        scores, ranked = {}, {}
    places = {
        key: 1 + sum(other > score for other in ranked.values()) for key, score in ranked.items()
    }
    ranges = _ranges(places, tables, noise)
    models = [
        Overall(
            key=key,
            rank=places.get(key),
            win_rate=float(scores[key]) if key in scores else None,
            ranks=ranges.get(key),
            covered=covered[key],
            of=len(counting),
            cells=cells[key],
            rates={group: float(rate) for group, rate in rates.get(key, {}).items()},
        )
        for key in cells
    ]
    return sorted(
        models,
        key=lambda m: (
            m.rank is None,
            m.rank,
            -(m.win_rate or 0),
            m.key not in ran,
            -m.covered,
            str(m.key).lower(),
        ),
    )


def _ranges(
    places: Mapping[ModelKey, int],
    tables: Mapping[RankingGroup, Mapping[ModelKey, BoardEntry]],
    noise: Mapping[RankingGroup, Noise],
) -> dict[ModelKey, tuple[int, int]]:
    """Return each ranked model's best and worst rank; nothing where a table's pairs are not compared."""
    if any(not noise[group].pairs for group in tables):
        return {}
    ends: dict[ModelKey, tuple[Fraction, Fraction]] = {}
    for key in places:
        lowest, highest = list[Fraction](), list[Fraction]()
        for group, rows in tables.items():
            if key not in rows or len(rows) == 1:
                continue
            pairs = [
                noise[group].pair(rows[key].key, other.key)
                for name, other in rows.items()
                if name != key
            ]
            signs = [pair.told_among(len(tables)) if pair else 0 for pair in pairs]
            lowest.append(Fraction(signs.count(1), len(signs)))
            highest.append(Fraction(len(signs) - signs.count(-1), len(signs)))
        ends[key] = sum(lowest, Fraction()) / len(lowest), sum(highest, Fraction()) / len(highest)
    ranges = {}
    for key, place in places.items():
        if all(rows[key].stored for rows in tables.values() if key in rows):
            best = 1 + sum(low > ends[key][1] for low, _ in ends.values())
            worst = len(places) - sum(high < ends[key][0] for _, high in ends.values())
            ranges[key] = min(best, place), max(worst, place)
    return ranges
