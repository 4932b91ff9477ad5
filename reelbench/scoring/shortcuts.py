"""Questions that can be answered without watching.

They are found from runs that showed no frame, and runs that showed one. Each way of showing too
little is a column with a tally for every question: how many runs answered it, and how many were
right by the benchmark's primary metric. A question is a shortcut where more than half of them were.
From a single run these are its own right answers, guesses among the options too. Several models, or
one that was asked with several seeds, leave few guesses.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from reelbench.registry.records import Sample, SettingsRecord
from reelbench.registry.sampling import SUBTITLED
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.aggregation import score_of
from reelbench.stats.intervals import Estimate, mean_over_clusters

ShortcutColumn = Literal["blind", "single frame"]
COLUMNS: tuple[ShortcutColumn, ...] = get_args(ShortcutColumn)

_ONE_FRAME = ("uniform:1", "keyframe:1")


@dataclass(frozen=True, slots=True)
class AnswerTally:
    """The answers to a question: `right` of `runs`."""

    right: int
    runs: int

    @property
    def is_shortcut(self) -> bool:
        """True where more than half of the runs were right."""
        return 2 * self.right > self.runs


Tallies = Mapping[str, AnswerTally]
"""Question -> tally."""


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """A benchmark's tallies.

    Attributes:
        tallies: Column -> question -> tally. A column without a run is absent.
        videos: Question -> its video.
        runs: Column -> number of runs.
        watched: Question -> tally of the runs that showed several frames. Empty unless these were
            requested.
        watching: The number of these runs.
    """

    tallies: Mapping[ShortcutColumn, Tallies]
    videos: Mapping[str, str]
    runs: Mapping[ShortcutColumn, int]
    watched: Tallies = field(default_factory=dict[str, AnswerTally])
    watching: int = 0

    @property
    def frames_matter(self) -> Mapping[str, bool]:
        """Question -> True where its frames matter.

        The questions are those that runs with and without several frames answered. Frames matter
        where most of the runs that showed several frames have the question right, and in no column
        most runs have.
        """
        shortcut_questions = self.questions()
        asked_without_frames: set[str] = set()
        for tallies in self.tallies.values():
            asked_without_frames.update(tallies)
        matters: dict[str, bool] = {}
        for question, tally in self.watched.items():
            if question in asked_without_frames:
                matters[question] = tally.is_shortcut and question not in shortcut_questions
        return matters

    def questions(self, columns: Collection[ShortcutColumn] = COLUMNS) -> frozenset[str]:
        """Return the questions that are a shortcut in any of `columns`."""
        shortcut_questions: set[str] = set()
        for column, tallies in self.tallies.items():
            if column not in columns:
                continue
            for question, tally in tallies.items():
                if tally.is_shortcut:
                    shortcut_questions.add(question)
        return frozenset(shortcut_questions)

    def share(self, column: ShortcutColumn) -> Estimate:
        """Return the share of a column's questions that are shortcuts, 0 to 1."""
        tallies = self.tallies[column]
        flags = {question: tally.is_shortcut for question, tally in tallies.items()}
        return share_of(flags, self.videos)


def column_of(settings: SettingsRecord) -> ShortcutColumn | None:
    """Return the column that a run belongs to.

    None where it showed more frames or an unknown number of them, sound, or subtitles. The number
    of frames that a run really showed decides where it is recorded, so a sampling that happened to
    give one frame of every video counts.
    """
    parts = settings.frames.split(",")
    if settings.sound == "kept" or SUBTITLED in parts:
        return None
    if settings.frames == "none":
        return "blind"
    recorded_numbers = set(settings.frames_given)
    is_single = parts[0] in _ONE_FRAME
    if recorded_numbers:
        is_single = recorded_numbers == {"1"}
    if is_single:
        return "single frame"
    return None


def rights(spec: BenchmarkSpec, samples: Iterable[Sample]) -> dict[str, bool]:
    """Return for each scored question whether it was answered right.

    The primary metric decides.
    """
    rights: dict[str, bool] = {}
    for sample in samples:
        if sample.state != "scored":
            continue
        is_right = spec.primary.is_right(score_of(spec, sample))
        if is_right is not None:
            rights[sample.id] = is_right
    return rights


def showed_frames(settings: SettingsRecord) -> bool:
    """Return True where a run showed several frames, as far as its record says."""
    kind = settings.frames.partition(",")[0]
    return column_of(settings) is None and kind not in {"none", "unknown", *_ONE_FRAME}


@dataclass(slots=True)
class _Runs:
    """The runs of one kind, counted together.

    Attributes:
        number: The number of runs.
        answers: Question -> right or wrong, for each run that scored it.
    """

    number: int = 0
    answers: dict[str, list[bool]] = field(default_factory=dict[str, list[bool]])

    def add(self, rights: Mapping[str, bool]) -> None:
        """Count another run."""
        self.number += 1
        for question, is_right in rights.items():
            self.answers.setdefault(question, []).append(is_right)

    def tallies(self) -> dict[str, AnswerTally]:
        """Return the tally of each question, in the order of their ids."""
        tallies: dict[str, AnswerTally] = {}
        for question, answers in sorted(self.answers.items()):
            tallies[question] = AnswerTally(sum(answers), len(answers))
        return tallies


def shortcuts(
    spec: BenchmarkSpec,
    runs: Iterable[tuple[SettingsRecord, Iterable[Sample]]],
    *,
    watching: bool = False,
) -> Shortcuts:
    """Tally the runs of one benchmark that showed no frame, or one.

    Args:
        spec: The benchmark.
        runs: The settings and the samples of each run. Samples of runs that don't count are not
            read.
        watching: True to tally the runs that showed several frames too.
    """
    unwatched: dict[ShortcutColumn, _Runs] = {}
    watched = _Runs()
    videos: dict[str, str] = {}
    for settings, samples in runs:
        column = column_of(settings)
        if column is not None:
            answered = list(samples)
            videos |= {sample.id: sample.video for sample in answered}
            unwatched.setdefault(column, _Runs()).add(rights(spec, answered))
        elif watching and showed_frames(settings):
            watched.add(rights(spec, samples))
    tallies: dict[ShortcutColumn, Tallies] = {}
    for column in COLUMNS:
        if column in unwatched and unwatched[column].answers:
            tallies[column] = unwatched[column].tallies()
    return Shortcuts(
        tallies=tallies,
        videos=videos,
        runs={column: unwatched[column].number for column in unwatched},
        watched=watched.tallies(),
        watching=watched.number,
    )


def share_of(flags: Mapping[str, bool], videos: Mapping[str, str]) -> Estimate:
    """Return the share of questions whose flag is set, 0 to 1.

    Args:
        flags: Question -> flag; without a question the estimate is undefined.
        videos: Question -> its video. The interval is over these.
    """
    if not flags:
        return Estimate(None, None)
    values = np.array([float(flag) for flag in flags.values()])
    return mean_over_clusters(values, [videos[question] for question in flags], bounds=(0, 1))
