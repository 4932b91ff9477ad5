"""lmms-eval's tasks of benchmarks that a `benchmark.yaml` declares: made when they are asked for, no YAML is written.

They are what `codegen` writes for a benchmark in a package, with the functions themselves in place of their names.
"""

from functools import cache
from typing import Any

import yaml

from reelbench.registry import discovery
from reelbench.registry.data.loading import imported
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.lmms import codegen
from reelbench.tasks.lmms.task import LmmsTask


def index() -> dict[str, dict[str, Any]]:
    """Return lmms-eval's index of the tasks that files declare, and of their tags."""
    entries: dict[str, dict[str, Any]] = {}
    for spec in discovery.specs().values():
        for task in spec.tasks if spec.file else ():
            entries[task.name] = {"type": "task", "yaml_path": -1}
            for tag in task.tags:
                entries.setdefault(tag, {"type": "tag", "task": [], "yaml_path": -1})["task"].append(task.name)
    return entries


def config(name: str) -> dict[str, Any] | None:
    """Return the configuration of a task that a file declares; None for any other task."""
    known = discovery.find_task(name)
    if known is None or not known[0].file:
        return None
    spec, _ = known
    texts = codegen.files_of(spec)
    return {**_loaded(spec, texts[codegen.shared_name(spec)]), **_loaded(spec, texts[f"{name}.yaml"])}


def _loaded(spec: BenchmarkSpec, text: str) -> dict[str, Any]:
    functions = _functions(spec.file, spec.id)

    class Loader(yaml.SafeLoader):
        """Knows `!function`."""

    def function(loader: Loader, node: yaml.ScalarNode) -> Any:  # noqa: ANN401 - a function, or rows
        dotted = loader.construct_scalar(node)
        module, _, name = dotted.rpartition(".")
        if module != f"{spec.package}.lmms":
            return imported(f"{module}:{name}")
        return functions.named(name)

    Loader.add_constructor("!function", function)
    loaded: dict[str, Any] = yaml.load(text, Loader=Loader)  # noqa: S506 - a SafeLoader, with one tag more
    loaded.pop("include", None)
    return loaded


@cache
def _functions(file: str, name: str) -> LmmsTask:
    del file  # of another file, another benchmark
    return LmmsTask(discovery.get(name))
