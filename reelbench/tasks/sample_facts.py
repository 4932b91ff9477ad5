"""Facts on samples that an outcome tells, gathered one by one while they are made."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from reelbench.registry.reasons import NO_ANSWER, Reason
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus
from reelbench.scoring import aggregation, answers

SHOWN = 3
"""The unread answers, and the unread replies, that are shown."""

Windows = dict[str, tuple[Any, Any]]
"""Id -> the window that was answered, and the right one."""

_encode = json.JSONEncoder(default=str).encode


class SampleFacts:
    """Facts on a benchmark's samples, for its outcome.

    Attributes:
        answered: The number with an answer.
        judged: The number that have their scores by the judge's replies.
        too_long: The number with more text than metrics of overlapping words read.
        missing: The ids of those without a prediction.
        unread: The first ones whose answer could not be read.
        unread_replies: The first replies (id, text) of a judge that could not be read.
        answers_by_unit: Unit that can't be turned into seconds -> unread spans in it.
        windows: The windows, where the benchmark asks for them.
    """

    def __init__(self, spec: BenchmarkSpec, model: str) -> None:
        self.answered = 0
        self.judged = 0
        self.too_long = 0
        self.missing: list[str] = []
        self.unread: list[Sample] = []
        self.unread_replies: list[tuple[str, str]] = []
        self.answers_by_unit: Counter[str] = Counter()
        self.windows: Windows = {}
        self._asks_span = spec.asks_span
        aggregates = [metric.aggregate for metric in spec.metrics]
        self._has_overlap = any(isinstance(aggregate, Corpus) for aggregate in aggregates)
        beginning = f"{model}\n["
        self._answers = hashlib.sha256(beginning.encode("utf-8", "surrogatepass"))
        self._separator = ""

    def extend(self, samples: Sequence[Sample]) -> None:
        """Look at the next samples."""
        answers_of_samples = [(sample.id, sample.prediction) for sample in samples]
        list_in_json = _encode(answers_of_samples)
        answers_in_json = list_in_json.removeprefix("[").removesuffix("]")
        text = self._separator + answers_in_json
        self._answers.update(text.encode())
        self._separator = ", "
        for sample in samples:
            self._add_sample(sample)

    def _add_sample(self, sample: Sample) -> None:
        if sample.reason not in NO_ANSWER:
            self.answered += 1
        if sample.state == "scored" and sample.judge_replies:
            self.judged += 1
        if self._has_overlap and aggregation.is_too_long(sample):
            self.too_long += 1
        if sample.reason == Reason.PREDICTION_MISSING:
            self.missing.append(sample.id)
        if sample.reason == Reason.JUDGE_UNPARSABLE and len(self.unread_replies) < SHOWN:
            self._add_unread_reply(sample)
        if "parse_failed" in sample.flags:
            self._add_unread(sample)
        if self._asks_span and sample.parsed:
            answered = sample.parsed.get("span")
            right = sample.target.get("spans")
            if answered and right:
                self.windows[sample.id] = (answered, right[0])

    def _add_unread(self, sample: Sample) -> None:
        if len(self.unread) < SHOWN:
            self.unread.append(sample)
        if not self._asks_span or not isinstance(sample.prediction, str):
            return
        if sample.parsed and sample.parsed.get("span") is not None:
            return
        unit = answers.unknown_unit(sample.prediction)
        if unit is not None:
            self.answers_by_unit[unit] += 1

    def _add_unread_reply(self, sample: Sample) -> None:
        """Add the last of a sample's replies that says nothing readable."""
        unread = [reply.raw for reply in sample.judge_replies if reply.score is None]
        if not unread:
            return
        last = unread[-1]
        if last:
            self.unread_replies.append((sample.id, last))

    def digest(self, *further: str) -> str:
        """Return 12 digits of the hash of the model, its answers and further texts."""
        digest = self._answers.copy()
        for text in ("]", *further):
            digest.update(text.encode())
        return digest.hexdigest()[:12]
