"""The YAML at the top of a README: read within limits, and changed key by key; all else stays as people wrote it.

A README may come from anybody: one with aliases (a kilobyte of them can stand for gigabytes), deep nesting or great
length is refused, and read in time that grows with its length alone.
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from reelbench.hub_cards.metadata import to_yaml
from reelbench.registry.errors import InputError
from reelbench.registry.yaml_text import LOADER, read_mapping

_START = re.compile(r"---[ \t]*\n")
_END = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)


def split(text: str) -> tuple[str | None, str]:
    """Return the YAML between a README's first two lines of `---`, None where it has none, and what follows."""
    start = _START.match(text)
    end = _END.search(text, start.end()) if start else None
    if start is None or end is None:
        return None, text
    return text[start.end() : end.start()], text[end.end() :]


def read(block: str, where: str) -> dict[str, Any]:
    """Return the values of a front matter.

    Raises:
        InputError: It is not YAML, not a mapping, or beyond the limits; with the line.
    """
    return read_mapping(block, where, what="its metadata", line=2)


def changed(block: str, values: Mapping[str, Any], where: str) -> str:
    """Return a front matter with some keys' values replaced, and new keys at the end; all else stays as it is.

    Raises:
        InputError: As `read`.
    """
    there = read(block, where)
    if not values:
        return block
    written = _edited(block, there, values) if there else block + to_yaml(dict(values))
    # Should the edit ever misread somebody's layout, the values count.
    wanted = {**there, **values}
    return written if _reads_as(written, wanted) else to_yaml(wanted)


def _edited(block: str, there: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    edits: list[tuple[int, int, str]] = []  # from, to, text
    for key, node in yaml.compose(block, Loader=LOADER).value:
        if key.value not in values:
            continue
        old, new = there[key.value], values[key.value]
        added = new[len(old) :] if isinstance(old, list) and new[: len(old)] == old else []
        if old and added and isinstance(node, yaml.SequenceNode):
            edits.append(_appended(block, node, added))
        else:
            edits.append((key.start_mark.index, _end(node), to_yaml({key.value: new}).rstrip("\n")))
    for start, end, text in sorted(edits, reverse=True):
        block = block[:start] + text + block[end:]
    block += "" if block.endswith("\n") else "\n"
    new_keys = {key: value for key, value in values.items() if key not in there}
    return block + (to_yaml(new_keys) if new_keys else "")


def _appended(block: str, node: yaml.SequenceNode, added: list[Any]) -> tuple[int, int, str]:
    end = _end(node.value[-1])
    if node.flow_style:
        return end, end, ", " + to_yaml(added, flow=True)[1:-1]
    line_end = block.find("\n", end)
    end = line_end if line_end >= 0 else len(block)  # behind a comment on the last value's line
    indent = " " * node.start_mark.column
    return end, end, "".join(f"\n{indent}{line}" for line in to_yaml(added).splitlines())


def _end(node: yaml.Node) -> int:
    """Return where a value ends; what YAML states for a block is where the next one begins, behind the comments."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node.end_mark.index


def _reads_as(block: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return read(block, "") == wanted
    except InputError:
        return False
