"""A crowd hands in at once while the Hub breaks off and the owner's process is killed."""

import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.leaderboard import ledger
from tests.leaderboard import hidden_tests
from tests.leaderboard.hidden_tests import BOUNDS, DATASET, Hidden
from tests.servers.files import Response

ACCOUNTS = [f"account{number}" for number in range(10)]
FILES = 6
"""Of each account. One is spoilt."""
A_WEEK, A_MONTH = 3, 25
QUESTIONS = 40
_COMMENT = r"POST .*/discussions/\d+/comment"


def _spoil_ids(folder):
    path = folder / "submission.jsonl"
    path.write_text(path.read_text().replace('"q7"', '"p7"'))


def _spoil_with_html(folder):
    (folder / "submission.jsonl").write_text("<html></html>")


def _spoil_record(folder):
    record = folder / "submission.json"
    record.write_text(record.read_text().replace('"id": "cellar"', '"id": "cellar", "score": 99'))


SPOILS = (_spoil_ids, _spoil_with_html, _spoil_record)


def _hand_in(hidden):
    """Let the accounts hand in, taking turns; return the spoilt requests' numbers."""
    draw = random.Random(8)
    spoilt = set()
    for turn in range(FILES):
        for place, account in enumerate(ACCOUNTS):
            correct = draw.randrange(10, QUESTIONS)
            letters = hidden_tests.answers(hidden.right, correct)
            change = None
            if turn == place % FILES:
                change = SPOILS[place % len(SPOILS)]
            request = hidden.offer(account, letters, f"{account}/model{turn}", change=change)
            if change is not None:
                spoilt.add(request.num)
    return spoilt


def _check_until_killed(hidden, monkeypatch, at, *, is_written):
    """Run the owner's command, and kill it at one of its comments, before or after it is written."""
    command = [sys.executable, "-m", "reelbench", "leaderboard", "check"]
    command += ["--answers", hidden.answers, "--benchmark", hidden.folder]
    command += ["--dataset", DATASET, "--store", hidden.store]
    started = []
    comments = []
    handle = hidden.hub.handle

    def answer(request):
        if request.method != "POST" or not request.path.endswith("/comment"):
            return handle(request)
        comments.append(request)
        if len(comments) < at:
            return handle(request)
        if is_written:
            handle(request)
        started[0].kill()
        started[0].wait()
        return Response(503)

    with monkeypatch.context() as patch:
        patch.setattr(hidden.hub, "handle", answer)
        hidden.use("bot")
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        _, said = process.communicate(timeout=300)
    assert process.returncode == -9, said


def _tear_last_line(file):
    """Cut a ledger as a process leaves it that is killed while it writes."""
    data = file.read_bytes()
    file.write_bytes(data[:-100])


def _look_at_all(hidden):
    """Look at all open requests in three threads, again where the Hub broke off."""
    test = hidden.test()

    def look(number):
        for _ in range(20):
            try:
                return test.check(number, BOUNDS, last=True)
            except ReelbenchError:
                continue
        pytest.fail(f"pull request {number}: broken off 20 times")

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(look, test.open()))


def _taken(hidden):
    """Return what the ledger has taken, and what it has scored."""
    entries = ledger.Ledger(hidden.store).entries
    received = [entry for entry in entries if entry.act == "received"]
    scored = [entry for entry in entries if entry.act == "scored"]
    return received, scored


def _most_within(times, span):
    """Return the most of some times that lie within a span."""
    counts = []
    for start in times:
        within = [time for time in times if start <= time < start + span]
        counts.append(len(within))
    return max(counts)


@pytest.mark.slow
def test_of_sixty_requests_none_is_lost_or_scored_twice(tmp_path, hub, monkeypatch):
    hidden = Hidden(tmp_path, hub, monkeypatch, QUESTIONS)
    hidden.read_here()
    hidden.rules(f"{{files_per_week: {A_WEEK}, files_per_month: {A_MONTH}}}")
    spoilt = _hand_in(hidden)
    good = {request.num for request in hidden.repo.pull_requests} - spoilt
    assert (len(good), len(spoilt)) == (50, 10)

    _check_until_killed(hidden, monkeypatch, 4, is_written=False)
    _tear_last_line(hidden.store / "ledger.jsonl")
    _check_until_killed(hidden, monkeypatch, 5, is_written=True)
    hub.fail(_COMMENT, status=503, times=4)
    hub.fail(_COMMENT, lose=True, times=3)
    hub.fail(r"GET .*/discussions/\d+", hang_up=True, times=3)
    _look_at_all(hidden)
    received, scored = _taken(hidden)
    assert len(received) == len(scored) == A_MONTH
    comments = [request.comments[0] for request in hidden.repo.pull_requests]
    waiting = [comment for comment in comments if "waits" in comment]
    assert len(waiting) == len(good) - A_MONTH

    now = ledger.now()
    monkeypatch.setattr(ledger, "now", lambda: now + timedelta(days=31))
    _look_at_all(hidden)
    received, scored = _taken(hidden)
    assert {entry.request for entry in received} == good
    assert Counter(entry.key for entry in scored) == Counter(entry.key for entry in received)
    assert len(received) == len(good)  # none is there twice
    for request in hidden.repo.pull_requests:
        [comment] = request.comments
        says = "refused" if request.num in spoilt else "scored by the owner"
        assert comment.startswith(f"### Reelbench: {says}\n")
    # In any span of time, not in calendar weeks alone.
    assert _most_within([entry.at for entry in received], timedelta(days=30)) == A_MONTH
    for account in ACCOUNTS:
        own = [entry.at for entry in received if entry.who == account]
        assert _most_within(own, timedelta(days=7)) <= A_WEEK
