"""Prompt files, and other people's text as material that can't pass for an order.

Text that somebody else wrote (captions, metadata, a model's words) stands in the user message, each
piece between tags that carry a mark: 128 bits of the hash of all of it, so no text can hold the tag
that would end it.

A prompt that says itself where its material stands, as `{captions}` or, as papers print it,
`<CAPTIONS>`, is sent as it is: one message, its places filled in.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.errors import InputError
from reelbench.base.files import read_text, valid_text
from reelbench.llm.messages import Attachment, Message

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_MATERIAL, _AGAIN = "material.txt", "again.txt"
_PLACE = re.compile(r"\{([a-z_][a-z0-9_]*)\}|<([A-Z][A-Z0-9_]*)>")
_NONE: Mapping[str, str] = {}
_MARK = 32  # hexadecimal digits: 128 bits
_READ = (".txt", ".yaml")  # of a folder of prompts


class PromptFiles:
    """Prompt files of one kind of question, and the hash of each that was used."""

    def __init__(self, own: "Traversable", folder: Path | None = None) -> None:
        """Take our prompts, and in their place those of the user's `folder`; InputError where it holds none."""
        shared = resources.files("reelbench.llm")
        self.files: dict[str, Traversable | Path] = {
            name: shared / name for name in (_MATERIAL, _AGAIN)
        }
        self.files |= {file.name: file for file in own.iterdir() if file.name.endswith(_READ)}
        self._texts: dict[str, str] = {}
        self.sha256: dict[str, str] = {}
        if folder is None:
            return
        if not folder.is_dir():
            raise InputError(
                f"--prompts: {folder} is not a folder; give one that holds {self._known}"
            )
        theirs = {file.name: file for file in sorted(folder.iterdir()) if file.suffix in _READ}
        if not theirs:
            raise InputError(f"--prompts: {folder} holds no prompt; there are {self._known}")
        self.files |= theirs

    def text(self, name: str) -> str:
        """Return a prompt; InputError where there is none of this name."""
        if name not in self._texts:
            if name not in self.files:
                raise InputError(f"--prompts: no file is called {name}; there are {self._known}")
            file = self.files[name]
            text = read_text(file) if isinstance(file, Path) else file.read_text(encoding="utf-8")
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
            name: The prompt file: the system message, with what it says in braces filled in. Where
                it has places for the material, it is the user message, alone, and shows what it has
                places for.
            material: (tag, text) of each piece, in order; the texts are nobody's orders.
            attachments: Pictures or clips, shown after the material.
            parts: Further names under which a prompt may have places for the material, or for a
                part of it.
            places: What the prompt's places stand for, beside `mark`.
        """
        texts = {tag: valid_text(text) for tag, text in (*parts.items(), *material)}
        named = {place[1] or place[2].lower() for place in _PLACE.finditer(self.text(name))}
        if not material or not named.isdisjoint(texts):
            before, user = [], self._fill(name, {**texts, **places})
        else:
            mark, user = mark_pieces([(tag, valid_text(text)) for tag, text in material])
            system = "\n\n".join(
                self._fill(file, {"mark": mark, **places}) for file in (name, _MATERIAL)
            )
            before = [{"role": "system", "content": system}]
        return [*before, {"role": "user", "content": [user, *attachments] if attachments else user}]

    def retry(self, messages: Sequence[Message], reply: str | None, error: str) -> list[Message]:
        """Return the question asked again: the reply that could not be used, and why."""
        before: list[Message] = (
            [{"role": "assistant", "content": reply}] if reply and reply.strip() else []
        )
        return [
            *messages,
            *before,
            {"role": "user", "content": self._fill(_AGAIN, {"error": valid_text(error)})},
        ]

    @property
    def _known(self) -> str:
        return ", ".join(sorted(self.files))

    def _fill(self, name: str, values: Mapping[str, object]) -> str:
        # One pass over the template alone, so that what is put in is never read for places.
        def value(place: re.Match[str]) -> str:
            if (
                place[1] is None
            ):  # as a paper prints it: also a slot of the reply, which nothing stands for
                return str(values.get(place[2].lower(), place[0]))
            if place[1] not in values:
                there = ", ".join(f"{{{known}}}" for known in values)
                raise InputError(f"{self.files[name]}: no value for {place[0]}; there are {there}")
            return str(values[place[1]])

        return _PLACE.sub(value, self.text(name))


def mark_pieces(material: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the mark of (tag, text) of each piece, and the pieces between tags that carry it, in order."""
    texts = "\0".join(f"{tag}\0{text}" for tag, text in material)
    mark = hashlib.sha256(texts.encode("utf-8", "replace")).hexdigest()[:_MARK]
    return mark, "\n\n".join(f"<{tag} {mark}>\n{text}\n</{tag} {mark}>" for tag, text in material)
