"""`score --judge-batch`: what is handed over, collected and paid, counted at the server."""

import json
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.forks import kill
from tests.servers.batches import BatchServer, answered, expired, failed

OLD = Path(__file__).parents[1] / "fixtures" / "v0_1_0"
MOVIECORE = (
    "score",
    "moviecore",
    "--predictions",
    next((OLD / "predictions").glob("moviecore*")),
    "--split",
    "mini",
)
CALLS = 55  # 11 answers that are not blank, 5 dimensions


@pytest.fixture
def judged(reelbench, tmp_path):
    def run(server, *options):
        output = tmp_path / "out"
        named = (
            "--judge",
            "judge-2",
            "--judge-url",
            server.url,
            "--no-overlap",
            "--json",
            "--output",
            output,
        )
        done = reelbench(*MOVIECORE, *named, *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["counts"]["unscored"], done.stderr

    return run


def paid_once(server):
    return len(server.paid) == CALLS and set(Counter(server.paid).values()) == {1}


def test_a_batch_is_handed_over_once_and_collected_by_the_same_command(judged):
    with BatchServer() as server:
        unscored, said = judged(server, "--judge-batch")
        assert unscored == {"judge_pending": 11}
        who = f"the judge judge-2 is asked at {server.url[7:-3]}, with"
        assert said.index(who) < said.index(
            f"{CALLS} requests submitted; rerun the command to collect the replies"
        )
        unscored, said = judged(server, "--judge-batch")
        assert (unscored, len(server.batches)) == ({"judge_pending": 11}, 1)
        assert said.index(who) < said.index("in_progress")
        server.finish("completed")
        unscored, said = judged(server, "--judge-batch")
        assert unscored == {}
        assert f"completed, {CALLS} replies kept" in said
        before = len(server.requests)
        unscored, said = judged(server)
        assert (unscored, said.count(who)) == ({}, 0)
        assert len(server.requests) == before  # all is kept: nothing is sent, and nobody is asked
        assert paid_once(server)
        assert server.live == []


def test_a_live_run_while_a_batch_is_under_way_leaves_its_requests_to_it(judged):
    with BatchServer() as server:
        judged(server, "--judge-batch")
        assert judged(server)[0] == {"judge_pending": 11}
        assert server.live == []
        server.finish("completed")
        assert judged(server)[0] == {}
        assert paid_once(server)


@pytest.mark.parametrize(
    ("status", "rest", "why", "then"),
    [
        ("completed", failed, "server_error", "live"),
        ("expired", expired, "batch_expired", "batch"),
        pytest.param("completed", failed, "server_error", "batch", marks=pytest.mark.slow),
        pytest.param("expired", expired, "batch_expired", "live", marks=pytest.mark.slow),
        pytest.param("cancelled", expired, "batch_exp", "live", marks=pytest.mark.slow),
        pytest.param("cancelled", expired, "batch_exp", "batch", marks=pytest.mark.slow),
    ],
)
def test_of_a_batch_that_ends_half_done_that_half_is_kept(judged, status, rest, why, then):
    with BatchServer() as server:
        judged(server, "--judge-batch")
        server.finish(status, lambda number, line: (rest if number % 2 else answered)(line))
        if then == "live":
            unscored, said = judged(server)
            assert len(server.live) == 27
        else:
            unscored, said = judged(server, "--judge-batch")
            assert unscored == {"judge_pending": 11}
            server.finish("completed")
            unscored, _ = judged(server, "--judge-batch")
        assert f"{status}, 28 replies kept, 27 without one" in said
        assert why in said
        assert unscored == {}
        assert paid_once(server)


def test_of_a_batch_that_fails_as_a_whole_nothing_is_lost(judged):
    with BatchServer() as server:
        judged(server, "--judge-batch")
        for batch in server.batches.values():
            errors = {
                "object": "list",
                "data": [{"code": "token_limit", "message": "Enqueued token limit reached."}],
            }
            batch.update(status="failed", errors=errors)
        unscored, said = judged(server)
        assert "failed, 0 replies kept, 55 without one (Enqueued token limit reached.)" in said
        assert unscored == {}
        assert paid_once(server)


def kill_when_the_batch_is_made(server, tmp_path, program, *, known):
    """Start the command and kill it while the server makes its batch: `known` says whether the server then has it."""
    command = [
        program,
        *MOVIECORE,
        "--judge",
        "judge-2",
        "--judge-url",
        server.url,
    ]
    command += ["--no-overlap", "--output", tmp_path / "out", "--judge-batch"]

    def end():
        kill(process)
        if not known:
            server.batches.clear()

    server.on_create = end
    process = subprocess.Popen(
        list(map(str, command)), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    process.wait(timeout=1800)
    server.on_create = lambda: None
    assert process.returncode == -signal.SIGKILL


def test_killed_before_the_batch_has_its_id_it_is_found_by_its_mark(judged, tmp_path, program):
    with BatchServer() as server:
        for other in range(3):  # other people's batches, made before and after
            server.create({"input_file_id": server.keep(b""), **_made_elsewhere(other)})
        kill_when_the_batch_is_made(server, tmp_path, program, known=True)
        server.create({"input_file_id": server.keep(b""), **_made_elsewhere(9)})
        assert judged(server)[0] == {"judge_pending": 11}
        server.finish("completed")
        assert judged(server, "--judge-batch")[0] == {}
        assert paid_once(server)


def _made_elsewhere(number):
    return {
        "completion_window": "24h",
        "endpoint": "/v1/chat/completions",
        "metadata": {"job": str(number)},
    }


def test_killed_before_the_batch_was_made_at_all_its_requests_are_free_again(
    judged, tmp_path, program
):
    with BatchServer() as server:
        kill_when_the_batch_is_made(server, tmp_path, program, known=False)
        assert judged(server)[0] == {}
        assert len(server.live) == CALLS
        assert paid_once(server)


def test_a_server_without_batches_says_so_and_nothing_is_under_way(reelbench, judged, tmp_path):
    with BatchServer() as server:
        server.refuse = 403
        named = (
            "--judge",
            "judge-2",
            "--judge-url",
            server.url,
            "--no-overlap",
            "--output",
            tmp_path / "other",
        )
        done = reelbench(*MOVIECORE, *named, "--judge-batch")
        assert done.returncode == 1
        who, refused = done.stderr.splitlines()
        assert "the judge judge-2 is asked at" in who
        assert "the batch could not be submitted" in refused
        assert "not on your plan" in refused
        server.refuse = None
        assert judged(server)[0] == {}
        assert paid_once(server)


def test_a_batch_that_another_key_made_is_not_forgotten(judged):
    with BatchServer() as server:
        judged(server, "--judge-batch")
        away, server.batches = server.batches, {}
        unscored, said = judged(server)
        assert (unscored, server.live) == ({"judge_pending": 11}, [])
        assert "does not know it; is this the key that submitted it?" in said
        server.batches = away
        server.finish("completed")
        assert judged(server)[0] == {}
        assert paid_once(server)


def test_a_batch_over_the_budget_is_not_handed_over(reelbench, tmp_path):
    with BatchServer() as server:
        named = (
            "--judge",
            "judge-2",
            "--judge-url",
            server.url,
            "--no-overlap",
            "--output",
            tmp_path / "other",
        )
        done = reelbench(*MOVIECORE, *named, "--judge-batch", "--judge-budget", "20")
        assert (done.returncode, server.requests) == (1, [])
        assert "a batch of 55 requests is over the budget of 20 calls" in done.stderr
