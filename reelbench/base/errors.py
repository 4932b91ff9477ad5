"""The errors that users meet: one clear line each, with the exit status of the command line."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

# Letters, marks and signs by category, and blank: Hangul fillers, an empty Braille cell, joiners,
# variation selectors.
BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_LONGEST = 1000  # characters of an error's line: what it quotes may be anybody's, and of any length


def printable(text: str) -> str:
    """Return `text` with a space for each character that is not printed.

    Such a character may be one that a terminal acts on.
    """
    if text.isprintable():
        return text
    characters: list[str] = []
    for character in text:
        if character.isprintable():
            characters.append(character)
        else:
            characters.append(" ")
    return "".join(characters)


def visible(text: str) -> str:
    r"""Return `text` with the code (`\x1b`) of each character that a terminal would not show."""
    characters: list[str] = []
    for character in text:
        if character.isprintable() and not BLANK.match(character):
            characters.append(character)
        else:
            characters.append(ascii(character)[1:-1])
    return "".join(characters)


def cut_in_the_middle(line: str, longest: int) -> str:
    """Return a line, without its middle where it is too long.

    Its end stays, which says what to do.
    """
    if len(line) <= longest:
        return line
    half = longest // 2
    return f"{line[:half]} … {line[-half:]}"


def first_of(texts: Sequence[str], most: int = 8, separator: str = ", ") -> str:
    """Return the first `most` texts in one line: `a, b and 3 more`."""
    line = separator.join(texts[:most])
    if len(texts) <= most:
        return line
    mark = "" if separator == ", " else ";"
    return f"{line}{mark} and {len(texts) - most} more"


def number_of(count: int, noun: str, plural: str | None = None) -> str:
    """Return "1 word", "2 words"."""
    if count == 1:
        return f"{count:,} {noun}"
    return f"{count:,} {plural or noun + 's'}"


def installing(extra: str = "") -> str:
    """Return the command that installs Reelbench.

    It is written here alone, and never by a name that anybody may take on a registry.
    """
    what = f"'.[{extra}]'" if extra else "."
    return f"pip install {what}   # in a clone of Reelbench: it is not on a package registry yet"


class ReelbenchError(Exception):
    """Work failed, but the call was right.

    Examples are no network, a full disk, and a refusal by a server. The message is one line: what
    is wrong, where (file, line, field), and what to do.
    """

    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        return cut_in_the_middle(printable(super().__str__()), _LONGEST)


class PendingError(ReelbenchError):
    """Work has not failed and is not done. The same call later goes on."""

    exit_code: ClassVar[int] = 0


class InputError(ReelbenchError):
    """A call or an input file is wrong, and the caller can correct it."""

    exit_code: ClassVar[int] = 2


def first_line(error: object) -> str:
    """Return the first line of an error's text that isn't blank, else the error's kind.

    It has no control characters. Of a system's error only its own words are taken, without a
    file's name.
    """
    text = str(getattr(error, "strerror", None) or error)
    for line in text.splitlines():
        shown_line = printable(line).strip()
        if shown_line:
            return shown_line
    return type(error).__name__


def failure_in_a_line(error: Exception) -> str:
    """Return the words of an error. Of a fault in the program its type, too."""
    if isinstance(error, ReelbenchError):
        return str(error)
    return f"{type(error).__name__}: {first_line(error)}"


class DataUnavailableError(ReelbenchError):
    """A benchmark's data is not on this machine, and could not be downloaded."""


class MediaError(InputError):
    """A video or image can't be read, has no picture, or takes too long.

    The message names the file. `reason` is the message without the file's name, for a sample's
    record.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = Path(path)
        self.reason = reason
        super().__init__(f"{path}: {reason}")
