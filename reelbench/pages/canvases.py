"""Drawings as files: SVG as text, PNG by Pillow, PDF by matplotlib with its fonts inside."""

import math
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from html import escape
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from reelbench.base.errors import InputError, installing
from reelbench.pages.drawing import Disc, Drawing, Line, Point, Words
from reelbench.pages.letters import Letters, font_for
from reelbench.pages.svg import element, svg_document

_INCH = 96
"""Pixels of an inch, as in CSS."""
_POINT = 72 / _INCH
_PLAIN_SIGNS = str.maketrans({"≥": ">=", "–": "-", "−": "-", "’": "'", "\N{NO-BREAK SPACE}": " "})
"""Signs that Pillow's own font lacks, for machines without another one."""
_SMOOTHING = 2
"""A picture is drawn so many times as large, and made smaller."""
_MOST_PIXELS = 60_000_000
"""Of a picture before it is made smaller."""
_LEAST_LETTERS = 0.5
"""Pixels below which a font has no letters."""
_FURTHER_FONTS = ("Noto Sans", "Noto Sans CJK SC", "Arial Unicode MS")
"""Fonts for letters that matplotlib's own lacks, used where the machine has them."""


def pixels_of(millimetres: float) -> float:
    """Return the pixels of a width on paper."""
    return millimetres / 25.4 * _INCH


# --- SVG
# -------------------------------------------------------------------------------------------------


def to_svg(drawing: Drawing) -> str:
    """Return a drawing as SVG. The same drawing gives the same bytes."""
    parts: list[str] = []
    for part in drawing.parts:
        if isinstance(part, Line):
            parts.append(_svg_line(part))
        elif isinstance(part, Disc):
            x, y = part.place
            stroke = {"stroke": part.stroke.colour, "stroke_width": f"{part.stroke.width:g}"}
            parts.append(
                element("circle", part.tip, cx=x, cy=y, r=part.radius, fill=part.fill, **stroke)
            )
        else:
            parts.append(_svg_words(part))
    return svg_document(
        drawing.title,
        drawing.height,
        parts,
        width=drawing.width,
        description=drawing.description,
    )


def _svg_line(line: Line) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line.points)
    looks: dict[str, str | None] = {"fill": line.fill or "none"}
    if line.fill and line.opacity < 1:
        looks["fill_opacity"] = f"{line.opacity:.3f}"
    if line.stroke is not None:
        looks["stroke"] = line.stroke.colour
        looks["stroke_width"] = f"{line.stroke.width:g}"
        if line.stroke.dashes:
            looks["stroke_dasharray"] = " ".join(f"{dash:g}" for dash in line.stroke.dashes)
    return element("polyline", line.tip, points=points, **looks)


def _svg_words(words: Words) -> str:
    x, y = words.place
    look = f"font-size='{words.size:g}' fill='{words.colour}' text-anchor='{words.anchor}'"
    if words.bold:
        look += " font-weight='600'"
    if words.angle:
        look += f" transform='rotate({-words.angle:g} {x:.1f} {y:.1f})'"
    return f"<text x='{x:.1f}' y='{y:.1f}' {look}>{escape(words.text)}</text>"


# --- PNG
# -------------------------------------------------------------------------------------------------


def to_image(drawing: Drawing, scale: float) -> Image.Image:
    """Return a drawing as a picture of `scale` times its pixels, on white."""
    fine = scale * _SMOOTHING
    size = (round(drawing.width * fine), round(drawing.height * fine))
    image = Image.new("RGB", size, "#ffffff")
    shapes = ImageDraw.Draw(image, "RGBA")
    for part in drawing.parts:
        if isinstance(part, Line):
            _draw_line(shapes, part, fine)
        elif isinstance(part, Disc):
            x, y = part.place
            radius = part.radius
            box = [
                fine * (x - radius),
                fine * (y - radius),
                fine * (x + radius),
                fine * (y + radius),
            ]
            width = round(part.stroke.width * fine)
            shapes.ellipse(box, part.fill, part.stroke.colour, width)
        else:
            _draw_words(image, part, fine)
    smaller = (round(drawing.width * scale), round(drawing.height * scale))
    return image.resize(smaller, Image.Resampling.BOX)


