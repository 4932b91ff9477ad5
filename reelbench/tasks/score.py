"""Scoring as a second command: predictions from files to a result on disk; `score_runs` scores what lmms-eval left.

The model is never run again. One path serves all benchmarks: `formats` reads, `scoring.aggregation`
scores.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reelbench.base.base_record import record_of
from reelbench.base.credentials import refuse_in_words, without_secrets
from reelbench.base.errors import InputError, ReelbenchError, number_of, printable
from reelbench.base.progress import Bar, no_bar
from reelbench.base.settings import JUDGE
from reelbench.base.values import drained
from reelbench.data import ownership
from reelbench.judges.verdicts import Judge, Judged
from reelbench.registry.decoding import Answering
from reelbench.registry.question_files import QuestionIds
from reelbench.registry.reasons import NO_ANSWER, NOT_ASKED, OF_JUDGE, Reason
from reelbench.registry.records import (
    About,
    AskedRecord,
    Item,
    ModelRecord,
    PresetRecord,
    Result,
    Sample,
    SettingsRecord,
)
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec, Corpus
from reelbench.registry.splits import upstream_split
from reelbench.scoring import aggregation, result_files
from reelbench.tasks import about as abouts
from reelbench.tasks import predictions, submissions
from reelbench.tasks.earlier import OTHER_JUDGE, EarlierResult
from reelbench.tasks.predictions import Columns
from reelbench.tasks.submissions import Inputs, PredictionSet, Questions, Words

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to score: the judge, if any, what to leave out, where notes and progress go, and facts about the model.

    With `earlier` some of that result's questions are answered anew and the others keep their
    answers; with `only` a result is of these questions alone.
    """

    overlap: bool = True
    judge: "JudgeOptions | None" = None
    note: Note = field(default=lambda _: None)
    bar: Bar = no_bar
    about: About | None = None
    answering: Answering | None = None
    """Where set, the option scores of a run are compared so, and not as it did."""
    preset: PresetRecord | None = None
    earlier: EarlierResult | None = None
    only: QuestionIds | None = None
    label: str | None = None
    """What the user says of how the answers were made, where the answers themselves don't say it."""
    place: Path | None = None
    """The folder that was named for the result; what is there isn't replaced by something else, or by less."""

    def __post_init__(self) -> None:
        refuse_in_words("--label", self.label or "")

    def labelled(self, settings: SettingsRecord) -> SettingsRecord:
        """Return settings with the user's label, if any."""
        return settings.model_copy(update={"label": self.label}) if self.label else settings

    def check_place(
        self,
        spec: BenchmarkSpec,
        split: str,
        model: ModelRecord,
        settings: SettingsRecord,
        answers: int,
    ) -> None:
        """Raise InputError where the result would replace one that it must not, before anything is paid for."""
        if self.place is not None:
            judged = self.judge is not None
            benchmark = spec.id, split
            result_files.check_kept(
                self.place, model.id, benchmark, settings, answers=answers, judged=judged
            )

    def judge_for(self, spec: BenchmarkSpec, note: Note | None = None) -> Judge | None:
        """Return the judge that was named; None where none was, or nothing of the benchmark is judged."""
        if self.judge is None or spec.judge is None:
            return None
        from reelbench.judges.judge_run import judge_of

        return judge_of(self.judge, note or self.note, self.bar)


@dataclass(frozen=True, slots=True)
class RunMetadata:
    """What the user states of answers that were made elsewhere: a file of answers doesn't say it."""

    model: str | None = None
    revision: str | None = None
    frames: str | None = None
    label: str | None = None
    url: str | None = None
    origin: str | None = None
    """Where the answers were fetched from."""

    @property
    def anything(self) -> bool:
        """Whether anything is stated at all."""
        return self != RunMetadata()

    def __post_init__(self) -> None:
        if self.frames is not None:
            object.__setattr__(self, "frames", str(FrameSampling.parse(str(self.frames))))
        for name, text in (("--label", self.label), ("--url", self.url)):
            refuse_in_words(name, text or "")


