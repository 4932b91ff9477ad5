"""`new --twin`: a benchmark of a task of the installed lmms-eval, by its YAML alone."""

import json
import sys

import pytest
from typer.testing import CliRunner

import reelbench as face
from reelbench.registry import benchmark_file, discovery
from tests.program import app
from tests.servers.hub import HubServer
from tests.tasks.gallery_rows import FILES
from tests.tasks.test_gallery import written

pytest.importorskip("lmms_eval")


@pytest.fixture
def server(monkeypatch, tmp_path):
    with HubServer() as server:
        server.use(monkeypatch, tmp_path / "hf")
        monkeypatch.setenv("REELBENCH_ALLOW_HOSTS", "127.0.0.1,localhost")
        yield server


def test_its_rows_are_the_hubs_at_the_commit_that_was_found(server, tmp_path):
    files = written(tmp_path / "made", FILES["tomato"])
    (file,) = files.iterdir()
    repo = server.add("lmms-eval/TOMATO", {f"data/{file.name}": file.read_bytes()})
    folder = tmp_path / "mine"
    done = CliRunner().invoke(
        app,
        ["new", "mine", "--twin", "tomato", "--answer-is", "index0", "--column", "video=video_path",
         "--out", str(folder)],
    )  # fmt: skip
    assert done.exit_code == 0, (done.output, done.exception)
    spec = benchmark_file.read(folder)
    (split,) = spec.splits.values()
    assert (split.source.repo_id, split.source.revision) == ("lmms-eval/TOMATO", repo.head)
    assert spec.tasks[0].twin == "tomato"
    assert not (folder / "rows.parquet").exists()
    discovery._registry = None
    rows = list(face.load(str(folder)))
    assert [row["answer"] for row in rows] == ["A", "B", "C", "D"]
    assert "lmms_eval.tasks.tomato.utils" not in sys.modules


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--twin", "no_such_task"], "the installed lmms-eval has no such task"),
        (["--twin", "tomato", "--from", "rows.csv"], "--from FILE --set twin=tomato"),
        (["--twin", "tomato"], "has no data/test-*.parquet or"),
    ],
)
def test_what_is_no_task_on_the_hub_is_a_line(arguments, line, server, tmp_path):
    server.add("lmms-eval/TOMATO", {"README.md": json.dumps({})})
    done = CliRunner().invoke(app, ["new", "mine", *arguments, "--out", str(tmp_path / "mine")])
    assert done.exit_code != 0
    assert line in str(done.exception)
    assert not (tmp_path / "mine").exists()
