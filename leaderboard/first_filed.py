"""What was filed first of each benchmark: its words are shown, and other tables are named by how they differ from it.

First is by date, never by a name or by the order of reading: what is filed later moves nothing that was there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from reelbench.registry import discovery
from reelbench.registry.errors import InputError, number_of
from reelbench.registry.files import read_json
from reelbench.registry.reasons import Reason
from reelbench.registry.records import BenchmarkRecord, Data, Result
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import result_files

_SHOWN = 8
"""Digits of a hash that tell one table from another."""


class Filed(NamedTuple):
    """What of a result decides which others it stands among."""

    date: datetime
    key: str
    folder: Path
    benchmark: BenchmarkRecord
    data: Data

    @classmethod
    def of(cls, key: str, folder: Path, result: Result) -> "Filed":
        """Return it of a result."""
        return cls(_when(result.provenance.date), key, folder, result.benchmark, result.data)

    @classmethod
    def read(cls, folder: Path) -> "Filed | None":
        """Return it of a result's folder, whose other fields are not read; None where these can't be."""
        try:
            found = read_json(folder / result_files.RESULT_FILE)
            about, date = BenchmarkRecord.model_validate(found["benchmark"]), _when(found["provenance"]["date"])
            return cls(date, folder.as_posix(), folder, about, found.get("data", "unstated"))
        except (InputError, ValueError, LookupError, TypeError):
            return None

    @property
    def table(self) -> tuple[str, int, str, bool]:
        """Where results are of one table, unless something else was asked or scores were made otherwise."""
        return self.benchmark.id, self.benchmark.version, self.benchmark.split, self.data == "own"


def _when(date: str) -> datetime:
    """Return a date as it can be compared; what is none is later than any."""
    try:
        made = datetime.fromisoformat(date)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return made if made.tzinfo else made.replace(tzinfo=UTC)


class FirstFiled:
    """The results of a store, of which the first of each table names the others."""

    def __init__(self, results: Iterable[Filed]) -> None:
        self._first: dict[object, Filed] = {}
        for one in sorted(results, key=lambda one: (one.date, one.key)):
            for name, digest in self._hashes(one):
                self._first.setdefault((one.table, name), one)
                self._first.setdefault((one.table, name, digest), one)
        self._said: dict[object, str] = {}

    def differs(self, one: Filed) -> str | None:
        """Return the difference between a result and the first of its table, in fixed words; or None.

        A result that doesn't state what was asked, as older ones, is taken to be like the first.
        """
        said = []
        for name, digest in self._hashes(one):
            first = self._first.get((one.table, name), one)
            if digest == getattr(first.benchmark, name):
                continue
            place = (one.table, name, digest)
            if place not in self._said:
                apart = _asked_apart if name == "questions_sha256" else _scored_apart
                self._said[place] = f"{apart(first, self._first.get(place, one))} @{digest[:_SHOWN]}"
            said.append(self._said[place])
        return ", ".join(said) or None

    @staticmethod
    def _hashes(one: Filed) -> Iterator[tuple[str, str]]:
        for name in ("questions_sha256", "scoring_sha256"):
            if (digest := getattr(one.benchmark, name)) is not None:
                yield name, digest


def _asked_apart(first: Filed, other: Filed) -> str:
    before, now = (
        {one.id: one.target for one in result_files.read_samples(filed.folder) if one.reason != Reason.MEDIA_MISSING}
        for filed in (first, other)
    )
    both = before.keys() & now.keys()
    changed = sum(before[name] != now[name] for name in both)
    parts = [f"{changed} of {number_of(len(both), 'answer')} changed"] if changed else []
    for number, what in ((len(before) - len(both), "fewer"), (len(now) - len(both), "more")):
        parts += [f"{number_of(number, 'question')} {what}"] if number else []
    return ", ".join(parts) or "worded otherwise"


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

    What that one lacks of the later ones' facets and metrics comes after its own: a row that hasn't them has no number
    there.
    """
    known = discovery.specs()
    specs: dict[str, BenchmarkSpec] = {}
    for one, spec in sorted(filed, key=lambda pair: (pair[0].date, pair[0].key)):
        name = one.benchmark.id
        if name in known or name not in specs:
            specs[name] = known.get(name, spec)
            continue
        there = specs[name]
        facets = [facet for facet in spec.facets if facet.name not in {f.name for f in there.facets}]
        metrics = [metric for metric in spec.metrics if metric.name not in {m.name for m in there.metrics}]
        if facets or metrics:
            kinds = (*there.kinds, *(kind for kind in spec.kinds if kind not in there.kinds))
            more = {"facets": (*there.facets, *facets), "metrics": (*there.metrics, *metrics), "kinds": kinds}
            specs[name] = replace(there, **more, judge=there.judge or spec.judge)
    return specs
