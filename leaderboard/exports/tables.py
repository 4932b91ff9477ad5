"""The table as files: CSV, JSON, Markdown and LaTeX."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from reelbench.leaderboard import bridge, columns
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup
from reelbench.pages.markdown import inert
from reelbench.registry.records import MetricValue
from reelbench.registry.spec import BenchmarkSpec, Corpus, Metric

Format = Literal["markdown", "latex"]

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
            values = [part for metric in spec.metrics for part in _three(entry.metrics.get(metric.name))]
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
        "bridges": [{"old": made.old.id, "new": made.new.id, **bridge.as_json([made])} for made in board.bridges],
        "smallest_differences": {group.id: noise.smallest for group, noise in board.noise.items()},
    }


def _three(found: MetricValue | None) -> tuple[float | str, float | str, float | str]:
    if found is None or found.value is None:
        return "", "", ""
    low, high = found.ci95 or ("", "")
    return found.value, low, high


def _cell(value: object) -> object:
    if isinstance(value, str):
        # An apostrophe is how spreadsheets mark text; see OWASP on CSV injection.
        return f"'{value}" if value.startswith(_FORMULA) else value
    return "" if value is None else value


# --- for papers ------------------------------------------------------------------------------------------------------


def tables(board: Board, style: Format, *, benchmark: str | None = None) -> str:
    """Return a table per group of each benchmark (or of one), ready to paste; floors and human rows come last."""
    parts = []
    for name, groups in board.groups.items():
        if benchmark not in (None, name):
            continue
        for group in groups:
            rows = [entry for entry in board.entries if entry.group == group]
            parts.append((_markdown if style == "markdown" else _latex)(board, board.spec(group), group, rows))
    return "\n".join(parts)


def _shown(spec: BenchmarkSpec, entries: Iterable[BoardEntry]) -> list[Metric]:
    with_values = {name for entry in entries for name, metric in entry.metrics.items() if metric.value is not None}
    return [metric for metric in spec.metrics if metric.name in with_values]


def _number(metric: Metric, found: MetricValue | None) -> str:
    return "" if found is None or found.value is None else f"{found.value:.{metric.in_unit.digits}f}"


def _half(metric: Metric, found: MetricValue | None) -> str:
    """Half of the interval's width, as papers print it."""
    if found is None or found.ci95 is None:
        return ""
    return f"{(found.ci95[1] - found.ci95[0]) / 2:.{metric.in_unit.digits}f}"


def least(entry: BoardEntry, metric: Metric) -> str:
    """Return the mark of a lower bound where a row's value is one."""
    bounded = entry.lowest is not None and not isinstance(metric.aggregate, Corpus)
    return "≥ " if bounded and metric.name in entry.metrics else ""


def _lines(board: Board, spec: BenchmarkSpec, entries: Sequence[BoardEntry], plus_minus: str) -> list[list[str]]:
    metrics = _shown(spec, entries)
    lines = []
    for entry in sorted(entries, key=lambda entry: entry.is_reference):
        rank = board.ranks.get(entry.key)
        numbers = []
        for metric in metrics:
            value = entry.metrics.get(metric.name)
            half = _half(metric, value) if metric is spec.primary and not entry.lowest else ""
            numbers.append(least(entry, metric) + _number(metric, value) + (f" {plus_minus} {half}" if half else ""))
        name = entry.model if entry.setting == "run" else f"{entry.model} ({entry.setting})"
        marks = [
            f"not ranked: {entry.unranked}" if entry.unranked else "",
            f"{unscored} unscored" if (unscored := entry.facts.get("unscored")) else "",
            f"{videos} videos" if (videos := entry.facts.get("videos")) else "",
            f"as stated: {stated}" if (stated := entry.facts.get("stated")) else "",
            f"intervals: {made}" if (made := entry.facts.get("intervals")) else "",
            "data unstated" if entry.facts.get("data") == "unstated" else "",
            "questions not stated" if _may_differ(board, entry) else "",
        ]
        name += "".join(f" ({mark})" for mark in marks if mark)
        ranks = ["" if rank is None else str(rank), columns.rank_range(board, entry) or ""]
        lines.append([*ranks, name, entry.frames, *numbers])
    return lines


def _may_differ(board: Board, entry: BoardEntry) -> bool:
    """Whether a row doesn't state what it was asked, where others of its benchmark were asked something else."""
    others = board.groups[entry.group.benchmark]
    return entry.facts.get("questions") == "not stated" and any(group.differs for group in others)


def _markdown(board: Board, spec: BenchmarkSpec, group: RankingGroup, entries: Sequence[BoardEntry]) -> str:
    head = ["rank", "ranks", "model", "frames", *(metric.title for metric in _shown(spec, entries))]
    rule = ["--:", "--:", ":--", ":--", *("--:" for _ in head[4:])]
    rows = [head, rule, *([inert(text) for text in line] for line in _lines(board, spec, entries, "±"))]
    return f"### {inert(spec.title)}, {inert(group.label)}\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _latex(board: Board, spec: BenchmarkSpec, group: RankingGroup, entries: Sequence[BoardEntry]) -> str:
    def cell(text: str) -> str:
        return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))

    metrics = _shown(spec, entries)
    lines = _lines(board, spec, entries, r"{\scriptsize$\pm$}")
    lines = [[*map(cell, line[:4]), *(text.replace("≥", _LATEX["≥"]) for text in line[4:])] for line in lines]
    body = [rf"{' & '.join(line)} \\" for line in lines]
    return "\n".join(
        [
            rf"% {' '.join((spec.title + ', ' + group.label).split())}; needs \usepackage{{booktabs}}",
            rf"\begin{{tabular}}{{rrll{'r' * len(metrics)}}}",
            r"\toprule",
            rf"Rank & Ranks & Model & Frames{''.join(' & ' + cell(metric.title) for metric in metrics)} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )
