"""Results of one benchmark side by side: their answers item by item, and their settings."""

from collections.abc import Iterator, Sequence
from typing import Any

from reelbench.base.values import is_object
from reelbench.judges.identity import judge_as_answered
from reelbench.registry.records import Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.aggregation import score_of

_NOT_SETTINGS = frozenset(
    {
        "frames_given",
        "frames_unlike",
        "requested",
        "returned",
        "calls",
        "cached",
        "kept_from",
        "kept_to",
        "cost_usd",
        "panel",
        "agreement",
        "metrics",
        "samples_sha256",
        "compared_with",
    }
)
"""Fields that come of a run, and those that `judge`, by the ids that answered, says already."""


def judges_disagree(sample: Sample) -> bool:
    """Return True where votes or judges gave one criterion of an item different scores."""
    scores_by_criterion: dict[str, set[int]] = {}
    for reply in sample.judge_replies:
        if reply.score is not None:
            scores = scores_by_criterion.setdefault(reply.criterion, set())
            scores.add(reply.score)
    return any(len(scores) > 1 for scores in scores_by_criterion.values())


def settings_apart(results: Sequence[Result]) -> dict[str, list[Any]]:
    """Return the settings in which results differ.

    Returns:
        Field of `result.json` -> each result's value, None where absent. The model and its
        prompting come first, then the judge and the data, then the versions of the software.
    """
    settings_of_results = [_settings_of(result) for result in results]
    names: dict[str, None] = {}
    for settings in settings_of_results:
        names |= dict.fromkeys(settings)
    settings_that_differ: dict[str, list[Any]] = {}
    for name in names:
        values = [settings.get(name) for settings in settings_of_results]
        first_value = values[0]
        if any(value != first_value for value in values):
            settings_that_differ[name] = values
    return settings_that_differ


def _settings_of(result: Result) -> dict[str, Any]:
    """Return a result's settings by their dotted names."""
    judge = None
    if result.judge is not None:
        judge = {"": judge_as_answered(result.judge), **result.judge.model_dump(mode="json")}
    settings = {**result.settings.model_dump(mode="json"), "audio": result.settings.sound}
    if result.settings.asked_one_way:
        settings.pop("merged", None)
    parts = {
        "model": result.model.model_dump(mode="json"),
        "settings": settings,
        "judge": judge,
        "data": result.data,
        "answers": result.answers,
        "benchmark": {"source": result.benchmark.source.model_dump(mode="json")},
        "errata": str(result.benchmark.errata or "none"),
        "software": result.software,
    }
    return dict(_flat("", parts))


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON value
    """Yield the dotted name and the value of each setting in a JSON value."""
    if not is_object(value):
        yield name, value
        return
    for key, part in value.items():
        if key not in _NOT_SETTINGS and not key.endswith("_tokens"):
            parts_of_name = filter(None, (name, key))
            yield from _flat(".".join(parts_of_name), part)


def items(
    spec: BenchmarkSpec, samples_a: Sequence[Sample], samples_b: Sequence[Sample]
) -> Iterator[dict[str, Any]]:
    """Yield every item that either result has, as plain data.

    An item has `id`, `video`, `a`, `b` and `difference`. `a` and `b` hold `state`, `reason`,
    `score` (the primary metric's), `right`, `scores` and `prediction`, or are None where the result
    lacks the item. `difference` is a minus b for each column that both have.
    """
    by_id_a = {sample.id: sample for sample in samples_a}
    by_id_b = {sample.id: sample for sample in samples_b}
    for name in by_id_a | by_id_b:
        sample_a = by_id_a.get(name)
        sample_b = by_id_b.get(name)
        any_sample = by_id_a.get(name) or by_id_b[name]
        yield {
            "id": name,
            "video": any_sample.video,
            "a": _item_of(spec, sample_a),
            "b": _item_of(spec, sample_b),
            "difference": _difference(sample_a, sample_b),
        }


def _difference(a: Sample | None, b: Sample | None) -> dict[str, float]:
    """Return a minus b for each column that both have, in the columns' order."""
    if a is None or b is None:
        return {}
    differences: dict[str, float] = {}
    for column in sorted(a.scores):
        if column in b.scores:
            differences[column] = a.scores[column] - b.scores[column]
    return differences


def _item_of(spec: BenchmarkSpec, sample: Sample | None) -> dict[str, Any] | None:
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
