"""Commands that are killed at any of their writes, or whose disk is full: what stands there is whole, paid for once.

A kill comes from within, before the n-th change that a process makes to any disk; a full disk is a
limit on the size of what it writes.
"""

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from reelbench.base.files import is_aside, sha256_of
from reelbench.data import loading
from reelbench.leaderboard import store_columns
from reelbench.scoring import result_files
from tests.forks import FULL_AT, KILL_AT, Forks
from tests.leaderboard import test_tampering as ways
from tests.servers import roles
from tests.servers.diagnosis import Models
from tests.servers.judge import Answer, Call, JudgeServer

IN_FLIGHT = 3
LIMITS = (600, 2_000, 8_000, 30_000, 120_000)
KILLS, FULL = "kills of", "full disk under"
OF_PAYING = re.compile(r"funnel\.json$|trace\.jsonl$|status\.json$")
"""What says how many replies were paid for, or in which order they came: a kill changes it."""
REPLACE = "leaderboard replace"
"""It keeps the old answers first, and then puts the new ones in their place."""
BEGUN = re.compile(r"Traceback (?:.*\n)+?.*spawn_main(?:.*\n)+?EOFError.*\n")
"""What Python itself says in a worker process that waits for its work when the one that began it is killed."""
DATED = {"result.json", "ledger.jsonl"}


@dataclass
class Command:
    """What is typed; `old` is what filled the place before, where the command replaces that."""

    words: tuple[object, ...]
    place: Path
    old: tuple[object, ...] | None = None


def seen(place: Path) -> dict[str, bytes]:
    """Return what a reader sees of a folder, dates aside; each result and its samples must be one another's."""
    files: dict[str, bytes] = {}
    for path in sorted(place.rglob("*")) if place.is_dir() else ():
        name = path.relative_to(place).as_posix()
        is_left_out = is_aside(path.relative_to(place)) or OF_PAYING.search(name)
        if not path.is_file() or is_left_out or name.startswith(f"{store_columns.FOLDER}/"):
            continue
        if path.name == "result.json":
            result = result_files.read(path.parent)
            if result.provenance.samples_sha256 != sha256_of(result_files.samples_of(path.parent)):
                raise ValueError(f"{name}: its samples are others")
        files[name] = (
            b"" if path.name in DATED else re.sub(rb'"seconds": ?[0-9.e-]+', b"", path.read_bytes())
        )
    return files


def whole_replies(home: Path) -> str | None:
    """Return what is wrong with the file of replies, or None."""
    path = home / "judge.sqlite"
    if path.is_file():
        with closing(sqlite3.connect(path)) as kept:
            if kept.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return "the file of replies is damaged"
    return None


def replied(call: Call) -> Answer:
    """Play whichever model is asked."""
    model = call.body["model"]
    if model in ("tagger", *roles.DISCUSSION, "context"):
        return roles.play(call)
    if model == "asked":
        return Answer('{"span": [0, 5], "answer": "A"}')
    return Answer('{"score": 2}') if model in ("judge", "later") else Models()(call)


@contextmanager
def world(place: Path) -> Iterator[tuple[Callable[..., Any], JudgeServer]]:
    """Yield what runs a command with its own home, and the models' server."""
    home, forks = place / "home", Forks(place)
    try:
        with JudgeServer(replied) as server:

            def run(*words: object, **env: str) -> Any:  # noqa: ANN401 - a finished process
                environment = {
                    **os.environ,
                    "COLUMNS": "160",
                    "REELBENCH_HOME": str(home),
                    "HF_HUB_OFFLINE": "1",
                }
                return forks.run([*map(str, words)], place, environment | env, 600)

            yield run, server
    finally:
        forks.close()


