"""Cues on their way to a model: which rows are asked, what their prompts say, and what tells such runs apart."""

import json
from importlib import import_module
from pathlib import Path

import pytest

import reelbench
from reelbench.base.errors import InputError
from reelbench.data.rows_on_disk import DataName, RowsOnDisk
from reelbench.registry import discovery
from reelbench.registry.question_files import QuestionCues
from reelbench.scoring.answers.reasoning import last_line
from reelbench.tasks.lmms import codegen
from reelbench.tasks.score_runs import check_scored

REASONED = [
    (spec, task)
    for spec in discovery.specs().values()
    for task in spec.tasks
    if task.reasoned and task.split == "mini"
]
each_task = pytest.mark.parametrize(
    ("spec", "task"), REASONED, ids=[task.name for _, task in REASONED]
)


@pytest.fixture
def cued(tmp_path, monkeypatch):
    """Have the environment name a file with these cues, id -> cue."""

    def write(cues):
        path = tmp_path / "cues.jsonl"
        path.write_text(
            "".join(json.dumps({"id": key, "cue": cue}) + "\n" for key, cue in cues.items())
        )
        monkeypatch.setenv("REELBENCH_CUES", str(path))

    return write


def asked(spec, task):
    """Return a task's rows as lmms-eval asks them, and each one's prompt."""
    lmms = codegen.functions(spec.id)
    rows = lmms.process_docs(reelbench.load(task.name))
    return rows, [lmms.doc_to_text(row, {"prompt": task.prompt}) for row in rows]


@each_task
def test_without_a_file_all_are_asked_without_a_cue(spec, task):
    rows, prompts = asked(spec, task)
    assert len(rows) == len(reelbench.load(spec.id, "mini"))
    assert all(row["question"] in prompt for row, prompt in zip(rows, prompts, strict=True))
    assert not any("{" in prompt or "\n\n\n" in prompt for prompt in prompts)


@each_task
def test_every_language_that_is_asked_in_has_its_words_for_steps(spec, task):
    folder = Path(next(iter(import_module(spec.package).__path__)))
    plain, reasoned = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in (spec.prompt, task.prompt)
    )
    assert reasoned.keys() == plain.keys()
    assert all(prompt.startswith("{question}{cue}\n\n") for prompt in reasoned.values())
    assert len(set(reasoned.values())) == len(reasoned)


@each_task
def test_only_the_rows_in_the_file_are_asked_with_their_cue(spec, task, cued):
    ids = reelbench.load(spec.id, "mini")["id"]
    cued({ids[2]: "Known: {braces} stay.", ids[0]: ""})
    rows, prompts = asked(spec, task)
    assert rows["id"] == [ids[0], ids[2]]
    assert ["{braces} stay" in prompt for prompt in prompts] == [False, True]
    lmms = codegen.functions(spec.id)
    assert lmms.data[task.name].media_missing == 0
    assert lmms.data[task.name].problem is None


@each_task
def test_an_answer_is_its_last_line_and_all_is_kept(spec, task):
    rows, _ = asked(spec, task)
    item = codegen.functions(spec.id).item(rows[0], "1. at 0:02 …\n\n**The answer**\n\n")
    assert item.prediction == "The answer"
    assert item.parsed == {"output": "1. at 0:02 …\n\n**The answer**\n\n"}


@each_task
def test_a_file_that_names_none_of_them_is_told(spec, task, cued):
    cued({"nobody": "x"})
    rows, _ = asked(spec, task)
    assert len(rows) == 0
    problem = codegen.functions(spec.id).data[task.name].problem
    assert problem == f"REELBENCH_CUES: the file names no question of {task.name}"


@each_task
def test_cues_tell_runs_apart_where_a_task_takes_them(spec, task, cued):
    plain, before = str(RowsOnDisk(f"{spec.id}_mini")), str(RowsOnDisk(task.name))
    cued({"mini1": "one"})
    first = str(RowsOnDisk(task.name))
    cued({"mini1": "two"})
    second = str(RowsOnDisk(task.name))
    assert len({before, first, second}) == 3
    assert str(RowsOnDisk(f"{spec.id}_mini")) == plain
    assert DataName.parse(second).cues == second.rpartition("cues=")[2]
    assert str(DataName.parse(second)) == second


@each_task
def test_no_table_takes_its_answers(spec, task):
    with pytest.raises(InputError, match="its answers may rest on cues"):
        check_scored(task.name)
    assert check_scored(f"{spec.id}_mini")[1].name == f"{spec.id}_mini"


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ("", "it has no subtitles"),
        ('{"id": "a"}', 'line 1: is not {"id": "…", "cue": "…"}'),
        ('{"id": "a", "cue": ""}\n{"id": "a", "cue": ""}', "line 2: the id 'a' occurs twice"),
    ],
)
def test_a_file_that_is_wrong_is_named(lines, error, tmp_path):
    path = tmp_path / "cues.jsonl"
    path.write_text(lines)
    with pytest.raises(InputError) as raised:
        QuestionCues.read(path)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", ""),
        ("A", "A"),
        ("1. x\n2. y\nTo the right\n \n", "To the right"),
        ("x\n**右**", "右"),
        ("x\n**\n", "x"),
    ],
)
def test_the_last_line(text, answer):
    assert last_line(text) == answer
