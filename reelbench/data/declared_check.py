"""`reelbench check`: hold a benchmark that a file declares to what its data and prompts must be."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from reelbench.base.errors import InputError, MediaError, ReelbenchError, first_of, number_of
from reelbench.data import mapped_rows, option_texts
from reelbench.data.loading import locate
from reelbench.registry import prompts
from reelbench.registry.rows import Row
from reelbench.registry.rows import videos as row_videos
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import MINI, is_mini, upstream_split
from reelbench.video import playable
from reelbench.video.file_match import SeveralFilesError
from reelbench.video.library import Library, Missing

_MOST = 0.98

_FEW = 20
"""Number of faults that are all shown."""

_SLACK = 1.02
"""A span may end behind what a file states as its length: by 2 percent and a second."""


@dataclass(frozen=True, slots=True)
class CheckedSplit:
    """A split's readable rows, and what is wrong with it."""

    name: str
    rows: list[Row]

    problems: list[str]
    """A line for each fault."""

    files: tuple[Path, ...]
    """The files that it is read from."""

    videos: tuple[Path, ...]
    """Its videos, and the subtitles beside them."""

    notes: tuple[str, ...] = ()
    """A line for each thing that may be meant otherwise."""

    files_of_videos: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """The file of each video that was looked for and is here, by the rows' path."""


def check(spec: BenchmarkSpec, *, media: bool = True) -> Iterator[CheckedSplit]:
    """Check every split of a benchmark that a file declares, its mini rows too.

    Nothing is fetched. With `media` the videos are looked for, and spans are held to their lengths
    where rows or files state them.
    """
    prompts.check(spec)
    splits = list(spec.splits)
    if (spec.folder / MINI).is_dir():
        splits.append(MINI)
    for split in splits:
        split_check = _SplitCheck(spec, split)
        yield split_check.run(media=media and not is_mini(split))


