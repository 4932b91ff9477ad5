"""Predictions from files joined with their references: what every benchmark's `formats.py` ends in."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from reelbench.base import tables
from reelbench.base.base_record import first_wrong_field
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import sha256_of, write_jsonl, write_text
from reelbench.base.lazy import import_object
from reelbench.base.values import describe, drained, is_object
from reelbench.data.declared_check import lengths_of
from reelbench.data.loading import SplitData, find_split, locate_files, read_rows
from reelbench.registry import rows
from reelbench.registry.reasons import Reason
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
    """One prediction of a file: its raw text, and the parsed answer. With a `reason` it is unscored."""

    prediction: Any
    parsed: dict[str, Any] | None = None
    flags: tuple[str, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference of a prediction; each of `options` is "" if only their number is known."""

    id: str
    video: str
    target: dict[str, Any]
    facets: dict[str, list[str]] = field(default_factory=dict)
    question: str = ""
    options: tuple[str, ...] = ()
    timing: Timing = UNTIMED

    def item(self, given: Prediction, **others: Any) -> Item:  # noqa: ANN401
        """Return it with its answer, to be scored; `others` are fields that are others, or further."""
        fields = {
            name: getattr(self, name)
            for name in ("id", "video", "target", "facets", "question", "options")
        }
        fields |= {
            name: getattr(given, name) for name in ("prediction", "parsed", "flags", "reason")
        }
        return Item(**fields | others)


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

    @classmethod
    def named(
        cls, name: str, split: str | None, data: Path | None = None, file: Path | None = None
    ) -> "Questions":
        """Return those of a benchmark or one of its tasks; InputError where there is nothing of that name."""
        return cls(*find_split(name, split), data, file)

    @cached_property
    def here(self) -> SplitData:
        """The split on this machine; DataUnavailableError where it is not here."""
        return self.located or locate_files(
            self.spec, self.split, self.task, self.data, fetch=False
        )

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Its rows, as far as they are here."""
        try:
            return self.here.rows
        except ReelbenchError:
            return ()

    @cached_property
    def words(self) -> Mapping[str, Words]:
        """What each asks, by id, as far as the rows are here."""
        return {row["id"]: (row["question"], tuple(row.get("options", ()))) for row in self.rows}

    @cached_property
    def timings(self) -> dict[str, Timing]:
        """What the rows state of their videos' times, by id, where answers are spans."""
        return {row["id"]: rows.timing(row) for row in self.rows} if self.spec.asks_span else {}

    @cached_property
    def source(self) -> SourceRecord:
        """Where they are from; of a file that the user named, its folder is nobody's business."""
        if self.stated is None and self.file is not None:
            digest = f"{self.spec.id}:{sha256_of(self.file)}"
            return SourceRecord(
                kind="files", location=self.file.name, revision=None, fingerprint=digest
            )
        return self.stated or self.here.source

    def unit_doubt(self, samples: Sequence[Sample]) -> str | None:
        """Say where windows look as if they were no seconds, held to the lengths that rows or video files state.

        Of files, which are opened for it, the first `_FILES_OPENED` are looked at.
        """
        windows = {
            sample.id: (sample.parsed["span"], sample.target["spans"][0])
            for sample in samples
            if sample.parsed and sample.parsed.get("span") and sample.target.get("spans")
        }
        lengths: dict[str, float] = {}
        asked = [row for row in self.rows if row["id"] in windows] if windows else []
        with suppress(ReelbenchError):  # a name that no file can have
            unstated = dict.fromkeys(row["video"] for row in asked if not row.get("duration"))
            opened = set(islice(unstated, _FILES_OPENED))
            found = (
                (row["video"], self.library.find(row)) for row in asked if row["video"] in opened
            )
            lengths = lengths_of(asked, {video: path for video, path in found if path is not None})
        return temporal_span.unit_doubt(windows, lengths)

    @cached_property
    def library(self) -> Library:
        """The videos that are here; none is made."""
        return Library(self.spec, self.split, self.data, make=False)

    @property
    def hidden(self) -> bool:
        """Whether the right answers are the owners' secret, and no item can be scored."""
        return self.file is None and hides(self.spec, self.split)

    def references(self) -> list[Reference]:
        """Return what answers are compared with, in the order of the file or the rows.

        InputError where the file lacks what it needs, or a question isn't as it must be;
        DataUnavailableError where the split is not here.
        """
        spec, file = self.spec, self.file
        if file is None:
            return [reference_of(spec, row) for row in self.here.rows]
        beside = [
            file.with_name(name) for name in spec.splits[upstream_split(spec, self.split)].needed
        ]
        lacking = [path.name for path in beside if not path.is_file()]
        read = getattr(import_object(spec.formats), "read_references", None)
        if lacking and read is None and spec.mapping is None:
            raise InputError(f"{file}: {', '.join(lacking)} must lie beside it")
        paths = [file, *(path for path in beside if path.name not in lacking)]
        # A reader of ours leaves out the answers of a split whose rows have none; a file of
        # references has them.
        split = (
            spec.default_split if spec.mapping is None and hides(spec, self.split) else self.split
        )
        found = list(
            read(file)
            if read
            else (reference_of(spec, row) for row in read_rows(spec, paths, split))
        )
        if not found:
            expected = " or ".join(expected_files(spec.splits[upstream_split(spec, split)].source))
            raise InputError(f"{file}: no questions in it; expected references such as {expected}")
        several = rows.several_right(spec)
        for reference in found:
            where = f"{file}: the reference {reference.id!r}"
            rows.check_answer(where, reference.target, reference.options, several=several)
        only = self.task.only if self.task else {}
        part = [
            one
            for one in found
            if all(label in one.facets.get(name, ()) for name, label in only.items())
        ]
        if not part:
            wanted = ", ".join(f"{facet} {label}" for facet, label in only.items())
            raise InputError(f"{file}: no question with {wanted}")
        return part


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of a score command."""

    predictions: Path
    references: Path | None = None
    tags: TagsFile | None = None
    split: str | None = None
    data: Path | None = None


@dataclass(frozen=True, slots=True)
class PredictionSet:
    """Predictions joined with the questions that they answer, ready to be scored.

    `extra` are ids that no question has; `tags` counts what didn't fit, where tags were given, as
    `Counts` has it.
    """

    questions: Questions
    items: list[Item]
    extra: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)


class UniqueIds(dict[str, str]):
    """Where each id of a file stands: the same id twice would make the result depend on their order."""

    def add(self, name: str, where: str) -> None:
        """Note where an id stands; InputError where it is there already."""
        if name in self:
            raise InputError(
                f"{where}: the id {name!r} occurs twice, first at {self[name]}; keep one of them"
            )
        self[name] = where


def in_format(document: object, key: str, *fields: str) -> bool:
    """Whether some entry of a document has a question's `key` and one of the fields: it is the owners' format."""
    return any(
        is_object(entry) and key in entry and not entry.keys().isdisjoint(fields)
        for entry in tables.entries(document, key)
    )


def entries(
    path: Path,
    document: object,
    key: str,
    expected: str,
    lacks: Callable[[Mapping[str, Any]], bool],
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (where, id, entry) of an owners' list of predictions, or of the only one, `key` naming the id.

    InputError where there is none, an entry lacks what is `expected`, or an id occurs twice.
    """
    listed = tables.entries(document, key)
    if not listed:
        raise InputError(f"{path}: no predictions in it; expected one per question with {expected}")
    ids = UniqueIds()
    for number, entry in enumerate(listed, start=1):
        where = f"{path}: prediction {number}"
        if not isinstance(entry, dict) or key not in entry or lacks(entry):
            raise InputError(f"{where} lacks what is expected, {expected}; found {describe(entry)}")
        ids.add(str(entry[key]), where)
        yield where, str(entry[key]), entry


