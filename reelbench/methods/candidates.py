"""Several answers of one model to each question, and their figures.

The candidates come from a run that kept them or from a file. Their figures are pass@k, mean@k and
the score of the answer that most of them give.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from reelbench.base.errors import InputError
from reelbench.base.files import read_json_or_jsonl, valid_text
from reelbench.base.values import is_id
from reelbench.registry import discovery
from reelbench.registry.reasons import Reason
from reelbench.registry.records import (
    Item,
    Metrics,
    MetricValue,
    ModelRecord,
    Sample,
    SettingsRecord,
)
from reelbench.registry.rows import UNTIMED
from reelbench.registry.spec import Corpus
from reelbench.scoring import aggregation, result_files
from reelbench.scoring.candidates import best, majority, pass_at
from reelbench.stats.intervals import mean_over_clusters
from reelbench.tasks import predictions
from reelbench.tasks.score import Answers, Options, RunMetadata
from reelbench.tasks.submissions import Inputs, PredictionSet, Questions, Words, parse_answer


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """A question's candidates. `question` is empty where it isn't known."""

    id: str
    candidates: tuple[str, ...]
    question: str = ""


class CandidatesWithAnswers(NamedTuple):
    """Candidates, and the answers of which they are others."""

    cases: list[CandidateSet]
    answers: Answers


def candidates_of_run(folder: Path, *runs: Path) -> CandidatesWithAnswers:
    """Read a result whose samples have candidates.

    With further `runs` of the model the answers of all runs are the candidates.
    """
    result = result_files.read(folder)
    benchmark = result.benchmark
    spec = discovery.spec_of(benchmark)
    questions = Questions(spec, benchmark.split, stated=benchmark.source)
    words = _question_words(folder, questions)
    answers_of_runs: list[dict[str, str | None]] = []
    for run in runs:
        samples = result_files.read_samples(run)
        answers_of_run = {sample.id: sample.prediction for sample in samples}
        answers_of_runs.append(answers_of_run)
    items: list[Item] = []
    cases: list[CandidateSet] = []
    for sample in result_files.read_samples(folder):
        candidates = _candidates_of(sample, answers_of_runs)
        if candidates != sample.candidates:
            sample = sample.model_copy(update={"candidates": candidates})  # noqa: PLW2901
        reason = aggregation.reason_before_judging(sample)
        question, options = words.get(sample.id, ("", ()))
        item = sample.item(question, reason, options)
        items.append(item)
        if candidates:
            case = CandidateSet(sample.id, tuple(candidates), question)
            cases.append(case)
        elif reason is None:
            raise InputError(
                f"{folder}: item {sample.id!r} has no candidates; run the model with --candidates, "
                "or give a file"
            )
    if not cases:
        raise InputError(
            f"{folder}: no item in it has candidates; run the model with --candidates, or give a "
            "file"
        )
    answers = Answers(PredictionSet(questions, items), result.model, result.settings)
    return CandidatesWithAnswers(cases, answers)


def _question_words(folder: Path, questions: Questions) -> Mapping[str, Words]:
    """Return the question and options of each item.

    They are read beside the samples, else from the benchmark's data where that is here.
    """
    if not (folder / result_files.QUESTIONS_FILE).is_file():
        return questions.words
    words: dict[str, Words] = {}
    for name, line in result_files.read_questions(folder).items():
        words[name] = (line["question"], tuple(line["options"]))
    return words


def _candidates_of(
    sample: Sample, answers_of_runs: Sequence[Mapping[str, str | None]]
) -> list[str] | None:
    """Return the answers of all runs to a question, or the sample's own candidates."""
    if not answers_of_runs:
        return sample.candidates
    predictions_of_runs = [sample.prediction]
    for answers in answers_of_runs:
        predictions_of_runs.append(answers.get(sample.id))
    texts: list[str] = []
    for prediction in predictions_of_runs:
        if not isinstance(prediction, str):
            return sample.candidates
        texts.append(prediction)
    return texts


