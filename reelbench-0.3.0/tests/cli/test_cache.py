"""`reelbench cache`: replies told, moved and removed; and a run that reads them where they were moved to."""

import json
import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from reelbench.llm.reply import Reply
from tests.llm.by_hand import ReplyCache
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

OLD = Path(__file__).parents[1] / "fixtures" / "v0_1_0"


def reelbench(*arguments):
    done = CliRunner().invoke(
        app, [str(argument) for argument in arguments], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return done.stdout


def test_an_old_file_moves_to_a_server_and_a_run_there_asks_nothing(
    postgres, tmp_path, monkeypatch
):
    place, old = postgres.database(), tmp_path / "judge.sqlite"
    shutil.copy(OLD / "judge.sqlite", old)
    assert reelbench("cache", "copy", old, place) == "92 replies copied, 0 were there already\n"
    assert reelbench("cache", "copy", old, place) == "0 replies copied, 92 were there already\n"
    monkeypatch.setenv("REELBENCH_CACHE", place)
    told = json.loads(reelbench("cache", "info", "--json"))
    assert [(one["model"], one["replies"]) for one in told["models"]] == [("judge-v1", 92)]
    assert told["place"] == f"postgresql://127.0.0.1:{postgres.port}/postgres"
    with JudgeServer(lambda _: Answer(status=500)) as server:
        predictions = next((OLD / "predictions").glob("moviecore*"))
        printed = reelbench(
            *(
                "score",
                "moviecore",
                "--predictions",
                predictions,
                "--split",
                "mini",
                "--no-overlap",
                "--json",
            ),
            *("--judge", "judge-v1", "--judge-url", server.url),
        )
        assert server.calls == []
    assert json.loads(printed)["counts"]["scored"] == 12
    back = tmp_path / "back.sqlite"
    assert reelbench("cache", "copy", place, back) == "92 replies copied, 0 were there already\n"
    assert json.loads(reelbench("cache", "info", back, "--json"))["models"] == told["models"]


@pytest.fixture(params=["file", "server"])
def filled(request, tmp_path):
    """A place with replies of two models, of today and of 1970."""
    place = (
        tmp_path / "judge.sqlite"
        if request.param == "file"
        else request.getfixturevalue("postgres").database()
    )
    cache = ReplyCache(place, print)
    for model in ("judge-a", "judge-b"):
        cache.put(model.encode(), model, Reply("4", "stop", model, 1, 1, "h"))
        stored = cache.store.get([model.encode()])[model.encode()]
        cache.store.put(
            [type(stored)(f"old {model}".encode(), model, 0.0, stored.reply, stored.checksum)]
        )
    cache.close()
    return place


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--older-than", 30], {"judge-a": 1, "judge-b": 1}),
        (["--model", "judge-a"], {"judge-b": 2}),
        (["--model", "judge-a", "--older-than", 30], {"judge-a": 1, "judge-b": 2}),
    ],
)
def test_what_is_removed_is_counted_first(filled, options, left):
    gone = 4 - sum(left.values())
    replies = f"{gone} {'reply' if gone == 1 else 'replies'}"
    assert f"{replies} of" in reelbench("cache", "prune", filled, *options)
    assert "4 replies of 2 models" in reelbench("cache", "info", filled)
    assert reelbench("cache", "prune", filled, *options, "--yes").startswith(
        f"{replies} removed from "
    )
    told = json.loads(reelbench("cache", "info", filled, "--json"))
    assert {one["model"]: one["replies"] for one in told["models"]} == left


def test_old_tests_of_tables_are_removed_with_old_replies(reelbench_home):
    ReplyCache(reelbench_home / "judge.sqlite", print).close()
    tables = reelbench_home / "tables"
    tables.mkdir()
    for name, age in (("old", 40), ("new", 3)):
        (tables / f"{name}.npz").write_bytes(b"0" * 2_000_000)
        at = time.time() - age * 86_400
        os.utime(tables / f"{name}.npz", (at, at))
    said = reelbench("cache", "prune", "--older-than", 30)
    assert said.startswith(f"{tables}: kept tests of 1 table, 2.0 MB would be removed")
    assert len(list(tables.iterdir())) == 2
    reelbench("cache", "prune", "--model", "m", "--older-than", 30, "--yes")
    assert len(list(tables.iterdir())) == 2
    said = reelbench("cache", "prune", "--older-than", 30, "--yes")
    assert said.startswith(f"kept tests of 1 table, 2.0 MB removed from {tables}")
    assert [path.name for path in tables.iterdir()] == ["new.npz"]


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        reelbench("cache", "copy", tmp_path / "no.sqlite", tmp_path / "to.sqlite")
    with pytest.raises(InputError, match="give --older-than"):
        reelbench("cache", "prune", tmp_path / "no.sqlite", "--yes")
    for words in (["info"], ["prune", "--model", "m"]):
        with pytest.raises(InputError, match="no such file"):
            reelbench("cache", *words, tmp_path / "no.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_damaged_replies_are_not_copied(tmp_path):
    cache = ReplyCache(tmp_path / "from.sqlite", print)
    for key in (b"a", b"b"):
        cache.put(key, "m", Reply("4", "stop", "m", 1, 1, "h"))
    cache.store._connection.execute("UPDATE replies SET raw = '5' WHERE key = ?", (b"a",))
    cache.close()
    printed = reelbench("cache", "copy", tmp_path / "from.sqlite", tmp_path / "to.sqlite")
    assert printed == "1 reply copied, 0 were there already, 1 damaged and left out\n"


@pytest.mark.parametrize(
    "filled", ["file"], indirect=True
)  # PostgreSQL holds its columns to their kinds
def test_a_moment_that_is_none_is_said_to_be_unknown(filled):
    with sqlite3.connect(filled) as file:
        file.execute("UPDATE replies SET at = 'soon' WHERE model = 'judge-a'")
        file.execute("UPDATE replies SET at = 1e300, model = x'ff00' WHERE model = 'judge-b'")
    models = json.loads(reelbench("cache", "info", filled, "--json"))["models"]
    assert [tuple(one.values()) for one in models] == [
        ("judge-a", 2, None, None),
        ("b'\\xff\\x00'", 2, None, None),
    ]
    assert "?" in reelbench("cache", "info", filled)
