"""Questions that can be answered without watching: from runs that showed no frame, and runs that showed one.

Each way of showing too little is a column with a tally for every question: how many runs answered
it, and how many were right by the benchmark's primary metric. A question is a shortcut where more
than half of them were. From a single run that is its own right answers, guesses among the options
too; several models, or one asked with several seeds, leave few of these.
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


@dataclass(frozen=True, slots=True)
class AnswerTally:
    """How a question was answered: `right` of `runs`."""

    right: int
    runs: int

    @property
    def is_shortcut(self) -> bool:
        """Whether more than half of the runs were right."""
        return 2 * self.right > self.runs


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """A benchmark's tallies.

    Attributes:
        tallies: Column -> question -> tally; a column without a run is not there.
        videos: Question -> its video.
        runs: Column -> runs.
        watched: Question -> tally of the runs that showed several frames; empty where these weren't
            asked for.
        watching: How many of these there are.
    """

    tallies: Mapping[ShortcutColumn, Mapping[str, AnswerTally]]
    videos: Mapping[str, str]
    runs: Mapping[ShortcutColumn, int]
    watched: Mapping[str, AnswerTally] = field(default_factory=dict[str, AnswerTally])
    watching: int = 0

    @property
    def frames_matter(self) -> Mapping[str, bool]:
        """Question -> whether its frames matter, of those that runs with and without several frames answered.

        They do where most of the runs that showed several frames have it right, and in no column
        most have.
        """
        shortcuts = self.questions()
        less = {question for tallies in self.tallies.values() for question in tallies}
        return {
            question: tally.is_shortcut and question not in shortcuts
            for question, tally in self.watched.items()
            if question in less
        }

    def questions(self, columns: Collection[ShortcutColumn] = COLUMNS) -> frozenset[str]:
        """Return the questions that are a shortcut in any of `columns`."""
        return frozenset(
            question
            for column, tallies in self.tallies.items()
            for question, tally in tallies.items()
            if column in columns and tally.is_shortcut
        )

    def share(self, column: ShortcutColumn) -> Estimate:
        """Return the share of questions, 0 to 1, that are a shortcut of `column`, with its interval over videos."""
        return share_of(
            {question: tally.is_shortcut for question, tally in self.tallies[column].items()},
            self.videos,
        )


def column_of(settings: SettingsRecord) -> ShortcutColumn | None:
    """Return the column that a run belongs to, or None: more frames or an unknown number, sound, or subtitles.

    What was given decides where it is known, so a sampling that happened to give one frame of every
    video counts.
    """
    if settings.sound == "kept" or SUBTITLED in settings.frames.split(","):
        return None
    if settings.frames == "none":
        return "blind"
    given = set(settings.frames_given)
    asked = settings.frames.split(",")[0]
    return (
        "single frame"
        if given == {"1"} or (not given and asked in ("uniform:1", "keyframe:1"))
        else None
    )


def rights(spec: BenchmarkSpec, samples: Iterable[Sample]) -> dict[str, bool]:
    """Return question -> whether it was answered right by the primary metric; unscored ones are not there."""
    scored = (
        (sample.id, spec.primary.is_right(score_of(spec, sample)))
        for sample in samples
        if sample.state == "scored"
    )
    return {question: right for question, right in scored if right is not None}


def showed_frames(settings: SettingsRecord) -> bool:
    """Whether a run showed several frames, as far as its record says."""
    kind = settings.frames.partition(",")[0]
    return column_of(settings) is None and kind not in {
        "none",
        "unknown",
        "uniform:1",
        "keyframe:1",
    }


def shortcuts(
    spec: BenchmarkSpec,
    runs: Iterable[tuple[SettingsRecord, Iterable[Sample]]],
    *,
    watching: bool = False,
) -> Shortcuts:
    """Tally the runs of one benchmark that showed no frame, or one, and with `watching` those that showed several.

    Others are passed over, unread.
    """
    counted: dict[ShortcutColumn, dict[str, list[bool]]] = {}
    number: dict[ShortcutColumn, int] = {}
    videos: dict[str, str] = {}
    seen: dict[str, list[bool]] = {}
    watchers = 0
    for settings, samples in runs:
        column = column_of(settings)
        if column is None:
            if watching and showed_frames(settings):
                watchers += 1
                for question, right in rights(spec, samples).items():
                    seen.setdefault(question, []).append(right)
            continue
        answered = list(samples)
        videos |= {sample.id: sample.video for sample in answered}
        number[column] = number.get(column, 0) + 1
        for question, right in rights(spec, answered).items():
            counted.setdefault(column, {}).setdefault(question, []).append(right)
    tallies: dict[ShortcutColumn, dict[str, AnswerTally]] = {
        column: {
            question: AnswerTally(sum(given), len(given))
            for question, given in sorted(counted[column].items())
        }
        for column in COLUMNS
        if column in counted
    }
    seen_right = {
        question: AnswerTally(sum(given), len(given)) for question, given in sorted(seen.items())
    }
    return Shortcuts(tallies, videos, number, seen_right, watchers)


def share_of(flags: Mapping[str, bool], videos: Mapping[str, str]) -> Estimate:
    """Return the share of questions whose flag is set, 0 to 1, with its interval over videos; None of no question."""
    if not flags:
        return Estimate(None, None)
    values = np.array([float(flag) for flag in flags.values()])
    return mean_over_clusters(values, [videos[question] for question in flags], bounds=(0, 1))
