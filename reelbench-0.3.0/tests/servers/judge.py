"""A judge on 127.0.0.1: speaks chat completions over HTTP/1.1 and misbehaves to order.

The two small questions by which pictures are looked for (`tests.servers.pictures`) are answered as
by a model that sees, or by the script `small`, and are no calls; where the server `plays_all`, they
are calls like others.

In a test's process:   with JudgeServer(lambda call: Answer("{'score': 3}")) as server: ... server.url, server.calls
As its own process:    python -m tests.servers.judge --delay 0.2 --score 3        (prints its URL; GET /calls counts)
"""

import argparse
import asyncio
import contextlib
import json
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from tests.servers import pictures


@dataclass
class Call:
    """One request as it came in; `number` counts from 0."""

    number: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    in_flight: int

    @property
    def system(self) -> str:
        return next((m["content"] for m in self.body["messages"] if m["role"] == "system"), "")

    @property
    def user(self) -> str:
        return next(m["content"] for m in self.body["messages"] if m["role"] == "user")


@dataclass
class Answer:
    """What to send back, after `delay` seconds.

    `raw` replaces the whole body, `drop` closes in the middle of it; `wire` replaces the head too,
    then it is closed, unless it `stays`: silent, or with one more byte every `stays` seconds for
    ever. `message` and `usage` are added to what the message and the usage hold.
    """

    content: str | None = '{"score": 3}'
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    model: str | None = None
    finish: str | None = "stop"
    error: dict[str, Any] | None = None
    raw: bytes | None = None
    drop: bool = False
    wire: bytes | None = None
    stays: float | None = None
    message: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)

    def body(self, asked: str) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            return json.dumps(
                {"error": self.error or {"message": f"scripted {self.status}"}}
            ).encode()
        return json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": self.model or f"{asked}-0001",
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": self.content} | self.message,
                        "finish_reason": self.finish,
                    }
                ],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
                | self.usage,
            }
        ).encode()


Script = Callable[[Call], Answer]


def _see(call: Call) -> Answer:
    return Answer(**pictures.seen(call.body))


_OWN_PAGES = {"/props", "/api/version", "/api/show", "/api/ps", "/api/v0/models"}
"""Paths of what llama.cpp, Ollama and LM Studio say of themselves."""


