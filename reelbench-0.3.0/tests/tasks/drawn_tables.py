"""Good tables, and drawn damage to them: columns and rows are dropped, doubled, blanked, moved.

`python -m tests.tasks.drawn_tables FIRST LAST` draws those of many seeds and counts their ends.
"""

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.data import declared_check
from reelbench.registry import discovery
from reelbench.tasks.benchmark_folder import NewBenchmark, make
from reelbench.tasks.round_trip import round_trip
from tests.tasks.author_files import (
    AuthorFile,
    letter,
    option_columns,
    rows,
    text_of,
    turned,
    write,
)

Rows = list[dict[str, Any]]

COUNT = 20


def _question(n: int) -> str:
    lettered = zip("ABCD", turned(n), strict=True)
    return "Which is it?\n" + "\n".join(f"{key}. {text}" for key, text in lettered)


GOOD: dict[str, tuple[str, Rows]] = {
    "options in columns": (
        "choice",
        rows(COUNT, **option_columns("A B C D"), answer=letter),
    ),
    "options in numbered columns": (
        "choice",
        rows(
            COUNT, **option_columns("option_0 option_1 option_2 option_3"), gold=lambda n: n * 7 % 4
        ),
    ),
    "options as a list": ("choice", rows(COUNT, options=turned, answer=text_of)),
    "options as a list, letters": ("choice", rows(COUNT, choices=turned, answer=letter)),
    "options in the question": ("choice", rows(COUNT, question=_question, answer=letter)),
    "options and spans": (
        "grounded_choice",
        rows(COUNT, options=turned, answer=letter, start=lambda n: n, end=lambda n: n + 4),
    ),
    "spans": ("span", rows(COUNT, span=lambda n: [n, n + 3.5], duration=60)),
    "starts and ends": ("span", rows(COUNT, start=lambda n: n, end=lambda n: n + 4)),
    "words": (
        "exact",
        rows(COUNT, answer=lambda n: ["tea", "milk", "oil"][n % 3], topic="kitchen"),
    ),
    "sentences": (
        "open",
        rows(COUNT, answer=lambda n: f"He pours tea into cup {n}, and then he leaves."),
    ),
    "yes and no": ("choice", rows(COUNT, answer=lambda n: ["yes", "no"][n % 2])),
}
"""Name -> the kind of a table, and its rows."""


@dataclass(frozen=True)
class DrawnTable:
    """A damaged table, what was done to it, and the kinds that are left in it."""

    name: str
    rows: Rows
    done: tuple[str, ...]
    kinds: frozenset[str]


def draw(seed: int) -> DrawnTable:
    """Return a good table with one to three drawn damages."""
    chance = random.Random(seed)
    name = chance.choice(list(GOOD))
    kind, good = GOOD[name]
    table = [dict(row) for row in good]
    done: list[str] = []
    for _ in range(chance.randint(1, 3)):
        damage = chance.choice(_DAMAGES)
        done.append(f"{damage.__name__.lstrip('_')} {damage(table, chance)}")
    return DrawnTable(name, table, tuple(done), _kinds_left(kind, good, table))


def end_of(seed: int, folder: Path) -> str:
    """Make a benchmark of a drawn table; return how that ends.

    Raises:
        AssertionError: It became another benchmark without a line.
    """
    drawn = draw(seed)
    folder.mkdir()
    name = f"rows{('.json', '.csv', '.jsonl', '.xlsx')[seed % 4]}"
    path = write(AuthorFile(name, drawn.rows), folder)
    try:
        spec, seen = make(NewBenchmark("drawn", path), folder / "new")
    except InputError:
        return "refused"
    what = (seed, drawn.name, drawn.done)
    assert seen.kind in drawn.kinds, what
    discovery.open_file(folder / "new")
    (split,) = declared_check.check(spec, media=False)
    if split.problems:
        return "told by check"
    trip = round_trip(spec, split.name, split.rows)
    if trip is not None and not trip.is_sound:
        return "told by check"  # with the score, and status 2: an empty span can't be met
    return "right"


