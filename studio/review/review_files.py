"""Files that pages save: reading one, and putting several of one page together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictInt

from reelbench.registry.base_record import checked
from reelbench.registry.errors import InputError
from reelbench.studio.moment_pairs import WAGE
from reelbench.studio.review.kind_names import KindName

KIND = "reelbench-review"

Marks = dict[str, Any]
"""One item's answers, by the name of the ask."""


class Review(BaseModel):
    """What a page saves.

    `ratings` is part -> id (a caption has its video's) -> dimension -> rating from 1 to 5, `marks` of all other pages
    is id -> ask -> what was said, `seconds` is question (or video) -> time spent, `items` is id -> its `video` and, of
    question spans, its `answer_span`; `part` is the rater's number where there are several pages.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    schema_version: Literal[1]
    ask: KindName = KindName.RATINGS
    page: str
    part: int | None = None
    consensus: bool = False
    benchmark: str
    split: str
    reviewer: str
    saved: AwareDatetime
    total: int | None = None
    seconds: dict[str, float] = Field(default_factory=dict)
    items: dict[str, dict[str, Any]] = Field(default_factory=dict)
    ratings: dict[str, dict[str, dict[str, StrictInt]]] = Field(default_factory=dict)
    marks: dict[str, Marks] = Field(default_factory=dict)
    comments: dict[str, str] = Field(default_factory=dict)


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
    def items(self) -> dict[str, dict[str, Any]]:
        """Id -> what is known of the item."""
        return {name: about for review in self.reviews.values() for name, about in review.items.items()}

    def marks(self) -> dict[str, dict[str, Marks]]:
        """Return id -> reviewer -> marks, of the items that anybody marked, in the order of ids."""
        marks: dict[str, dict[str, Marks]] = {}
        for reviewer in self.reviewers:
            for name, given in self.reviews[reviewer].marks.items():
                marks.setdefault(name, {})[reviewer] = given
        return dict(sorted(marks.items()))


def parse_review(document: object, path: Path) -> Review:
    """Return a saved review, from its JSON; InputError names the field that is wrong."""
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InputError(f"{path}: is not a review; give a file that a page of `reelbench review` saved")
    review = checked(Review, document, str(path))
    if not review.reviewer.strip():
        raise InputError(f'{path}, field "reviewer": is empty; the page asks for a name')
    return review


def merge(
    files: Sequence[tuple[Path, Review]], ignored: dict[str, int], data: Path | None = None, wage: float = WAGE
) -> Reviews:
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
    decided: Review | None = None
    for path, review in files:
        if review.consensus:
            if (review.ask, review.benchmark, review.split) != (first.ask, first.benchmark, first.split):
                raise InputError(f"{path}: decides on {review.ask} of {review.benchmark} {review.split}, not on these")
            decided = review if decided is None or review.saved > decided.saved else decided
            continue
        if review.page != first.page or review.ask != first.ask:
            raise InputError(
                f"{path}: is of another page than {first_path} ({review.benchmark} {review.split}, page "
                f"{review.page}); summarize each page by itself"
            )
        key = review.reviewer.strip(), review.part
        if key not in latest or review.saved > latest[key].saved:
            latest[key] = review
    reviews: dict[str, Review] = {}
    for (name, _), review in sorted(latest.items(), key=lambda pair: pair[1].saved):
        reviews[name] = _joined(reviews[name], review) if name in reviews else review
    decisions = decided.marks if decided else {}
    return Reviews(first.ask, first.benchmark, first.split, reviews, decisions, ignored, data, wage)


def _joined(early: Review, late: Review) -> Review:
    """One person's two parts of a draw, as one: never two people who agree with each other."""
    return late.model_copy(
        update={
            "total": (early.total or 0) + (late.total or 0),
            **{name: getattr(early, name) | getattr(late, name) for name in ("seconds", "items", "marks", "comments")},
            "ratings": {
                part: early.ratings.get(part, {}) | late.ratings.get(part, {}) for part in early.ratings | late.ratings
            },
        }
    )
