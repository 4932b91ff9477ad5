"""A dataset card: its sections in order, each from the spec, the datasheet and what was counted."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.hub_cards import metadata, plots
from reelbench.hub_cards.material import CONFIG, Material, SplitMaterial, why_not_redistributed
from reelbench.hub_cards.statistics import Distribution, LabelCounts, facet_title
from reelbench.registry import rows
from reelbench.registry.loading import is_mini
from reelbench.registry.sources import expected_files
from reelbench.registry.spec import (
    Corpus,
    HubFile,
    LocalFile,
    Macro,
    Mean,
    MeanOf,
    MediaSource,
    Metric,
    PublishedResult,
    SplitSpec,
    Unit,
)

PLOTS = "plots"
MOST_LABELS = 20
UNITS: dict[Unit, str] = {
    "percent": "%",
    "points_0_5": "points, 0 to 5",
    "points_0_2": "points, 0 to 2",
    "fraction": "fraction, 0 to 1",
    "cider": "CIDEr, 0 to 10",
}
_PAPER = "as published"


@dataclass(frozen=True)
class Section:
    """One of a card's own sections."""

    name: str
    body: str


@dataclass(frozen=True)
class Card:
    """A rendered card: its metadata, its sections, and the files that lie beside README.md (path -> text)."""

    metadata: dict[str, Any]
    sections: tuple[Section, ...]
    plots: dict[str, str]
    eval_yaml: str


def render(material: Material) -> Card:
    """Render a card: the same material gives the same bytes."""
    statistics, drawn = _statistics(material)
    bodies = {
        "heading": f"# {material.spec.title}",
        "about": _about(material),
        "loading": f"## Loading\n\n{_loading(material)}",
        "schema": f"## Schema\n\n{_schema(material)}",
        "splits": f"## Splits\n\n{_splits(material)}",
        "statistics": f"## Statistics\n\n{statistics}",
        "scoring": f"## Scoring\n\n{_scoring(material)}",
        "results": f"## Published results\n\n{_results(material)}",
        "provenance": f"## Provenance\n\n{_provenance(material)}",
        "licences": f"## Licences\n\n{_licences(material)}",
        "limitations": f"## Limitations\n\n{material.sheet.limitations}",
        "citation": f"## Citation\n\n{_citation(material)}",
        "datasheet": f"## Datasheet\n\n{_datasheet(material)}",
    }
    return Card(
        metadata=metadata.card_metadata(material),
        sections=tuple(Section(name, body.strip()) for name, body in bodies.items()),
        plots=drawn,
        eval_yaml=metadata.to_yaml(metadata.eval_yaml(material.spec, material.config)),
    )


# --- what it is and how to get at it -------------------------------------------------------------------------------


def _about(material: Material) -> str:
    spec = material.spec
    papers = (spec.paper, *spec.builds_on)
    links = [f"[Home]({spec.homepage})", *(f"[{one.title}, {one.venue} {one.year}]({one.url})" for one in papers)]
    counted = [split.name for split in material.splits if split.counted]
    if not counted:
        told = (
            "**This card was rendered without the data**: every size of the dataset in it is the paper's or the "
            "owners', marked *as published*."
        )
    elif len(counted) < len(material.splits):
        missing = ", ".join(f"`{split.name}`" for split in material.splits if not split.counted)
        told = f"Numbers are counted from the data, except those of {missing}, which are marked *as published*."
    else:
        told = "Numbers of the dataset are counted from the data."
    return f"{spec.summary}\n\n{' · '.join(links)}\n\n{told}"


