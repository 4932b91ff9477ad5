"""Writing the page: one HTML file with everything in it, and the pictures beside it."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reelbench.leaderboard import site
from reelbench.leaderboard.view.document import document
from reelbench.leaderboard.view.runs import ViewedRun
from reelbench.pages.shell_page import page_asset, page_head, shell_page
from reelbench.registry.errors import InputError
from reelbench.registry.files import replaced, write_text
from reelbench.registry.home import home

PAGE = "index.html"
_KIND = "view"
_MARK = f"<!-- reelbench {_KIND} -->".encode()
_SCRIPTS = (
    ("leaderboard.assets", "base.js"),
    ("leaderboard.assets", "model.js"),
    ("leaderboard.view", "summary.js"),
    ("leaderboard.view", "items.js"),
    ("leaderboard.view", "sample.js"),
    ("leaderboard.view", "view.js"),
)
_STYLES = (("leaderboard.assets", "board.css"), ("leaderboard.view", "view.css"))
_TOOLS = (
    '<span class="sub">on this machine only</span>'
    '<button id="keys" type="button" class="tool" aria-haspopup="dialog">Keys</button>'
)
_DATA = 'globalThis.REELBENCH = JSON.parse(document.getElementById("data").textContent);\n'


@dataclass(frozen=True, slots=True)
class View:
    """A written page: where it is, what it shows, and what a user should know of it."""

    path: Path
    items: int
    pictures: int
    asked: int
    faults: tuple[str, ...] = ()


def place_of(runs: Sequence[ViewedRun], out: Path | None, *, several: bool) -> Path:
    """Return a page's folder: the one named, or one in Reelbench's home that is the same for the same runs."""
    about = runs[0].result.benchmark
    name = f"{about.id}-{about.split}"
    if out is not None:
        return out / name if several else out
    folders = "\n".join(str(run.folder.absolute()) for run in runs)
    return home() / "views" / f"{name}-{hashlib.sha256(folders.encode()).hexdigest()[:12]}"


def write(
    runs: Sequence[ViewedRun],
    out: Path,
    *,
    pictures: int,
    show: Callable[[int], None] = lambda _: None,
    only: str | None = None,
) -> View:
    """Write the page of some runs of one benchmark to `out`, which becomes exactly that; for `only` see `wanted`.

    Raises:
        InputError: The folder has other files in it.
    """
    page = out / PAGE
    if out.exists() and any(out.iterdir()) and not _is_ours(page):
        raise InputError(f"{out}: has other files in it; name a folder of its own for the page")
    with replaced(out) as aside:
        made = document(runs, aside, pictures, show, only)
        models = " and ".join(dict.fromkeys(run.result.model.id for run in runs))
        text = shell_page(
            f"{made['benchmarks'][0]['title']}: {models}",
            page_asset("view.html", "leaderboard.view").rstrip(),
            style="\n".join(page_asset(name, room).rstrip() for room, name in _STYLES),
            script=_DATA + "\n".join(page_asset(name, room).rstrip() for room, name in _SCRIPTS),
            data=site.line_by_line(made),
            head=page_head(tools=_TOOLS),
            kind=_KIND,
            skip="sample",
        )
        write_text(aside / PAGE, text)
    faults = tuple(line for lines in made["faults"] for line in lines)
    return View(page, len(made["items"]), sum(len(strip["times"]) for strip in made["strips"]), made["asked"], faults)


def _is_ours(page: Path) -> bool:
    if not page.is_file():
        return False
    with page.open("rb") as file:
        return _MARK in file.read(200)
