"""Ratings of captions, questions and answers, merged as MovieCORE's authors merge theirs (appendix II.3, Table S1).

And people's scores of a model's answers, on the judge's scale and blind to its scores: what
calibrates a judge.
"""

import random
import statistics
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

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
from reelbench.studio.review.kept_rows import Verification, parse_decision, write_rows
from reelbench.studio.review.review_kind import (
    DrawnRows,
    Marks,
    Review,
    ReviewKind,
    Reviews,
    ReviewSummary,
)

LOWEST, HIGHEST = 1, 5
DIMENSIONS: Mapping[str, Mapping[str, Sequence[str]]] = review_kind.WORDS[KindName.RATINGS][
    "dimensions"
]
"""Part of a row -> what it is rated on (MovieCORE, Table S1) -> what the lowest and the highest rating mean."""
ORDER = ("accuracy", "clarity", "depth", "relevance", "answerability")
"""Rows of Table S1."""
LOW = 2
"""A rating at or below it, be it one reviewer's alone, deserves another look, as MovieCORE's authors took (Fig. S3)."""
_SHOWN = 10


class Ratings(ReviewKind):
    """Each part of a row rated from 1 to 5 on several dimensions."""

    name = KindName.RATINGS

    def places(self, drawn: DrawnRows) -> list[parts.Place]:
        """Return one place a video: its caption, if it has one, and all its questions."""
        places = []
        for video, rows in drawn.by_video.items():
            items = []
            if caption := next((row["caption"] for row in rows if row.get("caption")), ""):
                shown = [parts.shown_text("Caption", caption)]
                items.append(
                    parts.review_item(
                        video, video, shown, _scales(drawn.spec, "caption"), part="caption"
                    )
                )
            for row in rows:
                right, others = parts.right_answer(drawn.spec, row)
                texts = {"question": parts.question_part(row)}
                if right:
                    texts["answer"] = parts.shown_text("Answer", right, row["language"], others)
                items += [
                    parts.row_item(row, [text], _scales(drawn.spec, part), part)
                    for part, text in texts.items()
                ]
                items[-1]["asks"].append(review_kind.WORDS[self.name]["comment"])
            places.append(parts.Place(video, video, items))
        return places

    def check(self, review: Review, path: Path) -> None:
        """Check that each rating is one of a dimension that its part has; and decisions."""
        super().check(review, path)
        for (part, identifier), given in review.rated.items():
            for dimension, rating in given.items():
                if dimension not in DIMENSIONS.get(part, ()) or not LOWEST <= rating <= HIGHEST:
                    raise InputError(
                        f"{path}, field ratings.{part}.{identifier}.{dimension}: {rating!r} is not a rating from "
                        f"{LOWEST} to {HIGHEST} of ours"
                    )

    def done(self, review: Review) -> int:
        """Return the number of parts with a rating on each of their dimensions."""
        return sum(
            DIMENSIONS[part].keys() <= given.keys() for (part, _), given in review.rated.items()
        )

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check what was decided on a low rating."""
        super().check_marks(marks, where)
        parse_decision(marks, where)

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return Table S1, the paper's own beside it where it has any, and what was rated low and decided on it."""
        table, low = rated(reviews)
        decided: dict[str, tuple[str, dict[str, str]]] = {}
        for name, marks in reviews.decisions.items():
            decision, edits = parse_decision(marks, f"marks.{name}")
            if decision is not None:
                decided[name] = decision, edits
        paper = from_papers("ratings")
        paper = paper if paper["benchmark"] == reviews.benchmark else None
        rows = []
        for dimension, cells in table.items():
            shown = []
            for part in DIMENSIONS:
                cell = cells.get(part)
                alpha = "" if cell is None or cell.alpha is None else f" ({cell.alpha:.2f})"
                shown.append("–" if cell is None else f"{cell.mean:.1f}{alpha}")
            theirs = (
                [number(paper["means"][dimension].get(part), 1) for part in DIMENSIONS]
                if paper
                else []
            )
            rows.append((dimension, *shown, *theirs))
        columns = ["#captions", "#questions", "#answers"]
        title = f"{reviews.heading}: mean (Krippendorff's alpha)"
        if paper:
            columns += [f"{name} (paper)" for name in columns]
            title += f"; the paper's: {paper['cite']}, {paper['by']}"
        notes = [
            f"rated low: {part} {item}, {name}, mean {mean:.1f}"
            for part, item, name, mean in low[:_SHOWN]
        ]
        if len(low) > _SHOWN:
            notes.append(f"and {len(low) - _SHOWN} more rated low; --json lists all")
        low_names = {_decided_under(part, item) for part, item, *_ in low}
        if undecided := len(low_names - decided.keys()):
            notes.append(
                f"{undecided} of these are undecided: review page … --consensus FILES writes a page to decide"
            )
        figures = {
            "table": {
                dimension: {part: cell.document("rated_twice") for part, cell in cells.items()}
                for dimension, cells in table.items()
            },
            "low": [
                dict(zip(("part", "id", "dimension", "mean"), row, strict=True)) for row in low
            ],
            "decisions": {name: decision for name, (decision, _) in decided.items()},
            "published": paper,
        }
        write = partial(_write_verified, reviews, low_names, decided)
        return ReviewSummary(
            self, reviews, figures, [Table(title, ("dimension", *columns), rows)], write, notes
        )


