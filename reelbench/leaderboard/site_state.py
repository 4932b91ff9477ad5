"""What a site was made from, as this machine remembers it: nothing changed, nothing is built.

A site follows from its store, from the benchmarks that are declared, from Reelbench itself and from
the command's options. Files count by size and times. The record is in `REELBENCH_HOME`, not in the
site: it names what a page withholds.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reelbench.base import files, settings
from reelbench.leaderboard.code_state import PACKAGE, code_state, digest_of, file_states, state_of
from reelbench.registry import discovery, entry_points

_FOLDER = "sites"
_RUN_FILE = re.compile(r"data/(?:runs|samples)/(.+)\.js")
"""A file of a run, and the name of the run's files in its path."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The options of a site, beside its store.

    Attributes:
        published: Published numbers are shown too.
        common: See `board.on_common_videos`.
        url: Where the site will be served, for a posted link's picture.
        samples: Each run's samples are shown too.
    """

    published: bool = True
    common: tuple[str, ...] = ()
    url: str | None = None
    samples: bool = True


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers that the command states of a site.

    Attributes:
        runs: Its rows of runs.
        published: Its other rows.
        left_out: Key of a result that isn't shown -> why.
        reference_runs: Why a row of a run is a reference point -> how many are.
    """

    runs: int
    published: int
    left_out: Mapping[str, str]
    reference_runs: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SiteState:
    """A site as it was built.

    Attributes:
        inputs: The hash of all that it follows from.
        code: The hash of Reelbench itself.
        files: Path in the site -> its size and times.
        runs: Name of a run's files -> the hash of what they follow from.
        summary: What the command said of it.
    """

    inputs: str
    code: str
    files: Mapping[str, list[int]]
    runs: Mapping[str, str]
    summary: Summary

    def is_whole(self, out: Path) -> bool:
        """Return True where the site's files are those that were written, and no others."""
        return dict(file_states(out)) == self.files

    def unchanged_runs(self, out: Path, runs: Mapping[str, str]) -> set[str]:
        """Return the names of the runs' files that are as they would be written today.

        Args:
            out: The site.
            runs: Name of a run's files -> the hash of what they follow from today.
        """
        if code_state() != self.code:
            return set()
        names: set[str] = set()
        changed_names: set[str] = set()
        for path, state in self.files.items():
            match = _RUN_FILE.fullmatch(path)
            if match is None:
                continue
            name = match[1]
            if name in runs and self.runs.get(name) == runs[name]:
                names.add(name)
            if state_of(out / path) != state:
                changed_names.add(name)
        return names - changed_names


def read(out: Path) -> SiteState | None:
    """Return the state of a site that this machine built last. None of any other."""
    document = files.read_record(settings.record_of(out, _FOLDER))
    if document is None:
        return None
    try:
        return SiteState(
            inputs=document["inputs"],
            code=document["code"],
            files=document["files"],
            runs=document["runs"],
            summary=Summary(**document["summary"]),
        )
    except (LookupError, TypeError):  # of another version
        return None


def write(out: Path, inputs: str, runs: Mapping[str, str], summary: Summary) -> None:
    """Remember a site that was just built."""
    state = SiteState(inputs, code_state(), dict(file_states(out)), runs, summary)
    path = settings.record_of(out, _FOLDER)
    path.parent.mkdir(parents=True, exist_ok=True)
    # No key can be in it: paths, numbers, hashes and what the command said.
    files.write_text(path, json.dumps(asdict(state), ensure_ascii=False))


def forget(out: Path) -> None:
    """Remember a site no more."""
    settings.record_of(out, _FOLDER).unlink(missing_ok=True)


def inputs_of(store: Path, store_states: Mapping[str, list[int]], options: BuildOptions) -> str:
    """Return the hash of all that a site follows from.

    Args:
        store: The store.
        store_states: Path in the store -> the file's size and times.
        options: Those of the command.
    """
    folders = [*settings.BENCHMARKS.paths]
    folders += [Path(file).parent for file in discovery.opened_files()]
    folders += _packages_with_benchmarks()
    trees: list[Any] = [[str(store), sorted(store_states.items())]]
    trees += [[str(folder), sorted(file_states(folder))] for folder in folders]
    return digest_of([trees, asdict(options), code_state()])


def _packages_with_benchmarks() -> list[Path]:
    """Return the folders of the packages that declare benchmarks, ours left out."""
    names = {entry.module.partition(".")[0] for entry in entry_points.benchmark_entries()}
    folders: list[Path] = []
    for name in sorted(names - {PACKAGE.name}):
        module = find_spec(name)
        if module is not None and module.origin is not None:
            folders.append(Path(module.origin).parent)
    return folders
