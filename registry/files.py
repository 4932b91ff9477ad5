"""Files and folders that are either whole or not there: written aside, flushed, then renamed."""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from reelbench.registry.errors import InputError

PairsHook = Callable[[list[tuple[str, Any]]], dict[str, Any]]


def _aside(path: Path) -> Path:
    # The name starts with a dot and ends in .tmp so that neither a glob for results nor a reader of the cache sees it.
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


@contextmanager
def written_aside(path: Path | str) -> Iterator[Path]:
    """Yield a sibling path to write to; on success it becomes `path` in one step, on any error it is removed.

    Works for a file or a folder. Where two processes finish the same folder, the first one's stays and the second's is
    dropped: use it for folders only where the content is decided by the name.
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
def open_aside(path: Path | str, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a sibling of `path` for writing (UTF-8 in text mode), flush it to disk, and rename it on success."""
    with written_aside(path) as aside, aside.open(mode, encoding=None if "b" in mode else "utf-8") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_text(path: Path | str, text: str) -> None:
    """Write `text` to `path` in one step."""
    with open_aside(path) as file:
        file.write(text)


def write_jsonl(path: Path | str, rows: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line to `path` in one step, characters unescaped."""
    with open_aside(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def valid_text(text: str) -> str:
    """Return `text` with lone surrogates (half an emoji, cut by a tokenizer) made U+FFFD: UTF-8 can't hold them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _loads(text: str, hook: PairsHook | None = None) -> Any:  # noqa: ANN401 - any JSON value
    # JSON can spell a lone surrogate and UTF-8 can't: left in, it would fail far from here, when something is written.
    if "\\ud" in text or "\\uD" in text:
        made = hook or dict
        value = json.loads(text, object_pairs_hook=lambda pairs: made([(_valid(k), _valid(v)) for k, v in pairs]))
        return _valid(value)
    return json.loads(text, object_pairs_hook=hook)


def _valid(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value with valid text; an object was made of valid pairs already."""
    if isinstance(value, str):
        return valid_text(value)
    return [_valid(part) for part in value] if isinstance(value, list) else value


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, expected a file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def read_json(path: Path | str) -> Any:  # noqa: ANN401 - any JSON value
    """Read one JSON document; InputError names the file, line and column of what is wrong."""
    path = Path(path)
    text = _read_text(path)
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        what = "the file is empty" if not text.strip() else error.msg
        raise InputError(
            f"{path}, line {error.lineno}, column {error.colno}: not valid JSON ({what}); is it whole?"
        ) from None


def read_jsonl(path: Path | str, hook: PairsHook | None = None) -> list[tuple[int, Any]]:
    """Read one JSON value per line, as (line number, value); blank lines are skipped.

    `hook` makes an object of its pairs, for a reader that must know of a key that is there twice; else the last counts.
    """
    path = Path(path)
    rows = []
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append((number, _loads(line, hook)))
        except json.JSONDecodeError as error:
            raise InputError(
                f"{path}, line {number}, column {error.colno}: not valid JSON ({error.msg}); is the line whole?"
            ) from None
    return rows


def sha256_of(path: Path | str) -> str:
    """Return the sha256 of a file's bytes, in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json_or_jsonl(path: Path | str) -> Any:  # noqa: ANN401 - any JSON value
    """Read a JSON document, or JSON Lines as the list of its values; told apart by content, not by the name."""
    path = Path(path)
    text = _read_text(path).strip()
    first_line, _, rest = text.partition("\n")
    if rest.strip() and first_line.strip().startswith("{"):
        try:
            json.loads(first_line)
        except json.JSONDecodeError:
            return read_json(path)
        return [value for _, value in read_jsonl(path)]
    return read_json(path)
