"""The site: a static page that needs no server, and reads nothing that is not beside it.

`index.html` loads `data/board.js` with every row. What only some visitors want is in files of its own, loaded when it
is asked for: a run's settings and breakdowns (`data/runs/`), its samples (`data/samples/`), and the plotting library.
All of them are scripts, since a page opened from a disk may load scripts but not data. DataTables comes from the
installed `itables`, Plotly from the installed `plotly`.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from reelbench.judges import results
from reelbench.leaderboard import board as boards
from reelbench.leaderboard import exports, ranking
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import Entry, frame_count
from reelbench.registry.data import loading
from reelbench.registry.errors import ReelbenchError
from reelbench.registry.records import MetricValue
from reelbench.registry.spec import BenchmarkSpec

ASSETS = ("index.html", "board.css", "board.js", "charts.js")
SAMPLES_PER_FILE = 50
BYTES_PER_FILE = 400_000
_DIGITS = 7


def build(store: Path, out: Path, *, published: bool = True) -> Board:
    """Write the site for a store to `out`, which becomes exactly that, in one step; return what it shows."""
    board = boards.make(store, published=published)
    if out.exists() and not (out / "data" / "board.js").is_file() and any(out.iterdir()):
        raise ReelbenchError(f"{out}: has other files in it; name a folder of its own for the site")
    aside, old = (out.with_name(f".{out.name}.{os.getpid()}.{what}") for what in ("new", "old"))
    try:
        aside.mkdir(parents=True)
        write(board, aside)
        if out.exists():
            out.rename(old)
        aside.rename(out)
    finally:
        for leftover in (aside, old):
            shutil.rmtree(leftover, ignore_errors=True)
    return board


def write(board: Board, out: Path) -> None:
    """Write the site's files to an empty folder."""
    assets = resources.files("reelbench.leaderboard.assets")
    for name in ASSETS:
        (out / name).write_text((assets / name).read_text(encoding="utf-8"), encoding="utf-8")
    library = out / "lib"
    library.mkdir()
    (library / "datatables.js").write_text(_datatables(), encoding="utf-8")
    (library / "plotly.min.js").write_bytes(_installed("plotly", "package_data/plotly.min.js"))
    data = out / "data"
    for folder in ("runs", "samples"):
        (data / folder).mkdir(parents=True)
    _write(data / "board.js", f"globalThis.REELBENCH={_script(_document(board))};\n")
    for entry in board.entries:
        _write_run(board.specs[entry.group.benchmark], entry, data)
    downloads = out / "downloads"
    downloads.mkdir()
    for name in board.specs:
        _write(downloads / f"{name}.csv", exports.as_csv(board, name))
    document = json.dumps(exports.as_document(board), ensure_ascii=False, separators=(",", ":"))
    _write(downloads / "leaderboard.json", document + "\n")
    (out / ".nojekyll").write_text("", encoding="utf-8")  # GitHub Pages then serves every file as it is


def chunk_name(entry: Entry) -> str:
    """Return the name of a row's own files."""
    return hashlib.sha256(entry.key.encode()).hexdigest()[:16]


def may_show_samples(spec: BenchmarkSpec, split: str) -> bool:
    """Whether a split's samples may be passed on: answers may repeat questions, and some data is under an agreement."""
    return spec.open_data or loading.is_mini(split)


# --- the data --------------------------------------------------------------------------------------------------------


def _document(board: Board) -> dict[str, Any]:
    groups = {group: number for number, group in enumerate(g for found in board.groups.values() for g in found)}
    places = {entry.key: number for number, entry in enumerate(board.entries)}
    return {
        # Of the results, not of the clock: the same store gives the same bytes.
        "newest": max((entry.date for entry in board.entries if entry.date), default=None),
        "rules": ranking.RULES.strip(),
        "benchmarks": [_benchmark(spec) for spec in board.specs.values()],
        "groups": [
            {
                "id": group.id,
                "benchmark": group.benchmark,
                "label": group.label,
                "split": group.split,
                "subset": group.subset,
                "judge": group.judge,
                "prompts": group.prompts,
                "version": group.version,
                "mini": group.mini,
                "main": board.main.get(group.benchmark) == group,
            }
            for group in groups
        ],
        "rows": [_row(board, entry, groups[entry.group]) for entry in board.entries],
        "overall": [
            {
                "model": model.key[0],
                "revision": model.key[1],
                "setting": model.key[2],
                "rank": model.rank,
                "rate": None if model.win_rate is None else round(model.win_rate, 4),
                "covered": model.covered,
                "of": model.of,
                "cells": {groups[group]: places[entry.key] for group, entry in model.cells.items()},
            }
            for model in board.overall
        ],
    }


