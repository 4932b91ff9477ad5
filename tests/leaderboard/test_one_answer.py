"""One question has one answer: all that a board says, on its pages and in its files, of drawn boards."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

from reelbench.leaderboard import headline, overall, site
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.site_files import SiteFiles
from tests.leaderboard.drawn_boards import TOKENS, crossed_board, drawn_board, pool_of_runs

FEW = range(15)
MANY = range(15, 300)
SHOWN = range(300, 312)
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return pool_of_runs(tmp_path_factory.mktemp("pool"))


@pytest.mark.parametrize("seed", [*FEW, *(pytest.param(n, marks=pytest.mark.slow) for n in MANY)])
def test_a_drawn_board_contradicts_itself_nowhere(runs, seed):
    board = drawn_board(runs, seed)
    page = json.loads(json.dumps(site.document(board)))
    for number, group in enumerate(group for groups in board.groups.values() for group in groups):
        rows = [row for row in page["rows"] if row["group"] == number]
        ranked = [row for row in rows if "rank" in row]
        assert all(row["source"] not in ("blind", "baseline", "human") for row in ranked)
        ranks_follow_from_values(ranked)
        ranges_follow_from_pairs(board, group, ranked)
        headline_of_a_table(page["groups"][number], ranked)
        cost_follows_from_tokens(board, group, rows)
        marks_follow_from_editions(board, group, rows)
    files_say_the_same(board, page)
    overall_follows_from_tables(board, page)
    headline_of_the_board(board, page)


def test_a_model_above_one_that_beats_it_where_both_ran_is_marked(runs):
    board = crossed_board(runs)
    page = json.loads(json.dumps(site.document(board)))
    overall_follows_from_tables(board, page)
    below = {model["model"]: model.get("below") for model in page["overall"]}
    assert below["a"] == "b (rank 3) is better on ReXTime"
    assert [name for name, text in below.items() if text] == ["a"]


def ranks_follow_from_values(ranked):
    """Ranks begin at 1 and go with the values."""
    values = [row["v"][0][0] for row in ranked]
    assert values == sorted(values, reverse=True)
    ranks = [row["rank"] for row in ranked]
    assert ranks == sorted(ranks)
    assert not ranks or ranks[0] == 1


def ranges_follow_from_pairs(board, group, ranked):
    """A range runs from one below the better models to one above the worse ones, and holds the rank."""
    pairs = site.pairs(board, group)
    better, worse, compared = Counter(), Counter(), set()
    names = [(a, b) for i, a in enumerate(pairs["rows"]) for b in pairs["rows"][i + 1 :]]
    for (first, second), cell in zip(names, pairs["cells"], strict=True):
        if cell is None:
            continue
        compared |= {first, second}
        difference, p, *ends = cell
        told = p is not None and p <= 0.05
        if ends:
            assert told == (ends[0] > 0 or ends[1] < 0)
        if told:
            above, below = (first, second) if difference > 0 else (second, first)
            better[below] += 1
            worse[above] += 1
    for row in ranked:
        if "rank_range" not in row:
            assert row["id"] not in compared
            continue
        best, _, last = row["rank_range"].partition("–")
        if row["id"] in compared:
            assert (int(best), int(last or best)) == (
                1 + better[row["id"]],
                len(compared) - worse[row["id"]],
            )
        assert int(best) <= row["rank"] <= int(last or best)


def cost_follows_from_tokens(board, group, rows):
    """A question costs its tokens at the price that its run recorded, and nothing is said without one."""
    stored = {site.file_name(row.key): row.stored for row in board.rows[group]}
    for row in rows:
        run = stored[row["id"]]
        asked = run and run.result.provenance.asked
        if not asked or asked.price is None:
            assert "cost" not in row
            continue
        dollars = (
            TOKENS["prompt"] * asked.price.prompt + TOKENS["completion"] * asked.price.completion
        )
        assert row["cost"] == pytest.approx(dollars / 1e6)
        assert row["price"].endswith(row["date"][:10])


def marks_follow_from_editions(board, group, rows):
    """A row is new where no edition of the base had its model, else its rank before is told."""
    history = board.history.get(group)
    for row in rows:
        if history is None or history.base is None:
            assert not row.keys() & {"new", "rank_before"}
    if history is None:
        return
    keys = {site.file_name(key): model for key, model in history.models.items()}
    for row in rows:
        model = keys.get(row["id"])
        if model is None or history.base is None:
            continue
        assert row.get("new", False) == (model not in history.base.places)
        before = history.base.places.get(model)
        assert row.get("rank_before") == (before and before.rank)
    for table in history.past:
        values = sorted((place.value for place in table.places.values()), reverse=True)
        for place in table.places.values():
            assert 1 <= place.rank <= table.models
            assert place.rank >= 1 + values.index(place.value)
    document = site.history_document(history) if history.past else {"rows": {}, "days": []}
    for places in document["rows"].values():
        assert len(places) == len(document["days"])
        last = next(place for place in reversed(places) if place != 0)
        assert (
            last[0]
            == {m: p.rank for m, p in history.today.places.items()}[
                keys[next(i for i, of in document["rows"].items() if of is places)]
            ]
        )


def headline_of_a_table(shown, ranked):
    """Those tied for first are those whose range begins at 1, and the margin is the pair's difference."""
    words, named = "".join(shown["headline"]), shown["headline"][1::2]
    has_run = any(row["source"] == "run" for row in ranked)
    if not ranked:
        assert words == "Nothing is ranked yet."
        return
    if not has_run:
        assert "leads" not in words
        assert "tied for first" not in words
        return
    first = []
    for row in ranked:
        if row.get("rank_range", str(row["rank"])).partition("–")[0] == "1":
            first += [row["model"]] if row["model"] not in first else []
    if len(first) == 1:
        assert named[0] == first[0]
        assert re.search(r"leads|is the only ranked model", words)
    elif len(first) <= 3:
        assert named[: len(first)] == first
        assert " are statistically tied for first" in words
    else:
        assert words.startswith(
            f"{WORDS[len(first)].capitalize()} models are statistically tied for first"
        )
    margin = re.search(r" by ([\d.]+) points", words)
    behind = [row for row in ranked if row["rank"] > 1 and row["source"] == "run"]
    if margin and len(first) == 1:
        difference = ranked[0]["v"][0][0] - behind[0]["v"][0][0]
        assert float(margin[1]) == pytest.approx(
            difference,
            abs=0.11 + (ranked[0].get("unscored", 0) + behind[0].get("unscored", 0)) * 100 / 60,
        )


