"""A dataset card: its sections in order, its YAML metadata, `eval.yaml`; from spec, datasheet and what was counted."""

import re
from dataclasses import dataclass
from typing import Any

from reelbench.hub_cards import sections
from reelbench.hub_cards.material import CONFIG, Material, data_path
from reelbench.pages.markdown import inert
from reelbench.pages.shell_page import page_asset
from reelbench.registry.data.loading import is_mini
from reelbench.registry.data.passing_on import UNLICENSED
from reelbench.registry.languages import language_of
from reelbench.registry.spec import BenchmarkSpec, LocalFile

OWN_ROWS = "Own rows in the format of"
"""Begins the title of a card whose rows are not the owners'."""


@dataclass(frozen=True)
class Card:
    """A rendered card: its metadata, its sections (name -> text), and what lies beside README.md (path -> text).

    `eval_yaml` is None where the rows are not the benchmark's.
    """

    metadata: dict[str, Any]
    sections: dict[str, str]
    plots: dict[str, str]
    eval_yaml: str | None


def render(material: Material) -> Card:
    """Render a card: the same material gives the same bytes.

    Its text is `card.md`; a paragraph in which something stands that there isn't is left out.
    """
    spec, metadata = material.spec, card_metadata(material)
    words, plots = sections.words(material)
    title = f"{OWN_ROWS} {inert(spec.title)}" if material.own_rows else inert(spec.title)
    words |= {"title": title, "owners": inert(spec.title)}
    _, *parts = re.split(r"^<!-- ([a-z]+) -->\n", page_asset("card.md", "hub_cards"), flags=re.MULTILINE)
    bodies: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        paragraphs = [
            paragraph.format_map(words)
            for paragraph in body.split("\n\n")
            if all(words[word] is not None for word in re.findall(r"{(\w+)}", paragraph))
        ]
        bodies[name] = "\n\n".join(paragraphs).strip()
    own = bodies.pop("own")
    if not material.own_rows:
        return Card(metadata, bodies, plots, to_yaml(eval_yaml(spec, material.config, material.framework)))
    # What was counted, and nothing that the owners state: paper, authors, licence and results are of other rows.
    metadata |= {"pretty_name": title, "tags": ["video", "reelbench"]}
    kept = ("pretty_name", "language", "size_categories", "tags", "configs")
    bodies = {"heading": bodies["heading"], "about": own} | {name: bodies[name] for name in ("schema", "statistics")}
    return Card({key: metadata[key] for key in kept if key in metadata}, bodies, plots, eval_yaml=None)


# --- the machine-readable side ----------------------------------------------------------------------------------------

FRAMEWORK = "reelbench"
"""Who evaluates, by the id that the Hub is to know; see docs/upstream."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card_metadata(material: Material) -> dict[str, Any]:
    """Return the card's metadata in the Hub's terms; what is not known is left out."""
    spec, declared = material.spec, material.sheet.declared
    languages = sorted({language_of(tag) for tag in material.languages})
    arxiv = [f"arxiv:{paper.arxiv}" for paper in spec.papers if paper.arxiv]
    forms = [split.source.form_url for split in spec.splits.values() if isinstance(split.source, LocalFile)]
    licence_details = {}
    if spec.license in UNLICENSED and (forms or spec.homepage):
        # The Hub wants a name and an address for a licence that is none of its list.
        name = f"{spec.id.replace('_', '-')}-agreement"
        licence_details = {"license_name": name, "license_link": (forms or [spec.homepage])[0]}
    files = [{"split": split, "path": data_path(split)} for split in material.data_splits]
    if material.own_rows:
        counted = {split.name for split in material.splits if split.counted}
        files = [file for file in files if file["split"] in counted]
    known = [split.rows for split in material.splits if split.rows is not None]
    if len(known) < len(material.splits) and material.sheet.declared.size_category:
        size = [material.sheet.declared.size_category]
    elif not known:
        size = []
    else:
        size = [next((name for limit, name in _SIZES if sum(known) < limit), "n>1M")]
    metadata: dict[str, Any] = {
        "pretty_name": spec.title,
        "license": spec.license,
        **licence_details,
        "language": languages,
        "language_bcp47": list(material.languages) if set(languages) != set(material.languages) else None,
        "multilinguality": ["multilingual" if len(languages) > 1 else "monolingual"],
        "task_categories": list(declared.task_categories),
        "annotations_creators": list(declared.annotations_creators),
        "language_creators": list(declared.language_creators),
        "source_datasets": list(declared.source_datasets),
        "size_categories": size,
        "tags": ["benchmark", "video", "video-question-answering", "lmms-eval", "reelbench", *declared.tags, *arxiv],
        "configs": [{"config_name": material.config, "data_files": files}] if material.data_splits else None,
    }
    metadata["tags"] = list(dict.fromkeys(metadata["tags"]))
    return {key: value for key, value in metadata.items() if value}


def eval_yaml(spec: BenchmarkSpec, config: str = CONFIG, framework: str | None = None) -> dict[str, Any]:
    """Return the content of `eval.yaml`: a task id per lmms-eval task on a whole split whose answers are public."""
    tasks = [
        {"id": task.name, "config": config, "split": task.split}
        for task in spec.tasks
        if not (is_mini(task.split) or task.only or not task.plain or spec.splits[task.split].secret)
    ]
    return {
        "name": spec.title,
        "description": f"{spec.summary} Ranked by {spec.primary.title}.".lstrip(),
        "evaluation_framework": framework or FRAMEWORK,
        "tasks": tasks,
    }


def to_yaml(value: object, *, flow: bool = False) -> str:
    """Write a value as YAML in the order that it has, characters unescaped; `flow` on one line, in brackets."""
    import yaml

    written = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=flow)
    return written.rstrip("\n") if flow else written
