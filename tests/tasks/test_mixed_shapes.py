"""A file in which one value is of another shape is refused by its place; the other answers are never read otherwise."""

import json

import pytest

from reelbench import registry


@pytest.mark.parametrize("odd", [["x"], 2, True], ids=str)
def test_one_odd_value_among_texts_is_named(odd, tmp_path, reelbench):
    rows = list(registry.load("dramaqa_cogme", "mini"))
    answers = {row["id"]: f"({row['answer']})" for row in rows}
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(answers | {rows[3]["id"]: odd}))
    done = reelbench("score", "dramaqa_cogme_mini", "--predictions", path)
    assert done.returncode == 2, done.stdout
    # A number is the owners' shape: then it is the first text that is odd.
    assert f"{rows[3 if odd == ['x'] else 0]['id']!r} holds a" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
