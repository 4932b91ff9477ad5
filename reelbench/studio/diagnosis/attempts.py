"""The source of a diagnosis' answers: an existing result, or lmms-eval, asked with cues."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import write_json
from reelbench.base.progress import Bar, no_bar
from reelbench.judges.judge_run import judge_of
from reelbench.judges.prompting import load_prompts
from reelbench.registry import discovery
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord, Sample
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.scoring import aggregation, result_files
from reelbench.studio.diagnosis.folder import CUES, Attempt
from reelbench.tasks.lmms import process, run_logs

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.judges.verdicts import Verdict

JUDGE = "judge.json"
"""Beside a run's answers: the record of the judge."""

_OURS = ("--tasks", "--output_path")
_WHERE = frozenset(
    {"base_url", "batch_size", "device", "device_map", "max_retries", "num_concurrent", "timeout"}
)
"""Arguments of adapters that change where and how fast a model runs, and not its answers."""
_STDERR = 2
"""For lmms-eval's words: our own table, or JSON, is all of stdout."""
_COMES_BACK = frozenset({Reason.JUDGE_UNAVAILABLE, Reason.JUDGE_BUDGET, Reason.JUDGE_REFUSED})
_OF_ONE_CALL = {"calls", "cached", "cost_usd", "kept_from", "kept_to"}
"""Fields of a judge's record that differ between a call and its repetition."""


# --- a result
# -------------------------------------------------------------------------------------------------


class ResultAttempts(NamedTuple):
    """The answers of a result, with the benchmark and split that they are of."""

    benchmark: str
    split: str
    attempts: list[Attempt]


def attempts_of_result(folder: Path) -> ResultAttempts:
    """Read the answers in a result's folder.

    Raises:
        InputError: None of them was judged.
    """
    result = result_files.read(folder)
    spec = discovery.spec_of(result.benchmark)
    attempts = [_attempt_of_sample(spec, sample) for sample in result_files.read_samples(folder)]
    if all(attempt.right is None for attempt in attempts):
        raise InputError(
            f"{folder}: no answer in it was judged, so none is known to be wrong; "
            "score it with --judge"
        )
    return ResultAttempts(spec.id, result.benchmark.split, attempts)


def keep_judge(run: Path, judge: JudgeRecord) -> None:
    """Write the judge's record beside a run's answers."""
    write_json(run / JUDGE, judge.model_dump(mode="json", exclude=_OF_ONE_CALL))


def _attempt_of_sample(spec: BenchmarkSpec, sample: Sample, output: str | None = None) -> Attempt:
    answer = "" if sample.prediction is None else str(sample.prediction)
    raw_output = answer if output is None else output
    right = None
    if not sample.reason:
        # Right by the metric that ranks.
        right = spec.primary.is_right(aggregation.score_of(spec, sample))
    return Attempt(
        id=sample.id,
        answer=answer,
        output=raw_output,
        right=right,
        reason=sample.reason,
        scores=sample.scores,
    )


# --- lmms-eval
# -------------------------------------------------------------------------------------------------


