"""What lies in the working folder, or stands in a word that was typed, decides nothing that it may not."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reelbench.base.credentials import without_credentials, without_secrets
from reelbench.base.errors import InputError
from reelbench.leaderboard.view import page
from reelbench.terminal import defaults

COMMAND = Path(sys.executable).with_name("reelbench")


def test_a_worker_process_takes_no_module_of_the_working_folder(tmp_path):
    here = tmp_path / "here"
    (here / "multiprocessing").mkdir(parents=True)
    (here / "multiprocessing" / "__init__.py").write_text(
        "open('ran', 'w').close()\nraise SystemExit\n"
    )
    environ = os.environ | {"REELBENCH_HOME": str(tmp_path / "home")}
    environ.pop("PYTHONSAFEPATH", None)
    command = [COMMAND, "frames", "extract", "rextime_mini", "--frames", "uniform:2"]
    done = subprocess.run(
        command, cwd=here, env=environ, capture_output=True, text=True, check=False
    )
    assert not (here / "ran").exists()
    assert done.returncode == 0, done.stderr


SCRIPT = """
import os
from reelbench.base.bounded import Bounds, run_bounded
from reelbench.base.workers import Workers

if __name__ == "__main__":
    assert [*Workers(2).map(abs, [-1, -2])] == [1, 2]
    assert run_bounded(bool, bounds=Bounds(30))
    assert "PYTHONSAFEPATH" not in os.environ
    print("done")
"""


def test_nor_does_one_of_a_user_s_own_script(tmp_path):
    here, script = tmp_path / "here", tmp_path / "script.py"
    (here / "multiprocessing").mkdir(parents=True)
    (here / "multiprocessing" / "__init__.py").write_text(
        "open('ran', 'w').close()\nraise SystemExit\n"
    )
    script.write_text(SCRIPT)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, script], cwd=here, env=environ, capture_output=True, text=True, check=False
    )
    assert not (here / "ran").exists()
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize("split", ["x/../../../escaped", "../x", "a\\b"])
def test_a_page_lies_in_its_folder_whatever_split_a_result_states(split, tmp_path):
    result = SimpleNamespace(benchmark=SimpleNamespace(id="h", split=split))
    run = SimpleNamespace(result=result, folder=tmp_path)
    assert page.place_of([run], tmp_path, several=True).parent == tmp_path
    assert page.place_of([run], None, several=False).parent.name == "views"


def test_a_settings_file_has_no_key_of_many_parts(tmp_path):
    file = tmp_path / "reelbench.toml"
    file.write_text("a." * 5_000 + "b = 1\n")
    with pytest.raises(
        InputError,
        match=r"reelbench.toml: characters of a line: 10,005, and at most 2,000 are taken",
    ):
        defaults.entries(file, dict)


@pytest.mark.parametrize(
    "query", ["?key=a,KEY1", "?x=a;KEY1", "?x=a'KEY1", "?x=a<KEY1", "#a,KEY1", "?a=b#c,KEY1"]
)
def test_a_query_ends_with_its_word(query):
    assert (
        without_credentials(f"to finish: --judge-url 'http://h/v1{query}' --judge j").count("KEY1")
        == 0
    )


def test_a_key_is_hidden_in_capitals_too(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    assert "PLANTED" not in without_secrets("answered 500: bad SK-PLANTED-0123456789ABCDEF")
