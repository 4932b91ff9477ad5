"""The table as files: CSV, JSON, Markdown and LaTeX."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from string import ascii_lowercase
from typing import Any, Literal

from reelbench.base.errors import InputError
from reelbench.base.text_tables import Table, csv_text, interval, spreadsheet_cell, tex
from reelbench.leaderboard import columns
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.pages.markdown import inert
from reelbench.pages.shell_page import page_asset
from reelbench.registry.records import About, MetricValue
from reelbench.registry.spec import BenchmarkSpec, Corpus, Metric

Format = Literal["text", "markdown", "latex"]

_TERMINAL, _BRIEF = 80, 32  # columns of a terminal, and of a name in it


def sheet(lines: Iterable[Iterable[object]]) -> str:
    """Return lines of cells as CSV; text that a spreadsheet would run as a formula begins with an apostrophe."""
    return csv_text((map(spreadsheet_cell, line) for line in lines), end="\r\n")


def as_csv(board: Board, benchmark: str) -> str:
    """Return all rows of a benchmark."""
    metrics = board.specs[benchmark].metrics
    before = [column for column in columns.BEFORE if column.id != "benchmark"]  # the file is of one
    numbers = [f"{metric.name}{end}" for metric in metrics for end in ("", "_low", "_high")]
    lines: list[list[object]] = [
        [*(one.id for one in before), *numbers, *(one.id for one in columns.AFTER)]
    ]
    for entry in board.entries:
        if entry.group.benchmark == benchmark:
            head, tail = (
                [column.value(board, entry) for column in part] for part in (before, columns.AFTER)
            )
            found = [
                entry.metrics.get(metric.name) or MetricValue(value=None, n=0) for metric in metrics
            ]
            values = ([of.value, *(of.ci95 or (None, None))] for of in found)
            lines.append([*head, *chain.from_iterable(values), *tail])
    return sheet(lines)


def as_document(board: Board) -> dict[str, Any]:
    """Return the whole table as one JSON document."""
    return {
        "rows": [
            columns.plain_row(board, entry)
            | {
                "metrics": {
                    name: metric.model_dump(mode="json") for name, metric in entry.metrics.items()
                }
            }
            for entry in board.entries
        ],
        "overall": [
            {
                "rank": model.rank,
                "model": model.key[0],
                "revision": model.key[1],
                "setting": model.key[2],
                "win_rate": model.win_rate,
                "benchmarks": model.covered,
                "of": model.of,
            }
            for model in board.overall
        ],
        "groups": {name: [group.id for group in groups] for name, groups in board.groups.items()},
        "main_groups": {name: group.id for name, group in board.main.items()},
        "bridges": board.bridge_documents(),
        "smallest_differences": {group.id: noise.smallest for group, noise in board.noise.items()},
    }


# --- for papers
# ------------------------------------------------------------------------------------------------------


def tables(
    board: Board,
    style: Format,
    *,
    benchmark: str | None = None,
    metrics: Sequence[str] | None = None,
) -> str:
    """Return a table per group of each benchmark (or of one), ready to paste; floors and human rows come last.

    `metrics` names the columns beside rank and model. Without it Markdown has all; LaTeX the main
    one, which with its interval is what a column of a paper has room for; text as many as 80
    columns hold.
    """
    made = {"text": _text, "markdown": _markdown, "latex": _latex}[style]
    wanted = chain.from_iterable(
        groups for name, groups in board.groups.items() if benchmark in (None, name)
    )
    return "\n".join(made(board, group, board.rows[group], metrics) for group in wanted)


def _metrics(
    spec: BenchmarkSpec, entries: Iterable[BoardEntry], wanted: Sequence[str] | None
) -> list[Metric]:
    known = {metric.name for metric in spec.metrics}
    if unknown := [name for name in wanted or () if name not in known]:
        raise InputError(
            f"{spec.id} has no column {unknown[0]}; there are {', '.join(sorted(known))}"
        )
    with_values = {
        name
        for entry in entries
        for name, metric in entry.metrics.items()
        if metric.value is not None
    }
    shown = [metric for metric in spec.metrics if metric.name in with_values]
    return shown if wanted is None else [metric for metric in shown if metric.name in wanted]


def value(entry: BoardEntry, metric: Metric) -> str:
    """Return a row's value in its unit's digits, with the mark of a lower bound; nothing where there is none."""
    found = metric_value(entry.metrics, metric.name)
    return "" if found is None else f"{least(entry, metric)}{found:.{metric.in_unit.digits}f}"


def _in_brackets(ends: tuple[float, float], metric: Metric) -> str:
    return "[" + ", ".join(f"{end:.{metric.in_unit.digits}f}" for end in ends) + "]"


def least(entry: BoardEntry, metric: Metric) -> str:
    """Return the mark of a lower bound where a row's value is one."""
    bounded = entry.lowest is not None and not isinstance(metric.aggregate, Corpus)
    return "≥ " if bounded and metric.name in entry.metrics else ""


