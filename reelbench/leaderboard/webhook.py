"""A small server that the Hub tells of pull requests to a results dataset; each is checked and commented on.

What the Hub sends says no more than which pull request to look at: everything else is asked of the
Hub itself. Pull requests that nobody told of (the server slept, the Hub was down) are found by
looking at all open ones, at the start and once an hour.
"""

import asyncio
import hmac
import logging
import re
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import AliasPath, BaseModel, Field, ValidationError

from reelbench.base import bounded
from reelbench.base.bounded import Bounds
from reelbench.base.errors import ReelbenchError, cut_in_the_middle, first_line, printable
from reelbench.leaderboard.pull_request import PullRequests
from reelbench.registry import discovery

if TYPE_CHECKING:
    from aiohttp import web


PATH = "/webhooks/check"
EVERY_S = 3600
AGAIN_S = (60, 300, 900)
"""After how long what the Hub broke off is tried again; then with all open ones."""
_LONGEST_LINE = 300  # characters
_COMMENTS = "discussion.comment"

Note = Callable[[str], None]
T = TypeVar("T")


class Payload(BaseModel):
    """What is read of a webhook's payload; the Hub's documentation has all of it."""

    scope: str = Field(validation_alias=AliasPath("event", "scope"))
    kind: str = Field(validation_alias=AliasPath("repo", "type"))
    repository: str = Field(validation_alias=AliasPath("repo", "name"))
    number: int = Field(default=0, ge=0, lt=10**9, validation_alias=AliasPath("discussion", "num"))
    is_pull_request: bool = Field(
        default=False, validation_alias=AliasPath("discussion", "isPullRequest")
    )
    refs: list[dict[str, str | None]] = Field(default=[], validation_alias="updatedRefs")

    def pull_requests(self, dataset: str) -> list[int]:
        """Return the numbers of the dataset's pull requests that were opened or changed; comments change none."""
        if (self.kind, self.repository) != ("dataset", dataset) or self.scope.startswith(_COMMENTS):
            return []
        refs = [re.fullmatch(r"refs/pr/([1-9]\d{0,8})", ref.get("ref") or "") for ref in self.refs]
        return [
            *([self.number] if self.is_pull_request else []),
            *(int(found[1]) for found in refs if found),
        ]


class Lane(NamedTuple):
    """How long a look at a pull request may take, and how many are looked at at once."""

    bounds: Bounds
    workers: int


LANES = (Lane(Bounds(seconds=10), workers=2), Lane(Bounds(seconds=300, patient=True), workers=1))
"""What takes longer than a lane allows comes again in the next; what takes longer than the last is said to."""


