"""From a benchmark's name to its rows: found, normalised, and saved once.

The saved rows are keyed by the sha256 of the upstream bytes and the reader's version, so they can
never be stale. They are renamed into place whole, so they can never be half.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base.containment import contained
from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.base.files import sha256_once, written_aside
from reelbench.base.lazy import import_object
from reelbench.base.settings import home
from reelbench.data import mapped_rows, sources
from reelbench.registry import discovery, rows
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, HubFile, TaskSpec
from reelbench.registry.splits import MINI, is_mini, upstream_split

if TYPE_CHECKING:
    from datasets import Dataset

    from reelbench.registry.records import SourceRecord

_LAYOUT = 2
"""Layout of the saved rows. Raised when rows.py changes what is saved."""


class LeftOut(NamedTuple):
    """Number of rows that can't be read and are left out, and of all rows."""

    unreadable: int
    all_rows: int


@dataclass(frozen=True)
class SplitData:
    """A split whose files are here. They are parsed when they are needed."""

    spec: BenchmarkSpec
    split: str
    paths: tuple[Path, ...]
    source: "SourceRecord"

    task: TaskSpec | None = None
    """Set where a task's name named the split. The task may be only a part of it."""

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The rows, read once, for whoever looks at them and changes none."""
        return self.read()

    @cached_property
    def left_out(self) -> LeftOut:
        """Numbers of rows where `skip: unreadable` is declared; zeros where it isn't."""
        if self.spec.mapping is None or self.spec.mapping.skip is None:
            return LeftOut(0, 0)
        unreadable = 0
        all_rows = 0
        split = upstream_split(self.spec, self.split)
        for entry in mapped_rows.read_rows_or_errors(self.spec, self.paths, split):
            all_rows += 1
            if isinstance(entry.row, InputError):
                unreadable += 1
        return LeftOut(unreadable, all_rows)

    @cached_property
    def numbered_rows(self) -> Sequence[Row | None]:
        """The rows by their place upstream. None for one that is left out."""
        if not self.left_out.unreadable:
            return self.rows
        by_id = {row["id"]: row for row in self.rows}
        numbered: list[Row | None] = []
        split = upstream_split(self.spec, self.split)
        for entry in mapped_rows.read_rows_or_errors(self.spec, self.paths, split):
            if isinstance(entry.row, InputError):
                numbered.append(None)
            elif entry.row["id"] in by_id:
                numbered.append(by_id[entry.row["id"]])
        return numbered

    def read(self) -> list[Row]:
        """Parse the files into normalised, checked rows.

        They are plain dicts. `datasets` is not imported.

        Raises:
            DataUnavailableError: The split has none of the task's questions.
        """
        return list(self.each())

    def each(self) -> Iterator[Row]:
        """Yield the rows of `read` one by one: they may be more than memory holds."""
        only = self.task.only if self.task else {}
        has_task_rows = False
        other_labels: set[str] = set()
        for row in each_row(self.spec, self.paths, self.split):
            if has_labels(row, only):
                has_task_rows = True
                yield row
            elif not has_task_rows:
                for facet in only:
                    other_labels.update(row[facet])
        if not has_task_rows:
            asked_for = ", ".join(f"{facet} {label}" for facet, label in only.items())
            raise DataUnavailableError(
                f"{_path_list(self.paths)}: no question with {asked_for}; "
                f"it has {', '.join(sorted(other_labels))}"
            )

    def materialise(self) -> Path:
        """Return the folder with the rows as a saved `datasets.DatasetDict` of one split.

        It is made on first use. The dataset's `info.dataset_name` is the task, so that a reader of
        the rows alone knows what they are for.
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


def has_labels(row: Row, labels: Mapping[str, str]) -> bool:
    """Return True of a row with all these labels, by facet."""
    return all(label in row[facet] for facet, label in labels.items())


def _path_list(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))


def read_rows(spec: BenchmarkSpec, paths: Sequence[Path], split: str) -> list[Row]:
    """Parse files into normalised, checked rows."""
    return list(each_row(spec, paths, split))


def each_row(spec: BenchmarkSpec, paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of files, normalised and checked.

    They are read by the mapping that a file declares, or by the benchmark's own reader.
    """
    upstream = upstream_split(spec, split)
    if spec.mapping:
        upstream_rows = mapped_rows.read(spec, paths, upstream)
    else:
        upstream_rows = import_object(spec.reader)(paths, upstream)
    return rows.check_rows(spec, split, upstream_rows, _path_list(paths))


def rows_to_columns(spec: BenchmarkSpec, table: Sequence[Row]) -> dict[str, list[Any]]:
    """Turn rows into columns, in the schema's order."""
    columns: dict[str, list[Any]] = {}
    for column in rows.columns(spec):
        columns[column.name] = [row[column.name] for row in table]
    return columns


