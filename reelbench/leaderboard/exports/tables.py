"""Write the leaderboard as CSV, JSON, text, Markdown and LaTeX."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.text_tables import (
    Table,
    csv_text,
    interval,
    rounded_down,
    spreadsheet_cell,
    tex,
)
from reelbench.leaderboard import columns
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.leaderboard.overall import BetterBelow, ModelKey, unstated_settings
from reelbench.pages.markdown import inert
from reelbench.pages.shell_page import page_asset
from reelbench.registry.records import About
from reelbench.registry.spec import BenchmarkSpec, Corpus, Metric

Format = Literal["text", "markdown", "latex"]
Ends = tuple[float, float]

NARROW_TERMINAL = 80
"""Columns of a terminal that says no width."""
_NAME_SHARE = 0.4
"""Of a terminal's columns, for a name at most."""
_NAME_START = 0.55
"""The part of its room that a longer name keeps for its start."""
_FEWEST_COLUMNS = 5  # of a table in a terminal
_COLUMN_GAP = 2  # spaces between columns of a terminal


def sheet(lines: Iterable[Iterable[object]]) -> str:
    """Return lines of cells as CSV.

    Text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    return csv_text((map(spreadsheet_cell, line) for line in lines), end="\r\n")


def as_csv(board: Board, benchmark: str, plain_rows: columns.PlainRows | None = None) -> str:
    """Return all rows of a benchmark as CSV.

    `plain_rows` are the board's, where they are at hand.
    """
    if plain_rows is None:
        plain_rows = columns.plain_rows(board)
    metrics = board.specs[benchmark].metrics
    # The whole file is of one benchmark.
    before = [column for column in columns.BEFORE if column.id != "benchmark"]
    heads = [column.id for column in before]
    for metric in metrics:
        heads += [metric.name, f"{metric.name}_low", f"{metric.name}_high"]
    heads += [column.id for column in columns.AFTER]
    lines: list[list[object]] = [[*heads]]
    for entry in board.entries:
        if entry.group.benchmark != benchmark:
            continue
        row = plain_rows[entry.key]
        line = [row[column.id] for column in before]
        for metric in metrics:
            line += _value_and_ends(entry, metric)
        line += [row[column.id] for column in columns.AFTER]
        lines.append(line)
    return sheet(lines)


def _value_and_ends(entry: BoardEntry, metric: Metric) -> list[float | None]:
    """Return a row's value and both ends of its interval, None where there is none."""
    metric_result = entry.metrics.get(metric.name)
    if metric_result is None:
        return [None, None, None]
    low, high = metric_result.ci95 or (None, None)
    return [metric_result.value, low, high]


def as_document(board: Board, plain_rows: columns.PlainRows | None = None) -> dict[str, Any]:
    """Return the whole board as one JSON document.

    `plain_rows` are the board's, where they are at hand.
    """
    if plain_rows is None:
        plain_rows = columns.plain_rows(board)
    rows: list[dict[str, Any]] = []
    for entry in board.entries:
        row = dict(plain_rows[entry.key])
        row["metrics"] = {}
        for name, metric in entry.metrics.items():
            row["metrics"][name] = metric.model_dump(mode="json")
        rows.append(row)
    overall: list[dict[str, Any]] = []
    overall_ranks = {model.key: model.rank for model in board.overall}
    unstated = unstated_settings(board.overall)
    for model in board.overall:
        name, revision, setting = model.key
        overall.append(
            {
                "rank": model.rank,
                "model": name,
                "revision": revision,
                "setting": setting,
                "setting_not_stated_on": unstated.get(model.key, []),
                "win_rate": model.win_rate,
                "benchmarks": model.covered,
                "of": model.of,
                "better_below": [
                    _better_below(below, overall_ranks) for below in model.better_below
                ],
            }
        )
    group_ids: dict[str, list[str]] = {}
    for benchmark, groups in board.groups.items():
        group_ids[benchmark] = [group.id for group in groups]
    return {
        "rows": rows,
        "overall": overall,
        "groups": group_ids,
        "main_groups": {benchmark: group.id for benchmark, group in board.main.items()},
        "bridges": board.bridge_documents(),
        "smallest_differences": {group.id: noise.smallest for group, noise in board.noise.items()},
    }


def _better_below(
    below: BetterBelow, overall_ranks: Mapping[ModelKey, int | None]
) -> dict[str, Any]:
    """Return a model that stands below another one, and where it is better."""
    name, revision, setting = below.key
    return {
        "rank": overall_ranks[below.key],
        "model": name,
        "revision": revision,
        "setting": setting,
        "better_on": [group.benchmark for group in below.groups],
    }


# --- tables for papers and terminals


