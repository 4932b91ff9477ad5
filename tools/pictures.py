"""The pictures of README and docs, as Chromium shows the pages (`make pictures`).

The viewer has the demo's runs; the board, on which they would be noise, has what others published.
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from reelbench.registry.files import open_aside

ROOT = Path(__file__).resolve().parent.parent
MOST = 150_000
"""Bytes of a picture."""
SIZE = {"width": 1240, "height": 760}


def main(demo: Path) -> None:
    """Make the pages and take their pictures; `demo` is the folder that `tools.demo` made."""
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        out = Path(scratch)
        runs = [next((demo / "runs" / name).rglob("rextime_mini")) for name in ("tiny-vlm", "baseline")]
        _reelbench("view", *runs, "--out", out / "view")
        (out / "store").mkdir()
        _reelbench("leaderboard", "build", "--store", out / "store", "--out", out / "site")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser")
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type] - a dictionary of two
        _take(page, (out / "view" / "index.html").as_uri(), ROOT / "docs" / "viewer.png")
        _take(page, f"{(out / 'site' / 'index.html').as_uri()}#/moviecore", ROOT / "docs" / "leaderboard.png")
        browser.close()


def _reelbench(*arguments: str | Path) -> None:
    subprocess.run([Path(sys.executable).with_name("reelbench"), *arguments], check=True)


def _take(page: Page, address: str, path: Path) -> None:
    """Save what a page shows first, in as many colours as the picture has room for."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)  # pictures and fonts
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    data = b""
    for colours in (None, 256, 128, 64):
        saved = io.BytesIO()
        (picture if colours is None else picture.quantize(colours)).save(saved, "PNG", optimize=True)
        data = saved.getvalue()
        if len(data) <= MOST:
            break
    with open_aside(path, "wb") as file:
        file.write(data)
    sys.stdout.write(f"{path.relative_to(ROOT)}: {len(data):,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "demo_output"))
