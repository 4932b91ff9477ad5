"""The leaderboard as data: rows, groups, ranks, and the overall table, made from a store and the specs alone."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import sha256_of_names
from reelbench.base.workers import ALONE, Workers
from reelbench.leaderboard import (
    aliases,
    community,
    entries,
    first_filed,
    overall,
    ranking,
    store,
    trust,
    withheld,
)
from reelbench.leaderboard.aliases import Aliases
from reelbench.leaderboard.bridge import Bridge, as_json, bridges_of, by_other_judges, relation
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value, run_entry
from reelbench.leaderboard.overall import ModelKey, Overall
from reelbench.leaderboard.ranking import Noise
from reelbench.leaderboard.standing import ranked_samples
from reelbench.leaderboard.store import StoredResult
from reelbench.leaderboard.trust import BoardSettings
from reelbench.leaderboard.withheld import Table
from reelbench.registry import discovery
from reelbench.registry.records import Result
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.scoring.shortcuts import Shortcuts, column_of, shortcuts
from reelbench.scoring.value_bounds import is_left_out, with_unscored_at
from reelbench.scoring.videos import videos_had


@dataclass(frozen=True, slots=True)
class Board:
    """Everything that is shown.

    Attributes:
        specs: Benchmarks, those with rows only, as `first_filed.shown_specs` has them.
        rows: RankingGroup -> its rows, by benchmark and group, from the best one down, those that
            are not ranked last.
        entries: All of these rows, in this order.
        ranks: Key of a row -> its rank in its group.
        over_judges: Key of a run that a panel judged -> its best and worst rank over the judges.
        noise: RankingGroup -> its runs' ranges of ranks, and the smallest difference that it can
            tell.
        groups: Groups by benchmark, those that somebody ran first, and of these the main one.
        main: Benchmark -> the group that stands for it.
        names: A row's model -> the one name of all that are the same model.
        blind: Key of a row -> the same model's primary score without frames, in the same group.
        shortcuts: RankingGroup -> the questions that its runs without frames, or with one, have
            right.
        without_shortcuts: Key of a run -> its primary score on the questions that are none of
            these.
        bridges: Groups with the same answers under different judges, and how they relate.
        other_judges: Key of a run -> what other judges make of its answers.
        overall: Models, the ranked ones first.
        left_out: Key of a stored result that can't be read -> why.
        apart: RankingGroup that differs from what was filed first -> the benchmark as its rows
            declare it.
        listed_only: RankingGroup that can't stand for its benchmark -> by whose judges or
            declarations it is.
        withheld: RankingGroup whose samples are not here -> what was published of it.
        kept_bridges: Benchmark -> how such tables of the same answers relate, as `bridge.as_json`
            has it.
    """

    specs: dict[str, BenchmarkSpec]
    rows: dict[RankingGroup, list[BoardEntry]]
    entries: list[BoardEntry]
    ranks: dict[str, int]
    over_judges: dict[str, tuple[int, int]]
    noise: dict[RankingGroup, Noise]
    groups: dict[str, list[RankingGroup]]
    main: dict[str, RankingGroup]
    names: dict[str, str]
    blind: dict[str, float]
    shortcuts: dict[RankingGroup, Shortcuts]
    without_shortcuts: dict[str, float]
    bridges: list[Bridge]
    other_judges: dict[str, str]
    overall: list[Overall]
    left_out: Mapping[str, str] = field(default_factory=dict)
    apart: Mapping[RankingGroup, BenchmarkSpec] = field(default_factory=dict)
    listed_only: Mapping[RankingGroup, str] = field(default_factory=dict)
    withheld: Mapping[RankingGroup, Table] = field(default_factory=dict)
    kept_bridges: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)

    def spec(self, group: RankingGroup) -> BenchmarkSpec:
        """Return the benchmark by which a group's rows are scored."""
        return self.apart.get(group, self.specs[group.benchmark])

    def ranked(self, group: RankingGroup) -> list[BoardEntry]:
        """Return those of a group's rows that have a rank."""
        return [row for row in self.rows[group] if row.key in self.ranks]

    def shares(self, group: RankingGroup) -> dict[str, dict[str, Any]]:
        """Return the share of its questions that need no watching: column -> runs, percentage and its interval."""
        if group in self.withheld:
            return self.withheld[group].shares
        shares: dict[str, dict[str, Any]] = {}
        if (found := self.shortcuts.get(group)) is None:
            return shares
        for column in found.tallies:
            share = found.share(column)
            if share.value is not None:
                numbers = [100 * part for part in (share.value, *(share.ci95 or ()))]
                shares[column] = {"runs": found.runs[column], "v": numbers}
        return shares

    def relations(self, group: RankingGroup) -> list[str]:
        """Return a note on each table with the same answers under another judge."""
        if group in self.withheld:
            return self.withheld[group].relations
        return [
            relation(self.spec(group), one, group)
            for one in self.bridges
            if group in (one.old, one.new)
        ]

    def bridge_documents(self, benchmark: str | None = None) -> list[dict[str, Any]]:
        """Return the relations of tables of the same answers, as plain data; of one benchmark, or of all."""
        made = [
            {"old": one.old.id, "new": one.new.id, **as_json([one])}
            for one in self.bridges
            if benchmark in (None, one.old.benchmark)
        ]
        kept = [
            documents for name, documents in self.kept_bridges.items() if benchmark in (None, name)
        ]
        return [*made, *chain.from_iterable(kept)]


