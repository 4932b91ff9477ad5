"""Read the benchmarks of our own packages from the files beside their `__init__.py`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.registry import benchmark_file
from reelbench.registry.spec import BenchmarkSpec, MediaSource, PublishedResult, TaskSpec


def of_package(package: str, file: str) -> BenchmarkSpec:
    """Return the benchmark of the package whose `__init__.py` is `file`.

    `spec.yaml` has the fields of a `BenchmarkSpec`. Where there is none, all fields come from a
    `benchmark.yaml`. A `formats.py` beside it reads the owners' result files.
    """
    folder = Path(file).parent
    published = _published_results(folder)
    fields_file = folder / "spec.yaml"
    if fields_file.is_file():
        import yaml

        from reelbench.base.yaml_text import LOADER

        text = fields_file.read_text(encoding="utf-8")
        fields: dict[str, Any] = yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe one
        return BenchmarkSpec(**fields, package=package, published=published)
    spec = benchmark_file.read(folder, installed=True)
    media = [_without_root(source, folder) for source in spec.media]
    tasks = [_with_tag(task) for task in spec.tasks]
    formats = spec.formats
    if (folder / "formats.py").is_file():
        formats = f"{package}.formats"
    return replace(
        spec,
        package=package,
        formats=formats,
        media=tuple(media),
        tasks=tuple(tasks),
        published=published,
    )


def _without_root(source: MediaSource, folder: Path) -> MediaSource:
    """Return a source of videos without the package's own folder, which holds none."""
    roots = [root for root in source.roots if root != str(folder)]
    return replace(source, roots=tuple(roots))


def _with_tag(task: TaskSpec) -> TaskSpec:
    """Return a task with the tag of all tasks on whole splits."""
    if task.split.startswith("mini"):
        return task
    return replace(task, tags=("reelbench",))


def _published_results(folder: Path) -> tuple[PublishedResult, ...]:
    """Return the published numbers in a package's `published.json`, if it has one.

    It is a list of tables: each has the fields that its rows share, `metrics` in the order of their
    `values`, `rows`.
    """
    path = folder / "published.json"
    if not path.is_file():
        return ()
    results: list[PublishedResult] = []
    for table in json.loads(path.read_text(encoding="utf-8")):
        rows = table.pop("rows")
        names = table.pop("metrics")
        for row in rows:
            fields = table | row
            values = fields.pop("values", None)
            if values is not None:
                fields.setdefault("metrics", dict(zip(names, values, strict=False)))
            results.append(PublishedResult(**fields))
    return tuple(results)
