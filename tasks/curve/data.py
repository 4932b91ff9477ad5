"""CURVE's annotation file -> rows.

The owners describe the fields, not the container nor the fields' types: a list and an object are both read, a video as
a YouTube address or as its id, and lists written as one text with commas.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json_or_jsonl
from reelbench.registry.rows import Row, questions_of, text_of
from reelbench.registry.values import as_text, is_number
from reelbench.tasks.curve import SPEC

EXPECTED = "key, video_id, locale, question, answer, reasoning_steps, external_links, skills, category, subcategory"

log = logging.getLogger("reelbench")

_ID = re.compile(r"[\w-]{11}", re.ASCII)
_LOCALE = re.compile(r"([A-Za-z]{2,3})[-_]([A-Za-z]{2})")
_ADDRESS = re.compile(
    r"(?:https?:)?(?://)?(?:youtu\.be/|(?:[\w-]+\.)*youtube(?:-nocookie)?\.com/"
    r"(?:(?:embed|shorts|live|v|e)/|[^?#]*\?(?:[^#]*?&)??v=))([\w-]{11})(?![^/?&#])",
    re.ASCII | re.IGNORECASE,
)


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of the annotation file; there is one split."""
    del split
    unlisted: set[str] = set()
    for path in paths:
        for where, entry in entries(path):
            name = locale(entry, where)
            unlisted |= {name} - set(SPEC.languages)
            yield {
                "id": entry["key"],
                "video": video(entry, where),
                "question": text(entry, "question", where),
                "language": name,
                "answer": text(entry, "answer", where),
                "locale": [name],
                "category": _texts(str(entry.get("category") or "").strip()),
                "subcategory": str(entry.get("subcategory") or "").strip(),
                "skills": _texts(entry.get("skills"), commas=True),
                "reasoning_steps": _texts(entry.get("reasoning_steps")),
                "external_links": _texts(entry.get("external_links")),
            }
    if unlisted:
        log.warning("curve: no source lists the locales %s; they are kept", ", ".join(sorted(unlisted)))


def entries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (where, entry) for every question, `key` as text; InputError where a key occurs twice."""
    document = read_json_or_jsonl(path)
    if isinstance(document, dict) and "question" not in document:
        lists = [value for value in document.values() if isinstance(value, list)]
        if len(document) == len(lists) == 1:  # the questions under one name
            document = lists[0]
    listed = document if isinstance(document, list) else [document]
    if isinstance(document, dict) and "question" not in document:  # the questions by key
        listed = [{"key": key, **value} if isinstance(value, dict) else value for key, value in document.items()]
    return questions_of(str(path), listed, "key", f"a question of CURVE; expected {EXPECTED}")


def text(entry: dict[str, Any], field: str, where: str) -> str:
    """Return a text field as it is; a number becomes its text."""
    value = entry.get(field)
    return str(value) if is_number(value) else text_of(entry, field, where, EXPECTED)


def locale(entry: dict[str, Any], where: str) -> str:
    """Return the question's locale as a BCP-47 tag such as `ja-JP`."""
    value = entry.get("locale")
    match = _LOCALE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise InputError(f"{where}: locale is {value!r}, expected a language and a country such as ja-JP")
    return f"{match[1].lower()}-{match[2].upper()}"


def video(entry: dict[str, Any], where: str) -> str:
    """Return the YouTube id of the question's video."""
    value = entry.get("video_id")
    if not isinstance(value, str) or (name := video_id(value)) is None:
        raise InputError(f"{where}: video_id is {value!r}, expected a YouTube address or an id of 11 characters")
    return name


def video_id(address: str) -> str | None:
    """Return the id in a YouTube address of any form, or the id that `address` is; None where there is none."""
    address = address.strip()
    if _ID.fullmatch(address):
        return address
    found = _ADDRESS.match(address)
    return found[1] if found else None


def _texts(value: Any, *, commas: bool = False) -> list[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, list):
        return [as_text(part) for part in value]
    text = "" if value is None else as_text(value)
    parts = [part.strip() for part in text.split(",")] if commas and isinstance(value, str) else [text]
    return [part for part in parts if part.strip()]
