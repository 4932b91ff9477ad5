"""A table as a figure for a paper: models by rank, their scores with 95 % intervals, as wide as a column or a page."""

from contextlib import chdir
from pathlib import Path
from typing import Any, Literal

from reelbench.base.errors import InputError, installing
from reelbench.base.files import open_aside
from reelbench.leaderboard import columns
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import RankingGroup, metric_value
from reelbench.leaderboard.exports.tables import least
from reelbench.pages.svg import COLOURS, GRID, SOFT

Width = Literal["column", "page"]

_INCHES: dict[Width, float] = {"column": 84 / 25.4, "page": 174 / 25.4}
_PANELS: dict[Width, int] = {"column": 1, "page": 3}
_ROW, _AROUND = 0.165, 0.5  # inches of a row, and of what stands around all of them
_LOOKS: dict[str, Any] = {
    **dict.fromkeys(("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), 8),
    "axes.linewidth": 0.5,
    "text.parse_math": False,  # a dollar of a model's name is a dollar
    "pdf.fonttype": 42,  # TrueType as it is, which publishers' checks want
    "svg.fonttype": "path",  # drawn letters need no font where they are shown
    "svg.hashsalt": "reelbench",  # the same bytes for the same table
}
_BESIDE = ("Noto Sans", "Noto Sans CJK SC", "Arial Unicode MS")
"""Fonts for letters that matplotlib's own lacks, of those that the machine has."""


def write(board: Board, group: RankingGroup, width: Width, out: Path) -> list[Path]:
    """Write a ranked table as PDF and SVG with their fonts inside, and return the paths.

    A column has the main score, a page up to two more that have intervals. Rows without the main
    score are left out; a dashed line is the best floor, a dotted one people. InputError where
    matplotlib is not installed.
    """
    try:
        with chdir(
            Path(__file__).parent
        ):  # its import reads a `matplotlibrc` of the folder that it is in
            from matplotlib import font_manager, rc_context, rcdefaults, rcParams
            from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(f"a figure needs matplotlib: {installing('figures')}") from error

    primary = board.spec(group).primary
    scored = [
        row for row in board.rows[group] if metric_value(row.metrics, primary.name) is not None
    ]
    rows = [row for row in scored if not row.is_reference]
    ends = {name for row in rows for name, found in row.metrics.items() if found.ci95}
    metrics = [
        primary,
        *(metric for metric in board.spec(group).metrics if metric.name in ends - {primary.name}),
    ]
    metrics = metrics[: _PANELS[width]]
    known = {font.name for font in font_manager.fontManager.ttflist}
    looks: Any = _LOOKS | {
        "font.family": ["DejaVu Sans", *(name for name in _BESIDE if name in known)]
    }
    with rc_context():
        rcdefaults()  # wherever a script has imported it
        rcParams.update(looks)
        size = (_INCHES[width], _AROUND + _ROW * max(len(rows), 1))
        figure = Figure(figsize=size, layout="constrained")
        panels: list[Any] = list(figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0])
        for axes, metric in zip(panels, metrics, strict=True):
            for y, row in enumerate(rows):
                found = row.metrics.get(metric.name)
                if found is None or found.value is None:
                    continue
                if found.ci95:
                    axes.plot(found.ci95, [y, y], "|-", color=COLOURS[0], linewidth=1, markersize=4)
                face = COLOURS[0] if row.key in board.ranks else "white"
                axes.plot(
                    [found.value], [y], "o", markersize=3.5, color=COLOURS[0], markerfacecolor=face
                )
            for kind, style in (("baseline", "--"), ("human", ":")):
                if points := [
                    at
                    for row in scored
                    if row.kind == kind
                    and (at := metric_value(row.metrics, metric.name)) is not None
                ]:
                    axes.axvline(max(points), color=SOFT, linewidth=0.8, linestyle=style)
            axes.set_xlabel(f"{metric.short}, {metric.in_unit.label}")
            axes.grid(axis="x", color=GRID, linewidth=0.5)
            axes.set_axisbelow(True)
            axes.tick_params(length=2, width=0.5)
            axes.spines[["top", "right", "left"]].set_visible(False)
        names = []
        for row in rows:
            ranks = columns.rank_range(board, row)
            names.append(
                f"{row.brief}{'†' if least(row, primary) else ''}" + (f"  {ranks}" if ranks else "")
            )
        panels[0].set_yticks(range(len(rows)), names)
        panels[0].set_ylim(len(rows) - 0.4, -0.6)
        written = []
        for kind, told in (("pdf", {"CreationDate": None}), ("svg", {"Date": None})):
            written.append(out / f"{group.benchmark}_{width}.{kind}")
            with open_aside(written[-1], "wb") as file:
                figure.savefig(file, format=kind, metadata=told)
    return written