def _draw_line(shapes: ImageDraw.ImageDraw, line: Line, scale: float) -> None:
    points = [(x * scale, y * scale) for x, y in line.points]
    if len(points) <= 1:
        return  # a series without values
    if line.fill is not None:
        strength = f"{round(255 * line.opacity):02x}"
        shapes.polygon(points, line.fill + strength)
    if line.stroke is None:
        return
    width = max(1, round(line.stroke.width * scale))
    size = (shapes.im.size[0], shapes.im.size[1])
    for start, end in _dashed(points, [dash * scale for dash in line.stroke.dashes], size):
        shapes.line([start, end], line.stroke.colour, width)


def _within(first: Point, last: Point, size: Point) -> tuple[float, float]:
    """Return the shares of a line's length between which it lies within a picture.

    The first is the larger one where it lies outside (Liang and Barsky 1984).
    """
    start = 0.0
    end = 1.0
    for x1, x2, most in zip(first, last, size, strict=True):
        if x1 == x2:
            if not 0 <= x1 <= most:
                return 1.0, 0.0
            continue
        enters, leaves = sorted((-x1 / (x2 - x1), (most - x1) / (x2 - x1)))
        start = max(start, enters)
        end = min(end, leaves)
    return start, end


def _dashed(points: list[Point], dashes: list[float], size: Point) -> Iterator[tuple[Point, Point]]:
    """Yield the strokes of a line.

    They are one between two points, or its dashes within a picture.
    """
    for (x1, y1), (x2, y2) in pairwise(points):
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        if not dashes or not length:
            yield (x1, y1), (x2, y2)
            continue
        first, last = _within((x1, y1), (x2, y2), size)
        done = first * length
        length_within = last * length
        number = 0
        while done < length_within:
            end = min(length_within, done + dashes[number % len(dashes)])
            if number % 2 == 0:
                first, last = done / length, end / length
                yield (
                    (x1 + (x2 - x1) * first, y1 + (y2 - y1) * first),
                    (x1 + (x2 - x1) * last, y1 + (y2 - y1) * last),
                )
            done = end
            number += 1


def _draw_words(image: Image.Image, words: Words, scale: float) -> None:
    size = words.size * scale
    if size < _LEAST_LETTERS:
        return
    text = words.text
    font = font_for(size, text)
    if font is font_for(size) and text.translate(_PLAIN_SIGNS) != text:
        text = text.translate(_PLAIN_SIGNS)
    x, y = words.place
    if words.angle:
        _draw_turned(image, words, scale)
        return
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[words.anchor]
    weight = {"stroke_width": round(size / 40), "stroke_fill": words.colour} if words.bold else {}
    draw = ImageDraw.Draw(image)
    draw.text((x * scale, y * scale), text, words.colour, font, anchor, **weight)


def _draw_turned(image: Image.Image, words: Words, scale: float) -> None:
    """Draw words on a sheet of their own, turn it, and lay it on."""
    font = font_for(words.size * scale, words.text)
    width = int(font.getlength(words.text)) + 4
    half = int(2 * words.size * scale)
    start = {"start": 2.0, "middle": width / 2, "end": width - 2.0}[words.anchor]
    sheet = Image.new("L", (width, 2 * half))
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[words.anchor]
    ImageDraw.Draw(sheet).text((start, half), words.text, 255, font, anchor)
    turned = sheet.rotate(words.angle, Image.Resampling.BICUBIC, expand=True)
    # The words' place on the sheet, from its middle, turns with it.
    beside = start - width / 2
    turn = math.radians(words.angle)
    x = words.place[0] * scale - turned.width / 2 - beside * math.cos(turn)
    y = words.place[1] * scale - turned.height / 2 + beside * math.sin(turn)
    image.paste(words.colour, (round(x), round(y)), turned)


