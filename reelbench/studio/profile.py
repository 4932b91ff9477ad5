"""A dataset's profile: what the four papers measure of a dataset, on any benchmark here or on the user's own rows.

MovieCORE's cognitive tests (Table 1) on questions and answers, CogME's tag distribution and how
accuracy goes with it (Figure 4), ReXTime's span lengths, certificate lengths and question-answer
IoU (supplement C.6), CURVE's counts by locale, skill and reasoning step. What can't be computed is
None, with a note that says why.
"""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    computed_field,
    field_serializer,
)

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_json_or_jsonl, read_jsonl
from reelbench.base.languages import UNSPACED, language_of, words
from reelbench.base.progress import Bar, no_bar
from reelbench.data import loading
from reelbench.registry.rows import LETTERS, steps
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, cognitive_profile, result_files
from reelbench.scoring.certificate_length import certificates
from reelbench.stats.intervals import Estimate, mean_over_clusters
from reelbench.stats.rank_correlation import spearman
from reelbench.studio import bloom
from reelbench.studio import readability as text_profile
from reelbench.studio.data_files import from_papers

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions

_NUMBERED = re.compile(r"^\s*\(?\d+\s*[.):]", re.MULTILINE)


Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[str, Field(coerce_numbers_to_str=True)]


def _in_order(ends: tuple[float, ...]) -> tuple[float, ...]:
    if ends and (len(ends) != 2 or ends[0] > ends[1]):  # noqa: PLR2004
        raise ValueError("expected [start, end] in seconds")
    return ends


Ends = Annotated[tuple[Seconds, ...], AfterValidator(_in_order)]


class ProfileRow(BaseModel):
    """One question of a dataset, as far as a profile looks at it.

    Spans are [start, end] in seconds, `duration` is the video's length in seconds; empty or None
    where unknown.
    """

    model_config = ConfigDict(frozen=True)

    id: Text
    question: str = Field(pattern=r"\S")
    answer: Annotated[
        str | None, AfterValidator(lambda text: text if text and text.strip() else None)
    ] = None
    language: str = "en"
    video: Text = ""
    span: Ends = ()
    question_span: Ends = ()
    duration: Seconds | None = Field(None, gt=0)
    labels: dict[str, Sequence[str]] = {}
    reasoning_steps: int | None = None


_READ = ("id", "question", "answer", "language", "video", "span", "question_span", "duration")
"""What is read of the user's own rows; other fields are left alone."""


class _QuestionSpan(BaseModel):
    qid: Text = Field(validation_alias=AliasChoices("qid", "id"))
    span: Ends


@dataclass(frozen=True, slots=True)
class Dataset:
    """What is profiled: its name, its questions, and the benchmark it is, if it is one."""

    name: str
    entries: list[ProfileRow]
    spec: BenchmarkSpec | None = None


def read_benchmark(name: str, split: str | None = None, data: Path | None = None) -> Dataset:
    """Read a benchmark's (or one of its tasks') rows; errors as in `data.loading.locate`."""
    located = loading.locate(name, split, data)
    spec, entries = located.spec, list[ProfileRow]()
    for row in located.read():
        fields = _known(row) | {
            "labels": {facet.name: row[facet.name] for facet in spec.facets if facet.in_rows}
        }
        if spec.asks_choice and "answer" in fields:
            fields["answer"] = row["options"][LETTERS.index(row["answer"])]
        if "skills" in row:
            fields["labels"]["skills"] = row["skills"]
        if told := steps(row):
            fields["reasoning_steps"] = count_steps(told)
        entries.append(ProfileRow.model_validate(fields))
    return Dataset(name if split is None else f"{name} {split}", entries, spec)


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _READ if row.get(name) not in (None, "", [])}


def count_steps(texts: Iterable[str]) -> int:
    """Return the number of reasoning steps: a text is one, or as many as it has numbers, or else lines."""
    return sum(
        len(_NUMBERED.findall(text)) or sum(bool(line.strip()) for line in text.splitlines())
        for text in texts
    )


