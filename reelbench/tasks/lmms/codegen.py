"""A benchmark's tasks as lmms-eval is told of them: configurations made from its spec.

A package has them as files: a YAML for each task.

    python -m reelbench.tasks.lmms.codegen PACKAGE

writes them into the package's folder; `make tasks` does so for our own. What a `benchmark.yaml`
declares has none: its tasks' configurations are made when they are asked for (`index`, `config`),
with the functions themselves in place of their names. What YAML names by `!function` is an
attribute of this module, `BENCHMARK-NAME`.
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
    """What YAML names by `!function`, dotted."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes out what occurs twice."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's own name
        return True


_Dumper.add_representer(
    Function, lambda dumper, name: dumper.represent_scalar("!function", str(name))
)


def _config(spec: BenchmarkSpec, task: TaskSpec) -> dict[str, Any]:
    """Return a task's configuration, whole: what it included, lmms-eval would look for in the current folder first."""
    hidden = spec.splits[upstream_split(spec, task.split)].hidden_answers
    prompt = (
        {"lmms_eval_specific_kwargs": {"default": {"prompt": task.prompt}}}
        if task.prompt is not None
        else {}
    )
    # lmms-eval's own `until` would cut the answer at its first blank line.
    greedy = {
        "max_new_tokens": task.max_new_tokens,
        "temperature": 0,
        "do_sample": False,
        "until": [],
    }
    how = {"aggregation": Function(f"{_HERE}.{spec.id}-aggregate"), "higher_is_better": True}
    return {
        "task": task.name,
        **({"tag": list(task.tags)} if task.tags else {}),
        "dataset_path": Function(f"{_HERE}.{spec.id}-{name_of_rows(task)}"),
        "dataset_kwargs": {"load_from_disk": True},
        "test_split": task.split,
        "output_type": "generate_until",
        **{
            name: Function(f"{_HERE}.{spec.id}-{name}") for name in FUNCTIONS if name != "aggregate"
        },
        **prompt,
        "generation_kwargs": greedy,
        "filter_list": [
            {
                "name": "none",
                "filter": [{"function": Function("reelbench.tasks.lmms.candidates.AllAnswers")}],
            }
        ],
        "cluster_key": "video",
        "metric_list": [
            {"metric": name, **how}
            for name in ([SUBMISSION] if hidden else [metric.name for metric in spec.metrics])
        ],
        "metadata": {"version": spec.version},
    }


# --- files
# --------------------------------------------------------------------------------------------------------


def files_of(spec: BenchmarkSpec) -> dict[str, str]:
    """Return the files' texts by name."""
    tasks = {}
    for task in spec.tasks:
        text = yaml.dump(
            _config(spec, task), Dumper=_Dumper, sort_keys=False, width=1000, allow_unicode=True
        )
        tasks[f"{task.name}.yaml"] = f"# {_ORIGIN}.\n" + re.sub(
            r"!function '([\w.-]+)'", r"!function \1", text
        )
    return tasks


def write(package: str) -> list[Path]:
    """Write the files of the benchmark whose package this is; return those that changed."""
    module = import_module(package)
    folder = Path(next(iter(module.__path__)))
    changed = []
    for name, text in files_of(module.SPEC).items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
            changed.append(path)
    return changed


# --- what files declare, which has no YAML
# ------------------------------------------------------------------------


def index() -> dict[str, dict[str, Any]]:
    """Return lmms-eval's index of the tasks that files declare, and of their tags."""
    entries: dict[str, dict[str, Any]] = {}
    for spec in discovery.specs().values():
        for task in spec.tasks if spec.file else ():
            entries[task.name] = {"type": "task", "yaml_path": -1}
            for tag in task.tags:
                entries.setdefault(tag, {"type": "tag", "task": [], "yaml_path": -1})[
                    "task"
                ].append(task.name)
    return entries


_made = cache(lambda _, name: LmmsTask(discovery.get(name)))  # of another file, another benchmark


def functions(benchmark: str) -> LmmsTask:
    """Return the functions of a benchmark's tasks, always the same ones."""
    return _made(discovery.get(benchmark).file, benchmark)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a function, or rows
    benchmark, dash, wanted = name.partition("-")
    if not dash:
        raise AttributeError(f"{_HERE} has no {name}")
    return functions(benchmark).named(wanted)


def config(name: str) -> dict[str, Any] | None:
    """Return the configuration of a task that a file declares; None for any other task."""
    known = discovery.find_task(name)
    if known is None or not known[0].file:
        return None

    def resolved(value: Any) -> Any:  # noqa: ANN401 - as YAML has it
        if isinstance(value, Function):
            return import_object(":".join(value.rsplit(".", 1)))
        if isinstance(value, dict):
            return {key: resolved(part) for key, part in value.items()}
        return [resolved(part) for part in value] if isinstance(value, list) else value

    return resolved(_config(*known))


if __name__ == "__main__":
    for package in sys.argv[1:]:
        for changed_file in write(package):
            sys.stderr.write(f"{changed_file}\n")
