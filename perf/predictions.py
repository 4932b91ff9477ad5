"""A Parquet of 200,000 answers, scored as a whole process: seconds, processor time and peak memory, against fewer.

    python -m perf.predictions

No two answers are the same. Beside the ids and texts the file has a column that nobody asks for, 1 kB a row, as data
sets with pictures have.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

BIN = Path(sys.executable).parent
SIZES = (1_000, 10_000, 200_000)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            predictions, references = _files(Path(folder), size)
            started = time.perf_counter()
            command = [
                BIN / "reelbench", "score", "rextime", "--predictions", predictions, "--references", references,
                "--output", Path(folder) / f"out-{size}", "--quiet",
            ]  # fmt: skip
            process = subprocess.Popen(command, env={**os.environ, "REELBENCH_HOME": folder})
            _, status, used = os.wait4(process.pid, 0)
            if status:
                raise SystemExit(f"reelbench failed: {status}")
            seconds, memory = time.perf_counter() - started, used.ru_maxrss / 1024
            megabytes = predictions.stat().st_size / 1e6
            cpu = used.ru_utime + used.ru_stime
            print(
                f"{size:>8} rows ({megabytes:6.1f} MB)   {seconds:6.1f} s   {cpu:6.1f} s of processor time   "
                f"{memory:7.0f} MiB at most   load {os.getloadavg()[0]:.1f}"
            )


def _files(folder: Path, size: int) -> tuple[Path, Path]:
    """Write predictions and references of that many questions, eight to a video."""
    predictions, references = folder / f"p-{size}.parquet", folder / f"r-{size}.jsonl"
    schema = pa.schema([("id", pa.string()), ("prediction", pa.string()), ("picture", pa.binary())])
    with pq.ParquetWriter(predictions, schema, compression="none") as writer:
        for first in range(0, size, 10_000):
            ids = range(first, min(first + 10_000, size))
            texts = [
                f"In scene {n} he opens it. The answer is ({'ABCD'[n % 4]}), from {n % 60} to {n % 60 + 12} seconds."
                for n in ids
            ]
            columns = {"id": [f"q{n}" for n in ids], "prediction": texts, "picture": [os.urandom(1024) for _ in ids]}
            writer.write_table(pa.table(columns, schema=schema))
    with references.open("w", encoding="utf-8") as file:
        for n in range(size):
            window = [n * 7 % 60, n * 7 % 60 + 15]
            row = {"qid": f"q{n}", "vid": f"v{n // 8}", "query": "Which?", "duration": 90, "ans": "ABCD"[n * 3 % 4]}
            file.write(json.dumps({**row, "relevant_windows": [window]}) + "\n")
    return predictions, references


if __name__ == "__main__":
    main()