def tables(
    board: Board,
    style: Format,
    *,
    benchmark: str | None = None,
    split: str | None = None,
    metrics: Sequence[str] | None = None,
    width: int = NARROW_TERMINAL,
) -> str:
    """Return a table for each group of each benchmark, ready to paste.

    Floors and human rows come last.

    Args:
        board: The board.
        style: The format.
        benchmark: The one benchmark. None for all.
        split: Its one split. None for all.
        metrics: The columns beside rank and model. None for the format's own: Markdown has all.
            LaTeX has the main one, which with its interval fills a column of a paper. Text has as
            many as the width holds.
        width: Columns of the terminal that shows text.
    """
    writers = {"text": _text, "markdown": _markdown, "latex": _latex}
    write = writers[style]
    texts: list[str] = []
    for name, groups in board.groups.items():
        if benchmark not in (None, name):
            continue
        for group in groups:
            if split not in (None, group.split):
                continue
            table = _GroupTable(board, group, metrics, width)
            texts.append(write(table))
    return "\n".join(texts)


@dataclass(frozen=True, slots=True)
class _GroupTable:
    """The table of one group."""

    board: Board
    group: RankingGroup
    metric_names: Sequence[str] | None
    """The columns that the user named. None for the format's own."""
    width: int
    """Columns of the terminal that shows text."""

    @property
    def spec(self) -> BenchmarkSpec:
        """The benchmark."""
        return self.board.spec(self.group)

    @property
    def entries(self) -> Sequence[BoardEntry]:
        """The rows."""
        return self.board.rows[self.group]

    @property
    def title(self) -> str:
        """The benchmark, the group, and why it isn't ranked, if it isn't."""
        title = f"{self.spec.title}, {self.group.label}"
        reason = self.board.listed_only.get(self.group)
        if reason is not None:
            title += f" ({reason})"
        return title

    def metrics(self, names: Sequence[str] | None) -> list[Metric]:
        """Return the named metrics, or all, that a row has a value of."""
        all_names = {metric.name for metric in self.spec.metrics}
        for name in names or ():
            if name not in all_names:
                columns_there = ", ".join(sorted(all_names))
                raise InputError(f"{self.spec.id} has no column {name}; there are {columns_there}")
        scored_names: set[str] = set()
        for entry in self.entries:
            for name, metric_result in entry.metrics.items():
                if metric_result.value is not None:
                    scored_names.add(name)
        if names is not None:
            scored_names.intersection_update(names)
        return [metric for metric in self.spec.metrics if metric.name in scored_names]


def value(entry: BoardEntry, metric: Metric) -> str:
    """Return a row's value in its unit's digits, "" where there is none.

    The mark of a lower bound stands before it, which is then rounded down: "≥ 42.5" is not true of
    42.454.
    """
    number = metric_value(entry.metrics, metric.name)
    if number is None:
        return ""
    mark = least(entry, metric)
    if mark:
        number = rounded_down(number, metric.in_unit.digits)
    return f"{mark}{_digits(number, metric)}"


def _digits(number: float, metric: Metric) -> str:
    """Return a number with the digits of a metric's unit."""
    return f"{number:.{metric.in_unit.digits}f}"


def _in_brackets(ends: Ends, metric: Metric) -> str:
    """Return an interval in brackets."""
    low, high = ends
    return f"[{_digits(low, metric)}, {_digits(high, metric)}]"


def _ends(entry: BoardEntry, metric: Metric) -> Ends | None:
    """Return the interval of a row's value."""
    metric_result = entry.metrics.get(metric.name)
    if metric_result is None:
        return None
    return metric_result.ci95


def least(entry: BoardEntry, metric: Metric) -> str:
    """Return the mark of a lower bound where a row's value is one, else ""."""
    bounded = entry.lowest is not None and not isinstance(metric.aggregate, Corpus)
    if bounded and metric.name in entry.metrics:
        return "≥ "
    return ""


def _marks(board: Board, entry: BoardEntry) -> list[str]:
    """Return the notes on a row that qualify its numbers."""
    facts = entry.facts
    unscored = facts.get("unscored")
    videos = facts.get("videos")
    stated_settings = facts.get("stated")
    account = facts.get("stated_by")
    intervals = facts.get("intervals")
    has_words = entry.note or entry.about != About()
    marks: list[str] = []
    # Numbers that were not measured here must not read as if they were.
    if entry.stored is None and entry.cite:
        marks.append(f"as published: {entry.cite}")
    if entry.why_unranked:
        marks.append(f"not ranked: {entry.why_unranked}")
    if unscored:
        marks.append(f"{unscored} unscored")
    if videos:
        marks.append(f"{videos} videos")
    if stated_settings:
        marks.append(f"as stated: {stated_settings}")
    if account and has_words:
        marks.append(f"words of {account}")
    if intervals:
        marks.append(f"intervals: {intervals}")
    if facts.get("data") == "unstated":
        marks.append("data unstated")
    # Other rows were asked other questions, and so may this one have been.
    groups = board.groups[entry.group.benchmark]
    if facts.get("questions") == "not stated" and any(group.differs for group in groups):
        marks.append("questions not stated")
    return marks


