"""Human verification of a dataset, as MovieCORE's authors did it (appendix II.3, Figure S4 and Table S1).

`make` draws videos with all their questions and writes one page that works from the disk: it plays the videos from
where they lie, asks for ratings from 1 to 5, keeps them in the browser as they are given, and saves them to a file.
`summarize` merges the files of several reviewers.
"""

import hashlib
import json
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reelbench.judges.agreement import krippendorff_alpha
from reelbench.making.profile_rows import LETTERS
from reelbench.registry.data import loading
from reelbench.registry.errors import InputError, MediaError
from reelbench.registry.files import read_json, write_text
from reelbench.registry.media.library import Library
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec

KIND = "reelbench-review"
PARTS = ("caption", "question", "answer")
DIMENSIONS = {
    "caption": ("accuracy", "clarity", "depth"),
    "question": ("relevance", "clarity", "depth", "answerability"),
    "answer": ("relevance", "clarity", "depth", "answerability"),
}
"""What each part is rated on, each from 1 to 5."""
ORDER = ("accuracy", "clarity", "depth", "relevance", "answerability")
"""Rows of Table S1."""
LOW = 2.0
"""A mean at or below it is for another look, as MovieCORE's meta-reviewer took one."""

_SCALE = range(1, 6)
_PAGE = "review.html"
_DATA = "/*REVIEW*/null"


@dataclass(frozen=True, slots=True)
class Made:
    """A review page: where it is, what is on it, and the videos that are not here."""

    path: Path
    videos: int
    questions: int
    missing: tuple[str, ...]


class Review(BaseModel):
    """What the page saves: `ratings` is part -> id (a caption has its video's) -> dimension -> rating from 1 to 5."""

    model_config = ConfigDict(extra="forbid")

    kind: str
    schema_version: int
    page: str
    benchmark: str
    split: str
    reviewer: str
    saved: datetime
    ratings: dict[str, dict[str, dict[str, int]]]
    comments: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of Table S1: the mean of all ratings, how many, and the reviewers' agreement (None where undefined)."""

    mean: float
    n: int
    alpha: float | None
    rated_twice: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Several reviewers' ratings of one page: Table S1, and what they rated low (part, id, dimension, mean)."""

    benchmark: str
    split: str
    reviewers: tuple[str, ...]
    table: dict[str, dict[str, Cell]]
    low: tuple[tuple[str, str, str, float], ...]

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        table = {
            dimension: {
                part: {"mean": cell.mean, "n": cell.n, "alpha": cell.alpha, "rated_twice": cell.rated_twice}
                for part, cell in cells.items()
            }
            for dimension, cells in self.table.items()
        }
        low = [dict(zip(("part", "id", "dimension", "mean"), one, strict=True)) for one in self.low]
        return {
            "benchmark": self.benchmark,
            "split": self.split,
            "reviewers": list(self.reviewers),
            "table": table,
            "low": low,
        }


# --- the page ------------------------------------------------------------------------------------------------------


