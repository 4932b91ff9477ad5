"""What a kind of review page is: what it shows and asks, what a saved file may hold, and how people's marks are merged.

Each kind is one object in a module of its own (`ratings`, `spans`, `tags`, …). A new kind is a new module, its name in
`kind_names` and a line in `kinds`.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Literal

from reelbench.registry.errors import InputError
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.text_tables import Table
from reelbench.stats.agreement import krippendorff_alpha
from reelbench.studio.review.kind_names import KindName
from reelbench.studio.review.review_files import Marks, Review, Reviews
from reelbench.studio.review.review_items import Item, Place

WATCH_FIRST = "Watch the whole video first; play parts of it again when you are not sure."
"""Advice on a page about a whole video."""
SEARCH = "Watch the video. You may search the web, as the benchmark's own people did; ask no language model."
"""Advice where the benchmark lets people look things up."""


@dataclass(frozen=True, slots=True)
class DrawnRows:
    """The rows that were drawn from a split, by video in the order of the draw, whose seed decides on further orders.

    `answers` is the folder of the result that `scores` are of, `made` what `make discussion` wrote, for `preference`.
    """

    spec: BenchmarkSpec
    split: str
    by_video: Mapping[str, Sequence[Row]]
    answers: Path | None = None
    seed: int = 0
    made: Path | None = None


class ReviewKind(ABC):
    """One kind of page."""

    name: ClassVar[KindName]
    title: ClassVar[str]
    """First word of the page's heading."""
    verb: ClassVar[str]
    """What an item is called when it is done."""
    advice: ClassVar[tuple[str, ...]]
    video_alone: ClassVar[str] = ""
    """The line of `advice` that rules out all but the video; a benchmark may let people search instead."""
    unit: ClassVar[str] = "Question"
    """What stands on the page at a time."""
    consensus_unit: ClassVar[str] = ""
    consensus_advice: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[Literal["rows", "result", "diagnosis", "made", "graphs"]] = "rows"
    choices: ClassVar[tuple[tuple[str, Sequence[str]], ...]] = ()
    """Asks, each with the values that a saved file may have of it."""

    def advise(self, spec: BenchmarkSpec) -> tuple[str, ...]:
        """Return the lines of advice, of searching what the benchmark's own people were told."""
        return tuple(SEARCH if spec.people_search and line == self.video_alone else line for line in self.advice)

    def places(self, drawn: DrawnRows) -> list[Place]:
        """Return the page's places, one a question."""
        return [
            Place(video, row["id"], [self.item(drawn.spec, row)])
            for video, rows in drawn.by_video.items()
            for row in rows
        ]

    def item(self, spec: BenchmarkSpec, row: Row) -> Item:
        """Return the item that a row makes; InputError where the row lacks what this kind shows."""
        raise NotImplementedError

    def check(self, review: Review, path: Path) -> None:
        """Raise InputError, which names the field, where a saved file holds what no page of this kind gives."""
        for identifier, marks in review.marks.items():
            self.check_marks(marks, f"{path}, field marks.{identifier}")

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check one item's marks; `where` stands before the name of the wrong field."""
        for name, values in self.choices:
            if (value := marks.get(name)) not in (None, *values):
                raise InputError(f"{where}.{name}: expected {', '.join(values)}; found {value!r:.60}")

    def done(self, review: Review) -> int:
        """Return the number of items that a reviewer has finished, as the page counts them."""
        return sum(map(self.is_done, review.marks.values()))

    def is_done(self, marks: Marks) -> bool:
        """Whether one item's marks are complete."""
        return bool(marks.keys() - {"note"})

    def said(self, marks: Marks) -> Hashable:  # noqa: ARG002
        """What one reviewer says of an item, as far as all must say the same; None for nothing."""
        return None

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether reviewers' marks of one item differ so that somebody must decide."""
        return len({self.said(marks) for marks in by_reviewer.values()} - {None}) > 1

    def is_open(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether an item stands on a consensus page."""
        return len(by_reviewer) > 1 and self.disagrees(by_reviewer)

    @abstractmethod
    def summarize(self, reviews: Reviews) -> "ReviewSummary":
        """Merge reviewers' marks; InputError where there are none."""


@dataclass(frozen=True, slots=True)
class ScaleFigures:
    """What several people gave on one scale: the mean of all, how many, their agreement (None where undefined)."""

    mean: float
    n: int
    alpha: float | None
    twice: int
    """Items that more than one of them gave something on."""

    @classmethod
    def of(cls, units: Iterable[Sequence[float]]) -> "ScaleFigures":
        """Return the figures of all that was given, item by item."""
        units = list(units)
        given = [float(value) for unit in units for value in unit]
        return cls(fmean(given), len(given), krippendorff_alpha(units), sum(len(unit) > 1 for unit in units))

    def document(self, twice: str) -> dict[str, Any]:
        """Return the figures for `--json`, the last under the name `twice`."""
        return {"mean": self.mean, "n": self.n, "alpha": self.alpha, twice: self.twice}


@dataclass(frozen=True)
class ReviewSummary(ABC):
    """What a kind makes of several reviewers' files."""

    kind: ReviewKind
    reviews: Reviews

    def document(self) -> dict[str, Any]:
        """Return the document of `--json`; `progress` is reviewer -> items done, of how many, in how many seconds."""
        reviews = self.reviews
        progress = {
            name: {
                "marked": self.kind.done(reviews.reviews[name]),
                "total": reviews.reviews[name].total,
                "seconds": sum(reviews.reviews[name].seconds.values()),
            }
            for name in reviews.reviewers
        }
        return {
            "kind": reviews.kind,
            "benchmark": reviews.benchmark,
            "split": reviews.split,
            "reviewers": reviews.reviewers,
            "progress": progress,
            **self.figures(),
        }

    @property
    def heading(self) -> str:
        """What a printed table is of."""
        return f"{self.reviews.benchmark} {self.reviews.split}, {len(self.reviews.reviewers)} reviewers"

    @abstractmethod
    def figures(self) -> dict[str, Any]:
        """Return the kind's own part of the document."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the printed tables."""

    def notes(self) -> list[str]:
        """Return lines for the user, printed after the tables."""
        return []

    @abstractmethod
    def write(self, path: Path) -> str:
        """Write what reviewers agreed on and return a line that says what was written."""