def read_file(path: Path, name: str | None = None) -> Dataset:
    """Read the user's own rows with `question` and, where there is one, `answer`.

    JSON Lines, a JSON list, or a JSON object whose values are the rows (as `make discussion` writes
    them). The data set is called `name`, or after the file. `id` (or `qid`) and the other fields of
    `_READ` are read too. InputError names the file, the line and the field that is wrong.
    """
    if path.suffix == ".json":
        document = read_json_or_jsonl(path)
        if isinstance(document, dict) and "question" not in document:
            document = list(document.values())
        rows = list(enumerate(document if isinstance(document, list) else [document], start=1))
        unit = "entry"
    else:
        rows, unit = read_jsonl(path), "line"
    if not rows:
        raise InputError(
            f'{path}: no rows; expected one JSON object per line with "question" and "answer"'
        )
    rows_read = list[ProfileRow]()
    for number, row in rows:
        where = f"{path}, {unit} {number}"
        if not isinstance(row, dict):
            raise InputError(
                f'{where}: expected an object with "question" and "answer", found {type(row).__name__}'
            )
        rows_read.append(
            record_of(ProfileRow, {"id": row.get("qid", number), **_known(row)}, where)
        )
    return Dataset(name or path.stem, rows_read)


_TOP = 200


@dataclass(frozen=True, slots=True)
class Extras:
    """Files about the dataset that are not part of it, and who classifies."""

    parser: text_profile.Parser | None = None
    """For the parse depth; None leaves it out."""
    judge: "JudgeOptions | None" = None
    """For Bloom's levels; None leaves them out."""
    tags: Path | None = None
    """CogME's tags by question id (JSON Lines)."""
    question_spans: Path | None = None
    """Where the events that questions name lie, by id (JSON Lines with `qid` or `id`, and `span`)."""
    result: Path | None = None
    """Folder of a result on this dataset: labels get the accuracy of its model."""
    note: Callable[[str], None] = lambda _: None
    bar: Bar = no_bar
    all_published: bool = False
    """Whether all data sets of MovieCORE's Table 1 stand beside this one, or its own row alone."""


class Measure(BaseModel):
    """One quantity of texts: the mean over questions, over answers, and the mean of the two, as in MovieCORE's Table 1.

    `values` has the single texts' values by side.
    """

    question: float | None
    answer: float | None
    values: Mapping[str, Sequence[float]] = Field(exclude=True)

    @computed_field
    @property
    def average(self) -> float | None:
        """Mean of questions' and answers' means; None where one of them is missing."""
        return (
            None
            if self.question is None or self.answer is None
            else (self.question + self.answer) / 2
        )


class Label(BaseModel):
    """A label's questions: how many, their share in per cent, and the accuracy on them (0 to 100).

    Of answers that are judged by points, the accuracy is their mean share of the points: each
    question gives its labels the credit that its answer earned, as with a rubric (CogME,
    discussion). The share is of the questions that the facet is known of: with `--tags`, of the
    tagged ones. `ci95` is the interval of the accuracy over videos.
    """

    n: int
    share: float
    accuracy: float | None = None
    ci95: tuple[float, float] | None = None

    @computed_field
    @property
    def weak(self) -> bool | None:
        """Whether it is rare and answered badly; None without an accuracy."""
        return (
            None if self.accuracy is None else cognitive_profile.is_weak(self.share, self.accuracy)
        )


class Spans(BaseModel):
    """Where answers lie in their videos; means over the questions that have what is needed, intervals over videos."""

    n: int
    length: float
    """Of the answer span, in seconds."""
    share: float | None
    """Part of the video that it takes, in per cent."""
    question_spans: int
    """Questions with a span of their own, too."""
    certificate_length: float | None
    """Seconds of video that must be seen (`scoring.certificate_length`)."""
    qa_iou: float | None
    """Overlap of the two spans, 0 to 1."""
    certificate_length_ci95: tuple[float, float] | None = None
    qa_iou_ci95: tuple[float, float] | None = None