class Formats(Protocol):
    """What a benchmark's `formats.py` has: `read`, where its owners have a format, and what else applies to it.

    - `read_references(path)`, which yields the owners' references where these are no rows that
      `reader` reads;
    - `own_references(path, document)`, whether a file of predictions has the references in it, too;
    - `submission_row(sample)`, a sample as the owners' file has it, and, unless it is `.jsonl`,
      `SUBMISSION_SUFFIX`
      (`.json`: one list), where their server scores a split with hidden answers; else a line is
      this module's;
    - `check_submission(rows)`, which raises InputError where the owners' server would refuse such a
      file;
    - `reread(entry) -> parsed`, where a prediction that is an entry of the owners' file, kept whole
      in a sample, is
      read by a rule of the file's and not as a model's text; recomputation finds it by that name.
    """

    def read(self, questions: Questions, path: Path, document: Any) -> dict[str, Prediction]:  # noqa: ANN401
        """Read predictions by id; InputError, with file, place and field, where they are wrong.

        `document` is the JSON value in the file, or the list of its lines' values.
        """
        ...


def tagged(submission: PredictionSet, given: TagsFile) -> PredictionSet:
    """Give items the labels of a tags file (CogME's, on any benchmark), and count what doesn't fit.

    InputError where no tagged id is among the items, or the benchmark's rows have a facet that the
    tags would hide.
    """
    spec, items, tags = submission.questions.spec, submission.items, given
    hidden = {facet.name for facet in cognitive_profile.FACETS}
    if own := [facet.name for facet in spec.facets if facet.in_rows and facet.name in hidden]:
        raise InputError(
            f"{spec.id} has a facet {own[0]!r} of its own, which the tags would hide; leave out --tags"
        )
    asked = {item.id for item in items}
    without_question, without_tags = (
        [qid for qid in tags if qid not in asked],
        len(asked - tags.keys()),
    )
    if len(without_question) == len(tags):
        raise InputError(
            f"{given.path}: none of its {len(tags)} qids (first: {without_question[0]!r}) is among the {len(items)} "
            f"questions (first: {items[0].id!r}); are both of the same release and split?"
        )
    all_of = {cognitive_profile.TAGGED: [cognitive_profile.ALL]}
    labelled = [
        item.model_copy(update={"facets": item.facets | tags[item.id].facets | all_of})
        if item.id in tags
        else item
        for item in items
    ]
    counts = {
        "tags_without_question": len(without_question),
        "questions_without_tags": without_tags,
    }
    said = (
        "tags belong to no question here",
        "questions have no tags and are in no cognitive profile",
    )
    notes = [f"{n} {what}" for n, what in zip(counts.values(), said, strict=True) if n]
    return replace(submission, items=labelled, tags=counts, notes=[*submission.notes, *notes])


