"""Where a diagnosis' answers come from: a result that is there, or lmms-eval asked with cues."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, result_files
from reelbench.studio.diagnosis.folder import CUES, Attempt
from reelbench.tasks.lmms import process, run_logs

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.judges.verdicts import Verdict

JUDGE = "judge.json"
"""Beside a run's answers: who judged them."""

_OURS = ("--tasks", "--output_path")
_WHERE = frozenset(
    {"base_url", "batch_size", "device", "device_map", "max_retries", "num_concurrent", "timeout"}
)
"""Arguments of adapters that say where and how fast a model runs, and not what it answers."""
_STDERR = 2  # our own table, or JSON, is all of stdout
_COMES_BACK = frozenset({Reason.JUDGE_UNAVAILABLE, Reason.JUDGE_BUDGET, Reason.JUDGE_REFUSED})


# --- a result
# -------------------------------------------------------------------------------------------------------


def attempts_of_result(folder: Path) -> tuple[str, str, list[Attempt]]:
    """Read a result's folder -> (benchmark, split, its answers); InputError where none of them was judged."""
    result = result_files.read(folder)
    spec = discovery.spec_of(result.benchmark)
    attempts = [_attempt(spec, sample) for sample in result_files.read_samples(folder)]
    if all(attempt.right is None for attempt in attempts):
        raise InputError(
            f"{folder}: no answer in it was judged, so none is known to be wrong; score it with --judge"
        )
    return spec.id, result.benchmark.split, attempts


def keep_judge(run: Path, judge: JudgeRecord) -> None:
    """Write who judged a run's answers beside them."""
    paid = {
        "calls",
        "cached",
        "cost_usd",
        "kept_from",
        "kept_to",
    }  # of one call, so a repetition's are others
    write_json(run / JUDGE, judge.model_dump(mode="json", exclude=paid))


def _attempt(spec: BenchmarkSpec, sample: Sample, output: str | None = None) -> Attempt:
    answer = "" if sample.prediction is None else str(sample.prediction)
    # Right by the metric that ranks.
    right = None if sample.reason else spec.primary.is_right(aggregation.score_of(spec, sample))
    shown = answer if output is None else output
    return Attempt(
        id=sample.id,
        answer=answer,
        output=shown,
        right=right,
        reason=sample.reason,
        scores=sample.scores,
    )


# --- lmms-eval
# ------------------------------------------------------------------------------------------------------


