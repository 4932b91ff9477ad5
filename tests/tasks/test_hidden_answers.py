"""What the owner of a hidden test may write into the file of answers, and what errors say of it."""

import json

import pytest

import reelbench
from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.tasks import hidden_answers, hidden_submission
from reelbench.tasks.answer_reader import ReaderOptions
from tests.declared import declared
from tests.servers.judge import JudgeServer


def _benchmark(folder, rows, keys):
    head = "id: attic\ntitle: Attic\nlanguages: [en]\nlicence: cc-by-4.0\n"
    return declared(folder, head + keys, rows)


SPANS = """\
kind: span
source: {file: rows.jsonl}
columns: {id: id, video: video, question: q}
hidden_answers: true
"""
CHOICES = """\
kind: choice
source: {file: rows.jsonl}
columns: {id: id, video: video, question: q, options: options}
hidden_answers: true
"""


def _target(tmp_path, declared, options, name, text):
    """Return the right answer of a test of one question, as read from the owner's file."""
    row = {"id": "q7", "video": "v.mp4", "q": "What is there?", "options": options}
    folder = _benchmark(tmp_path / "attic", [row], declared)
    file = tmp_path / name
    file.write_text(text)
    [reference] = hidden_answers.read_hidden_answers(str(folder), file).references
    return reference.target


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,start,end\nq7,3.0,7\n"),
        ("a.csv", 'id,span\nq7,"[3, 7]"\n'),
        ("a.csv", "id,span,start,end\nq7,,3,7\n"),
        ("a.jsonl", '{"id": "q7", "span": null, "start": 3, "end": 7}'),
        ("a.jsonl", '{"id": "q7", "span": [[3, 7]]}'),
        ("a.jsonl", '{"id": "q7", "start": "0:03", "end": "0:07"}'),
        ("a.json", '{"q7": {"start": 3, "end": 7}}'),  # as EvalAI's annotations often are
    ],
)
def test_a_right_span_is_read_from_any_table(tmp_path, name, text):
    assert _target(tmp_path, SPANS, None, name, text)["spans"] == [[3.0, 7.0]]


@pytest.mark.parametrize(
    ("options", "text", "letter"),
    [
        (["x", "y"], "B", "B"),
        (["x", "y"], "y ", "B"),
        (["C", "D", "E"], "D", "B"),  # no letter of an option
        (["B", "A", "D", "C"], "(A)", "A"),
        (["B", "A", "D", "C"], "(D)", "D"),
        (["A", "B"], "B", "B"),
    ],
)
def test_a_right_option_is_named_by_its_letter_or_its_text(tmp_path, options, text, letter):
    line = json.dumps({"id": "q7", "answer": text})
    assert _target(tmp_path, CHOICES, options, "a.jsonl", line)["answer"] == letter


def test_a_letter_that_is_another_options_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"'q7' is the letter of one option and the text of an"):
        _target(tmp_path, CHOICES, ["B", "A"], "a.jsonl", '{"id": "q7", "answer": "A"}')


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (CHOICES, '{"id": "q7", "answer": "seventeen"}'),
        (SPANS, '{"id": "q7", "span": [17, 3]}'),
        (SPANS, '{"id": "q7", "start": "seventeen", "end": 3}'),
    ],
)
def test_a_wrong_answer_is_refused_without_its_words(tmp_path, declared, text):
    with pytest.raises(InputError, match="the answer to 'q7'") as refused:
        _target(tmp_path, declared, ["x", "y"], "a.jsonl", text)
    assert "seventeen" not in str(refused.value)
    assert "17" not in str(refused.value).replace(str(tmp_path), "")


SPLITS = (
    CHOICES
    + """\
splits:
  val: {source: {file: val.jsonl}}
  test: {source: {file: test.jsonl}}
"""
)


def test_a_file_for_the_second_of_two_hidden_splits_is_refused_by_its_own_fault(tmp_path):
    folder = _benchmark(tmp_path / "attic", [], SPLITS)
    for split in ("val", "test"):
        row = {"video": "v.mp4", "q": "What is there?", "options": ["x", "y"]}
        lines = [json.dumps({"id": f"{split}{number}", **row}) for number in range(2)]
        (folder / f"{split}.jsonl").write_text("\n".join(lines))
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "test0", "answer": "A"}\n{"id": "test1", "answer": "Z"}\n')
    with pytest.raises(InputError, match=r"split test: .*the answer to 'test1' names none"):
        hidden_answers.read_hidden_answers(str(folder), file)


