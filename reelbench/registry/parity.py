"""`parity.json` beside a benchmark: its owners' scorer and ours on the same answers."""

from collections.abc import Mapping
from typing import Any

from reelbench.base.files import read_json
from reelbench.base.values import is_object
from reelbench.registry.spec import BenchmarkSpec

FILE = "parity.json"


def parity(spec: BenchmarkSpec) -> str | None:
    """Return the finding in a sentence; None where nobody compared."""
    path = spec.folder / FILE if spec.file or spec.package else None
    found: Any = read_json(path) if path is not None and path.is_file() else None
    return (
        sentence(found, {metric.name: metric.title for metric in spec.metrics})
        if is_object(found)
        else None
    )


def sentence(found: dict[str, Any], titles: Mapping[str, str]) -> str:
    """Read the content of a `parity.json`: whose scorer at which commit, the answers, and the numbers by title."""
    numbers: dict[str, dict[str, float]] = found["numbers"]
    same = not any(each["difference"] for each in numbers.values())
    listed = "; ".join(
        f"{titles.get(name, name)} = {each['theirs']:.4g}"
        + ("" if same else f" and {each['ours']:.4g}")
        for name, each in numbers.items()
    )
    scorer = f"{found['scorer']} of {found['repository']} at {found['commit'][:12]}"
    said = "the same numbers as ours" if same else "other numbers than ours"
    note = f" The difference: {found['note']}." if found.get("note") else ""
    on = f"on {found['n']:,} answers ({found['answers']})"
    return f"The owners' scorer ({scorer}) gives {said} {on}: {listed}{'' if same else ' (theirs and ours)'}.{note}"
