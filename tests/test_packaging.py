"""What users install is the wheel: it must hold what the checkout holds."""

import configparser
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.rooms import PACKAGE, ROOMS, ROOT

DATA = {".yaml", ".json", ".jsonl", ".md", ".txt", ".sql", ".html", ".css", ".js", ".typed"}


@pytest.fixture(scope="module")
def config():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def test_the_core_needs_no_torch(config):
    core = config["options"]["install_requires"]
    assert "lmms" not in core
    assert "torch" not in core
    assert "lmms-eval>=0.7.3" in config["options.extras_require"]["lmms-eval"]


@pytest.fixture
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


def test_the_wheel_holds_every_module_and_data_file(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    paths = {
        path for top in (PACKAGE, *(PACKAGE / room for room in ROOMS)) for path in top.rglob("*")
    }
    wanted = {
        path for path in paths if path.suffix in DATA | {".py"} and "__pycache__" not in path.parts
    }
    assert inside == {path.relative_to(ROOT).as_posix() for path in wanted if path.is_file()}


def test_the_wheel_works_away_from_the_checkout(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")  # noqa: S202 - a zip of our own
    code = (
        "import reelbench, reelbench.tasks\n"
        "import reelbench\n"
        "from reelbench.lmms_eval_plugin import tasks_folder\n"
        "print(reelbench.__file__, tasks_folder(), sep='\\n')\n"
        "print(len(reelbench.load('moviecore_mini')), len(reelbench.load('rextime_mini')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, tasks, rows = done.stdout.splitlines()
    assert where.startswith(str(tmp_path))
    assert tasks == str(tmp_path / "site" / "reelbench" / "tasks")
    assert rows == "12 12"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_sdist_holds_the_whole_checkout_so_that_it_can_be_tested(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    there = {name for name in tracked if (ROOT / name).is_file()}
    assert {
        f"reelbench/{name}" if name.partition("/")[0] in ROOMS else name for name in there
    } <= inside


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_repository_names_no_machine_and_no_registry_host():
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    forbidden = re.compile(
        r"/work/(?:main|shared)|pythonhosted\.|\.pypi\.|deb\.debian\.|registry\.npmjs"
    )
    here = Path(__file__).relative_to(ROOT).as_posix()
    for name in files:
        path = ROOT / name
        if name in ("", here) or not path.is_file() or path.suffix in (".png", ".webp"):
            continue
        assert not forbidden.search(path.read_text(encoding="utf-8", errors="replace")), name
