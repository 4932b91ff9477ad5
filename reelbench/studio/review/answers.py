"""The blind human test: people's answers from the video alone, scored as a model's answers.

The page knows no answers. They come from the benchmark's data here. The mean over people rests on
both: its interval resamples videos and people (a crossed bootstrap, Owen 2007, The pigeonhole
bootstrap).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import InputError
from reelbench.base.text_tables import Table, interval, number
from reelbench.data import loading
from reelbench.registry.reasons import Reason
from reelbench.registry.records import PEOPLE_ADAPTER, Item, ModelRecord, Sample, SettingsRecord
from reelbench.registry.rows import LETTERS, Row
from reelbench.registry.spec import BenchmarkSpec, Mean
from reelbench.registry.splits import upstream_split
from reelbench.scoring import aggregation, result_files
from reelbench.scoring.aggregation import ScoredItems
from reelbench.stats import intervals
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.review_kind import Marks, ReviewKind, Reviews, ReviewSummary
from reelbench.studio.review.spans import far_apart, span_of, spans_of
from reelbench.tasks.submissions import (
    Prediction,
    reference_of,
    submission_suffix,
    write_submission,
)

_RESAMPLES = 1000
_TOGETHER = "together"
"""The folder of the decisions, beside those of people."""

Array = NDArray[np.float64]


class BlindAnswers(ReviewKind):
    """Questions answered from the video alone."""

    name = KindName.ANSWERS

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question, with its options where it has any."""
        text_ask, choice_ask, span_ask = self.asks
        asks: list[parts.Part] = []
        if spec.row_kind == "open":
            asks.append(text_ask)
        if spec.asks_choice:
            lettered_options = zip(LETTERS, row.get("options") or (), strict=False)
            options = dict(lettered_options)
            asks.append(parts.ask_of({**choice_ask, "options": options}))
        if spec.asks_span:
            asks.append(span_ask)
        return parts.row_item(row, [parts.question_part(row)], asks)

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Return True where answers differ (case and space apart), or spans hardly overlap."""
        answers: set[str] = set()
        for marks in by_reviewer.values():
            answer = marks.get("answer")
            if answer:
                answers.add(" ".join(answer.split()).casefold())
        spans = spans_of(by_reviewer.values())
        return len(answers) > 1 or far_apart(spans)

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Score people's answers: the metrics over people, of each person, and of decisions.

        Raises:
            InputError: Nothing is answered, or the data is not that of the page.
        """
        located = loading.locate(reviews.benchmark, reviews.split, reviews.data, fetch=False)
        scorer = _Scorer(located)
        people: dict[str, ScoredItems] = {}
        for name in reviews.reviewers:
            marks = reviews.reviews[name].marks
            answered = _items_with_answers(marks)
            scorer.check_known(answered, name)
            if answered:
                people[name] = scorer.score(answered)
        if not people:
            raise InputError("nothing is answered in these files yet")
        together = _items_with_answers(self._agreed_answers(reviews))
        metrics: dict[str, dict[str, Any]] = {}
        if not scorer.hidden:
            samples = {name: scored.samples for name, scored in people.items()}
            metrics = _pooled_metrics(located.spec, samples)
        figures: dict[str, Any] = {
            "setting": "human",
            "metrics": metrics,
            "people": {name: scorer.figures(scored) for name, scored in people.items()},
        }
        # Names are people's own: folders are numbered, and the board shows the number.
        results: dict[str, _NamedResult] = {}
        for place, scored in enumerate(people.values(), start=1):
            results[f"person-{place}"] = _NamedResult(f"Human {place}", scored)
        if together:
            scored = scorer.score(together)
            figures[_TOGETHER] = scorer.figures(scored)
            results[_TOGETHER] = _NamedResult("Humans together", scored)
        table = _metrics_table(reviews, metrics, len(people))
        write = partial(_write, scorer, results)
        return ReviewSummary(self, reviews, figures, [table], write)

    def _agreed_answers(self, reviews: Reviews) -> dict[str, Marks]:
        """Return the decision on each item, or the answer on which all agree.

        Nothing where nothing was decided.
        """
        if not reviews.decisions:
            return {}
        together: dict[str, Marks] = {}
        for item, by_reviewer in reviews.marks().items():
            if reviews.decisions.get(item):
                together[item] = reviews.decisions[item]
            elif not self.disagrees(by_reviewer):
                together[item] = next(iter(by_reviewer.values()))
        return together