_UNREAD_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """A scored benchmark: the result, where it lies, and the ids that did not fit.

    `judge_failed` says why the judge that was named gave no score at all, where it was needed;
    `unanswered` why not one answer came to its end. `unread` are the first samples whose answer
    could not be read, `unread_replies` (id, text) the first replies of a judge that could not be.
    """

    result: Result
    folder: Path
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    duplicate: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    judge_failed: str | None = None
    unanswered: str | None = None
    unread: Sequence[Sample] = ()
    unread_replies: Sequence[tuple[str, str]] = ()

    @property
    def complete(self) -> bool:
        """Whether every item is scored and every id fits: what `--strict` asks."""
        return not (self.result.counts.unscored or self.missing or self.extra or self.duplicate)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A scored benchmark that nothing is written of yet: its samples and numbers, and what its record says beside them.

    `asked` has what was asked, in the samples' order; `fits` the lists of ids, and the notes, as
    `Outcome` has them; `said` what was noted while the judge that was named was asked.
    """

    questions: Questions
    asked: Sequence[Words]
    scored: aggregation.ScoredItems
    model: ModelRecord
    settings: SettingsRecord
    fits: dict[str, list[str]] = field(default_factory=dict)
    url: str | None = None
    note: str | None = None
    judge: "JudgeOptions | None" = None
    said: Sequence[str] = ()
    come_by: AskedRecord | None = None
    own_rows: bool = False
    """Whether the run itself states that its rows were somebody's own."""

    @property
    def spec(self) -> BenchmarkSpec:
        """The benchmark."""
        return self.questions.spec

    @property
    def items(self) -> list[Item]:
        """The items as they came, made again: before any judge."""
        return [
            sample.item(question, aggregation.reason_before_judging(sample), options)
            for sample, (question, options) in zip(self.scored.samples, self.asked, strict=True)
        ]

    @property
    def name(self) -> str:
        """A name for the result's folder: the same for the same answers of the same model."""
        digest = hashlib.sha256(f"{self.model.id}\n[".encode("utf-8", "surrogatepass"))
        for number, sample in enumerate(self.scored.samples):
            answer = json.dumps((sample.id, sample.prediction), default=str)
            digest.update((", " if number else "").encode() + answer.encode())
        digest.update(b"]")
        return f"{self.spec.id}-{self.questions.split}-{digest.hexdigest()[:12]}"

    @property
    def judge_failed(self) -> str | None:
        """The reason for which a judge that was named and needed gave no score at all."""
        samples, unscored = self.scored.samples, self.scored.counts.unscored
        if self.judge is None or any(
            reply.score is not None for sample in samples for reply in sample.judge_replies
        ):
            return None
        # What is in a batch has not failed: it is still to come.
        failed = OF_JUDGE - {Reason.JUDGE_PENDING}
        reasons = {reason: number for reason, number in unscored.items() if reason in failed}
        if not reasons:
            return None
        unread = not self.said or set(reasons) == {Reason.JUDGE_UNPARSABLE}
        judge = f"no reply of the judge {self.judge.name} at {self.judge.host} could be read"
        numbers = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
        return f"{judge if unread else self.said[-1]}; no answer is judged ({numbers})"

    def write(self, folder: Path) -> Outcome:
        """Write the result, its samples and its questions to `folder`; of hidden answers a submission too."""
        spec, split, source = self.spec, self.questions.split, self.questions.source
        samples = self.scored.samples
        result_files.write_questions(
            folder, self.questions.library, zip(samples, self.asked, strict=True)
        )
        doubt, lost, here = self.questions.unit_doubt(samples), None, None
        with suppress(ReelbenchError):  # questions that are not here
            here = self.questions.here
            if here.left_out[0]:
                number, rows = here.left_out
                lost = (
                    f"{number:,} of {rows:,} rows can't be read and are left out (skip: unreadable)"
                )
        asked = (
            (
                sample.id,
                question,
                options,
                None if sample.reason == Reason.MEDIA_MISSING else sample.target,
            )
            for sample, (question, options) in zip(samples, self.asked, strict=True)
        )
        entries = (
            (sample.id, sample.video, question, sample.target)
            for sample, (question, _) in zip(samples, self.asked, strict=True)
        )
        result = result_files.write(
            folder,
            spec,
            self.scored,
            split=split,
            source=source,
            model=self.model,
            settings=self.settings,
            attribution=result_files.Attribution(
                "own" if self.own_rows else ownership.whose(spec, split, source, entries, here),
                ownership.questions_sha256(spec, split, source, asked, here),
                url=self.url,
                note="; ".join(filter(None, [self.note, doubt, lost])) or None,
                asked=self.come_by,
            ),
        )
        fits = {name: list(entries) for name, entries in self.fits.items()}
        if Reason.ANSWERS_HIDDEN in self.scored.counts.unscored:
            path = folder / f"submission{submissions.submission_suffix(spec)}"
            submissions.write_submission(spec, self.scored.samples, path)
            server = spec.splits[upstream_split(spec, split)].submit_to or "the owners' server"
            todo = submissions.submission_advice(split, path, server)
            fits.setdefault("notes", []).append(
                f"{spec.id} {split}: the answers are hidden; {todo}"
            )
        # Say how many answers did not come to their end, a line for each reason, and what to do.
        counts = self.scored.counts
        of = counts.items - sum(counts.unscored.get(reason, 0) for reason in NOT_ASKED)
        some = of > sum(
            counts.unscored.get(reason, 0) for reason in Reason if reason.fault == "model"
        )
        unanswered = [
            f"{counts.unscored[reason]} of {of} answers {reason.advice}"
            for reason in Reason
            if reason.advice
            and counts.unscored.get(reason)
            and not (some and reason == Reason.MODEL_FAILED)
        ]
        none = None
        if unanswered and not some:
            # This line is the error then, and no note beside it.
            none = unanswered.pop() + _why_failed(self.scored.samples, self.model)
        notes = [*fits.get("notes", ()), *unanswered]
        overlap = [metric.name for metric in spec.metrics if isinstance(metric.aggregate, Corpus)]
        if self.scored.numbers.metrics.keys() & set(overlap) and (
            long := aggregation.too_long(self.scored.samples)
        ):
            notes.append(
                f"{number_of(long, 'answer has', 'answers have')} more than {aggregation.LONGEST_OVERLAP} characters: "
                f"{', '.join(overlap)} read the last ones"
            )
        fits["notes"] = [*notes, *filter(None, [doubt, lost])]
        unread = [sample for sample in self.scored.samples if "parse_failed" in sample.flags][
            :_UNREAD_SHOWN
        ]
        replies = (  # the last one that says nothing readable
            (sample.id, reply.raw)
            for sample in self.scored.samples
            if sample.reason == Reason.JUDGE_UNPARSABLE
            for reply in [
                next((one for one in reversed(sample.judge_replies) if one.score is None), None)
            ]
            if reply is not None and reply.raw
        )
        return Outcome(
            result,
            folder,
            **fits,
            judge_failed=self.judge_failed,
            unanswered=none,
            unread=unread,
            unread_replies=list(islice(replies, _UNREAD_SHOWN)),
        )


