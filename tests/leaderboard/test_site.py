"""The page in a real browser, and its files."""

import json
import os
import shutil
from contextlib import contextmanager

import pytest

from reelbench.leaderboard import site, store
from reelbench.registry.errors import ReelbenchError

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EVIL = "</textarea><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
RTL = "\u202eevil\u202c/מודל"


@pytest.fixture(scope="module")
def chromium():
    """A real browser; skipped where there is none, but never in CI."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("no Chromium in CI; tools/setup_browser.py installs it")
        pytest.skip("no Chromium here; tools/setup_browser.py says how to get it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page_of(chromium):
    """Open a site from the disk; afterwards asserts that nothing was logged as an error and nothing left the page."""
    opened = []

    @contextmanager
    def run(folder, address="", *, width=1280, scheme="light", file="index.html"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        page = context.new_page()
        page.set_default_timeout(10_000)
        errors, requests = [], []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"file://{folder / file}{address}")
        opened.append((errors, requests))
        yield page
        context.close()
        assert errors == []
        assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []

    return run


@pytest.fixture(scope="module")
def published_site(tmp_path_factory):
    """The site with published numbers alone."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "store").mkdir()
    site.build(folder / "store", folder / "site")
    return folder / "site"


def names(page):
    return page.locator("table.dataTable tbody .name").all_inner_texts()


def drawn(page, chart):
    page.locator(f"#chart-{chart}").scroll_into_view_if_needed()
    page.wait_for_selector(f"#chart-{chart}[data-drawn=true] svg")
    return page.locator(f"#chart-{chart}")


# --- files ---


def test_the_site_is_the_same_for_the_same_store_and_replaces_the_one_before(rextime_run, tmp_path):
    store.add(rextime_run(), tmp_path / "store")

    def contents():
        return {p.relative_to(tmp_path / "site"): p.read_bytes() for p in (tmp_path / "site").rglob("*") if p.is_file()}

    site.build(tmp_path / "store", tmp_path / "site")
    first = contents()
    (tmp_path / "site" / "data" / "runs" / "old.js").write_text("")
    site.build(tmp_path / "store", tmp_path / "site")
    assert contents() == first
    assert b"org/model" in first[next(path for path in first if path.name == "board.js" and path.parent.name == "data")]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".site")]


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("mine")
    with pytest.raises(ReelbenchError, match="has other files in it"):
        site.build(tmp_path / "store", tmp_path / "home")
    assert (tmp_path / "home" / "thesis.tex").read_text() == "mine"


# --- in the browser ---


@pytest.mark.browser
def test_sorting_by_a_click_and_by_the_keyboard(page_of, published_site):
    with page_of(published_site, "#/moviecore") as page:
        assert names(page)[0] == "Gemini-2.5-flash"
        page.get_by_role("columnheader", name="Coherence").locator(".dt-column-order").click()
        assert names(page)[0] == "GPT-4o (08-06)"
        assert page.locator("th[aria-sort=descending]").inner_text().startswith("Coherence")
        header = page.get_by_role("columnheader", name="Average").locator(".dt-column-order")
        header.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert names(page)[0] == "InstructBLIP (7B)"


@pytest.mark.browser
def test_filter_search_and_column_choice_are_in_the_link(page_of, published_site):
    with page_of(published_site, "#/moviecore") as page:
        page.get_by_label("Search").fill("hermes")
        page.locator("#f-open").select_option("yes")
        assert set(names(page)) == {
            "HERMES (7B)",
            "HERMES (7B) + ACE",
            "HERMES (7B) + ACE, beam 3",
            "HERMES (7B) + ACE, beam 5",
            "HERMES (7B) + ACE, beam 7",
        }
        page.locator("summary", has_text="Columns").click()
        page.get_by_role("checkbox", name="Setting").check()
        page.keyboard.press("Escape")
        page.get_by_role("columnheader", name="Depth").locator(".dt-column-order").click()
        shown, address = names(page), page.url
    with page_of(published_site, address.partition("index.html")[2]) as page:
        assert names(page) == shown
        assert page.get_by_label("Search").input_value() == "hermes"
        assert page.get_by_role("columnheader", name="Setting").is_visible()
        page.get_by_label("Search").fill("no such model")
        assert "Nothing matches" in page.locator("table.dataTable tbody").inner_text()