def _row_notes(board: Board, entry: BoardEntry) -> list[str]:
    """Return a row's setting, unless it is a run, and its marks."""
    marks = _marks(board, entry)
    if entry.setting == "run":
        return marks
    return [entry.setting, *marks]


def _ranks(board: Board, entry: BoardEntry) -> list[str]:
    """Return a row's rank, and the range of ranks that the data don't rule out."""
    rank = board.ranks.get(entry.key)
    rank_range = columns.rank_range(board, entry)
    return [
        "" if rank is None else str(rank),
        rank_range or "",
    ]


# --- Markdown


def _markdown(table: _GroupTable) -> str:
    """Return a Markdown table. Notes on a row stand beside its name."""
    board = table.board
    metrics = table.metrics(table.metric_names)
    titles = [inert(metric.title) for metric in metrics]
    text = f"### {inert(table.title)}\n\n"
    text += _markdown_line(["rank", "ranks", "model", "frames", *titles])
    text += _markdown_line(["--:", "--:", ":--", ":--", *["--:"] * len(metrics)])
    for entry in sorted(table.entries, key=lambda entry: entry.is_reference):
        name = entry.model
        for note in _row_notes(board, entry):
            name += f" ({note})"
        cells = [*_ranks(board, entry), name, entry.frames]
        for metric in metrics:
            cell = value(entry, metric)
            if metric is table.spec.primary:
                cell += _markdown_interval(entry, metric)
            cells.append(cell)
        text += _markdown_line(map(inert, cells))
    return text


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _markdown_interval(entry: BoardEntry, metric: Metric) -> str:
    """Return an interval as papers print it: half its width, "" where there is none."""
    ends = _ends(entry, metric)
    if ends is None:
        return ""
    if entry.lowest is not None:  # a lower bound is not the middle of its interval
        return f" {_in_brackets(ends, metric)}"
    low, high = ends
    return f" ± {_digits((high - low) / 2, metric)}"


# --- notes under a table


class _NotedRow(NamedTuple):
    entry: BoardEntry
    notes: list[str]

    def without(self, shared: list[str]) -> "_NotedRow":
        """Return the row without the notes that all rows share."""
        notes = [note for note in self.notes if note not in shared]
        return _NotedRow(self.entry, notes)


class _Notes(NamedTuple):
    """The notes under a table."""

    on_all: list[str]
    rows: list[_NotedRow]
    """Each row with the notes on it alone. Reference rows come last."""


def _notes(board: Board, entries: Sequence[BoardEntry]) -> _Notes:
    """Return the notes on rows. Several rows share those that all of them have."""
    rows: list[_NotedRow] = []
    for entry in entries:
        notes = _row_notes(board, entry)
        rows.append(_NotedRow(entry, notes))
    shared: list[str] = []
    if len(rows) > 1:
        shared = rows[0].notes
        for row in rows:
            shared = [note for note in shared if note in row.notes]
    rows = [row.without(shared) for row in rows]
    rows.sort(key=lambda row: row.entry.is_reference)
    return _Notes(shared, rows)


# --- text


def _text(table: _GroupTable) -> str:
    """Return a table for a terminal.

    Names lack their organization. The main score has its interval. Notes stand under the table.
    """
    board = table.board
    primary = table.spec.primary
    metrics = table.metrics(table.metric_names)
    notes = _notes(board, table.entries)
    heads = ["#", "#ranks", "model"]
    for metric in metrics:
        heads.append(f"#{metric.short}")
        if metric is primary:
            heads.append("#95 %")
    numbers: dict[str, int] = {}  # of the notes
    rows: list[list[str]] = []
    for entry, row_notes in notes.rows:
        signs = [str(numbers.setdefault(note, len(numbers) + 1)) for note in row_notes]
        name = _shortened(entry.brief, round(_NAME_SHARE * table.width))
        if signs:
            name += f" [{','.join(signs)}]"
        row = [*_ranks(board, entry), name]
        for metric in metrics:
            row.append(value(entry, metric))
            if metric is primary:
                row.append(interval(_ends(entry, metric), metric.in_unit.digits))
        rows.append(row)
    count = len(heads)
    if table.metric_names is None:
        count = _fitting_columns([heads, *rows], table.width)
    below = [f"all rows: {note}" for note in notes.on_all]
    below += [f"[{number}] {note}" for note, number in numbers.items()]
    if count < len(heads):
        below.append(f"{len(heads) - count} more columns: --columns, or --format markdown")
    rows = [row[:count] for row in rows]
    return Table(table.title, heads[:count], rows, below).text() + "\n"


