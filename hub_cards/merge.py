"""A card meets the README that is already there: people's text and metadata stay, our sections are brought up to date.

Each of our sections stands between two markers, HTML comments that a page doesn't show. The first carries a hash of the
section as we wrote it, so that a section which people edited afterwards is known, and kept. To get our text back,
delete the section with its markers: it is then written anew.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from reelbench.hub_cards.card import Card, Section
from reelbench.hub_cards.material import CONFIG, data_path
from reelbench.hub_cards.metadata import to_yaml
from reelbench.registry.errors import InputError

OTHER_CONFIG = "reelbench"
"""Name of our configuration where the repository has a default one of its own."""

_SECTION = re.compile(
    r"<!-- reelbench:begin (?P<name>[a-z_]+) (?P<hash>[0-9a-f]{12}) -->(?P<body>.*?)<!-- reelbench:end (?P=name) -->",
    re.DOTALL,
)
_STRAY = re.compile(r"<!-- reelbench:(?:begin|end) [^>]*-->")
_FRONT = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^(?P<key>[A-Za-z_][\w-]*|\"[^\"]+\"|'[^']+')[ \t]*:", re.MULTILINE)


@dataclass(frozen=True)
class Merged:
    """The README's new text, and what the user should know about it, one line each."""

    text: str
    notes: tuple[str, ...]


def merged(card: Card, existing: str | None, where: str = "README.md") -> Merged:
    """Bring a card into a README.

    Args:
        card: The rendered card.
        existing: The README as it is; None or empty where there is none.
        where: Its name in errors.

    Raises:
        InputError: Its metadata is not a YAML mapping; its markers are damaged, so that text could be lost; or it has
            statistics and the card has none.
    """
    existing = existing or ""
    crlf = "\r\n" in existing
    text = existing.removeprefix("\ufeff").replace("\r\n", "\n")
    front = _FRONT.match(text)
    notes: list[str] = []
    block = _metadata(card.metadata, front["yaml"] if front else "", where, notes)
    body = _body(card.sections, text[front.end() :] if front else text, where, notes)
    whole = f"---\n{block}---\n{body if front else chr(10) + body.lstrip(chr(10))}"
    return Merged(whole.replace("\n", "\r\n") if crlf else whole, tuple(notes))


def config_name(existing: str | None) -> str:
    """Return what our configuration is called beside those that a README declares."""
    others = [one for one in _declared_configs(existing) if not _is_ours(one)]
    return OTHER_CONFIG if any(one.get("config_name", CONFIG) == CONFIG for one in others) else CONFIG


def has_our_rows(existing: str | None) -> bool:
    """Whether a README is a card of ours that declares rows of ours."""
    return _SECTION.search(existing or "") is not None and any(map(_is_ours, _declared_configs(existing)))


def _declared_configs(existing: str | None) -> list[dict[str, Any]]:
    front = _FRONT.match((existing or "").replace("\r\n", "\n"))
    try:
        declared = yaml.safe_load(front["yaml"]) if front else None
    except yaml.YAMLError:  # told by `merged`, with the line
        return []
    configs = declared.get("configs") if isinstance(declared, dict) else None
    return [one for one in configs if isinstance(one, dict)] if isinstance(configs, list) else []


# --- sections ------------------------------------------------------------------------------------------------------


def _hash(body: str) -> str:
    return hashlib.sha256(body.strip().encode()).hexdigest()[:12]


def _begin(name: str) -> str:
    return f"<!-- reelbench:begin {name} "


def _end(name: str) -> str:
    return f"<!-- reelbench:end {name} -->"


def _marked(section: Section) -> str:
    # Blank lines inside: not every Markdown reader ends a table at a comment.
    return f"{_begin(section.name)}{_hash(section.body)} -->\n\n{section.body}\n\n{_end(section.name)}"


