"""What several answers of one model to each question come to: pass@k, mean@k, and the answer that most of them give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reelbench.methods.ace import Answers, CandidateTable
from reelbench.methods.ranking import CandidateSet
from reelbench.registry.errors import InputError
from reelbench.registry.records import MetricValue
from reelbench.scoring.candidates import majority, pass_at
from reelbench.stats.intervals import mean_over_clusters
from reelbench.tasks.score import Options


@dataclass(frozen=True, slots=True)
class RepeatedFigures:
    """The figures of k answers to each question.

    Attributes:
        k: Number of answers.
        pass_at: Share of the questions, 0 to 100, of which at least one of k answers is right.
        mean_at: The first metric, in its unit, of one of k answers; the same for every k.
        majority_at: The first metric of the answer that most of the first k give; None where answers are no letters.
    """

    k: int
    pass_at: MetricValue
    mean_at: MetricValue
    majority_at: MetricValue | None

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "k": self.k,
            "pass": self.pass_at.model_dump(mode="json"),
            "mean": self.mean_at.model_dump(mode="json"),
            "majority": self.majority_at.model_dump(mode="json") if self.majority_at else None,
        }


def repeated(
    answers: Answers, cases: Sequence[CandidateSet], sizes: Sequence[int] | None, options: Options
) -> list[RepeatedFigures]:
    """Score every candidate, and return the figures for each k of `sizes`; by default for 1, 2, … to all.

    pass@k and mean@k are unbiased: over all ways to draw k of the candidates that are kept. A question that has fewer
    than k, or a candidate without a score, is left out of pass@k.

    Raises:
        InputError: No question has so many candidates.
    """
    most = max(len(case.candidates) for case in cases)
    if sizes and sizes[-1] > most:
        raise InputError(f"--k {sizes[-1]}: no question has so many candidates; there are {most}")
    table, primary = CandidateTable(answers, cases, options), answers.spec.primary
    videos = {item.id: item.video for item in answers.submission.items}
    values = {case.id: table.values(case.id) for case in cases}
    right = {
        name: [primary.is_right(value) for value in given if value is not None]
        for name, given in values.items()
        if None not in given
    }
    letters = {case.id: [(s.parsed or {}).get("answer") for s in table.samples(case.id)] for case in cases}
    nothing = MetricValue(value=None, n=0)
    mean = table.random().get(primary.name, nothing)
    figures = []
    for k in sizes or range(1, most + 1):
        index = {name: majority(given[:k]) or 0 for name, given in letters.items()}
        voted = table.metrics(index).get(primary.name, nothing) if any(map(any, letters.values())) else None
        figures.append(RepeatedFigures(k, _pass_at(k, right, videos), mean, voted))
    return figures


def _pass_at(k: int, right: Mapping[str, Sequence[bool]], videos: Mapping[str, str]) -> MetricValue:
    chances = {name: 100 * pass_at(k, len(given), sum(given)) for name, given in right.items() if len(given) >= k}
    if not chances:
        return MetricValue(value=None, n=0)
    share = mean_over_clusters(np.array(list(chances.values())), [videos[name] for name in chances], bounds=(0, 100))
    return MetricValue(value=share.value, ci95=share.ci95, n=len(chances))
