"""The files by which lmms-eval finds a benchmark's tasks, written from its spec.

They are `lmms.py`, a YAML for each task, and one that all of these include.

    python -m reelbench.tasks.lmms.codegen PACKAGE

writes them into the package's folder; `make tasks` does so for our own.
"""

import sys
from importlib import import_module
from pathlib import Path

from reelbench.registry.data.loading import upstream_split
from reelbench.registry.files import write_text
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.tasks.lmms.task import FUNCTIONS, SUBMISSION, name_of_rows

_ORIGIN = "Written from the spec by `python -m reelbench.tasks.lmms.codegen`"


def files_of(spec: BenchmarkSpec) -> dict[str, str]:
    """Return the files' texts by name."""
    tasks = {f"{task.name}.yaml": _task_yaml(spec, task) for task in spec.tasks}
    return {"lmms.py": _module(spec), shared_name(spec): _shared_yaml(spec), **tasks}


def shared_name(spec: BenchmarkSpec) -> str:
    """Return the name of the file that all YAML files of a benchmark include.

    It has the benchmark's name because lmms-eval looks for it in the current folder first.
    """
    return f"_{spec.id}.yaml"


def _module(spec: BenchmarkSpec) -> str:
    parent, _, name = spec.package.rpartition(".")
    benchmark = f"from {parent} import {name} as benchmark" if parent else f"import {name} as benchmark"
    imports = sorted([benchmark, "from reelbench.tasks.lmms.task import LmmsTask"])
    return (
        f'"""What this folder\'s YAML names. {_ORIGIN}."""\n\n'
        + "\n".join(imports)
        + "\n\nTASK = LmmsTask(benchmark.SPEC)\n\n__getattr__ = TASK.named\n"
    )


def _function(spec: BenchmarkSpec, name: str) -> str:
    return f"!function {spec.package}.lmms.{name}"


def _shared_yaml(spec: BenchmarkSpec) -> str:
    """Return what a benchmark's tasks have in common; without `task:`, so lmms-eval takes it for no task."""
    lines = [
        f"# {_ORIGIN}.",
        "dataset_kwargs:",
        "  load_from_disk: true",
        "output_type: generate_until",
        *(f"{name}: {_function(spec, name)}" for name in FUNCTIONS if name != "aggregate"),
        *_generation(spec.tasks[0]),
        "filter_list:",
        "  - name: none",
        "    filter:",
        "      - function: !function reelbench.tasks.lmms.candidates.AllAnswers",
        "cluster_key: video",
        *_metrics(spec, [metric.name for metric in spec.metrics]),
        "metadata:",
        f"  version: {spec.version}",
    ]
    return "\n".join([*lines, ""])


def _generation(task: TaskSpec) -> list[str]:
    return [
        "generation_kwargs:",
        f"  max_new_tokens: {task.max_new_tokens}",
        "  temperature: 0",
        "  do_sample: false",
        "  until: []  # lmms-eval's default would cut the answer at its first blank line",
    ]


def _metrics(spec: BenchmarkSpec, names: list[str]) -> list[str]:
    lines = ["metric_list:"]
    for name in names:
        lines += [
            f"  - metric: {name}",
            f"    aggregation: {_function(spec, 'aggregate')}",
            "    higher_is_better: true",
        ]
    return lines


def _task_yaml(spec: BenchmarkSpec, task: TaskSpec) -> str:
    """Return a task's YAML: what is its own, and the file that it includes; a key of its own replaces that file's."""
    lines = [f"# {_ORIGIN}.", f"include: {shared_name(spec)}", f"task: {task.name}"]
    if task.tags:
        lines.append(f"tag: [{', '.join(task.tags)}]")
    lines += [f"dataset_path: {_function(spec, name_of_rows(task))}", f"test_split: {task.split}"]
    if task.prompt is not None:
        lines += ["lmms_eval_specific_kwargs:", "  default:", f"    prompt: {task.prompt}"]
    if task.max_new_tokens != spec.tasks[0].max_new_tokens:
        lines += _generation(task)
    if spec.splits[upstream_split(spec, task.split)].hidden_answers:
        lines += _metrics(spec, [SUBMISSION])
    return "\n".join([*lines, ""])


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


if __name__ == "__main__":
    for package in sys.argv[1:]:
        for changed_file in write(package):
            sys.stderr.write(f"{changed_file}\n")
