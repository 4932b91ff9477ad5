"""The board's first screen as a plot, in a real browser: lanes, comparisons in place, charts to take along."""

import csv
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from reelbench.leaderboard import site, store
from reelbench.registry.records import About
from tests.checkers import violations
from tests.leaderboard.rows import CURVE, MOVIECORE, REXTIME, entry
from tests.leaderboard.test_site import choose, drawn, names, shows
from tests.leaderboard.test_site_of_runs import written

SIZES = (235e9, 72e9, 38e9, 30e9, 8e9, 7e9, 2e9, 0.5e9)


@pytest.fixture(scope="module")
def eight(tmp_path_factory):
    """Eight models on three benchmarks, with intervals, a floor and people, and a mini run of the first."""
    rows = [
        entry(
            f"lab/m{place}",
            value * scale,
            group=group,
            kind="run",
            ci95=((value - 3) * scale, (value + 3) * scale),
            about=About(parameters=size),
        )
        for place, size in enumerate(SIZES)
        for value in [60 - 6 * place]
        for group, scale in ((REXTIME, 1), (CURVE, 1), (MOVIECORE, 0.05))
    ]
    mini = type(REXTIME)("rextime", 1, "mini")
    rows += [
        entry("lab/m0", 90.0, group=mini, kind="run", revision="other"),
        entry("quoted", 20.0, group=mini),
    ]
    rows += [
        entry("floor", 5.0, kind="baseline", setting="floor"),
        entry("people", 95.0, kind="human", setting="human"),
    ]
    return written(tmp_path_factory.mktemp("eight") / "site", rows)


DOTS = """[...document.querySelectorAll('table.rows .dot')].map((dot) => {
    const lane = dot.parentElement.getBoundingClientRect(), ends = dot.parentElement.querySelector('.ends');
    const box = dot.getBoundingClientRect(), at = (x) => (x - lane.left) / lane.width;
    const { value, ciLow, ciHigh } = dot.dataset;
    return { value: +value, low: +ciLow, high: +ciHigh, y: box.bottom, place: at((box.left + box.right) / 2),
        from: ends && at(ends.getBoundingClientRect().left), to: ends && at(ends.getBoundingClientRect().right) };
})"""


@pytest.mark.browser
@pytest.mark.representative
def test_every_dot_with_an_interval_says_its_numbers_on_the_first_screen(page_of, eight, checkers):
    from playwright.sync_api import expect

    with page_of(eight, width=1440) as page:
        shows(page, *(f"lab/m{place}" for place in range(8)))  # the mini run is no row of its own
        dots = page.evaluate(DOTS)
        assert len(dots) == 24
        assert sum(dot["y"] < 900 for dot in dots) >= 3
        # On CURVE's lane, from whatever to whatever, places are linear in the numbers: 60 and 18
        # with their intervals.
        lane = dots[::3]
        slope = (lane[0]["place"] - lane[7]["place"]) / (60 - 18)
        for dot in lane:
            assert dot["place"] == pytest.approx(
                lane[7]["place"] + slope * (dot["value"] - 18), abs=0.01
            )
            assert (dot["low"], dot["high"]) == (dot["value"] - 3, dot["value"] + 3)
            assert dot["from"] == pytest.approx(dot["place"] - 3 * slope, abs=0.02)
            assert dot["to"] == pytest.approx(dot["place"] + 3 * slope, abs=0.02)
        expect(page.locator(".headline")).to_contain_text(
            "m0 leads on all three benchmarks, ahead of the next by 6.0 points on CURVE"
        )
        expect(page.locator(".trust")).to_contain_text("24 runs, recomputed")
        expect(page.locator(".trust")).to_contain_text(
            "MovieCORE judged by gpt-4o-mini-2024-07-18 (the authors’ judge)"
        )
        expect(page.locator(".trust")).to_contain_text("ReXTime scored by rule")
        # Who gave a lane's numbers stands over them.
        units = [
            "%; judge: gemini-2.5-flash",
            "of 5; judge: gpt-4o-mini-2024-07-18",
            "%; scored by rule",
        ]
        expect(page.locator("th.lane-cell .unit")).to_have_text(
            [re.compile(f"{re.escape(text)}$") for text in units]
        )
        rows = page.locator(".rows").bounding_box()
        assert page.locator(".key").bounding_box()["y"] == pytest.approx(
            rows["y"] + rows["height"], abs=2
        )
        # The numbers of an axis stand over their places in the lanes.
        under = page.locator("td .lane").first.bounding_box()
        over = [place.bounding_box() for place in page.locator("th .axis").first.locator("i").all()]
        ends = [box["x"] + box["width"] / 2 for box in (over[0], over[-1])]
        assert ends == pytest.approx([under["x"], under["x"] + under["width"]], abs=1)
        assert violations(page, checkers) == []
        # The shade changes where no range reaches across: not at the third row, to which the
        # second's does.
        ranges = [[1, 2], [1, 3], [3, 4], [3, 4], [5, 7], [5, 7], [6, 8], [8, 8]]
        page.evaluate(
            "(all) => { all.forEach((of, i) => (Reelbench.data.overall[i].ranks = of)); Reelbench.render(); }",
            ranges,
        )
        expect(page.locator("table.rows tbody tr")).to_have_class(["band"] * 4 + ["band odd"] * 4)


