"""Which benchmarks there are, declared in Python or in a file.

- By the entry-point group `reelbench.benchmarks`, ours and other packages': an entry `NAME =
  PACKAGE:SPEC` loads a
  `BenchmarkSpec`; the package's folder holds the benchmark's code, prompts, mini data and the YAML
  of its tasks.
- By a `benchmark.yaml` in a folder of `REELBENCH_BENCHMARKS`, or in a folder within one.
- By a `benchmark.yaml` that the user names by its path, for as long as his command runs.

A result on a benchmark of the last two kinds brings its declaration along: `spec_of` reads it, and
nothing keeps it.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base import process_state, settings
from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.registry import benchmark_file, entry_points, prompts
from reelbench.registry.declaration import declared_benchmark, scoring_sha256
from reelbench.registry.spec import BenchmarkSpec, TaskSpec

if TYPE_CHECKING:
    from reelbench.registry.records import BenchmarkRecord

log = logging.getLogger("reelbench")


@dataclass(frozen=True, slots=True)
class Registry:
    """Benchmarks in the order of their ids: of packages, of the user's folders, and those he named by their path.

    `packages` hold one that can be loaded; `left_out` is the name of an entry point, or of a file's
    folder -> why its benchmark is not here.
    """

    specs: Mapping[str, BenchmarkSpec]
    packages: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


_registry: Registry | None = None


def registry() -> Registry:
    """Return this process's benchmarks: what is installed, what lies in the user's folders, and what he named.

    InputError where two of ours clash. Another package's benchmark, or a file's, that can't be
    loaded or doesn't fit together, is left out with one line.
    """
    global _registry  # noqa: PLW0603 - made on first use, and once more for each file that the user names
    if _registry is not None:
        return _registry
    by_id: dict[str, BenchmarkSpec] = {}
    owners: dict[str, str] = {}
    left_out: dict[str, str] = {}

    def add(spec: object, owner: str, *, ours: bool) -> None:
        if not isinstance(spec, BenchmarkSpec):
            raise InputError(f"{owner}: SPEC is a {type(spec).__name__}, expected a BenchmarkSpec")
        if not ours:  # ours are held by tests
            prompts.check(spec)
        names = _names(spec)
        for name in names & owners.keys():
            raise InputError(f"{owner} and {owners[name]} both define {name!r}; rename one of them")
        owners.update(dict.fromkeys(names, owner))
        by_id[spec.id] = spec

    entries = [
        (entry.module.partition(".")[0] == "reelbench", entry)
        for entry in entry_points.benchmark_entries()
    ]
    ours_first = sorted(entries, key=lambda entry: not entry[0])
    for ours, source in chain(ours_first, ((False, file) for file in _files())):
        try:
            if isinstance(source, Path):
                add(benchmark_file.read(source), str(source), ours=False)
            else:
                add(source.load(), f"entry point {source.value}", ours=ours)
        except Exception as error:
            if ours:
                raise
            foreseen = isinstance(error, ReelbenchError)
            why = str(error) if foreseen else f"{type(error).__name__}: {first_line(error)}"
            if isinstance(source, Path):
                left_out[source.parent.name], what = why, "a benchmark" if foreseen else str(source)
            else:
                left_out[source.name], what = why, f"the benchmark {source.name} of {source.module}"
            log.warning("%s is left out: %s", what, why)
    packages = tuple(entry.module for _, entry in entries if entry.name not in left_out)
    _registry = Registry(dict(sorted(by_id.items())), packages, left_out)
    return _registry


def _files() -> Iterator[Path]:
    """Yield the `benchmark.yaml` files of the folders that the user names for good."""
    for folder in settings.BENCHMARKS.paths:
        if not folder.is_dir():
            log.warning("%s: %s is no folder", settings.BENCHMARKS.name, folder)
        own = folder / benchmark_file.NAME
        yield from map(
            Path.absolute,
            [own] if own.is_file() else sorted(folder.glob(f"*/{benchmark_file.NAME}")),
        )


def _names(spec: BenchmarkSpec) -> set[str]:
    return {spec.id, *(task.name for task in spec.tasks)}


def open_file(path: Path | str) -> BenchmarkSpec:
    """Open a `benchmark.yaml`, known by its id from now on; InputError where it is wrong, or a name in it is taken."""
    global _registry  # noqa: PLW0603 - as above
    spec = benchmark_file.read(path)
    prompts.check(spec)
    for known in specs().values():
        if known.file != spec.file and (taken := _names(spec) & _names(known)):
            where = known.file or known.package
            raise InputError(
                f"{spec.file}: {min(taken)!r} is a name of {where} too; choose another id"
            )
    _registry = replace(registry(), specs=dict(sorted({**specs(), spec.id: spec}.items())))
    return spec


def opened_files() -> list[str]:
    """The files of this process's benchmarks that are of no package: a process that works for it opens them too."""
    if _registry is None:
        return []
    files = (spec.file for spec in _registry.specs.values() if not spec.package)
    return [file for file in files if file and os.path.isfile(file)]  # noqa: PTH113 - a folder may be gone by now