def _loading(material: Material) -> str:
    spec = material.spec
    split = spec.default_split
    repo = material.repo_id or "ORG/NAME"
    parts = []
    if material.data_splits:
        first = split if split in material.data_splits else material.data_splits[0]
        config = "" if material.config == CONFIG else f', "{material.config}"'
        here = "" if material.repo_id else "; `ORG/NAME` is the repository that this card lies in"
        parts.append(
            f"With `datasets` (rows only, no video{here}):\n\n"
            + _code(
                f'from datasets import load_dataset\n\nrows = load_dataset("{repo}"{config}, split="{first}")', "python"
            )
        )
    forbidden = why_not_redistributed(spec)
    why = ""
    if not material.data_splits:
        why = "This repository has the card only. " + (f"{forbidden} " if forbidden else "")
    copy = ', data="/path/to/your/copy"' if not spec.open_data else ""
    source = "your own copy of the owners' files" if copy else "the owners' files"
    parts.append(
        f"{why}With Reelbench, the same columns from {source}:\n\n"
        + _code("pip install reelbench", "bash")
        + "\n\n"
        + _code(f'from reelbench.registry import load\n\nrows = load("{spec.id}", "{split}"{copy})', "python")
    )
    parts.append(_lmms_eval(material))
    return "\n\n".join(parts)


def _lmms_eval(material: Material) -> str:
    spec = material.spec
    whole = [task for task in spec.tasks if not task.only]
    parts = [task for task in spec.tasks if task.only]
    tasks = [[f"`{task.name}`", f"`{task.split}`", spec.mini_note if is_mini(task.split) else ""] for task in whole]
    if parts:
        facets = ", ".join(dict.fromkeys(facet for task in parts for facet in task.only))
        names = f"`{parts[0].name}` to `{parts[-1].name}` ({len(parts)})" if len(parts) > 1 else f"`{parts[0].name}`"
        tasks.append([names, f"`{parts[0].split}`", f"the questions of one {facets} each"])
    called = next((task.name for task in spec.tasks if task.split == spec.default_split), spec.tasks[0].name)
    command = (
        "pip install 'reelbench[lmms-eval]'\n"
        f"lmms-eval --tasks {called} --model qwen2_5_vl \\\n"
        "    --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct --log_samples --output_path runs\n"
        "reelbench score --run runs"
    )
    return (
        "With [lmms-eval](https://github.com/EvolvingLMMs-Lab/lmms-eval), to run any of its models:\n\n"
        f"{_code(command, 'bash')}\n\n" + _table(["Task", "Split", "Note"], tasks)
    )


# --- what is in it -------------------------------------------------------------------------------------------------


def _schema(material: Material) -> str:
    spec = material.spec
    table = _table(
        ["Column", "Type", "Unit", "What it is"],
        [[f"`{column.name}`", f"`{column.dtype}`", column.unit, column.description] for column in rows.columns(spec)],
    )
    text = f"One row is one question. Empty values are empty strings or lists, never null.\n\n{table}"
    if material.example is None:
        return text
    example = json.dumps(material.example, ensure_ascii=False, indent=2)
    return (
        f"{text}\n\nA row (not of the dataset: written for Reelbench, to show the shape):\n\n{_code(example, 'json')}"
    )


def _splits(material: Material) -> str:
    table = _table(
        ["Split", "#Questions", "#Videos", "Answers", "Counts"],
        [
            [
                f"`{split.name}`" + (" (default)" if split.name == material.spec.default_split else ""),
                _count(split.counted.statistics.rows if split.counted else split.declared.rows),
                _count(split.counted.statistics.videos if split.counted else split.declared.videos),
                "hidden, scored by the owners' server" if split.declared.hidden_answers else "public",
                _origin(split),
            ]
            for split in material.splits
        ],
    )
    return "\n\n".join([table, *_differences(material), _languages(material)])


def _languages(material: Material) -> str:
    tags = ", ".join(f"`{tag}`" for tag in material.languages)
    if len(material.languages) == 1:
        return f"Language: {tags}."
    known = "counted" if material.languages_counted else "all that the sources name; the data may have fewer"
    return f"Languages ({len(material.languages)}, {known}): {tags}."


def _origin(split: SplitMaterial) -> str:
    if split.counted:
        return "counted"
    if split.declared.rows is None and split.declared.videos is None:
        return f"not stated ({split.declared.cite})" if split.declared.cite else "not stated"
    return f"{_PAPER} ({split.declared.cite})" if split.declared.cite else _PAPER


