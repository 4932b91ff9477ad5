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
Place = Literal["replaced", "best", "above", "below"]
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
class Near:
    """A row of the same table that is near the submission.

    Attributes:
        place: Why it is here: replaced, the table's best, the next one above or below.
        key: Its key.
        model: Its model.
        value: Its primary metric.
        paired: The submission minus it on the questions that both answered. None without any.
    """

    place: Place
    key: str
    model: str
    value: float
    paired: Difference | None


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
        rank: Its place, and of how many.
        near: Rows of its table that have answers, too.
        missing: What a reader would miss, a line each.
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
    near: tuple[Near, ...] = ()
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
            "near": [asdict(row) for row in self.near],
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
    against: Path | None = None,
    *,
    below: Path | None = None,
    left_out: Callable[[str, str], None] = lambda *_: None,
    is_of: Callable[[str], bool] | None = None,
    account: str | None = None,
) -> tuple[SubmittedResult, ...]:
    """Return the report on results that were checked. Refused ones first.

    Args:
        checked: The results.
        against: A store with whose rows they are compared.
        below: The folder from which on their folders are named.
        left_out: Called with the key of each row that can't be read, and why.
        is_of: Returns True where whoever hands them in is of an organisation. None where nobody
            knows who that is.
        account: Who hands them in.

    Raises:
        InputError: If the store can't be read.
    """
    results = [added.result for added in checked if added.result is not None]
    tables = _Tables(against, results, left_out, account)
    submissions: list[SubmittedResult] = []
    for added in checked:
        submission = _submission_or_refused(added, tables, is_of)
        if below is not None:
            submission = replace(submission, folder=submission.folder.relative_to(below))
        submissions.append(submission)
    submissions.sort(key=lambda submission: submission.verdict != "refused")
    return tuple(submissions)


class _Table(NamedTuple):
    """The rows that a new one would stand among, and the one that it replaces."""

    rows: list[BoardEntry]
    replaced: BoardEntry | None


class _Tables:
    """The tables of a store, with the rows that others published.

    Without a store there are none, and `has_store` is False.
    """

    def __init__(
        self,
        path: Path | None,
        results: Sequence[Result],
        left_out: Callable[[str, str], None],
        account: str | None,
    ) -> None:
        self._path = path
        self._left_out = left_out
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
            stored = store.read(path, left_out=left_out, benchmarks=benchmarks)
            self.state = board_state.read(path)
            self._names = aliases.read(path)
            self._refusals = self.state.refusals(models, account, self._names)
            settings = board_settings.read(path)
            self._add_rows(stored, benchmarks)
        self.first = FirstFiled((result.filed for result in stored), settings)

    def _add_rows(self, stored: Sequence[StoredResult], benchmarks: set[str]) -> None:
        rows = list(entries.run_entries(stored, self._left_out))
        for spec in discovery.specs().values():
            if spec.id in benchmarks:
                rows.extend(entries.published_entries(spec))
        for row in rows:
            group_rows = self._rows.setdefault(row.group.id.casefold(), [])
            group_rows.append(row)

    def refuses(self, added: Added, result: Result) -> str | None:
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
        """Leave out the rows whose samples can't be read. Return True where there is one."""
        stored: list[StoredResult] = []
        for rows in self._rows.values():
            stored += [row.stored for row in rows if row.stored is not None]
        faults = store.unreadable(stored)
        for key, why in faults.items():
            self._left_out(key, why)
        for name, rows in self._rows.items():
            self._rows[name] = [row for row in rows if row.key not in faults]
        return bool(faults)

    def table_of(self, entry: BoardEntry) -> _Table:
        """Return the table that a new row would stand in."""
        rows = self._rows.get(entry.group.id.casefold(), [])
        rest: list[BoardEntry] = []
        replaced: BoardEntry | None = None
        for row in rows:
            if row.key == entry.key:
                replaced = row
            else:
                rest.append(row)
        return _Table(rest, replaced)


def _submission_or_refused(
    added: Added, tables: _Tables, is_of: Callable[[str], bool] | None
) -> SubmittedResult:
    try:
        return _submission(added, tables, is_of)
    except Exception as error:  # noqa: BLE001 - one bad result never stops the others
        if tables.leave_out_unreadable():
            return _submission_or_refused(added, tables, is_of)
        why = store.refusal_of(added.source, error)
        return SubmittedResult(added.source, "refused", why, added.result)


