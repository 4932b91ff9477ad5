"""A split's questions asked outside lmms-eval.

That is its rows, what is shown of their videos, and the answers scored.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

from reelbench.base.base_record import LARGEST
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.data.loading import locate
from reelbench.registry.decoding import Candidates
from reelbench.registry.prompts import prompt_sha256
from reelbench.registry.question_files import QuestionIds, Translations
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, ModelRecord, SettingsRecord
from reelbench.registry.row_columns import CLIP, VIDEOS
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.prompting import prompt_of
from reelbench.tasks.score import Answers, Evaluation, Options, evaluation
from reelbench.tasks.submissions import Prediction, Questions, frames_given, join, reference_of
from reelbench.video.library import Library, Missing, where_looked
from reelbench.video.shown_media import Shown, show, sound

MISSING = Prediction(None, reason=Reason.MEDIA_MISSING)
"""In the place of an answer, where the question's video is not here."""

NOT_SHOWN = Prediction(None, reason=Reason.MEDIA_UNREADABLE)
"""In the place of an answer, where it is here and can't be read."""

NOT_ASKED = Prediction(None, reason=Reason.PREDICTION_MISSING)
"""In the place of an answer to a question that was not asked."""

log = logging.getLogger("reelbench")


@dataclass(frozen=True)
class QuestionSet:
    """Questions of a split, in the data's order: the first `limit`, or those named.

    `limit` None is all; `only` names some. `frames` is the sampling as the record says it. They
    are put in the language that the environment names; those that have no translation into it are
    left out.
    """

    questions: Questions
    sampling: FrameSampling
    limit: int | None = None
    frames: str = "native"
    only: QuestionIds | None = None
    translations: Translations | None = field(default_factory=Translations.from_environment)

    @classmethod
    def load(
        cls,
        name: str,
        sampling: FrameSampling,
        *,
        split: str | None,
        limit: int | None,
        data: Path | None,
        frames: str | None = None,
    ) -> Self:
        """Find the questions of a benchmark or one of its tasks.

        Raises:
            InputError: The task asks for steps, which `reelbench diagnose run` and lmms-eval alone
                read, or scores its options; and as `loading.locate`.
        """
        if limit is not None and limit < 1:
            raise InputError(
                f"limit {limit}: is not a number of questions from 1 up; leave it out for all"
            )
        located = locate(name, split, data)
        if located.task is not None and located.task.reasoned:
            raise InputError(
                f"{name}: asks for numbered steps, and their last line alone is judged: run it in "
                "lmms-eval, or by `reelbench diagnose run`; to ask for the answer alone name "
                f"{located.spec.id}"
            )
        if located.task is not None and located.task.options is not None:
            raise InputError(
                f"{name}: its options are scored by their likelihood; use `reelbench run`"
            )
        asks_about_parts = {CLIP, VIDEOS} & set(located.spec.columns)
        if sampling.kind == "native" and asks_about_parts:
            raise InputError(
                f"{name}: asks about parts of videos, or several: name frames, "
                "such as --frames uniform:8"
            )
        if limit is not None:
            limit = min(limit, LARGEST)
        questions = Questions(located.spec, located.split, located.task, data, located=located)
        return cls(questions, sampling, limit, frames or str(sampling))

    @property
    def spec(self) -> BenchmarkSpec:
        """Their benchmark."""
        return self.questions.spec

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The rows."""
        rows = self.questions.here.rows
        if self.translations:
            lacking = self.translations.lacking(self.spec, rows)
            rows = [row for row in rows if row["id"] not in lacking]
        if self.only is None:
            return rows[: self.limit]
        self.only.check((row["id"] for row in rows), f"{self.spec.id} {self.questions.split}")
        return [row for row in rows if row["id"] in self.only.ids]

    @property
    def ids(self) -> set[str]:
        """Their ids."""
        return {row["id"] for row in self.rows}

    @cached_property
    def missing(self) -> dict[str, Missing]:
        """The rows whose video would be shown and is not here, by id."""
        if self.sampling.kind == "none":
            return {}
        return {row.id: row for row in self.library.missing(self.rows)}

    def lacking_videos(self) -> str | None:
        """Return a line on the questions whose video is not here; None if all are.

        It says where the videos were looked for.
        """
        missing = list(self.missing.values())
        if not missing:
            return None
        return (
            f"{self.spec.id}: {len(missing)} of {len(self.rows)} questions are not asked, because "
            f"their video is not here or can't be read {where_looked(self.spec, missing)}"
        )

    def settings(self, candidates: Candidates | None = None) -> SettingsRecord:
        """Return the settings in which they are asked, before anything is."""
        candidates_text = None
        if candidates:
            candidates_text = str(candidates)
        language = None
        if self.translations:
            language = self.translations.language
        limit = self.limit
        if self.only:
            limit = len(self.only.ids)
        return SettingsRecord(
            frames=self.frames,
            candidates=candidates_text,
            language=language,
            prompt_sha256=prompt_sha256(self.spec, self._prompt),
            limit=limit,
        )

    def prompt(self, row: Row) -> str:
        """Return the question's prompt; what stands before it is `Shown.subtitle_text`."""
        return prompt_of(self.spec, self.asked(row), self._prompt)

    def asked(self, row: Row) -> Row:
        """Return a row in the language that it is asked in."""
        if self.translations is None:
            return row
        return self.translations.translated(row)

    def show(self, row: Row) -> Shown | None:
        """Return the row's video as shown; None, which is logged, where that can't be."""
        try:
            return show(self.library, row, self.sampling)
        except ReelbenchError as error:
            log.warning(
                "%s: %s is not asked (%s): %s",
                self.spec.id,
                row["id"],
                Reason.MEDIA_UNREADABLE,
                error,
            )
            return None

    def work(self, rows: Iterable[Row]) -> dict[str, Callable[[], object]]:
        """Return, by video, a function that readies its frames.

        The videos are in the order of the rows. A function raises ReelbenchError where that can't
        be.
        """
        work: dict[str, Callable[[], object]] = {}
        if not self.sampling.decodes:
            return work
        for row in rows:
            if row["id"] not in self.missing:
                work.setdefault(row["video"], partial(show, self.library, row, self.sampling))
        return work

    def score(
        self,
        predictions: Mapping[str, Prediction],
        shown_media: Mapping[str, Shown],
        options: Options,
        *,
        model: ModelRecord,
        settings: SettingsRecord | None = None,
        beside: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Evaluation:
        """Score the answers.

        `predictions`, `shown_media` and `beside` have a question's answer, what was shown of its
        video, and further fields of its sample by its id; one that has no answer was not asked.
        Settings are by default as `settings` says.
        """
        references = [reference_of(self.spec, row) for row in self.rows]
        predictions_of_all = {reference.id: NOT_ASKED for reference in references}
        predictions_of_all.update(predictions)
        split_path = Path(self.questions.split)
        submission = join(self.questions, predictions_of_all, references, split_path)
        items: list[Item] = []
        for item in submission.items:
            fields: dict[str, Any] = {}
            if beside is not None:
                fields.update(beside.get(item.id, {}))
            media = shown_media.get(item.id)
            if media is not None:
                fields.update(_fields_of_shown(media))
            items.append(item.model_copy(update=fields))
        if settings is None:
            settings = self.settings()
        audio = settings.audio or sound(
            self.sampling, [media.audio for media in shown_media.values()]
        )
        settings = settings.model_copy(update={"frames_given": frames_given(items), "audio": audio})
        return evaluation(Answers(replace(submission, items=items), model, settings), options)

    @property
    def _prompt(self) -> str | None:
        if self.questions.task is None:
            return None
        return self.questions.task.prompt

    @cached_property
    def library(self) -> Library:
        """Their videos and subtitles; what is shown of them is made where it is needed."""
        return Library(self.spec, self.questions.split, self.questions.data)


def _fields_of_shown(media: Shown) -> dict[str, Any]:
    """Return the fields of a sample that tell what was shown of its video."""
    fields: dict[str, Any] = {"subtitles": media.lines}
    if media.timestamps is not None:
        fields["frame_timestamps"] = list(media.timestamps)
        fields["frame_padding"] = media.padding
    return fields
