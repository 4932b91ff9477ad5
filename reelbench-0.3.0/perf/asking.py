"""`reelbench ask` in words alone against a server on this machine: what a call costs, beside bare aiohttp.

python -m perf.asking [--questions 4000] [--delay 0.2]
python -m perf.asking --against BUILT --runs 5   in turn with another commit, as `make wheel` built it
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from perf.measure import Run, cold_and_cached, counted, of_commit, playing, report, run

AT_ONCE = 64
REELBENCH = (sys.executable, "-m", "reelbench")


def main() -> None:
    """Ask a benchmark of our own, and once more from the cache."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=4000)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--against", metavar="BUILT", type=Path, help="another commit's `built`")
    parser.add_argument("--runs", type=int, default=5, help="of each, against another commit")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "rows.jsonl", given.questions)
        if given.against is not None:
            against(folder, given.against.absolute(), given.questions, given.runs)
            return
        home = folder / "home"
        make_benchmark(folder, home)
        _, cached = cold_and_cached(
            "judge",
            given.delay,
            AT_ONCE,
            lambda url: asked(home, url, "--kept"),
        )
        print(
            f"  of that, start and scoring included, {1e3 * cached.cpu / given.questions:.2f} ms "
            "from the cache too"
        )


def write_rows(path: Path, questions: int) -> None:
    """Write so many questions of two options."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(questions):
            row = {
                "id": f"q{number}",
                "video": f"film{number // 5}",
                "question": f"Is it {number}?",
                "options": ["a", "b"],
                "answer": "B",
            }
            file.write(json.dumps(row) + "\n")


def make_benchmark(folder: Path, home: Path, built: Path | None = None) -> None:
    """Make a benchmark of the questions, by a commit."""
    words = ("new", "asking", "--from", folder / "rows.jsonl", "--out", home / "asking")
    run((*REELBENCH, *words), home, of_commit(built))


def asked(home: Path, url: str, *more: str, built: Path | None = None) -> Run:
    """Ask all questions by a commit."""
    words = ("--frames", "none", "--llm-concurrency", AT_ONCE, "--output", home / "out", *more)
    asking = (*REELBENCH, "ask", home / "asking", *words, "--llm", "m", "--llm-url", url)
    return run(asking, home, of_commit(built))


def against(folder: Path, built: Path, questions: int, runs: int) -> None:
    """Ask by another commit and by this one in turn, and print processor time and calls a question of each."""
    cpu: dict[str, list[float]] = {"before": [], "now": []}
    calls = {"before": 0, "now": 0}
    with playing("judge", 0.0) as url:
        for turn in range(runs + 1):  # the first is not counted: modules are compiled
            for name, version in (("before", built), ("now", None)):
                home = folder / f"home_{name}_{turn}"
                make_benchmark(folder, home, version)
                calls_before = counted(url)["calls"]
                process = asked(home, url, built=version)
                if turn:
                    cpu[name].append(1e3 * process.cpu / questions)
                    calls[name] += counted(url)["calls"] - calls_before
    print(f"load {os.getloadavg()[0]:.1f}")
    report("processor time a question, start and scoring included", cpu, "before", "ms")
    for name, number in calls.items():
        print(f"  {name}: {number / (runs * questions):.4f} calls a question")


if __name__ == "__main__":
    main()
