"""Ratings of captions, questions and answers, merged as MovieCORE's authors do (appendix II.3).

And people's scores of a model's answers, on the judge's scale and blind to its scores, which
calibrate a judge.
"""

import random
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_text
from reelbench.base.text_tables import Table, csv_text, number
from reelbench.base.values import is_whole
from reelbench.judges.prompting import PromptSet, load_prompts
from reelbench.registry import discovery
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec
from reelbench.scoring import result_files
from reelbench.studio.data_files import from_papers
from reelbench.studio.review import KindName, review_kind
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.kept_rows import Decision, Verification, parse_decision, write_rows
from reelbench.studio.review.review_kind import (
    DrawnRows,
    Marks,
    Review,
    ReviewKind,
    Reviews,
    ReviewSummary,
)

LOWEST = 1
HIGHEST = 5
_WORDS = review_kind.WORDS[KindName.RATINGS]
DIMENSIONS: Mapping[str, Mapping[str, Sequence[str]]] = _WORDS["dimensions"]
"""Part of a row -> dimension (MovieCORE, Table S1) -> meaning of the lowest and highest rating."""
ORDER = ("accuracy", "clarity", "depth", "relevance", "answerability")
"""Rows of Table S1."""
LOW = 2
"""A rating at or below it, be it one reviewer's alone, deserves another look (Fig. S3)."""
_SHOWN = 10


# --- ratings
# -------------------------------------------------------------------------------------------------


class _LowRating(NamedTuple):
    """A low rating of a part on a dimension, with the mean of all."""

    part: str
    id: str
    dimension: str
    mean: float

    @property
    def decided_under(self) -> str:
        """The id under which it is decided on: a caption's own, else its question's."""
        if self.part == "caption":
            return f"caption {self.id}"
        return self.id


_RatingCells = dict[str, review_kind.ScaleFigures]
_RatingTable = dict[str, _RatingCells]
"""Dimension -> part -> figures."""


class Ratings(ReviewKind):
    """Each part of a row rated from 1 to 5 on several dimensions."""

    name = KindName.RATINGS

    def places(self, drawn: DrawnRows) -> list[parts.Place]:
        """Return one place a video: its caption, if it has one, and all its questions."""
        places: list[parts.Place] = []
        for video, rows in drawn.by_video.items():
            items: list[parts.Item] = []
            caption = _caption_of_rows(rows)
            if caption:
                shows = [parts.shown_text("Caption", caption)]
                scales = _rating_scales(drawn.spec, "caption")
                items.append(parts.review_item(video, video, shows, scales, part="caption"))
            for row in rows:
                items += self._row_items(drawn.spec, row)
            places.append(parts.Place(video, video, items))
        return places

    def _row_items(self, spec: BenchmarkSpec, row: Row) -> list[parts.Item]:
        """Return a row's question and, where it isn't hidden, its answer."""
        shown_question = parts.question_part(row)
        scales = _rating_scales(spec, "question")
        items = [parts.row_item(row, [shown_question], scales, "question")]
        answer = parts.right_answer(spec, row)
        if answer.right:
            shown_answer = parts.shown_text(
                "Answer", answer.right, row["language"], answer.wrong_options
            )
            scales = _rating_scales(spec, "answer")
            items.append(parts.row_item(row, [shown_answer], scales, "answer"))
        items[-1]["asks"].append(_WORDS["comment"])
        return items

    def check(self, review: Review, path: Path) -> None:
        """Check each rating against the dimensions of its part, and the decisions."""
        super().check(review, path)
        for (part, identifier), by_dimension in review.rated.items():
            for dimension, rating in by_dimension.items():
                is_ours = dimension in DIMENSIONS.get(part, ())
                is_on_scale = LOWEST <= rating <= HIGHEST
                if not is_ours or not is_on_scale:
                    raise InputError(
                        f"{path}, field ratings.{part}.{identifier}.{dimension}: "
                        f"{rating!r} is not a rating from {LOWEST} to {HIGHEST} of ours"
                    )

    def done(self, review: Review) -> int:
        """Return the number of parts with a rating on each of their dimensions."""
        return len(_fully_rated_parts(review))

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check the decision on a low rating."""
        super().check_marks(marks, where)
        parse_decision(marks, where)

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return Table S1, the low ratings, and the decisions on them.

        The paper's own table stands beside it where it has one.
        """
        table, low_ratings = merge_ratings(reviews)
        decisions: dict[str, Decision] = {}
        for name, marks in reviews.decisions.items():
            decision = parse_decision(marks, f"marks.{name}")
            if decision.kind is not None:
                decisions[name] = decision
        paper = from_papers("ratings")
        if paper["benchmark"] != reviews.benchmark:
            paper = None
        low_names = {low_rating.decided_under for low_rating in low_ratings}
        figures = {
            "table": _table_document(table),
            "low": [low_rating._asdict() for low_rating in low_ratings],
            "decisions": {name: decision.kind for name, decision in decisions.items()},
            "published": paper,
        }
        tables = [_table_s1(reviews, table, paper)]
        undecided = low_names - decisions.keys()
        notes = _rating_notes(low_ratings, len(undecided))
        write = partial(_write_verified, reviews, low_names, decisions)
        return ReviewSummary(self, reviews, figures, tables, write, notes)


