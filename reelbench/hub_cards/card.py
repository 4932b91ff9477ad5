"""A dataset card: its sections (`card.md`), its YAML metadata, `eval.yaml`; of spec, datasheet and what was counted."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from reelbench.base.errors import DataUnavailableError, installing
from reelbench.base.languages import language_of
from reelbench.data.loading import locate
from reelbench.data.redistribution import UNLICENSED, why_withheld
from reelbench.hub_cards.card_material import CONFIG, Material, data_path
from reelbench.hub_cards.split_counts import Distribution, LabelCounts, facet_title
from reelbench.pages import plots
from reelbench.pages.markdown import Sources, cell, code, count, inert, lower, plain, table
from reelbench.pages.shell_page import page_asset
from reelbench.registry import rows
from reelbench.registry import spec as specs
from reelbench.registry.parity import parity
from reelbench.registry.spec import BenchmarkSpec, HubFile, LocalFile, Metric, PublishedResult
from reelbench.registry.splits import expected_files, is_mini

PLOTS = "plots"
MOST_LABELS = 20


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
    words, drawn = _words(material)
    title = f"{OWN_ROWS} {inert(spec.title)}" if material.own_rows else inert(spec.title)
    words |= {"title": title, "owners": inert(spec.title)}
    _, *parts = re.split(
        r"^<!-- ([a-z]+) -->\n", page_asset("card.md", "hub_cards"), flags=re.MULTILINE
    )
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
        return Card(
            metadata, bodies, drawn, to_yaml(eval_yaml(spec, material.config, material.framework))
        )
    # What was counted, and nothing that the owners state: paper, authors, licence and results are
    # of other rows.
    metadata |= {"pretty_name": title, "tags": ["video", "reelbench"]}
    kept = ("pretty_name", "language", "size_categories", "tags", "configs")
    bodies = {"heading": bodies["heading"], "about": own} | {
        name: bodies[name] for name in ("schema", "statistics")
    }
    return Card(
        {key: metadata[key] for key in kept if key in metadata}, bodies, drawn, eval_yaml=None
    )


def _words(material: Material) -> tuple[dict[str, object], dict[str, str]]:
    """Return what stands for the names in `card.md`, None where there is no such thing; and the plots by path."""
    spec, sheet = material.spec, material.sheet
    text, drawn = statistics(material)
    if spec.papers:
        citation = code("\n\n".join(paper.bibtex for paper in spec.papers), "bibtex")
    else:
        citation = code(spec.citation) if spec.citation else "Nothing to cite is stated."
    cited = [f"[{paper.title}, {paper.venue} {paper.year}]({paper.url})" for paper in spec.papers]
    home = re.fullmatch(r"https?://[^\s<>()`\\]+", spec.homepage)
    links = [f"[Home]({spec.homepage})" if home else inert(spec.homepage), *cited]
    missing = ", ".join(f"`{split.name}`" for split in material.splits if not split.counted)
    numbers = "Numbers of the dataset are counted from the data."
    if not any(split.counted for split in material.splits):
        numbers = (
            "**This card was rendered without the data**: every size of the dataset in it is the paper's or the "
            "owners', marked *as published*."
        )
    elif missing:
        numbers = f"Numbers are counted from the data, except those of {missing}, which are marked *as published*."
    columns = [
        [f"`{column.name}`", f"`{column.dtype}`", column.unit, column.description]
        for column in rows.columns(spec)
    ]
    example = material.example and code(
        json.dumps(material.example, ensure_ascii=False, indent=2), "json"
    )
    row = "A row (not of the dataset: written for Reelbench, to show the shape):"
    datasheet = [
        "After Gebru et al., *Datasheets for Datasets*. Sections (§) are those of the paper cited above."
    ]
    datasheet += [f"### {name}\n\n{body}" for name, body in sheet.sections.items()]
    of_all = {
        "summary": inert(spec.summary) or None,
        "links": " · ".join(filter(None, links)) or None,
        "numbers": numbers,
        "columns": table(["Column", "Type", "Unit", "What it is"], columns),
        "example": example and f"{row}\n\n{example}",
        "statistics": text,
        "published": results(spec),
        "limitations": sheet.limitations,
        "citation": citation,
        "datasheet": "\n\n".join(datasheet) if sheet.sections else "Its authors wrote none.",
    }
    return of_all | {
        **_loading(material),
        **_splits(material),
        **_scoring(spec),
        **_provenance(material),
        **_licences(spec),
    }, drawn


def _loading(material: Material) -> dict[str, object]:
    """How the rows are loaded, and the benchmark run."""
    spec = material.spec
    split, repo = spec.default_split, material.repo_id or "ORG/NAME"
    snippet = None
    if material.data_splits:
        first = split if split in material.data_splits else material.data_splits[0]
        config = "" if material.config == CONFIG else f', "{material.config}"'
        snippet = f'from datasets import load_dataset\n\nrows = load_dataset("{repo}"{config}, split="{first}")'
    forbidden, own_file = why_withheld(spec), bool(spec.file) and not spec.package
    name = f"path/to/{Path(spec.file or '').name}" if own_file else spec.id
    copy = ', data="/path/to/your/copy"' if not spec.open_data else ""
    whole = [task for task in spec.tasks if not task.only and task.plain]
    subsets = [task for task in spec.tasks if task.only]
    tasks = [
        [f"`{task.name}`", f"`{task.split}`", spec.mini_note if is_mini(task.split) else ""]
        for task in whole
    ]
    if subsets:
        facets = ", ".join(dict.fromkeys(facet for task in subsets for facet in task.only))
        names = f"`{subsets[0].name}`" + (
            f" to `{subsets[-1].name}` ({len(subsets)})" if len(subsets) > 1 else ""
        )
        tasks.append([names, f"`{subsets[0].split}`", f"the questions of one {facets} each"])
    called = next((task.name for task in spec.tasks if task.split == split), spec.tasks[0].name)
    known = "REELBENCH_BENCHMARKS=path/to/its/folder " if own_file else ""
    command = (
        f"{installing('lmms-eval')}\n"
        f"{known}lmms-eval --tasks {called} --model qwen2_5_vl \\\n"
        "    --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct --log_samples --output_path runs\n"
        "reelbench score --run runs"
    )
    return {
        "here": snippet
        and ("" if material.repo_id else "; `ORG/NAME` is the repository that this card lies in"),
        "load_dataset": snippet and code(snippet, "python"),
        "croissant": snippet and repo,
        "card_only": ""
        if snippet
        else f"This repository has the card only. {forbidden + ' ' if forbidden else ''}",
        "files": "your own copy of the owners' files" if copy else "the owners' files",
        "install": code(installing(), "bash"),
        "load": code(
            f'import reelbench\n\nrows = reelbench.load("{name}", "{split}"{copy})', "python"
        ),
        "run": code(command, "bash"),
        "tasks": table(["Task", "Split", "Note"], tasks),
    }


def _splits(material: Material) -> dict[str, object]:
    """Splits with their sizes, where the counts are from, and the languages."""
    lines, differences = [], []
    for split in material.splits:
        declared, counted = split.declared, split.counted and split.counted.statistics
        answers = "kept by their makers" if declared.answers_kept else "public"
        if declared.hidden_answers:
            answers = "hidden, scored by the owners' server"
        origin = "counted"
        if not counted:
            origin = (
                "not stated"
                if declared.rows is None and declared.videos is None
                else "as published"
            )
            origin += f" ({declared.cite})" if declared.cite else ""
        default = " (default)" if split.name == material.spec.default_split else ""
        sizes = counted or declared
        lines.append(
            [f"`{split.name}`{default}", count(sizes.rows), count(sizes.videos), answers, origin]
        )
        for what, number, published in (
            ("questions", sizes.rows, declared.rows),
            ("videos", sizes.videos, declared.videos),
        ):
            if published is not None and number != published:
                there = f"The data has {number:,} {what} in `{split.name}`"
                differences.append(f"{there}; published are {published:,} ({declared.cite}).")
    tags = ", ".join(f"`{tag}`" for tag in material.languages)
    whole = all(split.counted for split in material.splits)
    known = "counted" if whole else "all that the sources name; the data may have fewer"
    several = f"Languages ({len(material.languages)}, {known}): {tags}."
    return {
        "splits": table(["Split", "#Questions", "#Videos", "Answers", "Counts"], lines),
        "differences": "\n\n".join(differences) or None,
        "languages": f"Language: {tags}." if len(material.languages) == 1 else several,
    }


# --- statistics
# ----------------------------------------------------------------------------------------------------


def statistics(material: Material) -> tuple[str, dict[str, str]]:
    """A table and a plot per quantity and facet: the text, and the plots by path."""
    counted = {split.name: split.counted.statistics for split in material.splits if split.counted}
    if not counted:
        command = f"`reelbench cards render {material.spec.id} --data PATH`"
        return (
            f"Not counted: the data was not at hand when this card was rendered. {command} counts it.",
            {},
        )
    parts: list[str] = []
    drawn: dict[str, str] = {}

    def add(title: str, note: str, made: str, plot: str | None) -> None:
        picture = ""
        if plot is not None:
            name = re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'s", "s")).strip("-")
            path = f"{PLOTS}/{name}.svg"
            drawn[path] = plot
            picture = f"![{title}, drawn]({path})"
        parts.append("\n\n".join(filter(None, [f"### {title}", note, made, picture])))

    sizes = {
        "questions": {name: float(size.rows) for name, size in counted.items()},
        "videos": {name: float(size.videos) for name, size in counted.items()},
    }
    made = table(
        ["Split", "#Questions", "#With a public answer", "#Videos"],
        [
            [f"`{name}`", count(size.rows), count(size.answered), count(size.videos)]
            for name, size in counted.items()
        ],
    )
    add("Questions and videos", "", made, plots.bars("Questions and videos", sizes, counts=True))
    quantities: dict[str, dict[str, Distribution]] = {}
    facets: dict[str, dict[str, LabelCounts]] = {}
    for name, split in counted.items():
        for quantity in split.distributions:
            quantities.setdefault(quantity.title, {})[name] = quantity
        for facet in split.labels:
            facets.setdefault(facet.title, {})[name] = facet
    for title, series in quantities.items():
        values = {name: counts.values for name, counts in series.items()}
        constant = len(set[float]().union(*values.values())) == 1
        plot = (
            None if constant else plots.histogram(title, values, next(iter(series.values())).unit)
        )
        made = table(
            ["Split", "#n", "#Mean", "#Median", "#Least", "#Most", "Unit"],
            [
                [
                    f"`{name}`",
                    f"{len(counts.values):,}",
                    f"{fmean(counts.values):,.1f}",
                    f"{median(counts.values):,.1f}",
                    plain(counts.values[0]),
                    plain(counts.values[-1]),
                    counts.unit,
                ]
                for name, counts in series.items()
            ],
        )
        add(title, "", made, plot)
    for title, by_split in facets.items():
        note, made, shares = _facet(by_split)
        rows = {name: counts.rows for name, counts in by_split.items()}
        add(title, note, made, plots.bars(title, shares, n=rows))
    unheld = [facet for facet in material.spec.facets if not (facet.in_rows or facet.made_of)]
    elsewhere = [facet for facet in unheld if facet_title(facet) not in facets]
    if elsewhere:
        names = ", ".join(f"`{facet.name}`" for facet in elsewhere)
        parts.append(
            f"Not counted: {names}. These labels are not in the data; a tags file (`--tags`) brings them."
        )
    return "\n\n".join(parts), drawn


def _facet(by_split: dict[str, LabelCounts]) -> tuple[str, str, dict[str, dict[str, float]]]:
    """Return the note on a facet's labels, their table, and their shares by split."""
    labels = list(dict.fromkeys(label for counts in by_split.values() for label in counts.counts))
    if len(labels) > MOST_LABELS:
        total = {
            label: sum(counts.counts.get(label, 0) for counts in by_split.values())
            for label in labels
        }
        labels = sorted(labels, key=lambda label: (-total[label], label))
    shown, rest = labels[:MOST_LABELS], labels[MOST_LABELS:]
    heads = [head for name in by_split for head in (f"#`{name}`", "#%")]
    lines = []
    for label in shown:
        numbers = [(counts.counts.get(label, 0), counts.rows) for counts in by_split.values()]
        lines.append(
            [
                inert(label),
                *(cell for n, of in numbers for cell in (f"{n:,}", f"{100 * n / of:.1f}")),
            ]
        )
    if rest:
        others = [
            str(sum(label in counts.counts for label in rest)) for counts in by_split.values()
        ]
        lines.append(
            [
                f"{len(rest)} more labels",
                *(cell for other in others for cell in (other + " labels", "")),
            ]
        )
    shares = {
        name: {label: 100 * counts.counts.get(label, 0) / counts.rows for label in shown}
        for name, counts in by_split.items()
    }
    notes = [
        next(iter(by_split.values())).note,
        "Questions with the label, and their share of the split's questions.",
    ]
    if any(sum(counts.counts.values()) > counts.labelled for counts in by_split.values()):
        notes.append("A question may have several labels.")
    bare = [
        f"{counts.rows - counts.labelled:,} of {counts.rows:,} in `{name}`"
        for name, counts in by_split.items()
        if counts.labelled < counts.rows
    ]
    if bare:
        notes.append(f"Without a label: {', '.join(bare)}.")
    return " ".join(notes), table(["Label", *heads], lines), shares


