"""The parts of every picture: SVG is text that a diff can show.

The same numbers always give the same bytes.
"""

from collections.abc import Sequence
from html import escape

# The light colours of palette.css, so that a picture looks like our pages.
INK = "#17181c"
"""The colour of words."""
SOFT = "#5b6070"
"""The colour of what stands behind words. Dark enough on white."""
GRID = "#e6e7ee"
"""The colour of lines behind marks."""
COLOURS = ("#4f46e5", "#c2410c", "#0f766e", "#be185d", "#0369a1", "#4d7c0f")
"""The colours of series, which also differ in their form (dashes, a panel, a name beside them)."""
_NOT_IN_XML = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF])
"""Signs that no XML may have, and data sets' labels do."""
_FONT = "font-family='Helvetica, Arial, Noto Sans, sans-serif'"


class Svg(str):
    """A picture as SVG text.

    A notebook shows the picture.
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def colour(number: int) -> str:
    """Return the colour of the series with this number, from 0."""
    return COLOURS[number % len(COLOURS)]


def element(name: str, tip: str = "", **attributes: str | float | None) -> str:
    """Return one SVG element.

    Args:
        name: The element's name, as `rect`.
        tip: Text that the pointer shows over the element.
        attributes: Its attributes, `_` for `-` in their names. A float is written with one digit
            after the point, an integer as it is. None leaves the attribute out.
    """
    words = [name]
    for attribute, value in attributes.items():
        if value is None:
            continue
        shown_value = f"{value:.1f}" if isinstance(value, float) else value
        words.append(f"{attribute.replace('_', '-')}='{shown_value}'")
    start = "<" + " ".join(words)
    if not tip:
        return start + "/>"
    return f"{start}><title>{escape(tip)}</title></{name}>"


def text(
    x: float,
    y: float,
    words: str,
    anchor: str = "start",
    *,
    size: int = 12,
    fill: str = INK,
    weight: str = "normal",
) -> str:
    """Return one text."""
    place = f"x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'"
    look = f"font-size='{size}' font-weight='{weight}' fill='{fill}'"
    return f"<text {place} {look}>{escape(words)}</text>"


def numeral(value: float | None, digits: int | None = None) -> str:
    """Return a number as people write it, with a true minus sign.

    None is a dash. `digits` stand after the point. Without it there are as few as the number needs.
    """
    if value is None:
        return "–"
    number = f"{value:g}" if digits is None else f"{value:.{digits}f}"
    return number.replace("-", "−")


def rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    """Return one rectangle."""
    return element(
        "rect", x=float(x), y=float(y), width=float(width), height=float(height), fill=fill
    )


def svg_document(
    title: str, height: float, parts: Sequence[str], *, width: float, description: str = ""
) -> str:
    """Return a whole SVG of its parts.

    `description` is for people who can't see it. Nothing in it has an XML id, so any number of
    pictures can stand in one page.
    """
    size = f"width='{width:.0f}' height='{height:.0f}'"
    view = f"viewBox='0 0 {width:.0f} {height:.0f}'"
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' {view} {size} role='img' {_FONT}>",
        f"<title>{escape(title)}</title>",
    ]
    if description:
        lines.append(f"<desc>{escape(description)}</desc>")
    # The page may be dark.
    lines.append(f"<rect {size} rx='6' fill='#ffffff'/>")
    lines += parts
    lines.append("</svg>")
    return "\n".join(lines).translate(_NOT_IN_XML) + "\n"
