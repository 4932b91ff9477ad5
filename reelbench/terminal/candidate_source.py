"""Where the candidates of a command come from: a run that kept some, or a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError
from reelbench.terminal.asking_options import AboutAnswers
from reelbench.terminal.option_groups import Data, Split

if TYPE_CHECKING:
    from reelbench.methods.candidates import CandidateSet
    from reelbench.tasks.score import Answers

ACE_FILE = "ace.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSource:
    """Where candidates come from, a run that kept some or a file, as it was typed."""

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
    ) -> "tuple[Path | None, list[CandidateSet], Answers | None]":
        """Return the folder of the run's result, if it is one, the candidates, and what they answer, where known.

        With `several`, the answers of several runs of one model (`--runs`) are candidates, too.
        InputError where the options don't go together, or there are no candidates.
        """
        from reelbench.methods.candidates import (
            candidates_of_file,
            candidates_of_run,
            read_candidates,
        )
        from reelbench.scoring import result_files, runs
        from reelbench.tasks.submissions import Inputs

        beside = bool(self.references or self.split or self.data or metadata.anything)
        if self.run is not None and not (self.candidates or self.benchmark or beside):
            found = result_files.folders(self.run)
            folders = [folder for folder in found if not (folder / ACE_FILE).is_file()] or found
            if len(folders) > 1 and not (
                several and len(runs.group_repeats(folders, result_files.read)) == 1
            ):
                names = ", ".join(map(str, folders[:5]))
                raise InputError(
                    f"{self.run}: has {len(folders)} results; name one of them: {names}"
                )
            return folders[0], *candidates_of_run(*folders)
        if self.candidates is None or self.run is not None:
            raise InputError(
                "give either a run, whose folder says what it is of, or --candidates FILE and "
                "its options"
            )
        cases = read_candidates(self.candidates)
        if self.benchmark is not None:
            inputs = Inputs(self.candidates, self.references, None, self.split, self.data)
            return None, *candidates_of_file(self.benchmark, cases, inputs, metadata)
        if beside or judged:
            raise InputError("name the benchmark that the candidates answer with --benchmark")
        return None, cases, None


def numbers(text: str | None) -> Sequence[int | None]:
    """Return the numbers of candidates in `--k N,N,…`, rising; `[None]` where none was given."""
    if text is None:
        return [None]
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 0 < int(part) < 1000 for part in parts):  # noqa: PLR2004
        raise InputError(f"--k {text!r}: not numbers of candidates, e.g. 3,5,7")
    return sorted({int(part) for part in parts})
