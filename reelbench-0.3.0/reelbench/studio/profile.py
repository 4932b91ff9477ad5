"""Profile a dataset: take the measures of the four papers on a benchmark or on the user's own rows.

MovieCORE's cognitive tests (Table 1) on questions and answers, CogME's tag distribution and how
accuracy goes with it (Figure 4), ReXTime's span lengths, certificate lengths and question-answer
IoU (supplement C.6), CURVE's counts by locale, skill and reasoning step. A measure that can't be
computed is None, with a note that says why.
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
from reelbench.registry.records import Sample
from reelbench.registry.rows import LETTERS, Row, steps
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

_NUMBERED = re.compile(r"^[^\S\n]*+\(?\d++[^\S\n]*+[.):]", re.MULTILINE)

Note = Callable[[str], None]
"""Called with a line for the user."""

Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[str, Field(coerce_numbers_to_str=True)]


def _check_span(ends: tuple[float, ...]) -> tuple[float, ...]:
    if ends and (len(ends) != 2 or ends[0] > ends[1]):  # noqa: PLR2004
        raise ValueError("expected [start, end] in seconds")
    return ends


def _none_if_blank(text: str | None) -> str | None:
    if text and text.strip():
        return text
    return None


Ends = Annotated[tuple[Seconds, ...], AfterValidator(_check_span)]


class ProfileRow(BaseModel):
    """One question of a dataset, with the fields that a profile looks at.

    Spans are [start, end] in seconds, `duration` is the video's length in seconds. Empty or None
    where unknown.
    """

    model_config = ConfigDict(frozen=True)

    id: Text
    question: str = Field(pattern=r"\S")
    answer: Annotated[str | None, AfterValidator(_none_if_blank)] = None
    language: str = "en"
    video: Text = ""
    span: Ends = ()
    question_span: Ends = ()
    duration: Seconds | None = Field(None, gt=0)
    labels: dict[str, Sequence[str]] = {}
    reasoning_steps: int | None = None


_FIELDS = ("id", "question", "answer", "language", "video", "span", "question_span", "duration")
"""The fields that are read of the user's own rows. Other fields are ignored."""


class _QuestionSpan(BaseModel):
    qid: Text = Field(validation_alias=AliasChoices("qid", "id"))
    span: Ends


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset to profile: its name, its questions, and its benchmark, if it is one."""

    name: str
    entries: list[ProfileRow]
    spec: BenchmarkSpec | None = None


def read_benchmark(name: str, split: str | None = None, data: Path | None = None) -> Dataset:
    """Read the rows of a benchmark, or of one of its tasks.

    Raises:
        ReelbenchError: As in `data.loading.locate`.
    """
    located = loading.locate(name, split, data)
    entries = [_benchmark_row(located.spec, row) for row in located.read()]
    dataset_name = name if split is None else f"{name} {split}"
    return Dataset(dataset_name, entries, located.spec)


def _benchmark_row(spec: BenchmarkSpec, row: Row) -> ProfileRow:
    """Return a benchmark's row as a profile looks at it."""
    labels = {facet.name: row[facet.name] for facet in spec.facets if facet.in_rows}
    if "skills" in row:
        labels["skills"] = row["skills"]
    fields = _filled_fields(row)
    fields["labels"] = labels
    if spec.asks_choice and "answer" in fields:
        place = LETTERS.index(row["answer"])
        fields["answer"] = row["options"][place]
    step_texts = steps(row)
    if step_texts:
        fields["reasoning_steps"] = count_steps(step_texts)
    return ProfileRow.model_validate(fields)


def _filled_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _FIELDS if row.get(name) not in (None, "", [])}


def count_steps(texts: Iterable[str]) -> int:
    """Return the number of reasoning steps in texts.

    A text has as many steps as it has numbers, or else as many as it has lines.
    """
    count = 0
    for text in texts:
        numbers = len(_NUMBERED.findall(text))
        lines = [line for line in text.splitlines() if line.strip()]
        count += numbers or len(lines)
    return count


