"""What a benchmark asks: its prompt file filled in with a row."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

from reelbench.base import bounds
from reelbench.registry.prompts import prompt_template
from reelbench.registry.rows import ASKED
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.answers import LETTERS

_OF_CHOICE = "choice.txt"
CUE = "cue"
"""The column that a reasoned task's rows have beside the benchmark's own."""


def prompt_of(spec: BenchmarkSpec, row: Mapping[str, Any], file: str | None = None) -> str:
    """Return the prompt for a row, from the benchmark's prompt file or another one of its package."""
    if (
        file is None
        and spec.row_kind == "mixed"
        and not row["options"]
        and Path(spec.prompt).name == _OF_CHOICE
    ):
        file = str(Path(spec.prompt).with_name(f"{row[ASKED.name][0]}.txt"))
    fields = {**row, "options": lettered_options(row.get("options", ()))}
    if "duration" in fields:
        fields["duration"] = f"{row['duration']:g}"
    if fields.get(CUE):
        fields[CUE] = f"\n\n{fields[CUE]}"
    template = prompt_template(spec, file, row["language"])
    named = (str(fields.get(name, "")) for _, name, _, _ in Formatter().parse(template) if name)
    what = f"{spec.id}: characters of the prompt of the question {row['id']!r}"
    bounds.hold(what, len(template) + sum(map(len, named)), bounds.TEXT)
    return template.format_map(fields)


def lettered_options(options: Sequence[str]) -> str:
    """Return options a line each, `(A) …` first."""
    return "\n".join(
        f"({letter}) {option}" for letter, option in zip(LETTERS, options, strict=False)
    )
