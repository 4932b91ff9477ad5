"""The Markdown of cards: tables, code, numbers, numbered sources."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reelbench.base.errors import printable

# An underscore within a word marks nothing.
_SIGNS = re.compile(r"[\\`*\[\]~]|!(?=\[)|(?<![^\W_])_|_(?![^\W_])")
_ADDRESS = re.compile(r"\b(?:https?|ftp|mailto|xmpp):|\bwww\.|(?<=[\w.+-])@", re.IGNORECASE)
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"})
_SHORTEST_FENCE = 3
_INERT_SIGNS = (
    (re.compile(r"!(?=\[)"), "&#33;"),  # a picture
    (re.compile(r"\]\((?!https://)"), "]&#40;"),  # a link elsewhere
    (re.compile(r"\]:"), "]&#58;"),  # the definition of a link
    (re.compile("(?<!`)`(?=``)"), "&#96;"),  # a fence
    (re.compile("(?<!~)~(?=~~)"), "&#126;"),
    (re.compile(r"^( {0,3})#{1,3}(?=[ \t]|$)"), r"\1####"),
    (re.compile(r"^( {0,3})=(?==*[ \t]*$)"), r"\1&#61;"),  # a line below a heading
    (re.compile(r"^( {0,3})-(?=-*[ \t]*$)"), r"\1&#45;"),
)
"""Patterns of one line's signs that structure a page or load something, each with its entity."""


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, without its empty columns.

    Heads that start with `#` are of numbers, which are set to the right.
    """
    rows = list(lines)
    names: list[str] = []
    rules: list[str] = []
    columns: list[int] = []
    for number, head in enumerate(heads):
        if not any(row[number] for row in rows):
            continue
        columns.append(number)
        names.append(head.removeprefix("#"))
        rule = "---:" if head.startswith("#") else "---"
        rules.append(rule)
    table_rows = [names, rules]
    for row in rows:
        cells = [cell(row[number]) for number in columns]
        table_rows.append(cells)
    return "\n".join(map(_table_line, table_rows))


def _table_line(cells: Sequence[str]) -> str:
    inside = " | ".join(cells)
    return f"| {inside} |"


def cell(text: str) -> str:
    """Return text as a table's cell: one line, no bars."""
    return " ".join(text.replace("|", "\\|").split())


def inert(text: str) -> str:
    """Return foreign text as a cell that shows it and neither links, loads nor runs.

    Signs that Markdown or HTML would read are escaped (CommonMark 0.31, section 2.4). Addresses,
    which GitHub links by themselves, lose their colon or dot to an entity.
    """
    line = " ".join(printable(text).split())
    escaped = _SIGNS.sub(r"\\\g<0>", line.translate(_ENTITIES))
    return _ADDRESS.sub(_unlinked, escaped)


def prose(text: str) -> str:
    """Return foreign Markdown that still marks up its text, and neither loads nor runs.

    Emphasis, lists, tables and links to https stay. HTML, pictures, other addresses, definitions of
    links and fences show as they are written. A heading is never above the fourth level.
    """
    return "\n".join(map(_prose_line, text.split("\n")))


def _prose_line(line: str) -> str:
    inert_line = printable(line.expandtabs(4)).replace("<", "&lt;")
    for sign, inert_sign in _INERT_SIGNS:
        inert_line = sign.sub(inert_sign, inert_line)
    return inert_line


def _unlinked(address: re.Match[str]) -> str:
    start = address[0][:-1]
    last_letter = address[0][-1]
    return f"{start}&#{ord(last_letter)};"


def code(text: str, language: str = "") -> str:
    """Return a fenced block, without control characters.

    No fence in the text ends it.
    """
    lines = map(printable, text.split("\n"))
    block = "\n".join(lines)
    fences = re.findall("`+", block)
    longest = max(map(len, fences), default=0)
    fence = "`" * max(_SHORTEST_FENCE, longest + 1)
    return f"{fence}{language}\n{block}\n{fence}"


def count(number: int | None) -> str:
    """Return a whole number, or `unknown`."""
    return "unknown" if number is None else f"{number:,}"


def plain(number: float) -> str:
    """Return a number with as many decimals as it needs, at most one."""
    if number == int(number):
        return f"{number:,.0f}"
    return f"{number:,.1f}"


def lower(title: str) -> str:
    """Return a title as it stands inside a sentence."""
    text = title.rstrip(".")
    if text[:2].isupper():
        return text
    return text[:1].lower() + text[1:]


@dataclass
class Sources:
    """Numbers sources in the order in which tables name them.

    The list stands below the table.
    """

    _numbers: dict[str, int] = field(default_factory=dict[str, int])

    def number(self, source: str) -> str:
        """Return the source's number, or nothing where there is no source."""
        if not source:
            return ""
        next_number = len(self._numbers) + 1
        return str(self._numbers.setdefault(source, next_number))

    def source_list(self) -> str:
        """Return the list of sources."""
        if not self._numbers:
            return ""
        lines = ["Sources:", ""]
        for source, number in self._numbers.items():
            lines.append(f"{number}. {cell(source)}")
        return "\n".join(lines)
