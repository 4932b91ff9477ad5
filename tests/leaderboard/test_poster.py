"""The tables as posters: how many rows, what a click compares, an order over a reader's own choice of benchmarks."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from reelbench.base.errors import InputError
from reelbench.leaderboard import board, site, store
from reelbench.leaderboard.site_files import SiteFiles
from reelbench.registry import discovery
from reelbench.registry.records import MetricValue
from tests.checkers import violations
from tests.leaderboard.rows import CURVE, MOVIECORE, REXTIME, entry
from tests.leaderboard.test_site import shows
from tests.leaderboard.test_site_of_runs import written

pytestmark = pytest.mark.browser

LONG = "an-organisation/Some-Multimodal-Model-235B-A22B-Instruct-"


@pytest.fixture(scope="module")
def twenty(tmp_path_factory):
    """Twenty models with long names on three benchmarks; the best was not run on one, the last has a few unscored."""
    rows = [
        entry(
            f"{LONG}{n}",
            (90 - 3 * n) * scale,
            group=group,
            kind="run",
            ci95=((88 - 3 * n) * scale, (92 - 3 * n) * scale),
            unscored=3 if n == 19 else None,
        )
        for n in range(20)
        for group, scale in ((REXTIME, 1), (CURVE, 1), (MOVIECORE, 0.05))
        if n or group is not CURVE
    ]
    return written(tmp_path_factory.mktemp("twenty") / "site", rows)


@pytest.mark.parametrize("address", ["", "#/rextime"])
def test_rows_of_one_line_fill_the_first_screen(page_of, twenty, address):
    with page_of(twenty, address, width=1440) as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        for width, height, least in ((1440, 900, 14), (1920, 1080, 18)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(  # a window's new size is a step later the page's
                """([height, least]) => [...document.querySelectorAll("table.rows tbody tr")]
                    .filter((row) => row.getBoundingClientRect().bottom <= height).length >= least""",
                arg=[height, least],
            )
            boxes = page.evaluate(  # in one step: the page draws rows anew for a window's size
                """() => [...document.querySelectorAll("table.rows tbody tr")]
                    .map((row) => row.getBoundingClientRect())"""
            )
            assert {box["height"] for box in boxes} == {40}
            assert sum(box["bottom"] <= height for box in boxes) >= least
            assert page.locator(".scroll").evaluate(
                "(box) => box.scrollWidth <= box.clientWidth"
            )  # the table is whole
            headline, trust = (
                page.locator(".headline").bounding_box(),
                page.locator(".trust").bounding_box(),
            )
            assert headline["height"] <= 2 * 1.4 * 17
            assert trust["y"] + trust["height"] < height
        # The head stays, with its axes, where the rows scroll under it.
        page.mouse.wheel(0, 500)
        page.wait_for_function("() => scrollY > 100")
        top = page.locator("thead th").first.bounding_box()["y"]
        assert top >= page.locator(".top").bounding_box()["height"] - 1
        page.locator("th.lane-cell .axis").first.wait_for(state="visible")


@pytest.mark.parametrize("address", ["", "#/rextime"])
def test_at_390_a_headline_of_three_lines_and_rows_for_a_thumb(page_of, twenty, checkers, address):
    with page_of(twenty, address, width=390) as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.locator(".headline").bounding_box()["height"] <= 3 * 1.4 * 14 + 1
        # A clause without room waits behind "more": none is cut in the middle.
        assert page.locator(".headline").evaluate(
            "(line) => line.scrollHeight <= line.clientHeight + 1"
        )
        trust = page.locator(".trust").bounding_box()
        assert trust["y"] + trust["height"] < 844
        heights = [
            row.bounding_box()["height"] for row in page.locator("table.rows tbody tr").all()
        ]
        assert min(heights) >= 44
        assert max(heights) <= 72
        cut = page.locator(".rows :is(.who, .name, .badges)").evaluate_all(
            "all => all.filter((one) => one.scrollHeight > one.clientHeight + 1"
            " || one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
        )
        assert cut == []
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert violations(page, checkers) == []


def test_a_lower_bound_has_one_sign_and_no_line_of_its_own(page_of, twenty):
    from playwright.sync_api import expect

    with page_of(twenty, "#/rextime") as page:
        last = page.locator("table.rows tbody tr").last
        expect(last.locator(".forest b")).to_have_text("≥ 33.0")
        expect(last).to_contain_text("3 unscored")  # for who hears it
        key = page.locator(".key")
        expect(key.get_by_text("≥ lower bound")).to_be_visible()
        expect(key.get_by_text("≥ or † lower bound")).to_be_hidden()
        last.locator(".pick").click()
        expect(key.get_by_text("≥ or † lower bound")).to_be_visible()


def test_a_reader_unticks_a_benchmark_and_sees_the_order_on_the_others(page_of, tmp_path):
    from playwright.sync_api import expect

    # By hand: without pairs nobody is told apart, so win rates are ½ each; published boards go by
    # their values.
    values = {"a": (30.0, 5.0), "b": (20.0, 10.0), "c": (10.0, 20.0)}
    rows = [
        entry(name, value, group=group)
        for name, of in values.items()
        for group, value in zip((REXTIME, CURVE), of, strict=True)
    ]
    with page_of(written(tmp_path / "site", rows)) as page:
        shows(page, "a", "b", "c")  # 1 + 0, ½ + ½, 0 + 1: one half each
        ranks = page.locator("table.rows tbody .rank")
        expect(ranks).to_have_text(["1", "1", "1"])
        page.locator("summary", has_text="Benchmarks: all").click()
        page.get_by_role("checkbox", name="ReXTime").uncheck()
        shows(page, "c", "b", "a")
        expect(ranks).to_have_text(["1", "2", "3"])
        expect(page.locator(".headline")).to_contain_text("c has the highest win rate on CURVE")
        assert "without=rextime" in page.url
        address = page.url
        page.go_back()
        shows(page, "a", "b", "c")
        page.goto(address)
        page.reload()
        shows(page, "c", "b", "a")
        page.get_by_role("button", name="Rank on all").click()
        expect(ranks).to_have_text(["1", "1", "1"])


@pytest.mark.parametrize("width", [360, 390, 768, 1024, 1280, 1440, 1920])
def test_every_menu_opens_inside_the_window(page_of, twenty, width):
    with page_of(twenty, width=width) as page:
        page.set_viewport_size({"width": width, "height": 900})
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        for button in page.locator("details.menu > summary").all():
            button.click()
            page.wait_for_function(  # a menu is moved into the window after it opens
                """() => document.querySelector("details.menu[open] .pop")
                    .getBoundingClientRect().x >= 0"""
            )
            box = page.locator("details.menu[open] .pop").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            page.keyboard.press("Escape")


def test_skip_goes_to_the_table_and_a_wrong_address_says_so(page_of, twenty):
    from playwright.sync_api import expect

    with page_of(twenty, "#/rextime") as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("table.rows")).to_be_focused()
        assert page.url.endswith("#/rextime")
    with page_of(twenty, "#/rextim") as page:
        expect(page.locator(".banner")).to_have_text(
            "There is no page rextim here. This is the overall table."
        )


@pytest.mark.parametrize(("width", "height"), [(1280, 62), (1100, 62)])
def test_the_tools_stand_beside_the_title(page_of, twenty, width, height):
    with page_of(twenty, width=width) as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        assert page.locator(".page-head").bounding_box()["height"] <= height
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_narrow_window_counts_the_columns_that_it_hides(page_of, twenty):
    from playwright.sync_api import expect

    with page_of(twenty, width=768) as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        button = page.locator(".tools summary", has_text="Columns")
        expect(button).to_have_text("Columns (3 hidden)")
        # What ranks the models is in view.
        rate = page.locator("th", has_text="Mean win rate").bounding_box()
        assert rate["x"] + rate["width"] <= 768
        page.set_viewport_size({"width": 1920, "height": 900})
        expect(button).to_have_text("Columns")


def test_a_first_clause_without_room_stands_whole_with_more_behind_it(page_of, tmp_path):
    from playwright.sync_api import expect

    names = [f"organisation/A-Model-of-a-Very-Long-Name-That-Fills-a-Line-{n}B" for n in (1, 2, 3)]
    rows = [
        entry(name, 50.0, group=group, kind="run")
        for group in (REXTIME, CURVE)
        for name in (*names, "other")
    ]
    with page_of(written(tmp_path / "site", rows), "#/rextime", width=360) as page:
        line = page.locator(".headline")
        expect(line.locator("span").first).to_be_visible()
        assert line.evaluate("(line) => line.scrollHeight <= line.clientHeight + 1")
        words = line.inner_text()
        assert "…" not in words.replace("… more", "")


def test_the_order_over_all_is_the_one_of_the_board(page_of, twenty):
    with page_of(twenty) as page:
        # The table's script is loaded once the head is painted.
        page.wait_for_function("() => Reelbench.standings !== undefined")
        found = page.evaluate("""() => { const { data, standings } = Reelbench;
            const over = data.groups.map((group, i) => ({ ...group, i })).filter((group) => group.counts);
            return [...standings(data.overall, over, () => {})].map(([model, own]) => [model.rank - own.rank,
                Math.abs(model.rate - own.rate) < 1e-4, model.covered - own.covered, model.of - own.of]); }""")
        assert found == [[0, True, 0, 0]] * 20


@pytest.mark.usefixtures("few_videos")
@pytest.mark.parametrize("width", [1280, 390])
def test_a_click_on_a_row_pins_it_back_undoes_it_and_a_difference_opens_its_questions(
    page_of, rextime_run, checkers, tmp_path, width
):
    from playwright.sync_api import expect

    for name, right in (("best", 12), ("close", 11), ("far", 1)):
        store.add(rextime_run(name, model=f"org/{name}", right=right), tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site", published=False)
    with page_of(tmp_path / "site", "#/rextime", width=width) as page:
        shows(page, "org/best", "org/close", "org/far")
        row = page.locator("table.rows tbody tr", has=page.locator(".name", has_text="close"))
        row.locator(".lane").click()
        shows(page, "org/close", "org/best", "org/far")
        expect(page.locator(".compare-note")).to_contain_text(
            "close is better than 1 model, not told apart from 1."
        )
        page.wait_for_url("**pick=**")
        far = page.locator("table.rows tbody tr", has=page.locator(".name", has_text="far"))
        expect(far.locator("b")).to_contain_text("−83.3")
        far.locator(".lane").click()
        box = page.get_by_role("dialog")
        expect(box).to_contain_text(
            "12 questions have a score in both: 10 speak for close, 0 for far, 2 for neither"
        )
        expect(box).to_contain_text("close right, far wrong: 10 questions")
        expect(box.locator(".ids li")).to_have_count(10)
        expect(box.locator("pre")).to_have_text(
            re.compile(r"^reelbench view results/org__close\S+ results/org__far\S+ --only A-not-B$")
        )
        assert violations(page, checkers) == []
        page.keyboard.press("Escape")
        expect(box).to_have_count(0)
        assert violations(page, checkers) == []
        page.go_back()
        shows(page, "org/best", "org/close", "org/far")
        expect(page.locator(".compare-note")).to_be_hidden()
        page.get_by_role("columnheader", name="Model").get_by_role("button").click()
        shows(page, "org/best", "org/close", "org/far")
        page.go_back()
        expect(page.locator("th[aria-sort]")).to_contain_text("Rank")


@pytest.mark.parametrize("address", ["", "#/rextime"])
def test_what_to_cite_stands_with_every_table(page_of, twenty, checkers, address):
    from playwright.sync_api import expect

    with page_of(twenty, address) as page:
        page.locator("summary", has_text="BibTeX").click()
        expect(page.locator("details[open] pre")).to_contain_text("ReXTime: A Benchmark Suite")
        expect(page.locator("details[open] pre")).to_contain_text("@software{reelbench")
        assert violations(page, checkers) == []


def test_the_table_is_copied_as_a_picture(page_of, twenty):
    with page_of(twenty, "#/rextime") as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        page.evaluate("void (navigator.clipboard.write = () => Promise.reject(new Error('no')))")
        with page.expect_download() as caught:
            page.get_by_role("button", name="Copy as picture").click()
        assert caught.value.suggested_filename == "rextime.png"
        picture = Image.open(Path(caught.value.path()))
        assert picture.width > 1200
        assert picture.height > 2 * 20 * 30
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 10


class _Page(HTMLParser):
    """What a preview of a link reads: tags of the head, and the cells of a table that is there without scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.cells, self.inside = {}, [], None

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag == "meta" and "content" in found:
            self.tags[found.get("property") or found.get("name")] = found["content"]
        self.inside = tag

    def handle_data(self, data):
        if self.inside in ("td", "th"):
            self.cells.append(data)


