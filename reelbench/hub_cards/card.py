"""A dataset card, rendered from spec, datasheet and what was counted.

Its text is `card.md`, whose sections are filled in by the modules `card_…`.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from reelbench.hub_cards import card_lint, card_loading, card_scores, card_sources
from reelbench.hub_cards.card_material import Material
from reelbench.hub_cards.card_metadata import card_metadata, eval_yaml, to_yaml
from reelbench.hub_cards.card_statistics import statistics
from reelbench.pages.markdown import code, inert, prose, table
from reelbench.pages.shell_page import page_asset
from reelbench.registry import rows
from reelbench.registry.spec import BenchmarkSpec

OWN_ROWS = "Own rows in the format of"
"""Begins the title of a card whose rows are not the owners'."""

_OWN_ROWS_METADATA = ("pretty_name", "language", "size_categories", "tags", "configs")
"""Metadata of such a card: what was counted, and nothing that the owners state."""


@dataclass(frozen=True)
class Card:
    """A rendered card."""

    metadata: dict[str, Any]

    sections: dict[str, str]
    """Name -> text."""

    plots: dict[str, str]
    """Path beside README.md -> text."""

    eval_yaml: str | None
    """None where the rows are not the benchmark's."""


def render(material: Material) -> Card:
    """Render a card: the same material gives the same bytes.

    A paragraph of `card.md` with a word for something that isn't there is left out.
    """
    spec = material.spec
    metadata = card_metadata(material)
    statistics_section = statistics(material)
    title = inert(spec.title)
    if material.own_rows:
        title = f"{OWN_ROWS} {title}"
    words = _words_of_template(material)
    words["title"] = title
    words["statistics"] = statistics_section.text
    sections = _card_sections(words)
    own_rows_text = sections.pop("own")
    if not material.own_rows:
        evaluation = to_yaml(eval_yaml(spec, material.config, material.framework))
        return Card(metadata, sections, statistics_section.plots, evaluation)
    # Paper, authors, licence and results are of other rows.
    metadata |= {"pretty_name": title, "tags": ["video", "reelbench"]}
    return Card(
        metadata={key: metadata[key] for key in _OWN_ROWS_METADATA if key in metadata},
        sections={
            "heading": sections["heading"],
            "about": own_rows_text,
            "schema": sections["schema"],
            "statistics": sections["statistics"],
        },
        plots=statistics_section.plots,
        eval_yaml=None,
    )


def _card_sections(words: dict[str, object]) -> dict[str, str]:
    """Return the sections of `card.md` with the words filled in."""
    text = page_asset("card.md", "hub_cards")
    _, *names_and_bodies = re.split(r"^<!-- ([a-z]+) -->\n", text, flags=re.MULTILINE)
    names = names_and_bodies[::2]
    bodies = names_and_bodies[1::2]
    sections: dict[str, str] = {}
    for name, body in zip(names, bodies, strict=True):
        paragraphs: list[str] = []
        for paragraph in body.split("\n\n"):
            placeholders = re.findall(r"{(\w+)}", paragraph)
            if all(words[placeholder] is not None for placeholder in placeholders):
                paragraphs.append(paragraph.format_map(words))
        sections[name] = "\n\n".join(paragraphs).strip()
    return sections


def _words_of_template(material: Material) -> dict[str, object]:
    """Return the words of `card.md`, None where there is no such thing."""
    spec = material.spec
    return {
        "owners": inert(spec.title),
        "summary": inert(spec.summary) or None,
        "links": _links_of_benchmark(spec),
        "numbers": _origin_of_numbers(material),
        "columns": _column_table(spec),
        "example": _example_row(material),
        "published": card_scores.results(spec),
        "limitations": prose(material.sheet.limitations),
        "lint": card_lint.lint(material),
        "citation": _citation_block(spec),
        "datasheet": _datasheet_section(material),
        **card_loading.loading(material),
        **card_loading.splits(material),
        **card_scores.scoring(spec),
        **card_sources.provenance(material),
        **card_sources.licences(spec),
    }


def _links_of_benchmark(spec: BenchmarkSpec) -> str | None:
    links: list[str] = []
    if re.fullmatch(r"https?://[^\s<>()`\\]+", spec.homepage):
        links.append(f"[Home]({spec.homepage})")
    elif inert(spec.homepage):
        links.append(inert(spec.homepage))
    for paper in spec.papers:
        links.append(f"[{paper.title}, {paper.venue} {paper.year}]({paper.url})")
    if not links:
        return None
    return " · ".join(links)


def _origin_of_numbers(material: Material) -> str:
    """Return the sentence on where the numbers of the card are from."""
    uncounted = [f"`{split.name}`" for split in material.splits if not split.counted]
    if len(uncounted) == len(material.splits):
        return (
            "**This card was made without the data**: all sizes of the dataset in it come from "
            "the paper or the owners and are marked *as published*."
        )
    if uncounted:
        return (
            f"Numbers are counted from the data, except those of {', '.join(uncounted)}, which are "
            "marked *as published*."
        )
    return "Numbers of the dataset are counted from the data."


def _column_table(spec: BenchmarkSpec) -> str:
    lines: list[list[str]] = []
    for column in rows.columns(spec):
        name = f"`{column.name}`"
        dtype = f"`{column.dtype}`"
        lines.append([name, dtype, column.unit, column.description])
    return table(["Column", "Type", "Unit", "What it is"], lines)


def _example_row(material: Material) -> str | None:
    if not material.example:
        return None
    text = json.dumps(material.example, ensure_ascii=False, indent=2)
    return (
        "An example row (not from the dataset: written for Reelbench, to show the "
        f"format):\n\n{code(text, 'json')}"
    )


def _citation_block(spec: BenchmarkSpec) -> str:
    if spec.papers:
        return code("\n\n".join(paper.bibtex for paper in spec.papers), "bibtex")
    if spec.citation:
        return code(spec.citation)
    return "No citation is given."


def _datasheet_section(material: Material) -> str:
    if not material.sheet.sections:
        return "The authors wrote no datasheet."
    source = (
        "After Gebru et al., *Datasheets for Datasets*. Sections (§) are those of the paper cited "
        "above."
    )
    sections = [f"### {name}\n\n{prose(body)}" for name, body in material.sheet.sections.items()]
    return "\n\n".join([source, *sections])
