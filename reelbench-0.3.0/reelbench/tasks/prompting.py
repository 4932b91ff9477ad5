"""Fill a benchmark's prompt file in with a row."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

from reelbench.base import bounds
from reelbench.registry.prompts import prompt_template
from reelbench.registry.row_columns import ASKED
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.answers import LETTERS

_OF_CHOICE = "choice.txt"
CUE = "cue"
"""The column that a reasoned task's rows have beside the benchmark's own."""


def prompt_of(spec: BenchmarkSpec, row: Mapping[str, Any], file: str | None = None) -> str:
    """Return the prompt for a row.

    It is the benchmark's own, or that of another prompt file of its package.
    """
    if file is None and spec.row_kind == "mixed" and not row["options"]:
        prompt_file = Path(spec.prompt)
        if prompt_file.name == _OF_CHOICE:
            kind = row[ASKED.name][0]
            file = str(prompt_file.with_name(f"{kind}.txt"))
    fields = {**row, "options": lettered_options(row.get("options", ()))}
    if "duration" in fields:
        fields["duration"] = f"{row['duration']:g}"
    if fields.get(CUE):
        fields[CUE] = f"\n\n{fields[CUE]}"
    template = prompt_template(spec, file, row["language"])
    length = len(template)
    for _, name, _, _ in Formatter().parse(template):
        if name:
            length += len(str(fields.get(name, "")))
    bounds.hold(
        f"{spec.id}: characters of the prompt of the question {row['id']!r}", length, bounds.TEXT
    )
    return template.format_map(fields)


def lettered_options(options: Sequence[str]) -> str:
    """Return options a line each, `(A) …` first."""
    lettered = zip(LETTERS, options, strict=False)
    return "\n".join(f"({letter}) {option}" for letter, option in lettered)
