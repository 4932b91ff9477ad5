"""The points of a sweep: scores of runs that differ in one setting, written, drawn and shown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base.files import write_json, write_text
from reelbench.terminal import console

if TYPE_CHECKING:
    from rich.table import Table

    from reelbench.registry.metrics import Metric
    from reelbench.tasks.score import Outcome

SWEEP_FILE = "sweep.json"
SCHEMA = 1

Note = Callable[[str], None]
Point = dict[str, Any]
"""A run's scores of a task, as the sweep's file has them."""

MetricLine = list[tuple[Point, dict[str, Any]]]
"""Points that have a value of a metric, each with it."""


class TaskPoints(NamedTuple):
    """A task's points, and the metric that is shown of them."""

    task: str
    points: list[Point]
    metric: "Metric"

    @property
    def title(self) -> str:
        """The task with the model, for a picture."""
        return f"{self.task} · {self.points[0]['model']}"

    @property
    def unit(self) -> str:
        """The metric with its unit, for a picture."""
        return f"{self.metric.title}, {self.metric.in_unit.label}"


@dataclass(frozen=True, slots=True)
class Drawing:
    """The tables and pictures of a sweep's points.

    `axis` is the setting in words. Each label of the facet `by` has a line of its own.
    """

    axis: str
    by: str | None = None

    def write(self, output: Path, points: Sequence[Point]) -> None:
        """Write the points, and draw each task's first metric by the setting.

        All questions are one picture, and the labels of `by` another.
        """
        write_json(output / SWEEP_FILE, {"schema_version": SCHEMA, "points": list(points)})
        for task_points in by_metric(points):
            lines = lines_of(task_points, self.by)
            line_of_all = {"": lines.pop("")}
            picture_of_all = output / f"sweep_{task_points.task}.svg"
            self._draw_lines(picture_of_all, task_points, line_of_all)
            picture_of_labels = output / f"sweep_{task_points.task}_by_{self.by}.svg"
            self._draw_lines(picture_of_labels, task_points, lines)

    def _draw_lines(
        self, path: Path, task_points: TaskPoints, lines: Mapping[str, MetricLine]
    ) -> None:
        """Draw lines over the setting. Nothing is written where no line has a point."""
        from reelbench.pages import plots

        series = {}
        for label, line in lines.items():
            if line:
                series[label] = [_mark_of_point(point, value) for point, value in line]
        if series:
            unit = task_points.metric.in_unit
            svg = plots.lines(
                task_points.title,
                task_points.unit,
                series,
                self.axis,
                least=(unit.high - unit.low) / 10,
                greatest=unit.high,
            )
            write_text(path, svg)

    def tables(self, points: Sequence[Point]) -> "Iterator[Table]":
        """Yield each task's first metric against the setting, a column for each label of `by`."""
        for task_points in by_metric(points):
            lines = lines_of(task_points, self.by)
            columns = [f"#{label or 'all'}" for label in lines]
            title = f"{task_points.task}: {task_points.metric.title}"
            table = console.table(title, self.axis, *columns)
            for point in task_points.points:
                cells = [_point_cell(line, point) for line in lines.values()]
                table.add_row(point["label"], *cells)
            yield table


def show_points(
    points: Sequence[Point], tables: "Sequence[Table]", *, as_json: bool, quiet: bool
) -> None:
    """Print the points as JSON, or else their tables."""
    if as_json:
        console.write_json({"schema_version": SCHEMA, "points": list(points)})
    elif not quiet:
        for table in tables:
            console.show(table)


def tell_different_questions(points: Sequence[Point], note: Note) -> None:
    """Say which tasks' points are not over the same number of questions."""
    for task, task_points in by_task(points).items():
        scored_by_label: dict[str, int] = {}
        for point in task_points:
            scored_by_label[point["label"]] = point["counts"]["scored"]
        if len(set(scored_by_label.values())) <= 1:
            continue
        counts = [f"{number} with {label}" for label, number in scored_by_label.items()]
        line = ", ".join(counts)
        if "frames" in task_points[0]:
            line += " frames"
        note(f"{task}: the points are not over the same questions: scored are {line}")


def points_of(
    outcomes: "Sequence[Outcome]",
    output: Path,
    label: str,
    at: float,
    fields: Mapping[str, Any],
) -> list[Point]:
    """Return the points of a run: its scores of each task, but for submissions.

    Args:
        outcomes: The run's results, in folders of `output`.
        output: The sweep's folder.
        label: The run's setting, as the axis has it.
        at: Its place on the axis.
        fields: Further fields of its points.
    """
    from reelbench.tasks.lmms.task import SUBMISSION

    points: list[Point] = []
    for outcome in outcomes:
        result = outcome.result
        if SUBMISSION in result.metrics:
            continue
        document = result.model_dump(mode="json")
        point = {
            "task": outcome.folder.name,
            "benchmark": result.benchmark.id,
            "split": result.benchmark.split,
            "model": result.model.id,
            "label": label,
            "at": at,
            **fields,
            "frames_given": result.settings.frames_given,
            "metrics": document["metrics"],
            "breakdowns": document["breakdowns"],
            "counts": document["counts"],
            "result": str(outcome.folder.relative_to(output) / "result.json"),
        }
        points.append(point)
    return points


def _mark_of_point(point: Point, value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a mark of a plot
    from reelbench.pages.plots import Mark, frames_mark

    if "frames" in point:
        return frames_mark(point["frames"], value["value"], value["ci95"], value["n"])
    return Mark(point["at"], point["label"], value["value"], value["ci95"], value["n"])


def _point_cell(line: MetricLine, wanted_point: Point) -> str:
    """Return a point's value in a line as a cell, empty where it has none."""
    for point, value in line:
        if point is wanted_point:
            return f"{value['value']:.2f}"
    return ""


def by_task(points: Sequence[Point]) -> dict[str, list[Point]]:
    """Return the points of each task."""
    points_of_task: dict[str, list[Point]] = {}
    for point in points:
        points_of_task.setdefault(point["task"], []).append(point)
    return points_of_task


def by_metric(points: Sequence[Point]) -> Iterator[TaskPoints]:
    """Yield each task's points with its first metric that was computed.

    That is the primary one, or else what needs no judge. A task without one is left out.
    """
    from reelbench.registry import discovery

    for task, task_points in by_task(points).items():
        spec = discovery.get(task_points[0]["benchmark"])
        computed: set[str] = set()
        for point in task_points:
            for name, value in point["metrics"].items():
                if value["value"] is not None:
                    computed.add(name)
        metrics = [metric for metric in spec.metrics if metric.name in computed]
        if metrics:
            yield TaskPoints(task, task_points, metrics[0])


def lines_of(task_points: TaskPoints, by: str | None) -> dict[str, MetricLine]:
    """Return the points of each line with their value of the metric.

    All questions are the line "", and each label of `by` is one.
    """
    name = task_points.metric.name
    lines: dict[str, MetricLine] = {"": []}
    for point in task_points.points:
        metrics_of_label = {"": point["metrics"], **point["breakdowns"].get(by, {})}
        for label, metrics in metrics_of_label.items():
            line = lines.setdefault(label, [])
            value = metrics.get(name, {})
            if value.get("value") is not None:
                line.append((point, value))
    return dict(sorted(lines.items()))
