"""Several answers of one model to each question: where they come from, what each scores, and what they come to.

They come from a run that kept them or from a file; pass@k, mean@k and the answer that most of them
give come of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

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
from reelbench.tasks.submissions import Inputs, PredictionSet, Questions, Words, answered


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """A question's candidates; `question` is empty where it isn't known."""

    id: str
    candidates: tuple[str, ...]
    question: str = ""


def candidates_of_run(folder: Path, *runs: Path) -> tuple[list[CandidateSet], Answers]:
    """Read a result whose samples have candidates; with further `runs` of the model their answers are those."""
    result = result_files.read(folder)
    about = result.benchmark
    questions = Questions(discovery.spec_of(about), about.split, stated=about.source)
    # Question and options: from beside the samples, else from the benchmark's data where that is
    # here.
    asked: Mapping[str, Words]
    if (folder / result_files.QUESTIONS_FILE).is_file():
        lines = result_files.read_questions(folder)
        asked = {name: (line["question"], tuple(line["options"])) for name, line in lines.items()}
    else:
        asked = questions.words
    items, cases = [], []
    others = [
        {sample.id: sample.prediction for sample in result_files.read_samples(run)} for run in runs
    ]
    for sample in result_files.read_samples(folder):
        texts = [sample.prediction, *(answers.get(sample.id) for answers in others)]
        if others and all(isinstance(text, str) for text in texts):
            sample = sample.model_copy(update={"candidates": texts})  # noqa: PLW2901
        unanswered = aggregation.reason_before_judging(sample)
        question, options = asked.get(sample.id, ("", ()))
        items.append(sample.item(question, unanswered, options))
        if sample.candidates:
            cases.append(CandidateSet(sample.id, tuple(sample.candidates), question))
        elif unanswered is None:
            raise InputError(
                f"{folder}: item {sample.id!r} has no candidates; run the model with --candidates, or give a file"
            )
    if not cases:
        raise InputError(
            f"{folder}: no item in it has candidates; run the model with --candidates, or give a file"
        )
    return cases, Answers(PredictionSet(questions, items), result.model, result.settings)


def candidates_of_file(
    name: str, cases: Sequence[CandidateSet], inputs: Inputs, metadata: RunMetadata
) -> tuple[list[CandidateSet], Answers]:
    """Hold a file's candidates against the references of a benchmark or a task -> the cases, with their questions."""
    questions, path = (
        Questions.named(name, inputs.split, inputs.data, inputs.references),
        inputs.predictions,
    )
    rows = ((f"{path}: {case.id}", case.id, case.candidates[0]) for case in cases)
    submission = predictions.of_table(questions, path, rows)
    asked = {item.id: item.question for item in submission.items}
    cases = [
        replace(case, question=asked[case.id] or case.question)
        for case in cases
        if case.id in asked
    ]
    model = ModelRecord(id=metadata.model or path.stem, revision=metadata.revision)
    most = max((len(case.candidates) for case in cases), default=0)
    settings = SettingsRecord(
        frames=metadata.frames or "unknown", label=metadata.label, candidates=f"file:{most}"
    )
    return cases, Answers(submission, model, settings, metadata.url)


def limit_candidates(cases: Sequence[CandidateSet], k: int | None) -> list[CandidateSet]:
    """Return each question's first `k` candidates (None: all); InputError where no question has so many."""
    if k is None:
        return list(cases)
    most = max(len(case.candidates) for case in cases)
    if k > most:
        raise InputError(f"--k {k}: no question has so many candidates; there are {most}")
    return [replace(case, candidates=case.candidates[:k]) for case in cases]


