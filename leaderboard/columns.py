"""The columns of a row beside its metrics, declared once: CSV, JSON, Parquet and the page all read this list.

To add a column, add it to `BEFORE` or `AFTER`: in a CSV file the metrics stand between the two. The page offers it in
its menu of columns, hidden until it is asked for or `shown`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import Entry

Type = Literal["text", "integer", "boolean"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        id: Its name in files and in links to the page.
        title: Its head on the page.
        type: What its values are; any may be None.
        get: Board and row -> value.
        about: A line for the head's tooltip.
        of_group: Whether all rows of a group have the same value, which is then sent to the page once.
        shown: Whether a wide page shows it unasked.
        filter: Whether the page filters by it.
    """

    id: str
    title: str
    type: Type
    get: Callable[[Board, Entry], Any]
    about: str = ""
    of_group: bool = False
    shown: bool = False
    filter: bool = False


def rank_range(board: Board, row: Entry) -> str | None:
    """Return `1–3`, or `2` where only one rank is possible; None where none can be told."""
    best_worst = board.noise[row.group].ranges.get(row.key)
    return None if best_worst is None else "–".join(map(str, dict.fromkeys(best_worst)))


BEFORE: tuple[Column, ...] = (
    Column(
        "rank",
        "Rank",
        "integer",
        lambda board, row: board.ranks.get(row.key),
        "Rows that a paired bootstrap over the videos can't tell apart share a rank.",
        shown=True,
    ),
    Column("model", "Model", "text", lambda _, row: row.model, shown=True),
    Column("revision", "Revision", "text", lambda _, row: row.revision, "The model's commit, where it is known."),
    Column(
        "source",
        "Source",
        "text",
        lambda _, row: row.kind,
        "A run is recomputed from its samples; a published number is quoted.",
        filter=True,
    ),
    Column("setting", "Setting", "text", lambda _, row: row.setting, "Zero-shot or fine-tuned, as published."),
    Column("benchmark", "Benchmark", "text", lambda _, row: row.group.benchmark, of_group=True),
    Column("split", "Split", "text", lambda _, row: row.group.split, of_group=True, filter=True),
    Column("subset", "Part of the split", "text", lambda _, row: row.group.subset, of_group=True),
    Column(
        "version",
        "Version",
        "integer",
        lambda _, row: row.group.version,
        "Results of different versions of a benchmark are not comparable.",
        of_group=True,
    ),
    Column(
        "judge",
        "Judge",
        "text",
        lambda _, row: row.group.judge,
        "The model that scored the answers.",
        of_group=True,
        filter=True,
    ),
    Column("judge_prompts", "Judge’s prompts", "text", lambda _, row: row.group.prompts, of_group=True),
    Column(
        "frames",
        "Frames",
        "text",
        lambda _, row: row.frames,
        "How many frames of each video the model saw, and how they were chosen.",
        shown=True,
        filter=True,
    ),
)

AFTER: tuple[Column, ...] = (
    Column("items", "Questions", "integer", lambda _, row: row.items),
    Column("scored", "Scored", "integer", lambda _, row: row.scored, "Questions whose answer could be scored."),
    Column("partial", "Partial", "text", lambda _, row: row.partial, "Why a run doesn't cover the whole split."),
    Column(
        "ids",
        "Ids",
        "text",
        lambda _, row: row.ids,
        "Whether questions, references and labels were held to the benchmark's own data.",
    ),
    Column("open_weights", "Open weights", "boolean", lambda _, row: row.open_weights, filter=True),
    Column("date", "Date", "text", lambda _, row: row.date),
    Column("citation", "Citation", "text", lambda _, row: row.cite, "Where a published number stands."),
    Column("url", "Link", "text", lambda _, row: row.url),
    Column("note", "Note", "text", lambda _, row: row.note),
    Column(
        "rank_range",
        "Ranks",
        "text",
        rank_range,
        "The ranks that the data don't rule out, all pairs of rows compared (Holm); they hold together with 95 %.",
        shown=True,
    ),
)

COLUMNS = (*BEFORE, *AFTER)


def record(board: Board, row: Entry) -> dict[str, Any]:
    """Return a row as plain data, without its metrics."""
    return {column.id: column.get(board, row) for column in COLUMNS}
