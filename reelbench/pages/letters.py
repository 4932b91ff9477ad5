"""The widths of words in a font, and the fonts of a machine for letters that Pillow's own lacks."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from PIL import ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

_SIZE = 100
"""Pixels at which a font's letters are measured."""
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
class Letters:
    """The letters of a font, to be measured.

    Attributes:
        regular: The font's file. None is Pillow's own font, so every machine measures the same.
        bold: The file of its bold letters.
        spare: The share by which a reader's font may be wider.
    """

    regular: Path | None = None
    bold: Path | None = None
    spare: float = 0.12
    _widths: dict[tuple[str, bool], float] = field(default_factory=dict[tuple[str, bool], float])

    def width(self, words: str, size: float = 11, *, bold: bool = False) -> float:
        """Return the width of words in pixels."""
        total = 0.0
        for letter in words:
            key = (letter, bold)
            if key not in self._widths:
                self._widths[key] = self._letter_width(letter, bold=bold)
            total += self._widths[key]
        return total * size * (1 + self.spare)

    def _letter_width(self, letter: str, *, bold: bool) -> float:
        """Return a letter's width as a share of the font's size."""
        if unicodedata.east_asian_width(letter) in "WF":
            return 1.0  # in every font
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            return 0.0
        path = self.bold if bold else self.regular
        return _measuring_font(path).getlength(letter) / _SIZE

    def lines(self, words: str, width: float, size: float = 11, *, bold: bool = False) -> list[str]:
        """Break words into lines of at most `width` pixels, between words."""
        lines: list[str] = []
        for word in words.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self.width(longer, size, bold=bold) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def cut(self, words: str, width: float) -> str:
        """Cut words to a width."""
        if self.width(words) <= width:
            return words
        room = width - self.width("…")
        end = 0
        for letter in words:
            room -= self.width(letter)
            if room < 0:
                break
            end += 1
        return f"{words[: max(end, 1)].rstrip()}…"


@cache
def _measuring_font(path: Path | None) -> Font:
    if path is None:
        return ImageFont.load_default(_SIZE)
    return ImageFont.truetype(path, _SIZE)


@cache
def font_for(size: float, words: str = "") -> Font:
    """Return Pillow's own font, or this machine's first that has all letters of `words`."""
    own_font = ImageFont.load_default(size)
    if _has_letters(own_font, words):
        return own_font
    for path in _font_files(_OTHER_FONTS):
        try:
            font = ImageFont.truetype(path, size)
        except OSError:
            continue
        if _has_letters(font, words):
            return font
    return own_font


def _font_files(names: Sequence[str]) -> list[Path]:
    paths = [_font_file(name) for name in names]
    return [path for path in paths if path is not None]


@cache
def _font_file(name: str) -> Path | None:
    """Return the path of a font on this machine. None without one."""
    for folder in _FONT_FOLDERS:
        for path in Path(folder).expanduser().rglob(name):
            return path
    return None


def _has_letters(font: Font, words: str) -> bool:
    """Return True where a font draws no letter as it draws one that it lacks."""
    lacking = bytes(font.getmask("\uffff"))  # type: ignore[arg-type] - it is a buffer
    letters = "".join(words.split())
    drawn = [bytes(font.getmask(letter)) for letter in letters]  # type: ignore[arg-type]
    return lacking not in drawn
