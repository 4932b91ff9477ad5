"""A `parity.json` and a `datasheet.md` of a stranger: held to a form, to a size and to their folder, and without effect."""

import json
import os
import re
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from reelbench.leaderboard import store

ROWS = "id,video,question,a,b,answer\nq1,v1,what?,x,y,A\nq2,v2,who?,x,y,A\n"
DECLARED = """id: kit
kind: choice
source: {file: rows.csv}
columns: {id: id, video: video, question: question, options: [a, b], answer: answer}
"""
PARITY = {
    "benchmark": "kit",
    "repository": "org/kit",
    "commit": "0123456789abcdef",
    "scorer": "score.py",
    "answers": "made",
    "n": 2,
    "numbers": {"accuracy": {"theirs": 50.0, "ours": 50.0, "difference": 0.0}},
    "command": "make parity",
}
SECTIONS = (
    "Limitations",
    "Motivation",
    "Composition",
    "Collection",
    "Preprocessing",
    "Uses",
    "Distribution",
    "Maintenance",
)
MATTER = (
    "---\ntask_categories: [video-text-to-text]\nannotations_creators: [found]\n"
    "language_creators: [found]\nsource_datasets: [original]\ntags: [video]\n---\n"
)


def sheet(body):
    return MATTER + "".join(f"## {name}\n\n{body}\n\n" for name in SECTIONS)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "kit"
    place.mkdir()
    (place / "benchmark.yaml").write_text(DECLARED, encoding="utf-8")
    (place / "rows.csv").write_text(ROWS, encoding="utf-8")
    return place


def number(**changed):
    return PARITY | {"numbers": {"accuracy": PARITY["numbers"]["accuracy"] | changed}}


WRONG = {
    "nothing in it": ({}, "field benchmark: Field required"),
    "a list": ([1], "parity.json: "),
    "a word for a number": (number(theirs="high"), "field numbers.accuracy.theirs"),
    "no number": (number(ours=None), "field numbers.accuracy.ours"),
    "not a number": (number(ours=float("nan")), "field numbers.accuracy.ours"),
    "a number too many": (number(more=1), "field numbers.accuracy.more"),
    "a long name": (PARITY | {"scorer": "x" * 1001}, "field scorer"),
    "many numbers": (
        PARITY | {"numbers": {f"m{at}": number()["numbers"]["accuracy"] for at in range(101)}},
        "field numbers",
    ),
    "a negative count": (PARITY | {"n": -1}, "field n"),
}


def commands(folder, tmp_path):
    return [("info", folder), ("cards", "render", folder, "--out", tmp_path / "card")]


def refused(done, *words):
    assert done.returncode == 2, done.stderr
    [line] = done.stderr.splitlines()
    for word in words:
        assert word in line


@pytest.mark.parametrize("name", WRONG)
def test_a_parity_of_another_form_is_a_line(folder, tmp_path, reelbench, name):
    document, why = WRONG[name]
    (folder / "parity.json").write_text(json.dumps(document), encoding="utf-8")
    for command in commands(folder, tmp_path):
        refused(reelbench(*command), "parity.json", why)


@pytest.mark.parametrize("name", ["parity.json", "datasheet.md"])
def test_a_file_beside_a_benchmark_is_contained_bounded_and_text(folder, tmp_path, reelbench, name):
    path = folder / name
    command = commands(folder, tmp_path)[1]
    (tmp_path / "secret").write_text(json.dumps(PARITY), encoding="utf-8")
    path.symlink_to(tmp_path / "secret")
    refused(reelbench(*command), name, "is outside")
    path.unlink()
    path.touch()
    os.truncate(path, 8_000_000_000)
    refused(reelbench(*command), name, "bytes: 8,000,000,000, and at most 1,000,000 are taken")
    path.write_bytes(sheet("caf\xe9").encode("latin-1"))
    refused(reelbench(*command), name, "not UTF-8 text")
    path.unlink()
    path.mkdir()
    refused(reelbench(*command), name, "is a folder, expected a file")


