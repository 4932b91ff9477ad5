"""Each chart of a page, its files and its picture have the marks of its one description."""

from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote

import pytest
from PIL import Image, ImageColor

from reelbench.pages import canvases
from reelbench.pages.chart import Chart, Panel
from reelbench.pages.drawing import draw
from reelbench.pages.letters import Letters
from reelbench.pages.shapes import Words
from reelbench.registry import discovery
from reelbench.registry.records import About, MetricValue
from tests.leaderboard.rows import MOVIECORE, REXTIME, entry
from tests.leaderboard.test_site_of_runs import written
from tests.pages.drawn import SVG, elements, find_line, segments, whiskers

pytestmark = pytest.mark.browser
NAME = "organisation/A-Model-of-a-Rather-Long-Name-{}B-Instruct"
CHARTS = {
    "#/rextime": {"grounding", "frames", "against-size", "against-cost", "against-released"},
    "#/moviecore": {"parts", "frames", "against-size", "against-cost", "against-released"},
}
LIVE = """(place) => {
  const box = place.querySelector("svg[data-marks]").getBoundingClientRect();
  const at = (one) => { const own = one.getBoundingClientRect(); return [(own.left + own.right) / 2 - box.left, (own.top + own.bottom) / 2 - box.top]; };
  return Object.fromEntries([...place.querySelectorAll("[data-marks] .mark")].map((one) => [one.getAttribute("aria-label"), at(one)]));
}"""


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    """Six models with intervals in every metric, sizes, days, tokens and frames."""
    specs = discovery.specs()
    moviecore = specs["moviecore"].primary
    names = {
        "rextime": ["accuracy_at_iou_0.5", "accuracy", "miou"],
        "moviecore": [moviecore.name, *moviecore.aggregate.metrics],
    }
    rows = []
    for place, size in enumerate((2, 7, 8, 30, 72, 241)):
        for group, scale in ((REXTIME, 1.0), (MOVIECORE, 0.05)):
            metrics = {}
            for number, name in enumerate(names[group.benchmark]):
                value = (30 + 7 * place + 2 * number) * scale
                ends = (value - 3 * scale, value + 4 * scale)
                metrics[name] = MetricValue(value=value, ci95=ends, n=300)
            model = NAME.format(size)
            about = About(parameters=size * 1e9, released=f"2025-0{place + 1}")
            more = {"about": about, "tokens_in": 400 * (place + 1), "tokens_out": 20}
            frames = f"uniform:{2**place}"
            rows.append(entry(model, 1.0, group=group, kind="run", metrics=metrics, frames=frames, **more))  # fmt: skip
    return written(tmp_path_factory.mktemp("six") / "site", rows)


@contextmanager
def taken(page, place, kind):
    """Give a chart's file of a kind."""
    button = place.locator("xpath=ancestor::section[1]").get_by_role("button", name=f"as {kind}")
    with page.expect_download() as caught:
        button.click()
    yield Path(caught.value.path())


def _held(chart, svg):
    """Return the intervals' lines, each with its colour, after holding the file against its chart."""
    coloured = dict(segments(svg))
    lines = []
    for _, low, high in whiskers(chart, svg):
        line = find_line(coloured, low, high)
        lines.append((line, ImageColor.getrgb(coloured[line])))
    return lines


@pytest.mark.parametrize(("address", "scheme"), [("#/rextime", "light"), ("#/moviecore", "dark")])
def test_page_file_and_picture_have_the_marks_of_the_description(page_of, six, address, scheme):
    shown = set()
    for number in range(len(CHARTS[address])):
        with page_of(six, address, scheme=scheme) as page:
            page.locator(".plot").nth(number).scroll_into_view_if_needed()
            page.wait_for_function(
                "() => [...document.querySelectorAll('.plot')].every((plot) => plot.dataset.drawn)"
            )
            place = page.locator(".plot").nth(number)
            shown.add(place.get_attribute("id").removeprefix("chart-"))
            with taken(page, place, "JSON") as path:
                chart = Chart.model_validate_json(path.read_text(encoding="utf-8"))
            with taken(page, place, "SVG") as path:
                svg = path.read_text(encoding="utf-8")
            with taken(page, place, "PNG") as path:
                picture = Image.open(path).convert("RGB")
            live = place.evaluate(LIVE)
        [panel] = [part for part in chart.across if isinstance(part, Panel)]
        # On the page marks lie as in the description: equal steps of numbers are equal steps.
        assert {mark.text for mark in panel.marks} == set(live)
        by_x = sorted(panel.marks, key=lambda mark: mark.x)
        assert live[by_x[0].text][0] <= live[by_x[-1].text][0]
        lines = _held(chart, svg)
        assert len(lines) == len(panel.marks)
        assert "var(" not in svg
        assert "class=" not in svg
        texts = " ".join(e.text or "" for e, _, _ in elements(svg) if e.tag == f"{SVG}text")
        assert chart.title in texts
        for said in ("6 runs recomputed", "95 % interval", "n = 6 rows"):
            assert said in texts
        assert ("scored by rule" if address == "#/rextime" else "gpt-4o-mini-2024-07-18") in texts
        for (x1, y1, x2, y2), colour in lines:
            for x, y, other_x, other_y in ((x1, y1, x2, y2), (x2, y2, x1, y1)):
                inward = ((other_x > x) - (other_x < x), (other_y > y) - (other_y < y))
                pixel = picture.getpixel((round(2 * x + inward[0]), round(2 * y + inward[1])))
                assert min(pixel) < 200, (chart.title, pixel)  # a line of the chart may lie on it
                beyond = picture.getpixel(
                    (round(2 * x - 4 * inward[0]), round(2 * y - 4 * inward[1]))
                )
                assert not _is_tint(beyond, colour)
        # The drawer in Python takes the same description.
        for width in (canvases.pixels_of(84), 720):
            assert len(_held(chart, canvases.to_svg(draw(chart, width, Letters())))) == len(lines)
        assert Image.open(BytesIO(canvases.to_png(draw(chart, 720, Letters())))).width == 1440
    assert shown == CHARTS[address]


