"""`reelbench check`: hold a benchmark that a file declares to what its data and prompts must be."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from reelbench.base.errors import InputError, MediaError, ReelbenchError, first_of, number_of
from reelbench.data import mapped_rows, option_texts
from reelbench.data.loading import locate
from reelbench.registry import benchmark_block, prompts
from reelbench.registry.errata import Errata, read_errata
from reelbench.registry.row_columns import PICTURES
from reelbench.registry.rows import Row
from reelbench.registry.rows import videos as row_videos
from reelbench.registry.spec import BenchmarkSpec, Macro
from reelbench.registry.splits import MINI, is_mini, upstream_split
from reelbench.video import playable
from reelbench.video.file_match import SeveralFilesError
from reelbench.video.library import Library, Missing, advice_on_missing

_MOST = 0.98

_FEW = 20
"""Number of faults that are all shown."""

_SLACK = 1.02
"""A span may end behind what a file states as its length: by 2 percent and a second."""


_DETAILS = re.compile(
    r"""
      '[^']*' | "[^"]*"               # quotations
    | \([^()]*\) | \[[^][]*\]         # brackets
    | [\d.]+                          # numbers
    """,
    re.VERBOSE,
)
"""The parts of a line by which faults of one kind differ."""

MOST_ROWS = 2_000
"""Rows of a split that a report keeps; of more, as many as are evenly spread."""


@dataclass(frozen=True, slots=True)
class CheckedSplit:
    """A split's readable rows, and what is wrong with it."""

    name: str
    rows: list[Row]
    """Its readable rows, or some that are evenly spread: `MOST_ROWS`, or at least half of it."""

    row_count: int
    """The number of its readable rows."""

    video_count: int

    first_rows: list[Row]
    """The first row of each language and of each kind, with options and without."""

    problems: list[str]
    """A line for each fault."""

    files: tuple[Path, ...]
    """The files that it is read from."""

    videos: tuple[Path, ...]
    """Its videos, and the subtitles beside them."""

    notes: tuple[str, ...] = ()
    """A line for each thing that may be meant otherwise."""

    label_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """The questions with each label of the facet whose mean ranks; those with none have ""."""

    files_of_videos: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """The file of each video that was looked for and is here, by the rows' path."""


def check(spec: BenchmarkSpec, *, media: bool = True) -> Iterator[CheckedSplit]:
    """Check every split of a benchmark that a file declares, its mini rows too.

    Nothing is fetched. With `media` the videos are looked for, and spans are held to their lengths
    where rows or files state them. Rows are read one after the other, and few are kept.
    """
    prompts.check(spec)
    splits = list(spec.splits)
    if (spec.folder / MINI).is_dir():
        splits.append(MINI)
    for split in splits:
        split_check = _SplitCheck(spec, split)
        yield split_check.run(media=media and not is_mini(split))


class _SpreadRows:
    """Rows of a table of unknown length, evenly spread."""

    def __init__(self) -> None:
        self.count = 0
        self._rows: list[Row] = []
        self._last: Row | None = None
        self._step = 1

    def add(self, row: Row) -> None:
        """Take the next row; where there are too many by then, every other one goes."""
        if self.count % self._step == 0:
            self._rows.append(row)
            if len(self._rows) > MOST_ROWS:
                self._rows = self._rows[::2]
                self._step *= 2
        self._last = row
        self.count += 1

    def spread_rows(self) -> list[Row]:
        """Return evenly spread rows, the first and the last among them."""
        if self._last is None or self._rows[-1] is self._last:
            return self._rows
        return [*self._rows, self._last]


@dataclass(frozen=True, slots=True)
class _SpanOfRow:
    """A row's span, in seconds, and what its length is told by."""

    where: str
    video: str
    duration: float | None
    last_end: float


