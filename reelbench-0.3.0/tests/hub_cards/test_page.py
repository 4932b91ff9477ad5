"""The cards as pages in a real browser. `REELBENCH_PAGES=folder pytest tests/hub_cards/test_page.py` keeps pictures."""

import os
import re
import shutil
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.hub_cards.rendering import HELD, gold

STYLE = (
    "body{font:15px sans-serif;max-width:860px;margin:24px auto}table{border-collapse:collapse;font-size:13px;"
    "display:block;overflow-x:auto}td,th{border:1px solid #ccc;padding:3px 8px}pre{background:#f6f8fa;overflow:auto}"
)


def page_of(name, tmp_path):
    text = (gold(name, counted=True) / "README.md").read_text(encoding="utf-8")
    body = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .render(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL))
    )
    shutil.copytree(gold(name, counted=True), tmp_path / name)
    page = tmp_path / name / "page.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{body}", encoding="utf-8"
    )
    return page


@pytest.mark.browser
@pytest.mark.parametrize("name", HELD)
def test_a_card_is_a_whole_page(chromium, name, tmp_path):
    page = chromium.new_page(viewport={"width": 920, "height": 1200})
    page.goto(page_of(name, tmp_path).as_uri())
    assert page.locator("h1").count() == 1
    assert page.locator("h2").all_inner_texts() == [
        *("Loading", "Schema", "Splits", "Statistics", "Scoring", "Published results"),
        *("Provenance", "Licences", "Limitations", "Citation", "Datasheet"),
    ]
    assert page.locator("table").count() >= 8
    shown = page.locator("body").inner_text()
    assert "reelbench:begin" not in shown, "the markers are comments"
    assert "| ---" not in shown, "a table was not read as one"
    pictures = page.locator("img")
    assert pictures.count() >= 3
    sizes = pictures.evaluate_all(
        "all => all.map(one => [one.complete, one.naturalWidth, one.naturalHeight, one.alt])"
    )
    for complete, width, height, alternative in sizes:
        assert complete
        assert width == 720
        assert height > 60
        assert alternative
    if folder := os.environ.get("REELBENCH_PAGES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    "path",
    sorted(gold("dramaqa_cogme", counted=True).glob("plots/*.svg")),
    ids=lambda path: path.stem,
)
def test_a_plot_s_words_stay_inside_and_apart(chromium, path):
    page = chromium.new_page(viewport={"width": 760, "height": 900})
    page.goto(path.as_uri())
    boxes = page.evaluate(
        "() => [...document.querySelectorAll('text')].map(t => {const b = t.getBBox(); return [b.x, b.y, b.x + b.width,"
        " b.y + b.height, t.textContent]})"
    )
    height = page.evaluate("() => document.documentElement.viewBox.baseVal.height")
    for left, top, right, bottom, text in boxes:
        assert left >= 0, text
        assert top >= 0, text
        assert right <= 720, text
        assert bottom <= height, text
    for number, (left, top, right, bottom, text) in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = (
                right <= other[0]
                or other[2] <= left
                or bottom <= other[1] + 3
                or other[3] <= top + 3
            )
            assert apart, (text, other[4])
    page.close()
