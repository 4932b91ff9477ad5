"""The entry points by which packages, Reelbench among them, bring benchmarks."""

from functools import cache
from importlib.metadata import EntryPoints, entry_points

GROUP = "reelbench.benchmarks"


@cache
def benchmark_entries() -> EntryPoints:
    """Return the entry points of all benchmarks.

    To look for them is to read the metadata of every package, so it is done once.
    """
    return entry_points(group=GROUP)


@cache
def our_room() -> str:
    """Return the package that holds our own benchmarks, as their entry points name it."""
    our_package = __name__.partition(".")[0]
    for entry in benchmark_entries():
        if entry.module.partition(".")[0] == our_package:
            return entry.module.rpartition(".")[0]
    raise LookupError(f"{our_package}: none of its benchmarks is installed")
