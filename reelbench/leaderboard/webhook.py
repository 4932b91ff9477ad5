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
from reelbench.leaderboard.pull_request import CheckOutcome, PullRequests
from reelbench.registry import discovery

if TYPE_CHECKING:
    from aiohttp import web


PATH = "/webhooks/check"
POLL_INTERVAL_S = 3600
RETRY_DELAYS_S = (60, 300, 900)
"""Seconds after which a check that the Hub broke off is tried again; then with all open ones."""
MAX_WAITING = 10_000
"""Pull requests that wait, of all submitters together."""
_LONGEST_LINE = 300  # characters
_COMMENTS = "discussion.comment"
_MODULES_OF_A_CHECK = (
    "reelbench.leaderboard.pull_request",
    "reelbench.scoring.answers.scored",
    "reelbench.scoring.answers.compiled",
    "huggingface_hub.hf_api",
    "huggingface_hub.file_download",
    "h11",
    "numpy.random",
)
"""Modules that are loaded once, before the processes that check are forked."""

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


# --- the queue of pull requests -------------------------------------------------------------------


class _QueueKey(NamedTuple):
    """The lane and the submitter whose queue a pull request waits in."""

    lane: int
    submitter: str


class CheckJob(NamedTuple):
    """A pull request that is being checked."""

    number: int
    submitter: str


class CheckQueue:
    """Pull requests that wait for a check: a queue for each lane and submitter.

    The submitters of a lane take turns, however many pull requests each of them has. A pull request
    waits only once, and is never checked twice at a time. When `max_waiting` is exceeded, the
    newest pull request of the longest queue is dropped.
    """

    def __init__(self, max_waiting: int = MAX_WAITING) -> None:
        self._waiting: dict[int, _QueueKey] = {}  # pull request -> its queue, in order of arrival
        self._queue_order: dict[_QueueKey, None] = {}  # the queue whose turn is next comes first
        self._in_progress: set[int] = set()
        self._max_waiting = max_waiting

    def add(self, number: int, submitter: str, lane: int = 0) -> int | None:
        """Queue a pull request, in the earliest lane that it was ever added to.

        Returns:
            The pull request that was dropped to make room, or None.
        """
        previous_key = self._waiting.get(number)
        if previous_key is None or lane < previous_key.lane:
            self._waiting.pop(number, None)
            queue_key = _QueueKey(lane, submitter)
            self._waiting[number] = queue_key
            self._queue_order.setdefault(queue_key)
        if len(self._waiting) > self._max_waiting:
            return self._drop_newest_of_longest_queue()
        return None

    def _drop_newest_of_longest_queue(self) -> int:
        queue_lengths = Counter(self._waiting.values())
        [(longest_queue, _)] = queue_lengths.most_common(1)
        numbers = [number for number, key in self._waiting.items() if key == longest_queue]
        newest = numbers[-1]
        del self._waiting[newest]
        return newest

    def next_job(self, lane: int) -> CheckJob | None:
        """Start the next pull request of a lane. None where there is none to check.

        Its submitter then goes to the end of the lane.
        """
        first_in_queue: dict[_QueueKey, int] = {}
        for number, queue_key in self._waiting.items():
            if queue_key.lane == lane and number not in self._in_progress:
                first_in_queue.setdefault(queue_key, number)
        for queue_key in self._queue_order:
            if queue_key in first_in_queue:
                return self._start(first_in_queue[queue_key], queue_key)
        return None

    def _start(self, number: int, queue_key: _QueueKey) -> CheckJob:
        del self._waiting[number]
        del self._queue_order[queue_key]
        if queue_key in self._waiting.values():
            self._queue_order[queue_key] = None  # back in line, behind all others
        self._in_progress.add(number)
        return CheckJob(number, queue_key.submitter)

    def finish(self, number: int) -> None:
        """Note that a pull request is no longer being checked."""
        self._in_progress.discard(number)


# --- the server -----------------------------------------------------------------------------------


class Lane(NamedTuple):
    """The bounds of one check, and the number of checks at once."""

    bounds: Bounds
    workers: int


LANES = (Lane(Bounds(seconds=10), workers=2), Lane(Bounds(seconds=300, patient=True), workers=1))
"""A check that takes longer than its lane allows is done again in the next, slower lane.

One that takes longer than the last lane allows gets a comment that says so.
"""