def material(place: Path, run: Callable[..., Any]) -> Path:
    """Make what the commands work on; return a result that a judge scored."""
    ways.of_files(place, "curve", ways.curve_lines, votes=1)
    curve = place / "curve1" / "result"
    for letter in "AB":
        rows = loading.locate("rextime", "mini").read()
        lines = [
            {"id": row["id"], "prediction": f"({letter}), from 1 to {ord(letter)} s"}
            for row in rows
        ]
        (place / f"{letter}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        words = ("--output", place / letter, "--model", "org/model")
        run("score", "rextime_mini", "--predictions", place / f"{letter}.jsonl", *words)
        run("leaderboard", "add", place / letter, "--store", place / f"store-{letter}")
    run("leaderboard", "add", curve, "--store", place / "judged")
    texts = [
        {"id": row["id"], "prediction": f"He left {row['id']}."}
        for row in loading.locate("moviecore", "mini").read()
    ]
    (place / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in texts))
    given = {"question": "Why?", "answer": "So.", "reasoning_steps": "1. one"}
    graphs = [{"id": str(n), **given, "question": f"Why {n}?"} for n in range(12)]
    (place / "graphs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in graphs))
    row = {
        "id": "k1",
        "video": "v",
        "question": "What boils?",
        "options": ["Tea", "Soup"],
        "answer": "B",
    }
    (place / "table.jsonl").write_text(json.dumps(row) + "\n")
    film = {
        "video": "v1",
        "metadata": {"title": "A film"},
        "qa": [{"question": "Who?", "answer": "Ann."}],
    }
    (place / "films.jsonl").write_text(json.dumps(film | {"context": ["It rains."] * 8}) + "\n")
    return curve


def commands(place: Path, run: Callable[..., Any], server: JudgeServer) -> dict[str, Command]:
    """Make what the commands work on; return them by name."""
    curve = material(place, run)

    def llm(model: str) -> tuple[object, ...]:
        return ("--llm", model, "--llm-url", server.url, "--llm-concurrency", IN_FLIGHT)

    def judge(model: str) -> tuple[object, ...]:
        return ("--judge", model, "--judge-url", server.url, "--judge-concurrency", IN_FLIGHT)

    def scored(letter: str) -> tuple[object, ...]:
        words = (
            "score",
            "rextime_mini",
            "--predictions",
            place / f"{letter}.jsonl",
            "--output",
            place / "scored",
        )
        return (*words, "--model", "org/model")

    def built(letter: str) -> tuple[object, ...]:
        return (
            "leaderboard",
            "build",
            "--store",
            place / f"store-{letter}",
            "--out",
            place / "built",
        )

    def filed(letter: str, word: str = "add") -> tuple[object, ...]:
        return ("leaderboard", word, place / letter, "--store", place / "filed")

    def viewed(letter: str) -> tuple[object, ...]:
        return ("view", place / letter, "--out", place / "viewed")

    discussed = [part for role in roles.DISCUSSION for part in ("--llm", f"{role}={role}")]
    discussed += ["--llm-url", server.url, "--llm-concurrency", str(IN_FLIGHT)]
    out = place / "out"
    return {
        "score": Command(scored("B"), place / "scored", scored("A")),
        "leaderboard add": Command(filed("B"), place / "filed"),
        REPLACE: Command(filed("B", "replace"), place / "filed", filed("A")),
        "leaderboard build": Command(built("B"), place / "built", built("A")),
        "view": Command(viewed("B"), place / "viewed", viewed("A")),
        "score --judge": Command(
            (
                "score",
                "moviecore_mini",
                "--predictions",
                place / "texts.jsonl",
                "--no-overlap",
                "--output",
                out,
                *judge("judge"),
            ),
            out,
        ),
        "leaderboard rejudge": Command(
            (
                "leaderboard",
                "rejudge",
                "--store",
                out,
                "--out",
                place / "rejudged",
                *judge("later"),
            ),
            out,
            ("leaderboard", "add", curve, "--store", out),
        ),
        "ask": Command(
            (
                *("ask", "rextime_mini", "--frames", "none", "--limit", 8, "--no-recheck"),
                *("--output", out, *llm("asked")),
            ),
            out,
        ),
        "frames extract": Command(
            ("frames", "extract", "rextime_mini", "--frames", "uniform:2"),
            place / "home" / "frames",
        ),
        "make tags": Command(
            (
                "make",
                "tags",
                "dramaqa_cogme_mini",
                "--limit",
                2,
                "--out",
                out / "tags.jsonl",
                *llm("tagger"),
            ),
            out,
        ),
        "make discussion": Command(
            ("make", "discussion", "--videos", place / "films.jsonl", "--out", out, *discussed),
            out,
        ),
        "diagnose graphs": Command(
            ("diagnose", "graphs", place / "graphs.jsonl", "--out", out, *llm("m")), out
        ),
        "diagnose errors": Command(("diagnose", "errors", curve, "--out", out, *llm("m")), out),
        "review page": Command(
            ("review", "page", "rextime_mini", "--output", out / "page.html"), out
        ),
        "new": Command(("new", "kitchen", "--from", place / "table.jsonl", "--out", out), out),
    }


class Tried:
    """A command, done once undisturbed to know what it leaves, and then with what disturbs it."""

    def __init__(
        self, command: Command, place: Path, run: Callable[..., Any], server: JudgeServer
    ) -> None:
        self._command, self._place, self._run, self._server = command, place, run, server
        self._anew()
        self._before = seen(command.place)
        self._ended(run(*command.words))  # what it makes once for all later ones is made
        self._anew()
        counted, asked = place / "changes", len(server.calls)
        self._ended(run(*command.words, **{KILL_AT: f"0 {counted}"}))
        self._votes = self._twice(asked)  # votes are equal requests
        self.changes, self._whole = int(counted.read_text()), seen(command.place)
        if not self._whole:
            raise SystemExit(f"{command.words[:2]} leaves nothing in {command.place.name}")

    @staticmethod
    def _ended(done: Any) -> None:  # noqa: ANN401 - a finished process
        if done.returncode:
            raise SystemExit(f"{done.args[1:4]}: {done.stderr[-300:]}")

    def _anew(self) -> None:
        for path in (self._command.place, self._place / "rejudged"):
            shutil.rmtree(path, ignore_errors=True)
        for path in self._place.glob("home/judge.sqlite*"):
            path.unlink()
        if self._command.old is not None:
            self._ended(self._run(*self._command.old))

    def disturbed(self, **env: str) -> str:
        """Run it disturbed, then once more; say what became of it."""
        self._anew()
        asked = len(self._server.calls)
        done = self._run(*self._command.words, **env)
        try:
            fault = next(self._faults(done, asked), None)
        except ValueError as error:
            return str(error)
        return fault or ("refused" if FULL_AT in env and done.returncode else "held")

    def _faults(self, done: Any, asked: int) -> Iterator[str]:  # noqa: ANN401 - a finished process
        command, left = self._command, seen(self._command.place)
        if "Traceback" in (said := BEGUN.sub("", done.stderr)):
            yield f"a traceback: {said[-200:]}"
        if done.returncode > 0 and not done.stderr.strip():
            yield "ended without a line"
        if command.old is None:
            if any(self._whole.get(name, b"")[: len(data)] != data for name, data in left.items()):
                yield "what is left is no beginning of the whole"
        elif "replace" in command.words:
            if not self._is_on_its_way(left):
                yield "what is left is neither of before nor of the whole"
        elif "rejudge" not in command.words and left not in (self._before, self._whole):
            yield "neither what was there nor what was to be"
        if why := whole_replies(self._place / "home"):
            yield why
        again = self._run(*command.words)
        if again.returncode and "is there already" not in again.stderr:
            yield f"can't be run again: {again.stderr[-200:]}"
        if seen(command.place) != self._whole:
            yield "a rerun ends otherwise"
        if (twice := self._twice(asked) - self._votes) > IN_FLIGHT:
            yield f"{twice} calls paid twice"

    def _is_on_its_way(self, left: dict[str, bytes]) -> bool:
        """Return True where each file is as before or as in the whole, and none is lost."""
        for name, data in left.items():
            if data not in (self._before.get(name), self._whole.get(name)):
                return False
        return self._before.keys() <= left.keys()

    def _twice(self, asked: int) -> int:
        calls = [json.dumps(call.body, sort_keys=True) for call in self._server.calls[asked:]]
        return len(calls) - len(set(calls))


def attack(
    rng: Random,
    place: Path,
    kills: int,
    counted: dict[str, Any],
    *,
    kind: Callable[[], Any],
    named: str = "",
) -> None:
    """Kill each command at some of its changes, and let its disk be full at some sizes; with `named` these alone."""
    place.mkdir()
    with world(place) as (run, server):
        made = commands(place, run, server)
        for number, (name, command) in enumerate(made.items()):
            if named and name not in named.split(","):
                continue
            tried = Tried(command, place, run, server)
            share = kills // len(made) + (number < kills % len(made))
            ways = {
                KILLS: [
                    {KILL_AT: f"{rng.randint(1, tried.changes)} {place / 'changes'}"}
                    for _ in range(share)
                ]
            }
            ways[FULL] = [{FULL_AT: str(limit)} for limit in LIMITS]
            for what, tries in ways.items():
                of = counted.setdefault(f"{what} `{name}`", kind())
                for env in tries:
                    of.count(", ".join(env.values()), tried.disturbed(**env))
