"""Several runs of one model over the same questions.

Each run has a result of its own, and all have a summary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.files import write_json
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.budget import Budget
from reelbench.methods import asking
from reelbench.methods.kept import Keeping
from reelbench.methods.questions import QuestionSet
from reelbench.registry.decoding import Candidates
from reelbench.registry.metrics import Metric
from reelbench.registry.records import Result, Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus
from reelbench.scoring import aggregation, result_files, runs
from reelbench.tasks.score import Evaluation, Options, Outcome

RUNS_FILE = "runs.json"


@dataclass(frozen=True, slots=True)
class Runs:
    """The number of runs, and the seed that the first one sends. None sends none."""

    number: int = 1
    seed: int | None = None

    def check_once(self) -> None:
        """Raise InputError for several runs or a seed: an earlier result has one run."""
        if self.number > 1 or self.seed is not None:
            raise InputError(
                "--from: some questions are asked again in one run; leave --runs and --seed out"
            )

    def ask(
        self,
        questions: QuestionSet,
        options: Options,
        *,
        model: AskOptions,
        candidates: Candidates | None = None,
        budget: Budget | None = None,
        keeping: Keeping = Keeping(),  # noqa: B008 - it is frozen
    ) -> list[Evaluation]:
        """Ask a model questions in each run, one after the other, as `asking.ask` does."""
        if self.seed is not None and "seed" in model.extra:
            raise InputError("--seed and a seed in --llm-extra: give one of them")
        if self.number > 1:
            sampling = asking.sent_sampling(questions, model, candidates)
            if sampling.get("temperature") == 0:
                options.note(
                    "at temperature 0 runs are usually equal; to vary them: "
                    "--llm-extra '{\"temperature\": 0.7}'"
                )
        evaluations: list[Evaluation] = []
        for run, place in enumerate(self._result_folders(options.place)):
            evaluation = asking.ask(
                questions,
                self._with_run_seed(model, run),
                replace(options, place=place),
                candidates=candidates,
                budget=budget,
                keeping=keeping,
                run=run,
            )
            run_number = None
            if self.number > 1:
                run_number = run + 1
            settings = evaluation.settings.model_copy(update={"run": run_number})
            evaluations.append(replace(evaluation, settings=settings))
        return evaluations

    def _with_run_seed(self, model: AskOptions, run: int) -> AskOptions:
        """Return the model with the seed of a run, where seeds are sent."""
        if self.seed is None:
            return model
        return replace(model, extra={**model.extra, "seed": self.seed + run})

    def write(self, evaluations: Sequence[Evaluation], place: Path) -> list[Outcome]:
        """Write the result of each run, and of several their summary (`runs.json`)."""
        outcomes: list[Outcome] = []
        for evaluation, folder in zip(evaluations, self._result_folders(place), strict=True):
            if folder is not None:
                outcomes.append(evaluation.write(folder))
        if self.number > 1:
            write_together(place, [outcome.folder for outcome in outcomes])
        return outcomes

    def _result_folders(self, place: Path | None) -> list[Path | None]:
        """Return the folder of each run's result: of one run the folder itself."""
        if place is None or self.number == 1:
            return [place] * self.number
        return [place / f"run-{run + 1}" for run in range(self.number)]


def write_together(place: Path, folders: Sequence[Path]) -> None:
    """Write the summary of a benchmark's runs, whose results lie in `folders`, to `place`."""
    results = [result_files.read(folder) for folder in folders]
    samples = [list(result_files.read_samples(folder)) for folder in folders]
    summary = summary_of_runs(result_files.shared_spec(results), results, samples)
    write_json(place / RUNS_FILE, summary)


def summary_of_runs(
    spec: BenchmarkSpec, results: Sequence[Result], samples: Sequence[Sequence[Sample]]
) -> dict[str, Any]:
    """Return the summary of runs, as `runs.json` has it.

    Of each metric the value of each run, their mean, the standard deviation between them
    (`spread`), and the mean's 95 % interval over videos and runs, in the metric's unit. `items` are
    those that every run scored, on which all of it rests. A metric of all answers at once (BLEU) is
    each run's own and has no interval.
    """
    mean_result, mean_samples = runs.together(spec, results, samples)
    samples_of_runs = aggregation.each_run(mean_samples)
    metrics: dict[str, Any] = {}
    for metric in spec.metrics:
        mean_value = mean_result.metrics.get(metric.name)
        values = _values_of_runs(spec, metric, results, samples_of_runs)
        if mean_value is None or mean_value.value is None or len(values) < len(results):
            continue
        spread = None
        if len(values) > 1:
            spread = stdev(values)
        metrics[metric.name] = {
            "values": values,
            "mean": fmean(values),
            "spread": spread,
            "ci95": mean_value.ci95,
        }
    return {
        "benchmark": spec.id,
        "version": spec.version,
        "split": mean_result.benchmark.split,
        "model": mean_result.model.id,
        "runs": len(results),
        "seeds": [result.settings.seed for result in results],
        "items": sum(sample.state == "scored" for sample in mean_samples),
        "method": runs.METHOD,
        "primary": spec.primary.name,
        "metrics": metrics,
    }


def _values_of_runs(
    spec: BenchmarkSpec,
    metric: Metric,
    results: Sequence[Result],
    samples_of_runs: Sequence[Sequence[Sample]],
) -> list[float]:
    """Return a metric's value of each run that has one.

    A metric of all answers at once is taken from the run's result.
    """
    if isinstance(metric.aggregate, Corpus):
        metrics = [result.metrics.get(metric.name) for result in results]
        values = [value.value for value in metrics if value is not None]
    else:
        values = [aggregation.metric_value(spec, metric, samples) for samples in samples_of_runs]
    return [value for value in values if value is not None]
