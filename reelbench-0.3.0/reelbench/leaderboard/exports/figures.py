"""Draw a ranked table for a paper: models by rank, their scores with 95 % intervals.

A figure is as wide as a column or a page.
"""

from collections.abc import Iterable, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, Literal

from reelbench.base.errors import InputError, installing
from reelbench.base.files import open_aside
from reelbench.leaderboard import columns
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.leaderboard.exports.tables import least
from reelbench.pages.svg import COLOURS, GRID, SOFT
from reelbench.registry.spec import BenchmarkSpec, Metric

Width = Literal["column", "page"]

_INCHES: dict[Width, float] = {"column": 84 / 25.4, "page": 174 / 25.4}
_PANELS: dict[Width, int] = {"column": 1, "page": 3}
_COLOUR = COLOURS[0]
_ROWS: dict[Width, float] = {"column": 0.29, "page": 0.165}
"""Inches of a row. In a column a name stands above its interval, which has the whole width."""
_AROUND = 0.5  # inches above and below all rows
_POINTS = 8  # of all letters
_LOOKS: dict[str, Any] = {
    "font.size": _POINTS,
    "axes.labelsize": _POINTS,
    "xtick.labelsize": _POINTS,
    "ytick.labelsize": _POINTS,
    "axes.linewidth": 0.5,
    "text.parse_math": False,  # a dollar of a model's name is a dollar
    "pdf.fonttype": 42,  # TrueType as it is, which publishers' checks want
    "svg.fonttype": "path",  # drawn letters need no font where they are shown
    "svg.hashsalt": "reelbench",  # the same bytes for the same table
}
_FURTHER_FONTS = ("Noto Sans", "Noto Sans CJK SC", "Arial Unicode MS")
"""Fonts for letters that matplotlib's own lacks, used where the machine has them."""
_NO_DATE: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
"""Metadata by format, without the date, so that the same table gives the same bytes."""


def write(board: Board, group: RankingGroup, width: Width, out: Path) -> list[Path]:
    """Write a ranked table as PDF and SVG, and return the paths.

    The files have their fonts inside.

    A column has the main score, a page up to two more that have intervals. Rows without the main
    score are left out. A dashed line is the best floor, a dotted one people.

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        # The import reads a `matplotlibrc` of the working folder.
        with chdir(Path(__file__).parent):
            from matplotlib import font_manager, rc_context, rcdefaults, rcParams
            from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(f"a figure needs matplotlib: {installing('figures')}") from error

    spec = board.spec(group)
    scored_rows: list[BoardEntry] = []
    for row in board.rows[group]:
        score = metric_value(row.metrics, spec.primary.name)
        if score is None:
            continue
        scored_rows.append(row)
    rows = [row for row in scored_rows if not row.is_reference]
    metrics = _panel_metrics(spec, rows)
    metrics = metrics[: _PANELS[width]]
    installed_fonts = {font.name for font in font_manager.fontManager.ttflist}
    fonts = ["DejaVu Sans"]
    fonts += [name for name in _FURTHER_FONTS if name in installed_fonts]
    looks: Any = _LOOKS | {"font.family": fonts}
    with rc_context():
        rcdefaults()  # wherever a script has imported it
        rcParams.update(looks)
        height = _AROUND + _ROWS[width] * max(len(rows), 1)
        figure = Figure(figsize=(_INCHES[width], height), layout="constrained")
        grid = figure.subplots(1, len(metrics), sharey=True, squeeze=False)
        panels: list[Any] = list(grid[0])
        for axes, metric in zip(panels, metrics, strict=True):
            _draw_scores(axes, metric, rows, board)
            _draw_references(axes, metric, scored_rows)
            _draw_axes(axes, metric)
        labels = [_row_label(board, row, spec.primary) for row in rows]
        first_panel = panels[0]
        if width == "column":
            _write_above(first_panel, labels)
        else:
            first_panel.set_yticks(range(len(rows)), labels)
            first_panel.set_ylim(len(rows) - 0.4, -0.6)
        paths: list[Path] = []
        for kind, metadata in _NO_DATE.items():
            path = out / f"{group.benchmark}_{width}.{kind}"
            with open_aside(path, "wb") as file:
                figure.savefig(file, format=kind, metadata=metadata)
            paths.append(path)
    return paths


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


def _draw_scores(axes: Any, metric: Metric, rows: Sequence[BoardEntry], board: Board) -> None:  # noqa: ANN401 - matplotlib's
    """Draw each row's score and interval. The point of an unranked row is hollow."""
    for y, row in enumerate(rows):
        metric_result = row.metrics.get(metric.name)
        if metric_result is None or metric_result.value is None:
            continue
        if metric_result.ci95:
            axes.plot(metric_result.ci95, [y, y], "|-", color=_COLOUR, linewidth=1, markersize=4)
        face = _COLOUR if row.key in board.ranks else "white"
        axes.plot(
            [metric_result.value], [y], "o", markersize=3.5, color=_COLOUR, markerfacecolor=face
        )


def _draw_references(axes: Any, metric: Metric, scored: Sequence[BoardEntry]) -> None:  # noqa: ANN401 - matplotlib's
    """Draw the best floor as a dashed line, and people as a dotted one."""
    for kind, style in (("baseline", "--"), ("human", ":")):
        scores: list[float] = []
        for row in scored:
            score = metric_value(row.metrics, metric.name)
            if row.kind == kind and score is not None:
                scores.append(score)
        if scores:
            axes.axvline(max(scores), color=SOFT, linewidth=0.8, linestyle=style)


def _draw_axes(axes: Any, metric: Metric) -> None:  # noqa: ANN401 - matplotlib's
    unit = metric.in_unit
    unit_text = "%" if unit.label == "%" else f"of {unit.high:g}"
    axes.set_xlabel(f"{metric.short}, {unit_text}")
    axes.grid(axis="x", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(length=2, width=0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _write_above(axes: Any, labels: Sequence[str]) -> None:  # noqa: ANN401 - matplotlib's
    """Write each row's label above its interval, from the left edge on."""
    for y, label in enumerate(labels):
        axes.text(0, y - 0.3, label, transform=axes.get_yaxis_transform(), va="bottom")
    axes.set_yticks([])
    axes.set_ylim(len(labels) - 0.5, -0.9)


def _row_label(board: Board, row: BoardEntry, primary: Metric) -> str:
    """Return a row's name and ranks, with a dagger for a lower bound."""
    label = row.brief
    if least(row, primary):
        label += "†"
    ranks = columns.rank_range(board, row)
    if ranks:
        label += f"  {ranks}"
    return label
