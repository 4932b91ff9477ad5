"""Commands that replace what is there, killed at any of their writes: what stands there is the old or the new, whole.

A kill comes from within, before the n-th change that the process makes to any disk, so that nothing
waits for a time.
"""

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial

import pytest

from reelbench.base.files import is_aside, sha256_of
from reelbench.data import loading
from reelbench.leaderboard import store
from reelbench.registry import discovery
from reelbench.scoring import result_files
from tests.forks import KILL_AT, pid_of
from tests.registry.upstream import MOVIECORE, clip
from tests.servers import roles
from tests.servers.diagnosis import Models
from tests.servers.hub import HubServer
from tests.servers.judge import Answer, JudgeServer

pytestmark = pytest.mark.slow
SEED = 31
KILLS, MOST = 4, 60
APART = re.compile(r"funnel\.json$|/\.incoming/")
"""What says how many replies were paid for, which a kill changes, and what is on its way."""


@pytest.fixture
def run(tmp_path, reelbench):
    """Run a command to its end, or to its n-th change (0: never); returns its status and how many changes it made."""

    def run(*arguments, at=0):
        counted = tmp_path / "changes"
        done = reelbench(*arguments, env={KILL_AT: f"{at} {counted}"})
        assert done.returncode in {0, -signal.SIGKILL}, done.stderr
        return done.returncode, int(counted.read_text()) if done.returncode == 0 else at

    return run


@pytest.fixture
def answers(tmp_path):
    """Write a file of answers to ReXTime's mini rows: this letter to each."""

    def write(letter):
        path = tmp_path / f"{letter}.jsonl"
        rows = loading.load("rextime", "mini")
        lines = [
            {"id": row["id"], "prediction": f"({letter}), from 1 to {ord(letter)} s"}
            for row in rows
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def seen(place):
    """What a reader sees of a file or folder: the bytes of all that isn't left from a kill, dates aside."""
    if place.is_file():
        return place.read_bytes()
    files = [
        path
        for path in sorted(place.rglob("*"))
        if path.is_file() and not is_aside(path.relative_to(place))
    ]
    return {
        path.relative_to(place).as_posix(): b""
        if path.name in {"result.json", "ledger.jsonl"}
        else path.read_bytes()
        for path in files
    }


def of_one_result(folder):
    """A result and its samples are each whole, and the samples are those that it states."""
    result = result_files.read(folder)
    samples = list(result_files.read_samples(folder))
    assert len(samples) == result.counts.items
    assert result.provenance.samples_sha256 == sha256_of(result_files.samples_of(folder))
    return result.provenance.samples_sha256


class TestWrites:
    """Each command once to write the old, once over it undisturbed for the new and its changes, then killed."""

    @pytest.fixture
    def killed(self, run):
        def killed(old, new, place, whole=seen):
            """Kill `new` where `old` was before; `whole` is what is seen of the place."""

            assert run(*old)[0] == 0
            before = whole(place)
            assert before
            kept = shutil.copytree(place, place.with_name("kept"))

            def anew():
                shutil.rmtree(place)
                shutil.copytree(kept, place)

            run(*new)  # once before it is counted: what it makes for all later ones is made
            after = whole(place)
            assert before != after
            anew()
            _, changes = run(*new)
            kills, moments = 0, range(1, changes + 1)
            if changes > MOST:
                moments = random.Random(SEED).sample(moments, KILLS)
            for at in moments:
                anew()
                kills += (
                    run(*new, at=at)[0] == -signal.SIGKILL
                )  # a cache that is warm by now takes fewer changes
                assert whole(place) in (before, after), f"killed at change {at} of {changes}"
                assert run(*new)[0] == 0
                assert whole(place) == after
            assert kills >= len(moments) // 2

        return killed

    def test_score(self, killed, answers, tmp_path):
        out = tmp_path / "out"
        words = ("--output", out, "--model", "org/model")
        old, new = (
            ("score", "rextime_mini", "--predictions", answers(letter), *words) for letter in "AB"
        )
        killed(old, new, out, of_one_result)

    def test_a_newer_result_in_a_store(self, killed, run, answers, tmp_path):
        for letter in "AB":
            words = ("--output", tmp_path / letter, "--model", "org/model")
            assert run("score", "rextime_mini", "--predictions", answers(letter), *words)[0] == 0

        def row(folder):
            (stored,) = store.read(folder)
            return of_one_result(stored.folder)

        place = tmp_path / "store"
        killed(
            ("leaderboard", "add", tmp_path / "A", "--store", place),
            ("leaderboard", "replace", tmp_path / "B", "--store", place),
            place,
            row,
        )

    @pytest.mark.parametrize("command", ["view", "build"])
    def test_pages(self, command, killed, run, answers, tmp_path):
        for letter in "AB":
            words = ("--output", tmp_path / letter, "--model", f"org/{letter}")
            assert run("score", "rextime_mini", "--predictions", answers(letter), *words)[0] == 0
            assert (
                run(
                    "leaderboard", "add", tmp_path / letter, "--store", tmp_path / f"store-{letter}"
                )[0]
                == 0
            )
        out = tmp_path / "page"
        words = {
            "view": lambda letter: ("view", tmp_path / letter, "--out", out),
            "build": lambda letter: (
                "leaderboard",
                "build",
                "--store",
                tmp_path / f"store-{letter}",
                "--out",
                out,
            ),
        }[command]
        killed(words("A"), words("B"), out)

    def test_graphs(self, killed, tmp_path):
        for name in "AB":
            node = {
                "id": "a",
                "evidence": f"He opens it {name}.",
                "timestamp": "00:01",
                "parents": [],
            }
            (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "q", "nodes": [node]}) + "\n")
        out = tmp_path / "out"
        old, new = (
            ("diagnose", "graphs", "--from", tmp_path / f"{name}.jsonl", "--out", out)
            for name in "AB"
        )
        killed(old, new, out)


