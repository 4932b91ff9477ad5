"""A dataset card: its sections in order, its YAML metadata, `eval.yaml`; from spec, datasheet and what was counted."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.hub_cards import sections as parts
from reelbench.hub_cards.material import CONFIG, Material, data_path
from reelbench.pages.markdown import cell, code, inert, table
from reelbench.registry.data.loading import is_mini
from reelbench.registry.data.passing_on import UNLICENSED, why_withheld
from reelbench.registry.data.sources import expected_files
from reelbench.registry.errors import installing
from reelbench.registry.languages import language_of
from reelbench.registry.spec import BenchmarkSpec, FileBeside, HubFile, LocalFile

OWN_ROWS = "Own rows in the format of"
"""Begins the title of a card whose rows are not the owners'."""


class Section(NamedTuple):
    """One of a card's own sections."""

    name: str
    body: str


@dataclass(frozen=True)
class Card:
    """A rendered card: its metadata, its sections, and the files that lie beside README.md (path -> text).

    `eval_yaml` is None where the rows are not the benchmark's.
    """

    metadata: dict[str, Any]
    sections: tuple[Section, ...]
    plots: dict[str, str]
    eval_yaml: str | None


def render(material: Material) -> Card:
    """Render a card: the same material gives the same bytes."""
    counted, drawn = parts.statistics(material)
    spec, sheet = material.spec, material.sheet
    if material.own_rows:  # what was counted: paper, authors, licence and published results are of other rows
        title = f"{OWN_ROWS} {inert(spec.title)}"
        bodies = {
            "heading": f"# {title}",
            "about": f"Questions in the format of {inert(spec.title)}'s files. **They are not the owners' rows**: who "
            "made them, from what and under which licence is for their authors to say here.",
            "schema": f"## Schema\n\n{parts.schema(material)}",
            "statistics": f"## Statistics\n\n{counted}",
        }
        sections = tuple(Section(name, body.strip()) for name, body in bodies.items())
        # What was counted, and nothing that the owners state.
        whole = card_metadata(material) | {"pretty_name": title, "tags": ["video", "reelbench"]}
        kept = ("pretty_name", "language", "size_categories", "tags", "configs")
        return Card({key: whole[key] for key in kept if key in whole}, sections, drawn, eval_yaml=None)
    if spec.papers:
        citation = code("\n\n".join(paper.bibtex for paper in spec.papers), "bibtex")
    else:
        citation = code(spec.citation) if spec.citation else "Nothing to cite is stated."
    datasheet = ["After Gebru et al., *Datasheets for Datasets*. Sections (§) are those of the paper cited above."]
    datasheet += [f"### {name}\n\n{body}" for name, body in sheet.sections.items()]
    cited = [f"[{paper.title}, {paper.venue} {paper.year}]({paper.url})" for paper in spec.papers]
    home = re.fullmatch(r"https?://[^\s<>()`\\]+", spec.homepage)
    links = [f"[Home]({spec.homepage})" if home else inert(spec.homepage), *cited]
    counted_splits = [split.name for split in material.splits if split.counted]
    if not counted_splits:
        note = (
            "**This card was rendered without the data**: every size of the dataset in it is the paper's or the "
            "owners', marked *as published*."
        )
    elif len(counted_splits) < len(material.splits):
        missing = ", ".join(f"`{split.name}`" for split in material.splits if not split.counted)
        note = f"Numbers are counted from the data, except those of {missing}, which are marked *as published*."
    else:
        note = "Numbers of the dataset are counted from the data."
    bodies = {
        "heading": f"# {inert(spec.title)}",
        "about": "\n\n".join(part for part in (inert(spec.summary), " · ".join(filter(None, links)), note) if part),
        "loading": f"## Loading\n\n{_loading(material)}",
        "schema": f"## Schema\n\n{parts.schema(material)}",
        "splits": f"## Splits\n\n{parts.splits(material)}",
        "statistics": f"## Statistics\n\n{counted}",
        "scoring": f"## Scoring\n\n{parts.scoring(material)}",
        "results": f"## Published results\n\n{parts.results(material)}",
        "provenance": f"## Provenance\n\n{provenance(material)}",
        "licences": f"## Licences\n\n{licences(material)}",
        "limitations": f"## Limitations\n\n{sheet.limitations}",
        "citation": f"## Citation\n\n{citation}",
        "datasheet": "## Datasheet\n\n" + ("\n\n".join(datasheet) if sheet.sections else "Its authors wrote none."),
    }
    sections = tuple(Section(name, body.strip()) for name, body in bodies.items())
    evaluation = to_yaml(eval_yaml(spec, material.config, material.framework))
    return Card(card_metadata(material), sections, drawn, evaluation)