def make(
    path: Path, *, published: bool = True, workers: Workers = ALONE, common: Sequence[str] = ()
) -> Board:
    """Read a store and make the leaderboard; for `common` see `on_common_videos`."""
    left_out: dict[str, str] = {}
    kept = store.read(path, workers, left_out=left_out.__setitem__)
    try:
        return _make(path, kept, left_out, published=published, common=common)
    except Exception:
        # Every sample is read only now: for each board that would cost as much again.
        bad = store.unreadable(kept)
        if not bad:
            raise
        kept = [stored for stored in kept if stored.key not in bad]
        return _make(path, kept, left_out | bad, published=published, common=common)


def pair_in_store(path: Path, a: Result, b: Result) -> dict[str, Any]:
    """Return the row of two results in a store's table: the pair's difference, interval and p among all its pairs.

    InputError where one is not in the store, they are of two tables, or one isn't its model's best
    there.
    """
    made = make(path, published=False)
    of = {
        one.result.provenance.samples_sha256: row
        for row in made.entries
        if row.stored is not None and row.stored.videos is None
        for one in row.stored.each
    }
    rows: list[BoardEntry] = []
    for result in (a, b):
        if (row := of.get(result.provenance.samples_sha256)) is None:
            raise InputError(
                f"--store {path}: has no result of {result.model.id} with these answers; add it first"
            )
        rows.append(row)
    group = rows[0].group
    noise = made.noise[group]
    pair = noise.pair(rows[0].key, rows[1].key)
    if pair is None:
        raise InputError(
            f"--store {path}: the two are not compared there: they stand in two tables, are not ranked, or are of one "
            "model, whose best row alone is compared"
        )
    found = {"difference": pair.difference, "ci95": pair.ci95, "p": pair.p, "told": pair.direction != 0}
    return {"table": group.label, "pairs": len(noise.pairs), **found}