ANSWERS = BlindAnswers()


def _items_with_answers(marks_by_item: Mapping[str, Marks]) -> dict[str, Marks]:
    answered: dict[str, Marks] = {}
    for item, marks in marks_by_item.items():
        has_answer = marks.get("answer") or marks.get("span")
        if has_answer:
            answered[item] = marks
    return answered


class _NamedResult(NamedTuple):
    """Answers, and their name on the board."""

    model: str
    scored: ScoredItems


class _Scorer:
    """Scores people's answers with the split's rows.

    Where the right answers are hidden, nothing is scored.
    """

    def __init__(self, located: loading.SplitData) -> None:
        self.located = located
        self.spec = located.spec
        split = upstream_split(self.spec, located.split)
        self.hidden = self.spec.splits[split].hidden_answers
        self.rows = {row["id"]: row for row in located.read()}

    def check_known(self, marks: Mapping[str, Marks], person: str) -> None:
        """Check that all items are questions of the split."""
        strangers = sorted(marks.keys() - self.rows.keys())
        if strangers:
            raise InputError(
                f"{person}'s file, field marks.{strangers[0]}: "
                f"{self.spec.id} {self.located.split} has no such question"
            )

    def score(self, marks: Mapping[str, Marks]) -> ScoredItems:
        """Score the answers."""
        items: list[Item] = []
        for name, item_marks in sorted(marks.items()):
            reference = reference_of(self.spec, self.rows[name])
            items.append(reference.item(_prediction_of_person(self.spec, item_marks)))
        if not self.hidden:
            return aggregation.score(self.spec, items, overlap=False)
        samples = [item.sample(Reason.ANSWERS_HIDDEN) for item in items]
        return ScoredItems(self.spec, samples, overlap=False)

    def figures(self, scored: ScoredItems) -> dict[str, Any]:
        """Return the metrics for `--json`.

        They are empty where the answers are hidden.
        """
        if self.hidden:
            return {}
        figures: dict[str, Any] = {}
        for name, metric in scored.numbers.metrics.items():
            figures[name] = {"value": metric.value, "ci95": metric.ci95, "n": metric.n}
        return figures


def _prediction_of_person(spec: BenchmarkSpec, marks: Marks) -> Prediction:
    """Return a person's answer as a model's is read."""
    answer = marks.get("answer") or ""
    if spec.row_kind == "open":
        return Prediction(answer, None, ())
    parsed: dict[str, Any] = {}
    if spec.asks_choice:
        parsed["answer"] = answer or None
    prediction = dict(parsed)
    if spec.asks_span:
        span = span_of(marks)
        parsed["span"] = list(span) if span else None
        windows = [parsed["span"]] if span else []
        prediction = {"ans": answer, "pred_relevant_windows": windows}
    flags = ("parse_failed",) if None in parsed.values() else ()
    return Prediction(prediction, parsed, flags)


def _metrics_table(
    reviews: Reviews, metrics: Mapping[str, Mapping[str, Any]], people: int
) -> Table:
    title = f"{reviews.benchmark} {reviews.split}, setting human, {people} people"
    rows: list[tuple[str, ...]] = []
    for name, metric in metrics.items():
        value = number(metric["value"])
        ends = interval(metric["ci95"])
        rows.append((name, value, ends, str(metric["n"])))
    return Table(title, ("metric", "#value", "#95 % interval", "#answers"), rows)


