"""Ask a judge again about a few items that it is said to have judged.

Nobody signs a reply, so a result's replies are as its submitter states them. Asking again is the
one check there is: a judge that is asked at temperature 0 says mostly what it said before, one that
never said it does not.
"""

import random
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from reelbench.base.base_record import Record
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.judges.identity import single_judges
from reelbench.judges.verdicts import is_judged, needs_no_judge
from reelbench.leaderboard.against_data import KnownRows, as_asked
from reelbench.registry import discovery
from reelbench.registry.records import ErrataRecord, JudgeRecord, Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import result_files
from reelbench.scoring.aggregation import ScoredItems

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions


def write_anew(
    folder: Path,
    spec: BenchmarkSpec,
    scored: ScoredItems,
    result: Result,
    errata: ErrataRecord | None,
    **attribution: Any,  # noqa: ANN401 - fields of `Attribution`
) -> None:
    """Write new scores of a result's answers as a result of its own."""
    benchmark = result.benchmark
    result_files.write(
        folder,
        spec,
        scored,
        split=benchmark.split,
        source=benchmark.source,
        model=result.model,
        settings=result.settings,
        attribution=result_files.Attribution(
            result.data, benchmark.questions_sha256, errata, **attribution
        ),
    )


class Rejudged(Record):
    """The outcome of asking a judge again about some items, each with all its criteria.

    Of the `scores` that both times gave `agree` are equal. `unscored` are those that asking again
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
        effort = f"{self.calls} calls"
        if self.cost_usd is not None:
            effort += f", ${self.cost_usd:.2f}"
        return f"{text} ({effort})"


@dataclass(frozen=True, slots=True)
class Rejudge:
    """Asks again about some items of a result, drawn by `seed` and the samples' hash.

    Attributes:
        number: Items to ask about.
        options: The judge's server, key, budget and prices. What the result records decides on
            model, prompts, temperature and votes.
        seed: The asker's own: who submits can't know which items are drawn.
        note: Called with each line that people should read.
    """

    number: int
    options: "JudgeOptions"
    seed: int = 0
    note: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        """Raise InputError where `number` is not one from 1 up."""
        if self.number < 1:
            raise InputError(f"--rejudge: {self.number} is not a number from 1 up")

    def __call__(
        self, result: Result, samples: Iterable[Sample], known_rows: KnownRows
    ) -> Rejudged:
        """Ask again about a judged result.

        Raises:
            ReelbenchError: If its data is not here, or nothing could be asked.
        """
        from reelbench.judges.judge_run import judge_items

        spec = discovery.spec_of(result.benchmark)
        record = result.judge
        if record is None or spec.judge is None:
            raise InputError(f"--rejudge: the result of {result.model.id} has no judge")
        drawn = self._draw(result, samples)
        items = as_asked(spec, drawn, known_rows.rows_of(result), "--rejudge")
        with TemporaryDirectory(prefix="reelbench-rejudge-") as folder:
            # A cache of its own: replies that are kept already are what is in doubt.
            cache = Path(folder) / "judge.sqlite"
            judges: list[JudgeOptions] = []
            for member in single_judges(record):
                options = self._options_of(member, cache)
                if member.renamed:
                    options = replace(options, model=self._sent_name(member, drawn))
                judges.append(options)
            options = replace(judges[0], others=tuple(judges[1:]))
            run = judge_items(spec, items, options, on_note=self.note)
            verdicts = list(run)
        agree = 0
        disagree = 0
        unscored = 0
        for sample, verdict in zip(drawn, verdicts, strict=True):
            for name in spec.judge.criteria:
                if name not in sample.scores:
                    continue
                new_score = verdict.scores.get(name)
                if new_score is None:
                    unscored += 1
                elif new_score == sample.scores[name]:
                    agree += 1
                else:
                    disagree += 1
        scores = agree + disagree
        if unscored and not scores:
            reason = "; ".join(run.notes) or "no reason"
            raise ReelbenchError(f"--rejudge: {record.requested} gave no score: {reason}")
        return Rejudged(
            items=len(drawn),
            scores=scores,
            agree=agree,
            unscored=unscored,
            calls=run.record.calls,
            cost_usd=run.record.cost_usd,
        )

    def _draw(self, result: Result, samples: Iterable[Sample]) -> list[Sample]:
        """Return the samples to ask about: some of those that a judge scored."""
        judged: list[Sample] = []
        for sample in samples:
            is_scored = sample.state == "scored" and is_judged(sample)
            if is_scored and not needs_no_judge(sample.text):
                judged.append(sample)
        judged.sort(key=lambda sample: sample.id)
        seed = f"{self.seed}:{result.provenance.samples_sha256}"
        draw = random.Random(seed)  # noqa: S311 - no secret
        return draw.sample(judged, min(self.number, len(judged)))

    def _sent_name(self, judge: JudgeRecord, drawn: Iterable[Sample]) -> str:
        """Return the name by which a renamed judge was asked, which is filed nowhere.

        It stands beside the replies, where these are on this machine.
        """
        from reelbench.llm.ask_options import cache_location
        from reelbench.llm.cache import open_store

        keys: list[bytes] = []
        for sample in drawn:
            for reply in sample.judge_replies:
                if reply.judge in {None, judge.requested}:
                    keys.append(bytes.fromhex(reply.key))
        with closing(open_store(cache_location(), self.note)) as store:
            for stored in store.get(keys).values():
                return stored.model
        self.note(
            f"--rejudge: judge {judge.requested} was asked under another name that this machine "
            f"doesn't have; asking as {judge.requested}"
        )
        return judge.requested

    def _options_of(self, judge: JudgeRecord, cache: Path) -> "JudgeOptions":
        """Return the options that ask a judge as the result records it."""
        prompts = self.options.prompts
        if judge.prompt in ("reelbench", "official"):
            prompts = judge.prompt
        if Path(prompts).name != judge.prompt:
            raise InputError(
                f"--rejudge: the judge was asked with {judge.prompt!r}; "
                "give that file with --judge-prompts"
            )
        temperature: float | Literal["none"] = "none"
        if judge.temperature is not None:
            temperature = judge.temperature
        vote_rule = judge.vote_rule
        if vote_rule == "single":
            vote_rule = "majority"
        return replace(
            self.options,
            model=judge.requested,
            file_as=judge.requested,
            prompts=prompts,
            temperature=temperature,
            extra=judge.extra or {},
            structured=judge.structured,
            votes=judge.votes,
            vote_rule=vote_rule,
            others=(),
            cache=cache,
        )
