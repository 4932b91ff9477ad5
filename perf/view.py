"""The page of runs at scale: two of 10,000 CURVE items each, with three votes, read, searched and filtered.

    python -m perf.view [--items 10000] [--runs 2]

In a real browser, opened from the disk, with the list in view. The limits: opened in 2 s; search
and filter in 0.05 s, to the next frame; the question that they leave follows 0.1 s later.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reelbench.base.files import write_jsonl
from reelbench.leaderboard.view import page
from reelbench.leaderboard.view.page import read_groups
from reelbench.registry import discovery
from reelbench.registry.records import JudgeReply, ModelRecord, Sample, SettingsRecord, SourceRecord
from reelbench.scoring import aggregation, result_files
from tools.setup_browser import browser

_SENTENCE = (
    "the woman leaves market before rain because her brother calls from a train that is late again"
)
_WORDS = _SENTENCE.split()
_VOTES = 3


def _text(seed: int, words: int) -> str:
    return " ".join(_WORDS[(seed * 7 + i * i) % len(_WORDS)] for i in range(words))


def make(folder: Path, count: int, run: int) -> None:
    """Write a result with its questions: about 1.5 kB of text an item, as CURVE's are."""
    spec = discovery.get("curve")
    samples, questions = [], []
    for number in range(count):
        score = (number * 3 + run * number % 7) % 3
        replies = [
            JudgeReply(
                criterion="score", vote=vote, raw=f"{score}", score=score, key=f"{number}-{vote}"
            )
            for vote in range(_VOTES)
        ]
        samples.append(
            Sample(
                id=f"item-{number:05}",
                video=f"video-{number // 5:05}",
                prediction=f"<think>{_text(number + run, 80)}</think>{_text(number + 3 * run, 40)}",
                parsed={"text": _text(number + 3 * run, 40)},
                target={"text": _text(number + 11, 40)},
                state="scored",
                scores={"score": float(score)},
                facets={
                    "locale": [f"locale-{number % 18}"],
                    "category": [f"category {number % 12}"],
                },
                judge_replies=replies,
                frame_timestamps=[float(second) for second in range(32)],
            )
        )
        question = {
            "id": f"item-{number:05}",
            "question": _text(number + 5, 25),
            "options": [],
            "media": None,
        }
        questions.append(question)
    result_files.write(
        folder,
        spec,
        aggregation.ScoredItems(spec, samples, overlap=False),
        split="test",
        source=SourceRecord(kind="files", location="curve.json", fingerprint="0" * 64),
        model=ModelRecord(id="org/model"),
        settings=SettingsRecord(frames=f"uniform:{8 * (run + 1)}"),
    )
    write_jsonl(folder / result_files.QUESTIONS_FILE, questions)


_TYPE = """(text) => new Promise((done) => {
    const box = document.getElementById('q'), start = performance.now();
    box.value = text; box.dispatchEvent(new Event('input'));
    requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000), 0));
})"""
_PRESS = """(name) => new Promise((done) => {
    const start = performance.now();
    document.querySelector(`[data-name="${name}"]`).click();
    requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000), 0));
})"""
"""From the key press to the next frame on the screen, measured inside the page."""
_FOLLOW = """(text) => new Promise((done) => {
    const start = performance.now();
    new MutationObserver((_, observer) => {
        observer.disconnect();
        done((performance.now() - start) / 1000);
    }).observe(document.getElementById('sample'), { childList: true });
    const box = document.getElementById('q');
    box.value = text; box.dispatchEvent(new Event('input'));
})"""
"""From the key press to the card of the first question that it leaves, another than the open one."""


def opened(path: Path) -> dict[str, float]:
    """Open the page three times and search and filter it; medians: seconds, and the main thread's processor time."""
    from playwright.sync_api import sync_playwright

    took: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser(), args=["--no-sandbox", "--disable-gpu"]
        )
        for _ in range(3):
            tab = chromium.new_page()
            session = tab.context.new_cdp_session(tab)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})

            def measured(
                name: str,
                work: Callable[[], float | None],
                session: Any = session,  # noqa: ANN401
            ) -> None:
                busy, started = _busy(session), time.perf_counter()
                seconds = work() or time.perf_counter() - started
                took.setdefault(name, []).append(seconds)
                took.setdefault(f"{name}, processor", []).append(_busy(session) - busy)

            def open_it(tab: Any = tab) -> None:  # noqa: ANN401
                tab.goto(path.as_uri())
                tab.wait_for_selector("#sample article")

            measured("open", open_it)
            tab.locator("#tools").evaluate(
                "tools => tools.scrollIntoView()"
            )  # the list is in view, so it is drawn
            tab.wait_for_timeout(
                3000
            )  # a reader looks before searching; the texts are made meanwhile
            for text in ("t", "train late", "item-09999", "nothing at all", ""):
                measured("search", lambda text=text, tab=tab: tab.evaluate(_TYPE, text))
            for name in ("wrong", "one", "differ", ""):
                measured("filter", lambda name=name, tab=tab: tab.evaluate(_PRESS, name))
            tab.wait_for_timeout(500)
            measured("question", lambda tab=tab: tab.evaluate(_FOLLOW, "item-05000"))
            tab.close()
        chromium.close()
    return {name: statistics.median(seconds) for name, seconds in took.items()}


def _busy(session: Any) -> float:  # noqa: ANN401 - playwright's, imported lazily
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        os.environ["REELBENCH_HOME"] = str(root / "home")
        folders = [root / f"run{run}" for run in range(given.runs)]
        for run, folder in enumerate(folders):
            make(folder, given.items, run)
        started = time.perf_counter()
        [group] = read_groups(folders)
        made = page.write(group, root / "view", pictures=0)
        took = {"made": time.perf_counter() - started, "MB": made.path.stat().st_size / 1e6}
        if browser() is not None:
            took |= opened(made.path)
        shown = ", ".join(f"{name} {value:.3f}" for name, value in took.items())
        print(f"{given.runs} runs of {given.items} items: {shown}")


if __name__ == "__main__":
    main()
