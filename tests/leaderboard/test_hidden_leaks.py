"""What leaves the owner's machine follows from rounded totals alone, never from single answers."""

import random
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

import reelbench
from reelbench.base import settings
from reelbench.cli.main import main
from reelbench.leaderboard import ledger, publish
from tests.leaderboard import hidden_tests
from tests.leaderboard.hidden_tests import BOUNDS, DATASET, LETTERS, Hidden

QUESTIONS = 40
PROBES = 300
COUNTED = 10
"""Of so many probes the work of one is counted, which is slow."""
SPACE = "museum/board"
PRODUCT = str(Path(reelbench.__file__).parent)
WRONG = dict(zip(LETTERS, LETTERS[1:] + LETTERS[:1], strict=True))


@pytest.fixture
def hidden(tmp_path, hub, monkeypatch):
    monkeypatch.setattr(ledger, "now", lambda: datetime(2026, 5, 1, tzinfo=UTC))
    test = Hidden(tmp_path, hub, monkeypatch, QUESTIONS)
    test.read_here()
    return test


def _key_of_equal_total(draw, letters, key):
    """Draw a key by which as many of the letters are right, on other questions."""
    hits = [letter == right for letter, right in zip(letters, key, strict=True)]
    draw.shuffle(hits)
    other_key = []
    for letter, hit in zip(letters, hits, strict=True):
        other_key.append(letter if hit else WRONG[letter])
    return other_key


def _files_in(folder):
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files


@dataclass
class Seen:
    """All that anybody can see of a look."""

    outcome: str
    comments: list
    log: list
    store: dict
    home: dict


def _look(hidden, request, key, caplog):
    """Let the owner with this key look at a request for the first time."""
    hidden_tests.write_answers(hidden.answers, key)
    shutil.rmtree(hidden.store)
    hidden.store.mkdir()
    del request.events[2:]  # the opening and the commit
    caplog.clear()
    test = hidden.test()
    return Seen(
        outcome=str(test.look_at(request.num, BOUNDS, last=True)),
        comments=request.comments,
        log=[record.getMessage() for record in caplog.records if record.name == "reelbench"],
        store=_files_in(hidden.store),
        home=_files_in(settings.home()),
    )


def _calls(hidden, request, key, caplog):
    """Return how often a look calls the product's functions, or is called by them."""
    calls = 0

    def count(frame, event, _):
        nonlocal calls
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(PRODUCT):
            calls += 1

    sys.setprofile(count)
    try:
        _look(hidden, request, key, caplog)
    finally:
        sys.setprofile(None)
    return calls


def _lacks_one(folder):
    path = folder / "submission.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))


def _has_no_text(folder):
    path = folder / "submission.jsonl"
    path.write_text(path.read_text().replace('"A"', "1"))


def _rambles(folder):
    """Let each answer be a text from which a letter is read, or none."""
    path = folder / "submission.jsonl"
    path.write_text(
        path.read_text().replace('"A"', '"It is (A), not (B)."').replace('"C"', '"a cup or a dog"')
    )


CHANGES = (None, None, _rambles, _lacks_one, _has_no_text)


@pytest.mark.slow
def test_of_300_probes_none_tells_the_answer_in_which_two_keys_differ(hidden, caplog):
    draw = random.Random(11)
    equal_totals = 0
    for probe in range(PROBES):
        key = [draw.choice(LETTERS) for _ in range(QUESTIONS)]
        letters = [draw.choice((right, *LETTERS)) for right in key]
        place = draw.randrange(QUESTIONS)
        other_key = list(key)
        other_key[place] = WRONG[key[place]]
        change = CHANGES[probe % len(CHANGES)]
        request = hidden.offer("eve", letters, change=change)
        first = _look(hidden, request, key, caplog)
        second = _look(hidden, request, other_key, caplog)
        if probe % COUNTED == 0:
            # Only now: letters that were read before are read quicker.
            assert _calls(hidden, request, key, caplog) == _calls(
                hidden, request, other_key, caplog
            )
        if first.comments == second.comments:
            equal_totals += 1
            assert first == second
        elif change is None:
            # The totals differ. A third key with the second one's total leaves the same bytes.
            third_key = _key_of_equal_total(draw, letters, other_key)
            assert _look(hidden, request, third_key, caplog) == second
        assert first.home == {}
        assert first.store.keys() == second.store.keys()
    assert PROBES // 3 < equal_totals < PROBES


def _command(hidden, capsys):
    """Run the owner's command; return its status and what it prints."""
    hidden.use("bot")
    arguments = ["--answers", hidden.answers, "--benchmark", hidden.folder]
    arguments += ["--dataset", DATASET, "--store", hidden.store]
    command = ["reelbench", "leaderboard", "check", *map(str, arguments)]
    hidden.monkeypatch.setattr(sys, "argv", command)
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return ended.value.code or 0, printed.out, printed.err


def _everything(hidden, capsys, key):
    """Hand in three files, score them with a key, and return all bytes that there are then."""
    hub = hidden.hub
    hub.repos.clear()
    hidden.repo = hub.add(DATASET)
    shutil.rmtree(hidden.store)
    shutil.rmtree(hidden.tmp_path / "offers", ignore_errors=True)
    hidden.store.mkdir()
    hidden_tests.write_answers(hidden.answers, key)
    hidden.offer("ann", hidden.right[:20] + ["A"] * 20)
    hidden.offer("bob", hidden.right, change=_has_no_text)
    hidden.offer("eve", ["A"] * QUESTIONS)
    hub.fail("POST .*/discussions/1/comment", status=503)
    statuses = [_command(hidden, capsys) for _ in range(3)]
    hidden.use("museum")
    publish.publish(hidden.store, dataset=DATASET, space=SPACE)
    everything = {"statuses": statuses, "store": _files_in(hidden.store)}
    everything["comments"] = [request.comments for request in hidden.repo.pull_requests]
    for (kind, name), repo in hub.repos.items():
        everything[f"{kind} {name}"] = repo.files()
    return everything


@pytest.mark.slow
@pytest.mark.usefixtures("few_videos")
def test_status_output_store_dataset_page_and_comments_follow_from_totals(hidden, capsys):
    # Both files say A there. By the second key A is right on the one question, not on the other.
    hit = hidden.right.index("A", 20)
    miss = hidden.right.index("B", 20)
    other_key = list(hidden.right)
    other_key[hit] = "B"
    other_key[miss] = "A"
    first = _everything(hidden, capsys, hidden.right)
    second = _everything(hidden, capsys, other_key)
    assert first == second
    assert [status for status, _, _ in first["statuses"]] == [1, 0, 0]
    assert b'"value"' in first["store"]["ledger.jsonl"]
    # The status says nothing of a total.
    third = _everything(hidden, capsys, [WRONG[letter] for letter in hidden.right])
    assert [status for status, _, _ in third["statuses"]] == [1, 0, 0]
    assert third["comments"] != first["comments"]
