"""Stored answers judged by another judge: numbers that outlive the judge who first gave them.

The answers and their own judge's replies stay as they are. What the new judge says of them is a
result of its own, filed beside the old one. What the new judge has scored already is not asked
again, and every reply is kept as it arrives, so a run that was cut short goes on where it ended.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reelbench.base.errors import InputError
from reelbench.base.progress import Bar, no_bar
from reelbench.judges.cost_estimate import CostEstimate, estimate_cost
from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.judge_run import judge_items, judge_of
from reelbench.judges.verdicts import is_judged
from reelbench.leaderboard import against_data
from reelbench.leaderboard import store as stores
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.bridge import same_answers
from reelbench.leaderboard.identity import asked_of
from reelbench.leaderboard.rejudge import write_anew
from reelbench.leaderboard.rereading import is_current
from reelbench.leaderboard.standing import ranked_samples
from reelbench.leaderboard.store import StoredResult
from reelbench.leaderboard.trust import Filing
from reelbench.llm.budget import Budget
from reelbench.registry.reasons import UNANSWERED, Reason
from reelbench.registry.records import Item
from reelbench.registry.spec import BenchmarkSpec, Corpus
from reelbench.registry.strata import Strata
from reelbench.scoring import aggregation, result_files

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_KEPT_COUNTS = (
    "extra",
    "duplicate",
    "tags_without_question",
    "questions_without_tags",
    "unread_candidates",
)


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """Answers in a store that judges have scored.

    Of the results by other judges the `source` is the one that the board took first: its answers
    are judged, and its words are the new one's. Whoever files the same answers later has no say.
    `wanted` are ids of the answers that it is to have scored, none where it has scored all; with
    `unanswered` none of the questions drawn has an answer.
    """

    source: StoredResult
    wanted: frozenset[str] = frozenset()
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What came of some answers: the folder of the new result, or why there is none; a batch has not failed."""

    key: str
    folder: Path | None = None
    why: str = ""
    failed: bool = False