class Profile(BaseModel):
    """All that is measured of one dataset, as `--json` prints it; None where it could not be."""

    name: str
    rows: int
    videos: int | None
    languages: dict[str, int]
    flesch_kincaid: Measure | None = None
    parse_depth: Measure | None = None
    bloom: Measure | None = None
    higher_order: Measure | None = None
    words: Measure | None
    vocabulary: Counter[str] = Field(exclude=True)
    labels: dict[str, dict[str, Label]]
    accuracy_link: dict[str, float]
    spans: Spans | None
    reasoning_steps: Counter[int]
    made_with: dict[str, str]
    published: tuple[Mapping[str, Any], ...] = ()

    def sides(self, name: str) -> tuple[float | None, ...]:
        """Return a measure of texts: of questions, of answers, and the average of the two."""
        measure: Measure | None = getattr(self, name)
        return (
            (None,) * 3 if measure is None else (measure.question, measure.answer, measure.average)
        )

    @field_serializer("words")
    def _with_vocabulary(self, words: Measure | None) -> dict[str, Any] | None:
        counted, top = self.vocabulary, dict(self.vocabulary.most_common(_TOP))
        return words and {
            **words.model_dump(),
            "total": counted.total(),
            "vocabulary": len(counted),
            "top": top,
        }

    @field_serializer("reasoning_steps")
    def _with_mean(self, steps: Counter[int]) -> dict[str, Any] | None:
        counts = dict(sorted(steps.items()))
        return (
            {"n": steps.total(), "mean": statistics.fmean(steps.elements()), "counts": counts}
            if steps
            else None
        )


def profile(dataset: Dataset, extras: Extras) -> Profile:
    """Measure a dataset."""
    entries, correct = dataset.entries, dict[str, float]()
    if extras.question_spans is not None:
        entries = _with_question_spans(entries, extras.question_spans, extras.note)
    if extras.tags is not None:
        entries = _with_tags(entries, extras.tags, extras.note)
    if extras.result is not None:
        entries, correct = _with_result(
            replace(dataset, entries=entries), extras.result, extras.note
        )
    labels, links = _labels(entries, correct), dict[str, float]()
    for (
        facet,
        of,
    ) in labels.items():  # how frequency and accuracy go together, where three labels say so
        known = [(label.n, label.accuracy) for label in of.values() if label.accuracy is not None]
        if len(known) > 2 and (rho := spearman(*zip(*known, strict=True))) is not None:  # noqa: PLR2004
            links[facet] = rho
    measures, made_with = _measures(replace(dataset, entries=entries), extras)
    said, papers = (
        _texts(entries, lambda language: language not in UNSPACED),
        from_papers("profiles"),
    )
    return Profile(
        name=dataset.name,
        rows=len(entries),
        videos=len({entry.video for entry in entries})
        if all(entry.video for entry in entries)
        else None,
        languages=dict(Counter(entry.language for entry in entries).most_common()),
        **measures,
        words=_measure(said, (float(len(words(text))) for _, text in said)),
        vocabulary=Counter(word.lower() for _, text in said for word in words(text)),
        labels=labels,
        accuracy_link=links,
        spans=_spans(entries),
        reasoning_steps=Counter(
            entry.reasoning_steps for entry in entries if entry.reasoning_steps is not None
        ),
        made_with=made_with,
        published=tuple(
            {**row, **{name: papers[name] for name in ("cite", "of", "made_with")}}
            for row in papers["rows"]
            if extras.all_published
            or (dataset.spec is not None and row["benchmark"] == dataset.spec.id)
        ),
    )


# --- texts
# ----------------------------------------------------------------------------------------------------------


