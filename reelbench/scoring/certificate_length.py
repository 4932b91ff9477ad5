"""Certificate length: how much of a video one must see to be sure of an answer; and QA-IoU, how far both spans overlap.

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
"""Seconds; no certificate is shorter."""
GAP = 5.0
"""Seconds; two sub-clips that lie closer are one, what lies between them included."""


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
    """Return the seconds of a certificate, at least `MINIMUM`; overlaps count once, gaps under `GAP` count too.

    ValueError where there is no span, or one runs backwards.
    """
    ordered = sorted((float(start), float(end)) for start, end in spans)
    if not ordered:
        raise ValueError("certificate: it has no span")
    total, (first, last) = 0.0, ordered[0]
    for start, end in ordered:
        if end < start:
            raise ValueError(f"certificate: the span [{start}, {end}] ends before it starts")
        if start - last < GAP:
            last = max(last, end)
        else:
            total, first, last = total + last - first, start, end
    return max(MINIMUM, total + last - first)


def certificates(pairs: Sequence[tuple[Span, Span]], videos: Sequence[str]) -> Certificates:
    """Return both measures over questions of known question span and answer span, in seconds; `videos` are theirs.

    ValueError where there is no question, or a span runs backwards.
    """
    lengths = np.array([certificate_length(pair) for pair in pairs])
    # Where two spans overlap, their hull is their union.
    overlaps = np.array([temporal_span.iou(*pair) for pair in pairs])
    return Certificates(
        n=len(pairs),
        length=intervals.mean_over_clusters(lengths, videos),
        qa_miou=intervals.mean_over_clusters(overlaps, videos, bounds=(0, 1)),
    )
