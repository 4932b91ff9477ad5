"""Serve the Hub's webhook: check and comment on pull requests to a results dataset.

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
from reelbench.base.errors import cut_in_the_middle, failure_in_a_line, first_line, printable
from reelbench.leaderboard.pull_request import Commenting, PullRequests
from reelbench.registry import discovery

if TYPE_CHECKING:
    from aiohttp import web


PATH = "/webhooks/check"
EVERY_S = 3600
AGAIN_S = (60, 300, 900)
"""Seconds after which a look that the Hub broke off is tried again; then with all open ones."""
MOST = 10_000
"""Pull requests that wait, of all submitters together."""
_LONGEST_LINE = 300  # characters
_COMMENTS = "discussion.comment"
_USED_IN_A_LOOK = (
    "reelbench.leaderboard.pull_request",
    "reelbench.scoring.answers.scored",
    "reelbench.scoring.answers.compiled",
    "huggingface_hub.hf_api",
    "huggingface_hub.file_download",
    "h11",
    "numpy.random",
)
"""Modules that are loaded once, before the processes that look."""

Note = Callable[[str], None]
T = TypeVar("T")


class Payload(BaseModel):
    """The part of a webhook's payload that is read."""

    scope: str = Field(validation_alias=AliasPath("event", "scope"))
    kind: str = Field(validation_alias=AliasPath("repo", "type"))
    repository: str = Field(validation_alias=AliasPath("repo", "name"))
    number: int = Field(default=0, ge=0, lt=10**9, validation_alias=AliasPath("discussion", "num"))
    is_pull_request: bool = Field(
        default=False, validation_alias=AliasPath("discussion", "isPullRequest")
    )
    refs: list[dict[str, str | None]] = Field(default=[], validation_alias="updatedRefs")

    def pull_requests(self, dataset: str) -> list[int]:
        """Return the dataset's pull requests that were opened or changed.

        Comments change none.
        """
        if self.kind != "dataset" or self.repository != dataset:
            return []
        if self.scope.startswith(_COMMENTS):
            return []
        numbers: list[int] = []
        if self.is_pull_request:
            numbers.append(self.number)
        for ref in self.refs:
            match = re.fullmatch(r"refs/pr/([1-9]\d{0,8})", ref.get("ref") or "")
            if match is not None:
                numbers.append(int(match[1]))
        return numbers


# --- whose turn it is -----------------------------------------------------------------------------


class _Place(NamedTuple):
    """The lane and the submitter for whom a pull request waits."""

    lane: int
    submitter: str


class Turn(NamedTuple):
    """A pull request that is looked at now."""

    number: int
    submitter: str


class Turns:
    """Pull requests that wait, by lane.

    In each lane submitters take turns, whatever number of theirs waits. What waits twice waits
    once, and nothing is looked at twice at a time. Where `most` wait, whoever has the most of them
    loses the newest.
    """

    def __init__(self, most: int = MOST) -> None:
        self._waiting: dict[int, _Place] = {}  # in the order of coming
        self._line: dict[_Place, None] = {}  # whose turn it is, the next first
        self._busy: set[int] = set()
        self._most = most

    def add(self, number: int, submitter: str, lane: int = 0) -> int | None:
        """Let a pull request wait, in the earliest lane that it was added to.

        Returns:
            The pull request that loses its place by it, or None.
        """
        old_place = self._waiting.get(number)
        if old_place is None or lane < old_place.lane:
            place = _Place(lane, submitter)
            self._waiting.pop(number, None)
            self._waiting[number] = place
            self._line.setdefault(place)
        if len(self._waiting) <= self._most:
            return None
        [(fullest_place, _)] = Counter(self._waiting.values()).most_common(1)
        numbers = [number for number, place in self._waiting.items() if place == fullest_place]
        newest = numbers[-1]
        del self._waiting[newest]
        return newest

    def take(self, lane: int) -> Turn | None:
        """Return the next pull request of a lane. None where none can be looked at.

        Its submitter is then behind all others.
        """
        first_numbers: dict[_Place, int] = {}
        for number, place in self._waiting.items():
            if place.lane == lane and number not in self._busy:
                first_numbers.setdefault(place, number)
        for place in self._line:
            if place in first_numbers:
                return self._begin(first_numbers[place], place)
        return None

    def _begin(self, number: int, place: _Place) -> Turn:
        del self._waiting[number]
        del self._line[place]
        if place in self._waiting.values():
            self._line[place] = None
        self._busy.add(number)
        return Turn(number, place.submitter)

    def done(self, number: int) -> None:
        """Say that a pull request that was taken is looked at no more."""
        self._busy.discard(number)


# --- the server -----------------------------------------------------------------------------------


class Lane(NamedTuple):
    """The bounds of a look, and the number of looks at once."""

    bounds: Bounds
    workers: int


LANES = (Lane(Bounds(seconds=10), workers=2), Lane(Bounds(seconds=300, patient=True), workers=1))
"""A look that takes longer than a lane allows comes again in the next lane.

What takes longer than the last one allows gets a comment that says so.
"""


