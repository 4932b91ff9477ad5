"""`make discussion` as a command: what it says, refuses and leaves, and that it can be killed at any moment."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.servers import roles
from tests.servers.judge import Answer
from tests.studio.conftest import files_in

ROLES = roles.DISCUSSION


def named(url):
    return ["--llm-url", url, *(part for role in ROLES for part in ("--llm", f"{role}={role}"))]


def test_the_command_discusses_and_says_what_it_came_to(reelbench, videos, server, tmp_path):
    out = tmp_path / "made"
    done = reelbench(
        "make",
        "discussion",
        "--videos",
        videos(4),
        "--limit",
        2,
        "--out",
        out,
        "--json",
        *named(server.url),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((out / "funnel.json").read_text())
    assert set(files_in(out)) == {
        *(
            "annotations.json",
            "single_pass.json",
            "trace.jsonl",
            "funnel.json",
            "funnel.svg",
            "comparison.json",
        ),
        *("benchmark.yaml", "datasheet.md"),
    }
    assert len(json.loads((out / "annotations.json").read_text())) == 10
    prices = ["--llm-price", "2.5,10"]
    plan = reelbench(
        "make", "discussion", "--videos", videos(4), "--plan", "--json", *prices, *named(server.url)
    )
    told = json.loads(plan.stdout)
    assert (told["calls"], told["cached"], len(server.calls)) == (12, 12, 12)
    assert told["cost_usd"] == pytest.approx(
        (2.5 * told["tokens"]["prompt"] + 10 * told["tokens"]["completion"]) / 1e6
    )


def test_a_role_may_name_its_model_in_its_file(reelbench, videos, server, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "roles.yaml").write_text(
        "roles:\n- {name: expert, prompt: expert.txt, sees: [qa, critic]}\n"
        "- {name: critic, prompt: skeptic.txt, sees: [qa, expert], model: big-critic}\n"
        "- {name: last, prompt: meta_reviewer.txt, sees: [expert, critic], model: other}\n"
    )
    out = ["--out", tmp_path / "o", "--prompts", mine, "--llm-url", server.url]
    done = reelbench(
        "make", "discussion", "--videos", videos(1), *out, "--llm", "expert", "--llm", "last=named"
    )
    assert done.returncode == 0, done.stderr
    assert [call.body["model"] for call in server.calls] == [
        "expert",
        "big-critic",
        "named",
        "expert",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--llm", "painter=x"], "no role is called painter"),
        (["--llm", "expert=x"], "no model is named for skeptic"),
        ([], "no model is named"),
        (["--llm", "x", "--prompts", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_a_call_that_makes_no_sense_is_one_line(reelbench, videos, tmp_path, options, said):
    url = ["--llm-url", "http://127.0.0.1:9/v1"]
    done = reelbench(
        "make", "discussion", "--videos", videos(1), "--out", tmp_path / "o", *url, *options
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_refused_key_fails_the_command(reelbench, videos, server, tmp_path):
    server.script(lambda _: Answer(status=401))
    done = reelbench(
        "make", "discussion", "--videos", videos(2), "--out", tmp_path / "o", *named(server.url)
    )
    assert done.returncode == 1
    assert "rerun the command to continue" in done.stderr


def test_nothing_readable_is_a_failure_with_its_files_and_can_be_asked_again(
    reelbench, videos, server, tmp_path
):
    server.script(
        lambda call: Answer("No.") if call.body["model"] == "expert" else roles.play(call)
    )
    command = [
        "make",
        "discussion",
        "--videos",
        videos(2),
        "--out",
        tmp_path / "o",
        *named(server.url),
    ]
    done = reelbench(*command)
    assert done.returncode == 1
    assert "--retry-unread" in done.stderr
    assert json.loads((tmp_path / "o" / "annotations.json").read_text()) == {}
    assert len((tmp_path / "o" / "trace.jsonl").read_text().splitlines()) == 6
    # All attempts are used up: the same command asks nothing, with the option it goes on.
    assert reelbench(*command).returncode == 1
    assert len(server.calls) == 6
    server.script(roles.play)
    done = reelbench(*command, "--retry-unread")
    assert done.returncode == 0, done.stderr
    assert len(json.loads((tmp_path / "o" / "annotations.json").read_text())) == 10


def counts(url):
    with urllib.request.urlopen(url.removesuffix("/v1") + "/calls") as reply:  # noqa: S310 - our own server
        return json.load(reply)


@pytest.mark.slow
def test_killed_at_any_moment_it_ends_with_the_same_bytes_and_pays_for_nothing_twice(
    tmp_path, videos
):
    """Ten kills; the server, a process of its own, counts what it has answered."""
    path, number = videos(24), 24 * 6
    command = [sys.executable, "-m", "tests.servers.roles", "--delay", "0.05"]
    draw = random.Random(13)

    def start(url, home, out):
        arguments = [
            "make",
            "discussion",
            "--videos",
            path,
            "--out",
            out,
            "--llm-concurrency",
            4,
            *named(url),
        ]
        return subprocess.Popen(
            [Path(sys.executable).with_name("reelbench"), *map(str, arguments)],
            env={**os.environ, "REELBENCH_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as playing:
        try:
            url = playing.stdout.readline().strip()
            killed = 0
            for _ in range(10):
                goal = counts(url)["replied"] + draw.randint(1, 8)
                process = start(url, tmp_path / "home1", tmp_path / "killed")
                while process.poll() is None and counts(url)["replied"] < goal:
                    time.sleep(0.005)
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    killed += 1
                process.wait()
            assert killed  # on a busy machine the last of them may have nothing left to do
            in_flight = killed * 4  # at each kill, so many replies at most were under way and lost
            assert start(url, tmp_path / "home1", tmp_path / "killed").wait() == 0
            asked = counts(url)["calls"]
            assert number <= asked <= number + in_flight
            assert start(url, tmp_path / "home1", tmp_path / "again").wait() == 0
            assert counts(url)["calls"] == asked
            assert start(url, tmp_path / "home2", tmp_path / "whole").wait() == 0
            assert counts(url)["calls"] == asked + number
        finally:
            playing.terminate()
    one, other = files_in(tmp_path / "killed"), files_in(tmp_path / "whole")
    one["benchmark.yaml"] = one["benchmark.yaml"].replace(
        b"id: killed", b"id: whole"
    )  # it is called after its folder
    assert {**one, "funnel.json": b""} == {**other, "funnel.json": b""}
    mine, theirs = (json.loads(made["funnel.json"]) for made in (one, other))
    assert mine.pop("calls") + mine.pop("cached") == theirs.pop("calls") + theirs.pop("cached")
    assert mine == theirs
