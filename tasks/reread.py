"""Reading a recorded prediction a second time, as far as it can be read without the run that made it."""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.judges import answers
from reelbench.registry.spec import BenchmarkSpec


def reread(spec: BenchmarkSpec, prediction: Any, options: Sequence[str] | None) -> Mapping[str, Any]:  # noqa: ANN401
    """Return what `prediction` reads as: the columns of `Sample.parsed` that can be told, none where none can.

    Args:
        spec: The benchmark.
        prediction: Raw, as a sample records it: a model's text, or an entry of a submission file.
        options: The question's options where its row is known; a letter in free text can't be told without them.
    """
    if spec.row_kind == "open":
        return {}
    found: dict[str, Any] = {}
    if isinstance(prediction, str):
        if options is not None:
            found["answer"] = answers.read_option(prediction, options)
        if spec.row_kind == "grounded_choice":
            found["span"] = answers.read_span(prediction)
    elif isinstance(prediction, Mapping):
        # ReXTime's submission: the first window's first two numbers, and a letter as it stands.
        windows = prediction.get("pred_relevant_windows")
        if isinstance(windows, list) and windows and isinstance(windows[0], list):
            numbers = [part for part in windows[0][:2] if isinstance(part, int | float) and not isinstance(part, bool)]
            found["span"] = [float(part) for part in numbers] if len(numbers) == 2 else None  # noqa: PLR2004
        if isinstance(answer := prediction.get("ans"), str) and answer:
            found["answer"] = answer
    return found
