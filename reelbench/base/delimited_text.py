"""The encoding of a CSV or TSV file, and the sign between its columns, seen from its bytes.

Excel writes what its country uses: semicolons where the comma is in numbers, UTF-16 as "Unicode
text", a code page as plain CSV.
"""

import codecs
import io
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

from reelbench.base.errors import InputError

log = logging.getLogger("reelbench")

COMMA, SEMICOLON, TAB = ",", ";", "\t"
_DELIMITER_NAMES = {SEMICOLON: "semicolons", TAB: "tabs"}
_WESTERN = "cp1252"  # Windows' code page of Western Europe and the Americas
_PIECE = 1 << 20
_FILES_TOLD_OF: set[Path] = set()


@dataclass(frozen=True, slots=True)
class TextForm:
    """The encoding of a file's text, and the sign that parts its columns."""

    encoding: str
    delimiter: str


def form_of(path: Path, file: IO[bytes]) -> TextForm:
    """Return the form of a file's text. The file is then at its start again.

    What can't be taken for granted is told once: a code page, and columns that no comma parts.

    Raises:
        InputError: It is in no encoding that is known here.
    """
    encoding = _encoding_of(path, file)
    header = next(lines_of(path, file, encoding), "")
    file.seek(0)
    form = TextForm(encoding, _delimiter_of(path, header))
    _tell_of_other_form(path, form)
    return form


def lines_of(path: Path, file: IO[bytes], encoding: str) -> Iterator[str]:
    """Yield a file's lines as text, their ends as they stand.

    Raises:
        InputError: A file that begins as UTF-16 goes on as something else.
    """
    if encoding == "utf-16":
        text = io.TextIOWrapper(cast("io.BufferedReader", file), encoding, newline="")
        try:
            # Not `yield from`: ended early, it would close the file.
            for line in text:
                yield line
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-16 text to its end; save it as UTF-8") from None
        finally:
            text.detach()
        return
    for number, line in enumerate(file, start=1):
        codec = "utf-8-sig" if encoding == "utf-8" and number == 1 else encoding
        yield line.decode(codec)


def _encoding_of(path: Path, file: IO[bytes]) -> str:
    """Return a file's encoding, as its bytes show it."""
    first_bytes = file.read(2)
    file.seek(0)
    if first_bytes in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        return "utf-16"
    bad_line = _first_bad_line(file, "utf-8")
    if bad_line is None:
        return "utf-8"
    # UTF-8 with one damaged byte is no code page: read as such, all its other signs would be wrong.
    if not _has_utf8_signs(file) and _first_bad_line(file, _WESTERN) is None:
        return _WESTERN
    raise InputError(f"{path}, line {bad_line}: not UTF-8 text; save it as UTF-8")


def _first_bad_line(file: IO[bytes], encoding: str) -> int | None:
    """Return the number of the first line with bytes that are none of the encoding's."""
    decoder = codecs.getincrementaldecoder(encoding)()
    lines_before = 0
    bad_line = None
    for piece in iter(partial(file.read, _PIECE), b""):
        try:
            decoder.decode(piece)
        except UnicodeDecodeError as error:
            bad_line = lines_before + error.object[: error.start].count(b"\n") + 1
            break
        lines_before += piece.count(b"\n")
    file.seek(0)
    return bad_line


def _has_utf8_signs(file: IO[bytes]) -> bool:
    """Return True where some of the bytes above 127 are a sign of UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
    pieces = iter(partial(file.read, _PIECE), b"")
    has_signs = any(not decoder.decode(piece).isascii() for piece in pieces)
    file.seek(0)
    return has_signs


def _delimiter_of(path: Path, header: str) -> str:
    """Return the sign that parts the header most often.

    It is a comma where there is one column.
    """
    if path.suffix.lower() == ".tsv":
        return TAB
    outside_quotes = "".join(header.split('"')[::2])
    delimiter = COMMA
    for sign in (SEMICOLON, TAB):
        if outside_quotes.count(sign) > outside_quotes.count(delimiter):
            delimiter = sign
    return delimiter


def _tell_of_other_form(path: Path, form: TextForm) -> None:
    if path in _FILES_TOLD_OF:
        return
    _FILES_TOLD_OF.add(path)
    if form.encoding == _WESTERN:
        log.warning(
            "%s: is not UTF-8, and is read as Windows' Western code page (%s); if letters look "
            "wrong, save it as UTF-8",
            path,
            _WESTERN,
        )
    if path.suffix.lower() == ".csv" and form.delimiter in _DELIMITER_NAMES:
        log.info("%s: its columns are separated by %s", path, _DELIMITER_NAMES[form.delimiter])
