"""Which benchmarks there are, declared in Python or in a file.

- By the entry-point group `reelbench.benchmarks`, ours and other packages': an entry `NAME = PACKAGE:SPEC` loads a
  `BenchmarkSpec`; the package's folder holds the benchmark's code, prompts, mini data and the YAML of its tasks.
- By a `benchmark.yaml` in a folder of `REELBENCH_BENCHMARKS`, or in a folder within one.
- By a `benchmark.yaml` that is named by its path: it is known by its id from then on.
- By a result on such a benchmark, which declares it.
"""

import logging
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from reelbench.registry import benchmark_file, prompts, settings
from reelbench.registry.benchmark_file import ENTRY_POINTS
from reelbench.registry.declaration import declared
from reelbench.registry.errors import InputError, ReelbenchError, first_line
from reelbench.registry.spec import BenchmarkSpec, TaskSpec

log = logging.getLogger("reelbench")


def packages() -> list[str]:
    """Return the packages that hold a benchmark, but for those that can't be loaded: that is said once."""
    specs()
    return [entry.module for entry in entry_points(group=ENTRY_POINTS) if entry.name not in _left_out]


def specs() -> dict[str, BenchmarkSpec]:
    """Return every benchmark by id, in the order of their ids; raises InputError where two of ours share an id or task.

    Another package's benchmark, or a file's, that can't be loaded or doesn't fit together, is left out with one line
    that says why.
    """
    return dict(sorted({**_met, **_installed()}.items()))


_left_out: dict[str, str] = {}
"""Name of an entry point, or of a file's folder -> why its benchmark is not among `specs`."""

_met: dict[str, BenchmarkSpec] = {}
"""Id -> benchmark whose file was named by its path in this process, or that a result declared."""


@cache
def _installed() -> dict[str, BenchmarkSpec]:
    by_id: dict[str, BenchmarkSpec] = {}
    owners: dict[str, str] = {}

    def add(spec: object, owner: str) -> None:
        if not isinstance(spec, BenchmarkSpec):
            raise InputError(f"{owner}: SPEC is a {type(spec).__name__}, expected a BenchmarkSpec")
        names = _names(spec)
        for name in names & owners.keys():
            raise InputError(f"{owner} and {owners[name]} both define {name!r}; rename one of them")
        owners.update(dict.fromkeys(names, owner))
        by_id[spec.id] = spec

    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: not _is_ours(entry.module)):
        if _is_ours(entry.module):  # held by tests
            add(entry.load(), f"entry point {entry.value}")
            continue
        try:
            spec = entry.load()
            if isinstance(spec, BenchmarkSpec):
                prompts.check(spec)
            add(spec, f"entry point {entry.value}")
        except Exception as error:  # noqa: BLE001 - whatever another package does
            _leave_out(entry.name, f"the benchmark {entry.name} of {entry.module}", error)
    for file in _files():
        try:
            spec = benchmark_file.read(file)
            prompts.check(spec)
            add(spec, str(file))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one file, it is that one's
            _leave_out(file.parent.name, "a benchmark" if isinstance(error, ReelbenchError) else str(file), error)
    return by_id


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "reelbench"


def _leave_out(name: str, what: str, error: Exception) -> None:
    why = str(error) if isinstance(error, ReelbenchError) else f"{type(error).__name__}: {first_line(error)}"
    _left_out[name] = why
    log.warning("%s is left out: %s", what, why)


def _files() -> Iterator[Path]:
    """Yield the `benchmark.yaml` files of the folders that the user names for good."""
    for folder in settings.BENCHMARKS.paths:
        if not folder.is_dir():
            log.warning("%s: %s is no folder", settings.BENCHMARKS.name, folder)
        elif (folder / benchmark_file.NAME).is_file():
            yield (folder / benchmark_file.NAME).absolute()
        else:
            yield from sorted(file.absolute() for file in folder.glob(f"*/{benchmark_file.NAME}"))


def knows(name: str) -> bool:
    """Whether a name is a benchmark's, a task's, or the path of a `benchmark.yaml` or of a folder with one."""
    return name in specs() or find_task(name) is not None or _is_declaration(name)


