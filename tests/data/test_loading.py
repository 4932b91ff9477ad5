"""Rows in the cache: keyed by what they were made from, whole or not there, whoever else is making them."""

import json
import signal
import subprocess

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading


def moviecore(path, count=3, answer="So."):
    rows = {
        f"v{n}_1": {"question": f"Why {n}?", "answer": answer, "video": f"v{n}"}
        for n in range(count)
    }
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def folders(home):
    return sorted(
        path.name for path in (home / "rows").glob("*/*") if not path.name.startswith(".")
    )


def test_rows_are_saved_once_and_made_anew_when_the_file_changes(tmp_path, reelbench_home):
    file = moviecore(tmp_path / "test.json")
    loading.load("moviecore", data=file)
    (folder,) = folders(reelbench_home)
    saved = next((reelbench_home / "rows" / "moviecore" / folder).rglob("*.arrow"))
    before = saved.stat().st_mtime_ns
    loading.load("moviecore", data=file)
    assert saved.stat().st_mtime_ns == before
    moviecore(file, answer="Different.")
    assert loading.load("moviecore", data=file)[0]["answer"] == "Different."
    assert len(folders(reelbench_home)) == 2


def test_a_split_by_a_task_name():
    assert loading.load("moviecore_mini")[:] == loading.load("moviecore", "mini")[:]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("moviecor", "did you mean 'moviecore'"),
        ("rex", "did you mean 'rextime'"),
        ("zzz", "there are"),
    ],
)
def test_an_unknown_benchmark_suggests_one(name, said):
    with pytest.raises(InputError, match=said):
        loading.load(name)


def test_an_unknown_split_names_those_there_are():
    with pytest.raises(InputError, match=r"no split 'dev'.*train, test, mini"):
        loading.load("moviecore", "dev")


def test_real_data_is_never_silently_replaced_by_the_mini_data(reelbench):
    done = reelbench(
        "score",
        "rextime",
        "--predictions",
        __file__,
        env={"HF_HUB_OFFLINE": "1", "HF_HOME": "/nonexistent"},
    )
    assert done.returncode != 0


LOADER = "import sys; import reelbench; print(len(reelbench.load('moviecore', data=sys.argv[1])))"


def test_two_processes_fill_one_cache_at_once(tmp_path, reelbench_home, python):
    file = moviecore(tmp_path / "a path with spaces.json", count=500)
    command = [python, "-c", LOADER, file]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in both] == [b"500", b"500"]
    assert len(folders(reelbench_home)) == 1


KILLED = """
import os, signal, sys
import reelbench
def kill(event, arguments):
    if event == "os.rename" and "rows" in str(arguments[1]):
        os.kill(os.getpid(), signal.SIGKILL)  # all is written aside, and not yet in its place
sys.addaudithook(kill)
reelbench.load("moviecore", data=sys.argv[1])
"""


def test_a_cache_killed_half_written_is_never_read(tmp_path, reelbench_home, python):
    file = moviecore(tmp_path / "test.json", count=500)
    killed = subprocess.run([python, "-c", KILLED, file], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert any((reelbench_home / "rows" / "moviecore").iterdir())
    assert folders(reelbench_home) == []
    moviecore(file, count=7)
    assert len(loading.load("moviecore", data=file)) == 7


def test_the_fingerprint_tells_data_apart_and_not_paths(tmp_path):
    one = loading.locate("moviecore", data=moviecore(tmp_path / "a.json")).source.fingerprint
    same = loading.locate("moviecore", data=moviecore(tmp_path / "b.json")).source.fingerprint
    other = loading.locate(
        "moviecore", data=moviecore(tmp_path / "c.json", answer="x")
    ).source.fingerprint
    assert one == same != other
