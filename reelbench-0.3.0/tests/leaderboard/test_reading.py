"""What reads doesn't write: files that a killed process left, or a stranger put there, are used as they lie, or not."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reelbench.scoring import result_files

COMMANDS = {
    "check": ("leaderboard", "check", "{folder}"),
    "store": ("leaderboard", "check", "{store}"),
    "tables": ("leaderboard", "tables", "--store", "{store}"),
    "list": ("leaderboard", "list", "--store", "{store}"),
    "view": ("view", "{folder}", "--out", "{page}"),
    "compare": ("compare", "{folder}", "{folder}"),
    "power": ("power", "{folder}"),
}


def files_of(*folders):
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for top in folders
        for path in top.rglob("*.*")
        if path.is_file()
    }


def stated(folder):
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))["provenance"][
        "samples_sha256"
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_planted_file_of_the_stated_name_is_not_taken_for_the_samples(
    name, rextime_run, reelbench, tmp_path
):
    folder, store = rextime_run(), tmp_path / "store"
    assert reelbench("leaderboard", "add", folder, "--store", store).returncode == 0
    (place,) = (path.parent for path in store.rglob("result.json"))
    for where in (folder, place):
        (where / f".samples.jsonl.{stated(where)}.tmp").write_text(
            '{"id": "evil"}\n', encoding="utf-8"
        )
    before = files_of(folder, store)
    words = [
        part.format(folder=folder, store=store, page=tmp_path / "page") for part in COMMANDS[name]
    ]
    done = reelbench(*words)
    assert done.returncode == 0, done.stderr
    assert files_of(folder, store) == before


@pytest.mark.parametrize("former", [None, "older\n"])
def test_samples_that_a_killed_process_left_are_read_where_they_lie(former, rextime_run, reelbench):
    folder = rextime_run()
    whole = result_files.answers_sha256(result_files.read_samples(folder))
    (folder / "samples.jsonl").rename(waiting := folder / f".samples.jsonl.{stated(folder)}.tmp")
    if former is not None:
        (folder / "samples.jsonl").write_text(former, encoding="utf-8")
    before = files_of(folder)
    assert result_files.answers_sha256(result_files.read_samples(folder)) == whole
    assert reelbench("leaderboard", "check", folder).returncode == 0
    assert files_of(folder) == before
    assert hashlib.sha256(waiting.read_bytes()).hexdigest() == stated(folder)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_folder_or_a_pipe_of_that_name_is_nothing_to_wait_for(make, rextime_run):
    folder = rextime_run()
    make(folder / f".samples.jsonl.{stated(folder)}.tmp")
    assert result_files.samples_of(folder) == folder / "samples.jsonl"


def test_what_a_killed_build_left_goes_with_the_next(rextime_run, reelbench, tmp_path):
    store, site = tmp_path / "store", tmp_path / "site"
    assert reelbench("leaderboard", "add", rextime_run(), "--store", store).returncode == 0
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom reelbench.base.files import replacing_folder\n"
        "with replacing_folder(Path(sys.argv[1])) as aside:\n    (aside / 'half').write_text('x')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, site], check=False)
    assert len(list(tmp_path.glob(".site.*.tmp"))) == 1
    (tmp_path / ".site.1-00000000-0000.tmp").mkdir()  # of another machine, which may be at work
    assert reelbench("leaderboard", "build", "--store", store, "--out", site).returncode == 0
    assert [path.name for path in tmp_path.glob(".site.*.tmp")] == [".site.1-00000000-0000.tmp"]
