"""The page in a real browser, and its files. Every read of the page waits for what it expects."""

import csv
import json
import re
from pathlib import Path

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.leaderboard import site, store

PROTO = {"__proto__": {"text": "another", "polluted": 1}}
EVIL = "</textarea><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
RTL = "\u202eevil\u202c/מודל"


def names(page):
    return page.locator("table.rows tbody .name")


def shows(page, *models):
    """Wait until the table has these models, in this order."""
    from playwright.sync_api import expect

    expect(names(page)).to_have_text(list(models))


def sort_by(page, name):
    return page.get_by_role("columnheader", name=name).get_by_role("button")


def choose(page, name, value):
    """Filter by a choice of the popover."""
    if not page.locator("details.filters[open]").count():
        page.locator("summary", has_text="Filters").click()
    page.locator(f"#f-{name}").select_option(value)


def lies(page, selector, where):
    """Wait until the first such element's `box` lies as said."""
    page.wait_for_function(
        f"() => {{ const box = document.querySelector('{selector}')?.getBoundingClientRect(); return box && {where}; }}"
    )


def drawn(page, chart):
    """Scroll a picture into view and wait until it is there."""
    from playwright.sync_api import expect

    place = page.locator(f"#chart-{chart}")
    place.scroll_into_view_if_needed()
    expect(place).to_have_attribute("data-drawn", "true")
    return place


# --- files ---


def test_the_site_is_the_same_for_the_same_store_and_replaces_the_one_before(rextime_run, tmp_path):
    store.add(rextime_run(), tmp_path / "store")

    def contents():
        return {
            p.relative_to(tmp_path / "site"): p.read_bytes()
            for p in (tmp_path / "site").rglob("*")
            if p.is_file()
        }

    site.build(tmp_path / "store", tmp_path / "site")
    first = contents()
    (tmp_path / "site" / "data" / "runs" / "old.js").write_text("")
    site.build(tmp_path / "store", tmp_path / "site")
    assert contents() == first
    assert (
        b"org/model"
        in first[
            next(path for path in first if path.name == "board.js" and path.parent.name == "data")
        ]
    )
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
    from playwright.sync_api import expect

    with page_of(published_site, "#/moviecore") as page:
        expect(names(page).first).to_have_text("Gemini-2.5-flash")
        sort_by(page, "Coherence").click()
        expect(names(page).first).to_have_text("GPT-4o (08-06)")
        expect(page.locator("th[aria-sort=descending]")).to_contain_text("Coherence")
        sort_by(page, "Average").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        expect(names(page).first).to_have_text("InstructBLIP (7B)")
        expect(sort_by(page, "Average")).to_be_focused()


