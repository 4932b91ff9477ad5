"""The questions of a split, as they are asked outside lmms-eval: their rows and prompts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from reelbench.base.base_record import LARGEST
from reelbench.base.errors import InputError
from reelbench.data.loading import SplitData, locate
from reelbench.methods.question_media import QuestionMedia
from reelbench.registry.decoding import Candidates
from reelbench.registry.prompts import prompt_sha256
from reelbench.registry.question_files import QuestionIds, Translations
from reelbench.registry.records import SettingsRecord
from reelbench.registry.row_columns import CLIP, PICTURES, VIDEOS
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.prompting import prompt_of
from reelbench.tasks.submissions import Questions
from reelbench.video.library import Library


@dataclass(frozen=True)
class QuestionSet:
    """The questions of a split that are asked, in the data's order.

    They are put in the language of `translations`, and those that lack a translation are left out.

    Attributes:
        questions: The benchmark, its split, and the rows.
        sampling: What is shown of each video.
        limit: The number of questions, from the first. None for all.
        frames: The sampling as the result states it.
        only: The ids of those that are asked. None for all.
        translations: The questions in another language; by default the environment's.
    """

    questions: Questions
    sampling: FrameSampling
    limit: int | None = None
    frames: str = "native"
    only: QuestionIds | None = None
    translations: Translations | None = field(default_factory=Translations.from_environment)

    @property
    def spec(self) -> BenchmarkSpec:
        """Their benchmark."""
        return self.questions.spec

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The rows of the questions."""
        rows = self.questions.here.rows
        if self.translations:
            untranslated_ids = self.translations.lacking(self.spec, rows)
            rows = [row for row in rows if row["id"] not in untranslated_ids]
        if self.only is None:
            return rows[: self.limit]
        split_name = f"{self.spec.id} {self.questions.split}"
        self.only.check((row["id"] for row in rows), split_name)
        return [row for row in rows if row["id"] in self.only.ids]

    @property
    def ids(self) -> set[str]:
        """The ids of the questions."""
        return {row["id"] for row in self.rows}

    @cached_property
    def media(self) -> QuestionMedia:
        """The videos of the questions."""
        library = Library(self.spec, self.questions.split, self.questions.data)
        return QuestionMedia(self.spec, library, self.sampling, self.rows)

    def settings(self, candidates: Candidates | None = None) -> SettingsRecord:
        """Return the settings that are known before a question is asked."""
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
            prompt_sha256=prompt_sha256(self.spec, self._task_prompt),
            limit=limit,
        )

    def prompt(self, row: Row) -> str:
        """Return the question's prompt, without the subtitles that may stand before it."""
        return prompt_of(self.spec, self.translated(row), self._task_prompt)

    def translated(self, row: Row) -> Row:
        """Return a row in the language in which it is asked."""
        if self.translations is None:
            return row
        return self.translations.translated(row)

    @property
    def _task_prompt(self) -> str | None:
        if self.questions.task is None:
            return None
        return self.questions.task.prompt


def load_questions(
    name: str,
    sampling: FrameSampling,
    *,
    split: str | None,
    limit: int | None,
    data: Path | None,
    frames: str | None = None,
) -> QuestionSet:
    """Find the questions of a benchmark or one of its tasks.

    Raises:
        InputError: The task can't be asked here, the limit is no number of questions, or
            `loading.locate` finds no such benchmark.
    """
    if limit is not None and limit < 1:
        raise InputError(
            f"limit {limit}: is not a number of questions from 1 up; leave it out for all"
        )
    located = locate(name, split, data)
    _refuse_other_tasks(name, located)
    asks_about_parts = {CLIP, VIDEOS, PICTURES} & set(located.spec.columns)
    if sampling.kind == "native" and asks_about_parts:
        raise InputError(
            f"{name}: shows pictures beside videos, or asks about parts of them, or several: name "
            "frames, such as --frames uniform:8"
        )
    if limit is not None:
        limit = min(limit, LARGEST)
    questions = Questions(located.spec, located.split, located.task, data, located=located)
    return QuestionSet(questions, sampling, limit, frames or str(sampling))


def _refuse_other_tasks(name: str, located: SplitData) -> None:
    """Raise InputError for a task that needs more than one plain answer to a question."""
    task = located.task
    if task is None:
        return
    if task.reasoned:
        raise InputError(
            f"{name}: asks for numbered steps, and their last line alone is judged: run it in "
            "lmms-eval, or by `reelbench diagnose run`; to ask for the answer alone name "
            f"{located.spec.id}"
        )
    if task.options is not None:
        raise InputError(f"{name}: its options are scored by their likelihood; use `reelbench run`")
