"""A card meets the README that is already there.

People's text and metadata stay, and our sections are brought up to date. Each of our sections
stands between two markers, HTML comments that a page doesn't show. The first carries a hash of the
section as we wrote it, so that a section which people edited afterwards is known, and kept. To get
our text back, delete the section with its markers: it is then written anew. Beside README.md lie
`eval.yaml`, the plots, and the rows where they are asked for.
"""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.files import open_aside, written_aside
from reelbench.data.loading import SplitData, rows_to_columns
from reelbench.hub_cards.card import Card, render
from reelbench.hub_cards.card_material import CONFIG, Material, data_path
from reelbench.hub_cards.front_matter import (
    OTHER_CONFIG,
    is_our_config,
    merge_metadata,
    read_front_matter,
    split_front_matter,
)
from reelbench.registry import rows

README = "README.md"
EVAL = "eval.yaml"

_MARKER = re.compile(r"<!-- reelbench:(?:begin|end) ")

# Its name, the hash of what we wrote, and its text: up to the next marker, or thousands of them
# take hours.
_SECTION = re.compile(
    r"<!-- reelbench:begin ([a-z_]+) ([0-9a-f]{12}) -->"
    r"((?:(?!<!-- reelbench:).)*)"
    r"<!-- reelbench:end \1 -->",
    re.DOTALL,
)


class Merged(NamedTuple):
    """The README's new text, and what the user should know about it, one line each."""

    text: str
    notes: tuple[str, ...]


def merge_card(card: Card, existing: str | None, where: str = README) -> Merged:
    """Bring a card into a README as it is.

    Args:
        card: The card.
        existing: The README's text, None where there is none.
        where: Names the README in errors.

    Raises:
        InputError: It is another benchmark's card; its metadata is not a YAML mapping; its markers
            are damaged, so that text could be lost; or it has statistics and the card has none.
    """
    existing = existing or ""
    front_matter, rest = split_front_matter(_plain_lines(existing), where)
    existing_sections = {section[1]: section for section in _SECTION.finditer(rest)}
    if 2 * len(existing_sections) != len(_MARKER.findall(rest)):
        raise InputError(
            f"{where}: its reelbench:begin and reelbench:end comments don't match; restore the "
            "missing one, or delete the section's text and its comments"
        )
    _refuse_another_card(card, existing_sections, where)
    notes: list[str] = []
    metadata = merge_metadata(card.metadata, front_matter or "", where, notes)
    sections = dict(card.sections)
    if "heading" not in existing_sections and re.search(r"^# ", rest, re.MULTILINE):
        del sections["heading"]  # the page has a title of its own
    marked_sections = {
        name: _section_between_markers(name, body) for name, body in sections.items()
    }

    def renew(section: re.Match[str]) -> str:
        """Return the new text of a section that is in the README."""
        name, digest, body = section.groups()
        if name == "statistics" and "### " in body and "### " not in sections[name]:
            raise InputError(
                f"{where}: it has counted statistics, but the data is not on this machine to "
                "count again; fetch it, name it with --data, or delete that section"
            )
        if _section_hash(body) != digest:
            notes.append(
                f"{where}: section {name!r} was edited by hand and was kept; delete it to have it "
                "rewritten"
            )
            return section[0]
        return marked_sections.get(name, "")

    body = _SECTION.sub(renew, rest)
    for name in sections:
        if name not in existing_sections:
            body = _insert_section(body, name, marked_sections)
    if front_matter is None:
        body = "\n" + body.lstrip("\n")
    text = f"---\n{metadata}---\n{body}"
    if "\r\n" in existing:
        text = text.replace("\n", "\r\n")
    return Merged(text, tuple(notes))


def _plain_lines(text: str) -> str:
    """Return a text without a byte order mark, and with plain line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


_SUBJECTS = {
    "loading": re.compile(r'\bload\("([a-z0-9_]+)", '),
    "heading": re.compile(r"^# (.+)$", re.MULTILINE),
}
"""Where a card says what it is of: by its benchmark's id, else by its title."""


def _refuse_another_card(
    card: Card, existing_sections: Mapping[str, re.Match[str]], where: str
) -> None:
    """Raise InputError where a README has our sections about other rows than the card's."""
    for name, pattern in _SUBJECTS.items():
        section = existing_sections.get(name)
        if section is None:
            continue
        _, digest, body = section.groups()
        existing_subject = pattern.search(body)
        if existing_subject is None or _section_hash(body) != digest:
            continue  # people's own words
        subject = pattern.search(card.sections.get(name, ""))
        if subject is None or existing_subject[1] != subject[1]:
            raise InputError(
                f"{where}: is the card of {existing_subject[1]}; write this one to another folder"
            )
        return


