"""Files and folders that are either whole or not there: written aside, flushed, then renamed."""

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
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import quote

from reelbench.base import bounds
from reelbench.base.credentials import known_secrets, without
from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_object

log = logging.getLogger("reelbench")

LONGEST_NAME = 255  # bytes of a file's name, on every file system that we know of

_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_DRAINED: dict[str, bytes] = {}
_HASHES: dict[tuple[str, int, int, int, int], str] = {}
_LINE = re.compile(r"([^\n]*)(?:\n|\Z)")
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
_DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""How shells name an open pipe; any other pipe is a named one."""


def _aside(path: Path) -> Path:
    # The name starts with a dot and ends in .tmp so that neither a glob for results nor a reader of
    # the cache sees it.
    return path.with_name(f".{path.name}.{os.getpid()}-{_MACHINE}-{secrets.token_hex(4)}.tmp")


def is_alive(pid: int) -> bool:
    """Whether a process of this machine has that number."""
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):  # no system counts so far
            return False
    return True


def remove_leftovers(folder: Path) -> None:
    """Remove what processes of this machine that were ended left beside a folder that they wrote anew."""
    for leftover in folder.parent.glob(f".{glob.escape(folder.name)}.*-{_MACHINE}-*.tmp"):
        process = leftover.name.removeprefix(f".{folder.name}.").partition("-")[0]
        if process.isdecimal() and not is_alive(int(process)):
            shutil.rmtree(leftover, ignore_errors=True)


def is_aside(path: Path) -> bool:
    """Whether a path lies in what a process that was killed left beside what it wrote."""
    return any(part.startswith(".") and part.endswith(".tmp") for part in path.parts)


@contextmanager
def written_aside(path: Path | str) -> Generator[Path]:
    """Yield a sibling path to write to; on success it becomes `path` in one step, on any error it is removed.

    Works for a file or a folder. Where two processes finish the same folder, the first one's stays
    and the second's is dropped: use it for folders only where the content is decided by the name.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = _aside(path)
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
    """Open a sibling of `path` for writing (UTF-8 in text mode), flush it to disk, and rename it on success."""
    with (
        written_aside(path) as aside,
        aside.open(mode, encoding=None if "b" in mode else "utf-8") as file,
    ):
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing_folder(folder: Path) -> Generator[Path]:
    """Yield an empty folder to fill; on success it becomes `folder` in place of the one before, on any error not.

    Whenever the process ends, one of the two stands there whole (on Linux; elsewhere there is a
    moment between them).
    """
    aside, old = _aside(folder), _aside(folder)
    try:
        aside.mkdir(parents=True)
        yield aside
        if not folder.exists():
            aside.rename(folder)
            return
        import ctypes

        # Both change places in one step, where the system and the file system can; no module of
        # Python's has it.
        exchanged = False
        with suppress(AttributeError, OSError, TypeError):
            rename = ctypes.CDLL(None).renameat2
            exchanged = (
                rename(_HERE, os.fsencode(aside), _HERE, os.fsencode(folder), _EXCHANGE) == 0
            )
        if not exchanged:
            folder.rename(old)
            try:
                aside.rename(folder)
            except OSError:
                old.rename(folder)
                raise
    finally:
        for leftover in (aside, old):
            shutil.rmtree(leftover, ignore_errors=True)


def is_full(error: OSError) -> bool:
    """Whether a write failed because the disk, or the user's part of it, is full."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}


def write_text(path: Path | str, text: str) -> None:
    """Write `text` to `path` in one step."""
    with open_aside(path) as file:
        file.write(text)


def write_json(path: Path | str, document: object) -> None:
    """Write a JSON document to `path` in one step, indented for people and diffs, characters unescaped."""
    write_text(path, json_text(document))


def json_text(document: object) -> str:
    """Return a JSON document as `write_json` writes it, rid of the keys that the environment holds."""
    return without(json.dumps(document, ensure_ascii=False, indent=1)) + "\n"


def write_jsonl(path: Path | str, rows: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line to `path` in one step, characters unescaped, rid of the environment's keys."""
    secrets = [value for _, value in known_secrets()]
    with open_aside(path) as file:
        for row in rows:
            file.write(without(json.dumps(row, ensure_ascii=False), secrets) + "\n")