@dataclass
class LmmsEval:
    """Asks by lmms-eval, and judges what it leaves; nothing is asked before it is called."""

    name: str
    """The benchmark, or one of its tasks: asked by the one task of that split that asks for steps, which may be of more
    questions. Which are asked, cues say."""
    arguments: Sequence[str]
    """lmms-eval's, without tasks and output folder."""
    judge: "JudgeOptions | None"
    """None only where the benchmark needs nobody."""
    note: Callable[[str], None]
    frames: FrameSampling | None = None
    """By default as the environment says."""
    bar: Bar = no_bar
    start: process.Start | None = None
    """Runs lmms-eval; by default in a process for each run."""

    def __post_init__(self) -> None:
        """InputError where there is no such task, the arguments name what is ours to name, or a judge is lacking."""
        self.spec, known = discovery.find_task(self.name) or (discovery.find(self.name), None)
        self._only = dict(known.only) if known else {}
        split = known.split if known else self.spec.default_split
        task = next(
            (task for task in self.spec.tasks if task.reasoned and task.split == split), None
        )
        if task is None:
            having = sorted(
                {
                    task.name
                    for spec in discovery.specs().values()
                    for task in spec.tasks
                    if task.reasoned
                }
            )
            raise InputError(
                f"{self.name}: has no task that asks for steps; there are {', '.join(having)}"
            )
        self.task = task
        if ours := next(
            (given for given in (a.partition("=")[0] for a in self.arguments) if given in _OURS),
            None,
        ):
            raise InputError(f"leave {ours} out of lmms-eval's arguments: it is set for you")
        if not self.arguments:
            raise InputError(
                "give lmms-eval's arguments after --, e.g. -- --model qwen2_5_vl --model_args …"
            )
        if self.spec.judge is not None and self.judge is None:
            raise InputError(f"{self.spec.id}: its answers need a judge; give --judge MODEL")
        self.frames = self.frames or settings.FRAMES.read(FrameSampling.parse)

    @property
    def about(self) -> dict[str, Any]:
        """Who is asked and who judges, and how, as a diagnosis records them."""
        given = {
            name: process.option_value(self.arguments, f"--{name}")
            for name in ("model", "model_args")
        }
        model = run_logs.model_of({"config": given})
        about: dict[str, Any] = {
            "model": model.id,
            "adapter": model.adapter,
            "model_args": {name: value for name, value in model.args.items() if name not in _WHERE},
            "gen_kwargs": process.option_value(self.arguments, "--gen_kwargs"),
            "frames": str(self.frames or FrameSampling()),
            "judge": self.judge.name if self.judge else None,
            **({"only": self._only} if self._only else {}),
        }
        if self.judge is not None:
            prompts = load_prompts(self.spec, self.judge.prompts)
            about["judge_prompts"] = {"name": prompts.name, "sha256": prompts.sha256}
            about["judge_sampling"] = {
                judge.model: {"temperature": judge.temperature, "votes": judge.votes, **judge.extra}
                for judge in self.judge.members
            }
        return about

    def __call__(self, run: Path, lock: int) -> list[Attempt]:
        """Return the model's attempts at the questions in a run's cues; a run that has ended is only read.

        ReelbenchError where lmms-eval failed, or the judge can't be asked now.
        """
        output = run / "lmms_eval"
        ended = _finished_task(output, self.task.name)
        if ended is None:
            # What a run left that was cut short is no part of this one.
            shutil.rmtree(output, ignore_errors=True)
            arguments = [
                *self.arguments,
                "--tasks",
                self.task.name,
                "--output_path",
                str(output),
                "--log_samples",
            ]
            process.run(
                arguments,
                output,
                self.frames,
                self.note,
                environ={settings.CUES.name: str((run / CUES).absolute())},
                kept_open=(lock,),
                stdout=_STDERR,
                start=self.start,
            )
            ended = _finished_task(output, self.task.name)
        if ended is None:
            raise ReelbenchError(
                f"{output}: lmms-eval left no answers of {self.task.name}; its messages say why"
            )
        logged, items = ended
        data = run_logs.data_name(logged)
        items += run_logs.media_missing(data, {item.id for item in items}, self.note)
        raw = run_logs.raw_replies(logged.samples)
        verdicts: Mapping[str, Verdict] = {}
        if self.judge is not None:
            verdicts, record = judge_of(self.judge, self.note, self.bar)(self.spec, items)
            lacking = [verdict for verdict in verdicts.values() if verdict.reason in _COMES_BACK]
            if lacking:
                raise ReelbenchError(
                    f"the judge gave no score for {len(lacking)} of {len(verdicts)} answers ({lacking[0].reason}); what"
                    " came is kept: rerun the command to continue"
                )
            keep_judge(run, record)
        samples = [aggregation.to_sample(self.spec, item, verdicts.get(item.id)) for item in items]
        return [_attempt(self.spec, sample, raw.get(sample.id)) for sample in samples]


def _finished_task(output: Path, task: str) -> tuple[run_logs.LoggedTask, list[Item]] | None:
    """Return a run's logged task and its items; None where it has not ended: samples are written last, one by one."""
    with suppress(InputError):
        for logged in run_logs.logged_tasks(output):
            if logged.task == task:
                counted = logged.document.get("n-samples", {}).get(task, {}).get("effective")
                items = run_logs.logged_items(logged.samples).items
                return (logged, items) if len(items) == counted else None
    return None