RATINGS = Ratings()


class Rated(NamedTuple):
    """The table of all ratings, and the low ones by part and id."""

    table: _RatingTable
    low: list[_LowRating]


def merge_ratings(reviews: Reviews) -> Rated:
    """Merge people's ratings.

    Raises:
        InputError: Nothing is rated.
    """
    ratings: dict[tuple[str, str], dict[str, list[int]]] = {}
    for review in reviews.reviews.values():
        for (part, identifier), by_dimension in review.rated.items():
            for dimension, rating in by_dimension.items():
                by_item = ratings.setdefault((dimension, part), {})
                by_item.setdefault(identifier, []).append(rating)
    if not ratings:
        raise InputError("nothing is rated in these files yet")
    table: _RatingTable = {}
    low_ratings: list[_LowRating] = []
    for dimension, part in product(ORDER, DIMENSIONS):
        by_item = ratings.get((dimension, part))
        if not by_item:
            continue
        cells = table.setdefault(dimension, {})
        cells[part] = review_kind.ScaleFigures.of(by_item.values())
        for identifier, item_ratings in by_item.items():
            if min(item_ratings) <= LOW:
                mean = statistics.fmean(item_ratings)
                low_ratings.append(_LowRating(part, identifier, dimension, mean))
    return Rated(table, sorted(low_ratings))


def _table_document(table: _RatingTable) -> dict[str, dict[str, Any]]:
    document: dict[str, dict[str, Any]] = {}
    for dimension, cells in table.items():
        parts_document: dict[str, Any] = {}
        for part, cell in cells.items():
            parts_document[part] = cell.document("rated_twice")
        document[dimension] = parts_document
    return document


def _table_s1(reviews: Reviews, table: _RatingTable, paper: Mapping[str, Any] | None) -> Table:
    rows: list[tuple[str, ...]] = []
    for dimension, cells in table.items():
        row = [dimension]
        for part in DIMENSIONS:
            row.append(_cell_in_words(cells.get(part)))
        if paper:
            means = paper["means"][dimension]
            for part in DIMENSIONS:
                row.append(number(means.get(part), 1))
        rows.append(tuple(row))
    columns = ["#captions", "#questions", "#answers"]
    title = f"{reviews.heading}: mean (Krippendorff's alpha)"
    if paper:
        columns += [f"{name} (paper)" for name in columns]
        title += f"; the paper's: {paper['cite']}, {paper['by']}"
    return Table(title, ("dimension", *columns), rows)