def address(path: Path, page: Path) -> str:
    """Return a file's address in a page that is opened from a disk: relative where it lies beside or below the page."""
    path, folder = path.absolute(), page.absolute().parent
    if path.is_relative_to(folder):
        return quote(path.relative_to(folder).as_posix())
    return path.as_uri()


def valid_text(text: str) -> str:
    """Return `text` with lone surrogates (half an emoji, cut by a tokenizer) made U+FFFD: UTF-8 can't hold them."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def _valid(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return valid_text(value)
    if is_array(value):
        return [_valid(part) for part in value]
    return value  # what is in an object was made valid when it was put in


@contextmanager
def open_input(path: Path | str) -> Generator[IO[bytes]]:
    """Open a file that the user named, a pipe of the shell's as often as wanted; InputError where that can't be."""
    name = str(path)
    try:
        try:
            mode = Path(path).stat().st_mode
        except ValueError:  # a null, or half a character: no system has such a name
            raise FileNotFoundError from None
        if stat.S_ISFIFO(mode) and name.startswith(_DESCRIPTORS):
            # A pipe gives its bytes once, and a file is read more than once: to be parsed, and to
            # be hashed.
            if name not in _DRAINED:
                _DRAINED[name] = Path(name).read_bytes()
            yield io.BytesIO(_DRAINED[name])
        elif stat.S_ISREG(mode):
            with Path(path).open("rb") as file:
                yield file
        else:
            # A named pipe without a writer would block for ever, a device may never end.
            what = "folder" if stat.S_ISDIR(mode) else "pipe" if stat.S_ISFIFO(mode) else "device"
            raise InputError(f"{path}: is a {what}, expected a file")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror or error})") from None


def inside(folder: Path, name: str, what: str = "") -> Path:
    """Return the path of a name that a file gives, in its folder; InputError where it leads out of it or is no name.

    The error's line begins with `what`.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    if not name or path.is_absolute() or ".." in path.parts or re.search("[\0\ud800-\udfff]", name):
        raise InputError(
            f"{what}{name[:200]!r} is not a file's name; expected one without '..' and leading '/'"
        )
    return folder / name


def read_text(path: Path | str) -> str:
    """Return the text of a file that the user named; InputError, in one line, where it can't be read or isn't UTF-8."""
    with open_input(path) as file:
        data = file.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None


