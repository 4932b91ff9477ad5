"""A Python function as the model: it is asked every question of a split.

Its answers are scored as a file's are.
"""

import logging
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.base.errors import first_line
from reelbench.base.files import valid_text
from reelbench.methods.questions import QuestionSet, load_questions
from reelbench.methods.scored_answers import MISSING, NOT_SHOWN, score_answers
from reelbench.registry.reasons import Reason
from reelbench.registry.rows import Row, timing
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.score import Evaluation, Options, record_of_model
from reelbench.tasks.submissions import Prediction, parse_answer
from reelbench.video.shown_media import Shown

ADAPTER = "reelbench-function"
"""The name in place of lmms-eval's adapter, in a record of such answers."""

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
    """Ask `fn` the questions of a benchmark or a task.

    They are asked in their order, one at a time.

    For the arguments, and for how a question ends that can't be asked, see `reelbench.evaluate`.
    """
    model_name = model or getattr(fn, "__name__", type(fn).__name__)
    record = record_of_model(id=model_name, adapter=ADAPTER)
    questions = load_questions(
        name, FrameSampling.parse(frames), split=split, limit=limit, data=data
    )
    for media_note in questions.media.notes():
        options.note(media_note)
    run = _FunctionRun(fn, questions, options)
    with options.bar(f"asking {questions.spec.id}", len(questions.rows)) as show:
        for row in questions.rows:
            run.predictions[row["id"]] = run.ask(row)
            show(len(run.predictions), "", failed=run.failed)
    return score_answers(questions, run.predictions, run.media, options, model=record)


@dataclass(slots=True)
class _FunctionRun:
    """The answers of a function to the questions asked so far.

    Attributes:
        fn: The function.
        questions: The questions.
        options: Its `note` is told what the user should know.
        predictions: The answers, by the question's id.
        media: What was shown of the question's video, by the question's id.
        has_answered: True once a call returned an answer.
        failed: The number of calls that raised an exception.
    """

    fn: Function
    questions: QuestionSet
    options: Options
    predictions: dict[str, Prediction] = field(default_factory=dict[str, Prediction])
    media: dict[str, Shown] = field(default_factory=dict[str, Shown])
    has_answered: bool = False
    failed: int = 0

    def ask(self, row: Row) -> Prediction:
        """Ask a question, and return its answer."""
        benchmark = self.questions.spec.id
        question_id = row["id"]
        if question_id in self.questions.media.missing:
            return MISSING
        media = self.questions.media.show(row)
        if media is None:
            self.options.note(f"{benchmark}: {question_id} is not asked: its video can't be read")
            return NOT_SHOWN
        self.media[question_id] = media
        try:
            prediction = _call_function(self.fn, self.questions, row, media)
        except Exception as error:
            # A function that never answered is broken. One that did may fail at a question.
            if not self.has_answered:
                raise
            failure = f"{type(error).__name__}: {first_line(error)}"
            line = f"{benchmark}: {question_id} has no answer: {failure}"
            log.warning("%s", line)
            self.options.note(line)
            self.failed += 1
            return Prediction(None, reason=Reason.MODEL_FAILED)
        self.has_answered = True
        return prediction


def _call_function(fn: Function, questions: QuestionSet, row: Row, media: Shown) -> Prediction:
    subtitles = media.subtitle_text(questions.translated(row)["language"])
    prompt = subtitles + questions.prompt(row)
    visuals: Any = media.video
    if visuals is None:
        visuals = media.visuals() or None
    # The function gets a copy of the row: answers are scored against the row itself.
    text = fn(prompt, visuals, deepcopy(row))
    if not isinstance(text, str):
        raise TypeError(
            f"the function returned a {type(text).__name__} for {row['id']!r}, expected text"
        )
    options = row.get("options", ())
    return parse_answer(questions.spec, valid_text(text), options, timing(row), row["question"])
