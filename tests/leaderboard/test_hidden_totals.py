"""Of a benchmark with secret answers, what is published can't tell one set of answers from another."""

import json
from datetime import UTC, datetime

import pytest

import reelbench
from reelbench.leaderboard import identity, ledger, publish, store
from reelbench.leaderboard.exports import every_eval_ever
from reelbench.leaderboard.store import Filing
from reelbench.registry.records import ErrataRecord
from reelbench.scoring import result_files
from tests.declared import declared

DATASET, SPACE = "museum/reelbench-results", "museum/reelbench-board"
QUESTIONS = 24
SAID = [f"word {number}" for number in range(QUESTIONS)]
FILED = Filing(at=datetime(2026, 5, 1, tzinfo=UTC))


def _cellar(folder, right):
    """Write a benchmark of which the model has the `right` questions right."""
    rows = []
    for number in range(QUESTIONS):
        answer = SAID[number] if number in right else f"other {number}"
        row = {"id": f"q{number}", "video": f"v{number}.mp4", "q": f"What is {number}?"}
        rows.append({**row, "a": answer, "topic": "top" if number % 2 else "low"})
    text = (
        "id: cellar\ntitle: Cellar\nkind: exact\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: q, answer: a}\nfacets: [topic]\n"
        "languages: [en]\nlicence: cc-by-4.0\nhidden_answers: true\n"
    )
    return declared(folder, text, rows)


def _published(tmp_path, hub, right):
    """Publish two models on a benchmark, and return all bytes that are public then."""
    hub.repos.clear()
    tmp_path.mkdir()
    folder = _cellar(tmp_path.parent / "cellar", right)
    for model, blank in (("one", 0), ("two", 12)):
        answers = []
        for number, text in enumerate(SAID):
            # The second model says nothing of what both sets of answers agree on.
            prediction = "nothing" if 8 <= number < 8 + blank else text
            answers.append({"id": f"q{number}", "prediction": prediction})
        run = tmp_path / "runs" / model
        reelbench.score(str(folder), answers, model=f"org/{model}").save(run)
        result = json.loads((run / "result.json").read_text())
        result["provenance"]["date"] = "2026-04-01T00:00:00+00:00"
        (run / "result.json").write_text(json.dumps(result))
        [added] = store.add(run, tmp_path / "store", filing=FILED)
        assert added.outcome == "added", added.why
    publish.publish(tmp_path / "store", space=SPACE, dataset=DATASET)
    files = {
        (kind, path): data
        for (kind, _), repo in hub.repos.items()
        for path, data in repo.files().items()
    }
    stored = store.read(tmp_path / "store")
    list(every_eval_ever.export(stored, tmp_path / "eee", organization="museum"))
    for path in (tmp_path / "eee").rglob("*.json"):
        files["export", path.relative_to(tmp_path / "eee").as_posix()] = path.read_bytes()
    return files


@pytest.mark.usefixtures("few_videos")
def test_two_sets_of_answers_with_equal_totals_are_published_as_the_same_bytes(
    tmp_path, hub, monkeypatch
):
    monkeypatch.setattr(ledger, "now", lambda: datetime(2026, 4, 2, tzinfo=UTC))
    # Right are questions 0 to 19, or 2 to 21: of both models the totals are the same.
    first = _published(tmp_path / "first", hub, set(range(20)))
    second = _published(tmp_path / "second", hub, set(range(2, 22)))
    assert first.keys() == second.keys()
    assert [path for path in first if first[path] != second[path]] == []
    assert b'"value": 83.3,' in first["dataset", "results/withheld/cellar.json"]
    assert b"org/one" in first["space", "data/board.js"]


def test_the_key_of_a_row_tells_no_corrected_answer(tmp_path):
    """Its digits are a hash of all that is public but for the errata: their hash can't be in it."""
    _cellar(tmp_path / "cellar", range(12))
    answers = [{"id": f"q{number}", "prediction": text} for number, text in enumerate(SAID)]
    reelbench.score(str(tmp_path / "cellar"), answers, model="org/one").save(tmp_path / "run")
    result = result_files.read(tmp_path / "run")
    keys = set()
    for digit in "ab":
        errata = ErrataRecord(sha256=digit * 64, left_out=0, corrected=1)
        benchmark = result.benchmark.model_copy(update={"errata": errata})
        keys.add(identity.key_of(result.model_copy(update={"benchmark": benchmark})))
    assert len(keys) == 1
    assert keys != {identity.key_of(result)}
