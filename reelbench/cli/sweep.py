"""`reelbench run` with several settings: one run for each, in one lmms-eval, and the scores against the setting.

With `--languages` the questions are asked in several languages, and the scores are those of each
locale in each.
"""

import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import read_json, write_json, write_text
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.lmms import process
from reelbench.terminal import console
from reelbench.terminal.asking_options import Llm, by_role
from reelbench.terminal.report import check_judged, report, report_runs

if TYPE_CHECKING:
    from rich.table import Table

    from reelbench.registry.metrics import Metric
    from reelbench.tasks.score import Options, Outcome

SWEEP_FILE = "sweep.json"
LANGUAGES_FILE, TRANSLATIONS_FILE = "languages.json", "translations.jsonl"
SCHEMA = 1
NATIVE = "native"
"""The questions in their own language."""
TRANSLATOR = "translator"
_LOCALE = "locale"
_COUNTED = ("uniform", "keyframe", "window")
_GENERATION = "gen_kwargs."

Arguments = list[str]
Note = Callable[[str], None]
Point = dict[str, Any]
"""A run's scores of a task, as the sweep's file has them."""


@dataclass(frozen=True, slots=True)
class Step:
    """One run of a sweep: what it differs in, its name on the axis, what the user is told, and what its points say.

    It stands `at` a place on the axis, or else behind the one before. `change` makes its arguments
    of lmms-eval's.
    """

    setting: str
    label: str
    told: str
    says: Mapping[str, Any]
    at: float | None = None
    sampling: FrameSampling | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    change: Callable[[Arguments], Arguments] = list

    @property
    def folder(self) -> str:
        """Its folder, in the sweep's."""
        return f"{self.setting}-{re.sub(r'[^A-Za-z0-9._-]+', '-', self.label)[:60]}"


# --- the settings
# -----------------------------------------------------------------------------------------------------


def of_frames(spec: str | None, counts: str) -> list[Step]:
    """Return a run for each number of frames, rising and once; 0 is text only.

    `spec` has `N` for the number of frames, or a number that each of `counts` stands in for; by
    default `uniform:N`. InputError where either can't be read, before anything is run.
    """
    parts = [part.strip() for part in counts.split(",")]
    wrong = next((part for part in parts if not re.fullmatch(r"[0-9]{1,6}", part)), None)
    if wrong is not None:
        raise InputError(
            f"--frames-sweep {counts!r}: {wrong!r} is not a number of frames; give e.g. 0,1,8,32,128"
        )
    pattern = FrameSampling.parse(re.sub(r"\bN\b", "1", spec or "uniform:N"))
    if pattern.kind not in _COUNTED:
        raise InputError(
            f"--frames {spec!r}: a sweep needs a sampling of N frames: uniform:N, keyframe:N or window:START-END,N"
        )
    steps = []
    for count in sorted({int(part) for part in parts}):
        # Parsed again, so that a number too large for a spec is refused here.
        without = FrameSampling(kind="none", subs=pattern.subs)
        wanted = FrameSampling.parse(str(replace(pattern, frames=count))) if count else without
        says = {"frames": count, "sampling": str(wanted)}
        steps.append(
            Step("frames", str(count), f"frames {wanted}", says, math.log2(count + 1), wanted)
        )
    return steps


def of_argument(given: str, sampling: FrameSampling | None) -> tuple[str, list[Step]]:
    """Return the key of `KEY=A,B,C` and a run for each value, in their order.

    KEY is an argument of the adapter's; `gen_kwargs.KEY` one of generation.
    """
    key, mark, values = given.partition("=")
    parts = [part.strip() for part in values.split(",")]
    if (
        not mark
        or not re.fullmatch(r"[A-Za-z_][\w.]*", key)
        or not all(parts)
        or len(set(parts)) < len(parts)
    ):
        raise InputError(
            f"--sweep {given!r}: not KEY=A,B,C with each value once, e.g. reasoning_effort=low,high"
        )
    option = "--gen_kwargs" if key.startswith(_GENERATION) else "--model_args"
    name = key.removeprefix(_GENERATION)

    def with_value(arguments: Arguments, value: str) -> Arguments:
        others = (process.option_value(arguments, option) or "").split(",")
        kept = [part for part in others if part and part.partition("=")[0].strip() != name]
        return process.set_option(arguments, option, ",".join([*kept, f"{name}={value}"]))

    return key, [
        Step(
            key,
            value,
            f"{key}={value}",
            {"setting": {key: value}},
            sampling=sampling,
            change=partial(with_value, value=value),
        )
        for value in parts
    ]


