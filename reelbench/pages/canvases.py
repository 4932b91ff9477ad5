"""Drawings as files: SVG as text, PNG by Pillow, PDF by matplotlib with its fonts inside."""

import math
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from html import escape
from io import BytesIO
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from reelbench.base.errors import InputError, installing
from reelbench.pages.letters import Font, Letters, font_for
from reelbench.pages.shapes import Disc, Drawing, Line, Point, Words
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
            parts.append(_svg_disc(part))
        else:
            parts.append(_svg_words(part))
    return svg_document(
        drawing.title,
        drawing.height,
        parts,
        width=drawing.width,
        description=drawing.description,
    )


def _svg_disc(disc: Disc) -> str:
    x, y = disc.place
    return element(
        "circle",
        disc.tip,
        cx=x,
        cy=y,
        r=disc.radius,
        fill=disc.fill,
        stroke=disc.stroke.colour,
        stroke_width=f"{disc.stroke.width:g}",
    )


def _svg_line(line: Line) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line.points)
    attributes: dict[str, str] = {"fill": line.fill or "none"}
    if line.fill and line.opacity < 1:
        attributes["fill_opacity"] = f"{line.opacity:.3f}"
    stroke = line.stroke
    if stroke is not None:
        attributes["stroke"] = stroke.colour
        attributes["stroke_width"] = f"{stroke.width:g}"
        if stroke.dashes:
            dashes = [f"{dash:g}" for dash in stroke.dashes]
            attributes["stroke_dasharray"] = " ".join(dashes)
    return element("polyline", line.tip, points=points, **attributes)


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
    large_scale = scale * _SMOOTHING
    image = Image.new("RGB", _size_in_pixels(drawing, large_scale), "#ffffff")
    letters = _letters_of(drawing)
    shapes = ImageDraw.Draw(image, "RGBA")
    for part in drawing.parts:
        if isinstance(part, Line):
            _draw_line(shapes, part, large_scale)
        elif isinstance(part, Disc):
            _draw_disc(shapes, part, large_scale)
        else:
            _draw_words(image, part, large_scale, letters)
    return image.resize(_size_in_pixels(drawing, scale), Image.Resampling.BOX)


def _letters_of(drawing: Drawing) -> str:
    """Return each letter of a drawing once."""
    letters: set[str] = set()
    for part in drawing.parts:
        if isinstance(part, Words):
            letters.update(part.text)
    return "".join(sorted(letters))


def _font_of(words: Words, size: float, letters: str) -> Font:
    """Return the one font for all of a drawing's letters, else one for these words."""
    shared_font = font_for(size, letters)
    if shared_font is font_for(size):
        return font_for(size, words.text)
    return shared_font


def _size_in_pixels(drawing: Drawing, scale: float) -> tuple[int, int]:
    return round(drawing.width * scale), round(drawing.height * scale)


def _draw_disc(shapes: ImageDraw.ImageDraw, disc: Disc, scale: float) -> None:
    x, y = disc.place
    top_left = (scale * (x - disc.radius), scale * (y - disc.radius))
    bottom_right = (scale * (x + disc.radius), scale * (y + disc.radius))
    width = round(disc.stroke.width * scale)
    shapes.ellipse([top_left, bottom_right], disc.fill, disc.stroke.colour, width)


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
    image_width, image_height = shapes.im.size
    dashes = [dash * scale for dash in line.stroke.dashes]
    for start, end in _strokes_of_line(points, dashes, (image_width, image_height)):
        shapes.line([start, end], line.stroke.colour, width)


def _shares_within(start: Point, end: Point, size: Point) -> tuple[float, float]:
    """Return the shares of a line's length between which it lies within a picture.

    The first is the larger one where it lies outside (Liang and Barsky 1984).
    """
    first_share = 0.0
    last_share = 1.0
    for from_edge, to_edge, picture_end in zip(start, end, size, strict=True):
        length = to_edge - from_edge
        if length == 0:
            if not 0 <= from_edge <= picture_end:
                return 1.0, 0.0
            continue
        share_at_zero = -from_edge / length
        share_at_end = (picture_end - from_edge) / length
        first_share = max(first_share, min(share_at_zero, share_at_end))
        last_share = min(last_share, max(share_at_zero, share_at_end))
    return first_share, last_share


def _strokes_of_line(
    points: list[Point], dashes: list[float], size: Point
) -> Iterator[tuple[Point, Point]]:
    """Yield the start and end of each stroke of a line.

    They are one between two points, or its dashes within a picture.
    """
    for start, end in pairwise(points):
        length = math.dist(start, end)
        if dashes and length:
            yield from _dashes_between(start, end, dashes, size)
        else:
            yield start, end


