"""Several runs of one model over the same questions: each a result of its own, and what they come to together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.llm.ask_options import AskOptions
from reelbench.methods import asking
from reelbench.methods.questions import QuestionSet
from reelbench.registry.errors import InputError
from reelbench.registry.files import write_json
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, Metric
from reelbench.scoring import aggregation
from reelbench.stats.runs import METHOD, over_runs
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
            raise InputError("--from: some questions are asked again in one run; leave --runs and --seed out")

    def ask(self, questions: QuestionSet, options: Options, *, model: AskOptions, **how: Any) -> list[Evaluation]:  # noqa: ANN401
        """Ask a model questions in each run, one after the other; `how` is as `asking.ask` takes it.

        Raises:
            InputError: A seed is among what is sent already.
        """
        if self.seed is not None and "seed" in model.extra:
            raise InputError("--seed and a seed in --llm-extra: give one of them")
        evaluations: list[Evaluation] = []
        for run, place in enumerate(self._places(options.place)):
            seeded = {} if self.seed is None else {"seed": self.seed + run}
            own = replace(model, extra={**model.extra, **seeded})
            evaluations.append(asking.ask(questions, own, replace(options, place=place), run=run, **how))
        return evaluations

    def write(self, evaluations: Sequence[Evaluation], place: Path) -> list[Outcome]:
        """Write the result of each run, and of several what they come to together (`runs.json`)."""
        written = [made.write(there) for made, there in zip(evaluations, self._places(place), strict=True) if there]
        if self.number > 1:
            write_json(place / RUNS_FILE, together(evaluations))
        return written

    def _places(self, place: Path | None) -> list[Path | None]:
        """Return where the result of each run lies: of one in the folder itself."""
        return [place / f"run-{run + 1}" if place and self.number > 1 else place for run in range(self.number)]


def together(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return what runs come to, as `runs.json` has it.

    Of each metric the value of each run, their mean, the standard deviation between them (`spread`), and the mean's
    95 % interval over videos and runs, in the metric's unit. `items` are those that every run scored, on which the
    interval rests; a metric that is no mean over items has none.
    """
    first = evaluations[0]
    samples = [{one.id: one for one in made.scored.samples if one.state == "scored"} for made in evaluations]
    ids = [name for name in samples[0] if all(name in others for others in samples)]
    videos = [samples[0][name].video for name in ids]
    metrics: dict[str, Any] = {}
    for metric in first.spec.metrics:
        values = [made.scored.metrics[metric.name].value for made in evaluations if metric.name in made.scored.metrics]
        if len(values) < len(evaluations) or None in values:
            continue
        known = [value for value in values if value is not None]
        scores = _scores(first.spec, metric, samples, ids)
        ci95 = None
        if scores is not None and np.allclose(scores.mean(axis=1), known):
            ci95 = over_runs(scores, videos, bounds=(metric.low, metric.high)).ci95
        spread = float(np.std(known, ddof=1)) if len(known) > 1 else None
        metrics[metric.name] = {"values": known, "mean": float(np.mean(known)), "spread": spread, "ci95": ci95}
    return {
        "benchmark": first.spec.id,
        "version": first.spec.version,
        "split": first.split,
        "model": first.model.id,
        "runs": len(evaluations),
        "seeds": [made.settings.seed for made in evaluations],
        "items": len(ids),
        "method": METHOD,
        "primary": first.spec.primary.name,
        "metrics": metrics,
    }


def _scores(
    spec: BenchmarkSpec, metric: Metric, samples: Sequence[Mapping[str, Sample]], ids: Sequence[str]
) -> NDArray[np.float64] | None:
    """Return a metric of each item in each run (runs x items), or None where an item alone has none."""
    if isinstance(metric.aggregate, Corpus):
        return None
    rows = [[aggregation.metric_value(spec, metric, [of_run[name]]) for name in ids] for of_run in samples]
    return None if not ids or any(None in row for row in rows) else np.array(rows, dtype=float)
