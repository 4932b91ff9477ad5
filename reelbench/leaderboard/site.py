"""Write the site: a static page that needs no server, and reads nothing that is not beside it.

`index.html` loads `data/board.js` with every row. What only some visitors want is in files of its
own, loaded when it is asked for: a run's settings, breakdowns and samples (`data/runs/`), samples
of a long run (`data/samples/`), a table's pairs (`data/pairs/`). All are scripts, which a page
opened from a disk may load, with one line of JSON per row, to diff. Samples are in packed blocks:
a page unpacks those that somebody looks at.
"""

import base64
import hashlib
import json
import logging
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import read_text, remove_leftovers, replacing_folder
from reelbench.base.text_tables import SPREADSHEET_MARK, interval
from reelbench.base.workers import ALONE, Workers
from reelbench.data.redistribution import why_withheld
from reelbench.leaderboard import board as boards
from reelbench.leaderboard import (
    code_words,
    columns,
    group_words,
    headline,
    overall,
    page_texts,
    ranking,
    row_faults,
    site_state,
)
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.checked_files import CheckedFiles
from reelbench.leaderboard.code_state import digest_of
from reelbench.leaderboard.columns import PlainRows
from reelbench.leaderboard.entries import KINDS, BoardEntry, RankingGroup, frame_count
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.history import PastTable, Place, TableHistory
from reelbench.leaderboard.missing_columns import Note
from reelbench.leaderboard.overall import Overall
from reelbench.leaderboard.ranking import Noise
from reelbench.leaderboard.rereading import is_current
from reelbench.leaderboard.site_files import SiteFiles
from reelbench.leaderboard.site_state import BuildOptions, Summary
from reelbench.leaderboard.store import public
from reelbench.pages.shell_page import (
    in_script,
    page_asset,
    page_head,
    short_style,
    without_comments,
)
from reelbench.registry.metrics import UNITS
from reelbench.registry.parity import parity
from reelbench.registry.records import Breakdowns, Metrics, MetricValue
from reelbench.registry.spec import BenchmarkSpec, Corpus, Facet, MeanOf, Metric
from reelbench.scoring import cognitive_profile, result_files

log = logging.getLogger("reelbench")

