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
from reelbench.cli.sweep_points import (
    SCHEMA,
    SWEEP_FILE,
    Drawing,
    Point,
    TaskPoints,
    by_metric,
    lines_of,
    points_of,
    show_points,
    tell_different_questions,
)
from reelbench.cli.sweep_steps import NATIVE, Arguments, Step
from reelbench.tasks.lmms import process
from reelbench.terminal import console
from reelbench.terminal.report import check_judged, report, report_runs

if TYPE_CHECKING:
    from rich.table import Table

    from reelbench.tasks.score import Options, Outcome

LANGUAGES_FILE = "languages.json"
_LOCALE = "locale"
_COMMAND = "command.json"
"""In the folder of a run among several: how lmms-eval was run, written when that is done."""

Note = Callable[[str], None]


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
        """The file descriptor that lmms-eval's own table goes to. None: where ours go."""
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
        drawing = Drawing(self.axis, self.by)
        points: list[Point] = []
        for done in self._run_each_step(arguments, output):
            points += _points_of(done, output)
            drawing.write(output, points)
        if self.finish is None:
            tables = [*drawing.tables(points)]
        else:
            tables = self.finish(points, output, self.options.note)
        show_points(points, tables, as_json=self.printed.as_json, quiet=self.printed.quiet)
        tell_different_questions(points, self.options.note)
        self.options.note(f"written to {output / SWEEP_FILE}; models loaded: {self._loads}")
        self._check_outcomes()

    def repeat(self, arguments: Arguments, output: Path) -> None:
        """Run all several times, and write what the runs of each task come to (`runs.json`).

        Each run has its own folder. One that ended before, by the same command, is scored again and
        not run again.
        """
        from reelbench.methods.runs import write_together

        folders: dict[str, list[Path]] = defaultdict(list)
        for done in self._run_each_step(arguments, output):
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
                "at temperature 0 runs are usually equal; to vary them: "
                "--gen_kwargs temperature=0.7"
            )
        self._check_outcomes()

    def _check_outcomes(self) -> None:
        """Raise ReelbenchError where a run has no results, or a judge gave no score."""
        if self._failed:
            raise ReelbenchError(
                f"no results for {'; '.join(self._failed)}; the messages above say why"
            )
        check_judged(self._outcomes)

    def _run_each_step(self, arguments: Arguments, output: Path) -> Iterator[StepOutcomes]:
        """Run each step into its own folder, and yield those with results."""
        from reelbench.tasks.lmms.worker import Worker

        with Worker() as worker:
            for number, step in enumerate(self.steps):
                start = partial(process.run_with_progress, console.status, worker)
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


def _has_ended(folder: Path, command: Mapping[str, Any]) -> bool:
    """Return True where a run by the same command ended in a folder."""
    path = folder / _COMMAND
    return path.is_file() and bool(read_json(path) == command)


def _points_of(done: StepOutcomes, output: Path) -> list[Point]:
    """Return the points of a run."""
    step = done.step
    at = step.at
    if at is None:
        at = done.number
    return points_of(done.outcomes, output, step.label, at, step.point_fields)


def write_matrix(points: Sequence[Point], output: Path, note: Note) -> "list[Table]":
    """Write the scores of each locale in each language, and return them as tables."""
    documents: list[dict[str, Any]] = []
    tables: list[Table] = []
    for task_points in by_metric(points):
        languages = [point["language"] for point in task_points.points]
        value_of_locale: dict[str, dict[str, dict[str, Any]]] = {}
        for locale, line in lines_of(task_points, _LOCALE).items():
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
    from reelbench.pages.figures import Cell, matrix

    cells: dict[str, dict[str, Cell]] = {}
    own_language: set[tuple[str, str]] = set()
    for locale, values in value_of_locale.items():
        row: dict[str, Cell] = {}
        for tag, value in values.items():
            row[tag] = Cell(value["value"], value["ci95"], value["n"])
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
