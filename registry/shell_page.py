"""A page of ours as one file to be opened from the disk: head with light and dark, landmarks, its scripts and data.

Only the scripts put in here may run: the page's policy names their hash, so nothing in a text does.
"""

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from reelbench.registry.files import in_script, page_asset

_STYLES = ("palette.css", "shell.css")
_SCRIPTS = ("elements.js", "shell.js", "plots.js")
_THEME = 'Shell.theme(document.getElementById("theme"));'


def shell_page(
    title: str,
    main: str,
    *,
    style: str = "",
    script: str = "",
    data: object = None,
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the page as HTML.

    Args:
        title: As text.
        main: What it holds, as HTML: what others wrote must be escaped in it.
        style: CSS after the shell's.
        script: JavaScript after the shell's; it may use `Elements`, `Plots`, and the data by their id, `data`.
        data: What the script shows, as JSON has it.
        links: (id, words) of the page's parts, for its head.
    """
    code = "\n".join([*(page_asset(name).rstrip() for name in _SCRIPTS), _THEME, script.rstrip()])
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    nav = "".join(f'<a href="#{escape(name)}">{escape(words)}</a>' for name, words in links)
    # From the front to the back of the template, so that nothing in a text is taken for one of its marks.
    parts = {
        "SCRIPT-HASH": f"sha256-{digest}",
        "TITLE": escape(title),
        "/*STYLE*/": "\n".join([*(page_asset(name).rstrip() for name in _STYLES), style.rstrip()]),
        "<!--LINKS-->": f'<nav aria-label="On this page">{nav}</nav>' if nav else "",
        "<!--MAIN-->": main,
        "/*DATA*/": in_script(data),
        "/*SCRIPT*/": code,
    }
    page, rest = "", page_asset("shell_page.html")
    for mark, text in parts.items():
        before, _, rest = rest.partition(mark)
        page += before + text
    return page + rest
