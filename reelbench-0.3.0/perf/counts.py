"""Function calls that our commands take for each sample: the same on every machine, unlike seconds.

    python -m perf.counts

Each way is measured at two sizes, and what the larger one takes more is divided by its further samples or questions: what
a command takes once (imports, help) is no part of it. Calls of Python and of C count, of all threads of this process; commands run
with one worker, which works in the caller. `perf/counts.json` has the bound of each way, which `make test` holds. Who
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
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from perf import leaderboard
from perf.measure import playing
from reelbench.cli import main

BOUNDS = Path(__file__).with_name("counts.json")
ITEMS = 921
"""Questions of ReXTime's val: a run of fewer is not ranked, and no pair of it is tested."""
FEW, MANY = 20, 70
"""Questions of a benchmark of our own."""
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

    def check(self) -> list[str]:
        """Return the command that checks all results."""
        return ["leaderboard", "check", str(self.results), "--workers=1"]


def board_calls(folder: Path, results: int) -> dict[str, int]:
    """Return way -> the calls that it takes on a board of so many results."""
    store = Store(folder / "runs", folder / "store", folder / "site")
    leaderboard.make(store.results, results, ITEMS)
    return {
        "add": calls_of(store.add()),
        "build": calls_of(store.build()),
        "build, nothing changed": calls_of(store.build()),
        "check": calls_of(store.check()),
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
    declared = QUESTIONS.format(name=f"{folder.parent.name}_{kind}", kind=kind, columns=columns)
    if kind == "open":
        declared += "judge: {prompts: moviecore}\n"
    (folder / "benchmark.yaml").write_text(declared)
    _write_lines(folder / "rows.jsonl", rows)
    _write_lines(folder / "predictions.jsonl", predictions)


def _write_lines(path: Path, rows: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def answer_calls(folder: Path, questions: int, server: str) -> dict[str, int]:
    """Return way -> the calls that it takes on a benchmark of so many questions.

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
    calls = {
        "score, choice": calls_of(_score(choice)),
        "score, open": calls_of(_score(spoken)),
        "ask": calls_of([*asked, "--output", str(folder / "asked")]),
        "ask, kept": calls_of([*asked, "--output", str(folder / "asked_again")]),
        "judge": calls_of(judged),
    }
    both = [str(choice / "out"), str(folder / "asked")]
    calls["compare"] = calls_of(["compare", *both])
    calls["view"] = calls_of(["view", *both, "--out", str(folder / "view")])
    return calls


def _score(folder: Path) -> list[str]:
    """Return the command that scores the predictions of a benchmark."""
    command = ["score", str(folder), "--predictions", str(folder / "predictions.jsonl")]
    return [*command, "--output", str(folder / "out")]


def measured_on_boards(folder: Path) -> dict[str, float]:
    """Return way -> calls for each further sample of a board."""
    board_calls(folder / "first", 1)  # what is imported once is imported now
    of_one = board_calls(folder / "one", 1)
    of_three = board_calls(folder / "three", 3)
    return {way: (of_three[way] - of_one[way]) / (2 * ITEMS) for way in OF_BOARDS}


def measured_on_answers(folder: Path) -> dict[str, float]:
    """Return way -> calls for each further question."""
    with playing("judge", 0) as server:
        answer_calls(folder / "first", FEW, server)
        of_few = answer_calls(folder / "few", FEW, server)
        of_many = answer_calls(folder / "many", MANY, server)
    return {way: (of_many[way] - of_few[way]) / (MANY - FEW) for way in OF_ANSWERS}


def bounds() -> dict[str, int]:
    """Return way -> the most calls for each sample."""
    return {way: entry["most"] for way, entry in json.loads(BOUNDS.read_text()).items()}


def run() -> None:
    """Print what each way takes beside its bound."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    most = bounds()
    print("| way | calls a sample | bound |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        os.environ["REELBENCH_HOME"] = str(Path(name, "home"))  # no reply is kept there yet
        measured = measured_on_boards(Path(name)) | measured_on_answers(Path(name))
    for way, calls in measured.items():
        print(f"| {way} | {calls:.1f} | {most[way]} |")


if __name__ == "__main__":
    run()