@dataclass(slots=True)
class Rejudgement:
    """Judges the answers of a store anew.

    `sample` judges so many answers of each result only, the same questions of each, `per` so many
    of each label of a field. `answers` are those that other judges have scored, `refused` has a
    line for each result whose answers turned out not to be judgeable here. InputError where there
    is no store, or nothing judged in it.
    """

    store: Path
    options: JudgeOptions
    sample: int | None = None
    per: Strata | None = None
    note: Callable[[str], None] = lambda _: None
    bar: Bar = no_bar
    refused: list[str] = field(default_factory=list[str], init=False)
    answers: list[StoredAnswers] = field(init=False)
    _known: KnownRows = field(default_factory=KnownRows, init=False)
    _asked: dict[str, object] = field(default_factory=dict[str, object], init=False)

    def __post_init__(self) -> None:
        """Find the answers; InputError where there are none."""
        if self.sample is not None and self.sample < 1:
            raise InputError(f"--sample: {self.sample} is not a number from 1 up")
        self.answers: list[StoredAnswers] = []
        for spec, others, new in self._by_answers():
            # The ids to be judged, all of them or the sample; none where the new judge has scored
            # them all.
            samples = list(result_files.read_samples(others[0].folder))
            answered = {
                sample.id: sample.reason not in UNANSWERED
                for sample in samples
                if is_judged(sample)
            }
            if self.per is not None:
                drawn = self.per.draw(spec.id, {sample.id: sample.facets for sample in samples})
            else:  # by hash: of every result on the same questions the sample is the same
                by_hash = {
                    hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest(): name
                    for name in answered
                }
                drawn = {by_hash[digest] for digest in sorted(by_hash)[: self.sample]}
            final = set[str | None]() if self.options.retry_unread else {Reason.JUDGE_UNPARSABLE}
            judged = {
                sample.id
                for sample in (result_files.read_samples(new.folder) if new else ())
                if sample.state == "scored" or sample.reason in final
            }
            # What it has scored beside the sample stays in its result.
            left = any(answered[name] for name in drawn - judged)
            wanted = frozenset(drawn | judged) if left else frozenset[str]()
            self.answers.append(
                StoredAnswers(others[0], wanted, not any(answered[name] for name in drawn))
            )
        if not self.answers:
            raise InputError(
                f"{self.store}: no result in it was scored by another judge than {self.options.name}"
            )

    def estimates(self) -> Iterator[CostEstimate]:
        """Yield the cost of judging, by benchmark and judge; nothing is asked."""
        for name, spec in {one.source.spec.id: one.source.spec for one in self.answers}.items():
            # Equal answers are asked about once, whatever results they are in.
            left = [one for one in self.answers if one.source.spec.id == name and one.wanted]
            items = [item for one in left for item in self._items(one) or ()]
            yield from estimate_cost(spec, items, self.options)

    def judge(self, out: Path) -> Iterator[Rejudged]:
        """Judge what is left, write each result below `out` and file it in the store; yield what came of each."""
        budget = Budget(self.options.budget_calls, self.options.budget_usd)
        for one in self.answers:
            if one.wanted and (items := self._items(one)) is not None:
                yield self._judged(one, items, budget, out)

    def pairs(self) -> dict[str, list[tuple[StoredResult, StoredResult]]]:
        """Return by benchmark the results by another judge and by the new one, as the store has them now."""
        pairs: dict[str, list[tuple[StoredResult, StoredResult]]] = {}
        for spec, others, new in self._by_answers():
            if new is not None:
                pairs.setdefault(spec.id, []).extend((old, new) for old in others)
        return pairs

    def _by_answers(
        self,
    ) -> Iterator[tuple[BenchmarkSpec, list[StoredResult], StoredResult | None]]:
        for results in same_answers(stores.read(self.store)):
            spec = results[0].benchmark
            if spec is None or spec.judge is None:
                continue
            if spec.id not in self._asked:
                self._asked[spec.id] = asked_of(judge_items(spec, (), self.options).record)
            asked = self._asked[spec.id]
            ours = [one for one in results if one.check.account is None or one.check.judged]
            new = [
                one
                for one in ours
                if one.result.judge is not None and asked_of(one.result.judge) == asked
            ]
            others = [one for one in results if one not in new]
            if others:
                yield spec, others, new[-1] if new else None

    def _items(self, one: StoredAnswers) -> list[Item] | None:
        """Return the answers with their questions; what is not to be judged has a reason.

        None, and a line in `refused`, where the questions are not here or are others.
        """
        spec, source, version = one.source.spec, one.source, one.source.result.benchmark.version
        if version != spec.version:
            self.refused.append(
                f"{source.key}: is of version {version} of {spec.id}, and this is version {spec.version}; score its "
                "answers again first"
            )
            return None
        samples = ranked_samples(source)
        rows_here = self._known.rows_of(source.result)
        try:
            items = against_data.as_asked(spec, samples, rows_here, source.key)
        except InputError as error:
            self.refused.append(str(error))
            return None
        return [
            item.model_copy(update={"reason": Reason.JUDGE_NOT_DRAWN})
            if is_judged(item) and not item.reason and item.id not in one.wanted
            else item
            for item in items
        ]

    def _judged(
        self, one: StoredAnswers, items: Sequence[Item], budget: Budget, out: Path
    ) -> Rejudged:
        spec, source, options = one.source.spec, one.source.result, self.options
        notes: list[str] = []

        def note(line: str) -> None:
            notes.append(line)
            self.note(line)

        kept = {name: getattr(source.counts, name) for name in _KEPT_COUNTS}
        # Text overlap is of words alone: where they are the same, so is it.
        corpus = {metric.name for metric in spec.metrics if isinstance(metric.aggregate, Corpus)}
        overlap = {name: value for name, value in source.metrics.items() if name in corpus}
        same_words = is_current(source)
        judged = judge_of(options, note, self.bar, budget)(spec, items)
        scored = aggregation.score(
            spec, items, overlap=bool(overlap) and not same_words, judged=judged, **kept
        )
        if pending := scored.counts.unscored.get(Reason.JUDGE_PENDING):
            return Rejudged(
                one.source.key,
                why=f"{pending} of its answers are in a batch; run again to collect them",
            )
        if not any(sample.state == "scored" for sample in scored.samples):
            why = (
                notes[-1]
                if notes
                else f"no reply of the judge {options.name} at {options.host} could be read"
            )
            return Rejudged(one.source.key, why=f"{why}; no answer is judged", failed=True)
        folder = out / (_UNSAFE.sub("_", options.name) or "judge") / one.source.key
        said = source.provenance
        scored = replace(scored, known=overlap) if same_words else scored
        write_anew(
            folder, spec, scored, source, citation=said.citation, url=said.url, note=said.note
        )
        filing = Filing(account=one.source.check.account, as_maintainer=True, judged=True)
        [added] = stores.add(folder, self.store, filing=filing)
        refused = added.outcome == "refused"
        return Rejudged(one.source.key, None if refused else folder, added.why, failed=refused)
