"""The blind human test: what people answered from the video alone, scored as a model's answers are.

The page knows no answers; they come from the benchmark's data here. The mean over people rests on
both: its interval resamples videos and people (a crossed bootstrap, Owen 2007, The pigeonhole
bootstrap).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import InputError
from reelbench.base.text_tables import Table, interval, number
from reelbench.data import loading
from reelbench.registry.reasons import Reason
from reelbench.registry.records import PEOPLE_ADAPTER, ModelRecord, Sample, SettingsRecord
from reelbench.registry.rows import LETTERS, Row
from reelbench.registry.spec import BenchmarkSpec, Mean
from reelbench.registry.splits import upstream_split
from reelbench.scoring import aggregation, result_files
from reelbench.scoring.aggregation import ScoredItems
from reelbench.stats import intervals
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.review_kind import Marks, ReviewKind, Reviews, ReviewSummary
from reelbench.studio.review.spans import far_apart, span_of
from reelbench.tasks.submissions import (
    Prediction,
    reference_of,
    submission_suffix,
    write_submission,
)

_RESAMPLES = 1000

Array = NDArray[np.float64]


class BlindAnswers(ReviewKind):
    """Questions answered from the video alone."""

    name = KindName.ANSWERS

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question, with its options where it has any."""
        text, choice, span = self.asks
        options = dict(zip(LETTERS, row.get("options") or (), strict=False))
        asks = (text, parts.ask_of({**choice, "options": options}), span)
        asked = (spec.row_kind == "open", spec.asks_choice, spec.asks_span)
        return parts.row_item(row, [parts.question_part(row)], compress(asks, asked))

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether people gave different answers (case and space apart), or spans that hardly overlap."""
        given = by_reviewer.values()
        answers = {
            " ".join(answer.split()).casefold()
            for marks in given
            if (answer := marks.get("answer"))
        }
        return len(answers) > 1 or far_apart(
            [span for marks in given if (span := span_of(marks)) is not None]
        )

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Score what people answered -> the metrics over people, of each person, and of what was decided.

        InputError where nothing is answered, or the data is not that of the page.
        """
        located = loading.locate(reviews.benchmark, reviews.split, reviews.data, fetch=False)
        spec = located.spec
        hidden = spec.splits[upstream_split(spec, located.split)].hidden_answers
        known = {row["id"]: row for row in located.read()}
        people = {}
        for name in reviews.reviewers:
            marks = {
                item: given
                for item, given in reviews.reviews[name].marks.items()
                if _answered(given)
            }
            if strangers := sorted(marks.keys() - known.keys()):
                raise InputError(
                    f"{name}'s file, field marks.{strangers[0]}: {spec.id} {located.split} has no such question"
                )
            if marks:
                people[name] = _scores(spec, known, marks, hidden=hidden)
        if not people:
            raise InputError("nothing is answered in these files yet")
        metrics = (
            {}
            if hidden
            else _pooled_metrics(spec, {name: scored.samples for name, scored in people.items()})
        )
        settled = {}
        for item, given in reviews.marks().items() if reviews.decisions else ():
            # What was decided, else what all who answered agree on.
            marks = reviews.decisions.get(item) or (
                next(iter(given.values())) if not self.disagrees(given) else {}
            )
            if _answered(marks):
                settled[item] = marks
        together = {"together": _scores(spec, known, settled, hidden=hidden)} if settled else {}
        figures = {
            "setting": "human",
            "metrics": metrics,
            "people": {name: _figures(scored, hidden=hidden) for name, scored in people.items()},
            **{name: _figures(scored, hidden=hidden) for name, scored in together.items()},
        }
        title = f"{reviews.benchmark} {reviews.split}, setting human, {len(people)} people"
        rows = [
            (name, number(pooled["value"]), interval(pooled["ci95"]), str(pooled["n"]))
            for name, pooled in metrics.items()
        ]
        table = Table(title, ("metric", "#value", "#95 % interval", "#answers"), rows)
        # Names are people's own: folders are numbered, and the board shows the number.
        by_folder = {
            f"person-{place}": (f"Human {place}", people[name])
            for place, name in enumerate(sorted(people), start=1)
        }
        by_folder |= {name: ("Humans together", scored) for name, scored in together.items()}
        write = partial(_write, located, by_folder, len(known), hidden=hidden)
        return ReviewSummary(self, reviews, figures, [table], write)


ANSWERS = BlindAnswers()


def _figures(scored: ScoredItems, *, hidden: bool) -> dict[str, Any]:
    metrics = {} if hidden else scored.numbers.metrics
    return {
        name: {"value": metric.value, "ci95": metric.ci95, "n": metric.n}
        for name, metric in metrics.items()
    }


