"""The Space that `publish --webhook` makes: what it installs, in an empty environment, and what that then says."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reelbench.leaderboard import publish as publishing
from reelbench.leaderboard.publish import PublishOptions
from tests.leaderboard.test_webhook import DATASET, SECRET, Served, offer, payloads, table  # noqa: F401 - fixtures
from tests.servers.files import FileServer

ROOT = Path(__file__).resolve().parents[2]
UV = [sys.executable, "-m", "uv"]
CHECKER = "museum/checker"


@pytest.fixture
def wheel(tmp_path):
    """A wheel of this checkout on a server, with its hash in the address, as `--install` takes it."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a Git checkout, so there is no wheel of it")
    archive = tmp_path / "reelbench.tar.gz"
    subprocess.run(
        ["git", "archive", "--format=tar.gz", f"--output={archive}", "HEAD"], cwd=ROOT, check=True
    )
    shutil.unpack_archive(archive, tmp_path / "checkout")
    build = [*UV, "build", "--quiet", "--wheel", "--out-dir", tmp_path, tmp_path / "checkout"]
    subprocess.run(build, check=True)
    [path] = tmp_path.glob("*.whl")
    with FileServer() as server:
        address = server.put(f"/{path.name}", path.read_bytes())
        secure_address = address.replace("http://", "https://")
        yield f"{secure_address}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.mark.slow
def test_the_published_checker_installs_what_it_names_and_checks(
    *,
    hub,
    table,  # noqa: F811 - the fixture
    offer,  # noqa: F811
    wheel,
    tmp_path,
    monkeypatch,
):
    monkeypatch.setenv("HF_TOKEN", "hf_museum")
    pinned = PublishOptions(install=wheel, forget=())
    publishing.publish(tmp_path / "museum", dataset=DATASET, webhook=CHECKER, options=pinned)
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    docker = hub.repo(CHECKER, "space").files()["Dockerfile"].decode()
    [named] = re.findall(r"^ARG REELBENCH=(.+)$", docker, re.MULTILINE)
    assert named == wheel
    named = named.replace("https://", "http://")  # the test's server has no certificate
    assert 'RUN pip install --no-cache-dir "$REELBENCH"' in docker
    environment = tmp_path / "environment"
    subprocess.run([*UV, "venv", "--quiet", "--python", sys.executable, environment], check=True)
    install = [*UV, "pip", "install", "--quiet", "--python", environment]
    another = f"{named.partition('=')[0]}={'0' * 64}"
    refused = subprocess.run(
        [*install, another], capture_output=True, encoding="utf-8", check=False
    )
    assert refused.returncode != 0
    assert "hash" in refused.stderr.lower()
    subprocess.run([*install, named], check=True)

    honest, forged = (
        offer("one", right=9),
        offer("two", change=lambda place: place.joinpath("result.json").unlink()),
    )
    given = {
        "HF_TOKEN": "hf_bot",
        "WEBHOOK_SECRET": SECRET,
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
    }
    server = Served(hub, tmp_path, program=environment / "bin" / "reelbench", env=given)
    try:
        assert server.post(payloads(hub, table, honest)[0]) == 202
        told = {server.until("pull request "), server.until("pull request ")}
    finally:
        server.stop()
    assert {line.split(": ")[-1].strip() for line in told} == {"commented"}
    [good], [bad] = honest.comments, forged.comments
    assert good.startswith("### Reelbench: 1 of 1 result is valid")
    assert "best of the table" in good
    assert not bad.startswith("### Reelbench: 1 of 1")
