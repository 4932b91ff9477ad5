"""`reelbench score rextime` on a Parquet table of ids and raw texts, as a whole process: its time and its memory.

    python -m perf.predictions [--rows 100000]

Each text is read for a letter and a span. References are made up: 100 videos of equal length.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(sys.executable).parent
TEXTS = (
    "<think>Option A looks right at first.</think>\n\nThe answer is B, from 3 to 12 seconds.",
    '{"answer": "C", "span": [0, 9.5]}',
    "D [4, 11]",
)


def write(folder: Path, rows: int) -> tuple[Path, Path]:
    """Write the predictions and the references; returns both files."""
    import pandas as pd

    ids = [str(number) for number in range(rows)]
    predictions, references = folder / "answers.parquet", folder / "rextime_val.json"
    texts = [TEXTS[number % len(TEXTS)] for number in range(rows)]
    pd.DataFrame({"id": ids, "prediction": texts}).to_parquet(predictions)
    known = (
        {
            "qid": qid, "vid": f"video {int(qid) % 100}", "duration": 40.0, "question": f"Why, for the time {qid}?",
            "options": ["one", "two", "three", "four"], "ans": "ABCD"[int(qid) % 4], "span": [3.0, 12.0],
            "category": "sequential",
        }
        for qid in ids
    )  # fmt: skip
    references.write_text("".join(json.dumps(row) + "\n" for row in known), encoding="utf-8")
    return predictions, references


def main() -> int:
    """Measure once at a tenth of the rows and once at all of them, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    for count in (rows // 10, rows):
        with tempfile.TemporaryDirectory() as folder:
            predictions, references = write(Path(folder), count)
            files = ["--predictions", predictions, "--references", references, "--output", Path(folder) / "out"]
            began = time.perf_counter()
            subprocess.run([BIN / "reelbench", "score", "rextime", *files], check=True, stdout=subprocess.DEVNULL)
            seconds = time.perf_counter() - began
        # Of all children so far, so the largest comes last.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{count} rows: {seconds:.1f} s, at most {peak:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