def make(
    name: str, output: Path, *, sample: int = 30, seed: int = 0, split: str | None = None, data: Path | None = None
) -> Made:
    """Draw `sample` videos (all, where there are fewer) with their questions, and write the page to `output`.

    A video is named by its path relative to the page where it lies beside or below it, else by its full path. The same
    data, sample and seed give the same page, so that reviewers of one draw can be merged.
    """
    located = loading.locate(name, split, data)
    spec, rows = located.spec, located.read()
    by_video: dict[str, list[Row]] = {}
    for row in rows:
        by_video.setdefault(row["video"], []).append(row)
    drawn = random.Random(seed).sample(sorted(by_video), min(sample, len(by_video)))  # noqa: S311 - no secret
    library = Library(spec, located.split)
    missing = []
    videos = []
    for key in drawn:
        some = by_video[key]
        path = _video(library, some[0])
        if path is None:
            missing.append(key)
        videos.append(
            {
                "video": key,
                "source": None if path is None else _address(path, output),
                "caption": next((row["caption"] for row in some if row.get("caption")), ""),
                "questions": [_question(spec, row) for row in some],
            }
        )
    # Where videos lie differs between reviewers' machines; what is reviewed doesn't.
    content = [{**video, "source": None} for video in videos]
    page = hashlib.sha256(json.dumps([spec.id, located.split, content], sort_keys=True).encode()).hexdigest()[:16]
    review = {
        "kind": KIND,
        "schema_version": 1,
        "page": page,
        "benchmark": spec.id,
        "title": spec.title,
        "split": located.split,
        "dimensions": DIMENSIONS,
        "videos": videos,
    }
    template = (resources.files("reelbench.making") / _PAGE).read_text(encoding="utf-8")
    # A text may hold "</script>" or a comment's start: neither may end the block that it stands in.
    inline = json.dumps(review, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")
    write_text(output, template.replace(_DATA, inline.replace("\u2029", "\\u2029")))
    return Made(output, len(videos), sum(len(by_video[key]) for key in drawn), tuple(missing))


def _video(library: Library, row: Row) -> Path | None:
    try:
        return library.clip(row)
    except MediaError:
        return None


def _address(path: Path, page: Path) -> str:
    path, folder = path.absolute(), page.absolute().parent
    if path.is_relative_to(folder):
        return quote(path.relative_to(folder).as_posix())
    return path.as_uri()


def _question(spec: BenchmarkSpec, row: Row) -> dict[str, Any]:
    found = {"id": row["id"], "language": row["language"], "question": row["question"], "answer": row["answer"]}
    if spec.row_kind != "open":
        right = LETTERS.index(row["answer"]) if row["answer"] else None
        found["answer"] = row["options"][right] if right is not None else ""
        found["others"] = [option for place, option in enumerate(row["options"]) if place != right]
    return found


# --- the reviews ---------------------------------------------------------------------------------------------------


def read_review(path: Path) -> Review:
    """Read a file that the page saved; InputError names the field that is wrong."""
    document = read_json(path)
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InputError(f"{path}: is not a review; give a file that a page of `reelbench review` saved")
    try:
        review = Review.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{path}, field {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if not review.reviewer.strip():
        raise InputError(f'{path}, field "reviewer": is empty; the page asks for a name')
    for part, identifier, dimension, rating in _ratings(review):
        if part not in PARTS or dimension not in DIMENSIONS[part] or rating not in _SCALE:
            raise InputError(
                f"{path}, field ratings.{part}.{identifier}.{dimension}: {rating!r} is not a rating from 1 to 5"
            )
    return review


def _ratings(review: Review) -> Iterator[tuple[str, str, str, int]]:
    for part, items in review.ratings.items():
        for identifier, dimensions in items.items():
            for dimension, rating in dimensions.items():
                yield part, identifier, dimension, rating


def summarize(paths: Sequence[Path]) -> Summary:
    """Merge reviewers' files; of two by one reviewer the one saved last counts.

    Raises:
        InputError: A file is not a review, or they are of different pages.
    """
    latest: dict[str, Review] = {}
    first: tuple[Path, Review] | None = None
    for path in paths:
        review = read_review(path)
        first = first or (path, review)
        if review.page != first[1].page:
            raise InputError(
                f"{path}: is of another page than {first[0]} ({review.benchmark} {review.split}, page {review.page}); "
                "summarize each page by itself"
            )
        known = latest.get(review.reviewer.strip())
        if known is None or review.saved > known.saved:
            latest[review.reviewer.strip()] = review
    if first is None:
        raise InputError("nothing to summarize: give the files that reviewers saved")
    given: dict[tuple[str, str], dict[str, list[int]]] = {}
    for review in latest.values():
        for part, identifier, dimension, rating in _ratings(review):
            given.setdefault((dimension, part), {}).setdefault(identifier, []).append(rating)
    if not given:
        raise InputError("nothing is rated in these files yet")
    table: dict[str, dict[str, Cell]] = {}
    low = []
    for dimension in ORDER:
        for part in PARTS:
            units = given.get((dimension, part))
            if not units:
                continue
            ratings = [rating for unit in units.values() for rating in unit]
            twice = sum(len(unit) > 1 for unit in units.values())
            alpha = krippendorff_alpha(units.values())
            table.setdefault(dimension, {})[part] = Cell(statistics.fmean(ratings), len(ratings), alpha, twice)
            low += [
                (part, identifier, dimension, mean)
                for identifier, unit in units.items()
                if (mean := statistics.fmean(unit)) <= LOW
            ]
    review = first[1]
    return Summary(review.benchmark, review.split, tuple(sorted(latest)), table, tuple(sorted(low)))
