"""How rows are ranked in a group: `RULES` is the one definition, and what the site prints."""

from collections.abc import Iterable, Mapping

import numpy as np

from reelbench.judges import bootstrap, scoring
from reelbench.leaderboard.entries import Entry, samples_of, value
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec

RULES = """\
**In a group** rows are sorted by the benchmark's primary metric. A rank is shared by the best row and all rows after it
that can't be told from it; the first row that can be told from it begins the next rank, and so on. That a rank is
anchored at its best row settles that "not different" is not transitive, and each row is compared once. Two runs are
told apart by a paired bootstrap over the videos both were asked about: their difference is real if its 95 % interval
leaves out 0. A published number has no samples: it is told from a run if it lies outside the run's 95 % interval, and
from another published number if the two differ. Not ranked: floors, human rows, partial runs, and rows without the
primary metric."""


def rank_group(spec: BenchmarkSpec, entries: Iterable[Entry]) -> dict[str, int]:
    """Return key -> rank within one group; a key that is not there is not ranked."""
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
    leader: _Leader | None = None
    rank = 0
    for place, (_, entry) in enumerate(eligible, start=1):
        if leader is None or leader.differs_from(entry):
            leader, rank = _Leader(spec, entry), place
        ranks[entry.key] = rank
    return ranks


def _thin(entry: Entry, primary: str) -> bool:
    """Whether less than half of a run's items are behind its value."""
    return entry.items is not None and 2 * entry.metrics[primary].n < entry.items


class _Leader:
    """The best row of a rank, with its resamples, which all comparisons with it share."""

    def __init__(self, spec: BenchmarkSpec, entry: Entry) -> None:
        self._spec = spec
        self._entry = entry
        self._samples: dict[str, Sample] | None = None
        self._draws: tuple[tuple[str, ...], np.ndarray | None] | None = None

    def differs_from(self, other: Entry) -> bool:
        ours, theirs = (entry.metrics[self._spec.primary.name] for entry in (self._entry, other))
        if ours.value is None or theirs.value is None or ours.value == theirs.value:
            return False
        if self._entry.stored is None or other.stored is None:
            intervals = [metric.ci95 for metric in (ours, theirs) if metric.ci95 is not None]
            point = theirs.value if ours.ci95 is not None else ours.value
            return not any(low <= point <= high for low, high in intervals)
        return self._paired(other)

    def _paired(self, other: Entry) -> bool:
        if self._samples is None:
            assert self._entry.stored is not None  # noqa: S101 - differs_from asks runs only
            self._samples = _scored(samples_of(self._entry.stored))
        assert other.stored is not None  # noqa: S101
        theirs = _scored(samples_of(other.stored))
        shared = tuple(sorted(self._samples.keys() & theirs.keys()))
        if not shared:
            return True
        mine = self._resampled(shared)
        other_draws = self._resample({name: theirs[name] for name in shared}.values())
        if mine is None or other_draws is None:
            return True  # items of one video only: nothing speaks for a tie
        interval = bootstrap.interval(mine - other_draws)
        return interval is None or not interval[0] <= 0 <= interval[1]

    def _resampled(self, shared: tuple[str, ...]) -> np.ndarray | None:
        if self._draws is None or self._draws[0] != shared:
            samples = self._samples or {}
            self._draws = (shared, self._resample(samples[name] for name in shared))
        return self._draws[1]

    def _resample(self, samples: Iterable[Sample]) -> np.ndarray | None:
        return scoring.resampled(self._spec, self._spec.primary, list(samples)).draws


def _scored(samples: Mapping[str, Sample]) -> dict[str, Sample]:
    return {name: sample for name, sample in samples.items() if sample.state == "scored"}
