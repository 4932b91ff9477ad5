"""A dataset's profile: what the four papers measure of a dataset, on any benchmark here or on the user's own rows.

MovieCORE's cognitive tests (Table 1) on questions and answers, CogME's tag distribution and how accuracy goes with it
(Figure 4), ReXTime's span lengths, certificate lengths and question-answer IoU (supplement C.6), CURVE's counts by
locale, skill and reasoning step. What can't be computed is None, with a note that says why.
"""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, computed_field, field_serializer

from reelbench.registry.base_record import checked
from reelbench.registry.data import loading
from reelbench.registry.errors import InputError, number_of
from reelbench.registry.files import read_json_or_jsonl, read_jsonl
from reelbench.registry.languages import UNSPACED, language_of, words
from reelbench.registry.progress import Bar, no_bar
from reelbench.registry.rows import LETTERS, steps
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, cognitive_profile, result_files
from reelbench.scoring.certificate_length import certificates
from reelbench.stats.intervals import mean_over_clusters
from reelbench.stats.rank_correlation import spearman
from reelbench.studio import bloom
from reelbench.studio import readability as text_profile
from reelbench.studio.data_files import published

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

    Spans are [start, end] in seconds, `duration` is the video's length in seconds; empty or None where unknown.
    """

    model_config = ConfigDict(frozen=True)

    id: Text
    question: str = Field(pattern=r"\S")
    answer: Annotated[str | None, AfterValidator(lambda text: text if text and text.strip() else None)] = None
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
    """Read a benchmark's (or one of its tasks') rows; errors as in `registry.data.loading.locate`."""
    located = loading.locate(name, split, data)
    spec, entries = located.spec, list[ProfileRow]()
    for row in located.read():
        answer = row.get("answer") or None
        if answer is not None and spec.asks_choice:
            answer = row["options"][LETTERS.index(answer)]
        labels = {facet.name: row[facet.name] for facet in spec.facets if facet.in_rows}
        if "skills" in row:
            labels["skills"] = row["skills"]
        told = steps(row)
        entries.append(
            ProfileRow(
                id=row["id"],
                question=row["question"],
                answer=answer,
                language=row["language"],
                video=row["video"],
                span=tuple(row.get("span") or ()),
                duration=row.get("duration"),
                labels=labels,
                reasoning_steps=count_steps(told) if told else None,
            )
        )
    return Dataset(name if split is None else f"{name} {split}", entries, spec)


def count_steps(texts: Iterable[str]) -> int:
    """Return the number of reasoning steps: a text is one, or as many as it has numbers, or else lines."""
    return sum(len(_NUMBERED.findall(text)) or sum(bool(line.strip()) for line in text.splitlines()) for text in texts)


def read_file(path: Path, name: str | None = None) -> Dataset:
    """Read the user's own rows with `question` and, where there is one, `answer`.

    JSON Lines, a JSON list, or a JSON object whose values are the rows (as `make discussion` writes them). The data set
    is called `name`, or after the file.

    `id` (or `qid`), `language` (default `en`), `video`, `span`, `question_span` and `duration` are read too; other
    fields are left alone.

    Raises:
        InputError: names the file, the line and the field that is wrong.
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
        raise InputError(f'{path}: no rows; expected one JSON object per line with "question" and "answer"')
    rows_read = list[ProfileRow]()
    for number, row in rows:
        where = f"{path}, {unit} {number}"
        if not isinstance(row, dict):
            raise InputError(f'{where}: expected an object with "question" and "answer", found {type(row).__name__}')
        known = {name: row[name] for name in _READ if row.get(name) not in (None, "", [])}
        rows_read.append(checked(ProfileRow, {"id": row.get("qid", number), **known}, where))
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

    `values` has the single texts' values by side, None where a text has none.
    """

    question: float | None
    answer: float | None
    values: Mapping[str, Sequence[float | None]] = Field(exclude=True)

    @computed_field
    @property
    def average(self) -> float | None:
        """Mean of questions' and answers' means; None where one of them is missing."""
        return None if self.question is None or self.answer is None else (self.question + self.answer) / 2


class Label(BaseModel):
    """A label's questions: how many, their share in per cent, and the accuracy on them (0 to 100).

    Of answers that are judged by points, the accuracy is their mean share of the points: each question gives its labels
    the credit that its answer earned, as with a rubric (CogME, discussion). The share is of the questions that the
    facet is known of: with `--tags`, of the tagged ones. `ci95` is the interval of the accuracy over videos.
    """

    n: int
    share: float
    accuracy: float | None = None
    ci95: tuple[float, float] | None = None

    @computed_field
    @property
    def weak(self) -> bool | None:
        """Whether it is rare and answered badly; None without an accuracy."""
        return None if self.accuracy is None else cognitive_profile.is_weak(self.share, self.accuracy)


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
    flesch_kincaid: Measure | None
    parse_depth: Measure | None
    bloom: Measure | None
    higher_order: Measure | None
    words: Measure | None
    vocabulary: Counter[str] = Field(exclude=True)
    labels: dict[str, dict[str, Label]]
    accuracy_link: dict[str, float]
    spans: Spans | None
    reasoning_steps: Counter[int]
    made_with: dict[str, str]
    published: tuple[Mapping[str, Any], ...] = ()

    @field_serializer("words")
    def _with_vocabulary(self, words: Measure | None) -> dict[str, Any] | None:
        counted, top = self.vocabulary, dict(self.vocabulary.most_common(_TOP))
        return words and {**words.model_dump(), "total": counted.total(), "vocabulary": len(counted), "top": top}

    @field_serializer("reasoning_steps")
    def _with_mean(self, steps: Counter[int]) -> dict[str, Any] | None:
        counts = dict(sorted(steps.items()))
        return {"n": steps.total(), "mean": statistics.fmean(steps.elements()), "counts": counts} if steps else None


def profile(dataset: Dataset, extras: Extras) -> Profile:
    """Measure a dataset."""
    entries = dataset.entries
    if extras.question_spans is not None:
        entries = with_question_spans(entries, extras.question_spans, extras.note)
    labels = [dict(entry.labels) for entry in entries]
    if extras.tags is not None:
        _add_tags(entries, labels, extras.tags, extras.note)
    correct = _correct(dataset, labels, extras) if extras.result is not None else {}
    counted = _labels(entries, labels, correct)
    english = [language_of(entry.language) == "en" for entry in dataset.entries]
    if (others := english.count(False)) and any(english):
        not_english = number_of(others, "question is", "questions are")
        extras.note(f"{dataset.name}: {not_english} not in English and left out of the Flesch-Kincaid grade")
    elif others:
        extras.note(f"{dataset.name}: no question is in English, which the Flesch-Kincaid grade is for")
    grade = _over_texts(
        {
            side: [
                text_profile.flesch_kincaid(said) if known and (said := getattr(entry, side)) else None
                for entry, known in zip(dataset.entries, english, strict=True)
            ]
            for side in bloom.SIDES
        }
    )
    depth = _over_texts(_depths(dataset, extras))
    levels, record = _levels(entries, extras)
    made_with = {"parse_depth": extras.parser.name} if depth is not None and extras.parser is not None else {}
    if grade is not None:
        made_with["flesch_kincaid"] = text_profile.SYLLABLES
    if record is not None:
        made_with["bloom"] = record
    spaced, papers = [e for e in entries if language_of(e.language) not in UNSPACED], published("profiles")
    return Profile(
        name=dataset.name,
        rows=len(entries),
        videos=len({entry.video for entry in entries}) if all(entry.video for entry in entries) else None,
        languages=dict(Counter(entry.language for entry in entries).most_common()),
        flesch_kincaid=grade,
        parse_depth=depth,
        bloom=_over_texts(levels),
        higher_order=_over_texts(
            {
                side: [None if v is None else 100.0 * (v >= bloom.HIGHER_ORDER) for v in values]
                for side, values in levels.items()
            }
        ),
        words=_over_texts(
            {
                side: [float(len(words(text))) if (text := getattr(entry, side)) else None for entry in spaced]
                for side in bloom.SIDES
            }
        ),
        vocabulary=Counter(
            word.lower() for entry in spaced for side in bloom.SIDES for word in words(getattr(entry, side) or "")
        ),
        labels=counted,
        accuracy_link={
            facet: rho for facet, labels in counted.items() if (rho := _rank_correlation(labels)) is not None
        },
        spans=measure_spans(entries),
        reasoning_steps=Counter(entry.reasoning_steps for entry in entries if entry.reasoning_steps is not None),
        made_with=made_with,
        published=tuple(
            {**row, **{name: papers[name] for name in ("cite", "of", "made_with")}}
            for row in papers["rows"]
            if extras.all_published or (dataset.spec is not None and row["benchmark"] == dataset.spec.id)
        ),
    )


Values = dict[str, list[float | None]]


def _over_texts(values: Values) -> Measure | None:
    means = {
        side: statistics.fmean(known) if (known := [v for v in values.get(side, ()) if v is not None]) else None
        for side in bloom.SIDES
    }
    if means["question"] is None and means["answer"] is None:
        return None
    return Measure(**means, values=values)


def _texts(entries: Sequence[ProfileRow]) -> list[bloom.BloomText]:
    return [bloom.BloomText(side, text) for side in bloom.SIDES for entry in entries if (text := getattr(entry, side))]


def _by_side(texts: Iterable[bloom.BloomText], values: Iterable[float | None]) -> Values:
    pairs = list(zip(texts, values, strict=True))
    return {side: [value for text, value in pairs if text.side == side] for side in bloom.SIDES}


def _depths(dataset: Dataset, extras: Extras) -> Values:
    parser = extras.parser
    if parser is None:
        return {}
    fits = [entry for entry in dataset.entries if language_of(entry.language) == parser.language]
    if len(fits) < len(dataset.entries):
        extras.note(
            f"{dataset.name}: {len(dataset.entries) - len(fits)} questions are in languages that {parser.name} does "
            "not parse and left out of the parse depth"
        )
    texts = _texts(fits)
    return _by_side(texts, parser.depths(text.text for text in texts))


def _levels(entries: Sequence[ProfileRow], extras: Extras) -> tuple[Values, str | None]:
    if extras.judge is None:
        return {}, None
    texts = _texts(entries)
    levels, record = bloom.classify(texts, extras.judge, extras.note, extras.bar)
    if lacking := levels.count(None):
        extras.note(f"{lacking} of {len(levels)} texts have no level of Bloom's taxonomy and are left out of the mean")
    answered = ", ".join(record.returned) or record.requested
    return _by_side(texts, levels), f"{answered}, prompts {record.prompt} {record.prompt_sha256[:12]}"


# --- labels --------------------------------------------------------------------------------------------------------


def _add_tags(
    entries: Sequence[ProfileRow], labels: list[dict[str, Sequence[str]]], path: Path, note: Callable[[str], None]
) -> None:
    tags = cognitive_profile.read_tags(path)
    without_question, without_tags = cognitive_profile.unmatched(tags, [entry.id for entry in entries])
    if len(without_question) == len(tags):
        raise InputError(f"{path}: none of its {len(tags)} qids is among the {len(entries)} questions")
    if without_question or without_tags:
        note(f"{path}: {len(without_question)} tags without a question, {len(without_tags)} questions without tags")
    for entry, facets in zip(entries, labels, strict=True):
        if entry.id in tags:
            facets.update(cognitive_profile.facets_of(tags[entry.id]))


def _correct(dataset: Dataset, labels: list[dict[str, Sequence[str]]], extras: Extras) -> dict[str, float]:
    """Return question id -> credit, 0 to 1, by a result's samples; the dataset gets their labels where it has none."""
    assert extras.result is not None  # noqa: S101 - the caller asked
    folder = result_files.folder_of_one(extras.result)
    benchmark = result_files.read(folder).benchmark.id
    if dataset.spec is None or dataset.spec.id != benchmark:
        raise InputError(
            f"{folder}: a result on {benchmark}, not on {dataset.name}; leave out --result or name {benchmark}"
        )
    samples = {sample.id: sample for sample in result_files.read_samples(folder)}
    correct: dict[str, float] = {}
    low, high = dataset.spec.primary.low, dataset.spec.primary.high
    for name, sample in samples.items():  # by the choice where there is one, else the share of the primary's scale
        if "correct" in sample.scores:
            correct[name] = sample.scores["correct"]
        elif (score := aggregation.score_of(dataset.spec, sample)) is not None:
            correct[name] = (score - low) / (high - low)
    known = [entry for entry in dataset.entries if entry.id in correct]
    if not known:
        raise InputError(f"{folder}: no question of {dataset.name} is scored in it; nothing to link labels to")
    if len(known) < len(dataset.entries):
        extras.note(
            f"{folder}: {len(dataset.entries) - len(known)} questions are not scored in it and have no accuracy"
        )
    for entry, facets in zip(dataset.entries, labels, strict=True):
        if entry.id in samples:
            for facet, names in samples[entry.id].facets.items():
                facets.setdefault(facet, names)
    return correct


