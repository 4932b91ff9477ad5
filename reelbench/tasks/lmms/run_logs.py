"""Reading what an lmms-eval run left: which of our tasks, which items, which model, under which settings."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from reelbench.base.base_record import first_wrong_field
from reelbench.base.credentials import without_secrets
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import read_json, read_jsonl
from reelbench.base.values import without_folders
from reelbench.data.rows_on_disk import DataName
from reelbench.judges.panel import merge_records
from reelbench.judges.verdicts import Judged, Verdict
from reelbench.registry import discovery
from reelbench.registry.decoding import Answering
from reelbench.registry.prompts import prompt_sha256
from reelbench.registry.reasons import UNANSWERED, Reason
from reelbench.registry.records import (
    Item,
    JudgeRecord,
    ModelRecord,
    Sample,
    SettingsRecord,
    SourceRecord,
)
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.scoring.result_files import RESULT_FILE
from reelbench.tasks.lmms.adapters import PASS_VIDEO, values_in
from reelbench.tasks.submissions import Questions, Words, cut_off, frames_given, frames_unlike
from reelbench.video.shown_media import sound
from reelbench.video.stored_frames import Sound

_SECRET = ("key", "token", "secret", "password", "auth")


@dataclass(frozen=True, slots=True)
class LoggedTask:
    """One of our tasks, or a twin of one, in an lmms-eval output folder: its results file, its samples file.

    `document` is what the results file holds; `own` is a run that this process itself has just had
    made, so that its scores are no stranger's.
    """

    task: str
    results: Path
    samples: Path
    document: Mapping[str, Any] = field(repr=False)
    own: bool = False


def logged_tasks(run: Path) -> list[LoggedTask]:
    """Return our tasks in an lmms-eval output folder; of several runs of a task by one model, the newest."""
    if not run.is_dir():
        raise InputError(f"{run}: no such folder; give the --output_path of an lmms-eval run")
    newest: dict[tuple[Path, str], LoggedTask] = {}
    for path in sorted(
        run.rglob("*_results.json")
    ):  # the name starts with the time, so later ones replace earlier
        stamp, document = path.name.removesuffix("_results.json"), read_json(path)
        for task in document.get("results", {}):
            if discovery.find_task(task, twins=True):
                samples = path.with_name(f"{stamp}_samples_{task}.jsonl")
                newest[path.parent, task] = LoggedTask(task, path, samples, document)
    if not newest:
        if any(run.rglob(RESULT_FILE)):
            raise InputError(
                f"{run}: has a result of `ask` or `score`, and no lmms-eval run; to judge it, give the command "
                "that made it --judge MODEL: its answers are kept"
            )
        raise InputError(
            f"{run}: no results of our tasks in it; expected *_results.json of an lmms-eval run"
        )
    for logged in newest.values():
        if not logged.samples.is_file():
            raise InputError(f"{logged.samples}: not there; run lmms-eval with --log_samples")
    return list(newest.values())


def spec_and_task(name: str) -> tuple[BenchmarkSpec, TaskSpec]:
    """Return the benchmark and task of a name, ours or that of lmms-eval's own twin; InputError where it is neither."""
    known = discovery.find_task(name, twins=True)
    if known is None:
        raise InputError(f"{name} is not a task of ours")
    return known


class _Detail(BaseModel):
    """What our tasks put beside lmms-eval's own fields."""

    sample: Sample
    question: str = ""
    audio: Sound | None = None
    delivered: str | None = None
    judge: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LoggedItems:
    """What a samples file holds: the items, the ids that came twice, and what the judge of the run said if it had one.

    `columns` are the scores that the run gave each item, by id, where its scorer did not fail.
    `heard` is what became of the sound of each item's video; empty where the run does not say, as
    older ones. `delivered` is the sampling as the adapter was shown it, where that isn't the one
    asked for.
    """

    items: list[Item]
    duplicate: list[str]
    judged: Judged | None
    columns: dict[str, dict[str, float]]
    heard: list[Sound | None] = field(default_factory=list)
    delivered: str | None = None


