"""What a posted link unfolds to: a picture of a board's best models with their intervals."""

from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from reelbench.base.files import open_aside
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry
from reelbench.leaderboard.exports import tables
from reelbench.pages.svg import COLOURS, GRID, INK, SOFT
from reelbench.registry.metrics import UNITS
from reelbench.registry.spec import Metric

SIZE = (1200, 630)
"""Pixels, as Open Graph's readers crop to 1.91 : 1."""
_ROWS, _LANES = 5, 3
_LEFT, _NAME, _TOP, _ROW = 56, 450, 236, 66
_NUMBER = 106  # left of a lane's track
_PLAIN = str.maketrans({"≥": ">=", "–": "-", "−": "-", "’": "'", "\N{NO-BREAK SPACE}": " "})
"""Signs that Pillow's own font lacks."""
_OTHERS = ("NotoSans-Regular.ttf", "DejaVuSans.ttf", "NotoSansCJK-Regular.ttc", "Arial Unicode.ttf")
_FOLDERS = (
    *("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts"),
    *("/Library/Fonts", "/System/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts"),
)
"""Where a machine has its fonts; by its name alone Pillow would take one of the working folder."""


def write(board: Board, path: Path, said: Sequence[str]) -> None:
    """Write the picture as PNG: the board's headline, and five models with their scores and 95 % intervals.

    It shows at most three benchmarks, those that most of these models ran first. `said` is the
    headline, words and names in turn.
    """
    image = Image.new("RGB", SIZE, "#ffffff")
    draw = ImageDraw.Draw(image)
    models = [model for model in board.overall if model.rank is not None] or list(board.overall)
    models = models[:_ROWS]
    groups = sorted(
        board.main.values(), key=lambda group: -sum(group in model.cells for model in models)
    )[:_LANES]
    _text(draw, (_LEFT, 46), "Reelbench leaderboard", 44)
    first = "".join(
        part.rpartition("/")[2] if place % 2 else part for place, part in enumerate(said)
    ).partition(". ")[0]
    lines, words = [""], first.split()
    while words and len(lines) <= 2:  # noqa: PLR2004 - lines
        longer = f"{lines[-1]} {words[0]}".strip()
        if _font(26, longer).getlength(longer) > SIZE[0] - 2 * _LEFT:
            lines.append("")
        else:
            lines[-1] = longer
            words.pop(0)
    _text(draw, (_LEFT, 108), "\n".join(lines[:2]) + ("…" if words else ""), 26, SOFT)
    wide = (SIZE[0] - _LEFT - _NAME) // max(len(groups), 1)
    for number, model in enumerate(models):
        y = _TOP + _ROW * number + _ROW // 2
        draw.line([(_LEFT, y - _ROW // 2), (SIZE[0] - _LEFT, y - _ROW // 2)], GRID, 2)
        _text(draw, (_LEFT, y - 15), "–" if model.rank is None else str(model.rank), 28)
        name, room = model.key[0].rpartition("/")[2], _NAME - _LEFT - 70
        while _font(26, name).getlength(name) > room:
            name = name.removesuffix("…")[:-1] + "…"
        _text(draw, (_LEFT + 50, y - 15), name, 26)
        for place, group in enumerate(groups):
            if entry := model.cells.get(group):
                others = [one.cells[group] for one in models if group in one.cells]
                _lane(
                    draw, board.spec(group).primary, entry, others, (_NAME + wide * place, y, wide)
                )
    for place, group in enumerate(groups):
        spec, x = board.spec(group), _NAME + wide * place + 16
        _text(draw, (x, _TOP - 62), spec.title.partition(" (")[0], 24)
        unit = UNITS[spec.primary.unit]
        of = "%" if unit.label == "%" else f"of {unit.high:g}"
        _text(draw, (x, _TOP - 32), f"{spec.primary.title.partition(' (')[0]}, {of}", 18, SOFT)
    newest = max((entry.date for entry in board.entries if entry.date), default="")[:10]
    about = f"Each score's own 95 % interval over videos{f' · newest run of {newest}' if newest else ''}"
    _text(draw, (_LEFT, SIZE[1] - 44), about, 22, SOFT)
    with open_aside(path, "wb") as file:
        image.save(file, "PNG", optimize=True)


def _lane(
    draw: ImageDraw.ImageDraw,
    primary: Metric,
    entry: BoardEntry,
    others: Sequence[BoardEntry],
    at: tuple[int, int, int],
) -> None:
    """Draw a score and its interval on the scale of the models that the picture shows; `at` is left, middle, width."""
    x, y, wide = at
    found = [
        of
        for one in others
        if (of := one.metrics.get(primary.name)) is not None and of.value is not None
    ]
    if (own := entry.metrics.get(primary.name)) is None or own.value is None:
        return
    ends = [end for of in found for end in (of.value, *(of.ci95 or ())) if end is not None]
    low, high = min(ends), max(ends)
    _text(draw, (x + 16, y - 13), tables.value(entry, primary), 24)
    left, track = x + 16 + _NUMBER, wide - _NUMBER - 44

    def x_of(value: float) -> float:
        return left + track * ((value - low) / (high - low) if high > low else 0.5)

    draw.line([(left, y), (left + track, y)], GRID, 2)
    if own.ci95:
        draw.line([(x_of(own.ci95[0]), y), (x_of(own.ci95[1]), y)], COLOURS[0], 4)
    draw.ellipse([x_of(own.value) - 8, y - 8, x_of(own.value) + 8, y + 8], COLOURS[0])


@cache
def _font_file(name: str) -> Path | None:
    """Return where this machine has a font; the first time it looks through its folders."""
    return next(
        (path for folder in _FOLDERS for path in Path(folder).expanduser().rglob(name)), None
    )


@cache
def _font(size: int, words: str = "") -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own font, or the first of this machine's that has all the letters of `words`."""
    own = ImageFont.load_default(size)
    for path in chain([None], filter(None, map(_font_file, _OTHERS))):
        try:
            font = own if path is None else ImageFont.truetype(path, size)
        except OSError:
            continue
        none, *drawn = [
            bytes(font.getmask(letter)) for letter in ("\uffff", *"".join(words.split()))
        ]  # type: ignore[arg-type] - it is a buffer
        if none not in drawn:
            return font
    return own


def _text(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], words: str, size: int, fill: str = INK
) -> None:
    words = words.translate(_PLAIN)
    draw.text(at, words, fill, _font(size, words))
