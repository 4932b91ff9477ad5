"""Predictions from files joined with their references: what every benchmark's `formats.py` ends in."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from reelbench.registry import looks, rows
from reelbench.registry.base_record import first_wrong_field
from reelbench.registry.data.loading import imported, is_mini, locate, upstream_split
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.files import sha256_of, write_jsonl, write_text
from reelbench.registry.frames.sampling import TIMED_KINDS
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, Sample, SettingsRecord, SourceRecord, shared_labels
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.registry.values import described, drained
from reelbench.scoring import aggregation, answers, cognitive_profile


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction as a file gives it: raw, and what was read from it; a set `reason` means unscored."""

    prediction: Any
    parsed: dict[str, Any] | None = None
    flags: tuple[str, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """What a prediction is compared with; `options` are "" each where only their number is known."""

    id: str
    video: str
    target: dict[str, Any]
    facets: dict[str, list[str]] = field(default_factory=dict)
    question: str = ""
    options: tuple[str, ...] = ()
    timing: rows.Timing = rows.UNTIMED


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files that a score command names; `task` is set where it names a task, which may be a part of a split."""

    predictions: Path
    references: Path | None = None
    tags: Path | None = None
    split: str | None = None
    data: Path | None = None
    task: TaskSpec | None = None


@dataclass(frozen=True, slots=True)
class PredictionSet:
    """Predictions joined with their references, ready to be scored; `extra` are ids that no reference has.

    `tags_without_question` and `questions_without_tags` are counted where tags were given. Where `hidden`, the answers
    are the owners' secret and no item can be scored.
    """

    items: list[Item]
    source: SourceRecord
    split: str
    extra: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tags_without_question: int = 0
    questions_without_tags: int = 0
    hidden: bool = False

    def with_hidden_answers(self) -> "PredictionSet":
        """Return the submission of a split that only the owners' server can score."""
        items = [
            item if item.reason else item.model_copy(update={"reason": Reason.ANSWERS_HIDDEN}) for item in self.items
        ]
        return replace(self, items=items, hidden=True)

    @property
    def missing(self) -> list[str]:
        """Ids of the references that nothing was predicted for."""
        return [item.id for item in self.items if item.reason == Reason.PREDICTION_MISSING]


class UniqueIds(dict[str, str]):
    """Where each id of a file stands: the same id twice would make the result depend on their order."""

    def add(self, name: str, where: str) -> None:
        """Note where an id stands; InputError where it is there already."""
        if name in self:
            raise InputError(f"{where}: the id {name!r} occurs twice, first at {self[name]}; keep one of them")
        self[name] = where


def listed(
    path: Path, document: object, key: str, expected: str, lacks: Callable[[Mapping[str, Any]], bool]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (where, id, entry) of an owners' list of predictions, or of the only one, `key` naming the id.

    InputError where there is none, an entry lacks what is `expected`, or an id occurs twice.
    """
    entries = document if isinstance(document, list) else [document]
    if not entries:
        raise InputError(f"{path}: no predictions in it; expected one per question with {expected}")
    ids = UniqueIds()
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: prediction {number}"
        if not isinstance(entry, dict) or key not in entry or lacks(entry):
            raise InputError(f"{where} lacks what is expected, {expected}; found {described(entry)}")
        ids.add(str(entry[key]), where)
        yield where, str(entry[key]), entry


class Formats(Protocol):
    """What a benchmark's `formats.py` has: `read`, and what else applies to the benchmark.

    - `submission_row` and, unless it is `.jsonl`, `SUBMISSION_SUFFIX` (`.json`: one list), where the owners' server
      scores a split with hidden answers;
    - `check_submission(rows)`, which raises InputError where the owners' server would refuse such a file;
    - `reread(entry) -> parsed`, where a prediction that is an entry of the owners' file, kept whole in a sample, is
      read by a rule of the file's and not as a model's text; recomputation finds it by that name.
    """

    def read(self, spec: BenchmarkSpec, inputs: Inputs) -> PredictionSet:
        """Read predictions in the owners' formats and join them with their references.

        Raises:
            InputError: A file is wrong; with its name, the line and the field.
        """
        ...

    def submission_row(self, sample: Sample) -> dict[str, Any]:
        """Return a sample as the owners' file has it."""
        ...


def tagged(spec: BenchmarkSpec, items: Sequence[Item], path: Path) -> tuple[list[Item], dict[str, int], list[str]]:
    """Give items the labels of a tags file (CogME's, on any benchmark).

    Returns:
        The items; `tags_without_question` and `questions_without_tags`, as `Counts` has them; a note on each.

    Raises:
        InputError: With file, line and field; or no tagged id is among the items, or the benchmark's rows have a facet
            that the tags would hide.
    """
    tags = cognitive_profile.read_tags(path)
    hidden = {facet.name for facet in cognitive_profile.FACETS}
    if own := [facet.name for facet in spec.facets if facet.in_rows and facet.name in hidden]:
        raise InputError(f"{spec.id} has a facet {own[0]!r} of its own, which the tags would hide; leave out --tags")
    without_question, without_tags = cognitive_profile.unmatched(tags, [item.id for item in items])
    if len(without_question) == len(tags):
        raise InputError(
            f"{path}: none of its {len(tags)} qids (first: {without_question[0]!r}) is among the {len(items)} "
            f"questions (first: {items[0].id!r}); are both of the same release and split?"
        )
    all_of = {cognitive_profile.TAGGED: [cognitive_profile.ALL]}
    labelled = [
        item.model_copy(update={"facets": item.facets | cognitive_profile.facets_of(tags[item.id]) | all_of})
        if item.id in tags
        else item
        for item in items
    ]
    counts = {"tags_without_question": len(without_question), "questions_without_tags": len(without_tags)}
    said = ("tags belong to no question here", "questions have no tags and are in no cognitive profile")
    return labelled, counts, [f"{n} {what}" for n, what in zip(counts.values(), said, strict=True) if n]


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
    """Join the answers of an agent that chose what it looked at with its log of looks.

    Returns:
        The submission with the distinct times looked at for each question, and the settings of such answers.

    Raises:
        InputError: A line is not a look, or not at the video of a question that is here.
    """
    videos = {item.id: item.video for item in submission.items}
    times: dict[str, set[float]] = defaultdict(set)
    for number, look in looks.read(log):
        if look.question is None:
            raise InputError(f"{log}, line {number}: has no question; `frames serve --question ID` says it")
        if look.question not in videos:
            raise InputError(f"{log}, line {number}: no question {look.question!r} is among those that are scored")
        if look.video != videos[look.question]:
            asked = f"question {look.question!r} is on {videos[look.question]!r}"
            raise InputError(f"{log}, line {number}: is a look at {look.video!r}, {asked}")
        times[look.question].update(look.times)
    items = [item.model_copy(update={"frame_timestamps": sorted(times[item.id])}) for item in submission.items]
    # Looks are pictures; whether the agent heard anything elsewhere nobody knows.
    given = frames_given(items)
    settings = SettingsRecord(frames=looks.AGENTIC, frames_given=given, audio="unknown", label=looks.AGENTIC)
    return replace(submission, items=items), settings


def frames_unlike(spec: BenchmarkSpec, shown: Iterable[Item | Sample]) -> dict[str, int] | None:
    """Count the items that were shown others than these frames, or told other times where these are asked."""
    counts: Counter[str] = Counter()
    for item in shown:
        counts["frames"] += isinstance(item.frames_arrived, int)
        counts["times"] += item.frame_times_told is not None and spec.row_kind in TIMED_KINDS
    return {what: number for what, number in counts.items() if number} or None


def join(
    predictions: dict[str, Prediction],
    references: list[Reference],
    source: SourceRecord,
    *,
    path: Path,
    split: str,
    notes: Sequence[str] = (),
    advice: str = "",
) -> PredictionSet:
    """Hold predictions against references, in the references' order; both are emptied, for they may be many.

    InputError where no id is shared at all (`advice` ends it), or where a question is none that a result can hold.
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
    items: list[Item] = []
    for reference in drained(references):
        given = predictions.pop(reference.id, nothing)
        try:
            item = Item(
                id=reference.id,
                video=videos.setdefault(reference.video, reference.video),
                target=reference.target,
                facets=reference.facets,
                question=reference.question,
                options=reference.options,
                prediction=given.prediction,
                parsed=given.parsed,
                flags=given.flags,
                reason=given.reason,
            )
        except ValidationError as error:
            raise InputError(f"the question {reference.id[:60]!r}: {first_wrong_field(error)}") from None
        items.append(Item.from_checked(vars(item)))
    return PredictionSet(items, source, split, extra, list(notes))


def references_of(
    spec: BenchmarkSpec, inputs: Inputs, read: Callable[[Path], list[Reference]] | None, *, hidden: bool = False
) -> tuple[list[Reference], SourceRecord, str]:
    """Return the references, where they are from, and their split: a file's, by `read`, else the benchmark's own.

    Nothing is fetched. InputError where the split's answers are hidden, unless `hidden` allows it; DataUnavailableError
    where the split is not here.
    """
    if inputs.references is not None and read is not None:
        path = inputs.references
        references = read(path)
        for reference in references:
            rows.check_answer(f"{path}: the reference {reference.id!r}", reference.target, reference.options)
        source = file_source(spec, path, sha256_of(path))
        only = inputs.task.only if inputs.task else {}
        part = [one for one in references if all(label in one.facets.get(name, ()) for name, label in only.items())]
        if not part:
            wanted = ", ".join(f"{facet} {label}" for facet, label in only.items())
            raise InputError(f"{path}: no question with {wanted}")
        return part, source, inputs.split or spec.default_split
    located = locate(inputs.task.name if inputs.task else spec.id, inputs.split, inputs.data, fetch=False)
    if hides(spec, located.split) and not hidden:
        raise InputError(
            f"{spec.id}: the answers of {located.split!r} are hidden; submit the file to the owners' server"
        )
    return [reference_of(spec, row) for row in located.read()], located.source, located.split


def timings_here(spec: BenchmarkSpec, split: str, data: Path | None = None) -> dict[str, rows.Timing]:
    """Return what the rows say of their videos' times, by id, where answers are spans and the rows are here."""
    if not spec.asks_span:
        return {}
    try:
        return {row["id"]: rows.timing(row) for row in locate(spec.id, split, data, fetch=False).read()}
    except ReelbenchError:
        return {}


def hides(spec: BenchmarkSpec, split: str) -> bool:
    """Whether only the owners' server can score the split."""
    return spec.splits[upstream_split(spec, split)].hidden_answers


def reference_of(spec: BenchmarkSpec, row: rows.Row) -> Reference:
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
    spec: BenchmarkSpec, text: str, options: Sequence[str] = (), timing: rows.Timing = rows.UNTIMED
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
    return isinstance(text, str) and not aggregation.is_failure(text) and answers.strip_reasoning(text) is None


def file_source(spec: BenchmarkSpec, path: Path, fingerprint: str) -> SourceRecord:
    """Return the record of a references file that the user named; its folder is nobody's business."""
    return SourceRecord(kind="files", location=path.name, revision=None, fingerprint=f"{spec.id}:{fingerprint}")


# --- files for the owners' servers ----------------------------------------------------------------------------------


def submission_suffix(spec: BenchmarkSpec) -> str:
    """Return the suffix of the owners' submission file: `.json` for one list, else JSON Lines."""
    return getattr(imported(spec.formats), "SUBMISSION_SUFFIX", ".jsonl")


def submission_advice(split: str, path: Path, server: str) -> str:
    """Return the advice on a split's submission file; mini questions are ours, and no server knows them."""
    return f"{path} shows the form of a submission" if is_mini(split) else f"submit {path} to {server}"


def write_submission(spec: BenchmarkSpec, samples: Sequence[Sample], path: Path) -> None:
    """Write the owners' submission file, in the order of the ids."""
    formats: Formats = imported(spec.formats)
    table = [formats.submission_row(sample) for sample in sorted(samples, key=lambda sample: sample.id)]
    if check := getattr(formats, "check_submission", None):
        check(table)
    if submission_suffix(spec) == ".json":
        write_text(path, json.dumps(table, ensure_ascii=False))
    else:
        write_jsonl(path, table)
