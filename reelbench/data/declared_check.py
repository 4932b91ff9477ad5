"""`reelbench check`: a benchmark that a file declares, held to all that its rows, prompts and media must be."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reelbench.base.errors import InputError, MediaError, ReelbenchError, first_of, number_of
from reelbench.data import mapped_rows
from reelbench.data.loading import locate
from reelbench.registry import prompts
from reelbench.registry.rows import Row
from reelbench.registry.rows import videos as row_videos
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import MINI, is_mini, upstream_split
from reelbench.video import playable
from reelbench.video.library import Library, Missing

_MOST = 0.98
_FEW = 20  # faults that are all shown
_SLACK = 1.02  # A span may end a little behind what a file states as its length: by 2 percent and a second


@dataclass(frozen=True, slots=True)
class CheckedSplit:
    """A split as it was found: its rows that can be read, what is wrong, a line each, and the files it is read from."""

    name: str
    rows: list[Row]
    problems: list[str]
    files: tuple[Path, ...]
    videos: tuple[Path, ...]  # and the subtitles beside them
    notes: tuple[str, ...] = ()  # what may be meant otherwise, a line each


def check(spec: BenchmarkSpec, *, media: bool = True) -> Iterator[CheckedSplit]:
    """Check every split of a benchmark that a file declares, its mini rows too; nothing is fetched.

    With `media` the videos are looked for; spans are held to their lengths where rows or files
    state them.
    """
    prompts.check(spec)
    for split in (*spec.splits, *([MINI] if (spec.folder / MINI).is_dir() else [])):
        rows: list[Row] = []
        problems: list[str] = []
        notes: list[str] = []
        files: tuple[Path, ...] = ()
        videos: dict[Path, None] = {}
        try:
            located = locate(spec.id, split, fetch=False)
            files = located.paths
            every = list(mapped_rows.read_each(spec, located.paths, upstream_split(spec, split)))
            unread = [str(each.row) for each in every if isinstance(each.row, InputError)]
            read = [
                (each.row, each.where, each.moved)
                for each in every
                if not isinstance(each.row, InputError)
            ]
            rows, where = [row for row, *_ in read], {row["id"]: place for row, place, _ in read}
            moved = [place for _, place, early in read if early]
            skips = spec.mapping is not None and spec.mapping.skip is not None
            problems += [] if skips and rows else unread
            if unread and rows:
                go_on = "; `skip: unreadable` goes on without the others"
                go_on = ", the others are left out (skip: unreadable)" if skips else go_on
                notes.append(f"{len(rows):,} of {len(rows) + len(unread):,} rows readable{go_on}")
                notes += _faults(unread) if skips or len(unread) > _FEW else ()
            if moved:
                what = f"{number_of(len(moved), 'row')} with a span that begins up to 0.5 s before 0, read as 0"
                notes.append(f"{moved[0]}: {what}")
            if not where and not problems:
                problems.append(
                    f"{first_of(list(map(str, located.paths)))}: no rows; expected at least one question"
                )
            found: dict[str, Path] = {}
            missing: list[str] = []
            if media and not is_mini(split):
                library = Library(spec, split)
                lacking: dict[str, Missing] = {}  # with the first row that asks about a video
                for row in library.missing(rows):
                    lacking.setdefault(row.video, row)
                youtube = next(
                    (video for video in lacking if re.search(r"youtu\.?be", video)), None
                )
                hint = (
                    "; `media: {youtube: true}` in the file lets `data fetch --media` bring it"
                    if youtube
                    else ""
                )
                for (
                    video,
                    row,
                ) in (
                    lacking.items()
                ):  # where it was looked for is said once: it is the same for all
                    why = row.broken or f"not in {first_of(list(row.looked_in))}{hint}"
                    said = f": {why}" if row.broken or not missing else ""
                    missing.append(f"{where[row.id]}: the video {video!r} is missing{said}")
                each = [{**row, "video": video} for row in rows for video in row_videos(row)]
                found = {row["video"]: path for row in each if (path := library.find(row))}
                said = (
                    path for row in each if (path := library.subtitles(row))
                )  # which an option sends
                videos = dict.fromkeys([*found.values(), *said])
            problems += [*_spans(spec, rows, where, found), *missing]
        except ReelbenchError as error:
            problems.append(str(error))
        within = (
            []
            if spec.asks_choice
            else [row for row in rows if mapped_rows.options_within(row["question"])]
        )
        if within and len(within) >= _MOST * len(rows):
            notes.append(
                f"{len(within)} of {len(rows)} questions end in their options, and only the very words of the answer "
                "count: is this `kind: choice` with `options: {in: question}`?"
            )
        yield CheckedSplit(split, rows, problems, files, tuple(videos), tuple(notes))


def _faults(lines: list[str]) -> Iterator[str]:
    """Yield the first line of each kind of fault, with their number: lines alike but for what they quote."""
    kinds: dict[str, list[str]] = {}
    for line in lines:
        said = line.partition("): ")[2] or line.partition(": ")[2]
        kinds.setdefault(
            re.sub(r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^][]*\]|[\d.]+", "", said), []
        ).append(line)
    for alike in kinds.values():
        yield f"{len(alike):,} x {alike[0]}"


def _spans(
    spec: BenchmarkSpec, rows: list[Row], where: dict[str, str], found: dict[str, Path]
) -> Iterator[str]:
    """Yield a line for spans that end after their video, for ones that are all within a second, and for empty ones."""
    if not spec.asks_span or not rows:
        return
    lengths = lengths_of(rows, found)
    behind = [
        row for row in rows if max(row["span"]) > lengths.get(row["id"], math.inf) * _SLACK + 1
    ]
    if behind:
        first = behind[0]
        most = len(behind) > len(rows) / 2
        yield (
            f"{where[first['id']]}: {len(behind)} of {len(rows)} spans end after their video "
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
    empty = [
        row
        for row in rows
        if any(row["span"][at] == row["span"][at + 1] for at in range(0, len(row["span"]), 2))
    ]
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