@pytest.mark.browser
def test_what_holds_for_all_runs_of_a_table_is_said_once_above_it(page_of, tmp_path):
    from playwright.sync_api import expect

    doubted = {"kind": "run", "stated": "references, answers, judge replies", "data": "unstated"}
    rows = [entry("a", 30.0, **doubted), entry("b", 20.0, **doubted), entry("quoted", 10.0)]
    said = ".trust li:first-child"
    with page_of(written(tmp_path / "all", rows), "#/rextime") as page:
        expect(page.locator(said)).to_have_text(
            "2 runs, recomputed from every answer; references, answers unchecked; data unstated"
        )
        expect(page.locator(".rows .badge")).to_have_text(["published"])
        expect(page.locator(".key")).to_contain_text("score")
        expect(page.locator(".key")).not_to_contain_text("interval")  # none is drawn
    with page_of(
        written(tmp_path / "some", [*rows, entry("c", 15.0, kind="run")]), "#/rextime"
    ) as page:
        doubts = "references of 2, answers of 2 unchecked; data of 2 unstated"
        expect(page.locator(said)).to_have_text(f"3 runs, recomputed from every answer; {doubts}")
        expect(
            page.locator(".rows .badge", has_text="recomputed from stated references")
        ).to_have_count(2)
        expect(page.locator(".rows .badge").get_by_text("recomputed", exact=True)).to_have_count(1)


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 768])
def test_one_lane_at_a_time_on_a_phone_and_nothing_scrolls_sideways(page_of, eight, width):
    from playwright.sync_api import expect

    with page_of(eight, width=width) as page:
        expect(names(page)).to_have_count(8)
        page.wait_for_function(f"document.documentElement.scrollWidth === {width}")
        lanes = page.locator("th.lane-cell .sort")
        if width > 640:
            expect(lanes).to_have_count(3)
            return
        # Beside the overall rank stands what it is made of, no single benchmark's number.
        expect(lanes).to_have_text(["Mean win rate↕"])
        expect(page.locator("th.rank-cell .unit")).to_have_text("overall")
        page.get_by_label("Compare lab/m0").check()
        expect(page.locator(".compare-note")).to_contain_text("m0 pinned. CURVE:")
        expect(page.locator(".compare-note")).to_contain_text("MovieCORE:")
        page.get_by_label("Compare lab/m0").uncheck()
        page.locator("#lane").select_option(label="MovieCORE")
        expect(lanes).to_have_text(["MovieCORE↕"])
        expect(page.locator("#lane")).to_be_focused()
        assert page.locator(".lane .dot").first.evaluate("(dot) => +dot.dataset.value") == 3
        expect(page.locator("input.pick").first).to_be_visible()


