"""Score the logged answers of lmms-eval's runs.

They were asked by our tasks, or by lmms-eval's own on the same rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from reelbench.base.errors import InputError, PendingError, ReelbenchError
from reelbench.registry.records import ModelRecord, Result, SettingsRecord
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.scoring import result_files
from reelbench.scoring.cognitive_profile import TagsFile
from reelbench.tasks.lmms import run_logs
from reelbench.tasks.lmms.option_scores import compared_anew
from reelbench.tasks.lmms.run_logs import LoggedTask
from reelbench.tasks.lmms.twins import twin_items
from reelbench.tasks.score import Answers, Evaluation, Options, Outcome, evaluation, merged
from reelbench.tasks.submissions import PredictionSet, Questions, with_tags


class RunEvaluation(NamedTuple):
    """A scored task of a run, and the folder that its result belongs in."""

    evaluation: Evaluation
    folder: Path


class ScoredTask(NamedTuple):
    """A benchmark, and its task that a run is of."""

    spec: BenchmarkSpec
    task: TaskSpec


def run_evaluations(
    run: Path,
    folder: Path | None,
    options: Options,
    *,
    tags: TagsFile | None = None,
    tasks: Sequence[str] | None = None,
    failed: Callable[[str, ReelbenchError], None] | None = None,
) -> Iterator[RunEvaluation]:
    """Score the tasks of ours in an lmms-eval output folder, one after another.

    A result belongs in `reelbench/<task>` beside lmms-eval's own files, or in `<task>` under
    `folder` where one is given. Nothing there is replaced by something else or by less.

    Args:
        run: lmms-eval's output folder.
        folder: The folder for the results.
        options: How to score.
        tags: Labels for the tasks whose questions they name.
        tasks: The tasks to score. None for all.
        failed: Called with each task that can't be scored, and why. Without it the first such error
            is raised.

    Raises:
        InputError: The tags name no question of the run, or one of `tasks` is not in it.
    """
    logged_tasks = run_logs.logged_tasks(run)
    if tasks:
        names = {logged.task for logged in logged_tasks}
        absent = [name for name in tasks if name not in names]
        if absent:
            raise InputError(f"{run}: has no task {absent[0]!r}; it has {', '.join(sorted(names))}")
        logged_tasks = [logged for logged in logged_tasks if logged.task in tasks]
    tagged_tasks: set[str] = set()
    if tags is not None:
        tagged_tasks = _tagged_tasks(logged_tasks, tags)
    models = {logged.results.parent for logged in logged_tasks}
    for logged in logged_tasks:
        place = scores_folder(logged)
        task_options = options
        if folder is not None:
            parent = folder / logged.results.parent.name if len(models) > 1 else folder
            place = parent / logged.task
            task_options = replace(options, place=place)
        task_tags = tags if logged.task in tagged_tasks else None
        try:
            task_evaluation = _evaluate_logged_task(logged, place, task_options, tags=task_tags)
        except ReelbenchError as error:
            if failed is None or isinstance(error, PendingError):
                raise
            failed(logged.task, error)
        else:
            yield RunEvaluation(task_evaluation, place)


def _tagged_tasks(logged_tasks: Sequence[LoggedTask], tags: TagsFile) -> set[str]:
    """Return the tasks that a tags file is about.

    Of a run with one task it is that one: `with_tags` says what doesn't fit.
    """
    if len(logged_tasks) == 1:
        return {logged_tasks[0].task}
    names: set[str] = set()
    for logged in logged_tasks:
        spec, task = run_logs.spec_and_task(logged.task)
        if task.name == logged.task:
            items = run_logs.logged_items(logged.samples).items
        else:
            items = twin_items(logged.samples, Questions(spec, task.split, task)).items
        if any(item.id in tags for item in items):
            names.add(logged.task)
    if not names:
        raise InputError(
            f"{tags.path}: none of its {len(tags)} qids is among the questions of the run"
        )
    return names


def scores_folder(logged: LoggedTask) -> Path:
    """Return the folder of a logged task's scores: beside lmms-eval's own files."""
    return logged.results.parent / "reelbench" / logged.task


def check_scored(name: str) -> ScoredTask:
    """Return the benchmark and the task called `name`.

    Raises:
        InputError: Its answers may rest on cues.
    """
    spec, task = run_logs.spec_and_task(name)
    if task.reasoned:
        raise InputError(
            f"{name}: its answers may rest on cues, so they have no score; "
            "use `reelbench diagnose run`"
        )
    return ScoredTask(spec, task)


def score_logged(
    logged: LoggedTask, folder: Path, options: Options, questions: Questions | None = None
) -> Outcome:
    """Score one task from its logged samples, and write the result to `folder`.

    `questions` are the task's own, where they were found before the run.
    """
    return _evaluate_logged_task(logged, folder, options, questions=questions).write(folder)


def _evaluate_logged_task(
    logged: LoggedTask,
    folder: Path,
    options: Options,
    *,
    tags: TagsFile | None = None,
    questions: Questions | None = None,
) -> Evaluation:
    spec, task = check_scored(logged.task)
    questions = questions or Questions(spec, task.split, task)
    about = options.about
    if (folder / result_files.RESULT_FILE).is_file():
        # What people stated in an earlier scoring of the run, scoring again keeps.
        before = result_files.read(folder)
        about = about or before.model.about
        options = replace(options, preset=options.preset or before.settings.preset)
        options = replace(options, file_as=options.file_as or _name_before(before, logged))
    if options.earlier is not None:
        about = about or options.earlier.result.model.about
    if task.name == logged.task:
        answers = _answers_of_task(logged, folder, options, questions)
    else:
        answers = _answers_of_twin(logged, options, questions)
    if tags is not None:
        answers = replace(answers, submission=with_tags(answers.submission, tags))
    return evaluation(answers, replace(options, about=about, earlier=None))


def _name_before(before: Result, logged: LoggedTask) -> str | None:
    """Return the name that an earlier scoring of a run filed its model under."""
    model = run_logs.model_of(logged.document)
    is_same_run = (before.model.adapter, before.model.args) == (model.adapter, model.args)
    return before.model.id if is_same_run else None


def _model_of(logged: LoggedTask, options: Options) -> ModelRecord:
    """Return the model of a run, under the user's name where there is one."""
    model = run_logs.model_of(logged.document)
    if options.file_as is None:
        return model
    return model.model_copy(update={"id": options.file_as})


