"""Bars are drawn on a real terminal, and nowhere else."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from perf.leaderboard import make as make_results
from reelbench.leaderboard import store
from tests.registry.upstream import MOVIECORE
from tests.servers.hub import HubServer
from tests.servers.judge import Answer, JudgeServer
from tests.video import clips

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shown(program):
    """Run `reelbench …` with stderr on a terminal, or in a pipe; returns what came there."""

    def run(*arguments, env, terminal):
        reading, writing = pty.openpty() if terminal else os.pipe()
        command = [program, *map(str, arguments)]
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

    return run


@pytest.mark.parametrize("terminal", [True, False])
def test_a_fetch(tmp_path, terminal, shown):
    with HubServer() as server:
        server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
        env = {**server.env(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        text = shown("data", "fetch", "moviecore", env=env, terminal=terminal)
    assert "1 to fetch" in text  # the plan is said on both
    assert ("1/1" in text) == terminal
    assert ("\x1b[" in text) == terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_an_extraction(tmp_path, terminal, shown):
    video = clips.encode(tmp_path / "film.mp4", codec="libx264", gop=12, ticks=clips.constant(10))
    text = shown("frames", "extract", video, "--frames", "uniform:3", env={}, terminal=terminal)
    assert ("1/1" in text) == terminal
    assert terminal or text == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_judging(tmp_path, terminal, shown):
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


@pytest.mark.parametrize("terminal", [True, False])
def test_a_comparison(tmp_path, terminal, shown):
    make_results(tmp_path / "results", 2, 921)
    store.add(tmp_path / "results", tmp_path / "store")
    results = [tmp_path / "results" / name for name in ("00000", "00001")]
    words = ("compare", *results, "--store", tmp_path / "store")
    text = shown(*words, env={}, terminal=terminal)
    for part in ("reading results", "comparing tables", "comparing metrics"):
        assert (part in text) == terminal
    assert ("5/5" in text) == terminal  # all metrics of ReXTime
    assert ("\x1b[" in text) == terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_a_card(tmp_path, terminal, shown):
    text = shown(
        "cards", "render", "rextime", "--out", tmp_path / "card", env={}, terminal=terminal
    )
    assert ("counting splits" in text) == terminal
    assert ("3/3" in text) == terminal
    assert ("\x1b[" in text) == terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_a_new_benchmark_and_its_faults(tmp_path, terminal, shown):
    rows = [
        {"video": f"{n}.mp4", "question": f"Who is {n}?", "answer": f"It is {n}."} for n in range(3)
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    folder = tmp_path / "own_films"
    words = ("new", "own_films", "--from", tmp_path / "rows.json", "--out", folder)
    text = shown(*words, env={}, terminal=terminal)
    assert ("making own_films" in text) == terminal
    assert ("reading its rows" in text) == terminal
    assert ("\x1b[" in text) == terminal
    text = shown("data", "lint", folder, env={}, terminal=terminal)
    for part in ("reading splits", "applying rules"):
        assert (part in text) == terminal
    assert ("\x1b[" in text) == terminal
