"""Questions as the rules see them, whatever benchmark they are from."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reelbench.registry import rows as registry_rows
from reelbench.registry.row_columns import CLIP
from reelbench.registry.rows import LETTERS, Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.stats.intervals import Array
from reelbench.stats.option_guesses import RightOptions

Window = tuple[float, float]
"""Start and end, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question and all that a rule may look at.

    Attributes:
        id: Its id.
        split: Its split.
        videos: Media keys of its videos.
        text: The question.
        language: Its language.
        options: Its options. None where it is answered otherwise.
        right: The indices of the right options. None where they are hidden.
        answer: The right answer in words, where there are no options.
        spans: The right windows.
        clip: The part of the video that is shown, where the row states one.
        duration: The video's length in seconds, where the row states it.
        labels: `facet: label` of each of its labels.
    """

    id: str
    split: str
    videos: tuple[str, ...]
    text: str
    language: str = "en"
    options: tuple[str, ...] = ()
    right: tuple[int, ...] = ()
    answer: str = ""
    spans: tuple[Window, ...] = ()
    clip: Window | None = None
    duration: float | None = None
    labels: tuple[str, ...] = ()

    @cached_property
    def plain_text(self) -> str:
        """The question with case and spaces aside."""
        return plain(self.text)

    @cached_property
    def plain_options(self) -> tuple[str, ...]:
        """The options with case and spaces aside."""
        return tuple(map(plain, self.options))

    @cached_property
    def option_set(self) -> frozenset[str]:
        """The options in no order, with case and spaces aside."""
        return frozenset(self.plain_options)

    @cached_property
    def key(self) -> Hashable:
        """The same for questions that ask the same: video, clip, language, question, options."""
        return (self.videos, self.clip, self.language, self.plain_text, self.option_set)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The name of each text -> the text: question, answer in words, options by letter."""
        texts_by_name = {"the question": self.text, "the answer": self.answer}
        for letter, option in zip(LETTERS, self.options, strict=False):
            texts_by_name[f"option {letter}"] = option
        return texts_by_name


def plain(text: str) -> str:
    """Return a text in small letters, with single spaces between its words."""
    return " ".join(text.split()).casefold()


_SLACK = 1.02


def is_behind(time: float, duration: float) -> bool:
    """Return True where a time lies behind the end of a video.

    Lengths are stated in whole seconds, too, so 2 % and a second are allowed.
    """
    return time > duration * _SLACK + 1


def questions_of(spec: BenchmarkSpec, split: str, rows: Iterable[Row]) -> list[Question]:
    """Return the questions of a split's rows."""
    facets = [facet.name for facet in spec.facets if facet.in_rows]
    return [_question(spec, split, row, facets) for row in rows]


def _question(spec: BenchmarkSpec, split: str, row: Row, facets: Sequence[str]) -> Question:
    labels: list[str] = []
    for facet in facets:
        labels += [f"{facet}: {label}" for label in row.get(facet, ())]
    answer = ""
    right: tuple[int, ...] = ()
    options = tuple(row.get("options") or ())
    if options:
        right = tuple(LETTERS.index(letter) for letter in row["answer"])
    else:
        answer = row.get("answer") or ""
    spans: list[Window] = []
    if spec.asks_span:
        ends = row.get("span") or []
        spans = list(zip(ends[::2], ends[1::2], strict=True))
    clip: Window | None = None
    if row.get(CLIP.name):
        start, end = row[CLIP.name]
        clip = (start, end)
    return Question(
        id=row["id"],
        split=split,
        videos=tuple(registry_rows.videos(row)),
        text=row["question"],
        language=row["language"],
        options=options,
        right=right,
        answer=answer,
        spans=tuple(spans),
        clip=clip,
        duration=row.get("duration") or None,
        labels=tuple(labels),
    )


@dataclass(frozen=True)
class ChoiceQuestions:
    """The questions of a split that have one right option.

    Attributes:
        questions: The questions.
        right: The indices of their right options.
        plain_options: Their options, case and spaces aside.
    """

    questions: Sequence[Question]
    right: RightOptions
    plain_options: Sequence[tuple[str, ...]]

    @classmethod
    def of(cls, questions: Iterable[Question]) -> "ChoiceQuestions":
        """Return those of some questions. There may be none."""
        choices = [question for question in questions if len(question.right) == 1]
        right_indices = [question.right[0] for question in choices]
        option_counts = [len(question.options) for question in choices]
        videos = [question.videos[0] for question in choices]
        right = RightOptions(
            np.array(right_indices, dtype=np.intp), np.array(option_counts, dtype=np.intp), videos
        )
        return cls(choices, right, [question.plain_options for question in choices])

    def indices_by_label(self) -> dict[str, list[int]]:
        """Return label -> the indices of its questions, labels in order."""
        indices: dict[str, list[int]] = {}
        for index, question in enumerate(self.questions):
            for label in question.labels:
                indices.setdefault(label, []).append(index)
        return dict(sorted(indices.items()))

    def zero_credit(self) -> Array:
        """Return a table of zeros: questions x options."""
        most_options = max(map(len, self.plain_options), default=0)
        return np.zeros((len(self.questions), most_options))

    def has_specific_options(self) -> NDArray[np.bool_]:
        """Return a mask of the questions whose options aren't those of many others.

        `yes` and `no` are asked for their meaning: their lengths and commas say nothing.
        """
        option_sets = [question.option_set for question in self.questions]
        questions_by_set = Counter(option_sets)
        common = max(_COMMON_OPTIONS_COUNT, _COMMON_OPTIONS_SHARE * len(option_sets))
        is_specific = [questions_by_set[options] < common for options in option_sets]
        return np.array(is_specific, dtype=np.bool_)


_COMMON_OPTIONS_SHARE = 0.05
_COMMON_OPTIONS_COUNT = 5
"""Questions with the same options from which on these are the benchmark's, not the question's."""
