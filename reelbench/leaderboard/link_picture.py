"""Draw the picture that a posted link shows: a board's best models with their intervals."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from reelbench.base.errors import number_of
from reelbench.base.files import open_aside
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import RankingGroup
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.headline import groups_of_board
from reelbench.leaderboard.overall import Overall
from reelbench.pages.canvases import to_image
from reelbench.pages.chart import Axis, Chart, Mark, Panel, Texts
from reelbench.pages.drawing import draw
from reelbench.pages.letters import Letters
from reelbench.pages.plots import labelled, ticks
from reelbench.registry.metrics import UNITS
from reelbench.registry.spec import Metric

SIZE = (1200, 630)
"""Pixels, as Open Graph's readers crop to 1.91 : 1."""
_WIDTH = 600
"""Pixels that a chart takes, of which each becomes two."""
_MOST_ROWS = 5
_MOST_LANES = 3
_ROW = 34
_NAME_WIDTH = 210
_LANE_WIDTH = 60
_LETTERS = Letters()


def write(board: Board, path: Path, headline: Sequence[str]) -> None:
    """Write the picture as PNG: the headline, and five models with scores and intervals.

    It shows at most three benchmarks, those that most of these models ran first.

    Args:
        board: The board.
        path: The file to write.
        headline: The board's headline, words and names in turn.
    """
    drawing = draw(_described(board, headline), _WIDTH, _LETTERS)
    scale = min(SIZE[0] / drawing.width, SIZE[1] / drawing.height)
    picture = to_image(drawing, scale)
    sheet = Image.new("RGB", SIZE, "#ffffff")
    sheet.paste(picture, ((SIZE[0] - picture.width) // 2, (SIZE[1] - picture.height) // 2))
    with open_aside(path, "wb") as file:
        sheet.save(file, "PNG", optimize=True)


def _described(board: Board, headline: Sequence[str]) -> Chart:
    ranked_models = [model for model in board.overall if model.rank is not None]
    models = (ranked_models or board.overall)[:_MOST_ROWS]
    ranks: list[str] = []
    names: list[str] = []
    for model in models:
        rank = "–" if model.rank is None else str(model.rank)
        ranks.append(rank)
        names.append(_LETTERS.cut(model.key[0].rpartition("/")[2], _NAME_WIDTH))
    across: list[Texts | Panel] = [
        Texts(texts=tuple(ranks), align="end", strong=True),
        Texts(texts=tuple(names), strong=True),
    ]
    groups = _groups(board, models)
    for group in groups:
        across += _lane(board, group, models)
    if len(groups) > 1 and ranked_models:
        across.append(_win_rates(models))
    return Chart(
        title="Reelbench leaderboard",
        about=_first_sentence(headline),
        source=_source(board, len(groups)),
        rows=max(len(models), 1),
        row=_ROW,
        lined=True,
        across=tuple(across),
    )


def _groups(board: Board, models: Sequence[Overall]) -> list[RankingGroup]:
    def models_without(group: RankingGroup) -> int:
        return sum(group not in model.cells for model in models)

    return sorted(groups_of_board(board), key=models_without)[:_MOST_LANES]


def _first_sentence(headline: Sequence[str]) -> str:
    """Return the headline's first sentence, with names as they are read."""
    parts: list[str] = []
    for place, part in enumerate(headline):
        is_name = place % 2 == 1
        words = part.rpartition("/")[2] if is_name else part
        parts.append(words)
    return "".join(parts).partition(". ")[0].rstrip(".") + "."


def _win_rates(models: Sequence[Overall]) -> Texts:
    """Return the mean win rates, by which models are ranked."""
    texts: list[str] = []
    for model in models:
        text = "" if model.win_rate is None else f"{100 * model.win_rate:.1f}"
        texts.append(text)
    return Texts(title="Win rate, %", texts=tuple(texts), align="end", strong=True)


def _lane(board: Board, group: RankingGroup, models: Sequence[Overall]) -> list[Texts | Panel]:
    """Return a benchmark's scores, and these with their intervals on one scale."""
    spec = board.spec(group)
    metric = spec.primary
    values: list[str] = []
    marks: list[Mark] = []
    ends: list[float] = []
    for row, model in enumerate(models):
        entry = model.cells.get(group)
        score = None if entry is None else entry.metrics.get(metric.name)
        if entry is None or score is None or score.value is None:
            values.append("")
            continue
        interval = score.ci95 or None
        values.append(tables.value(entry, metric))
        marks.append(Mark(x=score.value, y=row + 0.5, ends=interval))
        ends += [score.value, *(interval or ())]
    unit = metric.in_unit
    steps = ticks(min(ends, default=unit.low), max(ends, default=unit.high), 0, unit.high)
    axis = Axis(ticks=labelled(steps), least=_LANE_WIDTH)
    return [
        Texts(texts=tuple(values), align="end", strong=True, of=True),
        Panel(
            title=spec.title.partition(" (")[0],
            about=_metric_text(metric),
            x=axis,
            y=Axis(),
            marks=tuple(marks),
        ),
    ]


def _metric_text(metric: Metric) -> str:
    unit = UNITS[metric.unit]
    unit_text = "%" if unit.label == "%" else f"of {unit.high:g}"
    metric_title = metric.title.partition(" (")[0]
    return f"{metric_title}, {unit_text}"


def _source(board: Board, lanes: int) -> str:
    text = "Each score's own 95 % interval over videos"
    more = len(groups_of_board(board)) - lanes
    if more > 0:
        text += f" · {number_of(more, 'more benchmark')}"
    dates = [entry.date for entry in board.entries if entry.date]
    if dates:
        newest_day = max(dates)[:10]
        text += f" · newest run of {newest_day}"
    return text
