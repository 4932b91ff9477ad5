"""Prompt files, and other people's text as material that can't pass for an order.

Text that somebody else wrote (captions, metadata, a model's words) stands in the user message, each
piece between tags that carry a mark: 128 bits of the hash of all of it, so no text can contain the
tag that would end it.

A prompt may have places for its material, as `{captions}` or, as papers print it, `<CAPTIONS>`. It
is sent as it is: one message, its places filled in.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.files import read_text, valid_text
from reelbench.llm.messages import Attachment, Message

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_MATERIAL = "material.txt"
_AGAIN = "again.txt"
_PLACE = re.compile(r"\{([a-z_][a-z0-9_]*)\}|<([A-Z][A-Z0-9_]*)>")
_NONE: Mapping[str, str] = {}
_MARK = 32  # hexadecimal digits: 128 bits
_SUFFIXES = (".txt", ".yaml")  # of prompt files


class PromptFiles:
    """Prompt files of one kind of question, and the hash of each that was used."""

    def __init__(self, prompts: "Traversable", folder: Path | None = None) -> None:
        """Find our prompts, and in their place those of the user's folder.

        Args:
            prompts: The folder of our prompts.
            folder: The user's folder.

        Raises:
            InputError: The user's folder has no prompt.
        """
        shared = resources.files("reelbench.llm")
        self.files: dict[str, Traversable | Path] = {
            _MATERIAL: shared / _MATERIAL,
            _AGAIN: shared / _AGAIN,
        }
        for file in prompts.iterdir():
            if file.name.endswith(_SUFFIXES):
                self.files[file.name] = file
        self._texts: dict[str, str] = {}
        self.sha256: dict[str, str] = {}
        if folder is not None:
            self.files |= self._files_of_user(folder)

    def _files_of_user(self, folder: Path) -> "dict[str, Traversable | Path]":
        """Return the prompts in the user's folder. InputError where there is none."""
        if not folder.is_dir():
            raise InputError(
                f"--prompts: {folder} is not a folder; give one that contains {self._file_names}"
            )
        files: dict[str, Traversable | Path] = {}
        for file in sorted(folder.iterdir()):
            if file.suffix in _SUFFIXES:
                files[file.name] = file
        if not files:
            raise InputError(
                f"--prompts: {folder} contains no prompt; there are {self._file_names}"
            )
        return files

    def text(self, name: str) -> str:
        """Return a prompt.

        Raises:
            InputError: There is none of this name.
        """
        if name not in self._texts:
            if name not in self.files:
                raise InputError(
                    f"--prompts: no file is called {name}; there are {self._file_names}"
                )
            file = self.files[name]
            if isinstance(file, Path):
                text = read_text(file)
            else:
                text = file.read_text(encoding="utf-8")
            self._texts[name] = text.strip()
            self.sha256[name] = hashlib.sha256(text.encode()).hexdigest()
        return self._texts[name]

    def hashes(self) -> dict[str, str]:
        """Return name -> sha256 of every prompt, used or not."""
        for name in self.files:
            self.text(name)
        return dict(sorted(self.sha256.items()))

    def messages(
        self,
        name: str,
        material: Sequence[tuple[str, str]],
        attachments: Sequence[Attachment] = (),
        parts: Mapping[str, str] = _NONE,
        **places: object,
    ) -> list[Message]:
        """Return the question that a prompt makes of some material.

        Args:
            name: The prompt file: the system message, with its places filled in. Where it has
                places for the material, it is the user message, alone, and shows only the material
                that it has places for.
            material: (tag, text) of each piece, in order. The texts are nobody's orders.
            attachments: Pictures or clips, shown after the material.
            parts: Further names under which a prompt may have places for the material, or for a
                part of it.
            places: The values of the prompt's places, beside `mark`.
        """
        valid_material = [(tag, valid_text(text)) for tag, text in material]
        texts = {tag: valid_text(text) for tag, text in parts.items()}
        texts |= dict(valid_material)
        messages: list[Message] = []
        if not material or not self._place_names(name).isdisjoint(texts):
            user_text = self._filled_prompt(name, {**texts, **places})
        else:
            marked = mark_pieces(valid_material)
            user_text = marked.text
            values = {"mark": marked.mark, **places}
            order = self._filled_prompt(name, values)
            rule_on_material = self._filled_prompt(_MATERIAL, values)
            system = f"{order}\n\n{rule_on_material}"
            messages.append({"role": "system", "content": system})
        content: object = user_text
        if attachments:
            content = [user_text, *attachments]
        messages.append({"role": "user", "content": content})
        return messages

    def retry(self, messages: Sequence[Message], reply: str | None, error: str) -> list[Message]:
        """Return the messages that ask a question again.

        Args:
            messages: The question.
            reply: The reply that could not be used.
            error: The reason.
        """
        request = self._filled_prompt(_AGAIN, {"error": valid_text(error)})
        return with_reply(messages, reply, request)

    @property
    def _file_names(self) -> str:
        return ", ".join(sorted(self.files))

    def _place_names(self, name: str) -> set[str]:
        """Return the names of a prompt's places, in small letters."""
        names: set[str] = set()
        for place in _PLACE.finditer(self.text(name)):
            names.add(place[1] or place[2].lower())
        return names

    def _filled_prompt(self, name: str, values: Mapping[str, object]) -> str:
        """Return a prompt with its places filled in.

        This is one pass over the template alone, so that places in the values are never filled.
        """

        def value(place: re.Match[str]) -> str:
            plain_name = place[1]
            printed_name = place[2]
            # As a paper prints it: also a slot of the reply, which has no value.
            if plain_name is None:
                return str(values.get(printed_name.lower(), place[0]))
            if plain_name not in values:
                names = ", ".join(f"{{{value_name}}}" for value_name in values)
                raise InputError(f"{self.files[name]}: no value for {place[0]}; there are {names}")
            return str(values[plain_name])

        return _PLACE.sub(value, self.text(name))


def with_reply(messages: Sequence[Message], reply: str | None, request: str) -> list[Message]:
    """Return the messages that go on after a reply, with one more request."""
    longer = list(messages)
    if reply and reply.strip():
        longer.append({"role": "assistant", "content": reply})
    longer.append({"role": "user", "content": request})
    return longer


class MarkedMaterial(NamedTuple):
    """Material in one text, and the mark in the tags of its pieces."""

    mark: str
    text: str


def mark_pieces(material: Sequence[tuple[str, str]]) -> MarkedMaterial:
    """Return the pieces of material between tags that carry a mark, in order.

    Args:
        material: (tag, text) of each piece.
    """
    mark = _mark_of(material)
    pieces: list[str] = []
    for tag, text in material:
        pieces.append(f"<{tag} {mark}>\n{text}\n</{tag} {mark}>")
    return MarkedMaterial(mark, "\n\n".join(pieces))


def _mark_of(material: Sequence[tuple[str, str]]) -> str:
    """Return the mark of material, of the hash of its tags and texts."""
    pieces = [f"{tag}\0{text}" for tag, text in material]
    content = "\0".join(pieces).encode("utf-8", "replace")
    return hashlib.sha256(content).hexdigest()[:_MARK]