def _differences(material: Material) -> list[str]:
    told = []
    for split in material.splits:
        if split.counted is None:
            continue
        pairs = (
            ("questions", split.counted.statistics.rows, split.declared.rows),
            ("videos", split.counted.statistics.videos, split.declared.videos),
        )
        for what, found, published in pairs:
            if published is not None and found != published:
                told.append(
                    f"The data has {found:,} {what} in `{split.name}`; published are {published:,} "
                    f"({split.declared.cite})."
                )
    return told


def _statistics(material: Material) -> tuple[str, dict[str, str]]:
    counted = {split.name: split.counted.statistics for split in material.splits if split.counted}
    if not counted:
        command = f"`reelbench cards render {material.spec.id} --data PATH`"
        return f"Not counted: the data was not at hand when this card was rendered. {command} counts it.", {}
    parts: list[str] = []
    drawn: dict[str, str] = {}

    def add(title: str, note: str, table: str, svg: str | None) -> None:
        picture = ""
        if svg is not None:
            path = f"{PLOTS}/{_slug(title)}.svg"
            drawn[path] = svg
            picture = f"![{title}, drawn]({path})"
        parts.append("\n\n".join(filter(None, [f"### {title}", note, table, picture])))

    quantities: dict[str, dict[str, Distribution]] = {}
    facets: dict[str, dict[str, LabelCounts]] = {}
    for name, found in counted.items():
        for quantity in found.distributions:
            quantities.setdefault(quantity.title, {})[name] = quantity
        for facet in found.labels:
            facets.setdefault(facet.title, {})[name] = facet
    for title, series in quantities.items():
        constant = len({value for found in series.values() for value in found.values}) == 1
        add(title, "", _quantity_table(series), None if constant else plots.histogram(title, series))
    for title, by_split in facets.items():
        table, shares = _facet(by_split)
        add(title, _facet_note(by_split), table, plots.bars(title, shares))
    elsewhere = [facet for facet in material.spec.facets if not facet.in_rows and facet_title(facet) not in facets]
    if elsewhere:
        names = ", ".join(f"`{facet.name}`" for facet in elsewhere)
        parts.append(f"Not counted: {names}. These labels are not in the data; a tags file (`--tags`) brings them.")
    return "\n\n".join(parts), drawn


def _quantity_table(series: dict[str, Distribution]) -> str:
    return _table(
        ["Split", "#n", "#Mean", "#Median", "#Least", "#Most", "Unit"],
        [
            [
                f"`{name}`",
                f"{len(found.values):,}",
                f"{found.mean:,.1f}",
                f"{found.median:,.1f}",
                _plain(found.values[0]),
                _plain(found.values[-1]),
                found.unit,
            ]
            for name, found in series.items()
        ],
    )


def _facet(by_split: dict[str, LabelCounts]) -> tuple[str, dict[str, dict[str, float]]]:
    labels = list(dict.fromkeys(label for found in by_split.values() for label in found.counts))
    if len(labels) > MOST_LABELS:
        total = {label: sum(found.counts.get(label, 0) for found in by_split.values()) for label in labels}
        labels = sorted(labels, key=lambda label: (-total[label], label))
    shown, rest = labels[:MOST_LABELS], labels[MOST_LABELS:]
    heads = [head for name in by_split for head in (f"#`{name}`", "#%")]
    lines = [
        [label, *(cell for found in by_split.values() for cell in _label_cells(found.counts.get(label, 0), found.rows))]
        for label in shown
    ]
    if rest:
        others = [str(sum(label in found.counts for label in rest)) for found in by_split.values()]
        lines.append([f"{len(rest)} more labels", *(cell for other in others for cell in (other + " labels", ""))])
    shares = {
        name: {label: 100 * found.counts.get(label, 0) / found.rows for label in shown}
        for name, found in by_split.items()
    }
    return _table(["Label", *heads], lines), shares


def _label_cells(count: int, of: int) -> tuple[str, str]:
    return f"{count:,}", f"{100 * count / of:.1f}"


