"""Read the rows of CURVE's annotation file.

The owners describe the fields, not the container nor the fields' types: a list and an object are
both read, a video as a YouTube address or as its id, and lists written as one text with commas.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.values import as_text
from reelbench.registry.rows import Row, read_owners_questions, required_text_of
from reelbench.tasks.curve import SPEC

EXPECTED = (
    "key, video_id, locale, question, answer, reasoning_steps, external_links, skills, category, "
    "subcategory"
)

log = logging.getLogger("reelbench")

_ID = re.compile(r"([\w-]{11})", re.ASCII)
_LOCALE = re.compile(r"([A-Za-z]{2,3})[-_]([A-Za-z]{2})")
_ADDRESS = re.compile(
    r"(?:https?:)?(?://)?(?:youtu\.be/|(?:[\w-]+\.)*youtube(?:-nocookie)?\.com/"
    r"(?:(?:embed|shorts|live|v|e)/|[^?#]*\?(?:[^#]*?&)??v=))([\w-]{11})(?![^/?&#])",
    re.ASCII | re.IGNORECASE,
)


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of the annotation file. There is one split."""
    del split
    unlisted: set[str] = set()
    for path in paths:
        for where, entry in read_owners_questions(
            path, "key", f"a question of CURVE; expected {EXPECTED}"
        ):
            locale = _checked_locale(entry.get("locale"), where)
            if locale not in SPEC.languages:
                unlisted.add(locale)
            yield {
                "id": entry["key"],
                "video": _video_id(entry.get("video_id"), where),
                "question": required_text_of(entry, "question", where, EXPECTED),
                "language": locale,
                "answer": required_text_of(entry, "answer", where, EXPECTED),
                "locale": [locale],
                "category": _nonempty_texts(str(entry.get("category") or "").strip()),
                "subcategory": str(entry.get("subcategory") or "").strip(),
                "skills": _nonempty_texts(entry.get("skills"), commas=True),
                "reasoning_steps": _nonempty_texts(entry.get("reasoning_steps")),
                "external_links": _nonempty_texts(entry.get("external_links")),
            }
    if unlisted:
        log.warning(
            "curve: no source lists the locales %s; they are kept", ", ".join(sorted(unlisted))
        )


def _checked_locale(value: object, where: str) -> str:
    match = _LOCALE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise InputError(
            f"{where}: locale is {value!r}, expected a language and a country such as ja-JP"
        )
    language, country = match.groups()
    return f"{language.lower()}-{country.upper()}"


def _video_id(value: object, where: str) -> str:
    """Return a video's id, which stands alone or in a YouTube address of any form."""
    address = value.strip() if isinstance(value, str) else ""
    match = _ID.fullmatch(address) or _ADDRESS.match(address)
    if match is None:
        raise InputError(
            f"{where}: video_id is {value!r}, expected a YouTube address or an id of 11 characters"
        )
    return match[1]


def _nonempty_texts(value: Any, *, commas: bool = False) -> list[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, list):
        return [as_text(part) for part in value]
    text = "" if value is None else as_text(value)
    parts = [text]
    if commas and isinstance(value, str):
        parts = [part.strip() for part in text.split(",")]
    return [part for part in parts if part.strip()]
