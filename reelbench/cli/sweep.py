"""`reelbench run` with several settings: one run for each, in one lmms-eval.

A sweep writes the scores against the setting. With `--languages` the questions are asked in several
languages, and the scores are those of each locale in each.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import read_json, write_json, write_text
from reelbench.cli.sweep_steps import NATIVE, Arguments, Step
from reelbench.tasks.lmms import process
from reelbench.terminal import console
from reelbench.terminal.report import check_judged, report, report_runs

if TYPE_CHECKING:
    from rich.table import Table

    from reelbench.registry.metrics import Metric
    from reelbench.tasks.score import Options, Outcome

SWEEP_FILE = "sweep.json"
LANGUAGES_FILE = "languages.json"
SCHEMA = 1
_LOCALE = "locale"
_COMMAND = "command.json"
"""In the folder of a run among several: how lmms-eval was run, written when that is done."""

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


class StepOutcomes(NamedTuple):
    """A run of a sweep that has results."""

    number: int
    step: Step
    outcomes: "list[Outcome]"


@dataclass(frozen=True, slots=True)
class Printed:
    """The printing of a run: all, nothing but JSON, or nothing.

    `judging` are the judge's options, for the hint at the end.
    """

    judging: Sequence[str]
    as_json: bool = False
    quiet: bool = False

    @property
    def of_lmms_eval(self) -> int | None:
        """The file descriptor that lmms-eval's own table goes to; None: where ours go."""
        if self.as_json or self.quiet:
            return sys.stderr.fileno()
        return None