@pytest.mark.browser
def test_groups_keep_splits_apart(page_of, published_site):
    with page_of(published_site, "#/rextime") as page:
        assert set(names(page)) == {"VideoMind-7B", "VideoMind-2B"}
        assert page.locator(".refs").inner_text().count("Whole video") == 1
        page.get_by_role("button", name="test, mini-test (300)").click()
        assert "VideoMind-7B" not in names(page)
        assert page.locator("table.dataTable tbody tr").count() == 9
        page.locator("#f-split").select_option("val")
        assert set(names(page)) == {"VideoMind-7B", "VideoMind-2B"}


@pytest.mark.browser
def test_the_pictures_are_drawn(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/moviecore") as page:
        assert drawn(page, "dimensions").locator(".scatterlayer .js-line").count() == 6
        page.locator("input.pick").nth(0).check()
        page.locator("input.pick").nth(3).check()
        drawn(page, "dimensions")
        expect(page.locator("#chart-dimensions .scatterlayer .js-line")).to_have_count(2)
        assert "pick=" in page.url
        assert drawn(page, "bars").locator(".bars .point").count() == 20
    with page_of(published_site, "#/curve") as page:
        assert drawn(page, "locales").locator(".heatmaplayer image").count() == 1
        assert "ko-KR" in drawn(page, "locales").inner_text()
        assert drawn(page, "frames").locator(".scatterlayer .point").count() > 3
    with page_of(published_site, "#/rextime") as page:
        assert "floor: Whole video" in drawn(page, "grounding").inner_text()
    with page_of(
        published_site, f"#/dramaqa_cogme?group={'dramaqa_cogme/v1/val/CogME%27s 4,385 tagged questions'}"
    ) as page:
        assert "Identity" in drawn(page, "content").inner_text()


@pytest.mark.browser
def test_dark_mode_follows_the_system_and_the_button(page_of, published_site):
    background = "getComputedStyle(document.body).backgroundColor"
    with page_of(published_site, scheme="dark") as page:
        dark = page.evaluate(background)
        page.get_by_role("button", name="Dark mode").click()
        light = page.evaluate(background)
        assert sum(map(int, dark[4:-1].split(","))) < 150
        assert sum(map(int, light[4:-1].split(","))) > 600
    with page_of(published_site) as page:
        assert page.evaluate(background) == light


@pytest.mark.browser
@pytest.mark.parametrize("address", ["", "#/moviecore", "#/rextime", "#/curve", "#/model/Human", "#/submit", "#/about"])
def test_a_phone_reads_without_scrolling_sideways(page_of, published_site, address):
    with page_of(published_site, address, width=390) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        if address == "#/moviecore":
            assert page.locator("table.dataTable tbody .meter").first.bounding_box()["x"] < 390 - 60
        assert page.locator("h1").is_visible()


@pytest.mark.browser
def test_downloads_of_the_view(page_of, published_site):
    with page_of(published_site, "#/rextime?q=VideoMind") as page:
        page.locator("summary", has_text="Download").click()
        with page.expect_download() as caught:
            page.locator("#save-csv").click()
        lines = open(caught.value.path(), encoding="utf-8").read().splitlines()  # noqa: PTH123, SIM115
        assert caught.value.suggested_filename == "rextime.csv"
        assert lines[0].startswith("Rank,Model,Accuracy at IoU")
        assert lines[1].startswith("1,VideoMind-7B")
        assert len(lines) == 3
        page.locator("summary", has_text="Download").click()
        with page.expect_download() as caught:
            page.locator("#save-json").click()
        found = json.loads(open(caught.value.path(), encoding="utf-8").read())  # noqa: PTH123, SIM115
        assert [row["miou"] for row in found] == [27.61, 24.83]


@pytest.mark.browser
def test_a_models_page_has_provenance_breakdowns_and_samples(page_of, moviecore_run, tmp_path):
    store.add(moviecore_run(), tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site")
    with page_of(tmp_path / "site", "#/moviecore?group=all&src=run") as page:
        page.get_by_role("link", name="org/model").click()
        page.wait_for_selector("dt:has-text('Judge asked')")
        assert page.locator("h1").inner_text() == "org/model"
        assert "ids checked" in page.locator(".entry header").inner_text()
        assert "Theme" in page.locator(".entry table").inner_text()
        page.locator("summary", has_text="Samples").click()
        page.wait_for_selector(".sample")
        assert page.locator(".sample").count() == 12
        assert page.locator(".sample").first.locator("h4").inner_text().startswith("lantern_1")
        page.locator(".sample summary").first.click()
        assert page.locator(".sample details").first.locator(".text").first.inner_text() == '{"score": 0}'
        page.get_by_label("Search these samples").fill("number 3.")
        assert page.locator(".sample").count() == 1


@pytest.mark.browser
def test_hostile_text_is_inert(page_of, moviecore_run, tamper, tmp_path):
    answers = {"lantern_1": EVIL, "lantern_2": RTL, "lantern_3": "long " * 200_000 + "the end"}
    for number, name in enumerate((EVIL, RTL, '=HYPERLINK("http://evil.test")')):
        run = moviecore_run(f"run{number}", model=name, answers=answers)
        tamper(
            run,
            result=lambda found: (
                found["settings"].update(frames=EVIL),
                found["provenance"].update(citation=EVIL, url="javascript:window.pwned=1", note=EVIL),
            ),
        )
        [one] = store.add(run, tmp_path / "store")
        assert one.outcome == "added", one.why
    site.build(tmp_path / "store", tmp_path / "site")
    with page_of(tmp_path / "site", "#/moviecore?group=all&src=run") as page:
        assert EVIL in [text.strip() for text in names(page)]
        drawn(page, "bars")
        drawn(page, "dimensions")
        page.get_by_role("link", name="</textarea>").click()
        page.wait_for_selector("dt:has-text('Judge asked')")
        assert page.locator("h1").inner_text() == EVIL
        page.locator("summary", has_text="Samples").click()
        page.wait_for_selector(".sample")
        assert page.locator(".sample .text").first.inner_text() == EVIL
        assert page.evaluate("window.pwned") is None
        assert page.locator("a[href^='javascript']").count() == 0
        page.get_by_label("Part of the samples").select_option("1")
        long = page.locator(".sample", has_text="lantern_3")
        assert len(long.locator(".text").first.inner_text()) < 5000
        long.get_by_role("button", name="Show all 1,000,007 characters").click()
        assert long.locator(".text").first.inner_text().endswith("the end")
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        # The override's effect ends with the element: what stands beside it reads on from left to right.
        assert page.evaluate("getComputedStyle(document.querySelector('h1 bdi')).unicodeBidi") == "isolate"
    with page_of(tmp_path / "site", "#/overall?src=run") as page:
        assert page.evaluate("window.pwned") is None


@pytest.mark.browser
def test_the_text_pages_and_an_unknown_address(page_of, published_site):
    with page_of(published_site, "#/submit") as page:
        assert "reelbench leaderboard add runs --store results" in page.locator("main").inner_text()
        page.get_by_role("link", name="How it works").click()
        assert "paired bootstrap over the videos" in page.locator("main").inner_text()
        page.get_by_role("link", name="Reelbench, overall table").click()
        assert page.get_by_role("link", name="Overall", exact=True).get_attribute("aria-current") == "page"
    with page_of(published_site, "#/model/%E0%A4%A") as page:
        assert "No result of this name" in page.locator("main").inner_text()


@pytest.mark.browser
def test_keyboard_and_screen_reader(page_of, published_site):
    with page_of(published_site, "#/moviecore") as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        unnamed = page.evaluate(
            """[...document.querySelectorAll('button, input, select, a')].filter((e) => !e.closest('.js-plotly-plot') &&
            !(e.textContent || e.getAttribute('aria-label') || e.labels?.length || e.title)).map((e) => e.outerHTML)"""
        )
        assert unnamed == []
        assert page.locator("table.dataTable").get_attribute("aria-label").startswith("MovieCORE")
        page.get_by_label("Search").fill("gemini")
        assert page.locator("#live").inner_text() == "2 rows"
        page.locator("summary", has_text="Columns").press("Enter")
        page.keyboard.press("Escape")
        assert page.locator("details.menu[open]").count() == 0