def _cell_in_words(cell: review_kind.ScaleFigures | None) -> str:
    if cell is None:
        return "–"
    if cell.alpha is None:
        return f"{cell.mean:.1f}"
    return f"{cell.mean:.1f} ({cell.alpha:.2f})"


def _rating_notes(low_ratings: Sequence[_LowRating], undecided: int) -> list[str]:
    notes: list[str] = []
    for part, identifier, dimension, mean in low_ratings[:_SHOWN]:
        notes.append(f"rated low: {part} {identifier}, {dimension}, mean {mean:.1f}")
    more = len(low_ratings) - _SHOWN
    if more > 0:
        notes.append(f"and {more} more rated low; --json lists all")
    if undecided:
        notes.append(
            f"{undecided} of these are undecided: "
            "review page … --consensus FILES writes a page to decide"
        )
    return notes


def low_places(
    spec: BenchmarkSpec, by_video: Mapping[str, Sequence[Row]], reviews: Reviews
) -> list[parts.Place]:
    """Return the low-rated items, to be kept, dropped or edited.

    So did MovieCORE's meta-reviewer (Figure S3). Question and answer are decided on together, under
    the question's id, a caption under `caption` and its video.
    """
    words_by_name = _low_ratings_in_words(reviews)
    places: list[parts.Place] = []
    for video, rows in by_video.items():
        caption_texts = {"caption": _caption_of_rows(rows)}
        texts_by_name = {f"caption {video}": caption_texts}
        for row in rows:
            answer = parts.right_answer(spec, row)
            texts_by_name[row["id"]] = {
                "question": row["question"],
                "answer": answer.right,
            }
        for name, texts in texts_by_name.items():
            if name in words_by_name:
                item = _low_item(name, video, texts, words_by_name[name])
                places.append(parts.Place(video, name, [item]))
    return places


def _low_ratings_in_words(reviews: Reviews) -> dict[str, list[str]]:
    """Return the low ratings and all comments, by the id of the decision."""
    ratings_by_reviewer = {name: reviews.reviews[name].rated for name in reviews.reviewers}
    words_by_name: dict[str, list[str]] = {}
    for low_rating in merge_ratings(reviews).low:
        reviewers_ratings: list[str] = []
        for reviewer, ratings in ratings_by_reviewer.items():
            by_dimension = ratings.get((low_rating.part, low_rating.id), {})
            rating = by_dimension.get(low_rating.dimension)
            if rating is not None:
                reviewers_ratings.append(f"{reviewer} {rating}")
        subject = f"{low_rating.part}, {low_rating.dimension}"
        all_ratings = ", ".join(reviewers_ratings)
        words = f"{subject}: {low_rating.mean:.1f} ({all_ratings})"
        words_by_name.setdefault(low_rating.decided_under, []).append(words)
    for reviewer in reviews.reviewers:
        comments = reviews.reviews[reviewer].comments
        for name, lines in words_by_name.items():
            comment = comments.get(name.removeprefix("caption "))
            if comment:
                lines.append(f"{reviewer}: {comment}")
    return words_by_name


def _low_item(name: str, video: str, texts: Mapping[str, str], words: list[str]) -> parts.Item:
    """Return a low-rated item with its texts, which can be edited."""
    decision, note = RATINGS.asks
    shows: list[parts.Part] = []
    edits: list[parts.Part] = []
    for part, text in texts.items():
        heading = parts.capitalised(part)
        shows.append(parts.shown_text(heading, text))
        edit: parts.Part = {
            "type": "text",
            "rows": 3,
            "optional": True,
            "name": part,
            "title": f"{heading}, edited",
            "start": text,
        }
        edits.append(edit)
    shows.append(parts.shown_text("Rated low", "", below=words))
    return parts.review_item(name, video, shows, [decision, *edits, note])


def _caption_of_rows(rows: Iterable[Row]) -> str:
    """Return the caption of a video's rows.

    It is "" where none has it.
    """
    for row in rows:
        if row.get("caption"):
            return row["caption"]
    return ""