@dataclass(slots=True)
class Sweep:
    """Runs that differ in one setting, the axis.

    Each label of the facet `by` has a line of its own. With `resume` a run that ended before, by
    the same command, is only scored. `finish`, once the runs are done, makes the tables to print of
    all points, the folder and who is told.
    """

    axis: str
    steps: Sequence[Step]
    options: "Options"
    printed: Printed
    by: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    finish: "Callable[[Sequence[Point], Path, Note], list[Table]] | None" = None
    resume: bool = False
    _failed: list[str] = field(default_factory=list[str], init=False)
    _outcomes: "list[Outcome]" = field(default_factory=list, init=False)
    _loads: int = field(default=0, init=False)

    def run(self, arguments: Arguments, output: Path) -> None:
        """Run each step into its own folder.

        sweep.json and the plots are written after each, so that a failure costs one run.
        """
        points: list[Point] = []
        for done in self._each(arguments, output):
            points += _points_of(done, output)
            self._write(output, points)
        if self.finish is None:
            tables = [*self._tables(points)]
        else:
            tables = self.finish(points, output, self.options.note)
        if self.printed.as_json:
            console.write_json({"schema_version": SCHEMA, "points": points})
        elif not self.printed.quiet:
            for table in tables:
                console.show(table)
        self._tell_different_questions(points)
        self.options.note(f"written to {output / SWEEP_FILE}; models loaded: {self._loads}")
        self._check_outcomes()

    def _tell_different_questions(self, points: Sequence[Point]) -> None:
        """Say which tasks' points are not over the same number of questions."""
        for task, task_points in by_task(points).items():
            scored = {point["label"]: point["counts"]["scored"] for point in task_points}
            if len(set(scored.values())) > 1:
                counts = ", ".join(f"{number} with {label}" for label, number in scored.items())
                unit = ""
                if "frames" in task_points[0]:
                    unit = " frames"
                self.options.note(
                    f"{task}: the points are not over the same questions: scored are {counts}{unit}"
                )

    def repeat(self, arguments: Arguments, output: Path) -> None:
        """Run all several times, and write what the runs of each task come to (`runs.json`).

        Each run has its own folder. One that ended before, by the same command, is scored again and
        not run again.
        """
        from reelbench.methods.runs import write_together

        folders: dict[str, list[Path]] = defaultdict(list)
        for done in self._each(arguments, output):
            for outcome in done.outcomes:
                folders[outcome.folder.name].append(outcome.folder)
        whole_tasks: list[Path] = []
        for task, task_folders in folders.items():
            if len(task_folders) == len(self.steps):
                write_together(output / task, task_folders)
                whole_tasks.append(output / task)
        report_runs(whole_tasks, as_json=self.printed.as_json, quiet=self.printed.quiet)
        generations = [outcome.result.settings.generation for outcome in self._outcomes]
        if not any(generation.get("temperature") for generation in generations):
            self.options.note(
                "at temperature 0 runs differ as far as the model does; --gen_kwargs "
                "temperature=0.7 sets one"
            )
        self._check_outcomes()

    def _check_outcomes(self) -> None:
        """Raise ReelbenchError where a run has no results, or a judge gave no score."""
        if self._failed:
            raise ReelbenchError(
                f"no results for {'; '.join(self._failed)}; the messages above say why"
            )
        check_judged(self._outcomes)

    def _each(self, arguments: Arguments, output: Path) -> Iterator[StepOutcomes]:
        """Run each step into its own folder, and yield those with results."""
        from reelbench.tasks.lmms.worker import Worker

        with Worker() as worker:
            for number, step in enumerate(self.steps):
                start = partial(process.followed, console.status, worker)
                try:
                    outcomes = self._run_step(step, arguments, output / step.folder, start)
                except InputError:
                    raise
                except ReelbenchError as error:
                    console.note(f"{step.title}: {error}")
                    self._failed.append(step.title)
                    continue
                self._outcomes += outcomes
                yield StepOutcomes(number, step, outcomes)
        self._loads = worker.loads

    def _run_step(
        self,
        step: Step,
        arguments: Arguments,
        folder: Path,
        start: Callable[..., Any],
    ) -> "list[Outcome]":
        """Run one step, or score it where it ended before, and print its results."""
        from reelbench.tasks.score_runs import run_evaluations

        arguments = process.set_option(arguments, "--output_path", str(folder))
        step_arguments = step.change(arguments)
        environ = {**self.environ, **step.environ}
        frames = None
        if step.sampling is not None:
            frames = str(step.sampling)
        command = {"arguments": step_arguments, "environ": environ, "frames": frames}
        if self.resume and _has_ended(folder, command):
            self.options.note(f"{step.title} is in {folder}")
            evaluations = run_evaluations(folder, None, self.options)
            outcomes = [evaluation.write(place) for evaluation, place in evaluations]
        else:
            self.options.note(f"{step.title} into {folder}")
            outcomes = process.run_and_score(
                step_arguments,
                folder,
                step.sampling,
                self.options,
                environ=environ,
                stdout=self.printed.of_lmms_eval,
                start=start,
            )
        report(
            outcomes,
            as_json=False,
            again=["reelbench", "score", "--run", str(folder), *self.printed.judging],
            quiet=self.printed.quiet or self.printed.as_json,
        )
        process.check_all_there(arguments, outcomes)
        if self.resume:
            write_json(folder / _COMMAND, command)
        return outcomes

    def _write(self, output: Path, points: list[Point]) -> None:
        """Write the points, and draw each task's first metric by the setting.

        All questions are one picture, and the labels of `by` another.
        """
        write_json(output / SWEEP_FILE, {"schema_version": SCHEMA, "points": points})
        for task_points in _by_metric(points):
            lines = _lines(task_points, self.by)
            of_all = {"": lines.pop("")}
            self._draw(output / f"sweep_{task_points.task}.svg", task_points, of_all)
            of_labels = output / f"sweep_{task_points.task}_by_{self.by}.svg"
            self._draw(of_labels, task_points, lines)

    def _draw(self, path: Path, task_points: TaskPoints, lines: Mapping[str, MetricLine]) -> None:
        """Draw lines over the setting; nothing is written where no line has a point."""
        from reelbench.pages import plots

        series = {}
        for label, line in lines.items():
            if line:
                series[label] = [_mark(point, value) for point, value in line]
        if series:
            unit = task_points.metric.in_unit
            step = (unit.high - unit.low) / 10
            svg = plots.lines(task_points.title, task_points.unit, series, self.axis, step)
            write_text(path, svg)

    def _tables(self, points: list[Point]) -> "Iterator[Table]":
        """Yield each task's first metric against the setting, a column for each label of `by`."""
        for task_points in _by_metric(points):
            lines = _lines(task_points, self.by)
            columns = [f"#{label or 'all'}" for label in lines]
            title = f"{task_points.task}: {task_points.metric.title}"
            table = console.table(title, self.axis, *columns)
            for point in task_points.points:
                cells = [_cell(line, point) for line in lines.values()]
                table.add_row(point["label"], *cells)
            yield table


def _has_ended(folder: Path, command: Mapping[str, Any]) -> bool:
    """Return True where a run by the same command ended in a folder."""
    path = folder / _COMMAND
    return path.is_file() and bool(read_json(path) == command)


