"""The videos of questions that are asked outside lmms-eval."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from reelbench.base.errors import ReelbenchError
from reelbench.registry.reasons import Reason
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec
from reelbench.video.library import Library, Missing, where_looked
from reelbench.video.shown_media import Shown, show

log = logging.getLogger("reelbench")


@dataclass(frozen=True)
class QuestionMedia:
    """The videos of rows, and what is shown of them.

    Attributes:
        spec: The rows' benchmark.
        library: Where the videos and subtitles are found.
        sampling: What is shown of each video.
        rows: The rows whose videos these are.
    """

    spec: BenchmarkSpec
    library: Library
    sampling: FrameSampling
    rows: Sequence[Row]

    @cached_property
    def missing(self) -> dict[str, Missing]:
        """The rows whose video would be shown and is not here, by id."""
        if self.sampling.kind == "none":
            return {}
        return {row.id: row for row in self.library.missing(self.rows)}

    def missing_line(self) -> str | None:
        """Return a line on the questions whose video is not here. None if all are.

        It says where the videos were looked for.
        """
        missing = list(self.missing.values())
        if not missing:
            return None
        return (
            f"{self.spec.id}: {len(missing)} of {len(self.rows)} questions are not asked, because "
            f"their video is not here or can't be read {where_looked(self.spec, missing)}"
        )

    def notes(self) -> list[str]:
        """Return lines on the videos that are not here, or were found by another name."""
        notes: list[str] = []
        missing_line = self.missing_line()
        if missing_line is not None:
            notes.append(missing_line)
        names_line = self.library.note_on_other_names()
        if names_line is not None:
            notes.append(f"{self.spec.id}: {names_line}")
        return notes

    def subtitles_line(self) -> str | None:
        """Return a line on subtitles that are not here. None if all are."""
        return self.library.check_subtitles(self.rows, self.sampling)

    def show(self, row: Row) -> Shown | None:
        """Return the frames or the clip that are shown of a row.

        None, which is logged, where it can't be read.
        """
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

    def decoders(self, rows: Iterable[Row]) -> dict[str, Callable[[], object]]:
        """Return, by video, a function that readies its frames.

        The videos are in the order of the rows. A function raises ReelbenchError where that can't
        be.
        """
        decoders: dict[str, Callable[[], object]] = {}
        if not self.sampling.decodes:
            return decoders
        for row in rows:
            if row["id"] not in self.missing:
                decoders.setdefault(row["video"], partial(show, self.library, row, self.sampling))
        return decoders
