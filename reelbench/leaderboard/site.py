"""The site: a static page that needs no server, and reads nothing that is not beside it.

`index.html` loads `data/board.js` with every row. What only some visitors want is in files of its
own, loaded when it is asked for: a run's settings and breakdowns (`data/runs/`), its samples
(`data/samples/`), a table's pairs (`data/pairs/`). All are scripts, which a page opened from a disk
may load, with one line of JSON per row, to diff.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError, installing
from reelbench.base.files import read_text, remove_leftovers, replacing_folder
from reelbench.base.workers import ALONE, Workers
from reelbench.data.redistribution import why_withheld
from reelbench.leaderboard import board as boards
from reelbench.leaderboard import columns, headline, overall, ranking
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, frame_count, means_of
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.store import public
from reelbench.pages.shell_page import in_script, page_asset, page_head
from reelbench.registry.metrics import UNITS
from reelbench.registry.parity import parity
from reelbench.registry.records import Breakdowns, MetricValue
from reelbench.registry.spec import BenchmarkSpec, Corpus, MeanOf, Metric
from reelbench.scoring import cognitive_profile, result_files

SHARED = ("elements", "shell", "marks", "plots")
"""Scripts that stand in `pages/` for every page of ours."""
SCRIPTS = {
    "page.js": ("elements", "shell", "base", "start"),
    "table.js": ("marks", "table", "columns", "forest", "standings", "benchmark", "board"),
    "more.js": ("plots", "charts", "model", "texts", "questions", "picture"),
}
"""The page's scripts, each file's in order: for its head, its first screen, and what waits until that is there."""
PAGES = (("submit", "Submit"), ("about", "How it works"))
"""Pages that the head links to: name in the address (`R.addPage`), title."""
ASSETS = ("index.html", "board.css", *SCRIPTS)
_HOME = ' href="#/overall" aria-label="Reelbench, overall table"'
SAMPLES_PER_FILE = 50
BYTES_PER_FILE = 400_000
_DIGITS = 7
_PICTURE = "link.png"
_FIRST = 10
"""Models of the table without scripts."""


def build(
    store: Path,
    out: Path,
    *,
    published: bool = True,
    workers: Workers = ALONE,
    common: Sequence[str] = (),
    url: str | None = None,
) -> Board:
    """Write the site for a store to `out`, which becomes exactly that, in one step; return what it shows.

    For `common` see `board.on_common_videos`; `url` is where it will be served, for a posted link's
    picture: InputError without http:// or https://.
    """
    if url is not None and not re.fullmatch(r"https?://[^\s\"'<>]+", url):
        raise InputError(f"--url {url}: give the whole address where the page will be, https://…")
    board = boards.make(store, published=published, workers=workers, common=common)
    if out.exists() and not (out / "data" / "board.js").is_file() and any(out.iterdir()):
        raise ReelbenchError(f"{out}: has other files in it; name a folder of its own for the site")
    remove_leftovers(out)
    with replacing_folder(out) as aside:
        write(board, aside, workers, url=url)
    return board


def write(
    board: Board,
    out: Path,
    workers: Workers = ALONE,
    *,
    private: bool = True,
    dataset: str | None = None,
    url: str | None = None,
) -> None:
    """Write the site's files to an empty folder.

    Samples of data without a licence are withheld unless it is `private`, which is seen by the
    user's own people alone. `dataset` is the results dataset that it is made from and handed in to,
    `ORG/NAME`, where it has one. With the address `url` a posted link has a picture: others load it
    from there.
    """
    shown = document(board) | ({"dataset": dataset} if dataset else {})
    said = escape("".join(shown["headline"]))
    for name in ASSETS:
        text = _asset(name)
        if name == "index.html":
            text = text.replace("<!-- META -->", _meta(board, said, url)).replace(
                "<!-- PLAIN -->", _plain(board, said)
            )
        _write(out / name, text)
    if url is not None:
        from reelbench.leaderboard import link_picture

        link_picture.write(board, out / _PICTURE, shown["headline"])
    data = out / "data"
    for folder in ("runs", "samples", "pairs"):
        (data / folder).mkdir(parents=True)
    _write(data / "board.js", f"globalThis.REELBENCH={line_by_line(shown)};\n")
    for group in (group for group, noise in board.noise.items() if noise.pairs):
        name = f"pairs/{file_name(group.id)}"
        _write(
            data / f"{name}.js",
            f"REELBENCH_LOADED({json.dumps(name)},{in_script(pairs(board, group))});\n",
        )
    runs = list[tuple[BenchmarkSpec, BoardEntry]]()
    for entry in board.entries:  # the data's rows are nothing that a worker needs
        stored = entry.stored and replace(entry.stored, rows=None)
        runs.append((board.specs[entry.group.benchmark], replace(entry, stored=stored)))
    alone = workers.alone(
        sum(entry.stored is not None for entry in board.entries)
    )  # a published row costs nothing
    for _ in (map if alone else workers.map)(partial(_write_run, data.absolute(), private), runs):
        pass
    downloads = out / "downloads"
    downloads.mkdir()
    for name in board.specs:
        _write(downloads / f"{name}.csv", tables.as_csv(board, name))
    text = json.dumps(tables.as_document(board), ensure_ascii=False, separators=(",", ":"))
    _write(downloads / "leaderboard.json", text + "\n")
    (out / ".nojekyll").write_text(
        "", encoding="utf-8"
    )  # GitHub Pages then serves every file as it is


def _meta(board: Board, said: str, url: str | None) -> str:
    """Return the title and what a posted link shows: of this board's own benchmarks, and who leads."""
    titles = [board.specs[name].title.partition(" (")[0] for name in board.main]
    title = escape(
        f"Reelbench leaderboard: {', '.join(titles)}" if titles else "Reelbench leaderboard"
    )
    tags, shown = list[str](), {"title": title, "description": said, "type": "website"}
    if url is not None:
        picture = f"{url.partition('#')[0].removesuffix('index.html').rstrip('/')}/{_PICTURE}"
        tags = [
            f'<meta property="og:{name}" content="{escape(of)}">'
            for name, of in (("url", url), ("image", picture))
        ]
        tags += ['<meta name="twitter:card" content="summary_large_image">']
    return "\n".join(
        [
            *tags,
            f"<title>{title}</title>",
            f'<meta name="description" content="{said}">',
            *(f'<meta property="og:{name}" content="{of}">' for name, of in shown.items()),
        ]
    )