RATINGS = Ratings()


def rated(
    reviews: Reviews,
) -> tuple[dict[str, dict[str, review_kind.ScaleFigures]], list[tuple[str, str, str, float]]]:
    """Return dimension -> part -> figures, and what somebody rated low: part, id, dimension, mean of all.

    InputError where nothing is rated.
    """
    given: dict[tuple[str, str], dict[str, list[int]]] = {}
    for review in reviews.reviews.values():
        for (part, identifier), by_dimension in review.rated.items():
            for dimension, rating in by_dimension.items():
                given.setdefault((dimension, part), {}).setdefault(identifier, []).append(rating)
    if not given:
        raise InputError("nothing is rated in these files yet")
    table: dict[str, dict[str, review_kind.ScaleFigures]] = {}
    low = []
    for dimension in ORDER:
        for part in DIMENSIONS:
            if units := given.get((dimension, part)):
                table.setdefault(dimension, {})[part] = review_kind.ScaleFigures.of(units.values())
                low += [
                    (part, identifier, dimension, statistics.fmean(unit))
                    for identifier, unit in units.items()
                    if min(unit) <= LOW
                ]
    return table, sorted(low)


def _decided_under(part: str, item: str) -> str:
    """Return the id under which a part is decided on: a caption's own, else its question's."""
    return f"caption {item}" if part == "caption" else item


def low_places(
    spec: BenchmarkSpec, by_video: Mapping[str, Sequence[Row]], reviews: Reviews
) -> list[parts.Place]:
    """Return the low-rated items, to be kept, dropped or edited, as MovieCORE's meta-reviewer did (Figure S3).

    Question and answer are decided on together, under the question's id, a caption under `caption`
    and its video.
    """
    said: dict[str, list[str]] = {}
    ratings = {who: reviews.reviews[who].rated for who in reviews.reviewers}
    for part, identifier, dimension, mean in rated(reviews)[1]:
        items = [(who, of.get((part, identifier), {})) for who, of in ratings.items()]
        given = [
            f"{who} {by_dimension[dimension]}"
            for who, by_dimension in items
            if dimension in by_dimension
        ]
        name = _decided_under(part, identifier)
        said.setdefault(name, []).append(f"{part}, {dimension}: {mean:.1f} ({', '.join(given)})")
    for who, review in sorted(reviews.reviews.items()):
        for name, lines in said.items():
            if comment := review.comments.get(name.removeprefix("caption ")):
                lines.append(f"{who}: {comment}")
    places = []
    for video, rows in by_video.items():
        texts = {
            f"caption {video}": {
                "caption": next((row["caption"] for row in rows if row.get("caption")), "")
            }
        }
        texts |= {
            row["id"]: {"question": row["question"], "answer": parts.right_answer(spec, row)[0]}
            for row in rows
        }
        for name in [name for name in texts if name in said]:
            shows = [
                parts.shown_text(parts.capitalised(part), text)
                for part, text in texts[name].items()
            ]
            shows.append(parts.shown_text("Rated low", "", others=said[name]))
            decision, note = RATINGS.asks
            field = {"type": "text", "rows": 3, "optional": True}
            edits = [
                {
                    **field,
                    "name": part,
                    "title": f"{parts.capitalised(part)}, edited",
                    "start": text,
                }
                for part, text in texts[name].items()
            ]
            item = parts.review_item(name, video, shows, [decision, *edits, note])
            places.append(parts.Place(video, name, [item]))
    return places


def _scales(spec: BenchmarkSpec, part: str) -> list[parts.Part]:
    ends = dict(DIMENSIONS[part])
    if spec.people_search and part != "caption":
        ends["answerability"] = review_kind.WORDS[KindName.RATINGS]["searched"]
    return [
        parts.scale_ask(name, LOWEST, HIGHEST, {LOWEST: lowest, HIGHEST: highest})
        for name, (lowest, highest) in ends.items()
    ]


def _write_verified(
    reviews: Reviews,
    low: Collection[str],
    decided: Mapping[str, tuple[str, dict[str, str]]],
    path: Path,
) -> str:
    """Write the data without what was dropped and with what was edited; `verified` in each row.

    A row is verified where people rated both its question and its answer, and rated none of it low
    or decided to keep or edit it. What nobody rated, and what is low and undecided, stays
    unverified.
    """
    whole = [
        {
            name
            for review in reviews.reviews.values()
            for (of, name), given in review.rated.items()
            if of == part and DIMENSIONS[part].keys() <= given.keys()
        }
        for part in ("question", "answer")
    ]
    asked = {name: outcome for name, outcome in decided.items() if not name.startswith("caption ")}
    dropped = {name: "by_people" for name, (decision, _) in asked.items() if decision == "drop"}
    verified = {
        name for name in whole[0] & whole[1] if name not in low or name in asked
    } - dropped.keys()
    changes: dict[str, dict[str, Any]] = {
        name: dict(edits) for name, (_, edits) in asked.items() if edits
    }
    for name, (decision, edits) in decided.items():
        if name.startswith("caption ") and decision != "keep":
            changes[name] = {"caption": edits.get("caption", "")}
    return write_rows(path, reviews, Verification(verified, dropped, changes))


