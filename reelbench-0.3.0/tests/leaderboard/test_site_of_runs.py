"""The page with runs on it: the overall table, what rows say of themselves, and what that lets it draw."""

from dataclasses import replace
from itertools import pairwise

import pytest

from reelbench.leaderboard import board, site, store
from reelbench.leaderboard.site_files import SiteFiles
from reelbench.registry import discovery
from reelbench.registry.records import About
from tests.checkers import violations
from tests.leaderboard.rows import CURVE, MOVIECORE, REXTIME, entry
from tests.leaderboard.test_site import choose, drawn, names, shows

ABOUT = {
    "Qwen/Qwen2.5-VL-7B-Instruct": About(parameters=8.3e9, released="2025-01", organisation="Qwen"),
    "lab/small": About(
        parameters=3e9, released="2025-06", organisation="Lab", links={"paper": "https://x.test/p"}
    ),
    "lab/big": About(
        parameters=72e9, released="2025-06-20", organisation="Lab", setting="reasoning"
    ),
    "lab/late": About(parameters=9e9, released="2025-12"),
}
SCORES = {"Qwen/Qwen2.5-VL-7B-Instruct": 40.0, "lab/small": 20.0, "lab/big": 60.0, "lab/late": 30.0}


def written(folder, rows):
    """Write the site of rows."""
    folder.mkdir(exist_ok=True)
    site.write(board.ranked_board(discovery.specs(), rows), SiteFiles(folder))
    return folder


@pytest.fixture(scope="module")
def site_of_runs(tmp_path_factory):
    """Four models with everything, one without CURVE, and a published number of one under its paper's name."""
    rows = [
        entry(
            model,
            score / 20 if group is MOVIECORE else score,
            group=group,
            kind="run",
            setting=ABOUT[model].setting or "run",
            frames="uniform:32",
            about=ABOUT[model],
            tokens_in=100 * score,
            tokens_out=score,
            unreadable=None if group is not REXTIME else score / 10,
            items=10,
            scored=10,
        )
        for model, score in SCORES.items()
        for group in (REXTIME, CURVE, MOVIECORE)
    ]
    rows += [
        entry("lab/partial", 90.0, kind="run", stated="references"),
        entry("lab/partial", 4.5, kind="run", group=MOVIECORE, calibrated=4.21),
        entry("Qwen2.5-VL (7B)", 1.0, group=MOVIECORE),
    ]
    return written(tmp_path_factory.mktemp("runs") / "site", rows)


@pytest.mark.browser
def test_the_overall_table(page_of, site_of_runs, tmp_path):
    from playwright.sync_api import expect

    whole = ["lab/big", "Qwen/Qwen2.5-VL-7B-Instruct", "lab/late", "lab/small"]
    with page_of(site_of_runs) as page:
        shows(page, "lab/partial", *whole)
        ranks = page.locator("table.rows tbody td:first-child")
        expect(ranks).to_have_text(["1", "2", "3", "4", "5"])
        first = page.locator("table.rows tbody tr").first
        expect(first).to_contain_text("2 of 3 benchmarks")  # its gap is marked
        expect(first.locator(".meter")).to_have_count(0)
        expect(page.locator("main")).not_to_contain_text("no overall ranking")
        choose(page, "organisation", "Lab")
        choose(page, "size", "under 100 B")
        shows(page, "lab/big")
        choose(page, "organisation", "")
        choose(page, "size", "")
        page.get_by_label("Search").fill("(7b)")  # the name in the paper
        shows(page, "Qwen/Qwen2.5-VL-7B-Instruct")
        names(page).first.click()
        expect(page.locator("main")).to_contain_text(
            "4 results, overall rank 3 (3 of 3 benchmarks)"
        )
        expect(page.locator("main")).to_contain_text("Also called Qwen2.5-VL (7B)")
    two = [
        entry(name, 10.0, group=g, kind="run") for name in "ab" for g in (REXTIME, CURVE, MOVIECORE)
    ]
    with page_of(written(tmp_path / "two", [*two, entry("c", 5.0, kind="run")])) as page:
        expect(page.locator("main")).to_contain_text(
            "no overall ranking yet: it takes three models"
        )
        expect(page.locator("table.rows tbody td:first-child")).to_have_text(["–"] * 3)
        expect(page.get_by_role("columnheader", name="Mean win rate")).to_have_count(0)


@pytest.mark.browser
def test_minis_that_a_whole_benchmark_puts_aside_are_named(page_of, tmp_path):
    from playwright.sync_api import expect

    mini = replace(CURVE, split="mini")
    minis = [entry(name, 10.0, group=mini, kind="run") for name in "abc"]
    aside = "Mini data of CURVE (MINERVA-Cultural) isn't counted beside whole benchmarks"
    with page_of(written(tmp_path / "minis", minis)) as page:
        expect(page.locator("main")).to_contain_text("Mini data only")
        expect(page.locator("main")).not_to_contain_text(aside)
    both = [*minis, entry("a", 10.0, kind="run")]
    with page_of(written(tmp_path / "both", both)) as page:
        expect(page.locator("main")).to_contain_text(aside)
    with page_of(written(tmp_path / "whole", both[-1:])) as page:
        expect(page.locator("table.rows")).to_be_visible()
        expect(page.locator("main")).not_to_contain_text("Mini data")


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_scores_are_drawn_against_what_a_model_is_and_takes(page_of, site_of_runs, checkers, width):
    from playwright.sync_api import expect

    fronts = {"size": 3, "cost": 4, "released": 2}  # by hand from the lists above
    with page_of(site_of_runs, "#/rextime", width=width) as page:
        for name, number in fronts.items():
            place = drawn(page, f"against-{name}")
            points = place.locator(".frontier").get_attribute("points").split()
            assert len(points[::2]) == number, (
                name
            )  # between two of them a corner: nothing lies on a slope
            # What no lesser row reaches rises from left to right; y counts down.
            pairs = [tuple(map(float, point.split(","))) for point in points]
            assert pairs == sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
            assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(pairs))
            boxes = place.evaluate(
                """(place) => [...place.querySelectorAll('text:not(.soft)')].map((t) => t.getBoundingClientRect())
                .map((b) => [b.left, b.top, b.right, b.bottom])"""
            )
            for i, (left, top, right, bottom) in enumerate(boxes):
                assert 0 <= left < right <= width
                for other in boxes[i + 1 :]:
                    assert (
                        right <= other[0]
                        or other[2] <= left
                        or bottom <= other[1] + 3
                        or other[3] <= top + 3
                    )
        expect(page.locator(".badge", has_text="recomputed from stated references")).to_have_count(
            1
        )
        assert violations(page, checkers) == []


