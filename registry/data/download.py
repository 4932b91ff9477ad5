"""Files behind a plain URL: downloads that continue where they broke off, and that are checked before they count."""

import base64
import hashlib
import http.client
import json
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reelbench.registry.errors import DataUnavailableError, InputError
from reelbench.registry.files import read_json, write_text
from reelbench.registry.home import home

TRIES = 4
"""Attempts in a row that bring no new byte before a download is given up."""
PAUSE_S = 0.5
"""Pause before the second attempt; it doubles from one attempt to the next."""
_TIMEOUT_S = 30.0
_BLOCK = 1 << 20

OnBytes = Callable[[int], None]
"""Called with the number of bytes of the file that are here so far."""


@dataclass(frozen=True)
class Remote:
    """What a server states of a file."""

    size: int | None
    etag: str | None
    last_modified: str | None
    md5: str | None = None

    def differs(self, other: "Remote") -> bool:
        """Tell whether `other` is another file, by the best mark that both state."""
        for mark in ("etag", "last_modified", "size"):
            mine, theirs = getattr(self, mark), getattr(other, mark)
            if mine is not None and theirs is not None:
                return mine != theirs
        return False


class _BrokeOffError(Exception):
    """The connection failed in a way that may pass."""


def place(url: str) -> Path:
    """Return where a URL's file is kept under `$REELBENCH_HOME`; two URLs never share a place."""
    name = Path(unquote(urlsplit(url).path)).name or "index"
    return home() / "downloads" / hashlib.sha256(url.encode()).hexdigest()[:12] / name


def recorded(path: Path) -> Remote | None:
    """Return what the server stated when `path` was downloaded; None where `path` isn't here whole."""
    record = _record_path(path)
    if not path.is_file() or not record.is_file():
        return None
    kept = read_json(record)
    if path.stat().st_size != kept["bytes"]:
        return None
    return Remote(**{name: kept.get(name) for name in ("size", "etag", "last_modified", "md5")})


def head(url: str) -> Remote:
    """Ask a server for a file's size and marks, without the file."""
    try:
        with _open(url, method="HEAD") as response:
            return _stated(response)
    except (_BrokeOffError, OSError, http.client.HTTPException) as error:
        raise DataUnavailableError(f"{url}: could not be reached ({_reason(error)}); check the network") from error