def _dashes_between(
    start: Point, end: Point, dashes: list[float], size: Point
) -> Iterator[tuple[Point, Point]]:
    """Yield the dashes between two points within a picture."""
    length = math.dist(start, end)
    first_share, last_share = _shares_within(start, end, size)
    dash_start = first_share * length
    length_within = last_share * length
    dash_lengths = cycle(dashes)
    is_gap = cycle([False, True])
    while dash_start < length_within:
        dash_end = min(length_within, dash_start + next(dash_lengths))
        if not next(is_gap):
            yield (
                _point_between(start, end, dash_start / length),
                _point_between(start, end, dash_end / length),
            )
        dash_start = dash_end


def _point_between(start: Point, end: Point, share: float) -> Point:
    """Return the point at a share of the way between two others."""
    x1, y1 = start
    x2, y2 = end
    return x1 + (x2 - x1) * share, y1 + (y2 - y1) * share


_PILLOW_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
"""Pillow's names of a text's left, middle and right on its baseline."""


def _draw_words(image: Image.Image, words: Words, scale: float, letters: str) -> None:
    size = words.size * scale
    if size < _LEAST_LETTERS:
        return
    if words.angle:
        _draw_turned_words(image, words, scale, letters)
        return
    text = words.text
    font = _font_of(words, size, letters)
    is_pillows_own = font is font_for(size)
    if is_pillows_own:
        text = text.translate(_PLAIN_SIGNS)
    stroke_width = 0
    if words.bold:
        stroke_width = round(size / 40)
    x, y = words.place
    ImageDraw.Draw(image).text(
        (x * scale, y * scale),
        text,
        words.colour,
        font,
        _PILLOW_ANCHORS[words.anchor],
        stroke_width=stroke_width,
        stroke_fill=words.colour,
    )


def _draw_turned_words(image: Image.Image, words: Words, scale: float, letters: str) -> None:
    """Draw words on a sheet of their own, turn it, and lay it on."""
    size = words.size * scale
    font = _font_of(words, size, letters)
    width = int(font.getlength(words.text)) + 4
    baseline = int(2 * size)
    sheet = Image.new("L", (width, 2 * baseline))
    starts = {"start": 2.0, "middle": width / 2, "end": width - 2.0}
    start = starts[words.anchor]
    anchor = _PILLOW_ANCHORS[words.anchor]
    ImageDraw.Draw(sheet).text((start, baseline), words.text, 255, font, anchor)
    turned_sheet = sheet.rotate(words.angle, Image.Resampling.BICUBIC, expand=True)
    # The words' place on the sheet, from its middle, turns with it.
    distance = start - width / 2
    angle = math.radians(words.angle)
    words_x, words_y = words.place
    middle_x = words_x * scale - distance * math.cos(angle)
    middle_y = words_y * scale + distance * math.sin(angle)
    sheet_x = middle_x - turned_sheet.width / 2
    sheet_y = middle_y - turned_sheet.height / 2
    image.paste(words.colour, (round(sheet_x), round(sheet_y)), turned_sheet)


def to_png(drawing: Drawing, scale: float = 2) -> bytes:
    """Return a drawing as PNG, of `scale` times its pixels.

    A very large one has fewer.
    """
    pixels = drawing.width * drawing.height
    largest_scale = math.sqrt(_MOST_PIXELS / pixels) / _SMOOTHING
    scale = min(scale, largest_scale)
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
                _add_disc(axes, part)
            else:
                _add_words(axes, part)
        file = BytesIO()
        metadata = {"CreationDate": None, "Title": drawing.title}
        figure.savefig(file, format="pdf", metadata=metadata)
        return file.getvalue()


def _add_disc(axes: Any, disc: Disc) -> None:  # noqa: ANN401 - matplotlib's
    x, y = disc.place
    axes.plot(
        [x],
        [y],
        "o",
        color=disc.fill,
        markersize=2 * disc.radius * _POINT,
        markeredgecolor=disc.stroke.colour,
        markeredgewidth=disc.stroke.width * _POINT,
    )


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
        xs,
        ys,
        color=line.stroke.colour,
        linewidth=width,
        linestyle=style,
        solid_capstyle="butt",
    )


def _add_words(axes: Any, words: Words) -> None:  # noqa: ANN401 - matplotlib's
    weight = "bold" if words.bold else "normal"
    sides = {"start": "left", "middle": "center", "end": "right"}
    x, y = words.place
    axes.text(
        x,
        y,
        words.text,
        color=words.colour,
        fontsize=words.size * _POINT,
        weight=weight,
        ha=sides[words.anchor],
        va="baseline",
        rotation=words.angle,
        rotation_mode="anchor",
    )
