"""Read lmms-eval's logs of a run: its tasks of ours, items, model and settings."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from reelbench.base import bounds
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
from reelbench.registry.model_ids import filed_name, filed_part
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
from reelbench.tasks.submissions import (
    Questions,
    Words,
    count_items_with_other_frames,
    frames_given,
    is_cut_off_while_reasoning,
)
from reelbench.video.shown_media import sound
from reelbench.video.stored_frames import Sound

_SECRET = ("key", "token", "secret", "password", "auth")


@dataclass(frozen=True, slots=True)
class LoggedTask:
    """One of our tasks, or a twin of one, in an lmms-eval output folder.

    `results` and `samples` are its files. `document` is the content of the results file. `is_own`
    is True of a run that this process itself has just had made, so that its scores are no
    stranger's.
    """

    task: str
    results: Path
    samples: Path
    document: Mapping[str, Any] = field(repr=False)
    is_own: bool = False


def logged_tasks(run: Path) -> list[LoggedTask]:
    """Return our tasks in an lmms-eval output folder.

    Of several runs of a task by one model it is the newest.
    """
    if not run.is_dir():
        raise InputError(f"{run}: no such folder; give the --output_path of an lmms-eval run")
    newest: dict[tuple[Path, str], LoggedTask] = {}
    # The name starts with the time, so later ones replace earlier ones.
    for path in sorted(run.rglob("*_results.json")):
        stamp = path.name.removesuffix("_results.json")
        document = read_json(path, most=bounds.DATA_BYTES)
        for task in document.get("results", {}):
            if discovery.find_task(task, twins=True):
                samples = path.with_name(f"{stamp}_samples_{task}.jsonl")
                newest[path.parent, task] = LoggedTask(task, path, samples, document)
    if not newest:
        if any(run.rglob(RESULT_FILE)):
            raise InputError(
                f"{run}: has a result of `ask` or `score`, and no lmms-eval run; to judge it, give "
                "the command that made it --judge MODEL: its answers are kept"
            )
        raise InputError(
            f"{run}: no results of our tasks in it; expected *_results.json of an lmms-eval run"
        )
    for logged in newest.values():
        if not logged.samples.is_file():
            raise InputError(f"{logged.samples}: not there; run lmms-eval with --log_samples")
    return list(newest.values())


class BenchmarkTask(NamedTuple):
    """A benchmark and one of its tasks."""

    spec: BenchmarkSpec
    task: TaskSpec


def spec_and_task(name: str) -> BenchmarkTask:
    """Return the benchmark and task of a name, ours or that of lmms-eval's own twin.

    Raises:
        InputError: It is neither.
    """
    entry = discovery.find_task(name, twins=True)
    if entry is None:
        raise InputError(f"{name} is not one of our tasks")
    return BenchmarkTask(*entry)


class _Detail(BaseModel):
    """The fields that our tasks put beside lmms-eval's own."""

    sample: Sample
    question: str = ""
    audio: Sound | None = None
    delivered: str | None = None
    judge: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LoggedItems:
    """The items in a samples file.

    Attributes:
        items: One for each id.
        duplicate: The ids that came twice.
        judged: The verdicts of the run's judge, if it had one.
        columns: The scores that the run gave each item, by id, where its scorer did not fail.
        heard: The sound that the model got with each item's video. Empty where the log has none.
        delivered: The sampling as the adapter got it, where that isn't the one asked for.
    """

    items: list[Item]
    duplicate: list[str]
    judged: Judged | None
    columns: dict[str, dict[str, float]]
    heard: list[Sound | None] = field(default_factory=list)
    delivered: str | None = None


class _LoggedLine(NamedTuple):
    """A line of a samples file, read.

    `judge` is the judge's record up to this line.
    """

    detail: _Detail
    item: Item
    judge: JudgeRecord | None
    has_sound: bool


