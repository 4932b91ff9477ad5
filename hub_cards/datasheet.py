"""A benchmark's datasheet: the prose of its card, beside its spec in `datasheet.md`.

The front matter holds what the Hub asks of every dataset and no program can count; below it stand the limitations and
the seven sections of a datasheet (Gebru et al., Datasheets for Datasets), in our own words and with their sources.
Nothing that the spec declares or that rows can be counted for is written here.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, Field, ValidationError

from reelbench.registry.base_record import first_wrong_field
from reelbench.registry.containment import contained
from reelbench.registry.datasheet_form import FILE, LIMITATIONS, SECTIONS
from reelbench.registry.errors import InputError
from reelbench.registry.spec import BenchmarkSpec

Creator = Literal["crowdsourced", "expert-generated", "found", "machine-generated", "other"]


class Declarations(BaseModel, frozen=True, extra="forbid"):
    """The front matter: values of the Hub's dataset card metadata."""

    task_categories: tuple[
        Literal["video-text-to-text", "visual-question-answering", "question-answering", "multiple-choice"], ...
    ]
    annotations_creators: tuple[Creator, ...]
    language_creators: tuple[Creator, ...]
    source_datasets: tuple[Literal["original", "extended"], ...]
    size_category: str | None = Field(None, description="Where the sources disagree on the size but not on this.")
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Datasheet:
    """The whole datasheet; `sections` are in the order of `SECTIONS`."""

    declared: Declarations
    limitations: str
    sections: dict[str, str]


UNSTATED = Datasheet(
    Declarations(
        task_categories=("video-text-to-text",),
        annotations_creators=(),
        language_creators=(),
        source_datasets=(),
        size_category=None,
        tags=(),
    ),
    "None are stated.",
    {},
)
"""Of a benchmark whose authors wrote none."""


def path_of(spec: BenchmarkSpec) -> Path:
    """Return the path of the benchmark's datasheet; InputError where its folder has a link to one outside."""
    return contained(spec.folder, spec.folder / FILE) if spec.file else spec.folder / FILE


def read(spec: BenchmarkSpec) -> Datasheet:
    """Read a benchmark's datasheet; InputError says what is missing, unknown or empty in it.

    One that a `benchmark.yaml` declares may have none: its card then says that nothing is stated.
    """
    path = path_of(spec)
    if not path.is_file() and spec.file:
        return UNSTATED
    if not path.is_file():
        raise InputError(f"{path}: no such file; a card needs a datasheet with {', '.join((LIMITATIONS, *SECTIONS))}")
    return parse(path.read_text(encoding="utf-8"), str(path))


def parse(text: str, where: str) -> Datasheet:
    """Parse a datasheet's text; `where` names it in errors."""
    match = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    if match is None:
        raise InputError(f"{where}: expected a front matter between two lines of '---', then the sections")
    try:
        declared = Declarations.model_validate(yaml.safe_load(match[1]))
    except (yaml.YAMLError, ValidationError) as error:
        what = first_wrong_field(error) if isinstance(error, ValidationError) else str(error).replace("\n", " ")
        raise InputError(f"{where}: front matter: {what}") from None
    parts = re.split(r"^## (.+)\n", match[2], flags=re.MULTILINE)
    if parts[0].strip():
        raise InputError(f"{where}: text before the first section: {parts[0].strip()[:40]!r}")
    sections = {name.strip(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    wanted = (LIMITATIONS, *SECTIONS)
    if tuple(sections) != wanted:
        raise InputError(
            f"{where}: has the sections {', '.join(sections)}; expected {', '.join(wanted)}, in this order"
        )
    if empty := [name for name, body in sections.items() if not body]:
        raise InputError(f"{where}: empty: {', '.join(empty)}")
    limitations = sections.pop(LIMITATIONS)
    return Datasheet(declared=declared, limitations=limitations, sections=sections)
