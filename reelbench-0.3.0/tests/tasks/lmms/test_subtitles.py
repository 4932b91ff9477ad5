"""Subtitles as an lmms-eval task of ours shows them: before the question, whatever the frames, and on record."""

import pytest

import reelbench
from reelbench.registry import discovery
from reelbench.tasks.lmms.task import LmmsTask


@pytest.fixture
def row(reelbench_home):
    folder = reelbench_home / "mini" / "rextime"
    folder.mkdir(parents=True)
    (folder / "v_square00001.en.vtt").write_text(
        "WEBVTT\n\n00:01.000 --> 00:04.000\nIt moves.\n", encoding="utf-8"
    )
    return reelbench.load("rextime", "mini")[0]


@pytest.mark.parametrize(
    ("spec", "lines"),
    [("none,subs=file", 1), ("uniform:2,subs=file", 1), ("native,subs=file", 1), ("none", None)],
)
def test_they_stand_before_the_question_and_are_counted(spec, lines, row, monkeypatch):
    monkeypatch.setenv("REELBENCH_FRAMES", spec)
    task = LmmsTask(discovery.get("rextime"))
    plain = task.doc_to_text(row).removeprefix("Subtitles:\n<1.0-4.0 seconds> It moves.\n\n")
    assert plain.startswith("The video lasts")
    assert (task.doc_to_text(row) != plain) == (lines is not None)
    assert task.doc_to_messages(row)[0]["content"][-1]["text"] == task.doc_to_text(row)
    assert task.item(row, "A").subtitles == lines
