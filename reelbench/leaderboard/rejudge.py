"""Asking a judge again about a few items that it is said to have judged.

Nobody signs a reply, so a result's replies are as its submitter states them. Asking again is the
one check there is: a judge that is asked at temperature 0 says mostly what it said before, one that
never said it does not.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from reelbench.base.base_record import Record
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.judges.verdicts import is_judged, needs_no_judge
from reelbench.leaderboard.against_data import KnownRows, as_asked
from reelbench.registry import discovery
from reelbench.registry.records import Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import result_files
from reelbench.scoring.aggregation import ScoredItems

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions


def write_anew(
    folder: Path, spec: BenchmarkSpec, scored: ScoredItems, of: Result, **said: Any
) -> None:  # noqa: ANN401
    """Write new scores of a result's answers, or of some, as a result of its own, with what is `said` of it."""
    result_files.write(
        folder,
        spec,
        scored,
        split=of.benchmark.split,
        source=of.benchmark.source,
        model=of.model,
        settings=of.settings,
        attribution=result_files.Attribution(of.data, of.benchmark.questions_sha256, **said),
    )


class Rejudged(Record):
    """What came of asking a judge again about some items, each with all its criteria.

    Of the `scores` that both times gave `agree` are equal; `unscored` are those that asking again
    did not give.
    """

    items: int
    scores: int
    agree: int
    unscored: int
    calls: int
    cost_usd: float | None

    @property
    def short(self) -> str:
        """The same for a badge."""
        return f"rejudged, {self.agree} of {self.scores} agree"

    def __str__(self) -> str:
        text = f"asked again about {self.items} items: {self.agree} of {self.scores} scores agree"
        if self.unscored:
            text += f", {self.unscored} could not be had again"
        cost = "" if self.cost_usd is None else f", ${self.cost_usd:.2f}"
        return f"{text} ({self.calls} calls{cost})"


@dataclass(frozen=True, slots=True)
class Rejudge:
    """Asks again about `number` items of a result, drawn by `seed` and the samples' hash.

    The seed is the asker's: who submits can't know which items are drawn. `options` say the judge's
    server, key, budget and prices; what the result records decides on model, prompts, temperature
    and votes.
    """

    number: int
    options: "JudgeOptions"
    seed: int = 0
    note: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        """Raise InputError where `number` is not one from 1 up."""
        if self.number < 1:
            raise InputError(f"--rejudge: {self.number} is not a number from 1 up")

    def __call__(self, result: Result, samples: Iterable[Sample], known: KnownRows) -> Rejudged:
        """Ask again about a judged result; ReelbenchError if its data is not here, or nothing could be asked."""
        from reelbench.judges.judge_run import judge_items

        spec, record = discovery.spec_of(result.benchmark), result.judge
        if record is None or spec.judge is None:
            raise InputError(f"--rejudge: the result of {result.model.id} has no judge")
        marked = (s for s in samples if s.state == "scored" and is_judged(s))
        judged = [s for s in marked if not needs_no_judge(s.text)]
        draw = random.Random(f"{self.seed}:{result.provenance.samples_sha256}")  # noqa: S311 - no secret
        drawn = draw.sample(sorted(judged, key=lambda s: s.id), min(self.number, len(judged)))
        items = as_asked(spec, drawn, known.rows_of(result), "--rejudge")
        with TemporaryDirectory(prefix="reelbench-rejudge-") as folder:
            judges: list[JudgeOptions] = []
            for member in record.panel or [record]:
                prompts = (
                    member.prompt
                    if member.prompt in ("reelbench", "official")
                    else self.options.prompts
                )
                if Path(prompts).name != member.prompt:
                    raise InputError(
                        f"--rejudge: the judge was asked with {member.prompt!r}; give that file with --judge-prompts"
                    )
                judges.append(
                    replace(
                        self.options,
                        model=member.requested,
                        prompts=prompts,
                        temperature="none" if member.temperature is None else member.temperature,
                        extra=member.extra or {},
                        votes=member.votes,
                        vote_rule="majority" if member.vote_rule == "single" else member.vote_rule,
                        others=(),
                        # A cache of its own: replies that are kept already are what is in doubt.
                        cache=Path(folder) / "judge.sqlite",
                    )
                )
            options = replace(judges[0], others=tuple(judges[1:]))
            run = judge_items(spec, items, options, on_note=self.note)
            verdicts = list(run)
        pairs = [
            (sample.scores[name], verdict.scores.get(name))
            for sample, verdict in zip(drawn, verdicts, strict=True)
            for name in spec.judge.criteria
            if name in sample.scores
        ]
        both = [(then, now) for then, now in pairs if now is not None]
        if pairs and not both:
            raise ReelbenchError(
                f"--rejudge: {record.requested} gave no score: {'; '.join(run.notes) or 'no reason'}"
            )
        return Rejudged(
            items=len(drawn),
            scores=len(both),
            agree=sum(then == now for then, now in both),
            unscored=len(pairs) - len(both),
            calls=run.record.calls,
            cost_usd=run.record.cost_usd,
        )