@dataclass
class _SplitCheck:
    """One split while it is checked."""

    spec: BenchmarkSpec
    split: str
    rows: _SpreadRows = field(default_factory=_SpreadRows)
    first_rows: dict[tuple[str, bool], Row] = field(default_factory=dict[tuple[str, bool], Row])
    """Language, and whether it has options -> the first such row."""
    first_of_video: dict[tuple[str, str], Row] = field(default_factory=dict[tuple[str, str], Row])
    """Media key and language -> id, media key, language, and place of the first such row."""
    pictures: dict[str, str] = field(default_factory=dict[str, str])
    """Picture beside a video -> place of the first row that shows it."""
    spans: list[_SpanOfRow] = field(default_factory=list[_SpanOfRow])
    label_counts: Counter[str] = field(default_factory=Counter[str])
    with_options: int = 0
    """The number of questions that end in their options."""
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
        videos = {video for video, _ in self.first_of_video}
        return CheckedSplit(
            name=self.split,
            rows=self.rows.spread_rows(),
            row_count=self.rows.count,
            video_count=len(videos),
            first_rows=list(self.first_rows.values()),
            problems=self.problems,
            files=self.files,
            videos=self.media_files,
            notes=tuple(self.notes),
            label_counts=dict(sorted(self.label_counts.items())),
            files_of_videos=self.videos,
        )

    def _read_rows(self) -> None:
        """Read the rows. Add the faults of those that can't be read."""
        self.files = locate(self.spec.id, self.split, fetch=False).paths
        faults: list[str] = []
        places_before_zero: list[str] = []
        padded_times: list[str] = []
        errata = read_errata(self.spec, self.split)
        rows_with_erratum: list[Row] = []
        upstream = upstream_split(self.spec, self.split)
        for entry in mapped_rows.read_rows_or_errors(self.spec, self.files, upstream):
            if isinstance(entry.row, InputError):
                faults.append(str(entry.row))
                continue
            self._add_row(entry.row, entry.where)
            if errata is not None and entry.row["id"] in errata.by_id:
                rows_with_erratum.append(entry.row)
            if entry.is_clamped_to_zero:
                places_before_zero.append(entry.where)
            if entry.padded_time:
                padded_times.append(f"{entry.where}: {entry.padded_time!r}")
        self._tell_unreadable(faults)
        self._note_spans_before_zero(places_before_zero)
        self._note_padded_times(padded_times)
        if not self.rows.count and not self.problems:
            files = first_of(list(map(str, self.files)))
            self.problems.append(f"{files}: no rows; expected at least one question")
        if errata is not None:
            self._check_errata(errata, rows_with_erratum)

    def _note_spans_before_zero(self, places: list[str]) -> None:
        """Note the places of spans that begin a little before their video does."""
        if places:
            rows = number_of(len(places), "row")
            self.notes.append(
                f"{places[0]}: {rows} with a span that begins up to 0.5 s before 0, read as 0"
            )

    def _note_padded_times(self, times: list[str]) -> None:
        """Note times with a leading zero (`01.30`), which may be minutes and seconds."""
        if not times or self._states_span_unit():
            return
        rows = number_of(len(times), "row")
        self.notes.append(
            f"{times[0]} has a leading zero and is counted in seconds, and so in {rows}: "
            "minutes and seconds are written 1:30; "
            "`span_unit: seconds` in the file says that these are seconds"
        )

    def _states_span_unit(self) -> bool:
        """Return True where the file says what its spans are counted in."""
        file = Path(self.spec.file)
        return benchmark_block.parse(file).text("span_unit") is not None

    def _check_errata(self, errata: Errata, rows_with_erratum: list[Row]) -> None:
        """Add the fault of errata that don't fit their rows."""
        try:
            errata.check_ids({row["id"] for row in rows_with_erratum})
            list(errata.rows(rows_with_erratum))  # raises where one doesn't fit its row
        except InputError as error:
            self.problems.append(str(error))

    def _add_row(self, row: Row, where: str) -> None:
        """Note what the checks need of a row."""
        self.rows.add(row)
        has_options = bool(row.get("options"))
        self.first_rows.setdefault((row["language"], has_options), row)
        self._note_media(row, where)
        self._note_span(row, where)
        self._count_labels(row)
        if not self.spec.asks_choice and option_texts.split_off_options(row["question"]):
            self.with_options += 1

    def _note_media(self, row: Row, where: str) -> None:
        """Note the first row of each video and of each picture."""
        language = row["language"]
        for video in row_videos(row):
            first_row = {"id": row["id"], "video": video, "language": language, "where": where}
            self.first_of_video.setdefault((video, language), first_row)
        for picture in row.get(PICTURES.name, ()):
            self.pictures.setdefault(picture, where)

    def _note_span(self, row: Row, where: str) -> None:
        """Note a row's span, to be held to its video's length."""
        if not self.spec.asks_span or not row["span"]:
            return
        span = _SpanOfRow(
            where=where,
            video=row["video"],
            duration=row.get("duration"),
            last_end=max(row["span"]),
        )
        self.spans.append(span)

    def _count_labels(self, row: Row) -> None:
        """Count a row's labels of the facet whose mean ranks, or its pairs of labels."""
        mean = self.spec.primary.aggregate
        if not isinstance(mean, Macro):
            return
        labels: list[str] = row.get(mean.facet) or []
        if mean.within is not None:
            inner_labels: list[str] = row.get(mean.within) or []
            pairs = product(labels, inner_labels)
            labels = [f"{outer} / {inner}" for outer, inner in pairs]
        self.label_counts.update(labels or [""])

    def _tell_unreadable(self, faults: list[str]) -> None:
        skips = self.spec.mapping is not None and self.spec.mapping.skip is not None
        count = self.rows.count
        if not (skips and count):
            self.problems += faults
        if not faults or not count:
            return
        way_on = "; `skip: unreadable` goes on without the others"
        if skips:
            way_on = ", the others are left out (skip: unreadable)"
        self.notes.append(f"{count:,} of {count + len(faults):,} rows readable{way_on}")
        if skips or len(faults) > _FEW:
            self.notes += _kinds_of_faults(faults)

    def _look_for_videos(self) -> list[str]:
        """Find the videos and subtitles. Return a line for each video that is missing."""
        library = Library(self.spec, self.split)
        missing_videos: dict[str, Missing] = {}
        for missing in library.missing(self._one_row_a_video()):
            missing_videos[missing.video] = missing
        subtitles: dict[Path, None] = {}
        for row in self.first_of_video.values():
            with suppress(SeveralFilesError):  # told with those that are missing
                path = library.find(row)
                if path:
                    self.videos[row["video"]] = path
            subtitle_file = library.subtitles(row)
            if subtitle_file:
                subtitles[subtitle_file] = None
        self.media_files = tuple(dict.fromkeys([*self.videos.values(), *subtitles]))
        picture_lines = self._look_for_pictures(library)
        note = library.note_on_other_names()
        if note is not None:
            self.notes.append(note)
        return [*self._missing_lines(missing_videos), *picture_lines]

    def _look_for_pictures(self, library: Library) -> list[str]:
        """Find the pictures beside videos. Return a line for each that can't be shown."""
        lines: list[str] = []
        for name, where in self.pictures.items():
            fault = library.picture_defect(name)
            if fault is not None:
                lines.append(f"{where}: the picture {name!r} can't be shown: {fault}")
                continue
            path = library.find_picture(name)
            if path is not None:
                self.media_files = (*self.media_files, path)
        return lines

    def _one_row_a_video(self) -> list[Row]:
        """Return the first row of each video, whose id is the video's own."""
        rows: dict[str, Row] = {}
        for row in self.first_of_video.values():
            rows.setdefault(row["video"], {**row, "id": row["video"]})
        return list(rows.values())

    def _missing_lines(self, missing_videos: Mapping[str, Missing]) -> list[str]:
        """Return a line for each video that is missing or broken."""
        places: dict[str, str] = {}
        for row in self.first_of_video.values():
            places.setdefault(row["video"], row["where"])
        lines: list[str] = []
        for video, missing in missing_videos.items():
            if missing.broken is not None:
                fault = f"can't be taken: {missing.broken}"
            elif lines:
                fault = f"is missing{missing.hint}"
            else:
                # The folders are the same for all videos, and are listed once.
                folders = first_of(list(missing.searched_folders))
                advice = self._advice_on_missing(missing_videos)
                fault = f"is missing: not in {folders}; {advice}{missing.hint}"
            lines.append(f"{places[video]}: the video {video!r} {fault}")
        return lines

    def _advice_on_missing(self, videos: Iterable[str]) -> str:
        if any(re.search(r"youtu\.?be", video) for video in videos):
            return "`media: {youtube: true}` in the file lets `data fetch --media` bring it"
        return advice_on_missing(self.spec)

    def _span_problems(self) -> Iterator[str]:
        """Yield a line on spans in a wrong unit, or of other videos.

        Faults of single rows are the linter's, but where only a video's file states its length:
        the linter opens none.
        """
        lengths = _Lengths(self.videos)
        late_spans: list[_SpanOfRow] = []
        spans_in_first_second: list[_SpanOfRow] = []
        for span in self.spans:
            length = lengths.of(span.duration, span.video)
            if not length:
                continue
            if span.last_end > length * _SLACK + 1:
                late_spans.append(span)
            if span.last_end <= 1 < length:
                spans_in_first_second.append(span)
        is_late_by_file = any(not span.duration for span in late_spans)
        if is_late_by_file or len(late_spans) > self.rows.count / 2:
            yield self._line_on_late_spans(late_spans, lengths)
        if len(spans_in_first_second) == self.rows.count > 1:
            first = spans_in_first_second[0]
            yield (
                f"{first.where}: all {self.rows.count} spans end within the first second of "
                "their video: are these ratios? `span_unit: ratio` says so"
            )

    def _line_on_late_spans(self, late_spans: list[_SpanOfRow], lengths: "_Lengths") -> str:
        first = late_spans[0]
        length = lengths.of(first.duration, first.video)
        line = (
            f"{first.where}: {len(late_spans)} of {self.rows.count} spans end after their video "
            f"({first.last_end:,.10g} > {length:,.10g} s)"
        )
        if len(late_spans) > self.rows.count / 2:
            line += ": are these frames, or milliseconds? `span_unit` says so"
        return line

    def _note_options_in_questions(self) -> None:
        if self.with_options and self.with_options >= _MOST * self.rows.count:
            self.notes.append(
                f"{self.with_options} of {self.rows.count} questions end in their options, and "
                "only the very words of the answer count: is this `kind: choice` with "
                "`options: {in: question}`?"
            )


