"""The leaderboard as data: rows, groups, ranks, and the overall table.

It is made from a store and the specs alone.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import sha256_of_names
from reelbench.base.progress import Bar, counted, no_bar
from reelbench.base.workers import ALONE, Workers
from reelbench.data import ownership
from reelbench.leaderboard import (
    aliases,
    board_settings,
    board_state,
    community,
    entries,
    hidden_rows,
    hidden_totals,
    overall,
    ranking,
    rows_only,
    store,
    table_differences,
)
from reelbench.leaderboard.aliases import Aliases
from reelbench.leaderboard.board_settings import BoardSettings
from reelbench.leaderboard.board_state import BoardState
from reelbench.leaderboard.bridge import Bridge, as_json, bridges_of, by_other_judges, relation
from reelbench.leaderboard.checked_files import CheckedFiles
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value, run_entry
from reelbench.leaderboard.history import TableHistory, history_of_table, values_of_table
from reelbench.leaderboard.kept_values import KeptValues
from reelbench.leaderboard.missing_columns import Note, with_columns
from reelbench.leaderboard.model_facts import with_model_facts
from reelbench.leaderboard.overall import ModelKey, Overall
from reelbench.leaderboard.ranking import Noise
from reelbench.leaderboard.rows_only import Table
from reelbench.leaderboard.standing import ranked_samples
from reelbench.leaderboard.store import StoredResult
from reelbench.registry import discovery
from reelbench.registry.records import Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.scoring.shortcuts import Shortcuts, column_of, shortcuts
from reelbench.scoring.value_bounds import is_left_out, with_unscored_at
from reelbench.scoring.videos import videos_had

log = logging.getLogger("reelbench")

_Document = dict[str, Any]
"""Plain data, for JSON."""
_Documents = list[_Document]


@dataclass(frozen=True, slots=True)
class Board:
    """Everything that is shown.

    Attributes:
        specs: Benchmarks, those with rows only, as `table_differences.shown_specs` has them.
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
        withheld_bridges: Benchmark -> how such tables of the same answers relate, as
            `bridge.as_json` has it.
        renamed: A model's earlier name, in small letters -> its name today.
        claims: Key of a run -> the rows of what others state of its model on the same questions.
        history: RankingGroup, of the main ones -> what it was when it was published.
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
    withheld_bridges: Mapping[str, _Documents] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, Sequence[BoardEntry]] = field(default_factory=dict)
    history: Mapping[RankingGroup, TableHistory] = field(default_factory=dict)

    def spec(self, group: RankingGroup) -> BenchmarkSpec:
        """Return the benchmark by which a group's rows are scored."""
        if group in self.apart:
            return self.apart[group]
        return self.specs[group.benchmark]

    def ranked(self, group: RankingGroup) -> list[BoardEntry]:
        """Return those of a group's rows that have a rank."""
        return [row for row in self.rows[group] if row.key in self.ranks]

    def shares(self, group: RankingGroup) -> dict[str, _Document]:
        """Return the share of a group's questions that need no watching.

        It is by column: the number of runs, the percentage, and its interval.
        """
        if group in self.withheld:
            return self.withheld[group].shares
        shares: dict[str, _Document] = {}
        if group not in self.shortcuts:
            return shares
        group_shortcuts = self.shortcuts[group]
        for column in group_shortcuts.tallies:
            share = group_shortcuts.share(column)
            if share.value is not None:
                numbers = [share.value, *(share.ci95 or ())]
                percentages = [100 * number for number in numbers]
                shares[column] = {"runs": group_shortcuts.runs[column], "v": percentages}
        return shares

    def relations(self, group: RankingGroup) -> list[str]:
        """Return a note on each table with the same answers under another judge."""
        if group in self.withheld:
            return self.withheld[group].relations
        spec = self.spec(group)
        bridges = [bridge for bridge in self.bridges if group in (bridge.old, bridge.new)]
        return [relation(spec, bridge, group) for bridge in bridges]

    def bridge_documents(self, benchmark: str | None = None) -> _Documents:
        """Return the relations of tables of the same answers, as plain data.

        They are of one benchmark, or of all.
        """
        documents: _Documents = []
        for bridge in self.bridges:
            if benchmark in (None, bridge.old.benchmark):
                groups = {"old": bridge.old.id, "new": bridge.new.id}
                documents.append(groups | as_json([bridge]))
        for name, withheld_documents in self.withheld_bridges.items():
            if benchmark in (None, name):
                documents += withheld_documents
        return documents


