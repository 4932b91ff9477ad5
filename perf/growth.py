"""How the cost of the main commands grows, at several commits in turn: whole processes, with one worker.

    python -m perf.growth [NAME=BUILT …] [--results 10 20 40] [--questions 500 1000 2000] [--runs 3]

BUILT is the folder that `make wheel` makes in a checkout of the commit. Each commit adds results of
1,000 ReXTime items that its own version wrote. Printed are the seconds of the processor and of the wall, the
least of all runs, the exponent by which they grow with the size (least squares of the logarithms), and the ratio to
the first commit. A loop of five million additions before and after says how fast the machine is.
"""

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perf.counts import write_questions
from perf.measure import Run, loop_of_additions, of_commit, playing, run

ITEMS = 1000
_WRITE_RESULT = """
import sys
from pathlib import Path
from perf.leaderboard import make
make(Path(sys.argv[1]), 1, int(sys.argv[2]))
"""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit by its name, and where it is built. None for this one."""

    name: str
    built: Path | None


@dataclass(slots=True)
class Seconds:
    """The least seconds of a command at each size."""

    cpu: dict[int, float] = field(default_factory=dict)
    wall: dict[int, float] = field(default_factory=dict)

    def see(self, size: int, done: Run) -> None:
        """Take over a run."""
        self.cpu[size] = min(done.cpu, self.cpu.get(size, math.inf))
        self.wall[size] = min(done.seconds, self.wall.get(size, math.inf))


def exponent(seconds: dict[int, float]) -> float:
    """Return the slope of the logarithms of seconds over those of sizes."""
    points = [(math.log(size), math.log(value)) for size, value in seconds.items()]
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    above = sum((x - middle_x) * (y - middle_y) for x, y in points)
    return above / sum((x - middle_x) ** 2 for x, _ in points)


def reelbench(commit: Commit, home: Path, *words: str | Path) -> Run:
    """Run a command of a commit."""
    return run((sys.executable, "-m", "reelbench", *words), home, of_commit(commit.built))


def write_results(commit: Commit, folder: Path, number: int) -> None:
    """Write results of as many models, all with the same answers, as a commit writes one."""
    first = folder / "00000"
    command = (sys.executable, "-c", _WRITE_RESULT, folder, str(ITEMS))
    run(command, folder.parent / "home", of_commit(commit.built))
    document = json.loads((first / "result.json").read_text())
    for place in range(1, number):
        copy = folder / f"{place:05}"
        copy.mkdir()
        shutil.copy(first / "samples.jsonl", copy)
        other = {**document, "model": {"id": f"org/model-{place:05}"}}
        (copy / "result.json").write_text(json.dumps(other))


Ways = dict[str, Seconds]


def board_ways(commit: Commit, folder: Path, results: int, ways: Ways) -> None:
    """Time a board of so many results: added, built, built again."""
    folder.mkdir(parents=True)
    write_results(commit, folder / "runs", results)
    home = folder / "home"
    store = ("--store", folder / "store", "--workers", "1")
    build = ("leaderboard", "build", *store, "--out", folder / "site")
    ways["add"].see(results, reelbench(commit, home, "leaderboard", "add", folder / "runs", *store))
    ways["build"].see(results, reelbench(commit, home, *build))
    ways["build again"].see(results, reelbench(commit, home, *build))


def question_ways(commit: Commit, folder: Path, number: int, server: str, ways: Ways) -> None:
    """Time so many questions: scored, asked, asked again, judged, compared, viewed."""
    folder.mkdir(parents=True)
    choice = folder / "choice"
    spoken = folder / "open"
    write_questions(choice, "choice", number)
    write_questions(spoken, "open", number)
    score = ("score", choice, "--predictions", choice / "predictions.jsonl")
    judged = ("score", spoken, "--predictions", spoken / "predictions.jsonl", "--judge", "j")
    ask = ("ask", choice, "--frames", "none", "--llm", "m", "--llm-url", server)
    both = (folder / "scored", folder / "asked")
    commands = {
        "score": (*score, "--output", folder / "scored"),
        "ask": (*ask, "--output", folder / "asked"),
        "ask, kept": (*ask, "--output", folder / "again"),
        "judge": (*judged, "--judge-url", server, "--output", folder / "judged"),
        "compare": ("compare", *both),
        "view": ("view", *both, "--out", folder / "view"),
    }
    for way, command in commands.items():
        ways[way].see(number, reelbench(commit, folder / "home", *command))


BOARD = ("add", "build", "build again")
QUESTIONS = ("score", "ask", "ask, kept", "judge", "compare", "view")


def _table(commits: Sequence[Commit], measured: dict[str, Ways]) -> None:
    """Print a line for each command and commit."""
    print("| command | commit | sizes | processor, s | exponent | wall, s | ratio |")
    print("|---|---|---|---|---|---|---|")
    for way in (*BOARD, *QUESTIONS):
        first = measured[commits[0].name][way]
        for commit in commits:
            seconds = measured[commit.name][way]
            largest = max(seconds.cpu)
            cells = [
                way,
                commit.name,
                ", ".join(f"{size:,}" for size in seconds.cpu),
                ", ".join(f"{value:.2f}" for value in seconds.cpu.values()),
                f"{exponent(seconds.cpu):.2f}",
                ", ".join(f"{value:.1f}" for value in seconds.wall.values()),
                f"{seconds.cpu[largest] / first.cpu[largest]:.2f}",
            ]
            print("| " + " | ".join(cells) + " |", flush=True)


def _measure(
    commits: Sequence[Commit], sizes: Sequence[int], runs: int, way: Callable[..., None]
) -> None:
    """Call a way for each size and commit in turn, so that a drifting machine is fair to all."""
    for turn in range(runs):
        for size in sizes:
            for commit in commits:
                with tempfile.TemporaryDirectory() as folder:
                    way(commit, Path(folder, "work"), size)
                load = os.getloadavg()[0]
                print(f"turn {turn}, {size}, {commit.name}: load {load:.0f}", file=sys.stderr)


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commits", nargs="*", metavar="NAME=BUILT")
    parser.add_argument("--results", type=int, nargs="+", default=[10, 20, 40])
    parser.add_argument("--questions", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    commits: list[Commit] = []
    for text in given.commits:
        name, _, built = text.partition("=")
        commits.append(Commit(name, Path(built).absolute()))
    commits.append(Commit("now", None))
    measured: dict[str, Ways] = {}
    for commit in commits:
        measured[commit.name] = {way: Seconds() for way in (*BOARD, *QUESTIONS)}
    loop_before = loop_of_additions()
    with playing("judge", 0) as server:
        _measure(
            commits,
            given.questions,
            given.runs,
            lambda commit, folder, size: question_ways(
                commit, folder, size, server, measured[commit.name]
            ),
        )
    _measure(
        commits,
        given.results,
        given.runs,
        lambda commit, folder, size: board_ways(commit, folder, size, measured[commit.name]),
    )
    _table(commits, measured)
    loop_after = loop_of_additions()
    print(f"a loop of 5 million additions: {loop_before:.3f} s before, {loop_after:.3f} s after")


if __name__ == "__main__":
    main()