def candidates_of_file(
    name: str, cases: Sequence[CandidateSet], inputs: Inputs, metadata: RunMetadata
) -> CandidatesWithAnswers:
    """Join a file's candidates with the references of a benchmark or a task."""
    questions = Questions.named(name, inputs.split, inputs.data, inputs.references)
    path = inputs.predictions
    rows = ((f"{path}: {case.id}", case.id, case.candidates[0]) for case in cases)
    submission = predictions.of_table(questions, path, rows)
    question_texts = {item.id: item.question for item in submission.items}
    asked_cases: list[CandidateSet] = []
    for case in cases:
        if case.id in question_texts:
            question = question_texts[case.id] or case.question
            asked_cases.append(replace(case, question=question))
    model = ModelRecord(id=metadata.model or path.stem, revision=metadata.revision)
    counts = [len(case.candidates) for case in asked_cases]
    most = max(counts, default=0)
    settings = SettingsRecord(
        frames=metadata.frames or "unknown",
        label=metadata.label,
        candidates=f"file:{most}",
    )
    answers = Answers(submission, model, settings, metadata.url)
    return CandidatesWithAnswers(asked_cases, answers)


def limit_candidates(cases: Sequence[CandidateSet], k: int | None) -> list[CandidateSet]:
    """Return each question's first `k` candidates, or all for None.

    Raises:
        InputError: No question has so many.
    """
    if k is None:
        return list(cases)
    _check_number(cases, k)
    return [replace(case, candidates=case.candidates[:k]) for case in cases]


def _check_number(cases: Sequence[CandidateSet], k: int) -> int:
    """Return the most candidates of a question. InputError where k are more."""
    most = max(len(case.candidates) for case in cases)
    if k > most:
        raise InputError(f"--k {k}: no question has so many candidates; there are {most}")
    return most


def read_candidates(path: Path) -> list[CandidateSet]:
    """Read candidates from a file.

    It has JSON Lines `{"id", "candidates": […]}`, or the list `[{"question_id", "answer": […]}]`
    that LAVIS writes. A line may have its `question` too.

    Raises:
        InputError: A row is wrong. The error names it.
    """
    document = read_json_or_jsonl(path)
    rows = document
    if not isinstance(document, list):
        rows = [document]
    cases: dict[str, CandidateSet] = {}
    for number, row in enumerate(rows, start=1):
        where = f"{path}, row {number}"
        case = _candidate_set(row, where)
        if case.id in cases:
            raise InputError(f"{where}: the id {case.id!r} occurs twice; keep one of them")
        cases[case.id] = case
    if not cases:
        raise InputError(f"{path}: no candidates in it")
    return list(cases.values())


def _candidate_set(row: Any, where: str) -> CandidateSet:  # noqa: ANN401 - any JSON value
    """Return the candidates of a file's row."""
    fields: Mapping[str, Any] = {}
    if isinstance(row, Mapping):
        fields = row
    name = fields.get("id", fields.get("question_id"))
    texts = fields.get("candidates", fields.get("answer"))
    question = fields.get("question") or ""
    if not is_id(name):
        raise InputError(f'{where}: has no id; expected {{"id": "…", "candidates": ["…", …]}}')
    short_name = str(name)[:80]
    is_list_of_texts = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    if not texts or not is_list_of_texts:
        raise InputError(
            f"{where}: the candidates of {short_name!r} are not a list of texts, or it is empty"
        )
    if not isinstance(question, str):
        raise InputError(f"{where}: the question of {short_name!r} is not text")
    return CandidateSet(
        id=valid_text(str(name)),
        candidates=tuple(map(valid_text, texts)),
        question=valid_text(question),
    )