def make(
    path: Path,
    *,
    published: bool = True,
    workers: Workers = ALONE,
    common: Sequence[str] = (),
    note: Note = log.info,
    checked: CheckedFiles | None = None,
) -> Board:
    """Read a store and make the leaderboard.

    Args:
        path: The store.
        published: Also take published numbers.
        workers: They read the files.
        common: See `on_common_videos`.
        note: Called with a line where the store's columns had to be made.
        checked: See `store.read`.
    """
    left_out: dict[str, str] = {}
    store.refuse_no_store(path)
    state = board_state.read(path)
    results = store.read(path, workers, left_out=left_out.__setitem__, checked=checked, state=state)
    results = with_columns(results, path, workers, note)
    make_of = partial(_make, path, state, published=published, common=common, bar=workers.bar)
    try:
        return make_of(results, left_out)
    except Exception:
        # Every sample is read only now: for each board that would cost as much again.
        faults = store.unreadable(results)
        if not faults:
            raise
        readable = [stored for stored in results if stored.key not in faults]
        faults |= left_out
        return make_of(readable, faults)


def pair_in_store(path: Path, a: Result, b: Result, *, bar: Bar = no_bar) -> dict[str, Any]:
    """Return the comparison of two results in a store's table.

    It has the pair's difference, its interval and its p, among all pairs of the table.

    Args:
        path: The store.
        a: A result.
        b: Another one.
        bar: It shows how much of the store is read and compared.

    Raises:
        InputError: If one is not in the store, they are of two tables, or one isn't its model's
            best there.
    """
    board = make(path, published=False, workers=Workers(1, bar=bar))
    row_of: dict[str | None, BoardEntry] = {}
    for row in board.entries:
        if row.stored is not None and row.stored.videos is None:
            for stored in row.stored.each:
                row_of[stored.result.provenance.samples_sha256] = row
    rows: list[BoardEntry] = []
    for result in (a, b):
        digest = result.provenance.samples_sha256
        if digest not in row_of:
            raise InputError(
                f"--store {path}: has no result of {result.model.id} with these answers; "
                "add it first"
            )
        rows.append(row_of[digest])
    first, second = rows
    noise = board.noise[first.group]
    pair = noise.pair(first.key, second.key)
    if pair is None:
        raise InputError(
            f"--store {path}: the two are not compared there: they are in two tables, are not "
            "ranked, or are of one model, of which only the best row is compared"
        )
    return {
        "table": first.group.label,
        "pairs": len(noise.pairs),
        "difference": pair.difference,
        "ci95": pair.ci95,
        "p": pair.p,
        "told": pair.direction != 0,
    }


# --- the rows of a board --------------------------------------------------------------------------


def _make(
    path: Path,
    state: BoardState,
    results: Sequence[StoredResult],
    faults: Mapping[str, str],
    *,
    published: bool,
    common: Sequence[str],
    bar: Bar,
) -> Board:
    left_out = dict(faults)
    run_rows = entries.run_entries(results, left_out.__setitem__)
    rows = [hidden_totals.row_of_totals(row) for row in run_rows]
    as_published = _withheld_rows(path, state, rows)
    left_out |= as_published.left_out
    rows += as_published.rows
    # In the order that they had where their samples are: files are compared by their bytes.
    rows.sort(key=lambda row: ("#" in row.key, row.key.split("/")))
    withheld_results = [row.stored for row in as_published.rows if row.stored is not None]
    settings = board_settings.read(path)
    specs = _specs([*results, *withheld_results])
    for hidden_row in hidden_rows.rows_of_hidden_tests(path, state, settings, left_out.__setitem__):
        rows.append(hidden_row.entry)
        specs.setdefault(hidden_row.spec.id, hidden_row.spec)
    _refuse_strangers(common, rows)
    rows += _rows_on_common_videos(rows, common)
    for community_board in community.read(path):
        if community_board.benchmark in specs:
            spec = specs[community_board.benchmark]
            rows += entries.community_entries(spec, community_board)
    if published:
        for spec in specs.values():
            rows += entries.published_entries(spec)
    board = ranked_board(specs, rows, aliases.read(path), as_published.tables, settings, bar=bar)
    renamed = {name: state.name_of(name) for name in state.names}
    return replace(
        with_history(board, state),
        left_out=left_out,
        withheld_bridges=as_published.bridges,
        renamed=renamed,
    )


