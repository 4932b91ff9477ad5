"""The pace of asking at servers with few slots, a line, refusals, crowding and pauses.

    python -m perf.pace                  every situation, about ten minutes
    python -m perf.pace --only "1 slot"  those whose name has these words

Each situation is a server of its own process that works on so many requests at a time, as laptops
and one GPU have them; the peer is the best that a server can do: its work, parted among its slots.
Times are a tenth (60 calls) or less (600) of real ones, and so are the limits on silence. Ours is
a judge that is asked one question an answer, without start and imports. Refused calls (503) are
told apart: they cost the server nothing.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from aiohttp import web

from perf.measure import counted, run

LOGNORMAL_SPREAD = 1.0
LONG_SHARE = 0.02
LONG_TIMES = 60


@dataclass(frozen=True)
class Situation:
    """A server, and the calls that it gets.

    Attributes:
        name: Its name in the table.
        calls: Calls that are needed.
        slots: Requests that it works on at a time.
        seconds: Seconds of a request; the median, where they differ.
        limit: The asker's limit on silence (`--judge-timeout`).
        works_off: Requests that nobody waits for any more are worked off all the same.
        refuses_above: Requests at once above which it answers 503.
        crowded_above: Requests at once above which each takes longer, by their number.
        pause: Seconds without any work, after half of the calls.
        uneven: Log-normal lengths, and a few that are sixty times the median.
    """

    name: str
    calls: int
    slots: int
    seconds: float
    limit: float = 12.0
    works_off: bool = False
    refuses_above: int = 100_000
    crowded_above: int = 100_000
    pause: float = 0.0
    uneven: bool = False

    def lengths(self) -> list[float]:
        """Return the seconds of each request in the order in which they come."""
        if not self.uneven:
            return [self.seconds] * self.calls
        draw = random.Random(1)  # noqa: S311 - no secret
        lengths = []
        for _ in range(self.calls):
            length = self.seconds * draw.lognormvariate(0, LOGNORMAL_SPREAD)
            if draw.random() < LONG_SHARE:
                length = self.seconds * LONG_TIMES
            lengths.append(length)
        return lengths

    @property
    def best(self) -> float:
        """The seconds in which the server can do this work."""
        slots = [0.0] * min(self.slots, self.crowded_above)
        for length in self.lengths():
            place = slots.index(min(slots))
            slots[place] += length
        return max(slots) + self.pause


SITUATIONS = (
    Situation("1 slot, 60 calls, dropped", 60, 1, 0.6),
    Situation("1 slot, 60 calls, worked off", 60, 1, 0.6, works_off=True),
    Situation("2 slots, 60 calls, dropped", 60, 2, 1.2),
    Situation("2 slots, 60 calls, worked off", 60, 2, 1.2, works_off=True),
    Situation("1 slot, 600 calls, dropped", 600, 1, 0.1, limit=2.0),
    Situation("1 slot, 600 calls, worked off", 600, 1, 0.1, limit=2.0, works_off=True),
    Situation("2 slots, 600 calls, dropped", 600, 2, 0.2, limit=4.0),
    Situation("2 slots, 600 calls, worked off", 600, 2, 0.2, limit=4.0, works_off=True),
    Situation("503 above 4 in flight", 200, 4, 0.4, refuses_above=4),
    Situation("slower by n/8 above 8 in flight", 400, 64, 0.4, crowded_above=8),
    Situation("a pause of 10 s in the middle", 60, 2, 0.6, pause=10.0),
    Situation("uneven lengths at 16 slots", 800, 16, 0.1, uneven=True),
    Situation("1,500 calls at 64 slots", 1500, 64, 0.2),
    Situation("4,250 calls at 64 slots", 4250, 64, 0.2),
)

ASKED = """
import json, sys, time
from perf.pace import judged
print(json.dumps(judged(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
"""


def judged(url: str, calls: int, limit: float) -> dict[str, float]:
    """Judge so many answers -> the seconds, and how many have a score."""
    import time

    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.judges.judge_run import judge_items
    from reelbench.registry.records import Item
    from reelbench.tasks.curve import SPEC

    items = []
    for number in range(calls):
        target = {"text": "Because he has read the letter."}
        question = f"Why does he return? ({number})"
        items.append(
            Item(id=str(number), video="f", target=target, prediction="So.", question=question)
        )
    options = JudgeOptions(model="judge", url=url, timeout=limit)
    began = time.perf_counter()
    verdicts = list(judge_items(SPEC, items, options))
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "judged": sum(bool(verdict.scores) for verdict in verdicts)}


# --- the server


class Server:
    """A situation's server."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.slots = asyncio.Semaphore(situation.slots)
        self.counts = {"calls": 0, "refused": 0, "done": 0, "gone": 0, "cpu": 0}
        self.in_flight = 0
        self.paused = False
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.lengths = iter(situation.lengths())

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one request for a chat completion."""
        await request.json()
        self.in_flight += 1
        try:
            if self.in_flight > self.situation.refuses_above:
                self.counts["refused"] += 1
                return web.json_response({"error": {"message": "busy"}}, status=503)
            self.counts["calls"] += 1
            async with self.slots:
                await self.is_open.wait()
                await asyncio.sleep(self.length())
            self.counts["done"] += 1
            self.pause_in_the_middle()
            choice = {"index": 0, "finish_reason": "stop", "message": {"content": "1"}}
            usage = {"prompt_tokens": 100, "completion_tokens": 1}
            return web.json_response({"model": "judge", "choices": [choice], "usage": usage})
        except asyncio.CancelledError:
            self.counts["gone"] += 1
            raise
        finally:
            self.in_flight -= 1

    def length(self) -> float:
        """Return the seconds of the next request."""
        length = next(self.lengths, self.situation.seconds)
        return length * max(1.0, self.in_flight / self.situation.crowded_above)

    def pause_in_the_middle(self) -> None:
        """Do nothing for a while once half of the calls are done."""
        if self.paused or not self.situation.pause:
            return
        if 2 * self.counts["done"] >= self.situation.calls:
            self.paused = True
            self.is_open.clear()
            loop = asyncio.get_running_loop()
            loop.call_later(self.situation.pause, self.is_open.set)

    async def count(self, _request: web.Request) -> web.Response:
        """Say what was counted."""
        return web.json_response(self.counts)

    async def list_models(self, _request: web.Request) -> web.Response:
        """List the one model."""
        return web.json_response({"object": "list", "data": [{"id": "judge"}]})

    async def run(self) -> None:
        """Serve for ever, once the address is printed."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self.answer)
        app.router.add_get("/v1/models", self.list_models)
        app.router.add_get("/calls", self.count)
        runner = web.AppRunner(app, handler_cancellation=not self.situation.works_off)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        _, port = runner.addresses[0]
        print(f"http://127.0.0.1:{port}/v1", flush=True)
        await asyncio.Event().wait()


@contextlib.contextmanager
def serving(situation: Situation) -> Iterator[str]:
    """Run a situation's server in a process of its own; yield its URL."""
    command = [sys.executable, "-m", "perf.pace", "--serve", json.dumps(asdict(situation))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            lines = iter(process.stdout or ())
            yield next(lines).strip()
        finally:
            process.terminate()


def measure(situation: Situation) -> None:
    """Print a situation's line of the table."""
    with tempfile.TemporaryDirectory() as home, serving(situation) as url:
        command = (sys.executable, "-c", ASKED, url, str(situation.calls), str(situation.limit))
        outcome = json.loads(run(command, home).stdout)
        counts = counted(url)
    print(
        f"{situation.name:<34} {outcome['seconds']:7.1f} s  {situation.best:7.1f} s "
        f"{outcome['seconds'] / situation.best:6.2f} x  {counts['calls']:6d} of {situation.calls} "
        f"{counts['refused']:6d} {counts['gone']:6d}  {outcome['judged']} judged",
        flush=True,
    )


def main() -> None:
    """Measure the situations, or serve one."""
    parser = argparse.ArgumentParser(description="The pace of asking, held against the best")
    parser.add_argument("--only", default="", help="words in a situation's name")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(Server(Situation(**json.loads(options.serve))).run())
        return
    print(f"load {os.getloadavg()[0]:.1f}")
    print(f"{'':<34} {'ours':>9}  {'the best':>9} {'ratio':>8}  calls, refused (503), given up")
    for situation in SITUATIONS:
        if options.only in situation.name:
            measure(situation)


if __name__ == "__main__":
    main()
