"""Other tools' readers of an answer's letter, and the letters that they got right."""

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.scoring.answers.table import ROWS, Row

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


def counted(letters: Sequence[str | None], rows: Sequence[Row] = ROWS) -> dict[str, int]:
    """Count right, missed and wrong letters, and answers without a letter that got one (among the wrong: invented)."""
    counts = Counter({"right": 0, "missed": 0, "wrong": 0, "invented": 0})
    for row, letter in zip(rows, letters, strict=True):
        counts[_verdict(letter, row.letter)] += 1
    return dict(counts)


def _verdict(letter: str | None, right_letter: str | None) -> str:
    if letter == right_letter:
        return "right"
    if letter is None:
        return "missed"
    if right_letter is None:
        return "invented"
    return "wrong"


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


def elsewhere(
    python: str, script: str, rows: Sequence[tuple[str, Sequence[str]]], *arguments: str
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