def read_file(path: Path, name: str | None = None) -> Dataset:
    """Read the user's own rows with `question` and, where there is one, `answer`.

    JSON Lines, a JSON list, or a JSON object whose values are the rows (as `make discussion` writes
    them). The data set is called `name`, or after the file. `id` (or `qid`) and the other fields of
    `_FIELDS` are read too.

    Raises:
        InputError: A line is wrong. The message names the file, the line and the field.
    """
    if path.suffix == ".json":
        unit = "entry"
        rows = list(enumerate(_json_rows(path), start=1))
    else:
        unit = "line"
        rows = read_jsonl(path)
    if not rows:
        raise InputError(
            f'{path}: no rows; expected one JSON object per line with "question" and "answer"'
        )
    entries: list[ProfileRow] = []
    for number, row in rows:
        where = f"{path}, {unit} {number}"
        if not isinstance(row, dict):
            raise InputError(
                f'{where}: expected an object with "question" and "answer", '
                f"found {type(row).__name__}"
            )
        fields = {"id": row.get("qid", number), **_filled_fields(row)}
        entries.append(record_of(ProfileRow, fields, where))
    return Dataset(name or path.stem, entries)


def _json_rows(path: Path) -> list[Any]:
    """Return the rows of a list, of an object of rows, or the one row."""
    document = read_json_or_jsonl(path)
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and "question" not in document:
        return list(document.values())
    return [document]


_TOP = 200


@dataclass(frozen=True, slots=True)
class Extras:
    """Files beside the dataset, and the tools that measure texts."""

    parser: text_profile.Parser | None = None
    """For the parse depth. None leaves it out."""
    judge: "JudgeOptions | None" = None
    """For Bloom's levels. None leaves them out."""
    tags: Path | None = None
    """CogME's tags by question id (JSON Lines)."""
    question_spans: Path | None = None
    """Spans of the events that questions name (JSON Lines with `qid` or `id`, and `span`)."""
    result: Path | None = None
    """Folder of a result on this dataset: labels get the accuracy of its model."""
    note: Note = lambda _: None
    bar: Bar = no_bar
    all_published: bool = False
    """True puts all of MovieCORE's Table 1 beside this dataset, False its own row alone."""


class Measure(BaseModel):
    """One quantity of texts, as in MovieCORE's Table 1.

    It has the mean over questions and the mean over answers. `values` has the values of single
    texts by side.
    """

    question: float | None
    answer: float | None
    values: Mapping[str, Sequence[float]] = Field(exclude=True)

    @computed_field
    @property
    def average(self) -> float | None:
        """Mean of questions' and answers' means. None where one of them is missing."""
        if self.question is None or self.answer is None:
            return None
        return (self.question + self.answer) / 2


class Label(BaseModel):
    """The questions of a label: number, share in per cent, and accuracy (0 to 100).

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
        """True where it is rare and answered badly. None without an accuracy."""
        if self.accuracy is None:
            return None
        return cognitive_profile.is_weak(self.share, self.accuracy)


class Spans(BaseModel):
    """The answers' places in their videos.

    Each mean is over the questions that have the fields it needs. Its interval is over videos.
    """

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
    """The profile of one dataset, as `--json` prints it.

    A field is None where it could not be measured.
    """

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
        if measure is None:
            return (None, None, None)
        return (measure.question, measure.answer, measure.average)

    @field_serializer("words")
    def _with_vocabulary(self, words: Measure | None) -> dict[str, Any] | None:
        if words is None:
            return None
        return {
            **words.model_dump(),
            "total": self.vocabulary.total(),
            "vocabulary": len(self.vocabulary),
            "top": dict(self.vocabulary.most_common(_TOP)),
        }

    @field_serializer("reasoning_steps")
    def _with_mean(self, steps: Counter[int]) -> dict[str, Any] | None:
        if not steps:
            return None
        return {
            "n": steps.total(),
            "mean": statistics.fmean(steps.elements()),
            "counts": dict(sorted(steps.items())),
        }


def profile(dataset: Dataset, extras: Extras) -> Profile:
    """Measure a dataset."""
    entries = dataset.entries
    credits_by_id: dict[str, float] = {}
    if extras.question_spans is not None:
        entries = _with_question_spans(entries, extras.question_spans, extras.note)
    if extras.tags is not None:
        entries = _with_tags(entries, extras.tags, extras.note)
    if extras.result is not None:
        tagged_dataset = replace(dataset, entries=entries)
        credits_by_id, facets = _read_result(tagged_dataset, extras.result, extras.note)
        entries = [_with_facets(entry, facets.get(entry.id, {})) for entry in entries]
    labels = _labels_by_facet(entries, credits_by_id)
    text_measures = _measure_texts(replace(dataset, entries=entries), extras)
    spaced_texts = _texts_of_accepted_language(entries, lambda language: language not in UNSPACED)
    word_lists = [words(text) for _, text in spaced_texts]
    vocabulary = Counter[str]()
    for word_list in word_lists:
        vocabulary.update(word.lower() for word in word_list)
    languages = Counter(entry.language for entry in entries)
    step_counts = [entry.reasoning_steps for entry in entries]
    return Profile(
        name=dataset.name,
        rows=len(entries),
        videos=_count_videos(entries),
        languages=dict(languages.most_common()),
        **text_measures.measures,
        words=_measure_of_values(spaced_texts, map(float, map(len, word_lists))),
        vocabulary=vocabulary,
        labels=labels,
        accuracy_link=_accuracy_links(labels),
        spans=_measure_spans(entries),
        reasoning_steps=Counter(count for count in step_counts if count is not None),
        made_with=text_measures.made_with,
        published=_published_rows(dataset.spec, all_rows=extras.all_published),
    )


def _count_videos(entries: Sequence[ProfileRow]) -> int | None:
    """Return the number of videos. None where an entry does not name its video."""
    videos = {entry.video for entry in entries}
    if "" in videos:
        return None
    return len(videos)


def _published_rows(spec: BenchmarkSpec | None, *, all_rows: bool) -> tuple[Mapping[str, Any], ...]:
    """Return the published figures to stand beside a dataset's: all, or its own."""
    papers = from_papers("profiles")
    source = {name: papers[name] for name in ("cite", "of", "made_with")}
    rows: list[Mapping[str, Any]] = []
    for row in papers["rows"]:
        is_own = spec is not None and row["benchmark"] == spec.id
        if all_rows or is_own:
            rows.append({**row, **source})
    return tuple(rows)