def _benchmark(spec: BenchmarkSpec) -> dict[str, Any]:
    return {
        "id": spec.id,
        "title": spec.title,
        "summary": spec.summary,
        "homepage": spec.homepage,
        "paper": {"title": spec.paper.title, "url": spec.paper.url},
        "metrics": [
            {
                "name": metric.name,
                "title": metric.title,
                "unit": metric.unit,
                "low": metric.low,
                "high": metric.high,
                "judged": metric.judged,
                "cite": metric.cite,
            }
            for metric in spec.metrics
        ],
        "facets": [
            {"name": facet.name, "title": facet.title, "labels": facet.labels or [], "in_rows": facet.in_rows}
            for facet in spec.facets
        ],
        "splits": {name: split.hidden_answers for name, split in spec.splits.items()},
    }


def _row(board: Board, entry: Entry, group: int) -> dict[str, Any]:
    spec = board.specs[entry.group.benchmark]
    row = {
        "id": chunk_name(entry),
        "model": entry.model,
        "rev": entry.revision,
        "kind": entry.kind,
        "setting": entry.setting,
        "group": group,
        "rank": board.ranks.get(entry.key),
        "frames": entry.frames,
        "n": frame_count(entry.frames),
        "v": [_numbers(entry.metrics.get(metric.name)) for metric in spec.metrics],
        "items": entry.items,
        "scored": entry.scored,
        "partial": entry.partial,
        "ids": entry.ids,
        "open": entry.open_weights,
        "date": entry.date,
        "cite": entry.cite,
        "url": entry.url,
        "note": entry.note,
    }
    return {name: value for name, value in row.items() if value not in (None, "")}


def _numbers(found: MetricValue | None) -> list[float] | None:
    """[value] or [value, low, high], to seven digits: what is shown, not the record."""
    if found is None or found.value is None:
        return None
    return [_short(found.value), *(_short(end) for end in found.ci95 or ())]


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _write_run(spec: BenchmarkSpec, entry: Entry, data: Path) -> None:
    name = chunk_name(entry)
    document: dict[str, Any] = {
        "breakdowns": {
            facet: {
                label: {metric: _numbers(found) for metric, found in metrics.items() if found.value is not None}
                for label, metrics in labels.items()
            }
            for facet, labels in entry.breakdowns.items()
        },
        "samples": 0,
    }
    if entry.stored is not None:
        document["result"] = entry.stored.result.model_dump(mode="json", exclude={"metrics", "breakdowns"})
        document["key"] = entry.key
        document["withheld"] = not may_show_samples(spec, entry.group.split)
        shown = () if document["withheld"] else _parts(entry.stored.folder / results.SAMPLES_FILE)
        for number, lines in enumerate(shown):
            # The lines are JSON already, and each was held to the schema when it was added.
            text = f"REELBENCH_LOADED({json.dumps(f'samples/{name}-{number}')},[\n{','.join(lines)}]);\n"
            _write(data / "samples" / f"{name}-{number}.js", text)
            document["samples"] = number + 1
    text = f"REELBENCH_LOADED({json.dumps(f'runs/{name}')},{_script(document)});\n"
    _write(data / "runs" / f"{name}.js", text)


def _parts(path: Path) -> Iterator[list[str]]:
    """Yield a samples file's lines, some at a time, so that no file to load is large without need."""
    lines: list[str] = []
    size = 0
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.strip():
            continue
        if lines and (len(lines) == SAMPLES_PER_FILE or size + len(line) > BYTES_PER_FILE):
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


def _script(document: object) -> str:
    """Return JSON that is safe as a script, were it ever put into a page."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("<!--", "<\\!--")


def _write(path: Path, text: str) -> None:
    # Half a surrogate pair, which some models emit, becomes its escape: right in JSON, visible in CSV.
    path.write_bytes(text.encode("utf-8", "backslashreplace"))


# --- the libraries ---------------------------------------------------------------------------------------------------

_EXPORT = re.compile(r"export\s*\{([^{}]*)\}\s*;?")


def _installed(package: str, path: str) -> bytes:
    try:
        return resources.files(package).joinpath(path).read_bytes()
    except (ModuleNotFoundError, FileNotFoundError):
        raise ReelbenchError(
            f"the site needs {path} of the package {package}, which is not there; pip install --upgrade {package}"
        ) from None


def _datatables() -> str:
    """Return itables' bundle as a classic script that sets `DataTable`.

    It ships as a module, and browsers load no modules from a disk: its one `export {a as b, …}` becomes an assignment.
    """
    text = _installed("itables", "html/dt_bundle.js").decode("utf-8")
    exports_found = list(_EXPORT.finditer(text))
    names = {
        parts[1].strip(): parts[0].strip()
        for found in exports_found
        for part in found[1].split(",")
        if len(parts := part.split(" as ")) == 2  # noqa: PLR2004
    }
    if len(exports_found) != 1 or "default" not in names:
        raise ReelbenchError("the installed itables has another bundle than expected; pip install 'itables>=2.9,<3'")
    found = exports_found[0]
    return f"(()=>{{{text[: found.start()]}\nglobalThis.DataTable={names['default']};{text[found.end() :]}\n}})();\n"
