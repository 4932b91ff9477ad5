"""A Python function as the model: it is asked every question of a split.

Its answers are scored as a file's are.
"""

import logging
from collections.abc import Callable
from copy import deepcopy
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
    predictions: dict[str, Prediction] = {}
    shown_media: dict[str, Shown] = {}
    answer_count = 0
    failed = 0
    with options.bar(f"asking {questions.spec.id}", len(questions.rows)) as show:
        for row in questions.rows:
            key = row["id"]
            media = None
            if key in questions.media.missing:
                predictions[key] = MISSING
            else:
                media = questions.media.show(row)
                if media is None:
                    options.note(
                        f"{questions.spec.id}: {key} is not asked: its video can't be read"
                    )
                    predictions[key] = NOT_SHOWN
            if media is not None:
                shown_media[key] = media
                try:
                    predictions[key] = _call_function(fn, questions, row, media)
                    answer_count += 1
                except Exception as error:
                    # A function that has answered before may fail at a question, which is then
                    # unscored.
                    if not answer_count:
                        raise
                    failure = f"{type(error).__name__}: {first_line(error)}"
                    line = f"{questions.spec.id}: {key} has no answer: {failure}"
                    log.warning("%s", line)
                    options.note(line)
                    failed += 1
                    predictions[key] = Prediction(None, reason=Reason.MODEL_FAILED)
            show(len(predictions), "", failed=failed)
    return score_answers(questions, predictions, shown_media, options, model=record)


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
