"""From a benchmark's name to its rows: resolved, normalised, and saved once.

The saved rows are keyed by the sha256 of the upstream bytes and the reader's version, so they can
never be stale, and are renamed into place whole, so they can never be half.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.containment import contained
from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.base.files import sha256_once, written_aside
from reelbench.base.lazy import import_object
from reelbench.base.settings import home
from reelbench.data import mapped_rows, sources
from reelbench.registry import discovery, rows
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.registry.splits import MINI, is_mini, upstream_split

if TYPE_CHECKING:
    from datasets import Dataset

    from reelbench.registry.records import SourceRecord

_LAYOUT = 2  # of the saved rows; raised when rows.py changes what is saved


@dataclass(frozen=True)
class SplitData:
    """A split whose files are here: what they are, and their fingerprint; nothing is parsed until it is asked for."""

    spec: BenchmarkSpec
    split: str
    paths: tuple[Path, ...]
    source: "SourceRecord"
    task: TaskSpec | None = (
        None  # set where the split was asked for by a task's name, which may be a part of it only
    )

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The rows, read once, for whoever looks at them and changes none."""
        return self.read()

    @cached_property
    def left_out(self) -> tuple[int, int]:
        """Number of rows that can't be read and are left out (`skip: unreadable`), and of all of them; 0 where none."""
        if self.spec.mapping is None or self.spec.mapping.skip is None:
            return 0, 0
        found = list(
            mapped_rows.read_each(self.spec, self.paths, upstream_split(self.spec, self.split))
        )
        return sum(isinstance(each.row, InputError) for each in found), len(found)

    def read(self) -> list[Row]:
        """Parse the files into normalised, checked rows (plain dicts; `datasets` is not imported)."""
        where, found = ", ".join(map(str, self.paths)), read_rows(self.spec, self.paths, self.split)
        only = self.task.only if self.task else {}
        part = [row for row in found if all(label in row[facet] for facet, label in only.items())]
        if not part:
            wanted = ", ".join(f"{facet} {label}" for facet, label in only.items())
            there = sorted({label for row in found for facet in only for label in row[facet]})
            raise DataUnavailableError(
                f"{where}: no question with {wanted}; it has {', '.join(there)}"
            )
        return part

    def materialise(self) -> Path:
        """Return the folder with the rows as a saved `datasets.DatasetDict` of one split, made on first use.

        The dataset's `info.dataset_name` is the task, so that what is given the rows alone knows
        what they are for.
        """
        name = self.task.name if self.task else self.split
        folder = home() / "rows" / self.spec.id / f"{name}-{self.source.fingerprint[:16]}"
        if not folder.is_dir():
            from datasets import Dataset, DatasetDict, DatasetInfo

            table = rows_to_columns(self.spec, self.read())
            info = DatasetInfo(dataset_name=name, features=rows.features(self.spec))
            dataset = Dataset.from_dict(table, info=info)
            with written_aside(folder) as aside:
                DatasetDict({self.split: dataset}).save_to_disk(aside)
        return folder


def read_rows(spec: BenchmarkSpec, paths: Sequence[Path], split: str) -> list[Row]:
    """Parse files into normalised, checked rows: by the mapping that a file declares, or by the benchmark's reader."""
    read = partial(mapped_rows.read, spec) if spec.mapping else import_object(spec.reader)
    return list(
        rows.check_rows(
            spec, split, read(paths, upstream_split(spec, split)), ", ".join(map(str, paths))
        )
    )


def rows_to_columns(spec: BenchmarkSpec, table: Sequence[Row]) -> dict[str, list[Any]]:
    """Turn rows into columns, in the schema's order."""
    return {column.name: [row[column.name] for row in table] for column in rows.columns(spec)}


def locate(
    name: str, split: str | None = None, data: Path | str | None = None, *, fetch: bool = True
) -> SplitData:
    """Find a split's files: a folder or file the user gave (`data`), else the pinned Hub or URL source.

    `name` is a benchmark or one of its tasks (`moviecore_mini`), `split` one of its splits, mini
    ones too; by default the task's, or the benchmark's default one. Without `fetch` nothing reaches
    for the network. InputError where the name or split is unknown, or `data` isn't as expected;
    DataUnavailableError where the files are not here, and may not or could not be fetched.
    """
    return locate_files(*find_split(name, split), data, fetch=fetch)


def locate_files(
    spec: BenchmarkSpec, split: str, task: TaskSpec | None, data: Path | str | None, *, fetch: bool
) -> SplitData:
    """Find the files of a split whose benchmark is known, as `locate` does."""
    upstream, mini = upstream_split(spec, split), is_mini(split)
    own = spec.folder / MINI if mini else Path(data) if data is not None else None
    resolved = (sources.resolve if fetch else sources.present)(spec, upstream, own)
    if resolved is None:
        raise DataUnavailableError(f"{spec.id} {split}: {sources.how_to_get(spec, upstream)}")
    if mini and spec.file:
        for path in resolved.paths:
            contained(spec.folder, path)
    from reelbench.registry.records import SourceRecord

    source = SourceRecord(
        kind="mini" if mini else resolved.kind,
        location=f"{spec.id} {split}" if mini else resolved.location,
        revision=resolved.revision,
        fingerprint=fingerprint(spec, [sha256_once(path) for path in resolved.paths]),
    )
    return SplitData(spec, split, resolved.paths, source, task)


def find_split(name: str, split: str | None = None) -> tuple[BenchmarkSpec, str, TaskSpec | None]:
    """Return the benchmark and the split of a benchmark's or task's name, and the task where it is one with that split.

    `ID_mini` is a benchmark's mini data, whatever its tasks are called. InputError where there is
    nothing of that name.
    """
    found = discovery.find_task(name)
    if found is not None and split in (None, found[1].split):
        return found[0], found[1].split, found[1]
    spec = discovery.specs().get(name.removesuffix(f"_{MINI}")) if found is None else None
    if spec is not None and name != spec.id:
        return spec, split or MINI, None
    spec = found[0] if found is not None and name not in discovery.specs() else discovery.find(name)
    return spec, split or spec.default_split, None


def load(name: str, split: str | None = None, *, data: Path | str | None = None) -> "Dataset":
    """Return a split's normalised rows as a `datasets.Dataset`; see `registry.rows` for the columns."""
    from datasets import Dataset

    located = locate(name, split, data)
    return Dataset.load_from_disk(str(located.materialise() / located.split))


def fingerprint(spec: BenchmarkSpec, hashes: Sequence[str]) -> str:
    """Return the fingerprint of rows: of their files' sha256 and the version of the reader."""
    digest = hashlib.sha256(f"{_LAYOUT} {spec.id} {spec.reader} {spec.reader_version}".encode())
    for sha256 in hashes:
        digest.update(bytes.fromhex(sha256))
    return digest.hexdigest()
