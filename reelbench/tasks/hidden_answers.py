"""Score submissions to a hidden test with a file of answers that its owner alone has.

What leaves this module are totals, rounded to the step of their unit, each with its number of
questions and an interval that follows from these two and the number of videos. Neither an error
nor a total repeats or compares single answers. What is wrong in the owner's file is said of a
question, without its answer.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reelbench.base import tables
from reelbench.base.errors import InputError
from reelbench.base.tables import as_text
from reelbench.data import ownership
from reelbench.data.option_texts import Options, option_index
from reelbench.data.video_windows import read_windows
from reelbench.registry import rows
from reelbench.registry.metrics import Metric
from reelbench.registry.records import Item, MetricValue
from reelbench.registry.rows import Row
from reelbench.registry.scoring_kinds import KINDS_OF_NUMBERS, KINDS_OF_SEVERAL_SPANS
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.scoring.answers import Given
from reelbench.stats import intervals
from reelbench.tasks import hidden_submission
from reelbench.tasks.submissions import (
    Questions,
    Reference,
    has_hidden_answers,
    parse_answers,
    reference_of,
)

_SCORED_ALONE = {
    "temporal_span",
    "moment",
    "choice",
    "exact_match",
    "any_choice",
    "all_choices",
    "mixed",
    "covered",
    "above_chance",
    *KINDS_OF_SEVERAL_SPANS,
    *KINDS_OF_NUMBERS,
}
"""Kinds of scoring that need nobody's judgement."""


@dataclass(frozen=True, slots=True)
class HiddenAnswers:
    """The questions of a hidden split with their right answers.

    Attributes:
        spec: The benchmark.
        split: The split.
        references: The questions and their answers.
        questions_sha256: The hash of the questions, without an answer.
    """

    spec: BenchmarkSpec
    split: str
    references: tuple[Reference, ...]
    questions_sha256: str

    def refuse_other_ids(self, ids: Iterable[str]) -> None:
        """Refuse answers to other questions than these, or to a part of them. InputError."""
        own_ids = [reference.id for reference in self.references]
        hidden_submission.refuse_other_ids(ids, own_ids, f"{self.spec.id} {self.split}")

    def totals(self, predictions: Mapping[str, str]) -> dict[str, MetricValue]:
        """Return the rounded total of each metric. Every question counts, whatever its text."""
        items = self._items(predictions)
        scored = aggregation.score(self.spec, items, overlap=False)
        exact_metrics = scored.numbers.metrics
        videos = {reference.video for reference in self.references}
        totals: dict[str, MetricValue] = {}
        for metric in self.spec.metrics:
            exact = exact_metrics.get(metric.name)
            if exact is not None and exact.value is not None:
                totals[metric.name] = rounded_total(metric, exact.value, exact.n, len(videos))
        return totals

    def _items(self, predictions: Mapping[str, str]) -> list[Item]:
        texts: list[Given] = []
        for reference in self.references:
            prediction = predictions[reference.id]
            if aggregation.reason_in_text(prediction) is not None:
                prediction = ""  # as an item with that reason it would leave the mean
            texts.append(Given(prediction, reference.options, reference.timing, reference.question))
        predictions_in_order = parse_answers(self.spec, texts)
        items: list[Item] = []
        for reference, prediction in zip(self.references, predictions_in_order, strict=True):
            items.append(reference.item(prediction))
        return items


def rounded_total(metric: Metric, value: float, n: int, videos: int) -> MetricValue:
    """Return a total in steps of its unit.

    Its interval is Wilson's for as many independent answers as there are videos: as wide as if all
    questions on a video stood or fell together. So it says nothing that the total doesn't. Its ends
    are rounded outwards. There is none below `intervals.MIN_CLUSTERS` videos.
    """
    digits = metric.in_unit.digits
    total = round(value, digits)
    ci95: tuple[float, float] | None = None
    if videos >= intervals.MIN_CLUSTERS:
        ends = intervals.interval_of_error(
            total, 0.0, videos - 1, videos, bounds=metric.interval_bounds, method="wilson"
        )
        if ends is not None:
            ci95 = _rounded_outwards(ends, digits)
    return MetricValue(value=total, ci95=ci95, n=n)


def _rounded_outwards(ends: tuple[float, float], digits: int) -> tuple[float, float]:
    steps = 10**digits
    low, high = ends
    return math.floor(low * steps) / steps, math.ceil(high * steps) / steps


# --- the owner's file -----------------------------------------------------------------------------


