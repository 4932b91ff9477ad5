"""`make fuzz`: what is damaged is honest before, and what must never happen is told where it does."""

import json
import shutil
import sys
from importlib import import_module
from random import Random

import pytest

from tests.servers.judge import JudgeServer
from tools import fuzz
from tools.fuzzing import commands, neighbours
from tools.fuzzing.holding import Finding
from tools.fuzzing.targets import TARGETS


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    for name, value in fuzz.settled(tmp_path).items():
        monkeypatch.setenv(name, value)


@pytest.mark.slow
@pytest.mark.parametrize("name", commands.SURFACES)
def test_every_command_takes_its_honest_input(name, tmp_path):
    surface, honest = commands.SURFACES[name], commands.honest(name)
    assert all(any(path.is_file() for path in honest.glob(pattern)) for pattern in surface.damaged)
    for number, words in enumerate(words for words in surface.commands if words != "loop"):
        folder = tmp_path / str(number)
        shutil.copytree(honest, folder)
        with JudgeServer(commands.play) as server, commands.inside(folder):
            stdin = folder / surface.stdin if surface.stdin and words.startswith("frames") else None
            done = commands.checked(words, url=server.url, stdin=stdin)
            assert done.status == 0, (words, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("name", neighbours.WAYS)
def test_an_entry_that_is_left_out_changes_its_own_items_alone(name):
    honest, without = neighbours._scored(name), neighbours._scored_without(name, 0)
    assert honest
    assert without is None or {key for key in honest if without.get(key) != honest[key]} < set(
        honest
    )


def test_an_input_is_drawn_again_byte_for_byte(tmp_path):
    for name in ("candidates", "answers", "neighbours"):
        drawn = []
        for place in ("a", "b"):
            (tmp_path / name / place).mkdir(parents=True)
            TARGETS[name].write(Random("31 5"), tmp_path / name / place)
            drawn.append(
                {
                    path.name: path.read_bytes()
                    for path in (tmp_path / name / place).rglob("*.json*")
                }
            )
        assert drawn[0] == drawn[1]


def test_anothers_changed_score_is_a_finding(tmp_path):
    TARGETS["neighbours"].write(Random(3), tmp_path)
    (tmp_path / "input.json").write_text(json.dumps({"way": "a table", "entry": 2}))
    honest = neighbours._honest("a table") / "table.jsonl"
    (tmp_path / "files" / "table.jsonl").write_text(
        honest.read_text().replace("answer is A", "answer is C")
    )
    with pytest.raises(Finding, match="another's score"):
        neighbours.check(tmp_path)


def test_a_traceback_and_a_file_elsewhere_are_findings(tmp_path, monkeypatch):
    outside = tmp_path / "outside.txt"
    with commands.Writes(tmp_path / "inside") as writes:
        outside.write_text("x")
    assert writes.elsewhere == {f"open {outside}"}
    monkeypatch.setattr(import_module("reelbench.cli.main"), "main", lambda: 1 / 0)
    assert fuzz.where_it_ends("candidates", _input(tmp_path)).startswith("ZeroDivisionError")
    monkeypatch.setattr(import_module("reelbench.cli.main"), "main", lambda: sys.exit(3))
    assert fuzz.where_it_ends("candidates", _input(tmp_path)).startswith("ends with 3")


def _input(tmp_path):
    folder = tmp_path / f"input{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    TARGETS["candidates"].write(Random(1), folder)
    return folder
