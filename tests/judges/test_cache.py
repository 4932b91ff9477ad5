"""The file of replies: killed processes, several processes, full disks, damaged files, and no key anywhere."""

import contextlib
import json
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.judges.judge_run import LiveJudge, judge_items
from reelbench.llm.reply import Reply
from tests.alarms import PATIENCE_S
from tests.judges.conftest import KEY, judged_item
from tests.llm.by_hand import ReplyCache
from tests.servers.judge import Answer, JudgeServer, always

ROOT = Path(__file__).parents[3]

SCORER = """
import json, logging, os, sys
logging.basicConfig(level=logging.INFO)
from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.judge_run import judge_items
from reelbench.registry.records import Item
from reelbench.tasks.moviecore import SPEC
url, key, questions = sys.argv[1], sys.argv[2], int(sys.argv[3])
items = (
    Item(
        id=f"q{n}",
        video="film",
        target={"text": f"Because of {n}."},
        prediction=f"I think {n}.",
        question=f"Why? ({n})",
    )
    for n in range(questions)
)
try:
    run = judge_items(SPEC, items, JudgeOptions(model="judge-1", url=url, api_key=key, concurrency=8, backoff=0.01))
    scored = {v.id: [v.scores, v.reasons] for v in run}
    print(json.dumps({"scored": scored, "calls": run.record.calls, "client": "aiohttp" in sys.modules}))
except Exception as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1)
"""


def start(python, home, url, questions):
    command = [python, "-c", SCORER, url, KEY, str(questions)]
    env = os.environ | {"REELBENCH_HOME": str(home)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=env, cwd=ROOT, **pipes)


@pytest.fixture
def scorer(python):
    return partial(start, python)


def finished(process):
    out, err = process.communicate(timeout=1800)
    assert process.returncode == 0, err
    return json.loads(out)


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def reply(raw='{"score": 3}'):
    return Reply(
        raw=raw,
        finish="stop",
        returned="judge-1-0001",
        prompt_tokens=1,
        completion_tokens=1,
        host="h",
    )


def texts(calls):
    return [(call.system, call.user) for call in calls]


# --- processes
# -------------------------------------------------------------------------------------------------------


def test_a_killed_run_loses_only_what_was_in_flight(home, scorer):
    def stuck(call):
        delay = 600 if call.number >= 60 else 0
        return Answer(delay=delay)

    with JudgeServer(stuck) as server:
        killed = scorer(home, server.url, 40)
        wait_for(lambda: len(server.calls) == 68)  # 60 replies, and 8 calls in flight
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        server.script(always())
        again = finished(scorer(home, server.url, 40))
        assert len(server.calls) - 68 == again["calls"] == 200 - 60
        rerun = finished(start(sys.executable, home, server.url, 40))
    assert rerun["scored"] == again["scored"]
    assert all(len(scores) == 5 for scores, _ in again["scored"].values())
    assert (rerun["calls"], rerun["client"]) == (
        0,
        False,
    )  # nothing to ask: the client is not even imported


@pytest.mark.parametrize("place", ["file", "server"])
def test_two_scorers_at_once_pay_once(home, place, request, monkeypatch, scorer):
    if place == "server":
        monkeypatch.setenv("REELBENCH_CACHE", request.getfixturevalue("postgres").database())
    with JudgeServer(always(delay=0.02)) as server:
        both = [scorer(home, server.url, 40) for _ in range(2)]
        first, second = map(finished, both)
    asked_texts = texts(server.calls)
    assert len(asked_texts) == len(set(asked_texts)) == 200
    assert first["scored"] == second["scored"]
    assert first["calls"] + second["calls"] == 200


def test_a_claim_of_a_dead_process_lapses(home, monkeypatch):
    cache = ReplyCache(home / "judge.sqlite", print)
    second_cache = ReplyCache(home / "judge.sqlite", print)
    now = time.time()
    assert cache.claim(b"k") == "mine"
    assert second_cache.claim(b"k") == "theirs"
    monkeypatch.setattr(time, "time", lambda: now + 5)
    cache.renew()
    monkeypatch.setattr(time, "time", lambda: now + 10)
    assert second_cache.claim(b"k") == "theirs"  # alive: it renewed
    monkeypatch.setattr(time, "time", lambda: now + 12)
    assert second_cache.claim(b"k") == "mine"
    second_cache.put(b"k", "judge-1", reply())
    assert cache.claim(b"k") == "stored"
    assert cache.get(b"k") == reply()


def test_a_claim_from_the_future_holds_nobody_up(home, monkeypatch):
    cache = ReplyCache(home / "judge.sqlite", print)
    second_cache = ReplyCache(home / "judge.sqlite", print)
    cache.claim(b"k")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 3600)  # the clock was set back
    assert second_cache.claim(b"k") == "mine"