def _marks(board: Board, entry: BoardEntry) -> list[str]:
    """What a reader of a row must know beside its numbers."""
    facts, others = entry.facts.get, board.groups[entry.group.benchmark]
    unstated = (
        facts("questions") == "not stated"
    )  # so where others were asked something else, it may have been
    marks = [
        f"not ranked: {entry.unranked}" if entry.unranked else "",
        f"{unscored} unscored" if (unscored := facts("unscored")) else "",
        f"{videos} videos" if (videos := facts("videos")) else "",
        f"as stated: {stated}" if (stated := facts("stated")) else "",
        f"words of {account}"
        if (account := facts("stated_by")) and (entry.note or entry.about != About())
        else "",
        f"intervals: {made}" if (made := facts("intervals")) else "",
        "data unstated" if facts("data") == "unstated" else "",
        "questions not stated" if unstated and any(group.differs for group in others) else "",
    ]
    return [mark for mark in marks if mark]


def _ranks(board: Board, entry: BoardEntry) -> list[str]:
    """A row's rank, and the range of ranks that the data don't rule out."""
    rank = board.ranks.get(entry.key)
    return ["" if rank is None else str(rank), columns.rank_range(board, entry) or ""]


def _title(board: Board, group: RankingGroup) -> str:
    listed = f" ({board.listed_only[group]})" if group in board.listed_only else ""
    return f"{board.spec(group).title}, {group.label}{listed}"


def _markdown(
    board: Board, group: RankingGroup, entries: Sequence[BoardEntry], wanted: Sequence[str] | None
) -> str:
    spec = board.spec(group)
    metrics = _metrics(spec, entries, wanted)
    lines = [["rank", "ranks", "model", "frames", *(inert(metric.title) for metric in metrics)]]
    lines.append(["--:", "--:", ":--", ":--", *("--:" for _ in metrics)])
    for entry in sorted(entries, key=lambda entry: entry.is_reference):
        numbers = []
        for metric in metrics:
            numbers.append(value(entry, metric))
            ends = (found := entry.metrics.get(metric.name)) and found.ci95
            if (
                metric is spec.primary and ends and entry.lowest is not None
            ):  # its value isn't the interval's middle
                numbers[-1] += f" {_in_brackets(ends, metric)}"
            elif metric is spec.primary and ends:  # as papers print it
                numbers[-1] += f" ± {(ends[1] - ends[0]) / 2:.{metric.in_unit.digits}f}"
        name = entry.model if entry.setting == "run" else f"{entry.model} ({entry.setting})"
        name += "".join(f" ({mark})" for mark in _marks(board, entry))
        lines.append(
            [inert(text) for text in (*_ranks(board, entry), name, entry.frames, *numbers)]
        )
    return f"### {inert(_title(board, group))}\n\n" + "".join(
        f"| {' | '.join(row)} |\n" for row in lines
    )


def _notes(
    board: Board, entries: Sequence[BoardEntry]
) -> tuple[list[str], list[tuple[BoardEntry, list[str]]]]:
    """Return the notes on all rows, and the rows, reference points last, each with those on it alone."""
    of_rows = [
        [*([] if entry.setting == "run" else [entry.setting]), *_marks(board, entry)]
        for entry in entries
    ]
    of_all = (
        [note for note in of_rows[0] if len(entries) > 1 and all(note in of for of in of_rows)]
        if of_rows
        else []
    )
    own = [[note for note in notes if note not in of_all] for notes in of_rows]
    return of_all, sorted(zip(entries, own, strict=True), key=lambda row: row[0].is_reference)


