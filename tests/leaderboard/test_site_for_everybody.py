"""The page for everybody: on a phone, in the dark, by keyboard, on paper, and before other people's checkers."""

import gzip
import json
import re

import pytest

from reelbench.leaderboard import site, store
from tests.checkers import invalid, violations
from tests.leaderboard.test_site import lies, names

BRIGHTNESS = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0)"
ROUTES = [
    "",
    "#/moviecore",
    "#/rextime",
    "#/curve",
    "#/dramaqa_cogme",
    "#/model/Human",
    "#/submit",
    "#/about",
]


@pytest.mark.browser
def test_dark_mode_follows_the_system_and_the_button(page_of, published_site):
    with page_of(published_site, scheme="dark") as page:
        page.wait_for_function(f"{BRIGHTNESS} < 150")
        page.get_by_role("button", name="Dark mode").click()
        page.wait_for_function(f"{BRIGHTNESS} > 600")
    with page_of(published_site) as page:
        page.wait_for_function(f"{BRIGHTNESS} > 600")


@pytest.mark.browser
def test_on_a_phone_the_first_row_is_on_the_first_screen(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/moviecore", width=390) as page:
        lies(page, "table.rows tbody .lane", "box.x < 390 - 60 && box.y < 520")
        expect(page.locator("#f-open_weights")).to_be_hidden()
        page.locator("summary", has_text="Filters").click()
        expect(page.locator("#f-open_weights")).to_be_visible()


@pytest.mark.browser
def test_keyboard_and_screen_reader(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/moviecore") as page:
        expect(names(page).first).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        unnamed = page.evaluate(
            """[...document.querySelectorAll('button, input, select, a')].filter((e) =>
            !(e.textContent || e.getAttribute('aria-label') || e.labels?.length || e.title)).map((e) => e.outerHTML)"""
        )
        assert unnamed == []
        expect(page.locator("table.rows")).to_have_attribute("aria-label", re.compile("^MovieCORE"))
        page.get_by_label("Search").fill("gemini")
        expect(page.locator("#live")).to_have_text("2 rows")
        page.locator("summary.tool", has_text="Columns").press("Enter")
        expect(page.locator("details.menu[open]")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator("details.menu[open]")).to_have_count(0)


@pytest.mark.browser
@pytest.mark.parametrize("look", [("light", 1280), ("dark", 390)])
def test_checkers_find_nothing_and_nothing_scrolls_sideways(
    page_of, published_site, checkers, tmp_path, look
):
    from playwright.sync_api import expect

    scheme, width = look
    pages = [published_site / "index.html"]
    for number, address in enumerate(ROUTES):
        with page_of(published_site, address, width=width, scheme=scheme) as page:
            expect(page.locator("h1")).to_be_visible()
            for chart in page.locator(".plot").all():
                chart.scroll_into_view_if_needed()
                expect(chart).to_have_attribute("data-drawn", "true")
            assert violations(page, checkers) == [], address
            page.wait_for_function(f"document.documentElement.scrollWidth === {width}")
            pages.append(tmp_path / f"{number}.html")
            pages[-1].write_text(page.content(), encoding="utf-8")
    if scheme == "light":  # the elements are the same in the dark
        assert invalid(pages, checkers, tmp_path) == set()


@pytest.mark.browser
def test_axe_finds_nothing_on_a_run_with_samples(page_of, moviecore_run, checkers, tmp_path):
    from playwright.sync_api import expect

    store.add(moviecore_run(), tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site")
    with page_of(tmp_path / "site", "#/model/org%2Fmodel", width=390) as page:
        page.locator("summary", has_text="Samples").click()
        expect(page.locator(".sample")).to_have_count(12)
        page.locator(".sample summary").first.click()
        assert violations(page, checkers) == []
        page.wait_for_function("document.documentElement.scrollWidth === 390")


@pytest.mark.browser
@pytest.mark.parametrize(("address", "width"), [("", 390), ("#/moviecore", 1280), ("#/curve", 390)])
def test_the_page_does_not_jump_while_it_is_made(page_of, published_site, address, width):
    from playwright.sync_api import expect

    with page_of(published_site, address, width=width) as page:
        expect(names(page).first).to_be_visible()
        shift = page.evaluate(
            """new Promise((done) => {
                let sum = 0;
                new PerformanceObserver((list) => { for (const e of list.getEntries()) sum += e.value; })
                    .observe({ type: 'layout-shift', buffered: true });
                requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(sum), 0)));
            })"""
        )
        assert shift < 0.1


@pytest.mark.browser
def test_paper_is_light_and_has_table_and_charts(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/moviecore", scheme="dark") as page:
        expect(names(page)).to_have_count(11)  # Table 2, zero-shot
        page.emulate_media(media="print")
        page.wait_for_function(f"{BRIGHTNESS} > 600")
        expect(page.locator("table.rows")).to_be_visible()
        for apart in (".top", ".bar-row", ".picks", ".take"):
            expect(page.locator(apart)).to_be_hidden()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(page.locator("#chart-parts svg[data-marks]")).to_be_visible()


def test_the_page_is_small(published_site):
    """Compressed, as servers send them: a plotting library alone would be sixteen times that."""
    sizes = [len(gzip.compress((published_site / name).read_bytes())) for name in site.ASSETS]
    assert sum(sizes) < 57_600
    assert not (published_site / "lib").exists()
    document = (published_site / "data" / "board.js").read_text(encoding="utf-8")
    assert json.loads(document.removeprefix("globalThis.REELBENCH=").rstrip(";\n"))["rows"]
