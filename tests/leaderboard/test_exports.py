"""The table as files, with text in it that means harm."""

import csv
import io
import re

from reelbench.leaderboard import board, exports, store
from reelbench.leaderboard.entries import Group
from reelbench.registry import discovery
from tests.leaderboard.test_ranking import entry

HOSTILE = [
    '=HYPERLINK("http://evil.test","x")',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    'plain, "quoted"\nname',
    "<script>alert(1)</script>",
    "a|b_c & 100 % {x} \\y ~ ^ # $",
    "![seen](http://evil.test/pixel.png)",
    "[here](javascript:alert(1))",
]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def made(*names):
    return board.of(discovery.specs(), [entry(name, 90.0 - i) for i, name in enumerate(names)])


def test_no_cell_of_the_csv_is_a_formula():
    found = rows_of(exports.as_csv(made(*HOSTILE), "rextime"))
    assert [row["model"].removeprefix("'") for row in found] == HOSTILE
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in found for cell in row.values())
    assert found[0]["accuracy_at_iou_0.5"] == "90.0"


def test_the_csv_has_values_intervals_and_settings(rextime_run, tmp_path):
    store.add(rextime_run(), tmp_path / "store")
    [row] = rows_of(exports.as_csv(board.make(tmp_path / "store", published=False), "rextime"))
    assert (row["rank"], row["model"], row["split"], row["source"]) == ("1", "org/model", "mini", "run")
    assert float(row["accuracy"]) == 50
    assert float(row["accuracy_low"]) < 50 < float(row["accuracy_high"])
    assert (row["items"], row["scored"], row["ids"]) == ("12", "12", "checked")


def test_markdown_keeps_a_row_a_row():
    text = exports.tables(made(*HOSTILE), "markdown", benchmark="rextime")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(HOSTILE)
    assert all(line.replace("\\|", "").count("|") == table[0].count("|") for line in table)
    assert "<script" not in text
    assert not re.search(r"(?<!\\)\]\(", text)


def test_a_judges_name_is_inert_in_a_heading():
    group = Group("curve", 1, "test", None, "[j](http://evil.test)<img src=x>", "official")
    text = exports.tables(board.of(discovery.specs(), [entry("a", 1.0, group=group)]), "markdown")
    assert not re.search(r"(?<!\\)\]\(", text)
    assert "<img" not in text
    assert "http:" not in text


def test_latex_escapes_and_has_a_line_per_row():
    text = exports.tables(made(*HOSTILE), "latex", benchmark="rextime")
    assert r"a|b\_c \& 100 \% \{x\} \textbackslash{}y \textasciitilde{} \textasciicircum{} \# \$ (zero-shot)" in text
    assert text.count(r"\\" + "\n") == 1 + len(HOSTILE)
    assert r"\begin{tabular}{rllr}" in text


def test_the_interval_stands_beside_the_primary_metric(rextime_run, tmp_path):
    store.add(rextime_run(), tmp_path / "store")
    made_board = board.make(tmp_path / "store", published=False)
    [line] = [line for line in exports.tables(made_board, "markdown").splitlines() if "org/model" in line]
    low, high = made_board.entries[0].metrics["accuracy_at_iou_0.5"].ci95
    assert f"| 50.0 ± {(high - low) / 2:.1f} |" in line