def _make(
    path: Path,
    kept: Sequence[StoredResult],
    known: Mapping[str, str],
    *,
    published: bool,
    common: Sequence[str],
) -> Board:
    left_out = dict(known)
    rows = list(entries.run_entries(kept, left_out.__setitem__))
    there = {row.key for row in rows}
    with_samples = {(row.group.benchmark, row.group.split) for row in rows}
    published_once: dict[RankingGroup, Table] = {}
    bridges: dict[str, list[dict[str, Any]]] = {}
    for file in withheld.read(path):
        for table in file.tables:
            if (table.group.benchmark, table.group.split) not in with_samples:
                published_once[table.group] = table
                bridges[file.benchmark] = file.bridges
                continue
            left_out |= {
                row.key: "its samples are not here, so it can't be compared with those of its table that are"
                for row in table.rows
                if row.key not in there
            }
    as_published = [row for table in published_once.values() for row in table.entries()]
    # In the order that they had where their samples are: files are compared by their bytes.
    rows = sorted([*rows, *as_published], key=lambda row: ("#" in row.key, row.key.split("/")))
    all_kept = [*kept, *(row.stored for row in as_published if row.stored is not None)]
    declared = [(one.filed, one.benchmark) for one in all_kept if one.benchmark is not None]
    specs = {**discovery.specs(), **first_filed.shown_specs(declared)}
    there = {row.key for row in rows if row.stored is not None}
    if strangers := [key for key in common if key not in there]:
        raise InputError(
            f"--common: no run has the key {strangers[0]!r}; `reelbench leaderboard list` shows them"
        )
    rows += [
        entry
        for name in sorted({row.group.benchmark for row in rows})
        for entry in on_common_videos([row for row in rows if row.group.benchmark == name], common)
    ]
    rows += [
        entry
        for board in community.read(path)
        if board.benchmark in specs
        for entry in entries.community_entries(specs[board.benchmark], board)
    ]
    if published:
        rows += [entry for spec in specs.values() for entry in entries.published_entries(spec)]
    made = ranked_board(specs, rows, aliases.read(path), published_once, trust.read(path))
    return replace(made, left_out=left_out, kept_bridges=bridges)


def ranked_board(
    specs: dict[str, BenchmarkSpec],
    rows: Sequence[BoardEntry],
    known: Aliases | None = None,
    published_once: Mapping[RankingGroup, Table] | None = None,
    settings: BoardSettings | None = None,
) -> Board:
    """Return the board of some rows.

    `known` says which names are one model, by default as the package does; `published_once` what is
    known of tables whose samples are not here; `settings` which tables may stand for their
    benchmark, by default any.
    """
    rows = _in_one_spelling(sorted(rows, key=_taken))
    tables = {group.id.casefold(): table for group, table in (published_once or {}).items()}
    names = (known or aliases.read()).models(row.model for row in rows)
    models = overall.model_keys(rows, names)
    by_group: dict[RankingGroup, list[BoardEntry]] = defaultdict(list)
    for entry in rows:
        by_group[entry.group].append(entry)
    apart = {
        group: (members[0].stored and members[0].stored.benchmark) or specs[group.benchmark]
        for group, members in by_group.items()
        if group.differs
    }
    ranks: dict[str, int] = {}
    noise: dict[RankingGroup, Noise] = {}
    over_judges: dict[str, tuple[int, int]] = {}
    for group, members in by_group.items():
        spec = apart.get(group, specs[group.benchmark])
        table = tables.get(group.id.casefold())
        in_group, noise[group] = ranking.rank_group(spec, members, models, table and table.noise)
        ranks |= in_group
        whole = [row for row in members if row.stored is None or row.stored.videos is None]
        over_judges |= ranking.over_judges(spec, whole)
    aside = overall.set_apart(settings, by_group)
    main = overall.main_groups(specs, rows, ranks, aside)
    ran = {row.group for row in rows if row.kind == "run"}
    groups: dict[str, list[RankingGroup]] = defaultdict(list)
    for group in sorted(
        by_group,
        key=lambda g: (
            g not in ran,
            g != main.get(g.benchmark),
            g in aside,
            g.mini,
            -len(by_group[g]),
            g.id,
        ),
    ):
        groups[group.benchmark].append(group)

    def order(entry: BoardEntry) -> tuple[bool, bool, float, str, str]:
        spec = apart.get(entry.group, specs[entry.group.benchmark])
        score = metric_value(entry.metrics, spec.primary.name)
        return (
            entry.key not in ranks,
            score is None,
            -(score or 0.0),
            entry.model.lower(),
            entry.key,
        )

    of_group = {
        group: sorted(by_group[group], key=order)
        for name in sorted(groups)
        for group in groups[name]
    }
    ordered = list(chain.from_iterable(of_group.values()))
    here = [row for row in ordered if row.stored is not None and row.stored.withheld is None]
    easy = shortcuts_of_groups(here)
    bridges = bridges_of(
        [row.stored for row in here if row.stored is not None and row.group not in aside]
    )
    kept = [row for table in tables.values() for row in table.rows]
    return Board(
        specs={name: specs[name] for name in sorted(groups)},
        rows=of_group,
        entries=ordered,
        ranks=ranks,
        over_judges=over_judges,
        noise=noise,
        groups={name: groups[name] for name in sorted(groups)},
        main=main,
        names=names,
        blind=_blind(specs, ordered, models),
        shortcuts=easy,
        without_shortcuts=scores_without(here, easy)
        | {row.key: row.without_shortcuts for row in kept if row.without_shortcuts is not None},
        bridges=bridges,
        other_judges=by_other_judges(bridges)
        | {row.key: row.other_judges for row in kept if row.other_judges},
        overall=overall.overall(ordered, ranks, main, specs, names, noise=noise),
        apart=apart,
        listed_only=aside,
        withheld={
            group: tables[group.id.casefold()]
            for group in by_group
            if group.id.casefold() in tables
        },
    )


