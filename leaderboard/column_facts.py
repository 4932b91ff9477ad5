"""What a run's record says for the columns of its row (`leaderboard.columns`): a fact is a line here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.judges.identity import other_than_requested
from reelbench.leaderboard.standing import Standing, bound_in_words, stated_score
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.files import read_text
from reelbench.registry.records import About, Sample
from reelbench.registry.spec import BenchmarkSpec, Mean, MeanOf
from reelbench.scoring import calibration_file, result_files
from reelbench.stats import intervals


def facts(stored: StoredResult, shown: Standing) -> dict[str, Any]:
    """Return the facts of a run's record, by the names of the columns that show them."""
    spec, result, check, counts = stored.spec, stored.result, stored.check, stored.result.counts
    about, frames, preset = result.model.about or About(), result.settings.frames, result.settings.preset
    calibrated = calibrated_primary(spec, stored.folder) if stored.videos is None else None
    other_judge = other_than_requested(result.judge) if result.judge else []
    times = re.search(r",times=(\w+)", frames)
    without_ours = frames.partition(",")[0] in ("native", "none", "unknown")
    with_intervals = any(metric.ci95 for metric in result.metrics.values())
    # The mean usage of the items that state it, of all runs; InputError where the samples can't be read.
    several = stored.runs or (stored,)
    costs = [one.result.judge and one.result.judge.cost_usd for one in several]
    items = sum(one.result.counts.items for one in several)
    known = [cost for cost in costs if cost is not None]
    usage: dict[str, float | None] = {"judge_cost": sum(known) / items if items and len(known) == len(costs) else None}
    samples: list[Sample] = []
    for folder in (one.folder for one in several):
        text = read_text(folder / result_files.SAMPLES_FILE)
        if '"tokens"' in text or '"seconds"' in text:
            samples += result_files.read_samples(folder)
    if samples:
        for name, tokens in (("tokens_in", "prompt"), ("tokens_out", "completion")):
            usage[name] = _mean([s.tokens[tokens] for s in samples if s.tokens and tokens in s.tokens])
        usage["seconds"] = _mean([sample.seconds for sample in samples if sample.seconds is not None])
    return {
        "items": shown.items,
        "scored": shown.scored,
        "ids": check.ids,
        "stated": ", ".join(check.stated or ()) or None,
        "stated_by": check.account,
        "rejudged": str(check.rejudged) if check.rejudged else None,
        "unreadable": 100 * shown.unread / counts.items if counts.items and spec.row_kind != "open" else None,
        "calibrated": calibrated and calibrated.value,
        "calibration": calibrated and calibrated.how,
        "trained_on": ", ".join(about.trained_on or ()) or None,
        "sound": result.settings.sound,
        "label": result.settings.label,
        "preset": preset and preset.name + (f" (but for {', '.join(preset.changed)})" if preset.changed else ""),
        "unscored": shown.unscored or None,
        "runs": len(stored.runs) or None,
        "bound": bound_in_words(spec.primary, stored, shown),
        "stated_score": stated_score(spec.primary, stored, shown),
        "readers": result.answers,
        "judge_asked": ", ".join(dict.fromkeys(requested for requested, _ in other_judge)) or None,
        "data": result.data,
        "questions": (result.benchmark.questions_sha256 or "not stated")[:10],
        "intervals": result.interval if with_intervals and result.interval != intervals.METHOD else None,
        "times": None if without_ours else times[1] if times else "none",
        "videos": shown.videos,
        **usage,
    }


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A benchmark's primary score with the judge corrected, in its own unit, each answer counted once.

    `ci95` is None where the score is a mean of several criteria; `how` says how it was made.
    """

    value: float
    ci95: tuple[float, float] | None
    how: str


def calibrated_primary(spec: BenchmarkSpec, folder: Path) -> Calibrated | None:
    """Return the corrected score of a result in a folder; None where people did not score all that goes into it."""
    kept = calibration_file.read(folder)
    how = spec.primary.aggregate
    metrics = [spec.metric(name) for name in how.metrics] if isinstance(how, MeanOf) else [spec.primary]
    means = [metric.aggregate for metric in metrics if isinstance(metric.aggregate, Mean)]
    if kept is None or len(means) < len(metrics) or not all(mean.column in kept.criteria for mean in means):
        return None
    parts = [(kept.criteria[mean.column], mean.scale) for mean in means]
    values = [part.value * scale for part, scale in parts if part.value is not None]
    if len(values) < len(parts):
        return None
    labelled = min(len(part.labels) for part, _ in parts)
    interval = parts[0][0].ci95 if len(parts) == 1 else None
    return Calibrated(
        value=sum(values) / len(values),
        ci95=interval and (interval[0] * parts[0][1], interval[1] * parts[0][1]),
        how=f"prediction-powered mean; people scored {labelled} of {parts[0][0].items} answers ({kept.people})",
    )
