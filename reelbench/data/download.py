"""Files behind a plain URL.

A download continues where it broke off, and is checked before it counts.
"""

import base64
import hashlib
import http.client
import json
import re
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlsplit

from reelbench.base import bounds
from reelbench.base.errors import DataUnavailableError, InputError, first_line
from reelbench.base.files import is_full, read_record, write_text
from reelbench.base.settings import home
from reelbench.data import guarded_web

TRIES = 4
"""Attempts in a row that bring no new byte before a download is given up."""

PAUSE_S = 0.5
"""Pause before the second attempt. It doubles from one attempt to the next."""

_TIMEOUT_S = 30.0
_BLOCK = 1 << 20

_PAST_END = http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
"""The answer where there are no bytes from where the ones here end."""

_RECORD = ".source.json"
"""Behind a file's name: the record of what the server stated."""

_PART_RECORD = ".json"
"""Behind a partial file's name: the record of what the server stated."""

OnBytes = Callable[[int], None]
"""Called with the number of bytes of the file that are here so far."""


@dataclass(frozen=True)
class Remote:
    """A server's statements about a file."""

    size: int | None
    etag: str | None
    last_modified: str | None
    md5: str | None = None

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Read the record beside a file, without fields of a wrong type."""
        size = record.get("size")
        if type(size) is not int:
            size = None
        texts: list[str | None] = []
        for name in ("etag", "last_modified", "md5"):
            value = record.get(name)
            if not isinstance(value, str):
                value = None
            texts.append(value)
        return cls(size, *texts)

    @property
    def mark(self) -> str | None:
        """A strong ETag or a date, which parts of one file share (RFC 9110, 13.1.5)."""
        if self.etag and not self.etag.startswith("W/"):
            return self.etag
        return self.last_modified

    def differs(self, current: "Remote") -> bool:
        """Return True where `current` is another file, by the best mark that both state."""
        for name in ("etag", "last_modified", "size"):
            mark = getattr(self, name)
            current_mark = getattr(current, name)
            if mark is not None and current_mark is not None:
                return mark != current_mark
        return False


class _BrokeOffError(Exception):
    """The connection failed in a way that may pass."""


_PASSING_ERRORS = (_BrokeOffError, OSError, http.client.HTTPException)


def place(url: str) -> Path:
    """Return the path of a URL's file. Two URLs never share one."""
    name = Path(unquote(urlsplit(url).path)).name or "index"
    return home() / "downloads" / hashlib.sha256(url.encode()).hexdigest()[:12] / name


def read_remote(path: Path) -> Remote | None:
    """Return the server's statements about a downloaded file. None where it isn't here whole."""
    record = read_record(_path_beside(path, _RECORD))
    if record is None or not path.is_file() or path.stat().st_size != record.get("bytes"):
        return None
    return Remote.from_record(record)


def head(url: str) -> Remote:
    """Ask a server for a file's size and marks, without the file."""
    try:
        with _open_response(url, method="HEAD") as response:
            return _read_statements(response).remote
    except _PASSING_ERRORS as error:
        raise DataUnavailableError(
            f"{url}: could not be reached ({_why_failed(error)}); check the network"
        ) from error