def _is_tint(pixel, colour):
    """Return True where a pixel is a colour, or half of it on white."""
    full = max(abs(a - b) for a, b in zip(pixel, colour, strict=True)) < 60
    half = max(abs(a - (b + 255) / 2) for a, b in zip(pixel, colour, strict=True)) < 45
    return full or half


BOXES = """() => { const svg = document.querySelector("svg"), box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].map((one) => { const own = one.getBoundingClientRect();
    return [one.textContent, own.left - box.left, box.right - own.right, own.top - box.top, box.bottom - own.bottom]; }); }"""


def test_a_copied_picture_has_whole_names_and_nothing_beyond_its_edges(page_of, six):
    with page_of(six, "#/rextime", width=390, scheme="dark") as page:
        page.wait_for_function("() => globalThis.Reelbench?.takePicture")
        # The picture is made from this file.
        page.evaluate("""async () => { await Reelbench.more(); const { decode } = Image.prototype;
            Image.prototype.decode = function () { globalThis.taken = this.src; return decode.call(this); }; }""")
        page.get_by_role("button", name="Copy as picture").click()
        page.wait_for_function("() => globalThis.taken")
        svg = unquote(page.evaluate("() => globalThis.taken").partition(",")[2])
        sheet = page.context.new_page()
        sheet.set_content(svg)
        found = sheet.evaluate(BOXES)
    words = [text for text, *_ in found]
    assert {NAME.format(size) for size in (2, 7, 8, 30, 72, 241)} <= set(words)
    assert "scored by rule" in " ".join(words)
    for text, *margins in found:
        assert min(margins) >= 0, (text, margins)
    assert 'fill="#fff"' in svg


def test_each_of_few_points_has_a_name_and_none_stands_on_an_interval(page_of, tmp_path):
    rows = []
    for place in range(12):
        metrics = {
            name: MetricValue(value=50.0 + place, ci95=(35.0 + place, 62.0 + place), n=300)
            for name in ("accuracy_at_iou_0.5", "accuracy", "miou")
        }
        rows.append(entry(NAME.format(place), 1.0, kind="run", metrics=metrics))
    with page_of(written(tmp_path / "site", rows), "#/rextime", width=1440) as page:
        chart = page.locator("#chart-grounding[data-drawn] svg[data-marks]")
        chart.wait_for()
        crossed = chart.evaluate(
            """(svg) => {
              const names = [...svg.querySelectorAll("text")].filter((one) => /-Instruct/.test(one.textContent));
              const upright = [...svg.querySelectorAll("line.ends")].filter((one) => one.x1.baseVal.value === one.x2.baseVal.value && one.getBBox().height > 12);
              const crosses = (a, b) => a.x < b.x && b.x < a.x + a.width && a.y + 3 < b.y + b.height && b.y < a.y + a.height - 4;
              return [names.length, upright.length, names.filter((one) => upright.some((line) => crosses(one.getBBox(), line.getBBox()))).length];
            }"""
        )
        on_page = " ".join(chart.locator("text").all_text_contents())
        with taken(page, chart, "JSON") as path:
            described = Chart.model_validate_json(path.read_text(encoding="utf-8"))
    named, upright, across = crossed
    assert (named >= 1, upright, across) == (True, 12, 0)
    # A name without room stands below the chart, behind its mark's number.
    drawn = draw(described, 720, Letters())
    in_file = " ".join(part.text for part in drawn.parts if isinstance(part, Words))
    for place in range(12):
        name = NAME.format(place).partition("/")[2]
        assert name in on_page
        assert name in in_file
    assert " · " in on_page
