"""What stands beside a score: what a question cost, what others claim of the model, and what kind of system it is."""

import pytest

from reelbench.leaderboard import aliases, board, columns
from reelbench.registry import discovery
from tests.leaderboard.rows import REXTIME, entry


def shown(rows, names=None):
    """Model and kind -> the columns of its row."""
    made = board.ranked_board(discovery.specs(), rows, names)
    return {(row.model, row.kind): columns.plain_row(made, row) for row in made.entries}


def test_a_run_s_price_makes_its_cost(rextime_run, tamper, tmp_path):
    from reelbench.leaderboard import store

    def with_tokens(samples):
        for number, sample in enumerate(samples):
            sample["tokens"] = {"prompt": 900 + 200 * (number % 2), "completion": 10}

    def with_price(document):
        document["provenance"]["asked"] = {
            "asked": 12,
            "kept": 0,
            "server": "localhost",
            "price": {"prompt": 2.5, "completion": 10},
        }

    store.add(tamper(rextime_run("priced"), samples=with_tokens, result=with_price), tmp_path / "s")
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
    from reelbench.leaderboard import store

    def stated(document):
        document["model"]["about"] = {"setting": setting}

    store.add(rextime_run("alone"), tmp_path / "s")
    store.add(tamper(rextime_run("more", model="org/more"), result=stated), tmp_path / "s")
    made = board.make(tmp_path / "s", published=False)
    assert sorted((row.group.setting or "", made.ranks[row.key]) for row in made.entries) == [
        ("", 1),
        (setting, 1),
    ]