def locate(
    name: str, split: str | None = None, data: Path | str | None = None, *, fetch: bool = True
) -> SplitData:
    """Find a split's files: the user's own, else those of its source.

    Args:
        name: A benchmark, or one of its tasks (`moviecore_mini`).
        split: One of its splits, mini ones too; by default the task's, or the benchmark's default.
        data: A folder or file that the user gave.
        fetch: Fetch what is not here. Without it nothing reaches for the network.

    Raises:
        InputError: The name or split is unknown, or `data` isn't as expected.
        DataUnavailableError: The files are not here, and may not or could not be fetched.
    """
    named = find_split(name, split)
    return locate_files(named.spec, named.split, named.task, data, fetch=fetch)


def locate_files(
    spec: BenchmarkSpec, split: str, task: TaskSpec | None, data: Path | str | None, *, fetch: bool
) -> SplitData:
    """Find the files of a split whose benchmark is known, as `locate` does."""
    from reelbench.registry.records import SourceRecord

    upstream = upstream_split(spec, split)
    user_data: Path | None = None
    if is_mini(split):
        user_data = spec.folder / MINI
    elif data is not None:
        user_data = Path(data)
    find = sources.resolve if fetch else sources.present
    resolved = find(spec, upstream, user_data)
    if resolved is None:
        raise DataUnavailableError(f"{spec.id} {split}: {sources.how_to_get(spec, upstream)}")
    kind = resolved.kind
    location = resolved.location
    if is_mini(split):
        kind = "mini"
        location = f"{spec.id} {split}"
        if spec.file:
            for path in resolved.paths:
                contained(spec.folder, path)
    hashes = [sha256_once(path) for path in resolved.paths]
    source = SourceRecord(
        kind=kind,
        location=location,
        revision=resolved.revision,
        unpinned=kind == "hub" and _is_unpinned(spec, upstream),
        fingerprint=fingerprint(spec, hashes),
    )
    return SplitData(spec, split, resolved.paths, source, task)


def _is_unpinned(spec: BenchmarkSpec, split: str) -> bool:
    """Return True where a file names a split on the Hub without a commit."""
    source = spec.splits[split].source
    return bool(spec.file) and isinstance(source, HubFile) and source.revision is None


class NamedSplit(NamedTuple):
    """A benchmark and one of its splits, and the task where its name was given."""

    spec: BenchmarkSpec
    split: str
    task: TaskSpec | None


def find_split(name: str, split: str | None = None) -> NamedSplit:
    """Find the benchmark and the split that a benchmark's or a task's name stands for.

    `ID_mini` is a benchmark's mini data, whatever its tasks are called. The task is None where it
    is not on `split`.

    Raises:
        InputError: There is nothing of that name, or it is mini data and `split` isn't.
    """
    named_task = discovery.find_task(name)
    if named_task is not None:
        spec, task = named_task
        if split in (None, task.split):
            return NamedSplit(spec, task.split, task)
        if name in discovery.specs():
            spec = discovery.find(name)
        elif is_mini(task.split):
            _refuse_whole_split(name, spec, split)
        return NamedSplit(spec, split or spec.default_split, None)
    spec = discovery.specs().get(name.removesuffix(f"_{MINI}"))
    if spec is not None and name != spec.id:
        _refuse_whole_split(name, spec, split)
        return NamedSplit(spec, split or MINI, None)
    spec = discovery.find(name)
    return NamedSplit(spec, split or spec.default_split, None)


def _refuse_whole_split(mini_name: str, spec: BenchmarkSpec, split: str | None) -> None:
    """Refuse a whole split of a name that says mini."""
    if split is not None and not is_mini(split):
        splits = ", ".join(spec.splits)
        raise InputError(
            f"{mini_name} is mini data, without a split {split}; {spec.id} has {splits}"
        )


def load(name: str, split: str | None = None, *, data: Path | str | None = None) -> "Dataset":
    """Return a split's normalised rows as a `datasets.Dataset`.

    The columns are in `registry.rows`.
    """
    from datasets import Dataset

    located = locate(name, split, data)
    return Dataset.load_from_disk(str(located.materialise() / located.split))


def fingerprint(spec: BenchmarkSpec, hashes: Sequence[str]) -> str:
    """Return the fingerprint of rows, from their files' sha256 and the reader's version."""
    digest = hashlib.sha256(f"{_LAYOUT} {spec.id} {spec.reader} {spec.reader_version}".encode())
    for sha256 in hashes:
        digest.update(bytes.fromhex(sha256))
    return digest.hexdigest()
