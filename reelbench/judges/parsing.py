"""Read a score from a judge's reply: strictly, or not at all.

A reply counts only as a whole: one JSON or Python dictionary with an integer `score` in range, or,
where the prompt asks for it, one integer. One closed block of reasoning may stand before it. A
number in a sentence, a boolean, `"4"`, `4.0`, a key that is there twice, or a reply that was cut
short is not a score: what a judge did not plainly say is never guessed.
"""

import re
from collections.abc import Iterable
from typing import Any

from reelbench.llm.reading import MAX_CHARACTERS as MAX_REPLY
from reelbench.llm.reading import dictionary

MAX_CHARACTERS = 20_000
"""Longest verdict that is read, without the reasoning before it."""

_FENCE = re.compile(r"```(?:json|python|py)?[ \t]*\n?(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,3}")  # in ASCII

_GPT_OSS_CLOSING = (  # its verdict stands in a channel too
    r"<\|end\|>(?:<\|start\|>assistant)?<\|channel\|>final(?: ?<\|constrain\|>json)?"
    r"<\|message\|>"
)
_TAGS = ("think", "thinking", "thought", "reasoning", "analysis", "seed:think")
_MARKS = {tag.replace(":", "_"): (f"<{tag}>", f"</{tag}>") for tag in _TAGS} | {
    "kimi": ("◁think▷", "◁/think▷"),
    "magistral": (r"\[THINK\]", r"\[/THINK\]"),
    "skywork": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    "command": (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    "gemma": (r"<\|channel>thought\b", r"<channel\|>"),
    "gpt_oss": (r"<\|channel\|>analysis<\|message\|>", _GPT_OSS_CLOSING),
}
"""Name -> patterns of the opening and the closing mark of reasoning, as vendors write them."""


def _any_of(patterns: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    """Return a pattern of alternatives, each a group of its name."""
    groups = [f"(?P<{name}>{pattern})" for name, pattern in patterns]
    return re.compile("|".join(groups), re.IGNORECASE)


_OPENING = _any_of((name, opening) for name, (opening, _) in _MARKS.items())
_CLOSING = _any_of((name, closing) for name, (_, closing) in _MARKS.items())
_END_OF_TURN = re.compile(r"<\|(?:return|end)\|>\s*\Z")


def parse_score(reply: str | None, low: int, high: int, *, bare_integer: bool) -> int | None:
    """Return the score in a reply's text; None where it is not plainly there.

    Args:
        reply: The text; None where the server gave none.
        low: The lowest score.
        high: The highest score.
        bare_integer: An integer and nothing else is a score, too.
    """
    if reply is None or len(reply) > MAX_REPLY:
        return None
    score = _value_of_score(reply, bare_integer=bare_integer)
    if score is None:
        verdict = after_reasoning(reply)
        if verdict is not None:
            score = _value_of_score(verdict, bare_integer=bare_integer)
    if type(score) is int and low <= score <= high:
        return score
    return None


def _value_of_score(text: str, *, bare_integer: bool) -> Any:  # noqa: ANN401 - any value
    """Return the value under `score`, or a whole text's integer; else None."""
    if len(text) > MAX_CHARACTERS:
        return None
    text = text.strip().removeprefix("\ufeff").strip()
    fenced = _FENCE.fullmatch(text)
    if fenced is not None:
        text = fenced[1].strip()
    if bare_integer and _INTEGER.fullmatch(text):
        return int(text)
    values = dictionary(text) or {}
    return values.get("score")


def after_reasoning(reply: str) -> str | None:
    """Return the text behind the closed block of reasoning that begins a reply.

    None where it has none. A lone closing tag counts, with all before it: the chat template opened
    the block.
    """
    closing = _CLOSING.search(reply)
    if closing is None:
        return None
    before = reply[: closing.start()].lstrip()
    opening = _OPENING.search(before)
    if opening is not None and (opening.start() > 0 or opening.lastgroup != closing.lastgroup):
        return None
    return _END_OF_TURN.sub("", reply[closing.end() :])