# --- texts


@dataclass(frozen=True, slots=True)
class _TextMeasures:
    """Measures of texts by their fields in a profile, and the tools that made them."""

    measures: dict[str, Measure | None]
    made_with: dict[str, str]


def _measure_texts(dataset: Dataset, extras: Extras) -> _TextMeasures:
    """Measure texts by their Flesch-Kincaid grade, parse depth and Bloom's levels."""
    result = _TextMeasures({}, {})
    _add_grade(dataset, extras.note, result)
    if extras.parser is not None:
        _add_parse_depth(dataset, extras.parser, extras.note, result)
    if result.measures["flesch_kincaid"] is not None:
        result.made_with["flesch_kincaid"] = text_profile.SYLLABLES
    if extras.judge is not None:
        _add_bloom(dataset, extras.judge, extras, result)
    return result


def _add_grade(dataset: Dataset, note: Note, result: _TextMeasures) -> None:
    """Add the Flesch-Kincaid grade of the English texts."""
    texts = _texts_of_accepted_language(dataset.entries, lambda language: language == "en")
    excluded = _count_other_languages(dataset.entries, "en")
    if not texts:
        note(f"{dataset.name}: no question is in English, which the Flesch-Kincaid grade is for")
    elif excluded:
        not_english = number_of(excluded, "question is", "questions are")
        note(
            f"{dataset.name}: {not_english} not in English and left out of the Flesch-Kincaid grade"
        )
    grades = [text_profile.flesch_kincaid(text) for _, text in texts]
    result.measures["flesch_kincaid"] = _measure_of_values(texts, grades)


def _add_parse_depth(
    dataset: Dataset, parser: text_profile.Parser, note: Note, result: _TextMeasures
) -> None:
    """Add the parse depth of the texts in the parser's language."""
    excluded = _count_other_languages(dataset.entries, parser.language)
    if excluded:
        note(
            f"{dataset.name}: {excluded} questions are in languages that {parser.name} does not "
            "parse and left out of the parse depth"
        )
    texts = _texts_of_accepted_language(
        dataset.entries, lambda language: language == parser.language
    )
    depth = _measure_of_values(texts, parser.depths(text for _, text in texts))
    result.measures["parse_depth"] = depth
    if depth is not None:
        result.made_with["parse_depth"] = parser.name


def _add_bloom(
    dataset: Dataset, judge: "JudgeOptions", extras: Extras, result: _TextMeasures
) -> None:
    """Add Bloom's levels by a judge, and the share of higher-order ones."""
    texts = _texts_of_accepted_language(dataset.entries)
    levels, record = bloom.classify(texts, judge, extras.note, extras.bar)
    missing = levels.count(None)
    if missing:
        extras.note(
            f"{missing} of {len(levels)} texts have no level of Bloom's taxonomy "
            "and are left out of the mean"
        )
    result.measures["bloom"] = _measure_of_values(texts, levels)
    result.measures["higher_order"] = _measure_of_values(texts, map(bloom.higher_order, levels))
    model = ", ".join(record.returned) or record.requested
    result.made_with["bloom"] = f"{model}, prompts {record.prompt} {record.prompt_sha256[:12]}"