def logged_items(path: Path, words: Mapping[str, Words] = MappingProxyType({})) -> LoggedItems:
    """Read the items of lmms-eval's samples file, by their numbers.

    Of an id that occurs twice the last one counts. lmms-eval drops the row from its log, so our
    tasks put the sample into the dict of their first metric, and the question's text. `words` are
    those of the rows, where these are here.
    """
    items: dict[str, Item] = {}
    duplicate: list[str] = []
    heard: list[Sound | None] = []
    delivered: str | None = None
    columns: dict[str, dict[str, float]] = {}
    verdicts: dict[str, Verdict] = {}
    judges: dict[str, JudgeRecord] = {}
    # Several processes log theirs one after the other.
    for number, line in sorted(read_jsonl(path), key=_doc_id):
        logged = _read_line(f"{path}, line {number}", line, words)
        sample = logged.detail.sample
        if sample.id in items:
            duplicate.append(sample.id)
        items[sample.id] = logged.item
        if sample.reason != Reason.SCORER_FAILED:
            columns[sample.id] = sample.scores
        if logged.has_sound:
            heard.append(logged.detail.audio)
        delivered = logged.detail.delivered or delivered
        if logged.judge is not None:
            reasons = {"": sample.reason} if sample.reason else {}
            verdicts[sample.id] = Verdict(sample.id, sample.scores, reasons, sample.judge_replies)
            process = str((logged.detail.judge or {}).get("process"))
            before = judges.get(process, logged.judge)
            judges[process] = max(before, logged.judge, key=_judge_record_order)
    judged = None
    if judges:
        judged = (verdicts, merge_records(list(judges.values())))
    return LoggedItems(list(items.values()), duplicate, judged, columns, heard, delivered)


def _doc_id(numbered_line: tuple[int, Any]) -> int:
    _, line = numbered_line
    doc_id = line.get("doc_id") if isinstance(line, dict) else None
    return doc_id if isinstance(doc_id, int) else 0


def _judge_record_order(judge: JudgeRecord) -> tuple[int, int]:
    """Return the key by which a judge's records are in order.

    Each counts on from the one before. Replies come first: a call is counted when it is made, so an
    early record can have all calls and not all replies.
    """
    return sum(judge.returned.values()), judge.calls + judge.cached


def _read_line(where: str, line: object, words: Mapping[str, Words]) -> _LoggedLine:
    detail = _detail_of(line)
    if detail is None:
        raise InputError(f"{where}: none of our samples in it; was it logged with --predict_only?")
    try:
        logged = _Detail.model_validate(detail)
        item = _item_of(logged, line, words)
        judge = None
        if logged.judge:
            record = dict(logged.judge)
            record.pop("process", None)
            judge = JudgeRecord.model_validate(record)
    except ValidationError as error:
        raise InputError(f"{where}, {first_wrong_field(error)}") from None
    return _LoggedLine(logged, item, judge, "audio" in detail)


def _item_of(logged: _Detail, line: Any, words: Mapping[str, Words]) -> Item:  # noqa: ANN401 - a line of the log
    """Return a logged sample as an item to be scored.

    A fault of the judge or of the scorer may be gone now. A fault of the model stays.
    """
    sample = logged.sample
    changes: dict[str, Any] = {"tokens": _token_counts(line, sample)}
    reason = None
    if sample.reason in UNANSWERED - {Reason.CUT_OFF}:
        reason = sample.reason
    elif is_cut_off_while_reasoning(sample.prediction):
        reason = Reason.CUT_OFF
        changes["flags"] = ()
    question, options = words.get(sample.id, (logged.question, ()))
    return sample.item(question, reason, options, **changes)


def _detail_of(line: object) -> dict[str, Any] | None:
    """Return our task's detail in a line of the log. None where there is none."""
    if isinstance(line, dict):
        for value in line.values():
            if isinstance(value, dict) and "sample" in value:
                return value
    return None


_COUNTS = {"input_tokens": "prompt", "output_tokens": "completion", "reasoning_tokens": "reasoning"}
"""lmms-eval's name for tokens of an answer -> a sample's name."""


