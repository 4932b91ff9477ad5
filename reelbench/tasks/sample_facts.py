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
        self._has_overlap = any(isinstance(metric.aggregate, Corpus) for metric in spec.metrics)
        self._answers = hashlib.sha256(f"{model}\n[".encode("utf-8", "surrogatepass"))
        self._separator = ""

    def extend(self, samples: Sequence[Sample]) -> None:
        """Look at the next samples."""
        answers_in_json = _encode([(sample.id, sample.prediction) for sample in samples])
        answers_in_json = answers_in_json.removeprefix("[").removesuffix("]")
        self._answers.update(f"{self._separator}{answers_in_json}".encode())
        self._separator = ", "
        self.answered += sum([sample.reason not in NO_ANSWER for sample in samples])
        for sample in samples:
            self._look_at(sample)

    def _look_at(self, sample: Sample) -> None:
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
            windows = sample.target.get("spans")
            if sample.parsed.get("span") and windows:
                self.windows[sample.id] = (sample.parsed["span"], windows[0])

    def _add_unread(self, sample: Sample) -> None:
        if len(self.unread) < SHOWN:
            self.unread.append(sample)
        if not self._asks_span or (sample.parsed or {}).get("span") is not None:
            return
        if isinstance(sample.prediction, str):
            unit = answers.unknown_unit(sample.prediction)
            if unit is not None:
                self.answers_by_unit[unit] += 1

    def _add_unread_reply(self, sample: Sample) -> None:
        """Add the last of a sample's replies that says nothing readable."""
        unread = [reply for reply in sample.judge_replies if reply.score is None]
        if unread and unread[-1].raw:
            self.unread_replies.append((sample.id, unread[-1].raw))

    def digest(self, *further: str) -> str:
        """Return 12 digits of the hash of the model, its answers and further texts."""
        digest = self._answers.copy()
        for text in ("]", *further):
            digest.update(text.encode())
        return digest.hexdigest()[:12]