def _measures(dataset: Dataset, extras: Extras) -> tuple[dict[str, Measure | None], dict[str, str]]:
    """Return what tools and judges say of the texts, by the names of a profile's fields, and which they were."""
    entries, note, parser = dataset.entries, extras.note, extras.parser
    languages = [language_of(entry.language) for entry in entries]
    english = _texts(entries, lambda language: language == "en")
    if english and (others := len(languages) - languages.count("en")):
        not_english = number_of(others, "question is", "questions are")
        note(
            f"{dataset.name}: {not_english} not in English and left out of the Flesch-Kincaid grade"
        )
    elif not english:
        note(f"{dataset.name}: no question is in English, which the Flesch-Kincaid grade is for")
    grade = _measure(english, (text_profile.flesch_kincaid(text) for _, text in english))
    measures, made_with = {"flesch_kincaid": grade}, dict[str, str]()
    if parser is not None:
        if others := len(languages) - languages.count(parser.language):
            note(
                f"{dataset.name}: {others} questions are in languages that {parser.name} does not parse and left out "
                "of the parse depth"
            )
        parsed = _texts(entries, lambda language: language == parser.language)
        measures["parse_depth"] = depth = _measure(
            parsed, parser.depths(text for _, text in parsed)
        )
        made_with |= {"parse_depth": parser.name} if depth else {}
    made_with |= {"flesch_kincaid": text_profile.SYLLABLES} if grade else {}
    if extras.judge is not None:
        texts = _texts(entries)
        levels, record = bloom.classify(texts, extras.judge, note, extras.bar)
        if lacking := levels.count(None):
            note(
                f"{lacking} of {len(levels)} texts have no level of Bloom's taxonomy and are left out of the mean"
            )
        higher = (
            level if level is None else 100.0 * (level >= bloom.HIGHER_ORDER) for level in levels
        )
        measures |= {"bloom": _measure(texts, levels), "higher_order": _measure(texts, higher)}
        answered = ", ".join(record.returned) or record.requested
        made_with["bloom"] = f"{answered}, prompts {record.prompt} {record.prompt_sha256[:12]}"
    return measures, made_with


def _texts(
    entries: Iterable[ProfileRow], speaks: Callable[[str], bool] = lambda _: True
) -> list[bloom.BloomText]:
    """Return the texts of the entries whose language (`en`) is one that is looked at."""
    fits = [entry for entry in entries if speaks(language_of(entry.language))]
    return [
        bloom.BloomText(side, text)
        for entry in fits
        for side in bloom.SIDES
        if (text := getattr(entry, side))
    ]


def _measure(texts: Iterable[bloom.BloomText], values: Iterable[float | None]) -> Measure | None:
    """Return a measure of a value for each text; None where no text has one."""
    by_side: dict[str, list[float]] = {side: [] for side in bloom.SIDES}
    for (side, _), value in zip(texts, values, strict=True):
        if value is not None:
            by_side[side].append(value)
    if not any(by_side.values()):
        return None
    means = {side: statistics.fmean(known) if known else None for side, known in by_side.items()}
    return Measure(**means, values=by_side)


# --- labels
# --------------------------------------------------------------------------------------------------------


def _with_tags(
    entries: Sequence[ProfileRow], path: Path, note: Callable[[str], None]
) -> list[ProfileRow]:
    tags, asked = cognitive_profile.read_tags(path), {entry.id for entry in entries}
    without_question, without_tags = len(tags.keys() - asked), len(asked - tags.keys())
    if without_question == len(tags):
        raise InputError(
            f"{path}: none of its {len(tags)} qids is among the {len(entries)} questions"
        )
    if without_question or without_tags:
        note(
            f"{path}: {without_question} tags without a question, {without_tags} questions without tags"
        )
    facets = {name: given.facets for name, given in tags.items()}
    return [e.model_copy(update={"labels": {**e.labels, **facets.get(e.id, {})}}) for e in entries]


