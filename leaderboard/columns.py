"""The columns of a row beside its metrics, declared once: CSV, JSON, Parquet, the page and Python all read this list.

To add a column, add it to `BEFORE` or `AFTER`: in a CSV file the metrics stand between the two. What the record of a
run says is put in `facts` (`entries`) under the column's id. The page offers a column in its menu, hidden until it is
asked for or `shown`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry

Type = Literal["text", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column.

    Attributes:
        id: Its name in files and in links to the page.
        title: Its head on the page.
        type: What its values are; any may be None.
        get: Board and row -> value; None where it is the row's fact of this id.
        about: A line for the head's tooltip.
        digits: Of a number, those after the point; None where it is in the primary metric's unit.
        part: Group of columns that it stands in, on the page.
        of_group: Whether all rows of a group have the same value, which is then sent to the page once.
        shown: Whether a wide page shows it unasked.
        filter: Whether the page filters by it.
        order: Of a filter, its choices from first to last, where that is not their alphabet's order.
    """

    id: str
    title: str
    type: Type
    get: Callable[[Board, BoardEntry], Any] | None = None
    about: str = ""
    digits: int | None = 0
    part: str = "How it was run"
    of_group: bool = False
    shown: bool = False
    filter: bool = False
    order: tuple[str, ...] = ()

    def value(self, board: Board, row: BoardEntry) -> Any:  # noqa: ANN401 - of the column's type
        """Return a row's value."""
        return row.facts.get(self.id) if self.get is None else self.get(board, row)


SCORE = "More about the score"
MODEL = "The model"
COST = "What an item took"
TRUST = "What it rests on"


def _billions(row: BoardEntry) -> float | None:
    return None if row.about.parameters is None else row.about.parameters / 1e9


_TOPS = (4, 10, 40, 100)
_SIZES = (*(f"under {top} B" for top in _TOPS), "100 B and more")


def _size(row: BoardEntry) -> str | None:
    """A class of sizes to filter by."""
    billions = _billions(row)
    if billions is None:
        return None
    return next((name for name, top in zip(_SIZES, _TOPS, strict=False) if billions < top), _SIZES[-1])


def rank_range(board: Board, row: BoardEntry) -> str | None:
    """Return `1–3`, or `2` where only one rank is possible; None where none can be told."""
    return _range(board.noise[row.group].ranges.get(row.key))


def ranks_over_judges(board: Board, row: BoardEntry) -> str | None:
    """Return the ranks that a panel's judges give a run, each taken alone; None where no panel judged."""
    return _range(board.over_judges.get(row.key))


def _range(best_worst: tuple[int, int] | None) -> str | None:
    return None if best_worst is None else "–".join(map(str, dict.fromkeys(best_worst)))


# Written as a table, a column's parts on as few lines as they need.
# fmt: off
BEFORE: tuple[BoardColumn, ...] = (
    BoardColumn("rank", "Rank", "integer", lambda board, row: board.ranks.get(row.key),
                "The order by the main score; what it is worth is in the range.", shown=True),
    BoardColumn("model", "Model", "text", lambda _, row: row.model, shown=True),
    BoardColumn("revision", "Revision", "text", lambda _, row: row.revision,
                "The model's commit, where it is known."),
    BoardColumn("source", "Source", "text", lambda _, row: row.kind,
                "A run is recomputed from its samples; a published number is quoted.", filter=True),
    BoardColumn("setting", "Setting", "text", lambda _, row: row.setting,
                "Zero-shot, fine-tuned, reasoning or tools, as its people say; a run of which nobody says it is a run.",
                part=MODEL, filter=True),
    BoardColumn("benchmark", "Benchmark", "text", lambda _, row: row.group.benchmark, of_group=True),
    BoardColumn("split", "Split", "text", lambda _, row: row.group.split, of_group=True, filter=True),
    BoardColumn("subset", "Part of the split", "text", lambda _, row: row.group.subset, of_group=True),
    BoardColumn("version", "Version", "integer", lambda _, row: row.group.version,
                "Results of different versions of a benchmark are not comparable.", of_group=True),
    BoardColumn("judge", "Judge", "text", lambda _, row: row.group.judge,
                "The model that scored the answers, as its server returned its name.", of_group=True, filter=True),
    BoardColumn("judge_prompts", "Judge’s prompts", "text", lambda _, row: row.group.prompts, of_group=True),
    BoardColumn("frames", "Frames", "text", lambda _, row: row.frames,
                "How many frames of each video the model saw, and how they were chosen.", shown=True, filter=True),
)

