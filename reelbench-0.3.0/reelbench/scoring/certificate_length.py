"""Certificate length, and QA-IoU: the overlap of a question's span and its answer's.

A certificate is the set of sub-clips that are needed, and enough, to convince a person that the
marked answer is right (EgoSchema, Mangalam et al. 2023, section 3.2). For a question on two
moments, as in ReXTime (supplement, C.6), it is the span that the question speaks of and the span of
the answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.scoring import temporal_span
from reelbench.stats import intervals

Span = Sequence[float]
"""Start and end in seconds."""

MINIMUM = 0.1
"""Seconds. No certificate is shorter."""
GAP = 5.0
"""Seconds. Two sub-clips that lie closer are one, what lies between them included."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """Certificates of a set of questions.

    Attributes:
        n: Questions.
        length: Mean certificate length in seconds (C.L.).
        qa_miou: Mean over questions of the intersection over union of question span and answer
            span, 0 to 1 (QA-mIoU).
    """

    n: int
    length: intervals.Estimate
    qa_miou: intervals.Estimate


def certificate_length(spans: Iterable[Span]) -> float:
    """Return the seconds of a certificate, at least `MINIMUM`.

    Overlaps count once, gaps under `GAP` count too.

    Raises:
        ValueError: There is no span, or one runs backwards.
    """
    ordered = sorted((float(start), float(end)) for start, end in spans)
    if not ordered:
        raise ValueError("certificate: it has no span")
    total = 0.0
    clip_start, clip_end = ordered[0]
    for start, end in ordered:
        if end < start:
            raise ValueError(f"certificate: the span [{start}, {end}] ends before it starts")
        if start - clip_end < GAP:
            clip_end = max(clip_end, end)
        else:
            total += clip_end
            total -= clip_start
            clip_start = start
            clip_end = end
    return max(MINIMUM, total + clip_end - clip_start)


def certificates(pairs: Sequence[tuple[Span, Span]], videos: Sequence[str]) -> Certificates:
    """Return both measures over questions.

    Args:
        pairs: Each question's span and its answer's span, in seconds.
        videos: Each question's video.

    Raises:
        ValueError: There is no question, or a span runs backwards.
    """
    lengths = np.array([certificate_length(pair) for pair in pairs])
    # Where two spans overlap, their hull is their union.
    overlaps = np.array([temporal_span.iou(question, answer) for question, answer in pairs])
    return Certificates(
        n=len(pairs),
        length=intervals.mean_over_clusters(lengths, videos),
        qa_miou=intervals.mean_over_clusters(overlaps, videos, bounds=(0, 1)),
    )
