"""`reelbench check`: a benchmark that a file declares, held to all that its rows, prompts and media must be."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reelbench.registry import prompts
from reelbench.registry.data import mapped_rows
from reelbench.registry.data.loading import MINI, is_mini, locate
from reelbench.registry.errors import InputError, MediaError, ReelbenchError, first_of, number_of
from reelbench.registry.media import playable
from reelbench.registry.media.library import Library, Missing
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec

_MOST = 0.98
_SLACK = 1.02  # A span may end a little behind what a file states as its length: by 2 percent and a second


@dataclass(frozen=True, slots=True)
class CheckedSplit:
    """A split as it was found: its rows that can be read, what is wrong, a line each, and the files it is read from."""

    name: str
    rows: list[Row]
    problems: list[str]
    files: tuple[Path, ...]
    videos: tuple[Path, ...]
    notes: tuple[str, ...] = ()  # what may be meant otherwise, a line each


def check(spec: BenchmarkSpec, *, media: bool = True) -> Iterator[CheckedSplit]:
    """Check every split of a benchmark that a file declares, its mini rows too; nothing is fetched.

    With `media` the videos are looked for; spans are held to their lengths where rows or files state them.
    """
    prompts.check(spec)
    for split in (*spec.splits, *([MINI] if (spec.folder / MINI).is_dir() else [])):
        rows: list[Row] = []
        problems: list[str] = []
        files: tuple[Path, ...] = ()
        videos: dict[Path, None] = {}
        try:
            located = locate(spec.id, split, fetch=False)
            files = located.paths
            where: dict[str, str] = {}
            for place, row in mapped_rows.read_each(spec, located.paths):
                if isinstance(row, InputError):
                    problems.append(str(row))
                else:
                    rows.append(row)
                    where[row["id"]] = place
            if not where and not problems:
                problems.append(f"{first_of(list(map(str, located.paths)))}: no rows; expected at least one question")
            found: dict[str, Path] = {}
            missing: list[str] = []
            if media and not is_mini(split):
                library = Library(spec, split)
                lacking: dict[str, Missing] = {}  # with the first row that asks about a video
                for row in library.missing(rows):
                    lacking.setdefault(row.video, row)
                missing = [
                    f"{where[row.id]}: the video {video!r} is missing: "
                    f"{row.broken or f'not in {first_of(list(row.looked_in))}'}"
                    for video, row in lacking.items()
                ]
                found = {row["video"]: path for row in rows if (path := library.find(row))}
                videos = dict.fromkeys(found.values())
            problems += [*_spans(spec, rows, where, found), *missing]
        except ReelbenchError as error:
            problems.append(str(error))
        yield CheckedSplit(split, rows, problems, files, tuple(videos), tuple(_notes(spec, rows)))


def _notes(spec: BenchmarkSpec, rows: list[Row]) -> Iterator[str]:
    """Yield a line where questions end in options that the kind doesn't ask for."""
    within = 0 if spec.asks_choice else sum(mapped_rows.options_within(row["question"]) is not None for row in rows)
    if within and within >= _MOST * len(rows):
        yield (
            f"{within} of {len(rows)} questions end in their options, and only the very words of the answer count: is "
            "this `kind: choice` with `options: {in: question}`?"
        )


def _spans(spec: BenchmarkSpec, rows: list[Row], where: dict[str, str], found: dict[str, Path]) -> Iterator[str]:
    """Yield a line for spans that end behind their video, for ones that are all within a second, and for empty ones."""
    if not spec.asks_span or not rows:
        return
    lengths = lengths_of(rows, found)
    behind = [row for row in rows if max(row["span"]) > lengths.get(row["id"], math.inf) * _SLACK + 1]
    if behind:
        first = behind[0]
        most = len(behind) > len(rows) / 2
        yield (
            f"{where[first['id']]}: {len(behind)} of {len(rows)} spans end behind their video "
            f"({max(first['span']):,.10g} > {lengths[first['id']]:,.10g} s)"
            + ": are these frames, or milliseconds? `span_unit` says so"
            * most
        )
    early = [row for row in rows if max(row["span"]) <= 1 < lengths.get(row["id"], 0)]
    if len(early) == len(rows) > 1:
        yield (
            f"{where[rows[0]['id']]}: all {len(rows)} spans end within the first second of their video: are these "
            "ratios? `span_unit: ratio` says so"
        )
    empty = [row for row in rows if any(row["span"][at] == row["span"][at + 1] for at in range(0, len(row["span"]), 2))]
    if empty:
        yield f"{where[empty[0]['id']]}: {number_of(len(empty), 'span')} without length, which nobody can meet"


def lengths_of(rows: Iterable[Row], found: Mapping[str, Path]) -> dict[str, float]:
    """Return the length of each row's video in seconds, from its column or its file; rows without one are left out."""
    lengths = {row["id"]: row["duration"] for row in rows if row.get("duration")}
    of_files: dict[str, float | None] = {}
    for row in rows:
        video = row["video"]
        if row["id"] not in lengths and video in found:
            if video not in of_files:
                with suppress(MediaError):
                    of_files[video] = playable.seconds(found[video])
            if length := of_files.get(video):
                lengths[row["id"]] = length
    return lengths