def of_languages(
    text: str,
    translations: Path | None,
    llm: Llm,
    arguments: Arguments,
    output: Path,
    *,
    sampling: FrameSampling | None,
) -> list[Step]:
    """Return a plain run, then one for each language of `text`.

    Their questions are written to a file in the run's folder first: the user's translations, or
    made by a model. InputError where a language is no tag, or there twice; where neither is given;
    where the file lacks a question.
    """
    from reelbench.methods import translating
    from reelbench.registry.question_files import read_translations

    languages = translating.distinct(
        [part.strip() for part in text.split(",") if part.strip() != NATIVE]
    )
    tasks = process.wanted_tasks(arguments)
    if not tasks:
        raise InputError("--languages: name a task of ours with --tasks, e.g. curve")
    limit = process.option_value(arguments, "--limit") or ""
    # A limit below 1 is a share of the rows: then all are made ready.
    asked = int(float(limit)) if re.fullmatch(r"[0-9]+(\.0*)?", limit) else 0
    shown = sampling is None or sampling.kind != "none"
    rows = translating.rows_to_translate(tasks, languages, limit=asked or None, shown=shown)
    if translations is not None:
        questions = read_translations(translations)
        translating.check(questions, rows, translations)
        questions = {key: questions[key] for key in rows}
    else:
        model = by_role(llm, (TRANSLATOR,))[TRANSLATOR]
        questions = translating.translate(rows, model, note=console.note, bar=console.progress)
    translating.write(path := output / TRANSLATIONS_FILE, questions)
    file = {settings.TRANSLATIONS.name: str(path.absolute())}

    own: tuple[str, str, dict[str, str]] = NATIVE, "questions in their own language", {}
    in_each = (
        (tag, f"questions in {tag}", {settings.LANGUAGE.name: tag, **file}) for tag in languages
    )
    return [
        Step("language", language, told, {"language": language}, sampling=sampling, environ=environ)
        for language, told, environ in (own, *in_each)
    ]


def of_runs(
    number: int, seed: int | None, arguments: Arguments, sampling: FrameSampling | None
) -> list[Step]:
    """Return as many runs, each with a seed of its own: `seed`, lmms-eval's own `--seed` or 0 is the first one's.

    InputError where `--seed` behind `--` is not one number, or there are two.
    """
    given = process.option_value(arguments, "--seed")
    if given is not None and (seed is not None or not given.isdecimal()):
        raise InputError(
            f"--seed {given} behind --: with --runs give one number, before or behind it"
        )
    first = int(given or 0) if seed is None else seed
    return [
        Step(
            "run",
            str(run + 1),
            f"run {run + 1} of {number}, seed {first + run},",
            {"run": run + 1},
            sampling=sampling,
            environ={settings.RUN.name: str(run + 1)},
            change=lambda arguments, run=run: process.set_option(
                arguments, "--seed", str(first + run)
            ),
        )
        for run in range(number)
    ]


# --- the runs
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Printed:
    """What a run prints: nothing but JSON, or nothing; `judging` are the judge's options, for the hint at the end."""

    judging: Sequence[str]
    as_json: bool = False
    quiet: bool = False

    @property
    def of_lmms_eval(self) -> int | None:
        """The file descriptor that lmms-eval's own table goes to; None: where ours go."""
        return sys.stderr.fileno() if self.as_json or self.quiet else None


