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
    assert "lmms-eval>=0.7.3,<0.8" in config["options.extras_require"]["lmms-eval"]


# What needs a build is with what installs it (tests/test_installed.py), in `make test-slow`.
@pytest.fixture
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_sdist_holds_the_whole_checkout_so_that_it_can_be_tested(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    there = {name for name in tracked if (ROOT / name).is_file()}
    assert there <= inside


def unpack_zip(folder):
    """Unpack the commit as a forge's ZIP does: Python's `zipfile` makes small files of links."""
    archive = folder / "reelbench.zip"
    command = ["git", "archive", "--format=zip", "--output", archive, "HEAD"]
    subprocess.run(command, cwd=ROOT, check=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "checkout")  # noqa: S202 - a zip of our own
    return folder / "checkout"


def clone_without_links(folder):
    """Clone the commit as Git does on Windows: links are small files."""
    checkout = folder / "checkout"
    command = ["git", "clone", "--quiet", "--config", "core.symlinks=false", ROOT, checkout]
    subprocess.run(command, check=True)
    return checkout


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
@pytest.mark.slow
@pytest.mark.parametrize("checkout_made_by", [unpack_zip, clone_without_links])
def test_a_checkout_without_links_gives_a_whole_wheel(checkout_made_by, tmp_path):
    checkout = checkout_made_by(tmp_path)
    assert not (checkout / "tasks").is_dir()
    build = [sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", tmp_path]
    done = subprocess.run([*build, checkout], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")  # noqa: S202 - a zip of our own
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"}

    def run(*words):
        command = [sys.executable, "-m", "reelbench", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )

    listed = run("list")
    assert listed.returncode == 0, listed.stderr
    assert "rextime" in listed.stdout
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text('{"id": "mini1", "prediction": "(A)"}\n', encoding="utf-8")
    scored = run("score", "rextime_mini", "--predictions", str(predictions))
    assert scored.returncode == 0, scored.stderr
    assert "1 of 12 scored" in scored.stdout


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
