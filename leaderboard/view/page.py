"""Writing the page: one HTML file with everything in it, and the pictures beside it."""

import base64
import csv
import hashlib
import io
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reelbench.leaderboard import site
from reelbench.leaderboard.store import public
from reelbench.leaderboard.view.document import LETTERS, document, wanted
from reelbench.leaderboard.view.runs import ViewedRun, grouped
from reelbench.pages.shell_page import page_asset, page_head, shell_page
from reelbench.registry.data.passing_on import why_withheld
from reelbench.registry.errors import InputError
from reelbench.registry.files import replaced, write_text
from reelbench.registry.home import home
from reelbench.registry.text_tables import spreadsheet_cell
from reelbench.registry.values import as_text
from reelbench.scoring import aggregation

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
_KEYS = '<button id="keys" type="button" class="tool" aria-haspopup="dialog">Keys</button>'
_FEW_PICTURES = 200  # of videos at most in a page that a notebook holds
_TOOLS = f'<span class="sub">on this machine only</span>{_KEYS}'
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
    name = re.sub(r"[^\w.-]+", "_", f"{about.id}-{about.split}")  # a result may state any split
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

    Where `out` ends in .html it is one file for others to read, without films and paths of this machine.

    Raises:
        InputError: The folder has other files in it, or the data may not be passed on.
    """
    if out.suffix == ".html":
        return _write_alone(runs, out, pictures=pictures, show=show, only=only)
    page = out / PAGE
    if out.exists() and any(out.iterdir()) and not _is_ours(page):
        raise InputError(f"{out}: has other files in it; name a folder of its own for the page")
    with replaced(out) as aside:
        made = document(runs, aside, pictures, show, only)
        write_text(aside / PAGE, _page(runs, made))
    return _view(page, made)


def write_of_folder(folder: Path, out: Path) -> Path:
    """Write the page of one result's folder, and return it: what a notebook shows."""
    (group,) = grouped([folder])
    return write(group, out, pictures=_FEW_PICTURES).path


def _write_alone(
    runs: Sequence[ViewedRun], out: Path, *, pictures: int, show: Callable[[int], None], only: str | None
) -> View:
    """Write the page as one file for others to read: pictures are in it, no path of this machine and no film is."""
    if why := why_withheld(runs[0].spec, runs[0].split):
        raise InputError(f"{out}: one file is made to be sent on. {why} Name a folder: a page for this machine")
    runs = [replace(run, result=public(run.result)) for run in runs]
    with tempfile.TemporaryDirectory() as scratch:
        made = document(runs, Path(scratch), pictures, show, only)
        for strip in made["strips"]:
            files = [Path(scratch, f"{strip['files']}{number}.jpg") for number in range(len(strip["times"]))]
            strip["files"] = [
                f"data:image/jpeg;base64,{base64.b64encode(file.read_bytes()).decode()}" for file in files
            ]
    for part in (*made["runs"], *made["items"]):
        part.pop("folder", None)
        part.pop("file", None)
    write_text(out, _page(runs, made | {"sent": True}))
    return _view(out, made)


def _page(runs: Sequence[ViewedRun], made: Mapping[str, Any]) -> str:
    models = " and ".join(dict.fromkeys(run.result.model.id for run in runs))
    return shell_page(
        f"{made['benchmarks'][0]['title']}: {models}",
        page_asset("view.html", "leaderboard.view").rstrip(),
        style="\n".join(page_asset(name, room).rstrip() for room, name in _STYLES),
        script=_DATA + "\n".join(page_asset(name, room).rstrip() for room, name in _SCRIPTS),
        data=site.line_by_line(made),
        head=page_head(tools=_TOOLS if "sent" not in made else _KEYS),
        kind=_KIND,
        skip="sample",
    )


def _view(page: Path, made: Mapping[str, Any]) -> View:
    faults = tuple(line for lines in made["faults"] for line in lines)
    return View(page, len(made["items"]), sum(len(strip["times"]) for strip in made["strips"]), made["asked"], faults)


def as_csv(runs: Sequence[ViewedRun], only: str | None = None) -> str:
    """Return a line for each question: id, video, labels; of each run its answer, score, and whether it is right."""
    facets = [facet.name for facet in runs[0].spec.facets]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    own = [f"{LETTERS[n]}_{name}" for n in range(len(runs)) for name in ("model", "answer", "score", "right", "reason")]
    writer.writerow(["id", "video", *facets, *own])
    for name in wanted(runs, only):
        there = [run.samples.get(name) for run in runs]
        first = next(sample for sample in there if sample is not None)
        line = [name, first.video, *("; ".join(map(str, first.facets.get(facet, ()))) for facet in facets)]
        for run, sample in zip(runs, there, strict=True):
            score = None if sample is None else aggregation.score_of(run.spec, sample)
            said = "" if sample is None or sample.prediction is None else as_text(sample.prediction)
            right = {None: "", True: "yes", False: "no"}[run.spec.primary.is_right(score)]
            line += [run.result.model.id, said, "" if score is None else score, right, (sample and sample.reason) or ""]
        writer.writerow(map(spreadsheet_cell, line))
    return text.getvalue()


def _is_ours(page: Path) -> bool:
    if not page.is_file():
        return False
    with page.open("rb") as file:
        return _MARK in file.read(200)
