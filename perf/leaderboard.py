"""The leaderboard at scale: results of 20 ReXTime items each, added, built, opened and filtered in a real browser.

    python -m perf.leaderboard [--results 10000] [--half]
    python -m perf.leaderboard --results 2000 --items 100 --workers 1 2     the same store, added by so many processes
    python -m perf.leaderboard --results 1000 --items 1000 --one-more       builds of all, and after one more result

Adding computes every number again, in as many processes as there are cores. `--half` measures half
as many as well, to show that growth is linear. The limits: 10,000 added and built in 60 s; the page
opened in 2 s, filtered in 0.05 s.
"""

import argparse
import copy
import hashlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from perf.measure import loop_of_additions, run
from reelbench.base.workers import Workers
from reelbench.leaderboard import site, store
from reelbench.registry import discovery
from reelbench.registry.records import Item, ModelRecord, SettingsRecord, SourceRecord
from reelbench.scoring import aggregation, result_files

ITEMS = 20
MORE = 3
"""Results that are added one after the other, each followed by a build."""
DISTINCT = 50
"""Different sets of answers; the models' names make all results different."""


def make(folder: Path, count: int, size: int = ITEMS) -> None:
    """Write `count` results of `size` items as `reelbench score` does."""
    spec = discovery.get("rextime")
    source = SourceRecord(kind="files", location="references.jsonl", fingerprint="0" * 64)
    categories = ("cause-effect", "means-to-an-end", "sequential")
    for number in range(min(DISTINCT, count)):
        items = []
        for i in range(size):
            right = (i * 7 + number) % DISTINCT < number
            answer = "A" if right else "B"
            prediction = {"pred_relevant_windows": [[0, 5 + number % 5]], "ans": answer}
            items.append(
                Item(
                    id=f"q{i}",
                    video=f"video{i % 15}",
                    target={"answer": "A", "spans": [[0.0, 10.0]]},
                    prediction=prediction,
                    parsed={"answer": answer, "span": [0.0, float(5 + number % 5)]},
                    facets={"category": [categories[i % 3]]},
                )
            )
        result_files.write(
            folder / f"{number:05}",
            spec,
            aggregation.score(spec, items),
            split="val",
            source=source,
            model=ModelRecord(id=f"org/model-{number:05}"),
            settings=SettingsRecord(frames="uniform:32"),
        )
    for number in range(DISTINCT, count):
        first = folder / f"{number % DISTINCT:05}"
        target = folder / f"{number:05}"
        target.mkdir()
        shutil.copy(first / result_files.SAMPLES_FILE, target)
        document = json.loads((first / result_files.RESULT_FILE).read_text())
        document = copy.deepcopy(document) | {"model": {"id": f"org/model-{number:05}"}}
        (target / result_files.RESULT_FILE).write_text(json.dumps(document))


def measure(count: int, browser: bool) -> dict[str, float]:
    """Return the seconds that each step took."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        os.environ["REELBENCH_HOME"] = str(root / "home")
        make(root / "runs", count)
        started = time.perf_counter()
        added = store.add(root / "runs", root / "store")
        if refused := [one for one in added if one.outcome != "added"]:
            raise SystemExit(f"{len(refused)} results were not added, the first: {refused[0]}")
        took = {"add": time.perf_counter() - started}
        started = time.perf_counter()
        site.build(root / "store", root / "site")
        took["build"] = time.perf_counter() - started
        took["add and build"] = sum(took.values())
        took["board.js, MB"] = (root / "site" / "data" / "board.js").stat().st_size / 1e6
        if browser:
            took |= opened(root / "site")
        return took


def spread(count: int, size: int, workers: list[int]) -> None:
    """Print the seconds that adding takes with each number of workers; all must leave the same bytes."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        os.environ["REELBENCH_HOME"] = str(root / "home")
        make(root / "runs", count, size)
        digests, seconds = set(), []
        for turn, number in enumerate(workers):
            folder = root / f"store{turn}"
            started = time.perf_counter()
            store.add(root / "runs", folder, workers=Workers(number))
            seconds.append(time.perf_counter() - started)
            whole = hashlib.sha256()
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                whole.update(str(path.relative_to(folder)).encode() + path.read_bytes())
            digests.add(whole.digest())
            ratio, load = seconds[0] / seconds[-1], os.getloadavg()[0]
            took = f"{seconds[-1]:.1f} s, {ratio:.2f} x, load {load:.1f}"
            print(f"{count} results of {size} items, {number} workers: {took}", flush=True)
        assert len(digests) == 1  # noqa: S101 - a measurement of something else would be worthless


