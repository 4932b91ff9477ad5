"""Files and folders that are either whole or not there: written aside, flushed, then renamed."""

import codecs
import errno
import glob
import hashlib
import io
import json
import logging
import os
import platform
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import quote

from reelbench.base import bounds
from reelbench.base.credentials import traces_of_all, traces_of_keys
from reelbench.base.errors import InputError
from reelbench.base.secret_traces import SecretTraces
from reelbench.base.values import is_array, is_object

log = logging.getLogger("reelbench")

LONGEST_NAME = 255  # bytes of a file's name, on every file system that we know of

_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_PIPE_CONTENTS: dict[str, bytes] = {}
_HASHES: dict[tuple[str, int, int, int, int], str] = {}
_WORKING_FOLDER = -100  # AT_FDCWD of Linux
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux
_PIECE = 1 << 20  # bytes read at once
_LONGEST_LINE = 4 * bounds.LINE  # bytes of JSON Lines: a character has 4 at most
_DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""Names that shells give an open pipe. Any other pipe is a named one."""


def _path_aside(path: Path) -> Path:
    # The name starts with a dot and ends in .tmp so that neither a glob for results nor a reader of
    # the cache sees it.
    mark = f"{os.getpid()}-{_MACHINE}-{secrets.token_hex(4)}"
    return path.with_name(f".{path.name}.{mark}.tmp")


def is_alive(pid: int) -> bool:
    """Return True where a process of this machine has that number."""
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):  # no system counts so far
            return False
    return True


def remove_leftovers(folder: Path) -> None:
    """Remove unfinished copies beside a folder whose processes have ended, on this machine."""
    pattern = f".{glob.escape(folder.name)}.*-{_MACHINE}-*.tmp"
    for leftover in folder.parent.glob(pattern):
        mark = leftover.name.removeprefix(f".{folder.name}.")
        pid = mark.partition("-")[0]
        if pid.isdecimal() and not is_alive(int(pid)):
            shutil.rmtree(leftover, ignore_errors=True)


def is_aside(path: Path) -> bool:
    """Return True for a path in an unfinished copy that a killed process left."""
    return any(part.startswith(".") and part.endswith(".tmp") for part in path.parts)


@contextmanager
def written_aside(path: Path | str) -> Generator[Path]:
    """Yield a sibling path to write to, which becomes `path` in one step.

    On any error it is removed. It works for a file or a folder. Where two processes finish the
    same folder, the first one's stays and the second's is dropped: use it for folders only where
    the content is decided by the name.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = _path_aside(path)
    try:
        yield aside
        try:
            aside.replace(path)
        except OSError:
            if not (aside.is_dir() and path.is_dir()):
                raise
    finally:
        if aside.is_dir():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            with suppress(FileNotFoundError):
                aside.unlink()


@contextmanager
def open_aside(path: Path | str, mode: str = "w") -> Generator[IO[Any]]:
    """Open a sibling of `path` for writing; on success flush and rename it.

    In text mode it is UTF-8.
    """
    encoding = None if "b" in mode else "utf-8"
    with written_aside(path) as aside, aside.open(mode, encoding=encoding) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing_folder(folder: Path) -> Generator[Path]:
    """Yield an empty folder to fill, which on success replaces `folder`.

    Whenever the process ends, one of the two stands there whole (on Linux; elsewhere there is a
    moment between them).
    """
    aside = _path_aside(folder)
    old_aside = _path_aside(folder)
    try:
        aside.mkdir(parents=True)
        yield aside
        if not folder.exists():
            aside.rename(folder)
        elif not _swap_folders(aside, folder):
            folder.rename(old_aside)
            try:
                aside.rename(folder)
            except OSError:
                old_aside.rename(folder)
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(old_aside, ignore_errors=True)


def _swap_folders(first: Path, second: Path) -> bool:
    """Let two folders change places in one step. False where the system can't."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):
        rename = ctypes.CDLL(None).renameat2  # no module of Python's has it
        status = rename(
            _WORKING_FOLDER, os.fsencode(first), _WORKING_FOLDER, os.fsencode(second), _EXCHANGE
        )
        return status == 0
    return False


def is_full(error: OSError) -> bool:
    """Return True where a write failed because the disk or quota is full."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}


def write_text(path: Path | str, text: str) -> None:
    """Write `text` to `path` in one step."""
    with open_aside(path) as file:
        file.write(text)


def write_json(path: Path | str, document: object) -> None:
    """Write a JSON document to `path` in one step, indented for people and diffs."""
    write_text(path, json_text(document))


