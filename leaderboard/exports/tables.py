"""The table as files: CSV, JSON, Markdown and LaTeX."""

import csv
import io
import re
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

Format = Literal["markdown", "latex"]

_AFTER_A_MARK = re.compile(r"""((?:[;|]|(?<!^)\t)\s*["']?)([=+@＝＋－＠-])""")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "≥": r"$\geq$",
    "–": "--",
    "’": "'",
}


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
            head, tail = ([_cell(c.value(board, entry)) for c in part] for part in (before, columns.AFTER))
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


def _cell(value: object) -> object:
    if isinstance(value, str):
        # An apostrophe is how spreadsheets mark text; see OWASP on CSV injection. Some part cells at a semicolon.
        value = _AFTER_A_MARK.sub(r"\1'\2", value)
        return f"'{value}" if value.startswith(_FORMULA) else value
    return "" if value is None else value


# --- for papers ------------------------------------------------------------------------------------------------------


def tables(board: Board, style: Format, *, benchmark: str | None = None, metrics: Sequence[str] | None = None) -> str:
    """Return a table per group of each benchmark (or of one), ready to paste; floors and human rows come last.

    `metrics` names the columns beside rank and model. Without it Markdown has all; LaTeX the main one, which with its
    interval is what a column of a paper has room for.
    """
    parts = []
    for name, groups in board.groups.items():
        if benchmark not in (None, name):
            continue
        for group in groups:
            rows = [entry for entry in board.entries if entry.group == group]
            parts.append((_markdown if style == "markdown" else _latex)(board, group, rows, metrics))
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
    lines = [["rank", "ranks", "model", "frames", *(metric.title for metric in metrics)]]
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


def _tex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def _latex(board: Board, group: RankingGroup, entries: Sequence[BoardEntry], wanted: Sequence[str] | None) -> str:
    """A float of one column: the best in bold, intervals always, notes on rows under it."""
    spec = board.spec(group)
    metrics = _shown(spec, entries, [spec.primary.name] if wanted is None else wanted)
    of_rows = [[*([] if entry.setting == "run" else [entry.setting]), *_marks(board, entry)] for entry in entries]
    of_all = [note for note in of_rows[0] if len(entries) > 1 and all(note in of for of in of_rows)] if of_rows else []
    signs: dict[str, str] = {}
    best = {
        metric.name: max(
            (value for row in entries if row.key in board.ranks and (value := metric_value(row.metrics, metric.name))),
            default=None,
        )
        for metric in metrics
    }
    body = []
    for entry, marks in sorted(zip(entries, of_rows, strict=True), key=lambda row: row[0].is_reference):
        rank = board.ranks.get(entry.key)
        notes = [note for note in marks if note not in of_all]
        for note in notes:
            signs.setdefault(note, chr(ord("a") + len(signs)) if len(signs) < len(ascii_lowercase) else str(len(signs)))
        mark = f"$^{{{','.join(signs[note] for note in notes)}}}$" if notes else ""
        cells = []
        for metric in metrics:
            found = entry.metrics.get(metric.name)
            text = _tex(least(entry, metric) + number(metric, found))
            top = entry.key in board.ranks and found is not None and found.value == best[metric.name]
            ends = rf" {{\scriptsize {_ends(metric, found)}}}" if found is not None and found.ci95 else ""
            cells.append((rf"\textbf{{{text}}}" if top else text) + ends)
        ranks = ["" if rank is None else str(rank), _tex(columns.rank_range(board, entry) or "")]
        brief = entry.model.partition("/")[2] or entry.model  # without who made it
        body.append(rf"{' & '.join([*ranks, _tex(brief) + mark, *cells])} \\")
    newest = max((entry.date[:10] for entry in entries if entry.date), default=None)
    from reelbench import __version__

    units = "; ".join(f"{metric.title}, {metric.in_unit.label}" for metric in metrics)
    intervals = any(value.ci95 for entry in entries for value in entry.metrics.values())
    listed = f" ({board.listed[group]})" if group in board.listed else ""
    caption = f"{spec.title}, {group.label}{listed}: {units}."
    caption += " In brackets 95 % intervals over videos; Ranks: 95 % ranges." if intervals else ""
    caption += f" Reelbench {__version__}" + (f", runs up to {newest}." if newest else ".")
    notes = "; ".join(
        [
            *(f"All rows: {_tex(note)}" for note in of_all),
            *(f"$^{{{sign}}}$~{_tex(note)}" for note, sign in signs.items()),
        ]
    )
    return "\n".join(
        [
            r"% needs \usepackage{booktabs,tabularx}",
            r"\begin{table}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{_tex(caption)}}}",
            rf"\begin{{tabularx}}{{\linewidth}}{{@{{}}rr>{{\raggedright\arraybackslash}}X{'r' * len(metrics)}@{{}}}}",
            r"\toprule",
            rf"& Ranks & Model{''.join(' & ' + _tex(metric.short) for metric in metrics)} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabularx}",
            *([rf"\par\smallskip\parbox{{\linewidth}}{{\scriptsize {notes}}}"] if notes else []),
            r"\end{table}",
            "",
        ]
    )
