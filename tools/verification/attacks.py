"""The section of attacks: what was tried by `make attack`, by kind, and what became of it."""

import json
from pathlib import Path
from typing import Any

from reelbench.registry.files import write_json, write_text

COUNTS = Path(__file__).with_name("attacks.json")
TITLE = "Attacks"
_HEAD = ("tried", "number", "refused", "accepted and marked", "fell")
_ABOUT = (
    "Results, declarations and folders as a stranger might hand them in, drawn with a seed, against a board of twenty",
    "honest rows: refused with a line, or taken and marked (a table or a benchmark of its own, not ranked, or only",
    "other words, which aren't shown). What fell changed an honest row, read a file outside, or passed a bound; a look",
    "that found all as it was is neither refused nor marked. Written by `make attack`.",
)


def section() -> list[str]:
    """Return the lines of the section, from the counts that were kept."""
    told = json.loads(COUNTS.read_text(encoding="utf-8"))
    rows = [_HEAD, ["---"] * len(_HEAD), *told["rows"]]
    table = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"## {TITLE}", "", *_ABOUT, "", f"Seed {told['seed']}.", "", *table]


def write(told: dict[str, Any]) -> None:
    """Keep the counts of a run, and put them in the place of those before in docs/verification.md."""
    write_json(COUNTS, told)
    document = Path(__file__).resolve().parent.parent.parent / "docs" / "verification.md"
    before, _, after = document.read_text(encoding="utf-8").partition(f"## {TITLE}\n")
    following = after.partition("\n## ")[2]
    lines = [before.rstrip("\n"), "", *section()]
    write_text(document, "\n".join(lines) + (f"\n\n## {following}" if following else "\n"))
