"""Results as they lie in run folders, with the questions beside them, grouped by what can be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.registry import discovery
from reelbench.registry.data import loading
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.records import Result, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import result_files


@dataclass(frozen=True, slots=True)
class ViewedRun:
    """A result as it lies on disk.

    Attributes:
        samples: Its items by id, in their order.
        questions: Id -> `question`, `options`, `media`, from the file beside it; empty where there is none.
    """

    folder: Path
    result: Result
    samples: Mapping[str, Sample]
    questions: Mapping[str, Mapping[str, Any]]

    @property
    def spec(self) -> BenchmarkSpec:
        """Its benchmark."""
        return discovery.spec_of(self.result.benchmark)

    @property
    def split(self) -> str:
        """Its split."""
        return self.result.benchmark.split


def read(folder: Path) -> ViewedRun:
    """Read a result, its samples and its questions."""
    result = result_files.read(folder)
    samples = {sample.id: sample for sample in result_files.read_samples(folder)}
    return ViewedRun(folder, result, samples, result_files.read_questions(folder))


def grouped(paths: Sequence[Path]) -> list[list[ViewedRun]]:
    """Read every result under the paths, together what is of the same benchmark, version and split.

    Raises:
        InputError: Several paths were given, and nothing in them can be compared.
    """
    groups: dict[tuple[str, int, str], list[ViewedRun]] = {}
    for folder in dict.fromkeys(folder for path in paths for folder in result_files.folders(path)):
        run = read(folder)
        about = run.result.benchmark
        groups.setdefault((about.id, about.version, about.split), []).append(run)
    if len(paths) > 1 and all(len(runs) == 1 for runs in groups.values()):
        there = ", ".join(
            f"{runs[0].folder} is {name} {split} (version {n})" for (name, n, split), runs in groups.items()
        )
        raise InputError(f"{there}; only results on the same benchmark, version and split stand side by side")
    return list(groups.values())


def rows_here(spec: BenchmarkSpec, split: str) -> dict[str, Row]:
    """Return the split's rows by id where its data is on this machine, else nothing; nothing is fetched."""
    try:
        return {row["id"]: row for row in loading.locate(spec.id, split, fetch=False).read()}
    except ReelbenchError:
        return {}