class CandidateTable:
    """Every candidate scored: a column of samples for each index."""

    def __init__(self, answers: Answers, cases: Sequence[CandidateSet], options: Options) -> None:
        self._spec = answers.questions.spec
        has_overlap_metrics = False
        for metric in self._spec.metrics:
            has_overlap_metrics |= isinstance(metric.aggregate, Corpus)
        self._overlap = options.overlap and has_overlap_metrics
        self._counts = {case.id: len(case.candidates) for case in cases}
        self._columns: list[dict[str, Sample]] = []
        most_candidates = max(self._counts.values())
        for index in range(most_candidates):
            column = self._scored_column(answers, cases, options, index)
            self._columns.append(column)

    def _scored_column(
        self, answers: Answers, cases: Sequence[CandidateSet], options: Options, index: int
    ) -> dict[str, Sample]:
        """Score each question's candidate of an index. The first column has all items."""
        texts: dict[str, str] = {}
        for case in cases:
            if index < len(case.candidates):
                texts[case.id] = case.candidates[index]
        items = with_texts(answers, texts)
        if index > 0:
            items = [item for item in items if item.id in texts]
        judge = options.judge_for(self._spec)
        judged = None
        if judge is not None:
            judged = judge(self._spec, items)
        scored = aggregation.score(self._spec, items, overlap=False, judged=judged)
        return {sample.id: sample for sample in scored.samples}

    def metrics(self, indices: Mapping[str, int]) -> Metrics:
        """Return the metrics of one candidate for each question, where they have a value."""
        samples: list[Sample] = []
        for name in self._columns[0]:
            column = self._columns[indices.get(name, 0)]
            samples.append(column[name])
        return self._aggregate(samples, overlap=self._overlap)

    def random(self, draws: Sequence[Mapping[str, int]] = ()) -> Metrics:
        """Return the mean of the metrics over all candidates.

        Overlap metrics are the mean over `draws`, without an interval.
        """
        means = [self._mean_sample(sample) for sample in self._columns[0].values()]
        metrics = self._aggregate(means, overlap=False)
        if not self._overlap:
            return metrics
        metrics_of_draws = [self.metrics(draw) for draw in draws]
        for metric in self._spec.metrics:
            if not isinstance(metric.aggregate, Corpus):
                continue
            name = metric.name
            drawn_values = [drawn[name] for drawn in metrics_of_draws if name in drawn]
            if drawn_values:
                mean = fmean(drawn.value or 0.0 for drawn in drawn_values)
                metrics[name] = MetricValue(value=mean, ci95=None, n=drawn_values[0].n)
        return metrics

    def _mean_sample(self, first: Sample) -> Sample:
        """Return a question's first sample with the mean scores of all its candidates."""
        scores_by_name: dict[str, list[float]] = {}
        number = self._counts.get(first.id, 1)
        for column in self._columns[:number]:
            sample = column[first.id]
            for name, score in sample.scores.items():
                scores_by_name.setdefault(name, []).append(score)
        mean_scores = {name: fmean(scores) for name, scores in sorted(scores_by_name.items())}
        return first.model_copy(update={"scores": mean_scores})

    def oracle(self) -> dict[str, int] | None:
        """Return the index of each question's best candidate. None where none has a score."""
        indices: dict[str, int] = {}
        has_score = False
        for name, count in self._counts.items():
            choice = best(self.values(name))
            indices[name] = choice.index
            if choice.unparsed < count:
                has_score = True
        if not has_score:
            return None
        return indices

    def samples(self, name: str) -> list[Sample]:
        """Return the sample of each of a question's candidates."""
        columns = self._columns[: self._counts[name]]
        return [column[name] for column in columns]

    def values(self, name: str) -> list[float | None]:
        """Return the first metric of each of a question's candidates, None without a score."""
        primary = self._spec.primary
        values: list[float | None] = []
        for sample in self.samples(name):
            value = aggregation.metric_value(self._spec, primary, [sample])
            values.append(value)
        return values

    def _aggregate(self, samples: Sequence[Sample], *, overlap: bool) -> Metrics:
        metrics, _ = aggregation.aggregate(self._spec, samples, overlap=overlap)
        return {name: value for name, value in metrics.items() if value.value is not None}


def with_texts(answers: Answers, texts: Mapping[str, str]) -> list[Item]:
    """Return the items, with these texts as answers where they have one."""
    questions = answers.questions
    items: list[Item] = []
    for item in answers.submission.items:
        text = texts.get(item.id)
        if text is None:
            items.append(item)
            continue
        timing = questions.timings.get(item.id, UNTIMED)
        reading = parse_answer(questions.spec, text, item.options, timing, item.question)
        reason = reading.reason
        if reason is None and item.reason == Reason.ANSWERS_HIDDEN:
            reason = item.reason
        fields = {
            "prediction": reading.prediction,
            "parsed": reading.parsed,
            "flags": reading.flags,
            "reason": reason,
        }
        items.append(item.model_copy(update=fields))
    return items


