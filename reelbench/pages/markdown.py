"""The Markdown that cards are written in: tables, code, numbers, numbered sources."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reelbench.base.errors import printable

# An underscore within a word marks nothing.
_SIGNS = re.compile(r"[\\`*\[\]~]|!(?=\[)|(?<![^\W_])_|_(?![^\W_])")
_ADDRESS = re.compile(r"\b(?:https?|ftp|mailto|xmpp):|\bwww\.|(?<=[\w.+-])@", re.IGNORECASE)


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; heads that start with `#` are numbers, set to the right; empty columns are left out."""
    lines = list(lines)
    kept = [number for number in range(len(heads)) if any(line[number] for line in lines)]
    rule = ["---:" if heads[number].startswith("#") else "---" for number in kept]
    cells = [[heads[number].removeprefix("#") for number in kept], rule]
    cells += [[cell(line[number]) for number in kept] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def cell(text: str) -> str:
    """Return text as a table's cell: one line, no bars."""
    return " ".join(text.replace("|", "\\|").split())


def inert(text: str) -> str:
    """Return text that came from elsewhere as a cell that shows it as it is: nothing in it links, loads or runs.

    Signs that Markdown or HTML would read are escaped (CommonMark 0.31, section 2.4); addresses,
    which GitHub links by themselves, lose their colon or dot to an entity.
    """
    text = " ".join(printable(text).split())
    text = (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")
    )
    text = _SIGNS.sub(r"\\\g<0>", text)
    return _ADDRESS.sub(lambda match: match[0][:-1] + f"&#{ord(match[0][-1])};", text)


def code(text: str, language: str = "") -> str:
    """Return a fenced block, without control characters; no fence in the text ends it."""
    text = "\n".join(map(printable, text.split("\n")))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def count(number: int | None) -> str:
    """Return a whole number, or that it isn't known."""
    return "unknown" if number is None else f"{number:,}"


def plain(number: float) -> str:
    """Return a number with as many decimals as it needs, at most one."""
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def lower(title: str) -> str:
    """Return a title as it stands inside a sentence."""
    text = title.rstrip(".")
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


@dataclass
class Sources:
    """Numbers sources in the order in which tables name them; the list stands below the table."""

    _numbers: dict[str, int] = field(default_factory=dict[str, int])

    def number(self, source: str) -> str:
        """Return the source's number, or nothing where there is no source."""
        return str(self._numbers.setdefault(source, len(self._numbers) + 1)) if source else ""

    def source_list(self) -> str:
        """Return the list of sources."""
        lines = "\n".join(f"{number}. {cell(source)}" for source, number in self._numbers.items())
        return f"Sources:\n\n{lines}" if lines else ""
