"""LLM judging: 4,250 judgements (850 questions x 5 dimensions) against a server on this machine.

    python -m perf.judge                 replies after 0.2 s and 1 s, again from the cache; memory up to 100,000 rows
    python -m perf.judge --quick         replies after 0.2 s only, no memory
    python -m perf.judge --against BUILT --runs 15   in turn with another commit, as `make wheel` built it

The peer is how MovieCORE's authors judge: 8 worker processes, each asking a question's five
dimensions one after the other. Its time is measured on 80 questions and scaled to 850. The server
runs in a process of its own.
"""

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from perf.measure import Run, a_call, counted, of_commit, playing, report, run

QUESTIONS, CRITERIA, CONCURRENCY = 850, 5, 64
PEER_QUESTIONS, PEER_WORKERS = 80, 8
TEXT = (
    "The detective returns to the harbour because he has understood what the letter did not say. "
    * 4
)


# --- ours, in a fresh process each
# -----------------------------------------------------------------------------------

OURS = """
import sys, time, json, resource
began = time.perf_counter()
from perf.judge import judged
print(json.dumps(judged(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])) | {"seconds": time.perf_counter() - began,
    "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def judged(url: str, questions: int, criteria: int) -> dict[str, int]:
    """Judge so many questions on the first dimensions, each verdict dropped as it comes -> counts."""
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.judges.judge_run import JudgeRun
    from reelbench.judges.prompting import load_prompts
    from reelbench.registry.records import Item
    from reelbench.tasks.moviecore import SPEC

    scale = replace(SPEC.judge, criteria=SPEC.judge.criteria[:criteria])
    items = (
        Item(
            id=str(n),
            video="film",
            target={"text": TEXT},
            prediction=TEXT.upper(),
            question=f"Why does he return? ({n})",
        )
        for n in range(questions)
    )
    options = JudgeOptions(model="judge", url=url, concurrency=CONCURRENCY)
    run = JudgeRun(scale, load_prompts(SPEC, "reelbench"), items, options)
    scored = sum(len(verdict.scores) for verdict in run)
    return {"scored": scored, "calls": run.record.calls}


def ours(
    url: str,
    home: str,
    questions: int = QUESTIONS,
    criteria: int = CRITERIA,
    built: Path | None = None,
) -> tuple[Run, dict[str, float]]:
    """Run `judged` as a process of its own, start and imports included -> the process, and what it says."""
    process = run(
        [sys.executable, "-c", OURS, url, str(questions), str(criteria)], home, of_commit(built)
    )
    return process, json.loads(process.stdout)


def against(built: Path, runs: int) -> None:
    """Judge by another commit and by this one in turn, and print what a call costs each, and their ratio."""
    cpu: dict[str, list[float]] = {"before": [], "now": []}
    with playing("judge", 0.0) as url:
        for turn in range(runs + 1):  # the first is not counted: modules are compiled
            for name, version in (
                (("before", built), ("now", None))
                if turn % 2
                else (("now", None), ("before", built))
            ):
                with tempfile.TemporaryDirectory() as home:
                    process, counts = ours(url, home, built=version)
                assert counts["scored"] == counts["calls"] == QUESTIONS * CRITERIA  # noqa: S101
                if turn:
                    cpu[name].append(process.cpu)
    ms = {
        name: [1e3 * value / (QUESTIONS * CRITERIA) for value in values]
        for name, values in cpu.items()
    }
    print(f"load {os.getloadavg()[0]:.1f}")
    report("whole processes, seconds of the processor", cpu, "before")
    report("of the processor a call", ms, "before", "ms")


# --- the peer
# --------------------------------------------------------------------------------------------------------


def _five_in_series(url: str) -> None:
    import openai

    client = openai.OpenAI(base_url=url, api_key="none")
    for dimension in range(CRITERIA):
        messages = [
            {"role": "system", "content": f"{dimension} {TEXT}"},
            {"role": "user", "content": TEXT},
        ]
        client.chat.completions.create(model="judge", messages=messages, timeout=30)


def peer(url: str) -> float:
    """Return the seconds for all questions, scaled from `PEER_QUESTIONS`."""
    with multiprocessing.get_context("spawn").Pool(PEER_WORKERS) as pool:
        pool.map(_five_in_series, [url] * PEER_WORKERS)  # imports are not counted
        began = time.perf_counter()
        for _ in pool.imap_unordered(_five_in_series, [url] * PEER_QUESTIONS):
            pass
        return (time.perf_counter() - began) * QUESTIONS / PEER_QUESTIONS


# --- the table
# -------------------------------------------------------------------------------------------------------


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--delays", type=float, nargs="+", default=[0.2, 1.0])
    parser.add_argument(
        "--against",
        metavar="BUILT",
        type=Path,
        help="another commit's `built`, to run in turn with",
    )
    parser.add_argument("--runs", type=int, default=15, help="of each, against another commit")
    given = parser.parse_args()
    if given.against is not None:
        against(given.against.absolute(), given.runs)
        return
    load = os.getloadavg()[0]
    print(
        f"{QUESTIONS * CRITERIA:,} judgements, concurrency {CONCURRENCY}, {os.cpu_count()} cores, "
        f"load {load:.2f}\n"
    )
    print(
        "| reply after | ideal | Reelbench | x ideal | again, from the cache | calls then | "
        "authors' way | a call |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for delay in given.delays[: 1 if given.quick else None]:
        ideal = QUESTIONS * CRITERIA / CONCURRENCY * delay
        with playing("judge", delay) as url, tempfile.TemporaryDirectory() as home:
            process, first = ours(url, home)
            counts = counted(url)
            _, again = ours(url, home)
            assert (  # noqa: S101
                first["scored"] == again["scored"] == counted(url)["calls"] == QUESTIONS * CRITERIA
            )
            theirs = peer(url)
        print(
            f"| {delay:g} s | {ideal:.1f} s | {first['seconds']:.1f} s | "
            f"{first['seconds'] / ideal:.2f} |"
            f" {again['seconds']:.2f} s | {again['calls']} | {theirs:.0f} s | "
            f"{a_call(process, counts)} |",
            flush=True,
        )
    if not given.quick:
        memory()


def memory() -> None:
    """Print the peak memory of a process that judges ever more rows, one call each."""
    print("\n| rows | peak memory | rows a second |\n|---|---|---|")
    for rows in (1_000, 10_000, 100_000):
        with playing("judge", 0.0) as url, tempfile.TemporaryDirectory() as home:
            _, taken = ours(url, home, rows, criteria=1)
            print(
                f"| {rows:,} | {taken['mib']:.0f} MiB | {rows / taken['seconds']:.0f} |", flush=True
            )


if __name__ == "__main__":
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    )
    main()
