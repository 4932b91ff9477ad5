"""Rows of the leaderboard made by hand."""

from reelbench.leaderboard.entries import Entry, Group
from reelbench.registry.records import MetricValue

REXTIME = Group("rextime", 1, "val")
CURVE = Group("curve", 1, "test", None, "gemini-2.5-flash", "official")
MOVIECORE = Group("moviecore", 1, "test", None, "gpt-4o-mini-2024-07-18", "official")
DRAMA = Group("dramaqa_cogme", 1, "val")
PRIMARY = {"rextime": "accuracy_at_iou_0.5", "curve": "score", "moviecore": "average", "dramaqa_cogme": "accuracy"}


def entry(model, value, *, group=REXTIME, kind="published", ci95=None, **fields):
    """A row with a value of its benchmark's primary metric, or without any."""
    metrics = {PRIMARY[group.benchmark]: MetricValue(value=value, ci95=ci95, n=10)} if value is not None else {}
    values = {
        "key": f"{model}-{group.id}",
        "model": model,
        "revision": None,
        "kind": kind,
        "setting": "run" if kind == "run" else "zero-shot",
        "group": group,
        "frames": "unknown",
        "metrics": metrics,
        "breakdowns": {},
        "items": None,
        "scored": None,
        "date": None,
    }
    return Entry(**(values | fields))
