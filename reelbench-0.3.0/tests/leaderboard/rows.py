"""Rows of the leaderboard made by hand."""

from reelbench.leaderboard.entries import BoardEntry, RankingGroup
from reelbench.registry.records import MetricValue

REXTIME = RankingGroup("rextime", 1, "val")
CURVE = RankingGroup("curve", 1, "test", None, "gemini-2.5-flash", "official")
MOVIECORE = RankingGroup("moviecore", 1, "test", None, "gpt-4o-mini-2024-07-18", "official")
DRAMA = RankingGroup("dramaqa_cogme", 1, "val")
PRIMARY = {
    "rextime": "accuracy_at_iou_0.5",
    "curve": "score",
    "moviecore": "average",
    "dramaqa_cogme": "accuracy",
}


def entry(model, value, *, group=REXTIME, kind="published", ci95=None, **fields):
    """A row with a value of its benchmark's primary metric, or without any."""
    metrics = (
        {PRIMARY[group.benchmark]: MetricValue(value=value, ci95=ci95, n=10)}
        if value is not None
        else {}
    )
    values = {
        "key": f"{model}-{group.id}",
        "model": model,
        "revision": None,
        "kind": kind,
        "setting": "run" if kind == "run" else "zero-shot",
        "group": group,
        "frames": "unknown",
        "metrics": metrics,
        "facts": {name: fields.pop(name) for name in [*fields] if name not in BoardEntry.__slots__},
    }
    return BoardEntry(**(values | fields))
