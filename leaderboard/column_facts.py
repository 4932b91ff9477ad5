"""What a run's record says for the columns of its row (`leaderboard.columns`): a fact is a line here."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reelbench.judges.identity import other_than_requested
from reelbench.leaderboard.standing import Standing, stated_score
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.files import read_text
from reelbench.registry.records import JudgeRecord, PresetRecord, Result
from reelbench.registry.spec import BenchmarkSpec, Mean, MeanOf
from reelbench.scoring import calibration_file, result_files
from reelbench.stats import intervals


def facts(stored: StoredResult, shown: Standing) -> dict[str, Any]:
    """Return the facts of a run's record, by the names of the columns that show them."""
    spec, result, check, counts = stored.spec, stored.result, stored.check, stored.result.counts
    calibrated = calibrated_primary(spec, stored.folder) if stored.videos is None else None
    read = counts.items and spec.row_kind != "open"
    return {
        "items": shown.items,
        "scored": shown.scored,
        "ids": check.ids,
        "stated": ", ".join(check.stated or ()) or None,
        "rejudged": str(check.rejudged) if check.rejudged else None,
        "unreadable": 100 * shown.unread / counts.items if read else None,
        "calibrated": calibrated and calibrated.value,
        "calibration": calibrated and calibrated.how,
        "sound": result.settings.sound,
        "label": result.settings.label,
        "preset": _preset(result.settings.preset),
        "unscored": shown.unscored or None,
        "stated_score": stated_score(spec.primary, stored, shown),
        "readers": result.answers,
        "judge_asked": _judge_asked(result.judge),
        "data": result.data,
        "questions": (result.benchmark.questions_sha256 or "not stated")[:10],
        "intervals": _intervals(result),
        "times": _times(result.settings.frames),
        "videos": shown.videos,
        **asdict(mean_usage(stored)),
    }


def _judge_asked(judge: JudgeRecord | None) -> str | None:
    """Return the model that was asked to judge, where another one answered."""
    other = other_than_requested(judge) if judge else []
    return ", ".join(dict.fromkeys(requested for requested, _ in other)) or None


def _preset(preset: PresetRecord | None) -> str | None:
    """Return a preset's name, and what of it was changed."""
    if preset is None:
        return None
    return preset.name + (f" (but for {', '.join(preset.changed)})" if preset.changed else "")


def _intervals(result: Result) -> str | None:
    """Return the method of a result's intervals; None where it is today's, or where it has none."""
    if result.interval == intervals.METHOD or not any(metric.ci95 for metric in result.metrics.values()):
        return None
    return result.interval


def _times(frames: str) -> str | None:
    """Return the source of frames' times: `text` or `none`; None where no frames of ours were shown."""
    if frames.partition(",")[0] in ("native", "none", "unknown"):
        return None
    match = re.search(r",times=(\w+)", frames)
    return match[1] if match else "none"


@dataclass(frozen=True, slots=True)
class Usage:
    """Means over the items that say it.

    Attributes:
        tokens_in: Tokens of the question, pictures included.
        tokens_out: Tokens of the answer, reasoning included.
        seconds: From sending the question to the answer's last byte.
        judge_cost: Dollars that the judge's replies cost, where prices were given.
    """

    tokens_in: float | None = None
    tokens_out: float | None = None
    seconds: float | None = None
    judge_cost: float | None = None


def mean_usage(stored: StoredResult) -> Usage:
    """Return the mean usage of an item of a stored result; InputError where its samples can't be read."""
    judge, items = stored.result.judge, stored.result.counts.items
    judge_cost = judge.cost_usd / items if judge and judge.cost_usd is not None and items else None
    text = read_text(stored.folder / result_files.SAMPLES_FILE)
    if '"tokens"' not in text and '"seconds"' not in text:
        return Usage(judge_cost=judge_cost)
    samples = list(result_files.read_samples(stored.folder))
    tokens = [sample.tokens for sample in samples if sample.tokens]
    return Usage(
        tokens_in=_mean([counts["prompt"] for counts in tokens if "prompt" in counts]),
        tokens_out=_mean([counts["completion"] for counts in tokens if "completion" in counts]),
        seconds=_mean([sample.seconds for sample in samples if sample.seconds is not None]),
        judge_cost=judge_cost,
    )


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A benchmark's primary score with the judge corrected, in its own unit, each answer counted once.

    Attributes:
        value: The score.
        ci95: Its interval; None where the score is a mean of several criteria.
        how: How it was made, for a reader.
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
