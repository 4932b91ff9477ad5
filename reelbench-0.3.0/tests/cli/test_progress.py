"""Bars are drawn on a real terminal, and nowhere else."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.registry.upstream import MOVIECORE
from tests.servers.hub import HubServer
from tests.servers.judge import Answer, JudgeServer
from tests.video import clips

ROOT = Path(__file__).resolve().parents[2]


def shown(*arguments, env, terminal):
    """Run `reelbench …` with stderr on a terminal, or in a pipe; return what came there."""
    reading, writing = pty.openpty() if terminal else os.pipe()
    command = [Path(sys.executable).with_name("reelbench"), *map(str, arguments)]
    with subprocess.Popen(
        command,
        env={**os.environ, "TERM": "xterm", **env},
        stdout=subprocess.DEVNULL,
        stderr=writing,
    ) as process:
        os.close(writing)
        text = b""
        try:
            while block := os.read(reading, 65536):
                text += block
        except OSError:  # how Linux says that a terminal's other end was closed
            pass
        os.close(reading)
    assert process.returncode == 0, text
    return text.decode()


@pytest.mark.parametrize("terminal", [True, False])
def test_a_fetch(tmp_path, terminal):
    with HubServer() as server:
        server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
        env = {**server.env(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        text = shown("data", "fetch", "moviecore", env=env, terminal=terminal)
    assert "1 to fetch" in text  # the plan is said on both
    assert ("1/1" in text) == terminal
    assert ("\x1b[" in text) == terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_an_extraction(tmp_path, terminal):
    video = clips.encode(tmp_path / "film.mp4", codec="libx264", gop=12, ticks=clips.constant(10))
    text = shown("frames", "extract", video, "--frames", "uniform:3", env={}, terminal=terminal)
    assert ("1/1" in text) == terminal
    assert terminal or text == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_judging(tmp_path, terminal):
    rows = json.loads(
        (ROOT / "reelbench" / "tasks" / "curve" / "mini" / "curve.json").read_text(encoding="utf-8")
    )
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(
        "".join(json.dumps({"key": row["key"], "pred": "an answer"}) + "\n" for row in rows)
    )
    with JudgeServer(lambda _: Answer("1")) as server:
        text = shown(
            *("score", "curve", "--predictions", predictions, "--split", "mini", "--output", tmp_path / "out"),
            *("--judge", "m", "--judge-url", server.url, "--judge-price", "10,100"),
            env={}, terminal=terminal,
        )  # fmt: skip
    assert (f"{len(rows)}/{len(rows)}" in text) == terminal
    assert (f"{len(rows)} calls, " in text) == terminal
    assert ("/s, $0.0" in text) == terminal


BAR = """
from reelbench.terminal import console
with console.progress("asking workbench", 240) as show:
    show(52, "52 calls, 2.4/s, 20 videos, waiting for the server 100%, for frames 0%, $0.12")
with console.progress("reading the store", None) as show:
    pass
"""


@pytest.mark.parametrize("columns", [60, 80])
def test_a_long_line_takes_no_room_from_the_bar_its_total_and_the_time_left(columns):
    reading, writing = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    subprocess.run([sys.executable, "-c", BAR], check=True, stderr=writing, env=env, cwd=ROOT)
    os.close(writing)
    text = os.read(reading, 65536).decode()
    os.close(reading)
    [shown_line] = {line for line in text.splitlines() if "52/240" in line}
    assert "━━━━" in shown_line
    assert "-:--:--" in shown_line  # of a rate that nobody knows yet
    assert "52 c" in shown_line
    assert "0:00:00" in text  # of work without a total, how long it takes already
    assert "0/?" not in text
