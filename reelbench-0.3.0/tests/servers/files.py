"""A local HTTP server for files, with ranges, validators, and faults that a test orders in advance."""

import base64
import hashlib
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Request:
    """A request as it came; `path` is still percent-encoded, `query` is not parsed."""

    method: str
    path: str
    query: str
    headers: Message
    body: bytes

    @property
    def token(self) -> str | None:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ").strip() or None


@dataclass
class Response:
    """A whole response; the server cuts it down to a range, drops the body of a HEAD, and applies faults."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Fault:
    """What goes wrong, with which requests (`METHOD /path` matched from the start), how often (None: always)."""

    pattern: re.Pattern[str]
    times: int | None
    status: int | None
    cut_at: int | None
    corrupt: bool
    hang_up: bool
    lose: bool
    unmeasured: bool
    headers: dict[str, str]
    body: bytes


class FileServer:
    """Serves `files` (path -> bytes) on 127.0.0.1, named `host`; a context manager. `requests` keeps what came."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._host = host
        self.files: dict[str, Response] = {}
        self.requests: list[Request] = []
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._server = _HttpServer(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        # The default poll of half a second would be paid at each test's end.
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def put(
        self, path: str, body: bytes, *, etag: str | None = "", date: bool = True, md5: bool = False
    ) -> str:
        """Serve `body` at `path` and return the URL. `etag` "" means one made from the bytes, None means none."""
        headers = {"Content-Type": "application/octet-stream"}
        if etag is not None:
            headers["ETag"] = etag or f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
        if date:
            headers["Last-Modified"] = formatdate(1_700_000_000 + len(self.requests), usegmt=True)
        if md5:
            digest = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
            headers["x-goog-hash"] = f"crc32c=AAAAAA==,md5={digest}"
        self.files[path] = Response(200, body, headers)
        return self.url + path

    def fail(
        self,
        pattern: str,
        *,
        times: int | None = 1,
        status: int | None = None,
        cut_at: int | None = None,
        corrupt: bool = False,
        hang_up: bool = False,
        lose: bool = False,
        unmeasured: bool = False,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> None:
        """Order a fault: `status` answers with an error, `cut_at` drops the connection after so many bytes of the body,
        `corrupt` changes the bytes and not their number, `hang_up` drops the connection without an
        answer, `lose` likewise, but the request is carried out, `unmeasured` states no length: the
        body ends with the connection.
        `pattern` is matched with `METHOD /decoded/path`."""
        sent = dict(headers or {})
        self._faults.append(
            Fault(
                re.compile(pattern),
                times,
                status,
                cut_at,
                corrupt,
                hang_up,
                lose,
                unmeasured,
                sent,
                body,
            )
        )

    def mend(self) -> None:
        """End all faults that were ordered."""
        with self._lock:
            self._faults.clear()

    def asked(self, pattern: str) -> list[Request]:
        """Return the requests whose `METHOD /decoded/path` matches."""
        return [r for r in self.requests if re.match(pattern, f"{r.method} {unquote(r.path)}")]

    def handle(self, request: Request) -> Response:
        """Answer a request."""
        return self.files.get(unquote(request.path)) or Response(404, b"no such file")

    def fault_for(self, request: Request) -> Fault | None:
        with self._lock:
            for fault in self._faults:
                if fault.times != 0 and fault.pattern.match(
                    f"{request.method} {unquote(request.path)}"
                ):
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None


class _HttpServer(ThreadingHTTPServer):
    owner: FileServer
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        del request, client_address  # a client that hangs up is no news


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without it each small response waits for the client's delayed acknowledgement.
    disable_nagle_algorithm = True
    server: _HttpServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        del format, args

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = (
            self._chunks()
            if self.headers.get("Transfer-Encoding") == "chunked"
            else self.rfile.read(length)
        )
        request = Request(self.command, parts.path, parts.query, self.headers, body)
        owner = self.server.owner
        owner.requests.append(request)
        fault = owner.fault_for(request)
        if fault is not None and fault.hang_up:
            self.close_connection = True
            return
        if fault is not None and fault.status is not None:
            self._send(Response(fault.status, fault.body, fault.headers), None)
            return
        response = _ranged(request, owner.handle(request))
        if fault is not None and fault.lose:
            self.close_connection = True
            return
        if fault is not None and fault.corrupt:
            response = Response(
                response.status, bytes(255 - byte for byte in response.body), response.headers
            )
        self._send(
            response,
            fault.cut_at if fault else None,
            unmeasured=fault is not None and fault.unmeasured,
        )

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - the base class's names

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, response: Response, cut_at: int | None, *, unmeasured: bool = False) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if unmeasured:
            self.send_header("Connection", "close")
        elif "Content-Length" not in response.headers:
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(response.body if cut_at is None else response.body[:cut_at])
        if cut_at is not None:
            self.close_connection = True


def _ranged(request: Request, response: Response) -> Response:
    if response.status != 200 or request.method not in {"GET", "HEAD"}:
        return response
    headers = {**response.headers, "Accept-Ranges": "bytes"}
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range") or "")
    condition = request.headers.get("If-Range")
    same = condition is None or condition in (headers.get("ETag"), headers.get("Last-Modified"))
    if asked is None or not same:
        return Response(200, response.body, headers)
    size = len(response.body)
    first, last = int(asked[1]), min(int(asked[2] or size - 1), size - 1)
    if first >= size:
        return Response(416, b"", {**headers, "Content-Range": f"bytes */{size}"})
    return Response(
        206,
        response.body[first : last + 1],
        {**headers, "Content-Range": f"bytes {first}-{last}/{size}"},
    )
