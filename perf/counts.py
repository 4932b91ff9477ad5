"""Function calls that our commands take for each sample: the same on every machine, unlike seconds.

    python -m perf.counts

Each way is measured at two sizes, and what the larger one takes more is divided by its further samples: what a command
takes once (imports, help) is no part of it. Calls of Python and of C count, of all threads of this process; commands run
with one worker, which works in the caller. `perf/counts.json` has the bound of each way, which `make test` holds. Who
raises one writes the reason beside it.
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from perf import leaderboard
from reelbench.cli import main

BOUNDS = Path(__file__).with_name("counts.json")
ITEMS = 921
"""Questions of ReXTime's val: a run of fewer is not ranked, and no pair of it is tested."""


class CallCount:
    """The function calls seen so far, by the profiler's events."""

    def __init__(self) -> None:
        self.calls = 0

    def see(self, _frame: object, event: str, _argument: object) -> None:
        """Count an event of the profiler, if it is a call."""
        if event in {"call", "c_call"}:
            self.calls += 1


@contextmanager
def counted_calls() -> Generator[CallCount]:
    """Count the calls of this thread, and of the threads that it starts."""
    count = CallCount()
    threading.setprofile(count.see)
    sys.setprofile(count.see)
    try:
        yield count
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def calls_of(arguments: Sequence[str]) -> int:
    """Run a command of ours in this process, and count its calls."""
    silent = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        mock.patch.object(sys, "argv", ["reelbench", *arguments]),
        contextlib.redirect_stdout(silent),
        contextlib.redirect_stderr(silent),
        counted_calls() as count,
    ):
        status = _status_of_main()
    if status:
        raise SystemExit(
            f"reelbench {' '.join(arguments)}: status {status}\n{silent.buffer.getvalue().decode()}"
        )
    return count.calls


def _status_of_main() -> int | str | None:
    """Return the exit status of the command line."""
    try:
        return main()
    except SystemExit as end:
        return end.code


@dataclass(frozen=True, slots=True)
class Store:
    """The folders of a board's measurement."""

    results: Path
    store: Path
    site: Path

    def add(self) -> list[str]:
        """Return the command that adds all results."""
        return ["leaderboard", "add", str(self.results), "--store", str(self.store), "--workers=1"]

    def build(self) -> list[str]:
        """Return the command that builds the site."""
        command = ["leaderboard", "build", "--store", str(self.store), "--out", str(self.site)]
        return [*command, "--workers=1"]


def board_calls(folder: Path, results: int) -> dict[str, int]:
    """Return way -> the calls that it takes on a board of so many results."""
    store = Store(folder / "results", folder / "store", folder / "site")
    leaderboard.make(store.results, results, ITEMS)
    return {
        "add": calls_of(store.add()),
        "build": calls_of(store.build()),
    }


def measured() -> dict[str, float]:
    """Return way -> calls for each further sample of a board."""
    with tempfile.TemporaryDirectory() as folder:
        board_calls(Path(folder, "first"), 1)  # what is imported once is imported now
        of_one = board_calls(Path(folder, "small"), 1)
        of_three = board_calls(Path(folder, "large"), 3)
    return {way: (of_three[way] - of_one[way]) / (2 * ITEMS) for way in of_one}


def bounds() -> dict[str, int]:
    """Return way -> the most calls for each sample."""
    return {way: entry["most"] for way, entry in json.loads(BOUNDS.read_text()).items()}


def run() -> None:
    """Print what each way takes beside its bound."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    most = bounds()
    print("| way | calls a sample | bound |\n|---|---|---|")
    for way, calls in measured().items():
        print(f"| {way} | {calls:.1f} | {most[way]} |")


if __name__ == "__main__":
    run()
