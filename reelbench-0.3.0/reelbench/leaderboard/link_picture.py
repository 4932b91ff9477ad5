"""Draw the picture that a posted link shows: a board's best models with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from reelbench.base.errors import number_of
from reelbench.base.files import open_aside
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.headline import groups_of_board
from reelbench.leaderboard.overall import Overall
from reelbench.pages.svg import COLOURS, GRID, INK, SOFT
from reelbench.registry.metrics import UNITS
from reelbench.registry.spec import Metric

SIZE = (1200, 630)
"""Pixels, as Open Graph's readers crop to 1.91 : 1."""
_MOST_ROWS = 5
_MOST_LANES = 3
_HEADLINE_LINES = 2
_SMALLEST_NAME = 17
"""The size of a long name's letters before it is cut."""
# Pixels of the table: its left edge, where its first lane begins, its top, and a row's height.
_LEFT = 56
_LANES_LEFT = 450
_TOP = 236
_ROW_HEIGHT = 66
_NUMBER_WIDTH = 106  # left of a lane's track
_PLAIN_SIGNS = str.maketrans({"≥": ">=", "–": "-", "−": "-", "’": "'", "\N{NO-BREAK SPACE}": " "})
"""Signs that Pillow's own font lacks, for machines without another one."""
_OTHER_FONTS = (
    "NotoSans-Regular.ttf",
    "DejaVuSans.ttf",
    "NotoSansCJK-Regular.ttc",
    "Arial Unicode.ttf",
)
_FONT_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.fonts",
    "~/.local/share/fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
    "~/Library/Fonts",
    "C:/Windows/Fonts",
)
"""Where a machine has its fonts; by its name alone Pillow would take one of the working folder."""


@dataclass(frozen=True, slots=True)
class _Lane:
    """A benchmark's column of the picture. `x` (its left edge) and `width` are pixels."""

    group: RankingGroup
    metric: Metric
    x: int
    width: int


def write(board: Board, path: Path, headline: Sequence[str]) -> None:
    """Write the picture as PNG: the headline, and five models with scores and intervals.

    It shows at most three benchmarks, those that most of these models ran first.

    Args:
        board: The board.
        path: The file to write.
        headline: The board's headline, words and names in turn.
    """
    image = Image.new("RGB", SIZE, "#ffffff")
    draw = ImageDraw.Draw(image)
    ranked_models = [model for model in board.overall if model.rank is not None]
    models = (ranked_models or board.overall)[:_MOST_ROWS]
    lanes = _lanes(board, models)
    _text(draw, (_LEFT, 46), "Reelbench leaderboard", 44)
    _draw_headline(draw, headline)
    for number, model in enumerate(models):
        middle = _TOP + _ROW_HEIGHT * number + _ROW_HEIGHT // 2
        _draw_model(draw, model, middle)
        for lane in lanes:
            if lane.group in model.cells:
                _draw_score(draw, lane, models, model.cells[lane.group], middle)
    for lane in lanes:
        _draw_heading(draw, board, lane)
    _draw_footer(draw, board, len(lanes))
    with open_aside(path, "wb") as file:
        image.save(file, "PNG", optimize=True)


def _lanes(board: Board, models: Sequence[Overall]) -> list[_Lane]:
    def models_without(group: RankingGroup) -> int:
        return sum(group not in model.cells for model in models)

    groups = sorted(groups_of_board(board), key=models_without)[:_MOST_LANES]
    width = (SIZE[0] - _LEFT - _LANES_LEFT) // max(len(groups), 1)
    lanes: list[_Lane] = []
    for place, group in enumerate(groups):
        metric = board.spec(group).primary
        lanes.append(_Lane(group, metric, x=_LANES_LEFT + width * place, width=width))
    return lanes


def _draw_headline(draw: ImageDraw.ImageDraw, headline: Sequence[str]) -> None:
    """Draw the headline's first sentence, in two lines at most."""
    parts: list[str] = []
    for place, part in enumerate(headline):
        is_name = place % 2 == 1
        if is_name:
            part_without_owner = part.rpartition("/")[2]
            parts.append(part_without_owner)
        else:
            parts.append(part)
    sentence = "".join(parts).partition(". ")[0]
    width = SIZE[0] - 2 * _LEFT
    lines = [""]
    for word in sentence.split():
        longer_line = f"{lines[-1]} {word}".strip()
        if _font(26, longer_line).getlength(longer_line) <= width:
            lines[-1] = longer_line
        else:
            lines.append(word)
    text = "\n".join(lines[:_HEADLINE_LINES])
    if len(lines) > _HEADLINE_LINES:
        text += "…"
    _text(draw, (_LEFT, 108), text, 26, SOFT)


