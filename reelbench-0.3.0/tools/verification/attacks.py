"""The section of attacks: what was tried by `make attack`, by kind, and what became of it."""

import json
from pathlib import Path

from reelbench.base.files import write_json, write_text

COUNTS = Path(__file__).with_name("attacks.json")
TITLE = "Attacks"
_HEAD = ("tried", "number", "refused", "accepted and marked", "accepted, no higher", "succeeded")
_ABOUT = (
    (
        "`make attack` submits results, declarations and folders as an attacker might, drawn with a "
        "seed, to a"
    ),
    (
        "leaderboard with twenty honest rows. Each must be refused with an error, or accepted and "
        "marked: with a separate"
    ),
    (
        "table or benchmark, not ranked, or with only other words, which aren't shown. An attack "
        "*succeeds* if it changes"
    ),
    (
        "an honest row, reads a file outside, or exceeds a limit. Some tries count in neither column: "
        "checks that found"
    ),
    (
        "everything unchanged, good pull requests that got their one comment, and commands that were "
        "killed or had a full"
    ),
    "disk. Of these commands nothing was lost or paid twice, except running requests.",
)


def section() -> list[str]:
    """Return the lines of the section, from the counts that were kept."""
    told = json.loads(COUNTS.read_text(encoding="utf-8"))
    rows = [
        _HEAD,
        ["---"] * len(_HEAD),
        *([kind, *counts] for kind, counts in told["rows"].items()),
    ]
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