def _count_other_languages(entries: Sequence[ProfileRow], language: str) -> int:
    languages = [language_of(entry.language) for entry in entries]
    return len(languages) - languages.count(language)


def _texts_of_accepted_language(
    entries: Iterable[ProfileRow], accepts: Callable[[str], bool] = lambda _: True
) -> list[bloom.BloomText]:
    """Return the texts of the entries whose language (`en`) is accepted."""
    texts: list[bloom.BloomText] = []
    for entry in entries:
        if not accepts(language_of(entry.language)):
            continue
        for side in bloom.SIDES:
            text = getattr(entry, side)
            if text:
                texts.append(bloom.BloomText(side, text))
    return texts


def _measure_of_values(
    texts: Iterable[bloom.BloomText], values: Iterable[float | None]
) -> Measure | None:
    """Return a measure of a value for each text. None where no text has one."""
    by_side: dict[str, list[float]] = {side: [] for side in bloom.SIDES}
    for text, value in zip(texts, values, strict=True):
        if value is not None:
            by_side[text.side].append(value)
    if not any(by_side.values()):
        return None
    means: dict[str, float | None] = {}
    for side, side_values in by_side.items():
        means[side] = statistics.fmean(side_values) if side_values else None
    return Measure(**means, values=by_side)


# --- labels


def _with_tags(entries: Sequence[ProfileRow], path: Path, note: Note) -> list[ProfileRow]:
    """Give entries the tags of a file.

    Raises:
        InputError: No tag belongs to an entry.
    """
    tags = cognitive_profile.read_tags(path)
    ids = {entry.id for entry in entries}
    without_question = len(tags.keys() - ids)
    without_tags = len(ids - tags.keys())
    if without_question == len(tags):
        raise InputError(
            f"{path}: none of its {len(tags)} qids is among the {len(entries)} questions"
        )
    if without_question or without_tags:
        note(
            f"{path}: {without_question} tags without a question, "
            f"{without_tags} questions without tags"
        )
    tagged_entries: list[ProfileRow] = []
    for entry in entries:
        labels = dict(entry.labels)
        if entry.id in tags:
            labels |= tags[entry.id].facets
        tagged_entries.append(entry.model_copy(update={"labels": labels}))
    return tagged_entries


Facets = Mapping[str, Sequence[str]]


def _read_result(
    dataset: Dataset, result: Path, note: Note
) -> tuple[dict[str, float], dict[str, Facets]]:
    """Return credits and facets by question id. A credit is from 0 to 1.

    Raises:
        InputError: The result is on another benchmark, or scores none of the questions.
    """
    folder = result_files.folder_of_one(result)
    spec = dataset.spec
    benchmark = result_files.read(folder).benchmark.id
    if spec is None or spec.id != benchmark:
        raise InputError(
            f"{folder}: a result on {benchmark}, not on {dataset.name}; "
            f"leave out --result or name {benchmark}"
        )
    credits_by_id: dict[str, float] = {}
    facets: dict[str, Facets] = {}
    for sample in result_files.read_samples(folder):
        facets[sample.id] = sample.facets
        credit = _answer_credit(spec, sample)
        if credit is not None:
            credits_by_id[sample.id] = credit
    unscored = sum(entry.id not in credits_by_id for entry in dataset.entries)
    if unscored == len(dataset.entries):
        raise InputError(
            f"{folder}: no question of {dataset.name} is scored in it; nothing to link labels to"
        )
    if unscored:
        note(f"{folder}: {unscored} questions are not scored in it and have no accuracy")
    return credits_by_id, facets


def _answer_credit(spec: BenchmarkSpec, sample: Sample) -> float | None:
    """Return the credit of an answer, from 0 to 1.

    It is that of the choice where there is one, or else the share of the primary metric's scale.
    """
    if "correct" in sample.scores:
        return sample.scores["correct"]
    score = aggregation.score_of(spec, sample)
    if score is None:
        return None
    low, high = spec.primary.bounds
    return (score - low) / (high - low)


def _with_facets(entry: ProfileRow, facets: Facets) -> ProfileRow:
    """Give an entry the labels of a result. Its own labels stay, and stand first."""
    labels = {**entry.labels, **facets, **entry.labels}
    return entry.model_copy(update={"labels": labels})