class JudgeScores(ReviewKind):
    """A result's answers, scored on the judge's scale."""

    name = KindName.SCORES

    def places(self, drawn: DrawnRows) -> list[parts.Place]:
        """Return the result's answers to the drawn videos' questions, in an order that the seed shuffles."""
        spec = drawn.spec
        if spec.judge is None:
            raise InputError(f"{spec.id}: has no judged metric; scores are of judged answers")
        folder = result_files.folder_of_one(drawn.given.beside["answers"])
        benchmark = result_files.read(folder).benchmark
        if (benchmark.id, benchmark.split) != (spec.id, drawn.split):
            raise InputError(
                f"{folder}: a result on {benchmark.id} {benchmark.split}, not on {spec.id} {drawn.split}"
            )
        predictions = {sample.id: sample.prediction for sample in result_files.read_samples(folder)}
        prompts = load_prompts(spec, "reelbench")
        places = [
            parts.Place(row["video"], row["id"], [score_item(spec.judge, prompts, row, text)])
            for rows in drawn.by_video.values()
            for row in rows
            if isinstance(text := predictions.get(row["id"]), str) and text.strip()
        ]
        if not places:
            raise InputError(
                f"{folder}: has no answer to the questions that were drawn; draw more videos (--sample)"
            )
        random.Random(drawn.seed).shuffle(places)  # noqa: S311 - no secret
        return places

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether people's scores differ on any criterion."""
        names = {name for marks in by_reviewer.values() for name in marks} - {"note"}
        return any(
            len({marks[name] for marks in by_reviewer.values() if name in marks}) > 1
            for name in names
        )

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return each criterion's figures; InputError where a score is off the scale.

        Written is a CSV file of `id`, the mean `score` and, where there are several, `criterion`.
        """
        judge = discovery.get(reviews.benchmark).judge
        if judge is None:
            raise InputError(f"{reviews.benchmark}: has no judged metric")
        given: dict[str, dict[str, list[float]]] = {}
        for identifier, by_reviewer in reviews.marks().items():
            for who, marks in by_reviewer.items():
                for name, score in marks.items():
                    if name == "note":
                        continue
                    if (
                        name not in judge.criteria
                        or not is_whole(score)
                        or not judge.low <= score <= judge.high
                    ):
                        raise InputError(
                            f"{who}'s file, field marks.{identifier}.{name}: {score!r:.40} is not a score from "
                            f"{judge.low} to {judge.high} on {', '.join(judge.criteria)}"
                        )
                    given.setdefault(name, {}).setdefault(identifier, []).append(score)
        if not given:
            raise InputError("nothing is scored in these files yet")
        criteria = {
            name: review_kind.ScaleFigures.of(given[name].values())
            for name in judge.criteria
            if name in given
        }
        means = {  # what was decided, else the mean of people
            (item, name): float(reviews.decisions.get(item, {}).get(name, statistics.fmean(unit)))
            for name in judge.criteria
            for item, unit in given.get(name, {}).items()
        }
        items = len({item for item, _ in means})
        figures = {name: scores.document("scored_twice") for name, scores in criteria.items()}
        rows = [
            (name, number(found.mean), str(found.n), number(found.alpha))
            for name, found in criteria.items()
        ]
        columns = ("criterion", "#mean", "#n", "#Krippendorff's alpha")
        table = Table(f"{reviews.heading}, {items} answers", columns, rows)
        several = len(judge.criteria) > 1

        def write(path: Path) -> str:
            rows = [(item, f"{score:g}", name) for (item, name), score in sorted(means.items())]
            write_text(
                path,
                csv_text(
                    row[: 3 if several else 2] for row in [("id", "score", "criterion"), *rows]
                ),
            )
            return f"{number_of(len(means), 'score')} written to {path}"

        return ReviewSummary(self, reviews, {"criteria": figures, "items": items}, [table], write)


SCORES = JudgeScores()


def score_item(judge: JudgeSpec, prompts: PromptSet, row: Row, answer: str) -> parts.Item:
    """Return a model's answer as an item to score on the judge's scale; nothing of the judge's own score is in it.

    What a score means is what `prompts` tells the judge: people and judge go by one rubric.
    """
    shows = [
        parts.question_part(row),
        parts.shown_text("Reference", row["answer"], row["language"]),
        parts.shown_text("The model's answer", answer, row["language"]),
    ]
    asks = [
        parts.scale_ask(name, judge.low, judge.high, prompts.anchors(name))
        for name in judge.criteria
    ]
    return parts.row_item(row, shows, asks)