SHARED = ("elements", "shell", "marks", "drawing", "plots")
"""Scripts that stand in `pages/` for every page of ours."""
SCRIPTS = {
    "page.js": (
        "elements",
        "shell",
        "base",
        "marks",
        "table",
        "columns",
        "forest",
        "standings",
        "benchmark",
        "board",
    ),
    "more.js": ("drawing", "plots", "charts", "history", "model", "texts", "questions", "picture"),
}
"""The page's scripts, each file's in order.

They are for its first screen, and for what waits until that is there.
"""
PAGES = (("submit", "Submit"), ("about", "How it works"))
"""Pages that the head links to: name in the address (`R.addPage`), title."""
ASSETS = ("index.html", "board.css", *SCRIPTS)
SAMPLES_PER_BLOCK = 50
BYTES_PER_BLOCK = 400_000
OWN_FILE_FROM = 400_000
"""Bytes of a run's packed samples from which on they have a file of their own."""
_HOME = ' href="#/overall" aria-label="Reelbench, overall table"'
_ASSETS_ROOM = "leaderboard.assets"
_DIGITS = 7
_LEFT_OUT = "This page was made without samples."
PICTURE = "link.png"
"""The picture that a posted link shows, beside the page."""
_PLAIN_ROWS = 10
"""Models of the table without scripts."""
MOST_PAIRS = 20_000
"""Pairs of a table (200 models) whose differences a page holds: some 600 kB."""
_SUMMARY = "Reelbench leaderboard"


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The addresses of the page and of the picture that a posted link shows."""

    page: str
    picture: str


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """The facts to remember of a site that was built.

    Attributes:
        summary: The numbers that the command states of it.
        runs: Name of a run's files -> the hash of what they follow from.
        follows_from_store: No answer was read again with data that lies elsewhere.
    """

    summary: Summary
    runs: Mapping[str, str]
    follows_from_store: bool


def address_beside(url: str) -> PageAddress:
    """Return the address of a page whose picture lies in its folder.

    Raises:
        InputError: If the address is without http:// or https://.
    """
    if not re.fullmatch(r"https?://[^\s\"'<>]+", url):
        raise InputError(f"--url {url}: give the whole address where the page will be, https://…")
    folder = url.partition("#")[0].removesuffix("index.html").rstrip("/")
    return PageAddress(url, f"{folder}/{PICTURE}")


def build(
    store: Path,
    out: Path,
    *,
    published: bool = True,
    workers: Workers = ALONE,
    common: Sequence[str] = (),
    url: str | None = None,
    samples: bool = True,
    note: Note = log.info,
) -> Board:
    """Write the site for a store, in one step, and return what it shows.

    Args:
        store: The store.
        out: The folder of the site, which becomes exactly that.
        published: Also show published numbers.
        workers: They write the runs.
        common: See `board.on_common_videos`.
        url: Where it will be served, for a posted link's picture.
        samples: Also show each run's samples.
        note: Called with a line where the store's columns had to be made.

    Raises:
        InputError: If the address is without http:// or https://.
        ReelbenchError: If the folder has other files.
    """
    options = BuildOptions(published, tuple(common), url, samples)
    return _build(store, out, options, workers, note, checked=None)


def _build(
    store: Path,
    out: Path,
    options: BuildOptions,
    workers: Workers,
    note: Note,
    *,
    checked: CheckedFiles | None,
) -> Board:
    """Write the site of a store over an earlier one, and return what it shows."""
    address = None if options.url is None else address_beside(options.url)
    board = boards.make(
        store,
        published=options.published,
        workers=workers,
        common=options.common,
        note=note,
        checked=checked,
    )
    _replace_site(board, out, workers, address, samples=options.samples)
    return board


def _replace_site(
    board: Board, out: Path, workers: Workers, address: PageAddress | None, *, samples: bool
) -> None:
    """Write the site of a board in the place of an earlier one.

    Raises:
        ReelbenchError: If the folder has other files.
    """
    is_site = (out / "data" / "board.js").is_file()
    if out.exists() and not is_site and any(out.iterdir()):
        raise ReelbenchError(f"{out}: has other files in it; name a folder of its own for the site")
    remove_leftovers(out)
    with replacing_folder(out) as aside:
        files = SiteFiles(aside)
        if is_site:
            files = SiteFiles(aside, out, _unchanged_runs(board, out, samples=samples))
        write(board, files, workers, address=address, samples=samples)


def build_over(
    store: Path,
    out: Path,
    options: BuildOptions,
    *,
    checked: CheckedFiles,
    workers: Workers,
    note: Note,
) -> BuiltSite:
    """Write the site as `build` does, over an earlier one whose files may stay.

    Args:
        store: The store.
        out: The folder of the site.
        options: What the site is made with.
        checked: Files of the store that need not be hashed again.
        workers: They write the runs.
        note: Called with a line where the store's columns had to be made.
    """
    board = _build(store, out, options, workers, note, checked=checked)
    return BuiltSite(
        summary=_summary(board),
        runs=_hashes_of_runs(board, samples=options.samples),
        follows_from_store=_follows_from_the_store(board),
    )


def _summary(board: Board) -> Summary:
    """Count a board's rows: runs, reference points among them, and published ones."""
    runs = 0
    reference_runs: Counter[str] = Counter()
    for entry in board.entries:
        if entry.stored is None:
            continue
        runs += 1
        if entry.reference is not None:
            reference_runs[entry.reference] += 1
    published_rows = len(board.entries) - runs
    return Summary(runs, published_rows, dict(board.left_out), dict(reference_runs))


def _follows_from_the_store(board: Board) -> bool:
    """Return True where no answer was read again with data that lies elsewhere."""
    for entry in board.entries:
        if entry.stored is not None:
            if not all(is_current(run.result) for run in entry.stored.each):
                return False
    return not board.left_out


def _unchanged_runs(board: Board, out: Path, *, samples: bool) -> set[str]:
    """Return the names of the runs' files that need not be written anew."""
    state = site_state.read(out)
    if state is None:
        return set()
    return state.unchanged_runs(out, _hashes_of_runs(board, samples=samples))


