"""CURVE's annotation file -> rows.

The owners describe the fields, not the container nor the fields' types: a list and an object are both read, a video as
a YouTube address or as its id, and lists written as one text with commas.
"""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json_or_jsonl
from reelbench.registry.rows import Row
from reelbench.registry.values import is_id, is_number
from reelbench.tasks.curve import SPEC

EXPECTED = "key, video_id, locale, question, answer, reasoning_steps, external_links, skills, category, subcategory"

log = logging.getLogger("reelbench")

_ID = re.compile(r"[\w-]{11}", re.ASCII)
_LOCALE = re.compile(r"([A-Za-z]{2,3})[-_]([A-Za-z]{2})")
_HOSTS = ("youtube.com", "youtube-nocookie.com")
_ID_FOLLOWS = ("embed", "shorts", "live", "v", "e")


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
                "category": category(entry),
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
    found = [(f"{path}: entry {number}", entry) for number, entry in enumerate(listed, start=1)]
    if isinstance(document, dict) and "question" not in document:  # the questions by key
        if not all(isinstance(value, dict) for value in document.values()):
            raise InputError(f"{path}: expected questions in a list, or by key in an object, each with {EXPECTED}")
        found = [(f"{path}: {key!r}", {"key": key, **value}) for key, value in document.items()]
    seen: dict[str, str] = {}
    for where, entry in found:
        if not isinstance(entry, dict):
            raise InputError(f"{where} is a {type(entry).__name__}, expected an object with {EXPECTED}")
        key = entry.get("key")
        if not is_id(key):
            raise InputError(f"{where} has no 'key'; expected {EXPECTED}; found {', '.join(sorted(entry))}")
        if str(key) in seen:
            raise InputError(f"{where}: key {key!r} is there already ({seen[str(key)]}); keep one of them")
        seen[str(key)] = where
        yield where, {**entry, "key": str(key)}


def text(entry: dict[str, Any], field: str, where: str) -> str:
    """Return a text field as it is; a number becomes its text. InputError says what was expected and what is there."""
    value = entry.get(field)
    if is_number(value):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} has no {field!r}; expected {EXPECTED}; found {', '.join(sorted(entry))}")
    return value


def locale(entry: dict[str, Any], where: str) -> str:
    """Return the question's locale as a BCP-47 tag such as `ja-JP`."""
    value = entry.get("locale")
    match = _LOCALE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise InputError(f"{where}: locale is {value!r}, expected a language and a country such as ja-JP")
    return f"{match[1].lower()}-{match[2].upper()}"


def category(entry: dict[str, Any]) -> list[str]:
    """Return the question's category; empty where the file has none."""
    name = str(entry.get("category") or "").strip()
    return [name] if name else []


def video(entry: dict[str, Any], where: str) -> str:
    """Return the YouTube id of the question's video."""
    value = entry.get("video_id")
    name = video_id(value) if isinstance(value, str) else None
    if name is None:
        raise InputError(f"{where}: video_id is {value!r}, expected a YouTube address or an id of 11 characters")
    return name


def video_id(address: str) -> str | None:
    """Return the id in a YouTube address of any form, or the id that `address` is; None where there is none."""
    address = address.strip()
    if _ID.fullmatch(address):
        return address
    try:
        parts = urlsplit(address if "//" in address else f"https://{address}")
    except ValueError:  # a bracket that is no part of an address
        return None
    host = (parts.hostname or "").lower()
    steps = [step for step in parts.path.split("/") if step]
    name = ""
    if host == "youtu.be":
        name = steps[0] if steps else ""
    elif host in _HOSTS or host.endswith(tuple(f".{known}" for known in _HOSTS)):
        name = (parse_qs(parts.query).get("v") or [""])[0]
        if not name and len(steps) > 1 and steps[0] in _ID_FOLLOWS:
            name = steps[1]
    return name if _ID.fullmatch(name) else None


def _texts(value: Any, *, commas: bool = False) -> list[str]:  # noqa: ANN401 - any JSON value
    if value is None:
        return []
    if isinstance(value, list):
        return [part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in value]
    if not isinstance(value, str):
        return [json.dumps(value, ensure_ascii=False)]
    parts = [part.strip() for part in value.split(",")] if commas else [value]
    return [part for part in parts if part.strip()]