def main() -> None:
    """Draw the tables of a range of seeds, and print how many end in which way."""
    first, last = map(int, sys.argv[1:])
    ends: Counter[str] = Counter()
    for seed in range(first, last):
        discovery._registry = None
        with tempfile.TemporaryDirectory() as folder:
            try:
                ends[end_of(seed, Path(folder) / "drawn")] += 1
            except AssertionError as error:
                ends["something else"] += 1
                sys.stdout.write(f"{error}\n")
    sys.stdout.write(f"{dict(ends)}\n")


def _kinds_left(kind: str, good: Rows, table: Rows) -> frozenset[str]:
    """Return the kinds that a table may be: that of the good one, and of what is left of it.

    A table of which no row has options is none of multiple choice, and one without times asks for
    none; where nothing but times is left, times are what is asked for. Nothing says what it was.
    """
    values = {name: [row.get(name) for row in table] for name in good[0]}
    kinds = {kind}
    times = [name for name in values if name in {"start", "end", "span"}]
    options = [
        name for name in values if name in {"options", "choices"} or name.startswith("option_")
    ]
    has_text_answers = "answer" in values and any(_is_long(value) for value in values["answer"])
    if kind == "grounded_choice" and any(not _some(values[name]) for name in times):
        kinds.add("choice")
    if options and not any(_some(values[name]) for name in options) and has_text_answers:
        kinds |= {"open", "exact"}
    answers = [name for name in (*options, "answer") if name in values]
    if kind == "grounded_choice" and not any(_some(values[name]) for name in answers):
        kinds.add("span")
    if kind in {"open", "exact"} or (kind == "choice" and "yes" in good[0].values()):
        kinds |= {"open", "exact"} & {kind}
    return frozenset(kinds)


def _some(values: list[Any]) -> bool:
    return any(value not in ("", None, []) for value in values)


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and " " in value


# --- damages: each changes the table, and returns what it did
# --------------------------------------------------------------------------------------------


def _drop_column(table: Rows, chance: random.Random) -> str:
    name = chance.choice(list(table[0]))
    for row in table:
        row.pop(name, None)
    return name


def _double_column(table: Rows, chance: random.Random) -> str:
    name = chance.choice(list(table[0]))
    for row in table:
        row[f"{name}_copy"] = row.get(name)
    return name


def _blank_cells(table: Rows, chance: random.Random) -> str:
    name = chance.choice(list(table[0]))
    share = chance.choice([0.05, 0.1, 0.3, 0.6, 1])
    for row in table:
        if chance.random() < share:
            row[name] = ""
    return f"{name} {share}"


def _shuffle_columns(table: Rows, chance: random.Random) -> str:
    names = list(table[0])
    chance.shuffle(names)
    for at, row in enumerate(table):
        table[at] = {name: row[name] for name in names if name in row}
    return ""


def _shuffle_rows(table: Rows, chance: random.Random) -> str:
    chance.shuffle(table)
    return ""


def _drop_rows(table: Rows, chance: random.Random) -> str:
    count = chance.randint(1, len(table) // 2)
    del table[:count]
    return str(count)


def _blank_row(table: Rows, chance: random.Random) -> str:
    at = chance.randrange(len(table))
    table[at] = dict.fromkeys(table[at], "")
    return str(at)


def _double_row(table: Rows, chance: random.Random) -> str:
    at = chance.randrange(len(table))
    table.insert(at, dict(table[at]))
    return str(at)


def _rename_column(table: Rows, chance: random.Random) -> str:
    name = chance.choice(list(table[0]))
    new_name = "okapi" if "zebra" in table[0] else "zebra"
    for at, row in enumerate(table):
        table[at] = {(new_name if key == name else key): value for key, value in row.items()}
    return name


def _shuffle_cells(table: Rows, chance: random.Random) -> str:
    name = chance.choice(list(table[0]))
    cells = [row.get(name) for row in table]
    chance.shuffle(cells)
    for row, cell in zip(table, cells, strict=True):
        row[name] = cell
    return name


_DAMAGES: list[Callable[[Rows, random.Random], str]] = [
    _drop_column,
    _double_column,
    _blank_cells,
    _shuffle_columns,
    _shuffle_rows,
    _drop_rows,
    _blank_row,
    _double_row,
    _rename_column,
    _shuffle_cells,
]


if __name__ == "__main__":
    main()