def files_say_the_same(board, page):
    """CSV, JSON and Markdown have the page's ranks, ranges, values and ends of intervals."""
    in_json = tables.as_document(board)["rows"]
    for row, told in zip(page["rows"], in_json, strict=True):
        for column in ("model", "rank", "rank_range", "setting", "frames", "source"):
            assert row.get(column) == (told[column] if told[column] != "" else None), column
    for name, spec in board.specs.items():
        numbers = {n for n, group in enumerate(page["groups"]) if group["benchmark"] == name}
        rows = [row for row in page["rows"] if row["group"] in numbers]
        lines = list(csv.DictReader(io.StringIO(tables.as_csv(board, name))))
        for row, line in zip(rows, lines, strict=True):
            assert line["model"] == row["model"]
            assert (line["rank"], line["rank_range"]) == (
                str(row.get("rank", "")),
                row.get("rank_range", ""),
            )
            columns = (spec.primary.name, f"{spec.primary.name}_low", f"{spec.primary.name}_high")
            in_line = [float(line[column]) for column in columns if line[column]]
            assert in_line == pytest.approx(row["v"][0] or [], rel=1e-6)
        markdown = tables.tables(board, "markdown", benchmark=name)
        for entry in board.entries:
            if entry.group.benchmark == name and entry.key in board.ranks:
                rank = board.ranks[entry.key]
                printed = tables.value(entry, spec.primary)
                pattern = rf"\| {rank} \| [\d–]* \| {re.escape(entry.model)}\b.*\| {printed}"
                assert re.search(pattern, markdown), pattern