# --- scores
# -----------------------------------------------------------------------------------------------------------


def _scoring(spec: BenchmarkSpec) -> dict[str, object]:
    """Metrics with units, the judge, facets, and what becomes of items that can't be scored."""
    sources = Sources()
    metrics = [
        [
            f"`{metric.name}`" + (" (primary)" if metric is spec.primary else ""),
            metric.title,
            metric.in_unit.label,
            _how(metric) + of,
            sources.number(metric.cite),
        ]
        for metric, of in _metrics(spec)
    ]
    judge = spec.judge
    asked = "one call per answer"
    if judge and len(judge.criteria) > 1:
        asked = f"the {len(judge.criteria)} criteria {', '.join(judge.criteria)}, one call each"
    unreadable = []
    for split in spec.splits if spec.mapping and spec.mapping.skip else ():
        with suppress(DataUnavailableError):
            lost, of = locate(spec.id, split, fetch=False).left_out
            unreadable += (
                [f"{lost:,} of {of:,} rows of `{split}` can't be read and are left out."]
                if lost
                else []
            )
    return {
        "version": spec.version,
        "metrics": table(["Metric", "Name", "Unit", "From", "#Source"], metrics),
        "metric_sources": sources.source_list() or None,
        "judge": judge and judge.default_model,
        "judge_low": judge and judge.low,
        "judge_high": judge and judge.high,
        "judge_asked": asked,
        "facets": "; ".join(f"`{facet.name}` ({lower(facet.title)})" for facet in spec.facets)
        or None,
        "parity": parity(spec) or None,
        "unreadable": "\n\n".join(unreadable) or None,
    }