def read_candidates(path: Path) -> list[CandidateSet]:
    """Read JSON Lines `{"id", "candidates": […]}`, or the list `[{"question_id", "answer": […]}]` that LAVIS writes.

    A line may have its `question` too. InputError names the row that is wrong.
    """
    document = read_json_or_jsonl(path)
    cases: dict[str, CandidateSet] = {}
    for number, row in enumerate(document if isinstance(document, list) else [document], start=1):
        fields, where = row if isinstance(row, Mapping) else {}, f"{path}, row {number}"
        name = fields.get("id", fields.get("question_id"))
        texts = fields.get("candidates", fields.get("answer"))
        question = fields.get("question") or ""
        if not is_id(name):
            raise InputError(f'{where}: has no id; expected {{"id": "…", "candidates": ["…", …]}}')
        if (
            not isinstance(texts, list)
            or not texts
            or not all(isinstance(text, str) for text in texts)
        ):
            raise InputError(
                f"{where}: the candidates of {str(name)[:80]!r} are not a list of texts, or it is empty"
            )
        if not isinstance(question, str):
            raise InputError(f"{where}: the question of {str(name)[:80]!r} is not text")
        case = CandidateSet(
            valid_text(str(name)), tuple(map(valid_text, texts)), valid_text(question)
        )
        if case.id in cases:
            raise InputError(f"{where}: the id {case.id!r} is there already; keep one of them")
        cases[case.id] = case
    if not cases:
        raise InputError(f"{path}: no candidates in it")
    return list(cases.values())


class CandidateTable:
    """Every candidate scored: a column of samples for each index."""

    def __init__(self, answers: Answers, cases: Sequence[CandidateSet], options: Options) -> None:
        self._spec = answers.questions.spec
        self._overlap = options.overlap and any(
            isinstance(metric.aggregate, Corpus) for metric in self._spec.metrics
        )
        self._counts = {case.id: len(case.candidates) for case in cases}
        judge = options.judge_for(self._spec)
        self._columns: list[dict[str, Sample]] = []
        for index in range(max(self._counts.values())):
            texts = {
                case.id: case.candidates[index] for case in cases if index < len(case.candidates)
            }
            items = [item for item in with_texts(answers, texts) if index == 0 or item.id in texts]
            scored = aggregation.score(
                self._spec, items, overlap=False, judged=judge(self._spec, items) if judge else None
            )
            self._columns.append({sample.id: sample for sample in scored.samples})

    def metrics(self, indices: Mapping[str, int]) -> Metrics:
        """Return the metrics of one candidate for each question; those that nothing is behind are left out."""
        return self._aggregate(
            [self._columns[indices.get(name, 0)][name] for name in self._columns[0]], self._overlap
        )

    def random(self, draws: Sequence[Mapping[str, int]] = ()) -> Metrics:
        """Return the mean of the metrics over all candidates; overlap metrics' over `draws`, without an interval."""
        means = []
        for first in self._columns[0].values():
            drawn = [
                self._columns[index][first.id].scores
                for index in range(self._counts.get(first.id, 1))
            ]
            columns = sorted({name for scores in drawn for name in scores})
            mean = {
                name: fmean(scores[name] for scores in drawn if name in scores) for name in columns
            }
            means.append(first.model_copy(update={"scores": mean}))
        metrics = self._aggregate(means, overlap=False)
        if self._overlap:
            overlaps = [self.metrics(draw) for draw in draws]
            for metric in self._spec.metrics:
                values = [drawn[metric.name] for drawn in overlaps if metric.name in drawn]
                if isinstance(metric.aggregate, Corpus) and values:
                    mean = fmean(value.value or 0.0 for value in values)
                    metrics[metric.name] = MetricValue(value=mean, ci95=None, n=values[0].n)
        return metrics

    def oracle(self) -> dict[str, int] | None:
        """Return the index of each question's best candidate by the first metric; None where none has a score."""
        found = {name: best(self.values(name)) for name in self._counts}
        if all(made.unparsed == self._counts[name] for name, made in found.items()):
            return None
        return {name: made.index for name, made in found.items()}

    def samples(self, name: str) -> list[Sample]:
        """Return the sample of each of a question's candidates."""
        return [self._columns[index][name] for index in range(self._counts[name])]

    def values(self, name: str) -> list[float | None]:
        """Return the first metric of each of a question's candidates; None where one has no score."""
        samples = self.samples(name)
        return [
            aggregation.metric_value(self._spec, self._spec.primary, [sample]) for sample in samples
        ]

    def _aggregate(self, samples: Sequence[Sample], overlap: bool) -> Metrics:
        metrics, _ = aggregation.aggregate(self._spec, samples, overlap=overlap)
        return {name: value for name, value in metrics.items() if value.value is not None}


