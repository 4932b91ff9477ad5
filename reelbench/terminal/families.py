"""Families of options that several commands share.

A command's help names a family in a line. `reelbench help FAMILY` shows it whole.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer import _click


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Options that belong together: those under some headings, and some without one by parameter.

    A command's help names the `main` ones of those that it takes. `reelbench help FAMILY` says
    `more`.
    """

    about: str
    panels: tuple[str, ...] = ()
    main: tuple[str, ...]
    more: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


FAMILIES = {
    "judge": Family(
        about="the judge of open answers",
        panels=("Judge",),
        main=("--judge", "--judge-budget"),
        more=(
            (
                "Nothing is judged unless you name a judge. Every reply is kept as it"
                " arrives and paid for once; the key is"
            ),
            (
                "REELBENCH_JUDGE_API_KEY, else OPENAI_API_KEY. `--judge-estimate` "
                "counts calls and cost and asks nothing."
            ),
        ),
    ),
    "reader": Family(
        about="a model for unread answers",
        panels=("Reader",),
        main=("--reader",),
        more=(
            "No model is asked unless you name a reader. It sees an answer and its options, and",
            "says which of them the answer states, or none; replies are kept and paid for once.",
            "Such a result has a table of its own. The key is REELBENCH_READER_API_KEY, else",
            "OPENAI_API_KEY.",
        ),
    ),
    "llm": Family(
        about="the language model that is asked, and its cost limits",
        panels=("Language model",),
        main=("--llm", "--llm-url", "--llm-budget"),
        more=(
            (
                "Replies are kept as they arrive and paid for once; the key is "
                "REELBENCH_LLM_API_KEY, else OPENAI_API_KEY. Of"
            ),
            (
                "several roles, `--llm ROLE=MODEL` names one's model, and `@URL` "
                "after a model its own server."
            ),
        ),
    ),
    "frames": Family(
        about="which frames of a video a model is shown",
        main=("--frames",),
        more=(
            "A SPEC says which frames of a video a model is shown:",
            "  uniform:32          32 frames, evenly spaced",
            "  fps:2[,max=128]     2 frames a second, at most max",
            "  keyframe:32         32 of the video's own key frames",
            "  window:12.5-40,16   16 frames of this part (seconds)",
            "  all, none, native   every frame; no frames; as the model samples by itself",
            (
                "and after it, separated by commas: size=448 (short side in pixels), "
                "as=clip|images, audio=keep|drop,"
            ),
            (
                "times=text|none (frames with their times), subs=file (the subtitles "
                "of the time shown)."
            ),
            "Without it: REELBENCH_FRAMES, else native in `run` and uniform:32 in `ask`.",
        ),
        parameters=("frames",),
    ),
    "about": Family(
        about="the record of the model and its answers",
        panels=(
            "What the result records about the answers",
            "What the result records about the model",
        ),
        main=("--model", "--about"),
    ),
    "questions": Family(
        about="some questions only, or some of an earlier result again",
        panels=("Some questions only",),
        main=("--ids", "--only", "--from"),
    ),
    "sweeps": Family(
        about="one run for each of several settings, or several runs in one",
        panels=("Several settings",),
        main=("--frames-sweep", "--sweep", "--languages", "--runs"),
        more=(
            "--frames 0,8,32 of `eval` and `ask` runs once with each number of frames, as",
            "--frames-sweep 0,8,32 of `run` does. --sweep and --languages are for checkpoints.",
        ),
    ),
    "rules": Family(
        about="which events and windows are used, and the limits of ratings",
        panels=("Rules for sources", "Cuts between ratings"),
        main=("--longest-event", "--similar-from", "--verified-from"),
        more=("funnel.json records the values, under `thresholds`.",),
    ),
    "gates": Family(
        about="filters of generated questions; funnel.json counts each gate",
        panels=("Gates",),
        main=("--gate",),
    ),
    "table": Family(
        about="columns of a table of answers",
        panels=("A table of ids and texts",),
        main=("--id-column", "--text-column", "--template"),
    ),
}

OF_PANEL: dict[str, str] = {}
"""Heading of options -> the family that it belongs to."""
for _name, _family in FAMILIES.items():
    OF_PANEL.update(dict.fromkeys(_family.panels, _name))

ASKED = ("judge", "reader", "llm")
"""Families that say who is asked, where, how often and for how much."""


def family_of(parameter: "_click.Parameter") -> str | None:
    """Return the family that an option belongs to, or None."""
    panel = getattr(parameter, "rich_help_panel", None)
    if panel:
        return OF_PANEL.get(panel)
    for name, family in FAMILIES.items():
        if parameter.name in family.parameters:
            return name
    return None
