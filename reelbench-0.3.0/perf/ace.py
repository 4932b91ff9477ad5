"""`reelbench ace` on 850 questions with 5 candidates each, against a ranker on this machine that replies after 0.2 s.

python -m perf.ace
"""

import json
import sys
import tempfile
from pathlib import Path

from perf.measure import Run, cold_and_cached, run

DELAY, CONCURRENCY, QUESTIONS, CANDIDATES = 0.2, 64, 850, 5
SENTENCE = "The keeper walks down to the harbour because the lamp has gone out and a boat is late. "


def worth(question: int, index: int) -> int:
    """Return what a candidate says that it is worth: from 0 to 10, often shared."""
    return (7 * question + 5 * index * index) % 11


def written(path: Path) -> dict[str, int]:
    """Write the candidates; return the index of each question's best one, of equal ones the first."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(QUESTIONS):
            texts = [
                f"{SENTENCE * 2}Answer {i} to {n} is worth {worth(n, i)}" for i in range(CANDIDATES)
            ]
            file.write(json.dumps({"id": f"q{n}", "candidates": texts}) + "\n")
    scores = {f"q{n}": [worth(n, i) for i in range(CANDIDATES)] for n in range(QUESTIONS)}
    return {name: values.index(max(values)) for name, values in scores.items()}


def command(candidates: Path, home: Path, url: str) -> Run:
    """Run the command once, in a process of its own."""
    ace = [Path(sys.executable).with_name("reelbench"), "ace", "--candidates", candidates, "--json"]
    return run(
        [*ace, "--llm", "ranker", "--llm-url", url, "--llm-concurrency", str(CONCURRENCY)], home
    )


def main() -> None:
    """Measure a cold run and one from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        candidates = Path(folder) / "candidates.jsonl"
        best = written(candidates)
        print(f"{QUESTIONS} questions x {CANDIDATES} candidates")
        runs = cold_and_cached(
            "ranker",
            DELAY,
            CONCURRENCY,
            lambda url: command(candidates, Path(folder) / "home", url),
        )
    chosen = [json.loads(each.stdout)["chosen"] for each in runs]
    right = sum(all(choice[name] == index for choice in chosen) for name, index in best.items())
    print(f"  {right} chosen as the rule says")


if __name__ == "__main__":
    main()
