"""A kind of review page: its shows and asks, the check of its saved files, and their merging.

Each kind is one object (`ratings`, `spans`, `tags`, …). A new kind is that, its name in `KindName`,
its words and asks in `kinds.yaml`, and a line in `kinds`. Saved files of one page are put together
here.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictInt

from reelbench.base.errors import InputError
from reelbench.base.text_tables import Table
from reelbench.base.values import is_number
from reelbench.data import loading
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.strata import Labels, Strata
from reelbench.stats.agreement import krippendorff_alpha
from reelbench.studio.benchmark_files import FILES
from reelbench.studio.data_files import studio_data
from reelbench.studio.moment_pairs import WAGE
from reelbench.studio.review import KindName
from reelbench.studio.review.review_items import Item, Part, Place, ask_of

KIND = "reelbench-review"

Marks = dict[str, Any]
"""One item's answers, by the name of the ask."""

Facts = dict[str, Any]
"""What a page knows of an item, by the fact's name."""

RatingsByDimension = dict[str, StrictInt]
"""Dimension -> a rating from 1 to 5."""


# --- saved files
# -------------------------------------------------------------------------------------------------


class Review(BaseModel):
    """A file that a page saved.

    `ratings` is part -> id (a caption has its video's) -> dimension -> rating from 1 to 5. `marks`
    of all other pages is id -> ask -> answer. `seconds` is question (or video) -> time spent.
    `items` is id -> its `video` and, of question spans, its `answer_span`. `part` is the rater's
    number where there are several pages.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    schema_version: Literal[1]
    ask: KindName = KindName.RATINGS
    page: str
    part: int | None = None
    consensus: bool = False
    benchmark: str = Field(pattern=r"^\w*$")  # a name, never a path
    split: str
    reviewer: str
    saved: AwareDatetime
    total: int | None = None
    seconds: dict[str, float] = Field(default_factory=dict)
    items: dict[str, Facts] = Field(default_factory=dict)
    ratings: dict[str, dict[str, RatingsByDimension]] = Field(default_factory=dict)
    marks: dict[str, Marks] = Field(default_factory=dict)
    comments: dict[str, str] = Field(default_factory=dict)

    @property
    def rated(self) -> dict[tuple[str, str], RatingsByDimension]:
        """Part and id -> dimension -> rating."""
        ratings: dict[tuple[str, str], RatingsByDimension] = {}
        for part, items in self.ratings.items():
            for name, by_dimension in items.items():
                ratings[part, name] = by_dimension
        return ratings

    @property
    def seconds_together(self) -> float:
        """The time that was spent on all questions."""
        return sum(self.seconds.values())

    def joined(self, later: "Review") -> "Review":
        """Return one person's two parts of a draw as one.

        Else they would count as two people who agree with each other.
        """
        ratings = dict(self.ratings)
        for part, items in later.ratings.items():
            ratings[part] = ratings.get(part, {}) | items
        return later.model_copy(
            update={
                "total": (self.total or 0) + (later.total or 0),
                "seconds": self.seconds | later.seconds,
                "items": self.items | later.items,
                "ratings": ratings,
                "marks": self.marks | later.marks,
                "comments": self.comments | later.comments,
            }
        )


@dataclass(frozen=True, slots=True)
class Reviews:
    """Several reviewers' files of one page.

    `benchmark` and `split` are "" where the files don't say.
    """

    kind: KindName
    benchmark: str
    split: str
    reviews: dict[str, Review]
    """Reviewer -> the file that counts."""
    decisions: dict[str, Marks]
    """The decisions of a consensus page, by id."""
    ignored: dict[str, int]
    """Reason -> results that were left out (Label Studio's)."""
    data: Path | None = None
    """The benchmark's own data. None where it isn't named."""
    wage: float = WAGE
    """Dollars an hour of people's work."""

    @property
    def seconds(self) -> float:
        """The time of all reviewers together."""
        return sum(review.seconds_together for review in self.reviews.values())

    @property
    def reviewers(self) -> list[str]:
        """Names, in order."""
        return sorted(self.reviews)

    @property
    def heading(self) -> str:
        """The heading of a printed table."""
        return f"{self.benchmark} {self.split}, {len(self.reviews)} reviewers"

    @property
    def items(self) -> dict[str, Facts]:
        """Id -> facts about the item."""
        items: dict[str, Facts] = {}
        for review in self.reviews.values():
            items |= review.items
        return items

    def marks(self) -> dict[str, dict[str, Marks]]:
        """Return id -> reviewer -> marks, in the order of ids."""
        marks: dict[str, dict[str, Marks]] = {}
        for reviewer in self.reviewers:
            review = self.reviews[reviewer]
            for name, item_marks in review.marks.items():
                by_reviewer = marks.setdefault(name, {})
                by_reviewer[reviewer] = item_marks
        return dict(sorted(marks.items()))


class ReviewFile(NamedTuple):
    """A saved file: where it lies, and what it holds."""

    path: Path
    review: Review


def merge(files: Sequence[ReviewFile], ignored: dict[str, int]) -> Reviews:
    """Put reviewers' files together.

    Of two by one reviewer (and part) the one saved last counts.

    Raises:
        InputError: There is no file, or they are of different pages.
    """
    if not files:
        raise InputError("nothing to summarize: give the files that reviewers saved")
    people_files = [file for file in files if not file.review.consensus]
    consensus_files = [file for file in files if file.review.consensus]
    if not people_files:
        path = files[0].path
        raise InputError(f"{path}: is from a consensus page; give the raters' files too")
    first = people_files[0].review
    return Reviews(
        kind=first.ask,
        benchmark=first.benchmark,
        split=first.split,
        reviews=_latest_of_each(people_files),
        decisions=_latest_decisions(consensus_files, first),
        ignored=ignored,
    )


def _latest_of_each(files: Sequence[ReviewFile]) -> dict[str, Review]:
    """Return each reviewer's file, all of one page.

    Several parts are joined.
    """
    first_path, first = files[0]
    latest: dict[tuple[str, int | None], Review] = {}
    for path, review in files:
        if (review.page, review.ask) != (first.page, first.ask):
            raise InputError(
                f"{path}: is from a different page than {first_path} ({review.benchmark} "
                f"{review.split}, page {review.page}); summarize each page separately"
            )
        key = review.reviewer.strip(), review.part
        if key not in latest or review.saved > latest[key].saved:
            latest[key] = review
    reviews: dict[str, Review] = {}
    for review in sorted(latest.values(), key=lambda review: review.saved):
        name = review.reviewer.strip()
        if name in reviews:
            reviews[name] = reviews[name].joined(review)
        else:
            reviews[name] = review
    return reviews


def _latest_decisions(files: Sequence[ReviewFile], first: Review) -> dict[str, Marks]:
    latest: Review | None = None
    for path, review in files:
        is_on_these = (
            review.ask == first.ask
            and review.benchmark == first.benchmark
            and review.split == first.split
        )
        if not is_on_these:
            subject = f"{review.ask} of {review.benchmark} {review.split}"
            raise InputError(f"{path}: decides on {subject}, not on these")
        if latest is None or review.saved > latest.saved:
            latest = review
    if latest is None:
        return {}
    return latest.marks


# --- draws
# -------------------------------------------------------------------------------------------------


WORDS: Mapping[str, Any] = studio_data("review/kinds.yaml")
"""Kind -> its words for reviewers, by the names of `ReviewKind`'s fields, and further words."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The draw of the items, and of the raters."""

    sample: int = 30
    """Videos, each with all its questions (all videos, where there are fewer)."""
    seed: int = 0
    """Of the draw, of the raters' shares, and of the order of scores."""
    raters: int = 1
    """Pages to write."""
    overlap: int = 1
    """Raters of each video."""
    strips: bool = False
    """True for a strip of frames of every video, and not only of those that browsers don't play."""
    per: Strata | None = None
    """So many questions for each label of a facet, in the place of `sample`."""
    tags: Labels | None = None
    """Labels that `per` may name beside those of the rows."""

    def names(self, spec: BenchmarkSpec, rows: Sequence[Row]) -> list[str]:
        """Return the ids of drawn questions, for pages whose `sample` counts these."""
        if self.per is None:
            names = sorted(row["id"] for row in rows)
            return self.drawn(names)
        drawn_rows = self.per.draw_rows(spec, rows, self.seed, self.tags)
        return [row["id"] for row in drawn_rows]

    def drawn(self, names: Sequence[str]) -> list[str]:
        """Draw `sample` of the names, or all where there are fewer."""
        chance = random.Random(self.seed)  # noqa: S311 - no secret
        number = min(self.sample, len(names))
        return chance.sample(names, number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The sources of a page: a benchmark or task, and further ones of some kinds."""

    name: str
    split: str | None = None
    data: Path | None = None
    beside: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Paths that are named beside the benchmark, under the option's name (`SOURCES`)."""


SOURCES = {
    "answers": ("the result whose answers are scored", KindName.SCORES),
    "made": ("the folder that `make discussion` wrote", KindName.PREFERENCE),
    "diagnosis": ("what `reelbench diagnose` wrote", KindName.NODES),
    "graphs": ("graphs.jsonl of `reelbench diagnose`", KindName.GRAPHS),
}
"""Option -> the thing that it names, and the kind that needs it."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of pages, before raters get their shares.

    `rows` has a row of each video, to find it. With `consensus` other raters' marks are shown, to
    be decided on.
    """

    kind: "ReviewKind"
    spec: BenchmarkSpec
    split: str
    places: Sequence[Place]
    rows: Mapping[str, Row]
    consensus: bool = False


def rows_by_video(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return media key -> rows."""
    by_video: dict[str, list[Row]] = {}
    for row in rows:
        by_video.setdefault(row["video"], []).append(row)
    return by_video


@dataclass(frozen=True, slots=True)
class DrawnRows:
    """The rows that were drawn from a split, by video.

    They are in the order of the draw. The seed decides on further orders.
    """

    spec: BenchmarkSpec
    split: str
    by_video: Mapping[str, Sequence[Row]]
    sources: Sources
    seed: int = 0


# --- kinds
# -------------------------------------------------------------------------------------------------


class Settled(NamedTuple):
    """The items that are agreed on or decided, and the ids of the rest."""

    values: dict[str, Any]
    open_ids: list[str]


class ReviewKind(ABC):
    """One kind of page.

    Words that a class doesn't set itself are those of `kinds.yaml`.
    """

    name: ClassVar[KindName]
    title: ClassVar[str]
    """First word of the page's heading."""
    verb: ClassVar[str]
    """The word for an item that is done."""
    advice: ClassVar[tuple[str, ...]]
    video_alone: ClassVar[str] = ""
    """The line of `advice` that rules out all but the video. Some benchmarks let people search."""
    unit: ClassVar[str] = "Question"
    """The word for one place of the page."""
    consensus_unit: ClassVar[str] = ""
    consensus_advice: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[tuple[Part, ...]] = ()
    """The asks of every item. A saved file may have the values of their choices."""
    says: ClassVar[str] = ""
    """The ask whose answer is the verdict on an item, where it is one ask."""
    known_by: ClassVar[str] = ""
    """The fact that must be known of an item whose marks count."""

    def __init_subclass__(cls) -> None:
        for name, words in WORDS[cls.name].items():
            if name not in ReviewKind.__annotations__ or name in vars(cls):
                continue
            if name == "asks":
                cls.asks = tuple(map(ask_of, words))
            elif isinstance(words, str):
                setattr(cls, name, words)
            else:
                setattr(cls, name, tuple(words))

    def advise(self, spec: BenchmarkSpec) -> tuple[str, ...]:
        """Return the lines of advice.

        Where the benchmark's own people searched, reviewers may, too.
        """
        lines = list(self.advice)
        if spec.people_search and self.video_alone in lines:
            lines[lines.index(self.video_alone)] = WORDS["search"]
        return tuple(lines)

    def content(self, sources: Sources, draw: Draw | None, only: Container[str] = ()) -> Content:
        """Draw videos with their questions.

        Without a draw, return the questions `only`, each at a place of its own.
        """
        data = sources.data
        if "made" in sources.beside:
            data = sources.beside["made"] / FILES["discussion"]
        located = loading.locate(sources.name, sources.split, data)
        spec = located.spec
        rows = located.read()
        seed = 0
        if draw is None:
            rows = [row for row in rows if row["id"] in only]
            by_video = rows_by_video(rows)
        else:
            seed = draw.seed
            by_video = _drawn_videos(draw, spec, rows)
        drawn = DrawnRows(spec, located.split, by_video, sources, seed)
        places = self.places(drawn)
        first_rows: dict[str, Row] = {}
        for place in places:
            first_row, *_ = by_video[place.video]
            first_rows[place.video] = first_row
        return Content(self, spec, located.split, places, first_rows)

    def places(self, drawn: DrawnRows) -> list[Place]:
        """Return the page's places, one a question."""
        places: list[Place] = []
        for video, rows in drawn.by_video.items():
            for row in rows:
                item = self.item(drawn.spec, row)
                places.append(Place(video, row["id"], [item]))
        return places

    def item(self, spec: BenchmarkSpec, row: Row) -> Item:
        """Return the item of a row.

        Raises:
            InputError: The row lacks what this kind shows.
        """
        raise NotImplementedError

    def check(self, review: Review, path: Path) -> None:
        """Check that a saved file holds nothing that no page of this kind gives.

        Raises:
            InputError: Names the field.
        """
        for identifier, marks in review.marks.items():
            self.check_marks(marks, f"{path}, field marks.{identifier}")

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check one item's marks.

        `where` stands before the name of the wrong field.
        """
        for ask in self.asks:
            mark = marks.get(ask["name"])
            if mark is None:
                continue
            field_name = f"{where}.{ask['name']}"
            values = _values_of(ask)
            if values and mark not in values:
                expected = ", ".join(values)
                raise InputError(f"{field_name}: expected {expected}; found {mark!r:.60}")
            if ask["type"] == "span" and not _is_span(mark):
                raise InputError(
                    f"{field_name}: expected [start, end] in seconds, found {mark!r:.60}"
                )

    def done(self, review: Review) -> int:
        """Return the number of items that a reviewer has finished, as the page counts them."""
        return sum(map(self.is_done, review.marks.values()))

    def is_done(self, marks: Marks) -> bool:
        """Return True where one item's marks are complete."""
        if self.says:
            return self.verdict_of(marks) is not None
        return bool(marks.keys() - {"note"})

    def verdict_of(self, marks: Marks) -> Hashable:
        """Return the part of an item's marks on which all must agree.

        None for nothing.
        """
        return marks.get(self.says)

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Return True where marks of one item differ so that somebody must decide."""
        verdicts = {self.verdict_of(marks) for marks in by_reviewer.values()}
        return len(verdicts - {None}) > 1

    def is_open(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Return True where an item stands on a consensus page."""
        return len(by_reviewer) > 1 and self.disagrees(by_reviewer)

    def verdicts_of_all(self, reviews: Reviews) -> dict[str, dict[str, Any]]:
        """Return id -> reviewer -> verdict.

        Raises:
            InputError: Nobody gives any.
        """
        facts = reviews.items
        verdicts_by_item: dict[str, dict[str, Any]] = {}
        for name, by_reviewer in reviews.marks().items():
            verdicts: dict[str, Any] = {}
            for reviewer, marks in by_reviewer.items():
                verdict = self.verdict_of(marks)
                if verdict is not None:
                    verdicts[reviewer] = verdict
            item_facts = facts.get(name, {})
            is_known = not self.known_by or self.known_by in item_facts
            if verdicts and is_known:
                verdicts_by_item[name] = verdicts
        if not verdicts_by_item:
            raise InputError(f"nothing is {self.verb} in these files yet")
        return verdicts_by_item

    def settle(
        self,
        reviews: Reviews,
        verdicts_by_item: Mapping[str, Mapping[str, Any]],
        *,
        majority: bool = False,
    ) -> Settled:
        """Return the decision on each item, or else the verdict that all give.

        With `majority` the verdict of more than half is enough.
        """
        settled = Settled({}, [])
        for name, verdicts in verdicts_by_item.items():
            decision = self.verdict_of(reviews.decisions.get(name, {}))
            counts = Counter(verdicts.values())
            [(verdict, times)] = counts.most_common(1)
            is_agreed = times == len(verdicts)
            if majority:
                is_agreed = 2 * times > len(verdicts)
            if decision is not None:
                settled.values[name] = decision
            elif is_agreed:
                settled.values[name] = verdict
            else:
                settled.open_ids.append(name)
        return settled

    @abstractmethod
    def summarize(self, reviews: Reviews) -> "ReviewSummary":
        """Put reviewers' marks together.

        Raises:
            InputError: There are none.
        """


def _drawn_videos(draw: Draw, spec: BenchmarkSpec, rows: list[Row]) -> dict[str, list[Row]]:
    """Return the rows of the drawn videos.

    With strata they are all videos of the drawn rows.
    """
    if draw.per is not None:
        rows = draw.per.draw_rows(spec, rows, draw.seed, draw.tags)
    by_video = rows_by_video(rows)
    videos = sorted(by_video)
    if draw.per is not None:
        draw = replace(draw, sample=len(videos))
    return {video: by_video[video] for video in draw.drawn(videos)}


def _values_of(ask: Part) -> list[Any]:
    if ask["type"] == "verdict":
        return ["ok", "bad"]
    return [option["value"] for option in ask.get("options", ())]


def _is_span(mark: object) -> bool:
    """Return True for two ends in seconds, of which either may be open."""
    if not isinstance(mark, list) or len(mark) != 2:  # noqa: PLR2004
        return False
    ends = [end for end in mark if end is not None]
    return all(is_number(end) and end >= 0 for end in ends)


# --- summaries
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScaleFigures:
    """Several people's numbers on one scale: their mean, number and agreement.

    `alpha` is None where it is undefined.
    """

    mean: float
    n: int
    alpha: float | None
    twice: int
    """Items on which more than one of them gave a number."""

    @classmethod
    def of(cls, units: Iterable[Sequence[float]]) -> "ScaleFigures":
        """Return the figures of all numbers, item by item."""
        units = list(units)
        values: list[float] = []
        for unit in units:
            values += map(float, unit)
        return cls(
            mean=fmean(values),
            n=len(values),
            alpha=krippendorff_alpha(units),
            twice=sum(len(unit) > 1 for unit in units),
        )

    def document(self, twice: str) -> dict[str, Any]:
        """Return the figures for `--json`, the last under the name `twice`."""
        return {
            "mean": self.mean,
            "n": self.n,
            "alpha": self.alpha,
            twice: self.twice,
        }


def choice_alpha(choices_by_item: Iterable[Iterable[str]], values: Sequence[str]) -> float | None:
    """Return Krippendorff's alpha, nominal, of people's choices among `values`, item by item."""
    numbers = {value: number for number, value in enumerate(values)}
    units: list[list[int]] = []
    for choices in choices_by_item:
        unit = [numbers[choice] for choice in choices]
        units.append(unit)
    return krippendorff_alpha(units, level="nominal")


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """The summary of several reviewers' files."""

    kind: ReviewKind
    reviews: Reviews
    figures: dict[str, Any]
    """The kind's own part of the document of `--json`."""
    tables: list[Table]
    """The tables to print."""
    write: Callable[[Path], str]
    """Writes what reviewers agreed on to a path, and returns a line that says what was written."""
    notes: list[str] = field(default_factory=list[str])
    """Lines for the user, printed after the tables."""

    def document(self) -> dict[str, Any]:
        """Return the document of `--json`.

        `progress` is reviewer -> items done, of how many, in how many seconds.
        """
        reviews = self.reviews
        progress: dict[str, dict[str, Any]] = {}
        for name in reviews.reviewers:
            review = reviews.reviews[name]
            progress[name] = {
                "marked": self.kind.done(review),
                "total": review.total,
                "seconds": review.seconds_together,
            }
        return {
            "kind": reviews.kind,
            "benchmark": reviews.benchmark,
            "split": reviews.split,
            "reviewers": reviews.reviewers,
            "progress": progress,
            **self.figures,
        }
