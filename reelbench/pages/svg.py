"""What every picture of ours is made of: SVG is text that a diff can show, the same bytes for the same numbers."""

from collections.abc import Sequence
from html import escape

# The light colours of palette.css, so that a picture looks like our pages.
INK, SOFT, GRID = "#17181c", "#5b6070", "#e6e7ee"
"""Of words, of what stands behind them (both are dark enough on white), and of lines behind marks."""
COLOURS = ("#4f46e5", "#c2410c", "#0f766e", "#be185d", "#0369a1", "#4d7c0f")
"""Of series, which differ in their form, too (dashes, a panel, a name beside them)."""
_FONT = "font-family='Helvetica, Arial, Noto Sans, sans-serif'"


class Svg(str):
    """A picture as SVG text; a notebook shows the picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def colour(number: int) -> str:
    """Return the colour of the series with this number, from 0."""
    return COLOURS[number % len(COLOURS)]


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
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}' font-weight='{weight}' "
        f"fill='{fill}'>{escape(words)}</text>"
    )


def numeral(value: float | None, digits: int | None = None) -> str:
    """Return a number as people write it: so many digits behind the point or as few as say it; – for None."""
    return (
        "–"
        if value is None
        else (f"{value:g}" if digits is None else f"{value:.{digits}f}").replace("-", "−")
    )


def rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    """Return one rectangle."""
    return (
        f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' fill='{fill}'/>"
    )


def svg_document(
    title: str, height: float, parts: Sequence[str], *, width: float, description: str = ""
) -> str:
    """Return a whole SVG of its parts; `description` is for those who can't see it.

    Nothing in it has an XML id, so any number of pictures can stand in one page.
    """
    size = f"viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' height='{height:.0f}'"
    head = [
        f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img' {_FONT}>",
        f"<title>{escape(title)}</title>",
        *([f"<desc>{escape(description)}</desc>"] if description else []),
        f"<rect width='{width:.0f}' height='{height:.0f}' rx='6' fill='#ffffff'/>",  # the page may be dark
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
