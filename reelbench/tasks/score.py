"""Score predictions in files, and write the result to disk.

The model is never run again. One path serves all benchmarks: `formats` reads, `scoring.aggregation`
scores. `score_runs` scores the runs of lmms-eval.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from reelbench.base import bounds, software
from reelbench.base.base_record import record_of
from reelbench.base.credentials import refuse_in_words, without_secrets
from reelbench.base.errors import InputError, ReelbenchError, number_of, printable
from reelbench.base.files import sha256_once, write_jsonl
from reelbench.base.progress import Bar, no_bar
from reelbench.base.settings import JUDGE, home
from reelbench.base.values import drained
from reelbench.data import ownership
from reelbench.data.loading import SplitData
from reelbench.judges.verdicts import Judge, Judged, Verdict
from reelbench.registry.declaration import scoring_sha256
from reelbench.registry.decoding import Answering
from reelbench.registry.errata import Errata, ErrataChoice, read_errata
from reelbench.registry.question_files import QuestionIds
from reelbench.registry.reasons import (
    NO_ANSWER,
    NOT_ALL_SEEN,
    NOT_ASKED,
    OF_JUDGE,
    UNREAD_BY_JUDGE,
    Reason,
)
from reelbench.registry.records import (
    About,
    AskedRecord,
    Data,
    ErrataRecord,
    Item,
    ModelRecord,
    PresetRecord,
    ReadingRecord,
    Result,
    Sample,
    SettingsRecord,
)
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec, Corpus
from reelbench.registry.splits import is_mini, upstream_split
from reelbench.scoring import aggregation, answers, result_files
from reelbench.tasks import about as abouts
from reelbench.tasks import hidden_submission, predictions, submissions
from reelbench.tasks.earlier import OTHER_JUDGE, EarlierResult
from reelbench.tasks.filed_answers import FiledAnswers, hash_of_inputs
from reelbench.tasks.predictions import Columns
from reelbench.tasks.sample_facts import SampleFacts
from reelbench.tasks.submissions import Inputs, PredictionSet, Questions, Words
from reelbench.tasks.table_predictions import TablePredictions

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.tasks.answer_reader import ReaderOptions

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of scoring: the judge, facts about the model, and what to leave out.

    With `earlier` some of that result's questions are answered anew and the others keep their
    answers; with `only` a result is of these questions alone. Lines for the user go to `note`.
    """

    overlap: bool = True
    judge: "JudgeOptions | None" = None
    reader: "ReaderOptions | None" = None
    """The model that reads the answers that the grammar leaves unread."""
    note: Note = field(default=lambda _: None)
    bar: Bar = no_bar
    about: About | None = None
    answering: Answering | None = None
    """The way to compare a run's option scores, in place of the run's own."""
    preset: PresetRecord | None = None
    earlier: EarlierResult | None = None
    only: QuestionIds | None = None
    file_as: str | None = None
    """The user's name for a run's model, in place of the run's own."""
    label: str | None = None
    """The user's words on how the answers were made, where the answers themselves don't say it."""
    place: Path | None = None
    """The folder named for the result. A result there isn't replaced by another one, or by less."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """The command's options that a `reelbench.toml` set, with their values."""
    errata: ErrataChoice = "apply"
    filed: bool = False
    """Samples are written to files as they are made: they may be more than memory holds."""

    def __post_init__(self) -> None:
        refuse_in_words("--label", self.label or "")

    def labelled(self, settings: SettingsRecord) -> SettingsRecord:
        """Return settings with the user's label and reader, if any."""
        update: dict[str, Any] = {}
        if self.label:
            update["label"] = self.label
        if self.reader is not None:
            update["reader"] = self.reader.record
        return settings.model_copy(update=update)

    def check_place(
        self,
        spec: BenchmarkSpec,
        split: str,
        model: ModelRecord,
        settings: SettingsRecord,
        answers: int,
    ) -> None:
        """Raise InputError where the result would replace one that it must not.

        It is asked before anything is paid for.
        """
        if self.place is not None:
            result_files.check_kept(
                self.place,
                model.id,
                (spec.id, split),
                settings,
                answers=answers,
                judged=self.judge is not None,
            )

    def errata_of(self, questions: Questions) -> Errata | None:
        """Return the errata of questions that are applied. None where there are none.

        Raises:
            InputError: The file of errata is wrong.
        """
        if self.errata == "ignore" or questions.hidden:
            return None
        errata_of_split = read_errata(questions.spec, questions.split)
        is_part = questions.task is not None and questions.task.only
        if errata_of_split is not None and questions.rows and not is_part:
            errata_of_split.check_ids({row["id"] for row in questions.rows})
        return errata_of_split

    def takes_one_by_one(self, questions: Questions) -> bool:
        """Return True where no item is asked about, and none has an earlier answer."""
        is_asked = self.reader is not None or (
            self.judge is not None and questions.spec.judge is not None
        )
        has_earlier = self.earlier is not None
        return self.filed and not is_asked and not has_earlier and not questions.handed_in

    def judge_for(self, spec: BenchmarkSpec, note: Note | None = None) -> Judge | None:
        """Return the judge that was named. None where the benchmark has nothing for it."""
        if self.judge is None or spec.judge is None:
            return None
        from reelbench.judges.judge_run import judge_of

        return judge_of(self.judge, note or self.note, self.bar)


