"""A table as a figure for a paper: every interval at its number, whole names, what it is of."""

import json
import re

import pytest

from reelbench.base.errors import InputError
from reelbench.leaderboard import board
from reelbench.leaderboard.exports import figures
from reelbench.registry import discovery
from reelbench.registry.records import MetricValue
from tests.leaderboard.rows import MOVIECORE, REXTIME, entry
from tests.pages.drawn import SVG, elements, find_line, segments, whiskers

NAME = "organisation/A-Model-of-a-Rather-Long-Name-72B-Instruct"


def _board():
    rows = [
        entry(NAME, 60.0, kind="run", ci95=(57.0, 63.0), date="2026-11-20"),
        entry(
            "lab/second",
            40.0,
            kind="run",
            ci95=(36.5, 44.0),
            date="2026-11-02",
            unscored=2,
            lowest=MetricValue(value=40.0, n=10),
        ),
        entry("floor", 10.0, kind="baseline", setting="floor"),
        entry("people", 90.0, kind="human", setting="human"),
        entry("lab/second", 3.5, group=MOVIECORE, kind="run", ci95=(3.2, 3.9)),
    ]
    return board.ranked_board(discovery.specs(), rows)


def _panel(**parts):
    axis = {"from": 0, "to": 10}
    return {"across": [{"x": axis, "y": axis} | parts]}


@pytest.mark.parametrize("width", figures.MILLIMETRES)
def test_a_figure_has_each_interval_and_says_what_it_is_of(tmp_path, width):
    pytest.importorskip("matplotlib")
    chart = figures.described(_board(), REXTIME, width)
    paths = figures.write(chart, width, tmp_path, "rextime")
    assert [path.name for path in paths] == [
        f"rextime_{width}.{kind}" for kind in ("pdf", "svg", "png")
    ]
    svg = (tmp_path / f"rextime_{width}.svg").read_text(encoding="utf-8")
    pixels = float(re.search(r"width='(\d+)'", svg)[1])
    assert pixels == pytest.approx(figures.MILLIMETRES[width] / 25.4 * 96, abs=1)
    # A mark's words are its row's, by which the test finds it.
    found = list(whiskers(chart, svg))
    lines = [line for line, _ in segments(svg)]
    assert len(found) == 2
    for _, low, high in found:
        find_line(lines, low, high)
    texts = [element.text for element, _, _ in elements(svg) if element.tag == f"{SVG}text"]
    assert any(text.startswith(NAME.partition("/")[2]) for text in texts)
    words = " ".join(texts)
    for said in ("ReXTime", "val", "95 % interval", "n = 10", "†", "2 runs", "2026-11-20"):
        assert said in words


def test_the_judge_of_a_table_stands_over_its_figure():
    chart = figures.described(_board(), MOVIECORE, "column")
    assert "gpt-4o-mini-2024-07-18" in chart.title


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"across": []}, "there is no panel"),
        ({"across": [{"x": {}, "y": {}}]}, "neither ticks"),
        ({"across": [{"x": {"ticks": [[0, "0"]], "scale": "log"}, "y": {}}]}, "no place"),
        ({"rows": 2000, "row": 2000}, "higher than"),
        (_panel(boxes=[{"x": [0, 1], "y": [0, 1], "kind": "c²"}]), "kind"),
        (_panel(boxes=[{"x": [0, 1], "y": [0, 1], "kind": "heat", "strength": 7}]), "strength"),
        ({"rows": 0} | _panel(square=True, x={"from": 1, "to": 1}), "has no length"),
        ({"rows": 0} | _panel(square=True, y={"from": 0, "to": 1e9}), "far more"),
        ({"colour": "red"}, "colour"),
        ({"title": 3}, "title"),
    ],
)
def test_a_file_that_is_no_chart_is_one_line(tmp_path, changes, why):
    chart = figures.described(_board(), REXTIME, "column").model_dump(by_alias=True)
    path = tmp_path / "chart.json"
    path.write_text(json.dumps(chart))
    assert figures.read_chart(path).title == chart["title"]
    path.write_text(json.dumps(chart | changes))
    with pytest.raises(InputError, match=why) as told:
        figures.read_chart(path)
    assert str(told.value).startswith(f"{path} is no chart of a page: ")
    assert "\n" not in str(told.value)
