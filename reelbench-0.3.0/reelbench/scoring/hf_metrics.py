"""The scorers as Hugging Face `evaluate` metrics, which work offline.

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
    """A metric as its class describes it.

    Attributes:
        about: The description.
        inputs: The description of the arguments.
        formats: The possible types of an example. `evaluate` uses the first that fits the first
            example.
    """

    about: str
    inputs: str
    formats: tuple[dict[str, Any], ...]

    def _info(self) -> evaluate.MetricInfo:
        features = list(map(datasets.Features, self.formats))
        return evaluate.MetricInfo(
            description=self.about, citation="", inputs_description=self.inputs, features=features
        )


# The metrics' `_compute` names its arguments where evaluate's base has `**kwargs`, so that a
# misspelt one is an error.


def _percent(items: Sequence[Mapping[str, float]], names: Mapping[str, str]) -> dict[str, float]:
    """Return the mean of each column that the items have, times 100.

    Args:
        items: The columns of each item.
        names: The mean's name -> its column.
    """
    if not items:
        raise InputError("no items to score")
    percents: dict[str, float] = {}
    for name, column in names.items():
        if column in items[0]:
            percents[name] = 100 * sum(item[column] for item in items) / len(items)
    return percents


class TemporalSpan(_Metric):
    """Mean IoU, recall at 0.3 and 0.5 and, with answers, two accuracies.

    They are accuracy and accuracy at IoU 0.5. All are 0 to 100.
    """

    about = str(temporal_span.__doc__)
    inputs = """
Args:
    predictions: a window [start, end] in seconds per item, [] for none;
        or {"span": window, "answer": letter or ""}.
    references: the true windows per item, [[start, end], ...];
        or {"spans": windows, "answer": letter}.
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
        items: list[dict[str, float]] = []
        for parsed, target in zip(predictions, references, strict=True):
            columns = temporal_span.score_item(parsed, target)
            if "answer" in parsed:
                columns |= choice.score_item(parsed, target)
            items.append(columns)
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
        items: list[dict[str, float]] = []
        for prediction, reference in zip(predictions, references, strict=True):
            items.append(choice.score_item({"answer": prediction}, {"answer": reference}))
        return _percent(items, {"accuracy": "correct"})


class TextOverlap(_Metric):
    """BLEU-4 and METEOR (0 to 1) and CIDEr (0 to 10), over all texts together.

    CIDEr weighs a word by how few of the texts have it. So CIDEr of one text alone is 0.
    """

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
        ids = list(map(str, range(len(references))))
        return text_overlap.compute_score(
            dict(zip(ids, references, strict=True)),
            dict(zip(ids, predictions, strict=True)),
            metrics,
        )


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
        locales: list[str | None] = [None] * len(references)
        if isinstance(locale, str) and locale:
            locales = [locale] * len(references)
        elif locale:
            locales = list(locale)
        if len(locales) != len(references):
            raise InputError(
                f"exact match: {len(locales)} locales for {len(references)} items; "
                "give one, or one per item"
            )
        items: list[dict[str, float]] = []
        for prediction, reference, tag in zip(predictions, references, locales, strict=True):
            is_match = exact_match.matches(prediction, reference, tag)
            items.append({"exact_match": float(is_match)})
        return _percent(items, {"exact_match": "exact_match"})
