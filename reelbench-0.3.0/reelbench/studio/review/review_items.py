"""Items of a review page as plain data: the things that an item shows, and its asks.

The page's scripts know no kind. An item has `shows` (texts, spans, other raters' marks) and `asks`
(`scale`, `choice`, `labels`, `text`, `verdict`, `span`), each answer under its ask's name. On a
blind page nothing else of the row may be in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from reelbench.base.errors import InputError
from reelbench.registry.rows import LETTERS, Row
from reelbench.registry.spec import BenchmarkSpec

Item = dict[str, Any]
Part = dict[str, Any]
"""One thing that is shown or asked."""


@dataclass(frozen=True, slots=True)
class Place:
    """A video with one or more items, which stand on the page at once."""

    video: str
    label: str
    items: list[Item]


def review_item(
    identifier: str,
    video: str,
    shows: list[Part],
    asks: Iterable[Part],
    *,
    part: str = "",
    language: str = "",
) -> Item:
    """Return an item.

    `part` is its part of a row (caption, question, answer).
    """
    return {
        "key": f"{part} {identifier}" if part else identifier,
        "id": identifier,
        "part": part,
        "language": language,
        "shows": shows,
        "asks": list(asks),
        "about": {"video": video},
    }


def row_item(row: Row, shows: list[Part], asks: Iterable[Part], part: str = "") -> Item:
    """Return an item on a row."""
    return review_item(row["id"], row["video"], shows, asks, part=part, language=row["language"])


# --- shows
# -------------------------------------------------------------------------------------------------


def shown_text(heading: str, text: str, language: str = "", below: Iterable[str] = ()) -> Part:
    """Return a text with its heading.

    `below` are further lines, such as wrong options.
    """
    return {
        "type": "text",
        "heading": heading,
        "text": text,
        "language": language,
        "others": list(below),
    }


def shown_span(heading: str, span: Iterable[float]) -> Part:
    """Return a span in seconds that can be played."""
    return {"type": "span", "heading": heading, "span": list(span)}


def question_part(row: Row) -> Part:
    """Return a row's question."""
    return shown_text(f"Question · {row['id']}", row["question"], row["language"])


def shown_answer(spec: BenchmarkSpec, row: Row) -> Part:
    """Return a row's right answer with its wrong options.

    Raises:
        InputError: The split hides it.
    """
    answer = right_answer(spec, row)
    if not answer.right:
        raise InputError(
            f"{spec.id}: the answers of this split are hidden; "
            "choose a split with answers (--split)"
        )
    return shown_text("Answer", answer.right, row["language"], answer.wrong_options)


class RightAnswer(NamedTuple):
    """A row's right answer in words ("" where hidden), and its wrong options."""

    right: str
    wrong_options: list[str]


def right_answer(spec: BenchmarkSpec, row: Row) -> RightAnswer:
    """Return a row's right answer in words, and its wrong options."""
    if not spec.asks_choice:
        return RightAnswer(row.get("answer", ""), [])
    options = list(row["options"])
    if not row["answer"]:
        return RightAnswer("", options)
    right = options.pop(LETTERS.index(row["answer"]))
    return RightAnswer(right, options)


# --- asks
# -------------------------------------------------------------------------------------------------


def scale_ask(name: str, low: int, high: int, anchors: Mapping[int, str]) -> Part:
    """Return a scale of whole numbers.

    `anchors` are the meanings of some of them.
    """
    words = {str(low): "not at all", str(high): "fully"}
    words |= {str(score): meaning for score, meaning in anchors.items() if low <= score <= high}
    return {
        "type": "scale",
        "name": name,
        "title": capitalised(name),
        "low": low,
        "high": high,
        "anchors": words,
    }


def ask_of(words: Mapping[str, Any]) -> Part:
    """Return an ask of `kinds.yaml`.

    There a choice has `options`, value -> text, or `codes`, value -> meaning.
    """
    ask = dict(words)
    codes = ask.pop("codes", {})
    texts = ask.pop("options", None)
    if texts is None:
        texts = {code: f"{capitalised(code)} – {meaning}" for code, meaning in codes.items()}
    if texts:
        ask["options"] = [{"value": value, "text": text} for value, text in texts.items()]
    return ask


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that are not blank, stripped."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def capitalised(name: str) -> str:
    """Return a name with a capital."""
    return name[:1].upper() + name[1:]
