"""Files behind a plain URL: downloads that continue where they broke off, and that are checked before they count."""

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
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from reelbench.base import bounds
from reelbench.base.errors import DataUnavailableError, InputError, first_line
from reelbench.base.files import is_full, read_record, write_text
from reelbench.base.settings import home

TRIES = 4  # attempts in a row that bring no new byte before a download is given up
PAUSE_S = 0.5  # pause before the second attempt; it doubles from one attempt to the next
_TIMEOUT_S = 30.0
_HANDLERS: tuple[type[urllib.request.BaseHandler], ...] = (
    *(urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler),
    *(urllib.request.HTTPDefaultErrorHandler, urllib.request.HTTPRedirectHandler),
    *(urllib.request.HTTPErrorProcessor, urllib.request.UnknownHandler),
)
_BLOCK = 1 << 20
_PAST_END = http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE  # no bytes from where the ones here end
_RECORD, _MARKS = (
    ".source.json",
    ".json",
)  # behind the name of a file, and of a part of one: what the server stated

OnBytes = Callable[[int], None]  # called with the number of bytes of the file that are here so far


@dataclass(frozen=True)
class Remote:
    """What a server states of a file."""

    size: int | None
    etag: str | None
    last_modified: str | None
    md5: str | None = None

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Return the statements of the record beside a file; a field that is not of its type states nothing."""
        size = record.get("size")
        etag, last_modified, md5 = (
            value if isinstance(value := record.get(name), str) else None
            for name in ("etag", "last_modified", "md5")
        )
        return cls(size if type(size) is int else None, etag, last_modified, md5)

    @property
    def mark(self) -> str | None:
        """What tells that bytes to come belong to those that are here: a strong ETag or a date (RFC 9110, 13.1.5)."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.last_modified

    def differs(self, other: "Remote") -> bool:
        """Return whether `other` is another file, by the best mark that both state."""
        for mark in ("etag", "last_modified", "size"):
            mine, theirs = getattr(self, mark), getattr(other, mark)
            if mine is not None and theirs is not None:
                return mine != theirs
        return False


class _BrokeOffError(Exception):
    """The connection failed in a way that may pass."""


def place(url: str) -> Path:
    """Return the path at which a URL's file is kept under `$REELBENCH_HOME`; two URLs never share a place."""
    name = Path(unquote(urlsplit(url).path)).name or "index"
    return home() / "downloads" / hashlib.sha256(url.encode()).hexdigest()[:12] / name


def read_remote(path: Path) -> Remote | None:
    """Return the server's statements when `path` was downloaded; None where `path` isn't here whole."""
    record = read_record(path.with_name(path.name + _RECORD))
    if record is None or not path.is_file() or path.stat().st_size != record.get("bytes"):
        return None
    return Remote.from_record(record)


def head(url: str) -> Remote:
    """Ask a server for a file's size and marks, without the file."""
    try:
        with _open(url, method="HEAD") as response:
            return _stated(response)[0]
    except (_BrokeOffError, OSError, http.client.HTTPException) as error:
        raise DataUnavailableError(
            f"{url}: could not be reached ({_reason(error)}); check the network"
        ) from error


