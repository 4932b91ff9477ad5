"""Times as people and models write them beside a piece of evidence: `0:59`, `1:02:03`, `8:04 – 8:10`, `٠١:٠٢`."""

import re
import unicodedata

from reelbench.registry.languages import ascii_digits, ascii_signs

NOT_APPLICABLE = "N/A"
"""What stands where a piece of evidence has no time."""

Window = tuple[float, float]
"""Start and end in seconds; equal for one moment."""

_NONE = frozenset({"", "n/a", "na", "none", "null", "-"})
_MOMENT = r"\d+:[0-5]\d(?::[0-5]\d)?(?:\.\d+)?"
_RANGE = re.compile(rf"({_MOMENT})(?:\s*(?:[-~]|\bto\b)\s*({_MOMENT}))?")
_BETWEEN = re.compile(r"\s*(?:[,;&/،、]|\band\b)\s*")
_BRACKETS = str.maketrans("", "", "()[]")
_MINUTES = 60


def read_windows(text: str) -> tuple[Window, ...] | None:
    """Return the windows that a text of times names, in its order; empty for `N/A`, None where it can't be read.

    Read are `m:ss`, `mmm:ss` and `h:mm:ss` with digits of any script, a fraction of a second, full-width signs, ranges
    with any dash, a tilde or `to`, several of these with commas or `and`, and brackets around them.
    """
    plain = _plain(text)
    if plain in _NONE:
        return ()
    windows = [_window(part) for part in _BETWEEN.split(plain)]
    read = tuple(window for window in windows if window is not None)
    return read if len(read) == len(windows) else None


def seconds_apart(one: Window, other: Window) -> float:
    """Return the gap between two windows in seconds; 0 where they touch or overlap."""
    return max(0.0, one[0] - other[1], other[0] - one[1])


def _plain(text: str) -> str:
    # Format characters go: text written from right to left carries marks of direction around its digits.
    text = ascii_signs(unicodedata.normalize("NFKC", text).casefold()).translate(_BRACKETS)
    return ascii_digits("".join(char for char in text if unicodedata.category(char) != "Cf")).strip()


def _window(text: str) -> Window | None:
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return None
    start = _seconds(match[1])
    end = start if match[2] is None else _seconds(match[2])
    return (start, end) if start <= end else None


def _seconds(moment: str) -> float:
    seconds = 0.0
    for part in moment.split(":"):
        seconds = seconds * _MINUTES + float(part)
    return seconds
