"""The state of files and of Reelbench itself, by which what was made from them is known again.

Files count by size and times.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from reelbench.base import software

PACKAGE = Path(__file__).parents[1]


@cache
def code_state() -> str:
    """Return the hash of Reelbench itself and of what it computes with."""
    return digest_of([sorted(file_states(PACKAGE)), sys.version, software.versions()])


def digest_of(document: Sequence[Any]) -> str:
    """Return the hash of plain data."""
    text = json.dumps(document, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def file_states(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Yield the path of each file below a folder, and its state.

    Hidden files and folders are left out: locks, caches, and what a process writes aside.
    """
    top = os.path.join(folder, "")  # noqa: PTH118 - a Path costs ten times that
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if _is_counted(name)]
        below = root[len(top) :]
        if below:
            below += "/"
        for name in names:
            state = state_of(f"{root}/{name}")
            if _is_counted(name) and state is not None:
                yield f"{below}{name}", state


def _is_counted(name: str) -> bool:
    return not name.startswith(".") and name != "__pycache__"


def state_of(path: Path | str) -> list[int] | None:
    """Return a file's size and times. None where it is not there.

    Whoever changes a file can set its time back, but not the time of that change.
    """
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