def to_png(drawing: Drawing, scale: float = 2) -> bytes:
    """Return a drawing as PNG, of `scale` times its pixels.

    A very large one has fewer.
    """
    most = (_MOST_PIXELS / (drawing.width * drawing.height)) ** 0.5 / _SMOOTHING
    scale = min(scale, most)
    file = BytesIO()
    to_image(drawing, scale).save(file, "PNG", optimize=True)
    return file.getvalue()


# --- PDF
# -------------------------------------------------------------------------------------------------

_PDF_LOOKS: dict[str, Any] = {
    "text.parse_math": False,  # a dollar of a model's name is a dollar
    "pdf.fonttype": 42,  # TrueType as it is, which publishers' checks want
}


@contextmanager
def _matplotlib() -> Iterator[Any]:
    """Lend matplotlib with its own settings, wherever a script has imported it.

    Raises:
        InputError: It is not installed.
    """
    try:
        # The import reads a `matplotlibrc` of the working folder.
        with chdir(Path(__file__).parent):
            import matplotlib.figure
            import matplotlib.font_manager
    except ImportError as error:
        raise InputError(f"a figure needs matplotlib: {installing('figures')}") from error
    installed = {font.name for font in matplotlib.font_manager.fontManager.ttflist}
    fonts = ["DejaVu Sans"]
    fonts += [name for name in _FURTHER_FONTS if name in installed]
    looks: Any = _PDF_LOOKS | {"font.family": fonts}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(looks)
        yield matplotlib


def pdf_letters() -> Letters:
    """Return the letters of a PDF, which are matplotlib's own.

    Raises:
        InputError: matplotlib is not installed.
    """
    with _matplotlib() as matplotlib:
        fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
        return Letters(fonts / "DejaVuSans.ttf", fonts / "DejaVuSans-Bold.ttf", spare=0.0)


def to_pdf(drawing: Drawing) -> bytes:
    """Return a drawing as PDF with its fonts inside.

    The same drawing gives the same bytes.

    Raises:
        InputError: matplotlib is not installed.
    """
    with _matplotlib() as matplotlib:
        size = (drawing.width / _INCH, drawing.height / _INCH)
        figure = matplotlib.figure.Figure(figsize=size)
        axes: Any = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, drawing.width)
        axes.set_ylim(drawing.height, 0)
        for part in drawing.parts:
            if isinstance(part, Line):
                _add_line(axes, part)
            elif isinstance(part, Disc):
                diameter = 2 * part.radius * _POINT
                look = {"markeredgecolor": part.stroke.colour, "markersize": diameter}
                x, y = part.place
                axes.plot(
                    [x],
                    [y],
                    "o",
                    color=part.fill,
                    markeredgewidth=part.stroke.width * _POINT,
                    **look,
                )
            else:
                _add_words(axes, part)
        file = BytesIO()
        figure.savefig(file, format="pdf", metadata={"CreationDate": None, "Title": drawing.title})
        return file.getvalue()


def _add_line(axes: Any, line: Line) -> None:  # noqa: ANN401 - matplotlib's
    xs = [x for x, _ in line.points]
    ys = [y for _, y in line.points]
    if line.fill is not None:
        axes.fill(xs, ys, color=line.fill, alpha=line.opacity, linewidth=0)
    if line.stroke is None:
        return
    dashes = [dash * _POINT for dash in line.stroke.dashes]
    style: Any = (0, dashes) if dashes else "-"
    width = line.stroke.width * _POINT
    axes.plot(
        xs, ys, color=line.stroke.colour, linewidth=width, linestyle=style, solid_capstyle="butt"
    )


def _add_words(axes: Any, words: Words) -> None:  # noqa: ANN401 - matplotlib's
    weight = "bold" if words.bold else "normal"
    side = {"start": "left", "middle": "center", "end": "right"}[words.anchor]
    axes.text(
        *words.place,
        words.text,
        color=words.colour,
        fontsize=words.size * _POINT,
        weight=weight,
        ha=side,
        va="baseline",
        rotation=words.angle,
        rotation_mode="anchor",
    )
