"""The board's page in Chromium: first paint, sort, search and pin, at the processor's speed and six times slower.

    python -m perf.board_page [--results 100 1000] [--slower 1 6] [--runs 3]

Each size has its own store of results of 921 items, all of which are ranked. Seconds are by the page's own clock: from the
start of the navigation to the first paint and to the first row, and from a click or key to the frame after
it. The least and the median of all runs are printed. A busy machine adds to all of them, so read them beside
each other.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perf.leaderboard import make
from reelbench.leaderboard import site, store
from tools.setup_browser import browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ITEMS = 921
_GROUP = "#/rextime?group=rextime%2Fv1%2Fval"
_FIRST_ROW = "table.rows tbody:not(.pinned) .name"
_PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
_FIRST_ROW_AT = f"""new Promise((done) => {{
    const look = () => document.querySelector('{_FIRST_ROW}')
        ? requestAnimationFrame(() => setTimeout(() => done(performance.now() / 1000)))
        : requestAnimationFrame(look);
    look();
}})"""
_AFTER = """(act) => new Promise((done) => {
    const start = performance.now();
    new Function(act)();
    requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000)));
})"""
_STEPS = {
    "sort": "document.querySelectorAll('table.rows thead button.sort')[1].click()",
    "search": "const q = document.getElementById('q'); q.value = 'model-0000';"
    " q.dispatchEvent(new Event('input'))",
    "all again": "const q = document.getElementById('q'); q.value = '';"
    " q.dispatchEvent(new Event('input'))",
    "pin": "document.querySelectorAll('table.rows tbody:not(.pinned) input[type=checkbox]')[2].click()",
}


def opened(chromium: "Browser", address: str, slower: float) -> dict[str, float]:
    """Open a page at so much of the processor's speed, and take its steps."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.goto(address, wait_until="commit")
    seconds = {"first row": page.evaluate(_FIRST_ROW_AT)}
    seconds["first paint"] = page.evaluate(_PAINTED)
    page.wait_for_timeout(1000 * slower)  # what waits until the first screen is there
    for step, act in _STEPS.items():
        seconds[step] = page.evaluate(_AFTER, act)
    context.close()
    return seconds


def site_of(root: Path, results: int) -> Path:
    """Make a board of so many results, and return its page."""
    os.environ["REELBENCH_HOME"] = str(root / "home")
    make(root / "runs", results, ITEMS)
    store.add(root / "runs", root / "store")
    site.build(root / "store", root / "site")
    return root / "site" / "index.html"


def _table(measured: Sequence[tuple[str, list[dict[str, float]]]]) -> None:
    names = ["first paint", "first row", *_STEPS]
    print("| board | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    for title, runs in measured:
        cells: list[str] = []
        for name in names:
            values = [run[name] for run in runs]
            cells.append(f"{min(values):.3f} ({statistics.median(values):.3f})")
        print(f"| {title} | " + " | ".join(cells) + " |")


def main() -> None:
    """Measure and print one table."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--site", type=Path, nargs="*", help="instead: pages that are there")
    parser.add_argument("--slower", type=float, nargs="+", default=[1, 6])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        pages = [(str(page), page) for page in given.site or ()]
        if not pages:
            for results in given.results:
                pages.append((f"{results} rows", site_of(Path(name, str(results)), results)))
        chromium = playwright.chromium.launch(
            executable_path=browser(), args=["--no-sandbox", "--disable-gpu"]
        )
        measured: dict[str, list[dict[str, float]]] = {}
        for _ in range(given.runs):
            for title, page in pages:
                for slower in given.slower:
                    seconds = opened(chromium, f"{page.absolute().as_uri()}{_GROUP}", slower)
                    measured.setdefault(f"{title}, {slower:g} x slower", []).append(seconds)
        chromium.close()
    _table(list(measured.items()))
    print(f"load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main()