def json_text(document: object) -> str:
    """Return a JSON document as `write_json` writes it, without the environment's secrets."""
    text = json.dumps(document, ensure_ascii=False, indent=1)
    if traces_of_all().may_be_in_json(text):
        from reelbench.base.clean_documents import clean_document

        text = json.dumps(clean_document(document), ensure_ascii=False, indent=1)
    return text + "\n"


def write_jsonl(path: Path | str, rows: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line to `path` in one step, without the environment's keys."""
    traces = traces_of_keys()
    with open_aside(path) as file:
        for row in rows:
            file.write(line_of_json(row, traces))


def line_of_json(row: dict[str, Any], traces: SecretTraces) -> str:
    """Return an object as a line of JSON Lines, without the environment's keys."""
    line = json.dumps(row, ensure_ascii=False)
    if traces.may_be_in_json(line):
        from reelbench.base.clean_documents import clean_row

        line = json.dumps(clean_row(row), ensure_ascii=False)
    return f"{line}\n"


def address(path: Path, page: Path) -> str:
    """Return a file's address in a page that is opened from a disk.

    It is relative where the file lies beside or below the page.
    """
    path = path.absolute()
    folder = page.absolute().parent
    if path.is_relative_to(folder):
        return quote(path.relative_to(folder).as_posix())
    return path.as_uri()


def valid_text(text: str) -> str:
    """Return `text` with U+FFFD for each lone surrogate, which UTF-8 can't hold.

    Such a surrogate is half an emoji, cut by a tokenizer.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _valid(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return valid_text(value)
    if is_array(value):
        return [_valid(part) for part in value]
    return value  # what is in an object was made valid when it was put in


@contextmanager
def open_input(path: Path | str) -> Generator[IO[bytes]]:
    """Open a file that the user named, a shell's pipe more than once.

    Raises:
        InputError: There is no such file, or it can't be read.
    """
    name = str(path)
    try:
        mode = _mode_of(path)
        if stat.S_ISFIFO(mode) and name.startswith(_DESCRIPTORS):
            # A pipe gives its bytes once, and a file is read more than once: to be parsed, and to
            # be hashed.
            if name not in _PIPE_CONTENTS:
                with Path(name).open("rb") as pipe:
                    content = _bounded_content(path, pipe, bounds.DATA_BYTES)
                _PIPE_CONTENTS[name] = bytes(content)
            yield io.BytesIO(_PIPE_CONTENTS[name])
        elif stat.S_ISREG(mode):
            with open(path, "rb") as file:  # noqa: PTH123 - a Path costs ten times that
                yield file
        else:
            # A named pipe without a writer would block for ever, a device may never end.
            raise InputError(f"{path}: is a {_kind_of(mode)}, expected a file")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror or error})") from None


def _mode_of(path: Path | str) -> int:
    try:
        return os.stat(path).st_mode  # noqa: PTH116 - as above
    except ValueError:  # a null, or half a character: no system has such a name
        raise FileNotFoundError from None


def _kind_of(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "device"


def path_inside(folder: Path, name: str, what: str = "") -> Path:
    """Return the path in `folder` of a name that a file states.

    Raises:
        InputError: It is no name or leads out of the folder. The line begins with `what`.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    leads_out = path.is_absolute() or ".." in path.parts
    if not name or leads_out or re.search("[\0\ud800-\udfff]", name):
        raise InputError(
            f"{what}{name[:200]!r} is not a file's name; expected one without '..' and leading '/'"
        )
    return folder / name


def hold_size(path: Path, most: int) -> None:
    """Raise InputError where an unread file has more bytes than are taken."""
    size = path.stat().st_size if path.is_file() else 0
    bounds.hold(f"{path}: bytes", size, most)


def read_text(path: Path | str, *, most: int = bounds.FILE_BYTES) -> str:
    """Return the text of a file that the user named.

    Args:
        path: The file.
        most: Bytes that it may have. A larger one is not read.

    Raises:
        InputError: It can't be read, isn't UTF-8, or is too large.
    """
    with open_input(path) as file:
        size = file.seek(0, os.SEEK_END)
        bounds.hold(f"{path}: bytes", size, most)
        file.seek(0)
        data = _bounded_content(path, file, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error.start) from None


def _bounded_content(path: Path | str, file: IO[bytes], most: int) -> bytearray:
    """Return all that a file holds, read in pieces.

    `file.read(most)` would ask for so much memory at once, however small the file is.

    Raises:
        InputError: It holds more than `most` bytes.
    """
    content = bytearray()
    for piece in iter(partial(file.read, _PIECE), b""):
        content += piece
        bounds.hold(f"{path}: bytes", len(content), most)
    return content


class Decoder:
    """Decodes one file's JSON, and warns once where a key in it occurs twice.

    Where keys are `unique`, that is an error.
    """

    def __init__(self, path: Path | str, *, unique: bool = False) -> None:
        self.path = str(path)
        self._line: int | None = None
        self._warned = False
        self._unique = unique
        self._has_surrogates = False
        self._json = json.JSONDecoder(object_pairs_hook=self._object_of)

    def decode(self, text: str, number: int | None = None) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value of a JSON text.

        Args:
            text: The JSON.
            number: Its line's number, in JSON Lines.

        Raises:
            JSONDecodeError: It isn't JSON.
            InputError: It is too deep, or a number in it is too long.
        """
        self._line = number
        # JSON can spell a lone surrogate and UTF-8 can't: left in, it would fail far from here,
        # when it is written.
        self._has_surrogates = "\\ud" in text or "\\uD" in text
        try:
            value = self._json.decode(text)
            if text.count("[") + text.count("{") > bounds.DEPTH:
                self._check_depth(value)
            return _valid(value) if self._has_surrogates else value
        except RecursionError:
            raise self._too_deep() from None
        except json.JSONDecodeError:
            raise
        except ValueError:
            raise InputError(
                f"{self._where}: a number in it has more than {sys.get_int_max_str_digits()} "
                "digits; is it complete?"
            ) from None

    @property
    def _where(self) -> str:
        """The place of the JSON that is decoded."""
        return self.path if self._line is None else f"{self.path}, line {self._line}"

    def _check_depth(self, value: object) -> None:
        level: list[Any] = [value]
        for _ in range(bounds.DEPTH):
            next_level: list[Any] = []
            for whole in level:
                parts = whole.values() if is_object(whole) else whole
                next_level += [part for part in parts if is_object(part) or is_array(part)]
            level = next_level
        if level:
            raise self._too_deep()

    def _too_deep(self) -> InputError:
        return InputError(
            f"{self._where}: lists and objects are nested more than {bounds.DEPTH} deep, which no "
            "file of Reelbench is"
        )

    def read(self, text: str, number: int | None = None) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value as `decode`. InputError names file, line and column of an error."""
        try:
            return self.decode(text, number)
        except json.JSONDecodeError as error:
            is_empty = not number and not text.strip()
            reason = "the file is empty" if is_empty else error.msg
            line = number or error.lineno
            question = "is the line complete?" if number else "is it complete?"
            raise InputError(
                f"{self.path}, line {line}, column {error.colno}: not valid JSON ({reason}); "
                f"{question}"
            ) from None

    def lines(self, text: str) -> Iterator[tuple[int, Any]]:
        """Yield each value of JSON Lines after its line's number, blank lines skipped."""
        for number, line in self.texts(text):
            yield number, self.line(line, number)

    def texts(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield each line of JSON Lines after its number, blank lines skipped."""
        for number, line in enumerate(_lines_of_text(text), start=1):
            if line and not line.isspace():
                # The words are made for a line that is too long: there may be millions of others.
                if len(line) > bounds.LINE:
                    bounds.hold(f"{self.path}, line {number}: characters", len(line), bounds.LINE)
                yield number, line

    def line(self, text: str, number: int) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value of a line of JSON Lines, as `read` does."""
        value = self._quick_value(text)
        return self.read(text, number) if value is None else value

    @cached_property
    def _quick_value(self) -> Callable[[str], Any]:
        # Loaded for lines alone: most files are one small document.
        from reelbench.base.quick_json import quick_value

        return quick_value

    def _object_of(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if self._has_surrogates:
            pairs = [(_valid(key), _valid(part)) for key, part in pairs]
        value = dict(pairs)
        if len(value) < len(pairs) and not self._warned:
            self._warned = True
            key = _first_repeated_key(pairs)
            if self._unique:
                raise InputError(
                    f"{self._where}: the key {key!r} occurs twice in one object; keep one of them"
                )
            log.warning(
                "%s: the key %.80r occurs twice in one object; the last one counts",
                self._where,
                key,
            )
        return value


def _first_repeated_key(pairs: Sequence[tuple[str, Any]]) -> str:
    """Return the key that occurs again, of several the one that occurs first."""
    keys = [key for key, _ in pairs]
    repeated: set[str] = set()
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            repeated.add(key)
        seen.add(key)
    return next(key for key in keys if key in repeated)


def read_json(path: Path | str, *, most: int = bounds.FILE_BYTES) -> Any:  # noqa: ANN401 - any JSON value
    """Read one JSON document of at most so many bytes.

    InputError names the file, line and column of an error.
    """
    return Decoder(path).read(read_text(path, most=most))


def read_jsonl(path: Path | str, *, unique: bool = False) -> list[tuple[int, Any]]:
    """Read JSON Lines of data as (line number, value).

    A key that occurs twice in one object is a warning, or InputError where keys are `unique`.
    """
    text = read_text(path, most=bounds.DATA_BYTES)
    return list(Decoder(path, unique=unique).lines(text))


def read_json_or_jsonl(path: Path | str, *, unique: bool = False) -> Any:  # noqa: ANN401 - any JSON value
    """Read a JSON document, or JSON Lines as a list of values.

    The content tells them apart. `unique` is as in `read_jsonl`.
    """
    text = read_text(path, most=bounds.DATA_BYTES)
    decoder = Decoder(path, unique=unique)
    if is_json_lines(text):
        return [value for _, value in decoder.lines(text)]
    return decoder.read(text)


def is_json_lines_file(path: Path | str) -> bool:
    """Return True where a file is JSON Lines. Two of its lines are read."""
    lines: list[bytes] = []
    with open_input(path) as file:
        for line in _lines_of(file):
            if len(line) > _LONGEST_LINE:
                return False  # a document in one line
            if line.removeprefix(codecs.BOM_UTF8).strip():
                lines.append(line)
            if len(lines) == 2:  # noqa: PLR2004
                break
    try:
        return is_json_lines(b"\n".join(lines).decode("utf-8-sig"))
    except UnicodeDecodeError:
        return False


def json_lines(path: Path | str, *, most: int, unique: bool = False) -> Iterator[tuple[int, Any]]:
    """Yield each value of a file of JSON Lines after its line's number.

    The file is read line by line, and blank lines are skipped. `unique` is as in `read_jsonl`.

    Raises:
        InputError: It has more than `most` bytes, or a line isn't JSON in UTF-8.
    """
    decoder = Decoder(path, unique=unique)
    name = decoder.path
    size = 0
    with open_input(path) as file:
        for number, line in enumerate(_lines_of(file), start=1):
            bounds.hold(f"{name}, line {number}: bytes", len(line), _LONGEST_LINE)
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)  # noqa: PLW2901
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                raise _not_utf8(path, size + error.start) from None
            size += len(line)
            bounds.hold(f"{name}: bytes", size, most)
            if text.strip():
                bounds.hold(f"{name}, line {number}: characters", len(text), bounds.LINE)
                yield number, decoder.line(text.removesuffix("\n"), number)


def _lines_of_text(text: str) -> Iterator[str]:
    """Yield a text's lines."""
    # A list of them would be as large again as the text.
    start = 0
    end = text.find("\n")
    while end >= 0:
        yield text[start:end]
        start = end + 1
        end = text.find("\n", start)
    yield text[start:]


def _lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file's lines. One that is too long comes in parts."""
    yield from iter(partial(file.readline, _LONGEST_LINE + 1), b"")


def _not_utf8(path: Path | str, place: int) -> InputError:
    return InputError(f"{path}: not UTF-8 text (byte {place}); save it as UTF-8")


def is_json_lines(text: str) -> bool:
    """Return True for JSON Lines: several lines, the first a whole object or list."""
    first_line, _, rest = text.strip().partition("\n")
    if not rest.strip() or not first_line.strip().startswith(("{", "[")):
        return False
    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return True


def read_record(path: Path | str) -> dict[str, Any] | None:
    """Read a record that Reelbench keeps. None where it is missing or damaged."""
    try:
        record = read_json(path)
    except InputError:
        return None
    return record if is_object(record) else None


def sha256_of(path: Path | str) -> str:
    """Return the sha256 of a file's bytes, in hex."""
    with open_input(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type] - a BytesIO is one too


def sha256_of_names(names: Iterable[str]) -> str:
    """Return the sha256, in hex, of sorted names, a line each."""
    return hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "surrogatepass")).hexdigest()


def sha256_once(path: Path | str) -> str:
    """Return `sha256_of` a file that is read once in a process.

    A file of the same place, size and times has the same bytes.
    """
    with suppress(OSError, ValueError):  # `sha256_of` says what is wrong
        status = Path(path).stat()
        if stat.S_ISREG(status.st_mode):
            key = (
                str(path),
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
            )
            if key not in _HASHES:
                _HASHES[key] = sha256_of(path)
            return _HASHES[key]
    return sha256_of(path)
