"""Prints CONTRIBUTING.md's table of sub-packages, with the size of each: to weigh a new command against."""

import ast
import re
import sys
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ROOM = re.compile(r"^\| (?P<house>[^|]*)\| (?P<floor>[^|]*)\| `(?P<room>\w+)/` \|", re.MULTILINE)


def rooms(text: str) -> list[tuple[str, str, str]]:
    """The table's rows that name a folder -> the house (as in the row above where a row has none), floor and room."""
    found: list[tuple[str, str, str]] = []
    for row in _ROOM.finditer(text):
        house, floor, room = (
            row[name].strip().replace("**", "") for name in ("house", "floor", "room")
        )
        found.append((house or found[-1][0], floor, room))
    return found


def size(room: str) -> tuple[int, int, int]:
    """A room's lines of Python, its lines of scripts and styles, its functions."""
    top = ROOT / room if (ROOT / room).is_dir() else ROOT / "reelbench" / room
    python = [path.read_text(encoding="utf-8") for path in top.rglob("*.py")]
    drawn = [
        path.read_text(encoding="utf-8")
        for kind in ("js", "css", "html")
        for path in top.rglob(f"*.{kind}")
    ]
    nodes = chain.from_iterable(ast.walk(ast.parse(text)) for text in python)
    functions = sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes)
    return (
        sum(text.count("\n") for text in python),
        sum(text.count("\n") for text in drawn),
        functions,
    )


def main() -> None:
    """Print the table; the last line has the sums."""
    lines = [
        f"{'part':<24} {'layer':<6} {'folder':<12} {'Python':>7} {'scripts':>8} {'functions / 1,000':>18}"
    ]
    sums = [0, 0, 0]
    for house, floor, room in rooms((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        python, drawn, functions = size(room)
        sums = [total + one for total, one in zip(sums, (python, drawn, functions), strict=True)]
        lines.append(
            f"{house:<24} {floor:<6} {room:<12} {python:>7,} {drawn:>8,} {1000 * functions / python:>18.1f}"
        )
    lines.append(f"{'all':<44} {sums[0]:>7,} {sums[1]:>8,} {1000 * sums[2] / sums[0]:>18.1f}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
