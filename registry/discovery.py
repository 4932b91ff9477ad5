"""Which benchmarks there are: ours and other packages', all by the entry-point group `reelbench.benchmarks`.

An entry `NAME = PACKAGE:SPEC` loads a `BenchmarkSpec`; the package's folder holds the benchmark's code, prompts, mini
data and the YAML of its tasks.
"""

from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points

from reelbench.registry.errors import InputError
from reelbench.registry.spec import BenchmarkSpec, TaskSpec

ENTRY_POINTS = "reelbench.benchmarks"


def packages() -> list[str]:
    """Return the packages that hold a benchmark, without importing any of them."""
    return [entry.module for entry in entry_points(group=ENTRY_POINTS)]


@cache
def specs() -> dict[str, BenchmarkSpec]:
    """Return every benchmark by id, in the order of their ids; raises InputError where two share an id or a task."""
    found: dict[str, BenchmarkSpec] = {}
    owners: dict[str, str] = {}

    def add(spec: object, owner: str) -> None:
        if not isinstance(spec, BenchmarkSpec):
            raise InputError(f"{owner}: SPEC is a {type(spec).__name__}, expected a BenchmarkSpec")
        for name in {spec.id, *(task.name for task in spec.tasks)}:
            if name in owners:
                raise InputError(f"{owner} and {owners[name]} both define {name!r}; rename one of them")
            owners[name] = owner
        found[spec.id] = spec

    for entry in entry_points(group=ENTRY_POINTS):
        add(entry.load(), f"entry point {entry.value}")
    return dict(sorted(found.items()))


def get(name: str) -> BenchmarkSpec:
    """Return the benchmark called `name`; InputError suggests close names."""
    try:
        return specs()[name]
    except KeyError:
        raise InputError(f"unknown benchmark {name!r}{_suggestion(name)}") from None


def find_task(name: str) -> tuple[BenchmarkSpec, TaskSpec] | None:
    """Return the benchmark and task of an lmms-eval task name, or None where the task isn't ours."""
    for spec in specs().values():
        for task in spec.tasks:
            if task.name == name:
                return spec, task
    return None


def _suggestion(name: str) -> str:
    names = dict.fromkeys([*specs(), *(task.name for spec in specs().values() for task in spec.tasks)])
    close = get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(specs())}"
