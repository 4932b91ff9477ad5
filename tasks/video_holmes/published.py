"""Numbers that the owners publish on Video-Holmes, with where they stand."""

from collections.abc import Iterator
from typing import Literal

from reelbench.registry.spec import PublishedResult

_URL = "https://github.com/TencentARC/Video-Holmes"
_CITE = "TencentARC/Video-Holmes README at 09dbc6e, section Training"
_TYPES = ("SR", "IMC", "TCI", "TA", "MHR", "PAR", "CTI")

_ROWS: dict[str, tuple[Literal["zero-shot", "fine-tuned"], str]] = {  # as printed: each type, then the average
    "Qwen2.5-VL-7B": ("zero-shot", "38.4 34.8 17.6 30.0 27.1 18.6 25.2 27.8"),
    "Qwen2.5-VL-7B-GRPO-CARE": ("zero-shot", "42.8 35.1 25.6 40.5 29.2 29.9 32.6 33.5"),
    "Qwen2.5-VL-7B-GRPO-CARE, trained on Video-Holmes": ("fine-tuned", "46.2 44.9 31.5 49.5 39.2 37.1 37.4 40.7"),
}


def _results() -> Iterator[PublishedResult]:
    for model, (setting, printed) in _ROWS.items():
        *by_type, average = map(float, printed.split())
        of_type = {name: {"accuracy": value} for name, value in zip(_TYPES, by_type, strict=True)}
        yield PublishedResult(
            model=model,
            split="test",
            setting=setting,
            metrics={"accuracy": average},
            breakdowns={"question_type": of_type},
            cite=_CITE,
            url=_URL,
            open_weights=True,
        )
    yield PublishedResult(
        model="Gemini-2.5-Pro",
        split="test",
        setting="zero-shot",
        metrics={"accuracy": 45.0},
        cite="arXiv:2505.21374, abstract (whole per cent)",
        url="https://arxiv.org/abs/2505.21374",
        open_weights=False,
    )


PUBLISHED = tuple(_results())
