"""What a result says of a benchmark that a file declares, so that whoever gets the result can read and rank it.

It has what numbers are read by: metrics, facets, the judge's scale, the names of splits and tasks. Where the rows and
videos lie on the machine that made it is not in it.
"""

from dataclasses import asdict
from typing import Any

from reelbench.registry.errors import InputError
from reelbench.registry.spec import BenchmarkSpec, FileBeside, SplitSpec

_TEXTS = ("id", "title", "version", "summary", "homepage", "license", "citation", "languages", "row_kind", "twin")
_PARTS = ("columns", "tasks", "kinds", "metrics", "facets", "judge")
_OURS = "reelbench.tasks."


def declaration(spec: BenchmarkSpec) -> dict[str, Any] | None:
    """Return a benchmark as JSON; None for one that a package declares, which is known by its name."""
    if spec.package:
        return None
    whole = asdict(spec)
    judge = whole["judge"]
    if judge and not judge["prompts"].startswith(_OURS):
        judge["prompts"] = ""
    splits = {name: {"hidden_answers": split.hidden_answers} for name, split in spec.splits.items()}
    tasks = [task for task in whole["tasks"] if not task["prompt"]]
    return {name: whole[name] for name in (*_TEXTS, *_PARTS)} | {"splits": splits, "tasks": tasks}


def declared(document: dict[str, Any]) -> BenchmarkSpec:
    """Return the benchmark that a result declares: its rows and media are not known here.

    Raises:
        InputError: It is no declaration.
    """
    splits = {
        name: SplitSpec(source=FileBeside(path=""), hidden_answers=bool(split.get("hidden_answers")))
        for name, split in document.get("splits", {}).items()
    }
    known = {name: document[name] for name in (*_TEXTS, *_PARTS) if document.get(name) is not None}
    judge = known.get("judge") or {"prompts": ""}
    if judge["prompts"] and not judge["prompts"].startswith(_OURS):
        raise InputError(f"judge.prompts is {judge['prompts']!r}, which is none of ours")
    try:
        return BenchmarkSpec(
            **known,
            splits=splits,
            default_split=next(iter(splits), ""),
            reader="mapping:",
            formats="reelbench.tasks.mapped_formats",
            media=(),
        )
    except TypeError as error:
        raise InputError(str(error)) from None
