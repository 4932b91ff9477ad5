"""The benchmarks that there are, declared in Python or in a file.

- By the entry-point group `reelbench.benchmarks`, ours and other packages': an entry `NAME =
  PACKAGE:SPEC` loads a `BenchmarkSpec`. The package's folder holds the benchmark's code, prompts,
  mini data and the YAML of its tasks.
- By a `benchmark.yaml` in a folder of `REELBENCH_BENCHMARKS`, or in a folder within one.
- By a `benchmark.yaml` that the user names by its path, for as long as his command runs.
- By a `benchmark.yaml` of the gallery that is named by its id, a task or a twin. One of the user's
  with the same id hides it.

A result on a benchmark of the last two kinds brings its declaration along: `spec_of` reads it, and
nothing keeps it.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base import process_state, settings
from reelbench.base.errors import InputError, ReelbenchError, failure_in_a_line
from reelbench.registry import benchmark_file, entry_points, gallery, prompts
from reelbench.registry.declaration import declared_benchmark, scoring_sha256
from reelbench.registry.spec import BenchmarkSpec, TaskSpec

if TYPE_CHECKING:
    from reelbench.registry.records import BenchmarkRecord

log = logging.getLogger("reelbench")

_CLOSE_NAME = 0.75


@dataclass(frozen=True, slots=True)
class Registry:
    """The benchmarks of a process.

    Attributes:
        specs: Id -> benchmark, in the order of the ids.
        packages: Modules of the entry points that can be loaded.
        left_out: Name of an entry point, or of a file's folder -> why its benchmark is not here.
    """

    specs: Mapping[str, BenchmarkSpec]
    packages: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


_registry: Registry | None = None


def registry() -> Registry:
    """Return this process's benchmarks: installed ones, and those of the user's folders and files.

    Another package's benchmark, or a file's, that can't be loaded or doesn't fit together, is left
    out with one line.

    Raises:
        InputError: Two of ours clash.
    """
    global _registry  # noqa: PLW0603 - made on first use, and once more for each file the user names
    if _registry is None:
        _registry = _load_registry()
    return _registry


def _load_registry() -> Registry:
    loader = _Loader()
    entries = list(entry_points.benchmark_entries())
    our_entries = [entry for entry in entries if _is_ours(entry)]
    others_entries = [entry for entry in entries if not _is_ours(entry)]
    for entry in our_entries:
        loader.add(entry.load(), f"entry point {entry.value}")
    for entry in others_entries:
        loader.add_entry(entry)
    for file in _declared_files():
        loader.add_file(file)
    packages = [entry.module for entry in entries if entry.name not in loader.left_out]
    return Registry(dict(sorted(loader.by_id.items())), tuple(packages), loader.left_out)


def _is_ours(entry: EntryPoint) -> bool:
    return entry.module.partition(".")[0] == "reelbench"


class _Loader:
    """Collects benchmarks, and leaves out those of others that can't be loaded."""

    def __init__(self) -> None:
        self.by_id: dict[str, BenchmarkSpec] = {}
        self.left_out: dict[str, str] = {}
        self._owner_by_name: dict[str, str] = {}

    def add(self, spec: object, owner: str) -> None:
        """Add a benchmark. InputError where it is none, or another one has its name."""
        if not isinstance(spec, BenchmarkSpec):
            raise InputError(f"{owner}: SPEC is a {type(spec).__name__}, expected a BenchmarkSpec")
        names = _names(spec)
        for name in names & self._owner_by_name.keys():
            raise InputError(
                f"{owner} and {self._owner_by_name[name]} both define {name!r}; rename one of them"
            )
        self._owner_by_name.update(dict.fromkeys(names, owner))
        self.by_id[spec.id] = spec

    def add_entry(self, entry: EntryPoint) -> None:
        """Add the benchmark of another package."""
        try:
            self._add_checked(entry.load(), f"entry point {entry.value}")
        except Exception as error:  # noqa: BLE001 - whatever a stranger's package raises
            self.left_out[entry.name] = failure_in_a_line(error)
            what = f"the benchmark {entry.name} of {entry.module}"
            log.warning("%s is left out: %s", what, self.left_out[entry.name])

    def add_file(self, file: Path) -> None:
        """Add the benchmark of a file."""
        try:
            self._add_checked(benchmark_file.read(file), str(file))
        except Exception as error:  # noqa: BLE001 - whatever a stranger's prompts and rows lead to
            name = file.parent.name
            self.left_out[name] = failure_in_a_line(error)
            names_file = isinstance(error, ReelbenchError)  # its line does
            what = "a benchmark" if names_file else str(file)
            log.warning("%s is left out: %s", what, self.left_out[name])

    def _add_checked(self, spec: object, owner: str) -> None:
        if isinstance(spec, BenchmarkSpec):
            prompts.check(spec)  # those of our own are checked by tests
        self.add(spec, owner)