def _token_counts(line: Mapping[str, Any], sample: Sample) -> dict[str, int] | None:
    """Return the adapter's token counts for an answer.

    None where it didn't count, as of an answer from lmms-eval's cache. An adapter that wasn't told
    says 0, and openai's then counts the answer's *words*. Of several answers lmms-eval logs the
    first one's tokens alone, which say nothing of all. It doesn't time a question.
    """
    counts = line.get("token_counts")
    if not isinstance(counts, list) or len(counts) != 1 or sample.candidates:
        return None
    logged = counts[0]
    if not isinstance(logged, dict) or logged.get("input_tokens", 1) == 0:
        return None
    tokens: dict[str, int] = {}
    for logged_name, name in _COUNTS.items():
        count = logged.get(logged_name)
        if isinstance(count, int) and count > 0:
            tokens[name] = count
    return tokens or None


def raw_replies(path: Path) -> dict[str, str]:
    """Return id -> the whole text of the model, from a samples file.

    lmms-eval's own cleaning may have shortened the answer.
    """
    replies: dict[str, str] = {}
    for _, line in read_jsonl(path):
        detail = _detail_of(line)
        if detail is not None:
            reply = logged_reply(line)
            if reply is not None:
                replies[detail["sample"]["id"]] = reply
    return replies


def logged_reply(line: Mapping[str, Any]) -> str | None:
    """Return the model's whole text in a line of the log, if there is one."""
    reply = line.get("resps", line.get("filtered_resps"))
    while isinstance(reply, list) and reply:
        reply = reply[0]
    return reply if isinstance(reply, str) else None


def data_name(logged: LoggedTask) -> DataName:
    """Return the name of a run's rows, as its results file has it."""
    config = logged.document.get("configs", {}).get(logged.task, {})
    try:
        return DataName.parse(str(config.get("dataset_path", "")))
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
    """Return an unscored item for each row that was left out without its video."""
    if data.media_missing == 0:
        return []
    path = data.missing_note
    rows = read_json(path)["rows"] if path.is_file() else []
    if len(rows) != data.media_missing:
        note(
            f"{data.task}: the run left out {data.media_missing} questions without a video, "
            f"but {path} does not list them any more"
        )
        rows = []
        for number in range(1, data.media_missing + 1):
            rows.append({"id": f"unlisted-{number}", "video": ""})
    items: list[Item] = []
    for row in rows:
        if row["id"] not in answered:
            question, options = words.get(row["id"], ("", ()))
            item = Item(
                id=row["id"],
                video=row["video"],
                target={},
                reason=Reason.MEDIA_MISSING,
                question=question,
                options=options,
            )
            items.append(item)
    return items


def questions_of(questions: Questions, data: DataName) -> Questions:
    """Return a run's questions: those that are here where the run asked these.

    Else they are without rows, from the source that the run names.
    """
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
    given_args = _given_args(config.get("model_args"))
    args = without_folders(given_args)
    adapter = str(config.get("model") or "unknown")
    model = None
    if adapter == "reelbench_baseline":
        model = f"reelbench/baseline-{args.get('kind', 'whole_video')}"
    else:
        for name in ("pretrained", "model", "model_version", "model_name"):
            if name in args:
                model = _filed_model(given_args[name])
                break
    revision = str(args["revision"]) if "revision" in args else None
    return ModelRecord(
        id=str(model or document.get("model_name") or adapter),
        revision=revision,
        adapter=adapter,
        args=args,
    )


def _filed_model(name: object) -> str:
    """Return a model's name as it is filed.

    Of a local path it is `local/` and its telling part.
    """
    text = str(name)
    if without_folders(text) == text:
        return text
    return f"local/{filed_name(text) or filed_part(text)}"


def _parsed_args(arguments: object) -> dict[str, Any]:
    """Return --model_args as a dict, of a local path the last part alone."""
    return without_folders(_given_args(arguments))


def _given_args(arguments: object) -> dict[str, Any]:
    """Return --model_args as a dict, without anything that may be a secret."""
    values: dict[Any, Any] = {}
    if isinstance(arguments, str):
        values = dict(values_in(arguments))
    elif isinstance(arguments, dict):
        values = arguments
    public = {name: value for name, value in values.items() if not _names_secret(name)}
    return without_secrets(public)


