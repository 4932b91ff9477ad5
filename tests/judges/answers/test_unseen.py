"""Answers that the readers were not built on, written before them by somebody else.

First seen: 472 of 473 right, none missed, one invented (two ranges joined by "or"), which was mended since.
"""

import json
from pathlib import Path

import pytest

from reelbench.judges.answers import read_option, read_span

LINES = (Path(__file__).parent / "unseen.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES if line.strip()]


@pytest.mark.parametrize("row", ROWS, ids=[f"{number}-{row['style']}" for number, row in enumerate(ROWS, start=1)])
def test_an_answer_that_nobody_had_seen(row):
    if "option" in row:
        assert read_option(row["text"], row["options"]) == row["option"]
    if "span" in row:
        assert read_span(row["text"]) == (None if row["span"] is None else pytest.approx(row["span"]))
