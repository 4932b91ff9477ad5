"""Whole processes, timed: in turn, so that a machine whose speed drifts is fair to both, or against a local server."""

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Command = Sequence[str | Path]


def loop_of_additions() -> float:
    """Return the processor seconds of five million additions, which say how fast the machine is."""
    began = time.process_time()
    total = 0
    for number in range(5_000_000):
        total += number
    return time.process_time() - began


def timed(command: Command, environ: Mapping[str, str] | None = None) -> float:
    """Return a process's wall-clock seconds; raises where it fails."""
    started = time.perf_counter()
    subprocess.run(
        [str(part) for part in command],
        check=True,
        env={**os.environ, **(environ or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - started


def in_turn(
    commands: Mapping[str, Command], runs: int = 5, environ: Mapping[str, str] | None = None
) -> dict[str, list[float]]:
    """Run every command once uncounted, then `runs` times in turn; returns each one's seconds."""
    for command in commands.values():
        timed(command, environ)
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            seconds[name].append(timed(command, environ))
    return seconds


def report(
    title: str, seconds: Mapping[str, Sequence[float]], against: str | None = None, unit: str = "s"
) -> None:
    """Print minimum, median and maximum of each, and the median ratio of pairs against one of them (95 % interval)."""
    print(f"\n{title}")
    for name, values in seconds.items():
        low, middle, high = min(values), statistics.median(values), max(values)
        line = f"  {name:<38} {middle:8.3f} {unit}   ({low:.3f} to {high:.3f}, {len(values)} runs)"
        if against is not None and name != against:
            pairs = [value / other for value, other in zip(values, seconds[against], strict=True)]
            low, high = median_interval(pairs)
            line += f"   {statistics.median(pairs):.3f} x {against} ({low:.3f} to {high:.3f})"
        print(line)


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of a median, whatever the distribution: two of the values; all of few."""
    ordered, rank = sorted(values), 0
    while sum(math.comb(len(ordered), place) for place in range(rank + 1)) <= 0.025 * 2 ** len(
        ordered
    ):
        rank += 1
    outside = max(0, rank - 1)
    return ordered[outside], ordered[-1 - outside]


# --- against a local server
# ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """A process that has ended: its seconds by the wall and of the processor, and what it printed."""

    seconds: float
    cpu: float
    stdout: str


def run(command: Command, home: str | Path, more: Mapping[str, str] | None = None) -> Run:
    """Run a process, with a `REELBENCH_HOME` of its own and `more` of the environment, to its end; raises if it fails.

    Of `more`, what is empty is taken out of the environment.
    """
    every = {**os.environ, **(more or {}), "REELBENCH_HOME": str(home)}
    environ = {name: value for name, value in every.items() if value}
    before, began = _cpu(), time.perf_counter()
    done = subprocess.run(
        [str(part) for part in command], env=environ, check=True, capture_output=True, text=True
    )
    return Run(time.perf_counter() - began, _cpu() - before, done.stdout)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_commit(built: Path | None) -> dict[str, str]:
    """Return the environment in which Python takes Reelbench as `make wheel` built it elsewhere; of None, this one.

    Modules are compiled once and for all, as an installed package's are.
    """
    path = os.pathsep.join(
        str(part) for part in (built, Path(__file__).parents[1]) if part is not None
    )
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONSAFEPATH": "1", "PYTHONPATH": path}


@contextmanager
def playing(name: str, delay: float) -> Iterator[str]:
    """Run one of `tests.servers` in a process of its own, each reply after `delay` seconds; yield its URL."""
    command = [sys.executable, "-m", f"tests.servers.{name}", "--delay", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def counted(url: str) -> dict[str, Any]:
    """Return what such a server has counted: `calls`, `most_in_flight`, and its seconds of the processor as `cpu`."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/calls") as reply:  # noqa: S310 - our own server
        return json.load(reply)


def a_call(run: Run, counts: Mapping[str, Any]) -> str:
    """Return the processor time of a call at both ends, to print."""
    ours, theirs = (1e3 * cpu / counts["calls"] for cpu in (run.cpu, counts["cpu"]))
    return (
        f"{ours:.2f} ms of processor time a call (the server {theirs:.2f}), at load "
        f"{os.getloadavg()[0]:.1f}"
    )


_BARE = """
import asyncio, json, sys, time
import aiohttp
async def ask_all(url, calls, at_once):
    numbers, text = iter(range(calls)), "The keeper walks down to the harbour because a boat is late. " * 33
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async def ask():
            for number in numbers:
                body = {"model": "m", "messages": [{"role": "user", "content": f"{number} {text}"}]}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    (await response.json())["choices"][0]["message"]["content"]
        await asyncio.gather(*(ask() for _ in range(at_once)))
began = time.process_time()
asyncio.run(ask_all(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
print(time.process_time() - began)
"""


def bare(delay: float, concurrency: int, calls: int = 4000) -> float:
    """Return the processor time (ms) of a call of 2 kB by aiohttp alone, without its start: sent and its reply read."""
    with playing("judge", delay) as url:
        done = run(
            (sys.executable, "-c", _BARE, url, str(calls), str(concurrency)), tempfile.gettempdir()
        )
    return 1e3 * float(done.stdout) / calls


def cold_and_cached(
    name: str, delay: float, concurrency: int, command: Callable[[str], Run]
) -> tuple[Run, Run]:
    """Run a command twice against one of `tests.servers`, print what both took, and return them.

    The ideal is the calls alone: their number by those in flight, each as long as the server takes.
    """
    with playing(name, delay) as url:
        cold = command(url)
        counts = counted(url)
        cached = command(url)
        more = counted(url)["calls"] - counts["calls"]
    ideal = counts["calls"] * delay / concurrency
    print(
        f"{counts['calls']:,} calls, {a_call(cold, counts)}; bare aiohttp "
        f"{bare(delay, concurrency):.2f}"
    )
    print(
        f"  cold               {cold.seconds:6.2f} s   {cold.seconds / ideal:.2f} x the ideal "
        f"{ideal:.1f} s"
    )
    print(f"  calls in flight    {counts['most_in_flight']:6d}     of {concurrency}")
    print(f"  from the cache     {cached.seconds:6.2f} s   {more} calls")
    return cold, cached
