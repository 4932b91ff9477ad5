"""`reelbench run` with several settings: one run for each, in one lmms-eval, and the scores against the setting."""

import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.cli import console
from reelbench.cli.report import check_judged, report, report_runs
from reelbench.registry import settings
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.files import read_json, write_json, write_text
from reelbench.registry.frames.sampling import FrameSampling
from reelbench.tasks.lmms import process

if TYPE_CHECKING:
    from rich.table import Table

    from reelbench.tasks.score import Options, Outcome

SWEEP_FILE = "sweep.json"
SCHEMA = 1
NATIVE = "native"
"""The questions in their own language."""
_COUNTED = ("uniform", "keyframe", "window")
_GENERATION = "gen_kwargs."

Arguments = list[str]
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One run of a sweep.

    Attributes:
        folder: Its folder, in the sweep's.
        told: What the user is told of it.
        label: How it is called on the axis.
        says: What its points in the sweep's file say of the setting.
        at: Where it stands on the axis; None: one after the other.
        sampling: The frames; None where nobody asked.
        environ: Variables beside this process's.
        change: Makes its arguments of lmms-eval's.
    """

    folder: str
    told: str
    label: str
    says: Mapping[str, Any]
    at: float | None = None
    sampling: FrameSampling | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    change: Callable[[Arguments], Arguments] = list


# --- the settings -----------------------------------------------------------------------------------------------------


def of_frames(spec: str | None, counts: str) -> list[Step]:
    """Return a run for each number of frames, rising and once; 0 is text only.

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
    steps = []
    for count in sorted({int(part) for part in parts}):
        # Parsed again, so that a number too large for a spec is refused here.
        without = FrameSampling(kind="none", subs=pattern.subs)
        wanted = FrameSampling.parse(str(replace(pattern, frames=count))) if count else without
        says = {"frames": count, "sampling": str(wanted)}
        at = math.log2(count + 1)
        steps.append(Step(f"frames-{count}", f"frames {wanted}", str(count), says, at=at, sampling=wanted))
    return steps


def of_argument(given: str, sampling: FrameSampling | None) -> tuple[str, list[Step]]:
    """Return the key of `KEY=A,B,C` and a run for each value, in their order.

    KEY is an argument of the adapter's; `gen_kwargs.KEY` one of generation.
    """
    key, mark, values = given.partition("=")
    parts = [part.strip() for part in values.split(",")]
    if not mark or not re.fullmatch(r"[A-Za-z_][\w.]*", key) or not all(parts) or len(set(parts)) < len(parts):
        raise InputError(f"--sweep {given!r}: not KEY=A,B,C with each value once, e.g. reasoning_effort=low,high")
    option = "--gen_kwargs" if key.startswith(_GENERATION) else "--model_args"
    name = key.removeprefix(_GENERATION)

    def given_too(arguments: Arguments, value: str) -> Arguments:
        others = (process.option_value(arguments, option) or "").split(",")
        kept = [part for part in others if part and part.partition("=")[0].strip() != name]
        return process.replaced(arguments, option, ",".join([*kept, f"{name}={value}"]))

    return key, [
        Step(
            f"{key}-{re.sub(r'[^A-Za-z0-9._-]+', '-', value)[:60]}",
            f"{key}={value}",
            value,
            {"setting": {key: value}},
            sampling=sampling,
            change=partial(given_too, value=value),
        )
        for value in parts
    ]


def of_languages(languages: Sequence[str], translations: Path, sampling: FrameSampling | None) -> list[Step]:
    """Return a plain run, then one for each language with the questions in a file."""
    path = {settings.TRANSLATIONS.name: str(translations.absolute())}
    return [
        Step(
            f"language-{language}",
            f"questions in {language}" if language != NATIVE else "questions in their own language",
            language,
            {"language": language},
            sampling=sampling,
            environ={} if language == NATIVE else {settings.LANGUAGE.name: language, **path},
        )
        for language in (NATIVE, *languages)
    ]


def of_runs(number: int, seed: int | None, arguments: Arguments, sampling: FrameSampling | None) -> list[Step]:
    """Return as many runs, each with a seed of its own: `seed`, lmms-eval's own `--seed` or 0 is the first one's.

    Raises:
        InputError: `--seed` behind `--` is not one number, or there are two.
    """
    given = process.option_value(arguments, "--seed")
    if given is not None and (seed is not None or not given.isdecimal()):
        raise InputError(f"--seed {given} behind --: with --runs give one number, before or behind it")
    first = int(given or 0) if seed is None else seed
    return [
        Step(
            f"run-{run + 1}",
            f"run {run + 1} of {number}, seed {first + run},",
            str(run + 1),
            {"run": run + 1},
            sampling=sampling,
            environ={settings.RUN.name: str(run + 1)},
            change=lambda arguments, run=run: process.replaced(arguments, "--seed", str(first + run)),
        )
        for run in range(number)
    ]