def _names_secret(name: str) -> bool:
    return any(word in name.lower() for word in _SECRET)


def settings_of(
    spec: BenchmarkSpec,
    document: Mapping[str, Any],
    task: TaskSpec,
    data: DataName,
    samples: Sequence[Sample | Item],
    *,
    run: LoggedItems | None = None,
) -> SettingsRecord:
    """Return the settings that shaped a run's answers. `run` has its logged items."""
    config = document.get("config", {})
    task_config = document.get("configs", {}).get(task.name, {})
    generation = _generation_arguments(document, task.name)
    delivered = run.delivered if run is not None else None
    heard = run.heard if run is not None else []
    in_yaml = _frames_in_yaml(task_config, config.get("model"))
    sampling = FrameSampling.parse(str(delivered or data.frames or in_yaml or "native"))
    # Of an adapter that sends pictures unless it is told to pass videos on, the record says where
    # it was told.
    model_args = _parsed_args(config.get("model_args"))
    as_video = sampling.decodes and str(model_args.get(PASS_VIDEO)).lower() == "true"
    candidates = data.candidates
    repeats = task_config.get("repeats") or 1
    if repeats != 1:  # samples were asked for by lmms-eval's own `--repeats`
        temperature = float(generation.get("temperature") or 0)
        candidates = f"sample:{repeats},t={temperature:g}"
    audio = sound(sampling, heard) if heard else None
    run_number = int(data.run) if data.run and data.run.isdecimal() else None
    return SettingsRecord(
        frames=sampling.spec(form=as_video),
        frames_given=frames_given(samples),
        frames_unlike=count_items_with_other_frames(spec, samples),
        audio=audio,
        label=data.label,
        language=data.language,
        candidates=candidates,
        answering=data.answering,
        prompt_sha256=_sha256_of_prompts(spec, task, data),
        generation=generation,
        seed=config.get("random_seed"),
        run=run_number,
        limit=config.get("limit"),
        offset=config.get("offset") or None,
    )


def _sha256_of_prompts(spec: BenchmarkSpec, task: TaskSpec, data: DataName) -> str:
    """Return the hash of the task's prompt.

    Where the span was asked for by itself there were two, and it is of both.
    """
    prompt = prompt_sha256(spec, task.prompt)
    if not task.options or data.answering is None:
        return prompt
    if Answering.parse(data.answering).span != "predicted":
        return prompt
    span_prompt = prompt_sha256(spec, task.options.locate)
    return sha256(f"{prompt}{span_prompt}".encode()).hexdigest()


def _frames_in_yaml(task_config: Mapping[str, Any], model: str | None) -> str | None:
    """Return the frames that a task's YAML asks for.

    lmms-eval takes the kwargs of the model's name, else the default ones.
    """
    kwargs = task_config.get("lmms_eval_specific_kwargs") or {}
    model_kwargs = kwargs.get(model, kwargs.get("default", {}))
    return model_kwargs.get("frames") or kwargs.get("frames")


def settings_of_twin(document: Mapping[str, Any], name: str) -> SettingsRecord:
    """Return the settings of lmms-eval's own task `name`.

    Its prompt and its frames are its own affair.
    """
    config = document.get("config", {})
    return SettingsRecord(
        label=f"lmms-eval's task {name}",
        generation=_generation_arguments(document, name),
        seed=config.get("random_seed"),
        limit=config.get("limit"),
        offset=config.get("offset") or None,
    )


def _generation_arguments(document: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return the task's arguments of generation, with those of the command line over them."""
    task_config = document.get("configs", {}).get(task, {})
    generation = dict(task_config.get("generation_kwargs") or {})
    typed_arguments = document.get("config", {}).get("gen_kwargs")
    if typed_arguments:
        generation |= _parsed_args(typed_arguments)
    as_json = json.dumps(generation, default=str)
    return json.loads(as_json)