def with_history(board: Board, state: BoardState) -> Board:
    """Return the board with what its ledger says of its main tables."""
    models = overall.model_keys(board.entries, board.names)
    history: dict[RankingGroup, TableHistory] = {}
    for group in board.main.values():
        values = values_of_table(board.spec(group), board.ranked(group), models)
        history[group] = history_of_table(state.editions_of(group.id), values, models)
    return replace(board, history=history)


@dataclass(slots=True)
class _WithheldRows:
    """The rows whose samples are not here, as they were published.

    Attributes:
        rows: The rows.
        tables: Their tables.
        bridges: Benchmark -> how its tables relate.
        left_out: Key -> why, of rows that would stand among rows with samples.
    """

    rows: list[BoardEntry]
    tables: dict[RankingGroup, Table]
    bridges: dict[str, _Documents]
    left_out: dict[str, str]


def _withheld_rows(
    path: Path, state: BoardState, rows_with_samples: Sequence[BoardEntry]
) -> _WithheldRows:
    keys = {row.key for row in rows_with_samples}
    splits = {(row.group.benchmark, row.group.split) for row in rows_with_samples}
    withheld_rows = _WithheldRows(rows=[], tables={}, bridges={}, left_out={})
    for file in rows_only.read(path):
        for table in file.tables:
            if (table.group.benchmark, table.group.split) not in splits:
                withheld_rows.rows += table.entries(state)
                withheld_rows.tables[table.group] = table
                withheld_rows.bridges[file.benchmark] = file.bridges
                continue
            for row in table.rows:
                if row.key not in keys and row.key in state.rows:
                    withheld_rows.left_out[row.key] = (
                        "its samples are not here, so it can't be compared with those of its table "
                        "that are"
                    )
    return withheld_rows


def _specs(results: Sequence[StoredResult]) -> dict[str, BenchmarkSpec]:
    declared = [(result.filed, result.benchmark) for result in results if result.benchmark]
    return {**discovery.specs(), **table_differences.shown_specs(declared)}


def _refuse_strangers(keys: Sequence[str], rows: Sequence[BoardEntry]) -> None:
    run_keys = {row.key for row in rows if row.stored is not None}
    for key in keys:
        if key not in run_keys:
            raise InputError(
                f"--common: no run has the key {key!r}; `reelbench leaderboard list` shows them"
            )


def _rows_on_common_videos(rows: Sequence[BoardEntry], keys: Sequence[str]) -> list[BoardEntry]:
    by_benchmark: dict[str, list[BoardEntry]] = defaultdict(list)
    for row in rows:
        by_benchmark[row.group.benchmark].append(row)
    rows_on_common: list[BoardEntry] = []
    for benchmark in sorted(by_benchmark):
        rows_on_common += on_common_videos(by_benchmark[benchmark], keys)
    return rows_on_common


# --- a board of rows ------------------------------------------------------------------------------


