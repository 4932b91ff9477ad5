"""A card meets the README that is already there: people's text and metadata stay, our sections are brought up to date.

Each of our sections stands between two markers, HTML comments that a page doesn't show. The first
carries a hash of the section as we wrote it, so that a section which people edited afterwards is
known, and kept. To get our text back, delete the section with its markers: it is then written anew.
Beside README.md lie `eval.yaml`, the plots, and the rows where they are asked for.
"""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from reelbench.base.errors import InputError
from reelbench.base.files import open_aside, written_aside
from reelbench.base.yaml_text import LOADER, read_mapping
from reelbench.data.loading import SplitData, rows_to_columns
from reelbench.hub_cards.card import Card, render, to_yaml
from reelbench.hub_cards.card_material import CONFIG, Material, data_path
from reelbench.registry import rows

OTHER_CONFIG = "reelbench"
"""Name of our configuration where the repository has a default one of its own."""

_MARKER = re.compile(r"<!-- reelbench:(?:begin|end) ")
_SECTION = re.compile(
    r"<!-- reelbench:begin ([a-z_]+) ([0-9a-f]{12}) -->((?:(?!<!-- reelbench:).)*)<!-- reelbench:end \1 -->",
    re.DOTALL,
)  # its name, the hash of what we wrote, and what is there: up to the next marker, or thousands of them take hours


class Merged(NamedTuple):
    """The README's new text, and what the user should know about it, one line each."""

    text: str
    notes: tuple[str, ...]


def merge_card(card: Card, existing: str | None, where: str = "README.md") -> Merged:
    """Bring a card into a README as it is, whose name in errors is `where`.

    InputError where it is another benchmark's card; its metadata is not a YAML mapping; its markers
    are damaged, so that text could be lost; or it has statistics and the card has none.
    """
    existing = existing or ""
    crlf = "\r\n" in existing
    text = existing.removeprefix("\ufeff").replace("\r\n", "\n")
    block, rest = split_front_matter(text)
    there = {section[1]: section for section in _SECTION.finditer(rest)}
    if 2 * len(there) != len(_MARKER.findall(rest)):
        raise InputError(
            f"{where}: its reelbench:begin and reelbench:end comments don't pair up; put the missing one back, or "
            "delete the section's text and its comments"
        )
    _refuse_another_card(card, there, where)
    notes: list[str] = []
    theirs = _read_front_matter(block or "", where)
    values = {
        key: _value(key, value, theirs.get(key), notes, where)
        for key, value in card.metadata.items()
    }
    new = {key: value for key, value in values.items() if value != theirs.get(key)}
    metadata = changed_front_matter(block or "", new, where)
    wanted = dict(card.sections)
    if "heading" not in there and re.search(r"^# ", rest, re.MULTILINE):
        del wanted["heading"]  # the page has a title of its own
    # Blank lines inside: not every Markdown reader ends a table at a comment.
    marked = {
        name: f"{_begin(name)}{_hash(body)} -->\n\n{body}\n\n{_end(name)}"
        for name, body in wanted.items()
    }

    def renewed(section: re.Match[str]) -> str:
        name, digest, body = section.groups()
        if name == "statistics" and "### " in body and "### " not in wanted[name]:
            raise InputError(
                f"{where}: its statistics were counted, and the data is not on this machine to count again; fetch it, "
                "give it with --data, or delete that section"
            )
        if _hash(body) != digest:
            notes.append(
                f"{where}: section {name!r} was edited by hand and is kept; delete it to have it rewritten"
            )
            return section[0]
        return marked.get(name, "")

    body = _SECTION.sub(renewed, rest)
    names = list(wanted)
    for place, name in enumerate(names):
        if name not in there:
            before = next((other for other in reversed(names[:place]) if _end(other) in body), None)
            after = next((other for other in names[place + 1 :] if _begin(other) in body), None)
            section = marked[name]
            if before is not None:
                body = body.replace(_end(before), f"{_end(before)}\n\n{section}", 1)
            elif after is not None:
                body = body.replace(_begin(after), f"{section}\n\n{_begin(after)}", 1)
            else:
                body = f"{body.rstrip()}\n\n{section}\n"
    whole = f"---\n{metadata}---\n{body if block is not None else chr(10) + body.lstrip(chr(10))}"
    return Merged(whole.replace("\n", "\r\n") if crlf else whole, tuple(notes))