def _labels(
    entries: Sequence[ProfileRow], labels: Sequence[Mapping[str, Sequence[str]]], correct: Mapping[str, float]
) -> dict[str, dict[str, Label]]:
    videos = {entry.id: entry.video for entry in entries}
    counted: dict[str, dict[str, list[str]]] = {}
    for entry, facets in zip(entries, labels, strict=True):
        for facet, names in facets.items():
            for name in dict.fromkeys(names):
                counted.setdefault(facet, {}).setdefault(name, []).append(entry.id)
    known = Counter(facet for facets in labels for facet in facets)
    figures: dict[str, dict[str, Label]] = {}
    for facet, names in counted.items():
        figures[facet] = {}
        for name, ids in sorted(names.items(), key=lambda pair: (-len(pair[1]), pair[0])):
            rate = None
            if answered := [item for item in dict.fromkeys(ids) if item in correct]:
                values = 100 * np.array([correct[item] for item in answered], dtype=np.float64)
                rate = mean_over_clusters(values, [videos[item] for item in answered], bounds=(0, 100))
            share = 100 * len(ids) / known[facet]
            figures[facet][name] = Label(n=len(ids), share=share, accuracy=rate and rate.value, ci95=rate and rate.ci95)
    return figures


def _rank_correlation(labels: Mapping[str, Label]) -> float | None:
    """Return Spearman's correlation of frequency and accuracy over labels; None under 3 of them or without spread."""
    known = [(label.n, label.accuracy) for label in labels.values() if label.accuracy is not None]
    if len(known) < 3:  # noqa: PLR2004
        return None
    return spearman([n for n, _ in known], [accuracy for _, accuracy in known])


