"""The status of a long command, as a JSON file that is rewritten while the work goes on."""

import json
import os
import platform
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from reelbench.base.errors import InputError
from reelbench.base.files import is_alive, read_json, write_text
from reelbench.base.progress import Show
from reelbench.base.values import describe, is_number, is_object

State = Literal["running", "done", "failed", "stopped"]  # the last by the user

_REQUIRED_KEYS = frozenset({"command", "state", "done", "of", "updated"})
_TEXTS = ("command", "state", "updated")
_NUMBERS = ("done", "of", "failed", "cost", "eta", "pid")
_PAUSE = 1.0  # seconds between two writes at least; the last state is written in any case


class StatusFile:
    """The status of one command, in a file. Its methods are safe in any thread."""

    def __init__(self, path: Path, command: str) -> None:
        """Write that the command runs. OSError where the file can't be written."""
        self._path = path
        self._lock = threading.Lock()
        self._spent_before = 0.0
        self._written = 0.0
        self._status: dict[str, Any] = {
            "command": command,
            "state": "running",
            "what": None,  # what is going on; null before the first part of the work
            "done": None,
            "of": None,  # how much there is to do; null where that is not known
            "failed": 0,  # how many of what is done
            "line": "",  # words on it: calls a second, videos shown, what is waited for
            "cost": None,  # dollars that the command has spent; null without prices
            "eta": None,  # seconds until this part is done, at its pace so far; null if not known
            "started": None,
            "updated": None,
            "host": platform.node(),
            "pid": os.getpid(),
            "error": None,  # why it failed, in one line
        }
        self._write()

    @contextmanager
    def bar(self, title: str, total: float | None) -> Generator[Show]:
        """Write the progress of one part of the work while the block runs."""
        began = time.monotonic()
        with self._lock:
            self._spent_before = self._status["cost"] or 0.0
            self._status |= {
                "what": title,
                "done": 0,
                "of": total,
                "failed": 0,
                "line": "",
                "eta": None,
            }
            self._write()

        def show(done: float, line: str, *, failed: int = 0, cost_usd: float | None = None) -> None:
            seconds = time.monotonic() - began
            eta = None
            if total is not None and done:
                eta = round(max(0.0, total - done) * seconds / done, 1)
            with self._lock:
                self._status |= {"done": done, "failed": failed, "line": line.strip(), "eta": eta}
                if cost_usd is not None:
                    self._status["cost"] = self._spent_before + cost_usd
                if time.monotonic() - self._written >= _PAUSE:
                    self._write()

        yield show

    def end(self, state: State, error: str | None = None) -> None:
        """Write the end of the command."""
        with self._lock:
            self._status |= {"state": state, "eta": None, "error": error}
            self._write()

    def _write(self) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._status["started"] = self._status["started"] or now
        self._status["updated"] = now
        write_text(self._path, json.dumps(self._status, ensure_ascii=False) + "\n")
        self._written = time.monotonic()


def read_status(path: Path) -> dict[str, Any]:
    """Read a status file.

    Its state is `gone` where it says that it runs and its process is no more.

    Raises:
        InputError: It is no status file.
    """
    status = read_json(path)
    if not is_object(status) or not status.keys() >= _REQUIRED_KEYS:
        raise InputError(f"{path}: is not a status file; `--status-file` writes one")
    for name in _TEXTS:
        if not isinstance(status[name], str):
            raise InputError(
                f"{path}, field {name}: expected a text (found {describe(status[name])})"
            )
    for name in _NUMBERS:
        if status.get(name) is not None and not is_number(status[name]):
            raise InputError(
                f"{path}, field {name}: expected a number (found {describe(status[name])})"
            )
    if status.get("what") and status["done"] is None:
        raise InputError(f"{path}, field done: expected a number, as `what` is going on")
    runs_on_this_machine = status["state"] == "running" and status.get("host") == platform.node()
    if runs_on_this_machine and not is_alive(int(status.get("pid") or 0)):
        return {**status, "state": "gone"}
    return dict(status)