@dataclass(frozen=True, slots=True)
class RunMetadata:
    """The user's statements on answers made elsewhere: a file of answers has none."""

    model: str | None = None
    revision: str | None = None
    frames: str | None = None
    label: str | None = None
    url: str | None = None
    origin: str | None = None
    """The address from which the answers were fetched."""

    @property
    def anything(self) -> bool:
        """True where at least one thing is stated."""
        return self != RunMetadata()

    def __post_init__(self) -> None:
        if self.frames is not None:
            object.__setattr__(self, "frames", str(FrameSampling.parse(str(self.frames))))
        refuse_in_words("--label", self.label or "")
        refuse_in_words("--url", self.url or "")


BATCH = 1_000
"""Samples that are made before they are written."""

_LEAST_JUDGED_SHARE = 0.2
"""The least share of answers that a working judge scores."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A scored benchmark: the result, its folder, and the ids that did not fit.

    Attributes:
        judge_failed: Why the judge that was named scored under a fifth of what needed it.
        judge_trouble: The judge's last note, where it left answers without a score.
        unanswered: Why not one answer came to its end.
        unread: The first samples whose answer could not be read.
        unread_replies: The first replies (id, text) of a judge that could not be read.
    """

    result: Result
    folder: Path
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    duplicate: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    judge_failed: str | None = None
    judge_trouble: str | None = None
    unanswered: str | None = None
    unread: Sequence[Sample] = ()
    unread_replies: Sequence[tuple[str, str]] = ()

    @property
    def complete(self) -> bool:
        """True where every item is scored and every id fits: the condition of `--strict`."""
        unscored = self.result.counts.unscored.keys() - {Reason.LEFT_OUT}
        return not (unscored or self.missing or self.extra or self.duplicate)


class _Unanswered(NamedTuple):
    """Lines on answers that did not come to their end.

    `error` is the line where none of them did.
    """

    notes: list[str]
    error: str | None