_COMMAND = "command.json"
"""In the folder of a run among several: how lmms-eval was run, written when that is done."""


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
        """Run each step into its own folder; write sweep.json and the plots after each, so that a failure costs one."""
        from reelbench.tasks.lmms.task import SUBMISSION

        rows: list[Point] = []
        for number, step, outcomes in self._each(arguments, output):
            for outcome in outcomes:
                if SUBMISSION in (result := outcome.result).metrics:
                    continue
                rows.append(
                    {
                        "task": outcome.folder.name,
                        "benchmark": result.benchmark.id,
                        "split": result.benchmark.split,
                        "model": result.model.id,
                        "label": step.label,
                        "at": number if step.at is None else step.at,
                        **step.says,
                        "frames_given": result.settings.frames_given,
                        "metrics": {
                            name: metric.model_dump(mode="json")
                            for name, metric in result.metrics.items()
                        },
                        "breakdowns": result.model_dump(mode="json")["breakdowns"],
                        "counts": result.counts.model_dump(mode="json"),
                        "result": str(outcome.folder.relative_to(output) / "result.json"),
                    }
                )
            self._write(output, rows)
        tables = (
            [*self._tables(rows)]
            if self.finish is None
            else self.finish(rows, output, self.options.note)
        )
        if self.printed.as_json:
            console.write_json({"schema_version": SCHEMA, "points": rows})
        elif not self.printed.quiet:
            for table in tables:
                console.show(table)
        for task, points in by_task(rows).items():
            scored = {row["label"]: row["counts"]["scored"] for row in points}
            if len(set(scored.values())) > 1:
                unit = " frames" if "frames" in points[0] else ""
                shown = ", ".join(f"{number} with {label}" for label, number in scored.items())
                self.options.note(
                    f"{task}: the points are not over the same questions: scored are {shown}{unit}"
                )
        self.options.note(f"written to {output / SWEEP_FILE}; models loaded: {self._loads}")
        self._check_outcomes()

    def repeat(self, arguments: Arguments, output: Path) -> None:
        """Run all several times, each into its own folder, and write what the runs of each task come to (`runs.json`).

        A run that ended before, by the same command, is scored again and not run again.
        """
        from reelbench.methods.runs import write_together

        folders: dict[str, list[Path]] = defaultdict(list)
        for _, _, outcomes in self._each(arguments, output):
            for outcome in outcomes:
                folders[outcome.folder.name].append(outcome.folder)
        whole = [task for task, found in folders.items() if len(found) == len(self.steps)]
        for task in whole:
            write_together(output / task, folders[task])
        report_runs(
            [output / task for task in whole],
            as_json=self.printed.as_json,
            quiet=self.printed.quiet,
        )
        if not any(
            outcome.result.settings.generation.get("temperature") for outcome in self._outcomes
        ):
            self.options.note(
                "at temperature 0 runs differ as far as the model does; --gen_kwargs temperature=0.7 sets one"
            )
        self._check_outcomes()

    def _check_outcomes(self) -> None:
        """Raise ReelbenchError where a run has no results, or a judge that was needed gave no score."""
        if self._failed:
            raise ReelbenchError(
                f"no results for {'; '.join(self._failed)}; the messages above say why"
            )
        check_judged(self._outcomes)

    def _each(
        self, arguments: Arguments, output: Path
    ) -> "Iterator[tuple[int, Step, list[Outcome]]]":
        """Run each step into its own folder, and yield its number and what it came to; a failure costs one."""
        from reelbench.tasks.lmms.worker import Worker
        from reelbench.tasks.score_runs import run_evaluations

        with Worker() as kept:
            for number, step in enumerate(self.steps):
                folder = output / step.folder
                try:
                    arguments = process.set_option(arguments, "--output_path", str(folder))
                    changed = step.change(arguments)
                    environ = {**self.environ, **step.environ}
                    command = {
                        "arguments": changed,
                        "environ": environ,
                        "frames": step.sampling and str(step.sampling),
                    }
                    there = (
                        self.resume
                        and (folder / _COMMAND).is_file()
                        and read_json(folder / _COMMAND) == command
                    )
                    self.options.note(
                        f"{step.told} is in {folder}" if there else f"{step.told} into {folder}"
                    )
                    if there:
                        outcomes = [
                            made.write(place)
                            for made, place in run_evaluations(folder, None, self.options)
                        ]
                    else:
                        outcomes = process.run_and_score(
                            changed,
                            folder,
                            step.sampling,
                            self.options,
                            environ=environ,
                            stdout=self.printed.of_lmms_eval,
                            start=partial(process.followed, console.status, kept),
                        )
                    again = ["reelbench", "score", "--run", str(folder), *self.printed.judging]
                    report(
                        outcomes,
                        as_json=False,
                        again=again,
                        quiet=self.printed.quiet or self.printed.as_json,
                    )
                    process.check_all_there(arguments, outcomes)
                except InputError:
                    raise
                except ReelbenchError as error:
                    console.note(f"{step.told}: {error}")
                    self._failed.append(step.told)
                    continue
                if self.resume:
                    write_json(folder / _COMMAND, command)
                self._outcomes += outcomes
                yield number, step, outcomes
        self._loads = kept.loads

    def _write(self, output: Path, rows: list[Point]) -> None:
        """Write the points, and draw each task's first metric by the setting: all, and the labels of `by` apart."""
        from reelbench.pages.plots import Mark, frames_mark, lines

        write_json(output / SWEEP_FILE, {"schema_version": SCHEMA, "points": rows})
        for task, points, metric in _by_metric(rows):
            found = _lines(points, metric, self.by)
            for name, drawn in ((task, {"": found.pop("")}), (f"{task}_by_{self.by}", found)):
                series = {
                    label: [
                        frames_mark(row["frames"], value["value"], value["ci95"], value["n"])
                        if "frames" in row
                        else Mark(
                            row["at"], row["label"], value["value"], value["ci95"], value["n"]
                        )
                        for row, value in values
                    ]
                    for label, values in drawn.items()
                    if values
                }
                if series:
                    head = (
                        f"{task} · {points[0]['model']}",
                        f"{metric.title}, {metric.in_unit.label}",
                    )
                    svg = lines(
                        *head, series, self.axis, (metric.in_unit.high - metric.in_unit.low) / 10
                    )
                    write_text(output / f"sweep_{name}.svg", svg)

    def _tables(self, rows: list[Point]) -> "Iterator[Table]":
        """Yield each task's first metric against the setting, a column for each label of `by`."""
        for task, points, metric in _by_metric(rows):
            columns = _lines(points, metric, self.by)
            table = console.table(
                f"{task}: {metric.title}", self.axis, *(f"#{name or 'all'}" for name in columns)
            )
            for row in points:
                values = [
                    next((v["value"] for r, v in line if r is row), None)
                    for line in columns.values()
                ]
                table.add_row(
                    row["label"], *("" if value is None else f"{value:.2f}" for value in values)
                )
            yield table


