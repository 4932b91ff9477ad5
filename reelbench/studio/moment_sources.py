"""Captions and queries that questions on moments are made from, and the rules that decide which are fit for it.

ActivityNet Captions (JSON) and QVHighlights (JSON Lines), filtered as ReXTime's authors did
(supplement, C.2). What they leave open is an option with a default of ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

from pydantic import BaseModel, Field

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import read_json_or_jsonl
from reelbench.studio.chain_rules import SourceRules
from reelbench.studio.funnel import DroppedError

EXPECTED = (
    'ActivityNet Captions\' JSON ({video: {"duration", "timestamps", "sentences"}}) or QVHighlights\' JSON Lines '
    '({"qid", "query", "duration", "vid", "relevant_windows"})'
)

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Event:
    """A part of a video, in seconds, and what happens in it."""

    start: float
    end: float
    text: str

    @property
    def span(self) -> Span:
        """Start and end."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Captioned:
    """A video with captions; `duration` in seconds."""

    video: str
    duration: float
    events: tuple[Event, ...]
    source: str

    @property
    def id(self) -> str:
        """Its name: a video has its captions once."""
        return self.video


class Query(BaseModel, coerce_numbers_to_str=True):
    """A query on a video and the windows, in seconds, that answer it; QVHighlights' names are its fields' aliases."""

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
    """Read a file of either kind, told apart by its shape; InputError names the entry and the field that is wrong."""
    document = read_json_or_jsonl(path)
    if isinstance(document, dict) and "relevant_windows" not in document:
        videos: list[Captioned] = []
        for name, entry in document.items():
            where = f"{path}: video {name!r}"
            given = record_of(_Captions, entry, where, f"; expected {EXPECTED}")
            if len(given.timestamps) != len(given.sentences):
                counts = f"{len(given.timestamps)} timestamps and {len(given.sentences)} sentences"
                raise InputError(f"{where} has {counts}; expected as many of both")
            timed = zip(given.timestamps, given.sentences, strict=True)
            events = tuple(Event(start, end, text.strip()) for (start, end), text in timed)
            videos.append(Captioned(name, given.duration, events, f"ActivityNet_{path.stem}"))
        if videos:
            return videos
    elif isinstance(document, list | dict):
        entries = document if isinstance(document, list) else [document]
        queries: list[Query] = []
        for number, entry in enumerate(entries, start=1):
            queries.append(
                record_of(Query, entry, f"{path}: entry {number}", f"; expected {EXPECTED}")
            )
            queries[-1].source = f"qvhighlights_{path.stem}"
        if len({query.id for query in queries}) < len(queries):
            raise InputError(f"{path}: a qid occurs twice; the file must have each query once")
        if queries:
            return queries
    raise InputError(f"{path}: nothing in it that questions can be made from; expected {EXPECTED}")


# --- the rules
# -------------------------------------------------------------------------------------------------------


def _exact(number: float | str) -> Fraction:
    """Return a number as it is written: 24.72 is 80 % of 30.9, and floating point would not say so."""
    return Fraction(str(number))


def fit_events(video: Captioned, rules: SourceRules) -> tuple[Event, ...]:
    """Return a video's events that are fit; DroppedError: `bad_times`, `long_event`, `sparse` or `few_events`."""
    events = sorted(video.events, key=lambda event: event.span)
    if not all(0 <= event.start < event.end for event in events):
        raise DroppedError("bad_times")
    duration = _exact(video.duration)
    longest = _exact(rules.longest_event) * duration
    short = [event for event in events if _exact(event.end) - _exact(event.start) <= longest]
    if len(short) < len(events) and rules.long_event_drops == "video":
        raise DroppedError("long_event")
    covered = reached = Fraction(0)
    groups: list[list[Event]] = []  # of events without a longer gap between them
    for event in short:
        start, end = _exact(event.start), _exact(event.end)
        if not groups or start - reached > _exact(rules.gap):
            groups.append([])
        groups[-1].append(event)
        covered += max(
            Fraction(0), end - (max(start, reached) if rules.coverage == "union" else start)
        )
        reached = max(reached, end)
    if covered < _exact(rules.least_coverage) * duration:
        raise DroppedError("sparse")
    largest = max(groups, key=len, default=[])  # the earliest of several
    if len(largest) < rules.least_events:
        raise DroppedError("few_events")
    return tuple(largest)


def first_pair(events: Sequence[Event], rules: SourceRules) -> tuple[Event, Event]:
    """Return two events, in order of time, that may be a pair; DroppedError where there are none: `overlapping`."""
    pairs = combinations(sorted(events, key=lambda event: event.span), 2)
    pair = next(
        (pair for pair in pairs if not overlap_beyond(pair[0].span, pair[1].span, rules)), None
    )
    if pair is None:
        raise DroppedError("overlapping")
    return pair


def overlap_beyond(first: Span, second: Span, rules: SourceRules) -> bool:
    """Whether two events, the first of which begins first, overlap by more than the rules let them.

    One that covers the other always does: such a question is not across time (supplement, C.6).
    """
    if second[0] <= first[0] or second[1] <= first[1]:
        return True
    if rules.overlap == "partial":
        return False
    most = _exact(0 if rules.overlap == "none" else rules.overlap)
    return _exact(first[1]) - _exact(second[0]) > most


def fit_window(query: Query, rules: SourceRules) -> Span:
    """Return the one window of a query; DroppedError: `bad_times`, `repeated` or `whole_clip`."""
    if not all(0 <= start < end for start, end in query.windows):
        raise DroppedError("bad_times")
    if len(query.windows) > rules.most_windows:
        raise DroppedError("repeated")
    start, end = (
        min(window[0] for window in query.windows),
        max(window[1] for window in query.windows),
    )
    tolerance = _exact(rules.whole_tolerance)
    if _exact(start) <= tolerance and _exact(end) >= _exact(query.duration) - tolerance:
        raise DroppedError("whole_clip")
    return start, end