def _kinds_of_faults(lines: list[str]) -> Iterator[str]:
    """Yield the first line of each kind of fault, with their number.

    Lines are of one kind where they differ only in what they quote, and in numbers.
    """
    first_lines: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for line in lines:
        kind = _kind_of_fault(line)
        first_lines.setdefault(kind, line)
        counts[kind] += 1
    for kind, first_line in first_lines.items():
        yield f"{counts[kind]:,} x {first_line}"


def _kind_of_fault(line: str) -> str:
    """Return a fault's words, without its place, quotations and numbers."""
    fault = line.partition("): ")[2]
    if not fault:
        fault = line.partition(": ")[2]
    return _DETAILS.sub("", fault)


class _Lengths:
    """The lengths of videos in seconds, from rows or from files."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files
        self._of_files: dict[str, float | None] = {}

    def of(self, duration: float | None, video: str) -> float | None:
        """Return a row's length by its column, else by its video's file. None where unknown."""
        if duration or video not in self._files:
            return duration
        if video not in self._of_files:
            self._of_files[video] = _stated_length(self._files[video])
        return self._of_files[video]


def _stated_length(file: Path) -> float | None:
    """Return the length in seconds that a video's file states, or None."""
    try:
        return playable.seconds(file)
    except MediaError:
        return None


def lengths_of(rows: Iterable[Row], files: Mapping[str, Path]) -> dict[str, float]:
    """Return the length of each row's video in seconds, by the row's id.

    It is read from the row's column, else from the video's file. Rows without one are left out.
    """
    lengths_of_videos = _Lengths(files)
    lengths: dict[str, float] = {}
    for row in rows:
        length = lengths_of_videos.of(row.get("duration"), row["video"])
        if length:
            lengths[row["id"]] = length
    return lengths