def _write(scorer: _Scorer, results: Mapping[str, _NamedResult], path: Path) -> str:
    """Write each person's submission in the owners' format, and their result for the board.

    Each has a folder. Where the right answers are hidden there is no result.
    """
    spec = scorer.spec
    for name, (model, scored) in results.items():
        folder = path / name
        submission = f"submission{submission_suffix(spec)}"
        write_submission(spec, scored.samples, folder / submission)
        if scorer.hidden:
            continue
        # Few answer a whole benchmark: a part of it is shown, and never ranked.
        limit = None
        if len(scored.samples) < len(scorer.rows):
            limit = len(scored.samples)
        result_files.write(
            folder,
            spec,
            scored,
            split=scorer.located.split,
            source=scorer.located.source,
            model=ModelRecord(id=model, adapter=PEOPLE_ADAPTER),
            settings=SettingsRecord(frames="native", limit=limit),
        )
    people = len(results.keys() - {_TOGETHER})
    words = f"{people} people's submissions written to {path}"
    if scorer.hidden:
        return f"{words}; the answers are hidden: send them to the owners' server"
    if spec.row_kind == "open":
        return f"{words}; to score them: reelbench score {spec.id} --predictions FILE --judge MODEL"
    return words


# --- metrics over people
# -------------------------------------------------------------------------------------------------


class _Cell(NamedTuple):
    """The value of one person's answer to a question on a video."""

    person: str
    video: str
    value: float


def _pooled_metrics(
    spec: BenchmarkSpec, people: Mapping[str, Sequence[Sample]]
) -> dict[str, dict[str, Any]]:
    """Return the metrics over people that single answers have.

    Each is `value`, `ci95`, and `n` answers of so many `people`.
    """
    metrics: dict[str, dict[str, Any]] = {}
    for metric in spec.metrics:
        aggregate = metric.aggregate
        if not isinstance(aggregate, Mean):
            continue
        cells: list[_Cell] = []
        for person, samples in people.items():
            for sample in samples:
                if aggregate.column in sample.scores:
                    value = aggregate.value_of(sample.scores[aggregate.column])
                    cells.append(_Cell(person, sample.video, value))
        if cells:
            metrics[metric.name] = _pooled_mean(cells, metric.bounds)
    return metrics


def _pooled_mean(cells: Sequence[_Cell], bounds: tuple[float, float]) -> dict[str, Any]:
    """Return the mean with its interval over people and videos.

    Of one person it is over videos alone.
    """
    people, person_of_cell = np.unique([cell.person for cell in cells], return_inverse=True)
    videos, video_of_cell = np.unique([cell.video for cell in cells], return_inverse=True)
    table_shape = (len(people), len(videos))
    sums = np.zeros(table_shape)
    counts = np.zeros(table_shape)
    place_of_cell = (person_of_cell, video_of_cell)
    np.add.at(sums, place_of_cell, [cell.value for cell in cells])
    np.add.at(counts, place_of_cell, 1)
    value = float(sums.sum() / counts.sum())
    generator = np.random.default_rng(intervals.SEED)
    video_weights = _draw_counts(generator, len(videos))
    people_weights = _draw_counts(generator, len(people))
    # Each resample weighs a cell by how often its person and its video were drawn.
    axes = "rp,pv,rv->r"
    sum_draws = np.einsum(axes, people_weights, sums, video_weights)
    count_draws = np.einsum(axes, people_weights, counts, video_weights)
    with np.errstate(invalid="ignore"):
        mean_draws = sum_draws / count_draws
    ci95 = intervals.confidence_interval(value, mean_draws, len(videos), bounds=bounds)
    return {
        "value": value,
        "ci95": ci95,
        "n": len(cells),
        "people": len(people),
    }


def _draw_counts(generator: np.random.Generator, size: int) -> Array:
    """Return the number of times that each of `size` things is drawn, by resample."""
    equal_shares = np.full(size, 1 / size)
    return generator.multinomial(size, equal_shares, size=_RESAMPLES).astype(np.float64)
