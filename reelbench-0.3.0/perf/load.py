"""Loading 5,000 MovieCORE rows, cold and from the cache, beside `datasets` loading the same rows as JSON Lines.

python -m perf.load
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import reelbench

ROWS = 5000


def seconds(work: Callable[[], int]) -> float:
    """Return how long `work` takes; it must give all rows."""
    started = time.perf_counter()
    assert work() == ROWS  # noqa: S101 - a measurement of something else would be worthless
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["REELBENCH_HOME"] = folder
        os.environ["HF_HOME"] = folder
        import datasets

        datasets.disable_progress_bars()
        text = "a sentence about what people in a film may feel and why, " * 4
        rows = {
            f"v{n // 5}_{n % 5}": {
                "question": f"Why {n}? {text}",
                "answer": text * 2,
                "video": f"v{n // 5}",
                "classification": "A, B",
            }
            for n in range(ROWS)
        }
        file, lines = Path(folder, "test.json"), Path(folder, "rows.jsonl")
        file.write_text(json.dumps(rows), encoding="utf-8")
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows.values()), encoding="utf-8")
        reelbench.load("moviecore_mini")  # imports aside
        cold = seconds(lambda: len(reelbench.load("moviecore", data=file)))
        cached = min(seconds(lambda: len(reelbench.load("moviecore", data=file))) for _ in range(5))

        def peer() -> int:
            return len(datasets.load_dataset("json", data_files=str(lines), split="train"))

        peer_cold = seconds(peer)
        peer_cached = min(seconds(peer) for _ in range(5))
        print(f"{ROWS} MovieCORE rows, {file.stat().st_size / 1e6:.1f} MB")
        for what, ours, theirs in (("cold", cold, peer_cold), ("cached", cached, peer_cached)):
            print(
                f"  {what:<7} registry.load {ours:.3f} s   datasets json {theirs:.3f} s   ratio "
                f"{ours / theirs:.2f}"
            )


if __name__ == "__main__":
    main()