def _facet_note(by_split: dict[str, LabelCounts]) -> str:
    told = [next(iter(by_split.values())).note, "Questions with the label, and their share of the split's questions."]
    if any(sum(found.counts.values()) > found.labelled for found in by_split.values()):
        told.append("A question may have several labels.")
    for name, found in by_split.items():
        if found.labelled < found.rows:
            told.append(f"In `{name}`, {found.rows - found.labelled:,} of {found.rows:,} questions have none.")
    return " ".join(told)


# --- how it is scored ----------------------------------------------------------------------------------------------


def _scoring(material: Material) -> str:
    spec = material.spec
    table = _table(
        ["Metric", "Name", "Unit", "From", "Source"],
        [
            [
                f"`{metric.name}`" + (" (primary)" if metric is spec.primary else ""),
                metric.title,
                UNITS[metric.unit],
                _how(metric),
                metric.cite,
            ]
            for metric in spec.metrics
        ],
    )
    parts = [
        f"Comparability version {spec.version}: results with another version are not comparable. Higher is better.",
        table,
    ]
    if spec.judge:
        judge = spec.judge
        asked = (
            f"the {len(judge.criteria)} criteria {', '.join(judge.criteria)}, one call each"
            if len(judge.criteria) > 1
            else "one call per answer"
        )
        parts.append(
            f"A judge model gives whole points from {judge.low} to {judge.high}: {asked}. The authors' judge is "
            f"`{judge.default_model}`. A result records the judge that answered and its prompts; results of different "
            "judges or prompts are not comparable."
        )
    if spec.facets:
        parts.append(
            "Broken down by " + "; ".join(f"`{facet.name}` ({_lower(facet.title)})" for facet in spec.facets) + "."
        )
    parts.append(
        "An answer that doesn't parse counts as wrong. An item that could not be scored (its video is missing, the "
        "judge didn't answer) is left out of the means and reported as unscored. Intervals are 95 % bootstraps over "
        "videos, since questions share a video."
    )
    return "\n\n".join(parts)


def _how(metric: Metric) -> str:
    how = metric.aggregate
    if isinstance(how, MeanOf):
        return "mean of " + ", ".join(f"`{name}`" for name in how.metrics)
    if isinstance(how, Corpus):
        return "all answers at once"
    scale = "" if how.scale == 1 else f", times {how.scale:g}"
    if isinstance(how, Macro):
        return f"mean over `{how.facet}` of the means of `{how.column}`{scale}"
    return f"mean of `{how.column}` over questions{_weight(how)}{scale}"


def _weight(how: Mean) -> str:
    if how.weight_by is None:
        return ""
    if how.weights:
        return f", weighted by `{how.weight_by}` ({', '.join(f'{k} {v:g}' for k, v in how.weights.items())})"
    return f", a question counting once for each label of `{how.weight_by}`"


def _results(material: Material) -> str:
    spec = material.spec
    if not spec.published:
        return "None are recorded."
    names = [metric.name for metric in spec.metrics if any(metric.name in one.metrics for one in spec.published)]
    names += sorted({name for one in spec.published for name in one.metrics} - set(names))
    heads = ["Model", "Split", "Setting", *(f"#`{name}`" for name in names), "Judge, frames", "Source"]
    lines = [
        [
            one.model,
            f"`{one.split}`" + (f" ({one.subset})" if one.subset else ""),
            one.setting,
            *(f"{one.metrics[name]:g}" if name in one.metrics else "–" for name in names),
            ", ".join(filter(None, [one.judge, one.frames])),
            _source(one),
        ]
        for one in spec.published
    ]
    return (
        "Numbers that others published; nobody can recompute them here. Compare only within a split and a setting.\n\n"
        + _table(heads, lines)
    )


def _source(one: PublishedResult) -> str:
    told = one.cite + ("" if one.verified == "V" else " (from a third party, not seen in the source)")
    return f"{told}; {one.note}" if one.note else told


# --- where it is from ----------------------------------------------------------------------------------------------