class Server:
    """Receives the Hub's webhook calls, and checks pull requests.

    Submitters take turns, and long checks keep nobody waiting.
    """

    def __init__(
        self, pull_requests: PullRequests, secret: str, note: Note, lanes: Sequence[Lane] = LANES
    ) -> None:
        self._pull_requests = pull_requests
        self._secret = secret.encode()
        self._note = note
        self._lanes = lanes
        self._queue = CheckQueue()
        self._authors: dict[int, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure_counts: dict[int, int] = {}
        self._queue_changed = asyncio.Condition()

    def application(self) -> "web.Application":
        """Return the aiohttp application: the webhook, and a page that says what this is."""
        from aiohttp import web

        app = web.Application()
        app.router.add_post(PATH, self._receive_webhook)
        app.router.add_get("/", self._about_page)
        app.cleanup_ctx.append(self._run_workers)
        return app

    async def _receive_webhook(self, request: "web.Request") -> "web.Response":
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
            self._start_task(self._enqueue_for_author(number))
        return web.json_response({"pull_requests": numbers}, status=202)

    async def _about_page(self, _: "web.Request") -> "web.Response":
        from aiohttp import web

        dataset = self._pull_requests.dataset
        return web.Response(text=f"Checks results that are submitted to {dataset}.\n")

    async def _enqueue_for_author(self, number: int) -> None:
        """Queue a pull request under its author's name.

        A webhook call does not always name the author, so the Hub is asked.
        """
        if number not in self._authors:
            author = await self._ask_hub(self._pull_requests.author, number)
            if author is not None:
                self._authors[number] = author
        await self._enqueue(number, self._authors.get(number, ""))

    async def _enqueue(
        self, number: int, author: str, lane: int = 0, *, delay_s: float = 0
    ) -> None:
        await asyncio.sleep(delay_s)
        async with self._queue_changed:
            dropped = self._queue.add(number, author, lane)
            if dropped is not None:
                self._note(
                    f"pull request {dropped}: too many wait; looked at when all open ones are"
                )
            self._queue_changed.notify_all()

    async def _run_workers(self, _: "web.Application") -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self._poll_open_requests())]
        for lane_number, lane in enumerate(self._lanes):
            for _worker in range(lane.workers):
                tasks.append(asyncio.create_task(self._check_jobs_of_lane(lane_number)))
        yield  # aiohttp goes on here when the server stops
        for task in tasks:
            task.cancel()

    async def _poll_open_requests(self) -> None:
        """Queue all open pull requests, at the start and once an hour.

        This finds those whose webhook call was lost.
        """
        while True:
            authors = await self._ask_hub(self._pull_requests.open)
            if authors is not None:
                self._note(f"{len(authors)} open pull requests")
                self._authors = dict(authors)
                for number, author in authors.items():
                    await self._enqueue(number, author)
            await asyncio.sleep(POLL_INTERVAL_S)

    async def _check_jobs_of_lane(self, lane: int) -> None:
        """Check the pull requests of a lane, one after the other."""
        bounds = self._lanes[lane].bounds
        is_last_lane = lane == len(self._lanes) - 1
        check = self._pull_requests.check
        while True:
            job = await self._next_job(lane)
            try:
                outcome = await self._ask_hub(check, job.number, bounds, is_last_lane)
            finally:
                async with self._queue_changed:
                    self._queue.finish(job.number)
                    self._queue_changed.notify_all()
            if outcome == "not in time":
                await self._enqueue(job.number, job.submitter, lane + 1)
            self._report_outcome(job, outcome)

    async def _next_job(self, lane: int) -> CheckJob:
        async with self._queue_changed:
            while True:
                job = self._queue.next_job(lane)
                if job is not None:
                    return job
                await self._queue_changed.wait()

    def _report_outcome(self, job: CheckJob, outcome: CheckOutcome | None) -> None:
        """Note the outcome of a check. A check that failed (None) is tried again later."""
        number = job.number
        if outcome is not None:
            self._failure_counts.pop(number, None)
            self._note(f"pull request {number}: {outcome}")
            return
        failures = self._failure_counts.setdefault(number, 0)
        if failures < len(RETRY_DELAYS_S):
            self._failure_counts[number] += 1
            delay_s = RETRY_DELAYS_S[failures]
            self._start_task(self._enqueue(number, job.submitter, delay_s=delay_s))

    def _start_task(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background."""
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)  # else it could be collected before it is done
        task.add_done_callback(self._tasks.discard)

    async def _ask_hub(self, call: Callable[..., T], *arguments: Any) -> T | None:  # noqa: ANN401
        """Return the result of a call to the Hub. None if it failed.

        The call is made in a thread. A failure is noted, and never stops what comes after it.
        """
        try:
            return await asyncio.to_thread(call, *arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next one may do
            why = failure_in_a_line(error)
            if arguments:
                why = f"pull request {arguments[0]}; {why}"
            self._note(why)
            return None


def _log_without_traceback(record: logging.LogRecord) -> bool:
    """Cut a logged error down to one line without a traceback, and let it pass.

    A logging filter. Requests that aren't valid HTTP would fill the log with tracebacks.
    """
    if record.exc_info:
        text = printable(f"{record.getMessage()}: {record.exc_info[1]}")
        line = " ".join(text.split())
        record.msg = cut_in_the_middle(line, _LONGEST_LINE)
        record.args = ()
        record.exc_info = None
    return True


def preload_modules() -> None:
    """Import once the modules that each check of a pull request needs."""
    bounded.prepare(*_MODULES_OF_A_CHECK, *discovery.registry().packages)


def serve(pull_requests: PullRequests, secret: str, *, host: str, port: int, note: Note) -> None:
    """Serve until stopped. Port 0 takes a free one, which is noted."""
    preload_modules()
    if not bounded.MEMORY_IS_BOUNDED:
        note(
            "a look at a pull request has a deadline, and no bound of memory on this system "
            f"({sys.platform})"
        )
    logging.getLogger("aiohttp.server").addFilter(_log_without_traceback)
    server = Server(pull_requests, secret, note)
    asyncio.run(_serve(server, host, port, note))


async def _serve(server: Server, host: str, port: int, note: Note) -> None:
    from aiohttp import web

    with socket.create_server((host, port)) as listening_socket:
        runner = web.AppRunner(server.application())
        await runner.setup()
        await web.SockSite(runner, listening_socket).start()
        bound_port = listening_socket.getsockname()[1]
        note(f"listening on http://{host}:{bound_port}{PATH}")
        try:
            await asyncio.Event().wait()  # forever
        finally:
            await runner.cleanup()
