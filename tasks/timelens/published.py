"""Numbers that the owners publish on TimeLens-Bench, with where they stand."""

from collections.abc import Iterator

from reelbench.registry.spec import PublishedResult

_URL = "https://github.com/TencentARC/TimeLens"
_CITE = "TencentARC/TimeLens README at 5d2110f, model zoo"
_METRICS = ("recall_at_0.3", "recall_at_0.5", "recall_at_0.7", "miou")
_SPLITS = ("charades", "activitynet", "qvhighlights")

_ROWS = {  # as printed: R1@0.3, R1@0.5, R1@0.7, mIoU on each part
    "Qwen2.5-VL-7B-Instruct": "59.7 37.8 16.6 39.3 44.1 31.0 16.1 31.4 41.5 27.8 15.2 31.6",
    "TimeLens-7B": "70.5 55.6 28.4 48.8 62.8 51.0 32.6 46.2 74.1 62.7 43.1 56.0",
    "Qwen3-VL-8B-Instruct": "69.2 53.4 27.5 48.3 62.1 51.2 34.4 46.8 74.2 64.6 49.3 59.4",
    "TimeLens-8B": "76.6 63.0 35.2 55.2 68.9 58.4 40.6 53.2 80.2 71.6 55.5 65.5",
}


def _results() -> Iterator[PublishedResult]:
    for model, printed in _ROWS.items():
        numbers = [float(number) for number in printed.split()]
        for place, split in enumerate(_SPLITS):
            yield PublishedResult(
                model=model,
                split=split,
                # TimeLens models are trained on TimeLens-100K, whose videos are none of these.
                setting="zero-shot",
                metrics=dict(zip(_METRICS, numbers[4 * place :], strict=False)),
                cite=_CITE,
                url=_URL,
                open_weights=True,
            )


PUBLISHED = tuple(_results())