def _answers_of_twin(logged: LoggedTask, options: Options, questions: Questions) -> Answers:
    """Return the answers of a run of lmms-eval's own task on the same rows."""
    if options.earlier is not None or options.only is not None or options.answering is not None:
        raise InputError(
            f"{logged.task}: a run of lmms-eval's own task is scored whole, as it was answered"
        )
    twin = twin_items(logged.samples, questions)
    metrics = logged.document.get("results", {}).get(logged.task, {})
    submission = PredictionSet(questions, twin.items, notes=[twin.note(logged.task, metrics)])
    model = _model_of(logged, options)
    settings = run_logs.settings_of_twin(logged.document, logged.task)
    return Answers(submission, model, settings, duplicate=twin.duplicate)


def _answers_of_task(
    logged: LoggedTask, folder: Path, options: Options, questions: Questions
) -> Answers:
    """Return the answers of a run of our task."""
    spec, task = check_scored(logged.task)
    model = _model_of(logged, options)
    data = run_logs.data_name(logged)
    questions = run_logs.questions_of(questions, data)
    # The run logs no more than a question's text; the rows have its options.
    words = questions.words if questions.stated is None else {}
    run = run_logs.logged_items(logged.samples, words)
    ids = {item.id for item in run.items}
    items = run.items + run_logs.media_missing(data, ids, options.note, words)
    if options.answering is not None:
        data, items = compared_anew(task, data, items, options.answering)
    settings = run_logs.settings_of(spec, logged.document, task, data, items, run=run)
    settings = settings.model_copy(update={"preset": options.preset})
    earlier = options.earlier
    if earlier is not None:
        earlier.check_apart(folder)
        limit = earlier.result.settings.limit  # that of the run is of what was asked again
        settings = settings.model_copy(update={"limit": limit})
        earlier.refuse_unlike(
            questions,
            model.id,
            options.labelled(settings),
            judge=options.judge,
            question_ids=None,
            errata=options.errata_of(questions),
        )
        items, settings = merged(questions, earlier, items, settings, options.note)
    elif options.only is not None or data.ids is not None:
        if options.only is not None:
            items = [item for item in items if item.id in options.only.ids]
        settings = settings.model_copy(update={"limit": len(items)})
    # Scores in a log are nobody else's word where it was written a moment ago, by these rules.
    columns = run.columns if logged.is_own and earlier is None else {}
    return Answers(
        PredictionSet(questions, items, notes=_frame_notes(settings, len(items))),
        model,
        settings,
        judged=run.judged,
        columns=columns,
        duplicate=run.duplicate,
        own_rows=data.data == "own",
        earlier_result=earlier and earlier.result,
    )


def _frame_notes(settings: SettingsRecord, items: int) -> list[str]:
    """Return notes on items with other frames, or other times, than asked for."""
    unlike = settings.frames_unlike or {}
    notes: list[str] = []
    other_frames = unlike.get("frames")
    if other_frames:
        counts = sorted(settings.frames_given.items())
        arrived = ", ".join(f"{frames}: {count}" for frames, count in counts)
        notes.append(
            f"{other_frames} of {items} questions were shown other frames than {settings.frames} "
            f"gives: the adapter took others of them (frames that arrived: {arrived}); as=images "
            "shows them all"
        )
    other_times = unlike.get("times")
    if other_times:
        notes.append(
            f"{other_times} of {items} questions were told other times than those of their "
            f"frames: no clip can tell the times of {settings.frames}; as=images,times=text "
            "writes them down"
        )
    unknown = settings.frames_given.get("unknown", 0)
    if unknown:
        notes.append(
            f"of {unknown} of {items} questions nobody knows which frames reached the model"
        )
    return notes