def _metrics(spec: BenchmarkSpec) -> list[tuple[Metric, str]]:
    """Return the metrics, then those that facets have of their own, with what they are given for."""
    own: list[Metric] = []
    for facet in spec.facets:
        own.extend(metric for metric in facet.metrics if metric not in own)
    given = [
        (metric, ", ".join(f"`{facet.name}`" for facet in spec.facets if metric in facet.metrics))
        for metric in own
    ]
    return [
        *((metric, "") for metric in spec.metrics),
        *((metric, f", for each label of {of}") for metric, of in given),
    ]


def _how(metric: Metric) -> str:
    how = metric.aggregate
    if isinstance(how, specs.MeanOf):
        return "mean of " + ", ".join(f"`{name}`" for name in how.metrics)
    if isinstance(how, specs.Corpus):
        return "all answers at once"
    scale = "" if how.scale == 1 else f", times {how.scale:g}"
    if isinstance(how, specs.Grouped):
        return f"mean over groups of what their rule makes of `{how.column}`{scale}"
    if isinstance(how, specs.Macro):
        return f"mean over `{how.facet}` of the means of `{how.column}`{scale}"
    weight = (
        f", a question counting once for each label of `{how.weight_by}`" if how.weight_by else ""
    )
    if weight and how.weights:
        weight = f", weighted by `{how.weight_by}` ({', '.join(f'{k} {v:g}' for k, v in how.weights.items())})"
    return f"mean of `{how.column}` over questions{weight}{scale}"


