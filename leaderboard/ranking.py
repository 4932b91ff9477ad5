"""How rows are ranked, in a group and overall: `RULES` is the one definition, and what the site prints."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.leaderboard.entries import Entry, Group, value
from reelbench.leaderboard.pairs import MOST_COMPARED, Noise, Pairs
from reelbench.registry.spec import BenchmarkSpec

RULES = f"""\
**In a group** rows are sorted by the benchmark's primary metric. A rank is shared by the best row and all rows after it
that can't be told from it; the first row that can be told from it begins the next rank, and so on. That a rank is
anchored at its best row settles that "not different" is not transitive, and each row is compared once. Two runs are
told apart by a paired bootstrap over the videos both were asked about: their difference is real if Student's t for so
many videos, with the bootstrap's standard error, gives it a p of at most 0.05. A published number has no samples: it is
told from a run if it lies outside the run's 95 % interval, and from another published number if the two differ. Not
ranked: floors, human rows, partial runs, and rows without the primary metric.

**A run's range of ranks** is what the data don't rule out when all comparisons count at once: every pair of rows is
tested, the p values are adjusted for their number (Holm 1979), and a run's best rank is one below the rows that are
better even so, its worst one above those that are worse; with 95 % all ranges hold together (as with Tukey's test in
arXiv 1708.02729). A published number is taken as exact, and has no range of its own. Of more than {MOST_COMPARED}
ranked rows no ranges are given. **The smallest difference that a table can tell** is what two of its runs would have to
differ by to be told apart four times in five, with the median noise of its pairs.

**Overall** a model has, for each benchmark it was run on, a win rate: the share of the other models of that benchmark
that it ranks above, one that shares its rank counted half. Its score is the mean of its win rates, so units are never
mixed and a missing benchmark is neither a zero nor guessed. A benchmark's group is the one of its newest version and
default split with the most ranked models, a judge and its prompts included; of a model's rows in it the best one
counts. A model is ranked overall once it has at least half of the benchmarks that have two ranked models or more; how
many it has is shown. (The mean win rate is that of HELM: Liang et al. 2023, section 5.)"""

ModelKey = tuple[str, str | None, str]
"""A model overall: its id, its revision, and (for published numbers) its setting."""


@dataclass(frozen=True, slots=True)
class Overall:
    """A model's place overall; `rank` is None where its coverage is too small.

    Attributes:
        key: The model.
        rank: From 1; equal scores share one.
        win_rate: Mean of the win rates, 0 to 1; None without any.
        covered: Benchmarks that it is ranked on.
        of: Benchmarks with at least two ranked models.
        cells: Group -> the model's best row in it.
    """

    key: ModelKey
    rank: int | None
    win_rate: float | None
    covered: int
    of: int
    cells: Mapping[Group, Entry]


def rank_group(spec: BenchmarkSpec, entries: Iterable[Entry]) -> dict[str, int]:
    """Return key -> rank within one group; a key that is not there is not ranked."""
    return ranked(spec, entries)[0]


def ranked(spec: BenchmarkSpec, entries: Iterable[Entry]) -> tuple[dict[str, int], Noise]:
    """Return the ranks within one group, and what its pairs say together."""
    entries, pairs = list(entries), Pairs(spec)
    ranks = _ranks(spec, entries, pairs)
    return ranks, pairs.together(entries, ranks)


def _ranks(spec: BenchmarkSpec, entries: Iterable[Entry], pairs: Pairs) -> dict[str, int]:
    primary = spec.primary.name
    eligible = [
        (found, entry)
        for entry in entries
        if not entry.floor_or_human
        and entry.partial is None
        and (found := value(entry.metrics, primary)) is not None
        and not _thin(entry, primary)
    ]
    eligible.sort(key=lambda pair: (-pair[0], pair[1].model, pair[1].key))
    ranks: dict[str, int] = {}
    leader: Entry | None = None
    rank = 0
    for place, (_, entry) in enumerate(eligible, start=1):
        if leader is None or pairs.differ(leader, entry):
            leader, rank = entry, place
        ranks[entry.key] = rank
    return ranks


def _thin(entry: Entry, primary: str) -> bool:
    """Whether less than half of a run's items are behind its value."""
    return entry.items is not None and 2 * entry.metrics[primary].n < entry.items


