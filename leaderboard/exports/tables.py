"""The table as files: CSV, JSON, Markdown and LaTeX."""

import csv
import io
from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import Any, Literal

from reelbench.leaderboard import columns
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.pages.markdown import inert
from reelbench.registry.errors import InputError
from reelbench.registry.records import About, MetricValue
from reelbench.registry.spec import BenchmarkSpec, Corpus, Metric
from reelbench.registry.text_tables import Table, spreadsheet_cell, tex

Format = Literal["text", "markdown", "latex"]

_TERMINAL, _BRIEF = 80, 32  # columns of a terminal, and of a name in it


def as_csv(board: Board, benchmark: str) -> str:
    """Return all rows of a benchmark; text that a spreadsheet would run as a formula begins with an apostrophe."""
    spec = board.specs[benchmark]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    before = [column for column in columns.BEFORE if column.id != "benchmark"]  # the file is of one
    numbers = [name for metric in spec.metrics for name in (metric.name, f"{metric.name}_low", f"{metric.name}_high")]
    writer.writerow([*(column.id for column in before), *numbers, *(column.id for column in columns.AFTER)])
    for entry in board.entries:
        if entry.group.benchmark == benchmark:
            head, tail = ([spreadsheet_cell(c.value(board, entry)) for c in part] for part in (before, columns.AFTER))
            values: list[float | str] = []
            for metric in spec.metrics:
                found = entry.metrics.get(metric.name)
                if found is None or found.value is None:
                    values += ["", "", ""]
                else:
                    values += [found.value, *(found.ci95 or ("", ""))]
            writer.writerow([*head, *values, *tail])
    return text.getvalue()


