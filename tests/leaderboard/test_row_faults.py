"""A benchmark's page says what `data lint --write` found in its rows, beside the blind run."""

import json

import pytest

import reelbench
from reelbench.leaderboard import board, site, store
from tests.declared import declared

ANSWERS = [{"id": f"q{number}", "prediction": "A"} for number in range(4)]
RECORD = {
    "benchmark": "kit",
    "version": 1,
    "reelbench": "0.3.0",
    "splits": {"test": {"rows": 4, "fingerprint": "0" * 64}},
    "findings": 3,
    "accepted": 1,
    "rules": {
        "equal_options": {"title": "two options are equal", "findings": 3, "accepted": 1},
        "letters": {"title": "letters out of balance", "findings": 0, "accepted": 0},
    },
    "words_alone": {
        "title": "words alone",
        "splits": {
            "test": {
                "value": 47.24,
                "chance": 25,
                "ci95": [45, 49.5],
                "constant": 27.5,
                "finding": True,
            }
        },
    },
}


def lines_on_page(tmp_path, record, more=""):
    rows = []
    for number in range(4):
        row = {"n": f"q{number}", "film": f"{number}.mp4", "q": f"Which is {number}?"}
        rows.append({**row, "options": ["red", "blue"], "a": "A"})
    text = (
        "id: kit\nkind: choice\nsource: {file: rows.json}\n"
        f"columns: {{id: n, video: film, question: q, options: options, answer: a}}\n{more}"
    )
    folder = declared(tmp_path / "kit", text, rows, "rows.json")
    (folder / "lint.json").write_text(record)
    reelbench.score(str(folder), ANSWERS, model="org/model").save(tmp_path / "run")
    [added] = store.add(tmp_path / "run", tmp_path / "store")
    assert added.outcome == "added", added.why
    [group] = site.document(board.make(tmp_path / "store", published=False))["groups"]
    return group["row_faults"]


def test_the_page_has_words_alone_and_the_findings(tmp_path):
    words, faults = lines_on_page(tmp_path, json.dumps(RECORD))
    assert words.startswith(
        "Words alone, trained: 47.2 % of the questions (chance 25.0; 95 % interval 45.0 to 49.5); "
        "always one letter: 27.5 %."
    )
    assert faults == (
        "Faults in the rows: reelbench data lint (0.3.0) looked at 4 questions: 3 findings, 1 of "
        "them accepted by the authors. They are: two options are equal (3); words alone."
    )


@pytest.mark.parametrize(
    ("secret", "told"), [("false", ["Faults in the rows of all splits"]), ("true", [])]
)
def test_counts_of_all_splits_say_so_and_tell_of_no_secret_one(secret, told, tmp_path):
    splits = {**RECORD["splits"], "val": {"rows": 9, "fingerprint": "1" * 64}}
    more = (
        "splits: {test: {source: {file: rows.json}}, "
        f"val: {{source: {{file: rows.json}}, hidden_answers: {secret}}}}}\n"
    )
    _, *lines = lines_on_page(tmp_path, json.dumps({**RECORD, "splits": splits}), more)
    assert [line.partition(":")[0] for line in lines] == told


@pytest.mark.parametrize(
    ("record", "more"),
    [
        (json.dumps({**RECORD, "version": 2}), ""),
        (json.dumps(RECORD), "hidden_answers: true\n"),
        ("{", ""),
    ],
    ids=["of another version", "of secret answers", "damaged"],
)
def test_the_page_says_nothing_where_it_must_not(record, more, tmp_path):
    assert lines_on_page(tmp_path, record, more) == []
