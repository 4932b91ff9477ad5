"""What a card is made of: the spec, the datasheet, and what was counted where the data is at hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from reelbench.hub_cards import counts, datasheet
from reelbench.hub_cards.counts import Labels, SplitStatistics
from reelbench.hub_cards.datasheet import Datasheet
from reelbench.registry.data import loading, ownership, sources
from reelbench.registry.data.loading import SplitData
from reelbench.registry.data.passing_on import why_withheld
from reelbench.registry.errors import InputError
from reelbench.registry.records import Data, SourceRecord
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, SplitSpec

DATA_FOLDER = "data"
CONFIG = "default"


class Counted(NamedTuple):
    """A split's numbers, and the files that they were counted in: the owners' names, since a path is private."""

    statistics: SplitStatistics
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

    `repo_id` is the dataset repository that the card is for, None where it isn't known yet. `data_splits` are the
    splits whose rows lie in that repository, as the configuration `config`. `framework` is who evaluates, for
    `eval.yaml`; None is us.
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
    def languages_counted(self) -> bool:
        """Whether all splits were counted, so that no language can be missing."""
        return all(split.counted for split in self.splits)

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP-47 tags: of the rows where all splits were counted, else as the spec declares them."""
        if not self.languages_counted:
            return self.spec.languages
        return tuple(
            sorted({tag for split in self.splits if split.counted for tag in split.counted.statistics.languages})
        )


def gather(
    spec: BenchmarkSpec,
    data: Path | None = None,
    *,
    repo_id: str | None = None,
    config: str = CONFIG,
    data_splits: Sequence[str] | None = None,
    labels: Labels | None = None,
    framework: str | None = None,
) -> Material:
    """Gather a card's material from what is on this machine; never asks the network.

    `data` is the user's copy: a folder with the files of one or more splits, or one split's file; InputError where it
    is not there or can't be read. `data_splits` are by default all whose rows may be passed on; `labels` those that the
    rows don't hold, such as CogME's tags.
    """
    at_hand = located(spec, data)
    splits = []
    for name, declared in spec.splits.items():
        counted = None
        if name in at_hand:
            split = at_hand[name]
            public = {Path(path).name for path in (*sources.expected_files(declared.source), *declared.joined)}
            files = tuple(path.name for path in split.paths if path.name in public)
            rows = split.read()
            data_of_rows = ownership.whose(spec, name, split.source, [ownership.entry_of(spec, row) for row in rows])
            counted = Counted(counts.of_split(spec, rows, labels), split.source, files, data_of_rows)
        splits.append(SplitMaterial(name, declared, counted))
    if data_splits is None:
        data_splits = [name for name in spec.splits if why_withheld(spec, name) is None]
    has_mini = (spec.folder / loading.MINI).is_dir()
    example = loading.locate(spec.id, loading.MINI).read()[0] if has_mini else None
    return Material(spec, datasheet.read(spec), tuple(splits), example, repo_id, tuple(data_splits), config, framework)


def located(spec: BenchmarkSpec, data: Path | None) -> dict[str, SplitData]:
    """Find the splits whose files are on this machine, without the network.

    A folder may hold only some of the splits; a file is the split whose source has its name, else the default one.
    """
    named = sources.user_data(spec, data)
    if named is not None and named[0].is_file():
        of_file = spec.default_split
        for split, declared in reversed(spec.splits.items()):
            if named[0].name in {Path(n).name for n in (*sources.expected_files(declared.source), *declared.joined)}:
                of_file = split
        return {of_file: loading.locate(spec.id, of_file, named[0])}
    splits: dict[str, SplitData] = {}
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