def _text(
    board: Board, group: RankingGroup, entries: Sequence[BoardEntry], wanted: Sequence[str] | None
) -> str:
    """Lines for a terminal: names without who made them, the main score's interval, notes on rows under the table."""
    spec = board.spec(group)
    metrics = _metrics(spec, entries, wanted)
    of_all, noted = _notes(board, entries)
    numbers: dict[str, int] = {}
    rows = []
    for entry, notes in noted:
        signs = ",".join(str(numbers.setdefault(note, len(numbers) + 1)) for note in notes)
        brief = entry.brief
        brief = brief if len(brief) <= _BRIEF else f"{brief[:18]}…{brief[-_BRIEF + 19 :]}"
        rows.append([*_ranks(board, entry), brief + (f" [{signs}]" if signs else "")])
        for metric in metrics:
            rows[-1].append(value(entry, metric))
            if metric is spec.primary:
                found = entry.metrics.get(metric.name)
                rows[-1].append(interval(found and found.ci95, metric.in_unit.digits))
    heads = ["#", "#ranks", "model"]
    for metric in metrics:
        heads += [f"#{metric.short}", *(["#95 %"] if metric is spec.primary else [])]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    many = len(heads)
    while wanted is None and many > 5 and sum(widths[:many]) + 2 * (many - 1) > _TERMINAL:  # noqa: PLR2004
        many -= 1
    below = [
        *(f"all rows: {note}" for note in of_all),
        *(f"[{sign}] {note}" for note, sign in numbers.items()),
    ]
    below += (
        [f"{len(heads) - many} more columns: --columns, or --format markdown"]
        if many < len(heads)
        else []
    )
    return (
        Table(_title(board, group), heads[:many], [row[:many] for row in rows], below).text() + "\n"
    )


def _latex(
    board: Board, group: RankingGroup, entries: Sequence[BoardEntry], wanted: Sequence[str] | None
) -> str:
    """A float of one column: the best in bold, intervals always, notes on rows under it."""
    spec = board.spec(group)
    metrics = _metrics(
        spec, entries, [spec.primary.name] if wanted is None else wanted
    ) or _metrics(spec, entries, None)
    of_all, noted = _notes(board, entries)
    signs: dict[str, str] = {}
    best = {
        metric.name: max(
            (
                top
                for row in entries
                if row.key in board.ranks and (top := metric_value(row.metrics, metric.name))
            ),
            default=None,
        )
        for metric in metrics
    }
    body = []
    for entry, notes in noted:
        for note in notes:
            signs.setdefault(
                note,
                chr(ord("a") + len(signs))
                if len(signs) < len(ascii_lowercase)
                else str(len(signs)),
            )
        mark = f"$^{{{','.join(sorted(signs[note] for note in notes))}}}$" if notes else ""
        cells = []
        for metric in metrics:
            found = entry.metrics.get(metric.name)
            text = tex(value(entry, metric))
            top = (
                entry.key in board.ranks and found is not None and found.value == best[metric.name]
            )
            ends = (
                rf" {{\scriptsize {_in_brackets(found.ci95, metric)}}}"
                if found is not None and found.ci95
                else ""
            )
            cells.append((rf"\textbf{{{text}}}" if top else text) + ends)
        body.append(
            rf"{' & '.join([*map(tex, _ranks(board, entry)), tex(entry.brief) + mark, *cells])} \\"
        )
    newest = max((entry.date[:10] for entry in entries if entry.date), default=None)
    from reelbench import __version__

    units = "; ".join(f"{metric.title}, {metric.in_unit.label}" for metric in metrics)
    intervals = any(value.ci95 for entry in entries for value in entry.metrics.values())
    caption = f"{_title(board, group)}: {units}."
    if intervals:
        caption += " In brackets each score's own 95 % interval over videos; Ranks: ranges, adjusted 95 % (Holm)."
    caption += f" Reelbench {__version__}" + (f", runs up to {newest}." if newest else ".")
    notes = "; ".join(
        [
            *(f"All rows: {tex(note)}" for note in of_all),
            *(f"$^{{{sign}}}$~{tex(note)}" for note, sign in signs.items()),
        ]
    )
    parts = {
        "caption": tex(caption),
        "columns": "r" * len(metrics),
        "heads": "".join(f" & {tex(metric.short)}" for metric in metrics),
        "rows": "\n".join(body),
        "notes": rf"\par\smallskip\parbox{{\linewidth}}{{\scriptsize {notes}}}" + "\n"
        if notes
        else "",
    }
    return re.sub(
        "<([a-z]+)>", lambda found: parts[found[1]], page_asset("table.txt", "leaderboard.exports")
    )