def read_hidden_answers(name: str, file: Path) -> HiddenAnswers:
    """Return the hidden split of a benchmark that a file has the answers of.

    Raises:
        InputError: The benchmark has no such split, its answers are judged, or the file does not
            fit to the questions.
    """
    spec = Questions.named(name, None).spec
    hidden_splits = [split for split in spec.splits if has_hidden_answers(spec, split)]
    if not hidden_splits:
        raise InputError(f"{spec.id}: has no split with `hidden_answers: true`")
    if spec.judge is not None or not _SCORED_ALONE.issuperset(spec.kinds):
        raise InputError(
            f"{spec.id}: answers that a judge scores make no hidden test here; "
            "choices, spans and exact texts do"
        )
    faults: dict[str, str] = {}
    for split in hidden_splits:
        try:
            return _answers_to_split(replace(Questions.named(name, split), task=None), file)
        except InputError as error:
            faults[split] = str(error)
    lines = list(faults.values())
    if len(set(lines)) > 1:
        lines = [f"split {split}: {fault}" for split, fault in faults.items()]
        raise InputError("; ".join(lines))
    raise InputError(lines[0])


def _answers_to_split(questions: Questions, file: Path) -> HiddenAnswers:
    spec = questions.spec
    split_rows = questions.here.rows
    row_ids = {row["id"] for row in split_rows}
    if spec.mapping is None:
        references = replace(questions, file=file).references()
    else:
        answers = dict(_private_rows(file))
        _refuse_other_questions(file, row_ids, answers.keys())
        references = list(_references_with_answers(spec, split_rows, answers, file))
    _refuse_other_questions(file, row_ids, {reference.id for reference in references})
    digest = ownership.rows_questions_sha256(spec, questions.split, split_rows)
    return HiddenAnswers(spec, questions.split, tuple(references), digest)


def _private_rows(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each id of the owner's file with its row. InputError where one occurs twice."""
    seen_ids: set[str] = set()
    for where, row in tables.read(file):
        question_id = as_text(row.get("id"), f"{where}: id")
        if not question_id:
            raise InputError(f"{where}: has no id; a row has `id` and `answer`, or `start`, `end`")
        if question_id in seen_ids:
            raise InputError(f"{where}: the id {question_id!r} occurs twice")
        seen_ids.add(question_id)
        yield question_id, row


def _refuse_other_questions(
    file: Path, row_ids: AbstractSet[str], answered_ids: AbstractSet[str]
) -> None:
    """Refuse answers to other questions than the rows', or to a part of them. InputError."""
    lacking = sorted(row_ids - answered_ids)
    further = sorted(answered_ids - row_ids)
    if lacking:
        raise InputError(
            f"{file}: has no answer to {len(lacking)} of {len(row_ids)} questions, "
            f"the first {lacking[0]!r}"
        )
    if further:
        raise InputError(f"{file}: {len(further)} ids are of no question, the first {further[0]!r}")


def _references_with_answers(
    spec: BenchmarkSpec,
    split_rows: Iterable[Row],
    answers: Mapping[str, Mapping[str, Any]],
    file: Path,
) -> Iterator[Reference]:
    """Yield each question with its answer."""
    several = rows.allows_several_answers(spec)
    for row in split_rows:
        where = f"{file}: the answer to {row['id']!r}"
        reference = reference_of(
            spec, {**row, **_answer_columns(spec, row, answers[row["id"]], where)}
        )
        try:
            rows.check_answer(where, reference.target, reference.options, several=several)
        except InputError:  # its line has the answer
            raise InputError(
                f"{where} names none of its options; expected a letter or an option's text"
            ) from None
        yield reference


def _answer_columns(
    spec: BenchmarkSpec, row: Row, answer: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return the columns of a row that its answer fills."""
    columns: dict[str, Any] = {}
    if spec.row_kind != "span":
        text = (as_text(answer.get("answer"), where) or "").strip()
        if not text:
            raise InputError(f"{where} is empty; expected it in the column `answer`")
        columns["answer"] = _right_answer(text, row.get("options", []), where)
    if spec.asks_span:
        columns["span"] = _right_span(answer, where)
    return columns


def _right_answer(text: str, options: Sequence[str], where: str) -> str:
    """Return the letter of the option that an answer names, else the answer."""
    letters = tuple(rows.LETTERS[: len(options)])
    named_options = Options(tuple(options), letters, tuple(options))
    place_by_letter = option_index(text, named_options, "letter")
    place_by_text = option_index(text, named_options, "text")
    if place_by_letter is None:
        if place_by_text is None:
            return text
        return letters[place_by_text]
    if place_by_text not in {None, place_by_letter}:
        raise InputError(
            f"{where} is the letter of one option and the text of another; "
            "write the letter in brackets, as in (A)"
        )
    return letters[place_by_letter]


def _right_span(answer: Mapping[str, Any], where: str) -> list[float]:
    """Return the ends of the right spans, in seconds."""
    span = answer.get("span")
    if span is None or span == "":
        span = [answer.get("start"), answer.get("end")]
    try:
        return read_windows(span, where)
    except InputError:  # its line has the answer
        raise InputError(
            f"{where} is not a span; expected seconds in `start` and `end`, or in `span`"
        ) from None