def logged_items(path: Path, words: Mapping[str, Words] = MappingProxyType({})) -> LoggedItems:
    """Read the items of lmms-eval's samples file, by their numbers; of an id that occurs twice the last one counts.

    lmms-eval drops the row from what it logs, so our tasks put the sample into the dict of their
    first metric, and the question's text; `words` are those of the rows, where these are here.
    """
    items: dict[str, Item] = {}
    duplicate: list[str] = []
    heard: list[Sound | None] = []
    delivered: str | None = None
    columns: dict[str, dict[str, float]] = {}
    judged: dict[str, Verdict] = {}
    judges: dict[str, JudgeRecord] = {}

    def place(logged: tuple[int, Any]) -> int:
        there = logged[1].get("doc_id") if isinstance(logged[1], dict) else None
        return there if isinstance(there, int) else 0

    for number, line in sorted(
        read_jsonl(path), key=place
    ):  # several processes log theirs one after the other
        detail = _detail_of(line)
        if detail is None:
            raise InputError(
                f"{path}, line {number}: no sample of ours in it; was it logged with --predict_only?"
            )
        try:
            logged = _Detail.model_validate(detail)
            sample = logged.sample
            # What a judge or a scorer could not do then may be done now; what the model did not
            # answer stays.
            reason = sample.reason if sample.reason in UNANSWERED - {Reason.CUT_OFF} else None
            ended = reason is None and cut_off(sample.prediction)
            more = {"tokens": _tokens(line, sample)} | ({"flags": ()} if ended else {})
            question, options = words.get(sample.id, (logged.question, ()))
            item = sample.item(question, Reason.CUT_OFF if ended else reason, options, **more)
            record = {
                name: value for name, value in (logged.judge or {}).items() if name != "process"
            }
            judge = JudgeRecord.model_validate(record) if logged.judge else None
        except ValidationError as error:
            raise InputError(f"{path}, line {number}, {first_wrong_field(error)}") from None
        if sample.id in items:
            duplicate.append(sample.id)
        items[sample.id] = item
        if sample.reason != Reason.SCORER_FAILED:
            columns[sample.id] = sample.scores
        if "audio" in detail:
            heard.append(logged.audio)
        delivered = logged.delivered or delivered
        if judge is not None:
            judged[sample.id] = Verdict(
                sample.id,
                sample.scores,
                {"": sample.reason} if sample.reason else {},
                sample.judge_replies,
            )
            process = str((logged.judge or {}).get("process"))
            # Each counts on from the one before. Replies first: a call is counted when it is made,
            # so an early record can have all calls and not all replies.
            known = judges.get(process, judge)
            judges[process] = max(
                known, judge, key=lambda one: (sum(one.returned.values()), one.calls + one.cached)
            )
    said = (judged, merge_records(list(judges.values()))) if judges else None
    return LoggedItems(list(items.values()), duplicate, said, columns, heard, delivered)


def _detail_of(line: object) -> dict[str, Any] | None:
    """Return the detail that our task put into a line of the log; None where there is none."""
    values = line.values() if isinstance(line, dict) else ()
    return next((value for value in values if isinstance(value, dict) and "sample" in value), None)


_COUNTS = {"input_tokens": "prompt", "output_tokens": "completion", "reasoning_tokens": "reasoning"}
"""What lmms-eval calls the tokens of an answer -> what a sample calls them."""


def _tokens(line: Mapping[str, Any], sample: Sample) -> dict[str, int] | None:
    """Return the adapter's token counts for an answer; None where it didn't, as of an answer from lmms-eval's cache.

    An adapter that wasn't told says 0, and openai's then counts the answer's *words*. Of several
    answers lmms-eval logs the first one's tokens alone, which say nothing of all. It doesn't time a
    question.
    """
    counts = line.get("token_counts")
    if (
        not isinstance(counts, list)
        or len(counts) != 1
        or not isinstance(counts[0], dict)
        or sample.candidates
    ):
        return None
    if counts[0].get("input_tokens", 1) == 0:
        return None
    known = {ours: counts[0].get(theirs) for theirs, ours in _COUNTS.items()}
    return {name: n for name, n in known.items() if isinstance(n, int) and n > 0} or None


def raw_replies(path: Path) -> dict[str, str]:
    """Return id -> all that the model wrote, from a samples file; lmms-eval's own cleaning may have shortened it."""
    return {
        detail["sample"]["id"]: reply
        for _, line in read_jsonl(path)
        if (detail := _detail_of(line)) is not None and (reply := logged_reply(line)) is not None
    }


def logged_reply(line: Mapping[str, Any]) -> str | None:
    """Return all that the model wrote, from a line of the log; None where there is no text."""
    reply = line.get("resps", line.get("filtered_resps"))
    while isinstance(reply, list) and reply:
        reply = reply[0]
    return reply if isinstance(reply, str) else None


def data_name(logged: LoggedTask) -> DataName:
    """Return the name of a run's rows, as its results file has it."""
    named = logged.document.get("configs", {}).get(logged.task, {}).get("dataset_path", "")
    try:
        return DataName.parse(str(named))
    except InputError as error:
        raise InputError(
            f"{logged.results}: configs, {logged.task}, dataset_path: {error}"
        ) from None


def media_missing(
    data: DataName,
    answered: set[str],
    note: Callable[[str], None],
    words: Mapping[str, Words] = MappingProxyType({}),
) -> list[Item]:
    """Return an unscored item for each row that the run left out because its video was missing."""
    if data.media_missing == 0:
        return []
    path = data.missing_note
    rows = read_json(path)["rows"] if path.is_file() else []
    if len(rows) != data.media_missing:
        note(
            f"{data.task}: the run left out {data.media_missing} questions without a video, "
            f"but {path} does not list them any more"
        )
        rows = [
            {"id": f"unlisted-{number}", "video": ""} for number in range(1, data.media_missing + 1)
        ]
    return [
        Item(
            id=name,
            video=row["video"],
            target={},
            reason=Reason.MEDIA_MISSING,
            question=question,
            options=options,
        )
        for row in rows
        for name in [row["id"]]
        if name not in answered
        for question, options in [words.get(name, ("", ()))]
    ]