def download(
    url: str, path: Path, *, sha256: str | None = None, again: bool = False, on_bytes: OnBytes | None = None
) -> Path:
    """Download `url` to `path`, continuing a partial download; `path` appears only when whole and verified.

    A file that broke off stays beside `path` as `<name>.part` and is continued by the next call, if the server's ETag
    or date says that it is still the same file. What the server stated is kept in `<name>.source.json`.

    Args:
        url: http or https.
        path: Where the file is to lie.
        sha256: Its hash, where known.
        again: Fetch it though it is here; the old file stays until the new one is whole.
        on_bytes: Told of progress.

    Raises:
        DataUnavailableError: No network, a refusal, a full disk, or bytes with another hash.
    """
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with FileLock(path.with_name(path.name + ".lock")):
        if not again and recorded(path) is not None:
            return path
        remote = _complete(url, part, on_bytes or (lambda _: None))
        found = _hashes(part)
        _refuse_other_bytes(url, part, found, remote, sha256)
        record = {
            "url": url,
            **asdict(remote),
            "bytes": part.stat().st_size,
            "sha256": found["sha256"],
            "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        part.replace(path)
        # The record comes last: a file without it is fetched again, never taken for whole.
        write_text(_record_path(path), json.dumps(record, indent=1) + "\n")
        _marks_path(part).unlink(missing_ok=True)
    return path


def _complete(url: str, part: Path, on_bytes: OnBytes) -> Remote:
    idle = 0
    while True:
        before = _size(part)
        try:
            return _continue(url, part, on_bytes)
        except (_BrokeOffError, OSError, http.client.HTTPException) as error:
            idle = 0 if _size(part) > before else idle + 1
            if idle >= TRIES or (isinstance(error, OSError) and error.errno == 28):  # noqa: PLR2004 - ENOSPC
                kept = f"; {_size(part)} bytes are kept and continued next time" if _size(part) else ""
                raise DataUnavailableError(
                    f"{url}: the download failed ({_reason(error)}); check the network, try again{kept}"
                ) from error
            time.sleep(PAUSE_S * 2**idle)


def _continue(url: str, part: Path, on_bytes: OnBytes) -> Remote:
    have = _size(part)
    mark = _same_file_mark(part) if have else None
    headers = {"Range": f"bytes={have}-", "If-Range": mark} if mark else {}
    with _open(url, headers=headers) as response:
        resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
        if resumed and not (response.headers.get("Content-Range") or "").startswith(f"bytes {have}-"):
            part.unlink()
            raise _BrokeOffError("the server sent another range than asked for")
        have = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length is not None else None
        if total is not None and shutil.disk_usage(part.parent).free < total - have:
            raise DataUnavailableError(f"{url}: {total - have} bytes to come, and {part.parent} has not that much room")
        remote = _stated(response, size=total)
        write_text(_marks_path(part), json.dumps(asdict(remote)))
        with part.open("ab" if resumed else "wb") as file:
            while block := response.read(_BLOCK):
                file.write(block)
                have += len(block)
                on_bytes(have)
    # `read` ends quietly when a connection is cut.
    if total is not None and have < total:
        raise _BrokeOffError(f"broke off at byte {have} of {total}")
    return remote


def _open(url: str, *, method: str = "GET", headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
    if urlsplit(url).scheme not in {"http", "https"}:
        raise InputError(f"{url}: not an http or https address")
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
        url, method=method, headers={"User-Agent": "reelbench", "Accept-Encoding": "identity", **(headers or {})}
    )
    try:
        return urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # noqa: S310 - the scheme is checked above
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in {408, 425, 429} or error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _BrokeOffError(f"the server answered {error.code}") from error
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise _BrokeOffError("the server has fewer bytes than are here") from error
        raise DataUnavailableError(f"{url}: the server answered {error.code} {error.reason}") from error


def _stated(response: http.client.HTTPResponse, size: int | None = None) -> Remote:
    headers = response.headers
    length = headers.get("Content-Length")
    md5 = None
    # Google Cloud Storage, where CURVE is kept, states hashes in its own header.
    for value in ",".join(headers.get_all("x-goog-hash") or ()).split(","):
        name, _, digest = value.strip().partition("=")
        if name == "md5":
            with suppress(ValueError):
                md5 = base64.b64decode(digest).hex()
    return Remote(
        size=size if size is not None else int(length) if length is not None else None,
        etag=headers.get("ETag"),
        last_modified=headers.get("Last-Modified"),
        md5=md5,
    )


def _same_file_mark(part: Path) -> str | None:
    # Only a strong ETag or a date says that the bytes to come belong to those that are here (RFC 9110, 13.1.5).
    marks = _marks_path(part)
    if not marks.is_file():
        return None
    kept = read_json(marks)
    etag = kept.get("etag")
    return etag if etag and not etag.startswith("W/") else kept.get("last_modified")


def _refuse_other_bytes(url: str, part: Path, found: dict[str, str], remote: Remote, sha256: str | None) -> None:
    for name, expected in (("sha256", sha256), ("md5", remote.md5)):
        if expected is not None and found[name] != expected:
            part.unlink()
            raise DataUnavailableError(
                f"{url}: its bytes have {name} {found[name]}, expected {expected}: not kept; "
                "the transfer was damaged or the file has changed upstream"
            )


def _hashes(path: Path) -> dict[str, str]:
    digests = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            for digest in digests.values():
                digest.update(block)
    return {name: digest.hexdigest() for name, digest in digests.items()}


def _record_path(path: Path) -> Path:
    return path.with_name(path.name + ".source.json")


def _marks_path(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(reason).splitlines()[0] if str(reason) else type(reason).__name__
