"""The machine-readable side of a card: its YAML metadata, and `eval.yaml`."""

from typing import Any

from reelbench.base.languages import language_of
from reelbench.data.redistribution import UNLICENSED
from reelbench.hub_cards.card_material import CONFIG, Material, data_path
from reelbench.registry.spec import BenchmarkSpec, LocalFile
from reelbench.registry.splits import is_mini

FRAMEWORK = "reelbench"
"""Who evaluates, by the id that the Hub is to know. See docs/upstream."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "n>1M"


def card_metadata(material: Material) -> dict[str, Any]:
    """Return the card's metadata in the Hub's terms. What is not known is left out."""
    spec = material.spec
    declared = material.sheet.declared
    languages = sorted({language_of(tag) for tag in material.languages})
    regional_languages: list[str] = []
    if set(languages) != set(material.languages):
        regional_languages = list(material.languages)
    multilinguality = "multilingual" if len(languages) > 1 else "monolingual"
    metadata: dict[str, Any] = {"pretty_name": spec.title, "license": spec.license}
    metadata |= _licence_details(spec)
    metadata |= {
        "language": languages,
        "language_bcp47": regional_languages,
        "multilinguality": [multilinguality],
        "task_categories": list(declared.task_categories),
        "annotations_creators": list(declared.annotations_creators),
        "language_creators": list(declared.language_creators),
        "source_datasets": list(declared.source_datasets),
        "size_categories": _size_categories(material),
        "tags": _card_tags(material),
        "configs": _dataset_configs(material),
    }
    return {key: value for key, value in metadata.items() if value}


def _licence_details(spec: BenchmarkSpec) -> dict[str, str]:
    """Return the name and address of a licence that is not on the Hub's list."""
    if spec.license not in UNLICENSED:
        return {}
    link = spec.homepage
    for split in reversed(spec.splits.values()):
        if isinstance(split.source, LocalFile):
            link = split.source.form_url
    if not link:
        return {}
    return {"license_name": f"{spec.id.replace('_', '-')}-agreement", "license_link": link}


def _size_categories(material: Material) -> list[str]:
    sizes = [split.rows for split in material.splits if split.rows is not None]
    stated_category = material.sheet.declared.size_category
    if len(sizes) < len(material.splits) and stated_category:
        return [stated_category]
    if not sizes:
        return []
    for limit, category in _SIZES:
        if sum(sizes) < limit:
            return [category]
    return [_LARGEST]


def _card_tags(material: Material) -> list[str]:
    tags = ["benchmark", "video", "video-question-answering", "lmms-eval", "reelbench"]
    tags += material.sheet.declared.tags
    tags += [f"arxiv:{paper.arxiv}" for paper in material.spec.papers if paper.arxiv]
    return list(dict.fromkeys(tags))


def _dataset_configs(material: Material) -> list[dict[str, Any]]:
    """Return the configuration whose files lie in the card's repository."""
    if not material.data_splits:
        return []
    splits = list(material.data_splits)
    if material.own_rows:
        counted = {split.name for split in material.splits if split.counted}
        splits = [split for split in splits if split in counted]
    files = [{"split": split, "path": data_path(split)} for split in splits]
    return [{"config_name": material.config, "data_files": files}]


def eval_yaml(
    spec: BenchmarkSpec, config: str = CONFIG, framework: str | None = None
) -> dict[str, Any]:
    """Return the content of `eval.yaml`.

    It has a task id for each lmms-eval task on a whole split whose answers are public.
    """
    tasks: list[dict[str, str]] = []
    for task in spec.tasks:
        is_whole = task.plain and not task.only and not is_mini(task.split)
        if is_whole and not spec.splits[task.split].secret:
            tasks.append({"id": task.name, "config": config, "split": task.split})
    return {
        "name": spec.title,
        "description": f"{spec.summary} Ranked by {spec.primary.title}.".lstrip(),
        "evaluation_framework": framework or FRAMEWORK,
        "tasks": tasks,
    }


def to_yaml(value: object, *, flow: bool = False) -> str:
    """Write a value as YAML in the order that it has, characters unescaped.

    With `flow` it stands on one line, in brackets.
    """
    import yaml

    text = yaml.safe_dump(
        value, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=flow
    )
    return text.rstrip("\n") if flow else text
