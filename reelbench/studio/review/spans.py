"""Spans of answers, or of the events that questions name: medians, overlaps, rejections.

ReXTime (supplement, C.7 and Figure 1) had people mark the answer's span or call the question bad,
and on some items the question's span. From both come certificate length and QA-mIoU (C.6).
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_jsonl
from reelbench.base.text_tables import Table, interval, number
from reelbench.registry.rows import Row, facets
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.temporal_span import iou
from reelbench.studio.moment_pairs import across_time
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.kept_rows import Verification, write_rows
from reelbench.studio.review.review_kind import Marks, ReviewKind, Reviews, ReviewSummary

APART = 0.5
"""Spans that overlap less are a disagreement."""


_Span = tuple[float, float]


class AnswerSpans(ReviewKind):
    """The times at which the video shows the answer."""

    name = KindName.SPANS

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question with its answer, whose span is asked for.

        It has ReXTime's form, without the wrong options.
        """
        return parts.row_item(row, _question_and_answer(spec, row), self.asks)

    def is_done(self, marks: Marks) -> bool:
        """Return True where there is a whole span, or the item was called bad."""
        return is_called_bad(marks) or span_of(marks) is not None

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Return True where some reject the item, or spans overlap by less than `APART`."""
        spans = spans_of(by_reviewer.values())
        rejected = any(map(is_called_bad, by_reviewer.values()))
        return bool(rejected and spans) or far_apart(spans)

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return each item's median span, and agreement.

        Of question spans certificate length and QA-mIoU, too.

        Raises:
            InputError: Nothing is marked.
        """
        items: dict[str, ItemSpans] = {}
        for name, by_reviewer in reviews.marks().items():
            decision = reviews.decisions.get(name, {})
            items[name] = _item_spans(list(by_reviewer.values()), decision)
        spans = 0
        rejected = 0
        unfinished = 0
        overlaps: list[float] = []
        documents: dict[str, dict[str, Any]] = {}
        for name, item in items.items():
            spans += item.n
            rejected += item.rejected
            unfinished += item.unfinished
            if item.pairwise_iou is not None:
                overlaps.append(item.pairwise_iou)
            documents[name] = item.model_dump(mode="json")
        if not spans and not rejected:
            raise InputError("no span is marked in these files yet")
        overlap = _mean_or_none(overlaps)
        rejected_share = rejected / (rejected + spans)
        reasons = _reasons_item_is_bad(reviews)
        figures: dict[str, Any] = {
            "items": documents,
            "mean_pairwise_iou": overlap,
            "rejected_share": rejected_share,
            "reasons": reasons,
            "ignored": {**reviews.ignored, "unfinished": unfinished},
        }
        rows: list[tuple[str, ...]] = [
            ("mean pairwise IoU", number(overlap, 3), "", str(len(items))),
            ("rejected, share", number(rejected_share, 3), "", str(rejected)),
        ]
        if self.name is KindName.QUESTION_SPANS:
            certificates = _span_certificates(reviews, items)
            figures |= certificates
            rows += _certificate_rows(certificates)
        notes: list[str] = []
        for name, lines in reasons.items():
            words = "; ".join(lines)
            notes.append(f"bad: {name}, {words}")
        table = Table(reviews.heading, ("quantity", "#value", "#95 % interval", "#n"), rows)
        write = partial(self._write, reviews, items)
        return ReviewSummary(self, reviews, figures, [table], write, notes)

    def _write(self, reviews: Reviews, items: Mapping[str, "ItemSpans"], path: Path) -> str:
        """Write the agreed spans: `{"qid", "span"}` in JSON Lines, or the owners' rows.

        The owners' entries of these questions get the new spans. Items without a span, and those
        that half or more called bad, are left out.
        """
        spans: dict[str, list[float]] = {}
        dropped: dict[str, str] = {}
        for name, item in items.items():
            if item.span and item.usable:
                spans[name] = list(item.span)
            elif item.rejected:
                dropped[name] = "bad"
            else:
                dropped[name] = "no_span"
        if self.name is not KindName.QUESTION_SPANS:
            changes = {name: {"span": span} for name, span in spans.items()}
            outcome = Verification(set(spans), dropped, changes, only_with="span")
            return write_rows(path, reviews, outcome)
        lines = [{"qid": name, "span": span} for name, span in spans.items()]
        write_jsonl(path, lines)
        questions = number_of(len(lines), "question")
        return (
            f"{questions} written to {path}, {len(dropped)} left out (marked bad, or without a "
            "span)"
        )


class QuestionSpans(AnswerSpans):
    """The times at which the video shows the event that the question names."""

    name = KindName.QUESTION_SPANS

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question with its answer and the answer's span."""
        if not row.get("span"):
            raise InputError(
                f"{spec.id}: {row['id']} has no answer span; "
                "question spans are compared with answer spans"
            )
        answer_span = parts.shown_span("The answer's span", row["span"])
        shows = [*_question_and_answer(spec, row), answer_span]
        item = parts.row_item(row, shows, self.asks)
        item["about"]["answer_span"] = list(row["span"])
        return item


SPANS = AnswerSpans()
QUESTION_SPANS = QuestionSpans()