class Decoder:
    """Decodes one file's JSON, and says once where a key in it occurs twice; where keys are `unique`, that is wrong."""

    def __init__(self, path: Path | str, *, unique: bool = False) -> None:
        self.path = path
        self._where = str(path)
        self._warned = False
        self._unique = unique
        self._half = False
        self._json = json.JSONDecoder(object_pairs_hook=self._made)

    def decode(self, text: str, number: int | None = None) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value; JSONDecodeError where `text` isn't JSON, InputError where it is more than can be handled.

        `number` is the line's, in JSON Lines.
        """
        self._where = f"{self.path}" if number is None else f"{self.path}, line {number}"
        too_deep = f"{self._where}: lists and objects are nested more than {bounds.DEPTH} deep; no file of ours is"
        try:
            # JSON can spell a lone surrogate and UTF-8 can't: left in, it would fail far from here,
            # when it is written.
            self._half = "\\ud" in text or "\\uD" in text
            value = self._json.decode(text)
            if text.count("[") + text.count("{") > bounds.DEPTH:
                level: list[Any] = [value]
                for _ in range(bounds.DEPTH):
                    inner = [
                        part
                        for whole in level
                        for part in (whole.values() if is_object(whole) else whole)
                    ]
                    level = [part for part in inner if is_object(part) or is_array(part)]
                if level:
                    raise InputError(too_deep)
            return _valid(value) if self._half else value
        except RecursionError:
            raise InputError(too_deep) from None
        except json.JSONDecodeError:
            raise
        except ValueError:
            raise InputError(
                f"{self._where}: a number in it has more than {sys.get_int_max_str_digits()} digits; is it complete?"
            ) from None

    def read(self, text: str, number: int | None = None) -> Any:  # noqa: ANN401 - any JSON value
        """As `decode`; InputError names the file, line and column where `text` isn't JSON."""
        try:
            return self.decode(text, number)
        except json.JSONDecodeError as error:
            what = error.msg if number or text.strip() else "the file is empty"
            where = f"line {number or error.lineno}, column {error.colno}"
            whole = "is the line complete?" if number else "is it complete?"
            raise InputError(f"{self.path}, {where}: not valid JSON ({what}); {whole}") from None

    def lines(self, text: str) -> Iterator[tuple[int, Any]]:
        """Yield each value of JSON Lines with its line's number; blank lines are skipped."""
        for number, match in enumerate(_LINE.finditer(text), start=1):
            if match[1].strip():
                bounds.hold(f"{self.path}, line {number}: characters", len(match[1]), bounds.LINE)
                yield number, self.read(match[1], number)

    def _made(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs = [(_valid(key), _valid(part)) for key, part in pairs] if self._half else pairs
        made = dict(pairs)
        if len(made) < len(pairs) and not self._warned:
            self._warned = True
            key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            if self._unique:
                raise InputError(
                    f"{self._where}: the key {key!r} occurs twice in one object; keep one of them"
                )
            log.warning(
                "%s: the key %.80r occurs twice in one object; the last one counts",
                self._where,
                key,
            )
        return made


def read_json(path: Path | str) -> Any:  # noqa: ANN401 - any JSON value
    """Read one JSON document; InputError names the file, line and column of the error."""
    return Decoder(path).read(read_text(path))


def read_jsonl(path: Path | str, *, unique: bool = False) -> list[tuple[int, Any]]:
    """Read JSON Lines as (line number, value); a key that occurs twice is a warning, or InputError where `unique`."""
    return list(Decoder(path, unique=unique).lines(read_text(path)))


def read_json_or_jsonl(path: Path | str, *, unique: bool = False) -> Any:  # noqa: ANN401 - any JSON value
    """Read a JSON document, or JSON Lines as a list of values, told apart by content; `unique` as `read_jsonl`."""
    text, decoder = read_text(path), Decoder(path, unique=unique)
    return (
        [value for _, value in decoder.lines(text)] if is_json_lines(text) else decoder.read(text)
    )


def is_json_lines(text: str) -> bool:
    """Whether a text is JSON Lines: more than one line, of which the first is an object or a list by itself."""
    first_line, _, rest = text.strip().partition("\n")
    if not rest.strip() or not first_line.strip().startswith(("{", "[")):
        return False
    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return True


def read_record(path: Path | str) -> dict[str, Any] | None:
    """Read a record that Reelbench keeps beside what it fetched; a missing or damaged one is as good as none."""
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
    """Return the sha256, in hex, of names in their order, a line each: what tells two sets of ids or videos apart."""
    return hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "surrogatepass")).hexdigest()


def sha256_once(path: Path | str) -> str:
    """As `sha256_of`, read once in a process: a file of the same place, size and times has the same bytes."""
    with suppress(OSError, ValueError):  # `sha256_of` says what is wrong
        found = Path(path).stat()
        if stat.S_ISREG(found.st_mode):
            key = (str(path), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            if key not in _HASHES:
                _HASHES[key] = sha256_of(path)
            return _HASHES[key]
    return sha256_of(path)
