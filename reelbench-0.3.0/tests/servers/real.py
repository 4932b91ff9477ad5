"""Servers of real models, each a program of its own: llama.cpp's, transformers', LiteLLM's proxy."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Self

START_S = 300
"""Seconds until a server has its model loaded; transformers' imports alone take a minute."""


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RealServer:
    """A server's program from its start to its end.

    Attributes:
        url: The address that a client is given.
    """

    def __init__(self, command: Sequence[object], port: int, ready: str, log: Path) -> None:
        """Name the program, without starting it.

        Args:
            command: Program and arguments.
            port: The port that it listens on.
            ready: A page that is there once it answers.
            log: The file for what it prints.
        """
        self.url = f"http://127.0.0.1:{port}/v1"
        self._command = [str(word) for word in command]
        self._ready = f"http://127.0.0.1:{port}{ready}"
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=subprocess.STDOUT, env=environment
            )
        deadline = time.monotonic() + START_S
        while not self._answers():
            if time.monotonic() > deadline or self._process.poll() is not None:
                self.kill()
                raise RuntimeError(f"{self._command[0]} did not start; see {self._log}")
            time.sleep(0.5)

    def _answers(self) -> bool:
        """Return True where the page is there."""
        with contextlib.suppress(OSError), urllib.request.urlopen(self._ready, timeout=5):  # noqa: S310 - of this machine
            return True
        return False

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def llama_cpp(
    folder: Path, log: Path, *words: object, model: Path | None = None, port: int | None = None
) -> RealServer:
    """Return llama.cpp's server with the small model of a folder, or with another one.

    Args:
        folder: What `make real` built.
        log: The file for what it prints.
        words: Further arguments.
        model: The weights' file.
        port: The port; by default a free one.
    """
    server = folder / "llama.cpp" / "build" / "bin" / "llama-server"
    weights = model or next(folder.rglob("SmolLM2*.gguf"))
    port = port or free_port()
    # Threads that wait for each other stand still on a machine with other work.
    command = [server, "--host", "127.0.0.1", "--port", port, "-m", weights, "--threads", 1, *words]
    return RealServer(command, port, "/health", log)


def transformers_serve(model: Path, log: Path) -> RealServer:
    """Return transformers' own server with a checkpoint."""
    port = free_port()
    program = Path(sys.executable).with_name("transformers")
    command = [program, "serve", model, "--host", "127.0.0.1", "--port", port, "--device", "cpu"]
    return RealServer(command, port, "/health", log)


def litellm_program() -> str | None:
    """Return the program of LiteLLM's proxy: `LITELLM` names it, or it is on the path."""
    return os.environ.get("LITELLM") or shutil.which("litellm")


def litellm_proxy(settings: Path, log: Path) -> RealServer:
    """Return LiteLLM's proxy with a file of settings."""
    port = free_port()
    command = [litellm_program(), "--config", settings, "--host", "127.0.0.1", "--port", port]
    return RealServer(command, port, "/health/liveliness", log)