def _draw_model(draw: ImageDraw.ImageDraw, model: Overall, middle: int) -> None:
    """Draw a model's rank and name."""
    top = middle - _ROW_HEIGHT // 2
    draw.line([(_LEFT, top), (SIZE[0] - _LEFT, top)], GRID, 2)
    rank = "–" if model.rank is None else str(model.rank)
    _text(draw, (_LEFT, middle - 15), rank, 28)
    name = model.key[0].rpartition("/")[2]
    width = _LANES_LEFT - _LEFT - 70
    size = 26
    while size > _SMALLEST_NAME and _font(size, name).getlength(name) > width:
        size -= 1
    while _font(size, name).getlength(name) > width:
        name = name.removesuffix("…")[:-1] + "…"
    _text(draw, (_LEFT + 50, middle - 2 - size // 2), name, size)


def _draw_heading(draw: ImageDraw.ImageDraw, board: Board, lane: _Lane) -> None:
    """Draw a benchmark's title, and its metric with the unit."""
    x = lane.x + 16
    title = board.spec(lane.group).title.partition(" (")[0]
    _text(draw, (x, _TOP - 62), title, 24)
    unit = UNITS[lane.metric.unit]
    unit_text = "%" if unit.label == "%" else f"of {unit.high:g}"
    metric_title = lane.metric.title.partition(" (")[0]
    _text(draw, (x, _TOP - 32), f"{metric_title}, {unit_text}", 18, SOFT)


def _draw_footer(draw: ImageDraw.ImageDraw, board: Board, lanes: int) -> None:
    text = "Each score's own 95 % interval over videos"
    more = len(groups_of_board(board)) - lanes
    if more > 0:
        text += f" · {number_of(more, 'more benchmark')}"
    dates = [entry.date for entry in board.entries if entry.date]
    if dates:
        newest_day = max(dates)[:10]
        text += f" · newest run of {newest_day}"
    _text(draw, (_LEFT, SIZE[1] - 44), text, 22, SOFT)


def _draw_score(
    draw: ImageDraw.ImageDraw,
    lane: _Lane,
    models: Sequence[Overall],
    entry: BoardEntry,
    middle: int,
) -> None:
    """Draw a score and its interval, on the scale of all models in the picture."""
    score = entry.metrics.get(lane.metric.name)
    if score is None or score.value is None:
        return
    ends = _ends(lane, models)
    low = min(ends)
    high = max(ends)
    _text(draw, (lane.x + 16, middle - 13), tables.value(entry, lane.metric), 24)
    track_left = lane.x + 16 + _NUMBER_WIDTH
    track_width = lane.width - _NUMBER_WIDTH - 44

    def x_of(value: float) -> float:
        share = 0.5
        if high > low:
            share = (value - low) / (high - low)
        return track_left + track_width * share

    draw.line([(track_left, middle), (track_left + track_width, middle)], GRID, 2)
    if score.ci95:
        line_left = x_of(score.ci95[0])
        line_right = x_of(score.ci95[1])
        draw.line([(line_left, middle), (line_right, middle)], COLOURS[0], 4)
    x = x_of(score.value)
    draw.ellipse([x - 8, middle - 8, x + 8, middle + 8], COLOURS[0])


def _ends(lane: _Lane, models: Sequence[Overall]) -> list[float]:
    """Return all values of a lane's metric and the ends of their intervals."""
    ends: list[float] = []
    for model in models:
        cell = model.cells.get(lane.group)
        score = None if cell is None else cell.metrics.get(lane.metric.name)
        if score is not None and score.value is not None:
            ends.append(score.value)
            ends.extend(score.ci95 or ())
    return ends


@cache
def _font_file(name: str) -> Path | None:
    """Return the path of a font on this machine. None without one."""
    for folder in _FONT_FOLDERS:
        for path in Path(folder).expanduser().rglob(name):
            return path
    return None


@cache
def _font(size: int, words: str = "") -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return Pillow's own font, or this machine's first that has all letters of `words`."""
    own_font = ImageFont.load_default(size)
    if _has_letters(own_font, words):
        return own_font
    for name in _OTHER_FONTS:
        path = _font_file(name)
        if path is None:
            continue
        try:
            font = ImageFont.truetype(path, size)
        except OSError:
            continue
        if _has_letters(font, words):
            return font
    return own_font


def _has_letters(font: ImageFont.FreeTypeFont | ImageFont.ImageFont, words: str) -> bool:
    """Return True where a font draws no letter as it draws one that it lacks."""
    lacking = bytes(font.getmask("\uffff"))  # type: ignore[arg-type] - it is a buffer
    letters = "".join(words.split())
    drawn = [bytes(font.getmask(letter)) for letter in letters]  # type: ignore[arg-type]
    return lacking not in drawn


def _text(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], words: str, size: int, fill: str = INK
) -> None:
    font = _font(size, words)
    if not _has_letters(font, words):
        words = words.translate(_PLAIN_SIGNS)
        font = _font(size, words)
    draw.text(at, words, fill, font)
