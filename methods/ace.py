"""Agentic Choice Enhancement (MovieCORE, section 5): a ranker's choice as a result of its own, beside its controls.

What the choice is worth shows only beside what else the same candidates give: the first, one at random, the longest,
and the best by the judge. The model under test is never run again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

from reelbench.methods.ranking import CandidateSet, Ranked, Ranker
from reelbench.registry import discovery
from reelbench.registry.data.loading import locate, named
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.languages import words
from reelbench.registry.records import Item, Metrics, MetricValue, ModelRecord, Sample, SettingsRecord
from reelbench.registry.spec import BenchmarkSpec, Corpus
from reelbench.scoring import aggregation, result_files, text_overlap
from reelbench.scoring import candidates as choice
from reelbench.tasks import predictions
from reelbench.tasks.questions import QUESTIONS_FILE
from reelbench.tasks.score import Evaluation, Options, RunMetadata, evaluation
from reelbench.tasks.submissions import Inputs, PredictionSet, answered

CONTROLS = ("first", "random", "longest", "ace", "oracle")


@dataclass(frozen=True, slots=True)
class Answers:
    """One model's candidates on one benchmark: a line of items, each to be given one of its candidates."""

    spec: BenchmarkSpec
    submission: PredictionSet
    model: ModelRecord
    settings: SettingsRecord
    data: Path | None = None
    metadata: RunMetadata = field(default_factory=RunMetadata)


def candidates_of_run(folder: Path) -> tuple[list[CandidateSet], Answers]:
    """Read a result whose samples have candidates.

    Raises:
        InputError: It is not a result, or has none.
    """
    result = result_files.read(folder)
    spec, split = discovery.get(result.benchmark.id), result.benchmark.split
    asked = _asked(folder, spec, split)
    items, cases = [], []
    for sample in result_files.read_samples(folder):
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
        raise InputError(f"{folder}: no item in it has candidates; run the model with --candidates, or give a file")
    source = result.benchmark.source
    return cases, Answers(spec, PredictionSet(items, source, split), result.model, result.settings)


def candidates_of_file(
    name: str, cases: Sequence[CandidateSet], inputs: Inputs, metadata: RunMetadata
) -> tuple[list[CandidateSet], Answers]:
    """Hold a file's candidates against the references of a benchmark or a task -> the cases, with their questions.

    Raises:
        InputError: No id is shared, or a file is wrong.
        DataUnavailableError: The references are not here.
    """
    spec, split, task = named(name, inputs.split)
    inputs = replace(inputs, split=split if task is not None else inputs.split, task=task)
    rows = ((f"{inputs.predictions}: {case.id}", case.id, case.candidates[0]) for case in cases)
    submission = predictions.submission(spec, inputs, rows)
    asked = {item.id: item.question for item in submission.items}
    cases = [replace(case, question=asked[case.id] or case.question) for case in cases if case.id in asked]
    model = ModelRecord(id=metadata.model or inputs.predictions.stem, revision=metadata.revision)
    most = max((len(case.candidates) for case in cases), default=0)
    settings = SettingsRecord(frames=metadata.frames or "unknown", label=metadata.label, candidates=f"file:{most}")
    return cases, Answers(spec, submission, model, settings, inputs.data, metadata)


