"""Write a site's files in step with what changed: a file with the same bytes stays the same file.

A site is written aside, in a new folder. What is as it was before is linked there from the folder
that it replaces, with its time, so that a host or a backup sees which files are new.
"""

import os
import shutil
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

RUN_FOLDERS = ("data/runs", "data/samples")
"""Where the files of a run are."""


@dataclass(frozen=True, slots=True)
class SiteFiles:
    """The new folder of a site, and the one that it replaces.

    Attributes:
        folder: The new folder.
        before: The folder that it replaces. None of a new site.
        unchanged_runs: Names of the runs' files in `before` that are known to be as they would be
            written today.
    """

    folder: Path
    before: Path | None = None
    unchanged_runs: AbstractSet[str] = frozenset()

    def write(self, name: str, text: str) -> None:
        """Write a file, by its path in the site."""
        # Half a surrogate pair, which some models emit, becomes its escape: right in JSON, visible
        # in CSV.
        data = text.encode("utf-8", "backslashreplace")
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if self._has_before(name, data):
            self._keep(name)
        else:
            path.write_bytes(data)

    def keep_run(self, name: str) -> bool:
        """Take over the files of a run. False where they may be others today."""
        if name not in self.unchanged_runs:
            return False
        for folder in RUN_FOLDERS:
            self._keep_if_there(folder, f"{name}.js")
        return True

    def _keep_if_there(self, folder: str, name: str) -> None:
        assert self.before is not None  # noqa: S101 - there is something to keep
        path = f"{folder}/{name}"
        # A page may have thousands of these, and a Path costs ten times that.
        if os.path.isfile(f"{self.before}/{path}"):  # noqa: PTH113
            os.makedirs(f"{self.folder}/{folder}", exist_ok=True)  # noqa: PTH103
            self._keep(path)

    def _has_before(self, name: str, data: bytes) -> bool:
        """Return True where the folder before has a file of this name with these bytes."""
        if self.before is None:
            return False
        path = self.before / name
        if path.is_symlink() or not path.is_file() or path.stat().st_size != len(data):
            return False
        return path.read_bytes() == data

    def _keep(self, name: str) -> None:
        source = f"{self.before}/{name}"
        target = f"{self.folder}/{name}"
        try:
            os.link(source, target)
        except OSError:  # not every file system has links
            shutil.copy2(source, target)