def _declared_files() -> Iterator[Path]:
    """Yield the `benchmark.yaml` files of the folders that the user names for good."""
    for folder in settings.BENCHMARKS.paths:
        if not folder.is_dir():
            log.warning("%s: %s is not a folder", settings.BENCHMARKS.name, folder)
        file_of_folder = folder / benchmark_file.NAME
        if file_of_folder.is_file():
            yield file_of_folder.absolute()
            continue
        for file in sorted(folder.glob(f"*/{benchmark_file.NAME}")):
            yield file.absolute()


def _names(spec: BenchmarkSpec) -> set[str]:
    return {spec.id, *(task.name for task in spec.tasks)}


def open_file(path: Path | str) -> BenchmarkSpec:
    """Open a `benchmark.yaml`, which is known by its id from now on.

    Raises:
        InputError: It is wrong, or a name in it is taken.
    """
    spec = benchmark_file.read(path)
    prompts.check(spec)
    return _add_benchmark(spec)


def _add_benchmark(spec: BenchmarkSpec) -> BenchmarkSpec:
    """Add a file's benchmark to those of this process. InputError where a name is taken."""
    global _registry  # noqa: PLW0603 - as above
    for known_spec in specs().values():
        common_names = _names(spec) & _names(known_spec)
        if known_spec.file != spec.file and common_names:
            where = known_spec.file or known_spec.package
            raise InputError(
                f"{spec.file}: {min(common_names)!r} is also a name in {where}; choose another id"
            )
    specs_by_id = {**specs(), spec.id: spec}
    _registry = replace(registry(), specs=dict(sorted(specs_by_id.items())))
    return spec


def opened_files() -> list[str]:
    """Return the files that declare benchmarks of this process.

    A process that works for it opens them, too.
    """
    if _registry is None:
        return []
    files = [spec.file for spec in _registry.specs.values() if spec.file and not spec.package]
    return [file for file in files if os.path.isfile(file)]  # noqa: PTH113 - it may be gone


def open_files(files: Sequence[str]) -> None:
    """Open the benchmarks that another process has opened."""
    if not files:
        return
    known_files = {spec.file for spec in specs().values()}
    for file in files:
        if file not in known_files:
            open_file(file)


process_state.register(opened_files, open_files)


def specs() -> Mapping[str, BenchmarkSpec]:
    """Return every benchmark by id, in the order of their ids."""
    return registry().specs


def get(name: str) -> BenchmarkSpec:
    """Return the benchmark called `name`. InputError suggests close names."""
    spec = specs().get(name)
    if spec is not None:
        return spec
    if name in gallery.names():
        return _add_benchmark(gallery.spec_of(name))
    for left_out, reason in registry().left_out.items():
        if name == left_out or name.startswith(f"{left_out}_"):
            raise InputError(f"{name}: left out, because it can't be loaded: {reason}")
    raise InputError(f"unknown benchmark {name!r}; {_advice(name)}")


def _advice(name: str) -> str:
    if os.path.isfile(name):  # noqa: PTH113 - False too where a name is too long for a path
        return f"a file of questions becomes one by `reelbench new NAME --from {name}`"
    close_name = _close_name(name)
    if close_name is not None:
        return f"did you mean {close_name!r}?"
    return f"there are {', '.join(specs())}; `reelbench list` shows their tasks; or give its folder"