def as_document(board: Board) -> dict[str, Any]:
    """Return the whole table as one JSON document."""
    return {
        "rows": [
            columns.record(board, entry)
            | {"metrics": {name: metric.model_dump(mode="json") for name, metric in entry.metrics.items()}}
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


# --- for papers ------------------------------------------------------------------------------------------------------


def tables(board: Board, style: Format, *, benchmark: str | None = None, metrics: Sequence[str] | None = None) -> str:
    """Return a table per group of each benchmark (or of one), ready to paste; floors and human rows come last.

    `metrics` names the columns beside rank and model. Without it Markdown has all; LaTeX the main one, which with its
    interval is what a column of a paper has room for; text as many as 80 columns hold.
    """
    parts = []
    for name, groups in board.groups.items():
        if benchmark not in (None, name):
            continue
        for group in groups:
            rows = [entry for entry in board.entries if entry.group == group]
            made = {"text": _text, "markdown": _markdown, "latex": _latex}[style]
            parts.append(made(board, group, rows, metrics))
    return "\n".join(parts)


def _shown(spec: BenchmarkSpec, entries: Iterable[BoardEntry], wanted: Sequence[str] | None) -> list[Metric]:
    known = {metric.name for metric in spec.metrics}
    if unknown := [name for name in wanted or () if name not in known]:
        raise InputError(f"{spec.id} has no column {unknown[0]}; there are {', '.join(sorted(known))}")
    with_values = {name for entry in entries for name, metric in entry.metrics.items() if metric.value is not None}
    shown = [metric for metric in spec.metrics if metric.name in with_values]
    return shown if wanted is None else [metric for metric in shown if metric.name in wanted]


def number(metric: Metric, found: MetricValue | None) -> str:
    """Return a value in its unit's digits; an empty text where there is none."""
    return "" if found is None or found.value is None else f"{found.value:.{metric.in_unit.digits}f}"


def _ends(metric: Metric, found: MetricValue | None) -> str:
    if found is None or found.ci95 is None:
        return ""
    return "[" + ", ".join(f"{end:.{metric.in_unit.digits}f}" for end in found.ci95) + "]"


def _half(metric: Metric, entry: BoardEntry) -> str:
    """Half of the interval's width, as papers print it; of a lower bound, which isn't its middle, the ends."""
    found = entry.metrics.get(metric.name)
    if found is None or found.ci95 is None:
        return ""
    if entry.lowest is not None:
        return f" {_ends(metric, found)}"
    return f" ± {(found.ci95[1] - found.ci95[0]) / 2:.{metric.in_unit.digits}f}"


def least(entry: BoardEntry, metric: Metric) -> str:
    """Return the mark of a lower bound where a row's value is one."""
    bounded = entry.lowest is not None and not isinstance(metric.aggregate, Corpus)
    return "≥ " if bounded and metric.name in entry.metrics else ""


def _marks(board: Board, entry: BoardEntry) -> list[str]:
    """What a reader of a row must know beside its numbers."""
    facts, others = entry.facts.get, board.groups[entry.group.benchmark]
    unstated = facts("questions") == "not stated"  # so where others were asked something else, it may have been
    marks = [
        f"not ranked: {entry.unranked}" if entry.unranked else "",
        f"{unscored} unscored" if (unscored := facts("unscored")) else "",
        f"{videos} videos" if (videos := facts("videos")) else "",
        f"as stated: {stated}" if (stated := facts("stated")) else "",
        f"words of {account}" if (account := facts("stated_by")) and (entry.note or entry.about != About()) else "",
        f"intervals: {made}" if (made := facts("intervals")) else "",
        "data unstated" if facts("data") == "unstated" else "",
        "questions not stated" if unstated and any(group.differs for group in others) else "",
    ]
    return [mark for mark in marks if mark]


def _markdown(board: Board, group: RankingGroup, entries: Sequence[BoardEntry], wanted: Sequence[str] | None) -> str:
    spec = board.spec(group)
    metrics = _shown(spec, entries, wanted)
    lines = [["rank", "ranks", "model", "frames", *(inert(metric.title) for metric in metrics)]]
    lines.append(["--:", "--:", ":--", ":--", *("--:" for _ in metrics)])
    for entry in sorted(entries, key=lambda entry: entry.is_reference):
        rank = board.ranks.get(entry.key)
        numbers = [
            least(entry, metric)
            + number(metric, entry.metrics.get(metric.name))
            + (_half(metric, entry) if metric is spec.primary else "")
            for metric in metrics
        ]
        name = entry.model if entry.setting == "run" else f"{entry.model} ({entry.setting})"
        name += "".join(f" ({mark})" for mark in _marks(board, entry))
        ranks = ["" if rank is None else str(rank), columns.rank_range(board, entry) or ""]
        lines.append([inert(text) for text in (*ranks, name, entry.frames, *numbers)])
    listed = f" ({board.listed[group]})" if group in board.listed else ""
    return f"### {inert(spec.title)}, {inert(group.label)}{listed}\n\n" + "".join(
        f"| {' | '.join(row)} |\n" for row in lines
    )


def _noted(board: Board, entries: Sequence[BoardEntry]) -> tuple[list[str], list[tuple[BoardEntry, list[str]]]]:
    """Return the notes on all rows, and the rows, reference points last, each with those on it alone."""
    of_rows = [[*([] if entry.setting == "run" else [entry.setting]), *_marks(board, entry)] for entry in entries]
    of_all = [note for note in of_rows[0] if len(entries) > 1 and all(note in of for of in of_rows)] if of_rows else []
    own = [[note for note in notes if note not in of_all] for notes in of_rows]
    return of_all, sorted(zip(entries, own, strict=True), key=lambda row: row[0].is_reference)


def _text(board: Board, group: RankingGroup, entries: Sequence[BoardEntry], wanted: Sequence[str] | None) -> str:
    """Lines for a terminal: names without who made them, the main score's interval, notes on rows under the table."""
    spec = board.spec(group)
    metrics = _shown(spec, entries, wanted)
    of_all, noted = _noted(board, entries)
    numbers: dict[str, int] = {}
    rows = []
    for entry, notes in noted:
        signs = ",".join(str(numbers.setdefault(note, len(numbers) + 1)) for note in notes)
        rank, brief = board.ranks.get(entry.key), entry.brief
        brief = brief if len(brief) <= _BRIEF else f"{brief[:18]}…{brief[-_BRIEF + 19 :]}"
        rows.append(["" if rank is None else str(rank), columns.rank_range(board, entry) or ""])
        rows[-1].append(brief + (f" [{signs}]" if signs else ""))
        for metric in metrics:
            found = entry.metrics.get(metric.name)
            rows[-1].append(least(entry, metric) + number(metric, found))
            rows[-1] += [_ends(metric, found)[1:-1].replace(", ", " to ")] if metric is spec.primary else []
    heads = ["#", "#ranks", "model"]
    for metric in metrics:
        heads += [f"#{metric.short}", *(["#95 %"] if metric is spec.primary else [])]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    many = len(heads)
    while wanted is None and many > 5 and sum(widths[:many]) + 2 * (many - 1) > _TERMINAL:  # noqa: PLR2004
        many -= 1
    listed = f" ({board.listed[group]})" if group in board.listed else ""
    below = [*(f"all rows: {note}" for note in of_all), *(f"[{sign}] {note}" for note, sign in numbers.items())]
    below += [f"{len(heads) - many} more columns: --columns, or --format markdown"] if many < len(heads) else []
    title = f"{spec.title}, {group.label}{listed}"
    return Table(title, heads[:many], [row[:many] for row in rows], below).text() + "\n"


def _latex(board: Board, group: RankingGroup, entries: Sequence[BoardEntry], wanted: Sequence[str] | None) -> str:
    """A float of one column: the best in bold, intervals always, notes on rows under it."""
    spec = board.spec(group)
    metrics = _shown(spec, entries, [spec.primary.name] if wanted is None else wanted) or _shown(spec, entries, None)
    of_all, noted = _noted(board, entries)
    signs: dict[str, str] = {}
    best = {
        metric.name: max(
            (value for row in entries if row.key in board.ranks and (value := metric_value(row.metrics, metric.name))),
            default=None,
        )
        for metric in metrics
    }
    body = []
    for entry, notes in noted:
        rank = board.ranks.get(entry.key)
        for note in notes:
            signs.setdefault(note, chr(ord("a") + len(signs)) if len(signs) < len(ascii_lowercase) else str(len(signs)))
        mark = f"$^{{{','.join(sorted(signs[note] for note in notes))}}}$" if notes else ""
        cells = []
        for metric in metrics:
            found = entry.metrics.get(metric.name)
            text = tex(least(entry, metric) + number(metric, found))
            top = entry.key in board.ranks and found is not None and found.value == best[metric.name]
            ends = rf" {{\scriptsize {_ends(metric, found)}}}" if found is not None and found.ci95 else ""
            cells.append((rf"\textbf{{{text}}}" if top else text) + ends)
        ranks = ["" if rank is None else str(rank), tex(columns.rank_range(board, entry) or "")]
        body.append(rf"{' & '.join([*ranks, tex(entry.brief) + mark, *cells])} \\")
    newest = max((entry.date[:10] for entry in entries if entry.date), default=None)
    from reelbench import __version__

    units = "; ".join(f"{metric.title}, {metric.in_unit.label}" for metric in metrics)
    intervals = any(value.ci95 for entry in entries for value in entry.metrics.values())
    listed = f" ({board.listed[group]})" if group in board.listed else ""
    caption = f"{spec.title}, {group.label}{listed}: {units}."
    if intervals:
        caption += " In brackets each score's own 95 % interval over videos; Ranks: ranges, adjusted 95 % (Holm)."
    caption += f" Reelbench {__version__}" + (f", runs up to {newest}." if newest else ".")
    notes = "; ".join(
        [
            *(f"All rows: {tex(note)}" for note in of_all),
            *(f"$^{{{sign}}}$~{tex(note)}" for note, sign in signs.items()),
        ]
    )
    return "\n".join(
        [
            r"% needs \usepackage{booktabs,tabularx}",
            r"\begin{table}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{tex(caption)}}}",
            rf"\begin{{tabularx}}{{\linewidth}}{{@{{}}rr>{{\raggedright\arraybackslash}}X{'r' * len(metrics)}@{{}}}}",
            r"\toprule",
            rf"& Ranks & Model{''.join(' & ' + tex(metric.short) for metric in metrics)} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabularx}",
            *([rf"\par\smallskip\parbox{{\linewidth}}{{\scriptsize {notes}}}"] if notes else []),
            r"\end{table}",
            "",
        ]
    )