def download(
    url: str,
    path: Path,
    *,
    sha256: str | None = None,
    again: bool = False,
    on_bytes: OnBytes | None = None,
) -> Path:
    """Download `url` to `path`, continuing a partial download; `path` appears only when whole and verified.

    A file that broke off stays beside `path` as `<name>.part` and is continued by the next call, if
    the server's ETag or date says that it is still the same file. What the server stated is kept in
    `<name>.source.json`. With `again` it is fetched though it is here; the old file stays until the
    new one is whole. DataUnavailableError: no network, a refusal, a full disk, bytes with another
    hash, or a file of which nothing says when it is whole.
    """
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with FileLock(path.with_name(path.name + ".lock")):
        if not again and read_remote(path) is not None:
            return path
        idle = 0
        while True:
            before = _size(part)
            try:
                remote = _continue(
                    url, part, on_bytes or (lambda _: None), hashed=sha256 is not None
                )
                break
            except (_BrokeOffError, OSError, http.client.HTTPException) as error:
                idle = 0 if _size(part) > before else idle + 1
                full = isinstance(error, OSError) and is_full(error)
                if idle >= TRIES or full:
                    why = _reason(error)
                    what = (
                        f"the disk of {part.parent} is full; make room"
                        if full
                        else "check the network"
                    )
                    kept = (
                        f"; {_size(part)} bytes are kept and continued next time"
                        if _size(part)
                        else ""
                    )
                    raise DataUnavailableError(
                        f"{url}: the download failed ({why}); {what}, try again{kept}"
                    ) from error
                time.sleep(PAUSE_S * 2**idle)
        hashes = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
        with part.open("rb") as file:
            while block := file.read(_BLOCK):
                for digest in hashes.values():
                    digest.update(block)
        digests = {name: digest.hexdigest() for name, digest in hashes.items()}
        for name, expected in (("sha256", sha256), ("md5", remote.md5)):
            if expected is not None and digests[name] != expected:
                part.unlink()
                raise DataUnavailableError(
                    f"{url}: its bytes have {name} {digests[name]}, expected {expected}: not kept; "
                    "the transfer was damaged or the file has changed upstream"
                )
        record = {
            "url": url,
            **asdict(remote),
            "bytes": part.stat().st_size,
            "sha256": digests["sha256"],
            "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        part.replace(path)
        # The record comes last: a file without it is fetched again, never taken for whole.
        write_text(path.with_name(path.name + _RECORD), json.dumps(record, indent=1) + "\n")
        part.with_name(part.name + _MARKS).unlink(missing_ok=True)
    return path


def _continue(url: str, part: Path, on_bytes: OnBytes, *, hashed: bool) -> Remote:
    have = _size(part)
    kept = Remote.from_record(read_record(part.with_name(part.name + _MARKS)) or {})
    headers = {"Range": f"bytes={have}-", "If-Range": kept.mark} if have and kept.mark else {}
    with _open(url, headers=headers) as response:
        if response.status == _PAST_END:
            # It was whole already: its download was stopped while it was being verified.
            now = _stated(response)[0]
            if have != (now.size if now.size is not None else kept.size) or kept.differs(
                replace(now, size=None)
            ):
                part.unlink()
                raise _BrokeOffError("what was here is not the beginning of the server's file")
            return replace(kept, size=have)
        resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
        remote, begins = _stated(response)
        if resumed and (not headers or begins != have):
            part.unlink(missing_ok=True)
            raise _BrokeOffError("the server sent a part that was not asked for")
        have, total = have if resumed else 0, remote.size
        if total is None and not hashed and remote.md5 is None and not response.chunked:
            raise DataUnavailableError(
                f"{url}: the server states neither a length nor a hash, so a file that was cut off can't be told from "
                "a whole one; download it by hand and name your copy with --data"
            )
        if total is not None and shutil.disk_usage(part.parent).free < total - have:
            raise DataUnavailableError(
                f"{url}: {total - have} bytes to come, and {part.parent} has not that much room"
            )
        if not resumed:
            part.unlink(
                missing_ok=True
            )  # before its marks: another file's beginning must not be continued by them
        write_text(part.with_name(part.name + _MARKS), json.dumps(asdict(remote)))
        with part.open("ab" if resumed else "wb") as file:
            while block := response.read(_BLOCK):
                file.write(block)
                have += len(block)
                on_bytes(have)
                if total is None and have > bounds.UNSTATED_BYTES:
                    part.unlink()
                    bounds.hold(
                        f"{url}: bytes, without a length that the server states",
                        have,
                        bounds.UNSTATED_BYTES,
                    )
    # `read` ends quietly when a connection is cut.
    if total is not None and have > total:
        part.unlink()
        raise _BrokeOffError(f"the server sent more than the {total} bytes that it stated")
    if total is not None and have < total:
        raise _BrokeOffError(f"broke off at byte {have} of {total}")
    return remote


def _open(
    url: str, *, method: str = "GET", headers: dict[str, str] | None = None
) -> http.client.HTTPResponse:
    if urlsplit(url).scheme not in {"http", "https"}:
        raise InputError(f"{url}: not an http or https address")
    # What urllib would add reads local files and speaks FTP, wherever a server redirects it.
    opener = urllib.request.OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
        url,
        method=method,
        headers={"User-Agent": "reelbench", "Accept-Encoding": "identity", **(headers or {})},
    )
    try:
        response = opener.open(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code == _PAST_END and headers:
            return error  # type: ignore[return-value] - an answer like any other
        error.close()
        if error.code in {408, 425, 429} or error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _BrokeOffError(f"the server answered {error.code}") from error
        raise DataUnavailableError(
            f"{url}: the server answered {error.code} {_reason(error)}"
        ) from error
    except ValueError as error:  # a Location that is not an address
        raise DataUnavailableError(
            f"{url}: the server's redirection can't be followed ({_reason(error)})"
        ) from error
    if response.status not in {http.HTTPStatus.OK, http.HTTPStatus.PARTIAL_CONTENT}:
        response.close()
        raise DataUnavailableError(
            f"{url}: the server answered {response.status}, which is not a file"
        )
    return response


def _stated(response: http.client.HTTPResponse) -> tuple[Remote, int | None]:
    """Return what a server states of a file, and the offset of the bytes that it sends, where it sends a part."""
    headers, begins, size, md5 = response.headers, None, None, None
    if response.status != http.HTTPStatus.OK:
        parts = r"bytes (?:([0-9]{1,18})-[0-9]{1,18}|\*)/(?:([0-9]{1,18})|\*)"
        if (stated := re.fullmatch(parts, headers.get("Content-Range") or "")) is not None:
            begins, size = (None if digits is None else int(digits) for digits in stated.groups())
    length = (
        headers.get("Content-Length") if response.status != _PAST_END else None
    )  # else that of the refusal
    if length is not None and not re.fullmatch(r"[0-9]{1,18}", length):
        raise _BrokeOffError("the server's Content-Length is not a number")
    if length is not None and size is None:
        size = (begins or 0) + int(length)
    # Google Cloud Storage, where CURVE is kept, states hashes in its own header.
    for value in ",".join(headers.get_all("x-goog-hash") or ()).split(","):
        name, _, digest = value.strip().partition("=")
        if name == "md5":
            with suppress(ValueError):
                md5 = base64.b64decode(digest).hex()
    return Remote(size, headers.get("ETag"), headers.get("Last-Modified"), md5), begins


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: Exception) -> str:
    return first_line(error.reason if isinstance(error, urllib.error.URLError) else error)