def _labels_by_facet(
    entries: Sequence[ProfileRow], credits_by_id: Mapping[str, float]
) -> dict[str, dict[str, Label]]:
    """Return the labels of each facet, the most frequent first."""
    videos = {entry.id: entry.video for entry in entries}
    facet_counts = Counter[str]()
    ids_by_facet: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        facet_counts.update(list(entry.labels))
        for facet, names in entry.labels.items():
            ids_by_label = ids_by_facet.setdefault(facet, {})
            for name in dict.fromkeys(names):
                ids_by_label.setdefault(name, []).append(entry.id)
    labels: dict[str, dict[str, Label]] = {}
    for facet, ids_by_label in ids_by_facet.items():
        labels[facet] = {}
        for name in sorted(ids_by_label, key=lambda name: (-len(ids_by_label[name]), name)):
            ids = ids_by_label[name]
            accuracy = _mean_credit(ids, videos, credits_by_id)
            labels[facet][name] = Label(
                n=len(ids),
                share=100 * len(ids) / facet_counts[facet],
                accuracy=accuracy.value,
                ci95=accuracy.ci95,
            )
    return labels


_NO_ESTIMATE = Estimate(None, None)


def _mean_credit(
    ids: Iterable[str], videos: Mapping[str, str], credits_by_id: Mapping[str, float]
) -> Estimate:
    """Return the mean credit of the scored questions, 0 to 100."""
    scored_ids = [name for name in dict.fromkeys(ids) if name in credits_by_id]
    if not scored_ids:
        return _NO_ESTIMATE
    values = 100 * np.array([credits_by_id[name] for name in scored_ids], dtype=np.float64)
    clusters = [videos[name] for name in scored_ids]
    return mean_over_clusters(values, clusters, bounds=(0, 100))


_LEAST_LABELS = 3  # for a correlation


def _accuracy_links(labels: Mapping[str, Mapping[str, Label]]) -> dict[str, float]:
    """Return the correlation of frequency and accuracy by facet, given three labels."""
    links: dict[str, float] = {}
    for facet, facet_labels in labels.items():
        counts: list[float] = []
        accuracies: list[float] = []
        for label in facet_labels.values():
            if label.accuracy is not None:
                counts.append(label.n)
                accuracies.append(label.accuracy)
        if len(counts) < _LEAST_LABELS:
            continue
        rho = spearman(counts, accuracies)
        if rho is not None:
            links[facet] = rho
    return links


# --- spans

_MOST_NOTED = 3


def _with_question_spans(entries: list[ProfileRow], path: Path, note: Note) -> list[ProfileRow]:
    """Give entries the spans of their questions from a file.

    The file has JSON Lines of `qid` (or `id`) and `span`.

    Raises:
        InputError: A line is wrong, or none belongs to an entry.
    """
    spans: dict[str, tuple[float, ...]] = {}
    for number, row in read_jsonl(path):
        line = record_of(_QuestionSpan, row, f"{path}, line {number}")
        spans[line.qid] = line.span
    ids = {entry.id for entry in entries}
    strangers = [name for name in spans if name not in ids]
    if len(strangers) == len(spans):
        raise InputError(
            f"{path}: none of its {len(spans)} ids is among the {len(entries)} questions"
        )
    if strangers:
        examples = ", ".join(strangers[:_MOST_NOTED])
        note(f"{path}: {len(strangers)} spans without a question: {examples}")
    spanned_entries: list[ProfileRow] = []
    for entry in entries:
        if entry.id in spans:
            entry = entry.model_copy(update={"question_span": spans[entry.id]})  # noqa: PLW2901
        spanned_entries.append(entry)
    return spanned_entries


def _measure_spans(entries: Sequence[ProfileRow]) -> Spans | None:
    """Measure the entries that have an answer span. None where none has."""
    grounded = [entry for entry in entries if entry.span]
    if not grounded:
        return None
    lengths: list[float] = []
    shares: list[float] = []
    for entry in grounded:
        start, end = entry.span
        lengths.append(end - start)
        if entry.duration:
            shares.append(100 * (end - start) / entry.duration)
    with_question_span = [entry for entry in grounded if entry.question_span]
    length = iou = _NO_ESTIMATE
    if with_question_span:
        both_spans = [(entry.question_span, entry.span) for entry in with_question_span]
        measured = certificates(both_spans, [entry.video for entry in with_question_span])
        length = measured.length
        iou = measured.qa_miou
    share = statistics.fmean(shares) if shares else None
    return Spans(
        n=len(grounded),
        length=statistics.fmean(lengths),
        share=share,
        question_spans=len(with_question_span),
        certificate_length=length.value,
        qa_iou=iou.value,
        certificate_length_ci95=length.ci95,
        qa_iou_ci95=iou.ci95,
    )
