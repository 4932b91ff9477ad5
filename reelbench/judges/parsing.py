"""Read a score from a judge's reply: strictly, or not at all.

One JSON or Python object with an integer `score` in range counts, whatever words stand around it
(`4.0` is 4, `Score` is `score`), or, where the prompt asks for it, one integer and nothing else.
One closed block of reasoning may stand before it.

Two scores that differ are none. One that the judge only quotes is none of its own: it stands in
quotation marks, in a quoted line, in a tag of the prompt, or the answer that is judged claims it
for itself; then the reply has to be the object and nothing else. A number in a sentence, a boolean,
`"4"`, `4.5`, a key that is there twice, or a reply that was cut short is no score either: what a
judge did not plainly say is never guessed.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from reelbench.base.values import is_array, is_object
from reelbench.llm.reading import MAX_CHARACTERS as MAX_REPLY
from reelbench.llm.reading import dictionary, objects_in

MAX_CHARACTERS = 20_000
"""Longest verdict that is read, without the reasoning before it."""

_FENCE = re.compile(
    r"(?P<marks>```|`)(?:json|python|py)?[ \t]*\n?(?P<inside>.*?)\n?[ \t]*(?P=marks)",
    re.DOTALL | re.IGNORECASE,
)
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
_END_OF_TURN = re.compile(r"(?:(?<!\s)\s++)?(?:<\|[a-z_]{2,20}\|>|</s>|<end_of_turn>)\s*+\Z")

_KEY = "score"
_KEY_WORD = re.compile(_KEY, re.IGNORECASE)
_QUOTED_LINE = re.compile(r"\s*>")
_TAG_OF_PROMPT = re.compile(r"<(?P<closes>/?)(?:question|reference|answer) [0-9a-f]{8,}>")
_OPENING_QUOTES = "“„‘«‹「『"
_QUOTATION_MARK = re.compile(f"[{_OPENING_QUOTES}”’»›」』]")
_SHORTLY_QUOTED = re.compile(r"(['`]).*\1", re.DOTALL)


def parse_score(
    reply: str | None, low: int, high: int, *, bare_integer: bool, answer: str = ""
) -> int | None:
    """Return the score in a reply's text. None where it is not plainly there.

    Args:
        reply: The text. None where the server gave none.
        low: The lowest score.
        high: The highest score.
        bare_integer: An integer and nothing else is a score, too.
        answer: The answer that is judged. A score that it claims for itself is not the judge's.
    """
    if reply is None or len(reply) > MAX_REPLY:
        return None
    score = _score_of_whole(reply, bare_integer=bare_integer)
    if score is None:
        verdict = _without_reasoning(reply)
        if verdict is not None:
            score = _score_of_whole(verdict, bare_integer=bare_integer)
            if score is None:
                score = _score_among_words(verdict, answer)
    if score is not None and low <= score <= high:
        return score
    return None


def _without_reasoning(reply: str) -> str | None:
    """Return a reply without its block of reasoning. None where that can't be told apart."""
    verdict = reply
    if _OPENING.search(reply) or _CLOSING.search(reply):
        verdict = after_reasoning(reply)
        if verdict is None or _OPENING.search(verdict) or _CLOSING.search(verdict):
            return None
    return verdict if len(verdict) <= MAX_CHARACTERS else None


def _score_of_whole(text: str, *, bare_integer: bool) -> int | None:
    """Return the score of a text that is one object or integer alone."""
    if len(text) > MAX_CHARACTERS:
        return None
    text = _END_OF_TURN.sub("", text).strip().removeprefix("\ufeff").strip()
    fenced = _FENCE.fullmatch(text)
    if fenced is not None:
        text = fenced["inside"].strip()
    if bare_integer and _INTEGER.fullmatch(text):
        return int(text)
    value = dictionary(text)
    if value is None:
        return None
    return _agreed_score(list(_scores_in(value)))


def _score_among_words(text: str, answer: str) -> int | None:
    """Return the score of the objects in a text that are no quotations."""
    scores: list[Any] = []
    quotations = _Quotations()
    text = "\n" + text  # its first line begins like any other
    end = 0
    for place in objects_in(text):
        if place.end is None:
            return None  # it was cut short
        quotations.read_on(text[end : place.start])
        is_marked = _SHORTLY_QUOTED.fullmatch(text[max(0, place.start - 1) : place.end + 1])
        end = place.end
        if quotations.is_open or is_marked:
            continue
        if place.value is not None:
            scores.extend(_scores_in(place.value))
        elif _KEY_WORD.search(text, place.start, place.end):
            return None  # a score that can't be read
    score = _agreed_score(scores)
    if score is not None and _answer_states_score(answer, score):
        return None
    return score


def _scores_in(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any literal
    """Yield all values under the key `score`, those of inner objects too."""
    if is_object(value):
        for key, inner in value.items():
            if isinstance(key, str) and key.lower() == _KEY:
                yield inner
            else:
                yield from _scores_in(inner)
    elif is_array(value):
        for inner in value:
            yield from _scores_in(inner)


def _agreed_score(scores: list[Any]) -> int | None:
    """Return the whole number that all scores are. None where there is none."""
    numbers = [_whole_number(score) for score in scores]
    if len(set(numbers)) != 1:
        return None
    return numbers[0]


def _whole_number(value: Any) -> int | None:  # noqa: ANN401 - any literal
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


class _Quotations:
    """The quotations that are open in a judge's text, read piece by piece.

    They are opened by quotation marks, by a quoted line (`>`), or by a tag of the prompt.
    """

    def __init__(self) -> None:
        self._straight_marks = 0
        self._mark_is_open = False
        self._line_is_quoted = False
        self._tag_is_open = False

    def read_on(self, words: str) -> None:
        """Read the words between two objects."""
        self._straight_marks += words.count('"')
        for mark in _QUOTATION_MARK.finditer(words):
            self._mark_is_open = mark[0] in _OPENING_QUOTES
        for tag in _TAG_OF_PROMPT.finditer(words):
            self._tag_is_open = not tag["closes"]
        line = words.rpartition("\n")[2]
        if line != words:
            self._line_is_quoted = _QUOTED_LINE.match(line) is not None

    @property
    def is_open(self) -> bool:
        """True where what stands here is quoted."""
        return (
            self._straight_marks % 2 == 1
            or self._mark_is_open
            or self._line_is_quoted
            or self._tag_is_open
        )


def _answer_states_score(answer: str, score: int) -> bool:
    """Return True where an answer speaks of a score of its own."""
    return re.search(rf"score\D{{0,20}}{score}(?!\d)", answer, re.IGNORECASE) is not None


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
