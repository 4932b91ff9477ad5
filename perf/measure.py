"""Whole processes, timed in turn: A, B, A, B, … so that a machine whose speed drifts is fair to both."""

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

Command = Sequence[str | Path]


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


def report(title: str, seconds: Mapping[str, Sequence[float]], against: str | None = None) -> None:
    """Print minimum, median and maximum of each, and the median ratio of pairs against one of them."""
    print(f"\n{title}")
    for name, values in seconds.items():
        low, middle, high = min(values), statistics.median(values), max(values)
        line = f"  {name:<38} {middle:8.3f} s   ({low:.3f} to {high:.3f}, {len(values)} runs)"
        if against is not None and name != against:
            pairs = [value / other for value, other in zip(values, seconds[against], strict=True)]
            line += f"   {statistics.median(pairs):.2f} x {against}"
        print(line)
