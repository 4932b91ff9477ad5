"""What a chain's roles are told: prompt files, roles as data, and material that can't pass for an order.

Prompts are files in our own words under `prompts/<chain>/`; a folder of the user's replaces those that it has. Text
that somebody else wrote (captions, metadata, other models' replies) stands in the user message, marked as material
(`llm.material`).
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reelbench.llm.material import marked
from reelbench.llm.messages import Attachment, Message
from reelbench.registry.errors import InputError, first_line
from reelbench.registry.files import read_text

ROLES = "roles.yaml"
_SHARED = ("material.txt", "again.txt")
_PLACE = re.compile(r"\{([a-z_]+)\}")


class Role(BaseModel):
    """Who speaks in a chain.

    Attributes:
        name: How the command line and the trace call the role.
        prompt: File with its instructions.
        sees: Which material it is shown, and which roles' words, in this order.
        model: Model asked, where the command line gives the role none of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    prompt: str
    sees: tuple[str, ...]
    model: str | None = None


class _Roles(BaseModel):
    model_config = ConfigDict(extra="forbid")

    roles: tuple[Role, ...] = Field(min_length=1)


class Prompts:
    """The prompts of one chain, and the hash of each that was used."""

    def __init__(self, chain: str, folder: Path | None = None) -> None:
        """Read nothing yet but the user's folder.

        Raises:
            InputError: `folder` is none, or holds nothing that this chain asks with.
        """
        own = resources.files("reelbench.making") / "prompts"
        self._files: dict[str, Any] = {name: own / "chain" / name for name in _SHARED}
        self._files |= {file.name: file for file in (own / chain).iterdir()}
        self._texts: dict[str, str] = {}
        self._roles: tuple[Role, ...] = ()
        self.sha256: dict[str, str] = {}
        if folder is not None:
            if not folder.is_dir():
                raise InputError(f"--prompts: {folder} is not a folder; give one that holds {', '.join(self._files)}")
            theirs = {file.name: file for file in sorted(folder.iterdir()) if file.suffix in {".txt", ".yaml"}}
            if not theirs:
                raise InputError(f"--prompts: {folder} holds no prompt; there are {', '.join(sorted(self._files))}")
            self._files |= theirs

    def text(self, name: str) -> str:
        """Return a prompt; InputError where there is none of this name."""
        if name not in self._texts:
            if name not in self._files:
                raise InputError(f"--prompts: no file is called {name}; there are {', '.join(sorted(self._files))}")
            file = self._files[name]
            text = read_text(file) if isinstance(file, Path) else file.read_text(encoding="utf-8")
            self._texts[name] = text.strip()
            self.sha256[name] = hashlib.sha256(text.encode()).hexdigest()
        return self._texts[name]

    def roles(self) -> tuple[Role, ...]:
        """Return the chain's roles in order; InputError names what is wrong in their file."""
        if self._roles:
            return self._roles
        where = self._files.get(ROLES, ROLES)
        try:
            roles = _Roles.model_validate(yaml.safe_load(self.text(ROLES))).roles
        except yaml.YAMLError as error:
            raise InputError(f"{where}: not YAML ({first_line(error)})") from None
        except ValidationError as error:
            problem = error.errors()[0]
            raise InputError(f"{where}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None
        names = [role.name for role in roles]
        if len(set(names)) < len(names):
            raise InputError(f"{where}: a role's name is there twice; there are {', '.join(names)}")
        for role in roles:
            self.text(role.prompt)
        self._roles = roles
        return roles

    def messages(
        self,
        name: str,
        material: Sequence[tuple[str, str]],
        attachments: Sequence[Attachment] = (),
        **places: object,
    ) -> list[Message]:
        """Return the question that a prompt makes of some material.

        Args:
            name: The prompt file: the system message, with what it says in braces filled in.
            material: (tag, text) of each piece, in order; the texts are nobody's orders.
            attachments: Pictures or clips, shown after the material.
            places: What the prompt's places stand for, beside `mark`.
        """
        if not material:
            return [{"role": "user", "content": _with(self._filled(name, places), attachments)}]
        mark, user = marked(material)
        system = "\n\n".join(self._filled(file, {"mark": mark, **places}) for file in (name, "material.txt"))
        return [{"role": "system", "content": system}, {"role": "user", "content": _with(user, attachments)}]

    def again(self, messages: Sequence[Message], reply: str | None, error: str) -> list[Message]:
        """Return the question asked again: the reply that could not be used, and why."""
        said = [] if not (reply or "").strip() else [{"role": "assistant", "content": reply}]
        return [*messages, *said, {"role": "user", "content": self._filled("again.txt", {"error": error})}]

    def _filled(self, name: str, values: Mapping[str, object]) -> str:
        # One pass over the template alone, so that what is put in is never read for places.
        def value(place: re.Match[str]) -> str:
            if place[1] not in values:
                there = ", ".join(f"{{{known}}}" for known in values)
                raise InputError(f"{self._files[name]}: nothing stands for {place[0]}; there are {there}")
            return str(values[place[1]])

        return _PLACE.sub(value, self.text(name))


def _with(text: str, attachments: Sequence[Attachment]) -> str | list[str | Attachment]:
    return [text, *attachments] if attachments else text


def as_json(value: object) -> str:
    """Return a value as text for a block of material."""
    return json.dumps(value, ensure_ascii=False, indent=1)