def results(spec: BenchmarkSpec) -> str:
    """Published numbers, a table for each split, subset and judge, and where they stand."""
    if not spec.published:
        return "None are recorded."
    sources = Sources()
    groups: dict[str, list[PublishedResult]] = {}
    for row in spec.published:
        parts = (f"`{row.split}`", row.subset, row.unranked and f"{row.unranked} (not ranked)")
        judge = f", judged by {row.judge}" if row.judge else ""
        groups.setdefault(", ".join(filter(None, parts)) + judge, []).append(row)
    declared = [metric.name for metric, _ in _metrics(spec)]
    tables: list[str] = []
    for title, group in groups.items():
        given = {name for row in group for name in row.metrics}
        names = [name for name in declared if name in given] + sorted(given - set(declared))
        # A source's table has one precision: what it printed as 4.00 is not to stand as 4, nor 42.2
        # as 42.20.
        decimals: dict[tuple[str, str], int] = {}
        for row in group:
            for name, value in row.metrics.items():
                decimals[row.cite, name] = max(
                    decimals.get((row.cite, name), 0), len(f"{value:g}".partition(".")[2])
                )
        lines = []
        for row in group:
            numbers = (
                f"{row.metrics[name]:.{decimals[row.cite, name]}f}" if name in row.metrics else "–"
                for name in names
            )
            cited = row.cite + (
                "" if row.verified == "V" else " (from a third party, not seen in the source)"
            )
            source = sources.number(f"{cited}. {row.note}" if row.note else cited)
            model = f"{row.model} ({row.label})" if row.label else row.model
            lines.append([model, row.setting, *numbers, row.frames or "", source])
        heads = ["Model", "Setting", *(f"#`{name}`" for name in names), "Frames", "#Source"]
        tables.append(f"**{title}**\n\n{table(heads, lines)}")
    told = "As published, not run for this card. Compare only within a table and a setting."
    return "\n\n".join([told, *tables, sources.source_list()])


