"""A submission, for the people who decide on it: does it hold, where would it stand, and what is missing.

Every result that was handed in is checked as `store.check` does, and held against the rows of its
own table: their answers to the same questions, pair by pair. `submission_page` writes it as
Markdown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from reelbench.base.errors import InputError
from reelbench.leaderboard import entries, identity, ranking, store, trust
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.checks import CHECK_FILE, known_spec, read_check
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.first_filed import FirstFiled
from reelbench.leaderboard.identity import key_of, keys_of
from reelbench.leaderboard.ranking import Noise
from reelbench.leaderboard.rereading import is_current
from reelbench.leaderboard.standing import ranked_samples
from reelbench.leaderboard.store import Added
from reelbench.registry import discovery
from reelbench.registry.records import Metrics, MetricValue, Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import result_files
from reelbench.scoring.comparison import Difference, compare
from reelbench.stats import intervals

Verdict = Literal["holds", "partial", "refused"]
Place = Literal["replaced", "best", "above", "below"]

_AS_STATED: dict[str, str] = {
    "references": "the benchmark's data is not on the machine that checked, so ids and references are as stated",
    "labels": "labels of the questions (tags) are as stated",
    "answers": "what was read from the answers is as stated: this version reads them otherwise, or lacks the options",
    "judge replies": "the judge's replies are as stated, as nobody signs them; `leaderboard add --rejudge N` asks anew",
    "ranker replies": "the ranker's replies are as stated, as nobody signs them",
}


@dataclass(frozen=True, slots=True)
class Near:
    """A row of the same table, and why it is here: replaced, the table's best, the next one above or below.

    `value` is its primary metric; `paired` the submission minus it on the questions that both
    answered, None without any.
    """

    place: Place
    key: str
    model: str
    value: float
    paired: Difference | None


@dataclass(frozen=True, slots=True)
class SubmittedResult:
    """One result that was handed in, as it states itself; what can't be read or known of it is None.

    A `partial` one holds, and is never ranked. The group of its row, `entry`, says among which it
    would stand, `rank` on which place of how many, `near` which rows of its table have answers,
    too. `metrics` are as stated and as its samples give them, `missing` is what a reader would
    miss, a line each.
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
        return self.spec and self.entry and f"{self.spec.title}, {self.entry.group.label}"

    def as_json(self) -> dict[str, Any]:
        """Return the document for scripts; values are unrounded, and absent where they are null."""
        result = self.result
        return {
            "folder": str(self.folder),
            "verdict": self.verdict,
            "why": self.why,
            "model": result and result.model.id,
            "benchmark": result and result.benchmark.id,
            "split": result and result.benchmark.split,
            "key": self.entry and self.entry.key,
            "table": self.table,
            "differs": self.entry and self.entry.group.differs,
            "rank": self.rank and self.rank[0],
            "ranked": self.rank and self.rank[1],
            "metrics": {
                name: {"stated": stated and stated.value, "recomputed": again and again.value}
                | {"ci95": again and again.ci95, "n": again and again.n}
                for name, (stated, again) in self.metrics.items()
            },
            "near": [asdict(row) for row in self.near],
            "missing": list(self.missing),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """All results of a submission.

    `problems` are of the change as a whole, and refuse it; `notes` are no fault of the
    submission's.
    """

    submissions: tuple[SubmittedResult, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def refused(self) -> int:
        """How many results are refused."""
        return sum(submission.verdict == "refused" for submission in self.submissions)

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with it."""
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
    """Return the report on results that were checked; refused ones first.

    They are compared with the rows of the store `against` (InputError where it can't be read), and
    their folders named from `below`. `left_out` is called with the key of each row that can't be
    read, and why; `is_of` says whether who hands them in is of an organisation, None where nobody
    knows who that is; `account` is who does.
    """
    tables = _Tables(
        against, [added.result for added in checked if added.result is not None], left_out, account
    )
    of_all = [_submission_or_refused(added, tables, is_of) for added in checked]
    named = [
        replace(one, folder=one.folder.relative_to(below) if below else one.folder)
        for one in of_all
    ]
    return tuple(sorted(named, key=lambda submission: submission.verdict != "refused"))


class _Tables:
    """Group -> rows of a store, and what others published; without a store nothing is `known`."""

    def __init__(
        self,
        path: Path | None,
        handed_in: Sequence[Result],
        left_out: Callable[[str, str], None],
        account: str | None,
    ) -> None:
        benchmarks = {result.benchmark.id for result in handed_in}
        self._rows: dict[str, list[BoardEntry]] = {}  # names that differ in case alone are one
        self._path, self._account = path, account
        models = {result.model.id for result in handed_in}
        self._refused = trust.refusals(path, models, account) if path is not None else {}
        self.known = path is not None
        self._left_out = left_out
        self.rows_here = KnownRows()
        kept = (
            store.read(path, left_out=left_out, benchmarks=benchmarks) if path is not None else ()
        )
        self._checks = {one.key: one.check for one in kept}
        self.first = FirstFiled(
            (one.filed for one in kept), trust.read(path) if path is not None else None
        )
        specs = [
            spec
            for spec in discovery.specs().values()
            if path is not None and spec.id in benchmarks
        ]
        published = chain.from_iterable(map(entries.published_entries, specs))
        for entry in chain(entries.run_entries(kept, left_out), published):
            self._rows.setdefault(entry.group.id.casefold(), []).append(entry)

    def refuses(self, added: Added, result: Result) -> str | None:
        """Return the reason against a submitter's handing a result in, as far as store and submitter are known."""
        if self._path is None:
            return None
        if (added.source / CHECK_FILE).is_file():
            there = self._checks.get(key_of(result))
            newest = max(
                (check.taken for check in self._checks.values() if check.taken), default=None
            )
            said = read_check(added.source / CHECK_FILE)
            if wrong := trust.misstatement(said, there, newest, self._account):
                return wrong
        why = self._refused.get(result.model.id)
        return why if why and store.same_bytes(added.source, result, self._path) is None else None

    def leave_out_unreadable(self) -> bool:
        """Leave out the rows whose samples can't be read, and say so of each; return whether there is one."""
        rows = [row for group in self._rows.values() for row in group]
        bad = store.unreadable(row.stored for row in rows if row.stored is not None)
        for key, why in bad.items():
            self._left_out(key, why)
        self._rows = {
            name: [row for row in group if row.key not in bad] for name, group in self._rows.items()
        }
        return bool(bad)

    def table_of(self, entry: BoardEntry) -> tuple[list[BoardEntry], BoardEntry | None]:
        """Return the rows that a new one would stand among, and the one that it replaces."""
        rows, keys = (
            self._rows.get(entry.group.id.casefold(), []),
            keys_of(entry.stored.result) if entry.stored else (),
        )
        return [row for row in rows if row.key not in keys], next(
            (row for row in rows if row.key in keys), None
        )


def _submission_or_refused(
    added: Added, tables: _Tables, is_of: Callable[[str], bool] | None
) -> SubmittedResult:
    try:
        return _submission(added, tables, is_of)
    except Exception as error:  # noqa: BLE001 - one bad result never stops the others
        if tables.leave_out_unreadable():
            return _submission_or_refused(added, tables, is_of)
        return SubmittedResult(
            added.source, "refused", store.refusal_of(added.source, error), added.result
        )


def _submission(
    added: Added, tables: _Tables, is_of: Callable[[str], bool] | None
) -> SubmittedResult:
    result = added.result
    spec = known_spec(result) if result else None
    metrics = _stated_and_recomputed(spec, result, added.metrics) if spec and result else {}
    owner = identity.reserved_name(spec, result) if spec and result else None
    why = tables.refuses(added, result) if result and added.check else None
    if owner is not None and is_of is not None and not is_of(owner):
        why = f"its name is {owner}'s, and only {owner}'s own people hand in results under it"
    if added.check is None or result is None or spec is None or why:
        why = why or added.why.removeprefix(f"{added.source}: ").replace(f"{added.source}/", "")
        return SubmittedResult(added.source, "refused", why, result, spec, metrics=metrics)
    stored = store.as_stored(key_of(result), added.source, result, added.check, tables.rows_here)
    entry = entries.run_entry(replace(stored, differs=tables.first.differs(stored.filed)))
    rows, replaced = tables.table_of(entry)
    ranks, noise = (
        ranking.rank_group(spec, [*rows, entry]) if tables.known else ({}, Noise({}, None))
    )
    rank = ranks.get(entry.key)
    samples = list(result_files.read_samples(added.source))
    return SubmittedResult(
        added.source,
        "partial" if entry.unranked else "holds",
        entry.unranked or "",
        result,
        spec,
        entry,
        metrics=metrics
        if is_current(result)
        else _stated_and_recomputed(spec, result, entry.metrics),
        rank=None if rank is None else (rank, len(ranks)),
        near=tuple(_near(spec, entry, samples, rows, replaced=replaced, noise=noise)),
        missing=(
            *(
                (f"its name is {owner}'s: take it from {owner}'s own people alone",)
                if owner and is_of is None
                else ()
            ),
            *_facts_to_say(spec, entry, samples),
            *(
                _changed_places(spec, [*rows, *([replaced] if replaced else [])], noise)
                if rank is not None
                else ()
            ),
        ),
    )


def _stated_and_recomputed(
    spec: BenchmarkSpec, result: Result, again: Metrics | None
) -> dict[str, tuple[MetricValue | None, MetricValue | None]]:
    again = again or {}
    names = [
        metric.name
        for metric in spec.metrics
        if metric.name in result.metrics.keys() | again.keys()
    ]
    return {name: (result.metrics.get(name), again.get(name)) for name in names}


def _near(
    spec: BenchmarkSpec,
    entry: BoardEntry,
    samples: Sequence[Sample],
    rows: Sequence[BoardEntry],
    *,
    replaced: BoardEntry | None,
    noise: Noise,
) -> Iterator[Near]:
    """Yield the row that is replaced, the best, and the next above and below: those that have samples to pair."""
    primary = spec.primary.name
    own = metric_value(entry.metrics, primary)
    if own is None:
        return
    ranked = (row for row in rows if row.stored is not None and row.unranked is None)
    scored = (
        (score, row) for row in ranked if (score := metric_value(row.metrics, primary)) is not None
    )
    runs = sorted(scored, key=lambda pair: (-pair[0], pair[1].key))
    ahead = sum(score >= own for score, _ in runs)
    places: dict[int, Place] = {
        ahead: "below",
        ahead - 1: "above",
        0: "best",
    }  # a row in two of them is the best
    near: list[tuple[Place, tuple[float, BoardEntry]]] = [
        (places[at], runs[at]) for at in sorted(places) if 0 <= at < len(runs)
    ]
    if replaced is not None and (score := metric_value(replaced.metrics, primary)) is not None:
        near.insert(0, ("replaced", (score, replaced)))
    for place, (score, row) in near:
        paired, pair = None, noise.pair(entry.key, row.key)
        if row.stored is not None:
            with suppress(InputError):  # no question was answered by both
                paired = compare(samples, ranked_samples(row.stored), spec).metrics.get(primary)
        if paired is not None and pair is not None:  # as the table says it, among all of its pairs
            paired = replace(paired, difference=pair.by, ci95=pair.ci95, p=pair.p)
        yield Near(place, row.key, row.model, score, paired)


def _changed_places(spec: BenchmarkSpec, rows: Sequence[BoardEntry], after: Noise) -> Iterator[str]:
    """Yield the changes that the table will show of others: each new model adds pairs, for which all are adjusted."""
    _, before = ranking.rank_group(spec, rows)
    names = {row.key: row.model for row in rows}
    for (a, b), pair in before.pairs.items():
        now = after.pair(a, b)
        if now is not None and now.direction != pair.direction:
            told = "are told apart" if now.direction else "can no longer be told apart"
            yield f"{names[a]} and {names[b]} {told} once it is in the table"


def _facts_to_say(
    spec: BenchmarkSpec, entry: BoardEntry, samples: Sequence[Sample]
) -> Iterator[str]:
    """Yield the facts that a reader would miss in a result that holds."""
    assert entry.stored is not None  # noqa: S101 - a run
    result, counts = entry.stored.result, entry.stored.result.counts
    if spec.judge is not None and result.judge is None and spec.primary.judged:
        yield f"not judged, so there is no {spec.primary.name} and no rank: `reelbench score` with --judge"
    if hidden := counts.unscored.get("answers_hidden"):
        yield f"{hidden} questions whose answers only the benchmark's owners have"
    score, stated = metric_value(entry.metrics, spec.primary.name), entry.facts["stated_score"]
    if score is not None and stated is not None:
        why = (
            f"{unscored} unscored items count"
            if (unscored := entry.facts["unscored"])
            else "today's rules read it"
        )
        yield f"its row shows {spec.primary.name} {score:.2f}, where the result states {stated:.2f}: {why}"
    if made := entry.facts["intervals"]:
        yield f"its intervals are made by the method {made!r}, which is not today's: score it again"
    for name in entry.stored.check.stated or ():
        yield _AS_STATED[name]
    videos = len({sample.video for sample in samples if sample.state == "scored"})
    if 0 < videos < intervals.MIN_CLUSTERS:
        yield f"{videos} videos: no intervals, which fewer than {intervals.MIN_CLUSTERS} can't give"
    if counts.parse_failed or counts.empty:
        yield f"{counts.parse_failed} unreadable and {counts.empty} empty answers, which count as wrong"
    if result.model.about is None:
        yield "nothing is said of the model: setting, parameters, what it was trained on (`leaderboard add --about`)"
    if result.model.revision is None:
        yield "no revision of the model"
    if entry.group.differs:
        yield f"a table of its own, apart from what was filed first: {entry.group.differs}"
    if entry.group.mini:
        yield "on mini data, which is for trying things out: never ranked overall"
