"""Draw a ranked table for a paper: models by rank, their scores with 95 % intervals.

A figure is as wide as a column or a page.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError, number_of
from reelbench.base.files import open_aside, read_json
from reelbench.leaderboard import columns, group_words
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.leaderboard.exports.tables import least
from reelbench.pages import canvases
from reelbench.pages.chart import Axis, Chart, Mark, Panel, Rule, Texts
from reelbench.pages.chart_layout import chart_layout
from reelbench.pages.drawing import EDGE, draw
from reelbench.pages.letters import Letters
from reelbench.pages.plots import labelled, ticks
from reelbench.registry.spec import BenchmarkSpec, Metric

Width = Literal["column", "page"]

MILLIMETRES: dict[Width, float] = {"column": 84, "page": 174}
_HIGHEST = 200
"""Millimetres: a page of a paper has 230, and a caption."""
_ROW_HEIGHTS = (22, 18, 14)
"""Pixels, of which a figure takes the most that lets it fit."""
_LEAST_BELOW_NAME = 10
"""Pixels of a row below its name."""
_CHART_BYTES = 20_000_000
_PANELS: dict[Width, int] = {"column": 1, "page": 3}


def write(chart: Chart, width: Width, out: Path, name: str) -> list[Path]:
    """Write a chart as PDF, SVG and PNG, all or none, and return the paths.

    Raises:
        InputError: matplotlib is not installed, or a path is a folder.
    """
    drawing = draw(chart, canvases.pixels_of(MILLIMETRES[width]), canvases.pdf_letters())
    contents = {
        "pdf": canvases.to_pdf(drawing),
        "svg": canvases.to_svg(drawing).encode(),
        "png": canvases.to_png(drawing, scale=4),
    }
    paths = [out / f"{name}_{width}.{kind}" for kind in contents]
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path} is a folder, and a figure would have its name")
    with ExitStack() as files:
        for path, content in zip(paths, contents.values(), strict=True):
            files.enter_context(open_aside(path, "wb")).write(content)
    return paths


def read_charts(paths: Sequence[Path]) -> list[tuple[str, Chart]]:
    """Read charts, each with the name that its figures get.

    Raises:
        InputError: One is no chart, or two have one name.
    """
    by_name: dict[str, Path] = {}
    for path in paths:
        if path.stem in by_name:
            first = by_name[path.stem]
            raise InputError(f"{first} and {path}: both figures would be {path.stem}; rename one")
        by_name[path.stem] = path
    return [(name, read_chart(path)) for name, path in by_name.items()]


def read_chart(path: Path) -> Chart:
    """Read a chart that a page saved as JSON.

    Raises:
        InputError: It is no chart.
    """
    document = read_json(path, most=_CHART_BYTES)
    return record_of(Chart, document, f"{path} is not a chart of a page", mark=": ")


def described(board: Board, group: RankingGroup, width: Width, top: int | None = None) -> Chart:
    """Return a ranked table as a chart's description.

    A column has the main score, a page up to two more that have intervals. Rows without the main
    score are left out. A dotted line is the best floor, a solid one people. It is no higher than a
    page: rows are lower where there are many, and the last ones are left out where that is too few.

    Args:
        board: The board.
        group: The table.
        width: What the figure is as wide as.
        top: The most rows. None for as many as a page holds.
    """
    number = len(_drawn_rows(_scored_rows(board, group)))
    if top is not None:
        number = min(number, top)
    highest = canvases.pixels_of(_HIGHEST)
    chart = _chart(board, group, width, number, _ROW_HEIGHTS[0])
    row_heights = _ROW_HEIGHTS
    if _has_names_above(chart, width):
        row_heights += (_LEAST_BELOW_NAME,)
    for row_height in row_heights:
        chart = _chart(board, group, width, number, row_height)
        if _height(chart, width) <= highest:
            return chart
    height_of_one = _height(_chart(board, group, width, 1, chart.row), width)
    height_of_more = (_height(chart, width) - height_of_one) / (number - 1)
    number = 1 + int((highest - height_of_one) / height_of_more)
    return _chart(board, group, width, number, chart.row)


def _has_names_above(chart: Chart, width: Width) -> bool:
    """Return True where each name stands above its row."""
    pixels = canvases.pixels_of(MILLIMETRES[width]) - 2 * EDGE
    return chart_layout(chart, pixels, Letters()).number_above is not None


def _height(chart: Chart, width: Width) -> float:
    """Return the pixels of a figure from top to bottom."""
    return draw(chart, canvases.pixels_of(MILLIMETRES[width]), Letters()).height


def _scored_rows(board: Board, group: RankingGroup) -> list[BoardEntry]:
    """Return the rows that have the main score, reference points too."""
    primary = board.spec(group).primary
    scored_rows: list[BoardEntry] = []
    for row in board.rows[group]:
        if metric_value(row.metrics, primary.name) is not None:
            scored_rows.append(row)
    return scored_rows


def _drawn_rows(scored_rows: Sequence[BoardEntry]) -> list[BoardEntry]:
    """Return the rows that have a line of their own."""
    return [row for row in scored_rows if not row.is_reference]


def _chart(
    board: Board, group: RankingGroup, width: Width, number: int, row_height: float
) -> Chart:
    """Return the description with the first rows, so many."""
    spec = board.spec(group)
    scored_rows = _scored_rows(board, group)
    all_rows = _drawn_rows(scored_rows)
    rows = all_rows[:number]
    metrics = _panel_metrics(spec, rows)[: _PANELS[width]]
    names = Texts(texts=tuple(_row_label(board, row, spec.primary) for row in rows))
    panels = [_panel(board, metric, rows, scored_rows) for metric in metrics]
    about = _about(board, group, rows, panels)
    if len(rows) < len(all_rows):
        about += f" The first {len(rows)} of {len(all_rows)} rows."
    blind_runs = sum(row.kind == "blind" for row in scored_rows)
    if blind_runs:
        about += f" Left out: {number_of(blind_runs, 'run')} shown no video."
    return Chart(
        title=f"{spec.title}, {group_words.table_words(board, group)}",
        about=about,
        source=_source(all_rows),
        rows=max(len(rows), 1),
        row=row_height,
        across=(names, *panels),
    )


def _about(
    board: Board, group: RankingGroup, rows: Sequence[BoardEntry], panels: Sequence[Panel]
) -> str:
    """Return the text under a title: what marks mean, and how many questions there are."""
    primary = board.spec(group).primary
    sentences: list[str] = []
    if any(_has_whiskers(panel) for panel in panels):
        sentences.append("Whiskers: each score's own 95 % interval over videos.")
    if any(columns.rank_range(board, row) for row in rows):
        sentences.append("Behind a name: its range of ranks (adjusted 95 %, Holm over all pairs).")
    questions = sorted({row.metrics[primary.name].n for row in rows})
    sentences.append(f"n = {_span(questions)} questions.")
    if panels[0].rules:
        sentences.append("Lines: the best floor (dotted), people (solid).")
    if any(row.key not in board.ranks for row in rows):
        sentences.append("Hollow: not ranked.")
    if any(least(row, primary) for row in rows):
        sentences.append("† lower bound: some questions have no score.")
    return " ".join(sentences)


def _has_whiskers(panel: Panel) -> bool:
    return any(mark.ends is not None for mark in panel.marks)


def _span(numbers: Sequence[int]) -> str:
    if not numbers:
        return "0"
    if len(numbers) == 1:
        return f"{numbers[0]:,}"
    return f"{numbers[0]:,} to {numbers[-1]:,}"


def _source(rows: Sequence[BoardEntry]) -> str:
    """Return the number of recomputed runs, and the newest one's day."""
    runs = [row for row in rows if row.kind == "run"]
    source = f"Reelbench, {number_of(len(runs), 'run')} recomputed"
    days = [row.date[:10] for row in runs if row.date]
    if days:
        source += f", newest of {max(days)}"
    return source


