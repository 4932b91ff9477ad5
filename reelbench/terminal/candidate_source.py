"""The candidates of a command: those of a run, or of a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from reelbench.base.errors import InputError
from reelbench.terminal.asking_options import AboutAnswers
from reelbench.terminal.option_groups import Data, Split

if TYPE_CHECKING:
    from reelbench.methods.candidates import CandidateSet
    from reelbench.tasks.score import Answers

ACE_FILE = "ace.json"
_MOST_CANDIDATES = 999


class SourceCandidates(NamedTuple):
    """The candidates of a source, and what they answer where that is known.

    `run` is the folder of the run's result, or None for a file.
    """

    run: Path | None
    cases: "list[CandidateSet]"
    answers: "Answers | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSource:
    """The source of candidates as it was typed: a run, or a file."""

    run: Annotated[
        Path | None,
        typer.Argument(help="A run whose samples have candidates: its folder, or its result's."),
    ] = None
    candidates: Annotated[
        Path | None,
        typer.Option(
            "--candidates",
            metavar="FILE",
            help='JSON Lines {"id", "candidates": […]}, or the list [{"question_id",'
            ' "answer": […]}] of LAVIS.',
        ),
    ] = None
    benchmark: Annotated[
        str | None,
        typer.Option(
            "--benchmark", metavar="NAME", help="Benchmark or task that the candidates answer."
        ),
    ] = None
    references: Annotated[
        Path | None,
        typer.Option("--references", help="References file; default: the benchmark's own."),
    ] = None
    split: Split = None
    data: Data = None

    def read(
        self, metadata: AboutAnswers, *, judged: bool, several: bool = False
    ) -> SourceCandidates:
        """Read the candidates.

        With `several`, the answers of several runs of one model (`--runs`) are candidates, too.

        Raises:
            InputError: The options don't go together, or there are no candidates.
        """
        is_described = bool(self.references or self.split or self.data or metadata.anything)
        has_file_options = bool(self.candidates or self.benchmark or is_described)
        if self.run is not None and not has_file_options:
            return _read_run(self.run, several=several)
        if self.candidates is None or self.run is not None:
            raise InputError("give either a run's folder, or --candidates FILE with its options")
        from reelbench.methods.candidates import candidates_of_file, read_candidates
        from reelbench.tasks.submissions import Inputs

        cases = read_candidates(self.candidates)
        if self.benchmark is not None:
            inputs = Inputs(self.candidates, self.references, None, self.split, self.data)
            joined = candidates_of_file(self.benchmark, cases, inputs, metadata)
            return SourceCandidates(None, joined.cases, joined.answers)
        if is_described or judged:
            raise InputError("name the benchmark that the candidates answer with --benchmark")
        return SourceCandidates(None, cases, None)


def _read_run(run: Path, *, several: bool) -> SourceCandidates:
    """Read the candidates of a run's result, or of several runs of one model."""
    from reelbench.methods.candidates import candidates_of_run
    from reelbench.scoring import result_files, runs

    result_folders = result_files.folders(run)
    folders = [folder for folder in result_folders if not (folder / ACE_FILE).is_file()]
    if not folders:
        folders = result_folders
    if len(folders) > 1:
        are_repeats = several and len(runs.group_repeats(folders, result_files.read)) == 1
        if not are_repeats:
            names = ", ".join(map(str, folders[:5]))
            raise InputError(f"{run}: has {len(folders)} results; name one of them: {names}")
    joined = candidates_of_run(*folders)
    return SourceCandidates(folders[0], joined.cases, joined.answers)


def numbers(text: str | None) -> Sequence[int | None]:
    """Return the numbers of candidates in `--k N,N,…`, rising.

    It is `[None]` where none was given.
    """
    if text is None:
        return [None]
    distinct_numbers: set[int] = set()
    for part in text.split(","):
        digits = part.strip()
        is_number = digits.isascii() and digits.isdigit()
        if not is_number or not 0 < int(digits) <= _MOST_CANDIDATES:
            raise InputError(f"--k {text!r}: not numbers of candidates, e.g. 3,5,7")
        distinct_numbers.add(int(digits))
    return sorted(distinct_numbers)