_FILTER = """(text) => new Promise((done) => {
    const box = document.getElementById('q'), start = performance.now();
    box.value = text; box.dispatchEvent(new Event('input'));
    requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000), 0));
})"""
"""From the key press to the next frame on the screen, measured inside the page."""


def opened(folder: Path) -> dict[str, float]:
    """Open the page three times and filter it; medians, in seconds."""
    from playwright.sync_api import sync_playwright

    address = f"file://{folder}/index.html#/rextime?group=rextime%2Fv1%2Fval"
    opening, filtering = [], []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for _ in range(3):
            page = chromium.new_page()
            started = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("table.rows tbody .name")
            opening.append(time.perf_counter() - started)
            for text in ("model-004", "77", "", "org/model-09999"):
                seconds = page.evaluate(_FILTER, text)
                filtering.append(seconds)
            page.close()
        chromium.close()
    return {
        "open": statistics.median(opening),
        "filter": statistics.median(filtering),
        "filter, worst": max(filtering),
    }


def one_more(count: int, size: int) -> None:
    """Print what builds cost: of all, after one more result, with nothing new, without samples.

    They are whole commands with one worker, and their modules are compiled, as an installed
    package's are. Beside each stands a loop of five million additions.
    """
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        home = root / "home"
        os.environ["REELBENCH_HOME"] = str(home)
        make(root / "runs", count + MORE, size)
        more_results = [f"{number:05}" for number in range(count, count + MORE)]
        for result in more_results:
            (root / "runs" / result).rename(root / result)
        store.add(root / "runs", root / "store")
        program = (sys.executable, "-m", "reelbench", "leaderboard", "build", "--workers", "1")
        environ = {"PYTHONSAFEPATH": "", "PYTHONDONTWRITEBYTECODE": ""}
        store.add(root / "runs" / "00000", root / "small store")
        compiling = (*program, "--store", root / "small store", "--out", root / "small site")
        run(compiling, home, environ)
        build = (*program, "--store", root / "store")
        small = (*build, "--out", root / "small", "--no-samples")
        steps = [("whole, no samples", small)]
        steps += [("one more, no samples", small)] * MORE
        steps += [("nothing new", small), ("whole, tests kept", (*build, "--out", root / "site"))]
        print(f"{count} results of {size} items")
        for step, command in steps:
            if step.startswith("one more"):
                store.add(root / more_results.pop(), root / "store")
            done = run(command, home, environ)
            seconds = f"{done.cpu:.2f} s of processor time, {done.seconds:.1f} s"
            print(f"{step}: {seconds}; loop {loop_of_additions():.3f} s", flush=True)


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--workers", type=int, nargs="+")
    parser.add_argument("--one-more", action="store_true")
    given = parser.parse_args()
    if given.one_more:
        one_more(given.results, given.items)
        return
    if given.workers:
        spread(given.results, given.items, given.workers)
        return
    browser = shutil.which("chromium") is not None
    for count in [given.results // 2, given.results] if given.half else [given.results]:
        took = measure(count, browser)
        print(
            f"{count} results: " + ", ".join(f"{name} {value:.2f}" for name, value in took.items())
        )


if __name__ == "__main__":
    main()
