"""The row of an account in a hidden test, as it follows from the entries of a ledger."""

from datetime import UTC, datetime

import pytest

from reelbench.leaderboard import hidden_rows, ledger, ledger_merge
from reelbench.leaderboard.board_state import BoardState

AT = datetime(2026, 12, 15, 12, tzinfo=UTC)


def received(name, **fields):
    return ledger.Received(
        **{
            "at": AT,
            "who": "ann",
            "act": "received",
            "key": f"submissions/cellar/ann__model/{name}",
            "model": "ann/model",
            "benchmark": "cellar",
            "version": 1,
            "split": "test",
            "phase": "test",
            "request": 1,
            "files": {},
            **fields,
        }
    )


def scored(name, value):
    totals = {} if value is None else {"accuracy": {"value": value, "n": 300}}
    return ledger.Scored(
        at=AT,
        who="ann",
        act="scored",
        key=f"submissions/cellar/ann__model/{name}",
        phase="test",
        totals=totals,
    )


@pytest.mark.parametrize(
    ("entries", "shown"),
    [
        # Of the two the file that was scored last took the row, whatever came first.
        ([received("a"), received("b"), scored("b", 60.0), scored("a", 80.0)], [80.0]),
        ([received("a"), received("b"), scored("a", 60.0), scored("b", None)], [60.0]),
        # A corrected benchmark has a table of its own, and so has another split.
        (
            [received("a"), scored("a", 80.0), received("b", version=2), scored("b", 60.0)],
            [80.0, 60.0],
        ),
        (
            [received("a"), scored("a", 80.0), received("b", split="val"), scored("b", 60.0)],
            [80.0, 60.0],
        ),
    ],
)
def test_an_account_has_a_row_in_each_table(entries, shown):
    state = BoardState()
    state.apply(entries)
    files = hidden_rows.shown_files(state)
    assert [file.scored.totals["accuracy"].value for file in files] == shown


def test_a_total_of_zero_is_told_as_a_total():
    line = ledger_merge.in_words(scored("a", 0.0))
    assert line.endswith("the owner: scored submissions/cellar/ann__model/a of ann, accuracy 0")
    assert ledger_merge.in_words(scored("a", None)).endswith(", its row stays")
