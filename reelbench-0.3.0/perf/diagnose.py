"""Error isolation: 500 questions in three rounds, three votes each, against a server on this machine; and the page.

    python -m perf.diagnose                  replies after 0.5 s, 32 at once; peak memory; the page in Chromium
    python -m perf.diagnose --delay 0.2      other replies

The ideal is the calls alone: their number, through so many at once, each as long as the server
takes. The server runs in a process of its own; the model under test costs nothing here.
"""

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from perf.measure import Run, a_call, counted, playing, run

QUESTIONS, ROUNDS, CONCURRENCY = 500, 3, 32


def diagnosed(url: str, out: str) -> None:
    """Run the loop and write report and page; the model under test writes down what it is told."""
    from reelbench.llm.ask_options import AskOptions
    from reelbench.studio.diagnosis import page, report
    from reelbench.studio.diagnosis.asking import ROLES, RoleModels
    from reelbench.studio.diagnosis.folder import Attempt, ReasonedQuestion
    from reelbench.studio.diagnosis.loop import Plan, isolate

    def under_test(run: Path, _lock: int) -> list[Attempt]:
        cues = [json.loads(line) for line in (run / "cues.jsonl").read_text().splitlines()]
        return [
            Attempt(id=cue["id"], answer="no", output=f"{cue['cue']}\nno", right=False)
            for cue in cues
        ]

    options = AskOptions(model="m", url=url, api_key="none", concurrency=CONCURRENCY)
    plan = Plan(
        questions=[
            ReasonedQuestion(
                id=f"q{n}", video=f"v{n // 4}", language=("en-GB", "ja-JP")[n % 2], question=f"Question {n}?",
                answer=f"Answer {n}", reasoning_steps="1. one\n2. two\n3. three",
            )
            for n in range(QUESTIONS)
        ],
        graphs={}, models=RoleModels(dict.fromkeys(ROLES, options)), about={"benchmark": "perf", "split": "all"},
        rounds=ROUNDS,
    )  # fmt: skip
    folder = isolate(plan, under_test, Path(out))
    page.write_page([folder], [report.write(folder)], Path(out) / page.PAGE)


def as_process(url: str, out: str, home: str) -> Run:
    """Run `diagnosed` as a process of its own, start and imports included; it prints its peak memory in MiB."""
    return run([sys.executable, "-m", "perf.diagnose", "--url", url, "--out", out], home)


def opened(page: Path) -> float | None:
    """Return the seconds that a browser takes from the page's start to its first question; None without a browser."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--disable-gpu"]
        )
        tab = chromium.new_page()
        started = time.perf_counter()
        tab.goto(page.as_uri())
        tab.locator("#detail .card").first.wait_for()
        seconds = time.perf_counter() - started
        chromium.close()
    return seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.url:
        diagnosed(given.url, given.out)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    print(
        f"{QUESTIONS} questions, {ROUNDS} rounds, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.2f}\n"
    )
    with playing("diagnosis", given.delay) as url, tempfile.TemporaryDirectory() as folder:
        out, home = f"{folder}/out", f"{folder}/home"
        first = as_process(url, out, home)
        counts = counted(url)
        calls = counts["calls"]
        ideal = calls / CONCURRENCY * given.delay
        shutil.rmtree(out)
        again = as_process(url, out, home)
        assert counted(url)["calls"] == calls, "a reply was paid twice"  # noqa: S101
        page = Path(out) / "report.html"
        seconds = opened(page)
        print(
            "| calls | ideal | Reelbench | x ideal | again, from the cache | peak memory | page | "
            "it opens in |"
        )
        print("|---|---|---|---|---|---|---|---|")
        shown = "no browser here" if seconds is None else f"{seconds:.2f} s"
        print(
            f"| {calls:,} | {ideal:.1f} s | {first.seconds:.1f} s | {first.seconds / ideal:.2f} |"
            f" {again.seconds:.1f} s | {float(first.stdout):.0f} MiB | "
            f"{page.stat().st_size / 1e6:.1f} MB | {shown} |\n"
        )
        print(a_call(first, counts))


if __name__ == "__main__":
    main()
