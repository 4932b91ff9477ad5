"""`reelbench score rextime` on the 921 validation rows, as a whole process, beside the authors' script.

    python -m perf.score rextime_val.jsonl [REXTIME_CHECKOUT]

The checkout is github ReXTime/ReXTime at cb9f484110ef45299635d18626d5f8447f29f15d; without it only
ours is timed.
"""

import json
import sys
import tempfile
from pathlib import Path

from perf.measure import Command, in_turn, report

BIN = Path(sys.executable).parent


def main() -> None:
    """Measure and print."""
    truth = Path(sys.argv[1]).resolve()
    rows = [json.loads(line) for line in truth.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder) / "whole.jsonl"
        whole = (
            {"qid": r["qid"], "pred_relevant_windows": [[0, r["duration"]]], "ans": "A"}
            for r in rows
        )
        predictions.write_text("".join(json.dumps(row) + "\n" for row in whole), encoding="utf-8")
        ours = [
            BIN / "reelbench",
            "score",
            "rextime",
            "--predictions",
            predictions,
            "--references",
            truth,
        ]
        commands: dict[str, Command] = {"reelbench score rextime": ours}
        if len(sys.argv) > 2:
            script = Path(sys.argv[2]).resolve() / "evaluation" / "rextime_eval.py"
            commands["the authors' script"] = [
                BIN / "python", script, "--submission_path", predictions, "--gt_path", truth,
                "--save_path", Path(folder) / "scores.json",
            ]  # fmt: skip
        seconds = in_turn(commands, runs=7, environ={"REELBENCH_HOME": folder})
        report(
            f"{len(rows)} rows",
            seconds,
            against="the authors' script" if len(commands) > 1 else None,
        )


if __name__ == "__main__":
    main()