@dataclass
class _SplitCheck:
    """One split while it is checked."""

    spec: BenchmarkSpec
    split: str
    rows: list[Row] = field(default_factory=list[Row])
    places: dict[str, str] = field(default_factory=dict[str, str])
    """Row id -> place in the file."""
    problems: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    files: tuple[Path, ...] = ()
    videos: dict[str, Path] = field(default_factory=dict[str, Path])
    """Media key -> file."""
    media_files: tuple[Path, ...] = ()

    def run(self, *, media: bool) -> CheckedSplit:
        try:
            self._read_rows()
            missing: list[str] = []
            if media:
                missing = self._look_for_videos()
            self.problems += self._span_problems()
            self.problems += missing
        except ReelbenchError as error:
            self.problems.append(str(error))
        self._note_options_in_questions()
        return CheckedSplit(
            self.split,
            self.rows,
            self.problems,
            self.files,
            self.media_files,
            tuple(self.notes),
            self.videos,
        )

    def _read_rows(self) -> None:
        """Read the rows; add the faults of those that can't be read."""
        located = locate(self.spec.id, self.split, fetch=False)
        self.files = located.paths
        unreadable: list[str] = []
        moved: list[str] = []
        upstream = upstream_split(self.spec, self.split)
        for entry in mapped_rows.read_each(self.spec, located.paths, upstream):
            if isinstance(entry.row, InputError):
                unreadable.append(str(entry.row))
                continue
            self.rows.append(entry.row)
            self.places[entry.row["id"]] = entry.where
            if entry.moved:
                moved.append(entry.where)
        self._tell_unreadable(unreadable)
        if moved:
            rows = number_of(len(moved), "row")
            self.notes.append(
                f"{moved[0]}: {rows} with a span that begins up to 0.5 s before 0, read as 0"
            )
        if not self.rows and not self.problems:
            files = first_of(list(map(str, located.paths)))
            self.problems.append(f"{files}: no rows; expected at least one question")

    def _tell_unreadable(self, faults: list[str]) -> None:
        skips = self.spec.mapping is not None and self.spec.mapping.skip is not None
        if not (skips and self.rows):
            self.problems += faults
        if not faults or not self.rows:
            return
        way_on = "; `skip: unreadable` goes on without the others"
        if skips:
            way_on = ", the others are left out (skip: unreadable)"
        count = len(self.rows)
        self.notes.append(f"{count:,} of {count + len(faults):,} rows readable{way_on}")
        if skips or len(faults) > _FEW:
            self.notes += _kinds_of_faults(faults)

    def _look_for_videos(self) -> list[str]:
        """Find the videos and subtitles; return a line for each video that is missing."""
        library = Library(self.spec, self.split)
        missing_videos: dict[str, Missing] = {}  # with the first row that asks about each
        for missing in library.missing(self.rows):
            missing_videos.setdefault(missing.video, missing)
        subtitles: dict[Path, None] = {}
        seen: set[tuple[str, str]] = set()
        for row in self.rows:
            for video in row_videos(row):
                if (video, row["language"]) in seen:  # many questions share a film
                    continue
                seen.add((video, row["language"]))
                subtitle_file = self._look_for_files(library, {**row, "video": video})
                if subtitle_file:
                    subtitles[subtitle_file] = None
        self.media_files = tuple(dict.fromkeys([*self.videos.values(), *subtitles]))
        note = library.note_on_names()
        if note is not None:
            self.notes.append(note)
        return self._missing_lines(missing_videos)

    def _look_for_files(self, library: Library, row: Row) -> Path | None:
        """Note the file of a row's video; return the subtitles beside it."""
        with suppress(SeveralFilesError):  # told with those that are missing
            path = library.find(row)
            if path:
                self.videos[row["video"]] = path
        return library.subtitles(row)

    def _missing_lines(self, missing_videos: Mapping[str, Missing]) -> list[str]:
        hint = ""
        if any(re.search(r"youtu\.?be", video) for video in missing_videos):
            hint = "; `media: {youtube: true}` in the file lets `data fetch --media` bring it"
        lines: list[str] = []
        for video, missing in missing_videos.items():
            fault = missing.broken
            if fault is None:
                fault = "is missing"
                if not lines:
                    # The folders are the same for all videos, and are listed once.
                    fault += f": not in {first_of(list(missing.looked_in))}{hint}"
                fault += missing.hint
            else:
                fault = f"can't be taken: {fault}"
            lines.append(f"{self.places[missing.id]}: the video {video!r} {fault}")
        return lines

    def _span_problems(self) -> Iterator[str]:
        """Yield a line for each kind of span that can't be right."""
        if not self.spec.asks_span or not self.rows:
            return
        lengths = lengths_of(self.rows, self.videos)
        late: list[Row] = []
        early: list[Row] = []
        empty: list[Row] = []
        for row in self.rows:
            if not row["span"]:
                continue
            length = lengths.get(row["id"])
            last_end = max(row["span"])
            if length is not None and last_end > length * _SLACK + 1:
                late.append(row)
            if length is not None and last_end <= 1 < length:
                early.append(row)
            if _has_empty_window(row["span"]):
                empty.append(row)
        if late:
            yield self._late_line(late, lengths)
        if len(early) == len(self.rows) > 1:
            yield (
                f"{self._place(early[0])}: all {len(early)} spans end within the first second of "
                "their video: are these ratios? `span_unit: ratio` says so"
            )
        if empty:
            spans = number_of(len(empty), "span")
            yield f"{self._place(empty[0])}: {spans} without length, which nobody can meet"

    def _late_line(self, late: list[Row], lengths: Mapping[str, float]) -> str:
        first = late[0]
        line = (
            f"{self._place(first)}: {len(late)} of {len(self.rows)} spans end after their video "
            f"({max(first['span']):,.10g} > {lengths[first['id']]:,.10g} s)"
        )
        if len(late) > len(self.rows) / 2:
            line += ": are these frames, or milliseconds? `span_unit` says so"
        return line

    def _place(self, row: Row) -> str:
        return self.places[row["id"]]

    def _note_options_in_questions(self) -> None:
        if self.spec.asks_choice:
            return
        with_options = 0
        for row in self.rows:
            if option_texts.options_within(row["question"]):
                with_options += 1
        if with_options and with_options >= _MOST * len(self.rows):
            self.notes.append(
                f"{with_options} of {len(self.rows)} questions end in their options, and only the "
                "very words of the answer count: is this `kind: choice` with "
                "`options: {in: question}`?"
            )


def _kinds_of_faults(lines: list[str]) -> Iterator[str]:
    """Yield the first line of each kind of fault, with their number.

    Lines are of one kind where they differ only in what they quote, and in numbers.
    """
    lines_by_kind: dict[str, list[str]] = {}
    for line in lines:
        fault = line.partition("): ")[2] or line.partition(": ")[2]
        kind = re.sub(r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^][]*\]|[\d.]+", "", fault)
        lines_by_kind.setdefault(kind, []).append(line)
    for alike in lines_by_kind.values():
        yield f"{len(alike):,} x {alike[0]}"


def _has_empty_window(ends: list[float]) -> bool:
    return any(start == end for start, end in zip(ends[::2], ends[1::2], strict=True))


def lengths_of(rows: Iterable[Row], files: Mapping[str, Path]) -> dict[str, float]:
    """Return the length of each row's video in seconds, by the row's id.

    It is read from the row's column, else from the video's file. Rows without one are left out.
    """
    lengths: dict[str, float] = {}
    lengths_of_files: dict[str, float | None] = {}
    for row in rows:
        video = row["video"]
        length = row.get("duration")
        if not length and video in files:
            if video not in lengths_of_files:
                lengths_of_files[video] = None
                with suppress(MediaError):
                    lengths_of_files[video] = playable.seconds(files[video])
            length = lengths_of_files[video]
        if length:
            lengths[row["id"]] = length
    return lengths