@pytest.mark.browser
def test_what_has_no_value_comes_last_either_way(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(
        published_site, "#/rextime?group=rextime%2Fv1%2Ftest%2Fmini-test%20(300)%2Ffine-tuned"
    ) as page:
        last = page.locator("table.rows tbody tr").last
        expect(last).to_contain_text("–")
        sort_by(page, "Accuracy at IoU").click()
        expect(names(page).first).to_have_text("VTimeLLM")
        sort_by(page, "Accuracy at IoU").click()
        expect(names(page).first).to_have_text("TimeChat")
        expect(last).to_contain_text("–")


@pytest.mark.browser
@pytest.mark.representative
def test_filter_search_and_column_choice_are_in_the_link(page_of, published_site):
    from playwright.sync_api import expect

    widths = [f"HERMES (7B) + ACE, beam {n}" for n in (3, 7)]  # of one row, which is ranked once
    shown = ["HERMES (7B) + ACE", "HERMES (7B)", *widths]  # by their average, and by their depth
    tuned = "moviecore/v1/test/gpt-4o-mini-2024-07-18/official/fine-tuned"
    with page_of(published_site, f"#/moviecore?group={tuned.replace('/', '%2F')}") as page:
        page.get_by_label("Search").fill("hermes")
        choose(page, "open_weights", "yes")
        shows(page, *shown)
        page.locator("summary.tool", has_text="Columns").click()
        page.get_by_role("checkbox", name="Setting").check()
        page.keyboard.press("Escape")
        sort_by(page, "Depth").click()
        expect(page.locator("th[aria-sort=descending]")).to_contain_text("Depth")
        page.wait_for_url("**q=hermes**")
        address = page.url
    with page_of(published_site, address.partition("index.html")[2]) as page:
        shows(page, *shown)
        expect(page.get_by_label("Search")).to_have_value("hermes")
        expect(page.get_by_role("columnheader", name="Setting")).to_be_visible()
        page.get_by_label("Search").fill("no such model")
        expect(page.locator("table.rows tbody")).to_contain_text("Nothing matches")


@pytest.mark.browser
def test_every_declared_column_can_be_shown(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/moviecore") as page:
        page.locator("summary.tool", has_text="Columns").click()
        for title in ("Source", "Judge", "Version", "Open weights", "Citation"):
            page.get_by_role("checkbox", name=title, exact=True).check()
            expect(page.get_by_role("columnheader", name=title, exact=True)).to_be_visible()
        expect(page.locator("table.rows tbody tr").first).to_contain_text("gpt-4o-mini-2024-07-18")


@pytest.mark.browser
def test_groups_keep_splits_apart(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/rextime") as page:
        shows(page, "VideoMind-7B", "VideoMind-2B")
        expect(page.locator(".refs")).to_contain_text("Whole video")
        split = page.locator("#group-split")
        split.select_option("test, mini-test (300) (8)")
        expect(split).to_be_focused()
        # Zero-shot: 5 models, 3 of them with the true span given as well. Those that were
        # fine-tuned stand apart.
        expect(page.locator("table.rows tbody tr")).to_have_count(8)
        expect(page.locator("table.rows")).not_to_contain_text("VideoMind-7B")
        choose(page, "split", "val")
        shows(page, "VideoMind-7B", "VideoMind-2B")


@pytest.mark.browser
def test_pages_of_a_long_table(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site) as page:
        page.get_by_role("button", name="without a main score").click()
        expect(names(page)).to_have_count(50)
        page.get_by_role("button", name="Page after").click()
        expect(page.locator(".table-foot")).to_contain_text("51 to ")
        expect(page.locator(".pager [aria-current=page]")).to_have_text("2")
        expect(page.get_by_role("button", name="Page after")).to_be_disabled()
        page.get_by_role("searchbox", name="Search").fill("gemini")
        expect(page.locator(".table-foot")).to_contain_text("1 to ")


@pytest.mark.browser
def test_the_pictures_are_drawn(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/moviecore") as page:
        parts = drawn(page, "parts")
        expect(parts.locator(".legend li")).to_have_count(6)
        expect(
            parts.locator("svg[width] .mark title", has_text="Gemini-2.5-flash: 4.26")
        ).to_have_count(1)
        page.locator("input.pick").nth(0).check()
        page.locator("input.pick").nth(3).check()
        expect(drawn(page, "parts").locator(".legend li")).to_have_count(2)
        page.wait_for_url("**pick=**")
    with page_of(published_site, "#/curve") as page:
        heat = drawn(page, "facet-locale")
        # The strongest model's two locales that CURVE's Table 3 prints highest and lowest.
        expect(heat.locator("title", has_text="Gemini-2.5-Pro, ko-KR: 64.3")).to_have_count(1)
        expect(heat.locator("text", has_text=re.compile("^64.3$"))).to_have_count(1)
        expect(heat.locator("xpath=preceding-sibling::p")).to_have_text(
            re.compile(r"n = \d+ rows\.$")
        )
        assert drawn(page, "frames").locator(".mark").count() > 3
    with page_of(published_site, "#/rextime") as page:
        expect(drawn(page, "grounding")).to_contain_text("floor: Whole video")
    with page_of(
        published_site,
        f"#/dramaqa_cogme?group={'dramaqa_cogme/v1/val/CogME%27s 4,385 tagged questions/fine-tuned'}",
    ) as page:
        expect(drawn(page, "facet-content")).to_contain_text("Identity")


@pytest.mark.browser
def test_names_in_a_picture_stand_apart(page_of, published_site):
    with page_of(
        published_site,
        "#/rextime?group=rextime%2Fv1%2Ftest%2Fmini-test%20(300)%2Ffine-tuned",
        width=390,
    ) as page:
        boxes = drawn(page, "grounding").evaluate(
            """(place) => [...place.querySelectorAll('text:not(.soft)')].map((t) => t.getBoundingClientRect())
            .map((b) => [b.left, b.top, b.right, b.bottom])"""
        )
        assert (
            len(boxes) == 2
        )  # two models have both metrics; others' accuracies were had with the true span
        for i, (left, top, right, bottom) in enumerate(boxes):
            assert 0 <= left < right <= 390
            for other in boxes[i + 1 :]:
                assert (
                    right <= other[0]
                    or other[2] <= left
                    or bottom <= other[1] + 3
                    or other[3] <= top + 3
                )


@pytest.mark.browser
def test_a_picture_is_only_there_where_it_says_something(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(
        published_site, "#/moviecore"
    ) as page:  # published numbers have no intervals, and say no frames
        drawn(page, "parts")
        expect(page.locator(".chart")).to_have_count(1)
    with page_of(published_site, "#/dramaqa_cogme") as page:
        expect(names(page).first).to_be_visible()
        expect(page.get_by_role("heading", name="Charts")).to_be_hidden()


@pytest.mark.browser
def test_the_model_stays_in_view_when_the_table_scrolls(page_of, published_site):
    with page_of(
        published_site, "#/moviecore?cols=depth,evidence,coherence,citation", width=390
    ) as page:
        page.locator("table.rows tbody td").last.scroll_into_view_if_needed()
        page.wait_for_function("document.querySelector('.scroll').scrollLeft > 100")
        lies(page, "table.rows tbody .name", "0 <= box.x && box.x < 60")


@pytest.mark.browser
def test_columns_without_room_are_named_until_a_reader_chooses(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/rextime", width=820) as page:
        foot = page.locator(".table-foot")
        expect(foot).to_contain_text("no room for")
        page.locator("summary.tool", has_text="Columns").click()
        page.locator(".pop input[type=checkbox]:not(:checked)").first.check()
        expect(foot).not_to_contain_text("no room for")


@pytest.mark.browser
def test_downloads_of_the_view(page_of, published_site):
    with page_of(published_site, "#/rextime?q=VideoMind") as page:
        shows(page, "VideoMind-7B", "VideoMind-2B")
        page.locator("summary", has_text="Download").click()
        with page.expect_download() as caught:
            page.locator("#save-csv").click()
        text = Path(caught.value.path()).read_text(encoding="utf-8")
        assert text.startswith("\ufeff")  # by which a spreadsheet knows UTF-8
        lines = text.removeprefix("\ufeff").splitlines()
        assert caught.value.suggested_filename == "rextime.csv"
        assert lines[0].startswith("Rank,Model,Accuracy at IoU")
        assert lines[1].startswith("1,VideoMind-7B")
        assert len(lines) == 3
        # What the number can't be quoted without stands beside it.
        [first, _] = csv.DictReader(lines)
        said = {
            name.rpartition("0.5 ")[2]: value
            for name, value in first.items()
            if name.startswith("Accuracy at IoU")
        }
        assert (said["lower bound"], said["unscored"], said["rank"], said["source"]) == (
            "no",
            "0",
            "1",
            "published",
        )
        assert (said["setting"], said["split"], said["judge"], said["low"]) == (
            "zero-shot",
            "val",
            "",
            "",
        )
        page.locator("summary", has_text="Download").click()
        with page.expect_download() as caught:
            page.locator("#save-json").click()
        found = json.loads(Path(caught.value.path()).read_text(encoding="utf-8"))
        assert [row["miou"] for row in found] == [27.61, 24.83]


@pytest.mark.browser
@pytest.mark.usefixtures("few_videos")
def test_a_models_page_has_provenance_breakdowns_and_samples(page_of, moviecore_run, tmp_path):
    from playwright.sync_api import expect

    store.add(moviecore_run(), tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site")
    with page_of(tmp_path / "site", "#/moviecore?group=all&source=run") as page:
        page.get_by_role("link", name="org/model").click()
        expect(page.locator("h1")).to_have_text("org/model")
        expect(page.locator("dt", has_text="Judge asked")).to_be_visible()
        expect(page.locator(".summary .lane-cell")).to_contain_text("judge: judge-0001")
        expect(page.locator(".entry > header")).to_contain_text("ids checked")
        expect(page.locator(".entry dd", has_text="python 3")).to_be_visible()
        # Each label's score has its bar, and its interval where there are videos enough.
        theme = page.locator(".breakdown tr", has_text="Theme")
        expect(theme.locator(".fill")).to_have_count(1)
        expect(theme.locator(".whisk")).to_have_count(1)
        page.locator("summary", has_text="Samples").click()
        expect(page.locator(".sample")).to_have_count(12)
        expect(page.locator(".sample").first.locator("h3")).to_contain_text("lantern_1")
        page.locator(".sample summary").first.click()
        expect(page.locator(".sample details").first.locator(".text").first).to_have_text(
            '{"score": 0}'
        )
        page.get_by_label("Search these samples").fill("number 3.")
        expect(page.locator(".sample")).to_have_count(1)


@pytest.mark.browser
def test_a_model_whose_weights_came_from_the_hub_links_there(
    page_of, rextime_run, tamper, tmp_path
):
    from playwright.sync_api import expect

    def loaded(result):
        result["model"]["args"] = {"pretrained": "org/model"}

    store.add(tamper(rextime_run(), result=loaded), tmp_path / "store")
    store.add(rextime_run("unknown", model="org/unknown"), tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site")
    with page_of(tmp_path / "site", "#/model/org%2Fmodel") as page:
        link = page.get_by_role("link", name="The model on the Hub")
        expect(link).to_have_attribute("href", "https://huggingface.co/org/model")
    with page_of(tmp_path / "site", "#/model/org%2Funknown") as page:
        expect(page.locator("h1")).to_have_text("org/unknown")
        expect(page.get_by_role("link", name="The model on the Hub")).to_have_count(0)


@pytest.mark.browser
@pytest.mark.usefixtures("few_videos")
def test_hostile_text_is_inert(page_of, moviecore_run, tamper, tmp_path):
    from playwright.sync_api import expect

    answers = {"lantern_1": EVIL, "lantern_2": RTL, "lantern_3": "long " * 200_000 + "the end"}
    formula = '=HYPERLINK("evil.test")'
    # Names that turn the writing round and links other than https are refused before.
    for number, name in enumerate((EVIL, "<b>org</b>/model", formula)):
        run = moviecore_run(f"run{number}", model=name, answers=answers)
        tamper(
            run,
            samples=lambda lines: [
                line | {"parsed": line["parsed"] and line["parsed"] | PROTO} for line in lines
            ],
            result=lambda found: (
                found["settings"].update(frames=EVIL),
                found["provenance"].update(
                    citation=EVIL,
                    url="https://evil.test/'\"><script>window.pwned=1</script>",
                    note=EVIL,
                ),
            ),
        )
        [one] = store.add(run, tmp_path / "store")
        assert one.outcome == "added", one.why
    site.build(tmp_path / "store", tmp_path / "site")
    everything = "cols=revision,source,setting,judge,frames,partial,ids,date,citation"
    with page_of(tmp_path / "site", f"#/moviecore?group=all&source=run&{everything}") as page:
        expect(names(page)).to_have_count(3)
        assert {text.strip() for text in names(page).all_inner_texts()} >= {EVIL, formula}
        expect(page.locator(".dot[data-ci-low]").first).to_be_visible()
        drawn(page, "parts")
        drawn(page, "facet-classification")
        page.get_by_role("link", name="</textarea>").click()
        expect(page.locator("h1")).to_have_text(EVIL)
        expect(page.locator("dt", has_text="Judge asked")).to_be_visible()
        page.locator("summary", has_text="Samples").click()
        expect(page.locator(".sample .text").first).to_have_text(EVIL)
        assert page.evaluate("window.pwned") is None
        assert page.evaluate("[({}).text, ({}).polluted]") == [None, None]
        expect(page.locator("a[href^='javascript']")).to_have_count(0)
        page.get_by_label("Search these samples").fill("lantern_3")  # in the second file of two
        long = page.locator(".sample", has_text="lantern_3")
        expect(long).to_be_visible()
        expect(long.locator(".text").first).to_have_text(re.compile("^.{1,5000}$"))
        long.get_by_role("button", name="Show all 1,000,007 characters").click()
        expect(long.locator(".text").first).to_contain_text("the end")
        page.wait_for_function("document.documentElement.scrollWidth === 1280")
        # The override's effect ends with the element: what stands beside it reads on from left to
        # right.
        assert (
            page.evaluate("getComputedStyle(document.querySelector('h1 bdi')).unicodeBidi")
            == "isolate"
        )
    with page_of(tmp_path / "site", "#/overall?source=run") as page:
        expect(names(page)).to_have_count(3)
        assert page.evaluate("window.pwned") is None


@pytest.mark.browser
def test_the_text_pages_and_an_unknown_address(page_of, published_site):
    from playwright.sync_api import expect

    main = "main"
    with page_of(published_site, "#/submit") as page:
        expect(page.locator(main)).to_contain_text("reelbench leaderboard add runs --store results")
        expect(page.locator(main)).to_contain_text("--judge-prompts official")
        page.get_by_role("link", name="How it works").click()
        expect(page.locator(main)).to_contain_text("with a paired bootstrap's standard error")
        expect(page.locator(main)).not_to_contain_text("RULES")
        page.get_by_role("link", name="Reelbench, overall table").click()
        expect(page.get_by_role("link", name="Overall", exact=True)).to_have_attribute(
            "aria-current", "page"
        )
    with page_of(published_site, "#/model/%E0%A4%A") as page:
        expect(page.locator(main)).to_contain_text("No result of this name")


@pytest.mark.browser
def test_how_it_works_is_short_and_has_a_drawn_example_of_each_rule(page_of, published_site):
    with page_of(published_site, "#/about", width=1280) as page:
        headings = page.locator(".rules h2")
        headings.first.wait_for()
        words = page.locator("main").evaluate(
            "(main) => [...main.children].filter((one) => one.tagName !== 'DETAILS')"
            ".map((one) => one.innerText).join(' ')"
        )
        assert len(words.split()) <= 600
        assert headings.count() == 9
        assert page.locator(".rules h2 + figure.example table").count() == 8


def test_the_downloads_are_read_by_a_spreadsheet(published_site):
    """It takes a file without the mark for one in the machine's old encoding."""
    for name in ("rextime", "moviecore"):
        text = (published_site / "downloads" / f"{name}.csv").read_bytes()
        assert text.startswith(b"\xef\xbb\xbfrank,model,")


def test_every_metric_is_explained(page_of, published_site):
    from playwright.sync_api import expect

    with page_of(published_site, "#/rextime") as page:
        expect(sort_by(page, "mIoU")).to_have_attribute(
            "title", re.compile("span share.* 0 to 100, higher")
        )
        page.locator("summary", has_text="What the columns measure").click()
        expect(page.locator(".explained dd")).to_have_count(5)
    with page_of(published_site, "#/about") as page:
        expect(page.locator("h1")).to_be_visible()
        rows = page.locator(".explained table tbody tr")
        expect(rows).to_have_count(35)
        expect(rows.locator("td:nth-of-type(2)")).to_have_text([re.compile(".{21}")] * 35)
