"""Every page in Firefox as in Chromium: axe finds nothing serious, charts are drawn, nothing scrolls sideways."""

import pytest

from tests.firefox import firefox, installed
from tests.leaderboard.test_site_for_everybody import ROUTES

pytestmark = [pytest.mark.slow]
WIDTHS = (500, 768, 1280, 1920)
"""Pixels; a window of Firefox is at least 500 wide."""
READY = """document.querySelector("main h1") &&
    [...document.querySelectorAll(".plot")].every((plot) => plot.dataset.drawn || !plot.clientWidth)"""
AXE = """return axe.run({ preload: false, resultTypes: ["violations"] }).then((all) => all.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => [one.id, ...one.nodes.map((node) => node.html.slice(0, 200))]));"""


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    """A Firefox; skipped where there is none."""
    if installed() is None:
        pytest.skip("no Firefox here; `apt-get install firefox-esr` brings it")
    with firefox(tmp_path_factory.mktemp("firefox")) as opened:
        yield opened


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_are_whole_in_firefox(window, published_site, checkers, width):
    axe = (checkers / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    for address in ROUTES:
        window.open(f"file://{published_site}/index.html{address}", width=width)
        window.wait(READY)
        assert window.run("return innerWidth") == width
        assert window.run("return document.documentElement.scrollWidth") <= width, address
        assert window.run("return document.querySelectorAll('.plot > .note').length") == 0, address
        assert window.run(f"{axe}\n{AXE}") == [], address


def test_charts_and_pins_work_in_firefox(window, published_site):
    window.open(f"file://{published_site}/index.html#/moviecore", width=1280)
    window.wait(READY)
    window.run("document.querySelector('input.pick').click()")
    window.wait("document.querySelectorAll('[data-compared]').length === 1")
    assert "pinned" in window.run("return document.querySelector('.compare-note').textContent") or (
        window.run("return location.hash").find("pick=") > 0
    )
