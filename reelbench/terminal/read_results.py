"""Results that a command reads: one, or several runs of a model as their means."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.progress import counted
from reelbench.terminal import console

if TYPE_CHECKING:
    from reelbench.registry.records import Result, Sample


@dataclass(slots=True)
class ResultRead:
    """A result and its samples; of several runs of a model their means."""

    result: "Result"
    samples: "list[Sample]"
    place: Path
    runs: int = 1

    @property
    def name(self) -> str:
        """The model, and how many runs of it these are."""
        if self.runs > 1:
            return f"{self.result.model.id} ({self.runs} runs)"
        return self.result.model.id


def read_one(path: Path) -> ResultRead:
    """Read the one result in a folder, below it, or of a `result.json`."""
    from reelbench.scoring import result_files

    return read_folders([result_files.folder_of_one(path)])


def read_folders(folders: list[Path]) -> ResultRead:
    """Read a result's folder, or those of several runs.

    A note names each that changed after scoring.
    """
    from reelbench.registry import discovery
    from reelbench.scoring import result_files, runs

    results: list[Result] = []
    samples: list[list[Sample]] = []
    with console.progress("reading results", len(folders)) as show:
        for folder in counted(folders, show):
            result = result_files.read(folder)
            if result_files.changed_after_scoring(folder, result):
                changed = result_files.samples_of(folder)
                console.note(
                    f"{changed}: was changed after scoring, so it no longer matches "
                    f"{result_files.RESULT_FILE}"
                )
            results.append(result)
            samples.append(list(result_files.read_samples(folder)))
    if len(folders) == 1:
        return ResultRead(results[0], samples[0], folders[0])
    spec = discovery.spec_of(results[0].benchmark)
    mean_result, mean_samples = runs.together(spec, results, samples)
    return ResultRead(mean_result, mean_samples, folders[0].parent, len(folders))
