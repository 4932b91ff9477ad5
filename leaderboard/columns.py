"""The columns of a row beside its metrics, declared once: CSV, JSON, Parquet and the page all read this list.

To add a column, add it to `BEFORE` or `AFTER`: in a CSV file the metrics stand between the two. The page offers it in
its menu of columns, hidden until it is asked for or `shown`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import Entry

Type = Literal["text", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        id: Its name in files and in links to the page.
        title: Its head on the page.
        type: What its values are; any may be None.
        get: Board and row -> value.
        about: A line for the head's tooltip.
        digits: Of a number, those after the point; None where it is in the primary metric's unit.
        part: Group of columns that it stands in, on the page.
        of_group: Whether all rows of a group have the same value, which is then sent to the page once.
        shown: Whether a wide page shows it unasked.
        filter: Whether the page filters by it.
    """

    id: str
    title: str
    type: Type
    get: Callable[[Board, Entry], Any]
    about: str = ""
    digits: int | None = 0
    part: str = "How it was run"
    of_group: bool = False
    shown: bool = False
    filter: bool = False


MODEL = "The model"
COST = "What an item took"
TRUST = "What it rests on"


def _billions(row: Entry) -> float | None:
    return None if row.about.parameters is None else row.about.parameters / 1e9


def _size(row: Entry) -> str | None:
    """A class of sizes to filter by."""
    billions = _billions(row)
    if billions is None:
        return None
    return next((f"under {top} B" for top in (4, 10, 40, 100) if billions < top), "100 B and more")


def rank_range(board: Board, row: Entry) -> str | None:
    """Return `1–3`, or `2` where only one rank is possible; None where none can be told."""
    return _range(board.noise[row.group].ranges.get(row.key))


def ranks_over_judges(board: Board, row: Entry) -> str | None:
    """Return the ranks that a panel's judges give a run, each taken alone; None where no panel judged."""
    return _range(board.over_judges.get(row.key))


def _range(best_worst: tuple[int, int] | None) -> str | None:
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
    Column(
        "setting",
        "Setting",
        "text",
        lambda _, row: row.setting,
        "Zero-shot, fine-tuned, reasoning or tools, as its people say; a run of which nobody says it is a run.",
        part=MODEL,
        filter=True,
    ),
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

AFTER: tuple[Column, ...] = (  # files are read by place, too: what is new comes last
    Column("items", "Questions", "integer", lambda _, row: row.items, part=TRUST),
    Column(
        "scored", "Scored", "integer", lambda _, row: row.scored, "Questions whose answer could be scored.", part=TRUST
    ),
    Column(
        "partial", "Partial", "text", lambda _, row: row.partial, "Why a run doesn't cover the whole split.", part=TRUST
    ),
    Column(
        "ids",
        "Ids",
        "text",
        lambda _, row: row.ids,
        "Whether questions, references and labels were held to the benchmark's own data.",
        part=TRUST,
    ),
    Column("open_weights", "Open weights", "boolean", lambda _, row: row.open_weights, part=MODEL, filter=True),
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
        part="Beside the score",
        shown=True,
    ),
    Column(
        "asked",
        "Asked",
        "text",
        lambda _, row: row.group.asked,
        "What sets the way of asking apart from the plain one: candidates, a language, a label.",
        of_group=True,
    ),
    Column(
        "calibrated",
        "Calibrated",
        "number",
        lambda _, row: row.calibrated and row.calibrated.value,
        "The main score with the judge corrected by people's scores of some answers, each answer counted once.",
        digits=None,
        part="Beside the score",
    ),
    Column(
        "blind",
        "Blind",
        "number",
        lambda board, row: board.blind.get(row.key),
        "The main score of the same model without any frame: what the words alone give away.",
        digits=None,
        part="Beside the score",
    ),
    Column(
        "unreadable",
        "Unreadable, %",
        "number",
        lambda _, row: row.unreadable,
        "Share of answers in which no option or span could be read; they are scored as wrong.",
        digits=1,
        part=TRUST,
    ),
    Column(
        "stated",
        "As stated",
        "text",
        lambda _, row: ", ".join(row.stated) or None,
        "What the numbers were computed from and only the submitter vouches for.",
        part=TRUST,
    ),
    Column(
        "rejudged",
        "Judged again",
        "text",
        lambda _, row: row.rejudged,
        "What came of asking the judge again about some items.",
        part=TRUST,
    ),
    Column(
        "calibration",
        "Calibration",
        "text",
        lambda _, row: row.calibrated and row.calibrated.how,
        "How the calibrated value was made.",
        part=TRUST,
    ),
    Column(
        "tokens_in",
        "Tokens in",
        "number",
        lambda _, row: row.usage.tokens_in,
        "Tokens of a question, pictures included, as the server or the adapter counts them.",
        part=COST,
    ),
    Column(
        "tokens_out",
        "Tokens out",
        "number",
        lambda _, row: row.usage.tokens_out,
        "Tokens of an answer, reasoning included.",
        part=COST,
    ),
    Column(
        "seconds",
        "Seconds",
        "number",
        lambda _, row: row.usage.seconds,
        "From sending a question to the answer's last byte.",
        digits=2,
        part=COST,
    ),
    Column(
        "judge_cost",
        "Judge, $ an item",
        "number",
        lambda _, row: row.usage.judge_usd,
        "What judging an item cost, where prices were given.",
        digits=5,
        part=COST,
    ),
    Column("parameters", "Parameters, B", "number", lambda _, row: _billions(row), digits=1, part=MODEL),
    Column("size", "Size", "text", lambda _, row: _size(row), "By its number of parameters.", part=MODEL, filter=True),
    Column("organisation", "Organisation", "text", lambda _, row: row.about.organisation, part=MODEL, filter=True),
    Column("released", "Released", "text", lambda _, row: row.about.released, part=MODEL),
    Column("licence", "Licence", "text", lambda _, row: row.about.licence, part=MODEL, filter=True),
    Column(
        "trained_on",
        "Trained on",
        "text",
        lambda _, row: ", ".join(row.about.trained_on or ()) or None,
        "Data sets that its people name.",
        part=MODEL,
    ),
    Column(
        "sound",
        "Sound",
        "text",
        lambda _, row: row.sound,
        "Whether the model was given the videos' sound.",
        filter=True,
    ),
    Column(
        "ranks_over_judges",
        "Ranks over judges",
        "text",
        ranks_over_judges,
        "Of runs that the same panel judged: the best and the worst rank that its judges give, each taken alone.",
        part="Beside the score",
    ),
)

COLUMNS = (*BEFORE, *AFTER)


def record(board: Board, row: Entry) -> dict[str, Any]:
    """Return a row as plain data, without its metrics."""
    return {column.id: column.get(board, row) for column in COLUMNS}
