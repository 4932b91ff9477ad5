"""Answers that the readers were not built on, written before them or after, and read once before anything was mended.

First seen: of `unseen.jsonl`, written by somebody else, 472 of 473 right, none missed, one invented
(two ranges joined by "or"). Of `unseen_later.jsonl`, which looks for forms that no reader has, 144
of 185 letters and spans right, 41 missed, none invented. What was mended since was mended by rule;
what is still missed stands in MISSED.
"""

import json
from pathlib import Path

import pytest

from reelbench.scoring.answers import read_option, read_span

FOLDER = Path(__file__).parent
ROWS = [
    json.loads(line)
    for name in ("unseen.jsonl", "unseen_later.jsonl")
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()
]
MISSED = frozenset(
    {
        "B | 6.0 | 15.0",  # a table's line without its heading
        "Answer: B\nSpan: 6 15",
        "A? No. B? No. C? Yes.",
        "A: no\nB: yes\nC: no\nD: no",
        "What happens is described by option C.",
        "الإجابة الصحيحة هي (ج) أي C.",
        (
            "I can rule out A (no ticket booth) and D (she never lies down). "
            "Between B and C, the crumbs at 7 s–16 s settle it: B."
        ),
    }
)


@pytest.mark.parametrize(
    "row", ROWS, ids=[f"{number}-{row['style']}" for number, row in enumerate(ROWS, start=1)]
)
def test_an_answer_that_nobody_had_seen(row):
    missed = (None,) if row["text"] in MISSED else ()
    if "option" in row:
        assert read_option(row["text"], row["options"]) in (row["option"], *missed)
    if "span" in row:
        span = read_span(row["text"])
        assert (span in missed) or span == (
            None if row["span"] is None else pytest.approx(row["span"])
        )


def test_at_most_two_in_a_hundred_are_missed():
    assert len(MISSED) <= 0.02 * len(ROWS)
