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
import importlib.util
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from reelbench.scoring.answers import read_option, read_span, strip_reasoning
from tests.scoring.answers.table import ROWS, WHY, Row

Read = Callable[[str, Sequence[str]], str | None]
LETTERS = "ABCDEFGH"

# Each is run by its own interpreter: texts and options come as JSON, letters go back.
INSPECT = """
import json, sys
from types import SimpleNamespace as Space
from inspect_ai.solver._multiple_choice import parse_answers
letters = []
for text, options in json.load(sys.stdin):
    state = Space(output=Space(completion=text), choices=options)
    letters.append(next(iter(sorted(parse_answers(state, False))), None))
json.dump(letters, sys.stdout)
"""
VLMEVALKIT = """
import json, logging, sys, types
log = types.ModuleType("vlmeval.smp.log")
log.get_logger = logging.getLogger
for name in ("vlmeval", "vlmeval.smp"):
    sys.modules[name] = types.ModuleType(name)
sys.modules[log.__name__] = log
source = {"__name__": "matching"}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), source)
can_infer = source["can_infer"]
letters = []
for text, options in json.load(sys.stdin):
    letter = can_infer(text, dict(zip("ABCDEFGH", options)))
    letters.append(letter if letter and letter != "Z" else None)
json.dump(letters, sys.stdout)
"""

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


def counted(letters: Sequence[str | None], rows: Sequence[Row] = ROWS) -> dict[str, int]:
    """Count right, missed and wrong letters, and answers without a letter that got one (among the wrong: invented)."""
    counts = Counter({"right": 0, "missed": 0, "wrong": 0, "invented": 0})
    for row, letter in zip(rows, letters, strict=True):
        kind = (
            "right"
            if letter == row.letter
            else "missed"
            if letter is None
            else "wrong"
            if row.letter
            else "invented"
        )
        counts[kind] += 1
    return dict(counts)


def lmms_eval() -> Read:
    """Return lmms-eval's extractor, from its file: the package takes 25 s to import."""
    package = importlib.util.find_spec("lmms_eval")
    if package is None or package.origin is None:
        raise SystemExit("lmms-eval is not installed: make install")
    module = _loaded(Path(package.origin).parent / "tasks/_task_utils/mcq_extract.py")
    return lambda text, options: (
        module.extract_mcq_answer(text, list(LETTERS[: len(options)])) or None
    )


def lmms_eval_minerva() -> tuple[Read, Read]:
    """Return the reader of lmms-eval's own task `minerva`, five options always, and what its scores then rest on.

    The first says None where it reads nothing; the second is what is scored: there a letter is
    drawn at random.
    """
    package = importlib.util.find_spec("lmms_eval")
    if package is None or package.origin is None:
        raise SystemExit("lmms-eval is not installed: make install")
    needed = {
        "lmms_eval.tasks._task_utils.video_loader": "get_video",
        "lmms_eval.utils": "eval_logger",
    }
    for name, used in needed.items():  # to find videos and to log, neither of which reading does
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], used, None)
    module = _loaded(Path(package.origin).parent / "tasks/minerva/utils.py")

    def scored(text: str, options: Sequence[str]) -> str:
        del options
        doc = {f"answer_choice_{n}": "" for n in range(5)} | {"answer_id": 0}
        return module.minerva_process_results(doc, [text])["minerva_acc"]["pred_answer"]

    return lambda text, _: module._extract_choice_letter(text) or None, scored  # noqa: SLF001 - what is measured


def _loaded(file: Path) -> Any:  # noqa: ANN401 - somebody's module
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec  # noqa: S101 - a file that is there
    assert spec.loader  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def elsewhere(
    python: str, script: str, rows: list[tuple[str, Sequence[str]]], *arguments: str
) -> list[str | None]:
    """Run a peer in another interpreter."""
    done = subprocess.run(
        [python, "-c", script, *arguments],
        input=json.dumps(rows),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": ""},
    )
    return json.loads(done.stdout)


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
    read_option("x", WHY), read_span("x")  # the vocabulary is compiled once
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