def _question_and_answer(spec: BenchmarkSpec, row: Row) -> list[parts.Part]:
    """Return a question, its type and its answer.

    Wrong options would tell what is asked for (Figure 1).
    """
    shows = [parts.question_part(row)]
    # A facet that is made of the right span would tell where it lies.
    facets_in_rows = {facet.name for facet in spec.facets if facet.in_rows}
    labels: list[str] = []
    for name, values in facets(spec, row).items():
        if values and name in facets_in_rows:
            labels.append(f"{name}: {', '.join(values)}")
    if labels:
        shows.append(parts.shown_text("Type", "; ".join(labels)))
    answer = {**parts.shown_answer(spec, row), "others": []}
    return [*shows, answer]


def is_called_bad(marks: Marks) -> bool:
    """Return True where the item was called bad."""
    return marks.get("verdict") == "bad"


def span_of(marks: Marks) -> _Span | None:
    """Return the span in seconds.

    None for none, half a one, or a bad item.
    """
    span = marks.get("span")
    if is_called_bad(marks) or not span or None in span:
        return None
    start, end = span
    if end < start:
        return None
    return float(start), float(end)


def spans_of(all_marks: Iterable[Marks]) -> list[_Span]:
    """Return the whole spans."""
    spans: list[_Span] = []
    for marks in all_marks:
        span = span_of(marks)
        if span is not None:
            spans.append(span)
    return spans


def far_apart(spans: Sequence[_Span]) -> bool:
    """Return True where any two spans overlap by less than `APART`."""
    pairs = combinations(spans, 2)
    return any(iou(first, second) < APART for first, second in pairs)


class ItemSpans(BaseModel):
    """People's spans of one item."""

    span: tuple[float, float] | None
    """Median start and median end, in seconds, or the decision in their place."""
    n: int
    """People who gave a span."""
    rejected: int
    """People who called it bad."""
    pairwise_iou: float | None
    """Mean over pairs of people of the overlap of their spans, 0 to 1. None under two spans."""
    unfinished: int = Field(exclude=True)
    """People who began a span and left one end open."""
    usable: bool = Field(exclude=True)
    """True where the item is for use: fewer than half called it bad, or so it was decided."""


def _item_spans(all_marks: Sequence[Marks], decision: Marks) -> ItemSpans:
    spans = spans_of(all_marks)
    rejected = sum(map(is_called_bad, all_marks))
    begun = 0
    for marks in all_marks:
        if marks.get("span") and not is_called_bad(marks):
            begun += 1
    overlaps = [iou(first, second) for first, second in combinations(spans, 2)]
    span = _median_span(spans)
    is_usable = rejected < len(spans)
    decided_span = span_of(decision)
    if decided_span is not None or is_called_bad(decision):
        span = decided_span
        is_usable = decided_span is not None
    return ItemSpans(
        span=span,
        n=len(spans),
        rejected=rejected,
        pairwise_iou=_mean_or_none(overlaps),
        unfinished=begun - len(spans),
        usable=is_usable,
    )


def _mean_or_none(values: Sequence[float]) -> float | None:
    if not values:
        return None
    return statistics.fmean(values)


def _median_span(spans: Sequence[Sequence[float]]) -> _Span | None:
    """Return the median start and the median end.

    None of nothing.
    """
    if not spans:
        return None
    start = statistics.median(span[0] for span in spans)
    end = statistics.median(span[1] for span in spans)
    return start, end


def _reasons_item_is_bad(reviews: Reviews) -> dict[str, list[str]]:
    """Return id -> the reasons of those who called the item bad."""
    reasons: dict[str, list[str]] = {}
    for name, by_reviewer in reviews.marks().items():
        for reviewer, marks in by_reviewer.items():
            if marks.get("reason"):
                reasons.setdefault(name, []).append(f"{reviewer}: {marks['reason']}")
    return reasons


def _span_certificates(reviews: Reviews, items: Mapping[str, ItemSpans]) -> dict[str, Any]:
    """Return the certificates of question spans with their answers' spans (C.6)."""
    facts_by_item = reviews.items
    triples: list[tuple[_Span, _Span | None, str]] = []
    for name, by_reviewer in reviews.marks().items():
        item = items[name]
        if item.span is None or not item.usable:
            continue
        answer_spans: list[_Span] = []
        for marks in by_reviewer.values():
            if marks.get("answer_span"):
                answer_spans.append(marks["answer_span"])
        facts = facts_by_item.get(name, {})
        answer_span = _median_span(answer_spans) or facts.get("answer_span")
        video = str(facts.get("video", name))
        triples.append((item.span, answer_span, video))
    measured = across_time(triples)
    certificates: dict[str, Any] = {}
    for name in ("certificate_length", "qa_miou"):
        estimate = measured.pop(name) or {"value": None, "ci95": None}
        certificates[name] = {**estimate, "n": measured["known"]}
    certificates["across_time"] = measured
    return certificates


def _certificate_rows(certificates: Mapping[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    titles = {"certificate_length": "certificate length, s", "qa_miou": "QA-mIoU"}
    for name, title in titles.items():
        estimate = certificates[name]
        row = (
            title,
            number(estimate["value"], 3),
            interval(estimate["ci95"], 3),
            str(estimate["n"]),
        )
        rows.append(row)
    counts = certificates["across_time"]
    row = (
        "reasoning across time, questions",
        str(counts["across_time"]),
        "",
        str(counts["known"]),
    )
    rows.append(row)
    return rows
