"""CogME's manual as data: one text of what each label means, for models (`make tags`) and people (`--ask tags`)."""

import textwrap
from functools import cache
from importlib import resources
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from reelbench.base.base_record import record_of
from reelbench.base.yaml_text import read_mapping
from reelbench.scoring.cognitive_profile import COMPONENTS, tags_of

MANUAL = "manual.yaml"
_WIDTH = 120


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Component(_Read):
    """A component of a tag: what it is, and label -> meaning, in CogME's order."""

    about: str
    labels: dict[str, str]


class Example(_Read):
    """A question, described, and its tags."""

    asked: str
    target: list[str]
    content: list[str]
    thinking: str

    @property
    def text(self) -> str:
        """The example in one sentence."""
        target, content = ", ".join(self.target), ", ".join(self.content)
        return f"{self.asked}: target {target}; content {content}; thinking {self.thinking}."


class TagManual(_Read):
    """How to tag."""

    statement: str  # what a tag says
    components: dict[
        str, Component
    ]  # `target`, `content` and `thinking`, with every label of CogME
    notes: tuple[str, ...]  # what else to mind
    examples: tuple[Example, ...]  # the paper's own (Figure 2)

    @model_validator(mode="after")
    def _has_cogmes_labels(self) -> Self:
        labels = {name: tuple(component.labels) for name, component in self.components.items()}
        if labels != COMPONENTS:
            raise ValueError(f"components have not CogME's labels, in its order: {COMPONENTS}")
        for example in self.examples:
            tags_of(example.model_dump(), "an example")
        return self

    @property
    def text(self) -> str:
        """The whole manual, as a model reads it."""
        parts = [f'A tag says: "{self.statement}"']
        for name, component in self.components.items():
            lines = [f"{name.upper()}, {component.about}:"]
            lines += [f"- {label}: {meaning}" for label, meaning in component.labels.items()]
            parts.append("\n".join(lines))
        parts += [textwrap.fill(note, _WIDTH) for note in self.notes]
        shown = [
            textwrap.fill(f"- {example.text}", _WIDTH, subsequent_indent="  ")
            for example in self.examples
        ]
        if shown:
            parts.append(
                "\n".join(
                    ["Two examples from the paper:" if len(shown) == 2 else "Examples:", *shown]
                )
            )  # noqa: PLR2004
        return "\n\n".join(parts)


def read_manual(text: str, where: str) -> TagManual:
    """Read a manual from YAML; InputError names what is wrong in it."""
    return record_of(TagManual, read_mapping(text, where), where)


@cache
def our_manual() -> TagManual:
    """Return the manual that comes with Reelbench."""
    file = resources.files("reelbench.studio") / "prompts" / "tags" / MANUAL
    return read_manual(file.read_text(encoding="utf-8"), MANUAL)
