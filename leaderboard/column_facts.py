"""What a run's record says for the columns of its row (`leaderboard.columns`): a fact is a line here."""

import re
from dataclasses import asdict
from typing import Any

from reelbench.judges.identity import other_than_requested
from reelbench.leaderboard.calibrations import calibrated_primary
from reelbench.leaderboard.standing import Standing, stated_score
from reelbench.leaderboard.store import StoredResult
from reelbench.leaderboard.usage import mean_usage
from reelbench.registry.records import JudgeRecord, PresetRecord, Result
from reelbench.stats import intervals


def facts(stored: StoredResult, shown: Standing) -> dict[str, Any]:
    """Return what a run's record says, by the names of the columns that show it."""
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
    """Return how a result's intervals were made; None where as today, or where it has none."""
    if result.interval == intervals.METHOD or not any(metric.ci95 for metric in result.metrics.values()):
        return None
    return result.interval


def _times(frames: str) -> str | None:
    """Return how frames were given their times: `text` or `none`; None where no frames of ours were shown."""
    if frames.partition(",")[0] in ("native", "none", "unknown"):
        return None
    match = re.search(r",times=(\w+)", frames)
    return match[1] if match else "none"