def ranked_board(
    specs: dict[str, BenchmarkSpec],
    rows: Sequence[BoardEntry],
    names: Aliases | None = None,
    published_once: Mapping[RankingGroup, Table] | None = None,
    settings: BoardSettings | None = None,
    *,
    bar: Bar = no_bar,
) -> Board:
    """Return the board of some rows.

    Args:
        specs: The benchmarks.
        rows: The rows.
        names: Which names are one model; by default as the package says.
        published_once: What was published of tables whose samples are not here.
        settings: Which tables may stand for their benchmark; by default any.
        bar: It shows how many tables are compared.
    """
    rows = _in_one_spelling(sorted(rows, key=_filing_order))
    # The spelling of a judge may have changed, and with it the group.
    tables: dict[str, Table] = {}
    for group, table in (published_once or {}).items():
        tables[group.id.casefold()] = table
    if names is None:
        names = aliases.read()
    model_names = names.models(row.model for row in rows)
    rows = with_model_facts(rows, model_names)
    models = overall.model_keys(rows, model_names)
    by_group: dict[RankingGroup, list[BoardEntry]] = defaultdict(list)
    for row in rows:
        by_group[row.group].append(row)
    group_specs = {group: _spec_of_group(specs, group, by_group[group]) for group in by_group}
    withheld_tables: dict[RankingGroup, Table] = {}
    for group in by_group:
        if group.id.casefold() in tables:
            withheld_tables[group] = tables[group.id.casefold()]
    ranks, noise, over_judges = _rank_groups(by_group, group_specs, models, withheld_tables, bar)
    listed_only = overall.set_apart(settings, by_group)
    main = overall.main_groups(specs, rows, ranks, listed_only)
    groups = _groups_in_order(by_group, main, listed_only)
    rows_of: dict[RankingGroup, list[BoardEntry]] = {}
    entries_in_order: list[BoardEntry] = []
    for benchmark_groups in groups.values():
        for group in benchmark_groups:
            rows_of[group] = _rows_in_order(group_specs[group], by_group[group], ranks)
            entries_in_order += rows_of[group]
    rows_with_samples: list[BoardEntry] = []
    bridged_results: list[StoredResult] = []
    for row in entries_in_order:
        if row.stored is not None and row.stored.withheld is None:
            rows_with_samples.append(row)
            if row.group not in listed_only:
                bridged_results.append(row.stored)
    group_shortcuts = shortcuts_of_groups(rows_with_samples)
    bridges = bridges_of(bridged_results)
    published_rows: list[rows_only.Row] = []
    for table in tables.values():
        published_rows += table.rows
    return Board(
        specs={benchmark: specs[benchmark] for benchmark in groups},
        rows=rows_of,
        entries=entries_in_order,
        ranks=ranks,
        over_judges=over_judges,
        noise=noise,
        groups=groups,
        main=main,
        names=model_names,
        blind=_blind(specs, entries_in_order, models),
        shortcuts=group_shortcuts,
        without_shortcuts=scores_without_shortcuts(rows_with_samples, group_shortcuts)
        | _published_scores_without_shortcuts(published_rows),
        bridges=bridges,
        other_judges=by_other_judges(bridges) | _published_other_judges(published_rows),
        overall=overall.overall(entries_in_order, ranks, main, specs, model_names, noise=noise),
        apart={group: group_specs[group] for group in by_group if group.differs},
        listed_only=listed_only,
        withheld=withheld_tables,
        claims=_claims(entries_in_order, model_names),
    )


def _spec_of_group(
    specs: Mapping[str, BenchmarkSpec], group: RankingGroup, rows: Sequence[BoardEntry]
) -> BenchmarkSpec:
    """Return the benchmark as a group's rows declare it, where they differ from the first."""
    stored = rows[0].stored
    if group.differs and stored is not None and stored.benchmark is not None:
        return stored.benchmark
    return specs[group.benchmark]


class _GroupRankings(NamedTuple):
    """The rankings of all groups, as `Board` has them."""

    ranks: dict[str, int]
    noise: dict[RankingGroup, Noise]
    over_judges: dict[str, tuple[int, int]]


def _rank_groups(
    by_group: Mapping[RankingGroup, Sequence[BoardEntry]],
    group_specs: Mapping[RankingGroup, BenchmarkSpec],
    models: Mapping[str, ModelKey],
    withheld_tables: Mapping[RankingGroup, Table],
    bar: Bar,
) -> _GroupRankings:
    rankings = _GroupRankings({}, {}, {})
    for group, rows in _shown_tables(by_group, bar):
        spec = group_specs[group]
        published_noise: Noise | None = None
        if group in withheld_tables:
            published_noise = withheld_tables[group].noise
        elif ownership.has_secret_answers(spec, group.split):
            published_noise = Noise({}, None)
        group_ranking = ranking.rank_group(spec, rows, models, published_noise)
        rankings.ranks.update(group_ranking.ranks)
        rankings.noise[group] = group_ranking.noise
        rows_on_all_videos = [row for row in rows if not _is_on_some_videos(row)]
        rankings.over_judges.update(ranking.over_judges(spec, rows_on_all_videos))
    return rankings


def _shown_tables(
    by_group: Mapping[RankingGroup, Sequence[BoardEntry]], bar: Bar
) -> Iterator[tuple[RankingGroup, Sequence[BoardEntry]]]:
    """Yield the tables, and show how many are done."""
    with bar("comparing tables", len(by_group)) as show:
        yield from counted(by_group.items(), show)