class OwnConfig(NamedTuple):
    """The name of our configuration, and True where a README of ours declares it."""

    name: str
    declared: bool


def own_config(existing: str | None) -> OwnConfig:
    """Return our configuration beside those that a README declares."""
    existing = existing or ""
    configs: object = None
    with suppress(InputError):  # told by `merge_card`, with the line
        front_matter, _ = split_front_matter(_plain_lines(existing), README)
        configs = read_front_matter(front_matter or "", README).get("configs")
    has_ours = False
    name = CONFIG
    for config in configs if isinstance(configs, list) else ():
        if not isinstance(config, dict):
            continue
        if is_our_config(config):
            has_ours = True
        elif config.get("config_name", CONFIG) == CONFIG:
            name = OTHER_CONFIG
    return OwnConfig(name, has_ours and _MARKER.search(existing) is not None)


# --- sections
# ----------------------------------------------------------------------------------------------


def _section_hash(body: str) -> str:
    return hashlib.sha256(body.strip().encode()).hexdigest()[:12]


def _begin_marker(name: str) -> str:
    return f"<!-- reelbench:begin {name} "


def _end_marker(name: str) -> str:
    return f"<!-- reelbench:end {name} -->"


def _section_between_markers(name: str, body: str) -> str:
    """Return a section between its markers."""
    # Blank lines inside: not every Markdown reader ends a table at a comment.
    return f"{_begin_marker(name)}{_section_hash(body)} -->\n\n{body}\n\n{_end_marker(name)}"


def _insert_section(body: str, name: str, marked_sections: Mapping[str, str]) -> str:
    """Insert a section behind the one before it, else before the next."""
    section = marked_sections[name]
    names = list(marked_sections)
    place = names.index(name)
    for before in reversed(names[:place]):
        end = _end_marker(before)
        if end in body:
            return body.replace(end, f"{end}\n\n{section}", 1)
    for after in names[place + 1 :]:
        begin = _begin_marker(after)
        if begin in body:
            return body.replace(begin, f"{section}\n\n{begin}", 1)
    return f"{body.rstrip()}\n\n{section}\n"


# --- files
# ----------------------------------------------------------------------------------------------


class CardTexts(NamedTuple):
    """A card's text files, path -> text, and notes for the user."""

    files: dict[str, str]
    notes: tuple[str, ...]


def texts(material: Material, existing: str | None, where: str = README) -> CardTexts:
    """Return a card's text files, merged with the README.md that is there.

    `where` names that README.md in errors.
    """
    card = render(material)
    merged = merge_card(card, existing, where)
    files = {README: merged.text}
    if card.eval_yaml is not None:
        files[EVAL] = card.eval_yaml
    files.update(card.plots)
    return CardTexts(files, merged.notes)


def write(material: Material, folder: Path) -> tuple[str, ...]:
    """Render a card into a folder. Return notes for the user.

    The folder may be a clone of the dataset's repository. A README.md that is there already is
    merged with: people's text and metadata stay.

    Raises:
        InputError: `folder` is a file, or the README there can't be merged with.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder to write the card to")
    readme = folder / README
    existing: str | None = None
    if readme.is_file():
        existing = decode(readme.read_bytes(), str(readme))
    files, notes = texts(material, existing, str(readme))
    for path, text in files.items():
        write_bytes(folder / path, text.encode())
    return notes


def decode(data: bytes, where: str) -> str:
    """Return a README's text, its line ends as they are. InputError where it isn't UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes in one step.

    Text mode would change the line ends of a README that has its own.
    """
    with open_aside(path, "wb") as file:
        file.write(data)


def write_rows(data: Mapping[str, SplitData], folder: Path) -> list[str]:
    """Write splits as Parquet in the normalised schema. Return their paths inside `folder`."""
    from datasets import Dataset

    paths: list[str] = []
    for split, split_data in data.items():
        columns = rows_to_columns(split_data.spec, split_data.read())
        table = Dataset.from_dict(columns, features=rows.features(split_data.spec))
        with written_aside(folder / data_path(split)) as aside:
            table.to_parquet(aside)
        paths.append(data_path(split))
    return paths
