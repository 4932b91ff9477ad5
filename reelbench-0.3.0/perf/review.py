"""The review page with 2,000 items in a real Chromium: how long until it can be used, and how long a step takes.

Run it with `python -m perf.review`. Aims: open in under 2 s, a step in under 100 ms.
"""

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from reelbench.registry import discovery
from reelbench.studio.review import pages
from reelbench.studio.review.review_items import Place
from reelbench.studio.review.spans import SPANS

ITEMS = 2000
STEPS = 50


def page(folder: Path) -> Path:
    """Write a page of `ITEMS` questions on a tenth as many videos, none of which is here."""
    spec = discovery.get("rextime")
    places, rows = [], {}
    for number in range(ITEMS):
        video = f"v{number // 10}"
        row = {
            "id": f"q{number}",
            "video": video,
            "question": f"What happens after event {number}? " * 3,
            "language": "en",
            "options": [
                f"Option {letter} of question {number}, in some more words." for letter in "ABCD"
            ],
            "answer": "A",
            "span": [1.0, 2.0],
            "duration": 60.0,
            "category": ["sequential"],
        }
        rows[video] = row
        places.append(Place(video, row["id"], [SPANS.item(spec, row)]))
    return pages.write(
        pages.Content(SPANS, spec, "val", places, rows), folder / "page.html", pages.Draw()
    ).paths[0]


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("no Chromium here")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        html = page(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page()
        tab.goto(html.as_uri())
        opened = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        steps, marks = [], []
        for key, times in (("n", steps), ("i", marks)):
            for _ in range(STEPS):
                # From the key to the frame after it.
                times.append(
                    tab.evaluate(
                        """(key) => new Promise((done) => { const began = performance.now();
                        dispatchEvent.call(document.body, new KeyboardEvent("keydown", { key, bubbles: true }));
                        requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))); })""",
                        key,
                    )
                )
        browser.close()
        print(f"{ITEMS} items, {html.stat().st_size / 1e6:.1f} MB")
        print(f"open: {opened / 1000:.2f} s")
        for name, times in (("step", steps), ("mark", marks)):
            print(f"{name}: median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms")


if __name__ == "__main__":
    main()
