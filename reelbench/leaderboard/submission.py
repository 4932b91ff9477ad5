"""Report on a submission: whether it holds, where it would stand, and what is missing.

The report is for the people who decide on it. Every result that was handed in is checked as
`store.check` does, and compared with the rows of its own table: their answers to the same
questions, pair by pair. `submission_page` writes the report as Markdown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reelbench.base.errors import InputError
from reelbench.leaderboard import (
    aliases,
    board_settings,
    board_state,
    entries,
    identity,
    ranking,
    store,
)
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.board_state import BoardState
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.identity import key_of
from reelbench.leaderboard.ledger import Verification
from reelbench.leaderboard.marks import known_spec
from reelbench.leaderboard.ranking import GroupRanking, Noise
from reelbench.leaderboard.rereading import is_current
from reelbench.leaderboard.standing import ranked_samples
from reelbench.leaderboard.store import Added, StoredResult
from reelbench.leaderboard.table_differences import FirstFiled
from reelbench.registry import discovery
from reelbench.registry.records import Metrics, MetricValue, Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import result_files
from reelbench.scoring.comparison import Difference, compare
from reelbench.stats import intervals

Verdict = Literal["holds", "partial", "refused"]
Relation = Literal["replaced", "best", "above", "below"]
StatedAndRecomputed = dict[str, tuple[MetricValue | None, MetricValue | None]]
"""Name of a metric -> as the result states it, as its samples give it."""

_AS_STATED: dict[str, str] = {
    "references": (
        "the benchmark's data is not on the machine that checked, so ids and references are as "
        "stated"
    ),
    "labels": "labels of the questions (tags) are as stated",
    "answers": (
        "what was read from the answers is as stated: this version reads them otherwise, or lacks "
        "the options"
    ),
    "judge replies": (
        "the judge's replies are as stated, as nobody signs them; `leaderboard add --rejudge N` "
        "asks again"
    ),
    "ranker replies": "the ranker's replies are as stated, as nobody signs them",
    "reader replies": "the reader's replies are as stated, as nobody signs them",
}


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row of the same table with which the submission is compared.

    Attributes:
        relation: Why this row: replaced, the table's best, the next one above or below.
        key: Its key.
        model: Its model.
        value: Its primary metric.
        paired: The submission minus it on the questions that both answered. None without any.
    """

    relation: Relation
    key: str
    model: str
    value: float
    paired: Difference | None

    def as_json(self) -> dict[str, Any]:
        """Return the row's document for scripts."""
        return {
            "place": self.relation,
            "key": self.key,
            "model": self.model,
            "value": self.value,
            "paired": None if self.paired is None else asdict(self.paired),
        }