@pytest.mark.browser
@pytest.mark.usefixtures("few_videos")
@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_compared_is_exactly_what_is_ticked(
    page_of, rextime_run, checkers, tmp_path, width
):
    from playwright.sync_api import expect

    for name, right in (("best", 12), ("close", 11), ("far", 1)):
        store.add(rextime_run(name, model=f"org/{name}", right=right), tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site", published=False)
    with page_of(tmp_path / "site", "#/rextime", width=width) as page:
        compared = page.locator("[data-compared]")
        page.get_by_label("Compare org/best").check()
        expect(compared).to_have_count(1)
        row = names(page).nth(1).locator("xpath=ancestor::tr")
        expect(row.locator(".difference .dot")).to_have_attribute("data-value", "-8.333333")
        expect(page.locator(".compare-note")).to_contain_text(
            "best is better than 1 model, not told apart from 1."
        )
        expect(page.locator(".key .of-pin:visible")).to_have_text(
            [
                re.compile("adjusted 95 % interval"),
                "better than the pinned",
                "not told apart",
                "worse",
            ]
        )
        expect(page.locator(".key .of-scores:visible")).to_have_count(0)
        page.get_by_label("Compare org/far").check()
        expect(compared).to_have_count(2)
        expect(compared.locator(".name")).to_have_text(["org/best", "org/far"])
        expect(page.get_by_label("Compare org/far")).to_be_focused()
        expect(compared.nth(1)).to_contain_text("−91.7")
        expect(compared.nth(1).locator(".difference .dot")).to_have_attribute(
            "data-value", "-91.66667"
        )
        expect(page.locator(".compare-note")).to_contain_text("far minus it: −91.7")
        expect(drawn(page, "wins").locator("rect")).to_have_count(2)
        page.get_by_label("Compare org/close").check()
        expect(compared).to_have_count(3)
        expect(compared.nth(1)).to_contain_text("can’t be told apart")
        axis = page.locator("th.lane-cell .axis i")  # one axis, labelled, with its zero
        assert "0" in axis.all_inner_texts()
        expect(page.locator("th.lane-cell .unit")).to_have_text("minus the pinned, points")
        expect(drawn(page, "wins").locator("rect")).to_have_count(6)
        assert violations(page, checkers) == []
        page.get_by_label("Search").fill("close")  # what is ticked and filtered away stands above
        expect(names(page)).to_have_text(["org/best", "org/far", "org/close"])
        page.get_by_role("button", name="Clear the ticks").click()
        expect(compared).to_have_count(0)
        shows(page, "org/close")


@pytest.mark.browser
def test_rows_without_a_main_score_wait_behind_a_button(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/overall") as page:
        button = page.get_by_role("button", name="published without a main score")
        shown, left = names(page).count(), int(button.inner_text().split()[1])
        button.click()
        expect(page.locator(".table-foot")).to_contain_text(f"of {shown + left}")
        page.wait_for_url("**all=1**")


@pytest.mark.browser
def test_filters_say_how_many_and_sizes_come_in_their_order(page_of, eight):
    from playwright.sync_api import expect

    with page_of(eight, "#/rextime") as page:
        choose(page, "size", "under 10 B")
        sizes = [
            "under 4 B (2)",
            "under 10 B (2)",
            "under 40 B (2)",
            "under 100 B (1)",
            "100 B and more (1)",
        ]
        assert page.locator("#f-size option").all_inner_texts() == ["All", *sizes]
        shows(page, "lab/m4", "lab/m5")
        expect(page.locator("summary", has_text="Filters (1)")).to_be_visible()


@pytest.mark.browser
def test_charts_hold_their_data_and_can_be_taken_along(page_of, eight, checkers):
    from playwright.sync_api import expect

    with page_of(eight, "#/rextime") as page:
        chart = drawn(page, "against-size")
        width = chart.evaluate("(place) => place.clientWidth")
        places = chart.locator(".mark").evaluate_all(
            "(marks) => marks.map((mark) => mark.transform.baseVal[0].matrix.e)"
        )
        assert len(places) == 8
        grid = chart.locator(".gridline").evaluate_all(
            "(all) => all.map((one) => +one.getAttribute('x1'))"
        )
        assert min(grid) - 0.1 <= min(places) <= max(places) <= max(grid) + 0.1 < width
        first = chart.locator("[data-tip]").first
        first.focus()
        expect(page.locator(".tip")).to_have_text("m7: 18.0")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".tip")).to_have_text("m6: 24.0")
        files = {}
        for kind in ("SVG", "PNG", "CSV"):
            with page.expect_download() as caught:
                page.get_by_role("button", name=f"Score against size as {kind}").click()
            assert caught.value.suggested_filename == f"against-size.{kind.lower()}"
            files[kind] = Path(caught.value.path())
        rows = list(csv.reader(files["CSV"].open(encoding="utf-8-sig")))
        assert rows[1][:3] == ["m7", "0.5", "18"]
        assert len(rows) == 9
        assert files["PNG"].read_bytes().startswith(b"\x89PNG")
        root = ET.parse(files["SVG"]).getroot()  # noqa: S314 - our own
        texts = "".join(root.itertext())
        assert "Score against size" in texts
        assert "ReXTime · val · scored by rule · Reelbench · 8 runs recomputed" in texts
        assert "class" not in {name for element in root.iter() for name in element.attrib}
        assert "var(" not in files["SVG"].read_text(encoding="utf-8")
        assert violations(page, checkers) == []


@pytest.mark.browser
def test_a_models_page_begins_with_a_summary_and_searches_all_samples(page_of, eight):
    from playwright.sync_api import expect

    with page_of(eight, "#/model/lab%2Fm2") as page:
        lines = page.locator(".summary tbody tr")
        expect(lines).to_have_count(3)
        expect(lines.nth(2)).to_contain_text("3 of 8")
        expect(lines.nth(2).locator(".dot")).to_have_attribute("data-ci-low", "45")
        page.locator("summary", has_text="BibTeX").click()
        expect(page.locator("pre")).to_contain_text("ReXTime: A Benchmark Suite")
    with page_of(eight, "#/model/lab%2Fm0") as page:
        expect(page.locator(".summary tbody tr")).to_have_count(3)
        expect(page.locator("summary", has_text="mini data")).to_contain_text("(1)")


@pytest.mark.browser
def test_all_charts_are_drawn_wherever_the_page_is_scrolled_and_fit_on_paper(page_of, eight):
    with page_of(eight, "#/rextime") as page:
        page.locator(".plot").first.wait_for(state="attached")
        page.wait_for_function(
            "() => [...document.querySelectorAll('.plot')].every((plot) => plot.dataset.drawn)"
        )
        assert page.evaluate("scrollY") == 0
        assert page.locator(".plot").count() >= 1
        # A printer waits for nothing, so neither does this.
        widths = page.evaluate("""() => { dispatchEvent(new Event("beforeprint"));
            return [...document.querySelectorAll(".plot")].map((plot) => plot.dataset.width); }""")
        assert set(widths) == {"680"}