def _body(sections: Sequence[Section], text: str, where: str, notes: list[str]) -> str:
    there = {found["name"]: found for found in _SECTION.finditer(text)}
    if _STRAY.search(_SECTION.sub("", text)) or len(there) != len(_SECTION.findall(text)):
        raise InputError(
            f"{where}: its reelbench:begin and reelbench:end comments don't pair up; put the missing one back, or "
            "delete the section's text and its comments"
        )
    wanted = {section.name: section for section in sections}
    if "heading" not in there and re.search(r"^# ", text, re.MULTILINE):
        del wanted["heading"]  # the page has a title of its own

    def renewed(found: re.Match[str]) -> str:
        name = found["name"]
        if name == "statistics" and "### " in found["body"] and "### " not in wanted[name].body:
            raise InputError(
                f"{where}: its statistics were counted, and the data is not on this machine to count again; fetch it, "
                "give it with --data, or delete that section"
            )
        if _hash(found["body"]) != found["hash"]:
            notes.append(f"{where}: section {name!r} was edited by hand and is kept; delete it to have it written anew")
            return found[0]
        return _marked(wanted[name]) if name in wanted else ""

    result = _SECTION.sub(renewed, text)
    names = list(wanted)
    for place, name in enumerate(names):
        if name not in there:
            before = next((other for other in reversed(names[:place]) if _end(other) in result), None)
            after = next((other for other in names[place + 1 :] if _begin(other) in result), None)
            result = _placed(result, _marked(wanted[name]), before, after)
    return result


def _placed(text: str, section: str, before: str | None, after: str | None) -> str:
    """Put a section after the one called `before`, else in front of `after`, else at the end."""
    if before is not None:
        return text.replace(_end(before), f"{_end(before)}\n\n{section}", 1)
    if after is not None:
        return text.replace(_begin(after), f"{section}\n\n{_begin(after)}", 1)
    return f"{text.rstrip()}\n\n{section}\n"


# --- metadata ------------------------------------------------------------------------------------------------------


def _metadata(ours: dict[str, Any], block: str, where: str, notes: list[str]) -> str:
    try:
        theirs = yaml.safe_load(block)
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 2
        raise InputError(f"{where}, line {line}: its metadata is not valid YAML; put it right first") from None
    if theirs is None:
        theirs = {}
    if not isinstance(theirs, dict):
        raise InputError(f"{where}: its metadata is a {type(theirs).__name__}, expected keys and values")
    changed: dict[str, Any] = {}
    for key, value in ours.items():
        new = _value(key, value, theirs.get(key), notes, where)
        if new != theirs.get(key):
            changed[key] = new
    written = _written(block, changed)
    # The text was changed key by key, to keep comments and layout; should that ever misread it, write it anew.
    return written if yaml.safe_load(written) == {**theirs, **changed} else to_yaml({**theirs, **changed})


def _value(key: str, ours: object, theirs: object, notes: list[str], where: str) -> object:
    if theirs is None:
        return ours
    if key == "configs" and isinstance(theirs, list) and isinstance(ours, list):
        return _configs(ours, theirs)
    if key == "size_categories":
        return ours
    if isinstance(ours, list):
        had = theirs if isinstance(theirs, list) else [theirs]
        new = [value for value in ours if value not in had]
        return [*had, *new] if new else theirs
    if ours != theirs:
        notes.append(f"{where}: {key} is {theirs!r} and stays; Reelbench's spec says {ours!r}")
    return theirs


def _is_ours(one: dict[str, Any]) -> bool:
    files = one.get("data_files")
    return isinstance(files, list) and one.get("config_name") in {CONFIG, OTHER_CONFIG} and _is_our_layout(files)


def _is_our_layout(files: list[Any]) -> bool:
    return all(isinstance(file, dict) and file.get("path") == data_path(str(file.get("split"))) for file in files)


def _configs(ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Keep people's configurations, and put ours where it was, else behind them."""
    own = [isinstance(one, dict) and _is_ours(one) for one in theirs]
    place = own.index(True) if any(own) else len(theirs)
    others = [one for one, is_own in zip(theirs, own, strict=True) if not is_own]
    return [*others[:place], *ours, *others[place:]]


def _written(block: str, changed: dict[str, Any]) -> str:
    """Return the YAML text with some keys' values replaced, and new keys at the end; all else stays as it is."""
    starts = [(found.start(), found["key"].strip("\"'")) for found in _KEY.finditer(block)]
    ends = [*(start for start, _ in starts[1:]), *([len(block)] if starts else [])]
    text = block[: starts[0][0]] if starts else block
    known = {key for _, key in starts}
    for (start, key), end in zip(starts, ends, strict=True):
        text += to_yaml({key: changed[key]}) if key in changed else block[start:end]
    text += "" if not text or text.endswith("\n") else "\n"
    new = {key: value for key, value in changed.items() if key not in known}
    return text + (to_yaml(new) if new else "")
