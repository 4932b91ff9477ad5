"""Make lmms-eval's configurations of a benchmark's tasks from its spec.

A package has them as files: a YAML for each task.

    python -m reelbench.tasks.lmms.codegen PACKAGE

writes them into the package's folder. `make tasks` does so for our own. A benchmark of a
`benchmark.yaml` has none: its tasks' configurations are made when they are asked for (`index`,
`config`), with the functions themselves in place of their names. The names that YAML gives by
`!function` are attributes of this module, `BENCHMARK-NAME`.
"""

import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.files import write_text
from reelbench.base.lazy import import_object
from reelbench.registry import discovery
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.registry.splits import upstream_split
from reelbench.tasks.lmms.task import FUNCTIONS, SUBMISSION, LmmsTask, name_of_rows

_HERE = "reelbench.tasks.lmms.codegen"
_ORIGIN = "Written from the spec by `python -m reelbench.tasks.lmms.codegen`"


class Function(str):
    """The dotted name of a function, which YAML gives by `!function`."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """A dumper without aliases: equal values are written out each time."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's own name
        return True


_Dumper.add_representer(
    Function, lambda dumper, name: dumper.represent_scalar("!function", str(name))
)


def _task_configuration(spec: BenchmarkSpec, task: TaskSpec) -> dict[str, Any]:
    """Return a task's configuration, whole.

    lmms-eval would look for a file that it includes in the current folder first.
    """

    def function(name: str) -> Function:
        return Function(f"{_HERE}.{spec.id}-{name}")

    config: dict[str, Any] = {"task": task.name}
    if task.tags:
        config["tag"] = list(task.tags)
    config |= {
        "dataset_path": function(name_of_rows(task)),
        "dataset_kwargs": {"load_from_disk": True},
        "test_split": task.split,
        "output_type": "generate_until",
    }
    for name in FUNCTIONS:
        if name != "aggregate":
            config[name] = function(name)
    if task.prompt is not None:
        config["lmms_eval_specific_kwargs"] = {"default": {"prompt": task.prompt}}
    config["generation_kwargs"] = {
        "max_new_tokens": task.max_new_tokens,
        "temperature": 0,
        "do_sample": False,
        "until": [],  # lmms-eval's own would cut the answer at its first blank line
    }
    all_answers = {"function": Function("reelbench.tasks.lmms.candidates.AllAnswers")}
    config["filter_list"] = [{"name": "none", "filter": [all_answers]}]
    config["cluster_key"] = "video"
    metrics = [metric.name for metric in spec.metrics]
    if spec.splits[upstream_split(spec, task.split)].hidden_answers:
        metrics = [SUBMISSION]
    aggregate = {"aggregation": function("aggregate"), "higher_is_better": True}
    config["metric_list"] = [{"metric": name, **aggregate} for name in metrics]
    config["metadata"] = {"version": spec.version}
    return config


# --- files
# ------------------------------------------------------------------------------------------


def files_of(spec: BenchmarkSpec) -> dict[str, str]:
    """Return the files' texts by name."""
    files: dict[str, str] = {}
    for task in spec.tasks:
        text = yaml.dump(
            _task_configuration(spec, task),
            Dumper=_Dumper,
            sort_keys=False,
            width=1000,
            allow_unicode=True,
        )
        text = re.sub(r"!function '([\w.-]+)'", r"!function \1", text)
        files[f"{task.name}.yaml"] = f"# {_ORIGIN}.\n{text}"
    return files


def write(package: str) -> list[Path]:
    """Write the files of the benchmark whose package this is. Return those that changed."""
    module = import_module(package)
    folder = Path(next(iter(module.__path__)))
    changed: list[Path] = []
    for name, text in files_of(module.SPEC).items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
            changed.append(path)
    return changed


# --- benchmarks of files, which have no YAML
# ------------------------------------------------------------------------


def index() -> dict[str, dict[str, Any]]:
    """Return lmms-eval's index of the tasks of files, and of their tags."""
    entries: dict[str, dict[str, Any]] = {}
    for spec in discovery.specs().values():
        if not spec.file:
            continue
        for task in spec.tasks:
            entries[task.name] = {"type": "task", "yaml_path": -1}
            for tag in task.tags:
                entry = entries.setdefault(tag, {"type": "tag", "task": [], "yaml_path": -1})
                entry["task"].append(task.name)
    return entries


@cache
def _functions_of_file(file: object, name: str) -> LmmsTask:  # noqa: ARG001 - of another file, another benchmark
    return LmmsTask(discovery.get(name))


def functions(benchmark: str) -> LmmsTask:
    """Return the functions of a benchmark's tasks, always the same ones."""
    return _functions_of_file(discovery.get(benchmark).file, benchmark)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a function, or rows
    benchmark, dash, attribute = name.partition("-")
    if not dash:
        raise AttributeError(f"{_HERE} has no {name}")
    return functions(benchmark).named(attribute)


def config(name: str) -> dict[str, Any] | None:
    """Return the configuration of a file's task. None for any other task."""
    entry = discovery.find_task(name)
    if entry is None:
        return None
    spec, task = entry
    return _resolve_functions(_task_configuration(spec, task)) if spec.file else None


def _resolve_functions(value: Any) -> Any:  # noqa: ANN401 - as YAML has it
    """Return a value with the functions themselves in place of their names."""
    if isinstance(value, Function):
        return import_object(":".join(value.rsplit(".", 1)))
    if isinstance(value, dict):
        return {key: _resolve_functions(part) for key, part in value.items()}
    if isinstance(value, list):
        return list(map(_resolve_functions, value))
    return value


if __name__ == "__main__":
    for package in sys.argv[1:]:
        for changed_file in write(package):
            sys.stderr.write(f"{changed_file}\n")