# --- sources
# ---------------------------------------------------------------------------------------------------------


def _provenance(material: Material) -> dict[str, object]:
    """Sources of the annotations, as declared and as read, and of the videos."""
    lines = []
    for split in material.splits:
        source = split.declared.source
        files = " or ".join(f"`{name}`" for name in expected_files(source, published=True))
        if isinstance(source, HubFile):
            where = f"[{source.repo_id}](https://huggingface.co/datasets/{source.repo_id})"
            revision = (
                f"`{source.revision}`"
                if source.revision
                else "the newest when first fetched, then kept"
            )
        elif isinstance(source, specs.FileBeside):
            where, revision = "its authors' own file", "as it lies beside the benchmark's file"
        elif isinstance(source, LocalFile):
            where, revision = f"on request: [form]({source.form_url})", "as the owners sent it"
        else:
            where, revision = (
                f"<{source.url}>",
                f"SHA-256 `{source.sha256}`" if source.sha256 else "not pinned",
            )
        counted = split.counted
        if counted:
            files = ", ".join(f"`{name}`" for name in counted.files) or files
            revision = f"`{counted.source.revision}`" if counted.source.revision else revision
            if counted.source.kind == "local":
                revision = "a local copy"
        read = f"`{counted.source.fingerprint[:16]}`" if counted else "not read for this card"
        lines.append([f"`{split.name}`", where, files, revision, read])
    media_lines = []
    for media in material.spec.media:
        location = f"`{media.location}`" if "{video}" in media.location else f"<{media.location}>"
        if media.kind == "hub":
            gate = ", gated" if media.gated else ""
            location = f"[{media.location}](https://huggingface.co/datasets/{media.location}){gate}"
        splits = ", ".join(f"`{split}`" for split in media.splits) or "all"
        media_lines.append(
            [media.title, location if media.location else "not stated", splits, media.note]
        )
    converted = "The rows are the owners', converted by Reelbench to the schema above and otherwise unchanged."
    return {
        "sources": table(["Split", "Owners' source", "Files", "Revision", "Fingerprint"], lines),
        "converted": converted if material.data_splits else None,
        "videos": table(["Videos", "From", "For", "Note"], media_lines),
    }