def _close_name(name: str) -> str | None:
    """Return the id that begins with a name, else the closest known name."""
    lower_name = name.lower()
    for spec_id in specs():
        if spec_id.startswith(lower_name):
            return spec_id
    names = list(specs())
    for spec in specs().values():
        names += [task.name for task in spec.tasks]
    names = [known_name for known_name in names if known_name != name]
    close = get_close_matches(lower_name, names, n=1, cutoff=_CLOSE_NAME)
    return close[0] if close else None


def spec_of(record: "BenchmarkRecord") -> BenchmarkSpec:
    """Return the benchmark of a result: ours of that id, unless the result says otherwise.

    A result on a package's benchmark is read by the package. Any other brings its declaration:
    where that scores or breaks down otherwise than the file here, which may have changed since, it
    is read by its own word.

    Raises:
        InputError: There is no such benchmark here, and the result declares none, or another one.
    """
    known_spec = specs().get(record.id)
    if record.declaration is None or (known_spec is not None and known_spec.package):
        return known_spec or get(record.id)
    declared_spec = declared_benchmark(json.dumps(record.declaration, sort_keys=True))
    if declared_spec.id != record.id:
        raise InputError(f"is of {declared_spec.id!r}, and the result is of {record.id!r}")
    if known_spec is not None and _reads_alike(known_spec, declared_spec):
        return known_spec
    return declared_spec


def _reads_alike(first: BenchmarkSpec, second: BenchmarkSpec) -> bool:
    """Return True where two benchmarks make the same numbers and labels. Titles may differ."""
    return _scoring_facts(first) == _scoring_facts(second)


def _scoring_facts(spec: BenchmarkSpec) -> list[Any]:
    facets = [(facet.name, facet.labels, facet.in_rows) for facet in spec.facets]
    return [spec.version, scoring_sha256(spec), facets]


def find(name: str) -> BenchmarkSpec:
    """Return the benchmark that a user names, by its id or by a path.

    A path is of its `benchmark.yaml` or of the folder. A name out of a record is a stranger's word,
    and is for `get`: it is never opened.
    """
    return open_file(name) if _is_path(name) else get(name)


class BenchmarkTask(NamedTuple):
    """A task, and its benchmark."""

    spec: BenchmarkSpec
    task: TaskSpec


def find_task(name: str, *, twins: bool = False) -> BenchmarkTask | None:
    """Return the benchmark and task of an lmms-eval task name.

    None where it isn't ours. With `twins`, `name` may be a task of lmms-eval's own on the rows of
    one of ours.
    """
    for spec in specs().values():
        for task in spec.tasks:
            if task.name == name:
                return BenchmarkTask(spec, task)
    owner = gallery.owner_of_task(name)
    if owner is not None and owner not in specs():
        get(owner)
        return find_task(name, twins=twins)
    if not twins:
        return None
    for spec in specs().values():
        for task in spec.tasks:
            if task.twin == name:
                return BenchmarkTask(spec, task)
    owner = gallery.owner_of_twin(name)
    if owner is not None and owner not in specs():
        get(owner)
        return find_task(name, twins=True)
    return None


def is_known_name(name: str) -> bool:
    """Return True for a benchmark's or task's name, or a path of a declaration."""
    return name in specs() or find_task(name) is not None or _is_declaration(name)


def _is_path(name: str) -> bool:
    # What is installed comes first: a stranger's folder in which one works may have one of that
    # name.
    if name in specs() or find_task(name) is not None:
        return False
    return os.sep in name or _is_declaration(name)


def plain_name(name: str) -> str:
    """Return a benchmark's name; for a path the id of the benchmark there."""
    return find(name).id if _is_path(name) else name


def _is_declaration(name: str) -> bool:
    # os.path's answer is False for what can't be a path, such as a name that is too long.
    path = os.path.expanduser(name)  # noqa: PTH111
    if path.endswith((".yaml", ".yml")):
        return True
    return os.path.isfile(os.path.join(path, benchmark_file.NAME))  # noqa: PTH113, PTH118
