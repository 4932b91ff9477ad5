"""Where answers lie in their videos, and how much of a video one must see (ReXTime, supplement C.6)."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reelbench.registry.errors import InputError
from reelbench.scoring.certificate_length import certificates
from reelbench.studio.profile_rows import ProfileRow, read_question_spans

_MOST_NOTED = 3


@dataclass(frozen=True, slots=True)
class Spans:
    """Where answers lie in their videos; means over the questions that have what is needed.

    Attributes:
        n: Questions with an answer span.
        length: Length of the answer span, in seconds.
        share: Part of the video that it takes, in per cent.
        question_spans: Questions with a span of their own, too.
        certificate_length: Seconds of video that must be seen (`scoring.certificate_length`).
        qa_iou: Overlap of the two spans, 0 to 1.
        certificate_length_ci95: Interval of the length, over videos.
        qa_iou_ci95: Interval of the overlap.
    """

    n: int
    length: float
    share: float | None
    question_spans: int
    certificate_length: float | None
    qa_iou: float | None
    certificate_length_ci95: tuple[float, float] | None = None
    qa_iou_ci95: tuple[float, float] | None = None


def with_question_spans(entries: list[ProfileRow], path: Path, note: Callable[[str], None]) -> list[ProfileRow]:
    """Give entries the spans that a file has of their questions; InputError where none is of them."""
    spans = read_question_spans(path)
    ids = {entry.id for entry in entries}
    strangers = [name for name in spans if name not in ids]
    if len(strangers) == len(spans):
        raise InputError(f"{path}: none of its {len(spans)} ids is among the {len(entries)} questions")
    if strangers:
        note(f"{path}: {len(strangers)} spans without a question: {', '.join(strangers[:_MOST_NOTED])}")
    return [replace(entry, question_span=spans.get(entry.id, entry.question_span)) for entry in entries]


def measure_spans(entries: Sequence[ProfileRow]) -> Spans | None:
    """Measure the entries that have an answer span; None where none has."""
    grounded = [entry for entry in entries if entry.span]
    if not grounded:
        return None
    lengths = [entry.span[1] - entry.span[0] for entry in grounded]
    shares = [100 * length / entry.duration for entry, length in zip(grounded, lengths, strict=True) if entry.duration]
    both = [entry for entry in grounded if entry.question_span]
    known = (
        certificates([(entry.question_span, entry.span) for entry in both], [entry.video for entry in both])
        if both
        else None
    )
    return Spans(
        n=len(grounded),
        length=statistics.fmean(lengths),
        share=statistics.fmean(shares) if shares else None,
        question_spans=len(both),
        certificate_length=known.length.value if known else None,
        qa_iou=known.qa_miou.value if known else None,
        certificate_length_ci95=known.length.ci95 if known else None,
        qa_iou_ci95=known.qa_miou.ci95 if known else None,
    )