def _published_scores_without_shortcuts(rows: Sequence[rows_only.Row]) -> dict[str, float]:
    scores = {row.key: row.without_shortcuts for row in rows}
    return {key: score for key, score in scores.items() if score is not None}


def _published_other_judges(rows: Sequence[rows_only.Row]) -> dict[str, str]:
    return {row.key: row.other_judges for row in rows if row.other_judges}


def _is_on_some_videos(row: BoardEntry) -> bool:
    return row.stored is not None and row.stored.videos is not None


def _groups_in_order(
    by_group: Mapping[RankingGroup, Sequence[BoardEntry]],
    main: Mapping[str, RankingGroup],
    listed_only: Container[RankingGroup],
) -> dict[str, list[RankingGroup]]:
    """Return the groups of each benchmark: those that were run first, then the main one."""

    def order(group: RankingGroup) -> tuple[bool, bool, bool, bool, int, str]:
        rows = by_group[group]
        return (
            all(row.kind != "run" for row in rows),
            group != main.get(group.benchmark),
            group in listed_only,
            group.mini,
            -len(rows),
            group.id,
        )

    groups: dict[str, list[RankingGroup]] = defaultdict(list)
    for group in sorted(by_group, key=order):
        groups[group.benchmark].append(group)
    return dict(sorted(groups.items()))


def _rows_in_order(
    spec: BenchmarkSpec, rows: Sequence[BoardEntry], ranks: Mapping[str, int]
) -> list[BoardEntry]:
    """Return a group's rows from the best one down, those that are not ranked last."""

    def order(row: BoardEntry) -> tuple[bool, bool, float, int, str, str]:
        score = metric_value(row.metrics, spec.primary.name)
        return (
            row.key not in ranks,
            score is None,
            -(score or 0.0),
            # Of equal values a model's further row may have the better place.
            ranks.get(row.key, 0),
            row.model.lower(),
            row.key,
        )

    return sorted(rows, key=order)


def _filing_order(row: BoardEntry) -> tuple[bool, Any, str]:
    """Return the order in which rows came: ours first, then what the board took first."""
    if row.stored is None:
        return False, None, ""
    return True, row.stored.filed_row.order, row.key


def _in_one_spelling(rows: Sequence[BoardEntry]) -> list[BoardEntry]:
    """Return the rows with one spelling of each judge and organisation.

    A name in other cases makes no other table.
    """
    owners = aliases.one_spelling(row.about.organisation or "" for row in rows)
    judges = aliases.one_spelling(row.group.judge or "" for row in rows)
    spelled_rows: list[BoardEntry] = []
    for row in rows:
        spelled_row = row
        owner = owners[row.about.organisation or ""]
        if row.about.organisation and row.about.organisation != owner:
            about = row.about.model_copy(update={"organisation": owner})
            spelled_row = replace(spelled_row, about=about)
        judge = judges[row.group.judge or ""]
        if row.group.judge and row.group.judge != judge:
            group = replace(row.group, judge=judge)
            spelled_row = replace(spelled_row, group=group)
        spelled_rows.append(spelled_row)
    return spelled_rows


def _blind(
    specs: dict[str, BenchmarkSpec], rows: Sequence[BoardEntry], models: Mapping[str, ModelKey]
) -> dict[str, float]:
    """Return each run's primary score without frames.

    It is that of the same model, asked in the same way.
    """
    runs = [row for row in rows if row.kind in ("run", "blind")]
    blind_scores: dict[tuple[ModelKey, RankingGroup], float] = {}
    for row in runs:
        spec = specs[row.group.benchmark]
        if row.stored is not None and row.stored.benchmark is not None:
            spec = row.stored.benchmark
        score = metric_value(row.metrics, spec.primary.name)
        if row.kind == "blind" and row.unranked is None and score is not None:
            blind_scores.setdefault((models[row.key], row.group), score)
    scores: dict[str, float] = {}
    for row in runs:
        place = (models[row.key], row.group)
        if row.kind == "run" and place in blind_scores:
            scores[row.key] = blind_scores[place]
    return scores


