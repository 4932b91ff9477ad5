"""Families of options that several commands share: a line in a command's help, whole in `reelbench help FAMILY`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer import _click


@dataclass(frozen=True, slots=True)
class Family:
    """Options that belong together.

    Attributes:
        panels: Headings under which commands declare them.
        about: What they are for, in a few words.
        main: Those that a command's help names, of those that it takes.
        more: What `reelbench help FAMILY` says beside the options.
        parameters: Options without a panel that belong to it, by the name of their parameter.
    """

    panels: tuple[str, ...]
    about: str
    main: tuple[str, ...]
    more: str = ""
    parameters: tuple[str, ...] = ()


JUDGE = "Judge"
LANGUAGE_MODEL = "Language model"
ANSWERS = "What the result says of the answers"
MODEL = "What the result says of the model"
AGAIN = "Some questions only"
SWEEP = "Several settings"
TABLE = "A table of ids and texts"
SOURCES = "Rules for sources"
CUTS = "Cuts between ratings"
GATES = "Gates"

FAMILIES = {
    "judge": Family(
        (JUDGE,),
        "who judges open answers, and what it may cost",
        ("--judge", "--judge-url", "--judge-budget"),
        "Nothing is judged unless you name a judge. Every reply is kept as it arrives and paid for once; the key is\n"
        "REELBENCH_JUDGE_API_KEY, else OPENAI_API_KEY. `--judge-estimate` counts calls and cost and asks nothing.",
    ),
    "llm": Family(
        (LANGUAGE_MODEL,),
        "which language model is asked, and what it may cost",
        ("--llm", "--llm-url", "--llm-budget"),
        "Replies are kept as they arrive and paid for once; the key is REELBENCH_LLM_API_KEY, else OPENAI_API_KEY. Of\n"
        "several roles, `--llm ROLE=MODEL` names one's model, and `@URL` after a model its own server.",
    ),
    "frames": Family(
        (),
        "which frames of a video a model is shown",
        ("--frames",),
        "A SPEC says which frames of a video a model is shown:\n"
        "  uniform:32          32 frames, evenly spaced\n"
        "  fps:2[,max=128]     2 frames a second, at most max\n"
        "  keyframe:32         32 of the film's own key frames\n"
        "  window:12.5-40,16   16 frames of this part (seconds)\n"
        "  all, none, native   every frame; no frames; as the model samples by itself\n"
        "and after it, separated by commas: size=448 (short side in pixels), as=clip|images, audio=keep|drop,\n"
        "times=text|none (frames with their times), subs=file (the subtitles of the time shown).\n"
        "Without it: REELBENCH_FRAMES, else native in `run` and uniform:32 in `ask`.",
        ("frames",),
    ),
    "about": Family(
        (ANSWERS, MODEL),
        "what is put on record of the model and its answers",
        ("--model", "--about"),
    ),
    "questions": Family(
        (AGAIN,),
        "some questions only, or some of an earlier result again",
        ("--ids", "--only", "--from"),
    ),
    "sweeps": Family(
        (SWEEP,),
        "one run for each of several settings",
        ("--frames-sweep", "--sweep", "--languages"),
    ),
    "rules": Family(
        (SOURCES, CUTS),
        "which events and windows are taken, and where ratings are cut",
        ("--longest-event", "--similar-from", "--verified-from"),
        "What was chosen stands in funnel.json, under `thresholds`.",
    ),
    "gates": Family(
        (GATES,),
        "what made questions must pass, each gate counted in funnel.json",
        ("--gate",),
    ),
    "table": Family((TABLE,), "columns of a table of answers", ("--id-column", "--text-column", "--template")),
}


def of_panel(panel: str) -> str | None:
    """Return the family that a panel belongs to, or None."""
    return next((name for name, family in FAMILIES.items() if panel in family.panels), None)


def family_of(parameter: "_click.Parameter") -> str | None:
    """Return the family that an option belongs to, or None."""
    if panel := getattr(parameter, "rich_help_panel", None):
        return of_panel(panel)
    return next((name for name, family in FAMILIES.items() if parameter.name in family.parameters), None)