def _licences(spec: BenchmarkSpec) -> dict[str, object]:
    """Licences of annotations and videos."""
    forbidden, licence = why_withheld(spec), cell(spec.license.replace("`", ""))
    kept = ", ".join(f"`{name}`" for name in spec.splits if why_withheld(spec, name))
    but = f", but for those of {kept}, whose answers are hidden" if kept else ""
    terms_of = {
        "youtube": "YouTube's terms of service",
        "form": "the agreement that is made on request",
    }
    where = {True: "the terms of its gated repository", False: "the terms stated there"}
    terms_of |= (
        {} if spec.package else {"form": "their makers' own terms"}
    )  # nothing was agreed with a file's author
    told = [
        f"{media.title}: {terms_of.get(media.kind, where[media.gated])}" for media in spec.media
    ]
    return {
        "licence": f"`{licence}`" if licence else "no licence is stated",
        "licence_note": f" {inert(spec.license_note)}" if spec.license_note else "",
        "passing_on": f"{forbidden} No rows are published here."
        if forbidden
        else f"They may be passed on under it{but}.",
        "terms": "; ".join(dict.fromkeys(told)),
    }


# --- the machine-readable side
# ----------------------------------------------------------------------------------------

FRAMEWORK = "reelbench"
"""Who evaluates, by the id that the Hub is to know; see docs/upstream."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card_metadata(material: Material) -> dict[str, Any]:
    """Return the card's metadata in the Hub's terms; what is not known is left out."""
    spec, declared = material.spec, material.sheet.declared
    languages = sorted({language_of(tag) for tag in material.languages})
    arxiv = [f"arxiv:{paper.arxiv}" for paper in spec.papers if paper.arxiv]
    forms = [
        split.source.form_url
        for split in spec.splits.values()
        if isinstance(split.source, LocalFile)
    ]
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
        "language_bcp47": list(material.languages)
        if set(languages) != set(material.languages)
        else None,
        "multilinguality": ["multilingual" if len(languages) > 1 else "monolingual"],
        "task_categories": list(declared.task_categories),
        "annotations_creators": list(declared.annotations_creators),
        "language_creators": list(declared.language_creators),
        "source_datasets": list(declared.source_datasets),
        "size_categories": size,
        "tags": [
            "benchmark",
            "video",
            "video-question-answering",
            "lmms-eval",
            "reelbench",
            *declared.tags,
            *arxiv,
        ],
        "configs": [{"config_name": material.config, "data_files": files}]
        if material.data_splits
        else None,
    }
    metadata["tags"] = list(dict.fromkeys(metadata["tags"]))
    return {key: value for key, value in metadata.items() if value}


def eval_yaml(
    spec: BenchmarkSpec, config: str = CONFIG, framework: str | None = None
) -> dict[str, Any]:
    """Return the content of `eval.yaml`: a task id per lmms-eval task on a whole split whose answers are public."""
    tasks = [
        {"id": task.name, "config": config, "split": task.split}
        for task in spec.tasks
        if not (
            is_mini(task.split) or task.only or not task.plain or spec.splits[task.split].secret
        )
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

    written = yaml.safe_dump(
        value, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=flow
    )
    return written.rstrip("\n") if flow else written
