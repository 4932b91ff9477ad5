"""Name the tables of a benchmark by their difference from what was filed first.

The words of the first are shown. First is what stands first in the board's ledger, never by a name,
by the order of reading or by a date that a submitter states: what is filed later moves nothing that
was there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_json
from reelbench.leaderboard.board_settings import BoardSettings
from reelbench.leaderboard.board_state import FiledRow
from reelbench.registry import discovery
from reelbench.registry.reasons import Reason
from reelbench.registry.records import BenchmarkRecord, Data
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import result_files

_WORDED = "worded otherwise"
_SHOWN = 8
"""Digits of a hash that tell one table from another."""


class Filed(NamedTuple):
    """The facts of a result that decide which others it stands among."""

    key: str
    folder: Path
    benchmark: BenchmarkRecord
    data: Data
    row: FiledRow

    @property
    def order(self) -> int:
        """Its place in the order of filing."""
        return self.row.order

    @classmethod
    def read(cls, folder: Path, row: FiledRow) -> "Filed | None":
        """Return the facts of a result's folder, or None where they can't be read.

        Its other fields are not read.
        """
        try:
            document = read_json(folder / result_files.RESULT_FILE)
            benchmark = BenchmarkRecord.model_validate(document["benchmark"])
            return cls(row.key, folder, benchmark, document.get("data", "unstated"), row)
        except (InputError, ValueError, LookupError, TypeError):
            return None

    @property
    def table(self) -> tuple[object, ...]:
        """The table of results on the same benchmark, version, split, data and errata.

        Results are of one table, unless something else was asked or scores were made otherwise.
        """
        benchmark = self.benchmark
        errata = str(benchmark.errata)
        return benchmark.id, benchmark.version, benchmark.split, self.data == "own", errata


class FirstFiled:
    """The results of a store, of which the first of each table names the others."""

    def __init__(self, results: Iterable[Filed], settings: BoardSettings | None = None) -> None:
        self._first: dict[object, Filed] = {}
        self._differences: dict[object, str] = {}
        results = list(results)
        trusted_keys: set[str] = set()
        chosen_keys: set[str] = set()
        if settings is not None:
            trusted_keys = settings.trusted_keys((filed.key, filed.benchmark) for filed in results)
            chosen_keys = set(settings.benchmarks.values())

        def order(filed: Filed) -> tuple[object, ...]:
            return (
                filed.key not in chosen_keys,
                filed.key not in trusted_keys,
                filed.row.ids != "checked",
                filed.order,
                filed.key,
            )

        for filed in sorted(results, key=order):
            for name, digest in _hashes(filed.benchmark).items():
                self._first.setdefault((filed.table, name), filed)
                self._first.setdefault((filed.table, name, digest), filed)

    def difference_from_first(self, filed: Filed) -> str | None:
        """Return the difference between a result and the first of its table, or None.

        It is in fixed words. A result that doesn't state what was asked is compared with the first
        one's ids and answers, of which it may be a part where it isn't ranked. So is one that
        states the hash of questions which nobody has here.
        """
        differences: list[str] = []
        if filed.benchmark.questions_sha256 is None or filed.row.ids == "unchecked":
            difference = self._difference_of_answers(filed)
            if difference is not None:
                differences.append(difference)
        for name, digest in _hashes(filed.benchmark).items():
            first = self._first.get((filed.table, name), filed)
            if digest != _hashes(first.benchmark).get(name):
                differences.append(self._difference_of_hash(first, filed, name, digest))
        return ", ".join(differences) or None

    def _difference_of_answers(self, filed: Filed) -> str | None:
        digest = filed.benchmark.questions_sha256
        place: tuple[object, ...] = (filed.table, "questions_sha256")
        if digest:
            place = (*place, digest)
        first = self._first.get(place, filed)
        answers_sha256 = first.row.verified.answers_sha256
        if answers_sha256 is not None and answers_sha256 == filed.row.verified.answers_sha256:
            return None
        difference = _asked_apart(first, filed, part=filed.row.partial is not None)
        return None if difference == _WORDED else difference

    def _difference_of_hash(self, first: Filed, filed: Filed, name: str, digest: str) -> str:
        """Return the difference from the first, which is the same for a hash."""
        place = (filed.table, name, digest)
        if place not in self._differences:
            first_of_hash = self._first.get(place, filed)
            if name == "questions_sha256":
                difference = _asked_apart(first, first_of_hash)
            else:
                difference = _scored_apart(first, first_of_hash)
            self._differences[place] = f"{difference} @{digest[:_SHOWN]}"
        return self._differences[place]


def _hashes(benchmark: BenchmarkRecord) -> dict[str, str]:
    """Return the hashes of what was asked, if stated, and of how it is scored."""
    hashes: dict[str, str] = {}
    if benchmark.questions_sha256 is not None:
        hashes["questions_sha256"] = benchmark.questions_sha256
    hashes["scoring_sha256"] = benchmark.scoring_sha256
    return hashes


def _targets(filed: Filed) -> dict[str, object]:
    """Return the right answers by id. None of items without media."""
    targets: dict[str, object] = {}
    for sample in result_files.read_samples(filed.folder):
        targets[sample.id] = sample.target
        if sample.reason == Reason.MEDIA_MISSING:
            targets[sample.id] = None
    return targets


def _asked_apart(first: Filed, second: Filed, *, part: bool = False) -> str:
    before = _targets(first)
    after = _targets(second)
    shared_ids = before.keys() & after.keys()
    changed = 0
    for name in shared_ids:
        old_target = before[name]
        new_target = after[name]
        if old_target is None or new_target is None:
            continue
        if old_target != new_target:
            changed += 1
    fewer = len(before) - len(shared_ids)
    more = len(after) - len(shared_ids)
    parts: list[str] = []
    if changed:
        parts.append(f"{changed} of {number_of(len(shared_ids), 'answer')} changed")
    if fewer and not part:
        parts.append(f"{number_of(fewer, 'question')} fewer")
    if more:
        parts.append(f"{number_of(more, 'question')} more")
    return ", ".join(parts) or _WORDED


def _scored_apart(first: Filed, second: Filed) -> str:
    try:
        first_spec = discovery.spec_of(first.benchmark)
        second_spec = discovery.spec_of(second.benchmark)
    except InputError:
        return "scored otherwise"
    before = {metric.name: metric.aggregate for metric in first_spec.metrics}
    after = {metric.name: metric.aggregate for metric in second_spec.metrics}
    parts = [f"without {name}" for name in before if name not in after]
    for name, aggregate in after.items():
        if before.get(name) != aggregate:
            parts.append(f"with {name}")
    return f"scored {', '.join(parts) or 'otherwise'}"


def shown_specs(results: Iterable[tuple[Filed, BenchmarkSpec]]) -> Mapping[str, BenchmarkSpec]:
    """Return id -> benchmark as its results are shown: ours, else as first declared.

    What the first one lacks of the later ones' facets and metrics comes after its own: a row that
    hasn't them has no number there.
    """
    own_specs = discovery.specs()
    specs: dict[str, BenchmarkSpec] = {}

    def order(pair: tuple[Filed, BenchmarkSpec]) -> tuple[object, ...]:
        filed, _ = pair
        return filed.order, filed.key

    for filed, spec in sorted(results, key=order):
        name = filed.benchmark.id
        if name in own_specs:
            specs[name] = own_specs[name]
        elif name not in specs:
            specs[name] = spec
        else:
            specs[name] = _with_more(specs[name], spec)
    return specs


def _with_more(spec: BenchmarkSpec, later: BenchmarkSpec) -> BenchmarkSpec:
    """Return a benchmark with the facets and metrics that only a later declaration has."""
    facet_names = {facet.name for facet in spec.facets}
    metric_names = {metric.name for metric in spec.metrics}
    facets = [facet for facet in later.facets if facet.name not in facet_names]
    metrics = [metric for metric in later.metrics if metric.name not in metric_names]
    if not facets and not metrics:
        return spec
    kinds = [kind for kind in later.kinds if kind not in spec.kinds]
    return replace(
        spec,
        facets=(*spec.facets, *facets),
        metrics=(*spec.metrics, *metrics),
        kinds=(*spec.kinds, *kinds),
        judge=spec.judge or later.judge,
    )