def _shortened(name: str, longest: int) -> str:
    """Return a name with its middle left out where it is long."""
    if len(name) <= longest:
        return name
    start = round(_NAME_START * longest)
    end = longest - start - 1
    return f"{name[:start]}…{name[-end:]}"


def _fitting_columns(lines: Sequence[Sequence[str]], terminal: int) -> int:
    """Return the number of columns that fit in a terminal of a width."""
    fitting = 0
    width = -_COLUMN_GAP
    for cells in zip(*lines, strict=True):
        longest_cell = max(map(len, cells))
        width += _COLUMN_GAP + longest_cell
        if fitting >= _FEWEST_COLUMNS and width > terminal:
            break
        fitting += 1
    return fitting


# --- LaTeX


def _latex(table: _GroupTable) -> str:
    """Return a float of one column: the best in bold, intervals, notes under the rows."""
    board = table.board
    names = table.metric_names
    if names is None:
        names = [table.spec.primary.name]
    metrics = table.metrics(names) or table.metrics(None)
    best = _best_values(board, table.entries, metrics)
    notes = _notes(board, table.entries)
    signs = _letters(notes)
    lines: list[str] = []
    has_reference = False
    for entry, row_notes in notes.rows:
        if entry.is_reference and not has_reference:
            has_reference = True
            if lines:
                lines.append(r"\midrule")
        name = tex(entry.brief)
        if row_notes:
            letters = sorted(signs[note] for note in row_notes)
            name += f"$^{{{','.join(letters)}}}$"
        cells = [*map(tex, _ranks(board, entry)), name]
        cells += [_latex_cell(board, entry, metric, best) for metric in metrics]
        lines.append(rf"{' & '.join(cells)} \\")
    below = [f"All rows: {tex(note)}" for note in notes.on_all]
    below += [f"$^{{{sign}}}$~{tex(note)}" for note, sign in signs.items()]
    notes_box = ""
    if below:
        notes_text = "; ".join(below)
        notes_box = rf"\par\smallskip\parbox{{\linewidth}}{{\scriptsize {notes_text}}}" + "\n"
    heads = [f" & {tex(metric.short)}" for metric in metrics]
    parts = {
        "caption": tex(_caption(table, metrics)),
        "columns": "r" * len(metrics),
        "heads": "".join(heads),
        "rows": "\n".join(lines),
        "notes": notes_box,
    }
    form = page_asset("table.txt", "leaderboard.exports")
    return re.sub("<([a-z]+)>", lambda name: parts[name[1]], form)


def _best_values(
    board: Board, entries: Iterable[BoardEntry], metrics: Sequence[Metric]
) -> dict[str, float]:
    """Return the best value of each metric among ranked rows, unless it is 0."""
    best: dict[str, float] = {}
    for entry in entries:
        if entry.key not in board.ranks:
            continue
        for metric in metrics:
            score = metric_value(entry.metrics, metric.name)
            if not score:
                continue
            better = min if metric.in_unit.lower_is_better else max
            best[metric.name] = better(score, best.get(metric.name, score))
    return best


def _letters(notes: _Notes) -> dict[str, str]:
    """Return a letter for each note on single rows. A number where letters run out."""
    letters: dict[str, str] = {}
    for _, row_notes in notes.rows:
        for note in row_notes:
            if note in letters:
                continue
            count = len(letters)
            if count < len(ascii_lowercase):
                letters[note] = ascii_lowercase[count]
            else:
                letters[note] = str(count)
    return letters


def _latex_cell(board: Board, entry: BoardEntry, metric: Metric, best: Mapping[str, float]) -> str:
    """Return a value with its interval, in bold where it is the best."""
    text = tex(value(entry, metric))
    number = metric_value(entry.metrics, metric.name)
    is_ranked = entry.key in board.ranks
    if is_ranked and number is not None and number == best.get(metric.name):
        text = rf"\textbf{{{text}}}"
    ends = _ends(entry, metric)
    if ends:
        text += rf" {{\scriptsize {_in_brackets(ends, metric)}}}"
    return text


def _caption(table: _GroupTable, metrics: Iterable[Metric]) -> str:
    """Return a table's caption, with our version and the date of the newest run."""
    from reelbench import __version__

    units = [f"{metric.title}, {metric.in_unit.label}" for metric in metrics]
    caption = f"{table.title}: {'; '.join(units)}."
    dates: list[str] = []
    has_intervals = False
    for entry in table.entries:
        if entry.date:
            dates.append(entry.date[:10])
        if any(metric_result.ci95 for metric_result in entry.metrics.values()):
            has_intervals = True
    if has_intervals:
        caption += (
            " In brackets each score's own 95 % interval over videos;"
            " Ranks: ranges, adjusted 95 % (Holm)."
        )
    caption += f" Reelbench {__version__}"
    if dates:
        caption += f", runs up to {max(dates)}"
    return f"{caption}."
