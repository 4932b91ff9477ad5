"""What was filed first of each benchmark: its words are shown, and other tables are named by how they differ from it.

First is what the board took first, never by a name, by the order of reading or, where the board
knows when it took them, by a date that a submitter states: what is filed later moves nothing that
was there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_json
from reelbench.leaderboard.checks import CHECK_FILE, Check, read_check
from reelbench.leaderboard.trust import BoardSettings
from reelbench.registry import discovery
from reelbench.registry.declaration import scoring_sha256
from reelbench.registry.reasons import Reason
from reelbench.registry.records import BenchmarkRecord, Data, Result
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import result_files

_WORDED = "worded otherwise"
_HASHES = ("questions_sha256", "scoring_sha256")
"""Of a benchmark's record: what was asked, and how it is scored; older results state neither."""
_SHOWN = 8
"""Digits of a hash that tell one table from another."""


class Filed(NamedTuple):
    """What of a result decides which others it stands among; `taken` is when the board took it, and its date."""

    taken: tuple[datetime, datetime]
    key: str
    folder: Path
    benchmark: BenchmarkRecord
    data: Data
    check: Check

    @classmethod
    def of(cls, key: str, folder: Path, result: Result, check: Check) -> "Filed":
        """Return it of a result."""
        taken = filing_order(check, result.provenance.date)
        return cls(taken, key, folder, _with_rules(result.benchmark), result.data, check)

    @classmethod
    def read(cls, folder: Path, store: Path) -> "Filed | None":
        """Return it of a result's folder in a store, whose other fields are not read; None where these can't be."""
        try:
            found, check = (
                read_json(folder / result_files.RESULT_FILE),
                read_check(folder / CHECK_FILE),
            )
            about = _with_rules(BenchmarkRecord.model_validate(found["benchmark"]))
            taken, key = (
                filing_order(check, found["provenance"]["date"]),
                folder.relative_to(store).as_posix(),
            )
            return cls(taken, key, folder, about, found.get("data", "unstated"), check)
        except (InputError, ValueError, LookupError, TypeError):
            return None

    @property
    def table(self) -> tuple[str, int, str, bool]:
        """Where results are of one table, unless something else was asked or scores were made otherwise."""
        return self.benchmark.id, self.benchmark.version, self.benchmark.split, self.data == "own"


_BEFORE = datetime.min.replace(tzinfo=UTC)
"""When an earlier version took a result, which didn't say."""
_LATER = datetime.max.replace(tzinfo=UTC)
"""When the board will have taken a result that an account hands in."""


def filing_order(check: Check, date: str) -> tuple[datetime, datetime]:
    """Return a result's order of filing: when it was taken, and its date; what is no date is later than any."""
    try:
        made = datetime.fromisoformat(date)
    except ValueError:
        made = _LATER
    taken = check.taken or (_BEFORE if check.account is None else _LATER)
    return taken, made if made.tzinfo else made.replace(tzinfo=UTC)


def _with_rules(benchmark: BenchmarkRecord) -> BenchmarkRecord:
    """Return a record that states how it is scored wherever its declaration says so: leaving it out hides nothing."""
    if benchmark.scoring_sha256 is not None or benchmark.declaration is None:
        return benchmark
    try:
        return benchmark.model_copy(
            update={"scoring_sha256": scoring_sha256(discovery.spec_of(benchmark))}
        )
    except InputError:
        return benchmark


