"""A table as a figure for a paper: every interval at its number, whole names, what it is of."""

import json
import re
from functools import cache

import pytest

from reelbench.base.errors import InputError
from reelbench.leaderboard import board
from reelbench.leaderboard.exports import figures
from reelbench.pages import canvases
from reelbench.pages.drawing import draw
from reelbench.pages.letters import Letters
from reelbench.registry import discovery
from reelbench.registry.records import MetricValue
from tests.leaderboard.rows import MOVIECORE, REXTIME, entry
from tests.pages.drawn import SVG, elements, find_line, segments, whiskers

NAME = "organisation/A-Model-of-a-Rather-Long-Name-72B-Instruct"


@cache
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


_AXIS = {"from": 0, "to": 10, "ticks": [[0, "0"], [10, "10"]]}
_AXES = {"x": _AXIS, "y": _AXIS}
_MARK = {"x": 1, "y": 2}
_BOX = {"x": [0, 1], "y": [0, 1], "kind": "heat"}


def _panel(**parts):
    return {"across": [_AXES | parts]}


def _plane(**parts):
    return {"rows": 0} | _panel(**parts)


def _square(**parts):
    return _plane(square=True, **parts)


def _path(*points):
    return {"kind": "frontier", "points": [[0, 0], *points]}


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


@pytest.mark.parametrize(("models", "width"), [(19, "column"), (60, "column"), (60, "page")])
def test_a_figure_of_many_rows_fits_a_page_and_says_which_it_leaves_out(models, width):
    rows = [
        entry(
            f"lab/A-Model-of-a-Rather-Long-Name-{n}B-Instruct",
            90.0 - n,
            kind="run",
            ci95=(88.0 - n, 92.0 - n),
        )
        for n in range(models)
    ]
    made = board.ranked_board(discovery.specs(), rows)
    pixels = canvases.pixels_of(figures.MILLIMETRES[width])
    chart = figures.described(made, REXTIME, width)
    assert draw(chart, pixels, Letters()).height <= canvases.pixels_of(200)
    assert len(chart.across[0].texts) == chart.rows
    if models == 19:
        assert chart.rows == models
        assert "The first" not in chart.about
    else:
        assert 20 < chart.rows < models
        assert f"The first {chart.rows} of 60 rows." in chart.about
    few = figures.described(made, REXTIME, width, top=5)
    assert few.rows == 5
    assert f"The first 5 of {models} rows." in few.about


@pytest.mark.parametrize(("value", "first", "last"), [(60.0, "60", "70"), (100.0, "90", "100")])
def test_one_model_without_an_interval_has_a_tenth_of_the_scale(value, first, last):
    rows = [entry("lab/only", value, kind="run", date="2026-11-20")]
    chart = figures.described(board.ranked_board(discovery.specs(), rows), REXTIME, "column")
    words = [label for _, label in chart.across[1].x.ticks]
    assert (words[0], words[-1]) == (first, last)