def _panel_metrics(spec: BenchmarkSpec, rows: Iterable[BoardEntry]) -> list[Metric]:
    """Return the primary metric, then the others that have an interval."""
    names_with_interval: set[str] = set()
    for row in rows:
        for name, metric_result in row.metrics.items():
            if metric_result.ci95:
                names_with_interval.add(name)
    names_with_interval.discard(spec.primary.name)
    further = [metric for metric in spec.metrics if metric.name in names_with_interval]
    return [spec.primary, *further]


def _panel(
    board: Board, metric: Metric, rows: Sequence[BoardEntry], scored_rows: Sequence[BoardEntry]
) -> Panel:
    """Return each row's score and interval. The mark of an unranked row is hollow."""
    marks: list[Mark] = []
    ends: list[float] = []
    for number, row in enumerate(rows):
        metric_result = row.metrics.get(metric.name)
        if metric_result is None or metric_result.value is None:
            continue
        interval = metric_result.ci95 or None
        is_ranked = row.key in board.ranks
        marks.append(
            Mark(
                x=metric_result.value,
                y=number + 0.5,
                ends=interval,
                open=not is_ranked,
                text=f"{row.model}: {metric_result.value:.{metric.in_unit.digits}f}",
            )
        )
        ends += [metric_result.value, *(interval or ())]
    rules = _references(metric, scored_rows)
    ends += [rule.at for rule in rules]
    unit = metric.in_unit
    unit_text = "%" if unit.label == "%" else f"of {unit.high:g}"
    lowest = min(ends, default=unit.low)
    highest = max(ends, default=unit.high)
    # Equal values without an interval, as of one model on few videos, have a tenth of the scale.
    least = 0.0
    if lowest == highest:
        least = (unit.high - unit.low) / 10
    steps = ticks(lowest, highest, least, unit.high)
    return Panel(
        title=f"{metric.short}, {unit_text}",
        x=Axis(ticks=labelled(steps)),
        y=Axis(),
        marks=tuple(marks),
        rules=tuple(rules),
    )


def _references(metric: Metric, scored_rows: Sequence[BoardEntry]) -> list[Rule]:
    """Return lines at the best floor and at people."""
    rules: list[Rule] = []
    for kind in ("baseline", "human"):
        scores: list[float] = []
        for row in scored_rows:
            score = metric_value(row.metrics, metric.name)
            if row.kind == kind and score is not None:
                scores.append(score)
        if scores:
            rules.append(Rule(at=max(scores), kind=kind))
    return rules


def _row_label(board: Board, row: BoardEntry, primary: Metric) -> str:
    """Return a row's name and ranks, with a dagger for a lower bound."""
    label = row.brief
    if least(row, primary):
        label += "†"
    ranks = columns.rank_range(board, row)
    if ranks:
        label += f"  {ranks}"
    return label