def test_the_first_reply_under_a_key_stays(home):
    cache = ReplyCache(home / "judge.sqlite", print)
    cache.put(b"k", "judge-1", reply("first"))
    cache.put(b"k", "judge-1", reply("second"))
    assert cache.get(b"k").raw == "first"


def test_what_is_kept_survives_closing(home):
    cache = ReplyCache(home / "judge.sqlite", print)
    cache.put(b"k", "judge-1", reply(None))
    cache.close()
    assert ReplyCache(home / "judge.sqlite", print).get(b"k") == reply(None)


# --- a full disk
# -----------------------------------------------------------------------------------------------------


def test_a_full_disk_stops_the_work_and_loses_nothing(curve, options, tmp_path):
    def items(count):
        return [judged_item(f"q{n}", f"Why? {n}", "Because.", "Hm.") for n in range(count)]

    with JudgeServer(always("1")) as server:
        cache = tmp_path / "judge.sqlite"
        list(judge_items(curve, items(20), options(server.url, cache=cache)))
        first = len(server.calls)
        with pytest.raises(ReelbenchError) as caught, _full(cache):
            list(judge_items(curve, items(400), options(server.url, cache=cache, concurrency=4)))
        paid = len(server.calls)
        assert "\n" not in str(caught.value)
        assert "the disk is full" in str(caught.value)
        assert str(cache) in str(caught.value)
        assert paid < 400
        verdict_list = list(judge_items(curve, items(400), options(server.url, cache=cache)))
    assert all(verdict.scores == {"score": 1} for verdict in verdict_list)
    assert first == 20
    assert (
        len(server.calls) <= 400 + 4
    )  # paid twice: at most what was in flight when the disk was full


class _full:  # noqa: N801 - reads as a state
    """Let the file grow by 20 kB only: SQLite then reports a full disk, SQLITE_FULL."""

    def __init__(self, cache):
        self._cache = cache

    def __enter__(self):
        with contextlib.closing(sqlite3.connect(self._cache)) as raw:
            (pages,) = raw.execute("PRAGMA page_count").fetchone()
        self._connect = sqlite3.connect
        limit = pages + 5

        def connect(*args, **kwargs):
            connection = self._connect(*args, **kwargs)
            connection.execute(f"PRAGMA max_page_count = {limit}")
            return connection

        sqlite3.connect = connect

    def __exit__(self, *_):
        sqlite3.connect = self._connect


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("mount"), reason="mounting a small disk needs root"
)
def test_a_disk_that_is_really_full(tmp_path, scorer):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        [shutil.which("mount"), "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], check=False
    ).returncode:
        pytest.skip("this container may not mount")
    try:
        with JudgeServer(always(json.dumps({"score": 3, "why": "x" * 2000}))) as server:
            process = scorer(disk, server.url, 100)
            out, err = process.communicate(timeout=1800)
            assert (process.returncode, out) == (1, "")
            (line,) = [line for line in err.splitlines() if "ReelbenchError" in line]
            assert f"judge cache {disk / 'judge.sqlite'}" in line
            assert "Traceback" not in err
            paid = len(server.calls)
            copy_folder = tmp_path / "kept"
            shutil.copytree(disk, copy_folder)
            again = finished(scorer(copy_folder, server.url, 100))
            assert again["calls"] <= 500 - paid + 8
            assert all(len(scores) == 5 for scores, _ in again["scored"].values())
    finally:
        subprocess.run([shutil.which("umount"), disk], check=True)


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("mount"), reason="mounting a disk needs root"
)
def test_a_disk_that_is_read_only(curve, options, home):
    item = judged_item("q", "Why?", "Because.", "Hm.")
    second_item = judged_item("p", "Who?", "He.", "She.")
    with JudgeServer(always("1")) as server:
        (first,) = judge_items(curve, [item], options(server.url))
        mount = [shutil.which("mount"), "--bind", home, home]
        if subprocess.run(mount, check=False).returncode:
            pytest.skip("this container may not mount")
        try:
            subprocess.run([mount[0], "-o", "remount,ro,bind", home], check=True)
            run = judge_items(curve, [item], options(server.url))
            assert list(run) == [first]
            assert len(server.calls) == 1
            (note,) = (note for note in run.notes if "judge cache" in note)
            assert (
                note
                == f"judge cache {home / 'judge.sqlite'}: it is read-only; the replies in it are used"
            )
            with pytest.raises(
                ReelbenchError, match="make it writable, or set REELBENCH_HOME to another folder"
            ):
                list(judge_items(curve, [second_item], options(server.url)))
            assert len(server.calls) == 1
        finally:
            subprocess.run([shutil.which("umount"), home], check=True)


