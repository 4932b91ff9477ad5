"""A proof: something of ours beside an owner's or an independent implementation, and by how much the two differ."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reelbench.base import settings
from reelbench.base.settings import home
from reelbench.data.download import download
from reelbench.judges.prompting import GITHUB_RAW


class NotRunError(Exception):
    """What a proof rests on is not on this machine; the message says what, for the document."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What a run showed.

    Attributes:
        ours: What of ours.
        beside: What stands beside it.
        n: What was compared, and how many of them.
        difference: The largest difference, in words where it is no number.
        how: The command or call of the other side.
        versions: Of the other side.
    """

    ours: str
    beside: str
    n: str
    difference: float | str
    how: str
    versions: str


def largest(pairs: Iterable[tuple[float | None, float | None]]) -> float:
    """Return the largest difference; infinity where one side has a number and the other has none."""
    most = 0.0
    for ours, theirs in pairs:
        if (ours is None) != (theirs is None):
            return float("inf")
        if ours is not None and theirs is not None:
            most = max(most, abs(ours - theirs))
    return most


def versions_of(*packages: str) -> str:
    """Return the packages with their versions; NotRunError where one is not installed."""
    try:
        return ", ".join(f"{package} {version(package)}" for package in packages)
    except PackageNotFoundError as error:
        raise NotRunError(f"{error.name} is not installed") from None


@dataclass(frozen=True, slots=True)
class OwnersCode:
    """Files of a public repository at a commit, held to their sha256; they are run, and never kept in ours."""

    repository: str
    commit: str
    files: Mapping[str, str]

    @property
    def shown(self) -> str:
        """The repository and the commit, for a reader."""
        return f"{self.repository} at {self.commit[:12]}"

    def fetch(self) -> Path:
        """Return a folder with the files at their paths; NotRunError where they can't be had.

        They come from GitHub, or the mirror that REELBENCH_GITHUB_RAW names.
        """
        folder = home() / "verification" / self.commit
        mirror = settings.GITHUB_RAW.get().rstrip("/")
        for path, sha256 in self.files.items():
            url = f"{GITHUB_RAW}/{self.repository}/{self.commit}/{path}"
            try:
                download(url.replace(GITHUB_RAW, mirror, 1), folder / path, sha256=sha256)
            except Exception as error:
                raise NotRunError(f"{self.repository}'s {path} could not be fetched") from error
        return folder


def run(command: list[str | Path], *, stdin: str = "", root: Path) -> str:
    """Run somebody's program, whose modules lie below `root`, by this Python; return what it printed.

    Raises:
        NotRunError: It failed.
    """
    words, env = [sys.executable, *map(str, command)], {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        words, input=stdin, cwd=root, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        raise NotRunError(f"{Path(words[1]).name} failed: {last}")
    return done.stdout
