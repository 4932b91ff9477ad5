"""Logs that lmms-eval's own task code makes are read by the gallery's twins as lmms-eval does."""

import importlib
import json
from functools import cache
from pathlib import Path

import pytest
import yaml

from reelbench.registry import discovery, gallery
from reelbench.tasks.lmms.twins import twin_items
from reelbench.tasks.submissions import Questions
from tests.tasks.gallery_rows import FILES
from tests.tasks.test_gallery import written

pytest.importorskip("lmms_eval")

ANSWERS = ("A", "B.", "(B)", "The answer is A.")
"""Each is of the first two options, which every made row has."""

UNREAD = {"Z", "none"}
"""What tasks of lmms-eval log for an answer that they can't read."""


class Function(str):
    """The name of a function in a task's YAML."""

    __slots__ = ()


class Loader(yaml.SafeLoader):
    """Reads a task's YAML."""


Loader.add_constructor("!function", lambda _, node: Function(node.value))


@pytest.fixture(autouse=True)
def _forget(monkeypatch, tmp_path):
    monkeypatch.setattr(discovery, "_registry", None)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def tasks_folder():
    import lmms_eval

    return Path(next(iter(lmms_eval.__path__))) / "tasks"


@cache
def files_of_tasks():
    """The YAML of each task of lmms-eval, by the task's name."""
    files = {}
    for file in tasks_folder().rglob("*.yaml"):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, name = line.partition(":")
            if key == "task":
                files.setdefault(name.strip().strip("\"'"), file)
    return files


def settings_of(file):
    content = yaml.load(file.read_text(encoding="utf-8"), Loader=Loader) or {}  # noqa: S506
    include = content.pop("include", None)
    return {**settings_of(file.parent / include), **content} if include else content


def function_of(file, name):
    module, _, function = name.rpartition(".")
    package = ".".join(file.parent.relative_to(tasks_folder().parent.parent).parts)
    return getattr(importlib.import_module(f"{package}.{module}"), function)


def logged(docs, file, answers):
    """The lines that lmms-eval logs of answers to documents."""
    content = settings_of(file)
    kwargs = content.get("lmms_eval_specific_kwargs") or {}
    kwargs = kwargs.get("default", kwargs)
    lines = []
    for number, (doc, answer) in enumerate(zip(docs, answers, strict=True)):
        to_text = content["doc_to_text"]
        prompt = doc[to_text] if to_text in doc else function_of(file, to_text)(dict(doc), kwargs)
        details = function_of(file, content["process_results"])(dict(doc), [answer])
        line = {"doc_id": number, "input": prompt, "filtered_resps": [answer], "resps": [[answer]]}
        lines.append({**line, **json.loads(json.dumps(details, default=str))})
    return lines


WITH_TWINS = [
    name
    for name in gallery.names()
    if "twin: " in (gallery.folder() / name / "benchmark.yaml").read_text(encoding="utf-8")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_TWINS)
def test_a_log_of_the_twin_is_read_without_a_difference(name, tmp_path):
    spec = discovery.get(name)
    task = spec.tasks[0]
    docs = [doc for content in FILES[name].values() for doc in content]
    answers = [ANSWERS[number % 4] for number in range(len(docs))]
    if spec.asks_span:
        answers = ["3.0 - 9.5 seconds"] * len(docs)
    lines = logged(docs, files_of_tasks()[task.twin], answers)
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    data = written(tmp_path / "data", FILES[name])
    twin = twin_items(log, Questions.named(name, task.split, data))
    assert len(twin.items) == len(docs)
    # What lmms-eval doesn't read at all, such as "(B)" for Video-MME-v2, is its own.
    assert {reading.lmms_eval for reading in twin.differing} <= UNREAD