class Server:
    """Takes the Hub's calls, and looks at pull requests.

    Submitters take turns, and long looks keep nobody waiting.
    """

    def __init__(
        self, pull_requests: PullRequests, secret: str, note: Note, lanes: Sequence[Lane] = LANES
    ) -> None:
        self._pull_requests = pull_requests
        self._secret = secret.encode()
        self._note = note
        self._lanes = lanes
        self._turns = Turns()
        self._authors: dict[int, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: dict[int, int] = {}
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

        secret = request.headers.get("X-Webhook-Secret")
        if secret is None:
            return web.json_response({"error": "no X-Webhook-Secret"}, status=401)
        if not hmac.compare_digest(secret.encode("utf-8", "surrogateescape"), self._secret):
            return web.json_response({"error": "another X-Webhook-Secret"}, status=403)
        try:
            payload = Payload.model_validate_json(await request.read())
        except ValidationError as error:
            text = f"not a webhook's payload: {first_line(error)}"
            return web.json_response({"error": text}, status=400)
        numbers = payload.pull_requests(self._pull_requests.dataset)
        for number in numbers:
            self._begin(self._add_by_author(number))
        return web.json_response({"pull_requests": numbers}, status=202)

    async def _page(self, _: "web.Request") -> "web.Response":
        from aiohttp import web

        dataset = self._pull_requests.dataset
        return web.Response(text=f"Checks results that are submitted to {dataset}.\n")

    async def _add_by_author(self, number: int) -> None:
        """Let a pull request wait among its author's.

        A webhook does not always say who that is. The Hub does.
        """
        if number not in self._authors:
            author = await self._tried(self._pull_requests.author, number)
            if author is not None:
                self._authors[number] = author
        await self._add(number, self._authors.get(number, ""))

    async def _add(self, number: int, author: str, lane: int = 0, *, after_s: float = 0) -> None:
        await asyncio.sleep(after_s)
        async with self._changed:
            dropped = self._turns.add(number, author, lane)
            if dropped is not None:
                self._note(
                    f"pull request {dropped}: too many wait; looked at when all open ones are"
                )
            self._changed.notify_all()

    async def _working(self, _: "web.Application") -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self._find_open())]
        for number, lane in enumerate(self._lanes):
            works = [self._work(number) for _ in range(lane.workers)]
            tasks += [asyncio.create_task(work) for work in works]
        yield
        for task in tasks:
            task.cancel()

    async def _find_open(self) -> None:
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
        """Look at the pull requests of a lane, one after the other."""
        while True:
            turn = await self._next_turn(lane)
            bounds = self._lanes[lane].bounds
            is_last = lane == len(self._lanes) - 1
            try:
                outcome = await self._tried(self._pull_requests.check, turn.number, bounds, is_last)
            finally:
                async with self._changed:
                    self._turns.done(turn.number)
                    self._changed.notify_all()
            if outcome == "not in time":
                await self._add(turn.number, turn.submitter, lane + 1)
            self._note_outcome(turn, outcome)

    async def _next_turn(self, lane: int) -> Turn:
        async with self._changed:
            while True:
                turn = self._turns.take(lane)
                if turn is not None:
                    return turn
                await self._changed.wait()

    def _note_outcome(self, turn: Turn, outcome: Commenting | None) -> None:
        """Note what came of a look. One that failed is tried again later."""
        number = turn.number
        if outcome is not None:
            self._failures.pop(number, None)
            self._note(f"pull request {number}: {outcome}")
            return
        failures = self._failures.setdefault(number, 0)
        if failures < len(AGAIN_S):
            self._failures[number] += 1
            self._begin(self._add(number, turn.submitter, after_s=AGAIN_S[failures]))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tried(self, ask: Callable[..., T], *arguments: Any) -> T | None:  # noqa: ANN401
        """Ask the Hub in a thread.

        A failure is noted, and never stops what comes after it.
        """
        try:
            return await asyncio.to_thread(ask, *arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next one may do
            why = failure_in_a_line(error)
            if arguments:
                why = f"pull request {arguments[0]}; {why}"
            self._note(why)
            return None


def _in_one_line(record: logging.LogRecord) -> bool:
    """Let a request that failed be a line without its traceback.

    As one that isn't HTTP as aiohttp reads it.
    """
    if record.exc_info:
        text = printable(f"{record.getMessage()}: {record.exc_info[1]}")
        line = " ".join(text.split())
        record.msg = cut_in_the_middle(line, _LONGEST_LINE)
        record.args = ()
        record.exc_info = None
    return True


def prepare_looks() -> None:
    """Import once what each look at a pull request needs."""
    bounded.prepare(*_USED_IN_A_LOOK, *discovery.registry().packages)


def serve(pull_requests: PullRequests, secret: str, *, host: str, port: int, note: Note) -> None:
    """Serve until stopped. Port 0 takes a free one, which is noted."""
    prepare_looks()
    if not bounded.MEMORY_IS_BOUNDED:
        note(
            "a look at a pull request has a deadline, and no bound of memory on this system "
            f"({sys.platform})"
        )
    logging.getLogger("aiohttp.server").addFilter(_in_one_line)
    server = Server(pull_requests, secret, note)
    asyncio.run(_serve(server, host, port, note))


async def _serve(server: Server, host: str, port: int, note: Note) -> None:
    from aiohttp import web

    with socket.create_server((host, port)) as listening:
        runner = web.AppRunner(server.application())
        await runner.setup()
        await web.SockSite(runner, listening).start()
        used_port = listening.getsockname()[1]
        note(f"listening on http://{host}:{used_port}{PATH}")
        try:
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()