def _taken(row: BoardEntry) -> tuple[bool, Any, str]:
    """What is ours comes first, then what the board took first."""
    if row.stored is None:
        return False, None, ""
    return (
        True,
        first_filed.filing_order(row.stored.check, row.stored.result.provenance.date),
        row.key,
    )


def _in_one_spelling(rows: Sequence[BoardEntry]) -> list[BoardEntry]:
    """Return the rows with one spelling of each judge and organisation: other cases of a name are no other's table."""
    owners = aliases.one_spelling(row.about.organisation or "" for row in rows)
    judges = aliases.one_spelling(row.group.judge or "" for row in rows)
    spelled: list[BoardEntry] = []
    for row in rows:
        organisation, judge = row.about.organisation, row.group.judge
        changes: dict[str, Any] = {}
        if organisation and owners[organisation] != organisation:
            changes["about"] = row.about.model_copy(update={"organisation": owners[organisation]})
        if judge and judges[judge] != judge:
            changes["group"] = replace(row.group, judge=judges[judge])
        spelled.append(replace(row, **changes) if changes else row)
    return spelled


def _blind(
    specs: dict[str, BenchmarkSpec], rows: Sequence[BoardEntry], models: Mapping[str, ModelKey]
) -> dict[str, float]:
    """Return each run's primary score without frames: that of the same model, asked in the same way."""
    without: dict[tuple[ModelKey, RankingGroup], float] = {}
    for row in rows:
        spec = (row.stored and row.stored.benchmark) or specs[row.group.benchmark]
        score = metric_value(row.metrics, spec.primary.name)
        if (
            row.kind == "run"
            and row.frames == "none"
            and row.unranked is None
            and score is not None
        ):
            without.setdefault((models[row.key], row.group), score)
    return {
        row.key: without[place]
        for row in rows
        if row.kind == "run"
        and row.frames != "none"
        and (place := (models[row.key], row.group)) in without
    }


def shortcuts_of_groups(rows: Sequence[BoardEntry]) -> dict[RankingGroup, Shortcuts]:
    """Return the shortcuts that each group's own runs without frames, or with one, show; most groups have none.

    They say something of every row, so the runs are the maintainers' own: who else says that he
    showed none may have.
    """
    shown_little: dict[RankingGroup, list[StoredResult]] = defaultdict(list)
    for row in rows:
        ours = row.stored is not None and row.stored.check.account is None
        if (
            ours
            and row.kind == "run"
            and row.unranked is None
            and row.stored
            and column_of(row.stored.result.settings)
        ):
            shown_little[row.group].append(row.stored)
    return {
        group: shortcuts(runs[0].spec, ((one.result.settings, ranked_samples(one)) for one in runs))
        for group, runs in shown_little.items()
    }