def with_texts(answers: Answers, texts: Mapping[str, str]) -> list[Item]:
    """Return the items with these texts as their answers; an item without one stays as it is."""
    items, questions = [], answers.questions
    for item in answers.submission.items:
        text, hidden = (
            texts.get(item.id),
            item.reason if item.reason == Reason.ANSWERS_HIDDEN else None,
        )
        if text is not None:
            given = answered(
                questions.spec, text, item.options, questions.timings.get(item.id, UNTIMED)
            )
            read = {"prediction": given.prediction, "parsed": given.parsed, "flags": given.flags}
            item = item.model_copy(update=read | {"reason": given.reason or hidden})  # noqa: PLW2901
        items.append(item)
    return items


@dataclass(frozen=True, slots=True)
class RepeatedFigures:
    """The figures of k answers to each question."""

    k: int
    pass_at: (
        MetricValue  # share of the questions, 0 to 100, of which at least one of k answers is right
    )
    mean_at: MetricValue  # the first metric, in its unit, of one of k answers; the same for every k
    majority_at: (
        MetricValue | None
    )  # of the answer that most of the first k give; None where they are no letters

    def as_json(self) -> dict[str, Any]:
        """Return the document that `--json` prints."""
        figures = {"pass": self.pass_at, "mean": self.mean_at, "majority": self.majority_at}
        return {"k": self.k} | {
            name: value and value.model_dump(mode="json") for name, value in figures.items()
        }


def repeat_figures(
    answers: Answers, cases: Sequence[CandidateSet], sizes: Sequence[int] | None, options: Options
) -> list[RepeatedFigures]:
    """Score every candidate, and return the figures for each k of `sizes`; by default for 1, 2, … to all.

    pass@k and mean@k are unbiased: over all ways to draw k of the candidates that are kept. A
    question that has fewer than k, or a candidate without a score, is left out of pass@k.
    InputError where no question has so many.
    """
    most = max(len(case.candidates) for case in cases)
    if sizes and sizes[-1] > most:
        raise InputError(f"--k {sizes[-1]}: no question has so many candidates; there are {most}")
    table, primary = CandidateTable(answers, cases, options), answers.questions.spec.primary
    videos = {item.id: item.video for item in answers.submission.items}
    values = {case.id: table.values(case.id) for case in cases}
    right = {
        name: [right for value in given if (right := primary.is_right(value)) is not None]
        for name, given in values.items()
        if None not in given
    }
    letters = {
        case.id: [(s.parsed or {}).get("answer") for s in table.samples(case.id)] for case in cases
    }
    nothing = MetricValue(value=None, n=0)
    mean = table.random().get(primary.name, nothing)
    figures = []
    for k in sizes or range(1, most + 1):
        index = {name: majority(given[:k]) or 0 for name, given in letters.items()}
        voted = (
            table.metrics(index).get(primary.name, nothing)
            if any(map(any, letters.values()))
            else None
        )
        chances = {
            name: 100 * pass_at(k, len(given), sum(given))
            for name, given in right.items()
            if len(given) >= k
        }
        one_of = nothing
        if chances:
            of_videos = [videos[name] for name in chances]
            share = mean_over_clusters(np.array(list(chances.values())), of_videos, bounds=(0, 100))
            one_of = MetricValue(value=share.value, ci95=share.ci95, n=len(chances))
        figures.append(RepeatedFigures(k, one_of, mean, voted))
    return figures