def questions_of(questions: Questions, data: DataName) -> Questions:
    """Return a run's questions: those that are here where these are what it asked, else as it named their source."""
    with suppress(ReelbenchError):
        if questions.here.source.fingerprint.startswith(data.fingerprint):
            return questions
    place = f"{questions.spec.id} rows of the run"
    source = SourceRecord(
        kind="samples", location=place, revision=None, fingerprint=data.fingerprint
    )
    return replace(questions, stated=source)


def model_of(document: Mapping[str, Any]) -> ModelRecord:
    """Return the model that a run names, without secrets or places."""
    config = document.get("config", {})
    args = _parsed_args(config.get("model_args"))
    named = next(
        (
            args[key]
            for key in ("pretrained", "model", "model_version", "model_name")
            if key in args
        ),
        None,
    )
    adapter = str(config.get("model") or "unknown")
    if adapter == "reelbench_baseline":
        named = f"reelbench/baseline-{args.get('kind', 'whole_video')}"
    return ModelRecord(
        id=str(named or document.get("model_name") or adapter),
        revision=str(args["revision"]) if "revision" in args else None,
        adapter=adapter,
        args=args,
    )


def _parsed_args(given: object) -> dict[str, Any]:
    """Return --model_args as a dict, without anything that may be a secret; of a local path only its last part."""
    given = values_in(given) if isinstance(given, str) else given if isinstance(given, dict) else {}
    shown = {
        key: value
        for key, value in given.items()
        if not any(word in key.lower() for word in _SECRET)
    }
    return without_folders(without_secrets(shown))


def settings_of(
    spec: BenchmarkSpec,
    document: Mapping[str, Any],
    task: TaskSpec,
    data: DataName,
    samples: Sequence[Sample | Item],
    *,
    run: LoggedItems | None = None,
) -> SettingsRecord:
    """Return the settings that shaped a run's answers; `run` is what was logged of them."""
    config = document.get("config", {})
    task_config = document.get("configs", {}).get(task.name, {})
    generation = _generation(document, task.name)
    delivered, heard = (run.delivered, run.heard) if run is not None else (None, ())
    # In a task's YAML: lmms-eval takes the kwargs of the model's name, else the default ones.
    kwargs = task_config.get("lmms_eval_specific_kwargs") or {}
    in_yaml = kwargs.get(config.get("model"), kwargs.get("default", {})).get(
        "frames"
    ) or kwargs.get("frames")
    sampling = FrameSampling.parse(str(delivered or data.frames or in_yaml or "native"))
    model_args = _parsed_args(config.get("model_args"))
    # An adapter that sends pictures unless it is told to pass videos on: the record says where it
    # was told.
    as_video = sampling.decodes and str(model_args.get(PASS_VIDEO)).lower() == "true"
    # Samples may have been asked for by lmms-eval's own `--repeats`.
    repeats, temperature = (
        task_config.get("repeats") or 1,
        float(generation.get("temperature") or 0),
    )
    prompt = prompt_sha256(spec, task.prompt)
    if (
        data.answering is not None
        and task.options
        and Answering.parse(data.answering).span == "predicted"
    ):
        # Where the span was asked for by itself, two prompts were.
        prompt = sha256(f"{prompt}{prompt_sha256(spec, task.options.locate)}".encode()).hexdigest()
    return SettingsRecord(
        frames=sampling.spec(form=as_video),
        frames_given=frames_given(samples),
        frames_unlike=frames_unlike(spec, samples),
        audio=sound(sampling, heard) if heard else None,
        label=data.label,
        language=data.language,
        candidates=data.candidates if repeats == 1 else f"sample:{repeats},t={temperature:g}",
        answering=data.answering,
        prompt_sha256=prompt,
        generation=generation,
        seed=config.get("random_seed"),
        run=int(data.run) if data.run and data.run.isdecimal() else None,
        limit=config.get("limit"),
        offset=config.get("offset") or None,
    )


def settings_of_twin(document: Mapping[str, Any], name: str) -> SettingsRecord:
    """Return the settings of lmms-eval's own task `name`: its prompt and its frames are its own affair."""
    config = document.get("config", {})
    return SettingsRecord(
        label=f"lmms-eval's task {name}",
        generation=_generation(document, name),
        seed=config.get("random_seed"),
        limit=config.get("limit"),
        offset=config.get("offset") or None,
    )


def _generation(document: Mapping[str, Any], task: str) -> dict[str, Any]:
    generation = dict(document.get("configs", {}).get(task, {}).get("generation_kwargs") or {})
    if given := document.get("config", {}).get("gen_kwargs"):
        generation |= _parsed_args(given)
    return json.loads(json.dumps(generation, default=str))
