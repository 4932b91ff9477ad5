"""How a server says that a reply ended, by all vendors' names for it.

The names are data (`finish_reasons.json`, each vendor's with its source). They are compared without
case, signs, and what stands before the last dot or colon: `FinishReason.MAX_TOKENS` is
`max_tokens`. What the server says is kept beside the reply as one text, so a reply that was kept
long ago is read by today's table.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from reelbench.base.values import is_array, is_object

Group = Literal["ended", "cut_off", "refused", "broken_off", "unknown"]
"""Who ended a reply: the model, a limit, a filter, trouble at the server, or nobody knows."""

A_REFUSAL = "a refusal"
CALLS_OF_TOOLS = "calls of tools"
TEXT_IN = "text in "
"""Before the name of the field that has the text."""
NO_TOKENS = "no tokens"
"""The server counts no token of a reply without text."""

_ADVICE = {
    A_REFUSAL: "the model's refusal is in the field for refusals: ask another model",
    CALLS_OF_TOOLS: (
        "it has tool calls instead: start the server without tools "
        "(vLLM: no --enable-auto-tool-choice)"
    ),
    NO_TOKENS: (
        "the server counts no tokens of it: if the request does not fit into its context, "
        "raise that (Ollama: num_ctx; llama.cpp: -c) or send less"
    ),
}
_ADVICE_ON_REASONING = (
    "it is only in {}: switch the server's reasoning parser off (vLLM: no --reasoning-parser; "
    "llama.cpp: --reasoning-format none), or the model's thinking"
)

_GROUPS: tuple[Group, ...] = ("ended", "cut_off", "refused", "broken_off")
_UNSTATED = "unstated"
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_NOT_COMPARED = re.compile(r"[^a-z0-9]")
_KEPT = re.compile(
    r"(?P<name>.*?)(?:, natively (?P<native>.*?))?(?:, with (?P<instead>.*))?", re.DOTALL
)


class Ending(NamedTuple):
    """The end of a reply.

    Attributes:
        group: Who ended it.
        name: The server's name for it; "" where it states none.
        instead: What the reply has in place of a text (`A_REFUSAL`, `CALLS_OF_TOOLS`, `TEXT_IN` and
            a field), or None.
    """

    group: Group
    name: str
    instead: str | None = None


def _read_table() -> dict[str, Group]:
    """Return the group of each name, as names are compared."""
    table = resources.files("reelbench.llm").joinpath("finish_reasons.json")
    groups: dict[str, Group] = {}
    for vendor in json.loads(table.read_text(encoding="utf-8")):
        for group in _GROUPS:
            for name in vendor.get(group, ()):
                groups[_plain_ending(name)] = group
    return groups


def _plain_ending(name: str) -> str:
    """Return a name as it is compared: without prefix, case and signs."""
    last_part = re.split(r"[.:]", name.strip().rstrip(".:"))[-1]
    return _NOT_COMPARED.sub("", last_part.lower())


_GROUP_OF = _read_table()


def group_of(name: str | None) -> Group:
    """Return the group of a server's name for an end.

    Where the server says nothing, the model ended it.
    """
    if name is None or name in {"", _UNSTATED}:
        return "ended"
    return _GROUP_OF.get(_plain_ending(name), "unknown")


def ending_text(choice: Mapping[str, Any], text: str | None) -> str | None:
    """Return the text that is kept of a choice's end.

    That is its `finish_reason`, or the type in its `finish_details`. A `native_finish_reason` is
    added where it alone names a limit or a filter, and so is what stands in place of a text.

    Args:
        choice: A choice of a chat completion.
        text: The text of its message.
    """
    name = _text_or_none(choice.get("finish_reason"))
    if name is None:
        details = choice.get("finish_details")
        if is_object(details):
            name = _text_or_none(details.get("type"))
    ending = name or _UNSTATED
    native = _text_or_none(choice.get("native_finish_reason"))
    if group_of(name) == "ended" and group_of(native) in {"cut_off", "refused"}:
        ending += f", natively {native}"
    instead = None
    if not (text or "").strip():
        instead = _in_place_of_text(choice)
    if instead is not None:
        ending += f", with {instead}"
    if ending == _UNSTATED:
        return None
    return ending


@lru_cache(maxsize=1000)
def ending_of(finish: str | None) -> Ending:
    """Return the ending in the text that is kept of it."""
    match = _KEPT.fullmatch(finish or "")
    if match is None:
        return Ending(group_of(finish), finish or "")
    name = match["name"]
    if name == _UNSTATED:
        name = ""
    instead = match["instead"]
    group = group_of(name)
    if instead == A_REFUSAL and group == "ended":
        return Ending("refused", name, instead)
    if match["native"] is not None:
        return Ending(group_of(match["native"]), match["native"], instead)
    return Ending(group, name, instead)


def advice_on(instead: str) -> str:
    """Return the user's advice on what is in place of a text."""
    if instead.startswith(TEXT_IN):
        return _ADVICE_ON_REASONING.format(instead.removeprefix(TEXT_IN))
    return _ADVICE[instead]


def _in_place_of_text(choice: Mapping[str, Any]) -> str | None:
    """Return the thing in place of a text, or None."""
    message = choice.get("message")
    if not is_object(message):
        return None
    kinds_of_parts = _kinds_of_parts(message.get("content"))
    if message.get("refusal") or "refusal" in kinds_of_parts:
        return A_REFUSAL
    for field in _REASONING_FIELDS:
        if message.get(field):
            return f"{TEXT_IN}{field}"
        if field in kinds_of_parts:
            return f"{TEXT_IN}parts of type {field}"
    if message.get("tool_calls") or message.get("function_call"):
        return CALLS_OF_TOOLS
    return None


def _kinds_of_parts(content: object) -> list[object]:
    """Return the types of a content's parts."""
    if not is_array(content):
        return []
    return [part.get("type") for part in content if is_object(part)]


def _text_or_none(value: object) -> str | None:
    """Return a value as text, or None."""
    if value is None:
        return None
    return str(value)