def intact(home):
    """No file of replies is damaged; returns how many replies are kept."""
    (path,) = home.rglob("judge.sqlite")
    with closing(sqlite3.connect(path)) as kept:
        assert kept.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (table,) = [
            name
            for (name,) in kept.execute("SELECT name FROM sqlite_master WHERE name = 'replies'")
        ]
        return kept.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - our own name


@pytest.mark.parametrize("command", ["judge", "chain"])
def test_killed_at_any_call_no_reply_is_lost_and_the_file_is_whole(
    command, tmp_path, reelbench_home, program
):
    """Each process is killed at one more call than the one before got to; what was in flight is paid twice, no more."""
    rows = tmp_path / "rows.jsonl"
    if command == "judge":
        questions = loading.load("moviecore", "mini")
        lines = [{"id": row["id"], "prediction": f"He left {row['id']}."} for row in questions]
        rest = ("score", "moviecore_mini", "--predictions", rows, "--judge", "m", "--no-overlap")
        option, script = "judge", lambda _call: Answer('{"score": 3}')
    else:
        given = {"question": "Why?", "answer": "So.", "reasoning_steps": "1. one"}
        lines = [{"id": str(n), **given, "question": f"Why {n}?"} for n in range(12)]
        rest = ("diagnose", "graphs", rows, "--llm", "m", "--out", tmp_path / "out")
        option, script = "llm", Models()
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw, kept, kills, running = random.Random(SEED), 0, 0, []
    with JudgeServer(script) as server:
        words = (*rest, f"--{option}-url", server.url, f"--{option}-concurrency", 3)

        def go():
            command = [program, *map(str, words)]
            running[:] = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)]
            _, error = running[0].communicate()
            return running[0].returncode, error.decode()

        def killing(goal, call):
            if call.number >= goal:
                os.kill(pid_of(running[0]), signal.SIGKILL)
            return script(call)

        for _ in range(KILLS):
            server.script(partial(killing, len(server.calls) + draw.randint(2, 4)))
            kills += go()[0] == -signal.SIGKILL
            kept, before = intact(reelbench_home), kept
            assert kept >= before
        server.script(script)
        status, error = go()
        assert status == 0, error
        asked = len(server.calls)
        different = len({json.dumps(call.body["messages"]) for call in server.calls})
        assert kills >= KILLS // 2
        assert asked - different <= 3 * kills
        assert intact(reelbench_home) >= different
        assert go()[0] == 0
        assert len(server.calls) == asked


