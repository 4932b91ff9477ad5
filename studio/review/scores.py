"""People's scores of a model's answers, on the judge's scale and blind to its scores: what calibrates a judge.

`ScoreSummary.write` makes the file that `judge agree` and `judge calibrate` read.
"""

import csv
import io
import random
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.judges.prompting import PromptSet, load_prompts
from reelbench.registry import discovery
from reelbench.registry.errors import InputError, number_of
from reelbench.registry.files import write_text
from reelbench.registry.rows import Row
from reelbench.registry.spec import JudgeSpec
from reelbench.registry.text_tables import Table, number
from reelbench.registry.values import is_whole
from reelbench.scoring import result_files
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.kind_names import KindName
from reelbench.studio.review.review_files import Marks, Reviews
from reelbench.studio.review.review_items import Item, Place
from reelbench.studio.review.review_kind import DrawnRows, ReviewKind, ReviewSummary, ScaleFigures


class JudgeScores(ReviewKind):
    """A result's answers, scored on the judge's scale."""

    name = KindName.SCORES
    title = "Scores"
    verb = "scored"
    source = "result"
    advice = (
        "Score the model's answer against the reference. Each scale means what the judge is told that it means.",
        "Score each dimension by itself: a wrong answer may be coherent, and a right one shallow.",
        "Watch the video where the reference alone doesn't settle it.",
    )

    def places(self, drawn: DrawnRows) -> list[Place]:
        """Return the result's answers to the drawn videos' questions, in an order that the seed shuffles."""
        spec, answers = drawn.spec, drawn.answers
        if spec.judge is None:
            raise InputError(f"{spec.id}: has no judged metric; scores are of judged answers")
        assert answers is not None  # noqa: S101 - the draw was checked
        folder = result_files.folder_of_one(answers)
        benchmark = result_files.read(folder).benchmark
        if (benchmark.id, benchmark.split) != (spec.id, drawn.split):
            raise InputError(f"{folder}: a result on {benchmark.id} {benchmark.split}, not on {spec.id} {drawn.split}")
        predictions = {sample.id: sample.prediction for sample in result_files.read_samples(folder)}
        prompts = load_prompts(spec, "reelbench")
        places = [
            Place(row["video"], row["id"], [score_item(spec.judge, prompts, row, text)])
            for rows in drawn.by_video.values()
            for row in rows
            if isinstance(text := predictions.get(row["id"]), str) and text.strip()
        ]
        if not places:
            raise InputError(f"{folder}: has no answer to the questions that were drawn; draw more videos (--sample)")
        random.Random(drawn.seed).shuffle(places)  # noqa: S311 - no secret
        return places

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether people's scores differ on any criterion."""
        names = {name for marks in by_reviewer.values() for name in marks} - {"note"}
        return any(len({marks[name] for marks in by_reviewer.values() if name in marks}) > 1 for name in names)

    def summarize(self, reviews: Reviews) -> "ScoreSummary":
        """Put scores together; InputError where nothing is scored, or a score is off the scale."""
        judge = discovery.get(reviews.benchmark).judge
        if judge is None:
            raise InputError(f"{reviews.benchmark}: has no judged metric")
        given: dict[str, dict[str, list[float]]] = {}
        for identifier, by_reviewer in reviews.marks().items():
            for who, marks in by_reviewer.items():
                for name, score in marks.items():
                    if name == "note":
                        continue
                    if name not in judge.criteria or not is_whole(score) or not judge.low <= score <= judge.high:
                        raise InputError(
                            f"{who}'s file, field marks.{identifier}.{name}: {score!r:.40} is not a score from "
                            f"{judge.low} to {judge.high} on {', '.join(judge.criteria)}"
                        )
                    given.setdefault(name, {}).setdefault(identifier, []).append(score)
        if not given:
            raise InputError("nothing is scored in these files yet")
        criteria = {name: ScaleFigures.of(given[name].values()) for name in judge.criteria if name in given}
        means = {
            (item, name): float(reviews.decisions.get(item, {}).get(name, statistics.fmean(unit)))
            for name in judge.criteria
            for item, unit in given.get(name, {}).items()
        }
        return ScoreSummary(self, reviews, judge, criteria, means)


SCORES = JudgeScores()


def score_item(judge: JudgeSpec, prompts: PromptSet, row: Row, answer: str) -> Item:
    """Return a model's answer as an item to score on the judge's scale; nothing of the judge's own score is in it.

    What a score means is what `prompts` tells the judge: people and judge go by one rubric.
    """
    shows = [
        parts.shown_question(row),
        parts.shown_text("Reference", row["answer"], row["language"]),
        parts.shown_text("The model's answer", answer, row["language"]),
    ]
    asks = [parts.scale_ask(name, judge.low, judge.high, prompts.anchors(name)) for name in judge.criteria]
    return parts.row_item(row, shows, asks)


@dataclass(frozen=True)
class ScoreSummary(ReviewSummary):
    """Everybody's scores: criterion -> statistics, and (id, criterion) -> what was decided, else the mean of people."""

    judge: JudgeSpec
    criteria: dict[str, ScaleFigures]
    means: dict[tuple[str, str], float]

    def figures(self) -> dict[str, Any]:
        """Return each criterion's statistics."""
        criteria = {name: scores.document("scored_twice") for name, scores in self.criteria.items()}
        return {"criteria": criteria, "items": len({item for item, _ in self.means})}

    def tables(self) -> list[Table]:
        """Return each criterion's statistics."""
        rows = [
            (name, number(scores.mean), str(scores.n), number(scores.alpha)) for name, scores in self.criteria.items()
        ]
        columns = ("criterion", "#mean", "#n", "#Krippendorff's alpha")
        return [Table(f"{self.heading}, {self.figures()['items']} answers", columns, rows)]

    def write(self, path: Path) -> str:
        """Write a CSV file of `id`, the mean `score` and, where there are several, `criterion`."""
        several = len(self.judge.criteria) > 1
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["id", "score", *(["criterion"] if several else [])])
        for (item, name), score in sorted(self.means.items()):
            table.writerow([item, f"{score:g}", *([name] if several else [])])
        write_text(path, text.getvalue())
        return f"{number_of(len(self.means), 'score')} written to {path}"
