"""The section of attacks: what was tried by `make attack`, by kind, and what became of it."""

import json
from pathlib import Path

from reelbench.registry.files import write_json, write_text

COUNTS = Path(__file__).with_name("attacks.json")
TITLE = "Attacks"
_HEAD = ("tried", "number", "refused", "accepted and marked", "accepted, no higher", "fell")
_ABOUT = (
    "Results, declarations and folders as a stranger might hand them in, drawn with a seed, against a board of twenty",
    "honest rows: refused with a line, or taken and marked (a table or a benchmark of its own, not ranked, or only",
    "other words, which aren't shown). What fell changed an honest row, read a file outside, or passed a bound; a look",
    "that found all as it was is neither refused nor marked, nor is a command that was killed, or whose disk was full,",
    "and of which nothing was lost or paid twice but what was in flight. Written by `make attack`.",
)


def section() -> list[str]:
    """Return the lines of the section, from the counts that were kept."""
    told = json.loads(COUNTS.read_text(encoding="utf-8"))
    rows = [_HEAD, ["---"] * len(_HEAD), *([kind, *counts] for kind, counts in told["rows"].items())]
    table = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"## {TITLE}", "", *_ABOUT, "", f"Seed {told['seed']}.", "", *table]


def write(seed: int, rows: dict[str, list[int]]) -> None:
    """Keep the counts of a run beside those of parts that it left out, and put them in docs/verification.md."""
    before = json.loads(COUNTS.read_text(encoding="utf-8"))
    write_json(COUNTS, {"seed": seed, "rows": before["rows"] | rows})
    document = Path(__file__).resolve().parent.parent.parent / "docs" / "verification.md"
    text, _, after = document.read_text(encoding="utf-8").partition(f"## {TITLE}\n")
    following = after.partition("\n## ")[2]
    lines = [text.rstrip("\n"), "", *section()]
    write_text(document, "\n".join(lines) + (f"\n\n## {following}" if following else "\n"))
