"""Answers to a set of questions, scored."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.methods.questions import QuestionSet
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, ModelRecord, SettingsRecord
from reelbench.tasks.score import Answers, Evaluation, Options, evaluation
from reelbench.tasks.submissions import Prediction, frames_given, join, reference_of
from reelbench.video.shown_media import Shown, sound

MISSING = Prediction(None, reason=Reason.MEDIA_MISSING)
"""In the place of an answer, where the question's video is not here."""

NOT_SHOWN = Prediction(None, reason=Reason.MEDIA_UNREADABLE)
"""In the place of an answer, where the video is here and can't be read."""

NOT_ASKED = Prediction(None, reason=Reason.PREDICTION_MISSING)
"""In the place of an answer to a question that was not asked."""


def score_answers(
    question_set: QuestionSet,
    predictions: Mapping[str, Prediction],
    shown_media: Mapping[str, Shown],
    options: Options,
    *,
    model: ModelRecord,
    settings: SettingsRecord | None = None,
    sample_fields: Mapping[str, Mapping[str, Any]] | None = None,
) -> Evaluation:
    """Score the answers to a set of questions.

    Args:
        question_set: The questions.
        predictions: The answers, by the question's id. A question without one was not asked.
        shown_media: What was shown of the question's video, by the question's id.
        options: The options of scoring.
        model: The model that answered.
        settings: How it was asked; by default, as the questions state.
        sample_fields: Further fields of samples, by the question's id.
    """
    references = [reference_of(question_set.spec, row) for row in question_set.rows]
    predictions_of_all = {reference.id: NOT_ASKED for reference in references}
    predictions_of_all.update(predictions)
    split_path = Path(question_set.questions.split)
    submission = join(question_set.questions, predictions_of_all, references, split_path)
    items: list[Item] = []
    for item in submission.items:
        fields: dict[str, Any] = {}
        if sample_fields is not None:
            fields.update(sample_fields.get(item.id, {}))
        media = shown_media.get(item.id)
        if media is not None:
            fields.update(_fields_of_shown(media))
        items.append(item.model_copy(update=fields))
    if settings is None:
        settings = question_set.settings()
    audio = settings.audio or sound(
        question_set.sampling, [media.audio for media in shown_media.values()]
    )
    settings = settings.model_copy(update={"frames_given": frames_given(items), "audio": audio})
    return evaluation(Answers(replace(submission, items=items), model, settings), options)


def _fields_of_shown(media: Shown) -> dict[str, Any]:
    """Return the fields of a sample that tell what was shown of its video."""
    fields: dict[str, Any] = {"subtitles": media.lines}
    if media.timestamps is not None:
        fields["frame_timestamps"] = list(media.timestamps)
        fields["frame_padding"] = media.padding
    return fields