def _submission(
    added: Added, tables: _Tables, is_of: Callable[[str], bool] | None
) -> SubmittedResult:
    result = added.result
    spec = known_spec(result) if result else None
    if result is None or spec is None:
        return SubmittedResult(added.source, "refused", _reason(added), result, spec)
    metrics = _stated_and_recomputed(spec, result, added.metrics or {})
    owner = identity.reserved_name(spec, result.model)
    why = tables.refuses(added, result) if added.check else None
    if owner is not None and is_of is not None and not is_of(owner):
        why = f"its name is {owner}'s, and only {owner}'s own people submit results under it"
    if added.check is None or why:
        why = why or _reason(added)
        return SubmittedResult(added.source, "refused", why, result, spec, metrics=metrics)
    row = store.checked_row(result, added.check, tables.account)
    named_result = store.with_name(result, tables.state)
    stored = store.as_stored(added.source, named_result, row, tables.known_rows)
    entry = entries.run_entry(
        replace(stored, differs=tables.first.difference_from_first(stored.filed))
    )
    if not is_current(result):
        metrics = _stated_and_recomputed(spec, result, entry.metrics)
    rows, replaced = tables.table_of(entry)
    group_ranking = GroupRanking({}, Noise({}, None))
    if tables.has_store:
        group_ranking = ranking.rank_group(spec, [*rows, entry])
    ranks, noise = group_ranking
    samples = list(result_files.read_samples(added.source))
    missing: list[str] = []
    if owner and is_of is None:
        missing.append(f"its name is {owner}'s: take it from {owner}'s own people alone")
    withdrawn = tables.state.note_on_withdrawn(entry.key, result_files.answers_sha256(samples))
    if withdrawn:
        missing.append(withdrawn)
    missing += _facts_to_say(spec, entry, samples)
    rank: tuple[int, int] | None = None
    if entry.key in ranks:
        rank = (ranks[entry.key], len(ranks))
        rows_before = rows if replaced is None else [*rows, replaced]
        missing += _changed_places(spec, rows_before, noise)
    near = _near(spec, entry, samples, rows, replaced=replaced, noise=noise)
    why_unranked = entry.why_unranked
    verdict: Verdict = "holds" if why_unranked is None else "partial"
    return SubmittedResult(
        folder=added.source,
        verdict=verdict,
        why=why_unranked or "",
        result=result,
        spec=spec,
        entry=entry,
        metrics=metrics,
        rank=rank,
        near=tuple(near),
        missing=tuple(missing),
    )


def _reason(added: Added) -> str:
    """Return the reason of a check without the folder's own path."""
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


def _near(
    spec: BenchmarkSpec,
    entry: BoardEntry,
    samples: Sequence[Sample],
    rows: Sequence[BoardEntry],
    *,
    replaced: BoardEntry | None,
    noise: Noise,
) -> Iterator[Near]:
    """Yield the row that is replaced, the best, and the next above and below.

    Only rows that have samples are taken.
    """
    primary = spec.primary.name
    own_score = metric_value(entry.metrics, primary)
    if own_score is None:
        return
    runs: list[_ScoredRow] = []
    for row in rows:
        score = metric_value(row.metrics, primary)
        if row.stored is not None and row.unranked is None and score is not None:
            runs.append(_ScoredRow(row, score))
    runs.sort(key=lambda run: (-run.score, run.row.key))
    ahead = sum(run.score >= own_score for run in runs)
    # A row in two of these places is the best.
    places: dict[int, Place] = {ahead: "below", ahead - 1: "above", 0: "best"}
    if replaced is not None:
        score = metric_value(replaced.metrics, primary)
        if score is not None:
            paired = _paired(spec, entry, samples, replaced, noise)
            yield Near("replaced", replaced.key, replaced.model, score, paired)
    for number, run in enumerate(runs):
        if number in places:
            row = run.row
            paired = _paired(spec, entry, samples, row, noise)
            yield Near(places[number], row.key, row.model, run.score, paired)


def _paired(
    spec: BenchmarkSpec,
    entry: BoardEntry,
    samples: Sequence[Sample],
    row: BoardEntry,
    noise: Noise,
) -> Difference | None:
    """Return the entry less a row. None where no question was answered by both."""
    if row.stored is None:
        return None
    try:
        comparison = compare(samples, ranked_samples(row.stored), spec)
    except InputError:
        return None
    paired = comparison.metrics.get(spec.primary.name)
    pair = noise.pair(entry.key, row.key)
    if paired is None or pair is None:
        return paired
    # As the table says it, among all of its pairs.
    return replace(paired, difference=pair.difference, ci95=pair.ci95, p=pair.p)


def _changed_places(spec: BenchmarkSpec, rows: Sequence[BoardEntry], after: Noise) -> Iterator[str]:
    """Yield the pairs of other rows that the table will tell apart otherwise than before.

    Each new model adds pairs, for which all are adjusted.
    """
    before = ranking.rank_group(spec, rows).noise
    names = {row.key: row.model for row in rows}
    for (first, second), pair_before in before.pairs.items():
        pair_after = after.pair(first, second)
        if pair_after is None or pair_after.direction == pair_before.direction:
            continue
        change = "can no longer be told apart"
        if pair_after.direction:
            change = "are told apart"
        yield f"{names[first]} and {names[second]} {change} once it is in the table"


def _facts_to_say(
    spec: BenchmarkSpec, entry: BoardEntry, samples: Sequence[Sample]
) -> Iterator[str]:
    """Yield the facts that a reader would miss in a result that holds."""
    assert entry.stored is not None  # noqa: S101 - a run
    result = entry.stored.result
    yield from _facts_on_scores(spec, entry, result)
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


def _facts_on_scores(spec: BenchmarkSpec, entry: BoardEntry, result: Result) -> Iterator[str]:
    primary = spec.primary
    if spec.judge is not None and result.judge is None and primary.judged:
        yield (
            f"not judged, so there is no {primary.name} and no rank: `reelbench score` with --judge"
        )
    hidden = result.counts.unscored.get("answers_hidden")
    if hidden:
        yield f"{hidden} questions whose answers only the benchmark's owners have"
    score = metric_value(entry.metrics, primary.name)
    result_score = entry.facts["stated_score"]
    if score is not None and result_score is not None:
        why = "today's rules read it"
        if entry.facts["unscored"]:
            why = f"{entry.facts['unscored']} unscored items count"
        yield (
            f"its row shows {primary.name} {score:.2f}, "
            f"where the result states {result_score:.2f}: {why}"
        )
    method = entry.facts["intervals"]
    if method:
        yield (
            f"its intervals are made by the method {method!r}, which is not today's: score it again"
        )