def _with_result(
    dataset: Dataset, result: Path, note: Callable[[str], None]
) -> tuple[list[ProfileRow], dict[str, float]]:
    """Return the entries, with a result's labels where they have none, and question id -> credit, 0 to 1."""
    folder, spec = result_files.folder_of_one(result), dataset.spec
    benchmark = result_files.read(folder).benchmark.id
    if spec is None or spec.id != benchmark:
        raise InputError(
            f"{folder}: a result on {benchmark}, not on {dataset.name}; leave out --result or name {benchmark}"
        )
    samples = {sample.id: sample for sample in result_files.read_samples(folder)}
    correct: dict[str, float] = {}
    low, high = spec.primary.bounds
    for (
        name,
        sample,
    ) in samples.items():  # by the choice where there is one, else the share of the primary's scale
        if "correct" in sample.scores:
            correct[name] = sample.scores["correct"]
        elif (score := aggregation.score_of(spec, sample)) is not None:
            correct[name] = (score - low) / (high - low)
    unscored = [entry.id in correct for entry in dataset.entries].count(False)
    if unscored == len(dataset.entries):
        raise InputError(
            f"{folder}: no question of {dataset.name} is scored in it; nothing to link labels to"
        )
    if unscored:
        note(f"{folder}: {unscored} questions are not scored in it and have no accuracy")
    facets = {name: sample.facets for name, sample in samples.items()}
    # Its own labels stay, and stand first.
    labels = [
        {**entry.labels, **facets.get(entry.id, {}), **entry.labels} for entry in dataset.entries
    ]
    return [
        e.model_copy(update={"labels": of}) for e, of in zip(dataset.entries, labels, strict=True)
    ], correct


def _labels(
    entries: Sequence[ProfileRow], correct: Mapping[str, float]
) -> dict[str, dict[str, Label]]:
    videos = {entry.id: entry.video for entry in entries}
    known = Counter(facet for entry in entries for facet in entry.labels)
    counted: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        for facet, names in entry.labels.items():
            for name in dict.fromkeys(names):
                counted.setdefault(facet, {}).setdefault(name, []).append(entry.id)
    figures: dict[str, dict[str, Label]] = {}
    for facet, names in counted.items():
        figures[facet] = {}
        for name, ids in sorted(names.items(), key=lambda pair: (-len(pair[1]), pair[0])):
            rate = None
            if answered := [item for item in dict.fromkeys(ids) if item in correct]:
                values = 100 * np.array([correct[item] for item in answered], dtype=np.float64)
                rate = mean_over_clusters(
                    values, [videos[item] for item in answered], bounds=(0, 100)
                )
            share = 100 * len(ids) / known[facet]
            figures[facet][name] = Label(
                n=len(ids), share=share, accuracy=rate and rate.value, ci95=rate and rate.ci95
            )
    return figures


_MOST_NOTED = 3


def _with_question_spans(
    entries: list[ProfileRow], path: Path, note: Callable[[str], None]
) -> list[ProfileRow]:
    """Give entries the spans of their questions that a file has, JSON Lines of `qid` (or `id`) and `span`.

    InputError where none is of them, or a line is wrong.
    """
    read = [
        record_of(_QuestionSpan, row, f"{path}, line {number}") for number, row in read_jsonl(path)
    ]
    spans = {given.qid: given.span for given in read}
    ids = {entry.id for entry in entries}
    strangers = [name for name in spans if name not in ids]
    if len(strangers) == len(spans):
        raise InputError(
            f"{path}: none of its {len(spans)} ids is among the {len(entries)} questions"
        )
    if strangers:
        note(
            f"{path}: {len(strangers)} spans without a question: {', '.join(strangers[:_MOST_NOTED])}"
        )
    return [
        e.model_copy(update={"question_span": spans[e.id]}) if e.id in spans else e for e in entries
    ]


def _spans(entries: Sequence[ProfileRow]) -> Spans | None:
    """Measure the entries that have an answer span; None where none has."""
    grounded = [entry for entry in entries if entry.span]
    if not grounded:
        return None
    lengths = [entry.span[1] - entry.span[0] for entry in grounded]
    shares = [
        100 * length / entry.duration
        for entry, length in zip(grounded, lengths, strict=True)
        if entry.duration
    ]
    both = [entry for entry in grounded if entry.question_span]
    known = (
        certificates([(e.question_span, e.span) for e in both], [e.video for e in both])
        if both
        else None
    )
    length, iou = (known.length, known.qa_miou) if known else [Estimate(None, None)] * 2
    return Spans(
        n=len(grounded),
        length=statistics.fmean(lengths),
        share=statistics.fmean(shares) if shares else None,
        question_spans=len(both),
        certificate_length=length.value,
        qa_iou=iou.value,
        certificate_length_ci95=length.ci95,
        qa_iou_ci95=iou.ci95,
    )