def _claims(rows: Sequence[BoardEntry], names: Mapping[str, str]) -> dict[str, list[BoardEntry]]:
    """Return all that papers state of each run's model, by the run's key.

    Where no paper does, it is what the Hub's own board states.
    """
    of_papers: dict[Any, list[BoardEntry]] = {}
    of_hub: dict[Any, list[BoardEntry]] = {}
    for row in rows:
        if row.kind == "published":
            of_papers.setdefault(_what_is_claimed(row, names), []).append(row)
        elif row.kind == "community":
            of_hub.setdefault(_what_is_claimed(row, names), []).append(row)
    claims: dict[str, list[BoardEntry]] = {}
    for row in rows:
        if row.kind != "run":
            continue
        what = _what_is_claimed(row, names)
        claimed_rows = of_papers.get(what) or of_hub.get(what)
        if claimed_rows:
            claims[row.key] = _like_the_run(claimed_rows, row)
    return claims


def _like_the_run(claimed_rows: Sequence[BoardEntry], run: BoardEntry) -> list[BoardEntry]:
    """Return the claims in a run's setting, and with its frames.

    A step that would leave none is left out.
    """
    in_setting = [row for row in claimed_rows if row.setting == run.setting]
    claims = in_setting or list(claimed_rows)
    frames = entries.frame_count(run.frames)
    if frames is not None:
        with_frames = [row for row in claims if entries.frame_count(row.frames) == frames]
        claims = with_frames or claims
    return claims


def _what_is_claimed(row: BoardEntry, names: Mapping[str, str]) -> tuple[str, RankingGroup]:
    """Return a row's model and the group of what is claimed of it.

    What the Hub states is asked in the plain way, and errata are ours.
    """
    group = replace(row.group, errata=None)
    if row.kind == "community":
        group = replace(group, protocol=None)
    return names[row.model], group


def shortcuts_of_groups(rows: Sequence[BoardEntry]) -> dict[RankingGroup, Shortcuts]:
    """Return the shortcuts that each group's runs without frames, or with one, show.

    Most groups have none. Shortcuts say something of every row, so the runs are the maintainers'
    own: who else says that he showed none may have.
    """
    blind_runs: dict[RankingGroup, list[StoredResult]] = defaultdict(list)
    for row in rows:
        stored = row.stored
        if stored is None or stored.filed_row.account is not None:
            continue
        is_run = row.kind in ("run", "blind")
        if is_run and row.unranked is None and column_of(stored.result.settings):
            blind_runs[row.group].append(stored)
    shortcuts_of: dict[RankingGroup, Shortcuts] = {}
    for group, runs in blind_runs.items():
        answers = ((run.result.settings, ranked_samples(run)) for run in runs)
        shortcuts_of[group] = shortcuts(runs[0].spec, answers)
    return shortcuts_of


def scores_without_shortcuts(
    rows: Sequence[BoardEntry], group_shortcuts: Mapping[RankingGroup, Shortcuts]
) -> dict[str, float]:
    """Return key of a run -> its primary metric without the shortcuts.

    As everywhere on the board, an item without a score is at the scale's lowest. Runs that show too
    little themselves are not here: on these questions they are low by construction.
    """
    shortcut_ids = {group: facts.questions() for group, facts in group_shortcuts.items()}
    scores: dict[str, float] = {}
    for row in rows:
        stored = row.stored
        if row.group not in shortcut_ids or stored is None:
            continue
        if column_of(stored.result.settings) is not None:
            continue
        spec = stored.spec
        samples = _counted_samples_without(stored, shortcut_ids[row.group])
        bounded = with_unscored_at("lowest", spec, spec.primary, samples)
        score = aggregation.metric_value(spec, spec.primary, bounded)
        if score is not None:
            scores[row.key] = score
    return scores


def _counted_samples_without(stored: StoredResult, left_out_ids: Collection[str]) -> list[Sample]:
    """Return the samples that count for the rank, without some questions."""
    samples: list[Sample] = []
    for sample in ranked_samples(stored):
        is_counted = sample.state == "scored" or is_left_out(sample)
        if is_counted and sample.id not in left_out_ids:
            samples.append(sample)
    return samples


# --- runs that lack videos ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _VideoRun:
    """A run and the videos that it had."""

    group: RankingGroup
    stored: StoredResult
    videos: frozenset[str]

    @property
    def account(self) -> str:
        """The account that handed it in. Empty for the maintainers."""
        return (self.stored.filed_row.account or "").casefold()


def _videos_had(stored: StoredResult) -> Collection[str]:
    """Return the videos that a run had, as its record names them, which was checked."""
    if stored.runs or stored.videos is not None:
        return videos_had(ranked_samples(stored))
    return stored.result.media.videos


