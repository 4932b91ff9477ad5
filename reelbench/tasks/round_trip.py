"""The scores of a perfect and of an empty answer file: what a benchmark's rows make of answers.

The right answers are written as a model may write them, read as any answers are, and scored.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from reelbench.registry.records import Item, Sample
from reelbench.registry.rows import Row
from reelbench.registry.scoring_kinds import KINDS_OF_SEVERAL_SPANS
from reelbench.registry.spec import BenchmarkSpec, Corpus, Metric
from reelbench.scoring import aggregation, answers
from reelbench.tasks.submissions import (
    Prediction,
    Reference,
    has_hidden_answers,
    parse_answers,
    reference_of,
)

_SHOWN_AS = 0.005
"""Points by which a perfect score may miss the top: two digits are shown."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The primary metric of a perfect and of an empty answer file."""

    metric: Metric
    perfect: float | None
    empty: float | None

    scored: int
    """The number of rows that were answered."""

    misread: tuple[str, ...]
    """Ids of the questions whose right answer, as it was written, doesn't score as right."""

    @property
    def is_sound(self) -> bool:
        """True where a perfect answer file gets the most that the metric gives."""
        _, top = self.metric.bounds
        return self.perfect is not None and self.perfect >= top - _SHOWN_AS


def round_trip(spec: BenchmarkSpec, split: str, rows: Sequence[Row]) -> RoundTrip | None:
    """Score a perfect and an empty answer file on some rows of a split.

    A question with options takes half a millisecond.

    Returns:
        The scores. None where a judge or the owners' server scores, or text overlap does.
    """
    metric = spec.primary
    if (
        not rows
        or metric.judged
        or isinstance(metric.aggregate, Corpus)
        or has_hidden_answers(spec, split)
    ):
        return None
    references = [reference_of(spec, row) for row in rows]
    given_answers: list[answers.Given] = []
    for reference in references:
        # One after the other: the patterns of a question's options are made once.
        row = (reference.options, reference.timing, reference.question)
        given_answers.append(answers.Given(right_answer(spec, reference), *row))
        given_answers.append(answers.Given("", *row))
    predictions = list(parse_answers(spec, given_answers))
    perfect = _scored_samples(spec, references, predictions[::2])
    empty = _scored_samples(spec, references, predictions[1::2])
    _, top = metric.bounds
    misread: list[str] = []
    for sample in perfect:
        score = aggregation.score_of(spec, sample)
        if score is not None and score < top - _SHOWN_AS:
            misread.append(sample.id)
    return RoundTrip(
        metric,
        aggregation.metric_value(spec, metric, perfect),
        aggregation.metric_value(spec, metric, empty),
        len(references),
        tuple(misread),
    )


def _scored_samples(
    spec: BenchmarkSpec, references: Sequence[Reference], predictions: Sequence[Prediction]
) -> Sequence[Sample]:
    """Return the scored samples of references and their predictions."""
    items: list[Item] = []
    for reference, prediction in zip(references, predictions, strict=True):
        items.append(reference.item(prediction))
    return aggregation.score(spec, items, overlap=False).samples


def right_answer(spec: BenchmarkSpec, reference: Reference) -> str:
    """Return a reference as a model may answer: `(B)`, `[[3.5, 7]]`, or the right words."""
    target = reference.target
    if "text" in target:
        return target["text"]
    parts: list[str] = []
    letters = target.get("answer", "")
    if letters and "any_choice" in spec.kinds:
        letters = letters[0]
    if letters:
        parts.append(f"({', '.join(letters)})")
    windows = target.get("spans") or []
    if windows and not KINDS_OF_SEVERAL_SPANS & set(spec.kinds):
        windows = windows[:1]
    if windows:
        parts.append(json.dumps(windows))
    return "\n".join(parts)