def overall_follows_from_tables(board, page):
    """Overall counts the tables that count, in their order where it is one."""
    counting = [number for number, group in enumerate(page["groups"]) if group["counts"]]
    assert counting == [
        number
        for number, group in enumerate(g for groups in board.groups.values() for g in groups)
        if group in overall.counted_groups(board.main, board.specs, board.entries, board.ranks)
    ]
    placed = [model for model in page["overall"] if model["rank"] is not None]
    names = [(model["model"], model["revision"], model["setting"]) for model in page["overall"]]
    assert len(names) == len(set(names))
    for model in page["overall"]:
        cells = {int(number): page["rows"][row] for number, row in model["cells"].items()}
        assert all(row["source"] != "blind" for row in cells.values())
        assert model["of"] == len(counting)
        ranked_on = [number for number in counting if "rank" in cells.get(number, {})]
        assert model["covered"] == len(ranked_on)
        if model["rank"] is not None:
            assert 2 * model["covered"] >= model["of"]
        if model["rate"] is not None and model["rates"]:
            rates = [model["rates"][str(n)] for n in ranked_on if str(n) in model["rates"]]
            assert model["rate"] == pytest.approx(sum(rates) / len(rates), abs=1e-4)
        if model["ranks"] is not None:
            assert model["ranks"][0] <= model["rank"] <= model["ranks"][1]
    ranks = [model["rank"] for model in placed]
    assert ranks == sorted(ranks)
    better_ones_below(board, page, placed)
    if len(counting) > 1:
        for model in placed:
            above = sum(other["rate"] > model["rate"] + 1e-9 for other in placed)
            assert model["rank"] == 1 + above
        ranges_over_all_pairs(board, page)
    elif len(counting) == 1:
        [number] = counting
        best = {}
        for row in page["rows"]:
            if row["group"] == number and "rank" in row:
                best.setdefault(row["id"], (row["rank"], row.get("rank_range")))
        for model in placed:
            row = page["rows"][model["cells"][str(number)]]
            of_overall = None
            if model["ranks"] is not None:
                low, high = model["ranks"]
                of_overall = str(low) if low == high else f"{low}–{high}"
            assert (model["rank"], of_overall) == best[row["id"]]


def better_ones_below(board, page, placed):
    """Of two models, the one above is marked where the other is better on what both ran, and worse on none."""
    several = len([group for group in page["groups"] if group["counts"]]) > 1
    in_json = tables.as_document(board)["overall"]
    for above in page["overall"]:
        expected = {}
        for below in placed if several and above["rank"] is not None else ():
            signs = {
                page["groups"][int(number)]["benchmark"]: sign_of(board, page, number, above, below)
                for number in above["cells"].keys() & below["cells"].keys()
            }
            lost = sorted(name for name, sign in signs.items() if sign < 0)
            if below["rank"] > above["rank"] and lost and 1 not in signs.values():
                expected[below["model"], below["revision"], below["setting"]] = lost
        key = (above["model"], above["revision"], above["setting"])
        [told] = [m for m in in_json if (m["model"], m["revision"], m["setting"]) == key]
        assert expected == {
            (m["model"], m["revision"], m["setting"]): sorted(m["better_on"])
            for m in told["better_below"]
        }
        words = above.get("below", "")
        assert words.count(" better ") == min(len(expected), 4)
        assert all(name in words for name, _, _ in [*expected][:3])


def sign_of(board, page, number, model, other):
    """Which of two models is better on a benchmark that counts: 1, -1, or 0."""
    group = page["groups"][int(number)]
    row, its = (page["rows"][one["cells"][number]] for one in (model, other))
    if not group["counts"] or "rank" not in row or "rank" not in its:
        return 0
    if row["source"] == "published":
        return (its["rank"] > row["rank"]) - (its["rank"] < row["rank"])
    [key] = [key for key in board.rows if key.id == group["id"]]
    shown = site.pairs(board, key)
    names = [(a, b) for i, a in enumerate(shown["rows"]) for b in shown["rows"][i + 1 :]]
    for pair, cell in zip(names, shown["cells"], strict=True):
        if set(pair) == {row["id"], its["id"]} and cell is not None:
            is_told = cell[1] is not None and cell[1] <= 0.05
            sign = is_told * ((cell[0] > 0) - (cell[0] < 0))
            return sign if pair[0] == row["id"] else -sign
    return 0


