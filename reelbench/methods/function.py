"""A Python function as the model: every question of a split asked, and the answers scored as a file's are."""

import logging
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from reelbench.base.errors import first_line
from reelbench.base.files import valid_text
from reelbench.methods.questions import MISSING, NOT_SHOWN, QuestionSet
from reelbench.registry.reasons import Reason
from reelbench.registry.rows import Row, timing
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.score import Evaluation, Options, record_of_model
from reelbench.tasks.submissions import Prediction, answered
from reelbench.video.shown_media import Shown

ADAPTER = "reelbench-function"
"""What a record of such answers has for lmms-eval's adapter."""

Function = Callable[[str, Any, dict[str, Any]], str]
"""A prompt, what is shown of the video, and the row -> the answer's text."""

log = logging.getLogger("reelbench")


def evaluate(
    fn: Function,
    name: str,
    options: Options,
    *,
    split: str | None = None,
    frames: str = "uniform:32",
    limit: int | None = None,
    model: str | None = None,
    data: Path | None = None,
) -> Evaluation:
    """Ask `fn` the questions of a benchmark or a task, in their order, one at a time.

    For the arguments, and for how a question ends that can't be asked, see `reelbench.evaluate`.
    """
    record = record_of_model(
        id=model or getattr(fn, "__name__", type(fn).__name__), adapter=ADAPTER
    )
    questions = QuestionSet.load(
        name, FrameSampling.parse(frames), split=split, limit=limit, data=data
    )
    if (line := questions.lacking_videos()) is not None:
        options.note(line)
    predictions: dict[str, Prediction] = {}
    shown: dict[str, Shown] = {}
    answers = failed = 0
    with options.bar(f"asking {questions.spec.id}", len(questions.rows)) as show:
        for row in questions.rows:
            key = row["id"]
            if key in questions.missing:
                predictions[key] = MISSING
            elif (seen := questions.show(row)) is None:
                options.note(f"{questions.spec.id}: {key} is not asked: its video can't be read")
                predictions[key] = NOT_SHOWN
            else:
                shown[key] = seen
                try:
                    predictions[key] = _answer(fn, questions, row, seen)
                    answers += 1
                except Exception as error:
                    # One that has answered before may fail at a question, which is then unscored.
                    if not answers:
                        raise
                    line = f"{questions.spec.id}: {key} has no answer: {type(error).__name__}: {first_line(error)}"
                    log.warning("%s", line)
                    options.note(line)
                    failed += 1
                    predictions[key] = Prediction(None, reason=Reason.MODEL_FAILED)
            show(len(predictions), "", failed=failed)
    return questions.score(predictions, shown, options, model=record)


def _answer(fn: Function, questions: QuestionSet, row: Row, shown: Shown) -> Prediction:
    prompt = shown.subtitle_text(questions.asked(row)["language"]) + questions.prompt(row)
    given = shown.video if shown.video is not None else shown.visuals() or None
    text = fn(
        prompt, given, deepcopy(row)
    )  # a copy of the row: answers are scored against the row itself
    if not isinstance(text, str):
        raise TypeError(
            f"the function returned a {type(text).__name__} for {row['id']!r}, expected text"
        )
    return answered(questions.spec, valid_text(text), row.get("options", ()), timing(row))