_MOST_NOTED = 3


def with_question_spans(entries: list[ProfileRow], path: Path, note: Callable[[str], None]) -> list[ProfileRow]:
    """Give entries the spans of their questions that a file has, JSON Lines of `qid` (or `id`) and `span`.

    InputError where none is of them, or a line is wrong.
    """
    read = [checked(_QuestionSpan, row, f"{path}, line {number}") for number, row in read_jsonl(path)]
    spans = {given.qid: given.span for given in read}
    ids = {entry.id for entry in entries}
    strangers = [name for name in spans if name not in ids]
    if len(strangers) == len(spans):
        raise InputError(f"{path}: none of its {len(spans)} ids is among the {len(entries)} questions")
    if strangers:
        note(f"{path}: {len(strangers)} spans without a question: {', '.join(strangers[:_MOST_NOTED])}")
    return [e.model_copy(update={"question_span": spans[e.id]}) if e.id in spans else e for e in entries]


def measure_spans(entries: Sequence[ProfileRow]) -> Spans | None:
    """Measure the entries that have an answer span; None where none has."""
    grounded = [entry for entry in entries if entry.span]
    if not grounded:
        return None
    lengths = [entry.span[1] - entry.span[0] for entry in grounded]
    shares = [100 * length / entry.duration for entry, length in zip(grounded, lengths, strict=True) if entry.duration]
    both = [entry for entry in grounded if entry.question_span]
    known = (
        certificates([(entry.question_span, entry.span) for entry in both], [entry.video for entry in both])
        if both
        else None
    )
    return Spans(
        n=len(grounded),
        length=statistics.fmean(lengths),
        share=statistics.fmean(shares) if shares else None,
        question_spans=len(both),
        certificate_length=known.length.value if known else None,
        qa_iou=known.qa_miou.value if known else None,
        certificate_length_ci95=known.length.ci95 if known else None,
        qa_iou_ci95=known.qa_miou.ci95 if known else None,
    )
