"""Writing the page: one HTML file with everything in it, and the pictures beside it."""

import base64
import hashlib
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reelbench.leaderboard import site
from reelbench.leaderboard.exports.tables import sheet
from reelbench.leaderboard.store import public
from reelbench.leaderboard.view.document import LETTERS, ViewedRun, document, grouped, wanted
from reelbench.pages.shell_page import page_asset, page_head, shell_page
from reelbench.registry.data.passing_on import why_withheld
from reelbench.registry.errors import InputError
from reelbench.registry.files import replaced, write_text
from reelbench.registry.settings import home
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
    alone = out.suffix == ".html"
    page = out if alone else out / PAGE
    if alone:
        if why := why_withheld(runs[0].spec, runs[0].split):
            raise InputError(f"{out}: one file is made to be sent on. {why} Name a folder: a page for this machine")
        runs = [replace(run, result=public(run.result)) for run in runs]
    elif out.exists() and any(out.iterdir()) and not (page.is_file() and _MARK in page.read_bytes()[:200]):
        raise InputError(f"{out}: has other files in it; name a folder of its own for the page")
    with tempfile.TemporaryDirectory() if alone else replaced(out) as place:
        made = document(runs, Path(place), pictures, show, only)
        if alone:
            made["sent"] = True
            for strip in made["strips"]:
                files = [Path(place) / f"{strip['files']}{number}.jpg" for number in range(len(strip["times"]))]
                strip["files"] = [
                    f"data:image/jpeg;base64,{base64.b64encode(file.read_bytes()).decode()}" for file in files
                ]
            for part in (*made["runs"], *made["items"]):
                part.pop("folder", None)
                part.pop("file", None)
        models = " and ".join(dict.fromkeys(run.result.model.id for run in runs))
        write_text(
            page if alone else Path(place, PAGE),
            shell_page(
                f"{made['benchmarks'][0]['title']}: {models}",
                page_asset("view.html", "leaderboard.view").rstrip(),
                style="\n".join(page_asset(name, room).rstrip() for room, name in _STYLES),
                script=_DATA + "\n".join(page_asset(name, room).rstrip() for room, name in _SCRIPTS),
                data=site.line_by_line(made),
                head=page_head(tools=_TOOLS if "sent" not in made else _KEYS),
                kind=_KIND,
                skip="sample",
            ),
        )
    faults = tuple(line for lines in made["faults"] for line in lines)
    return View(page, len(made["items"]), made["asked"], faults)


def write_of_folder(folder: Path, out: Path) -> Path:
    """Write the page of one result's folder, and return it: what a notebook shows."""
    (group,) = grouped([folder])
    return write(group, out, pictures=_FEW_PICTURES).path


def as_csv(runs: Sequence[ViewedRun], only: str | None = None) -> str:
    """Return a line for each question: id, video, labels; of each run its answer, score, and whether it is right."""
    facets = [facet.name for facet in runs[0].spec.facets]
    own = [f"{LETTERS[n]}_{name}" for n in range(len(runs)) for name in ("model", "answer", "score", "right", "reason")]
    lines: list[list[object]] = [["id", "video", *facets, *own]]
    for name in wanted(runs, only):
        there = [run.samples.get(name) for run in runs]
        first = next(sample for sample in there if sample is not None)
        labels = ("; ".join(map(str, first.facets.get(facet, ()))) for facet in facets)
        line: list[object] = [name, first.video, *labels]
        for run, sample in zip(runs, there, strict=True):
            score = None if sample is None else aggregation.score_of(run.spec, sample)
            said = "" if sample is None or sample.prediction is None else as_text(sample.prediction)
            right = {None: "", True: "yes", False: "no"}[run.spec.primary.is_right(score)]
            line += [run.result.model.id, said, score, right, sample and sample.reason]
        lines.append(line)
    return sheet(lines)