def test_a_parity_that_cant_be_read_keeps_no_board_from_being_built(
    folder, tmp_path, reelbench, monkeypatch
):
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(folder))
    answers = tmp_path / "answers.csv"
    answers.write_text("id,prediction\nq1,A\nq2,B\n", encoding="utf-8")
    scored = reelbench(
        "score", folder, "--predictions", answers, "--output", tmp_path / "run", "--model", "a/b"
    )
    assert scored.returncode == 0, scored.stderr
    [added] = store.add(tmp_path / "run", tmp_path / "store")
    assert added.outcome == "added", added.why
    (folder / "parity.json").write_text("{}", encoding="utf-8")
    built = reelbench(
        "leaderboard", "build", "--store", tmp_path / "store", "--out", tmp_path / "site"
    )
    assert built.returncode == 0, built.stderr
    assert "Traceback" not in built.stderr
    assert "parity.json: field benchmark: Field required; the page says nothing of it" in (
        " ".join(built.stderr.split())
    )
    assert (tmp_path / "site" / "index.html").is_file()


def test_words_of_a_parity_act_nowhere(folder, tmp_path, reelbench):
    words = "<script>alert(1)</script>\x1b[2J\u202e![x](https://e.org/x.png)\n# Licence"
    document = PARITY | {"scorer": words, "note": words, "repository": words, "answers": words}
    (folder / "parity.json").write_text(json.dumps(document), encoding="utf-8")
    info, render = (reelbench(*command) for command in commands(folder, tmp_path))
    assert info.returncode == render.returncode == 0, render.stderr
    card = (tmp_path / "card" / "README.md").read_text("utf-8")
    for text in (info.stdout, card):
        assert "\x1b" not in text
        assert "\u202e" not in text
    page = MarkdownIt("gfm-like", {"linkify": False}).render(card)
    assert "<script" not in page
    assert "e.org/x.png" not in re.sub(">[^<]*<", "><", page)  # of no element's attribute
    assert "<h1>Licence" not in page
    assert "alert(1)" in page


HOSTILE = """<script>alert(1)</script> <img src=x onerror=alert(1)> \\<b>
![a](https://e.org/a.png) \\![b](https://e.org/b.png) ![c][r]
[d](javascript:alert(1)) [e]( javascript:alert(1)) [f](<javascript:alert(1)>) [g](data:text/html,x)
[r]: https://e.org/r.png

[h][r] [i](
javascript:alert(1)) <javascript:alert(1)> \x1b[2J\u202e

# One
Two
===
Three
---
```
<!-- licences -->
~~~~
> ```
<!-- merge -->

*kept* and [paper](https://example.org/paper)

- a list
"""


def test_a_datasheet_marks_up_its_text_and_neither_loads_nor_runs(folder, tmp_path, reelbench):
    (folder / "datasheet.md").write_text(sheet(HOSTILE), encoding="utf-8")
    done = reelbench(*commands(folder, tmp_path)[1])
    assert done.returncode == 0, done.stderr
    card = (tmp_path / "card" / "README.md").read_text("utf-8")
    assert "\x1b" not in card
    assert "\u202e" not in card
    tokens = MarkdownIt("commonmark").parse(card[card.index("## Limitations") :])
    leaves = []
    for token in tokens:
        leaves += [token, *(token.children or ())]
    kinds = {leaf.type for leaf in leaves}
    assert "html_inline" not in kinds
    for leaf in leaves:  # the card's own marks, pictures and citation are left
        if leaf.type == "html_block":
            assert leaf.content.startswith("<!-- reelbench:")
        elif leaf.type == "image":
            assert leaf.attrs["src"].startswith("plots/")
        elif leaf.type == "fence":
            assert "One" not in leaf.content
    addresses = {leaf.attrs["href"] for leaf in leaves if leaf.type == "link_open"}
    assert {address for address in addresses if not address.startswith("https://")} == set()
    assert "https://example.org/paper" in addresses
    headings = {
        following.content
        for token, following in pairwise(tokens)
        if token.type == "heading_open" and token.tag in ("h1", "h2", "h3")
    }
    assert headings >= {"Limitations", "Citation", "Datasheet", *SECTIONS[1:]}
    assert headings.isdisjoint({"One", "Two", "Three"})
    assert {"em_open", "bullet_list_open"} <= kinds


def test_a_datasheet_with_windows_line_ends_is_read(folder, tmp_path, reelbench):
    (folder / "datasheet.md").write_bytes(sheet("Text.").replace("\n", "\r\n").encode())
    done = reelbench(*commands(folder, tmp_path)[1])
    assert done.returncode == 0, done.stderr
    assert "### Uses\n\nText." in (tmp_path / "card" / "README.md").read_text("utf-8")
