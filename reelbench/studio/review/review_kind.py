"""What a kind of review page is: what it shows and asks, what a saved file may hold, and how people's marks are merged.

Each kind is one object (`ratings`, `spans`, `tags`, …). A new kind is that, its name in `KindName`,
its words and what it asks in `kinds.yaml`, and a line in `kinds`. What pages save is read here, and
files of one page are put together.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Literal

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


class Review(BaseModel):
    """What a page saves.

    `ratings` is part -> id (a caption has its video's) -> dimension -> rating from 1 to 5, `marks`
    of all other pages is id -> ask -> what was said, `seconds` is question (or video) -> time
    spent, `items` is id -> its `video` and, of question spans, its `answer_span`; `part` is the
    rater's number where there are several pages.
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
    items: dict[str, dict[str, Any]] = Field(default_factory=dict)
    ratings: dict[str, dict[str, dict[str, StrictInt]]] = Field(default_factory=dict)
    marks: dict[str, Marks] = Field(default_factory=dict)
    comments: dict[str, str] = Field(default_factory=dict)

    @property
    def rated(self) -> dict[tuple[str, str], dict[str, int]]:
        """Part and id -> dimension -> rating."""
        return {
            (part, name): given
            for part, items in self.ratings.items()
            for name, given in items.items()
        }

    def joined(self, later: "Review") -> "Review":
        """Return one person's two parts of a draw as one: never two people who agree with each other."""
        fields = ("seconds", "items", "marks", "comments")
        both: dict[str, Any] = {
            field: getattr(self, field) | getattr(later, field) for field in fields
        }
        both["ratings"] = {
            part: self.ratings.get(part, {}) | later.ratings.get(part, {})
            for part in self.ratings | later.ratings
        }
        return later.model_copy(update={"total": (self.total or 0) + (later.total or 0), **both})


@dataclass(frozen=True, slots=True)
class Reviews:
    """Several reviewers' files of one page; no `benchmark` ("") and no `split` where files don't say."""

    kind: KindName
    benchmark: str
    split: str
    reviews: dict[str, Review]
    """Reviewer -> the file that counts."""
    decisions: dict[str, Marks]
    """What was decided on a consensus page, by id."""
    ignored: dict[str, int]
    """Reason -> results that were left out (Label Studio's)."""
    data: Path | None = None
    """The benchmark's own data; None where it isn't named."""
    wage: float = WAGE
    """Dollars an hour of people's work."""

    @property
    def seconds(self) -> float:
        """What all reviewers took together."""
        return sum(sum(review.seconds.values()) for review in self.reviews.values())

    @property
    def reviewers(self) -> list[str]:
        """Names, in order."""
        return sorted(self.reviews)

    @property
    def heading(self) -> str:
        """What a printed table is of."""
        return f"{self.benchmark} {self.split}, {len(self.reviews)} reviewers"

    @property
    def items(self) -> dict[str, dict[str, Any]]:
        """Id -> what is known of the item."""
        return {
            name: about for review in self.reviews.values() for name, about in review.items.items()
        }

    def marks(self) -> dict[str, dict[str, Marks]]:
        """Return id -> reviewer -> marks, of the items that anybody marked, in the order of ids."""
        marks: dict[str, dict[str, Marks]] = {}
        for reviewer in self.reviewers:
            for name, given in self.reviews[reviewer].marks.items():
                marks.setdefault(name, {})[reviewer] = given
        return dict(sorted(marks.items()))


def merge(files: Sequence[tuple[Path, Review]], ignored: dict[str, int]) -> Reviews:
    """Put reviewers' files together; of two by one reviewer (and part) the one saved last counts.

    Raises:
        InputError: There is no file, or they are of different pages.
    """
    if not files:
        raise InputError("nothing to summarize: give the files that reviewers saved")
    people = [(path, review) for path, review in files if not review.consensus]
    if not people:
        raise InputError(f"{files[0][0]}: is of a consensus page; give the raters' own files too")
    first_path, first = people[0]
    latest: dict[tuple[str, int | None], Review] = {}
    for path, review in people:
        if (review.page, review.ask) != (first.page, first.ask):
            raise InputError(
                f"{path}: is of another page than {first_path} ({review.benchmark} {review.split}, page "
                f"{review.page}); summarize each page by itself"
            )
        key = review.reviewer.strip(), review.part
        if key not in latest or review.saved > latest[key].saved:
            latest[key] = review
    decisions: Review | None = None
    for path, review in [(path, review) for path, review in files if review.consensus]:
        if (review.ask, review.benchmark, review.split) != (
            first.ask,
            first.benchmark,
            first.split,
        ):
            raise InputError(
                f"{path}: decides on {review.ask} of {review.benchmark} {review.split}, not on these"
            )
        decisions = review if decisions is None or review.saved > decisions.saved else decisions
    reviews: dict[str, Review] = {}
    for (name, _), review in sorted(latest.items(), key=lambda pair: pair[1].saved):
        early = reviews.get(name)
        reviews[name] = review if early is None else early.joined(review)
    decided = decisions.marks if decisions else {}
    return Reviews(first.ask, first.benchmark, first.split, reviews, decided, ignored)


WORDS: Mapping[str, Any] = studio_data("review/kinds.yaml")
"""Kind -> its words for reviewers, by the names of `ReviewKind`'s fields; and what the values of its asks mean."""


@dataclass(frozen=True, slots=True)
class Draw:
    """What is looked at, and by how many."""

    sample: int = 30
    """Videos, each with all its questions (all videos, where there are fewer)."""
    seed: int = 0
    """Of the draw, of who gets what, and of the order of scores."""
    raters: int = 1
    """Pages to write."""
    overlap: int = 1
    """How many raters look at each video."""
    strips: bool = False
    """Whether every video gets a strip of frames, and not only those that browsers don't play."""
    per: Strata | None = None
    """So many questions for each label of a facet, in the place of `sample`."""
    tags: Labels | None = None
    """Labels that `per` may name beside those of the rows."""

    def names(self, spec: BenchmarkSpec, rows: Sequence[Row]) -> list[str]:
        """Return the ids of drawn questions, for pages whose `sample` counts these."""
        if self.per is not None:
            return [row["id"] for row in self.per.draw_rows(spec, rows, self.seed, self.tags)]
        names = sorted(row["id"] for row in rows)
        return random.Random(self.seed).sample(names, min(self.sample, len(names)))  # noqa: S311 - no secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What a page is made of: a benchmark or task, its split and data, and what some kinds look at beside its rows."""

    name: str
    split: str | None = None
    data: Path | None = None
    beside: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """What is named beside the benchmark, under the option's name (`SOURCES`)."""


SOURCES = {
    "answers": ("the result whose answers are scored", KindName.SCORES),
    "made": ("the folder that `make discussion` wrote", KindName.PREFERENCE),
    "diagnosis": ("what `reelbench diagnose` wrote", KindName.NODES),
    "graphs": ("graphs.jsonl of `reelbench diagnose`", KindName.GRAPHS),
}
"""Option -> what it names, and the kind that looks at it."""


@dataclass(frozen=True, slots=True)
class Content:
    """What pages are made of, before it is said who gets what.

    `rows` has a row of each video, to find it; with `consensus` other raters' marks are shown, to
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
    """The rows that were drawn from a split, by video in the order of the draw; its seed decides on further orders."""

    spec: BenchmarkSpec
    split: str
    by_video: Mapping[str, Sequence[Row]]
    given: Sources
    seed: int = 0


class ReviewKind(ABC):
    """One kind of page; its words are those of `kinds.yaml`, but for what a class says itself."""

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
    asks: ClassVar[tuple[Part, ...]] = ()
    """What is asked of every item; of choices a saved file may have these values."""
    says: ClassVar[str] = ""
    """The ask whose answer is what one says of an item, where that is one."""
    known_by: ClassVar[str] = ""
    """What must be known of an item whose marks count."""

    def __init_subclass__(cls) -> None:
        for name, words in WORDS[cls.name].items():
            if name in ReviewKind.__annotations__ and name not in vars(cls):
                known = map(ask_of, words) if name == "asks" else words
                setattr(cls, name, words if isinstance(words, str) else tuple(known))

    def advise(self, spec: BenchmarkSpec) -> tuple[str, ...]:
        """Return the lines of advice, of searching what the benchmark's own people were told."""
        return tuple(
            WORDS["search"] if spec.people_search and line == self.video_alone else line
            for line in self.advice
        )

    def content(self, given: Sources, draw: Draw | None, only: Container[str] = ()) -> Content:
        """Draw videos with their questions; without a draw, return the questions `only`, each at a place of its own."""
        made = given.beside.get("made")
        located = loading.locate(
            given.name, given.split, made / FILES["discussion"] if made else given.data
        )
        spec, rows = located.spec, located.read()
        if draw is None:
            rows = [row for row in rows if row["id"] in only]
        elif draw.per is not None:
            rows = draw.per.draw_rows(spec, rows, draw.seed, draw.tags)
        by_video = rows_by_video(rows)
        if draw is not None:
            sample = len(by_video) if draw.per is not None else min(draw.sample, len(by_video))
            drawn = random.Random(draw.seed).sample(sorted(by_video), sample)  # noqa: S311 - no secret
            by_video = {video: by_video[video] for video in drawn}
        places = self.places(
            DrawnRows(spec, located.split, by_video, given, 0 if draw is None else draw.seed)
        )
        return Content(
            self, spec, located.split, places, {p.video: by_video[p.video][0] for p in places}
        )

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
        for ask in self.asks:
            name, found = ask["name"], marks.get(ask["name"])
            values = (
                ["ok", "bad"]
                if ask["type"] == "verdict"
                else [each["value"] for each in ask.get("options", ())]
            )
            if values and found not in (None, *values):
                raise InputError(
                    f"{where}.{name}: expected {', '.join(values)}; found {found!r:.60}"
                )
            if ask["type"] == "span" and found is not None:
                ends = found if isinstance(found, list) else []
                # Either of them may be open.
                if len(ends) != 2 or any(
                    end is not None and not (is_number(end) and end >= 0) for end in ends
                ):  # noqa: PLR2004
                    raise InputError(
                        f"{where}.{name}: expected [start, end] in seconds, found {found!r:.60}"
                    )

    def done(self, review: Review) -> int:
        """Return the number of items that a reviewer has finished, as the page counts them."""
        return sum(map(self.is_done, review.marks.values()))

    def is_done(self, marks: Marks) -> bool:
        """Whether one item's marks are complete."""
        return self.verdict_of(marks) is not None if self.says else bool(marks.keys() - {"note"})

    def verdict_of(self, marks: Marks) -> Hashable:
        """What one reviewer says of an item, as far as all must say the same; None for nothing."""
        return marks.get(self.says)

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether reviewers' marks of one item differ so that somebody must decide."""
        return len({self.verdict_of(marks) for marks in by_reviewer.values()} - {None}) > 1

    def is_open(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether an item stands on a consensus page."""
        return len(by_reviewer) > 1 and self.disagrees(by_reviewer)

    def verdicts_of_all(self, reviews: Reviews) -> dict[str, dict[str, Any]]:
        """Return id -> reviewer -> what that one says; InputError where nobody says anything."""
        about, given = reviews.items, dict[str, dict[str, Any]]()
        for name, by_reviewer in reviews.marks().items():
            said = {
                who: one
                for who, marks in by_reviewer.items()
                if (one := self.verdict_of(marks)) is not None
            }
            if said and (not self.known_by or self.known_by in about.get(name, {})):
                given[name] = said
        if not given:
            raise InputError(f"nothing is {self.verb} in these files yet")
        return given

    def settle(
        self, reviews: Reviews, given: Mapping[str, Mapping[str, Any]], *, majority: bool = False
    ) -> tuple[dict[str, Any], list[str]]:
        """Return id -> what was decided on it, or else what all say (or more than half); and the ids of all others."""
        settled, still_open = dict[str, Any](), list[str]()
        for name, said in given.items():
            [(one, most)] = Counter(said.values()).most_common(1)
            decided = self.verdict_of(reviews.decisions.get(name, {}))
            if decided is not None or (2 * most > len(said) if majority else most == len(said)):
                settled[name] = one if decided is None else decided
            else:
                still_open.append(name)
        return settled, still_open

    @abstractmethod
    def summarize(self, reviews: Reviews) -> "ReviewSummary":
        """Put reviewers' marks together; InputError where there are none."""


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
        return cls(
            fmean(given),
            len(given),
            krippendorff_alpha(units),
            sum(len(unit) > 1 for unit in units),
        )

    def document(self, twice: str) -> dict[str, Any]:
        """Return the figures for `--json`, the last under the name `twice`."""
        return {"mean": self.mean, "n": self.n, "alpha": self.alpha, twice: self.twice}


def choice_alpha(given: Iterable[Iterable[str]], values: Sequence[str]) -> float | None:
    """Return Krippendorff's alpha, nominal, of what people chose among `values`, item by item."""
    return krippendorff_alpha(
        [[values.index(one) for one in unit] for unit in given], level="nominal"
    )


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """What a kind makes of several reviewers' files."""

    kind: ReviewKind
    reviews: Reviews
    figures: dict[str, Any]
    """The kind's own part of the document of `--json`."""
    tables: list[Table]
    """What is printed."""
    write: Callable[[Path], str]
    """Writes what reviewers agreed on to a path, and returns a line that says what was written."""
    notes: list[str] = field(default_factory=list[str])
    """Lines for the user, printed after the tables."""

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
            **self.figures,
        }