@dataclass(frozen=True, slots=True)
class RepeatedFigures:
    """The figures of k answers to each question.

    Attributes:
        k: The number of answers.
        pass_at: Share of the questions, 0 to 100, of which at least one of k answers is right.
        mean_at: The first metric, in its unit, of one of k answers. The same for every k.
        majority_at: The first metric of the answer that most of the first k give. None where
            answers are no letters.
    """

    k: int
    pass_at: MetricValue
    mean_at: MetricValue
    majority_at: MetricValue | None

    def as_json(self) -> dict[str, Any]:
        """Return the document that `--json` prints."""
        majority_at = None
        if self.majority_at is not None:
            majority_at = self.majority_at.model_dump(mode="json")
        return {
            "k": self.k,
            "pass": self.pass_at.model_dump(mode="json"),
            "mean": self.mean_at.model_dump(mode="json"),
            "majority": majority_at,
        }


_NOTHING = MetricValue(value=None, n=0)


def repeat_figures(
    answers: Answers, cases: Sequence[CandidateSet], sizes: Sequence[int] | None, options: Options
) -> list[RepeatedFigures]:
    """Score every candidate, and return the figures for each k of `sizes`.

    By default these are 1, 2, … to all. pass@k and mean@k are unbiased: over all ways to draw k of
    the candidates that are kept. A question that has fewer than k, or a candidate without a score,
    is left out of pass@k.

    Raises:
        InputError: No question has so many.
    """
    largest_size = 0
    if sizes:
        largest_size = sizes[-1]
    most = _check_number(cases, largest_size)
    table = CandidateTable(answers, cases, options)
    primary_name = answers.questions.spec.primary.name
    mean = table.random().get(primary_name, _NOTHING)
    right_of_question = _right_candidates(answers, cases, table)
    letters_of_question = _letters_of_candidates(cases, table)
    has_letters = any(any(letters) for letters in letters_of_question.values())
    figures: list[RepeatedFigures] = []
    for k in sizes or range(1, most + 1):
        majority_value = None
        if has_letters:
            indices: dict[str, int] = {}
            for name, letters in letters_of_question.items():
                indices[name] = majority(letters[:k]) or 0
            metrics = table.metrics(indices)
            majority_value = metrics.get(primary_name, _NOTHING)
        figures_of_k = RepeatedFigures(
            k=k,
            pass_at=_pass_value(answers, right_of_question, k),
            mean_at=mean,
            majority_at=majority_value,
        )
        figures.append(figures_of_k)
    return figures


def _right_candidates(
    answers: Answers, cases: Sequence[CandidateSet], table: CandidateTable
) -> dict[str, list[bool]]:
    """Return the verdicts on candidates, of questions whose candidates all have a score."""
    primary = answers.questions.spec.primary
    right_of_question: dict[str, list[bool]] = {}
    for case in cases:
        values = table.values(case.id)
        if None in values:
            continue
        verdicts = [primary.is_right(value) for value in values if value is not None]
        right_of_question[case.id] = [verdict for verdict in verdicts if verdict is not None]
    return right_of_question


def _letters_of_candidates(
    cases: Sequence[CandidateSet], table: CandidateTable
) -> dict[str, list[str | None]]:
    """Return the letter that each candidate of a question gives, None where it gives none."""
    letters_of_question: dict[str, list[str | None]] = {}
    for case in cases:
        letters: list[str | None] = []
        for sample in table.samples(case.id):
            parsed = sample.parsed or {}
            letters.append(parsed.get("answer"))
        letters_of_question[case.id] = letters
    return letters_of_question


def _pass_value(
    answers: Answers, right_of_question: Mapping[str, Sequence[bool]], k: int
) -> MetricValue:
    """Return pass@k over the questions with at least k candidates."""
    video_of_question = {item.id: item.video for item in answers.submission.items}
    chances: list[float] = []
    videos: list[str] = []
    for name, right in right_of_question.items():
        if len(right) >= k:
            chance = pass_at(k, len(right), sum(right))
            chances.append(100 * chance)
            videos.append(video_of_question[name])
    if not chances:
        return _NOTHING
    share = mean_over_clusters(np.array(chances), videos, bounds=(0, 100))
    return MetricValue(value=share.value, ci95=share.ci95, n=len(chances))
