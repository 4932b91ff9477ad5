"""A file of 200,000 answers, scored as a whole command: seconds, processor time and peak memory, against fewer.

    python -m perf.predictions [--json-lines]
    python -m perf.predictions --choice 100000 1000000    a multiple-choice benchmark of so many rows

No two answers are the same. Beside the ids and texts the Parquet has a column that nobody asks for,
1 kB a row, as data sets with pictures have; JSON Lines have ids and texts alone. Memory is what is
resident of all processes together.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.json as pj
import pyarrow.parquet as pq

BIN = Path(sys.executable).parent
SIZES = (1_000, 10_000, 200_000)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--json-lines", action="store_true", help="predictions as JSON Lines, not Parquet"
    )
    parser.add_argument(
        "--choice",
        type=int,
        nargs="+",
        metavar="ROWS",
        help="so many rows of a benchmark of our own, with the letters as answers",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.choice or SIZES:
            if arguments.choice:
                predictions = _choice_files(Path(folder), size, json_lines=arguments.json_lines)
                scored = [predictions.parent, "--predictions", predictions]
            else:
                predictions, references = _files(
                    Path(folder), size, json_lines=arguments.json_lines
                )
                scored = ["rextime", "--predictions", predictions, "--references", references]
            started = time.perf_counter()
            output = Path(folder) / f"out-{size}"
            command = [BIN / "reelbench", "score", *scored, "--output", output, "--quiet"]
            process = subprocess.Popen(command, env={**os.environ, "REELBENCH_HOME": folder})
            most, largest = 0.0, 0.0
            while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                resident = _resident(process.pid)
                most, largest = max(most, sum(resident)), max(largest, *resident)
                time.sleep(0.02)
            seconds = time.perf_counter() - started
            _, status, used = os.wait4(process.pid, 0)
            if status:
                raise SystemExit(f"reelbench failed: {status}")
            megabytes = predictions.stat().st_size / 1e6
            kernel = (
                used.ru_maxrss / 1024
            )  # samples, one in 20 ms, miss short peaks; this is of the largest process alone
            cpu = used.ru_utime + used.ru_stime  # of the processes that it waited for too
            print(
                f"{size:>8} rows ({megabytes:6.1f} MB)   {seconds:6.1f} s   {cpu:6.1f} s of "
                "processor time   "
                f"{most:5.0f} MiB at most, the largest process {largest:5.0f} "
                f"(by the kernel {kernel:5.0f})   load {os.getloadavg()[0]:.1f}"
            )


def _resident(pid: int) -> list[float]:
    """Return the MiB that a process and all below it have resident, each for itself: what they share counts twice."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = " ".join(
            file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")
        ).split()
    except (OSError, IndexError):  # it has ended
        return [0.0]
    below = (size for child in children for size in _resident(int(child)))
    return [pages * os.sysconf("SC_PAGE_SIZE") / 2**20, *below]


CHOICE = """\
id: many_choices
title: Many choices
kind: choice
answer_is: letter
source: {file: rows.jsonl}
columns: {id: id, video: video, question: question, options: options, answer: answer, kind: kind}
facets: [kind]
languages: [en]
licence: cc-by-4.0
"""


def _choice_files(folder: Path, size: int, *, json_lines: bool = False) -> Path:
    """Write a benchmark of so many rows, of 5,000 films at most, and predictions in another order."""
    folder = folder / f"choice-{size}"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(CHOICE)
    step = 7919 if size % 7919 else 7907  # a prime: each row is met once
    with (folder / "rows.jsonl").open("w") as rows, (folder / "texts.jsonl").open("w") as texts:
        for place in range(size):
            row = {"id": f"q{place}", "video": f"film{place % 5000}", "question": f"Is it {place}?"}
            row |= {"options": ["a house", "a boat"], "answer": "AB"[place % 3 == 0]}
            rows.write(json.dumps({**row, "kind": f"kind{place % 12}"}) + "\n")
            text = {"id": f"q{place * step % size}", "prediction": f"({'AB'[place % 2]})"}
            texts.write(json.dumps(text) + "\n")
    if json_lines:
        return folder / "texts.jsonl"
    packed = folder / "texts.parquet"
    table = pj.read_json(folder / "texts.jsonl")
    pq.write_table(table, packed)
    return packed


def _files(folder: Path, size: int, *, json_lines: bool = False) -> tuple[Path, Path]:
    """Write predictions and references of that many questions, eight to a video."""
    predictions, references = folder / f"p-{size}.parquet", folder / f"r-{size}.jsonl"
    schema = pa.schema([("id", pa.string()), ("prediction", pa.string()), ("picture", pa.binary())])
    with pq.ParquetWriter(predictions, schema, compression="none") as writer:
        for first in range(0, size, 10_000):
            ids = range(first, min(first + 10_000, size))
            texts = [
                f"In scene {n} he opens it. The answer is ({'ABCD'[n % 4]}), from {n % 60} to "
                f"{n % 60 + 12} seconds."
                for n in ids
            ]
            columns = {
                "id": [f"q{n}" for n in ids],
                "prediction": texts,
                "picture": [os.urandom(1024) for _ in ids],
            }
            writer.write_table(pa.table(columns, schema=schema))
    with references.open("w", encoding="utf-8") as file:
        for n in range(size):
            window = [n * 7 % 60, n * 7 % 60 + 15]
            row = {
                "qid": f"q{n}",
                "vid": f"v{n // 8}",
                "query": "Which?",
                "duration": 90,
                "ans": "ABCD"[n * 3 % 4],
            }
            file.write(json.dumps({**row, "relevant_windows": [window]}) + "\n")
    if json_lines:
        table, predictions = predictions, predictions.with_suffix(".jsonl")
        with predictions.open("w", encoding="utf-8") as file:
            for batch in pq.ParquetFile(table).iter_batches(columns=["id", "prediction"]):
                file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())
    return predictions, references


if __name__ == "__main__":
    main()