# --- damaged and foreign files
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["not a database", "empty pages", "a torn file"])
def test_a_damaged_file_is_set_aside_and_said(curve, options, home, damage):
    path = home / "judge.sqlite"
    item = judged_item("q", "Why?", "Because.", "Hm.")
    with JudgeServer(always("1")) as server:
        list(judge_items(curve, [item], options(server.url)))
        content = path.read_bytes()
        if damage == "not a database":
            path.write_bytes(b"replies, please\n" * 1000)
        elif damage == "empty pages":
            path.write_bytes(content[:4096] + bytes(len(content) - 4096))
        else:
            path.write_bytes(content[:4100])
        damaged = path.read_bytes()
        run = judge_items(curve, [item], options(server.url))
        assert [verdict.scores for verdict in run] == [{"score": 1}]
        assert len(server.calls) == 2
    (note,) = run.notes
    (aside,) = (
        file
        for file in home.iterdir()
        if ".corrupt-" in file.name and file.suffix not in {".wal", ".shm"}
    )
    assert str(path) in note
    assert aside.name in note
    assert aside.read_bytes() == damaged


def test_a_file_damaged_under_way_is_set_aside_by_one_of_two(home):
    notes = []
    first = ReplyCache(home / "judge.sqlite", notes.append)
    second = ReplyCache(home / "judge.sqlite", notes.append)
    for cache, key in ((first, b"a"), (second, b"b")):
        cache.put(key, "judge-1", reply())
    with sqlite3.connect(home / "judge.sqlite") as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    with (home / "judge.sqlite").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 20_000)
    (home / "judge.sqlite-wal").write_bytes(b"")
    assert first.get(b"a") is None
    first.put(b"a", "judge-1", reply("fresh"))
    assert second.get(b"a") == reply(
        "fresh"
    )  # it found the fresh file, and did not set that one aside too
    assert len(notes) == 1


def test_a_cache_of_a_newer_version_is_refused(curve, options, home):
    home.mkdir()
    with sqlite3.connect(home / "judge.sqlite") as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(InputError, match="newer Reelbench"):
        judge_items(curve, [], options("http://127.0.0.1:9/v1"))


def test_a_home_that_is_no_folder_is_refused(curve, options, home):
    home.write_text("a file")
    with pytest.raises(InputError, match="folder can't be made"):
        judge_items(curve, [], options("http://127.0.0.1:9/v1"))


def test_a_writer_that_holds_the_file_is_waited_for(home):
    cache = ReplyCache(home / "judge.sqlite", print)
    holder = sqlite3.connect(home / "judge.sqlite", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: holder.execute("COMMIT"))
    timer.start()
    cache.put(b"k", "judge-1", reply())
    assert cache.get(b"k") == reply()
    timer.join()
    holder.close()


# --- the key
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_the_key_is_nowhere(moviecore, options, home, caplog, status):
    """Not even where the server echoes it, in a reply or in an error."""
    caplog.set_level(logging.DEBUG)
    echo = (
        "x" * (300 - len(KEY) // 2 - len("Bearer ")) + f"Bearer {KEY}"
    )  # lines are cut after 300 characters

    def script(call):
        if status == 200:
            return Answer(
                f'{{"score": 1, "why": "{echo}"}}', model=f"judge {call.headers['authorization']}"
            )
        return Answer(status=status, error={"message": echo})

    item = judged_item("q", "Why?", "Because.", "Hm.")
    with JudgeServer(script) as server:
        chosen = options(server.url, tries=2)
        run = judge_items(moviecore, [item], chosen)
        visible_texts = [repr(chosen), repr(list(run)), run.record.model_dump_json(), *run.notes]
        with contextlib.closing(LiveJudge(moviecore, chosen)) as live:
            visible_texts.append(repr(live.judge(item)))
        assert all(call.headers["authorization"] == f"Bearer {KEY}" for call in server.calls)
    visible_texts += [*map(str, caplog.records), caplog.text]
    assert not any(KEY[: len(KEY) // 2] in text for text in visible_texts)
    files = [file for file in home.rglob("*") if file.is_file()]
    assert files
    assert not any(KEY.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize("key", ["x", "4", "none", "local", "sk-0123456789abcdef"])
def test_no_key_changes_a_score_or_a_text(moviecore, options, key):
    """A key of one letter is not struck out of replies."""
    text = '{"score": 4, "why": "the local expects none, x"}'
    item = judged_item("q", "Why?", "Because.", "Hm.")
    with JudgeServer(lambda _: Answer(text)) as server:
        for _ in range(2):  # asked, then from the cache
            (verdict,) = judge_items(moviecore, [item], options(server.url, api_key=key))
            assert verdict.scores == dict.fromkeys(moviecore.judge.criteria, 4)
            assert {reply.raw for reply in verdict.replies} == {text}
        assert len(server.calls) == len(moviecore.judge.criteria)


def test_the_key_is_in_no_output_of_a_process(home, scorer):
    with JudgeServer(lambda _: Answer(status=401, error={"message": f"bad key {KEY}"})) as server:
        process = scorer(home, server.url, 3)
        out, err = process.communicate(timeout=1800)
    assert "judge_refused" in out
    assert "401" in err
    assert KEY not in out + err
