"""A file in which one value is of another shape is refused by its place; the other answers are never read otherwise."""

import json
from pathlib import Path

import pytest

from reelbench.data import loading

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("odd", [["x"], 2, True], ids=str)
def test_one_odd_value_among_texts_is_named(odd, tmp_path, reelbench):
    rows = list(loading.load("dramaqa_cogme", "mini"))
    answers = {row["id"]: f"({row['answer']})" for row in rows}
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(answers | {rows[3]["id"]: odd}))
    done = reelbench("score", "dramaqa_cogme_mini", "--predictions", path)
    assert done.returncode == 2, done.stdout
    # A number is the owners' shape: then it is the first text that is odd.
    assert f"{rows[3 if odd == ['x'] else 0]['id']!r} holds a" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "field", "odd", "named"),
    [
        ("dramaqa_cogme", "answers", 5, "expected 5 'answers', found 5"),
        ("dramaqa_cogme", "answers", "abcde", "expected 5 'answers', found 'abcde'"),
        ("rextime", "options", 5, "options is 5, expected a list of texts"),
        ("rextime", "vid", None, "is not a ReXTime question"),
        ("rextime", "vid", "x" * 5_000, "video: String should have at most 1000 characters"),
        ("moviecore", "classification", [None], r"its classification is [None], expected texts"),
    ],
)
def test_a_reference_with_an_odd_field_is_named(name, field, odd, named, *, tmp_path, reelbench):
    files = {
        "dramaqa_cogme": "AnotherMissOhQA_val_set.json",
        "rextime": "rextime_val.json",
        "moviecore": "test.json",
    }
    references, predictions = tmp_path / "references.json", tmp_path / "predictions.json"
    document = json.loads((ROOT / "reelbench" / "tasks" / name / "mini" / files[name]).read_text())
    entries = document if isinstance(document, list) else list(document.values())
    entries[1][field] = odd
    references.write_text(json.dumps(document))
    rows = loading.load(name, "mini")
    predictions.write_text(json.dumps([{"id": row["id"], "prediction": "(A)"} for row in rows]))
    done = reelbench(
        "score", name, "--predictions", predictions, "--references", references, "--no-overlap"
    )
    assert done.returncode == 2, done.stdout
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rextime", "no questions in it; expected references such as rextime_val.json"),
        ("moviecore", "no questions in it; expected references such as test.json"),
        ("dramaqa_cogme", "no rows; expected at least one question"),
    ],
)
def test_references_without_a_question_say_which_file_has_some(name, said, tmp_path, reelbench):
    references, predictions = tmp_path / "references.json", tmp_path / "predictions.json"
    references.write_text("[]")
    predictions.write_text('[{"id": "q1", "prediction": "(A)"}]')
    done = reelbench(
        "score", name, "--predictions", predictions, "--references", references, "--no-overlap"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{references}: {said}" in done.stderr


def test_an_owners_files_may_name_their_questions_by_id(tmp_path, score):
    rows = list(loading.load("rextime", "mini"))
    answers = [
        {"qid": row["id"], "pred_relevant_windows": [row["span"]], "ans": row["answer"]}
        for row in rows
    ]
    truth = json.loads(
        (ROOT / "reelbench" / "tasks" / "rextime" / "mini" / "rextime_val.json").read_text()
    )
    predictions, references = tmp_path / "predictions.json", tmp_path / "references.json"
    for file, listed in ((predictions, answers), (references, truth)):
        file.write_text(
            json.dumps(
                {entry["qid"]: {k: v for k, v in entry.items() if k != "qid"} for entry in listed}
            )
        )
    document = score("rextime", "--predictions", predictions, "--references", references)
    assert document["counts"]["scored"] == len(rows) == 12
    assert document["metrics"]["accuracy"]["value"] == document["metrics"]["miou"]["value"] == 100