@pytest.mark.browser
def test_a_table_says_which_differences_are_too_small_for_it(page_of, checkers, tmp_path):
    from playwright.sync_api import expect

    line = "Differences under 4.1 points are often missed here. A true difference of that much in Accuracy"
    made = board.ranked_board(
        discovery.specs(), [entry("a", 10.0, kind="run"), entry("a", 5.0, kind="run", group=CURVE)]
    )
    noise = made.noise | {REXTIME: replace(made.noise[REXTIME], smallest=4.123)}
    site.write(replace(made, noise=noise), SiteFiles(tmp_path))
    with page_of(tmp_path, "#/rextime") as page:
        expect(page.locator(".table-card + .note")).to_contain_text(line)
        assert violations(page, checkers) == []
    for place in (
        "#/rextime?group=all",
        "#/curve",
    ):  # several tables in one, and one without enough videos
        with page_of(tmp_path, place) as page:
            shows(page, "a")
            expect(page.locator("main")).not_to_contain_text("are often missed")


@pytest.mark.browser
def test_values_beside_the_score_and_what_people_say(page_of, site_of_runs):
    from playwright.sync_api import expect

    with page_of(site_of_runs, "#/moviecore") as page:
        row = page.locator("table.rows tbody tr", has_text="lab/partial")
        expect(page.get_by_role("columnheader", name="Calibrated")).to_be_visible()
        expect(row).to_contain_text("4.21")
    with page_of(site_of_runs, "#/rextime?cols=unreadable,tokens_out,parameters,seconds") as page:
        row = page.locator("table.rows tbody tr", has_text="lab/small")
        expect(row.locator("td.num")).to_have_text(["5", "3.0", "2.0", "20", "–"])
    with page_of(site_of_runs, "#/model/lab%2Fsmall") as page:
        expect(page.locator("dd", has_text="Lab").first).to_be_visible()
        expect(page.get_by_role("link", name="paper").first).to_have_attribute(
            "href", "https://x.test/p"
        )


@pytest.mark.browser
def test_who_is_above_whom(page_of, rextime_run, checkers, tmp_path):
    from playwright.sync_api import expect

    for name, right in (("best", 12), ("close", 11), ("far", 1)):
        store.add(rextime_run(name, model=f"org/{name}", right=right), tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site", published=False)
    with page_of(tmp_path / "site", "#/rextime") as page:
        wins = drawn(page, "wins")
        expect(
            wins.locator("title", has_text="best against far: +91.7, too few videos to tell")
        ).to_have_count(1)
        expect(
            wins.locator("title", has_text="far against best: −91.7, too few videos to tell")
        ).to_have_count(1)
        expect(
            wins.locator("title", has_text="best against close: +8.3, too few videos to tell")
        ).to_have_count(1)
        expect(wins.locator("rect")).to_have_count(6)
        assert violations(page, checkers) == []
        page.get_by_label("Search").fill("best")
        expect(page.locator("#chart-wins")).to_have_count(0)


@pytest.mark.browser
def test_what_is_not_ranked_stands_below_however_the_table_is_sorted(page_of, tmp_path):
    from playwright.sync_api import expect

    rows = [
        entry("partial", 100.0, kind="run", unranked="5 of 921 items"),
        entry("bounded", 20.0, kind="run", ci95=(10.0, 40.0), unscored=3),
        entry("best", 60.0, kind="run"),
        *(entry(name, 3.0, kind="run", group=MOVIECORE) for name in ("partial", "best")),
    ]
    folder = written(tmp_path / "site", rows)
    with page_of(folder, "#/rextime") as page:
        for order, ranked in (
            ("rank:asc", ["best", "bounded"]),
            ("accuracy_at_iou_0.5:asc", ["bounded", "best"]),
            ("accuracy_at_iou_0.5:desc", ["best", "bounded"]),
            ("model:desc", ["bounded", "best"]),
        ):
            page.evaluate("(to) => { location.hash = to }", f"#/rextime?sort={order}")
            shows(page, *ranked, "partial")
            last = page.locator("table.rows tbody tr").last
            expect(last.locator(".badge", has_text="not ranked")).to_have_attribute(
                "title", "5 of 921 items"
            )
        cell = page.locator("table.rows tbody tr", has_text="bounded").locator(
            "td", has=page.locator(".lane")
        )
        expect(cell).to_contain_text("≥ 20.0")
        expect(cell).to_contain_text("3 unscored")
    with page_of(folder) as page:
        expect(page.locator("table.rows tbody tr", has_text="partial")).to_contain_text(
            "100.0 not ranked"
        )
        page.get_by_role("columnheader", name="ReXTime").get_by_role("button").click()
        shows(page, "best", "bounded", "partial")