_NAMES = {
    "loading": re.compile(r'\bload\("([a-z0-9_]+)", '),
    "heading": re.compile(r"^# (.+)$", re.MULTILINE),
}
"""Where a card says what it is of: by its benchmark's id, else by its title."""


def _refuse_another_card(card: Card, there: Mapping[str, re.Match[str]], where: str) -> None:
    """Raise InputError where a README has sections of ours that are about other rows than the card's."""
    for name, pattern in _NAMES.items():
        stated = pattern.search(there[name][3]) if name in there else None
        if stated is None or _hash(there[name][3]) != there[name][2]:
            continue  # not there, or people's own words
        wanted = pattern.search(card.sections.get(name, ""))
        if wanted is None or stated[1] != wanted[1]:
            raise InputError(
                f"{where}: is the card of {stated[1]}; write this one to another folder"
            )
        return


def own_config(existing: str | None) -> tuple[str, bool]:
    """Return our configuration's name beside those that a README declares, and whether it is ours and declares it."""
    block, _ = split_front_matter((existing or "").removeprefix("\ufeff").replace("\r\n", "\n"))
    configs: object = None
    with suppress(InputError):  # told by `merge_card`, with the line
        configs = _read_front_matter(block or "", "README.md").get("configs")
    declared = (
        [config for config in configs if isinstance(config, dict)]
        if isinstance(configs, list)
        else []
    )
    others = [config for config in declared if not _is_ours(config)]
    name = (
        OTHER_CONFIG
        if any(config.get("config_name", CONFIG) == CONFIG for config in others)
        else CONFIG
    )
    return name, len(others) < len(declared) and _MARKER.search(existing or "") is not None


# --- sections
# ------------------------------------------------------------------------------------------------------


def _hash(body: str) -> str:
    return hashlib.sha256(body.strip().encode()).hexdigest()[:12]


def _begin(name: str) -> str:
    return f"<!-- reelbench:begin {name} "


def _end(name: str) -> str:
    return f"<!-- reelbench:end {name} -->"


# --- metadata
# ------------------------------------------------------------------------------------------------------


def _value(key: str, ours: object, theirs: object, notes: list[str], where: str) -> object:
    if theirs is None:
        return ours
    if key == "configs" and isinstance(theirs, list) and isinstance(ours, list):
        # People's configurations stay, and ours are where they were, else behind them.
        own = [isinstance(config, dict) and _is_ours(config) for config in theirs]
        place = own.index(True) if any(own) else len(theirs)
        others = [config for config, is_own in zip(theirs, own, strict=True) if not is_own]
        return [*others[:place], *ours, *others[place:]]
    if key == "size_categories":
        return ours
    if isinstance(ours, list):
        had = theirs if isinstance(theirs, list) else [theirs]
        new = [value for value in ours if value not in had]
        return [*had, *new] if new else theirs
    if ours != theirs:
        notes.append(f"{where}: {key} is {theirs!r} and stays; Reelbench's spec says {ours!r}")
    return theirs


def _is_ours(config: dict[str, Any]) -> bool:
    files = config.get("data_files")
    if not isinstance(files, list) or config.get("config_name") not in {CONFIG, OTHER_CONFIG}:
        return False
    return all(
        isinstance(file, dict) and file.get("path") == data_path(str(file.get("split")))
        for file in files
    )


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Return the YAML between a README's first two lines of `---`, None where it has none, and what follows."""
    found = re.match(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)(.*)", text, re.DOTALL | re.MULTILINE)
    return (found[1], found[2]) if found else (None, text)


