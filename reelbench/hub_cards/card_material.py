"""What a card is made of: the spec, the datasheet, and what was counted where the data is at hand.

A datasheet, `datasheet.md` beside the spec, is the prose of a card. Its front matter holds what the
Hub asks of every dataset and no program can count; below it stand the limitations and the seven
sections of a datasheet (Gebru et al., Datasheets for Datasets), in our own words and with their
sources. Nothing that the spec declares or that rows can be counted for is written there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from reelbench.base.base_record import record_of
from reelbench.base.containment import contained
from reelbench.base.errors import InputError
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
        None, description="Where the sources disagree on the size but not on this."
    )
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Datasheet:
    """The whole datasheet; `sections` are in the order of `SECTIONS`."""

    declared: Declarations
    limitations: str
    sections: dict[str, str]


_NONE: dict[str, Any] = dict.fromkeys(
    ("annotations_creators", "language_creators", "source_datasets", "tags"), ()
)
UNSTATED = Datasheet(
    Declarations(task_categories=("video-text-to-text",), **_NONE), "None are stated.", {}
)
"""Of a benchmark whose authors wrote none."""


def read_datasheet(spec: BenchmarkSpec) -> Datasheet:
    """Read a benchmark's datasheet; InputError says what is missing, unknown or empty in it, or that it is a link out.

    One that a `benchmark.yaml` declares may have none: its card then says that nothing is stated.
    """
    path = contained(spec.folder, spec.folder / FILE) if spec.file else spec.folder / FILE
    if not path.is_file() and spec.file:
        return UNSTATED
    if not path.is_file():
        raise InputError(
            f"{path}: no such file; a card needs a datasheet with {', '.join((LIMITATIONS, *SECTIONS))}"
        )
    return parse_datasheet(path.read_text(encoding="utf-8"), str(path))


def parse_datasheet(text: str, where: str) -> Datasheet:
    """Parse a datasheet's text; `where` names it in errors."""
    match = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    if match is None:
        raise InputError(
            f"{where}: expected a front matter between two lines of '---', then the sections"
        )
    matter = read_mapping(match[1], where, what="its front matter", line=2)
    declared = record_of(Declarations, matter, f"{where}: front matter", mark=": ")
    parts = re.split(r"^## (.+)\n", match[2], flags=re.MULTILINE)
    if parts[0].strip():
        raise InputError(f"{where}: text before the first section: {parts[0].strip()[:40]!r}")
    sections = {
        name.strip(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    wanted = (LIMITATIONS, *SECTIONS)
    if tuple(sections) != wanted:
        raise InputError(
            f"{where}: has the sections {', '.join(sections)}; expected {', '.join(wanted)}, in this order"
        )
    if empty := [name for name, body in sections.items() if not body]:
        raise InputError(f"{where}: empty: {', '.join(empty)}")
    limitations = sections.pop(LIMITATIONS)
    return Datasheet(declared=declared, limitations=limitations, sections=sections)


class Counted(NamedTuple):
    """A split's numbers, and the files that they were counted in: the owners' names, since a path is private."""

    statistics: split_counts.SplitStatistics
    source: SourceRecord
    files: tuple[str, ...]
    data: Data = "unstated"


class SplitMaterial(NamedTuple):
    """A split as declared, and as counted; None where its data is not at hand."""

    name: str
    declared: SplitSpec
    counted: Counted | None

    @property
    def rows(self) -> int | None:
        """Questions: as counted, else as published."""
        return self.counted.statistics.rows if self.counted else self.declared.rows


@dataclass(frozen=True)
class Material:
    """All that a card is rendered from.

    `repo_id` is the dataset repository that the card is for, None where it isn't known yet.
    `data_splits` are the splits whose rows lie in that repository, as the configuration `config`.
    `framework` is who evaluates, for `eval.yaml`; None is us.
    """

    spec: BenchmarkSpec
    sheet: Datasheet
    splits: tuple[SplitMaterial, ...]
    example: Row | None
    repo_id: str | None
    data_splits: tuple[str, ...]
    config: str
    framework: str | None = None

    @property
    def own_rows(self) -> bool:
        """Whether rows were counted that are somebody's own, and not the owners' of the benchmark."""
        return any(split.counted and split.counted.data == "own" for split in self.splits)

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP-47 tags: of the rows where all splits were counted, else as the spec declares them."""
        if not all(split.counted for split in self.splits):  # a language may be missing
            return self.spec.languages
        return tuple(
            sorted(
                {
                    tag
                    for split in self.splits
                    if split.counted
                    for tag in split.counted.statistics.languages
                }
            )
        )


def gather(
    spec: BenchmarkSpec,
    data: Path | None = None,
    *,
    repo_id: str | None = None,
    config: str = CONFIG,
    data_splits: Sequence[str] | None = None,
    labels: split_counts.Labels | None = None,
    framework: str | None = None,
) -> Material:
    """Gather a card's material from what is on this machine; never asks the network.

    `data` is the user's copy: a folder with the files of one or more splits, or one split's file;
    InputError where it is not there or can't be read. `data_splits` are by default all whose rows
    may be passed on; `labels` those that the rows don't hold, such as CogME's tags.
    """
    at_hand = locate_splits(spec, data)
    splits = []
    for name, declared in spec.splits.items():
        counted = None
        if name in at_hand:
            split = at_hand[name]
            public = {
                Path(path).name for path in (*expected_files(declared.source), *declared.joined)
            }
            files = tuple(path.name for path in split.paths if path.name in public)
            rows = split.read()
            data_of_rows = ownership.whose(
                spec, name, split.source, [ownership.entry_of(spec, row) for row in rows]
            )
            counted = Counted(
                split_counts.of_split(spec, rows, labels), split.source, files, data_of_rows
            )
        splits.append(SplitMaterial(name, declared, counted))
    if data_splits is None:
        data_splits = [name for name in spec.splits if why_withheld(spec, name) is None]
    has_mini = (spec.folder / MINI).is_dir()
    example = loading.locate(spec.id, MINI).read()[0] if has_mini else None
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


def locate_splits(spec: BenchmarkSpec, data: Path | None) -> dict[str, loading.SplitData]:
    """Find the splits whose files are on this machine, without the network.

    A folder may hold only some of the splits; a file is the split whose source has its name, else
    the default one.
    """
    named = user_data(spec, data)
    if named is not None and named[0].is_file():
        of_file = spec.default_split
        for split, declared in reversed(spec.splits.items()):
            if named[0].name in {
                Path(n).name for n in (*expected_files(declared.source), *declared.joined)
            }:
                of_file = split
        return {of_file: loading.locate(spec.id, of_file, named[0])}
    splits: dict[str, loading.SplitData] = {}
    refused: list[InputError] = []
    for split in spec.splits:
        try:
            if sources.present(spec, split, data) is not None:
                splits[split] = loading.locate(spec.id, split, data)
        except InputError as error:
            refused.append(error)
    if named is not None and not splits:
        raise refused[0]
    return splits


def data_path(split: str) -> str:
    """Return the path of a split's rows in a dataset repository."""
    return f"{DATA_FOLDER}/{split}.parquet"
