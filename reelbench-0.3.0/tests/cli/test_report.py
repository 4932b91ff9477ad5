"""What a scored benchmark prints beside its numbers: the answers that could not be read."""

import csv
import io
import json

import pytest


@pytest.fixture
def answered(reelbench, tmp_path):
    """Score rextime's mini split with these texts for its first questions, and a readable one for the others."""

    def run(*texts, more=()):
        rows = list(
            csv.DictReader(
                io.StringIO(reelbench("score", "rextime", "--template", "--split", "mini").stdout)
            )
        )
        for row, text in zip(rows, [*texts, *["A [0, 5]"] * (len(rows) - len(texts))], strict=True):
            row["prediction"] = text
        path = tmp_path / "answers.json"
        path.write_text(
            json.dumps([{"id": row["id"], "prediction": row["prediction"]} for row in rows])
        )
        done = reelbench(
            "score",
            "rextime",
            "--predictions",
            path,
            "--split",
            "mini",
            "--output",
            tmp_path,
            *more,
        )
        assert done.returncode == 0, done.stderr
        return [row["id"] for row in rows], done.stdout, done.stderr

    return run


def test_spans_in_a_unit_that_nobody_knows_are_said(answered):
    _, _, notes = answered("A <12> to <30>", "B <|3|><|9|>", "A frames 12 to 30", "A in the middle")
    assert "2 answers with a span in bins of unknown length: not read; let the model" in notes
    assert "1 answer with a span in frames or shares of the video, of unknown rate" in notes


def shown(printed):
    return [line for line in printed.splitlines() if line.startswith("  unreadable, ")]


def test_the_first_three_answers_that_could_not_be_read_are_shown_with_their_share(answered):
    ids, printed, _ = answered(
        "The man left.", "", "\x1b[31mred\x1b[0m\n\u202etext", "x" * 5_000 + " no answer", "no."
    )
    assert (
        f"scored as wrong in what they lack: 4 unreadable ({400 / len(ids):.1f} % of {len(ids)}), 1 empty"
        in printed
    )
    first, second, third = shown(printed)
    assert first == f"  unreadable, {ids[0]}: The man left."
    assert second == f"  unreadable, {ids[2]}: [31mred [0m text"
    assert third.startswith(f"  unreadable, {ids[3]}: xxx")
    assert third.endswith("xxx no answer")
    assert len(third) < 180


def test_nothing_is_shown_where_all_was_read_or_json_is_asked_for(answered):
    _, printed, _ = answered()
    assert "unreadable" not in printed
    _, printed, _ = answered("The man left.", more=["--json"])
    assert json.loads(printed)["counts"]["parse_failed"] == 1


def test_where_answers_are_hidden_nothing_is_called_wrong(reelbench, tmp_path):
    template = reelbench("score", "dramaqa_cogme", "--template", "--split", "mini_test").stdout
    path = tmp_path / "answers.json"
    path.write_text(
        json.dumps(
            [{"id": row["id"], "prediction": "?"} for row in csv.DictReader(io.StringIO(template))]
        )
    )
    done = reelbench(
        "score",
        "dramaqa_cogme",
        "--predictions",
        path,
        "--split",
        "mini_test",
        "--output",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "read as no answer: 6 unreadable (100.0 % of 6), 0 empty" in done.stdout
    assert "scored as wrong" not in done.stdout
