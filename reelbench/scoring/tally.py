"""What a result says of all its samples, gathered one by one: they may be millions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

from reelbench.base.temporary_tables import SortedKeys
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Counts, MediaRecord, Sample
from reelbench.scoring.item_columns import ColumnCollector, ItemColumns
from reelbench.scoring.videos import record_of_videos, videos_asked, videos_had


class SampleTally:
    """The columns, counts and videos of samples."""

    def __init__(self) -> None:
        self._collector = ColumnCollector()
        self._ids = SortedKeys()
        self._scored = 0
        self._reasons: Counter[str] = Counter()
        self._flags: Counter[str] = Counter()
        self._read_by_model = 0
        self._videos_asked: set[str] = set()
        self._videos_had: set[str] = set()

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> "SampleTally":
        """Return the tally of samples."""
        tally = cls()
        tally.extend(list(samples))
        return tally

    def extend(self, samples: Sequence[Sample]) -> None:
        """Count samples."""
        self._collector.extend(samples)
        self._ids.extend([sample.id.encode("utf-8", "surrogatepass") for sample in samples])
        self._videos_asked |= videos_asked(samples)
        self._videos_had |= videos_had(samples)
        self._flags.update(chain.from_iterable([sample.flags for sample in samples]))
        for sample in samples:
            if sample.state == "scored":
                self._scored += 1
            else:
                self._reasons[sample.reason or "unknown"] += 1
            reader_reply = getattr(sample, "read_by", None)  # a board's samples lack it
            if reader_reply is not None and (sample.parsed or {}).get("answer") is not None:
                self._read_by_model += 1

    def counts(self, beside: Mapping[str, int]) -> Counts:
        """Return the number of scored items, and of the others by reason.

        Args:
            beside: Further counts, such as `extra` and `duplicate`.
        """
        return Counts(
            items=len(self._ids),
            scored=self._scored,
            unscored=dict(sorted(self._reasons.items())),
            parse_failed=self._flags["parse_failed"],
            empty=self._flags["empty"],
            media_missing=self._reasons[Reason.MEDIA_MISSING],
            missing=self._reasons[Reason.PREDICTION_MISSING],
            read_by_model=self._read_by_model,
            **beside,
        )

    @cached_property
    def columns(self) -> ItemColumns:
        """The columns of the samples in the order of their ids, once all are there."""
        return self._collector.columns(self._ids.insertion_order())

    def media(self) -> MediaRecord:
        """Return the record of the videos that were there."""
        return record_of_videos(self._videos_had, len(self._videos_asked))