def _asked(folder: Path, spec: BenchmarkSpec, split: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return id -> question and options: from beside the samples, else from the benchmark's data where that is here."""
    if (folder / QUESTIONS_FILE).is_file():
        asked = result_files.read_questions(folder)
        return {name: (line["question"], tuple(line["options"])) for name, line in asked.items()}
    try:
        rows = locate(spec.id, split, fetch=False).read()
    except ReelbenchError:
        return {}
    return {row["id"]: (row["question"], tuple(row.get("options", ()))) for row in rows}


def limited(cases: Sequence[CandidateSet], k: int | None) -> list[CandidateSet]:
    """Return each question's first `k` candidates (None: all); InputError where no question has so many."""
    if k is None:
        return list(cases)
    most = max(len(case.candidates) for case in cases)
    if k > most:
        raise InputError(f"--k {k}: no question has so many candidates; there are {most}")
    return [replace(case, candidates=case.candidates[:k]) for case in cases]


# --- what the choice comes to -----------------------------------------------------------------------------------------


class Enhancement:
    """A ranker's choice among each question's candidates, and what else the same candidates give."""

    def __init__(self, cases: Sequence[CandidateSet], ranker: Ranker, ranked: Ranked, answers: Answers | None) -> None:
        self.cases = cases
        self.ranker = ranker
        self.ranked = ranked
        self.answers = answers
        self.choices = {
            case.id: choice.chosen(ranker.mode, case.id, len(case.candidates), ranked.replies[case.id])
            for case in cases
        }

    @cached_property
    def k(self) -> int:
        """Candidates of the question with the most."""
        return max(len(case.candidates) for case in self.cases)

    @cached_property
    def chosen(self) -> dict[str, int]:
        """Question id -> the index of what was chosen."""
        return {name: made.index for name, made in self.choices.items()}

    @property
    def unparsed(self) -> int:
        """Candidates that nothing readable was said of."""
        return sum(made.unparsed for made in self.choices.values())

    def document(self, controls: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return what `--json` prints."""
        alike = [value for case in self.cases if (value := choice.similarity(case.candidates)) is not None]
        return {
            "k": self.k,
            "chosen": self.chosen,
            "ties": sum(made.tied for made in self.choices.values()),
            "unparsed": self.unparsed,
            "not_first": sum(index != 0 for index in self.chosen.values()),
            "controls": controls,
            "questions": len(self.cases),
            "candidates": sum(len(case.candidates) for case in self.cases),
            "similarity": fmean(alike) if alike else None,
            "ranker": {
                **self.ranker.record(self.k).model_dump(mode="json"),
                "returned": self.ranked.returned,
                "calls": self.ranked.calls,
                "cached": self.ranked.cached,
            },
        }

    def evaluation(self, options: Options) -> Evaluation:
        """Return the chosen answers, scored: a model of its own beside the one that gave the candidates."""
        answers = self._scored
        texts = {case.id: case.candidates[self.chosen[case.id]] for case in self.cases}
        kept = {case.id: list(case.candidates) for case in self.cases}
        items = [
            item.model_copy(
                update={"candidates": kept.get(item.id), "ranker_replies": self.ranked.replies.get(item.id)}
            )
            for item in _with(answers, texts)
        ]
        result = evaluation(
            answers.spec,
            replace(answers.submission, items=items),
            options,
            model=answers.model.model_copy(update={"id": f"{answers.model.id} + ACE"}),
            settings=answers.settings.model_copy(update={"ranker": self.ranker.record(self.k)}),
            data=answers.data,
            url=answers.metadata.url,
        )
        counts = result.scored.counts.model_copy(
            update={"unread_candidates": choice.unread(self.ranker.mode, result.scored.samples)}
        )
        return replace(result, scored=replace(result.scored, counts=counts))

    def controls(self, options: Options) -> dict[str, dict[str, Any]]:
        """Return each control's metrics and mean words.

        Every candidate is judged where a judge is named, so that the best one is known (`oracle`); without one, and
        without a benchmark, what needs either is left out.
        """
        picks = {
            "first": dict.fromkeys(self.chosen, 0),
            "longest": {case.id: choice.longest(case.candidates) for case in self.cases},
            "ace": self.chosen,
        }
        table = CandidateTable(self.answers, self.cases, options) if self.answers else None
        if table is not None and (oracle := table.oracle()) is not None:
            picks["oracle"] = oracle
        counts = {case.id: [len(words(text)) for text in case.candidates] for case in self.cases}
        metrics: dict[str, Metrics] = {}
        if table is not None:
            with text_overlap.one_meteor():
                metrics = {name: table.metrics(indices) for name, indices in picks.items()}
                metrics["random"] = table.random(self.draws())
        lengths = {name: fmean(counts[key][index] for key, index in indices.items()) for name, indices in picks.items()}
        lengths["random"] = fmean(fmean(each) for each in counts.values())
        return {
            name: {
                "metrics": {key: value.model_dump(mode="json") for key, value in metrics.get(name, {}).items()},
                "mean_words": lengths[name],
            }
            for name in CONTROLS
            if name in lengths
        }

    def draws(self) -> list[dict[str, int]]:
        """Return as many random choices as there are candidates, which together take each candidate equally often.

        So their mean is that of all random choices, for everything that is a mean over items.
        """
        orders = {case.id: choice.shuffled(f"random {case.id}", len(case.candidates)) for case in self.cases}
        return [{name: order[draw % len(order)] for name, order in orders.items()} for draw in range(self.k)]

    @property
    def _scored(self) -> Answers:
        if self.answers is None:
            raise InputError("the candidates of no benchmark have no scores; name it with --benchmark")
        return self.answers

    @property
    def name(self) -> str:
        """A name for the choice's folder: the same for the same ranker and the same choice."""
        digest = sha256(repr((self.ranker.record(self.k), sorted(self.chosen.items()))).encode("utf-8", "replace"))
        return f"ace-{self.ranker.mode}-k{self.k}-{digest.hexdigest()[:12]}"


class CandidateTable:
    """Every candidate scored: a column of samples for each index."""

    def __init__(self, answers: Answers, cases: Sequence[CandidateSet], options: Options) -> None:
        self._spec = answers.spec
        self._overlap = options.overlap and any(isinstance(metric.aggregate, Corpus) for metric in self._spec.metrics)
        self._counts = {case.id: len(case.candidates) for case in cases}
        judge = options.asked()
        self._columns: list[dict[str, Sample]] = []
        for index in range(max(self._counts.values())):
            texts = {case.id: case.candidates[index] for case in cases if index < len(case.candidates)}
            items = [item for item in _with(answers, texts) if index == 0 or item.id in texts]
            scored = aggregation.score(self._spec, items, overlap=False, judge=judge)
            self._columns.append({sample.id: sample for sample in scored.samples})

    def metrics(self, indices: Mapping[str, int]) -> Metrics:
        """Return the metrics of one candidate for each question; those that nothing is behind are left out."""
        return self._aggregated([self._columns[indices.get(name, 0)][name] for name in self._columns[0]], self._overlap)

    def random(self, draws: Sequence[Mapping[str, int]] = ()) -> Metrics:
        """Return the mean of the metrics over all candidates; overlap metrics' over `draws`, without an interval."""
        metrics = self._aggregated([self._mean(sample) for sample in self._columns[0].values()], overlap=False)
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
        best = {name: choice.best(self.values(name)) for name in self._counts}
        if all(made.unparsed == self._counts[name] for name, made in best.items()):
            return None
        return {name: made.index for name, made in best.items()}

    def samples(self, name: str) -> list[Sample]:
        """Return the sample of each of a question's candidates."""
        return [self._columns[index][name] for index in range(self._counts[name])]

    def values(self, name: str) -> list[float | None]:
        """Return the first metric of each of a question's candidates; None where one has no score."""
        samples = self.samples(name)
        return [aggregation.metric_value(self._spec, self._spec.primary, [sample]) for sample in samples]

    def _mean(self, first: Sample) -> Sample:
        """Return a sample with the mean of its candidates' scores."""
        drawn = [self._columns[index][first.id] for index in range(self._counts.get(first.id, 1))]
        columns = {name for sample in drawn for name in sample.scores}
        scores = {
            name: fmean(sample.scores[name] for sample in drawn if name in sample.scores) for name in sorted(columns)
        }
        return first.model_copy(update={"scores": scores})

    def _aggregated(self, samples: Sequence[Sample], overlap: bool) -> Metrics:
        metrics, _ = aggregation.aggregate(self._spec, samples, overlap=overlap)
        return {name: value for name, value in metrics.items() if value.value is not None}


def _with(answers: Answers, texts: Mapping[str, str]) -> list[Item]:
    """Return the items with these texts as their answers; an item without one stays as it is."""
    return [_answering(answers.spec, item, texts.get(item.id)) for item in answers.submission.items]


def _answering(spec: BenchmarkSpec, item: Item, text: str | None) -> Item:
    if text is None:
        return item
    given = answered(spec, text, item.options)
    reason = given.reason or (item.reason if item.reason == aggregation.ANSWERS_HIDDEN else None)
    read = {"prediction": given.prediction, "parsed": given.parsed, "flags": given.flags, "reason": reason}
    return item.model_copy(update=read)
