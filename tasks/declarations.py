"""What several benchmarks' specs declare alike."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.registry import benchmark_file
from reelbench.registry.spec import BenchmarkSpec, Mean, Metric, PublishedResult, TaskSpec


def percentage(name: str, title: str, column: str, *, scale: float = 100, **more: Any) -> Metric:  # noqa: ANN401 - fields
    """Return a metric in percent: the mean of a column, which is 1 at best where `scale` is 100."""
    return Metric(name=name, title=title, unit="percent", aggregate=Mean(column=column, scale=scale), **more)


def with_mini(
    name: str, split: str, *, mini: str = "mini", tags: tuple[str, ...] = ("reelbench",)
) -> tuple[TaskSpec, TaskSpec]:
    """Return a task on a split, and the one on its mini rows."""
    return (
        TaskSpec(name=name, split=split, tags=tags),
        TaskSpec(name=f"{name}_mini", split=mini, tags=("reelbench_mini",)),
    )


def in_file(package: str, file: str, **more: Any) -> BenchmarkSpec:  # noqa: ANN401 - fields
    """Return the benchmark of ours that the `benchmark.yaml` beside a package's `__init__.py` declares."""
    folder = Path(file).parent
    spec = benchmark_file.read(folder, installed=True)
    # A package's own folder holds no videos.
    media = tuple(replace(s, roots=tuple(root for root in s.roots if root != str(folder))) for s in spec.media)
    tasks = tuple(task if task.split.startswith("mini") else replace(task, tags=("reelbench",)) for task in spec.tasks)
    return replace(spec, package=package, media=media, tasks=tasks, **more)


def published(file: str) -> tuple[PublishedResult, ...]:
    """Return the numbers that others published, from the `published.json` beside a package's `__init__.py`.

    It is a list of tables: each has the fields that its rows share, `metrics` in the order of their `values`, `rows`.
    """
    results: list[PublishedResult] = []
    for table in json.loads(Path(file).with_name("published.json").read_text(encoding="utf-8")):
        rows, metrics = table.pop("rows"), table.pop("metrics")
        for row in rows:
            values = row.pop("values", None)
            named = {} if values is None else {"metrics": dict(zip(metrics, values, strict=False))}
            results.append(PublishedResult(**table | named | row))
    return tuple(results)