_read_front_matter = partial(read_mapping, what="its metadata", line=2)


def changed_front_matter(block: str, values: Mapping[str, Any], where: str) -> str:
    """Return a front matter with some keys' values replaced, and new keys at the end; all else stays as it is."""
    there = _read_front_matter(block, where)
    if not values:
        return block
    written = block + to_yaml(dict(values))
    if there:
        edits: list[tuple[int, int, str]] = []  # from, to, text
        for key, node in yaml.compose(block, Loader=LOADER).value:
            if key.value not in values:
                continue
            old, new = there[key.value], values[key.value]
            added = new[len(old) :] if isinstance(old, list) and new[: len(old)] == old else []
            if old and added and isinstance(node, yaml.SequenceNode):
                end = _end_of(node.value[-1])
                if node.flow_style:
                    appended = end, end, ", " + to_yaml(added, flow=True)[1:-1]
                else:
                    line_end = block.find("\n", end)
                    end = (
                        line_end if line_end >= 0 else len(block)
                    )  # behind a comment on the last value's line
                    indent = " " * node.start_mark.column
                    appended = (
                        end,
                        end,
                        "".join(f"\n{indent}{line}" for line in to_yaml(added).splitlines()),
                    )
                edits.append(appended)
            else:
                edits.append(
                    (key.start_mark.index, _end_of(node), to_yaml({key.value: new}).rstrip("\n"))
                )
        for start, end, text in sorted(edits, reverse=True):
            block = block[:start] + text + block[end:]
        block += "" if block.endswith("\n") else "\n"
        new_keys = {key: value for key, value in values.items() if key not in there}
        written = block + (to_yaml(new_keys) if new_keys else "")
    # Should the edit ever misread somebody's layout, the values count.
    wanted = {**there, **values}
    with suppress(InputError):
        if _read_front_matter(written, "") == wanted:
            return written
    return to_yaml(wanted)


def _end_of(node: yaml.Node) -> int:
    """Return the end of a value; YAML's own mark of a block is where the next one begins, behind the comments."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node.end_mark.index


# --- files
# ----------------------------------------------------------------------------------------------------------

README = "README.md"
EVAL = "eval.yaml"


def texts(
    material: Material, existing: str | None, where: str = README
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return a card's text files (path -> text) and notes for the user, merged with the README.md named `where`."""
    rendered = render(material)
    made = merge_card(rendered, existing, where)
    beside = {} if rendered.eval_yaml is None else {EVAL: rendered.eval_yaml}
    return {README: made.text, **beside, **rendered.plots}, made.notes


def write(material: Material, folder: Path) -> tuple[str, ...]:
    """Render a card into a folder, which may be a clone of the dataset's repository; return notes for the user.

    A README.md that is there already is merged with: people's text and metadata stay. InputError
    where `folder` is a file, or the README there can't be merged with.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder to write the card to")
    readme = folder / README
    files, notes = texts(
        material,
        decode(readme.read_bytes(), str(readme)) if readme.is_file() else None,
        str(readme),
    )
    for path, text in files.items():
        write_bytes(folder / path, text.encode())
    return notes


def decode(data: bytes, where: str) -> str:
    """Return a README's text, its line ends as they are; InputError where it isn't UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes in one step (text mode would change the line ends of a README that has its own)."""
    with open_aside(path, "wb") as file:
        file.write(data)


def write_rows(data: Mapping[str, SplitData], folder: Path) -> list[str]:
    """Write splits as Parquet in the normalised schema; return their paths inside `folder`."""
    from datasets import Dataset

    written = []
    for split, split_data in data.items():
        table = Dataset.from_dict(
            rows_to_columns(split_data.spec, split_data.read()),
            features=rows.features(split_data.spec),
        )
        with written_aside(folder / data_path(split)) as aside:
            table.to_parquet(aside)
        written.append(data_path(split))
    return written
