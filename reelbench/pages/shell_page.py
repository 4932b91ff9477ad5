"""The shell of our pages: one HTML file, with its scripts and data, that opens from the disk.

It has a head with light and dark, and landmarks. Only the scripts put in here may run: the page's
policy names their hash, so nothing in a text does.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from importlib import resources

_STYLES = ("palette.css", "shell.css")
_SCRIPTS = ("elements.js", "shell.js", "marks.js")
_THEME = 'Shell.theme(document.getElementById("theme"));'
_FIRST_STOPS = {"view": "sample"}
"""Kind of a page -> the id of the keyboard's first stop, where it isn't the whole content."""


def page_asset(name: str, room: str = "pages") -> str:
    """Return the text of a file that stands beside our code.

    `room` is its package. `pages` has those that all pages share: `palette.css` (colours),
    `shell.css` (head, text, cards, charts), `elements.js` (makes elements), `shell.js` (light and
    dark), `marks.js` (numbers on their scales, tips), `plots.js` (charts).
    """
    return resources.files(f"reelbench.{room}").joinpath(name).read_text(encoding="utf-8")


def without_comments(code: str) -> str:
    """Return a script or a style without indentation and comments of whole lines.

    Visitors load it often, and nobody reads it there. No text of ours goes over a line's end.
    """
    lines: list[str] = []
    in_comment = False
    for line in code.splitlines():
        text = line.strip()
        if text.startswith("/*"):
            in_comment = True
        is_code = text and not in_comment and not text.startswith("//")
        if is_code:
            lines.append(text)
        if in_comment and "*/" in text:
            in_comment = False
            lines.append(text.partition("*/")[2].strip())
    return "\n".join(line for line in lines if line) + "\n"


def short_style(code: str) -> str:
    """Return a style without comments, and without spaces that part nothing."""
    short = without_comments(code)
    short = re.sub(r"([{};:,]) +", r"\1", short)
    return re.sub(r" ([{}])", r"\1", short)


def in_script(document: object) -> str:
    """Return a document as JSON for a script of a page.

    No text in it can end the script, or begin a comment.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def script_hash(code: str) -> str:
    """Return the hash by which a page's policy knows its script."""
    digest = hashlib.sha256(code.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def page_head(
    links: Sequence[tuple[str, str]] = (),
    label: str = "On this page",
    *,
    tools: str = "",
    home: str = "",
) -> str:
    """Return the first row of a page's head: name, links, dark switch.

    Args:
        links: The address and the words of each link.
        label: The links' heading, for people who can't see them.
        tools: HTML that stands behind the links.
        home: Attributes of an `<a>`, which make our name a link.
    """
    anchors: list[str] = []
    for address, words in links:
        anchors.append(f'<a href="{escape(address)}">{escape(words)}</a>')
    navigation = ""
    if anchors:
        navigation = f'<nav aria-label="{escape(label)}">{"".join(anchors)}</nav>'
    head = page_asset("shell_head.html").rstrip()
    return head.replace("<!--HOME-->", home).replace("<!--LINKS-->", navigation + tools)


def shell_page(
    title: str,
    main: str,
    *,
    style: str = "",
    script: str = "",
    data: str = "null",
    head: str = "",
    kind: str = "page",
    loads_scripts: bool = False,
) -> str:
    """Return the page as HTML.

    Args:
        title: The page's title.
        main: HTML in which foreign text must be escaped.
        style: CSS that stands after the shell's.
        script: JavaScript that stands after the shell's. It may use `Elements`, `Plots` of
            `marks.js`, and the data by their id.
        data: JSON that is safe in a script (`in_script`).
        head: The head's first row (`page_head`), for a page that has links or tools.
        kind: The page's name in its second line, which tells our pages from other files.
        loads_scripts: The page may also run scripts that lie beside it.
    """
    code = "\n".join([*_assets(_SCRIPTS), _THEME, script.rstrip()])
    allowed_scripts = f"'{script_hash(code)}'"
    if loads_scripts:
        allowed_scripts += " 'self' file:"
    parts = {
        "KIND": kind,
        "'SCRIPT-HASH'": allowed_scripts,
        "TITLE": escape(title),
        "/*STYLE*/": "\n".join([*_assets(_STYLES), style.rstrip()]),
        "SKIP": _FIRST_STOPS.get(kind, "main"),
        "<!--HEAD-->": head or page_head(),
        "<!--MAIN-->": main,
        "/*DATA*/": data,
        "/*SCRIPT*/": code,
    }
    # From the front to the back of the template, so that nothing in a text is taken for a mark.
    page = ""
    rest = page_asset("shell_page.html")
    for mark, text in parts.items():
        before, _, rest = rest.partition(mark)
        page += before + text
    return page + rest


def _assets(names: Sequence[str]) -> list[str]:
    return [page_asset(name).rstrip() for name in names]
