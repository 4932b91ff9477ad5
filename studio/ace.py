"""Agentic Choice Enhancement (MovieCORE, section 5): a ranker's choice as a result of its own, beside its controls.

What the choice is worth shows only beside what else the same candidates give: the first, one at random, the longest,
and the best by the judge. The model under test is never run again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from statistics import fmean
from typing import TYPE_CHECKING, Any

from reelbench.methods.candidates import CandidateSet, CandidateTable, with_texts
from reelbench.registry.errors import InputError
from reelbench.registry.languages import words
from reelbench.scoring import candidates as choice
from reelbench.scoring import text_overlap
from reelbench.studio.ranking import Ranked, Ranker
from reelbench.tasks.score import Answers, Evaluation, Options, evaluation

if TYPE_CHECKING:
    from reelbench.registry.records import Metrics

CONTROLS = ("first", "random", "longest", "ace", "oracle")


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
        """Return the document of `--json`."""
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
            for item in with_texts(answers, texts)
        ]
        result = evaluation(
            replace(
                answers,
                submission=replace(answers.submission, items=items),
                model=answers.model.model_copy(update={"id": f"{answers.model.id} + ACE"}),
                settings=answers.settings.model_copy(update={"ranker": self.ranker.record(self.k)}),
            ),
            options,
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
