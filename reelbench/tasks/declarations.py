"""Benchmarks of ours, as files beside their packages' `__init__.py` declare them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.registry import benchmark_file
from reelbench.registry.spec import BenchmarkSpec, PublishedResult


def of_package(package: str, file: str) -> BenchmarkSpec:
    """Return the benchmark of the package whose `__init__.py` is `file`.

    `spec.yaml` has the fields of a `BenchmarkSpec`; where there is none, a `benchmark.yaml` says
    all that it takes.
    """
    folder = Path(file).parent
    if (folder / "spec.yaml").is_file():
        import yaml

        from reelbench.base.yaml_text import LOADER

        fields: dict[str, Any] = yaml.load(
            (folder / "spec.yaml").read_text(encoding="utf-8"), Loader=LOADER
        )  # noqa: S506 - a safe one
        return BenchmarkSpec(**fields, package=package, published=_published(folder))
    spec = benchmark_file.read(folder, installed=True)
    # A package's own folder holds no videos.
    media = tuple(
        replace(s, roots=tuple(root for root in s.roots if root != str(folder))) for s in spec.media
    )
    tasks = tuple(
        task if task.split.startswith("mini") else replace(task, tags=("reelbench",))
        for task in spec.tasks
    )
    return replace(spec, package=package, media=media, tasks=tasks, published=_published(folder))


def _published(folder: Path) -> tuple[PublishedResult, ...]:
    """Return the numbers that others published, from a package's `published.json`, if it has one.

    It is a list of tables: each has the fields that its rows share, `metrics` in the order of their
    `values`, `rows`.
    """
    path = folder / "published.json"
    results: list[PublishedResult] = []
    for table in json.loads(path.read_text(encoding="utf-8")) if path.is_file() else ():
        rows, metrics = table.pop("rows"), table.pop("metrics")
        for row in rows:
            values = row.pop("values", None)
            named = {} if values is None else {"metrics": dict(zip(metrics, values, strict=False))}
            results.append(PublishedResult(**table | named | row))
    return tuple(results)