def test_a_posted_link_says_what_the_board_is_and_the_page_has_its_first_rows_without_scripts(
    tmp_path,
):
    name = '"><script>evil</script>'
    rows = [
        entry(f"lab/{n}", 60.0 - n, group=group, kind="run")
        for n in range(12)
        for group in (REXTIME, CURVE)
    ]
    rows.append(entry(name, 99.0, kind="run", unscored=3, lowest=MetricValue(value=99.0, n=10)))
    rows[7] = replace(rows[7], unranked="5 of 300 items")  # of lab/3
    text = (written(tmp_path / "site", rows) / "index.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert page.tags["og:title"] == "Reelbench leaderboard: CURVE, ReXTime"
    assert page.tags["og:description"] == page.tags["description"]
    assert "lab/0" in page.tags["description"]
    assert page.cells[:5] == ["Rank", "Model", "Mean win rate, %", "CURVE", "ReXTime"]
    assert page.cells[5:].count("–") == 1  # what one model was not run on
    assert len(page.cells) == 5 * (1 + 10)
    assert page.cells[page.cells.index(name) :][2:4] == ["–", "≥ 99.0"]
    assert "<script>evil" not in text
    assert "57.0 (not ranked)" in page.cells


def test_the_table_without_scripts_has_each_score_s_interval(tmp_path):
    rows = [entry(f"lab/{n}", 60.0 - n, kind="run", ci95=(57.0 - n, 63.25 - n)) for n in range(3)]
    text = (written(tmp_path / "site", rows) / "index.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    heads = ["Rank", "Model", "Mean win rate, %", "ReXTime"]
    assert page.cells[:8] == [*heads, "1", "lab/0", "100.0", "60.0 (57.0 to 63.2)"]
    assert "In brackets: each score’s own 95 % interval over videos." in text


def test_with_its_address_a_posted_link_has_a_picture_of_the_first_five(tmp_path):
    rows = [
        entry(f"lab/{n}", 60.0 - n, group=group, kind="run", ci95=(57.0 - n, 63.0 - n))
        for n in range(7)
        for group in (REXTIME, CURVE)
    ]
    folder = tmp_path / "site"
    folder.mkdir()
    ranked = board.ranked_board(discovery.specs(), rows)
    address = site.address_beside("https://example.org/board/index.html")
    site.write(ranked, SiteFiles(folder), address=address)
    page = _Page()
    page.feed((folder / "index.html").read_text(encoding="utf-8"))
    assert page.tags["og:image"] == "https://example.org/board/link.png"
    assert page.tags["twitter:card"] == "summary_large_image"
    with Image.open(folder / "link.png") as picture:
        assert picture.size == (1200, 630)
        blue = picture.convert("RGB").crop((450, 236, 1200, 566)).getcolors(1 << 20)
    assert (
        sum(n for n, colour in blue if colour == (79, 70, 229)) > 5 * 2 * 200
    )  # five dots in each of two lanes
    with pytest.raises(InputError, match="whole address"):
        site.build(tmp_path, tmp_path / "other", url="example.org")


def test_a_copied_picture_says_which_rows_were_not_compared(page_of, twenty):
    """Rows made by hand have no pairs: nothing was compared, so nothing can't be told apart."""
    with page_of(twenty, "#/rextime") as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        page.evaluate("void (navigator.clipboard.write = () => Promise.reject(new Error('no')))")
        page.evaluate(
            "() => { globalThis.sources = []; const { set } = Object.getOwnPropertyDescriptor("
            "HTMLImageElement.prototype, 'src'); Object.defineProperty(HTMLImageElement.prototype, "
            "'src', { set(text) { sources.push(decodeURIComponent(text)); set.call(this, text); } }); }"
        )
        page.locator("tr[data-row] .pick").first.check()
        with page.expect_download():
            page.get_by_role("button", name="Copy as picture").click()
        words = re.sub("<[^>]*>", " ", page.evaluate("sources.at(-1)"))
        assert "not compared" in words
        assert "told apart" not in words


def test_a_menu_of_columns_ticks_what_a_wider_window_has_room_for(page_of, twenty):
    with page_of(twenty, "#/rextime", width=768) as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        menu = page.locator(".tools summary", has_text="Columns")
        menu.click()
        menu.click()
        page.set_viewport_size({"width": 1920, "height": 900})
        page.wait_for_function("document.querySelectorAll('table.rows thead th').length > 4")
        menu.click()
        ticked = page.locator("details[open] label:has(input:checked)").all_inner_texts()
        heads = page.locator("table.rows thead button.sort").evaluate_all(
            "all => all.map((one) => one.firstChild.textContent)"
        )
        always = {"Rank", "Model", "Accuracy at IoU ≥ 0.5"}
        assert [head for head in heads if head not in {*always, *ticked}] == []


def test_a_headline_without_room_ends_with_a_whole_clause(page_of, twenty):
    from playwright.sync_api import expect

    with page_of(twenty, width=390) as page:
        shows(page, *(f"{LONG}{n}" for n in range(20)))
        line = page.locator(".headline")
        assert line.evaluate("(line) => line.scrollHeight <= line.clientHeight + 1")
        clauses = line.locator("span")
        if (more := line.get_by_role("button", name="more")).is_visible():
            expect(clauses.last).to_be_hidden()
            more.click()
            expect(clauses.last).to_be_visible()
