"""The material of a card: the spec, the datasheet, and what was counted from the data.

A datasheet, `datasheet.md` beside the spec, is the prose of a card. Its front matter holds what the
Hub asks of every dataset and no program can count. Below it stand the limitations and the seven
sections of a datasheet (Gebru et al., Datasheets for Datasets), in our own words and with their
sources. Nothing that the spec declares or that rows can be counted for is written there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from reelbench.base import bounds
from reelbench.base.base_record import record_of
from reelbench.base.containment import contained
from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.base.progress import Bar, counted, no_bar
from reelbench.base.yaml_text import read_mapping
from reelbench.data import loading, ownership, sources
from reelbench.data.redistribution import why_withheld
from reelbench.hub_cards import split_counts
from reelbench.registry.datasheet_form import FILE, LIMITATIONS, SECTIONS
from reelbench.registry.records import Data, SourceRecord
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, SplitSpec
from reelbench.registry.splits import MINI, expected_files, user_data

DATA_FOLDER = "data"
CONFIG = "default"


Creator = Literal["crowdsourced", "expert-generated", "found", "machine-generated", "other"]


class Declarations(BaseModel, frozen=True, extra="forbid"):
    """The front matter: values of the Hub's dataset card metadata."""

    task_categories: tuple[
        Literal[
            "video-text-to-text",
            "visual-question-answering",
            "question-answering",
            "multiple-choice",
        ],
        ...,
    ]
    annotations_creators: tuple[Creator, ...]
    language_creators: tuple[Creator, ...]
    source_datasets: tuple[Literal["original", "extended"], ...]
    size_category: str | None = Field(
        None, description="Where the sources agree, though not on the size."
    )
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Datasheet:
    """The whole datasheet. `sections` are in the order of `SECTIONS`."""

    declared: Declarations
    limitations: str
    sections: dict[str, str]


_NONE: dict[str, Any] = dict.fromkeys(
    ("annotations_creators", "language_creators", "source_datasets", "tags"), ()
)
UNSTATED = Datasheet(
    Declarations(task_categories=("video-text-to-text",), **_NONE), "None stated.", {}
)
"""Of a benchmark whose authors wrote none."""


def read_datasheet(spec: BenchmarkSpec) -> Datasheet:
    """Read a benchmark's datasheet.

    One that a `benchmark.yaml` declares may have none: its card then says that nothing is stated.

    Raises:
        InputError: Something is missing, unknown or empty in it, it is too large or not UTF-8, or
            it is a link that leads out.
    """
    path = spec.folder / FILE
    if spec.file:
        path = contained(spec.folder, path)
        if not path.exists():
            return UNSTATED
    if not path.exists():
        names = ", ".join((LIMITATIONS, *SECTIONS))
        raise InputError(f"{path}: no such file; a card needs a datasheet with {names}")
    text = read_text(path, most=bounds.BESIDE_BYTES).replace("\r\n", "\n")
    return parse_datasheet(text, str(path))


def parse_datasheet(text: str, where: str) -> Datasheet:
    """Parse a datasheet's text. `where` names it in errors."""
    match = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    if match is None:
        raise InputError(
            f"{where}: expected a front matter between two lines of '---', then the sections"
        )
    matter = read_mapping(match[1], where, what="its front matter", line=2)
    declared = record_of(Declarations, matter, f"{where}: front matter", mark=": ")
    before, *parts = re.split(r"^## (.+)\n", match[2], flags=re.MULTILINE)
    if before.strip():
        raise InputError(f"{where}: text before the first section: {before.strip()[:40]!r}")
    sections: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        sections[name.strip()] = body.strip()
    expected = (LIMITATIONS, *SECTIONS)
    if tuple(sections) != expected:
        raise InputError(
            f"{where}: has the sections {', '.join(sections)}; expected {', '.join(expected)}, in "
            "this order"
        )
    empty = [name for name, body in sections.items() if not body]
    if empty:
        raise InputError(f"{where}: empty: {', '.join(empty)}")
    limitations = sections.pop(LIMITATIONS)
    return Datasheet(declared=declared, limitations=limitations, sections=sections)


class Counted(NamedTuple):
    """A split's numbers, and the files that they were counted in."""

    statistics: split_counts.SplitStatistics
    source: SourceRecord

    files: tuple[str, ...]
    """The owners' names, since a path is private."""

    data: Data = "unstated"


class SplitMaterial(NamedTuple):
    """A split as declared, and as counted. None where its data is not at hand."""

    name: str
    declared: SplitSpec
    counted: Counted | None

    @property
    def rows(self) -> int | None:
        """Questions: as counted, else as published."""
        return self.counted.statistics.rows if self.counted else self.declared.rows