class FirstFiled:
    """The results of a store, of which the first of each table names the others."""

    def __init__(self, results: Iterable[Filed], settings: BoardSettings | None = None) -> None:
        self._first: dict[object, Filed] = {}
        results = list(results)
        believed, named = set[str](), set[str]()
        if settings is not None:
            believed = settings.trusted_keys((one.key, one.benchmark) for one in results)
            named = set(settings.benchmarks.values())

        def order(one: Filed) -> tuple[object, ...]:
            return (
                one.key not in named,
                one.key not in believed,
                one.check.ids != "checked",
                one.taken,
                one.key,
            )

        for one in sorted(results, key=order):
            for name in _HASHES:
                if (digest := getattr(one.benchmark, name)) is not None:
                    self._first.setdefault((one.table, name), one)
                    self._first.setdefault((one.table, name, digest), one)
        self._said: dict[object, str] = {}

    def differs(self, one: Filed) -> str | None:
        """Return the difference between a result and the first of its table, in fixed words; or None.

        A result that doesn't state what was asked, as older ones, is taken to be like the first;
        one that this version took is held to the first one's ids and answers, of which it may be a
        part where it isn't ranked. So is one that states the hash of questions which nobody has
        here.
        """
        said, asked = [], one.benchmark.questions_sha256
        if (asked is None or one.check.ids == "unchecked") and one.taken[0] > _BEFORE:
            first = self._first.get(
                (one.table, "questions_sha256", *([asked] if asked else [])), one
            )
            if (
                first.check.answers_sha256 is None
                or first.check.answers_sha256 != one.check.answers_sha256
            ):
                apart = _asked_apart(first, one, part=one.check.partial is not None)
                said += [apart] if apart != _WORDED else []
        for name in _HASHES:
            first, digest = self._first.get((one.table, name), one), getattr(one.benchmark, name)
            if digest in (None, getattr(first.benchmark, name)):
                continue
            place = (one.table, name, digest)
            if place not in self._said:
                apart = _asked_apart if name == "questions_sha256" else _scored_apart
                self._said[place] = (
                    f"{apart(first, self._first.get(place, one))} @{digest[:_SHOWN]}"
                )
            said.append(self._said[place])
        return ", ".join(said) or None


def _asked_apart(first: Filed, other: Filed, *, part: bool = False) -> str:
    before, now = (
        {
            one.id: None if one.reason == Reason.MEDIA_MISSING else one.target
            for one in result_files.read_samples(filed.folder)
        }
        for filed in (first, other)
    )
    both = before.keys() & now.keys()
    changed = sum(
        None not in (before[name], now[name]) and before[name] != now[name] for name in both
    )
    parts = [f"{changed} of {number_of(len(both), 'answer')} changed"] if changed else []
    for number, what in (
        (0 if part else len(before) - len(both), "fewer"),
        (len(now) - len(both), "more"),
    ):
        parts += [f"{number_of(number, 'question')} {what}"] if number else []
    return ", ".join(parts) or _WORDED


def _scored_apart(first: Filed, other: Filed) -> str:
    try:
        before, now = (discovery.spec_of(one.benchmark) for one in (first, other))
    except InputError:
        return "scored otherwise"
    metrics = [{metric.name: metric.aggregate for metric in spec.metrics} for spec in (before, now)]
    parts = [f"without {name}" for name in metrics[0] if name not in metrics[1]]
    parts += [f"with {name}" for name, how in metrics[1].items() if metrics[0].get(name) != how]
    return f"scored {', '.join(parts) or 'otherwise'}"


def shown_specs(filed: Iterable[tuple[Filed, BenchmarkSpec]]) -> Mapping[str, BenchmarkSpec]:
    """Return id -> benchmark as its results are shown: ours, else as the first filed one declares it.

    What that one lacks of the later ones' facets and metrics comes after its own: a row that hasn't
    them has no number there.
    """
    known = discovery.specs()
    specs: dict[str, BenchmarkSpec] = {}
    for one, spec in sorted(filed, key=lambda pair: (pair[0].taken, pair[0].key)):
        name = one.benchmark.id
        if name in known or name not in specs:
            specs[name] = known.get(name, spec)
            continue
        there = specs[name]
        facets = [
            facet for facet in spec.facets if facet.name not in {f.name for f in there.facets}
        ]
        metrics = [
            metric for metric in spec.metrics if metric.name not in {m.name for m in there.metrics}
        ]
        if facets or metrics:
            kinds = (*there.kinds, *(kind for kind in spec.kinds if kind not in there.kinds))
            more = {
                "facets": (*there.facets, *facets),
                "metrics": (*there.metrics, *metrics),
                "kinds": kinds,
            }
            specs[name] = replace(there, **more, judge=there.judge or spec.judge)
    return specs
