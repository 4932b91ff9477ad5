"""Read the captions and queries that questions on moments are made from, and filter them.

The files are ActivityNet Captions (JSON) and QVHighlights (JSON Lines). The filters are those of
ReXTime's authors (supplement, C.2). Where the supplement gives no number, an option has a default
of ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import read_json_or_jsonl
from reelbench.studio.chain_rules import SourceRules
from reelbench.studio.funnel import DroppedError

EXPECTED = (
    'ActivityNet Captions\' JSON ({video: {"duration", "timestamps", "sentences"}}) or '
    'QVHighlights\' JSON Lines ({"qid", "query", "duration", "vid", "relevant_windows"})'
)

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Event:
    """A part of a video, in seconds, with its caption."""

    start: float
    end: float
    text: str

    @property
    def span(self) -> Span:
        """Start and end."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Captioned:
    """A video with captions. `duration` in seconds."""

    video: str
    duration: float
    events: tuple[Event, ...]
    source: str

    @property
    def id(self) -> str:
        """Its name: a video has its captions once."""
        return self.video


class Query(BaseModel, coerce_numbers_to_str=True):
    """A query on a video and the windows, in seconds, that answer it.

    QVHighlights' names of the fields are their aliases.
    """

    id: str = Field(validation_alias="qid")
    text: str = Field(validation_alias="query", min_length=1)
    video: str = Field(validation_alias="vid")
    duration: float = Field(gt=0)
    windows: list[Span] = Field(validation_alias="relevant_windows", min_length=1)
    source: str = ""


Source = Captioned | Query


class _Captions(BaseModel):
    duration: float = Field(gt=0)
    timestamps: list[Span]
    sentences: list[str]


def read_sources(path: Path) -> list[Captioned] | list[Query]:
    """Read a file of either kind, told apart by its shape.

    Raises:
        InputError: Names the entry and the field that is wrong.
    """
    document = read_json_or_jsonl(path)
    sources: list[Captioned] | list[Query] = []
    if isinstance(document, dict) and "relevant_windows" not in document:
        sources = _read_captions(path, document)
    elif isinstance(document, dict):
        sources = _read_queries(path, [document])
    elif isinstance(document, list):
        sources = _read_queries(path, document)
    if not sources:
        raise InputError(
            f"{path}: nothing in it that questions can be made from; expected {EXPECTED}"
        )
    return sources


def _read_captions(path: Path, document: dict[str, Any]) -> list[Captioned]:
    """Return the videos of a document as ActivityNet Captions has them."""
    videos: list[Captioned] = []
    for name, entry in document.items():
        where = f"{path}: video {name!r}"
        captions = record_of(_Captions, entry, where, f"; expected {EXPECTED}")
        timestamps = captions.timestamps
        sentences = captions.sentences
        if len(timestamps) != len(sentences):
            raise InputError(
                f"{where} has {len(timestamps)} timestamps and {len(sentences)} sentences; "
                "expected equal numbers"
            )
        events: list[Event] = []
        for (start, end), sentence in zip(timestamps, sentences, strict=True):
            events.append(Event(start, end, sentence.strip()))
        source = f"ActivityNet_{path.stem}"
        videos.append(Captioned(name, captions.duration, tuple(events), source))
    return videos


def _read_queries(path: Path, entries: list[Any]) -> list[Query]:
    """Return the queries of entries as QVHighlights has them."""
    queries: list[Query] = []
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: entry {number}"
        query = record_of(Query, entry, where, f"; expected {EXPECTED}")
        query.source = f"qvhighlights_{path.stem}"
        queries.append(query)
    ids = {query.id for query in queries}
    if len(ids) < len(queries):
        raise InputError(f"{path}: a qid occurs twice; list each query once")
    return queries


# --- the rules


def _exact_fraction(number: float | str) -> Fraction:
    """Return a number exactly as it is written.

    24.72 is 80 % of 30.9, which floating point would deny.
    """
    return Fraction(str(number))