def _hashes_of_runs(board: Board, *, samples: bool) -> dict[str, str]:
    """Return name of a run's files -> the hash of what they follow from."""
    hash_of_spec = {name: digest_of([repr(spec)]) for name, spec in board.specs.items()}
    hashes: dict[str, str] = {}
    for entry in board.entries:
        stored = entry.stored
        if stored is None or not all(run.filed_row.files for run in stored.each):
            continue
        hashes[file_name(entry.key)] = digest_of(
            [
                [dict(run.filed_row.files) for run in stored.each],
                hash_of_spec[entry.group.benchmark],
                stored.result.model.id,  # a model may be renamed
                stored.withheld,
                entry.unranked,
                samples,
            ]
        )
    return hashes


def write(
    board: Board,
    files: SiteFiles,
    workers: Workers = ALONE,
    *,
    private: bool = True,
    dataset: str | None = None,
    address: PageAddress | None = None,
    samples: bool = True,
) -> None:
    """Write the site's files to an empty folder.

    Args:
        board: The board.
        files: Its folder, which is empty.
        workers: They write the runs.
        private: Only the user's own people see it; else samples of data without a licence are
            withheld.
        dataset: The results dataset that it is made from and handed in to, `ORG/NAME`.
        address: Where it will be. With it a posted link has a picture: others load it from there.
        samples: Also show each run's samples.
    """
    plain_rows = columns.plain_rows(board)
    data = document(board, plain_rows, dataset)
    if board.renamed:
        data["renamed"] = dict(board.renamed)
    headline_parts: list[str] = data["headline"]
    headline_html = escape("".join(headline_parts))
    for name in SCRIPTS:
        files.write(name, _script(name))
    files.write("board.css", _style())
    files.write("index.html", _page(board, headline_html, address))
    if address is not None:
        from reelbench.leaderboard import link_picture

        link_picture.write(board, files.folder / PICTURE, headline_parts)
    files.write("data/board.js", f"globalThis.REELBENCH={line_by_line(data)};\n")
    for group, noise in board.noise.items():
        if _pairs_are_shown(noise):
            name = f"pairs/{file_name(group.id)}"
            files.write(f"data/{name}.js", _loaded(name, pairs(board, group)))
    for group, table_history in board.history.items():
        if table_history.past:
            name = _history_file(group)
            files.write(f"data/{name}.js", _loaded(name, history_document(table_history)))
    _write_runs(board, files, workers, _ShownSamples(private, samples))
    _write_downloads(board, plain_rows, files)
    # GitHub Pages then serves every file as it is.
    files.write(".nojekyll", "")


# --- the page -------------------------------------------------------------------------------------


def _script(name: str) -> str:
    texts: list[str] = []
    for script in SCRIPTS[name]:
        room = "pages" if script in SHARED else _ASSETS_ROOM
        texts.append(without_comments(page_asset(f"{script}.js", room)))
    texts.append(f'REELBENCH_LOADED("{name}");\n')
    return "".join(texts)


def _style() -> str:
    shared = page_asset("palette.css") + page_asset("shell.css")
    return short_style(shared + page_asset("board.css", _ASSETS_ROOM))


def _page(board: Board, headline_html: str, address: PageAddress | None) -> str:
    links = [(f"#/{page}", title) for page, title in PAGES]
    parts = {
        "<!-- HEAD -->": page_head(links, "Pages", home=_HOME),
        "<!-- META -->": _meta(board, headline_html, address),
        "<!-- PLAIN -->": _plain(board, headline_html),
    }
    text = page_asset("index.html", _ASSETS_ROOM)
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _meta(board: Board, headline_html: str, address: PageAddress | None) -> str:
    """Return the title and what a posted link shows.

    That is of this board's own benchmarks, and who leads.
    """
    title = _SUMMARY
    benchmarks = [_short_title(board.spec(group)) for group in headline.groups_of_board(board)]
    if benchmarks:
        title = f"{_SUMMARY}: {', '.join(benchmarks)}"
    title = escape(title)
    tags: list[str] = []
    if address is not None:
        tags = [
            _open_graph("url", escape(address.page)),
            _open_graph("image", escape(address.picture)),
            '<meta name="twitter:card" content="summary_large_image">',
        ]
    tags += [
        f"<title>{title}</title>",
        f'<meta name="description" content="{headline_html}">',
        _open_graph("title", title),
        _open_graph("description", headline_html),
        _open_graph("type", "website"),
    ]
    return "\n".join(tags)


