"""Samples and their questions in files that grow as they are made: a process may end any time."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, overload

from reelbench.base.base_record import record_of
from reelbench.base.credentials import traces_of_keys
from reelbench.base.files import line_of_json
from reelbench.registry.records import Sample
from reelbench.scoring.sample_lines import quick_sample

_PIECE = 1 << 20  # bytes read at once


class FiledLines:
    """A file of JSON Lines that grows, and goes on where its writer ended.

    Attributes:
        path: The file. Whoever moves it says so here.
        lines_before: The number of whole lines that were there before.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.lines_before = _keep_whole_lines(path)
        self._number = 0
        self._traces = traces_of_keys()
        self._file: IO[str] = path.open("a", encoding="utf-8")

    def __len__(self) -> int:
        return self._number

    def pass_over(self, number: int) -> int:
        """Pass over those of so many further lines that are there. Return their number."""
        lines_there = max(0, min(number, self.lines_before - self._number))
        self._number += lines_there
        return lines_there

    def extend(self, rows: Iterable[dict[str, Any]]) -> None:
        """Write the next lines."""
        lines = [line_of_json(row, self._traces) for row in rows]
        self._file.writelines(lines)
        self._number += len(lines)

    def close(self) -> None:
        """Let the lines reach the disk."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def move(self, path: Path) -> None:
        """Move the file."""
        self.close()
        self.path.replace(path)
        self.path = path

    def remove(self) -> None:
        """Remove the file."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def texts(self, most: int | None = None) -> Iterator[str]:
        """Yield each line, or so many of the first ones."""
        if not self._file.closed:
            self._file.flush()
        with self.path.open(encoding="utf-8") as file:
            yield from islice(file, most)


def _keep_whole_lines(path: Path) -> int:
    """Cut a file behind its last whole line. Return the number of lines."""
    lines = 0
    end = 0
    with suppress(FileNotFoundError), path.open("r+b") as file:
        place = 0
        for piece in iter(partial(file.read, _PIECE), b""):
            if b"\n" in piece:
                lines += piece.count(b"\n")
                end = place + piece.rindex(b"\n") + 1
            place += len(piece)
        file.truncate(end)
    return lines


class FiledSamples(Sequence[Sample]):
    """Samples in a file, read anew each time."""

    def __init__(self, lines: FiledLines) -> None:
        self.lines = lines

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Sample]:
        return self._read(len(self.lines))

    def before(self) -> Iterator[Sample]:
        """Yield the samples that were there before."""
        return self._read(self.lines.lines_before)

    def _read(self, number: int) -> Iterator[Sample]:
        for line_number, line in enumerate(self.lines.texts(number), start=1):
            sample = quick_sample(line)
            if sample is None:
                where = f"{self.lines.path}, line {line_number}"
                sample = record_of(Sample, json.loads(line), where, mark=": ")
            yield sample

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Sample]: ...
    def __getitem__(self, place: int | slice) -> Sample | Sequence[Sample]:
        return list(self)[place]

    def extend(self, samples: Sequence[Sample]) -> None:
        """Write the next samples, but those that were there before."""
        lines_there = self.lines.pass_over(len(samples))
        self.lines.extend([sample.model_dump(mode="json") for sample in samples[lines_there:]])
