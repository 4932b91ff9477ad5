"""A small language model behind llama.cpp: what is asked of it, and what becomes of its troubles.

`make real` runs these tests, and CI never. The model is weak, so no test wants an answer to be right.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers.real import free_port, llama_cpp

pytestmark = pytest.mark.slow
MODEL = "smollm2"
MINIS = (
    "curve_mini",
    "dramaqa_cogme_mini",
    "moviechat_mini",
    "moviecore_mini",
    "rextime_mini",
    "reelbench_minerva_mini",
    "reelbench_timelens_charades_mini",
    "reelbench_video_holmes_mini",
)
REXTIME_QUESTIONS = 12
FEW = "16"
"""Tokens of an answer: enough to see that something is said."""


def result_in(folder):
    """Return the one result below a folder."""
    [path] = folder.rglob("result.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("task", MINIS)
def test_each_mini_benchmark_is_answered_in_words(task, text_server, eval_words, tmp_path):
    done = eval_words(task, text_server, "--no-overlap", "--max-tokens", FEW, "--limit", "4")
    counts = result_in(tmp_path / "out")["counts"]
    assert counts["items"] == 4
    assert counts["unscored"].keys() <= {"cut_off", "judge_unavailable"}
    assert f"{MODEL}: 4 asked, 0 kept" in done.stdout
    all_cut_off = counts["unscored"].get("cut_off") == 4
    assert done.returncode == int(all_cut_off), done.stderr


def test_pictures_are_refused_before_the_first_call(text_server, reelbench, tmp_path):
    words = ("--model", MODEL, "--base-url", text_server.url, "--frames", "4")
    done = reelbench("eval", "rextime_mini", *words, "--output", tmp_path)
    assert done.returncode == 1
    assert "reports a text-only model" in done.stderr
    assert "--mmproj" in done.stderr


def test_a_window_of_256_tokens_is_told_with_its_way_out(folder, eval_words, tmp_path):
    """Prompts of up to 200 tokens fit, and answers end where the window is full."""
    log = tmp_path / "log.txt"
    with llama_cpp(folder, log, "--alias", MODEL, "-c", "256", "--parallel", "1") as server:
        done = eval_words("curve_mini", server, "--limit", "4", "--no-overlap")
    assert "the server's window of 256 tokens" in done.stderr
    assert "llama.cpp: -c" in done.stderr
    assert result_in(tmp_path / "out")["counts"]["unscored"]["cut_off"] >= 2


# --- ends in the middle


def asking(server, tmp_path, *words):
    """Start an `eval` whose calls go out one by one; returns its process and its status file."""
    status = tmp_path / "status.json"
    given = ("--model", MODEL, "--base-url", server.url, "--frames", "none", *words)
    options = ("--llm-concurrency", "1", "--max-tokens", FEW, "--status-file", status)
    command = [sys.executable, "-m", "reelbench", "eval", "rextime_mini", *given, *options]
    command += ["--output", tmp_path / "out"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    process = subprocess.Popen(
        [*map(str, command)], env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    return process, status


def wait_for_answers(process, status, number):
    """Wait until so many questions are answered."""
    while process.poll() is None:
        if status.exists():
            done = json.loads(status.read_text(encoding="utf-8")).get("done") or 0
            if done >= number:
                return
        time.sleep(0.05)
    pytest.fail(f"it ended before: {process.stderr.read().decode()}")


def assert_what_was_kept_is_not_asked_again(done, folder):
    assert done.returncode == 0, done.stderr
    asked = result_in(folder)["provenance"]["asked"]
    assert asked["kept"] >= 3
    assert asked["asked"] + asked["kept"] == REXTIME_QUESTIONS


def test_what_a_killed_server_answered_is_kept(folder, eval_words, tmp_path):
    log = tmp_path / "log.txt"
    words = ("--alias", MODEL, "-c", "4096", "--parallel", "1")
    with llama_cpp(folder, log, *words, port=free_port()) as server:
        process, status = asking(server, tmp_path)
        wait_for_answers(process, status, 3)
        server.kill()
        _, stderr = process.communicate(timeout=600)
        assert process.returncode == 0  # some questions have an answer
        assert b"rerun the command to continue" in stderr
        server.start()
        done = eval_words("rextime_mini", server, "--max-tokens", FEW)
    assert_what_was_kept_is_not_asked_again(done, tmp_path / "out")


def test_what_a_killed_client_was_answered_is_kept(text_server, eval_words, tmp_path):
    process, status = asking(text_server, tmp_path)
    wait_for_answers(process, status, 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = eval_words("rextime_mini", text_server, "--max-tokens", FEW)
    assert_what_was_kept_is_not_asked_again(done, tmp_path / "out")


@pytest.mark.parametrize("slots", ["1", "4"])
def test_the_same_model_with_other_slots_goes_on(slots, folder, text_server, eval_words, tmp_path):
    """Slots round otherwise, so a real server's answers differ, and it is the same model still."""
    task = "reelbench_minerva_mini"  # whose answers even this model gives as they are asked for
    done = eval_words(task, text_server, "--limit", "8", "--max-tokens", FEW)
    assert done.returncode == 0, done.stderr
    port = text_server.url.rpartition(":")[2].removesuffix("/v1")
    words = ("--alias", MODEL, "-c", "8192", "--parallel", slots)
    text_server.kill()
    try:
        with llama_cpp(folder, tmp_path / "log.txt", *words, port=int(port)) as server:
            done = eval_words(task, server, "--max-tokens", FEW, output="again")
    finally:
        text_server.start()
    assert done.returncode == 0, done.stderr
    asked = result_in(tmp_path / "again")["provenance"]["asked"]
    assert (asked["asked"], asked["kept"]) == (4, 8)
    assert asked["rechecked"]
