"""The documents' site: built without a warning; its own links lead somewhere, and llms.txt names what is there."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.slow  # one build of the site, for the browser's tests too


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip(
        "sphinx",
        reason="the site is built with sphinx, myst-parser and furo (requirements-dev.txt)",
    )
    folder = tmp_path_factory.mktemp("site")
    build = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "-d",
        folder / "kept",
        "-b",
        "html",
    ]
    done = subprocess.run(
        [*build, ROOT / "docs", folder / "out"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "out"


def has_anchor(target, anchor):
    return (
        not anchor
        or target.suffix != ".html"
        or f'id="{anchor}"' in target.read_text(encoding="utf-8")
    )


def test_every_link_within_the_site_leads_somewhere(site):
    broken = []
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            address = urlsplit(unescape(link))
            if address.scheme or address.netloc:
                continue
            target = page if not address.path else (page.parent / unquote(address.path)).resolve()
            if not target.is_file() or not has_anchor(target, unquote(address.fragment)):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_every_page_can_be_found_and_is_in_llms_txt(site):
    listed = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert [name for name in listed if not (site / name).is_file()] == []
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {name for name in pages if not name.startswith("_site/")} - {"index.md"} == set(listed)
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert all(name.removesuffix(".md") in index for name in listed)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("krippendorff", "Judging: what it costs"),
        ("semicolon", "Add a benchmark"),
        ("429", "Messages"),
        ("--llm-timeout", "Commands"),
        ("answer_spans", "Reading an answer"),
        ("multiple GPUs", "Several GPUs"),
        ("cuda not available", "If you know only lmms-eval"),
    ],
)
def test_the_site_finds_a_page_by_its_words(site, chromium, words, title):
    page = chromium.new_page()
    page.goto((site / "search.html").as_uri() + f"?q={quote(words)}")
    page.locator("#search-results li a").first.wait_for()
    assert title in page.locator("#search-results li > a").all_inner_texts()
    page.close()