class _Connection(asyncio.Protocol):
    def __init__(self, server: "_Core") -> None:
        self._server = server
        self._buffer = bytearray()
        self._wanted = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._server.transports.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._server.transports.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (
            len(self._buffer) >= self._wanted
        ):  # a body of megabytes comes in many pieces, and is copied once
            head, mark, _ = bytes(self._buffer[:100_000]).partition(b"\r\n\r\n")
            if not mark:
                return
            lines = head.decode("latin-1").split("\r\n")
            headers = {
                k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])
            }
            begins = len(head) + len(mark)
            self._wanted = begins + int(headers.get("content-length", 0))
            if len(self._buffer) < self._wanted:
                return
            body = bytes(memoryview(self._buffer)[begins : self._wanted])
            del self._buffer[: self._wanted]
            self._wanted = 0
            _, path, _ = lines[0].split(" ", 2)
            self._server.handle(self, path, headers, body)

    def send(
        self, status: int, headers: dict[str, str], body: bytes, *, drop: bool = False
    ) -> None:
        if self._transport.is_closing():
            return
        lines = [
            f"HTTP/1.1 {status} X",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        self._transport.write(head + (body[: len(body) // 2] if drop else body))
        if drop:
            self._transport.close()

    def send_wire(self, wire: bytes, stays: float | None = None) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(wire)
        if stays is not None:
            if stays:
                asyncio.get_running_loop().call_later(stays, self.send_wire, b"a", stays)
            return
        self._transport.close()


class _Core:
    def __init__(
        self, script: Script, *, keep: bool, small: Script | None = None, plays_all: bool = False
    ) -> None:
        self.script = script
        self.keep = keep
        self.small = small or _see
        self.plays_all = plays_all
        self.small_questions = 0
        self.transports: set[asyncio.WriteTransport] = set()
        self.calls: list[Call] = []
        self.count = 0
        self.models: list[dict[str, Any]] | None = None
        self.listed = 0
        self.pages: dict[str, Any] = {}
        self.pages_read: list[str] = []
        self.replied = 0
        self.in_flight = 0
        self.most_in_flight = 0

    def handle(
        self, connection: _Connection, path: str, headers: dict[str, str], body: bytes
    ) -> None:
        if path in _OWN_PAGES:
            self.pages_read.append(path)
            page = self.pages.get(path)
            connection.send(404 if page is None else 200, {}, json.dumps(page or {}).encode())
            return
        if path.partition("?")[0].endswith("/models"):
            self.listed += 1
            body = json.dumps({"object": "list", "data": self.models or []}).encode()
            connection.send(404 if self.models is None else 200, {}, body)
            return
        if path == "/calls":
            counts = {
                "calls": self.count,
                "replied": self.replied,
                "most_in_flight": self.most_in_flight,
            }
            connection.send(200, {}, json.dumps(counts | {"cpu": time.process_time()}).encode())
            return
        loop = asyncio.get_running_loop()
        arrived = (
            loop.time()
        )  # what a request takes to read is part of the delay, as of a model's time
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        call = Call(self.count, path, headers, json.loads(body), self.in_flight)
        if not self.plays_all and pictures.is_small_question(call.body):
            self.small_questions += 1
            self._answer(connection, call, self.small(call))
            return
        self.count += 1
        if self.keep:
            self.calls.append(call)
        answer = self.script(call)
        if answer.delay:
            loop.call_at(arrived + answer.delay, self._answer, connection, call, answer)
        else:
            self._answer(connection, call, answer)

    def _answer(self, connection: _Connection, call: Call, answer: Answer) -> None:
        self.in_flight -= 1
        self.replied += answer.status == 200
        if answer.wire is not None:
            connection.send_wire(answer.wire, answer.stays)
            return
        connection.send(
            answer.status, answer.headers, answer.body(call.body.get("model", "")), drop=answer.drop
        )


def always(content: str | None = '{"score": 3}', **more: Any) -> Script:
    return lambda _: Answer(content, **more)


class JudgeServer:
    """The judge in a thread of the test's process."""

    def __init__(
        self,
        script: Script | None = None,
        tls: ssl.SSLContext | None = None,
        *,
        small: Script | None = None,
        plays_all: bool = False,
    ) -> None:
        self._core = _Core(script or always(), keep=True, small=small, plays_all=plays_all)
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        listening = asyncio.run_coroutine_threadsafe(self._listen(), self._loop)
        self._server = listening.result()
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}/v1"
        return self

    async def _listen(self) -> asyncio.Server:
        return await self._loop.create_server(
            lambda: _Connection(self._core), "127.0.0.1", 0, ssl=self._tls
        )

    async def _end(self) -> None:
        """Close what is open here, and see it closed: a loop that stopped would leave its sockets to the collector."""
        self._server.close()
        for transport in list(self._core.transports):
            transport.close()
        await asyncio.sleep(0)
        for transport in list(self._core.transports):  # what waits for somebody who reads no more
            transport.abort()
        await asyncio.sleep(0)

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def calls(self) -> list[Call]:
        return self._core.calls

    @property
    def listed(self) -> int:
        """How often the list of models was asked for."""
        return self._core.listed

    @property
    def small_questions(self) -> int:
        """How many of the small questions came that are no calls."""
        return self._core.small_questions

    def list_models(self, *models: dict[str, Any]) -> None:
        """List these models from now on; before that there is no such list."""
        self._core.models = list(models)

    def show_page(self, path: str, page: object) -> None:
        """Show a page of the server's own from now on."""
        self._core.pages[path] = page

    @property
    def pages_read(self) -> list[str]:
        """The paths of pages that were asked for, whether there or not."""
        return self._core.pages_read

    @property
    def most_in_flight(self) -> int:
        return self._core.most_in_flight

    def script(self, script: Script) -> None:
        """Answer otherwise from now on."""
        self._core.script = script


async def serve(port: int, script: Script) -> None:
    """Serve in this process, the URL printed first, until it is interrupted."""
    core = _Core(script, keep=False)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(core), "127.0.0.1", port, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)  # noqa: T201 - how the caller learns it
    await server.serve_forever()


def serve_with_delay(play: Script, description: str | None) -> None:
    """Serve `play` as a process of its own; `--delay` puts every reply off."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds for every reply")
    given = parser.parse_args()

    def script(call: Call) -> Answer:
        answer = play(call)
        answer.delay = given.delay
        return answer

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(0, script))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds for every reply")
    parser.add_argument("--content", default='{"score": 3}')
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(given.port, always(given.content, delay=given.delay)))


if __name__ == "__main__":
    main()
