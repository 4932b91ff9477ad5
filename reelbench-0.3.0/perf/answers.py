"""Reading answers: right, missed and wrong on the tests' table, for us and for three peers; and how time grows.

    python -m perf.answers                                     ours, lmms-eval's (also of its task minerva), linearity
    python -m perf.answers --inspect-python PATH               also inspect_ai's, run by an interpreter that has it
    python -m perf.answers --vlmevalkit PATH                   also VLMEvalKit's, from its source
    python -m perf.answers --sentences FILE [FILE ...]         only: spans lost of those stated behind others' sentences

The peers read letters only. VLMEvalKit asks a language model for what it can't read; that step is
left out. `wrong` is a letter where the answer states another or none. lmms-eval and inspect_ai are
given the text as it is and without its reasoning (as lmms-eval's pipeline does); the better figure
counts.
"""

import argparse
import gc
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from reelbench.scoring.answers import read_option, read_span, strip_reasoning
from tests.scoring.answers.table import ROWS, WHY
from tools.verification.answer_readers import (
    INSPECT,
    VLMEVALKIT,
    counted,
    elsewhere,
    lmms_eval,
    lmms_eval_minerva,
)

# What is stated behind a sentence, and what it says.
STATED = {
    " from 12.0s to 20.5s.": [12, 20.5],
    " [12.0, 20.5]": [12, 20.5],
    " 0:12 - 0:20": [12, 20],
    " (12.0\u201320.5 seconds)": [12, 20.5],
}
HOSTILE = {
    "ranges": "1-2 ",
    "bracketed windows": "[1, 2], ",
    "labels": "A [3, 12]\n",
    "letters": "A or B ",
    "statements": "the answer is ",
    "starts and ends": "start 1 end ",
    "objects": '{"answer": "A"} ',
    "open objects": '{"a":',
    "open tags": "<think>",
    "spaces": " ",
    "digits": "9",
}


def minerva() -> None:
    """Print what lmms-eval's task `minerva` makes of the table's answers to five options or fewer, and what we do."""
    rows = [row for row in ROWS if len(row.options) <= 5]
    read, scored = lmms_eval_minerva()
    random.seed(0)
    ours = [read_option(row.text, row.options) for row in rows]
    own = [read(strip_reasoning(row.text) or "", row.options) for row in rows]
    drawn = [scored(strip_reasoning(row.text) or "", row.options) for row in rows]
    print(f"of {len(rows)} answers with at most five options")
    print("  ours               ", counted(ours, rows))
    print(
        "  lmms-eval's minerva",
        counted(own, rows),
        f"and {own.count(None)} unread: a letter at random each",
    )
    print("  as it is scored    ", counted(drawn, rows))


def sentences(path: Path) -> list[str]:
    """Return the event sentences of ActivityNet Captions, QVHighlights, Charades-STA or ReXTime (`query`)."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        known = [json.loads(line)["query"] for line in text.splitlines()]
    elif path.suffix == ".txt":
        known = [line.partition("##")[2] for line in text.splitlines()]
    else:
        known = [sentence for video in json.loads(text).values() for sentence in video["sentences"]]
    return [sentence.strip() for sentence in known]


def lost(events: Sequence[str]) -> None:
    """Print how many spans are not read back behind sentences, as a model writes on and behind their own full stop."""
    for form, span in STATED.items():
        for name, texts in (
            ("", [event.rstrip(".!? ") for event in events]),
            ("a full stop and ", events),
        ):
            missed = sum(read_span(text + form) != span for text in texts)
            print(
                f"{len(texts)} sentences with {name}{form!r}: {missed} lost, "
                f"{100 * missed / len(texts):.2f} %"
            )


def growth() -> None:
    """Print the slowest of the hostile texts at 100 kB, and the worst ratio of twice the text to once."""
    # The vocabulary is compiled once.
    read_option("x", WHY)
    read_span("x")
    for name, read in (
        ("read_option", lambda text: read_option(text, WHY)),
        ("read_span", read_span),
    ):
        slowest, ratios = ("", 0.0), []
        for kind, piece in HOSTILE.items():
            seconds = []
            for length in (7_500, 15_000, 100_000):
                text = (piece * (length // len(piece) + 1))[:length]
                seconds.append(min(timed(read, text) for _ in range(25 if length < 100_000 else 5)))
            ratios.append(seconds[1] / seconds[0] if seconds[1] > 0.002 else 0.0)
            slowest = max(slowest, (kind, seconds[2]), key=lambda entry: entry[1])
        print(f"{name}: 100 kB at most {slowest[1]:.3f} s ({slowest[0]})", end="; ")
        print(f"twice the text at most {max(ratios):.2f} x the time")


def timed(read: Callable[[str], object], text: str) -> float:
    """Return the processor's seconds that a reader takes, without the garbage collector's."""
    gc.disable()
    began = time.process_time()
    read(text)
    return time.process_time() - began


def main() -> int:
    """Measure ours and those peers that are there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inspect-python", help="a Python that has inspect_ai")
    parser.add_argument("--vlmevalkit", help="VLMEvalKit's vlmeval/utils/matching_util.py")
    parser.add_argument(
        "--sentences", nargs="+", type=Path, help="files of event sentences, such as val_1.json"
    )
    options = parser.parse_args()
    for path in options.sentences or ():
        lost(sentences(path))
    if options.sentences:
        return 0
    raw = [(row.text, row.options) for row in ROWS]
    stripped = [(strip_reasoning(text) or "", known) for text, known in raw]
    spans = Counter(
        "right" if span == row.span else "missed" if span is None else "wrong"
        for row, span in ((row, read_span(row.text)) for row in ROWS)
    )
    print(f"{len(ROWS)} answers, {sum(row.letter is None for row in ROWS)} without a letter")
    print("ours, letters   ", counted([read_option(*entry) for entry in raw]))
    print("ours, spans     ", {kind: spans[kind] for kind in ("right", "missed", "wrong")})
    extract = lmms_eval()
    both = [counted([extract(*entry) for entry in rows]) for rows in (raw, stripped)]
    print("lmms-eval       ", max(both, key=lambda counts: counts["right"]))
    minerva()
    if options.inspect_python:
        both = [
            counted(elsewhere(options.inspect_python, INSPECT, rows)) for rows in (raw, stripped)
        ]
        print("inspect_ai      ", max(both, key=lambda counts: counts["right"]))
    else:
        print("inspect_ai       skipped: --inspect-python names an interpreter that has it")
    if options.vlmevalkit:
        both = [
            counted(elsewhere(sys.executable, VLMEVALKIT, rows, options.vlmevalkit))
            for rows in (raw, stripped)
        ]
        print("VLMEvalKit      ", max(both, key=lambda counts: counts["right"]))
    else:
        print("VLMEvalKit       skipped: --vlmevalkit names its matching_util.py")
    growth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
