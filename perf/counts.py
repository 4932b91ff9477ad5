"""What our commands do for each sample: the same on every machine, unlike seconds.

    python -m perf.counts

Function calls count, and of these the files that are opened and the statements that SQLite is given. Each way is measured at
two sizes, and what the larger one does more is divided by its further samples, questions, videos or benchmarks: what a command
does once (imports, help) is no part of it. Calls of Python and of C count, of all threads of this process; commands run
with one worker, which works in the caller. `perf/counts.json` has the bounds of each way, which `make test` holds. Who
raises one writes the reason beside it.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from perf import leaderboard
from perf.measure import playing
from reelbench import lmms_eval_plugin
from reelbench.base import settings
from reelbench.cli import main
from reelbench.registry import discovery
from reelbench.video import fill_store
from reelbench.video.mini_clips import draw_clip

BOUNDS = Path(__file__).with_name("counts.json")
ITEMS = 921
"""Questions of ReXTime's val: a run of fewer is not ranked, and no pair of it is tested."""
FEW, MANY = 60, 110
"""Questions of a benchmark of our own: each enough for all that `compare` tells of many."""
FEW_VIDEOS, MANY_VIDEOS = 2, 6
OF_BOARDS = ("add", "build", "build, nothing changed", "check")
OF_ANSWERS = (
    "score, choice",
    "score, open",
    "ask",
    "ask, kept",
    "judge",
    "compare",
    "view",
)
OF_VIDEOS = ("extract",)
OF_BENCHMARKS = ("start of a run",)
_STATEMENTS = frozenset({"execute", "executemany", "executescript"})


class Counts(NamedTuple):
    """What was done, or what was done for each sample."""

    calls: float
    """Function calls, those below included."""
    opens: float
    """Files opened."""
    statements: float
    """Statements given to SQLite."""

    def for_each(self, smaller: "Counts", number: int) -> "Counts":
        """Return what this has more than a smaller one, for each of so many further samples."""
        return Counts(
            *((ours - theirs) / number for ours, theirs in zip(self, smaller, strict=True))
        )


class Counter:
    """The counts so far, by the profiler's events."""

    def __init__(self) -> None:
        self._calls = 0
        self._opens = 0
        self._statements = 0

    @property
    def counts(self) -> Counts:
        """The counts so far."""
        return Counts(self._calls, self._opens, self._statements)

    def see(self, _frame: object, event: str, argument: object) -> None:
        """Count an event of the profiler, if it is a call."""
        if event == "call":
            self._calls += 1
        elif event == "c_call":
            self._calls += 1
            name = getattr(argument, "__name__", "")
            if name == "open":
                self._opens += 1
            elif name in _STATEMENTS:
                self._statements += 1


@contextmanager
def counted() -> Generator[Counter]:
    """Count what this thread does, and the threads that it starts."""
    counter = Counter()
    threading.setprofile(counter.see)
    sys.setprofile(counter.see)
    try:
        yield counter
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def counts_of(arguments: Sequence[str]) -> Counts:
    """Run a command of ours in this process, and count what it does."""
    silent = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        mock.patch.object(sys, "argv", ["reelbench", *arguments]),
        contextlib.redirect_stdout(silent),
        contextlib.redirect_stderr(silent),
        counted() as counter,
    ):
        status = _status_of_main()
    if status:
        raise SystemExit(
            f"reelbench {' '.join(arguments)}: status {status}\n{silent.buffer.getvalue().decode()}"
        )
    return counter.counts


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

    def check(self) -> list[str]:
        """Return the command that checks all results."""
        return ["leaderboard", "check", str(self.results), "--workers=1"]


def board_counts(folder: Path, results: int) -> dict[str, Counts]:
    """Return way -> what it does on a board of so many results."""
    store = Store(folder / "runs", folder / "store", folder / "site")
    leaderboard.make(store.results, results, ITEMS)
    return {
        "add": counts_of(store.add()),
        "build": counts_of(store.build()),
        "build, nothing changed": counts_of(store.build()),
        "check": counts_of(store.check()),
    }


QUESTIONS = """\
id: {name}
title: Counted questions
kind: {kind}
source: {{file: rows.jsonl}}
columns: {{{columns}}}
languages: [en]
licence: cc-by-4.0
"""


def write_questions(folder: Path, kind: str, number: int) -> None:
    """Write a benchmark of so many questions, and predictions that are half right."""
    folder.mkdir(parents=True)
    rows: list[dict[str, object]] = []
    predictions: list[dict[str, object]] = []
    for place in range(number):
        row: dict[str, object] = {"id": f"q{place}", "video": f"film{place // 5}"}
        row |= {"question": f"Is it {place}?", "answer": "B"}
        text = f"He answers: ({'AB'[place % 2]})"
        if kind == "choice":
            row["options"] = ["a house", "a boat"]
        else:
            text = f"Because the letter of page {place} did not say it."
        rows.append(row)
        predictions.append({"id": row["id"], "prediction": text})
    columns = ", ".join(f"{name}: {name}" for name in rows[0])
    declared = QUESTIONS.format(
        name=f"{folder.parent.name}_{folder.name}", kind=kind, columns=columns
    )
    if kind == "open":
        declared += "judge: {prompts: moviecore}\n"
    (folder / "benchmark.yaml").write_text(declared)
    _write_lines(folder / "rows.jsonl", rows)
    _write_lines(folder / "predictions.jsonl", predictions)


