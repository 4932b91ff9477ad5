"""The errors that users meet: one clear line each, with the exit status that the command line gives for it."""

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
    """Return `text` with a space for each character that a terminal would act on, or not show, and not print."""
    return "".join(char if char.isprintable() else " " for char in text)


def visible(text: str) -> str:
    r"""Return `text` with each character that a terminal would act on, or not show, written as its code: `\x1b`."""
    return "".join(
        char if char.isprintable() and not BLANK.match(char) else ascii(char)[1:-1] for char in text
    )


def cut_in_the_middle(line: str, longest: int) -> str:
    """Return a line without what is in its middle where it is longer: its end says what to do."""
    return line if len(line) <= longest else f"{line[: longest // 2]} … {line[-longest // 2 :]}"


def first_of(texts: Sequence[str], most: int = 8, separator: str = ", ") -> str:
    """Return the first `most` texts in one line, and how many more there are: `a, b and 3 more`."""
    line = separator.join(texts[:most])
    return (
        line
        if len(texts) <= most
        else f"{line}{'' if separator == ', ' else ';'} and {len(texts) - most} more"
    )


def number_of(count: int, noun: str, plural: str | None = None) -> str:
    """Return "1 word", "2 words"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def installing(extra: str = "") -> str:
    """Return the command that installs Reelbench: said here alone, and never by a name that anybody may take."""
    what = f"'.[{extra}]'" if extra else "."
    return f"pip install {what}   # in a clone of Reelbench: it is on no package registry yet"


class ReelbenchError(Exception):
    """Work failed, but the call was right (no network, a full disk, a refusal by a server).

    The message is one line: what is wrong, where (file, line, field), and what to do.
    """

    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        return cut_in_the_middle(printable(super().__str__()), _LONGEST)


class PendingError(ReelbenchError):
    """Work that has not failed and is not done: what it lacks is under way, and the same call later goes on."""

    exit_code: ClassVar[int] = 0


class InputError(ReelbenchError):
    """A call or an input file is wrong, and the caller can correct it."""

    exit_code: ClassVar[int] = 2


def first_line(error: object) -> str:
    """Return the first line of an error's text that says something, without control characters; else its kind.

    Of a system's error only its own words are taken, without a file's name.
    """
    text = str(getattr(error, "strerror", None) or error)
    lines = (printable(line).strip() for line in text.splitlines())
    return next((line for line in lines if line), type(error).__name__)


class DataUnavailableError(ReelbenchError):
    """A benchmark's data is not on this machine, and could not be downloaded."""


class MediaError(InputError):
    """A video or image can't be read, has no picture, or takes too long; the message names the file.

    `reason` is the message without the file's name, for a sample's record.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = Path(path)
        self.reason = reason
        super().__init__(f"{path}: {reason}")