def _open_graph(name: str, content: str) -> str:
    return f'<meta property="og:{name}" content="{content}">'


def _short_title(spec: BenchmarkSpec) -> str:
    return spec.title.partition(" (")[0]


def _plain(board: Board, headline_html: str) -> str:
    """Return the first rows as plain HTML, for who reads the page without its scripts."""
    groups = list(board.main.values())
    heads = ["Rank", "Model"]
    has_win_rates = any(model.rank is not None for model in board.overall)
    if has_win_rates:
        heads.append("Mean win rate, %")
    heads += [_short_title(board.spec(group)) for group in groups]
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    unstated = overall.unstated_settings(board.overall)
    rows: list[str] = []
    better_below: list[str] = []
    for model in board.overall:
        if len(rows) < _PLAIN_ROWS and not model.cells.keys().isdisjoint(groups):
            row = _plain_row(
                board,
                groups,
                model,
                states_setting=model.key not in unstated,
                has_win_rates=has_win_rates,
            )
            rows.append(row)
            if model.better_below:
                text = f"Below {model.key[0]}: {headline.better_below(board, model)}."
                better_below.append(f"<p>{escape(text)}</p>")
    table = ""
    if rows:
        body = "".join(rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        table += "<p>In brackets: each score’s own 95 % interval over videos.</p>"
        table += "".join(better_below)
    link = '<a href="downloads/leaderboard.json">downloads/leaderboard.json</a>'
    rest = f"<p>All numbers: {link}. The page itself needs JavaScript.</p>"
    return f"<h1>{_SUMMARY}</h1><p>{headline_html}</p>{table}{rest}"


def _plain_row(
    board: Board,
    groups: Sequence[RankingGroup],
    model: Overall,
    *,
    states_setting: bool,
    has_win_rates: bool,
) -> str:
    rank = "–" if model.rank is None else str(model.rank)
    name, _, setting = model.key
    notes: list[str] = []
    if setting != "zero-shot":
        notes.append(setting)
    if not states_setting:
        notes.append("setting not stated")
    if notes:
        name += f" ({', '.join(notes)})"
    cells = [f"<td>{rank}</td>", f'<th scope="row">{escape(name)}</th>']
    if has_win_rates:
        win_rate = "–" if model.win_rate is None else f"{100 * model.win_rate:.1f}"
        cells.append(f"<td>{win_rate}</td>")
    for group in groups:
        value = "–"
        if group in model.cells:
            entry = model.cells[group]
            value = _plain_value(board, entry)
        cells.append(f"<td>{value}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _plain_value(board: Board, entry: BoardEntry) -> str:
    """Return a row's main score, its interval, and that it is not ranked, if so."""
    primary = board.spec(entry.group).primary
    value = tables.value(entry, primary)
    if not value:
        return "–"
    ends = interval(entry.metrics[primary.name].ci95, primary.in_unit.digits)
    if ends:
        value += f" ({ends})"
    if entry.key not in board.ranks:
        value += " (not ranked)"
    return value


def file_name(name: str) -> str:
    """Return the name of a row's or a table's files, by its key or id."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


# --- the data of all rows -------------------------------------------------------------------------


def document(
    board: Board, plain_rows: PlainRows | None = None, dataset: str | None = None
) -> dict[str, Any]:
    """Return the page's data.

    It has declarations (units, columns, benchmarks), groups, rows, and the overall table.

    Args:
        board: The board.
        plain_rows: The board's, where they are at hand.
        dataset: The results dataset that it is made from and handed in to, `ORG/NAME`.
    """
    if plain_rows is None:
        plain_rows = columns.plain_rows(board)
    group_numbers: dict[RankingGroup, int] = {}
    for groups in board.groups.values():
        for group in groups:
            group_numbers[group] = len(group_numbers)
    rows: list[dict[str, Any]] = []
    for entry in board.entries:
        group_number = group_numbers[entry.group]
        rows.append(_row(board, entry, plain_rows[entry.key], group_number))
    row_numbers = {entry.key: number for number, entry in enumerate(board.entries)}
    dates = [entry.date for entry in board.entries if entry.date]
    unstated = overall.unstated_settings(board.overall)
    overall_documents: list[dict[str, Any]] = []
    for model in board.overall:
        model_unstated = unstated.get(model.key, [])
        overall_documents.append(_model(board, model, group_numbers, row_numbers, model_unstated))
    return {
        # Of the results, not of the clock: the same store gives the same bytes.
        "newest": max(dates, default=None),
        "headline": headline.of_board(board),
        "rules": ranking.rules(),
        "examples": json.loads(page_asset("rule_examples.json", "leaderboard")),
        "bibtex": page_texts.bibtex(max(dates, default=None)),
        "submit": page_texts.how_to_submit(board, dataset),
        "words": code_words.WORDS,
        "units": units(),
        "kinds": {kind: words._asdict() for kind, words in KINDS.items()},
        "columns": [_column(column) for column in columns.COLUMNS],
        "benchmarks": [benchmark(spec) for spec in board.specs.values()],
        "groups": _groups(board),
        "rows": rows,
        "overall": overall_documents,
    }


def _column(column: columns.BoardColumn) -> dict[str, Any]:
    names = [field.name for field in fields(column) if field.name != "get"]
    return {name: getattr(column, name) for name in names}


def _row(
    board: Board, entry: BoardEntry, plain_row: Mapping[str, Any], group_number: int
) -> dict[str, Any]:
    """Return a row without the fields that are empty."""
    spec = board.specs[entry.group.benchmark]
    row: dict[str, Any] = {"id": file_name(entry.key), "group": group_number}
    for column in columns.COLUMNS:
        if not column.of_group:
            row[column.id] = plain_row[column.id]
    model_name = board.names[entry.model]
    if model_name != entry.model:
        row["same"] = model_name
    if entry.stored is not None and entry.stored.filed_row.rejudged is not None:
        row["badge"] = entry.stored.filed_row.rejudged.short
    table_history = board.history.get(entry.group)
    if table_history is not None and table_history.is_new(entry.key):
        row["new"] = True
    row["links"] = entry.about.links
    row["n"] = frame_count(entry.frames)
    row["v"] = [value_and_ends(entry.metrics.get(metric.name)) for metric in spec.metrics]
    for name, value in row.items():
        if isinstance(value, float):
            row[name] = _rounded(value)
    return {name: value for name, value in row.items() if value not in (None, "")}


def _model(
    board: Board,
    model: Overall,
    group_numbers: Mapping[RankingGroup, int],
    row_numbers: Mapping[str, int],
    unstated: Sequence[str],
) -> dict[str, Any]:
    name, revision, setting = model.key
    win_rate: float | None = None
    if model.win_rate is not None:
        win_rate = round(model.win_rate, 4)
    cells: dict[int, int] = {}
    for group, entry in model.cells.items():
        cells[group_numbers[group]] = row_numbers[entry.key]
    rates: dict[int, float] = {}
    for group, rate in model.rates.items():
        rates[group_numbers[group]] = round(rate, 6)
    document: dict[str, Any] = {
        "model": name,
        "revision": revision,
        "setting": setting,
        "rank": model.rank,
        "ranks": model.ranks,
        "rate": win_rate,
        "covered": model.covered,
        "of": model.of,
        "cells": cells,
        "rates": rates,
    }
    if unstated:
        titles = [_short_title(board.specs[benchmark]) for benchmark in unstated]
        document["unstated"] = ", ".join(titles)
    if model.better_below:
        document["below"] = headline.better_below(board, model)
    return document


def _groups(board: Board) -> list[dict[str, Any]]:
    counting = overall.counted_groups(board.main, board.specs, board.entries, board.ranks)
    documents: list[dict[str, Any]] = []
    for groups in board.groups.values():
        documents += [_group(board, group, counts=group in counting) for group in groups]
    return documents


def _group(board: Board, group: RankingGroup, *, counts: bool) -> dict[str, Any]:
    rows = board.rows[group]
    noise = board.noise[group]
    facets: set[str] = set()
    for entry in rows:
        facets.update(entry.breakdowns)
    shortcuts: dict[str, dict[str, Any]] = {}
    for column, share in board.shares(group).items():
        shortcuts[column] = share | {"v": [_rounded(number) for number in share["v"]]}
    pairs_file: str | None = None
    if _pairs_are_shown(noise):
        pairs_file = f"pairs/{file_name(group.id)}"
    smallest: float | None = None
    if noise.smallest is not None:
        smallest = _rounded(noise.smallest)
    document = {
        "id": group.id,
        "label": group.label,
        "words": group_words.table_words(board, group),
        "split_words": group_words.split_words(group),
        "judge_words": group_words.judge_words(board.spec(group), group),
        "scoring_words": group_words.scoring_words(board, group),
        "setting": group.setting,
        "errata": group.errata,
        "mini": group.mini,
        "main": board.main.get(group.benchmark) == group,
        "counts": counts,
        "listed": board.listed_only.get(group),
        "headline": headline.of_board(board, group),
        "videos": noise.videos,
        "pairs": pairs_file,
        "facets": sorted(facets),
        "shortcuts": shortcuts,
        "row_faults": row_faults.of_split(group.benchmark, group.split),
        "relations": board.relations(group),
        "tells": smallest,
        **_history_facts(board, group),
    }
    for column in columns.COLUMNS:
        if column.of_group:
            document[column.id] = column.value(board, rows[0])
    return document


def _history_facts(board: Board, group: RankingGroup) -> dict[str, Any]:
    """Return the file with a table's history, and since when its changes are marked."""
    table_history = board.history.get(group)
    if table_history is None or not table_history.past:
        return {}
    facts: dict[str, Any] = {"history": _history_file(group)}
    if table_history.base is not None:
        facts["since"] = _day(table_history.base)
    return facts


def _history_file(group: RankingGroup) -> str:
    return f"history/{file_name(group.id)}"


def _day(table: PastTable) -> str | None:
    return None if table.at is None else table.at.date().isoformat()


def history_document(table_history: TableHistory) -> dict[str, Any]:
    """Return a table's editions and its state of today, for a page.

    `rows` has for each of today's rows its model's places, one for each of these: [rank, value],
    0 where it is as before, null where it has none.
    """
    tables = list(table_history.past)
    if tables[-1].places != table_history.today.places:
        tables.append(table_history.today)
    rows: dict[str, list[Any]] = {}
    for key, model in table_history.models.items():
        places: list[Any] = []
        before: Place | None = None
        for table in tables:
            place = table.places.get(model)
            if place is None:
                places.append(None)
            elif place == before:
                places.append(0)
            else:
                places.append([place.rank, place.value])
            before = place
        rows[file_name(key)] = places
    return {
        "days": [_day(table) for table in tables],
        "models": [table.models for table in tables],
        "rows": rows,
    }


def _pairs_are_shown(noise: Noise) -> bool:
    """Return True where a page can hold the differences of all pairs."""
    return 0 < len(noise.pairs) <= MOST_PAIRS


def pairs(board: Board, group: RankingGroup) -> dict[str, Any]:
    """Return the ranked rows' differences, each row less each after it.

    A cell is [difference, p, low, high, p alone], or the first two without a test; an earlier
    version's has no p alone. Null of published numbers.
    """
    rows = board.ranked(group)
    noise = board.noise[group]
    noise.work_out_intervals()
    cells: list[list[float | None] | None] = []
    for first, second in combinations(rows, 2):
        pair = noise.pair(first.key, second.key)
        if pair is None:
            cells.append(None)
            continue
        numbers: tuple[float | None, ...] = (pair.difference, pair.p)
        if pair.ci95 is not None:
            numbers += pair.ci95
        if pair.p_alone is not None:
            numbers += (pair.p_alone,)
        cells.append([_rounded_or_none(number) for number in numbers])
    return {"rows": [file_name(row.key) for row in rows], "cells": cells}


def units() -> dict[str, dict[str, Any]]:
    """Return the units' formats for a page."""
    formats: dict[str, dict[str, Any]] = {}
    for name, unit in UNITS.items():
        label = f"of {unit.high:g}"
        if unit.noun in ("percent", "error"):
            label = unit.label
        formats[name] = {
            "digits": unit.digits,
            "range": unit.range,
            "label": label,
            "direction": unit.direction,
        }
    return formats


def _parity(spec: BenchmarkSpec) -> str | None:
    """Return the comparison with the owners' scorer.

    One that can't be read is left out with a warning: a page of many benchmarks does not fail for
    what lies beside one of them.
    """
    try:
        return parity(spec)
    except InputError as error:
        log.warning("%s; the page says nothing of it", error)
        return None


def benchmark(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return a benchmark's entry for a page: title, metrics, facets.

    `per_item` are the columns of a sample's scores whose mean is its primary metric, each with its
    scale, if any.
    """
    paper_url = ""
    bibtex = spec.citation
    if spec.paper is not None:
        paper_url = spec.paper.url
        bibtex = spec.paper.bibtex
    return {
        "id": spec.id,
        "title": spec.title,
        "summary": spec.summary,
        "homepage": spec.homepage,
        "parity": _parity(spec),
        "paper": paper_url,
        "bibtex": bibtex,
        "judge": spec.judge.default_model if spec.judge else None,
        "right": spec.primary.right_from,
        "per_item": [
            (mean.column, mean.scale, mean.lowest) for mean in spec.means_of(spec.primary)
        ],
        "metrics": [_metric(metric) for metric in spec.metrics],
        "facets": [_facet(facet) for facet in cognitive_profile.facets(spec)],
    }


def _facet(facet: Facet) -> dict[str, Any]:
    return {
        "name": facet.name,
        "title": facet.title.rstrip("."),
        "labels": facet.labels or [],
        "metrics": [_metric(metric) for metric in facet.metrics],
    }


def _metric(metric: Metric) -> dict[str, Any]:
    low, high = metric.bounds
    parts: Sequence[str] = ()
    if isinstance(metric.aggregate, MeanOf):
        parts = metric.aggregate.metrics
    return {
        "name": metric.name,
        "title": metric.title,
        "about": metric.about,
        "cite": metric.cite,
        "unit": metric.unit,
        "low": low,
        "high": high,
        "parts": parts,
        "of_corpus": isinstance(metric.aggregate, Corpus),
    }


def value_and_ends(metric: MetricValue | None) -> list[float] | None:
    """Return [value] or [value, low, high]. None without a value.

    They have seven digits: what is shown, not the record.
    """
    if metric is None or metric.value is None:
        return None
    numbers = [metric.value, *(metric.ci95 or ())]
    return [_rounded(number) for number in numbers]


def breakdowns(facets: Breakdowns) -> dict[str, Any]:
    """Return facet -> label -> metric -> [value] or [value, low, high].

    "#" is the most items that one of a label's metrics rests on. A metric without a value is left
    out.
    """
    document: dict[str, Any] = {}
    for facet, labels in facets.items():
        document[facet] = {label: _breakdown(metrics) for label, metrics in labels.items()}
    return document


def _breakdown(metrics: Metrics) -> dict[str, Any]:
    document: dict[str, Any] = {}
    most_items = 0
    for name, metric in metrics.items():
        most_items = max(most_items, metric.n or 0)
        if metric.value is not None:
            document[name] = value_and_ends(metric)
    if most_items:
        document["#"] = most_items
    return document


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _rounded_or_none(number: float | None) -> float | None:
    return None if number is None else _rounded(number)


# --- the files of single runs ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ShownSamples:
    """The samples that a site shows.

    Attributes:
        private: Those too that only the user's own people may see.
        any: Some. False of a site without samples.
    """

    private: bool
    any: bool

    def why_not(self, run: "_Run") -> str | None:
        """Return why a run's samples are not shown. None where they are."""
        entry = run.entry
        withheld = why_withheld(run.spec, entry.group.split, private=self.private)
        if withheld is None and entry.stored is not None:
            withheld = entry.stored.withheld
        if withheld is None and not self.any:
            return _LEFT_OUT
        return withheld


@dataclass(frozen=True, slots=True)
class _Run:
    """A row and its benchmark, as a worker needs them."""

    spec: BenchmarkSpec
    entry: BoardEntry


def _write_runs(
    board: Board, files: SiteFiles, workers: Workers, shown_samples: _ShownSamples
) -> None:
    runs: list[_Run] = []
    results_to_write = 0
    for entry in board.entries:
        if files.keep_run(file_name(entry.key)):
            continue
        spec = board.specs[entry.group.benchmark]
        if entry.stored is not None:
            results_to_write += 1
            # The data's rows are nothing that a worker needs.
            entry = replace(entry, stored=replace(entry.stored, rows=None))  # noqa: PLW2901
        runs.append(_Run(spec, entry))
    write_run = partial(_write_run, files, shown_samples)
    if workers.alone(results_to_write):  # a published row costs nothing
        written = map(write_run, runs)
    else:
        written = workers.map(write_run, runs)
    for _ in workers.shown("writing runs", written, len(runs)):
        pass


def _write_run(files: SiteFiles, shown_samples: _ShownSamples, run: _Run) -> None:
    entry = run.entry
    name = file_name(entry.key)
    document: dict[str, Any] = {"breakdowns": breakdowns(entry.breakdowns), "samples": 0}
    samples_text = ""
    if entry.stored is not None:
        withheld = shown_samples.why_not(run)
        document["result"] = public(entry.stored.result).model_dump(
            mode="json", exclude={"metrics", "breakdowns", "media"}
        )
        document["key"] = entry.key
        document["withheld"] = withheld or False
        # A run's samples are shown once, with its row on all of its videos.
        if not withheld and entry.stored.videos is None:
            samples_file = entry.stored.folder / result_files.SAMPLES_FILE
            samples_text = _packed_samples(name, samples_file)
            document["samples"] = samples_text.count('\n"')  # a line begins with each block
    run_text = _loaded(f"runs/{name}", document)
    if len(samples_text) < OWN_FILE_FROM:
        files.write(f"data/runs/{name}.js", run_text + samples_text)
    else:
        files.write(f"data/runs/{name}.js", run_text)
        files.write(f"data/samples/{name}.js", samples_text)


def _packed_samples(name: str, samples_file: Path) -> str:
    """Return the script with a run's samples, some in each of its blocks."""
    blocks: list[str] = []
    for lines in _parts(samples_file):
        # The lines are JSON already, and each was held to the schema when it was added.
        blocks.append(packed_block("[" + ",\n".join(lines) + "]"))
    body = ",\n".join(blocks)
    return f"REELBENCH_LOADED({json.dumps(f'samples/{name}')},[\n{body}\n]);\n"


def packed_block(text: str) -> str:
    """Return JSON packed for a script.

    A page unpacks it when somebody looks at it.
    """
    # Half a surrogate pair, which some models emit, becomes its escape.
    packed = zlib.compress(text.encode("utf-8", "backslashreplace"))
    return json.dumps(base64.b64encode(packed).decode("ascii"))


def _parts(path: Path) -> Iterator[list[str]]:
    """Yield a samples file's lines, some at a time: no block is large without need."""
    lines: list[str] = []
    size = 0
    for line in read_text(path, most=bounds.SAMPLES_BYTES).split("\n"):
        if not line.strip():
            continue
        is_full = len(lines) == SAMPLES_PER_BLOCK or size + len(line) > BYTES_PER_BLOCK
        if lines and is_full:
            yield lines
            lines = []
            size = 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


# --- downloads and files --------------------------------------------------------------------------


def _write_downloads(board: Board, plain_rows: PlainRows, files: SiteFiles) -> None:
    for name in board.specs:
        csv_text = tables.as_csv(board, name, plain_rows)
        files.write(f"downloads/{name}.csv", SPREADSHEET_MARK + csv_text)
    document_of_board = tables.as_document(board, plain_rows)
    text = json.dumps(document_of_board, ensure_ascii=False, separators=(",", ":"))
    files.write("downloads/leaderboard.json", text + "\n")


def line_by_line(document: Mapping[str, Any]) -> str:
    """Return JSON for a script, a line for each entry of a list in it.

    So pages can be compared by their lines.
    """
    parts: list[str] = []
    for name, value in document.items():
        if isinstance(value, list):
            lines = ",\n".join(in_script(entry) for entry in value)
            parts.append(f'"{name}":[\n{lines}\n]')
        else:
            parts.append(f'"{name}":{in_script(value)}')
    body = ",\n".join(parts)
    return f"{{\n{body}\n}}"


def _loaded(name: str, document: Mapping[str, Any]) -> str:
    """Return a script that the page loads when it is asked for."""
    return f"REELBENCH_LOADED({json.dumps(name)},{in_script(document)});\n"