def download(
    url: str,
    path: Path,
    *,
    sha256: str | None = None,
    again: bool = False,
    on_bytes: OnBytes | None = None,
) -> Path:
    """Download a file, or continue its partial download.

    The file appears only when it is whole and verified. One that broke off stays beside `path` as
    `<name>.part` and is continued by the next call, if the server's ETag or date says that it is
    still the same file. What the server stated is kept in `<name>.source.json`.

    Args:
        url: The address.
        path: The file to write.
        sha256: The hash that the file must have.
        again: Fetch the file though it is here. The old one stays until the new one is whole.
        on_bytes: Told of the bytes that came.

    Raises:
        DataUnavailableError: No network, a refusal, a full disk, bytes with another hash, or a file
            of which nothing says when it is whole.
    """
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    part = _path_beside(path, ".part")
    with FileLock(_path_beside(path, ".lock")):
        if not again and read_remote(path) is not None:
            return path
        remote = _download_part(url, part, on_bytes or _pass_over, hashed=sha256 is not None)
        digests = _file_digests(part)
        _check_digest(url, part, "sha256", digests["sha256"], sha256)
        _check_digest(url, part, "md5", digests["md5"], remote.md5)
        record = {
            "url": url,
            **asdict(remote),
            "bytes": part.stat().st_size,
            "sha256": digests["sha256"],
            "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        part.replace(path)
        # The record comes last: a file without it is fetched again, never taken for whole.
        write_text(_path_beside(path, _RECORD), json.dumps(record, indent=1) + "\n")
        _path_beside(part, _PART_RECORD).unlink(missing_ok=True)
    return path


def _path_beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _pass_over(count: int) -> None:
    """Do nothing with the number of bytes."""


def _download_part(url: str, part: Path, on_bytes: OnBytes, *, hashed: bool) -> Remote:
    """Download a file to `part`, in as many attempts as bring something."""
    attempt = _Attempt(url, part, on_bytes, hashed)
    idle = 0
    while True:
        size_before = _size_or_zero(part)
        try:
            return attempt.run()
        except _PASSING_ERRORS as error:
            idle += 1
            if _size_or_zero(part) > size_before:
                idle = 0
            disk_is_full = isinstance(error, OSError) and is_full(error)
            if idle >= TRIES or disk_is_full:
                advice = "check the network"
                if disk_is_full:
                    advice = f"the disk of {part.parent} is full; make room"
                rest = ""
                if _size_or_zero(part):
                    rest = f"; {_size_or_zero(part)} bytes are kept and continued next time"
                raise DataUnavailableError(
                    f"{url}: the download failed ({_why_failed(error)}); {advice}, try again{rest}"
                ) from error
            time.sleep(PAUSE_S * 2**idle)


def _file_digests(part: Path) -> dict[str, str]:
    """Return a file's sha256 and MD5, read in one pass."""
    hashes = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
    with part.open("rb") as file:
        for block in iter(lambda: file.read(_BLOCK), b""):
            for digest in hashes.values():
                digest.update(block)
    return {name: digest.hexdigest() for name, digest in hashes.items()}


def _check_digest(url: str, part: Path, name: str, digest: str, expected: str | None) -> None:
    """Delete a file whose hash is not the expected one, and raise."""
    if expected is None or digest == expected:
        return
    part.unlink()
    raise DataUnavailableError(
        f"{url}: its bytes have {name} {digest}, expected {expected}: not kept; "
        "the transfer was damaged or the file has changed upstream"
    )


# --- one attempt
# ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Attempt:
    """An attempt to download what a partial file lacks. The file need not be there."""

    url: str
    part: Path
    on_bytes: OnBytes
    hashed: bool
    """True where the caller knows the file's hash."""

    def run(self) -> Remote:
        """Download the rest of the file. Return the server's statements about it."""
        size = _size_or_zero(self.part)
        part_remote = Remote.from_record(read_record(_path_beside(self.part, _PART_RECORD)) or {})
        headers: dict[str, str] = {}
        if size and part_remote.mark:
            headers = {"Range": f"bytes={size}-", "If-Range": part_remote.mark}
        with _open_response(self.url, headers=headers) as response:
            if response.status == _PAST_END:
                return self._already_whole(part_remote, _read_statements(response).remote)
            statements = _read_statements(response)
            remote = statements.remote
            resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
            if not resumed:
                size = 0
            elif not headers or statements.first_byte != size:
                self.part.unlink(missing_ok=True)
                raise _BrokeOffError("the server sent a part that was not asked for")
            self._check_end(remote, chunked=bool(response.chunked))
            self._check_room(remote, size)
            if not resumed:
                # Before its marks: another file's beginning must not be continued by them.
                self.part.unlink(missing_ok=True)
            write_text(_path_beside(self.part, _PART_RECORD), json.dumps(asdict(remote)))
            size = self._append_bytes(response, remote, size)
        # `read` ends quietly when a connection is cut.
        if remote.size is not None and size > remote.size:
            self.part.unlink()
            raise _BrokeOffError(
                f"the server sent more than the {remote.size} bytes that it stated"
            )
        if remote.size is not None and size < remote.size:
            raise _BrokeOffError(f"broke off at byte {size} of {remote.size}")
        return remote

    def _already_whole(self, part_remote: Remote, current: Remote) -> Remote:
        """Return the statements about a partial file that lacks nothing.

        Its download was stopped while it was being verified.
        """
        size = _size_or_zero(self.part)
        expected_size = part_remote.size if current.size is None else current.size
        if size != expected_size or part_remote.differs(replace(current, size=None)):
            self.part.unlink()
            raise _BrokeOffError("what was here is not the beginning of the server's file")
        return replace(part_remote, size=size)

    def _check_end(self, remote: Remote, *, chunked: bool) -> None:
        """Refuse a file of which nothing says when it is whole."""
        has_end = remote.size is not None or chunked
        has_hash = self.hashed or remote.md5 is not None
        if not has_end and not has_hash:
            raise DataUnavailableError(
                f"{self.url}: the server states neither a length nor a hash, so a file that was "
                "cut off looks like a whole one; download it by hand and name your copy "
                "with --data"
            )

    def _check_room(self, remote: Remote, size: int) -> None:
        if remote.size is None:
            return
        folder = self.part.parent
        missing = remote.size - size
        if shutil.disk_usage(folder).free < missing:
            raise DataUnavailableError(
                f"{self.url}: {missing} bytes to come, and {folder} has not that much room"
            )

    def _append_bytes(self, response: http.client.HTTPResponse, remote: Remote, size: int) -> int:
        """Append a server's bytes to the partial file of `size` bytes. Return its new size."""
        with self.part.open("ab") as file:
            for block in iter(lambda: response.read(_BLOCK), b""):
                file.write(block)
                size += len(block)
                self.on_bytes(size)
                if remote.size is None and size > bounds.UNSTATED_BYTES:
                    self.part.unlink()
                    what = f"{self.url}: bytes, without a length that the server states"
                    bounds.hold(what, size, bounds.UNSTATED_BYTES)
        return size


def _open_response(
    url: str, *, method: str = "GET", headers: dict[str, str] | None = None
) -> http.client.HTTPResponse:
    """Send a request. Raise where the answer is no file."""
    if urlsplit(url).scheme not in {"http", "https"}:
        raise InputError(f"{url}: not an http or https address")
    all_headers = {"User-Agent": "reelbench", "Accept-Encoding": "identity"}
    all_headers.update(headers or {})
    request = urllib.request.Request(url, method=method, headers=all_headers)  # noqa: S310 - the scheme is checked above
    try:
        response = guarded_web.opener().open(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code == _PAST_END and headers:
            return error  # type: ignore[return-value] - an answer like any other
        error.close()
        if error.code in {408, 425, 429} or error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _BrokeOffError(f"the server answered {error.code}") from error
        raise DataUnavailableError(
            f"{url}: the server answered {error.code} {_why_failed(error)}"
        ) from error
    except ValueError as error:  # a Location that is not an address
        raise DataUnavailableError(
            f"{url}: the server's redirection can't be followed ({_why_failed(error)})"
        ) from error
    if response.status not in {http.HTTPStatus.OK, http.HTTPStatus.PARTIAL_CONTENT}:
        response.close()
        raise DataUnavailableError(
            f"{url}: the server answered {response.status}, which is not a file"
        )
    return response


class _Statements(NamedTuple):
    """A server's statements about a file, and the offset of the bytes that it sends."""

    remote: Remote
    first_byte: int | None


_RANGE = re.compile(r"bytes (?:([0-9]{1,18})-[0-9]{1,18}|\*)/(?:([0-9]{1,18})|\*)")


def _read_statements(response: http.client.HTTPResponse) -> _Statements:
    """Read a server's statements. The offset is None where it sends a whole file."""
    headers = response.headers
    first_byte: int | None = None
    size: int | None = None
    if response.status != http.HTTPStatus.OK:
        content_range = _RANGE.fullmatch(headers.get("Content-Range") or "")
        if content_range is not None:
            first_byte = _parse_digits(content_range[1])
            size = _parse_digits(content_range[2])
    length = headers.get("Content-Length")
    if response.status == _PAST_END:
        length = None  # it is that of the refusal
    if length is not None and not re.fullmatch(r"[0-9]{1,18}", length):
        raise _BrokeOffError("the server's Content-Length is not a number")
    if length is not None and size is None:
        size = (first_byte or 0) + int(length)
    etag = headers.get("ETag")
    last_modified = headers.get("Last-Modified")
    remote = Remote(size, etag, last_modified, _google_md5(headers))
    return _Statements(remote, first_byte)


def _parse_digits(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


def _google_md5(headers: http.client.HTTPMessage) -> str | None:
    """Return the MD5 in the header of Google Cloud Storage, where CURVE is kept."""
    values = ",".join(headers.get_all("x-goog-hash") or ())
    md5: str | None = None
    for value in values.split(","):
        name, _, digest = value.strip().partition("=")
        if name == "md5":
            with suppress(ValueError):
                md5 = base64.b64decode(digest).hex()
    return md5


def _size_or_zero(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _why_failed(error: Exception) -> str:
    if isinstance(error, urllib.error.URLError):
        return first_line(error.reason)
    return first_line(error)
