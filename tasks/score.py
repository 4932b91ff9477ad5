"""Scoring as a second command: predictions from files, or from what lmms-eval left, to a result on disk.

The model is never run again. One path serves all benchmarks: their `formats` module reads, `judges.scoring` scores.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.judges import results, scoring
from reelbench.judges.llm import modes
from reelbench.registry import discovery
from reelbench.registry.data.loading import imported, upstream_split
from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json
from reelbench.registry.records import ModelRecord, Result, SettingsRecord
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.tasks.lmms.logged import (
    LoggedTask,
    data_name,
    logged_items,
    logged_tasks,
    media_missing,
    model_of,
    settings_of,
    source_of,
    spec_and_task,
)
from reelbench.tasks.submissions import Inputs, Submission, Tagged, submission_suffix, write_submission

if TYPE_CHECKING:
    from reelbench.judges.llm import JudgeOptions

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to score: the judge, if any, and what to leave out."""

    overlap: bool = True
    judge: "JudgeOptions | None" = None
    note: Note = field(default=lambda _: None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A scored benchmark: the result, where it lies, and the ids that did not fit."""

    result: Result
    folder: Path
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    duplicate: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every item is scored and every id fits: what `--strict` asks."""
        return not (self.result.counts.unscored or self.missing or self.extra or self.duplicate)


def score_files(name: str, inputs: Inputs, folder: Path, options: Options, *, model: str | None = None) -> Outcome:
    """Score a submission in the owners' format and write the result to `folder`."""
    spec = discovery.get(name)
    if inputs.tags is not None and not takes_tags(spec):
        raise InputError(f"{spec.id} takes no tags; leave out --tags")
    submission: Submission = imported(f"{spec.formats}:read")(spec, inputs)
    scored = scoring.score(
        spec,
        submission.items,
        overlap=options.overlap,
        judge=modes.batch(options.judge, options.note) if options.judge else None,
        extra=len(submission.extra),
        duplicate=len(submission.duplicate),
        tags_without_question=submission.tags_without_question,
        questions_without_tags=submission.questions_without_tags,
    )
    result = results.write(
        folder,
        spec,
        scored,
        split=submission.split,
        source=submission.source,
        model=ModelRecord(id=model or inputs.predictions.stem),
        settings=SettingsRecord(frames="unknown"),
    )
    return Outcome(result, folder, submission.missing, submission.extra, submission.duplicate, submission.notes)


def takes_tags(spec: BenchmarkSpec) -> bool:
    """Whether the benchmark has facets whose labels come from a tags file."""
    return any(not facet.in_rows for facet in spec.facets)


# --- from lmms-eval's output ----------------------------------------------------------------------------------------


def score_run(run: Path, folder: Path, options: Options, *, tags: Path | None = None) -> Iterator[Outcome]:
    """Score every task of ours in an lmms-eval output folder, each into a folder of its own under `folder`.

    `tags` go to the tasks of the benchmarks that take them; InputError where none is among the run's.
    """
    logged = logged_tasks(run)
    if tags is not None and not any(takes_tags(spec_and_task(task.task)[0]) for task in logged):
        raise InputError(f"{run}: no task in it takes tags; leave out --tags")
    several_models = len({task.results.parent for task in logged}) > 1
    for task in logged:
        place = folder / task.results.parent.name if several_models else folder
        wanted = tags if takes_tags(spec_and_task(task.task)[0]) else None
        yield score_logged(task, place / task.task, options, tags=wanted)


def check_scored(name: str) -> tuple[BenchmarkSpec, TaskSpec]:
    """Return the benchmark and the task called `name`; InputError where its answers may rest on cues."""
    spec, task = spec_and_task(name)
    if task.reasoned:
        raise InputError(f"{name}: its answers may rest on cues, so they have no score; use `reelbench diagnose run`")
    return spec, task


def score_logged(logged: LoggedTask, folder: Path, options: Options, *, tags: Path | None = None) -> Outcome:
    """Score one task from its logged samples."""
    spec, task = check_scored(logged.task)
    document = read_json(logged.results)
    data = data_name(document, logged)
    run = logged_items(logged.samples)
    items = run.items + media_missing(data, {item.id for item in run.items}, options.note)
    notes, beside = [], {"duplicate": len(run.duplicate)}
    if tags is not None:
        tagged: Tagged = imported(f"{spec.formats}:tagged")(items, tags)
        items, notes = tagged.items, tagged.notes
        beside["tags_without_question"] = len(tagged.without_question)
        beside["questions_without_tags"] = len(tagged.without_tags)
    judge = modes.batch(options.judge, options.note) if options.judge else run.judge
    scored = scoring.score(spec, items, overlap=options.overlap, judge=judge, **beside)
    result = results.write(
        folder,
        spec,
        scored,
        split=task.split,
        source=source_of(spec, data),
        model=model_of(document),
        settings=settings_of(spec, document, task, data, scored.samples),
    )
    if spec.splits[upstream_split(spec, task.split)].hidden_answers:
        path = folder / f"submission{submission_suffix(spec)}"
        write_submission(spec, scored.samples, path)
        notes.append(f"{logged.task}: the answers are hidden; submit {path} to the owners' server")
    return Outcome(result, folder, duplicate=run.duplicate, notes=notes)
