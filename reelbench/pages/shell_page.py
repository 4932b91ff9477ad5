"""A page of ours as one file to be opened from the disk: head with light and dark, landmarks, its scripts and data.

Only the scripts put in here may run: the page's policy names their hash, so nothing in a text does.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib import resources

_STYLES = ("palette.css", "shell.css")
_SCRIPTS = ("elements.js", "shell.js", "marks.js")
_THEME = 'Shell.theme(document.getElementById("theme"));'


def page_asset(name: str, room: str = "pages") -> str:
    """Return the text of a file that stands beside our code: in `room`, or one that every page of ours shares.

    `palette.css` (colours), `shell.css` (head, text, cards, charts), `elements.js` (makes
    elements), `shell.js` (light and dark), `marks.js` (numbers on their scales, tips), `plots.js`
    (charts).
    """
    return resources.files(f"reelbench.{room}").joinpath(name).read_text(encoding="utf-8")


def in_script(document: object) -> str:
    """Return a document as JSON for a script of a page: no text in it can end the script, or begin a comment."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def page_head(
    links: Sequence[tuple[str, str]] = (),
    label: str = "On this page",
    *,
    tools: str = "",
    home: str = "",
) -> str:
    """Return the first row of a page's head, whose end is the page's: our name, links, and the switch to dark.

    A link is (address, words); `label` says what they are, for who can't see them. `tools` stand
    behind them, as HTML; `home` makes our name a link: attributes of an `<a>`.
    """
    nav = "".join(f'<a href="{escape(address)}">{escape(words)}</a>' for address, words in links)
    shown = f'<nav aria-label="{escape(label)}">{nav}</nav>' if nav else ""
    return (
        page_asset("shell_head.html")
        .rstrip()
        .replace("<!--HOME-->", home)
        .replace("<!--LINKS-->", shown + tools)
    )


def shell_page(
    title: str,
    main: str,
    *,
    style: str = "",
    script: str = "",
    data: str = "null",
    head: str = "",
    kind: str = "page",
    skip: str = "main",
) -> str:
    """Return the page as HTML.

    In `main`, its HTML, what others wrote must be escaped. `style` and `script` stand after the
    shell's; the script may use `Elements`, `Plots` of `marks.js`, and the data by their id: JSON
    that is safe in a script (`in_script`). `head` is its own where it holds links or tools
    (`page_head`); `kind` what its second line calls it, which tells our pages from other files;
    `skip` the id that the keyboard's first stop leads to.
    """
    code = "\n".join([*(page_asset(name).rstrip() for name in _SCRIPTS), _THEME, script.rstrip()])
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    # From the front to the back of the template, so that nothing in a text is taken for one of its
    # marks.
    parts = {
        "KIND": kind,
        "SCRIPT-HASH": f"sha256-{digest}",
        "TITLE": escape(title),
        "/*STYLE*/": "\n".join([*(page_asset(name).rstrip() for name in _STYLES), style.rstrip()]),
        "SKIP": skip,
        "<!--HEAD-->": head or page_head(),
        "<!--MAIN-->": main,
        "/*DATA*/": data,
        "/*SCRIPT*/": code,
    }
    page, rest = "", page_asset("shell_page.html")
    for mark, text in parts.items():
        before, _, rest = rest.partition(mark)
        page += before + text
    return page + rest
