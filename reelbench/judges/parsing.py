"""Read a score from a judge's reply: strictly, or not at all.

A reply counts only as a whole: one JSON or Python dictionary with an integer `score` in range, or,
where the prompt asks for it, one integer. One closed block of reasoning may stand before it. A
number in a sentence, a boolean, `"4"`, `4.0`, a key that is there twice, or a reply that was cut
short is not a score: what a judge did not plainly say is never guessed.
"""

import re
from typing import Any

from reelbench.llm.reading import MAX_CHARACTERS as MAX_REPLY
from reelbench.llm.reading import dictionary

MAX_CHARACTERS = 20_000
"""Longest verdict that is read, without the reasoning before it."""

_FENCE = re.compile(r"```(?:json|python|py)?[ \t]*\n?(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,3}")  # in ASCII

# How vendors mark reasoning: name -> (opening, closing).
_TAGS = ("think", "thinking", "thought", "reasoning", "analysis", "seed:think")
_BLOCKS = {
    **{tag.replace(":", "_"): (f"<{tag}>", f"</{tag}>") for tag in _TAGS},
    "kimi": ("◁think▷", "◁/think▷"),
    "magistral": (r"\[THINK\]", r"\[/THINK\]"),
    "skywork": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    "command": (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    "gemma": (r"<\|channel>thought\b", r"<channel\|>"),
    "gpt_oss": (  # its verdict stands in a channel too
        r"<\|channel\|>analysis<\|message\|>",
        r"<\|end\|>(?:<\|start\|>assistant)?<\|channel\|>final(?: ?<\|constrain\|>json)?<\|message\|>",
    ),
}
_OPENING = re.compile(
    "|".join(f"(?P<{name}>{opening})" for name, (opening, _) in _BLOCKS.items()), re.IGNORECASE
)
_CLOSING = re.compile(
    "|".join(f"(?P<{name}>{closing})" for name, (_, closing) in _BLOCKS.items()), re.IGNORECASE
)
_END_OF_TURN = re.compile(r"<\|(?:return|end)\|>\s*\Z")


def parse_score(reply: str | None, low: int, high: int, *, bare_integer: bool) -> int | None:
    """Return the score, `low` to `high`, in a reply's text, or None where it is not plainly there.

    With `bare_integer` an integer and nothing else is a score too. Where the server gave no text
    there is none.
    """
    if reply is None or len(reply) > MAX_REPLY:
        return None
    score = _score_in(reply, bare_integer=bare_integer)
    if score is None and (verdict := after_reasoning(reply)) is not None:
        score = _score_in(verdict, bare_integer=bare_integer)
    return score if type(score) is int and low <= score <= high else None


def _score_in(text: str, *, bare_integer: bool) -> Any:  # noqa: ANN401
    """Return whatever stands under `score`, or the integer that is all of a text; None where there is neither."""
    if len(text) > MAX_CHARACTERS:
        return None
    text = text.strip().removeprefix("\ufeff").strip()
    fenced = _FENCE.fullmatch(text)
    text = fenced.group(1).strip() if fenced else text
    if bare_integer and _INTEGER.fullmatch(text):
        return int(text)
    return (dictionary(text) or {}).get("score")


def after_reasoning(reply: str) -> str | None:
    """Return the text behind the one closed block of reasoning that a reply begins with; None where it has none.

    A lone closing tag counts, with all before it: the chat template opened the block.
    """
    closing = _CLOSING.search(reply)
    if closing is None:
        return None
    before = reply[: closing.start()].lstrip()
    opening = _OPENING.search(before)
    if opening is not None and (opening.start() > 0 or opening.lastgroup != closing.lastgroup):
        return None
    return _END_OF_TURN.sub("", reply[closing.end() :])
