"""The leaderboard as data: rows, groups, ranks, and the overall table, made from a store and the specs alone."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reelbench.leaderboard import entries, ranking, store
from reelbench.leaderboard.entries import Entry, Group, value
from reelbench.leaderboard.pairs import Noise
from reelbench.leaderboard.ranking import Overall
from reelbench.registry import discovery
from reelbench.registry.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class Board:
    """Everything that is shown.

    Attributes:
        specs: Benchmarks, those with rows only.
        entries: Rows, by benchmark and group, each group from its best row down.
        ranks: Key of a row -> its rank in its group.
        noise: Group -> its runs' ranges of ranks, and the smallest difference that it can tell.
        groups: Groups by benchmark, the one that counts overall first.
        main: Benchmark -> the group that counts overall.
        overall: Models, the ranked ones first.
    """

    specs: dict[str, BenchmarkSpec]
    entries: list[Entry]
    ranks: dict[str, int]
    noise: dict[Group, Noise]
    groups: dict[str, list[Group]]
    main: dict[str, Group]
    overall: list[Overall]


def make(path: Path, *, published: bool = True) -> Board:
    """Read a store and make the leaderboard."""
    specs = discovery.specs()
    rows = [
        entries.of_run(specs[stored.result.benchmark.id], stored)
        for stored in store.read(path)
        if stored.result.benchmark.id in specs
    ]
    if published:
        rows += [entry for spec in specs.values() for entry in entries.of_published(spec)]
    return of(specs, rows)


def of(specs: dict[str, BenchmarkSpec], rows: Sequence[Entry]) -> Board:
    """Rank rows."""
    by_group: dict[Group, list[Entry]] = defaultdict(list)
    for entry in rows:
        by_group[entry.group].append(entry)
    ranks: dict[str, int] = {}
    noise: dict[Group, Noise] = {}
    for group, found in by_group.items():
        in_group, noise[group] = ranking.ranked(specs[group.benchmark], found)
        ranks |= in_group
    main = ranking.main_groups(specs, rows, ranks)
    groups: dict[str, list[Group]] = defaultdict(list)
    for group in sorted(by_group, key=lambda g: (g != main.get(g.benchmark), g.mini, -len(by_group[g]), g.id)):
        groups[group.benchmark].append(group)
    ordered = [
        entry
        for benchmark in sorted(groups)
        for group in groups[benchmark]
        for entry in sorted(by_group[group], key=lambda e: _order(specs[benchmark], e))
    ]
    return Board(
        specs={name: specs[name] for name in sorted(groups)},
        entries=ordered,
        ranks=ranks,
        noise=noise,
        groups={name: groups[name] for name in sorted(groups)},
        main=main,
        overall=ranking.overall(ordered, ranks, main, specs),
    )


def _order(spec: BenchmarkSpec, entry: Entry) -> tuple[bool, float, str, str]:
    found = value(entry.metrics, spec.primary.name)
    return found is None, -(found or 0.0), entry.model.lower(), entry.key
