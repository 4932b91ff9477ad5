"""The options of `reelbench run` and `reelbench ask` that are no judge's and no language model's."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from reelbench.cli import families
from reelbench.cli.option_groups import Kind, takes
from reelbench.registry.errors import InputError

_SWEEP = families.SWEEP

Label = Annotated[str | None, typer.Option(metavar="TEXT", help='Other conditions of the answers, e.g. "web search".')]
Frames = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="Frames that the model is shown: uniform:N, fps:F[,max=N], keyframe:N, window:START-END,N, all, none "
        "(text only) or native (the model's own); options size=PIXELS, as=clip|images, "
        "times=text|none, subs=file. Default: REELBENCH_FRAMES.",
    ),
    Kind.FRAMES,
]
Candidates = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="Answers to each question; the first is scored, all are kept: beam:K (Hugging Face models only) or "
        "sample:K,t=T. Default: REELBENCH_CANDIDATES.",
    ),
]
Answering = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="How an `_options` task compares its options' likelihood: options[:norm=mean|sum|chars,over=sentence|"
        "option,span=predicted|truth|none]. Default: REELBENCH_ANSWERING, else the first of each.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit 1 if a question is unscored, or was shown other frames or times than asked for.",
    ),
]
Processes = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Processes that share the questions, a GPU each.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepChoice:
    """Which setting a run is repeated over, as it was typed; at most one of `frames_sweep`, `sweep` and `languages`."""

    frames_sweep: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Run once for each number of frames (0: text only) and plot the score against it; "
            "--frames then has N for the number, e.g. uniform:N,size=448.",
            rich_help_panel=_SWEEP,
        ),
    ] = None
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=A,B,...",
            help="Run once for each value of an argument of the adapter's, or with gen_kwargs.KEY of generation.",
            rich_help_panel=_SWEEP,
        ),
    ] = None
    languages: Annotated[
        str | None,
        typer.Option(
            metavar="TAG,TAG,...",
            help="Run once in the original language and once in each of these (en,es,ja), "
            "translated by --llm translator=MODEL or read from --translations.",
            rich_help_panel=_SWEEP,
        ),
        Kind.LANGUAGES,
    ] = None
    translations: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='JSON Lines {"id", "language", "question"} for --languages.',
            rich_help_panel=_SWEEP,
        ),
    ] = None
    sweep_by: Annotated[
        str | None,
        typer.Option(
            metavar="FACET",
            help="One line per label of a facet (locale), beside the total.",
            rich_help_panel=_SWEEP,
        ),
    ] = None

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
"""Gives a command these options; it takes their outcome as its argument `several`."""
