"""Judging by 1, 2, 4 and 8 processes at once, over one file of replies and over PostgreSQL.

    python -m perf.scale [--latency 1] [--processes 1 2 4 8] [--criteria 5]

All processes get the same questions and share the calls; each has a home of its own where the
replies are on a server. The server of replies to questions, on this machine, answers after a fixed
time. The ideal is that time alone: the calls by those in flight. The database's time is what a call
waits for it, in all: read, claimed, kept, renewed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from perf.measure import counted, playing
from tests.servers.postgres import PostgresServer, programs

CONCURRENCY, ROUNDS = 32, 8
TEXT = (
    "The detective returns to the harbour because he has understood what the letter did not say. "
    * 4
)
_STARTING = 4.0  # seconds that a process may take to be ready, and each further one more
_EACH = 1.0
ONE = """
import sys, json
from perf.scale import judged
print(json.dumps(judged(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))))
"""


class Timed:
    """A store whose requests are timed."""

    def __init__(self, store: Any) -> None:  # noqa: ANN401
        self._store = store
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        there = getattr(self._store, name)
        return self._timed(there) if callable(there) else there

    def _timed(self, request: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:  # noqa: ANN401
            began = time.perf_counter()
            try:
                return request(*args)
            finally:
                self.seconds += time.perf_counter() - began

        return timed


def judged(url: str, questions: int, criteria: int, at: float) -> dict[str, float]:
    """Judge so many questions from the moment `at` on -> calls, seconds of processor and database, the end."""
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.judges.judge_run import JudgeRun
    from reelbench.judges.prompting import load_prompts
    from reelbench.llm import cache
    from reelbench.registry.records import Item
    from reelbench.tasks.moviecore import SPEC

    stores: list[Timed] = []
    opened = cache.open_store

    def timed(*args: Any) -> Any:  # noqa: ANN401
        stores.append(Timed(opened(*args)))
        return stores[-1]

    cache.open_store = timed
    scale = replace(SPEC.judge, criteria=SPEC.judge.criteria[:criteria])
    items = (
        Item(
            id=str(n),
            video="film",
            target={"text": TEXT},
            prediction=TEXT.upper(),
            question=f"Why? ({n})",
        )
        for n in range(questions)
    )
    options = JudgeOptions(model="judge", url=url, concurrency=CONCURRENCY)
    run = JudgeRun(scale, load_prompts(SPEC, "reelbench"), items, options)
    time.sleep(max(0.0, at - time.time()))
    began = time.process_time()
    scored = sum(len(verdict.scores) for verdict in run)
    assert scored == questions * criteria  # noqa: S101 - a measurement of something else would be worthless
    database = sum(store.seconds for store in stores)
    return {
        "calls": run.record.calls,
        "cpu": time.process_time() - began,
        "database": database,
        "end": time.time(),
    }


def measure(processes: int, latency: float, criteria: int, place: str | None) -> str:
    """Run so many processes at once -> a row of the table."""
    questions = processes * CONCURRENCY * ROUNDS // criteria
    with (
        playing("judge", latency) as url,
        tempfile.TemporaryDirectory() as home,
        ExitStack() as stack,
    ):
        at = time.time() + _STARTING + _EACH * processes
        command = [sys.executable, "-c", ONE, url, str(questions), str(criteria), str(at)]
        running = []
        for number in range(processes):
            own = {
                "REELBENCH_HOME": str(Path(home, str(number) if place else "shared")),
                "REELBENCH_CACHE": place or "",
            }
            process = subprocess.Popen(
                command, env=os.environ | own, stdout=subprocess.PIPE, text=True
            )
            running.append(stack.enter_context(process))
        told = [json.loads(process.communicate()[0]) for process in running]
        asked = counted(url)["calls"]
    calls = sum(one["calls"] for one in told)
    assert asked == calls == questions * criteria  # noqa: S101 - paid once
    seconds = max(one["end"] for one in told) - at
    ideal = processes * CONCURRENCY / latency
    cpu, database = (1e3 * sum(one[name] for one in told) / calls for name in ("cpu", "database"))
    return (
        f"| {'PostgreSQL' if place else 'SQLite'} | {processes} | {calls / seconds:.0f} | "
        f"{ideal:.0f} |"
        f" {calls / seconds / ideal:.0%} | {cpu:.2f} ms | {database:.2f} ms | "
        f"{os.getloadavg()[0]:.1f} |"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--criteria", type=int, default=5)
    given = parser.parse_args()
    print(
        f"replies after {given.latency:g} s, {CONCURRENCY} calls in flight a process, "
        f"{os.cpu_count()} cores\n"
    )
    print(
        "| replies in | processes | calls a second | ideal | share | processor a call | database "
        "a call | load |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with ExitStack() as stack:
        server = stack.enter_context(PostgresServer()) if programs() else None
        for processes in given.processes:
            print(measure(processes, given.latency, given.criteria, None), flush=True)
            if server is not None:
                print(
                    measure(processes, given.latency, given.criteria, server.database()), flush=True
                )


if __name__ == "__main__":
    main()
