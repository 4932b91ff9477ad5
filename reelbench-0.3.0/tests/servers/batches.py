"""A server on 127.0.0.1 that speaks OpenAI's files and batches, and chat completions beside them.

with BatchServer() as server: … server.url …; server.finish("completed") ends every batch that is
open.
"""

import itertools
import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

Line = dict[str, Any]


def completion(body: dict[str, Any], content: str = '{"score": 3}') -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{body['model']}-0001",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content},
                "finish_reason": "stop",
            },
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def answered(line: Line, content: str = '{"score": 3}') -> Line:
    response = {"status_code": 200, "request_id": "r", "body": completion(line["body"], content)}
    return {"id": "batch_req", "custom_id": line["custom_id"], "response": response, "error": None}


def failed(line: Line) -> Line:
    response = {
        "status_code": 500,
        "request_id": "r",
        "body": {"error": {"code": "server_error", "message": "no"}},
    }
    return {"id": "batch_req", "custom_id": line["custom_id"], "response": response, "error": None}


def expired(line: Line) -> Line:
    error = {
        "code": "batch_expired",
        "message": "This request could not be executed before the window expired.",
    }
    return {"id": "batch_req", "custom_id": line["custom_id"], "response": None, "error": error}


class BatchServer:
    """`paid` counts, by the text of its request, each completion that was made: in a batch or live."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.live: list[dict[str, Any]] = []
        self.paid: list[str] = []
        self.requests: list[str] = []
        self.on_create: Callable[[], None] = lambda: None
        self.refuse: int | None = None
        self._ids = itertools.count(1)
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.handle(self, "GET", b"")

            def do_POST(self) -> None:
                server.handle(self, "POST", self.rfile.read(int(self.headers["content-length"])))

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def finish(
        self, status: str, do: Callable[[int, Line], Line] = lambda _, line: answered(line)
    ) -> None:
        """End every open batch in `status`, each request as `do` says."""
        for batch in self.batches.values():
            if batch["status"] != "in_progress":
                continue
            lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
            ended = [(line, do(number, line)) for number, line in enumerate(lines)]
            fine = [row for _, row in ended if (row["response"] or {}).get("status_code") == 200]
            self.paid += [json.dumps(line["body"]) for line, row in ended if row in fine]
            batch["status"] = status
            batch["request_counts"] = {
                "total": len(lines),
                "completed": len(fine),
                "failed": len(lines) - len(fine),
            }
            batch["output_file_id"] = (
                self.keep("\n".join(map(json.dumps, fine)).encode()) if fine else None
            )
            rest = [row for _, row in ended if row not in fine]
            batch["error_file_id"] = (
                self.keep("\n".join(map(json.dumps, rest)).encode()) if rest else None
            )

    def keep(self, content: bytes) -> str:
        """Keep a file; return its id."""
        name = f"file-{next(self._ids)}"
        self.files[name] = content
        return name

    def handle(self, request: BaseHTTPRequestHandler, method: str, body: bytes) -> None:
        parts = urlsplit(request.path)
        path = parts.path.removeprefix("/v1")
        self.requests.append(f"{method} {path}")
        if self.refuse is not None and path != "/chat/completions":
            self._send(request, {"error": {"message": "not on your plan"}}, self.refuse)
        elif (method, path) == ("POST", "/files"):
            content = re.search(
                rb'name="file"; filename="[^"]*"\r\n[^\r]*\r\n\r\n(.*?)\r\n--', body, re.DOTALL
            )
            assert content is not None
            assert b'name="purpose"\r\n\r\nbatch' in body
            name = self.keep(content[1])
            made = {
                "id": name,
                "object": "file",
                "bytes": len(content[1]),
                "created_at": 1,
                "filename": "f",
            }
            self._send(request, {**made, "purpose": "batch", "status": "processed"})
        elif match := re.fullmatch(r"/files/([^/]+)/content", path):
            self._send_bytes(request, self.files[match[1]])
        elif (method, path) == ("POST", "/batches"):
            self._send(request, self.create(json.loads(body)))
        elif (method, path) == ("GET", "/batches"):
            self._list(request, parse_qs(parts.query))
        elif match := re.fullmatch(r"/batches/([^/]+)", path):
            batch = self.batches.get(match[1])
            error = {"error": {"message": f"No batch found with id {match[1]!r}."}}
            self._send(request, batch or error, 200 if batch else 404)
        elif path == "/chat/completions":
            asked = json.loads(body)
            self.live.append(asked)
            self.paid.append(json.dumps(asked))
            self._send(request, completion(asked))

    def create(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Make a batch, as POST /batches does; return it."""
        assert asked["completion_window"] == "24h"
        assert asked["endpoint"] == "/v1/chat/completions"
        for line in map(json.loads, self.files[asked["input_file_id"]].splitlines()):
            assert set(line) == {"custom_id", "method", "url", "body"}
        name = f"batch_{next(self._ids)}"
        self.batches[name] = {
            **asked,
            "id": name,
            "object": "batch",
            "status": "in_progress",
            "created_at": int(time.time()),
            "errors": None,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }
        self.on_create()
        return self.batches[name]

    def _list(self, request: BaseHTTPRequestHandler, query: dict[str, list[str]]) -> None:
        newest = list(reversed(self.batches.values()))
        after = query.get("after", [None])[0]
        start = next((i + 1 for i, batch in enumerate(newest) if batch["id"] == after), 0)
        page = newest[start : start + 1]  # one a page, so that a client has to turn pages
        more = start + 1 < len(newest)
        last = page[-1]["id"] if page else None
        self._send(
            request,
            {"object": "list", "data": page, "first_id": last, "last_id": last, "has_more": more},
        )

    def _send(self, request: BaseHTTPRequestHandler, body: object, status: int = 200) -> None:
        self._send_bytes(request, json.dumps(body).encode(), status)

    @staticmethod
    def _send_bytes(request: BaseHTTPRequestHandler, content: bytes, status: int = 200) -> None:
        try:
            request.send_response(status)
            request.send_header("Content-Type", "application/json")
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):  # the client is gone
            request.close_connection = True