def _plain(board: Board, said: str) -> str:
    """Return the first rows as plain HTML, for who reads the page without its scripts."""
    groups = list(board.main.values())
    heads = [board.spec(group).title.partition(" (")[0] for group in groups]
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in ("Rank", "Model", *heads))
    rows = []
    for model in [one for one in board.overall if any(group in one.cells for group in groups)][
        :_FIRST
    ]:
        cells = [
            f"<td>{'–' if model.rank is None else model.rank}</td>",
            f'<th scope="row">{escape(model.key[0])}</th>',
        ]
        for group in groups:
            entry = model.cells.get(group)
            cells.append(
                f"<td>{(entry and tables.value(entry, board.spec(group).primary)) or '–'}</td>"
            )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    table = (
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        if rows
        else ""
    )
    rest = '<p>All numbers: <a href="downloads/leaderboard.json">downloads/leaderboard.json</a>. The page itself needs '
    return f"<h1>Reelbench leaderboard</h1><p>{said}</p>{table}{rest}JavaScript.</p>"


def _asset(name: str) -> str:
    """Return a file of the page without what is for who reads its source: indents, comments, breaks, spaces."""
    if name in SCRIPTS:
        rooms = {
            script: "pages" if script in SHARED else "leaderboard.assets"
            for script in SCRIPTS[name]
        }
        scripts = [page_asset(f"{script}.js", room) for script, room in rooms.items()]
        text = "".join([*scripts, f'REELBENCH_LOADED("{name}");\n'])
    elif name == "board.css":
        text = (
            page_asset("palette.css")
            + page_asset("shell.css")
            + page_asset(name, "leaderboard.assets")
        )
    else:
        head = page_head([(f"#/{page}", title) for page, title in PAGES], "Pages", home=_HOME)
        text = page_asset(name, "leaderboard.assets").replace("<!-- HEAD -->", head)
    text = re.sub(
        r"^ *(?://.*|/\*(?:[^*]|\*(?!/))*\*/) *\n|^ +|(?<=[;,{(]) // .*$",
        "",
        text,
        flags=re.MULTILINE,
    )
    if name.endswith(".js"):
        return re.sub(
            r"(?<=[,;{(\[])\n|\n(?=[})\]])| (=>|[=!]==|&&|\|\||\?\?) ",
            lambda found: found[1] or "",
            text,
        )
    if name != "board.css":
        return text
    return re.sub(r"\s*([{};,]) +|: +|\n+", lambda found: found[1] or found[0].strip(), text)


