"""`reelbench ace` on 850 questions with 5 candidates each, against a ranker on this machine that replies after 0.2 s.

python -m perf.ace
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

DELAY, CONCURRENCY, QUESTIONS, CANDIDATES = 0.2, 64, 850, 5
SENTENCE = "The keeper walks down to the harbour because the lamp has gone out and a boat is late. "


def worth(question: int, index: int) -> int:
    """Return what a candidate says that it is worth: from 0 to 10, often shared."""
    return (7 * question + 5 * index * index) % 11


def written(path: Path) -> dict[str, int]:
    """Write the candidates; return the index of each question's best one, of equal ones the first."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(QUESTIONS):
            texts = [f"{SENTENCE * 2}Answer {i} to {n} is worth {worth(n, i)}" for i in range(CANDIDATES)]
            file.write(json.dumps({"id": f"q{n}", "candidates": texts}) + "\n")
    scores = {f"q{n}": [worth(n, i) for i in range(CANDIDATES)] for n in range(QUESTIONS)}
    return {name: values.index(max(values)) for name, values in scores.items()}


def asked(url: str) -> dict[str, int]:
    """Return what the server has counted."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/calls") as reply:  # noqa: S310 - our own server
        return json.load(reply)


def run(candidates: Path, home: Path, url: str) -> tuple[float, dict[str, int]]:
    """Run the command once, in a process of its own; return its seconds and what it chose."""
    command = [Path(sys.executable).with_name("reelbench"), "ace", "--candidates", candidates, "--json"]
    model = ["--llm", "ranker", "--llm-url", url, "--llm-concurrency", str(CONCURRENCY)]
    began = time.perf_counter()
    environ = {**os.environ, "REELBENCH_HOME": str(home)}
    done = subprocess.run([*map(str, command), *model], check=True, env=environ, capture_output=True)
    return time.perf_counter() - began, json.loads(done.stdout)["chosen"]


def main() -> None:
    """Measure a cold run and one from the cache."""
    server = [sys.executable, "-m", "tests.servers.ranker", "--delay", str(DELAY)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as playing,
    ):
        try:
            url = playing.stdout.readline().strip()
            base = Path(folder)
            best = written(base / "candidates.jsonl")
            cold, chosen = run(base / "candidates.jsonl", base / "home", url)
            seen = asked(url)
            again, twice = run(base / "candidates.jsonl", base / "home", url)
            more = asked(url)["calls"] - seen["calls"]
        finally:
            playing.terminate()
    ideal = QUESTIONS * CANDIDATES * DELAY / CONCURRENCY
    right = sum(chosen[name] == index == twice[name] for name, index in best.items())
    print(f"{QUESTIONS} questions x {CANDIDATES} candidates, {seen['calls']} calls; {right} chosen as the rule says")
    print(f"  cold               {cold:6.2f} s   {cold / ideal:.2f} x the ideal {ideal:.1f} s")
    print(f"  calls in flight    {seen['most_in_flight']:6d}     of {CONCURRENCY}")
    print(f"  from the cache     {again:6.2f} s   {more} calls")


if __name__ == "__main__":
    main()
