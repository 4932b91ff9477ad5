"""What stands beside a score: what a question cost, what others claim of the model, and what kind of system it is."""

import csv
from dataclasses import replace

import pytest

from reelbench.leaderboard import aliases, board, columns, site, store
from reelbench.registry import discovery
from tests.leaderboard.rows import REXTIME, entry


def shown(rows, names=None):
    """Model and kind -> the columns of its row."""
    made = board.ranked_board(discovery.specs(), rows, names)
    return {(row.model, row.kind): columns.plain_row(made, row) for row in made.entries}


def test_a_run_s_price_makes_its_cost(rextime_run, tamper, tmp_path):
    store.add(
        tamper(rextime_run("priced"), samples=with_tokens, result=priced(2.5)), tmp_path / "s"
    )
    free = tamper(rextime_run("free", model="org/free"), samples=with_tokens)
    store.add(free, tmp_path / "s")
    made = board.make(tmp_path / "s", published=False)
    row, other = (columns.plain_row(made, row) for row in made.entries)
    if row["model"] == "org/free":
        row, other = other, row
    # 1,000 tokens at $2.5 and 10 at $10 a million.
    assert row["cost"] == pytest.approx(0.0025 + 0.0001)
    assert row["price"] == f"2.5 in, 10 out, {row['date'][:10]}"
    assert (other["tokens_in"], other["cost"], other["price"]) == (1000.0, None, None)


def with_tokens(samples):
    for number, sample in enumerate(samples):
        sample["tokens"] = {"prompt": 900 + 200 * (number % 2), "completion": 10}


def priced(prompt):
    price = {"prompt": prompt, "completion": 10}
    asked = {"asked": 12, "kept": 0, "server": "localhost", "price": price}
    return lambda document: document["provenance"].update(asked=asked)


@pytest.fixture
def priced_store(rextime_run, tamper, tmp_path):
    """A store of two priced runs, of which an account handed the second in."""
    place = tmp_path / "s"
    own = tamper(rextime_run("own", model="org/own"), samples=with_tokens, result=priced(2.5))
    store.add(own, place)
    foreign = rextime_run("foreign", model="lab/foreign", right=9)
    tamper(foreign, samples=with_tokens, result=priced(0.01))
    store.add(foreign, place, filing=store.Filing(account="lab"))
    return place


def test_a_price_that_was_handed_in_is_marked_in_each_file(priced_store, tmp_path):
    made = board.make(priced_store, published=False)
    rows = {row.model: columns.plain_row(made, row) for row in made.entries}
    assert "stated" not in rows["org/own"]["price"]
    assert rows["org/own"]["stated_by"] is None
    assert rows["lab/foreign"]["price"].endswith(", as stated by lab")
    assert rows["lab/foreign"]["stated_by"] == "lab"
    site.build(priced_store, tmp_path / "site", published=False)
    with (tmp_path / "site/downloads/rextime.csv").open(encoding="utf-8-sig") as file:
        of_model = {line["model"]: line for line in csv.DictReader(file)}
    assert of_model["lab/foreign"]["price"].endswith(", as stated by lab")


@pytest.mark.browser
def test_the_page_marks_a_price_that_was_handed_in(page_of, priced_store, tmp_path):
    from playwright.sync_api import expect

    site.build(priced_store, tmp_path / "site", published=False)
    with page_of(tmp_path / "site", "#/rextime", width=1920) as page:
        marks = page.locator("table.rows td span[title='As stated by lab, who handed the run in']")
        # Tokens in and out, and the price of a question.
        expect(marks).to_have_text(["*"] * 3)
        chart = page.get_by_role("group", name="Score against price")
        expect(chart).to_contain_text("foreign*")
        expect(
            page.get_by_text("* As stated by the account that handed the run in.")
        ).to_be_visible()


def test_several_claims_of_a_paper_are_all_shown_or_the_like_one_is():
    rows = [
        entry("org/Model", 41.0, frames="8", cite="Table 2"),
        entry("org/Model", 44.0, frames="32", cite="Table 5"),
        entry("org/Model", 48.0, frames="32", setting="reasoning", cite="Table 6"),
    ]
    for number, row in enumerate(rows):
        rows[number] = replace(row, key=f"published/rextime/{number}")
    run = entry("org/Model", 30.0, kind="run", frames="uniform:32")
    # No setting is stated of the run: both with its frames stand there.
    both = shown([*rows, run])["org/Model", "run"]
    assert both["claimed"] is None
    assert both["claimed_in"] == ("48.0, reasoning, frames 32 (Table 6); 44.0, frames 32 (Table 5)")
    thinking = replace(run, setting="reasoning")
    one = shown([*rows, thinking])["org/Model", "run"]
    assert (one["claimed"], one["claimed_in"]) == (48.0, "Table 6")
    # Two papers that say the same are two sources of one number.
    again = replace(rows[2], key="published/rextime/9", cite="Another paper")
    one = shown([*rows, again, thinking])["org/Model", "run"]
    assert (one["claimed"], one["claimed_in"]) == (48.0, "Table 6; Another paper")


def test_what_a_paper_states_stands_beside_the_run_of_its_table():
    val = entry("org/Model", 41.0)
    rows = [
        val,
        entry("org/model-2026", 30.0, kind="run"),
        entry("org/other", 30.0, kind="run"),
        entry("org/tuned", 50.0),
        entry("org/tuned", 44.0, kind="run", setting="fine-tuned", group=TUNED),
    ]
    names = aliases.Aliases({"aliases.yaml": {"org/Model": ["org/model-2026"]}})
    found = shown(rows, names)
    assert found["org/model-2026", "run"]["claimed"] == 41.0
    assert found["org/other", "run"]["claimed"] is None
    assert found["org/tuned", "run"]["claimed"] is None
    assert found["org/Model", "published"]["claimed"] is None


TUNED = REXTIME.__class__("rextime", 1, "val", setting="fine-tuned")


@pytest.mark.parametrize("setting", ["agent", "ensemble", "tools"])
def test_what_is_more_than_a_model_has_a_table_of_its_own(rextime_run, tamper, tmp_path, setting):
    def stated(document):
        document["model"]["about"] = {"setting": setting}

    store.add(rextime_run("alone"), tmp_path / "s")
    store.add(tamper(rextime_run("more", model="org/more"), result=stated), tmp_path / "s")
    made = board.make(tmp_path / "s", published=False)
    assert sorted((row.group.setting or "", made.ranks[row.key]) for row in made.entries) == [
        ("", 1),
        (setting, 1),
    ]