def _handed_in(tmp_path, predictions, **options):
    """Score predictions on a hidden split; return the folder."""
    row = {"video": "v.mp4", "q": "What is there?", "options": ["x", "y"]}
    rows = [{"id": f"q{number}", **row} for number in range(len(predictions))]
    folder = _benchmark(tmp_path / "attic", rows, CHOICES)
    table = [{"id": f"q{n}", "prediction": text} for n, text in enumerate(predictions)]
    reelbench.score(str(folder), table, model="me/model", **options).save(tmp_path / "run")
    return tmp_path / "run"


def test_long_reasoning_is_left_out_of_what_is_handed_in(tmp_path):
    long = "hm " * bounds.PREDICTION
    run = _handed_in(tmp_path, ["<think>short</think>B", f"<think>{long}</think>The answer is A."])
    predictions = hidden_submission.read_submission(run).predictions
    assert predictions == {"q0": "<think>short</think>B", "q1": "The answer is A."}


def test_an_answer_that_stays_too_long_is_noted_when_it_is_written(tmp_path):
    run = _handed_in(tmp_path, ["B", "y " * bounds.PREDICTION])
    note = hidden_submission.lengthy_note(run / "submission.jsonl")
    assert note == (
        "1 prediction of over 20,000 characters, the first 'q1': a hidden test refuses the file"
    )


def test_a_reader_is_not_asked_about_hidden_answers(tmp_path):
    with JudgeServer() as server:
        reader = ReaderOptions.named("reader-1", url=server.url, cache=tmp_path / "kept.sqlite")
        run = _handed_in(tmp_path, ["B", "The one on the left."], reader=reader)
        assert server.calls == []
    assert hidden_submission.read_submission(run).record.settings.reader is None


EXACT = """\
kind: exact
source: {file: rows.jsonl}
columns: {id: id, video: video, question: q}
hidden_answers: true
"""
NUMBERS = EXACT + "numbers: mra\n"
ALL_WINDOWS = SPANS + "windows: f1\n"
GROUNDED = CHOICES.replace("kind: choice", "kind: grounded_choice")
MARKS = (
    "[SAFETY_BLOCKED]",
    "[LMMS_EVAL_REQUEST_FAILED: timeout]",
    "[LMMS_EVAL_BUDGET_EXCEEDED]",
    "Failed to obtain answer via API.",
)


@pytest.mark.parametrize(
    ("declared", "answer", "prediction", "expected"),
    [
        (CHOICES + "chance: adjusted\n", {"answer": "A"}, "B", ("above_chance", -100)),
        (EXACT + "numbers: mae\n", {"answer": "7"}, "9", ("mae", 2)),
        (SPANS + "windows: matched\n", {"start": 3, "end": 7}, "3 to 7 s", ("etf1", 100)),
    ],
)
def test_every_headline_makes_a_hidden_test(tmp_path, declared, answer, prediction, expected):
    metric, value = expected
    ids = [f"q{number}" for number in range(12)]
    rows = [
        {"id": name, "video": f"{name}.mp4", "q": "What is there?", "options": ["x", "y"]}
        for name in ids
    ]
    folder = _benchmark(tmp_path / "attic", rows, declared)
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({"id": name, **answer}) + "\n" for name in ids))
    hidden = hidden_answers.read_hidden_answers(str(folder), file)
    total = hidden.totals(dict.fromkeys(ids, prediction))[metric]
    assert total.value == value
    # An error has no greatest value, so no interval follows from it and the number of videos.
    assert (total.ci95 is None) == (metric == "mae")


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    ("declared", "answer", "prediction"),
    [
        (CHOICES, {"answer": "A"}, "A"),
        (SPANS, {"start": 3, "end": 7}, "3 to 7 s"),
        (EXACT, {"answer": "red"}, "red"),
        (NUMBERS, {"answer": "7"}, "7"),
        (ALL_WINDOWS, {"start": 3, "end": 7}, "3 to 7 s"),
        (GROUNDED, {"answer": "A", "start": 3, "end": 7}, "A, 3 to 7 s"),
    ],
)
def test_every_question_counts_whatever_its_text(tmp_path, declared, answer, prediction, mark):
    """One of four is right: a quarter of the scale's highest, and nothing where none is."""
    row = {"video": "v.mp4", "q": "What is there?", "options": ["x", "y"]}
    ids = [f"q{number}" for number in range(4)]
    folder = _benchmark(tmp_path / "attic", [{"id": name, **row} for name in ids], declared)
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({"id": name, **answer}) + "\n" for name in ids))
    hidden = hidden_answers.read_hidden_answers(str(folder), file)
    highest = hidden.totals(dict.fromkeys(ids, prediction))
    marked = dict.fromkeys(ids, mark)
    for texts, share in ((marked, 0.0), ({**marked, "q0": prediction}, 0.25)):
        totals = hidden.totals(texts)
        assert totals.keys() == highest.keys()
        for name, total in totals.items():
            assert total.n == 4
            assert total.value == pytest.approx(highest[name].value * share)