def open_files(files: Sequence[str]) -> None:
    """Open the benchmarks that another process has opened: what its user named by a path is known to its workers."""
    if not files:
        return
    known = {spec.file for spec in specs().values()}
    for file in files:
        if file not in known:
            open_file(file)


process_state.register(opened_files, open_files)


def specs() -> Mapping[str, BenchmarkSpec]:
    """Return every benchmark by id, in the order of their ids."""
    return registry().specs


def get(name: str) -> BenchmarkSpec:
    """Return the benchmark called `name`; InputError suggests close names."""
    if (spec := specs().get(name)) is not None:
        return spec
    for left_out, why in registry().left_out.items():
        if name == left_out or name.startswith(f"{left_out}_"):
            raise InputError(f"{name}: left out, because it can't be loaded: {why}")
    names = dict.fromkeys(
        [*specs(), *(task.name for spec in specs().values() for task in spec.tasks)]
    )
    begun = [known for known in specs() if known.startswith(name.lower())]
    close = begun or get_close_matches(name.lower(), names.keys() - {name}, n=1, cutoff=0.75)
    there = f"there are {', '.join(specs())}; `reelbench list` shows their tasks"
    hint = f"did you mean {close[0]!r}?" if close else there
    if os.path.isfile(name):  # noqa: PTH113 - False too where a name is too long for a path
        hint = f"a file of questions becomes one by `reelbench new NAME --from {name}`"
    raise InputError(f"unknown benchmark {name!r}; {hint}")


def spec_of(record: "BenchmarkRecord") -> BenchmarkSpec:
    """Return the benchmark that a result is on: ours of that id, but where the result itself says otherwise.

    A result on a package's benchmark is read by the package. Any other brings its declaration:
    where that scores or breaks down otherwise than the file here, which may have changed since, it
    is read by its own word. InputError where there is no such benchmark here, and the result
    declares none, or another one.
    """
    known = specs().get(record.id)
    if record.declaration is None or (known is not None and known.package):
        return known or get(record.id)
    own = declared_benchmark(json.dumps(record.declaration, sort_keys=True))
    if own.id != record.id:
        raise InputError(f"is of {own.id!r}, and the result is of {record.id!r}")
    if known is None:
        return own
    # What numbers and labels follow from; titles and the like may be put otherwise.
    here, its = (
        (
            spec.version,
            scoring_sha256(spec),
            [(facet.name, facet.labels, facet.in_rows) for facet in spec.facets],
        )
        for spec in (known, own)
    )
    return known if here == its else own


def find(name: str) -> BenchmarkSpec:
    """Return the benchmark that a user names: by its id, or by the path of its `benchmark.yaml` or of its folder.

    A name out of a record is a stranger's word, and is for `get`: it is never opened.
    """
    return open_file(name) if _is_path(name) else get(name)


def find_task(name: str, *, twins: bool = False) -> tuple[BenchmarkSpec, TaskSpec] | None:
    """Return the benchmark and task of an lmms-eval task name, or None where the task isn't ours.

    With `twins`, `name` may be a task of lmms-eval's own on the rows of one of ours.
    """
    tasks = [(spec, task) for spec in specs().values() for task in spec.tasks]
    named = (found for found in tasks if found[1].name == name)
    return next(chain(named, (found for found in tasks if twins and found[1].twin == name)), None)


def knows(name: str) -> bool:
    """Whether a name is a benchmark's, a task's, or the path of a `benchmark.yaml` or of a folder with one."""
    return name in specs() or find_task(name) is not None or _is_declaration(name)


def _is_path(name: str) -> bool:
    # What is installed comes first: a stranger's folder in which one works may have one of that
    # name.
    return (
        (os.sep in name or _is_declaration(name))
        and name not in specs()
        and find_task(name) is None
    )


def plain_name(name: str) -> str:
    """Return a benchmark's name as it stands, and of a path the id of what lies there."""
    return find(name).id if _is_path(name) else name


def _is_declaration(name: str) -> bool:
    # os.path's answer is False for what can't be a path, such as a name that is too long.
    path = os.path.expanduser(name)  # noqa: PTH111
    return path.endswith((".yaml", ".yml")) or os.path.isfile(
        os.path.join(path, benchmark_file.NAME)
    )  # noqa: PTH113, PTH118