def _write_lines(path: Path, rows: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def answer_counts(folder: Path, questions: int, server: str) -> dict[str, Counts]:
    """Return way -> what it does on a benchmark of so many questions.

    Args:
        folder: An empty folder.
        questions: Their number.
        server: The address of a model that answers in no time.
    """
    choice = folder / "choice"
    spoken = folder / "open"
    write_questions(choice, "choice", questions)
    write_questions(spoken, "open", questions)
    asked = ["ask", str(choice), "--frames", "none", "--kept", "--llm", "m", "--llm-url", server]
    judged = [*_score(spoken), "--judge", "j", "--judge-url", server]
    counts = {
        "score, choice": counts_of(_score(choice)),
        "score, open": counts_of(_score(spoken)),
        "ask": counts_of([*asked, "--output", str(folder / "asked")]),
        "ask, kept": counts_of([*asked, "--output", str(folder / "asked_again")]),
        "judge": counts_of(judged),
    }
    both = [str(choice / "out"), str(folder / "asked")]
    counts["compare"] = counts_of(["compare", *both])
    counts["view"] = counts_of(["view", *both, "--out", str(folder / "view")])
    return counts


def _score(folder: Path) -> list[str]:
    """Return the command that scores the predictions of a benchmark."""
    command = ["score", str(folder), "--predictions", str(folder / "predictions.jsonl")]
    return [*command, "--output", str(folder / "out")]


def extract_counts(folder: Path, videos: int) -> dict[str, Counts]:
    """Return way -> what it does with so many videos of a second."""
    folder.mkdir(parents=True)
    for number in range(videos):
        draw_clip(folder / f"{number}.mp4", f"{folder.name} {number}", 1)
    command = ["frames", "extract", str(folder), "--frames", "uniform:4", "--workers", "1"]
    # Each process that decodes would count for itself.
    with mock.patch.object(fill_store, "ProcessPoolExecutor", _threads):
        return {"extract": counts_of(command)}


def _threads(number: int, **_of_processes: object) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number)


def start_counts(folder: Path, benchmarks: int) -> dict[str, Counts]:
    """Return way -> what it does where the user has declared so many benchmarks."""
    for number in range(benchmarks):
        write_questions(folder / f"b{number}", "choice", FEW)
    own_tasks = mock.Mock(spec=["_get_task_and_group"])
    own_tasks._get_task_and_group = lambda _folder: {}  # noqa: SLF001 - lmms-eval reads the packages' YAML
    with (
        mock.patch.dict(os.environ, {settings.BENCHMARKS.name: str(folder)}),
        mock.patch.object(discovery, "_registry", None),
        counted() as counter,
    ):
        lmms_eval_plugin._our_index(own_tasks)  # noqa: SLF001
    return {"start of a run": counter.counts}


# --- for each ---


def _for_each(
    larger: Mapping[str, Counts], smaller: Mapping[str, Counts], number: int
) -> dict[str, Counts]:
    return {way: counts.for_each(smaller[way], number) for way, counts in larger.items()}


def measured_on_boards(folder: Path) -> dict[str, Counts]:
    """Return way -> what it does for each further sample of a board."""
    board_counts(folder / "first", 1)  # what is imported once is imported now
    of_one = board_counts(folder / "one", 1)
    return _for_each(board_counts(folder / "three", 3), of_one, 2 * ITEMS)


def measured_on_answers(folder: Path) -> dict[str, Counts]:
    """Return way -> what it does for each further question."""
    with playing("judge", 0) as server:
        answer_counts(folder / "first", FEW, server)
        of_few = answer_counts(folder / "few", FEW, server)
        return _for_each(answer_counts(folder / "many", MANY, server), of_few, MANY - FEW)


def measured_on_videos(folder: Path) -> dict[str, Counts]:
    """Return way -> what it does for each further video."""
    extract_counts(folder / "first", FEW_VIDEOS)
    of_few = extract_counts(folder / "few", FEW_VIDEOS)
    of_many = extract_counts(folder / "many", MANY_VIDEOS)
    return _for_each(of_many, of_few, MANY_VIDEOS - FEW_VIDEOS)


def measured_on_benchmarks(folder: Path) -> dict[str, Counts]:
    """Return way -> what it does for each further benchmark that a user declared."""
    start_counts(folder / "first", FEW_VIDEOS)
    of_few = start_counts(folder / "few", FEW_VIDEOS)
    of_many = start_counts(folder / "many", MANY_VIDEOS)
    return _for_each(of_many, of_few, MANY_VIDEOS - FEW_VIDEOS)


def bounds() -> dict[str, Counts]:
    """Return way -> the most that it does for each sample."""
    most: dict[str, Counts] = {}
    for way, entry in json.loads(BOUNDS.read_text()).items():
        most[way] = Counts(entry["calls"], entry["opens"], entry["statements"])
    return most


def run() -> None:
    """Print what each way does beside its bounds."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    most = bounds()
    print("| way | calls for each | most | opens | most | statements | most |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["REELBENCH_HOME"] = str(folder / "home")  # no reply is kept there yet
        measured = measured_on_boards(folder / "boards") | measured_on_answers(folder / "answers")
        measured |= measured_on_videos(folder / "videos")
        measured |= measured_on_benchmarks(folder / "benchmarks")
    for way, counts in measured.items():
        cells = [f"{value:.3g} | {bound}" for value, bound in zip(counts, most[way], strict=True)]
        print(f"| {way} | {' | '.join(cells)} |")


if __name__ == "__main__":
    run()