_FAILED_REQUEST = re.compile(r"\[LMMS_EVAL_REQUEST_FAILED[^\]]*\]\s*")


def _why_failed(samples: Sequence[Sample], model: ModelRecord) -> str:
    """Return the server's words on the first request that failed, which lmms-eval's adapters log as the answer."""
    failed = [sample.prediction for sample in samples if sample.reason == Reason.MODEL_FAILED]
    if not failed:
        return ""
    if not isinstance(failed[0], str):
        return ", and what it said of that stands in the run's own messages"
    why = printable(without_secrets(_FAILED_REQUEST.sub("", failed[0]) or failed[0]))
    url = str(model.args.get("base_url") or "")
    if "404" in why and url and not urlsplit(url).path.strip("/"):
        why += f"; {url} has no path, and most servers have /v1: add it to base_url"
    return f": {why}"


def resolve_predictions(given: Path | str, metadata: RunMetadata) -> tuple[Path, RunMetadata]:
    """Return the file of predictions, fetched where an address on the Hub is given, and its metadata."""
    if not str(given).startswith(predictions.SCHEME):
        return Path(given), metadata
    path, repo_id, origin = predictions.fetch(str(given))
    return path, replace(metadata, model=metadata.model or repo_id, origin=origin)


def record_of_model(**fields: str | None) -> ModelRecord:
    """Return a model's record; InputError where a name is none that a record can hold."""
    return record_of(ModelRecord, fields, "the model", mark=": ")