def frames_given(shown: Iterable[Item | Sample]) -> dict[str, int]:
    """Return number of frames that reached a model, repeats not counted -> items; `unknown` where nobody counted."""
    given: Counter[str] = Counter()
    for item in shown:
        if item.frames_arrived is not None:
            given[str(item.frames_arrived)] += 1
        elif item.frame_timestamps is not None:
            given[str(len(item.frame_timestamps) - item.frame_padding)] += 1
    return dict(given)


def with_looks(submission: PredictionSet, log: Path) -> tuple[PredictionSet, SettingsRecord]:
    """Return the answers of an agent with the distinct times that it looked at, by its log, and their settings.

    InputError where a line is not a look, or not at the video of a question that is here.
    """
    videos = {item.id: item.video for item in submission.items}
    times: dict[str, set[float]] = defaultdict(set)
    for number, look in look_log.read(log):
        if look.question is None:
            raise InputError(
                f"{log}, line {number}: has no question; `frames serve --question ID` says it"
            )
        if look.question not in videos:
            raise InputError(
                f"{log}, line {number}: no question {look.question!r} is among those that are scored"
            )
        if look.video != videos[look.question]:
            asked = f"question {look.question!r} is on {videos[look.question]!r}"
            raise InputError(f"{log}, line {number}: is a look at {look.video!r}, {asked}")
        times[look.question].update(look.times)
    items = [
        item.model_copy(update={"frame_timestamps": sorted(times[item.id])})
        for item in submission.items
    ]
    # Looks are pictures; whether the agent heard anything elsewhere nobody knows.
    given = frames_given(items)
    settings = SettingsRecord(
        frames=look_log.AGENTIC, frames_given=given, audio="unknown", label=look_log.AGENTIC
    )
    return replace(submission, items=items), settings


def frames_unlike(spec: BenchmarkSpec, shown: Iterable[Item | Sample]) -> dict[str, int] | None:
    """Count the items that were shown others than these frames, or told other times where these are asked."""
    counts: Counter[str] = Counter()
    for item in shown:
        counts["frames"] += isinstance(item.frames_arrived, int)
        counts["times"] += item.frame_times_told is not None and spec.row_kind in TIMED_KINDS
    return {what: number for what, number in counts.items() if number} or None


