"""Several runs of one model over the same questions: each a result of its own, and what they come to together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.files import write_json
from reelbench.llm.ask_options import AskOptions
from reelbench.methods import asking
from reelbench.methods.questions import QuestionSet
from reelbench.registry.records import Result, Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus
from reelbench.scoring import aggregation, result_files, runs
from reelbench.tasks.score import Evaluation, Options, Outcome

RUNS_FILE = "runs.json"


@dataclass(frozen=True, slots=True)
class Runs:
    """How often all questions are asked, and which seed the first run sends; None sends none."""

    number: int = 1
    seed: int | None = None

    def check_once(self) -> None:
        """Raise InputError where it is more than one run as ever, for questions of an earlier result."""
        if self.number > 1 or self.seed is not None:
            raise InputError(
                "--from: some questions are asked again in one run; leave --runs and --seed out"
            )

    def ask(
        self, questions: QuestionSet, options: Options, *, model: AskOptions, **how: Any
    ) -> list[Evaluation]:  # noqa: ANN401
        """Ask a model questions in each run, one after the other; `how` is as `asking.ask` takes it."""
        if self.seed is not None and "seed" in model.extra:
            raise InputError("--seed and a seed in --llm-extra: give one of them")
        evaluations: list[Evaluation] = []
        if self.number > 1:
            sampling = asking.sent_sampling(questions, model, how.get("candidates"))
            if sampling.get("temperature") == 0:
                options.note(
                    "--runs at temperature 0: runs differ as far as the server does; --llm-extra "
                    "sets another"
                )
        for run, place in enumerate(self._places(options.place)):
            seeded = {} if self.seed is None else {"seed": self.seed + run}
            own = replace(model, extra={**model.extra, **seeded})
            made = asking.ask(questions, own, replace(options, place=place), run=run, **how)
            settings = made.settings.model_copy(
                update={"run": run + 1 if self.number > 1 else None}
            )
            evaluations.append(replace(made, settings=settings))
        return evaluations

    def write(self, evaluations: Sequence[Evaluation], place: Path) -> list[Outcome]:
        """Write the result of each run, and of several what they come to together (`runs.json`)."""
        written = [
            made.write(there)
            for made, there in zip(evaluations, self._places(place), strict=True)
            if there
        ]
        if self.number > 1:
            write_together(place, [outcome.folder for outcome in written])
        return written

    def _places(self, place: Path | None) -> list[Path | None]:
        """Return the folder of each run's result: of one run the folder itself."""
        return [
            place / f"run-{run + 1}" if place and self.number > 1 else place
            for run in range(self.number)
        ]


def write_together(place: Path, folders: Sequence[Path]) -> None:
    """Write what the runs of a benchmark, whose results lie in `folders`, come to: `runs.json` in `place`."""
    results = [result_files.read(folder) for folder in folders]
    samples = [list(result_files.read_samples(folder)) for folder in folders]
    write_json(place / RUNS_FILE, together(result_files.shared_spec(results), results, samples))


def together(
    spec: BenchmarkSpec, results: Sequence[Result], samples: Sequence[Sequence[Sample]]
) -> dict[str, Any]:
    """Return the summary of runs, as `runs.json` has it.

    Of each metric the value of each run, their mean, the standard deviation between them
    (`spread`), and the mean's 95 % interval over videos and runs, in the metric's unit. `items` are
    those that every run scored, on which all of it rests; a metric of all answers at once (BLEU) is
    each run's own and has no interval.
    """
    made, averages = runs.together(spec, results, samples)
    each = aggregation.each_run(averages)
    metrics: dict[str, Any] = {}
    for metric in spec.metrics:
        found = made.metrics.get(metric.name)
        if isinstance(metric.aggregate, Corpus):
            values = [
                result.metrics[metric.name].value
                for result in results
                if metric.name in result.metrics
            ]
        else:
            values = [aggregation.metric_value(spec, metric, run) for run in each]
        known = [value for value in values if value is not None]
        if found is None or found.value is None or len(known) < len(results):
            continue
        spread = stdev(known) if len(known) > 1 else None
        metrics[metric.name] = {
            "values": known,
            "mean": fmean(known),
            "spread": spread,
            "ci95": found.ci95,
        }
    return {
        "benchmark": spec.id,
        "version": spec.version,
        "split": made.benchmark.split,
        "model": made.model.id,
        "runs": len(results),
        "seeds": [result.settings.seed for result in results],
        "items": sum(sample.state == "scored" for sample in averages),
        "method": runs.METHOD,
        "primary": spec.primary.name,
        "metrics": metrics,
    }