@dataclass(frozen=True, slots=True)
class Answers:
    """One model's answers to a split's questions, to be scored, and what the record is to say of them.

    Attributes:
        judged: What the run's own judge said.
        columns: The items' own scores, by id, where whoever hands them over has made them.
        duplicate: Ids that a run has twice; None where the answers are of no run.
        own_rows: Whether the run itself states that its rows were somebody's own.
    """

    submission: PredictionSet
    model: ModelRecord
    settings: SettingsRecord
    url: str | None = None
    note: str | None = None
    judged: Judged | None = None
    columns: Mapping[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    duplicate: list[str] | None = None
    own_rows: bool = False

    @property
    def questions(self) -> Questions:
        """What was asked."""
        return self.submission.questions


def read_answers(
    name: str,
    inputs: Inputs,
    options: Options,
    *,
    columns: Columns | None = None,
    metadata: RunMetadata | None = None,
    agent_log: Path | None = None,
) -> Answers:
    """Read predictions from a file: in the owners' format, or a table of ids and texts.

    Args:
        name: A benchmark or one of its tasks.
        inputs: The files.
        options: How they are to be scored.
        columns: A table's columns, where their names don't tell.
        metadata: What the record is to say of the answers.
        agent_log: The log of what an agent looked at for them.
    """
    questions, path = (
        Questions.named(name, inputs.split, inputs.data, inputs.references),
        inputs.predictions,
    )
    metadata = metadata or RunMetadata()
    submission = predictions.read(questions, path, columns or Columns())
    if inputs.tags is not None:
        submission = submissions.tagged(submission, inputs.tags)
    settings = SettingsRecord(frames=metadata.frames or "unknown", label=metadata.label)
    if agent_log is not None:
        if metadata.frames or metadata.label:
            raise InputError(
                "--looked says how the answers were made; leave out --frames and --label"
            )
        submission, settings = submissions.with_looks(submission, agent_log)
    model = record_of_model(id=metadata.model or path.stem, revision=metadata.revision)
    if (earlier := options.earlier) is not None:
        model = (
            model if metadata.model not in {None, earlier.result.model.id} else earlier.result.model
        )
        settings = settings if metadata.frames or agent_log is not None else earlier.result.settings
    elif options.only is not None:
        options.only.check(
            (item.id for item in submission.items), f"{questions.spec.id} {questions.split}"
        )
        items = [item for item in submission.items if item.id in options.only.ids]
        submission, settings = (
            replace(submission, items=items),
            settings.model_copy(update={"limit": len(items)}),
        )
    note = f"answers from {metadata.origin}" if metadata.origin else None
    return Answers(submission, model, settings, metadata.url, note)


def score_files(name: str, inputs: Inputs, options: Options, **read: Any) -> Evaluation:  # noqa: ANN401 - `read_answers`'
    """Score predictions from a file; the arguments are those of `read_answers`."""
    return evaluation(read_answers(name, inputs, options, **read), options)


def evaluation(given: Answers, options: Options) -> Evaluation:
    """Judge and score answers, with those of an earlier result; their list of items is emptied."""
    submission, questions, settings = given.submission, given.questions, given.settings
    spec, items = questions.spec, submission.items
    if (earlier := options.earlier) is not None:
        known = {item.id for item in items}
        earlier.refuse_unlike(questions, given.model.id, settings, judge=options.judge, known=known)
        items, settings = merged(questions, earlier, items, settings, options.note)
    twice = given.duplicate  # None where the answers are of no run
    if (
        twice is None and options.judge is not None and spec.judge is None and not JUDGE.is_set
    ):  # which is for all
        options.note(f"{spec.id}: no metric of it is judged, so the judge is not asked")
    said: list[str] = []

    def note(line: str) -> None:
        said.append(line)
        options.note(line)

    judge = options.judge_for(spec, note)
    model, settings = abouts.applied(
        options.about, spec.id, given.model, options.labelled(settings)
    )
    number = sum(item.reason not in NO_ANSWER for item in items)
    options.check_place(spec, questions.split, model, settings, number)
    judged = judge(spec, items) if judge else given.judged
    asked = [(item.question, item.options) for item in items]
    if twice is None:
        missing = [item.id for item in items if item.reason == Reason.PREDICTION_MISSING]
        fits = {"missing": missing, "extra": submission.extra, "notes": submission.notes}
    else:
        fits = {"duplicate": twice, "notes": submission.notes}
    made = aggregation.score(
        spec,
        drained(items),
        overlap=options.overlap,
        judged=judged,
        bar=options.bar,
        columns=given.columns,
        extra=len(submission.extra),
        duplicate=len(twice or ()),
        **submission.tags,
    )
    return Evaluation(
        questions,
        asked,
        made,
        model,
        settings,
        fits,
        given.url,
        given.note,
        options.judge,
        said,
        None,
        given.own_rows,
    )


def merged(
    questions: Questions,
    earlier: EarlierResult,
    items: Sequence[Item],
    settings: SettingsRecord,
    note: Note,
) -> tuple[list[Item], SettingsRecord]:
    """Return items with the answers of an earlier result in the place of those that were not meant, and the settings.

    Raises:
        InputError: None of the questions that were meant has a new answer.
    """
    together, new = earlier.merged(questions, items)
    meant = len(earlier.ids)
    if not new and earlier.only != OTHER_JUDGE:
        raise InputError(
            f"{earlier.folder}: none of its {meant} questions that are meant has a new answer"
        )
    if new < meant and earlier.only != OTHER_JUDGE:
        note(
            f"no new answer to {meant - new} of {number_of(meant, 'question')}, so that of {earlier.folder} stays"
        )
    settings = earlier.settings(settings, meant if earlier.only == OTHER_JUDGE else new)
    return together, settings.model_copy(
        update={"frames_given": submissions.frames_given(together)}
    )
