"""The YAML metadata in front of a README, read, merged and changed in place."""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import yaml

from reelbench.base.errors import InputError
from reelbench.base.yaml_text import LOADER, read_mapping
from reelbench.hub_cards.card_material import CONFIG, data_path
from reelbench.hub_cards.card_metadata import to_yaml

OTHER_CONFIG = "reelbench"
"""Name of our configuration where the repository has a default one of its own."""

read_front_matter = partial(read_mapping, what="its metadata", line=2)


class SplitReadme(NamedTuple):
    """The YAML between a README's first two lines of `---`, and the rest.

    The YAML is None where there is none.
    """

    front_matter: str | None
    rest: str


_BLOCK = re.compile(r"\s*---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)(.*)", re.DOTALL | re.MULTILINE)
"""Metadata as the Hub's own library reads it: blank lines may stand before it."""

_LIKE_METADATA = re.compile(r"\s*[-\u2010-\u2015]{3,}\s*\n\s*[A-Za-z_][\w-]*[ \t]*:")
"""A line of dashes, and `key:` below it."""


def split_front_matter(text: str, where: str) -> SplitReadme:
    """Part a README's metadata from its text.

    Args:
        text: The README.
        where: Names the README in errors.

    Raises:
        InputError: It begins like metadata and has none: a second block would be put above it.
    """
    match = _BLOCK.match(text)
    if match is not None:
        return SplitReadme(match[1], match[2])
    if _LIKE_METADATA.match(text):
        line = text[: len(text) - len(text.lstrip())].count("\n") + 1
        raise InputError(
            f"{where}, line {line}: looks like metadata, but the Hub would not read it; put a "
            "line of exactly three hyphens before and after it"
        )
    return SplitReadme(None, text)


def merge_metadata(
    metadata: Mapping[str, Any], front_matter: str, where: str, notes: list[str]
) -> str:
    """Return a front matter with a card's metadata brought in.

    Args:
        metadata: The card's metadata.
        front_matter: The README's YAML.
        where: Names the README in errors.
        notes: Gets a line for each value that differs and stays.
    """
    existing = read_front_matter(front_matter, where)
    changes: dict[str, Any] = {}
    for key, ours in metadata.items():
        value = _merged_value(key, ours, existing.get(key))
        if value != existing.get(key):
            changes[key] = value
        elif value != ours and not isinstance(ours, list):
            notes.append(f"{where}: {key} is {value!r} and was kept; Reelbench's spec has {ours!r}")
    return changed_front_matter(front_matter, changes, where)


def _merged_value(key: str, ours: object, existing: object) -> object:
    """Return a key's new value: lists are joined, and other values of people stay."""
    if existing is None or key == "size_categories":
        return ours
    if not isinstance(ours, list):
        return existing
    if key == "configs" and isinstance(existing, list):
        return _merged_configs(ours, existing)
    existing_values = existing if isinstance(existing, list) else [existing]
    new_values = [value for value in ours if value not in existing_values]
    if not new_values:
        return existing
    return [*existing_values, *new_values]


def _merged_configs(ours: list[Any], existing: list[Any]) -> list[Any]:
    """Return people's configurations with ours where they were, else behind them."""
    peoples: list[Any] = []
    place: int | None = None
    for config in existing:
        if isinstance(config, dict) and is_our_config(config):
            if place is None:
                place = len(peoples)
        else:
            peoples.append(config)
    if place is None:
        place = len(peoples)
    return [*peoples[:place], *ours, *peoples[place:]]


def is_our_config(config: dict[str, Any]) -> bool:
    """Return True where a configuration's files lie where we write ours."""
    files = config.get("data_files")
    if not isinstance(files, list) or config.get("config_name") not in {CONFIG, OTHER_CONFIG}:
        return False
    for file in files:
        if not isinstance(file, dict):
            return False
        split = str(file.get("split"))
        if file.get("path") != data_path(split):
            return False
    return True


# --- changes in place
# ----------------------------------------------------------------------------------------------


class _Edit(NamedTuple):
    """A text that takes the place of a part of another."""

    start: int
    end: int
    text: str


def changed_front_matter(front_matter: str, values: Mapping[str, Any], where: str) -> str:
    """Return a front matter with some keys' values replaced, and new keys at the end.

    All else stays as it is, comments and layout too.
    """
    existing = read_front_matter(front_matter, where)
    if not values:
        return front_matter
    text = front_matter
    if existing:
        edits = _edits_of_existing_keys(front_matter, existing, values)
        for edit in sorted(edits, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        if not text.endswith("\n"):
            text += "\n"
    new_values = {key: value for key, value in values.items() if key not in existing}
    if new_values:
        text += to_yaml(new_values)
    # Should the edit ever misread somebody's layout, the values count.
    all_values = {**existing, **values}
    with suppress(InputError):
        if read_front_matter(text, "") == all_values:
            return text
    return to_yaml(all_values)


def _edits_of_existing_keys(
    front_matter: str, existing: Mapping[str, Any], values: Mapping[str, Any]
) -> list[_Edit]:
    """Return the edit for each key that is there already."""
    edits: list[_Edit] = []
    for key, node in yaml.compose(front_matter, Loader=LOADER).value:
        if key.value not in values:
            continue
        old = existing[key.value]
        new = values[key.value]
        added: list[Any] = []
        if isinstance(old, list):
            old_count = len(old)
            if new[:old_count] == old:
                added = new[old_count:]
        if old and added and isinstance(node, yaml.SequenceNode):
            edits.append(_append_to_list(front_matter, node, added))
        else:
            line = to_yaml({key.value: new}).rstrip("\n")
            edits.append(_Edit(key.start_mark.index, _end_of(node), line))
    return edits


def _append_to_list(front_matter: str, node: yaml.SequenceNode, added: list[Any]) -> _Edit:
    """Return the edit that appends values to a list, in its own style."""
    end = _end_of(node.value[-1])
    if node.flow_style:
        in_brackets = to_yaml(added, flow=True)
        return _Edit(end, end, ", " + in_brackets[1:-1])
    # Behind a comment on the last value's line.
    end = front_matter.find("\n", end)
    if end < 0:
        end = len(front_matter)
    indent = " " * node.start_mark.column
    lines = [f"\n{indent}{line}" for line in to_yaml(added).splitlines()]
    return _Edit(end, end, "".join(lines))


def _end_of(node: yaml.Node) -> int:
    """Return the end of a value.

    YAML's own mark of a block is where the next one begins, behind the comments.
    """
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = node.value[-1]
        if isinstance(node, tuple):  # a key and its value
            _, node = node
    return node.end_mark.index
