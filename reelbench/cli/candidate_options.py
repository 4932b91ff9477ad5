"""Where candidates come from, declared once for the commands that read them: a run that kept some, or a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli.option_groups import Data, Split, option, takes
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from reelbench.methods.candidates import CandidateSet
    from reelbench.tasks.score import Answers, RunMetadata

ACE_FILE = "ace.json"
_option = partial(option, "candidates")


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSource:
    """Where candidates come from, as it was typed."""

    run: Annotated[
        Path | None, typer.Argument(help="A run whose samples have candidates: its folder, or its result's.")
    ] = None
    candidates: Annotated[Path | None, _option("--candidates")] = None
    benchmark: Annotated[str | None, _option("--benchmark")] = None
    references: Annotated[Path | None, _option("--references")] = None
    split: Split = None
    data: Data = None

    def read(
        self, metadata: "RunMetadata", *, judged: bool
    ) -> "tuple[Path | None, list[CandidateSet], Answers | None]":
        """Return the folder of the run's result, if it is one, the candidates, and what they answer, where known.

        Raises:
            InputError: The options don't go together, or there are no candidates.
        """
        from reelbench.methods.candidates import candidates_of_file, candidates_of_run, read_candidates
        from reelbench.tasks.submissions import Inputs

        beside = bool(self.references or self.split or self.data or metadata.anything)
        if self.run is not None and not (self.candidates or self.benchmark or beside):
            folder = _result(self.run)
            return folder, *candidates_of_run(folder)
        if self.candidates is None or self.run is not None:
            raise InputError("give either a run, whose folder says what it is of, or --candidates FILE and its options")
        cases = read_candidates(self.candidates)
        if self.benchmark is not None:
            inputs = Inputs(self.candidates, self.references, None, self.split, self.data)
            return None, *candidates_of_file(self.benchmark, cases, inputs, metadata)
        if beside or judged:
            raise InputError("name the benchmark that the candidates answer with --benchmark")
        return None, cases, None


takes_candidates = takes("source", CandidateSource)


def numbers(text: str | None) -> Sequence[int | None]:
    """Return the numbers of candidates in `--k N,N,…`, rising; `[None]` where none was given."""
    if text is None:
        return [None]
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 0 < int(part) < 1000 for part in parts):  # noqa: PLR2004
        raise InputError(f"--k {text!r}: not numbers of candidates, e.g. 3,5,7")
    return sorted({int(part) for part in parts})


def _result(run: Path) -> Path:
    """Return the folder of the one result in a run."""
    if (run / "result.json").is_file():
        return run
    folders = sorted(path.parent for path in run.rglob("result.json")) if run.is_dir() else []
    folders = [folder for folder in folders if not (folder / ACE_FILE).is_file()]
    if len(folders) == 1:
        return folders[0]
    if not folders:
        raise InputError(f"{run}: no result in it; give a folder that `reelbench run` or `score` wrote")
    raise InputError(f"{run}: has {len(folders)} results; name one of them: {', '.join(map(str, folders[:5]))}")