def join(
    questions: Questions,
    predictions: dict[str, Prediction],
    references: list[Reference],
    path: Path,
    *,
    notes: Sequence[str] = (),
    advice: str = "",
) -> PredictionSet:
    """Match predictions with references, in the references' order. Both arguments are emptied to save memory.

    InputError if no id matches (its text ends with `advice`), or if a result can't contain a
    question.
    """
    known = {reference.id for reference in references}
    extra = [name for name in predictions if name not in known]
    if len(extra) == len(predictions):
        raise InputError(
            f"{path}: none of its {len(predictions)} ids (first: {extra[0]!r}) is among the {len(known)} references "
            f"(first: {references[0].id!r}); are both of the same benchmark and split?{advice}"
        )
    videos: dict[str, str] = {}  # a name that many questions share is held once
    nothing = Prediction(None, reason=Reason.PREDICTION_MISSING)
    hidden = Reason.ANSWERS_HIDDEN if questions.hidden else None
    items: list[Item] = []
    for reference in drained(references):
        given = predictions.pop(reference.id, nothing)
        try:
            video = videos.setdefault(reference.video, reference.video)
            item = reference.item(given, video=video, reason=given.reason or hidden)
        except ValidationError as error:
            raise InputError(
                f"the question {reference.id[:60]!r}: {first_wrong_field(error)}"
            ) from None
        items.append(Item.from_checked(vars(item)))
    return PredictionSet(questions, items, extra, list(notes))


def hides(spec: BenchmarkSpec, split: str) -> bool:
    """Whether only the owners' server can score the split."""
    return spec.splits[upstream_split(spec, split)].hidden_answers


def reference_of(spec: BenchmarkSpec, row: Row) -> Reference:
    """Return a row of the benchmark as what an answer is compared with."""
    return Reference(
        row["id"],
        row["video"],
        rows.target(spec, row),
        shared_labels(rows.facets(spec, row)),
        row["question"],
        tuple(row.get("options", ())),
        rows.timing(row),
    )


BLOCKED = "[SAFETY_BLOCKED"
"""What lmms-eval's adapter of Gemini writes in place of an answer that the server held back."""


def answered(
    spec: BenchmarkSpec, text: str, options: Sequence[str] = (), timing: Timing = UNTIMED
) -> Prediction:
    """Return a model's raw answer with what is read from it: a choice, and a span where the benchmark asks for one.

    `timing` is what is known of the video's times.
    """
    [given] = all_answered(spec, [(text, options, timing)])
    return given


def all_answered(spec: BenchmarkSpec, given: "Sequence[answers.Given]") -> Iterator[Prediction]:
    """As `answered`, of each raw answer; many are read by several processes."""
    for (text, *_), parsed in zip(given, answers.parse_all(spec, given), strict=True):
        if aggregation.is_failure(text):
            yield Prediction(text, reason=Reason.MODEL_FAILED)
        elif text.startswith(BLOCKED):
            yield Prediction(text, reason=Reason.REFUSED)
        else:
            yield Prediction(text, parsed, answers.flags(text, parsed))


def cut_off(text: object) -> bool:
    """Whether a text ends while the model was still reasoning: in a run, its limit on the answer's length was met."""
    return (
        isinstance(text, str)
        and not aggregation.is_failure(text)
        and answers.strip_reasoning(text) is None
    )


# --- files for the owners' servers
# ----------------------------------------------------------------------------------


def submission_suffix(spec: BenchmarkSpec) -> str:
    """Return the suffix of the owners' submission file: `.json` for one list, else JSON Lines."""
    return getattr(import_object(spec.formats), "SUBMISSION_SUFFIX", ".jsonl")


def submission_advice(split: str, path: Path, server: str) -> str:
    """Return the advice on a split's submission file; mini questions are ours, and no server knows them."""
    return (
        f"{path} shows the form of a submission" if is_mini(split) else f"submit {path} to {server}"
    )


def submission_row(sample: Sample) -> dict[str, Any]:
    """Return a sample as a line that whoever has the answers can score: where the owners have no form of their own."""
    return {"id": sample.id, "prediction": sample.prediction or ""}


def write_submission(spec: BenchmarkSpec, samples: Sequence[Sample], path: Path) -> None:
    """Write the owners' submission file, in the order of the ids."""
    formats: Formats = import_object(spec.formats)
    row_of = getattr(formats, "submission_row", submission_row)
    table = [row_of(sample) for sample in sorted(samples, key=lambda sample: sample.id)]
    if check := getattr(formats, "check_submission", None):
        check(table)
    if submission_suffix(spec) == ".json":
        write_text(path, json.dumps(table, ensure_ascii=False))
    else:
        write_jsonl(path, table)