@dataclass(frozen=True, slots=True)
class SubmittedResult:
    """One result that was handed in, as it states itself.

    What can't be read or known of it is None.

    Attributes:
        folder: Its folder.
        verdict: A `partial` one holds, and is never ranked.
        why: The reason of the verdict.
        result: The result.
        spec: Its benchmark.
        entry: Its row. The row's group says among which it would stand.
        metrics: As stated and as its samples give them.
        rank: Its rank, and among how many.
        compared_rows: The rows of its table that it is compared with.
        missing: The facts that a reader would miss, a line each.
    """

    folder: Path
    verdict: Verdict
    why: str
    result: Result | None = None
    spec: BenchmarkSpec | None = None
    entry: BoardEntry | None = None
    metrics: Mapping[str, tuple[MetricValue | None, MetricValue | None]] = field(
        default_factory=dict
    )
    rank: tuple[int, int] | None = None
    compared_rows: tuple[ComparedRow, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def table(self) -> str | None:
        """The rows that it would stand among, in words."""
        if self.spec is None or self.entry is None:
            return None
        return f"{self.spec.title}, {self.entry.group.label}"

    def as_json(self) -> dict[str, Any]:
        """Return the document for scripts. Values are unrounded, and null where absent."""
        result = self.result
        entry = self.entry
        rank, ranked = self.rank or (None, None)
        metrics: dict[str, dict[str, Any]] = {}
        for name, (stated_value, recomputed_value) in self.metrics.items():
            metrics[name] = {
                "stated": stated_value and stated_value.value,
                "recomputed": recomputed_value and recomputed_value.value,
                "ci95": recomputed_value and recomputed_value.ci95,
                "n": recomputed_value and recomputed_value.n,
            }
        return {
            "folder": str(self.folder),
            "verdict": self.verdict,
            "why": self.why,
            "model": result and result.model.id,
            "benchmark": result and result.benchmark.id,
            "split": result and result.benchmark.split,
            "key": entry and entry.key,
            "table": self.table,
            "differs": entry and entry.group.differs,
            "rank": rank,
            "ranked": ranked,
            "metrics": metrics,
            "near": [row.as_json() for row in self.compared_rows],
            "missing": list(self.missing),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """All results of a submission.

    `problems` are of the change as a whole, and refuse it. `notes` are no fault of the
    submission's.
    """

    submissions: tuple[SubmittedResult, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def refused(self) -> int:
        """Number of results that are refused."""
        return sum(submission.verdict == "refused" for submission in self.submissions)

    @property
    def holds(self) -> bool:
        """True where nothing is wrong with it."""
        return not self.refused and not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return the document for scripts."""
        return {
            "holds": self.holds,
            "problems": list(self.problems),
            "notes": list(self.notes),
            "results": [submission.as_json() for submission in self.submissions],
        }


def read(
    checked: Sequence[Added],
    store_path: Path | None = None,
    *,
    names_below: Path | None = None,
    on_left_out: Callable[[str, str], None] = lambda *_: None,
    may_submit_for: Callable[[str], bool] | None = None,
    account: str | None = None,
) -> tuple[SubmittedResult, ...]:
    """Return the report on results that were checked. Refused ones first.

    Args:
        checked: The results.
        store_path: A store with whose rows they are compared.
        names_below: The folder to which their folders' names are relative.
        on_left_out: Called with the key of each row that can't be read, and why.
        may_submit_for: Returns True for an organisation whose results the account may hand in.
            None where nobody knows who hands them in.
        account: Who hands them in.

    Raises:
        InputError: If the store can't be read.
    """
    results = [added.result for added in checked if added.result is not None]
    tables = _Tables(store_path, results, on_left_out, account)
    submissions: list[SubmittedResult] = []
    for added in checked:
        submission = _review_or_refuse(added, tables, may_submit_for)
        if names_below is not None:
            submission = replace(submission, folder=submission.folder.relative_to(names_below))
        submissions.append(submission)
    submissions.sort(key=lambda submission: submission.verdict != "refused")
    return tuple(submissions)


class _Table(NamedTuple):
    """The other rows of a submission's table, and the row that it replaces."""

    other_rows: list[BoardEntry]
    replaced_row: BoardEntry | None


class _Tables:
    """The tables of a store, with the rows that others published.

    Without a store there are none, and `has_store` is False.
    """

    def __init__(
        self,
        path: Path | None,
        results: Sequence[Result],
        on_left_out: Callable[[str, str], None],
        account: str | None,
    ) -> None:
        self._path = path
        self._on_left_out = on_left_out
        self._rows: dict[str, list[BoardEntry]] = {}  # names that differ in case alone are one
        self._refusals: dict[str, str] = {}
        self.has_store = path is not None
        self.account = account
        self.state = BoardState()
        self._names = aliases.NO_ALIASES
        self.known_rows = KnownRows()
        stored: list[StoredResult] = []
        settings: board_settings.BoardSettings | None = None
        if path is not None:
            models = {result.model.id for result in results}
            benchmarks = {result.benchmark.id for result in results}
            stored = store.read(path, left_out=on_left_out, benchmarks=benchmarks)
            self.state = board_state.read(path)
            self._names = aliases.read(path)
            self._refusals = self.state.refusals(models, account, self._names)
            settings = board_settings.read(path)
            self._add_rows(stored, benchmarks)
        self.first = FirstFiled((result.filed for result in stored), settings)

    def _add_rows(self, stored: Sequence[StoredResult], benchmarks: set[str]) -> None:
        rows = list(entries.run_entries(stored, self._on_left_out))
        for spec in discovery.specs().values():
            if spec.id in benchmarks:
                rows.extend(entries.published_entries(spec))
        for row in rows:
            group_rows = self._rows.setdefault(row.group.id.casefold(), [])
            group_rows.append(row)

    def refusal_reason(self, added: Added, result: Result) -> str | None:
        """Return the reason why this submitter may not hand a result in. None without one."""
        if self._path is None:
            return None
        if store.same_bytes(added.source, result, self._path, self.state) is not None:
            return None
        answers = result_files.answers_sha256(result_files.read_samples(added.source))
        removed = self.state.tombstone(key_of(result), result.model.id, answers, self._names)
        if removed is not None:
            return f"these answers were withdrawn on {removed.at:%Y-%m-%d}: {removed.reason}"
        return self._refusals.get(result.model.id)

    def leave_out_unreadable(self) -> bool:
        """Leave out the rows whose samples can't be read. Return True if there are any."""
        stored_results: list[StoredResult] = []
        for rows in self._rows.values():
            stored_results += [row.stored for row in rows if row.stored is not None]
        reasons_by_key = store.unreadable(stored_results)
        for key, reason in reasons_by_key.items():
            self._on_left_out(key, reason)
        for group, rows in self._rows.items():
            self._rows[group] = [row for row in rows if row.key not in reasons_by_key]
        return bool(reasons_by_key)

    def table_of(self, entry: BoardEntry) -> _Table:
        """Return the table that a new row would stand in."""
        other_rows: list[BoardEntry] = []
        replaced_row: BoardEntry | None = None
        for row in self._rows.get(entry.group.id.casefold(), []):
            if row.key == entry.key:
                replaced_row = row
            else:
                other_rows.append(row)
        return _Table(other_rows, replaced_row)


def _review_or_refuse(
    added: Added, tables: _Tables, may_submit_for: Callable[[str], bool] | None
) -> SubmittedResult:
    """Return the report on one result. An error refuses it."""
    try:
        return _review(added, tables, may_submit_for)
    except Exception as error:  # noqa: BLE001 - one bad result never stops the others
        # An unreadable row of the store may be to blame: then try again without it.
        if tables.leave_out_unreadable():
            return _review_or_refuse(added, tables, may_submit_for)
        reason = store.refusal_of(added.source, error)
        return SubmittedResult(added.source, "refused", reason, added.result)


def _review(
    added: Added, tables: _Tables, may_submit_for: Callable[[str], bool] | None
) -> SubmittedResult:
    """Return the report on a result: refused, or compared with the rows of its table."""
    result = added.result
    spec = known_spec(result) if result else None
    if result is None or spec is None:
        return SubmittedResult(added.source, "refused", _check_reason(added), result, spec)
    metrics = _stated_and_recomputed(spec, result, added.metrics or {})
    owner = identity.reserved_name(spec, result.model)
    reason = tables.refusal_reason(added, result) if added.check else _check_reason(added)
    if owner is not None and may_submit_for is not None and not may_submit_for(owner):
        reason = f"its name is {owner}'s, and only {owner}'s own people submit results under it"
    if added.check is None or reason:
        reason = reason or _check_reason(added)
        return SubmittedResult(added.source, "refused", reason, result, spec, metrics=metrics)
    entry = _entry_as_filed(added.source, result, added.check, tables)
    if not is_current(result):
        metrics = _stated_and_recomputed(spec, result, entry.metrics)
    samples = list(result_files.read_samples(added.source))
    missing: list[str] = []
    if owner and may_submit_for is None:
        missing.append(f"its name is {owner}'s: take it from {owner}'s own people alone")
    withdrawn = tables.state.note_on_withdrawn(entry.key, result_files.answers_sha256(samples))
    if withdrawn:
        missing.append(withdrawn)
    missing += _missing_facts(spec, entry, samples)
    table = tables.table_of(entry)
    ranking_with_entry = GroupRanking({}, Noise({}, None))
    if tables.has_store:
        ranking_with_entry = ranking.rank_group(spec, [*table.other_rows, entry])
    ranks, noise = ranking_with_entry
    rank: tuple[int, int] | None = None
    if entry.key in ranks:
        rank = (ranks[entry.key], len(ranks))
        missing += _changed_pairs(spec, table, noise)
    verdict: Verdict = "holds" if entry.why_unranked is None else "partial"
    return SubmittedResult(
        folder=added.source,
        verdict=verdict,
        why=entry.why_unranked or "",
        result=result,
        spec=spec,
        entry=entry,
        metrics=metrics,
        rank=rank,
        compared_rows=tuple(_compared_rows(spec, entry, samples, table, noise)),
        missing=tuple(missing),
    )


def _entry_as_filed(
    folder: Path, result: Result, check: Verification, tables: _Tables
) -> BoardEntry:
    """Return the row that a result would have on the board, were it filed."""
    filed_row = store.checked_row(result, check, tables.account)
    named_result = store.with_name(result, tables.state)
    stored = store.as_stored(folder, named_result, filed_row, tables.known_rows)
    differences = tables.first.difference_from_first(stored.filed)
    return entries.run_entry(replace(stored, differs=differences))


def _check_reason(added: Added) -> str:
    """Return the reason that a check gave, without the path of the checked folder."""
    text = added.why.removeprefix(f"{added.source}: ")
    return text.replace(f"{added.source}/", "")


def _stated_and_recomputed(
    spec: BenchmarkSpec, result: Result, recomputed: Metrics
) -> StatedAndRecomputed:
    values: StatedAndRecomputed = {}
    for metric in spec.metrics:
        name = metric.name
        if name in result.metrics or name in recomputed:
            values[name] = (result.metrics.get(name), recomputed.get(name))
    return values


class _ScoredRow(NamedTuple):
    """A row with its primary metric."""

    row: BoardEntry
    score: float


def _compared_rows(
    spec: BenchmarkSpec,
    entry: BoardEntry,
    samples: Sequence[Sample],
    table: _Table,
    noise: Noise,
) -> Iterator[ComparedRow]:
    """Yield the row that is replaced, the best, and the next above and below.

    Only ranked rows that have samples count as the best, above or below.
    """
    primary = spec.primary.name
    entry_score = metric_value(entry.metrics, primary)
    if entry_score is None:
        return
    replaced = table.replaced_row
    if replaced is not None:
        replaced_score = metric_value(replaced.metrics, primary)
        if replaced_score is not None:
            paired = _paired_difference(spec, entry, samples, replaced, noise)
            yield ComparedRow("replaced", replaced.key, replaced.model, replaced_score, paired)
    scored_rows: list[_ScoredRow] = []
    for row in table.other_rows:
        score = metric_value(row.metrics, primary)
        if row.stored is not None and row.unranked is None and score is not None:
            scored_rows.append(_ScoredRow(row, score))
    scored_rows.sort(key=lambda scored: (-scored.score, scored.row.key))
    rows_ahead = sum(scored.score >= entry_score for scored in scored_rows)
    # One row may be two of these: "best" comes last, and so wins.
    relations: dict[int, Relation] = {rows_ahead: "below", rows_ahead - 1: "above", 0: "best"}
    for index, (row, score) in enumerate(scored_rows):
        if index in relations:
            paired = _paired_difference(spec, entry, samples, row, noise)
            yield ComparedRow(relations[index], row.key, row.model, score, paired)


def _paired_difference(
    spec: BenchmarkSpec,
    entry: BoardEntry,
    samples: Sequence[Sample],
    row: BoardEntry,
    noise: Noise,
) -> Difference | None:
    """Return the entry minus a row on common questions. None where there are none."""
    if row.stored is None:
        return None
    try:
        comparison = compare(samples, ranked_samples(row.stored), spec)
    except InputError:
        return None
    difference = comparison.metrics.get(spec.primary.name)
    test_in_table = noise.pair(entry.key, row.key)
    if difference is None or test_in_table is None:
        return difference
    # The table's own test is adjusted for all of its pairs.
    return replace(
        difference,
        difference=test_in_table.difference,
        ci95=test_in_table.ci95,
        p=test_in_table.p,
    )


def _changed_pairs(spec: BenchmarkSpec, table: _Table, noise_after: Noise) -> Iterator[str]:
    """Yield a line on each pair of other rows whose comparison the new row changes.

    A new model adds pairs, and the tests of all pairs are adjusted together.
    """
    rows_before = list(table.other_rows)
    if table.replaced_row is not None:
        rows_before.append(table.replaced_row)
    noise_before = ranking.rank_group(spec, rows_before).noise
    models = {row.key: row.model for row in rows_before}
    for (first, second), test_before in noise_before.pairs.items():
        test_after = noise_after.pair(first, second)
        if test_after is None or test_after.direction == test_before.direction:
            continue
        change = "can no longer be told apart"
        if test_after.direction:
            change = "are told apart"
        yield f"{models[first]} and {models[second]} {change} once it is in the table"


def _missing_facts(
    spec: BenchmarkSpec, entry: BoardEntry, samples: Sequence[Sample]
) -> Iterator[str]:
    """Yield the caveats on a valid result, and the facts that it doesn't state."""
    assert entry.stored is not None  # noqa: S101 - a run
    result = entry.stored.result
    yield from _caveats_on_scores(spec, entry, result)
    for name in entry.stored.filed_row.stated:
        yield _AS_STATED[name]
    videos = len({sample.video for sample in samples if sample.state == "scored"})
    if 0 < videos < intervals.MIN_CLUSTERS:
        yield f"{videos} videos: no intervals, which fewer than {intervals.MIN_CLUSTERS} can't give"
    counts = result.counts
    if counts.parse_failed or counts.empty:
        yield (
            f"{counts.parse_failed} unreadable and {counts.empty} empty answers, "
            "which count as wrong"
        )
    if result.model.about is None:
        yield (
            "nothing is stated about the model: setting, parameters, what it was trained on "
            "(`leaderboard add --about`)"
        )
    if result.model.revision is None:
        yield "no revision of the model"
    if entry.group.differs:
        yield f"a table of its own, apart from what was filed first: {entry.group.differs}"
    if entry.group.mini:
        yield "on mini data, which is for trying things out: never ranked overall"


def _caveats_on_scores(spec: BenchmarkSpec, entry: BoardEntry, result: Result) -> Iterator[str]:
    primary = spec.primary
    if spec.judge is not None and result.judge is None and primary.judged:
        yield (
            f"not judged, so there is no {primary.name} and no rank: `reelbench score` with --judge"
        )
    hidden = result.counts.unscored.get("answers_hidden")
    if hidden:
        yield f"{hidden} questions whose answers only the benchmark's owners have"
    row_score = metric_value(entry.metrics, primary.name)
    stated_score = entry.facts["stated_score"]
    if row_score is not None and stated_score is not None:
        reason = "today's rules read it"
        if entry.facts["unscored"]:
            reason = f"{entry.facts['unscored']} unscored items count"
        yield (
            f"its row shows {primary.name} {row_score:.2f}, "
            f"where the result states {stated_score:.2f}: {reason}"
        )
    method = entry.facts["intervals"]
    if method:
        yield (
            f"its intervals are made by the method {method!r}, which is not today's: score it again"
        )
