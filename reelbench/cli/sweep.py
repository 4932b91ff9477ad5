"""`reelbench run --frames-sweep`: one run for each number of frames, and the score against it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.cli import console
from reelbench.cli.report import check_judged, report
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.files import write_text
from reelbench.registry.frames.sampling import FrameSampling

if TYPE_CHECKING:
    from reelbench.tasks.score import Options, Outcome

SWEEP_FILE = "sweep.json"
SCHEMA = 1
_COUNTED = ("uniform", "keyframe", "window")


def planned(spec: str | None, counts: str) -> list[tuple[int, FrameSampling]]:
    """Return each number of frames, rising and once, with its sampling; 0 is text only.

    `spec` has `N` for the number of frames, or a number that each of `counts` stands in for; by default `uniform:N`.
    InputError where either can't be read, before anything is run.
    """
    parts = [part.strip() for part in counts.split(",")]
    wrong = next((part for part in parts if not re.fullmatch(r"[0-9]{1,6}", part)), None)
    if wrong is not None:
        raise InputError(f"--frames-sweep {counts!r}: {wrong!r} is not a number of frames; give e.g. 0,1,8,32,128")
    pattern = FrameSampling.parse(re.sub(r"\bN\b", "1", spec or "uniform:N"))
    if pattern.kind not in _COUNTED:
        raise InputError(
            f"--frames {spec!r}: a sweep needs a sampling of N frames: uniform:N, keyframe:N or window:START-END,N"
        )
    wanted = sorted({int(part) for part in parts})
    # Parsed again, so that a number too large for a spec is refused here.
    return [
        (count, FrameSampling.parse(str(replace(pattern, frames=count))) if count else FrameSampling(kind="none"))
        for count in wanted
    ]


def sweep(
    arguments: list[str],
    output: Path,
    points: Sequence[tuple[int, FrameSampling]],
    options: "Options",
    judging: Sequence[str],
    *,
    environ: Mapping[str, str],
) -> None:
    """Run each point into its own folder; write sweep.json and the plots after each, so that a failure costs one.

    `judging` are the judge's options as words, for the hint that says how to finish; `environ` are variables
    of lmms-eval's.
    """
    from reelbench.tasks.lmms import process
    from reelbench.tasks.lmms.task import SUBMISSION

    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    judged: list[Outcome] = []
    for count, sampling in points:
        folder = output / f"frames-{count}"
        console.note(f"frames {sampling} into {folder}")
        try:
            arguments = process.replaced(arguments, "--output_path", str(folder))
            outcomes = process.run_and_score(arguments, folder, sampling, options, environ=environ)
            report(outcomes, as_json=False, again=["reelbench", "score", "--run", str(folder), *judging])
            process.check_all_there(arguments, outcomes)
        except InputError:
            raise
        except ReelbenchError as error:
            console.note(f"frames {sampling}: {error}")
            failed.append(str(sampling))
            continue
        judged += outcomes
        rows += [
            _row(outcome, count, sampling, output) for outcome in outcomes if SUBMISSION not in outcome.result.metrics
        ]
        _write(output, rows)
    _tell_uneven(rows)
    console.note(f"written to {output / SWEEP_FILE}")
    if failed:
        raise ReelbenchError(f"no results for frames {'; '.join(failed)}; the messages above say why")
    check_judged(judged)


def _row(outcome: "Outcome", count: int, sampling: FrameSampling, output: Path) -> dict[str, Any]:
    result = outcome.result
    return {
        "task": outcome.folder.name,
        "benchmark": result.benchmark.id,
        "split": result.benchmark.split,
        "model": result.model.id,
        "frames": count,
        "sampling": str(sampling),
        "frames_given": result.settings.frames_given,
        "metrics": {name: metric.model_dump(mode="json") for name, metric in result.metrics.items()},
        "counts": result.counts.model_dump(mode="json"),
        "result": str(outcome.folder.relative_to(output) / "result.json"),
    }


def _write(output: Path, rows: list[dict[str, Any]]) -> None:
    write_text(output / SWEEP_FILE, json.dumps({"schema_version": SCHEMA, "points": rows}, indent=1) + "\n")
    for task in dict.fromkeys(row["task"] for row in rows):
        drawn = _drawn([row for row in rows if row["task"] == task])
        if drawn is not None:
            write_text(output / f"sweep_{task}.svg", drawn)


def _drawn(rows: list[dict[str, Any]]) -> str | None:
    """Draw a task's first metric that was computed: its primary one, or another where that needs a judge."""
    from reelbench.registry import discovery
    from reelbench.registry.plots import Point, curve

    spec = discovery.get(rows[0]["benchmark"])
    for metric in spec.metrics:
        found = [(row["frames"], row["metrics"].get(metric.name)) for row in rows]
        points = [
            Point(frames, value["value"], value["ci95"], value["n"])
            for frames, value in found
            if value is not None and value["value"] is not None
        ]
        if points:
            range_of_metric = (1.0 if metric.high is None else metric.high) - metric.low
            return curve(f"{rows[0]['task']} · {rows[0]['model']}", metric.title, points, least=range_of_metric / 10)
    return None


def _tell_uneven(rows: list[dict[str, Any]]) -> None:
    for task in dict.fromkeys(row["task"] for row in rows):
        scored = {row["frames"]: row["counts"]["scored"] for row in rows if row["task"] == task}
        if len(set(scored.values())) > 1:
            shown = ", ".join(f"{number} with {frames}" for frames, number in scored.items())
            console.note(f"{task}: the points are not over the same questions: scored are {shown} frames")
