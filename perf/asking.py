"""`reelbench ask` in words alone against a server on this machine: what a call costs, beside bare aiohttp.

python -m perf.asking [--questions 4000] [--delay 0.2]
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from perf.measure import cold_and_cached, of_commit, run

AT_ONCE = 64


def main() -> None:
    """Ask a benchmark of our own, and once more from the cache."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=4000)
    parser.add_argument("--delay", type=float, default=0.2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (
            {
                "id": f"q{n}",
                "video": f"film{n // 5}",
                "question": f"Is it {n}?",
                "options": ["a", "b"],
                "answer": "B",
            }
            for n in range(asked.questions)
        )
        source, ours, home = folder / "rows.jsonl", folder / "asking", folder / "home"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        reelbench = (sys.executable, "-m", "reelbench")
        run((*reelbench, "new", "asking", "--from", source, "--out", ours), home)
        how = (
            "--frames",
            "none",
            "--llm-concurrency",
            str(AT_ONCE),
            "--kept",
            "--output",
            folder / "out",
        )
        ask = (*reelbench, "ask", ours, *how, "--llm", "m", "--llm-url")
        _, cached = cold_and_cached(
            "judge", asked.delay, AT_ONCE, lambda url: run((*ask, url), home, of_commit(None))
        )
        print(
            f"  of that, start and scoring included, {1e3 * cached.cpu / asked.questions:.2f} ms "
            "from the cache too"
        )


if __name__ == "__main__":
    main()
