"""Run every proof and write docs/verification.md."""

import json
import platform
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reelbench import __version__
from reelbench.base.files import write_text
from tools.verification import attacks, media, scorers, simulations, statistics
from tools.verification.proof import NotRunError, Proof

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "verification.md"
SECTIONS = (
    ("Scorers", scorers.PROOFS),
    ("Agreement, ranks and tests", statistics.PROOFS),
    ("Simulated", simulations.PROOFS),
    ("Frames and readers", media.PROOFS),
)
REPLIES = Path(__file__).with_name("replies.json")
VERDICTS = "right / missed / wrong / invented"
HEAD = (
    "ours",
    "compared with",
    "input",
    "largest difference",
    "how the other side was run",
    "its version",
)

Prove = Callable[[], Proof | Iterator[Proof]]


def outcomes(proofs: dict[str, Prove]) -> tuple[list[Proof], list[str]]:
    """Run the proofs; return what they showed, and a line for each that can't run here."""
    shown, absent = [], []
    for name, prove in proofs.items():
        try:
            result = prove()
            shown.extend([result] if isinstance(result, Proof) else result)
        except NotRunError as error:
            absent.append(f"{name}: {error}")
    return shown, absent


def earlier(text: str) -> dict[str, list[list[str]]]:
    """Return the rows of an earlier document by section, each with the version that it was written by."""
    stamp = re.search(r"^Written by `make verification`: Reelbench (\S+),", text, re.MULTILINE)
    sections: dict[str, list[list[str]]] = {}
    for part in text.split("\n## ")[1:]:
        rows = [line[2:-2].split(" | ") for line in part.split("\n") if line.startswith("| ")][2:]
        for row in rows:
            row[-1] += (
                ""
                if "; of Reelbench " in row[-1] or stamp is None
                else f"; of Reelbench {stamp[1]}"
            )
        sections[part.partition("\n")[0]] = rows
    return sections


def document(
    sections: list[tuple[str, list[Proof], list[str]]],
    kept: Mapping[str, list[list[str]]] = MappingProxyType({}),
) -> str:
    """Return the document; of `kept`, an earlier one's rows, those stay whose proof is absent now."""
    lines = [
        "# Verification",
        "",
        (
            "This page compares our numbers with others' on the same input: with the owners' code if "
            "it exists, otherwise"
        ),
        (
            "with an independent implementation. Inputs are drawn with a fixed seed. The owners' code "
            "is downloaded at a"
        ),
        (
            "fixed commit, verified by sha256, run unchanged, and not stored here. The page lists "
            "what could not run on"
        ),
        "our machine.",
        "",
        (
            f"Written by `make verification`: Reelbench {__version__}, Python "
            f"{platform.python_version()}."
        ),
        "",
        "<!-- contents -->",  # `make docs` fills them
        "<!-- /contents -->",
    ]
    for title, proofs, absent in sections:
        rows = [
            (p.ours, p.beside, p.n, _difference(p.difference), p.how, p.versions) for p in proofs
        ]
        lines += ["", f"## {title}", "", *map(_row, [HEAD, ["---"] * len(HEAD), *rows])]
        # What can't run here now keeps its figures, and says of which version they are.
        made = {row[:2] for row in rows}
        lines += [_row(row) for row in kept.get(title, ()) if absent and tuple(row[:2]) not in made]
        if absent:
            lines += ["", "Not run here:", "", *(f"- {line}" for line in absent)]
    for counted in json.loads(REPLIES.read_text(encoding="utf-8")):
        lines += _replies(counted)
    lines += ["", *attacks.section()]
    return "\n".join(lines) + "\n"


def _replies(counted: dict[str, Any]) -> list[str]:
    """Return the section of replies that were judged by hand: figures alone, which nothing here can make again."""
    peers = counted["peers"]
    head = (
        "source",
        "licence",
        "replies",
        "judged",
        "state one",
        *(f"{who}: {VERDICTS}" for who in ("ours", *peers)),
    )
    rows = [
        [
            *row[:3],
            str(row[3]),
            str(row[4]),
            *(" / ".join(map(str, verdicts)) for verdicts in row[5:]),
        ]
        for row in counted["rows"]
    ]
    sums = [
        [sum(row[at][part] for row in counted["rows"]) for part in range(4)]
        for at in range(5, 5 + 1 + len(peers))
    ]
    judged, stated = (sum(row[at] for row in counted["rows"]) for at in (3, 4))
    rows.append(
        [
            "all",
            "",
            "",
            str(judged),
            str(stated),
            *(" / ".join(map(str, verdicts)) for verdicts in sums),
        ]
    )
    about = textwrap.wrap(counted["about"], 118)
    table = [_row(head), _row(["---"] * len(head)), *map(_row, rows)]
    return ["", f"## {counted['title']}", "", *about, "", *table]


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _difference(difference: float | str) -> str:
    return (
        difference
        if isinstance(difference, str)
        else "0"
        if difference == 0
        else f"{difference:.1e}"
    )


def main() -> int:
    """Write the document; returns 1 where a proof found a difference that is no rounding."""
    sections = [(title, *outcomes(proofs)) for title, proofs in SECTIONS]
    before = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.is_file() else ""
    write_text(DOCUMENT, document(sections, earlier(before)))
    wrong = [
        proof
        for _, proofs, _ in sections
        for proof in proofs
        if isinstance(proof.difference, float)
        and proof.difference > 0.006  # what two printed digits round off
    ]
    for proof in wrong:
        print(f"differs: {proof.ours} beside {proof.beside}: {proof.difference}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
