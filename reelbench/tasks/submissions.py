"""Join predictions from files with their references.

Every benchmark's `formats.py` ends in `join`.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, tee
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from reelbench.base import bounds, tables
from reelbench.base.base_record import first_wrong_field
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import sha256_of, write_jsonl, write_text
from reelbench.base.lazy import import_object
from reelbench.base.temporary_tables import UniqueIds
from reelbench.base.values import describe, drained, is_object
from reelbench.data.declared_check import lengths_of
from reelbench.data.loading import SplitData, each_row, find_split, locate_files
from reelbench.registry import rows
from reelbench.registry.reasons import NO_ANSWER, Reason
from reelbench.registry.records import Item, Sample, SettingsRecord, SourceRecord, shared_labels
from reelbench.registry.rows import UNTIMED, Row, Timing
from reelbench.registry.sampling import TIMED_KINDS
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.registry.splits import expected_files, is_mini, upstream_split
from reelbench.scoring import aggregation, answers, cognitive_profile, temporal_span
from reelbench.scoring.cognitive_profile import TagsFile
from reelbench.video import look_log
from reelbench.video.library import Library


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction of a file: its raw text, and the parsed answer.

    With a `reason` it is unscored.
    """

    prediction: Any
    parsed: dict[str, Any] | None = None
    flags: tuple[str, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference of a prediction.

    Each of `options` is "" if only their number is known.
    """

    id: str
    video: str
    target: dict[str, Any]
    facets: dict[str, list[str]] = field(default_factory=dict)
    question: str = ""
    options: tuple[str, ...] = ()
    timing: Timing = UNTIMED

    def item(self, prediction: Prediction, **changes: Any) -> Item:  # noqa: ANN401
        """Return the item to be scored. `changes` are fields to set in place of these.

        Raises:
            InputError: A result can't contain the question.
        """
        fields = {
            "id": self.id,
            "video": self.video,
            "target": self.target,
            "facets": self.facets,
            "question": self.question,
            "options": self.options,
            "prediction": prediction.prediction,
            "parsed": prediction.parsed,
            "flags": prediction.flags,
            "reason": prediction.reason,
        }
        try:
            return Item(**fields | changes)
        except ValidationError as error:
            wrong_field = first_wrong_field(error)
            raise InputError(f"the question {self.id[:60]!r}: {wrong_field}") from None


_FILES_OPENED = 100

Words = tuple[str, tuple[str, ...]]
"""A question and its options, none where it has none or they are not known."""


@dataclass(frozen=True)
class Questions:
    """The questions of a split, or of a task's part of it, with their references.

    They are located once and their rows are read once, on first use. Nothing is downloaded.

    Attributes:
        data: The file or folder that the user named.
        file: A references file, used instead of the benchmark's rows.
        document: The JSON of that file, where it is in memory.
        stated: The source as the record has it, if it is not determined here.
        located: The split, if it was located before.
    """

    spec: BenchmarkSpec
    split: str
    task: TaskSpec | None = None
    data: Path | None = None
    file: Path | None = None
    stated: SourceRecord | None = None
    located: SplitData | None = None
    document: Any = None

    @classmethod
    def named(
        cls, name: str, split: str | None, data: Path | None = None, file: Path | None = None
    ) -> "Questions":
        """Return the questions of a benchmark or one of its tasks.

        Raises:
            InputError: There is nothing of that name.
        """
        return cls(*find_split(name, split), data, file)

    @cached_property
    def here(self) -> SplitData:
        """The split on this machine. DataUnavailableError where it is not here."""
        if self.located:
            return self.located
        return locate_files(self.spec, self.split, self.task, self.data, fetch=False)

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Its rows, as far as they are here."""
        try:
            return self.here.rows
        except ReelbenchError:
            return ()

    @cached_property
    def words(self) -> Mapping[str, Words]:
        """The question and the options of each row that is here, by id."""
        return {row["id"]: (row["question"], tuple(row.get("options", ()))) for row in self.rows}

    @cached_property
    def timings(self) -> dict[str, Timing]:
        """The times that the rows state of their videos, by id, where answers are spans."""
        if not self.spec.asks_span:
            return {}
        return {row["id"]: rows.timing(row) for row in self.rows}

    @cached_property
    def source(self) -> SourceRecord:
        """Their source; of a file that the user named without its folder, which is private."""
        if self.stated is None and self.file is not None:
            digest = f"{self.spec.id}:{sha256_of(self.file)}"
            return SourceRecord(
                kind="files", location=self.file.name, revision=None, fingerprint=digest
            )
        return self.stated or self.here.source

    def unit_doubt(self, windows: Mapping[str, tuple[Any, Any]]) -> str | None:
        """Return a note where answered windows look as if they were no seconds.

        They are compared with the lengths of the videos, from the rows or from the video files, of
        which the first `_FILES_OPENED` are opened.

        Args:
            windows: Id -> the window that was answered, and the right one.
        """
        lengths: dict[str, float] = {}
        if windows:
            answered_rows = [row for row in self.rows if row["id"] in windows]
            with suppress(ReelbenchError):  # a name that no file can have
                lengths = lengths_of(answered_rows, self._files_without_length(answered_rows))
        return temporal_span.unit_doubt(windows, lengths)

    def _files_without_length(self, answered_rows: Sequence[Row]) -> dict[str, Path]:
        """Return the files of the first videos whose rows state no length."""
        without_length: dict[str, Row] = {}
        for row in answered_rows:
            if not row.get("duration"):
                without_length.setdefault(row["video"], row)
        files: dict[str, Path] = {}
        for video, row in islice(without_length.items(), _FILES_OPENED):
            path = self.library.find(row)
            if path is not None:
                files[video] = path
        return files

    @cached_property
    def library(self) -> Library:
        """The videos that are here. None is made."""
        return Library(self.spec, self.split, self.data, make=False)

    @property
    def hidden(self) -> bool:
        """True where only the owners know the answers, so that no item can be scored."""
        return self.file is None and has_hidden_answers(self.spec, self.split)

    @property
    def is_part(self) -> bool:
        """True where these are a task's part of the rows of a split."""
        return self.file is None and self.task is not None and bool(self.task.only)

    @property
    def handed_in(self) -> bool:
        """True where answers go to their owner as a pull request, and to no server."""
        if not self.hidden or is_mini(self.split) or has_own_submission_format(self.spec):
            return False
        return not self.spec.splits[upstream_split(self.spec, self.split)].submit_to

    def references(self) -> list[Reference]:
        """Return the references, in the order of the file or the rows.

        Raises:
            InputError: The file lacks what it needs, or a question isn't as it must be.
            DataUnavailableError: The split is not here.
        """
        return list(self.each_reference())

    def each_reference(self) -> Iterator[Reference]:
        """Yield the references one by one: they may be more than memory holds.

        For the errors see `references`.
        """
        if self.file is None:
            for row in self._each_row():
                yield reference_of(self.spec, row)
            return
        several = rows.allows_several_answers(self.spec)
        labels = self.task.only if self.task else {}
        has_references = False
        for reference in self._references_in(self.file):
            where = f"{self.file}: the reference {reference.id!r}"
            rows.check_answer(where, reference.target, reference.options, several=several)
            if _has_labels(reference, labels):
                has_references = True
                yield reference
        if not has_references:
            labels_text = ", ".join(f"{facet} {label}" for facet, label in labels.items())
            raise InputError(f"{self.file}: no question with {labels_text}")

    def _each_row(self) -> Iterable[Row]:
        """Return the rows that are here, in memory where they are needed again."""
        if self.spec.mapping is None or self.spec.asks_span or "rows" in vars(self.here):
            return self.here.rows
        return self.here.each()

    def _references_in(self, file: Path) -> Iterator[Reference]:
        """Yield the references of a file, and of the files that go with it."""
        spec = self.spec
        needed = spec.splits[upstream_split(spec, self.split)].needed
        beside = [file.with_name(name) for name in needed]
        lacking = [path.name for path in beside if not path.is_file()]
        read = getattr(import_object(spec.formats), "read_references", None)
        if lacking and read is None and spec.mapping is None:
            raise InputError(f"{file}: {', '.join(lacking)} must be next to it")
        split = self.split
        if spec.mapping is None and has_hidden_answers(spec, split):
            # A reader of ours leaves out the answers of a split whose rows have none; a file of
            # references has them.
            split = spec.default_split
        references: Iterable[Reference]
        if self.document is not None and read is not None:
            references = read(file, self.document)
        elif read is not None:
            references = read(file)
        else:
            paths = [file, *(path for path in beside if path.name not in lacking)]
            references = (reference_of(spec, row) for row in each_row(spec, paths, split))
        has_references = False
        for reference in references:
            has_references = True
            yield reference
        if not has_references:
            expected = " or ".join(expected_files(spec.splits[upstream_split(spec, split)].source))
            raise InputError(f"{file}: no questions in it; expected references such as {expected}")


def _has_labels(reference: Reference, labels: Mapping[str, str]) -> bool:
    return all(label in reference.facets.get(facet, ()) for facet, label in labels.items())


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of a score command.

    Predictions in memory are a JSON `document`. `predictions` is then what errors call them.
    """

    predictions: Path
    references: Path | None = None
    tags: TagsFile | None = None
    split: str | None = None
    data: Path | None = None
    document: Any = None


@dataclass(frozen=True, slots=True)
class PredictionSet:
    """Predictions joined with the questions that they answer, ready to be scored.

    `extra` are ids that no question has, `absent` those of questions without a line. `tags` counts
    what didn't fit, where there are tags, as `Counts` has it.
    """

    questions: Questions
    items: list[Item]
    extra: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)


def is_in_owners_format(document: object, key: str, *fields: str) -> bool:
    """Return True where a document is in the owners' format.

    Then some entry has a question's `key` and one of the fields.
    """
    for entry in tables.rows_of_document(document, key):
        if is_object(entry) and key in entry and not entry.keys().isdisjoint(fields):
            return True
    return False


class OwnersEntry(NamedTuple):
    """An entry of the owners' list of predictions: its place, its question's id, and itself."""

    where: str
    id: str
    fields: dict[str, Any]


def entries(
    path: Path,
    document: object,
    key: str,
    expected: str,
    lacks: Callable[[Mapping[str, Any]], bool],
) -> Iterator[OwnersEntry]:
    """Yield the entries of an owners' list of predictions, or the only one.

    `key` names the field of the id.

    Raises:
        InputError: There is no entry, one lacks what is `expected`, or an id occurs twice.
    """
    listed = tables.rows_of_document(document, key)
    if not listed:
        raise InputError(f"{path}: no predictions in it; expected one per question with {expected}")
    ids = UniqueIds()
    for number, entry in enumerate(listed, start=1):
        where = f"{path}: prediction {number}"
        if not isinstance(entry, dict) or key not in entry or lacks(entry):
            raise InputError(f"{where} lacks what is expected, {expected}; found {describe(entry)}")
        name = str(entry[key])
        ids.add(name, where)
        yield OwnersEntry(where, name, entry)


class Formats(Protocol):
    """The functions of a benchmark's `formats.py`.

    `read` is there where its owners have a format. These apply to some benchmarks:

    - `read_references(path)` yields the owners' references where these are no rows that `reader`
      reads;
    - `own_references(path, document)` is True where a file of predictions has the references in it,
      too;
    - `submission_row(sample)` returns a sample as the owners' file has it, where their server
      scores a split with hidden answers; without it a line is this module's. Unless that file is
      `.jsonl`, `SUBMISSION_SUFFIX` is there too (`.json`: one list);
    - `check_submission(rows)` raises InputError where the owners' server would refuse such a file;
    - `reread(entry) -> parsed` reads a prediction that is an entry of the owners' file, kept whole
      in a sample, by a rule of the file's and not as a model's text; recomputation finds it by that
      name.
    """

    def read(self, questions: Questions, path: Path, document: Any) -> dict[str, Prediction]:  # noqa: ANN401
        """Read predictions by id.

        `document` is the JSON value in the file, or the list of its lines' values.

        Raises:
            InputError: One is wrong. The message has the file, the place and the field.
        """
        ...


def with_tags(submission: PredictionSet, tags: TagsFile) -> PredictionSet:
    """Give items the labels of a tags file, and count what doesn't fit.

    The labels are CogME's, on any benchmark.

    Raises:
        InputError: No tagged id is among the items, or the benchmark's rows have a facet that the
            tags would hide.
    """
    spec = submission.questions.spec
    items = submission.items
    tag_facets = {facet.name for facet in cognitive_profile.FACETS}
    for facet in spec.facets:
        if facet.in_rows and facet.name in tag_facets:
            raise InputError(
                f"{spec.id} has a facet {facet.name!r} of its own, which the tags would hide; "
                "leave out --tags"
            )
    item_ids = {item.id for item in items}
    without_question = [qid for qid in tags if qid not in item_ids]
    if len(without_question) == len(tags):
        raise InputError(
            f"{tags.path}: none of its {len(tags)} qids (first: {without_question[0]!r}) is among "
            f"the {len(items)} questions (first: {items[0].id!r}); are both of the same release "
            "and split?"
        )
    all_of = {cognitive_profile.TAGGED: [cognitive_profile.ALL]}
    labelled_items: list[Item] = []
    for item in items:
        if item.id in tags:
            facets = item.facets | tags[item.id].facets | all_of
            labelled_items.append(item.model_copy(update={"facets": facets}))
        else:
            labelled_items.append(item)
    without_tags = len(item_ids - tags.keys())
    counts = {
        "tags_without_question": len(without_question),
        "questions_without_tags": without_tags,
    }
    notes = list(submission.notes)
    if without_question:
        notes.append(f"{len(without_question)} tags belong to no question here")
    if without_tags:
        notes.append(f"{without_tags} questions have no tags and are in no cognitive profile")
    return replace(submission, items=labelled_items, tags=counts, notes=notes)


def frames_given(items: Iterable[Item | Sample]) -> dict[str, int]:
    """Return number of frames that reached a model -> items. Repeats of frames don't count.

    The number is `unknown` where nobody counted.
    """
    counts: Counter[str] = Counter()
    for item in items:
        if item.frames_arrived is not None:
            counts[str(item.frames_arrived)] += 1
        elif item.frame_timestamps is not None:
            counts[str(len(item.frame_timestamps) - item.frame_padding)] += 1
    return dict(counts)


class AgentAnswers(NamedTuple):
    """The answers of an agent with the times that it looked at, and their settings."""

    submission: PredictionSet
    settings: SettingsRecord


def with_agent_log(submission: PredictionSet, log: Path) -> AgentAnswers:
    """Return answers with the distinct times that an agent looked at, by its log.

    Raises:
        InputError: A line is not a look, or not at the video of a question that is here.
    """
    videos = {item.id: item.video for item in submission.items}
    times: dict[str, set[float]] = defaultdict(set)
    for number, look in look_log.read(log):
        where = f"{log}, line {number}"
        if look.question is None:
            raise InputError(f"{where}: has no question; `frames serve --question ID` says it")
        if look.question not in videos:
            raise InputError(
                f"{where}: no question {look.question!r} is among those that are scored"
            )
        video = videos[look.question]
        if look.video != video:
            raise InputError(
                f"{where}: is a look at {look.video!r}, question {look.question!r} is on {video!r}"
            )
        times[look.question].update(look.times)
    items: list[Item] = []
    for item in submission.items:
        timestamps = sorted(times[item.id])
        items.append(item.model_copy(update={"frame_timestamps": timestamps}))
    # Looks are pictures; whether the agent heard anything elsewhere nobody knows.
    settings = SettingsRecord(
        frames=look_log.AGENTIC,
        frames_given=frames_given(items),
        audio="unknown",
        label=look_log.AGENTIC,
    )
    return AgentAnswers(replace(submission, items=items), settings)


def count_items_with_other_frames(
    spec: BenchmarkSpec, items: Iterable[Item | Sample]
) -> dict[str, int] | None:
    """Count the items that were shown other frames, or told other times, than asked for.

    Times count where the benchmark asks for them. None where there are no such items.
    """
    # An item has these fields only where what reached the model differs from what was asked.
    other_frames = 0
    other_times = 0
    for item in items:
        if isinstance(item.frames_arrived, int):
            other_frames += 1
        if item.frame_times_told is not None and spec.row_kind in TIMED_KINDS:
            other_times += 1
    counts: dict[str, int] = {}
    if other_frames:
        counts["frames"] = other_frames
    if other_times:
        counts["times"] = other_times
    return counts or None


def join(
    questions: Questions,
    predictions: dict[str, Prediction],
    references: list[Reference],
    path: Path,
) -> PredictionSet:
    """Match predictions with references, in the references' order.

    Both arguments are emptied to save memory.

    Raises:
        InputError: No id matches, or a result can't contain a question.
    """
    reference_ids = {reference.id for reference in references}
    extra = [name for name in predictions if name not in reference_ids]
    if len(extra) == len(predictions):
        raise InputError(
            f"{path}: none of its {len(predictions)} ids (first: {extra[0]!r}) is among the "
            f"{len(reference_ids)} references (first: {references[0].id!r}); are both of the same "
            "benchmark and split?"
        )
    videos: dict[str, str] = {}  # a name that many questions share is held once
    no_prediction = Prediction(None, reason=Reason.PREDICTION_MISSING)
    hidden = Reason.ANSWERS_HIDDEN if questions.hidden else None
    items: list[Item] = []
    absent: list[str] = []
    for reference in drained(references):
        if reference.id not in predictions:
            absent.append(reference.id)
        prediction = predictions.pop(reference.id, no_prediction)
        video = videos.setdefault(reference.video, reference.video)
        item = reference.item(prediction, video=video, reason=prediction.reason or hidden)
        items.append(Item.from_checked(vars(item)))
    return PredictionSet(questions, items, extra, absent=absent)


def has_hidden_answers(spec: BenchmarkSpec, split: str) -> bool:
    """Return True where only the owners' server can score the split."""
    return spec.splits[upstream_split(spec, split)].hidden_answers


def reference_of(spec: BenchmarkSpec, row: Row) -> Reference:
    """Return the reference in a row of the benchmark."""
    return Reference(
        row["id"],
        row["video"],
        rows.target(spec, row),
        shared_labels(rows.facets(spec, row)),
        row["question"],
        tuple(row.get("options", ())),
        rows.timing(row),
    )


def parse_answer(
    spec: BenchmarkSpec,
    text: str,
    options: Sequence[str] = (),
    timing: Timing = UNTIMED,
    question: str = "",
) -> Prediction:
    """Read a model's raw answer.

    It names a choice, and a span where the benchmark asks for one. `timing` has the times of the
    video, and `question` the question, as far as they are known.
    """
    [prediction] = parse_answers(spec, [answers.Given(text, options, timing, question)])
    return prediction


def parse_answers(spec: BenchmarkSpec, texts: "Iterable[answers.Given]") -> Iterator[Prediction]:
    """Read each raw answer as `parse_answer` does. Many are read by several processes."""
    to_parse, raw_answers = tee(texts)
    for raw_answer, parsed in zip(raw_answers, answers.parse_all(spec, to_parse), strict=True):
        text = raw_answer.text
        failure_reason = aggregation.reason_in_text(text)
        if failure_reason is None:
            yield Prediction(text, parsed, answers.flags(text, parsed))
        else:
            yield Prediction(text, reason=failure_reason)


def is_cut_off_while_reasoning(text: object) -> bool:
    """Return True where a text ends while the model was still reasoning.

    In a run, it met the limit on the length of an answer.
    """
    if not isinstance(text, str) or aggregation.is_failure(text):
        return False
    return answers.strip_reasoning(text) is None


# --- files for the owners' servers
# ----------------------------------------------------------------------------------


def submission_suffix(spec: BenchmarkSpec) -> str:
    """Return the suffix of the owners' submission file: `.json` for one list, else JSON Lines."""
    return getattr(import_object(spec.formats), "SUBMISSION_SUFFIX", ".jsonl")


def has_own_submission_format(spec: BenchmarkSpec) -> bool:
    """Return True where the owners' server takes a form of its own."""
    return _row_writer(spec) is not submission_row


def _row_writer(spec: BenchmarkSpec) -> Callable[[Sample], dict[str, Any]]:
    return getattr(import_object(spec.formats), "submission_row", submission_row)


def submission_advice(split: str, path: Path, server: str) -> str:
    """Return the advice on a split's submission file.

    Mini questions are ours, and no server knows them.
    """
    if is_mini(split):
        return f"{path} shows the form of a submission"
    return f"submit {path} to {server}"


def submission_row(sample: Sample) -> dict[str, Any]:
    """Return a sample as a line of a submission, without a form of the owners.

    One without an answer has the reason in its place. Reasoning is left out where the text is
    longer than what is taken.
    """
    if sample.reason in NO_ANSWER:
        return {"id": sample.id, "prediction": None, "reason": str(sample.reason)}
    text = sample.prediction or ""
    if isinstance(text, str) and len(text) > bounds.PREDICTION:
        text = answers.strip_reasoning(text) or text
    return {"id": sample.id, "prediction": text}


def write_submission(spec: BenchmarkSpec, samples: Sequence[Sample], path: Path) -> None:
    """Write the owners' submission file, in the order of the ids."""
    formats: Formats = import_object(spec.formats)
    row_of = _row_writer(spec)
    table = [row_of(sample) for sample in sorted(samples, key=lambda sample: sample.id)]
    check = getattr(formats, "check_submission", None)
    if check is not None:
        check(table)
    if submission_suffix(spec) == ".json":
        write_text(path, json.dumps(table, ensure_ascii=False))
    else:
        write_jsonl(path, table)
