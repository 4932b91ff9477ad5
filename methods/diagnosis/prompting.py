"""What the models of a diagnosis are told: prompt files of ours, and other people's text, marked, as material."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from reelbench.llm.material import marked
from reelbench.llm.messages import Message
from reelbench.registry.files import valid_text

GRAPH, TAG, TRANSLATE, AGAIN = PROMPTS = ("graph", "tag", "translate", "again")

_PLACE = re.compile(r"\{(mark|language|error)\}")


def messages(name: str, material: Sequence[tuple[str, str]], **places: str) -> list[Message]:
    """Return the question that a prompt makes of (tag, text) of each piece of material, in order."""
    mark, user = marked([(tag, valid_text(text)) for tag, text in material])
    return [
        {"role": "system", "content": _filled(name, {"mark": mark, **places})},
        {"role": "user", "content": user},
    ]


def again(asked: Sequence[Message], reply: str | None, error: str) -> list[Message]:
    """Return a question asked again: with the reply that could not be used, and why."""
    said: list[Message] = [{"role": "assistant", "content": reply}] if reply and reply.strip() else []
    return [*asked, *said, {"role": "user", "content": _filled(AGAIN, {"error": valid_text(error)})}]


def hashes() -> dict[str, str]:
    """Return prompt -> sha256, as a diagnosis records them."""
    return {name: hashlib.sha256(_text(name).encode()).hexdigest() for name in PROMPTS}


def _filled(name: str, values: Mapping[str, str]) -> str:
    # One pass over the template alone, so that text put in is never read for places.
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), _text(name))


@cache
def _text(name: str) -> str:
    return resources.files("reelbench.methods.diagnosis").joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()
