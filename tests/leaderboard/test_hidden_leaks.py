"""Nothing that leaves the owner's machine tells two keys of equal totals apart."""

import random
import shutil
from datetime import UTC, datetime

import pytest

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.leaderboard import ledger, publish, webhook
from reelbench.tasks import hidden_answers
from tests.leaderboard import hidden_tests
from tests.leaderboard.hidden_tests import DATASET, LETTERS, Hidden

QUESTIONS = 40
SPACE = "museum/board"


def _other_key(draw, letters, right):
    """Draw a key by which as many of the letters are right, on other questions."""
    hits = [letter == key for letter, key in zip(letters, right, strict=True)]
    draw.shuffle(hits)
    wrong = {letter: LETTERS[(place + 1) % 4] for place, letter in enumerate(LETTERS)}
    return [letter if hit else wrong[letter] for letter, hit in zip(letters, hits, strict=True)]


@pytest.mark.slow
def test_300_probes_score_alike_by_two_keys_and_are_refused_in_the_same_words(tmp_path):
    right = hidden_tests.cellar(tmp_path / "cellar", QUESTIONS)
    file = tmp_path / "answers.jsonl"
    draw = random.Random(11)
    for probe in range(300):
        letters = [draw.choice(LETTERS) for _ in right]
        said = []
        for key in (right, _other_key(draw, letters, right)):
            hidden_tests.write_answers(file, key)
            answers = hidden_answers.read(str(tmp_path / "cellar"), file)
            predictions = {f"q{number}": letter for number, letter in enumerate(letters)}
            totals = answers.totals(predictions)
            del predictions[f"q{probe % QUESTIONS}"]
            with pytest.raises(InputError) as missing:
                answers.refuse_other_ids(predictions)
            with pytest.raises(InputError) as odd:
                answers.refuse_other_ids({f"q{n}": "A" for n in range(QUESTIONS + 1)})
            said.append((totals, str(missing.value), str(odd.value)))
        assert said[0] == said[1]


def _everything(tmp_path, hub, monkeypatch, key):
    """Hand in two files, score them with a key, and return all bytes that there are then."""
    hub.repos.clear()
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))
    hidden = Hidden(tmp_path, hub, monkeypatch, QUESTIONS)
    letters = list(hidden.right)
    hidden_tests.write_answers(hidden.answers, key or hidden.right)
    hidden.offer("ann", letters[:20] + ["A"] * 20)
    hidden.offer(
        "bob", letters, change=lambda folder: (folder / "submission.jsonl").write_text("x")
    )
    outcomes = [hidden.check(number) for number in (1, 2)]
    hidden.use("museum")
    publish.publish(hidden.store, dataset=DATASET, space=SPACE)
    files = {"outcomes": str(outcomes).encode()}
    for path in sorted(settings.home().rglob("*")):
        if path.is_file():
            files[path.relative_to(tmp_path).as_posix()] = path.read_bytes()
    for path in sorted(hidden.store.rglob("*")):
        if path.is_file():
            files[str(path.relative_to(hidden.store))] = path.read_bytes()
    for (kind, name), repo in hub.repos.items():
        for path, data in repo.files().items():
            files[f"{kind} {name} {path}"] = data
    shutil.rmtree(tmp_path)
    comments = [request.comments for request in hidden.repo.pull_requests]
    files["comments"] = str(comments).encode()
    return files


@pytest.mark.slow
@pytest.mark.usefixtures("few_videos")
def test_store_dataset_page_and_comments_are_the_same_bytes(tmp_path, hub, monkeypatch):
    webhook.prepare_looks()
    monkeypatch.setattr(ledger, "now", lambda: datetime(2026, 5, 1, tzinfo=UTC))
    first = _everything(tmp_path / "here", hub, monkeypatch, None)
    right = hidden_tests.right_letters(QUESTIONS)
    letters = right[:20] + ["A"] * 20
    other = _other_key(random.Random(3), letters, right)
    assert other != right
    second = _everything(tmp_path / "here", hub, monkeypatch, other)
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert b'"value"' in first["ledger.jsonl"]
    # No model is asked, so there is no reply, and no other file, in the owner's cache.
    assert [name for name in first if name.startswith("home/")] == []
