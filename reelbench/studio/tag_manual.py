"""Read CogME's manual of labels.

Models (`make tags`) and people (`--ask tags`) get the same text.
"""

import textwrap
from functools import cache
from importlib import resources
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reelbench.base.base_record import record_of
from reelbench.base.yaml_text import read_mapping
from reelbench.scoring.cognitive_profile import COMPONENTS, tags_of

MANUAL = "manual.yaml"
_WIDTH = 120
_EXAMPLES_OF_THE_PAPER = 2


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Component(_Part):
    """A component of a tag, and the meanings of its labels, in CogME's order."""

    about: str
    labels: dict[str, str]


class Example(_Part):
    """A question, described, and its tags."""

    description: str = Field(alias="asked")
    target: list[str]
    content: list[str]
    thinking: str

    @property
    def text(self) -> str:
        """The example in one sentence."""
        target = ", ".join(self.target)
        content = ", ".join(self.content)
        return f"{self.description}: target {target}; content {content}; thinking {self.thinking}."


class TagManual(_Part):
    """The manual of tags."""

    statement: str
    """The sentence that a tag stands for."""
    components: dict[str, Component]
    """`target`, `content` and `thinking`, with every label of CogME."""
    notes: tuple[str, ...]
    examples: tuple[Example, ...]
    """The paper's own (Figure 2)."""

    @model_validator(mode="after")
    def _has_cogmes_labels(self) -> Self:
        labels = {name: tuple(component.labels) for name, component in self.components.items()}
        if labels != COMPONENTS:
            raise ValueError(f"components must be CogME's labels in CogME's order: {COMPONENTS}")
        for example in self.examples:
            tags_of(example.model_dump(), "an example")
        return self

    @property
    def text(self) -> str:
        """The whole manual, as a model reads it."""
        parts = [f'A tag says: "{self.statement}"']
        for name, component in self.components.items():
            lines = [f"{name.upper()}, {component.about}:"]
            for label, meaning in component.labels.items():
                lines.append(f"- {label}: {meaning}")
            parts.append("\n".join(lines))
        parts += [textwrap.fill(note, _WIDTH) for note in self.notes]
        if self.examples:
            parts.append(self._examples_text())
        return "\n\n".join(parts)

    def _examples_text(self) -> str:
        """Return the examples, one a paragraph, under their title."""
        lines = ["Examples:"]
        if len(self.examples) == _EXAMPLES_OF_THE_PAPER:
            lines = ["Two examples from the paper:"]
        for example in self.examples:
            lines.append(textwrap.fill(f"- {example.text}", _WIDTH, subsequent_indent="  "))
        return "\n".join(lines)


def read_manual(text: str, where: str) -> TagManual:
    """Read a manual from YAML.

    Raises:
        InputError: Something is wrong in it. The message names it, and `where` it is.
    """
    return record_of(TagManual, read_mapping(text, where), where)


@cache
def our_manual() -> TagManual:
    """Return the manual that comes with Reelbench."""
    file = resources.files("reelbench.studio") / "prompts" / "tags" / MANUAL
    return read_manual(file.read_text(encoding="utf-8"), MANUAL)
