"""Rows that a `benchmark.yaml` maps: what is left of a row that can't be asked."""

from reelbench.base.errors import InputError
from reelbench.data import mapped_rows
from reelbench.registry import benchmark_file
from tests.declared import declared

DECLARED = (
    "id: drinks\nkind: choice\nsource: {file: rows.jsonl}\noptions: {in: question}\n"
    "columns: {id: id, video: video, question: question, answer: answer}\n"
)
QUESTION = "What does she drink?\nA. tea\nB. milk"


def test_a_row_at_fault_has_its_question_without_the_options_in_it(tmp_path):
    row = {"id": "q1", "video": "v", "question": QUESTION, "answer": "A"}
    rows = [row, row, {**row, "id": "q2", "answer": "Z"}]
    folder = declared(tmp_path / "drinks", DECLARED, rows)
    spec = benchmark_file.read(folder)
    sound, repeated, unreadable = mapped_rows.read_rows_or_errors(
        spec, [folder / "rows.jsonl"], "test"
    )
    assert not isinstance(sound.row, InputError)
    assert sound.row["question"] == "What does she drink?"
    for read_row, name in ((repeated, "q1"), (unreadable, "q2")):
        assert isinstance(read_row.row, InputError)
        assert read_row.row_without_answer == {
            "id": name,
            "video": "v",
            "question": "What does she drink?",
            "language": "en",
            "options": ["tea", "milk"],
            "answer": "",
        }