def file_name(name: str) -> str:
    """Return the name of the files of a row or a table, by the row's key or the table's id."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


# --- the data
# --------------------------------------------------------------------------------------------------------


def document(board: Board) -> dict[str, Any]:
    """Return the page's data: declarations (units, columns, benchmarks), groups, rows, the overall table."""
    numbers = {
        group: number
        for number, group in enumerate(g for groups in board.groups.values() for g in groups)
    }
    places = {entry.key: number for number, entry in enumerate(board.entries)}
    rows = []
    for entry in board.entries:
        spec = board.specs[entry.group.benchmark]
        row = {
            "id": file_name(entry.key),
            "group": numbers[entry.group],
            **{
                column.id: column.value(board, entry)
                for column in columns.COLUMNS
                if not column.of_group
            },
            "same": None if board.names[entry.model] == entry.model else board.names[entry.model],
            "badge": entry.stored
            and entry.stored.check.rejudged
            and entry.stored.check.rejudged.short,
            "links": entry.about.links,
            "n": frame_count(entry.frames),
            "v": [value_and_ends(entry.metrics.get(metric.name)) for metric in spec.metrics],
        }
        short = {
            name: _short(value) if isinstance(value, float) else value
            for name, value in row.items()
        }
        rows.append({name: value for name, value in short.items() if value not in (None, "")})
    return {
        # Of the results, not of the clock: the same store gives the same bytes.
        "newest": max((entry.date for entry in board.entries if entry.date), default=None),
        "headline": headline.of_board(board),
        "rules": ranking.rules(),
        "install": installing("lmms-eval"),
        "units": units(),
        "columns": [
            {
                field.name: getattr(column, field.name)
                for field in fields(column)
                if field.name != "get"
            }
            for column in columns.COLUMNS
        ],
        "benchmarks": [benchmark(spec) for spec in board.specs.values()],
        "groups": _groups(board),
        "rows": rows,
        "overall": [
            {
                "model": model.key[0],
                "revision": model.key[1],
                "setting": model.key[2],
                "rank": model.rank,
                "ranks": model.ranks,
                "rate": None if model.win_rate is None else round(model.win_rate, 4),
                "covered": model.covered,
                "of": model.of,
                "cells": {
                    numbers[group]: places[entry.key] for group, entry in model.cells.items()
                },
                "rates": {numbers[group]: round(rate, 6) for group, rate in model.rates.items()},
            }
            for model in board.overall
        ],
    }


def _groups(board: Board) -> list[dict[str, Any]]:
    counting = overall.counted_groups(board.main, board.specs, board.entries, board.ranks)
    return [
        {
            "id": group.id,
            "label": group.label,
            "setting": group.setting,
            "mini": group.mini,
            "main": board.main.get(group.benchmark) == group,
            "counts": group in counting,
            "listed": board.listed_only.get(group),
            "headline": headline.of_board(board, group),
            "videos": board.noise[group].videos,
            "pairs": f"pairs/{file_name(group.id)}" if board.noise[group].pairs else None,
            "facets": sorted({facet for entry in board.rows[group] for facet in entry.breakdowns}),
            "shortcuts": {
                column: share | {"v": [_short(number) for number in share["v"]]}
                for column, share in board.shares(group).items()
            },
            "relations": board.relations(group),
            "tells": None if (tells := board.noise[group].smallest) is None else _short(tells),
        }
        | {
            column.id: column.value(board, board.rows[group][0])
            for column in columns.COLUMNS
            if column.of_group
        }
        for groups in board.groups.values()
        for group in groups
    ]


def pairs(board: Board, group: RankingGroup) -> dict[str, Any]:
    """Return the ranked rows' differences, each from each after it: [by, p, low, high], null of published numbers."""
    rows = board.ranked(group)
    found = [
        board.noise[group].pair(first.key, other.key) for first, other in combinations(rows, 2)
    ]
    cells = [pair and [pair.difference, pair.p, *(pair.ci95 or ())] for pair in found]
    short = [
        cell and [None if number is None else _short(number) for number in cell] for cell in cells
    ]
    return {"rows": [file_name(row.key) for row in rows], "cells": short}


def units() -> dict[str, dict[str, Any]]:
    """Return the units' formats for a page."""
    return {
        name: {
            "digits": unit.digits,
            "range": unit.range,
            "label": "%" if unit.label == "%" else f"of {unit.high:g}",
        }
        for name, unit in UNITS.items()
    }