@dataclass(frozen=True)
class Material:
    """All that a card is rendered from."""

    spec: BenchmarkSpec
    sheet: Datasheet
    splits: tuple[SplitMaterial, ...]
    example: Row | None

    repo_id: str | None
    """The dataset repository that the card is for. None where it isn't known yet."""

    data_splits: tuple[str, ...]
    """The splits whose rows lie in that repository, as the configuration `config`."""

    config: str

    framework: str | None = None
    """Who evaluates, for `eval.yaml`. None is us."""

    @property
    def own_rows(self) -> bool:
        """True where rows were counted that are somebody's own, and not the owners'."""
        return any(split.counted and split.counted.data == "own" for split in self.splits)

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP-47 tags: as counted in all splits, else as the spec declares them."""
        tags: set[str] = set()
        for split in self.splits:
            if split.counted is None:  # a language may be missing
                return self.spec.languages
            tags.update(split.counted.statistics.languages)
        return tuple(sorted(tags))


def gather(
    spec: BenchmarkSpec,
    data: Path | None = None,
    *,
    repo_id: str | None = None,
    config: str = CONFIG,
    data_splits: Sequence[str] | None = None,
    labels: split_counts.Labels | None = None,
    framework: str | None = None,
    bar: Bar = no_bar,
) -> Material:
    """Gather a card's material from what is on this machine. Never asks the network.

    Args:
        spec: The benchmark.
        data: The user's copy: a folder with the files of one or more splits, or one split's file.
        repo_id: As in `Material`, like `config` and `framework`.
        config: See there.
        data_splits: Likewise; by default all splits whose rows may be passed on.
        labels: Labels that the rows don't hold, such as CogME's tags.
        framework: See there.
        bar: It shows how many splits are counted.

    Raises:
        InputError: `data` is not there or can't be read.
    """
    located = locate_splits(spec, data)
    splits: list[SplitMaterial] = []
    with bar("counting splits", len(spec.splits)) as show:
        for name, declared in counted(spec.splits.items(), show):
            numbers = _count_rows(spec, located[name], labels) if name in located else None
            splits.append(SplitMaterial(name, declared, numbers))
    if data_splits is None:
        data_splits = [name for name in spec.splits if why_withheld(spec, name) is None]
    example: Row | None = None
    if (spec.folder / MINI).is_dir():
        example = loading.locate(spec.id, MINI).read()[0]
    return Material(
        spec,
        read_datasheet(spec),
        tuple(splits),
        example,
        repo_id,
        tuple(data_splits),
        config,
        framework,
    )


def _count_rows(
    spec: BenchmarkSpec, split: loading.SplitData, labels: split_counts.Labels | None
) -> Counted:
    """Count the rows of a split."""
    public_names = _file_names(spec.splits[split.split])
    names = [path.name for path in split.paths]
    public_files = tuple(name for name in names if name in public_names)
    rows = split.read()
    entries = [ownership.entry_of(spec, row) for row in rows]
    owner = ownership.rows_owner(spec, split.split, split.source, entries)
    counts = split_counts.of_split(spec, rows, labels)
    return Counted(counts, split.source, public_files, owner)


def _file_names(declared: SplitSpec) -> set[str]:
    """Return the names that a split's files may have, without folders."""
    paths = (*expected_files(declared.source), *declared.joined)
    return {Path(path).name for path in paths}


def locate_splits(spec: BenchmarkSpec, data: Path | None) -> dict[str, loading.SplitData]:
    """Find the splits whose files are on this machine, without the network.

    A folder may hold only some of the splits. A file is the split whose source has its name, else
    the default one.
    """
    user_copy = user_data(spec, data)
    if user_copy is not None and user_copy[0].is_file():
        file = user_copy[0]
        split = _split_of_file(spec, file)
        return {split: loading.locate(spec.id, split, file)}
    splits: dict[str, loading.SplitData] = {}
    errors: list[InputError] = []
    for split in spec.splits:
        try:
            if sources.present(spec, split, data) is not None:
                splits[split] = loading.locate(spec.id, split, data)
        except InputError as error:
            errors.append(error)
    if user_copy is not None and not splits:
        raise errors[0]
    return splits


def _split_of_file(spec: BenchmarkSpec, file: Path) -> str:
    for split, declared in spec.splits.items():
        if file.name in _file_names(declared):
            return split
    return spec.default_split


def data_path(split: str) -> str:
    """Return the path of a split's rows in a dataset repository."""
    return f"{DATA_FOLDER}/{split}.parquet"
