"""`reelbench check`: a benchmark that a file declares, held to all that its rows, prompts and media must be."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reelbench.registry import prompts
from reelbench.registry.data import mapped_rows
from reelbench.registry.data.loading import MINI, is_mini, locate, mini_folder
from reelbench.registry.errors import InputError, ReelbenchError, first_of
from reelbench.registry.media.library import Library
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class CheckedSplit:
    """A split as it was found: its rows that can be read, what is wrong, a line each, and the files it is read from."""

    name: str
    rows: list[Row]
    problems: list[str]
    files: tuple[Path, ...]
    videos: tuple[Path, ...]


def check(spec: BenchmarkSpec) -> Iterator[CheckedSplit]:
    """Check every split of a benchmark that a file declares, its mini rows too; nothing is fetched."""
    prompts.check(spec)
    for split in (*spec.splits, *([MINI] if mini_folder(spec).is_dir() else [])):
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
            if not is_mini(split):
                library = Library(spec, split)
                problems += _missing(library, rows, where)
                videos = dict.fromkeys(filter(None, map(library.find, rows)))
        except ReelbenchError as error:
            problems.append(str(error))
        yield CheckedSplit(split, rows, problems, files, tuple(videos))


def _missing(library: Library, rows: list[Row], where: dict[str, str]) -> Iterator[str]:
    """Yield a line for each video that is not here or can't be read, with the first row that asks about it."""
    said: set[str] = set()
    for row in library.missing(rows):
        if row.video not in said:
            said.add(row.video)
            why = row.broken or f"not in {first_of(list(row.looked_in))}"
            yield f"{where[row.id]}: the video {row.video!r} is missing: {why}"