def _rating_scales(spec: BenchmarkSpec, part: str) -> list[parts.Part]:
    ends_by_dimension = dict(DIMENSIONS[part])
    if spec.people_search and part != "caption":
        ends_by_dimension["answerability"] = _WORDS["searched"]
    scales: list[parts.Part] = []
    for dimension, (lowest, highest) in ends_by_dimension.items():
        anchors = {LOWEST: lowest, HIGHEST: highest}
        scales.append(parts.scale_ask(dimension, LOWEST, HIGHEST, anchors))
    return scales


_PartOfRow = tuple[str, str]
"""A part, and the id of its row (a caption's video)."""


def _fully_rated_parts(review: Review) -> set[_PartOfRow]:
    """Return the parts, with ids, that a reviewer rated on all their dimensions."""
    whole: set[_PartOfRow] = set()
    for (part, identifier), by_dimension in review.rated.items():
        dimensions = DIMENSIONS[part]
        if dimensions.keys() <= by_dimension.keys():
            whole.add((part, identifier))
    return whole


def _write_verified(
    reviews: Reviews,
    low_names: Collection[str],
    decisions: Mapping[str, Decision],
    path: Path,
) -> str:
    """Write the data without dropped rows and with edited ones.

    Each row gets `verified`. It is verified where people rated both its question and its answer,
    and rated none of it low or decided to keep or edit it. A row that nobody rated, or that is low
    and undecided, stays unverified.
    """
    whole: set[_PartOfRow] = set()
    for review in reviews.reviews.values():
        whole |= _fully_rated_parts(review)
    dropped: dict[str, str] = {}
    changes: dict[str, dict[str, Any]] = {}
    for name, decision in decisions.items():
        if name.startswith("caption "):
            if decision.kind != "keep":
                changes[name] = {"caption": decision.edits.get("caption", "")}
        elif decision.kind == "drop":
            dropped[name] = "by_people"
        elif decision.edits:
            changes[name] = dict(decision.edits)
    verified: set[str] = set()
    for part, name in whole:
        is_whole_row = part == "question" and ("answer", name) in whole
        is_good = name not in low_names or name in decisions
        if is_whole_row and is_good and name not in dropped:
            verified.add(name)
    return write_rows(path, reviews, Verification(verified, dropped, changes))


# --- scores
# -------------------------------------------------------------------------------------------------

_ScoresByItem = dict[str, list[float]]
_Scores = dict[str, _ScoresByItem]
"""Criterion -> item -> people's scores."""