def benchmark(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return a benchmark's entry for a page: title, metrics, facets.

    `per_item` are the columns of a sample's scores whose mean is its primary metric, each with its
    scale, if any.
    """
    return {
        "id": spec.id,
        "title": spec.title,
        "summary": spec.summary,
        "homepage": spec.homepage,
        "parity": parity(spec),
        "paper": spec.paper.url if spec.paper else "",
        "bibtex": spec.paper.bibtex if spec.paper else spec.citation,
        "judge": spec.judge.default_model if spec.judge else None,
        "right": spec.primary.right_from,
        "per_item": [(mean.column, mean.scale) for mean in means_of(spec, spec.primary)],
        "metrics": [_metric(metric) for metric in spec.metrics],
        "facets": [
            {
                "name": facet.name,
                "title": facet.title.rstrip("."),
                "labels": facet.labels or [],
                "metrics": [_metric(metric) for metric in facet.metrics],
            }
            for facet in cognitive_profile.facets(spec)
        ],
    }


def _metric(metric: Metric) -> dict[str, Any]:
    stated = {name: getattr(metric, name) for name in ("name", "title", "about", "cite", "unit")}
    low, high = metric.bounds
    parts = metric.aggregate.metrics if isinstance(metric.aggregate, MeanOf) else ()
    return stated | {
        "low": low,
        "high": high,
        "parts": parts,
        "of_corpus": isinstance(metric.aggregate, Corpus),
    }


def value_and_ends(found: MetricValue | None) -> list[float] | None:
    """[value] or [value, low, high], to seven digits: what is shown, not the record."""
    if found is None or found.value is None:
        return None
    return [_short(found.value), *(_short(end) for end in found.ci95 or ())]


def breakdowns(found: Breakdowns) -> dict[str, Any]:
    """Return facet -> label -> metric -> [value] or [value, low, high], and "#", the most items that one rests on.

    What has no value is left out.
    """
    return {
        facet: {
            label: {
                metric: value_and_ends(value)
                for metric, value in metrics.items()
                if value.value is not None
            }
            | (
                {"#": n}
                if (n := max((value.n or 0 for value in metrics.values()), default=0))
                else {}
            )
            for label, metrics in labels.items()
        }
        for facet, labels in found.items()
    }


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _write_run(data: Path, private: bool, of: tuple[BenchmarkSpec, BoardEntry]) -> None:
    spec, entry = of
    name = file_name(entry.key)
    run: dict[str, Any] = {"breakdowns": breakdowns(entry.breakdowns), "samples": 0}
    if entry.stored is not None:
        run["result"] = public(entry.stored.result).model_dump(
            mode="json", exclude={"metrics", "breakdowns", "media"}
        )
        run["key"] = entry.key
        run["withheld"] = (
            why_withheld(spec, entry.group.split, private=private) or entry.stored.withheld or False
        )
        # A run's samples are shown once, with its row on all of its videos.
        shown = (
            ()
            if run["withheld"] or entry.stored.videos is not None
            else _parts(entry.stored.folder / result_files.SAMPLES_FILE)
        )
        for number, lines in enumerate(shown):
            # The lines are JSON already, and each was held to the schema when it was added.
            text = f"REELBENCH_LOADED({json.dumps(f'samples/{name}-{number}')},[\n{','.join(lines)}]);\n"
            _write(data / "samples" / f"{name}-{number}.js", text)
            run["samples"] = number + 1
    text = f"REELBENCH_LOADED({json.dumps(f'runs/{name}')},{in_script(run)});\n"
    _write(data / "runs" / f"{name}.js", text)


def _parts(path: Path) -> Iterator[list[str]]:
    """Yield a samples file's lines, some at a time, so that no file to load is large without need."""
    lines, size = list[str](), 0
    for line in filter(str.strip, read_text(path).split("\n")):
        if lines and (len(lines) == SAMPLES_PER_FILE or size + len(line) > BYTES_PER_FILE):
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


def line_by_line(document: Mapping[str, Any]) -> str:
    """Return JSON for a script, a line for each entry of a list in it, so that pages can be compared by their lines."""
    parts = []
    for name, value in document.items():
        body = (
            "[\n" + ",\n".join(map(in_script, value)) + "\n]"
            if isinstance(value, list)
            else in_script(value)
        )
        parts.append(f'"{name}":{body}')
    return "{\n" + ",\n".join(parts) + "\n}"


def _write(path: Path, text: str) -> None:
    # Half a surrogate pair, which some models emit, becomes its escape: right in JSON, visible in
    # CSV.
    path.write_bytes(text.encode("utf-8", "backslashreplace"))