def _loading(material: Material) -> str:
    spec = material.spec
    split = spec.default_split
    repo = material.repo_id or "ORG/NAME"
    parts = []
    if material.data_splits:
        first = split if split in material.data_splits else material.data_splits[0]
        config = "" if material.config == CONFIG else f', "{material.config}"'
        here = "" if material.repo_id else "; `ORG/NAME` is the repository that this card lies in"
        snippet = f'from datasets import load_dataset\n\nrows = load_dataset("{repo}"{config}, split="{first}")'
        parts += [
            f"With `datasets` (rows only, no video{here}):",
            code(snippet, "python"),
            f"Croissant metadata: <https://huggingface.co/api/datasets/{repo}/croissant>",
        ]
    forbidden = why_withheld(spec)
    why = ""
    if not material.data_splits:
        why = "This repository has the card only. " + (f"{forbidden} " if forbidden else "")
    name = f"path/to/{Path(spec.file).name}" if spec.file and not spec.package else spec.id
    copy = ', data="/path/to/your/copy"' if not spec.open_data else ""
    source = "your own copy of the owners' files" if copy else "the owners' files"
    parts.append(
        f"{why}With Reelbench, the same columns from {source}:\n\n"
        + code(installing(), "bash")
        + "\n\n"
        + code(f'from reelbench.registry import load\n\nrows = load("{name}", "{split}"{copy})', "python")
    )
    whole = [task for task in spec.tasks if not task.only and task.plain]
    subsets = [task for task in spec.tasks if task.only]
    tasks = [[f"`{task.name}`", f"`{task.split}`", spec.mini_note if is_mini(task.split) else ""] for task in whole]
    if subsets:
        facets = ", ".join(dict.fromkeys(facet for task in subsets for facet in task.only))
        names = (
            f"`{subsets[0].name}` to `{subsets[-1].name}` ({len(subsets)})"
            if len(subsets) > 1
            else f"`{subsets[0].name}`"
        )
        tasks.append([names, f"`{subsets[0].split}`", f"the questions of one {facets} each"])
    called = next((task.name for task in spec.tasks if task.split == spec.default_split), spec.tasks[0].name)
    known = "REELBENCH_BENCHMARKS=path/to/its/folder " if spec.file and not spec.package else ""
    command = (
        f"{installing('lmms-eval')}\n"
        f"{known}lmms-eval --tasks {called} --model qwen2_5_vl \\\n"
        "    --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct --log_samples --output_path runs\n"
        "reelbench score --run runs"
    )
    parts.append(
        "With [lmms-eval](https://github.com/EvolvingLMMs-Lab/lmms-eval), to run any of its models:\n\n"
        f"{code(command, 'bash')}\n\n" + table(["Task", "Split", "Note"], tasks)
    )
    return "\n\n".join(parts)


def provenance(material: Material) -> str:
    """Sources of the annotations, as declared and as read, and of the videos."""
    lines = []
    for split in material.splits:
        source = split.declared.source
        files = " or ".join(f"`{name}`" for name in expected_files(source, published=True))
        if isinstance(source, HubFile):
            where = f"[{source.repo_id}](https://huggingface.co/datasets/{source.repo_id})"
            revision = f"`{source.revision}`" if source.revision else "the newest when first fetched, then kept"
        elif isinstance(source, FileBeside):
            where, revision = "its authors' own file", "as it lies beside the benchmark's file"
        elif isinstance(source, LocalFile):
            where, revision = f"on request: [form]({source.form_url})", "as the owners sent it"
        else:
            where, revision = f"<{source.url}>", f"SHA-256 `{source.sha256}`" if source.sha256 else "not pinned"
        counted = split.counted
        if counted:
            files = ", ".join(f"`{name}`" for name in counted.files) or files
            revision = f"`{counted.source.revision}`" if counted.source.revision else revision
            if counted.source.kind == "local":
                revision = "a local copy"
        read = f"`{counted.source.fingerprint[:16]}`" if counted else "not read for this card"
        lines.append([f"`{split.name}`", where, files, revision, read])
    text = table(["Split", "Owners' source", "Files", "Revision", "Fingerprint"], lines)
    converted = (
        "\n\nThe rows are the owners', converted by Reelbench to the schema above and otherwise unchanged."
        if material.data_splits
        else ""
    )
    media_lines = []
    for media in material.spec.media:
        location = f"`{media.location}`" if "{video}" in media.location else f"<{media.location}>"
        if media.kind == "hub":
            gate = ", gated" if media.gated else ""
            location = f"[{media.location}](https://huggingface.co/datasets/{media.location}){gate}"
        splits = ", ".join(f"`{split}`" for split in media.splits) or "all"
        media_lines.append([media.title, location if media.location else "not stated", splits, media.note])
    videos = table(["Videos", "From", "For", "Note"], media_lines)
    return (
        f"{text}\n\nA fingerprint is the start of the SHA-256 of the files and the version of the reader; a result "
        f"carries the same one.{converted}\n\n{videos}"
    )


def licences(material: Material) -> str:
    """Licences of annotations, videos and card."""
    spec = material.spec
    note = f" {inert(spec.license_note)}" if spec.license_note else ""
    forbidden, licence = why_withheld(spec), cell(spec.license.replace("`", ""))
    kept = ", ".join(f"`{name}`" for name in spec.splits if why_withheld(spec, name))
    but = f", but for those of {kept}, whose answers are hidden" if kept else ""
    rows_told = f"{forbidden} No rows are published here." if forbidden else f"They may be passed on under it{but}."
    terms_of = {"youtube": "YouTube's terms of service", "form": "the agreement that is made on request"}
    where = {True: "the terms of its gated repository", False: "the terms stated there"}
    terms_of |= {} if spec.package else {"form": "their makers' own terms"}  # nothing was agreed with a file's author
    told = [f"{media.title}: {terms_of.get(media.kind, where[media.gated])}" for media in spec.media]
    terms = "; ".join(dict.fromkeys(told))
    return (
        f"- **Annotations**: {f'`{licence}`' if licence else 'no licence is stated'}.{note} {rows_told}\n"
        f"- **Videos**: we don't redistribute videos. Their rights stay with their makers, and the terms of the place "
        f"that each is had from hold ({terms}).\n"
        "- **This card**: made from Reelbench, Apache-2.0."
    )


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