class JudgeScores(ReviewKind):
    """A result's answers, scored on the judge's scale."""

    name = KindName.SCORES

    def places(self, drawn: DrawnRows) -> list[parts.Place]:
        """Return the result's answers to the drawn videos' questions, shuffled by the seed."""
        spec = drawn.spec
        if spec.judge is None:
            raise InputError(f"{spec.id}: has no judged metric; scores are of judged answers")
        folder = result_files.folder_of_one(drawn.sources.beside["answers"])
        benchmark = result_files.read(folder).benchmark
        answered = f"{benchmark.id} {benchmark.split}"
        reviewed = f"{spec.id} {drawn.split}"
        if answered != reviewed:
            raise InputError(f"{folder}: a result on {answered}, not on {reviewed}")
        samples = result_files.read_samples(folder)
        predictions = {sample.id: sample.prediction for sample in samples}
        prompts = load_prompts(spec, "reelbench")
        places: list[parts.Place] = []
        for rows in drawn.by_video.values():
            for row in rows:
                name = row["id"]
                answer = predictions.get(name)
                if isinstance(answer, str) and answer.strip():
                    item = score_item(spec.judge, prompts, row, answer)
                    place = parts.Place(row["video"], name, [item])
                    places.append(place)
        if not places:
            raise InputError(
                f"{folder}: has no answer to the questions that were drawn; "
                "draw more videos (--sample)"
            )
        random.Random(drawn.seed).shuffle(places)  # noqa: S311 - no secret
        return places

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Return True where people's scores differ on any criterion."""
        first_scores: dict[str, object] = {}
        for marks in by_reviewer.values():
            for name, score in marks.items():
                if name != "note" and first_scores.setdefault(name, score) != score:
                    return True
        return False

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return each criterion's figures.

        Written is a CSV file of `id`, the mean `score` and, where there are several, `criterion`.

        Raises:
            InputError: A score is off the scale.
        """
        judge = discovery.get(reviews.benchmark).judge
        if judge is None:
            raise InputError(f"{reviews.benchmark}: has no judged metric")
        scores = _checked_scores(reviews, judge)
        figures: dict[str, Any] = {}
        rows: list[tuple[str, ...]] = []
        means: dict[tuple[str, str], float] = {}
        items: set[str] = set()
        for name in judge.criteria:
            by_item = scores.get(name)
            if by_item is None:
                continue
            scale = review_kind.ScaleFigures.of(by_item.values())
            figures[name] = scale.document("scored_twice")
            row = (
                name,
                number(scale.mean),
                str(scale.n),
                number(scale.alpha),
            )
            rows.append(row)
            items |= by_item.keys()
            for item, item_scores in by_item.items():
                mean = statistics.fmean(item_scores)
                decision = reviews.decisions.get(item, {})
                means[item, name] = float(decision.get(name, mean))
        columns = ("criterion", "#mean", "#n", "#Krippendorff's alpha")
        table = Table(f"{reviews.heading}, {len(items)} answers", columns, rows)
        document = {"criteria": figures, "items": len(items)}
        write = partial(_write_scores, means, several=len(judge.criteria) > 1)
        return ReviewSummary(self, reviews, document, [table], write)


SCORES = JudgeScores()


def _checked_scores(reviews: Reviews, judge: JudgeSpec) -> _Scores:
    scores: _Scores = {}
    for identifier, by_reviewer in reviews.marks().items():
        for reviewer, marks in by_reviewer.items():
            for name, score in marks.items():
                if name == "note":
                    continue
                if name not in judge.criteria or not _is_on_scale(score, judge):
                    criteria = ", ".join(judge.criteria)
                    raise InputError(
                        f"{reviewer}'s file, field marks.{identifier}.{name}: {score!r:.40} "
                        f"is not a score from {judge.low} to {judge.high} on {criteria}"
                    )
                by_item = scores.setdefault(name, {})
                by_item.setdefault(identifier, []).append(score)
    if not scores:
        raise InputError("nothing is scored in these files yet")
    return scores


def _is_on_scale(score: object, judge: JudgeSpec) -> bool:
    return is_whole(score) and judge.low <= score <= judge.high


def _write_scores(means: Mapping[tuple[str, str], float], path: Path, *, several: bool) -> str:
    """Write the means by item and criterion.

    One criterion has no column.
    """
    rows: list[tuple[str, ...]] = [("id", "score")]
    if several:
        rows = [("id", "score", "criterion")]
    for (item, criterion), mean in sorted(means.items()):
        row = (item, f"{mean:g}")
        if several:
            rows.append((*row, criterion))
        else:
            rows.append(row)
    write_text(path, csv_text(rows))
    scores = number_of(len(means), "score")
    return f"{scores} written to {path}"


def score_item(judge: JudgeSpec, prompts: PromptSet, row: Row, answer: str) -> parts.Item:
    """Return a model's answer as an item to score on the judge's scale.

    Nothing of the judge's own score is in it. The meanings of scores are those in `prompts`: people
    and judge go by one rubric.
    """
    shows = [
        parts.question_part(row),
        parts.shown_text("Reference", row["answer"], row["language"]),
        parts.shown_text("The model's answer", answer, row["language"]),
    ]
    asks: list[parts.Part] = []
    for name in judge.criteria:
        anchors = prompts.anchors(name)
        asks.append(parts.scale_ask(name, judge.low, judge.high, anchors))
    return parts.row_item(row, shows, asks)