class _CommonVideos(NamedTuple):
    """The videos that count, and how many of them runs must have together, at least."""

    videos: frozenset[str]
    least: float


def on_common_videos(rows: Sequence[BoardEntry], keys: Sequence[str] = ()) -> Iterator[BoardEntry]:
    """Yield a benchmark's runs on the videos that all runs of a table had.

    A table is here one in which runs differ in nothing but the videos they had. Where all had the
    same, nothing is yielded. A run without which nine tenths of the videos are left
    (`_common_videos`), and with which fewer are, isn't among them. `keys` are of the runs to take,
    by default all that are ranked.
    """
    tables: dict[RankingGroup, list[_VideoRun]] = defaultdict(list)
    for row in sorted(rows, key=_filing_order):
        stored = row.stored
        if stored is None or stored.withheld is not None:
            continue
        is_taken = row.key in keys if keys else row.unranked is None
        if is_taken:
            videos = frozenset(_videos_had(stored))
            table = replace(row.group, subset=stored.filed_row.subset)
            tables[table].append(_VideoRun(row.group, stored, videos))
    kept_values: KeptValues | None = None
    for table_runs in tables.values():
        if keys:
            members = table_runs
            common = frozenset.intersection(*(run.videos for run in members))
        else:
            members, common = _members(table_runs)
            # Rows of one group lack the very same items.
            if len({run.group for run in members}) == 1:
                continue
        if common and len(members) > 1:
            if kept_values is None:
                kept_values = KeptValues(table_runs[0].group.benchmark)
            yield from _entries_on(common, [run.stored for run in members], kept_values)
    if kept_values is not None:
        kept_values.save()


class _Members(NamedTuple):
    """The runs of a table that are compared, and their common videos."""

    runs: list[_VideoRun]
    videos: frozenset[str]


def _members(runs: Sequence[_VideoRun]) -> _Members:
    # Who lacks more decides for nobody, nor do several together; and none for those that were taken
    # before it.
    common, least = _common_videos(runs)
    members: list[_VideoRun] = []
    for run in runs:
        remaining = common & run.videos
        if len(remaining) >= least:
            members.append(run)
            common = remaining
    return _Members(members, common)


def _entries_on(
    videos: frozenset[str], results: Sequence[StoredResult], kept_values: KeptValues
) -> Iterator[BoardEntry]:
    """Yield the rows of results on some of their videos."""
    digest = sha256_of_names(videos)[:8]
    number = number_of(len(videos), "video")
    part = f"the {number} that all {len(results)} runs had @{digest}"
    for stored in results:
        subset = part
        if stored.filed_row.subset:
            subset = f"{stored.filed_row.subset}, {part}"
        filed_row = stored.filed_row.with_verified(subset=subset)
        key = f"{stored.key}#{digest}"
        on_videos = replace(stored, key=key, filed_row=filed_row, videos=videos)
        yield run_entry(on_videos, kept_values.of(on_videos))


_SHARE = 0.9
"""Share of the videos of the run that decides on which all are compared, at least."""


def _common_videos(runs: Sequence[_VideoRun]) -> _CommonVideos:
    """Return the videos that count, of runs in the order in which they were taken.

    A video counts if more than half of the accounts had it, or half of them with the first: what
    one account says it had, nobody else has to have. The first account with half of these decides,
    by the run that had most: who hands in more later ends no table.
    """
    videos_of: dict[str, set[str]] = {"": set()}  # the maintainers come first
    for run in runs:
        videos_of.setdefault(run.account, set()).update(run.videos)
    videos_of = {account: videos for account, videos in videos_of.items() if videos}
    if not videos_of:
        return _CommonVideos(frozenset(), 0.0)
    first_videos = next(iter(videos_of.values()))
    votes: Counter[str] = Counter(first_videos)  # the first account breaks a tie
    for videos in videos_of.values():
        for video in videos:
            votes[video] += 2
    accounts = len(videos_of)
    counted = frozenset(video for video, number in votes.items() if number > accounts)
    deciding_account: str | None = None
    for account, videos in videos_of.items():
        if 2 * len(videos & counted) >= len(counted):
            deciding_account = account
            break
    largest = 0
    for run in runs:
        if run.account == deciding_account:
            largest = max(largest, len(run.videos & counted))
    return _CommonVideos(counted, _SHARE * largest)
