"""Results of 1,000 samples each, read: processor time a sample, beside Python's and Arrow's JSON alone.

    python -m perf.reading [--samples 1000000] [--turns 3]

All are of one process and one thread, in turns. What is printed is the least of the turns.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.json as pj

from perf import leaderboard
from reelbench.scoring import result_files

SIZE = 1_000
"""Samples of a result."""


def ours(folders: list[Path]) -> None:
    """Read samples as every command does."""
    for folder in folders:
        for _ in result_files.read_samples(folder):
            pass


def python(folders: list[Path]) -> None:
    """Decode each line, and check nothing."""
    for folder in folders:
        with (folder / result_files.SAMPLES_FILE).open() as lines:
            for line in lines:
                json.loads(line)


def arrow(folders: list[Path]) -> None:
    """Read samples into columns of Arrow."""
    options = pj.ReadOptions(use_threads=False)
    for folder in folders:
        pj.read_json(folder / result_files.SAMPLES_FILE, read_options=options)


WAYS: dict[str, Callable[[list[Path]], None]] = {
    "read_samples": ours,
    "json.loads": python,
    "pyarrow.json": arrow,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as name:
        leaderboard.make(Path(name), arguments.samples // SIZE, SIZE)
        folders = sorted(Path(name).iterdir())
        least = dict.fromkeys(WAYS, float("inf"))
        for _ in range(arguments.turns):
            for way, read in WAYS.items():
                started = time.process_time()
                read(folders)
                least[way] = min(least[way], time.process_time() - started)
    for way, seconds in least.items():
        each = seconds / len(folders) / SIZE * 1e6
        ratio = seconds / least["json.loads"]
        print(f"{way:>14}: {seconds:6.2f} s, {each:5.2f} us a sample, {ratio:4.2f} x json.loads")


if __name__ == "__main__":
    main()