def fit_events(video: Captioned, rules: SourceRules) -> tuple[Event, ...]:
    """Return the events of a video that fit the rules.

    They are the largest group of events without a longer gap between them, the earliest of several.

    Raises:
        DroppedError: `bad_times`, `long_event`, `sparse` or `few_events`.
    """
    events = sorted(video.events, key=lambda event: event.span)
    if not all(0 <= event.start < event.end for event in events):
        raise DroppedError("bad_times")
    duration = _exact_fraction(video.duration)
    longest = _exact_fraction(rules.longest_event) * duration
    short_events = [
        event
        for event in events
        if _exact_fraction(event.end) - _exact_fraction(event.start) <= longest
    ]
    if len(short_events) < len(events) and rules.long_event_drops == "video":
        raise DroppedError("long_event")
    if _seconds_covered(short_events, rules) < _exact_fraction(rules.least_coverage) * duration:
        raise DroppedError("sparse")
    groups = _groups_parted_by_gaps(short_events, _exact_fraction(rules.gap))
    largest_group = max(groups, key=len, default=[])
    if len(largest_group) < rules.least_events:
        raise DroppedError("few_events")
    return tuple(largest_group)


def _seconds_covered(events: Sequence[Event], rules: SourceRules) -> Fraction:
    """Return the seconds that events cover: their sum, or their union."""
    covered = Fraction(0)
    reached = Fraction(0)
    for event in events:
        start = _exact_fraction(event.start)
        end = _exact_fraction(event.end)
        if rules.coverage == "union":
            start = max(start, reached)
        covered += max(Fraction(0), end - start)
        reached = max(reached, end)
    return covered


def _groups_parted_by_gaps(events: Sequence[Event], gap: Fraction) -> list[list[Event]]:
    """Part events, in order of time, where a gap is longer than this."""
    groups: list[list[Event]] = []
    reached = Fraction(0)
    for event in events:
        if not groups or _exact_fraction(event.start) - reached > gap:
            groups.append([])
        groups[-1].append(event)
        reached = max(reached, _exact_fraction(event.end))
    return groups


def first_pair(events: Sequence[Event], rules: SourceRules) -> tuple[Event, Event]:
    """Return the first two events, in order of time, that may be a pair.

    Raises:
        DroppedError: `overlapping`: there are none.
    """
    ordered_events = sorted(events, key=lambda event: event.span)
    for first, second in combinations(ordered_events, 2):
        if not overlap_beyond(first.span, second.span, rules):
            return first, second
    raise DroppedError("overlapping")


def overlap_beyond(first: Span, second: Span, rules: SourceRules) -> bool:
    """Return True where two events overlap by more than the rules let them.

    The first event begins first. Where one covers the other, the overlap is always too long: such a
    question is not across time (supplement, C.6).
    """
    first_start, first_end = first
    second_start, second_end = second
    if second_start <= first_start or second_end <= first_end:
        return True
    if rules.overlap == "partial":
        return False
    longest_overlap = Fraction(0)
    if rules.overlap != "none":
        longest_overlap = _exact_fraction(rules.overlap)
    return _exact_fraction(first_end) - _exact_fraction(second_start) > longest_overlap


def fit_window(query: Query, rules: SourceRules) -> Span:
    """Return the one window of a query, from the first start to the last end.

    Raises:
        DroppedError: `bad_times`, `repeated` or `whole_clip`.
    """
    if not all(0 <= start < end for start, end in query.windows):
        raise DroppedError("bad_times")
    if len(query.windows) > rules.most_windows:
        raise DroppedError("repeated")
    start = min(start for start, _ in query.windows)
    end = max(end for _, end in query.windows)
    tolerance = _exact_fraction(rules.whole_tolerance)
    from_start = _exact_fraction(start) <= tolerance
    to_end = _exact_fraction(end) >= _exact_fraction(query.duration) - tolerance
    if from_start and to_end:
        raise DroppedError("whole_clip")
    return start, end
