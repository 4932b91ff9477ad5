"""Spans of answers, or of the events that questions name: medians, overlaps, and what was rejected.

ReXTime (supplement, C.7 and Figure 1) had people mark the answer's span or call the question bad,
and on some items the question's span; from both come certificate length and QA-mIoU (C.6).
"""

import statistics
from collections.abc import Mapping, Sequence
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


class AnswerSpans(ReviewKind):
    """Where the video shows the answer."""

    name = KindName.SPANS

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question with its answer, whose span is asked for: of ReXTime's form without the wrong options."""
        return parts.row_item(row, _shown(spec, row), self.asks)

    def is_done(self, marks: Marks) -> bool:
        """Whether there is a whole span, or the item was called bad."""
        return marks.get("verdict") == "bad" or span_of(marks) is not None

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether people disagree on the item's being bad, or gave spans that overlap by less than `APART`."""
        spans = [span for marks in by_reviewer.values() if (span := span_of(marks)) is not None]
        rejected = any(marks.get("verdict") == "bad" for marks in by_reviewer.values())
        return bool(rejected and spans) or far_apart(spans)

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return each item's median span, and agreement; of question spans certificate length and QA-mIoU too.

        InputError where nothing is marked.
        """
        marks = reviews.marks()
        items = dict[str, ItemSpans]()
        for name, by_reviewer in marks.items():
            answers, decision = list(by_reviewer.values()), reviews.decisions.get(name, {})
            spans = [span for given in answers if (span := span_of(given)) is not None]
            bad = sum(marks.get("verdict") == "bad" for marks in answers)
            unfinished = sum(
                bool(marks.get("span")) and marks.get("verdict") != "bad" for marks in answers
            ) - len(spans)
            ious = [iou(a, b) for a, b in combinations(spans, 2)]
            mean_iou = statistics.fmean(ious) if ious else None
            span, counts = _median(spans), bad < len(spans)
            if (decided := span_of(decision)) or decision.get("verdict") == "bad":
                span, counts = decided, decided is not None
            items[name] = ItemSpans(
                span=span,
                n=len(spans),
                rejected=bad,
                pairwise_iou=mean_iou,
                unfinished=unfinished,
                kept=counts,
            )
        if not any(item.n or item.rejected for item in items.values()):
            raise InputError("no span is marked in these files yet")
        overlaps = [item.pairwise_iou for item in items.values() if item.pairwise_iou is not None]
        overlap = statistics.fmean(overlaps) if overlaps else None
        rejected = sum(item.rejected for item in items.values())
        verdicts = rejected + sum(item.n for item in items.values())
        share = rejected / verdicts if verdicts else None
        reasons = {
            name: said
            for name, by in marks.items()
            if (
                said := [
                    f"{who}: {given['reason']}" for who, given in by.items() if given.get("reason")
                ]
            )
        }
        figures: dict[str, Any] = {
            "items": {name: item.model_dump(mode="json") for name, item in items.items()},
            "mean_pairwise_iou": overlap,
            "rejected_share": share,
            "reasons": reasons,
            "ignored": {
                **reviews.ignored,
                "unfinished": sum(item.unfinished for item in items.values()),
            },
        }
        rows: list[tuple[str, ...]] = [
            ("mean pairwise IoU", number(overlap, 3), "", str(len(items))),
            ("rejected, share", number(share, 3), "", str(rejected)),
        ]
        if self.name is KindName.QUESTION_SPANS:
            # The certificates of question spans with their answers' spans (C.6).
            their, about, both = reviews.marks(), reviews.items, []
            for name, item in items.items():
                answer = _median(
                    [
                        given["answer_span"]
                        for given in their[name].values()
                        if given.get("answer_span")
                    ]
                )
                known = about.get(name, {})
                if item.span is not None and item.kept:
                    both.append(
                        (
                            item.span,
                            answer or known.get("answer_span"),
                            str(known.get("video", name)),
                        )
                    )
            measured = across_time(both)
            certificates = {
                name: {
                    **(measured.pop(name) or {"value": None, "ci95": None}),
                    "n": measured["known"],
                }
                for name in ("certificate_length", "qa_miou")
            }
            figures |= {**certificates, "across_time": measured}
            for name, title in (
                ("certificate_length", "certificate length, s"),
                ("qa_miou", "QA-mIoU"),
            ):
                found = figures[name]
                rows.append(
                    (title, number(found["value"], 3), interval(found["ci95"], 3), str(found["n"]))
                )
            found = figures["across_time"]
            rows.append(
                (
                    "reasoning across time, questions",
                    str(found["across_time"]),
                    "",
                    str(found["known"]),
                )
            )
        notes = [f"bad: {name}, {'; '.join(said)}" for name, said in reasons.items()]
        table = Table(reviews.heading, ("quantity", "#value", "#95 % interval", "#n"), rows)
        return ReviewSummary(
            self, reviews, figures, [table], partial(self._write, reviews, items), notes
        )

    def _write(self, reviews: Reviews, items: Mapping[str, "ItemSpans"], path: Path) -> str:
        """Write what people agreed on: `{"qid", "span"}` in JSON Lines for question spans, else upstream rows.

        Upstream rows are the owners' entries of these questions with the new spans; items without a
        span, and those that half or more called bad, are left out.
        """
        spans = {name: list(item.span) for name, item in items.items() if item.span and item.kept}
        lost = {
            name: "bad" if item.rejected else "no_span"
            for name, item in items.items()
            if name not in spans
        }
        if self.name is not KindName.QUESTION_SPANS:
            changes = {name: {"span": span} for name, span in spans.items()}
            return write_rows(
                path, reviews, Verification(set(spans), lost, changes, only_with="span")
            )
        write_jsonl(path, ({"qid": name, "span": span} for name, span in spans.items()))
        written = f"{number_of(len(spans), 'question')} written to {path}"
        return f"{written}, {len(lost)} left out (called bad, or without a span)"


class QuestionSpans(AnswerSpans):
    """Where the video shows the event that the question names."""

    name = KindName.QUESTION_SPANS

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question with its answer and the answer's span."""
        if not row.get("span"):
            raise InputError(
                f"{spec.id}: {row['id']} has no answer span; question spans are compared with answer spans"
            )
        answer_span = parts.shown_span("The answer's span", row["span"])
        item = parts.row_item(row, [*_shown(spec, row), answer_span], self.asks)
        item["about"]["answer_span"] = list(row["span"])
        return item