# --- the runs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Printed:
    """What a run prints, and what its hints repeat.

    Attributes:
        judging: The judge's options as words, for the hint that says how to finish.
        as_json: Whether stdout has JSON alone.
        quiet: Whether nothing else is said.
    """

    judging: Sequence[str]
    as_json: bool = False
    quiet: bool = False

    @property
    def of_lmms_eval(self) -> int | None:
        """The file descriptor that lmms-eval's own table goes to; None: where ours go."""
        return sys.stderr.fileno() if self.as_json or self.quiet else None


@dataclass(slots=True)
class _Ended:
    """What became of the runs: those that failed, what the others were judged, and how many models were loaded."""

    failed: list[str] = field(default_factory=list[str])
    outcomes: "list[Outcome]" = field(default_factory=list)
    loads: int = 0

    def check(self) -> None:
        """Raise ReelbenchError where a run has no results, or a judge that was needed gave no score."""
        if self.failed:
            raise ReelbenchError(f"no results for {'; '.join(self.failed)}; the messages above say why")
        check_judged(self.outcomes)


_COMMAND = "command.json"
"""In the folder of a run among several: how lmms-eval was run, written when that is done."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Runs that differ in one setting.

    Attributes:
        axis: Names the setting.
        steps: The runs.
        options: How they are scored.
        printed: What is printed.
        by: A facet of which each label has a line of its own.
        environ: Variables of all runs.
        finish: Called with all points, the folder and who is told, once the runs are done -> the tables to print.
        resume: Whether a run that ended before, by the same command, is only scored.
    """

    axis: str
    steps: Sequence[Step]
    options: "Options"
    printed: Printed
    by: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    finish: "Callable[[Sequence[dict[str, Any]], Path, Note], list[Table]] | None" = None
    resume: bool = False

    def run(self, arguments: Arguments, output: Path) -> None:
        """Run each step into its own folder; write sweep.json and the plots after each, so that a failure costs one."""
        from reelbench.tasks.lmms.task import SUBMISSION

        rows: list[dict[str, Any]] = []

        def take(number: int, step: Step, outcomes: "list[Outcome]") -> None:
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
                        "metrics": {name: metric.model_dump(mode="json") for name, metric in result.metrics.items()},
                        "breakdowns": result.model_dump(mode="json")["breakdowns"],
                        "counts": result.counts.model_dump(mode="json"),
                        "result": str(outcome.folder.relative_to(output) / "result.json"),
                    }
                )
            self._write(output, rows)

        ended = self._each(arguments, output, take)
        tables = [*self._tables(rows)] if self.finish is None else self.finish(rows, output, self.options.note)
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
                self.options.note(f"{task}: the points are not over the same questions: scored are {shown}{unit}")
        self.options.note(f"written to {output / SWEEP_FILE}; models loaded: {ended.loads}")
        ended.check()

    def repeat(self, arguments: Arguments, output: Path) -> None:
        """Run all several times, each into its own folder, and write what the runs of each task come to (`runs.json`).

        A run that ended before, by the same command, is scored again and not run again.
        """
        from reelbench.methods.runs import write_together

        folders: dict[str, list[Path]] = defaultdict(list)

        def take(_: int, __: Step, outcomes: "list[Outcome]") -> None:
            for outcome in outcomes:
                folders[outcome.folder.name].append(outcome.folder)

        ended = self._each(arguments, output, take)
        whole = [task for task, found in folders.items() if len(found) == len(self.steps)]
        for task in whole:
            write_together(output / task, folders[task])
        report_runs([output / task for task in whole], as_json=self.printed.as_json, quiet=self.printed.quiet)
        if not any(outcome.result.settings.generation.get("temperature") for outcome in ended.outcomes):
            self.options.note(
                "at temperature 0 runs differ as far as the model does; --gen_kwargs temperature=0.7 sets one"
            )
        ended.check()

    def _each(self, arguments: Arguments, output: Path, take: "Callable[[int, Step, list[Outcome]], None]") -> _Ended:
        """Run each step into its own folder; `take` gets what each came to, so that a failure costs one."""
        from reelbench.tasks.lmms.worker import Worker
        from reelbench.tasks.score_runs import run_evaluations

        ended = _Ended()
        with Worker() as kept:
            for number, step in enumerate(self.steps):
                folder = output / step.folder
                try:
                    arguments = process.replaced(arguments, "--output_path", str(folder))
                    changed = step.change(arguments)
                    environ = {**self.environ, **step.environ}
                    command = {"arguments": changed, "environ": environ, "frames": step.sampling and str(step.sampling)}
                    there = self.resume and (folder / _COMMAND).is_file() and read_json(folder / _COMMAND) == command
                    self.options.note(f"{step.told} is in {folder}" if there else f"{step.told} into {folder}")
                    if there:
                        outcomes = [made.write(place) for made, place in run_evaluations(folder, None, self.options)]
                    else:
                        outcomes = process.run_and_score(
                            changed,
                            folder,
                            step.sampling,
                            self.options,
                            environ=environ,
                            stdout=self.printed.of_lmms_eval,
                            start=process.followed(console.only_told(), kept),
                        )
                    again = ["reelbench", "score", "--run", str(folder), *self.printed.judging]
                    report(outcomes, as_json=False, again=again, quiet=self.printed.quiet or self.printed.as_json)
                    process.check_all_there(arguments, outcomes)
                except InputError:
                    raise
                except ReelbenchError as error:
                    console.note(f"{step.told}: {error}")
                    ended.failed.append(step.told)
                    continue
                if self.resume:
                    write_json(folder / _COMMAND, command)
                ended.outcomes += outcomes
                take(number, step, outcomes)
        ended.loads = kept.loads
        return ended

    def _write(self, output: Path, rows: list[dict[str, Any]]) -> None:
        """Write the points, and draw each task's first metric by the setting: all, and the labels of `by` apart."""
        from reelbench.pages.plots import Mark, frames_mark, lines

        write_json(output / SWEEP_FILE, {"schema_version": SCHEMA, "points": rows})
        for task, points in by_task(rows).items():
            metric = first_metric(points)
            if metric is None:
                continue
            for name, by in ((task, None), *([(f"{task}_by_{self.by}", self.by)] if self.by else [])):
                series = {
                    label: [
                        frames_mark(row["frames"], value["value"], value["ci95"], value["n"])
                        if "frames" in row
                        else Mark(row["at"], row["label"], value["value"], value["ci95"], value["n"])
                        for row, value in values
                    ]
                    for label, values in _lines(points, metric.name, by).items()
                    if values
                }
                if series:
                    head = f"{task} · {points[0]['model']}", f"{metric.title}, {metric.in_unit.label}"
                    drawn = lines(*head, series, self.axis, (metric.high - metric.low) / 10)
                    write_text(output / f"sweep_{name}.svg", drawn)

    def _tables(self, rows: list[dict[str, Any]]) -> "Iterator[Table]":
        """Yield each task's first metric against the setting, a column for each label of `by`."""
        for task, points in by_task(rows).items():
            metric = first_metric(points)
            if metric is None:
                continue
            columns = {"all": _lines(points, metric.name, None)[""]}
            if self.by:
                columns |= _lines(points, metric.name, self.by)
            table = console.table(f"{task}: {metric.title}", self.axis, *(f"#{name}" for name in columns))
            for row in points:
                values = [next((v["value"] for r, v in line if r is row), None) for line in columns.values()]
                table.add_row(row["label"], *("" if value is None else f"{value:.2f}" for value in values))
            yield table


# --- what they come to ------------------------------------------------------------------------------------------------


def by_task(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the points of each task."""
    return {name: [row for row in rows if row["task"] == name] for name in dict.fromkeys(row["task"] for row in rows)}


def first_metric(rows: Sequence[dict[str, Any]]) -> Any:  # noqa: ANN401 - a Metric, or None
    """Return a task's first metric that was computed: its primary one, or another where that needs a judge."""
    from reelbench.registry import discovery

    spec = discovery.get(rows[0]["benchmark"])
    known = {name for row in rows for name, value in row["metrics"].items() if value["value"] is not None}
    return next((metric for metric in spec.metrics if metric.name in known), None)


def _lines(
    rows: list[dict[str, Any]], metric: str, by: str | None
) -> dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Return the points of each line with their value of a metric; one line without a name where `by` is None."""
    found: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for row in rows:
        for label, metrics in ({"": row["metrics"]} if by is None else row["breakdowns"].get(by, {})).items():
            points = found.setdefault(label, [])
            if metrics.get(metric, {}).get("value") is not None:
                points.append((row, metrics[metric]))
    return dict(sorted(found.items()))
