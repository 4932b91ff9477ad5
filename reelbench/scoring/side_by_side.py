"""Results of one benchmark compared item by item: which answers are right, and which settings differ."""

from collections.abc import Iterator, Sequence
from typing import Any

from reelbench.base.values import is_object
from reelbench.judges.identity import judge_as_answered
from reelbench.registry.records import Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.aggregation import score_of

_NOT_SETTINGS = frozenset(
    (
        *("frames_given", "frames_unlike", "requested", "returned", "calls", "cached"),
        *("kept_from", "kept_to", "cost_usd", "panel", "agreement", "metrics"),
    )
)
"""What came of a run, and what `judge`, by the ids that answered, says already."""


def judges_disagree(sample: Sample) -> bool:
    """Whether two votes or judges gave one criterion of an item different scores."""
    scores: dict[str, set[int]] = {}
    for reply in sample.judge_replies:
        if reply.score is not None:
            scores.setdefault(reply.criterion, set()).add(reply.score)
    return any(len(given) > 1 for given in scores.values())


def settings_apart(results: Sequence[Result]) -> dict[str, list[Any]]:
    """Return the settings in which results differ: field of `result.json` -> each result's value, None where absent.

    The model and how it was asked come first, then the judge and the data, then the versions of the
    software.
    """
    settings: list[dict[str, Any]] = []
    for result in results:
        judge = result.judge
        parts = {
            "model": result.model.model_dump(mode="json"),
            "settings": {**result.settings.model_dump(mode="json"), "audio": result.settings.sound},
            "judge": judge and {"": judge_as_answered(judge), **judge.model_dump(mode="json")},
            "data": result.data,
            "answers": result.answers,
            "benchmark": {"source": result.benchmark.source.model_dump(mode="json")},
            "software": result.software,
        }
        settings.append(dict(_flat("", parts)))
    names = dict.fromkeys(name for stated in settings for name in stated)
    apart = {name: [stated.get(name) for stated in settings] for name in names}
    return {
        name: values
        for name, values in apart.items()
        if any(value != values[0] for value in values)
    }


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON value
    if not is_object(value):
        yield name, value
        return
    for key, part in value.items():
        if key not in _NOT_SETTINGS and not key.endswith("_tokens"):
            yield from _flat(".".join(filter(None, (name, key))), part)


def items(
    spec: BenchmarkSpec, samples_a: Sequence[Sample], samples_b: Sequence[Sample]
) -> Iterator[dict[str, Any]]:
    """Yield every item that either has, as plain data: `id`, `video`, what `a` and `b` have of it, and `difference`.

    `a` and `b` hold `state`, `reason`, `score` (the primary metric's), `right`, `scores` and
    `prediction`, or are None where the result lacks the item; `difference` is a minus b for each
    column that both have.
    """
    a, b = ({sample.id: sample for sample in samples} for samples in (samples_a, samples_b))
    for name in dict.fromkeys([*a, *b]):
        first, second = a.get(name), b.get(name)
        video = next(sample.video for sample in (first, second) if sample is not None)
        shared = first.scores.keys() & second.scores.keys() if first and second else set[str]()
        yield {
            "id": name,
            "video": video,
            "a": _of(spec, first),
            "b": _of(spec, second),
            "difference": {
                c: first.scores[c] - second.scores[c] for c in sorted(shared) if first and second
            },
        }


def _of(spec: BenchmarkSpec, sample: Sample | None) -> dict[str, Any] | None:
    if sample is None:
        return None
    score = score_of(spec, sample)
    return {
        "state": sample.state,
        "reason": sample.reason,
        "score": score,
        "right": spec.primary.is_right(score),
        "scores": sample.scores,
        "prediction": sample.prediction,
    }