def ranges_over_all_pairs(board, page):
    """Overall's ranges follow from the pairs of all its tables, adjusted together by Holm."""
    groups = overall.counted_groups(board.main, board.specs, board.entries, board.ranks)
    tests = []
    for group in groups:
        shown = site.pairs(board, group)
        names = [(a, b) for i, a in enumerate(shown["rows"]) for b in shown["rows"][i + 1 :]]
        for pair, cell in zip(names, shown["cells"], strict=True):
            if cell is not None and len(cell) > 2:
                tests.append((group, pair, cell[0], cell[4]))
    told = {}
    for step, (group, (a, b), difference, p) in enumerate(sorted(tests, key=lambda test: test[3])):
        if p > 0.05 / (len(tests) - step):
            break
        sign = (difference > 0) - (difference < 0)
        told[group, a, b], told[group, b, a] = sign, -sign
    numbers = {group: number for number, group in enumerate(board.rows)}
    ends = {}
    for place, model in enumerate(page["overall"]):
        low, high = [], []
        for group in groups:
            ids = {
                page["rows"][m["cells"][str(numbers[group])]]["id"]
                for m in page["overall"]
                if str(numbers[group]) in m["cells"]
                and "rank" in page["rows"][m["cells"][str(numbers[group])]]
            }
            cell = model["cells"].get(str(numbers[group]))
            own = None if cell is None else page["rows"][cell]["id"]
            if own not in ids or len(ids) == 1:
                continue
            signs = [told.get((group, own, other), 0) for other in ids - {own}]
            low.append(signs.count(1) / len(signs))
            high.append(1 - signs.count(-1) / len(signs))
        if low:
            ends[place] = (sum(low) / len(low), sum(high) / len(high))
    ranked = [place for place, model in enumerate(page["overall"]) if model["rank"] is not None]
    for place in ranked:
        model = page["overall"][place]
        if model["ranks"] is None:
            continue
        low, high = ends[place]
        best = 1 + sum(ends[other][0] > high + 1e-9 for other in ranked)
        worst = len(ranked) - sum(ends[other][1] < low - 1e-9 for other in ranked)
        assert model["ranks"] == [min(best, model["rank"]), max(worst, model["rank"])]


def headline_of_the_board(board, page):
    """The board's headline names the first of Overall with its rate, and counts its benchmarks."""
    words = "".join(page["headline"])
    groups = headline.groups_of_board(board)
    several = re.search(r"of (\w+) benchmarks|all (\w+) benchmarks", words)
    if several:
        assert (several[1] or several[2]) == WORDS[len(groups)]
    placed = [model for model in page["overall"] if model["rank"] is not None]
    rate = re.search(r"mean win rate ([\d.]+) %", words)
    if rate:
        assert rate[1] == f"{100 * placed[0]['rate']:.1f}"
        assert page["headline"][1] == placed[0]["model"]
    if " is first overall" in words:
        others = [m for m in placed if m["ranks"] and m["ranks"][0] == 1]
        assert {m["model"] for m in others} == {placed[0]["model"]}
    runs = sum(row["source"] == "run" for row in page["rows"])
    if not runs:
        assert not re.search("(?<!nobody )leads", words)
    if "nothing was run here" in words:
        assert not runs


@pytest.mark.browser
@pytest.mark.parametrize("seed", SHOWN)
def test_a_drawn_board_s_pages_say_what_its_data_do(page_of, runs, tmp_path, seed):
    from playwright.sync_api import expect

    board = drawn_board(runs, seed)
    document = site.document(board)
    site.write(board, SiteFiles(tmp_path))
    with page_of(tmp_path, width=1440) as page:
        expect(page.locator("h1")).to_be_visible()
        overall_page(page, document)
        for number, group in enumerate(document["groups"]):
            if not group["mini"]:
                page.evaluate("(hash) => (location.hash = hash)", address(group))
                rows = [row for row in document["rows"] if row["group"] == number]
                table_page(page, board, group, rows)


@pytest.mark.browser
def test_a_page_marks_a_model_above_one_that_beats_it(page_of, runs, tmp_path):
    from playwright.sync_api import expect

    board = crossed_board(runs)
    site.write(board, SiteFiles(tmp_path))
    with page_of(tmp_path) as page:
        overall_page(page, site.document(board))
        expect(page.locator(".badge.warn")).to_have_text("better one below")
        words = "b (rank 3) is better on ReXTime"
        expect(page.locator(".badge.warn")).to_have_attribute("title", words)
        expect(page.locator(".note", has_text="Better one below")).to_contain_text(
            f"Below a: {words}."
        )
        with page.expect_download() as caught:
            page.locator("summary", has_text="Download").click()
            page.get_by_role("button", name="This view as CSV").click()
        saved = Path(caught.value.path()).read_text(encoding="utf-8-sig")
        told = {line["Model"]: line for line in csv.DictReader(io.StringIO(saved))}
        assert told["a"]["Rank better ones below"] == words
        # A reader's own order has the same rule: without ReXTime nobody is beaten where both ran.
        page.evaluate("() => (location.hash = '#/overall?without=minerva')")
        expect(page.locator(".headline")).to_contain_text("Your own choice")
        expect(page.locator(".badge.warn")).to_have_count(0)