def _provenance(material: Material) -> str:
    lines = []
    for split in material.splits:
        where, files, revision = _declared_source(split.declared)
        counted = split.counted
        if counted:
            files = ", ".join(f"`{name}`" for name in counted.files)
            revision = f"`{counted.source.revision}`" if counted.source.revision else revision
            if counted.source.kind == "local":
                revision = "a local copy"
        read = f"`{counted.source.fingerprint[:16]}`" if counted else "not read for this card"
        lines.append([f"`{split.name}`", where, files, revision, read])
    text = _table(["Split", "Owners' source", "Files", "Revision", "Fingerprint"], lines)
    converted = (
        "\n\nThe rows are the owners', converted by Reelbench to the schema above and otherwise unchanged."
        if material.data_splits
        else ""
    )
    videos = _table(
        ["Videos", "From", "For", "Note"],
        [
            [
                media.title,
                _media_location(media),
                ", ".join(f"`{split}`" for split in media.splits) or "all",
                media.note,
            ]
            for media in material.spec.media
        ],
    )
    return (
        f"{text}\n\nA fingerprint is the start of the SHA-256 of the files and the version of the reader; a result "
        f"carries the same one.{converted}\n\n{videos}"
    )


def _declared_source(split: SplitSpec) -> tuple[str, str, str]:
    source = split.source
    files = " or ".join(f"`{name}`" for name in expected_files(source))
    if isinstance(source, HubFile):
        revision = f"`{source.revision}`" if source.revision else "the newest when first fetched, then kept"
        return f"[{source.repo_id}](https://huggingface.co/datasets/{source.repo_id})", files, revision
    if isinstance(source, LocalFile):
        return f"on request: [form]({source.form_url})", files, "as the owners sent it"
    return f"<{source.url}>", files, f"SHA-256 `{source.sha256}`" if source.sha256 else "not pinned"


def _media_location(media: MediaSource) -> str:
    if media.kind == "hub":
        gate = ", gated" if media.gated else ""
        return f"[{media.location}](https://huggingface.co/datasets/{media.location}){gate}"
    return f"`{media.location}`" if "{video}" in media.location else f"<{media.location}>"


def _licences(material: Material) -> str:
    spec = material.spec
    note = f" {spec.license_note}" if spec.license_note else ""
    forbidden = why_not_redistributed(spec)
    rows_told = f"{forbidden} No rows are published here." if forbidden else "They may be passed on under it."
    terms = "; ".join(dict.fromkeys(f"{media.title}: {_terms(media)}" for media in spec.media))
    return (
        f"- **Annotations**: `{spec.license}`.{note} {rows_told}\n"
        f"- **Videos**: we don't redistribute videos. Their rights stay with their makers, and the terms of the place "
        f"that each is had from hold ({terms}).\n"
        "- **This card**: made from Reelbench, Apache-2.0."
    )


def _terms(media: MediaSource) -> str:
    if media.kind == "youtube":
        return "YouTube's terms of service"
    if media.kind == "form":
        return "the agreement that is made on request"
    return "the terms of its gated repository" if media.gated else "the terms stated there"


def _citation(material: Material) -> str:
    return _code("\n\n".join(paper.bibtex for paper in (material.spec.paper, *material.spec.builds_on)), "bibtex")


def _datasheet(material: Material) -> str:
    parts = ["After Gebru et al., *Datasheets for Datasets*. Sections (§) are those of the paper cited above."]
    parts += [f"### {name}\n\n{body}" for name, body in material.sheet.sections.items()]
    return "\n\n".join(parts)


# --- Markdown ------------------------------------------------------------------------------------------------------


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; heads that start with `#` are numbers, set to the right; empty columns are left out."""
    lines = list(lines)
    kept = [number for number in range(len(heads)) if any(line[number] for line in lines)]
    rule = ["---:" if heads[number].startswith("#") else "---" for number in kept]
    cells = [[heads[number].removeprefix("#") for number in kept], rule]
    cells += [[_cell(line[number]) for number in kept] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _code(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```"


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def _lower(title: str) -> str:
    text = title.rstrip(".")
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'s", "s")).strip("-")