class _QuestionsOrigin(NamedTuple):
    """The owner of questions, and the hash of their split."""

    data: Data
    questions_sha256: str | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A scored benchmark of which nothing is written yet.

    Attributes:
        asked: The questions and their options, in the samples' order. None where they are filed.
        facts: What the outcome tells of the samples.
        fits: The lists of ids, and the notes, as `Outcome` has them.
        judge_notes: The notes of the judge that was asked.
        come_by: The record of how the answers were asked for.
        reading: The cost of the reader's replies.
        own_rows: Whether the run itself states that its rows were somebody's own.
        defaults: The command's options that a `reelbench.toml` set, with their values.
        errata: The errata that were applied.
        stated_targets: The right answers, by id, that these corrected.
        earlier_result: The result whose answers are among these.
        filed: The files that samples and questions are in already.
    """

    questions: Questions
    asked: Sequence[Words]
    scored: aggregation.ScoredItems
    facts: SampleFacts
    model: ModelRecord
    settings: SettingsRecord
    fits: dict[str, list[str]] = field(default_factory=dict)
    url: str | None = None
    note: str | None = None
    judge: "JudgeOptions | None" = None
    judge_notes: Sequence[str] = ()
    come_by: AskedRecord | None = None
    reading: ReadingRecord | None = None
    own_rows: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)
    errata: ErrataRecord | None = None
    stated_targets: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    earlier_result: Result | None = None
    filed: FiledAnswers | None = None

    @property
    def spec(self) -> BenchmarkSpec:
        """The benchmark."""
        return self.questions.spec

    @property
    def items(self) -> list[Item]:
        """The items as they came, made again: before any judge."""
        items: list[Item] = []
        for sample, (question, options) in self._asked_samples():
            reason = aggregation.reason_before_judging(sample)
            items.append(sample.item(question, reason, options))
        return items

    @property
    def name(self) -> str:
        """A name for the result's folder, made from the model and its answers."""
        further: list[str] = []
        if self.errata is not None:
            further.append(str(self.errata))
        if self.settings.reader is not None:
            further.append(self.settings.reader.model_dump_json())
        return f"{self.spec.id}-{self.questions.split}-{self.facts.digest(*further)}"

    @property
    def judge_failed(self) -> str | None:
        """Why the judge scored under a fifth of what needed it."""
        if self.judge is None:
            return None
        # Replies that are still to come from a batch have not failed, nor what nobody asked about.
        failures = OF_JUDGE - {Reason.JUDGE_PENDING, Reason.JUDGE_NOT_DRAWN}
        unscored = self.scored.counts.unscored
        counts = {reason: count for reason, count in unscored.items() if reason in failures}
        judged = self.facts.judged
        needed = judged + sum(counts.values())
        if not counts or judged >= _LEAST_JUDGED_SHARE * needed:
            return None
        if self.judge_notes and not counts.keys() <= UNREAD_BY_JUDGE:
            cause = self.judge_notes[-1]
        else:
            cause = f"no reply of the judge {self.judge.name} at {self.judge.host} could be read"
        numbers = ", ".join(f"{count} {reason}" for reason, count in counts.items())
        extent = "no answer is judged"
        if judged:
            extent = f"{judged} of {needed} answers are judged"
        return f"{cause}; {extent} ({numbers})"

    def _judge_trouble(self) -> str | None:
        """Return the judge's last note, where it was not available for some answers."""
        if not self.judge_notes or not self.scored.counts.unscored.get("judge_unavailable"):
            return None
        return self.judge_notes[-1]

    def _asked_samples(self) -> Iterator[tuple[Sample, Words]]:
        return zip(self.scored.samples, self.asked, strict=True)

    def write(self, folder: Path) -> Outcome:
        """Write the result, its samples and its questions to `folder`.

        Of hidden answers a submission too.
        """
        data_notes = self._data_notes()
        try:
            result = self._write_result(folder, data_notes)
            self._write_questions(folder)
        except InputError:
            if self.filed is not None:
                self.filed.remove()
            raise
        if self.filed is not None:
            self.filed.release()
        notes = list(self.fits.get("notes", ()))
        if Reason.ANSWERS_HIDDEN in self.scored.counts.unscored:
            notes += self._write_submission(folder, result)
        unanswered = self._unanswered()
        notes += unanswered.notes
        overlap_note = self._overlap_note()
        if overlap_note:
            notes.append(overlap_note)
        notes += data_notes
        if self.scored.counts.items > bounds.ITEMS:
            notes.append(
                f"{self.scored.counts.items:,} items: boards, comparisons and pages take results "
                f"of up to {bounds.ITEMS:,}; for those, score the predictions in parts"
            )
        for unit, count in self.facts.answers_by_unit.items():
            notes.append(
                f"{number_of(count, 'answer')} with a span in {unit}: not read; "
                "let the model answer in seconds"
            )
        return Outcome(
            result,
            folder,
            missing=list(self.fits.get("missing", ())),
            extra=list(self.fits.get("extra", ())),
            duplicate=list(self.fits.get("duplicate", ())),
            notes=notes,
            judge_failed=self.judge_failed,
            judge_trouble=self._judge_trouble(),
            unanswered=unanswered.error,
            unread=self.facts.unread,
            unread_replies=self.facts.unread_replies,
        )

    def _write_questions(self, folder: Path) -> None:
        """Write the questions, or move the file that they are in."""
        path = folder / result_files.QUESTIONS_FILE
        if self.filed is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.filed.questions.move(path)
            return
        row = result_files.question_rows(self.questions.library)
        write_jsonl(path, (row(sample, *words) for sample, words in self._asked_samples()))

    def _data_notes(self) -> list[str]:
        """Return the notes on the data: units in doubt, labels and rows that don't count."""
        notes: list[str] = []
        doubt = self.questions.unit_doubt(self.facts.windows)
        if doubt:
            notes.append(doubt)
        labels_note = aggregation.note_on_labels(self.spec, self.scored.tally.columns)
        if labels_note:
            notes.append(labels_note)
        with suppress(ReelbenchError):  # the questions are not on this machine
            unreadable, rows = self.questions.here.left_out
            if unreadable:
                notes.append(
                    f"{unreadable:,} of {rows:,} rows can't be read and are left out "
                    "(skip: unreadable)"
                )
        return notes

    def _write_result(self, folder: Path, data_notes: Sequence[str]) -> Result:
        spec = self.spec
        split = self.questions.split
        source = self.questions.source
        local_split = None
        with suppress(ReelbenchError):  # the questions are not on this machine
            local_split = self.questions.here
        origin = self._questions_origin(local_split)
        notes = [note for note in (self.note, *data_notes) if note]
        attribution = result_files.Attribution(
            origin.data,
            origin.questions_sha256,
            self.errata,
            url=self.url,
            note="; ".join(notes) or None,
            asked=self.come_by,
            reading=self.reading,
            defaults=self.defaults,
        )
        return result_files.write(
            folder,
            spec,
            self.scored,
            split=split,
            source=source,
            model=self.model,
            settings=self.settings,
            attribution=attribution,
        )

    def _questions_origin(self, local_split: SplitData | None) -> _QuestionsOrigin:
        """Return the owner of the questions, and their hash.

        With errata, an earlier result's samples have no more the right answers of the rows: where
        the rows aren't here, it is that result which states both.
        """
        before = self.earlier_result if self.errata is not None else None
        if self.filed is not None:
            return self._filed_origin(self.filed, local_split)
        asked_rows = self._asked_rows() if before is None else ()
        place = (self.spec, self.questions.split, self.questions.source)
        digest = ownership.questions_sha256(*place, asked_rows, local_split)
        if before is not None and digest is None:
            return _QuestionsOrigin(before.data, before.benchmark.questions_sha256)
        if self.own_rows:
            return _QuestionsOrigin("own", digest)
        whose = ownership.rows_owner(*place, self._references(), local_split)
        return _QuestionsOrigin(whose, digest)

    def _filed_origin(self, filed: FiledAnswers, local_split: SplitData | None) -> _QuestionsOrigin:
        """Return the owner of questions that are in a file, and their hash."""
        place = (self.spec, self.questions.split, self.questions.source)
        digest = filed.questions_sha256
        has_some_rows = self.settings.limit is not None and self.questions.file is None
        if self.questions.is_part or has_some_rows:
            digest = ownership.questions_sha256(*place, (), local_split)
        return _QuestionsOrigin(
            ownership.rows_owner(*place, self._references(), local_split), digest
        )

    def _references(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """Yield the id, video, question and right answer of each sample."""
        for sample, question in zip(self.scored.samples, self._question_texts(), strict=True):
            yield sample.id, sample.video, question, self._stated_target(sample)

    def _question_texts(self) -> Iterator[str]:
        """Yield the question of each sample."""
        if self.filed is None:
            for question, _ in self.asked:
                yield question
            return
        for line in self.filed.questions.texts():
            yield json.loads(line)["question"]

    def _stated_target(self, sample: Sample) -> dict[str, Any]:
        """Return a sample's right answer as the rows state it."""
        return self.stated_targets.get(sample.id, sample.target)

    def _asked_rows(self) -> Iterator[tuple[str, str, tuple[str, ...], dict[str, Any] | None]]:
        """Yield the id, question, options and right answer of each sample.

        Where the video was missing there is no right answer.
        """
        for sample, (question, options) in self._asked_samples():
            target = None
            if sample.reason != Reason.MEDIA_MISSING:
                target = self._stated_target(sample)
            yield sample.id, question, options, target

    def _write_submission(self, folder: Path, result: Result) -> list[str]:
        """Write the file for the owners' server. Return notes on its use."""
        spec = self.spec
        split = self.questions.split
        path = folder / f"submission{submissions.submission_suffix(spec)}"
        submissions.write_submission(spec, self.scored.samples, path)
        notes: list[str] = []
        server = spec.splits[upstream_split(spec, split)].submit_to
        advice = submissions.submission_advice(split, path, server or "the owners' server")
        if not submissions.has_own_submission_format(spec) and not is_mini(split):
            hidden_submission.write_record(folder, result)
            lengthy_note = hidden_submission.lengthy_note(path)
            if lengthy_note is not None:
                notes.append(lengthy_note)
            if not server:
                advice = self._hand_in_advice(folder)
        return [f"{spec.id} {split}: the answers are hidden; {advice}", *notes]

    def _hand_in_advice(self, folder: Path) -> str:
        """Return the commands that hand in the answers, or why these can't be."""
        answered_count = len(self.scored.samples)
        split_count = len(self.questions.rows)
        if answered_count < split_count:
            return (
                f"these are {answered_count} of {split_count} questions, and the owner accepts "
                "complete runs only: run all of them to submit"
            )
        return hidden_submission.hand_in_advice(folder)

    def _unanswered(self) -> _Unanswered:
        """Return a line for each reason why answers did not come to their end."""
        counts = self.scored.counts
        asked_items = counts.items
        for reason in NOT_ASKED:
            asked_items -= counts.unscored.get(reason, 0)
        failed_items = 0
        for reason in Reason:
            if reason.fault == "model":
                failed_items += counts.unscored.get(reason, 0)
        some_answered = asked_items > failed_items
        notes: list[str] = []
        for reason in Reason:
            count = counts.unscored.get(reason)
            if some_answered and reason == Reason.MODEL_FAILED:
                continue
            if reason.advice and count:
                notes.append(f"{count} of {asked_items} answers {reason.advice}")
                if reason in NOT_ALL_SEEN:
                    notes[-1] += _sent_and_counted(self.scored.samples, reason)
                if reason == Reason.CUT_OFF:
                    notes[-1] += _full_window(self.scored.samples)
        if some_answered or not notes:
            return _Unanswered(notes, None)
        # The last line is the error then, and no note beside it.
        error = notes.pop() + _why_failed(self.scored.samples, self.model)
        return _Unanswered(notes, error)

    def _overlap_note(self) -> str:
        """Return a note on answers too long for the metrics of overlapping words, if any."""
        metrics = self.spec.metrics
        names = [metric.name for metric in metrics if isinstance(metric.aggregate, Corpus)]
        if self.scored.numbers.metrics.keys().isdisjoint(names):
            return ""
        if not self.facts.too_long:
            return ""
        answers = number_of(self.facts.too_long, "answer has", "answers have")
        return (
            f"{answers} more than {aggregation.LONGEST_OVERLAP} characters: {', '.join(names)} "
            "read the last ones"
        )


_FAILED_REQUEST = re.compile(r"\[LMMS_EVAL_REQUEST_FAILED[^\][]*\]\s*")


def _sent_and_counted(samples: Sequence[Sample], reason: Reason) -> str:
    """Return the pictures and tokens of the first answer that has a reason."""
    for sample in samples:
        tokens = (sample.tokens or {}).get("prompt")
        if sample.reason != reason or tokens is None:
            continue
        counted = number_of(tokens, "token")
        if not sample.frame_timestamps:
            return f" (the first: {counted})"
        answers = len(sample.candidates or [sample.prediction])
        pictures = number_of(answers * len(sample.frame_timestamps), "picture")
        return f" (the first: {pictures}, {counted})"
    return ""


def _full_window(samples: Sequence[Sample]) -> str:
    """Return words on answers that a full window ended, and no limit on their length.

    Then prompt and answer have one sum, however long each of them is.
    """
    of_sum: dict[int, list[int]] = {}
    for sample in samples:
        tokens = sample.tokens or {}
        prompt = tokens.get("prompt")
        answer = tokens.get("completion")
        if sample.reason == Reason.CUT_OFF and prompt and answer:
            of_sum.setdefault(prompt + answer, []).append(answer)
    for window, lengths in of_sum.items():
        if len(set(lengths)) > 1:
            return (
                f"; in {len(lengths)} of them prompt and answer fill the server's window of "
                f"{window:,} tokens: raise that instead (Ollama: OLLAMA_CONTEXT_LENGTH; "
                "llama.cpp: -c; vLLM: --max-model-len)"
            )
    return ""


def _why_failed(samples: Sequence[Sample], model: ModelRecord) -> str:
    """Return the server's words on the first request that failed.

    lmms-eval's adapters log them as the answer.
    """
    answers = [sample.prediction for sample in samples if sample.reason == Reason.MODEL_FAILED]
    if not answers:
        return ""
    if not isinstance(answers[0], str):
        return "; the run's own messages have its reasons"
    words = _FAILED_REQUEST.sub("", answers[0]) or answers[0]
    why = printable(without_secrets(words))
    url = str(model.args.get("base_url") or "")
    if "404" in why and url and not urlsplit(url).path.strip("/"):
        why += f"; {url} has no path, and most servers have /v1: add it to base_url"
    return f": {why}"


class PredictionsFile(NamedTuple):
    """A file of predictions, and the statements on them."""

    path: Path
    metadata: RunMetadata


def resolve_predictions(source: Path | str, metadata: RunMetadata) -> PredictionsFile:
    """Return the file of predictions and its metadata. An address on the Hub is fetched."""
    if not str(source).startswith(predictions.SCHEME):
        return PredictionsFile(Path(source), metadata)
    path, repo_id, origin = predictions.fetch(str(source))
    model = metadata.model or repo_id
    return PredictionsFile(path, replace(metadata, model=model, origin=origin))


def record_of_model(**fields: str | None) -> ModelRecord:
    """Return a model's record. InputError where a name is none that a record can hold."""
    return record_of(ModelRecord, fields, "the model", mark=": ")


@dataclass(frozen=True, slots=True)
class Answers:
    """One model's answers to a split's questions, and the facts for their record.

    Attributes:
        judged: The verdicts of the run's own judge.
        columns: The items' own scores, by id, where whoever hands them over has made them.
        duplicate: Ids that a run has twice. None where the answers are of no run.
        own_rows: Whether the run itself states that its rows were somebody's own.
        earlier_result: The result whose answers are among these already.
        table: The table whose items are made as they are scored; the submission has none then.
        inputs: The hash of all that the table's samples are made of.
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
    earlier_result: Result | None = None
    table: TablePredictions | None = None
    inputs: str = ""

    @property
    def questions(self) -> Questions:
        """The questions that were asked."""
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
    """Read predictions from a file in the owners' format, or a table.

    Args:
        name: A benchmark or one of its tasks.
        inputs: The files.
        options: How they are to be scored.
        columns: A table's columns, where their names don't tell.
        metadata: The user's statements on the answers, for the record.
        agent_log: The log of what an agent looked at for them.
    """
    questions = Questions.named(name, inputs.split, inputs.data, inputs.references)
    metadata = metadata or RunMetadata()
    columns = columns or Columns()
    submission = predictions.read_any(questions, inputs.predictions, columns, inputs.document)
    table: TablePredictions | None = None
    inputs_hash = ""
    if isinstance(submission, TablePredictions):
        is_alone = inputs.tags is None and agent_log is None
        if is_alone and options.takes_one_by_one(questions):
            table = submission
            table.only = options.only
            inputs_hash = _hash_of_inputs(questions, inputs.predictions, columns, options)
            submission = table.set
        else:
            submission = submission.gathered()
    if questions.handed_in and options.only is None and options.earlier is None:
        _refuse_other_questions(submission, inputs.predictions)
    if inputs.tags is not None:
        submission = submissions.with_tags(submission, inputs.tags)
    settings = SettingsRecord(frames=metadata.frames or "unknown", label=metadata.label)
    if agent_log is not None:
        if metadata.frames or metadata.label:
            raise InputError(
                "--looked says how the answers were made; leave out --frames and --label"
            )
        submission, settings = submissions.with_agent_log(submission, agent_log)
    model_id = metadata.model or inputs.predictions.stem
    model = record_of_model(id=model_id, revision=metadata.revision)
    earlier = options.earlier
    if earlier is not None:
        if metadata.model in {None, earlier.result.model.id}:
            model = earlier.result.model
        if metadata.frames is None and agent_log is None:
            settings = earlier.result.settings
    elif options.only is not None:
        if table is None:
            submission = _limited_to(submission, options.only)
        settings = settings.model_copy(update={"limit": len(options.only.ids)})
    note = f"answers from {metadata.origin}" if metadata.origin else None
    return Answers(submission, model, settings, metadata.url, note, table=table, inputs=inputs_hash)


def _limited_to(submission: PredictionSet, only: QuestionIds) -> PredictionSet:
    """Return predictions with some of their items. InputError where one isn't there."""
    questions = submission.questions
    ids = [item.id for item in submission.items]
    only.check(ids, f"{questions.spec.id} {questions.split}")
    items = [item for item in submission.items if item.id in only.ids]
    return replace(submission, items=items)


def _hash_of_inputs(questions: Questions, file: Path, columns: Columns, options: Options) -> str:
    """Return a hash of what the samples of a table are made of."""
    spec = questions.spec
    errata_of_split = options.errata_of(questions)
    return hash_of_inputs(
        spec.id,
        scoring_sha256(spec),
        questions.split,
        questions.task,
        questions.source,
        sha256_once(file),
        columns,
        errata_of_split and errata_of_split.record,
        options.only and options.only.sha256,
        answers.VERSION,
        software.versions(["reelbench"]),
    )


def _refuse_other_questions(submission: PredictionSet, file: Path) -> None:
    """Refuse a file that the owner of a hidden test would refuse. InputError."""
    own_ids = [item.id for item in submission.items]
    given_ids = {*own_ids, *submission.extra}.difference(submission.absent)
    hidden_submission.refuse_other_ids(given_ids, own_ids, str(file))


def score_files(name: str, inputs: Inputs, options: Options, **arguments: Any) -> Evaluation:  # noqa: ANN401 - `read_answers`'
    """Score predictions from a file. The arguments are those of `read_answers`."""
    return evaluation(read_answers(name, inputs, options, **arguments), options)


def evaluation(answers: Answers, options: Options) -> Evaluation:
    """Judge and score answers, with those of an earlier result.

    The list of their items is emptied.
    """
    submission = answers.submission
    questions = answers.questions
    spec = questions.spec
    items = submission.items
    options = _without_idle_reader(options, questions)
    settings = options.labelled(answers.settings)
    earlier = options.earlier
    errata_of_split = options.errata_of(questions)
    earlier_result = answers.earlier_result
    if earlier is not None:
        earlier_result = earlier.result
        ids = {item.id for item in items}
        earlier.refuse_unlike(
            questions,
            answers.model.id,
            settings,
            judge=options.judge,
            question_ids=ids,
            errata=errata_of_split,
        )
        items, settings = merged(questions, earlier, items, settings, options.note)
    _note_idle_judge(answers, options)
    judge_notes: list[str] = []

    def note(line: str) -> None:
        judge_notes.append(line)
        options.note(line)

    judge = options.judge_for(spec, note)
    model, settings = abouts.applied(
        options.about, spec.id, answers.model, options.labelled(settings)
    )
    answered_items = sum(item.reason not in NO_ANSWER for item in items)
    if answers.table is not None:
        answered_items = len(answers.table)  # no more than these
    options.check_place(spec, questions.split, model, settings, answered_items)
    errata_record: ErrataRecord | None = None
    stated_targets: dict[str, dict[str, Any]] = {}
    if errata_of_split is not None:
        errata_record = errata_of_split.record
        options.note(f"errata: {errata_record} (--errata ignore scores without them)")
        answers = _without_scores_of(answers, errata_of_split)
        items = list(_with_errata(drained(items), errata_of_split, stated_targets))
    read_items = _read_by_model(spec, items, answers.columns, options)
    items = read_items.items
    judged = judge(spec, items) if judge else answers.judged
    columns = read_items.columns
    scoring = _Scoring(spec, model.id, judged, columns)
    if answers.table is None:
        scoring.add_all(drained(items))
    else:
        filed = FiledAnswers(options.place or home() / "results", answers.inputs, questions)
        with filed.writing():
            table_items = answers.table.items(filed.samples.before())
            if errata_of_split is not None:
                table_items = _with_errata(table_items, errata_of_split, stated_targets)
            scoring.file_all(table_items, filed, stated_targets)
            options.check_place(spec, questions.split, model, settings, scoring.facts.answered)
    scored_items = aggregation.ScoredItems(
        spec,
        scoring.samples,
        judged and judged[1],
        {
            "extra": len(submission.extra),
            "duplicate": len(answers.duplicate or ()),
            **submission.tags,
        },
        options.overlap,
        options.bar,
        counted=scoring.tally,
    )
    return Evaluation(
        questions=questions,
        asked=scoring.asked,
        scored=scored_items,
        facts=scoring.facts,
        model=model,
        settings=settings,
        fits=_fits(answers, scoring.facts.missing),
        url=answers.url,
        note=answers.note,
        judge=options.judge,
        judge_notes=judge_notes,
        reading=read_items.reading,
        own_rows=answers.own_rows,
        defaults=options.defaults,
        errata=errata_record,
        stated_targets=stated_targets,
        earlier_result=earlier_result,
        filed=scoring.filed,
    )


class _Scoring:
    """Samples as they are made of items, and what is told of them.

    Attributes:
        samples: The samples, in a list or a file.
        asked: Their questions and options. None of samples in a file.
        tally: What the result says of them.
        facts: What the outcome tells of them.
        filed: The files that they are in.
    """

    def __init__(
        self,
        spec: BenchmarkSpec,
        model: str,
        judged: Judged | None,
        columns: Mapping[str, dict[str, float]],
    ) -> None:
        self.samples: Sequence[Sample] = ()
        self.asked: list[Words] = []
        self.tally = aggregation.SampleTally()
        self.facts = SampleFacts(spec, model)
        self.filed: FiledAnswers | None = None
        self._spec = spec
        self._columns = columns
        self._verdicts: Mapping[str, Verdict] = {}
        if judged is not None:
            self._verdicts, _ = judged

    def add_all(self, items: Iterable[Item]) -> None:
        """Make the samples of items, and hold them."""
        samples: list[Sample] = []
        for batch, questions in self._batches(items):
            samples += batch
            self.asked += questions
        self.samples = samples

    def file_all(
        self,
        items: Iterable[Item],
        filed: FiledAnswers,
        stated_targets: Mapping[str, dict[str, Any]],
    ) -> None:
        """Make the samples of items, and write them to their files."""
        for batch, questions in self._batches(items):
            filed.extend(batch, questions, stated_targets)
        self.filed = filed
        self.samples = filed.samples

    def _batches(self, items: Iterable[Item]) -> Iterator[tuple[list[Sample], list[Words]]]:
        """Yield some samples with their questions, and then the next ones."""
        source = iter(items)
        for batch in iter(lambda: list(islice(source, BATCH)), []):
            samples: list[Sample] = []
            for item in batch:
                verdict = self._verdicts.get(item.id)
                columns = self._columns.get(item.id)
                samples.append(aggregation.to_sample(self._spec, item, verdict, columns))
            self.tally.extend(samples)
            self.facts.extend(samples)
            yield samples, [(item.question, item.options) for item in batch]


def _note_idle_judge(answers: Answers, options: Options) -> None:
    """Note that a judge was named for a benchmark that has nothing to judge."""
    spec = answers.questions.spec
    is_run = answers.duplicate is not None
    # A judge of REELBENCH_JUDGE is for all benchmarks, so that it may be of no use to one.
    if options.judge is not None and spec.judge is None and not is_run and not JUDGE.is_set:
        options.note(f"{spec.id}: no metric of it is judged, so the judge is not asked")


def _fits(answers: Answers, missing: list[str]) -> dict[str, list[str]]:
    """Return the ids that do not fit to the questions, and the notes."""
    submission = answers.submission
    fits: dict[str, list[str]] = {"notes": submission.notes}
    if answers.duplicate is not None:
        fits["duplicate"] = answers.duplicate
        return fits
    fits["missing"] = missing
    fits["extra"] = submission.extra
    return fits


def _without_idle_reader(options: Options, questions: Questions) -> Options:
    """Return options without a reader of answers that their owner's machine reads anew."""
    spec = questions.spec
    if (
        options.reader is None
        or not questions.hidden
        or submissions.has_own_submission_format(spec)
    ):
        return options
    options.note(
        f"{spec.id} {questions.split}: the owner reads the predictions without a model, so the "
        "reader is not asked"
    )
    return replace(options, reader=None)


def _with_errata(
    items: Iterable[Item], errata_of_split: Errata, stated_targets: dict[str, dict[str, Any]]
) -> Iterator[Item]:
    """Yield items with the errata applied.

    The right answers of the changed ones, as the rows state them, are put into `stated_targets`.
    """

    def stated() -> Iterator[Item]:
        for item in items:
            if item.id in errata_of_split.by_id:
                stated_targets[item.id] = item.target
            yield item

    return errata_of_split.items(stated())


def _without_scores_of(answers: Answers, errata_of_split: Errata) -> Answers:
    """Return answers without the scores and verdicts that errata change."""
    changed_ids = errata_of_split.by_id.keys()
    columns = answers.columns
    columns = {name: columns[name] for name in columns if name not in changed_ids}
    judged = answers.judged
    if judged is not None:
        verdicts, record = judged
        verdicts = {name: verdicts[name] for name in verdicts if name not in changed_ids}
        judged = (verdicts, record)
    return replace(answers, columns=columns, judged=judged)


class _ReadItems(NamedTuple):
    """Items as a reader read them, their own scores, and what that took."""

    items: list[Item]
    columns: Mapping[str, dict[str, float]]
    reading: ReadingRecord | None


def _read_by_model(
    spec: BenchmarkSpec,
    items: list[Item],
    columns: Mapping[str, dict[str, float]],
    options: Options,
) -> _ReadItems:
    """Return items with what the reader that was named found in unread answers.

    Own scores of an item that it saw are made anew.
    """
    if options.reader is None:
        return _ReadItems(items, columns, None)
    from reelbench.tasks.answer_reader import read_unread

    read = read_unread(spec, items, options.reader, options.note, options.bar)
    kept_columns = {name: scores for name, scores in columns.items() if name not in read.seen}
    return _ReadItems(read.items, kept_columns, read.record)


class MergedItems(NamedTuple):
    """A result's items with those of an earlier one, and its settings."""

    items: list[Item]
    settings: SettingsRecord


def merged(
    questions: Questions,
    earlier: EarlierResult,
    items: Sequence[Item],
    settings: SettingsRecord,
    note: Note,
) -> MergedItems:
    """Return new items with the earlier result's answers to all other questions.

    Raises:
        InputError: None of the questions that are asked again has a new answer.
    """
    all_items, new = earlier.merged(questions, items)
    again = len(earlier.ids)
    if earlier.only == OTHER_JUDGE:
        answered_again = again
    else:
        answered_again = new
        if not new:
            raise InputError(
                f"{earlier.folder}: none of its {again} selected questions has a new answer"
            )
        if new < again:
            of_questions = number_of(again, "question")
            note(
                f"no new answer to {again - new} of {of_questions}, so that of {earlier.folder} "
                "stays"
            )
    settings = earlier.settings(settings, answered_again)
    frames = submissions.frames_given(all_items)
    return MergedItems(all_items, settings.model_copy(update={"frames_given": frames}))