@dataclass
class LmmsEval:
    """Asks by lmms-eval and judges the answers.

    Nothing is asked before it is called.
    """

    name: str
    """The benchmark, or one of its tasks.

    It is asked by the one task of that split that asks for steps, which may be of more questions.
    Cues choose among them.
    """
    arguments: Sequence[str]
    """lmms-eval's, without tasks and output folder."""
    judge: "JudgeOptions | None"
    """None only where the benchmark needs nobody."""
    note: Callable[[str], None]
    frames: FrameSampling | None = None
    """By default from the environment."""
    bar: Bar = no_bar
    start: process.Start | None = None
    """Runs lmms-eval; by default in a process for each run."""

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            InputError: There is no such task, the arguments name what is ours to name, or a judge
                is lacking.
        """
        self._only: dict[str, str] = {}
        spec_and_task = discovery.find_task(self.name)
        if spec_and_task is None:
            self.spec = discovery.find(self.name)
            split = self.spec.default_split
        else:
            self.spec, named_task = spec_and_task
            self._only |= named_task.only
            split = named_task.split
        self.task = self._task_that_asks_for_steps(split)
        for argument in self.arguments:
            option = argument.partition("=")[0]
            if option in _OURS:
                raise InputError(f"leave {option} out of lmms-eval's arguments: it is set for you")
        if not self.arguments:
            raise InputError(
                "give lmms-eval's arguments after --, e.g. -- --model qwen2_5_vl --model_args …"
            )
        if self.spec.judge is not None and self.judge is None:
            raise InputError(f"{self.spec.id}: its answers need a judge; give --judge MODEL")
        self.frames = self.frames or settings.FRAMES.read(FrameSampling.parse)

    def _task_that_asks_for_steps(self, split: str) -> TaskSpec:
        for task in self.spec.tasks:
            if task.reasoned and task.split == split:
                return task
        names: set[str] = set()
        for spec in discovery.specs().values():
            names.update(task.name for task in spec.tasks if task.reasoned)
        raise InputError(
            f"{self.name}: has no task that asks for steps; there are {', '.join(sorted(names))}"
        )

    @property
    def about(self) -> dict[str, Any]:
        """The model, the judge and their settings, as a diagnosis records them."""
        model = run_logs.model_of(
            {
                "config": {
                    "model": process.option_value(self.arguments, "--model"),
                    "model_args": process.option_value(self.arguments, "--model_args"),
                }
            }
        )
        about: dict[str, Any] = {
            "model": model.id,
            "adapter": model.adapter,
            "model_args": {name: value for name, value in model.args.items() if name not in _WHERE},
            "gen_kwargs": process.option_value(self.arguments, "--gen_kwargs"),
            "frames": str(self.frames or FrameSampling()),
            "judge": self.judge.name if self.judge else None,
        }
        if self._only:
            about["only"] = self._only
        if self.judge is not None:
            prompts = load_prompts(self.spec, self.judge.prompts)
            about["judge_prompts"] = {"name": prompts.name, "sha256": prompts.sha256}
            sampling: dict[str, Any] = {}
            for judge in self.judge.members:
                sampling[judge.filed_name] = {
                    "temperature": judge.temperature,
                    "votes": judge.votes,
                    **judge.extra,
                }
            about["judge_sampling"] = sampling
        return about

    def __call__(self, run: Path, lock: int) -> list[Attempt]:
        """Return the model's attempts at the questions in a run's cues.

        A run that has ended is only read.

        Raises:
            ReelbenchError: lmms-eval failed, or the judge can't be asked now.
        """
        output = run / "lmms_eval"
        finished_task = _finished_task(output, self.task.name)
        if finished_task is None:
            self._run_lmms_eval(run, output, lock)
            finished_task = _finished_task(output, self.task.name)
        if finished_task is None:
            raise ReelbenchError(
                f"{output}: lmms-eval saved no answers to {self.task.name}; its messages say why"
            )
        logged, items = finished_task
        data = run_logs.data_name(logged)
        answered_ids = {item.id for item in items}
        items = [*items, *run_logs.media_missing(data, answered_ids, self.note)]
        raw_replies = run_logs.raw_replies(logged.samples)
        verdicts = self._verdicts_by_id(run, items)
        attempts: list[Attempt] = []
        for item in items:
            sample = aggregation.to_sample(self.spec, item, verdicts.get(item.id))
            attempts.append(_attempt_of_sample(self.spec, sample, raw_replies.get(sample.id)))
        return attempts

    def _run_lmms_eval(self, run: Path, output: Path, lock: int) -> None:
        # An interrupted run may have left files there, which must not be taken for this one's.
        shutil.rmtree(output, ignore_errors=True)
        arguments = [
            *self.arguments,
            "--tasks",
            self.task.name,
            "--output_path",
            str(output),
            "--log_samples",
        ]
        cues_path = (run / CUES).absolute()
        process.run(
            arguments,
            output,
            self.frames,
            self.note,
            environ={settings.CUES.name: str(cues_path)},
            kept_open=(lock,),
            stdout=_STDERR,
            start=self.start,
        )

    def _verdicts_by_id(self, run: Path, items: list[Item]) -> "Mapping[str, Verdict]":
        """Return the judge's verdicts by id, and write its record.

        There are none without a judge.
        """
        if self.judge is None:
            return {}
        judge = judge_of(self.judge, self.note, self.bar)
        verdicts, record = judge(self.spec, items)
        lacking = [verdict for verdict in verdicts.values() if verdict.reason in _COMES_BACK]
        if lacking:
            raise ReelbenchError(
                f"the judge gave no score for {len(lacking)} of {len(verdicts)} answers "
                f"({lacking[0].reason}); the scores so far are saved: rerun the command to "
                "continue"
            )
        keep_judge(run, record)
        return verdicts


class _FinishedTask(NamedTuple):
    """The logged task of a run, and its items."""

    logged: run_logs.LoggedTask
    items: list[Item]


def _finished_task(output: Path, task: str) -> _FinishedTask | None:
    """Return a run's logged task.

    None where it has not ended. Samples are written last, one by one.
    """
    with suppress(InputError):
        for logged in run_logs.logged_tasks(output):
            if logged.task == task:
                counts = logged.document.get("n-samples", {}).get(task, {})
                items = run_logs.logged_items(logged.samples).items
                if len(items) != counts.get("effective"):
                    return None
                return _FinishedTask(logged, items)
    return None
