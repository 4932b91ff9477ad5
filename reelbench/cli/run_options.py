"""The options of `reelbench run` and `reelbench ask` that are no judge's and no language model's."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from reelbench.cli.option_groups import Kind, option, takes
from reelbench.registry.errors import InputError

_run, _sweeps = partial(option, "run"), partial(option, "sweeps")

Label = Annotated[str | None, _run("--label")]
Frames = Annotated[str | None, _run("--frames"), Kind.FRAMES]
Candidates = Annotated[str | None, _run("--candidates")]
Answering = Annotated[str | None, _run("--answering")]
Strict = Annotated[bool, _run("--strict")]
Processes = Annotated[int, _run("--processes")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepChoice:
    """Which setting a run is repeated over, as it was typed; at most one of `frames_sweep`, `sweep` and `languages`."""

    frames_sweep: Annotated[str | None, _sweeps("--frames-sweep")] = None
    sweep: Annotated[str | None, _sweeps("--sweep")] = None
    languages: Annotated[str | None, _sweeps("--languages"), Kind.LANGUAGES] = None
    translations: Annotated[Path | None, _sweeps("--translations")] = None
    sweep_by: Annotated[str | None, _sweeps("--sweep-by")] = None

    def check(self, *, translator: bool, parts: bool, processes: int) -> None:
        """Raise InputError where options don't go together.

        `translator` says whether a language model was named, `parts` whether some questions only are asked, `processes`
        how many share them.
        """
        if processes > 1 and self != SweepChoice():
            raise InputError("--processes is for one run; leave out the sweep")
        if parts and self != SweepChoice():
            raise InputError("--ids, --only and --from are for one run; leave out the sweep")
        if sum(chosen is not None for chosen in (self.frames_sweep, self.sweep, self.languages)) > 1:
            raise InputError("--frames-sweep, --sweep and --languages: one of them at a time")
        if (self.translations is not None or translator) and self.languages is None:
            raise InputError("--translations and --llm are for --languages; name the languages")
        if self.sweep_by is not None and self.frames_sweep is None and self.sweep is None:
            raise InputError("--sweep-by is for --frames-sweep or --sweep")


takes_sweep = takes("several", SweepChoice)
