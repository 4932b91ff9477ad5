"""A Python function as the model: every question of a split asked, and the answers scored as a file's are."""

import logging
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from reelbench.methods.questions import MISSING, NOT_SHOWN, QuestionSet
from reelbench.registry.errors import first_line
from reelbench.registry.files import valid_text
from reelbench.registry.frames.sampling import FrameSampling
from reelbench.registry.frames.shown import Shown
from reelbench.registry.reasons import Reason
from reelbench.registry.rows import Row
from reelbench.tasks.score import Evaluation, Options, record_of_model
from reelbench.tasks.submissions import Prediction, answered

ADAPTER = "reelbench-function"
"""What a record of such answers has for lmms-eval's adapter."""

Function = Callable[[str, Any, Mapping[str, Any]], str]
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
    record = record_of_model(id=model or getattr(fn, "__name__", type(fn).__name__), adapter=ADAPTER)
    questions = QuestionSet.load(name, FrameSampling.parse(frames), split=split, limit=limit, data=data)
    if (line := questions.lacking_videos()) is not None:
        options.note(line)
    asked = _FunctionRun(fn, questions, options.note)
    predictions: dict[str, Prediction] = {}
    with options.bar(f"asking {questions.spec.id}", len(questions.rows)) as show:
        for row in questions.rows:
            predictions[row["id"]] = MISSING if row["id"] in questions.missing else asked.answer(row)
            show(len(predictions), "", failed=asked.failed)
    return questions.scored(predictions, asked.shown, options, model=record)


class _FunctionRun:
    """The questions that a function is asked, and what it was shown."""

    def __init__(self, fn: Function, questions: QuestionSet, note: Callable[[str], None]) -> None:
        self._fn = fn
        self._questions = questions
        self._note = note
        self.failed = 0
        self.shown: dict[str, Shown] = {}
        self._answers = 0

    def answer(self, row: Row) -> Prediction:
        """Ask one question; a function that has answered before may fail at one, which is then unscored."""
        shown = self._questions.show(row)
        if shown is None:
            self._note(f"{self._questions.spec.id}: {row['id']} is not asked: its video can't be read")
            return NOT_SHOWN
        self.shown[row["id"]] = shown
        try:
            prompt = shown.said(self._questions.language(row)) + self._questions.prompt(row)
            # A copy of the row: answers are scored against the row itself.
            text = _text(self._fn(prompt, _given(shown), deepcopy(row)), row)
        except Exception as error:
            if not self._answers:
                raise
            line = f"{self._questions.spec.id}: {row['id']} has no answer: {type(error).__name__}: {first_line(error)}"
            log.warning("%s", line)
            self._note(line)
            self.failed += 1
            return Prediction(None, reason=Reason.MODEL_FAILED)
        self._answers += 1
        return answered(self._questions.spec, valid_text(text), row.get("options", ()), row.get("duration"))


def _text(answer: object, row: Row) -> str:
    if not isinstance(answer, str):
        raise TypeError(f"the function returned a {type(answer).__name__} for {row['id']!r}, expected text")
    return answer


def _given(shown: Shown) -> Any:  # noqa: ANN401 - a path, pictures, or nothing
    if shown.video is not None:
        return shown.video
    return shown.visuals() or None
