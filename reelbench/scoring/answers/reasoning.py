"""Take a model's reasoning away, in the forms that its makers use.

Closed blocks go; a lone closing tag takes all before it along (the prompt's template opened the
block); a block that is never closed was cut off, so there is no answer.
"""

from collections.abc import Callable
from typing import TypeVar

from reelbench.llm.reading import UnreadableError
from reelbench.scoring.answers import patterns

T = TypeVar("T")

_BARE_FINAL = "assistantfinal"
_SIGNS_OF_TAGS = "<◁["  # with which the tags of reasoning begin


def strip_reasoning(text: str) -> str | None:
    """Return `text` without its reasoning, or None where a reasoning block is never closed."""
    if patterns.CHANNEL.search(text):
        finals = list(patterns.FINAL_CHANNEL.finditer(text))
        if not finals:
            return None
        text = text[finals[-1].end() :]
        end = patterns.TURN_ENDS.search(text)
        text = text[: end.start()] if end else text
    elif patterns.BARE_CHANNEL.match(text):
        _, final, text = text.rpartition(_BARE_FINAL)
        if not final:
            return None
    return _without_blocks(text)


def past_reasoning(read: Callable[[str], T]) -> Callable[[str], T]:
    """Return `read`, tried once more without reasoning where it can't read a whole reply."""

    def reading(reply: str) -> T:
        try:
            return read(reply)
        except UnreadableError:
            answer = strip_reasoning(reply)
            if answer is None or answer == reply:
                raise
        return read(answer)

    return reading


def _without_blocks(text: str) -> str | None:
    if not any(sign in text for sign in _SIGNS_OF_TAGS):
        return text
    outside: list[str] = []
    open_families: list[str] = []
    end = first_opening = last_opening = last_closing = 0
    for tag in patterns.REASONING_TAG.finditer(text):
        family = str(tag.lastgroup)
        closes = patterns.REASONING_CLOSES.match(tag[0])
        if not open_families:
            outside.append(text[end : tag.start()])
        if not closes:
            # The template and the model may both open the same block.
            again = open_families[-1:] == [family] and not text[last_opening : tag.start()].strip()
            if not open_families:
                first_opening = tag.end()
            if not again:
                open_families.append(family)
            last_opening = tag.end()
        elif family in open_families:
            while open_families.pop() != family:
                pass
            last_closing = tag.end()
        elif not open_families:
            outside.clear()
        end = tag.end()
    if open_families:
        # A block that names its own tag opens it twice and closes it once.
        if last_closing > first_opening:
            return text[last_closing:].strip()
        # One that is never closed may still end in an answer's own tag.
        answer = patterns.LAST_ANSWER.search(text)
        return answer[0].strip() if answer else None
    return "".join([*outside, text[end:]]).strip() if end else text


def closing_lines(text: str) -> str:
    """Return the last line of reasoning, with the heading or the braces before it.

    The line on which it opens is none.
    """
    lines = [line for line in text.split("\n")[1:] if line.strip(" `$*-#")]
    count = 3 if lines[-1:] == ["}"] else 1
    if lines[-count - 1 : -count] and lines[-count - 1].rstrip(" *_").endswith((":", "：")):
        count += 1
    return "\n".join(lines[-count:])


def last_line(text: str) -> str:
    """Return the last line of an answer, "" of nothing.

    It was asked for as steps and, at the end, the answer alone. Marks of emphasis around it are no
    part of it.
    """
    for line in reversed(text.splitlines()):
        words = line.strip().strip("*").strip()
        if words:
            return words
    return ""
