"""Scoring what lmms-eval left: a run's logged answers, by our task or by lmms-eval's own on the same rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reelbench.base.errors import InputError, PendingError, ReelbenchError
from reelbench.registry.records import SettingsRecord
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.scoring import result_files
from reelbench.scoring.cognitive_profile import TagsFile
from reelbench.tasks.lmms import run_logs
from reelbench.tasks.lmms.option_scores import compared_anew
from reelbench.tasks.lmms.run_logs import LoggedTask
from reelbench.tasks.lmms.twins import twin_items
from reelbench.tasks.score import Answers, Evaluation, Options, Outcome, evaluation, merged
from reelbench.tasks.submissions import PredictionSet, Questions, tagged


def run_evaluations(
    run: Path,
    folder: Path | None,
    options: Options,
    *,
    tags: TagsFile | None = None,
    tasks: Sequence[str] | None = None,
    failed: Callable[[str, ReelbenchError], None] | None = None,
) -> Iterator[tuple[Evaluation, Path]]:
    """Score the tasks of ours in an lmms-eval output folder; yield each one's evaluation, and where it belongs.

    That is `reelbench/<task>` beside lmms-eval's own files, or `<task>` under `folder` where one is
    given; nothing there is replaced by something else or by less. `tags` go to the tasks whose
    questions they name. `failed` is called with each task that can't be scored, and why; without it
    that is raised, and ends all.

    Raises:
        InputError: The tags name no question of the run, or one of `tasks` is not in it.
    """
    logged = run_logs.logged_tasks(run)
    if tasks:
        there = {task.task for task in logged}
        if absent := [name for name in tasks if name not in there]:
            raise InputError(f"{run}: has no task {absent[0]!r}; it has {', '.join(sorted(there))}")
        logged = [task for task in logged if task.task in tasks]
    of_tags = set() if tags is None else _tagged_tasks(logged, tags)
    several_models = len({task.results.parent for task in logged}) > 1
    for task in logged:
        place = scores_folder(task)
        if folder is not None:
            place = (folder / task.results.parent.name if several_models else folder) / task.task
        try:
            named = replace(options, place=place) if folder is not None else options
            evaluated = _evaluated(task, place, named, tags=tags if task.task in of_tags else None)
        except ReelbenchError as error:
            if failed is None or isinstance(error, PendingError):
                raise
            failed(task.task, error)
        else:
            yield evaluated, place


def _tagged_tasks(logged: Sequence[LoggedTask], given: TagsFile) -> set[str]:
    """Return the tasks that a tags file is about; of a run with one task, that one: `tagged` says what doesn't fit."""
    if len(logged) == 1:
        return {logged[0].task}
    about: set[str] = set()
    for one in logged:
        spec, task = run_logs.spec_and_task(one.task)
        if task.name == one.task:
            items = run_logs.logged_items(one.samples).items
        else:
            items = twin_items(one.samples, Questions(spec, task.split, task)).items
        about |= {one.task} if any(item.id in given for item in items) else set()
    if not about:
        raise InputError(
            f"{given.path}: none of its {len(given)} qids is among the questions of the run"
        )
    return about


def scores_folder(logged: LoggedTask) -> Path:
    """Return the folder of a logged task's scores: beside lmms-eval's own files."""
    return logged.results.parent / "reelbench" / logged.task


def check_scored(name: str) -> tuple[BenchmarkSpec, TaskSpec]:
    """Return the benchmark and the task called `name`; InputError where its answers may rest on cues."""
    spec, task = run_logs.spec_and_task(name)
    if task.reasoned:
        raise InputError(
            f"{name}: its answers may rest on cues, so they have no score; use `reelbench diagnose run`"
        )
    return spec, task


def score_logged(
    logged: LoggedTask, folder: Path, options: Options, questions: Questions | None = None
) -> Outcome:
    """Score one task from its logged samples; `questions` are its own, where they were found before the run."""
    return _evaluated(logged, folder, options, questions=questions).write(folder)


def _evaluated(
    logged: LoggedTask,
    folder: Path,
    options: Options,
    *,
    tags: TagsFile | None = None,
    questions: Questions | None = None,
) -> Evaluation:
    spec, task = check_scored(logged.task)
    questions = questions or Questions(spec, task.split, task)
    # What people stated in an earlier scoring of the run, scoring again keeps.
    before = result_files.read(folder) if (folder / result_files.RESULT_FILE).is_file() else None
    about = options.about or (before and before.model.about)
    model = run_logs.model_of(logged.document)
    if task.name != logged.task:
        if options.earlier is not None or options.only is not None or options.answering is not None:
            raise InputError(
                f"{logged.task}: a run of lmms-eval's own task is scored whole, as it was answered"
            )
        twin = twin_items(logged.samples, questions)
        note = twin.note(logged.task, logged.document.get("results", {}).get(logged.task, {}))
        submission = PredictionSet(questions, twin.items, notes=[note])
        settings = run_logs.settings_of_twin(logged.document, logged.task)
        given = Answers(submission, model, settings, duplicate=twin.duplicate)
    else:
        data = run_logs.data_name(logged)
        questions = run_logs.questions_of(questions, data)
        words = (
            questions.words if questions.stated is None else {}
        )  # the run logs no more than the question's text
        run = run_logs.logged_items(logged.samples, words)
        items = run.items + run_logs.media_missing(
            data, {item.id for item in run.items}, options.note, words
        )
        if options.answering is not None:
            data, items = compared_anew(task, data, items, options.answering)
        settings = run_logs.settings_of(spec, logged.document, task, data, items, run=run)
        settings = settings.model_copy(
            update={"preset": options.preset or (before and before.settings.preset)}
        )
        if (earlier := options.earlier) is not None:
            earlier.check_apart(folder)
            settings = settings.model_copy(
                update={"limit": earlier.result.settings.limit}
            )  # of what was asked again
            earlier.refuse_unlike(questions, model.id, settings, judge=options.judge, known=None)
            items, settings = merged(questions, earlier, items, settings, options.note)
            about = about or earlier.result.model.about
        elif options.only is not None or data.ids is not None:
            items = [item for item in items if options.only is None or item.id in options.only.ids]
            settings = settings.model_copy(update={"limit": len(items)})
        # Scores in a log are nobody else's word where it was written a moment ago, by these rules.
        columns = run.columns if logged.own and options.earlier is None else {}
        submission = PredictionSet(questions, items, notes=_unlike(settings, len(items)))
        given = Answers(
            submission,
            model,
            settings,
            judged=run.judged,
            columns=columns,
            duplicate=run.duplicate,
            own_rows=data.data == "own",
        )
    if tags is not None:
        given = replace(given, submission=tagged(given.submission, tags))
    return evaluation(given, replace(options, about=about, earlier=None))


def _unlike(settings: SettingsRecord, items: int) -> list[str]:
    """Say what a model was shown otherwise than was asked for."""
    unlike, unknown = settings.frames_unlike or {}, settings.frames_given.get("unknown", 0)
    lines = []
    if number := unlike.get("frames"):
        arrived = ", ".join(f"{frames}: {n}" for frames, n in sorted(settings.frames_given.items()))
        lines.append(
            f"{number} of {items} questions were shown other frames than {settings.frames} gives: the adapter took "
            f"others of them (frames that arrived: {arrived}); as=images shows them all"
        )
    if number := unlike.get("times"):
        lines.append(
            f"{number} of {items} questions were told other times than those of their frames: no clip can tell the "
            f"times of {settings.frames}; as=images,times=text writes them down"
        )
    if unknown:
        lines.append(
            f"of {unknown} of {items} questions nobody knows which frames reached the model"
        )
    return lines