SPANS, QUESTION_SPANS = AnswerSpans(), QuestionSpans()


def _shown(spec: BenchmarkSpec, row: Row) -> list[parts.Part]:
    """Return a question, its type and its answer alone: wrong options would tell what is asked for (Figure 1)."""
    # What is made of the right span would tell where it lies.
    held = {facet.name for facet in spec.facets if facet.in_rows}
    labels = [
        f"{name}: {', '.join(values)}"
        for name, values in facets(spec, row).items()
        if values and name in held
    ]
    answer = {**parts.shown_answer(spec, row), "others": []}
    return [
        parts.question_part(row),
        *([parts.shown_text("Type", "; ".join(labels))] if labels else []),
        answer,
    ]


def span_of(marks: Marks) -> tuple[float, float] | None:
    """Return the span in seconds; None where it is missing, half, or the item was called bad."""
    span = marks.get("span")
    if marks.get("verdict") == "bad" or not span or None in span or span[1] < span[0]:
        return None
    return float(span[0]), float(span[1])


def far_apart(spans: Sequence[tuple[float, float]]) -> bool:
    """Whether any two spans overlap by less than `APART`."""
    return any(iou(a, b) < APART for a, b in combinations(spans, 2))


class ItemSpans(BaseModel):
    """What people gave for one item."""

    span: tuple[float, float] | None
    """Median start and median end, in seconds, or what was decided in their place."""
    n: int
    """People who gave a span."""
    rejected: int
    """People who called it bad."""
    pairwise_iou: float | None
    """Mean over pairs of people of the overlap of their spans, 0 to 1; None under two spans."""
    unfinished: int = Field(exclude=True)
    """People who began a span and left one end open."""
    kept: bool = Field(exclude=True)
    """Whether the item is for use: it has a span, and fewer than half called it bad, or so it was decided."""


def _median(spans: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Return the median start and the median end; None of nothing."""
    if not spans:
        return None
    return statistics.median(span[0] for span in spans), statistics.median(
        span[1] for span in spans
    )