def _points_of(done: StepOutcomes, output: Path) -> list[Point]:
    """Return the points of a run: its scores of each task, but for submissions."""
    from reelbench.tasks.lmms.task import SUBMISSION

    step = done.step
    at = step.at
    if at is None:
        at = done.number
    points: list[Point] = []
    for outcome in done.outcomes:
        result = outcome.result
        if SUBMISSION in result.metrics:
            continue
        document = result.model_dump(mode="json")
        point = {
            "task": outcome.folder.name,
            "benchmark": result.benchmark.id,
            "split": result.benchmark.split,
            "model": result.model.id,
            "label": step.label,
            "at": at,
            **step.point_fields,
            "frames_given": result.settings.frames_given,
            "metrics": document["metrics"],
            "breakdowns": document["breakdowns"],
            "counts": document["counts"],
            "result": str(outcome.folder.relative_to(output) / "result.json"),
        }
        points.append(point)
    return points


def _mark(point: Point, value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a mark of a plot
    from reelbench.pages.plots import Mark, frames_mark

    if "frames" in point:
        return frames_mark(point["frames"], value["value"], value["ci95"], value["n"])
    return Mark(point["at"], point["label"], value["value"], value["ci95"], value["n"])


def _cell(line: MetricLine, wanted_point: Point) -> str:
    """Return a point's value in a line as a cell, empty where it has none."""
    for point, value in line:
        if point is wanted_point:
            return f"{value['value']:.2f}"
    return ""


def write_matrix(points: Sequence[Point], output: Path, note: Note) -> "list[Table]":
    """Write the scores of each locale in each language, and return them as tables."""
    documents: list[dict[str, Any]] = []
    tables: list[Table] = []
    for task_points in _by_metric(points):
        languages = [point["language"] for point in task_points.points]
        value_of_locale: dict[str, dict[str, dict[str, Any]]] = {}
        for locale, line in _lines(task_points, _LOCALE).items():
            values = {point["language"]: value for point, value in line}
            value_of_locale[locale or "all"] = values
        document = {
            "task": task_points.task,
            "metric": task_points.metric.name,
            "languages": languages,
            "locales": value_of_locale,
        }
        documents.append(document)
        svg = _drawn_matrix(task_points, languages, value_of_locale)
        write_text(output / f"languages_{task_points.task}.svg", svg)
        title = f"{task_points.task}: {task_points.metric.title}"
        table = console.table(title, _LOCALE, *(f"#{tag}" for tag in languages))
        for locale, values in value_of_locale.items():
            cells: list[str] = []
            for tag in languages:
                cell = ""
                if tag in values:
                    cell = f"{values[tag]['value']:.2f}"
                cells.append(cell)
            table.add_row(locale, *cells)
        tables.append(table)
    write_json(output / LANGUAGES_FILE, {"schema_version": SCHEMA, "tasks": documents})
    note(f"written to {output / LANGUAGES_FILE}; {NATIVE} is a plain run's")
    return tables


def _drawn_matrix(
    task_points: TaskPoints,
    languages: Sequence[str],
    value_of_locale: Mapping[str, Mapping[str, Mapping[str, Any]]],
) -> str:
    """Draw the scores of locales by language (CURVE, Fig. 2).

    Marked is its diagonal: questions in the language of the video.
    """
    from reelbench.base.languages import language_of
    from reelbench.pages.figures import matrix

    cells: dict[str, dict[str, Any]] = {}
    own_language: set[tuple[str, str]] = set()
    for locale, values in value_of_locale.items():
        row: dict[str, Any] = {}
        for tag, value in values.items():
            row[tag] = (value["value"], value["ci95"], value["n"])
        cells[locale] = row
        for tag in languages:
            if tag == NATIVE or language_of(tag) == language_of(locale):
                own_language.add((locale, tag))
    return matrix(
        task_points.title,
        task_points.unit,
        cells,
        languages,
        marked=own_language,
        mark="outlined: the video's own language",
    )


def by_task(points: Sequence[Point]) -> dict[str, list[Point]]:
    """Return the points of each task."""
    points_of_task: dict[str, list[Point]] = {}
    for point in points:
        points_of_task.setdefault(point["task"], []).append(point)
    return points_of_task


def _by_metric(points: Sequence[Point]) -> Iterator[TaskPoints]:
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


def _lines(task_points: TaskPoints, by: str | None) -> dict[str, MetricLine]:
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