def _write(
    located: loading.SplitData,
    by_folder: Mapping[str, tuple[str, ScoredItems]],
    rows: int,
    path: Path,
    *,
    hidden: bool,
) -> str:
    """Write each person's submission in the owners' format, and their result for the board, to a folder each.

    `by_folder` are the model's name on the board and the answers; a split has so many `rows`, whose
    right answers may be `hidden`: then nothing is scored here.
    """
    spec = located.spec
    for name, (model, scored) in by_folder.items():
        folder = path / name
        write_submission(spec, scored.samples, folder / f"submission{submission_suffix(spec)}")
        if not hidden:
            partial_run = len(scored.samples) < rows
            result_files.write(
                folder,
                spec,
                scored,
                split=located.split,
                source=located.source,
                model=ModelRecord(id=model, adapter=PEOPLE_ADAPTER),
                # Few answer a whole benchmark: a part of it is shown, and never ranked.
                settings=SettingsRecord(
                    frames="native", limit=len(scored.samples) if partial_run else None
                ),
            )
    written = f"{len(by_folder) - ('together' in by_folder)} people's submissions written to {path}"
    if hidden:
        return f"{written}; the answers are hidden: send them to the owners' server"
    if spec.row_kind == "open":
        return (
            f"{written}; to score them: reelbench score {spec.id} --predictions FILE --judge MODEL"
        )
    return written


def _answered(marks: Marks) -> bool:
    return bool(marks.get("answer") or marks.get("span"))


def _scores(
    spec: BenchmarkSpec, known: Mapping[str, Row], marks: Mapping[str, Marks], *, hidden: bool
) -> ScoredItems:
    items = []
    for item, given in sorted(marks.items()):
        row, answer = known[item], given.get("answer") or ""
        parsed: dict[str, Any] | None = None
        prediction: Any = answer
        if spec.row_kind != "open":
            parsed = {"answer": answer or None} if spec.asks_choice else {}
            prediction = dict(parsed)
            if spec.asks_span:
                span = span_of(given)
                parsed["span"] = list(span) if span else None
                prediction = {
                    "ans": answer,
                    "pred_relevant_windows": [parsed["span"]] if span else [],
                }
        unread = parsed is not None and None in parsed.values()
        answered = Prediction(prediction, parsed, ("parse_failed",) if unread else ())
        items.append(reference_of(spec, row).item(answered))
    if not hidden:
        return aggregation.score(spec, items, overlap=False)
    samples = [item.sample(Reason.ANSWERS_HIDDEN) for item in items]
    return ScoredItems(spec, samples, overlap=False)


def _pooled_metrics(
    spec: BenchmarkSpec, people: Mapping[str, Sequence[Sample]]
) -> dict[str, dict[str, Any]]:
    """Return the metrics over people that single answers have: `value`, `ci95`, `n` answers of so many `people`."""
    metrics = {}
    for metric in spec.metrics:
        aggregate = metric.aggregate
        if not isinstance(aggregate, Mean):
            continue
        cells = [
            (person, sample.video, aggregate.scale * sample.scores[aggregate.column])
            for person, samples in people.items()
            for sample in samples
            if aggregate.column in sample.scores
        ]
        if cells:
            # The mean of (person, video, value) with its interval over both; over videos alone of
            # one person.
            (names, person_of), (videos, video_of) = (
                np.unique([cell[which] for cell in cells], return_inverse=True) for which in (0, 1)
            )
            sums, counts = np.zeros((len(names), len(videos))), np.zeros((len(names), len(videos)))
            np.add.at(sums, (person_of, video_of), [value for *_, value in cells])
            np.add.at(counts, (person_of, video_of), 1)
            value = float(sums.sum() / counts.sum())
            generator = np.random.default_rng(intervals.SEED)
            of_videos, of_people = (
                generator.multinomial(size, np.full(size, 1 / size), size=_RESAMPLES).astype(
                    np.float64
                )
                for size in (len(videos), len(names))
            )
            sum_draws, count_draws = (
                np.einsum("rp,pv,rv->r", of_people, table, of_videos) for table in (sums, counts)
            )
            with np.errstate(invalid="ignore"):
                draws = sum_draws / count_draws
            ends = intervals.confidence_interval(value, draws, len(videos), bounds=metric.bounds)
            metrics[metric.name] = {
                "value": value,
                "ci95": ends,
                "n": len(cells),
                "people": len(names),
            }
    return metrics