def plain_name(name: str) -> str:
    """Return a benchmark's name as it stands, and of a path the id of what lies there."""
    return find(name).id if os.sep in name or _is_declaration(name) else name


def _is_declaration(name: str) -> bool:
    # os.path's answer is False for what can't be a path, such as a name that is too long.
    path = os.path.expanduser(name)  # noqa: PTH111
    return path.endswith((".yaml", ".yml")) or os.path.isfile(os.path.join(path, benchmark_file.NAME))  # noqa: PTH113, PTH118


def opened(path: Path | str) -> BenchmarkSpec:
    """Return the benchmark that a `benchmark.yaml` declares, which has its id from now on.

    Raises:
        InputError: Something in the file is wrong, or its id or a task's name is another benchmark's.
    """
    spec = benchmark_file.read(path)
    prompts.check(spec)
    names = _names(spec)
    for known in specs().values():
        here = known.file or known.package  # neither: a result alone declares it
        if here and known.file != spec.file and (taken := names & _names(known)):
            raise InputError(f"{spec.file}: {min(taken)!r} is a name of {here} too; choose another id")
    _met[spec.id] = spec
    return spec


def learn(name: str, document: dict[str, Any]) -> None:
    """Know a benchmark that a result declares, unless one of its names is known already.

    Raises:
        InputError: It is no declaration, or of another benchmark.
    """
    known = specs().get(name)
    if known is not None and (known.package or known.file):
        return
    spec = declared(document)
    if spec.id != name:
        raise InputError(f"is of {spec.id!r}, and the result is of {name!r}")
    if known is not None:
        if spec.version == known.version and _rules(spec) != _rules(known):
            raise InputError(f"says otherwise what {name} is than a result that was read before")
        return
    if not any(_names(spec) & _names(known) for known in specs().values()):
        _met[name] = spec


@contextmanager
def learning_apart() -> Generator[None]:
    """Forget at the block's end what results declared in it: one submission's word is not for the next."""
    before = dict(_met)
    try:
        yield
    finally:
        _met.clear()
        _met.update(before)


def _rules(spec: BenchmarkSpec) -> tuple[object, ...]:
    """Return what numbers are read by; titles and the like may be put otherwise."""
    return spec.row_kind, spec.kinds, spec.metrics, spec.facets, spec.judge


def _names(spec: BenchmarkSpec) -> set[str]:
    return {spec.id, *(task.name for task in spec.tasks)}


def get(name: str) -> BenchmarkSpec:
    """Return the benchmark called `name`; InputError suggests close names."""
    if (spec := specs().get(name)) is not None:
        return spec
    for left_out, why in _left_out.items():
        if name == left_out or name.startswith(f"{left_out}_"):
            raise InputError(f"{name}: left out, because it can't be loaded: {why}")
    raise InputError(f"unknown benchmark {name!r}{_suggestion(name)}")


def find(name: str) -> BenchmarkSpec:
    """Return the benchmark that a user names: by its id, or by the path of its `benchmark.yaml` or of its folder.

    A name out of a record is a stranger's word, and is for `get`: it is never opened.
    """
    if name not in specs() and (os.sep in name or _is_declaration(name)):
        return opened(name)
    return get(name)


def find_task(name: str) -> tuple[BenchmarkSpec, TaskSpec] | None:
    """Return the benchmark and task of an lmms-eval task name, or None where the task isn't ours."""
    return _task_that(lambda task: task.name == name)


def find_twin(name: str) -> tuple[BenchmarkSpec, TaskSpec] | None:
    """Return the benchmark and task on the rows of lmms-eval's own task `name`, or None where none of ours has them."""
    return _task_that(lambda task: task.twin == name)


def _task_that(holds: Callable[[TaskSpec], bool]) -> tuple[BenchmarkSpec, TaskSpec] | None:
    return next(((spec, task) for spec in specs().values() for task in spec.tasks if holds(task)), None)


def _suggestion(name: str) -> str:
    names = dict.fromkeys([*specs(), *(task.name for spec in specs().values() for task in spec.tasks)])
    close = get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(specs())}"