# --- overall ---------------------------------------------------------------------------------------------------------


def main_groups(
    specs: Mapping[str, BenchmarkSpec], entries: Iterable[Entry], ranks: Mapping[str, int]
) -> dict[str, Group]:
    """Return benchmark -> the group that counts overall; on mini data only where there is nothing else at all."""
    sizes: dict[Group, set[ModelKey]] = defaultdict(set)
    everything = list(entries)
    for entry in everything:
        if entry.key in ranks:
            sizes[entry.group].add(model_key(entry))
    only_mini = all(group.mini for group in sizes)
    best: dict[str, Group] = {}
    for group, models in sizes.items():
        if group.subset is not None or (group.mini and not only_mini):
            continue

        def weight(group: Group, size: int) -> tuple[int, bool, int, str]:
            default = specs[group.benchmark].default_split
            return group.version, group.split in (default, "mini"), size, group.id

        there = best.get(group.benchmark)
        if there is None or weight(group, len(models)) > weight(there, len(sizes[there])):
            best[group.benchmark] = group
    return dict(sorted(best.items()))


def model_key(entry: Entry) -> ModelKey:
    """Return which model, overall, a row is of."""
    return entry.model, entry.revision, entry.setting


def overall(
    entries: Sequence[Entry], ranks: Mapping[str, int], main: Mapping[str, Group], specs: Mapping[str, BenchmarkSpec]
) -> list[Overall]:
    """Return every model's place, the ranked ones first."""
    cells: dict[ModelKey, dict[Group, Entry]] = defaultdict(dict)
    for entry in entries:
        there = cells[model_key(entry)].get(entry.group)
        if there is None or _better(specs[entry.group.benchmark], entry, there, ranks):
            cells[model_key(entry)][entry.group] = entry
    rates: dict[ModelKey, list[float]] = defaultdict(list)
    counting = 0
    for group in main.values():
        placed = {
            key: ranks[entry.key]
            for key, found in cells.items()
            if (entry := found.get(group)) is not None and entry.key in ranks
        }
        if len(placed) < 2:  # noqa: PLR2004 - nobody to win against
            continue
        counting += 1
        for key, rate in _win_rates(placed).items():
            rates[key].append(rate)
    needed = (counting + 1) // 2
    found = [(key, float(np.mean(rates[key])) if key in rates else None, len(rates.get(key, ()))) for key in cells]
    ranked = sorted((rate for _, rate, covered in found if rate is not None and covered >= needed), reverse=True)
    place = {rate: number for number, rate in reversed(list(enumerate(ranked, start=1)))}
    models = [
        Overall(
            key=key,
            rank=place[rate] if rate is not None and covered >= needed else None,
            win_rate=rate,
            covered=covered,
            of=counting,
            cells=cells[key],
        )
        for key, rate, covered in found
    ]
    return sorted(
        models,
        key=lambda m: (m.rank is None, m.rank or 0, -m.covered, -(m.win_rate or 0.0), m.key[0].lower(), str(m.key)),
    )


def _better(spec: BenchmarkSpec, entry: Entry, there: Entry, ranks: Mapping[str, int]) -> bool:
    def weight(entry: Entry) -> tuple[bool, float]:
        found = value(entry.metrics, spec.primary.name)
        return entry.key in ranks, float("-inf") if found is None else found

    return weight(entry) > weight(there)


def _win_rates(placed: Mapping[ModelKey, int]) -> dict[ModelKey, float]:
    """Each model's share of the others that it ranks above, equal ranks counted half; by counting, not by pairs."""
    order = np.sort(np.fromiter(placed.values(), dtype=np.int64))
    others = len(order) - 1
    rates = {}
    for key, rank in placed.items():
        worse = len(order) - int(np.searchsorted(order, rank, side="right"))
        equal = len(order) - worse - int(np.searchsorted(order, rank, side="left")) - 1
        rates[key] = (worse + 0.5 * equal) / others
    return rates
