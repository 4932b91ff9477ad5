"""What the tests of the data room share: servers of their own, and pauses too short to wait for."""

import os
import shutil
import subprocess

import pytest

from reelbench.data import download
from reelbench.registry import discovery
from tests.servers.files import FileServer
from tests.servers.hub import HubServer


@pytest.fixture(autouse=True)
def own_servers(monkeypatch):
    """The servers of these tests are the user's own."""
    monkeypatch.setenv("REELBENCH_ALLOW_HOSTS", "127.0.0.1,localhost")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(download, "PAUSE_S", 0.001)


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A Hub, which the client is pointed to."""
    with HubServer() as server:
        server.use(monkeypatch, tmp_path / "hf")
        yield server


@pytest.fixture
def web(monkeypatch):
    """A file server."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    with FileServer() as server:
        yield server


@pytest.fixture
def spec():
    return discovery.get("moviecore")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 400 kB."""
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("mounting a small disk needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], check=False
    ).returncode:
        pytest.skip("this container may not mount")
    yield disk
    subprocess.run([shutil.which("umount"), disk], check=True)
