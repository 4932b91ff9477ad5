"""The gallery: benchmarks of the field that are declared here, without their rows.

A gallery file is read only when it is named. The rows or scorer that it was held against stand in
`held.json`.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from reelbench.base.files import read_json
from reelbench.registry.benchmark_file import NAME, read
from reelbench.registry.entry_points import our_room
from reelbench.registry.spec import BenchmarkSpec, HubFile, UrlFile

TASK_PREFIX = "reelbench_"
"""What the tasks of the gallery begin with: lmms-eval has tasks by the plain names."""

_HELD = "held.json"


class Comparison(NamedTuple):
    """The rows or scorer that a gallery file was held against.

    Attributes:
        against: Whose scorer gave our numbers (`parity.json`), and on what: `real answers`,
            `real rows` or `made rows`. Without a scorer, rows that were read, and whose right
            answers got 100 %.
        differs: How our number differs from its owners'. Empty where nothing is known to differ.
    """

    against: str
    differs: str


@cache
def folder() -> Path:
    """Return the folder of the gallery."""
    from importlib import import_module

    return Path(next(iter(import_module(our_room()).__path__))) / "gallery"


@cache
def names() -> tuple[str, ...]:
    """Return the ids of the gallery's benchmarks, in order."""
    return tuple(sorted(file.parent.name for file in folder().glob(f"*/{NAME}")))


def spec_of(name: str) -> BenchmarkSpec:
    """Return a benchmark of the gallery."""
    return read(folder() / name, installed=True)


def comparison(name: str) -> Comparison:
    """Return the rows or scorer that a gallery file was held against."""
    return Comparison(**_comparisons()[name])


@cache
def _comparisons() -> dict[str, dict[str, str]]:
    return read_json(folder() / _HELD)


def owner_of_task(task: str) -> str | None:
    """Return the gallery's benchmark with a task of this name. None where there is none."""
    if not task.startswith(TASK_PREFIX):
        return None
    rest = task.removeprefix(TASK_PREFIX)
    owners = [name for name in names() if rest == name or rest.startswith(f"{name}_")]
    return max(owners, key=len, default=None)


def owner_of_twin(task: str) -> str | None:
    """Return the gallery's benchmark whose twin this task is. None where there is none."""
    for name in names():
        declaration = folder() / name / NAME
        if task not in declaration.read_text(encoding="utf-8"):  # which is quicker than to parse it
            continue
        twins = [declared_task.twin for declared_task in spec_of(name).tasks]
        if task in twins:
            return name
    return None


def is_pinned(spec: BenchmarkSpec) -> bool:
    """Return True where every split's file is of one commit, or has a known hash."""
    for split in spec.splits.values():
        source = split.source
        if isinstance(source, HubFile) and source.revision is None:
            return False
        if isinstance(source, UrlFile) and source.sha256 is None:
            return False
    return True