def scores_without(
    rows: Sequence[BoardEntry], easy: Mapping[RankingGroup, Shortcuts]
) -> dict[str, float]:
    """Return key of a run -> its primary metric on the questions that are no shortcut in its group.

    As everywhere on the board, an item without a score is at the scale's lowest. Runs that show too
    little themselves are not here: on these questions they are low by construction.
    """
    left_out = {group: found.questions() for group, found in easy.items()}
    scores: dict[str, float] = {}
    for row in rows:
        if (
            row.group not in left_out
            or row.stored is None
            or column_of(row.stored.result.settings) is not None
        ):
            continue
        spec = row.stored.spec
        kept = [
            sample
            for sample in ranked_samples(row.stored)
            if sample.id not in left_out[row.group]
            and (sample.state == "scored" or is_left_out(sample))
        ]
        score = aggregation.metric_value(
            spec, spec.primary, with_unscored_at("lowest", spec, spec.primary, kept)
        )
        if score is not None:
            scores[row.key] = score
    return scores


def on_common_videos(
    rows: Sequence[BoardEntry], chosen: Sequence[str] = ()
) -> Iterator[BoardEntry]:
    """Yield the rows of a benchmark's runs once more, on the videos that all runs of a table had.

    A table is here one in which runs differ in nothing but the videos they had. Where all had the
    same, nothing is yielded. A run without which nine tenths of the videos are left
    (`_asked_of_all`), and with which fewer are, isn't among them. `chosen` are keys of the runs to
    take, by default all that are ranked.
    """
    tables: dict[object, list[tuple[RankingGroup, StoredResult, frozenset[str]]]] = defaultdict(
        list
    )
    for row in sorted(rows, key=_taken):
        if row.stored is None or row.stored.withheld is not None:
            continue
        if row.key in chosen if chosen else row.unranked is None:
            had = frozenset(videos_had(ranked_samples(row.stored)))
            tables[replace(row.group, subset=row.stored.check.subset)].append(
                (row.group, row.stored, had)
            )
    for all_members in tables.values():
        # Who lacks more decides for nobody, nor do several together; and none for those that were
        # taken before it.
        runs = [(one.check.account, had) for _, one, had in all_members]
        common, least = (None, 0.0) if chosen else _asked_of_all(runs)
        members = list[tuple[RankingGroup, StoredResult, frozenset[str]]]()
        for one in all_members:
            left = one[2] if common is None else common & one[2]
            if len(left) >= least:
                members, common = [*members, one], left
        # Rows of one group lack the very same items.
        if (
            not common
            or not members[1:]
            or (not chosen and len({group for group, *_ in members}) == 1)
        ):
            continue
        digest = sha256_of_names(common)[:8]
        part = f"the {number_of(len(common), 'video')} that all {len(members)} runs had @{digest}"
        for _, stored, _ in members:
            check = stored.check.model_copy(
                update={"subset": ", ".join(filter(None, (stored.check.subset, part)))}
            )
            yield run_entry(
                replace(stored, key=f"{stored.key}#{digest}", check=check, videos=common)
            )


_SHARE = 0.9
"""Share of the videos of the run that decides on which all are compared, at least."""


def _asked_of_all(
    runs: Sequence[tuple[str | None, frozenset[str]]],
) -> tuple[frozenset[str], float]:
    """Return which videos count, and how many of them all runs must have together; of (account, videos) as taken.

    A video counts if more than half of the accounts had it, or half of them with the first: what
    one account says it had, nobody else has to have. The first account with half of these decides,
    by the run that had most: who hands in more later ends no table.
    """
    of: dict[str, set[str]] = {"": set()}  # the maintainers come first
    for account, had in runs:
        of.setdefault((account or "").casefold(), set()).update(had)
    of = {account: had for account, had in of.items() if had}
    first = next(iter(of.values()), set[str]())
    holders = Counter(chain.from_iterable(of.values()))
    counted = frozenset(
        video for video, number in holders.items() if 2 * number + (video in first) > len(of)
    )
    decides = next(
        (account for account, had in of.items() if 2 * len(had & counted) >= len(counted)), None
    )
    largest = max(
        (len(had & counted) for account, had in runs if (account or "").casefold() == decides),
        default=0,
    )
    return counted, _SHARE * largest
