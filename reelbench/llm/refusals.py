"""What a server's words say of a request that it doesn't take, and the way out.

The words are data (`refusals.json`, each server's with its source). They are looked for without
case: llama.cpp refuses pictures with 500, OpenRouter with 404. Of which statuses they are heard,
`llm.retry_rules` says.
"""

import json
import re
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

Kind = Literal["no_pictures", "too_many_pictures", "too_long", "too_large", "unknown_model"]

_TOO_LARGE = 413

_WAY_OUT: dict[Kind, str] = {
    "no_pictures": (
        "it takes no pictures: ask it without (--frames none), name a model that takes them, or "
        "start it with its projector (llama.cpp: --mmproj FILE)"
    ),
    "too_many_pictures": (
        "send fewer --frames, or let the server take more pictures "
        "(vLLM: --limit-mm-per-prompt '{\"image\": 64}')"
    ),
    "too_long": (
        "the request doesn't fit into its context: raise that (Ollama: OLLAMA_CONTEXT_LENGTH; "
        "llama.cpp: -c; vLLM: --max-model-len; SGLang: --context-length; LM Studio: in the model's "
        "settings), or send less"
    ),
    "too_large": "send less",
    "unknown_model": "",
}
_WITH_FEWER_FRAMES: dict[Kind, str] = {
    "too_long": " (fewer --frames)",
    "too_large": ": fewer --frames or smaller ones (--frames …,size=448)",
}
"""What is added where pictures were sent."""


class _Words(NamedTuple):
    """The words of a refusal."""

    kind: Kind
    pattern: re.Pattern[str]


@cache
def _table() -> list[_Words]:
    """Return the table of words."""
    text = resources.files("reelbench.llm").joinpath("refusals.json").read_text(encoding="utf-8")
    table: list[_Words] = []
    for entry in json.loads(text):
        table.append(_Words(entry["kind"], re.compile(entry["words"], re.IGNORECASE)))
    return table


def advice_on_refusal(kind: Kind, *, has_pictures: bool) -> str:
    """Return the user's way out of a refusal.

    Args:
        kind: The kind of the refusal.
        has_pictures: True where the request has pictures. Only then can fewer be sent.
    """
    advice = _WAY_OUT[kind]
    if has_pictures:
        advice += _WITH_FEWER_FRAMES.get(kind, "")
    return advice


def kind_of(status: int, text: str) -> Kind | None:
    """Return the kind of a refusal, or None where its words are unknown.

    Args:
        status: The status of the response. One of success where an error came in its place.
        text: The server's words.
    """
    for words in _table():
        if words.pattern.search(text):
            return words.kind
    if status == _TOO_LARGE:
        return "too_large"
    return None