def test_the_judge_of_a_table_stands_over_its_figure():
    chart = figures.described(_board(), MOVIECORE, "column")
    assert "gpt-4o-mini-2024-07-18, the authors’ judge and prompts" in chart.title


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        pytest.param({"across": []}, "there is no panel", id="empty"),
        pytest.param({"across": [{"x": {}, "y": {}}]}, "neither ticks", id="no ends"),
        pytest.param(
            {"across": [{"x": {"ticks": [[0, "0"]], "scale": "log"}, "y": {}}]},
            "no place",
            id="log",
        ),
        pytest.param({"rows": 2000, "row": 2000}, "higher than", id="high rows"),
        pytest.param(_panel(boxes=[_BOX | {"kind": "c²"}]), "kind", id="kind c²"),
        pytest.param(_panel(boxes=[_BOX | {"kind": "c" + "9" * 5000}]), "kind", id="kind c99"),
        pytest.param(_panel(boxes=[_BOX | {"strength": 100}]), "strength", id="strength 100"),
        pytest.param(_panel(boxes=[_BOX | {"strength": -3}]), "strength", id="strength -3"),
        pytest.param(_panel(boxes=[_BOX | {"y": [0, 9e9]}]), "higher than all", id="high box"),
        pytest.param(_panel(marks=[_MARK | {"kind": "best"}]), "kind", id="kind of a mark"),
        pytest.param(
            _panel(marks=[_MARK | {"i": 10**400}]), "marks.0.i", id="series of 400 digits"
        ),
        pytest.param(_panel(marks=[_MARK | {"x": 1e308}]), "marks.0.x", id="mark at 1e308"),
        pytest.param(_panel(marks=[_MARK | {"name": "W" * 20_000}]), "name", id="long name"),
        pytest.param(_panel(paths=[_path([1e200, 1])]), "points.1.0", id="path to 1e200"),
        pytest.param(_panel(paths=[_path(*[[1, 1]] * 20_000)]), "points", id="many points"),
        pytest.param(_panel(paths=[_path() | {"i": -7}]), "paths.0.i", id="series -7"),
        pytest.param(_panel(x={"from": 0, "to": 5e-324}), "too close", id="denormal axis"),
        pytest.param(_panel(x={"from": 1, "to": 1 + 1e-15}), "too close", id="axis without steps"),
        pytest.param(_square(x={"from": 0, "to": 0}), "has no length", id="square of nothing"),
        pytest.param(_square(y={"from": 0, "to": -5}), "has no length", id="negative square"),
        pytest.param(_square(y={"from": 0, "to": 1e9}), "far more", id="high square"),
        pytest.param(_square(x={"from": 0, "to": 1e-300}), "too close", id="square of 1e-300"),
        pytest.param(
            {"across": [_AXES | {"x": {"from": 0, "to": 1, "least": 10_000}}] * 20},
            "wider than",
            id="wide panels",
        ),
        pytest.param({"across": [_AXES] * 3000}, "across", id="many panels"),
        pytest.param({"key": ["k"] * 20_000}, "key", id="many series"),
        pytest.param({"title": "W" * 100_000}, "title", id="long title"),
        pytest.param({"title": 3}, "title", id="title 3"),
        pytest.param({"colour": "red"}, "colour", id="colour"),
        pytest.param(_plane(paths=[_path([1e9, 1])]), None, id="dashes to 1e9"),
        pytest.param(_plane(paths=[_path([1e12, 1e12])]), None, id="dashes to 1e12"),
        pytest.param(_plane(paths=[_path()]), None, id="one point"),
        pytest.param(_plane(paths=[_path() | {"points": []}]), None, id="no points"),
        pytest.param(_plane(x={"from": 1, "to": 1}), None, id="axis of one number"),
        pytest.param(_plane(y=_AXIS | {"title": "W" * 1000}), None, id="long turned title"),
        pytest.param(_plane(marks=[_MARK | {"name": "W" * 2000}]), None, id="cut name"),
        pytest.param(
            _plane(marks=[_MARK | {"name": "\x00\x1b[31m", "text": "\x1b]0;x\x07"}]),
            None,
            id="signs of a terminal",
        ),
        pytest.param({"title": "\x0b\ufffe\ud800\u202e</title>"}, None, id="signs not in XML"),
    ],
)
def test_a_strangers_chart_is_drawn_or_refused_in_one_line(tmp_path, changes, why):
    chart = figures.described(_board(), REXTIME, "column").model_dump(by_alias=True)
    path = tmp_path / "chart.json"
    path.write_text(json.dumps(chart | changes))
    if why is None:
        pytest.importorskip("matplotlib")
        [(name, read)] = figures.read_charts([path])
        written = figures.write(read, "column", tmp_path, name)
        assert [file.suffix for file in written] == [".pdf", ".svg", ".png"]
        svg = written[1].read_text(encoding="utf-8")
        shown = [element.text or "" for element, _, _ in elements(svg)]
        assert all(text.replace("\n", "").isprintable() for text in shown)
        return
    with pytest.raises(InputError, match=why) as told:
        figures.read_charts([path])
    assert str(told.value).startswith(f"{path} is not a chart of a page: ")
    assert "\n" not in str(told.value)


def test_two_charts_of_one_name_are_refused(tmp_path):
    paths = [tmp_path / folder / "chart.json" for folder in "ab"]
    with pytest.raises(InputError, match="both figures would be chart"):
        figures.read_charts(paths)


def test_a_set_of_figures_is_written_whole_or_not_at_all(tmp_path):
    pytest.importorskip("matplotlib")
    chart = figures.described(_board(), REXTIME, "column")
    (tmp_path / "rextime_column.png").mkdir()
    with pytest.raises(InputError, match=r"rextime_column\.png is a folder"):
        figures.write(chart, "column", tmp_path, "rextime")
    assert [path.name for path in tmp_path.iterdir()] == ["rextime_column.png"]
