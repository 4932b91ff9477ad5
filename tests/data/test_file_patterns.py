"""Rows of several files: those that match a name with `*`, in a folder and on the Hub."""

import json

import pytest

import reelbench as face
from reelbench.base.errors import DataUnavailableError
from reelbench.data.loading import locate
from reelbench.registry import discovery

HEAD = """\
id: several
kind: choice
{source}
columns: {{id: "{{file}}-{{row}}", video: video, question: question, options: options, answer: answer, task: file}}
facets: [task]
"""
ROW = {"video": "v", "question": "Which?", "options": ["tea", "milk"], "answer": "A"}


def declared(folder, source):
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(HEAD.format(source=source), encoding="utf-8")
    return folder


def test_all_files_of_a_folder_that_match_are_rows(tmp_path):
    folder = declared(tmp_path / "b", "source: {file: 'rows_*.jsonl'}")
    with pytest.raises(DataUnavailableError, match=r"the rows of 'test' are not there"):
        face.load(str(folder))
    for name in ("rows_b", "rows_a", "other"):
        (folder / f"{name}.jsonl").write_text(json.dumps(ROW), encoding="utf-8")
    rows = list(face.load(str(folder)))
    assert [row["id"] for row in rows] == ["rows_a-1", "rows_b-2"]
    assert [row["task"] for row in rows] == [["rows_a"], ["rows_b"]]


def test_files_on_the_hub_are_fetched_by_a_pattern_once(server, tmp_path):
    parts = {f"all/test-0000{n}-of-00002.jsonl": json.dumps(ROW) for n in range(2)}
    server.add("org/parts", {**parts, "all/val-00000-of-00001.jsonl": json.dumps(ROW)})
    names = "['data/test-*.jsonl', '*/test-*.jsonl']"
    folder = declared(tmp_path / "b", f"source: {{hub: org/parts, file: {names}}}")
    assert len(face.load(str(folder))) == 2
    assert locate("several").source.unpinned
    asked = len(server.requests)
    discovery._registry = None
    assert len(face.load(str(folder))) == 2
    assert len(server.requests) == asked
    copy = tmp_path / "copy" / "all"
    copy.mkdir(parents=True)
    for n in range(2):
        (copy / f"test-0000{n}-of-00002.jsonl").write_text(json.dumps(ROW), encoding="utf-8")
    discovery._registry = None
    assert len(face.load(str(folder), data=copy.parent)) == 2