def address(group):
    return f"#/{group['benchmark']}?group={quote(group['id'], safe='')}"


def table_of(page):
    """What the table shows: (rank, model, value) of each row."""
    return page.evaluate(
        """() => [...document.querySelectorAll("table.rows tbody tr[data-row]")].map((row) => [
            row.querySelector(".rank")?.textContent ?? "",
            row.querySelector(".name").getAttribute("aria-label"),
            row.querySelector(".forest b")?.firstChild.textContent ?? ""])"""
    )


def overall_page(page, document):
    """Title, count of rows and coverage are those of the rows that are listed."""
    title = page.locator("h1").text_content()
    models, benchmarks = map(int, re.search(r"(\d+) video models? on (\d+)", title).groups())
    listed = table_of(page)
    foot = page.locator(".table-foot").text_content()
    assert foot.startswith(f"1 to {models} of {models}" if models else "")
    assert len(listed) == models
    placed = [model for model in document["overall"] if model["rank"] is not None]
    shown = [(rank, name) for rank, name, _ in listed if rank]
    assert shown == [(str(model["rank"]), model["model"]) for model in placed]
    lanes = page.locator("th.lane-cell").count()
    assert lanes == benchmarks
    standings_of_the_page(page, document)
    covered = page.locator(".who .sub", has_text=re.compile(r"on \d+ of")).all_text_contents()
    partly = [model for model in document["overall"] if 0 < model["covered"] < model["of"]]
    wanted = [f"on {model['covered']} of {model['of']}" for model in partly]
    assert sorted(text.strip().removesuffix(" benchmarks") for text in covered) == sorted(wanted)
    number_of_runs(page, document["rows"])


def standings_of_the_page(page, document):
    """The page's own order over all benchmarks is that of `overall.py`."""
    shown = page.evaluate(
        """async () => {
            const R = Reelbench, over = R.data.groups.map((g, i) => ({ ...g, i })).filter((g) => g.counts);
            const find = () => R.standings(R.data.overall, over, () => {});
            find();
            await Promise.all(over.map((g) => R.loadPairs(g)));
            await new Promise((done) => setTimeout(done));
            const found = find();
            return R.data.overall.map((model) => {
                const { rank, ranks, below } = found.get(model);
                return [rank, ranks, below];
            });
        }"""
    )
    if document["overall"] and document["overall"][0]["of"] > 1:
        wanted = [[m["rank"], m["ranks"], m.get("below", "")] for m in document["overall"]]
        assert shown == json.loads(json.dumps(wanted))


def number_of_runs(page, rows):
    kinds = Counter(row["source"] for row in rows)
    said = page.locator(".trust").text_content()
    counted = re.search(r"([\d,]+) runs?(?: and ([\d,]+) without the video)?, recomputed", said)
    if counted is None:
        assert kinds["run"] == 0
        return
    assert (int(counted[1]), int(counted[2] or 0)) == (kinds["run"], kinds["blind"])


def table_page(page, board, group, rows):
    """Rows stand as in the data, and what a pin says follows from the table's pairs."""
    listed_rows = [row for row in rows if row["source"] in ("run", "published", "owner")]
    page.wait_for_function(
        "(n) => document.querySelectorAll('table.rows tbody tr[data-row]').length === n",
        arg=len(listed_rows),
    )
    ranked = [row for row in listed_rows if "rank" in row]
    shown = [(rank, name) for rank, name, _ in table_of(page) if rank]
    assert shown == [(str(row["rank"]), row["model"]) for row in ranked]
    number_of_runs(page, rows)
    [own_group] = [g for g in board.rows if g.id == group["id"]]
    pairs = site.pairs(board, own_group)
    if not any(pairs["cells"]):
        return
    page.locator(f'tr[data-row="{pairs["rows"][0]}"] input.pick').check()
    verdict = page.locator(".compare-note")
    told = Counter()
    for cell in pairs["cells"][: len(pairs["rows"]) - 1]:
        if cell is not None:
            kind = 0 if cell[1] is None or cell[1] > 0.05 else cell[0]
            told[(kind > 0) - (kind < 0)] += 1
    for sign, words in ((1, "better than"), (0, "not told apart from"), (-1, "worse than")):
        if told[sign]:
            page.wait_for_function(
                "(text) => document.querySelector('.compare-note').textContent.includes(text)",
                arg=f"{words} {told[sign]}",
            )
    assert verdict.is_visible()