AFTER: tuple[BoardColumn, ...] = (  # files are read by place, too: what is new comes last
    BoardColumn("items", "Questions", "integer", part=TRUST),
    BoardColumn("scored", "Scored", "integer", about="Questions whose answer could be scored.", part=TRUST),
    BoardColumn("partial", "Not ranked", "text", lambda _, row: row.unranked,
                "Why a run is listed and not ranked.", part=TRUST),
    BoardColumn("ids", "Ids", "text", part=TRUST,
                about="Whether questions, references and labels were held to the benchmark's own data."),
    BoardColumn("open_weights", "Open weights", "boolean", lambda _, row: row.open_weights, part=MODEL, filter=True),
    BoardColumn("date", "Date", "text", lambda _, row: row.date, "When the run was scored.", shown=True),
    BoardColumn("citation", "Citation", "text", lambda _, row: row.cite, "Where a published number stands."),
    BoardColumn("url", "Link", "text", lambda _, row: row.url),
    BoardColumn("note", "Note", "text", lambda _, row: row.note),
    BoardColumn("rank_range", "95 % rank range", "text", rank_range,
                "From one below the models that are better to above those that are worse. All pairs of models are "
                "compared at once (Holm), so that all ranges of a table hold together at 95 % confidence.", part=SCORE),
    BoardColumn("asked", "Asked", "text", lambda _, row: row.group.protocol,
                "What sets the way of asking apart from the plain one: candidates, a language, a label.",
                of_group=True),
    BoardColumn("calibrated", "Calibrated", "number", digits=None, part=SCORE,
                about="The main score with the judge corrected by people's scores of some answers, each answer counted "
                "once."),
    BoardColumn("blind", "Blind", "number", lambda board, row: board.blind.get(row.key),
                "The main score of the same model without any frame: what the words alone give away.", digits=None,
                part=SCORE),
    BoardColumn("unreadable", "Unreadable, %", "number", digits=1, part=TRUST,
                about="Share of answers in which no option or span could be read; they are scored as wrong."),
    BoardColumn("stated", "As stated", "text", part=TRUST,
                about="What the numbers were computed from and only the submitter vouches for."),
    BoardColumn("rejudged", "Judged again", "text", part=TRUST,
                about="What came of asking the judge again about some items."),
    BoardColumn("calibration", "Calibration", "text", part=TRUST, about="How the calibrated value was made."),
    BoardColumn("tokens_in", "Tokens in", "number", part=COST,
                about="Tokens of a question, pictures included, as the server or the adapter counts them."),
    BoardColumn("tokens_out", "Tokens out", "number", part=COST, about="Tokens of an answer, reasoning included."),
    BoardColumn("seconds", "Seconds", "number", digits=2, part=COST,
                about="From sending a question to the answer's last byte."),
    BoardColumn("judge_cost", "Judge, $ an item", "number", digits=5, part=COST,
                about="What judging an item cost, where prices were given."),
    BoardColumn("parameters", "Parameters, B", "number", lambda _, row: _billions(row), digits=1, part=MODEL),
    BoardColumn("size", "Size", "text", lambda _, row: _size(row), "By its number of parameters.", part=MODEL,
                filter=True, order=_SIZES),
    BoardColumn("organisation", "Organisation", "text", lambda _, row: row.about.organisation, part=MODEL, filter=True),
    BoardColumn("released", "Released", "text", lambda _, row: row.about.released, part=MODEL),
    BoardColumn("licence", "Licence", "text", lambda _, row: row.about.licence, part=MODEL, filter=True),
    BoardColumn("trained_on", "Trained on", "text", lambda _, row: ", ".join(row.about.trained_on or ()) or None,
                "Data sets that its people name.", part=MODEL),
    BoardColumn("sound", "Sound", "text", about="Whether the model was given the videos' sound.", filter=True),
    BoardColumn("ranks_over_judges", "Ranks over judges", "text", ranks_over_judges,
                "Of runs that the same panel judged: the best and the worst rank that its judges give, each taken "
                "alone.", part=SCORE),
    BoardColumn("label", "Label", "text", about="What else shaped the answers, as their people say."),
    BoardColumn("unscored", "Unscored", "integer", part=TRUST,
                about="Questions without a score, each counted at the scale's lowest: the values are lower bounds."),
    BoardColumn("stated_score", "Stated score", "number", digits=None, part=SCORE,
                about="The main score that the run states, where the row shows another: its answers are read by "
                "today's rules, and questions without a score count at the scale's lowest."),
    BoardColumn("readers", "Read by version", "integer", part=TRUST,
                about="Version of the rules by which the run's answers were read; older ones are read again."),
    BoardColumn("judge_asked", "Requested judge", "text", part=TRUST,
                about="The model that was asked to judge, where the server returned the name of another."),
    BoardColumn("data", "Data", "text", part=TRUST,
                about="Whose questions and references: owners, by the sha256 of their files; own; unstated, where that "
                "isn't known."),
    BoardColumn("times", "Frames’ times", "text",
                about="Whether the frames were given with their times (text) or not (none)."),
    BoardColumn("without_shortcuts", "Without shortcuts", "number",
                lambda board, row: board.without_shortcuts.get(row.key),
                "The main score on the questions that most of the table’s runs without frames, or with one, get wrong. "
                "It is hardest on the models whose runs these are.", digits=None, part=SCORE),
    BoardColumn("videos", "Videos", "text", part=TRUST,
                about="How many videos the run had, of how many, where some were not there: its value is of these."),
    BoardColumn("other_judges", "By other judges", "text", lambda board, row: board.other_judges.get(row.key),
                "What other judges make of the same answers, and by how much their scores differ on those that both "
                "scored, with its 95 % interval. No value is converted.", part=SCORE),
    BoardColumn("preset", "Preset", "text", about="The settings of the model's owners that it was asked by."),
    BoardColumn("intervals", "Intervals", "text", part=TRUST,
                about="How the run's intervals were made, where that is not today's way: percentiles are too narrow "
                "over few videos."),
    BoardColumn("differs", "Differs", "text", lambda _, row: row.group.differs,
                "How what was asked, or how it was scored, differs from what was filed first of this benchmark.",
                of_group=True),
    BoardColumn("questions", "Questions’ hash", "text", part=TRUST,
                about="Of what was asked: ids, questions, options and answers. A run that doesn't state it stands with "
                "what was filed first."),
)
# fmt: on

COLUMNS = (*BEFORE, *AFTER)


def record(board: Board, row: BoardEntry) -> dict[str, Any]:
    """Return a row as plain data, without its metrics."""
    return {column.id: column.value(board, row) for column in COLUMNS}


def metric_records(board: Board) -> Iterator[dict[str, Any]]:
    """Yield each metric of each row: the row's key in the store and its columns, then the metric's own."""
    for row in board.entries:
        shared = {"key": row.stored.key if row.stored else None, **record(board, row)}
        spec = row.stored.spec if row.stored else board.specs[row.group.benchmark]
        units = {metric.name: metric.unit for metric in spec.metrics}
        for name, metric in row.metrics.items():
            low, high = metric.ci95 or (None, None)
            numbers = {"metric": name, "value": metric.value, "low": low, "high": high, "n": metric.n}
            yield shared | numbers | {"unit": units[name]}