class TestWork:
    """Commands that begin where nothing is, killed at their changes."""

    @pytest.fixture
    def served(self, monkeypatch, tmp_path):
        models = Models()
        with (
            JudgeServer(
                lambda call: (roles.play if "tagger" in call.body["model"] else models)(call)
            ) as server,
            HubServer() as hub,
        ):
            hub.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
            hub.add(
                "Enxin/MovieChat-1K-test",
                {f"videos/{name}.mp4": clip(tmp_path, name) for name in ("8", "AWA-6")},
            )
            for name, value in {**hub.env(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}.items():
                monkeypatch.setenv(name, value)
            yield server

    @pytest.fixture
    def commands(self, served, tmp_path, score):
        """Name -> its words, and the folder that it fills."""
        out, rows, table = tmp_path / "out", tmp_path / "rows.jsonl", tmp_path / "table.jsonl"
        rows.write_text(
            "".join(f'{{"key": "mini{n}", "pred": "pred mini{n}"}}\n' for n in (1, 2, 6, 10))
        )
        row = {
            "id": "k1",
            "video": "v",
            "question": "What boils?",
            "options": ["Tea", "Soup"],
            "answer": "B",
        }
        table.write_text(json.dumps(row) + "\n")
        result = ("--output", tmp_path / "result", "--judge", "j", "--judge-url", served.url)
        score("curve", "--split", "mini", "--predictions", rows, *result)
        model, tagger = (("--llm", name, "--llm-url", served.url) for name in ("m", "tagger"))
        return {
            "errors": ("diagnose", "errors", tmp_path / "result", *model, "--out", out),
            "tags": (
                "make",
                "tags",
                "dramaqa_cogme_mini",
                *tagger,
                "--limit",
                2,
                "--out",
                out / "tags.jsonl",
            ),
            "card": (
                "cards",
                "render",
                "rextime",
                "--data",
                discovery.get("rextime").folder / "mini",
                "--out",
                out,
            ),
            "page": ("review", "page", "rextime_mini", "--output", out / "page.html"),
            "profile": ("profile", "rextime_mini", "--output", out),
            "new": ("new", "kitchen", "--from", table, "--out", out),
            "fetch": ("data", "fetch", "moviecore", "--media"),
        }

    @pytest.mark.parametrize("name", ["errors", "tags", "card", "page", "profile", "new", "fetch"])
    def test_what_is_left_is_whole_and_a_rerun_ends_the_same(
        self, name, commands, run, reelbench, tmp_path
    ):
        place, status = (
            tmp_path / ("home/media" if name == "fetch" else "out"),
            tmp_path / "status.json",
        )
        words, replies = commands[name], tmp_path / "home" / "judge.sqlite"
        if name in {"errors", "tags", "fetch"}:
            words += ("--status-file", status)

        def anew():
            shutil.rmtree(place, ignore_errors=True)
            for path in (status, *tmp_path.glob("home/judge.sqlite*")):
                path.unlink(missing_ok=True)

        def left():
            return {path: data for path, data in seen(place).items() if not APART.search(path)}

        run(*words)  # once before it is counted: what it makes for all later ones is made
        anew()
        _, changes = run(*words)
        whole = left()
        assert whole
        for at in random.Random(SEED).sample(range(1, changes + 1), KILLS):
            anew()
            ended = run(*words, at=at)[0]
            where = f"killed at change {at} of {changes}"
            for path, data in left().items():
                if path.endswith(
                    ".json"
                ):  # which of two transfers ends first is not the same each time
                    assert json.loads(data).items() <= json.loads(whole[path]).items(), (
                        f"{path}, {where}"
                    )
                else:
                    assert whole[path].startswith(data), f"{path}, {where}"
            if status.exists():
                state = json.loads(reelbench("doctor", "status", status, "--json").stdout)["state"]
                assert state in ({"gone", "done"} if ended else {"done"})
            if replies.exists():
                intact(replies.parent)
            again = reelbench(*words)
            assert again.returncode == 0 or "is there already" in again.stderr
            assert left() == whole, where


KILLED_AT_A_WRITE = """
import os, signal, sys
from reelbench.cli.main import main
from reelbench.scoring.filed_samples import FiledLines
from reelbench.tasks import score

score.BATCH = 50
writes, extend = int(sys.argv.pop(1)), FiledLines.extend

def extend_or_die(lines, rows):
    global writes
    writes -= 1
    if writes == 0:
        with lines.path.open("a") as file:
            file.write('{"id": "half')
        os.kill(os.getpid(), signal.SIGKILL)
    extend(lines, rows)

FiledLines.extend = extend_or_die
main()
"""
"""The command line, killed in its n-th write of samples or questions (0: never), half a line on the disk."""


def test_a_scoring_killed_at_ten_moments_goes_on_to_the_same_bytes(tmp_path):
    """Each process goes on where the one before was killed, now between a sample and its question, now between two."""
    rows = [{"id": f"q{n}", "video": f"film{n % 40}", "question": f"Is it {n}?", "options": ["a house", "a boat"],
             "answer": "AB"[n % 3 == 0]} for n in range(1000)]  # fmt: skip
    texts = [{"id": f"q{n * 7 % 1000}", "prediction": f"({'AB'[n % 2]}), as {n} is"} for n in range(1000)]  # fmt: skip
    columns = "".join(f"  {name}: {name}\n" for name in rows[0])
    (tmp_path / "benchmark.yaml").write_text(
        "id: killed_choices\ntitle: Choices\nkind: choice\nsource: {file: rows.jsonl}\n"
        f"columns:\n{columns}languages: [en]\nlicence: cc-by-4.0\n"
    )
    for name, lines in (("rows", rows), ("texts", texts)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def score(output, at=0):
        command = [sys.executable, "-c", KILLED_AT_A_WRITE, str(at), "score", tmp_path, "--predictions",
                   tmp_path / "texts.jsonl", "--output", output]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=False).returncode

    def contents(folder):
        files = {path.name: path.read_text() for path in folder.iterdir()}
        result = json.loads(files.pop("result.json"))
        del result["provenance"]["date"]
        return files, result

    assert score(tmp_path / "whole") == 0
    for at in (1, 2, 5, 8, 13, 18, 24, 29, 35, 40):
        assert score(tmp_path / "killed", at) == -signal.SIGKILL
        assert not (tmp_path / "killed" / "result.json").exists()
    assert score(tmp_path / "killed") == 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
