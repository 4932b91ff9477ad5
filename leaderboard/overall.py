"""The overall table: each model's place over the benchmarks whose data is open. `RULES` is the one definition."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.leaderboard.pairs import Noise
from reelbench.registry.spec import BenchmarkSpec
from reelbench.stats import power

RULES = """\
**Overall** counts the benchmarks whose data is open to all and that somebody ran; where nobody ran any, all of which
there are published numbers. Of each it takes one group: of the newest version the one with the most ranked runs, judge
and prompts included. Published numbers are listed in it, and decide only where nobody ran the benchmark. Parts of a
split and other ways of asking (candidates, languages, labels) never count, the mini data only where nothing else was
run. Names of one model (in a paper, on the Hub, in upper or lower case) are one row, as are its revisions where no more
than one is known; a run that does not say otherwise counts as zero-shot, and of a model's rows in a group the best one
counts.

A model is ranked once it is ranked on all of these benchmarks. Its score is the mean over them of its win rate: the
share of the benchmark's other models that it ranks above, one that shares its rank counted half, so units are never
mixed. (The mean win rate is that of HELM: Liang et al. 2023, section 5.) Its range of ranks follows from the pairs that
the benchmarks tell apart, their p values adjusted within each (Holm) and for the number of benchmarks (Bonferroni): its
win rate lies between that with all others below it that it isn't surely under, and that with only those below it that
it is surely above; with 95 % all ranges hold together. A model with a published number among them has none. All other
models stand below, without a rank or a score, with the number of benchmarks that they have: a missing one is neither a
zero nor guessed. With fewer than three models to rank there is no overall ranking yet."""

LEAST = 3
"""Models from which on there is an overall ranking."""

ModelKey = tuple[str, str | None, str]
"""A model overall: its one name, its revision (None where it is not told by one), its setting."""


@dataclass(frozen=True, slots=True)
class Overall:
    """A model's place overall; without a result on all benchmarks that count, it has neither rank nor score.

    Attributes:
        key: The model.
        rank: From 1; equal scores share one.
        win_rate: Mean of the win rates, 0 to 1.
        ranks: The best and the worst rank that the data don't rule out; None where the pairs are not known.
        covered: Benchmarks that it is ranked on.
        of: Benchmarks that count.
        cells: RankingGroup -> the model's best row in it.
    """

    key: ModelKey
    rank: int | None
    win_rate: float | None
    ranks: tuple[int, int] | None
    covered: int
    of: int
    cells: Mapping[RankingGroup, BoardEntry]


def main_groups(
    specs: Mapping[str, BenchmarkSpec], entries: Iterable[BoardEntry], ranks: Mapping[str, int]
) -> dict[str, RankingGroup]:
    """Return benchmark -> the group that stands for it; those whose data is not open have one, too."""
    runs: Counter[RankingGroup] = Counter()
    rows: Counter[RankingGroup] = Counter()
    for entry in entries:
        if entry.key in ranks and entry.group.plain:
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


def counted(
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
    ran: set[ModelKey] = set()
    for entry in entries:
        key = keys[entry.key]
        if entry.kind == "run":
            ran.add(key)
        there = cells[key].get(entry.group)
        if there is None or _better(specs[entry.group.benchmark], entry, there, ranks):
            cells[key][entry.group] = entry
    counting = counted(main, specs, entries, ranks)
    covered: Counter[ModelKey] = Counter()
    rates: dict[ModelKey, list[Fraction]] = defaultdict(list)
    for group in counting:
        placed = {key: ranks[entry.key] for key, entry in _placed(group, cells, ranks).items()}
        covered.update(placed.keys())
        for key, rate in _win_rates(placed).items():
            rates[key].append(rate)
    scores = {key: sum(parts, Fraction()) / len(parts) for key, parts in rates.items() if covered[key] == len(counting)}
    if len(scores) < LEAST:
        scores = {}
    places: dict[Fraction, int] = {}
    for place, score in enumerate(sorted(scores.values(), reverse=True), start=1):
        places.setdefault(score, place)
    tables = {group: _placed(group, cells, ranks) for group in counting}
    ranges = _ranges({key: places[score] for key, score in scores.items()}, tables, noise)
    models = [
        Overall(
            key=key,
            rank=places[scores[key]] if key in scores else None,
            win_rate=float(scores[key]) if key in scores else None,
            ranks=ranges.get(key),
            covered=covered[key],
            of=len(counting),
            cells=cells[key],
        )
        for key in cells
    ]
    return sorted(
        models, key=lambda m: (m.rank is None, m.rank or 0, m.key not in ran, -m.covered, m.key[0].lower(), str(m.key))
    )


def _better(spec: BenchmarkSpec, entry: BoardEntry, there: BoardEntry, ranks: Mapping[str, int]) -> bool:
    def weight(entry: BoardEntry) -> tuple[bool, float]:
        score = metric_value(entry.metrics, spec.primary.name)
        return entry.key in ranks, float("-inf") if score is None else score

    return weight(entry) > weight(there)


def _win_rates(placed: Mapping[ModelKey, int]) -> dict[ModelKey, Fraction]:
    """Each model's share of the others that it ranks above, equal ranks counted half; nothing of one alone."""
    order = np.sort(np.fromiter(placed.values(), dtype=np.int64))
    others = len(order) - 1
    rates = {}
    for key, rank in placed.items() if others else ():
        worse = len(order) - int(np.searchsorted(order, rank, side="right"))
        equal = len(order) - worse - int(np.searchsorted(order, rank, side="left")) - 1
        rates[key] = Fraction(2 * worse + equal, 2 * others)
    return rates


def _placed(
    group: RankingGroup, cells: Mapping[ModelKey, Mapping[RankingGroup, BoardEntry]], ranks: Mapping[str, int]
) -> dict[ModelKey, BoardEntry]:
    """Each model's ranked row in a group."""
    rows = {key: of_model[group] for key, of_model in cells.items() if group in of_model}
    return {key: entry for key, entry in rows.items() if entry.key in ranks}


def _ranges(
    places: Mapping[ModelKey, int],
    tables: Mapping[RankingGroup, Mapping[ModelKey, BoardEntry]],
    noise: Mapping[RankingGroup, Noise],
) -> dict[ModelKey, tuple[int, int]]:
    """Return each ranked model's best and worst rank, by `RULES`; nothing where a table's pairs are not compared."""
    if any(not noise[group].pairs for group in tables):
        return {}
    lowest, highest = dict.fromkeys(places, Fraction()), dict.fromkeys(places, Fraction())
    for group, rows in tables.items():
        share = Fraction(1, max(len(rows) - 1, 1))
        for key in places:
            signs = [_sure(noise[group], rows[key], other, len(tables)) for k, other in rows.items() if k != key]
            lowest[key] += share * signs.count(1)
            highest[key] += share * (len(signs) - signs.count(-1))
    ranges = {}
    for key, place in places.items():
        best = 1 + sum(lowest[other] > highest[key] for other in places)
        worst = len(places) - sum(highest[other] < lowest[key] for other in places)
        if all(rows[key].stored for rows in tables.values()):
            ranges[key] = min(best, place), max(worst, place)
    return ranges


def _sure(noise: Noise, ours: BoardEntry, theirs: BoardEntry, benchmarks: int) -> int:
    """1 or -1 where one row is surely above or under another, else 0."""
    found = noise.pair(ours.key, theirs.key)
    if found is None or found.p is None or found.p * benchmarks > power.ALPHA:
        return 0
    return (found.by > 0) - (found.by < 0)
