"""The sections of a card on how its rows are loaded, and on its splits."""

from collections.abc import Sequence
from pathlib import Path

from reelbench.base.errors import installing
from reelbench.data.redistribution import why_withheld
from reelbench.hub_cards.card_material import CONFIG, Material, SplitMaterial
from reelbench.pages.markdown import code, count, table
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.registry.splits import is_mini


def loading(material: Material) -> dict[str, object]:
    """Return the ways to load the rows, and to run the benchmark."""
    spec = material.spec
    words: dict[str, object] = {
        "here": None,
        "load_dataset": None,
        "croissant": None,
        "card_only": "",
        "files": "the owners' files" if spec.open_data else "your own copy of the owners' files",
        "install": code(installing(), "bash"),
        "load": code(_load_snippet(spec), "python"),
        "run": code(_run_command(spec), "bash"),
        "tasks": _task_table(spec),
    }
    if material.data_splits:
        words["here"] = "; `ORG/NAME` is this card's repository"
        if material.repo_id:
            words["here"] = ""
        words["load_dataset"] = code(_dataset_snippet(material), "python")
        words["croissant"] = _repository_name(material)
    else:
        reason = why_withheld(spec)
        words["card_only"] = "This repository has the card only. "
        if reason:
            words["card_only"] = f"This repository has the card only. {reason} "
    return words


def _repository_name(material: Material) -> str:
    return material.repo_id or "ORG/NAME"


def _dataset_snippet(material: Material) -> str:
    split = material.spec.default_split
    if split not in material.data_splits:
        split = material.data_splits[0]
    config = ""
    if material.config != CONFIG:
        config = f', "{material.config}"'
    call = f'load_dataset("{_repository_name(material)}"{config}, split="{split}")'
    return f"from datasets import load_dataset\n\nrows = {call}"


def _has_own_file(spec: BenchmarkSpec) -> bool:
    """Return True where a file declares the benchmark, and no package."""
    return bool(spec.file) and not spec.package


def _load_snippet(spec: BenchmarkSpec) -> str:
    name = spec.id
    if _has_own_file(spec):
        name = f"path/to/{Path(spec.file or '').name}"
    copy = ""
    if not spec.open_data:
        copy = ', data="/path/to/your/copy"'
    call = f'reelbench.load("{name}", "{spec.default_split}"{copy})'
    return f"import reelbench\n\nrows = {call}"


def _run_command(spec: BenchmarkSpec) -> str:
    task_name = spec.tasks[0].name
    for task in reversed(spec.tasks):
        if task.split == spec.default_split:
            task_name = task.name
    environment = ""
    if _has_own_file(spec):
        environment = "REELBENCH_BENCHMARKS=path/to/its/folder "
    return (
        f"{installing('lmms-eval')}\n"
        f"{environment}lmms-eval --tasks {task_name} --model qwen2_5_vl \\\n"
        "    --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct --log_samples --output_path runs\n"
        "reelbench score --run runs"
    )


def _task_table(spec: BenchmarkSpec) -> str:
    """Return the tasks' table. Those on a part of a split share a line."""
    lines: list[list[str]] = []
    for task in spec.tasks:
        if not task.only and task.plain:
            note = spec.mini_note if is_mini(task.split) else ""
            lines.append([f"`{task.name}`", f"`{task.split}`", note])
    part_tasks = [task for task in spec.tasks if task.only]
    if part_tasks:
        lines.append(_line_of_part_tasks(part_tasks))
    return table(["Task", "Split", "Note"], lines)


def _line_of_part_tasks(part_tasks: Sequence[TaskSpec]) -> list[str]:
    """Return the table's line of all tasks on the questions of one label."""
    first = part_tasks[0]
    names = f"`{first.name}`"
    if len(part_tasks) > 1:
        last = part_tasks[-1]
        names += f" to `{last.name}` ({len(part_tasks)})"
    facets: dict[str, None] = {}
    for task in part_tasks:
        facets.update(dict.fromkeys(task.only))
    shown_facets = ", ".join(facets)
    return [names, f"`{first.split}`", f"the questions of one {shown_facets} each"]


# --- splits
# ----------------------------------------------------------------------------------------------


def splits(material: Material) -> dict[str, object]:
    """Return the splits with their sizes, where the counts are from, and the languages."""
    lines: list[list[str]] = []
    differences: list[str] = []
    for split in material.splits:
        title = f"`{split.name}`"
        if split.name == material.spec.default_split:
            title += " (default)"
        sizes = split.counted.statistics if split.counted else split.declared
        numbers = [count(sizes.rows), count(sizes.videos)]
        lines.append([title, *numbers, _where_answers_are(split), _origin_of_counts(split)])
        differences += _differing_counts(split)
    heads = ["Split", "#Questions", "#Videos", "Answers", "Counts"]
    return {
        "splits": table(heads, lines),
        "differences": "\n\n".join(differences) or None,
        "languages": _language_list(material),
    }


def _where_answers_are(split: SplitMaterial) -> str:
    if split.declared.hidden_answers:
        return "hidden; the owners' server scores answers"
    if split.declared.answers_kept:
        return "kept by their makers"
    return "public"


def _origin_of_counts(split: SplitMaterial) -> str:
    if split.counted:
        return "counted"
    declared = split.declared
    origin = "as published"
    if declared.rows is None and declared.videos is None:
        origin = "not stated"
    if declared.cite:
        origin += f" ({declared.cite})"
    return origin


def _differing_counts(split: SplitMaterial) -> list[str]:
    """Return a line for each count that differs from the published one."""
    if not split.counted:
        return []
    counted = split.counted.statistics
    declared = split.declared
    counts = (
        ("questions", counted.rows, declared.rows),
        ("videos", counted.videos, declared.videos),
    )
    lines: list[str] = []
    for things, number, published in counts:
        if published is not None and number != published:
            lines.append(
                f"The data has {number:,} {things} in `{split.name}`; the published number is "
                f"{published:,} ({declared.cite})."
            )
    return lines


def _language_list(material: Material) -> str:
    tags = ", ".join(f"`{tag}`" for tag in material.languages)
    if len(material.languages) == 1:
        return f"Language: {tags}."
    origin = "all that the sources name; the data may contain fewer"
    if all(split.counted for split in material.splits):
        origin = "counted"
    return f"Languages ({len(material.languages)}, {origin}): {tags}."