class Server:
    """Takes the Hub's calls, and looks at pull requests: submitters take turns, and long looks keep nobody waiting."""

    def __init__(
        self, pull_requests: PullRequests, secret: str, note: Note, lanes: Sequence[Lane] = LANES
    ) -> None:
        self._pull_requests = pull_requests
        self._secret = secret.encode()
        self._note = note
        self._lanes = lanes
        self._turns = Turns()
        self._authors: dict[int, str] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._failed: dict[int, int] = {}
        self._changed = asyncio.Condition()

    def application(self) -> "web.Application":
        """Return the aiohttp application: the webhook, and a page that says what this is."""
        from aiohttp import web

        app = web.Application()
        app.router.add_post(PATH, self._take)
        app.router.add_get("/", self._page)
        app.cleanup_ctx.append(self._working)
        return app

    async def _take(self, request: "web.Request") -> "web.Response":
        from aiohttp import web

        given = request.headers.get("X-Webhook-Secret")
        if given is None:
            return web.json_response({"error": "no X-Webhook-Secret"}, status=401)
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._secret):
            return web.json_response({"error": "another X-Webhook-Secret"}, status=403)
        try:
            payload = Payload.model_validate_json(await request.read())
        except ValidationError as error:
            return web.json_response(
                {"error": f"not a webhook's payload: {first_line(error)}"}, status=400
            )
        numbers = payload.pull_requests(self._pull_requests.dataset)
        for number in numbers:
            self._begin(self._add_by_author(number))
        return web.json_response({"pull_requests": numbers}, status=202)

    async def _page(self, _: "web.Request") -> "web.Response":
        from aiohttp import web

        return web.Response(
            text=f"Checks results that are handed in to {self._pull_requests.dataset}.\n"
        )

    async def _add_by_author(self, number: int) -> None:
        """Let a pull request wait among its author's; a webhook does not always say who that is, the Hub does."""
        if number not in self._authors:
            author = await self._tried(self._pull_requests.author, number)
            if author is not None:
                self._authors[number] = author
        await self._add(number, self._authors.get(number, ""))

    async def _add(self, number: int, author: str, lane: int = 0, *, after_s: float = 0) -> None:
        await asyncio.sleep(after_s)
        async with self._changed:
            if (lost := self._turns.add(number, author, lane)) is not None:
                self._note(f"pull request {lost}: too many wait; looked at when all open ones are")
            self._changed.notify_all()

    async def _working(self, _: "web.Application") -> AsyncIterator[None]:
        works = [
            self._work(lane)
            for lane, of_lane in enumerate(self._lanes)
            for _ in range(of_lane.workers)
        ]
        tasks = [asyncio.create_task(work) for work in (self._look(), *works)]
        yield
        for task in tasks:
            task.cancel()

    async def _look(self) -> None:
        """Find open pull requests that nobody told of."""
        while True:
            authors = await self._tried(self._pull_requests.open)
            if authors is not None:
                self._note(f"{len(authors)} open pull requests")
                self._authors = dict(authors)
                for number, author in authors.items():
                    await self._add(number, author)
            await asyncio.sleep(EVERY_S)

    async def _work(self, lane: int) -> None:
        last = lane == len(self._lanes) - 1
        while True:
            async with self._changed:
                while (taken := self._turns.take(lane)) is None:
                    await self._changed.wait()
            number, author = taken
            try:
                done = await self._tried(
                    self._pull_requests.check, number, self._lanes[lane].bounds, last
                )
            finally:
                async with self._changed:
                    self._turns.done(number)
                    self._changed.notify_all()
            if done == "not in time":
                await self._add(number, author, lane + 1)
            if done is not None:
                self._failed.pop(number, None)
                self._note(f"pull request {number}: {done}")
            elif (times := self._failed.setdefault(number, 0)) < len(AGAIN_S):
                self._failed[number] += 1
                self._begin(self._add(number, author, after_s=AGAIN_S[times]))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _tried(self, ask: Callable[..., T], *arguments: Any) -> T | None:  # noqa: ANN401
        """Ask the Hub in a thread; what fails is said, and never stops what comes after it."""
        try:
            return await asyncio.to_thread(ask, *arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next one may do
            why = (
                str(error)
                if isinstance(error, ReelbenchError)
                else f"{type(error).__name__}: {first_line(error)}"
            )
            self._note("; ".join([*(f"pull request {number}" for number in arguments[:1]), why]))
            return None


def _in_one_line(record: logging.LogRecord) -> bool:
    """Let a request that isn't HTTP as aiohttp reads it, or that failed here, be a line without its traceback."""
    if record.exc_info:
        line = " ".join(printable(f"{record.getMessage()}: {record.exc_info[1]}").split())
        record.msg, record.args, record.exc_info = cut_in_the_middle(line, _LONGEST_LINE), (), None
    return True


def serve(pull_requests: PullRequests, secret: str, *, host: str, port: int, note: Note) -> None:
    """Serve until stopped; port 0 takes a free one, which `note` is told."""
    from aiohttp import web

    readers = (f"reelbench.scoring.answers.{name}" for name in ("scored", "compiled"))
    ours = ("reelbench.leaderboard.pull_request", *readers, *discovery.registry().packages)
    bounded.prepare(
        *ours, "huggingface_hub.hf_api", "huggingface_hub.file_download", "h11", "numpy.random"
    )
    if not bounded.MEMORY_IS_BOUNDED:
        note(
            f"a look at a pull request has a deadline, and no bound of memory on this system ({sys.platform})"
        )

    logging.getLogger("aiohttp.server").addFilter(_in_one_line)

    async def run() -> None:
        with socket.create_server((host, port)) as listening:
            runner = web.AppRunner(Server(pull_requests, secret, note).application())
            await runner.setup()
            await web.SockSite(runner, listening).start()
            note(f"listening on http://{host}:{listening.getsockname()[1]}{PATH}")
            try:
                await asyncio.Event().wait()
            finally:
                await runner.cleanup()

    asyncio.run(run())


MOST = 10_000
"""Pull requests that wait, of all submitters together."""


class Turns:
    """Pull requests that wait, by lane; in each lane submitters take turns, whatever number of theirs waits.

    What waits twice waits once, and nothing is looked at twice at a time. Where `most` wait,
    whoever has the most of them loses the newest.
    """

    def __init__(self, most: int = MOST) -> None:
        self._waiting: dict[int, tuple[int, str]] = {}  # lane and submitter, in the order of coming
        self._line: dict[tuple[int, str], None] = {}  # whose turn it is, the next first
        self._busy: set[int] = set()
        self._most = most

    def add(self, number: int, submitter: str, lane: int = 0) -> int | None:
        """Let a pull request wait in one lane, the first that it is told to; return what loses its place by it."""
        there, _ = self._waiting.get(number, (None, ""))
        if there is None or lane < there:
            self._waiting.pop(number, None)
            self._waiting[number] = lane, submitter
            self._line.setdefault((lane, submitter))
        if len(self._waiting) <= self._most:
            return None
        [(most, _)] = Counter(self._waiting.values()).most_common(1)
        newest = next(number for number in reversed(self._waiting) if self._waiting[number] == most)
        del self._waiting[newest]
        return newest

    def take(self, lane: int) -> tuple[int, str] | None:
        """Return the next pull request of a lane and its submitter, who is then behind all others; None where none."""
        first: dict[tuple[int, str], int] = {}
        for number, whose in self._waiting.items():
            if whose[0] == lane and number not in self._busy:
                first.setdefault(whose, number)
        if (whose := next((one for one in self._line if one in first), None)) is None:
            return None
        del self._waiting[first[whose]], self._line[whose]
        if whose in self._waiting.values():
            self._line[whose] = None
        self._busy.add(first[whose])
        return first[whose], whose[1]

    def done(self, number: int) -> None:
        """Say that a pull request that was taken is looked at no more."""
        self._busy.discard(number)