# --- what they come to
# ------------------------------------------------------------------------------------------------


def write_matrix(rows: Sequence[Point], output: Path, note: Note) -> "list[Table]":
    """Write the scores of each locale in each language, by task, and return them as tables."""
    from reelbench.base.languages import language_of
    from reelbench.pages.figures import matrix

    documents, tables = [], []
    for task, points, metric in _by_metric(rows):
        languages = [point["language"] for point in points]
        by_locale = _lines(points, metric, _LOCALE).items()
        known = {
            name or "all": {row["language"]: cell for row, cell in line} for name, line in by_locale
        }
        documents.append(
            {"task": task, "metric": metric.name, "languages": languages, "locales": known}
        )
        drawn = {
            name: {tag: (cell["value"], cell["ci95"], cell["n"]) for tag, cell in cells.items()}
            for name, cells in known.items()
        }
        # The diagonal of CURVE's Fig. 2: questions in the language of the video.
        own = {
            (name, tag)
            for name in drawn
            for tag in languages
            if tag == NATIVE or language_of(tag) == language_of(name)
        }
        head = f"{task} · {points[0]['model']}", f"{metric.title}, {metric.in_unit.label}"
        svg = matrix(*head, drawn, languages, marked=own, mark="outlined: the video's own language")
        write_text(output / f"languages_{task}.svg", svg)
        table = console.table(f"{task}: {metric.title}", _LOCALE, *(f"#{tag}" for tag in languages))
        for name, cells in known.items():
            table.add_row(
                name, *(f"{cells[tag]['value']:.2f}" if tag in cells else "" for tag in languages)
            )
        tables.append(table)
    write_json(output / LANGUAGES_FILE, {"schema_version": SCHEMA, "tasks": documents})
    note(f"written to {output / LANGUAGES_FILE}; {NATIVE} is a plain run's")
    return tables


def by_task(rows: Sequence[Point]) -> dict[str, list[Point]]:
    """Return the points of each task."""
    return {
        name: [row for row in rows if row["task"] == name]
        for name in dict.fromkeys(row["task"] for row in rows)
    }


def _by_metric(rows: Sequence[Point]) -> "Iterator[tuple[str, list[Point], Metric]]":
    """Yield each task's points, and its first metric that was computed: the primary one, or else what needs no judge.

    A task without one is left out.
    """
    from reelbench.registry import discovery

    for task, points in by_task(rows).items():
        spec = discovery.get(points[0]["benchmark"])
        known = {
            name
            for row in points
            for name, value in row["metrics"].items()
            if value["value"] is not None
        }
        if found := [metric for metric in spec.metrics if metric.name in known]:
            yield task, points, found[0]


def _lines(
    rows: list[Point], metric: "Metric", by: str | None
) -> dict[str, list[tuple[Point, dict[str, Any]]]]:
    """Return the points of each line with their value of a metric: all of them as "", and each label of `by`."""
    found: dict[str, list[tuple[Point, dict[str, Any]]]] = {"": []}
    for row in rows:
        for label, metrics in {"": row["metrics"], **row["breakdowns"].get(by, {})}.items():
            points = found.setdefault(label, [])
            if metrics.get(metric.name, {}).get("value") is not None:
                points.append((row, metrics[metric.name]))
    return dict(sorted(found.items()))
