"""The scorers as Hugging Face `evaluate` metrics: a thin coat over the functions of this room, offline.

    from reelbench.scoring.hf_metrics import Choice
    Choice().compute(predictions=["A", "c"], references=["A", "C"])   # {"accuracy": 50.0}

Names and units are those of Reelbench's results: percentages for all but the overlap scores, which
keep pycocoevalcap's scale. Nothing else here imports this module, so only who uses it pays for
importing `evaluate` and `datasets`.
"""

# datasets and evaluate have no types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import evaluate

from reelbench.base.errors import InputError
from reelbench.scoring import choice, exact_match, temporal_span, text_overlap

_TEXT = datasets.Value("string")
_WINDOW = datasets.Sequence(datasets.Value("float64"))
_WINDOWS = datasets.Sequence(_WINDOW)


class _Metric(evaluate.Metric):
    """A metric as its class states it; of its `formats` evaluate takes the first that fits the first example."""

    about: str
    inputs: str
    formats: tuple[dict[str, Any], ...]

    def _info(self) -> evaluate.MetricInfo:
        formats = [datasets.Features(one) for one in self.formats]
        return evaluate.MetricInfo(
            description=self.about, citation="", inputs_description=self.inputs, features=formats
        )


# The metrics' `_compute` names its arguments where evaluate's base has `**kwargs`, so that a
# misspelt one is an error.


def _percent(items: Sequence[Mapping[str, float]], names: Mapping[str, str]) -> dict[str, float]:
    """Return the mean of each column that the items have, times 100: its name -> column."""
    if not items:
        raise InputError("no items to score")
    there = {name: column for name, column in names.items() if column in items[0]}
    return {
        name: 100 * sum(item[column] for item in items) / len(items)
        for name, column in there.items()
    }


class TemporalSpan(_Metric):
    """Mean IoU, recall at 0.3 and 0.5 and, with answers, accuracy and accuracy at IoU 0.5; all 0 to 100."""

    about = str(temporal_span.__doc__)
    inputs = """
Args:
    predictions: a window [start, end] in seconds per item, [] for none; or {"span": window, "answer": letter or ""}.
    references: the true windows per item, [[start, end], ...]; or {"spans": windows, "answer": letter}.
"""
    formats = (
        {"predictions": _WINDOW, "references": _WINDOWS},
        {
            "predictions": {"span": _WINDOW, "answer": _TEXT},
            "references": {"spans": _WINDOWS, "answer": _TEXT},
        },
    )

    def _compute(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, *, predictions: Sequence[Any], references: Sequence[Any]
    ) -> dict[str, float]:
        if not isinstance(predictions[0], dict):
            predictions = [{"span": window} for window in predictions]
            references = [{"spans": windows} for windows in references]
        items = [
            temporal_span.score_item(parsed, target)
            | (choice.score_item(parsed, target) if "answer" in parsed else {})
            for parsed, target in zip(predictions, references, strict=True)
        ]
        names = {
            "accuracy_at_iou_0.5": "correct_at_iou_0.5",
            "accuracy": "correct",
            "miou": "iou",
            "recall_at_0.3": "recall_at_0.3",
            "recall_at_0.5": "recall_at_0.5",
        }
        return _percent(items, names)


class Choice(_Metric):
    """Accuracy over option letters, 0 to 100."""

    about = str(choice.__doc__)
    inputs = """
Args:
    predictions: the answered letter per item, "" for none.
    references: the correct letter per item.
"""
    formats = ({"predictions": _TEXT, "references": _TEXT},)

    def _compute(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, *, predictions: Sequence[str], references: Sequence[str]
    ) -> dict[str, float]:
        pairs = zip(predictions, references, strict=True)
        items = [choice.score_item({"answer": given}, {"answer": right}) for given, right in pairs]
        return _percent(items, {"accuracy": "correct"})


class TextOverlap(_Metric):
    """BLEU-4 and METEOR (0 to 1) and CIDEr (0 to 10), computed over all texts together."""

    about = str(text_overlap.__doc__)
    inputs = """
Args:
    predictions: a text per item.
    references: a reference, or a list of them, per item.
    metrics: which of "bleu4", "cider", "meteor"; all by default.
"""
    formats = (
        {"predictions": _TEXT, "references": _TEXT},
        {"predictions": _TEXT, "references": datasets.Sequence(_TEXT)},
    )

    def _compute(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        *,
        predictions: Sequence[str],
        references: Sequence[Any],
        metrics: Sequence[text_overlap.OverlapMetric] = text_overlap.METRICS,
    ) -> dict[str, float]:
        by_index = [
            {str(at): text for at, text in enumerate(texts)} for texts in (references, predictions)
        ]
        return text_overlap.compute_score(by_index[0], by_index[1], metrics)


class ExactMatch(_Metric):
    """Share of answers that equal the reference after normalisation, 0 to 100."""

    about = str(exact_match.__doc__)
    inputs = """
Args:
    predictions: a text per item.
    references: the true answer per item.
    locale: BCP-47 tag of all items (`ja-JP`), or one per item.
"""
    formats = ({"predictions": _TEXT, "references": _TEXT},)

    def _compute(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        *,
        predictions: Sequence[str],
        references: Sequence[str],
        locale: str | Sequence[str] | None = None,
    ) -> dict[str, float]:
        locale = locale or None
        locales = (
            [locale] * len(references)
            if locale is None or isinstance(locale, str)
            else list(locale)
        )
        if len(locales) != len(references):
            raise InputError(
                f"exact match: {len(locales)} locales for {len(references)} items; give one, or one per item"
            )
        triples = zip(predictions, references, locales, strict=True)
        return _percent(
            [{"exact_match": float(exact_match.matches(*one))} for one in triples],
            {"exact_match": "exact_match"},
        )
