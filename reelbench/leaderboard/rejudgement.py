"""Judge stored answers by another judge: the numbers outlive the judge who first gave them.

The answers and their own judge's replies stay as they are. The scores by the new judge are a result
of its own, filed beside the old one. What the new judge has scored already is not asked again, and
every reply is kept as it arrives, so a run that was cut short goes on where it ended.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.progress import Bar, no_bar
from reelbench.judges.cost_estimate import CostEstimate, estimate_cost
from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.judge_run import judge_items, judge_of
from reelbench.judges.verdicts import Judge, is_judged
from reelbench.leaderboard import against_data
from reelbench.leaderboard import store as stores
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.bridge import group_by_answers
from reelbench.leaderboard.identity import asked_of
from reelbench.leaderboard.rejudge import write_anew
from reelbench.leaderboard.rereading import is_current
from reelbench.leaderboard.standing import filed_samples, whole_samples
from reelbench.leaderboard.store import StoredResult
from reelbench.llm.budget import Budget
from reelbench.registry import rows
from reelbench.registry.errata import Errata, ErrataChoice, read_errata
from reelbench.registry.reasons import UNANSWERED, Reason
from reelbench.registry.records import ErrataRecord, Item, Metrics, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, Corpus
from reelbench.registry.strata import Strata
from reelbench.scoring import aggregation, result_files
from reelbench.scoring.aggregation import ScoredItems

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_COUNTS_OF_SOURCE = (
    "extra",
    "duplicate",
    "tags_without_question",
    "questions_without_tags",
    "unread_candidates",
)
"""Counts that judging does not change."""


@dataclass(frozen=True, slots=True)
class _OtherErrata:
    """Errata by which answers are scored anew, other than those of their result.

    Attributes:
        errata: None where the rows count as they stand.
    """

    errata: Errata | None

    @property
    def record(self) -> ErrataRecord | None:
        """The record of the new result."""
        return self.errata.record if self.errata is not None else None

    def leaves_out(self, item_id: str) -> bool:
        """Return True of an item that these errata leave out."""
        if self.errata is None or item_id not in self.errata.by_id:
            return False
        return self.errata.by_id[item_id].leaves_out

    def applied(
        self, spec: BenchmarkSpec, items: Sequence[Item], rows_here: Mapping[str, Row]
    ) -> list[Item]:
        """Return items with the rows' right answers, and these errata on them."""
        uncorrected = [_uncorrected(spec, item, rows_here) for item in items]
        if self.errata is None:
            return uncorrected
        return list(self.errata.items(uncorrected))


def _uncorrected(spec: BenchmarkSpec, item: Item, rows_here: Mapping[str, Row]) -> Item:
    """Return an item with its row's right answer, as if there had been no errata."""
    row = rows_here.get(item.id)
    if row is None:
        return item
    changes: dict[str, Any] = {"target": rows.target(spec, row)}
    if item.reason == Reason.LEFT_OUT:
        changes["reason"] = None if _has_prediction(item) else Reason.PREDICTION_MISSING
    return item.model_copy(update=changes)


def _has_prediction(answer: Item | Sample) -> bool:
    return answer.prediction is not None


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """Answers in a store that judges have scored.

    Attributes:
        source: Of the results by other judges the one that the board took first: its answers are
            judged, and its words are the new one's. Whoever files the same answers later has no
            say.
        wanted: Ids of the answers that the new result is to have scored. None where it has scored
            all.
        unanswered: None of the questions drawn has an answer.
        other_errata: The new result's errata, where they are not the source's own.
    """

    source: StoredResult
    wanted: frozenset[str] = frozenset()
    unanswered: bool = False
    other_errata: _OtherErrata | None = None

    @property
    def errata(self) -> ErrataRecord | None:
        """The errata of the new result."""
        if self.other_errata is not None:
            return self.other_errata.record
        return self.source.result.benchmark.errata

    def is_answered(self, sample: Sample) -> bool:
        """Return True of a sample whose answer counts by the new result's errata."""
        if self.other_errata is None:
            return sample.reason not in UNANSWERED
        if self.other_errata.leaves_out(sample.id):
            return False
        if sample.reason == Reason.LEFT_OUT:
            return _has_prediction(sample)
        return sample.reason not in UNANSWERED


@dataclass(frozen=True, slots=True)
class Rejudged:
    """The outcome for some answers.

    Attributes:
        key: The source's key.
        folder: The folder of the new result.
        why: Why there is none.
        failed: True unless its answers wait in a batch.
    """

    key: str
    folder: Path | None = None
    why: str = ""
    failed: bool = False


class _SameAnswers(NamedTuple):
    """Results of the same answers: by other judges, and by the new one."""

    spec: BenchmarkSpec
    by_other_judges: list[StoredResult]
    by_new_judge: StoredResult | None


@dataclass(slots=True)
class Rejudgement:
    """Judges the answers of a store anew.

    Attributes:
        store: The store.
        options: The new judge.
        sample: Judge so many answers of each result only, the same questions of each.
        per: Judge so many answers of each label of a field.
        errata: The use of errata by the new results. None keeps what each result was scored by, as
            only the same right answers relate two judges.
        note: Called with each line that people should read.
        bar: Shows progress.
        refused: A line for each result whose answers turned out not to be judgeable here.
        answers: The answers that other judges have scored.

    Raises:
        InputError: If there is no store, or nothing judged in it.
    """

    store: Path
    options: JudgeOptions
    sample: int | None = None
    per: Strata | None = None
    errata: ErrataChoice | None = None
    note: Callable[[str], None] = lambda _: None
    bar: Bar = no_bar
    refused: list[str] = field(default_factory=list[str], init=False)
    answers: list[StoredAnswers] = field(init=False)
    _known_rows: KnownRows = field(default_factory=KnownRows, init=False)
    _judge_records: dict[str, object] = field(default_factory=dict[str, object], init=False)

    def __post_init__(self) -> None:
        """Find the answers. InputError where there are none."""
        if self.sample is not None and self.sample < 1:
            raise InputError(f"--sample: {self.sample} is not a number from 1 up")
        stored = list(stores.read(self.store))
        self.answers = []
        for stored_group in self._by_answers(stored):
            new_answers = self._answers_of(stored_group, stored)
            if not any(_are_same(new_answers, answers) for answers in self.answers):
                self.answers.append(new_answers)
        if not self.answers:
            raise InputError(
                f"{self.store}: no result in it was scored by another judge than "
                f"{self.options.name}"
            )

    def _answers_of(
        self, same_answers: _SameAnswers, stored: Sequence[StoredResult]
    ) -> StoredAnswers:
        source = same_answers.by_other_judges[0]
        answers = StoredAnswers(source, other_errata=self._other_errata(source))
        is_answered: dict[str, bool] = {}
        samples: list[Sample] = []
        for sample in result_files.read_samples(source.folder):
            samples.append(sample)
            if is_judged(sample):
                is_answered[sample.id] = answers.is_answered(sample)
        drawn = self._drawn(same_answers.spec, samples, list(is_answered))
        by_new_judge = same_answers.by_new_judge
        if answers.other_errata is not None:
            by_new_judge = self._by_new_judge_and_errata(answers, stored)
        done = self._ids_done(by_new_judge)
        unanswered = not any(is_answered[name] for name in drawn)
        if any(is_answered[name] for name in drawn - done):
            # What it has scored beside the sample stays in its result.
            answers = replace(answers, wanted=frozenset(drawn | done))
        return replace(answers, unanswered=unanswered)

    def _other_errata(self, source: StoredResult) -> _OtherErrata | None:
        """Return the errata that are asked for, where they are not a result's own."""
        if self.errata is None:
            return None
        benchmark = source.result.benchmark
        errata: Errata | None = None
        if self.errata == "apply":
            errata = read_errata(source.spec, benchmark.split)
        other_errata = _OtherErrata(errata)
        if other_errata.record == benchmark.errata:
            return None
        return other_errata

    def _by_new_judge_and_errata(
        self, answers: StoredAnswers, stored: Sequence[StoredResult]
    ) -> StoredResult | None:
        """Return the result of the same answers by the new judge and the new errata."""
        source = answers.source
        for result in stored:
            is_same = result.filed_row.answers == source.filed_row.answers
            if not is_same or result.benchmark is None or result.benchmark.id != source.spec.id:
                continue
            has_errata = result.result.benchmark.errata == answers.errata
            if has_errata and self._is_by_new_judge(source.spec, result):
                return result
        return None

    def _drawn(
        self, spec: BenchmarkSpec, samples: Sequence[Sample], judged_ids: Sequence[str]
    ) -> set[str]:
        """Return the ids of the answers to judge: all of them, or the sample."""
        if self.per is not None:
            facets = {sample.id: sample.facets for sample in samples}
            return self.per.draw(spec.id, facets)
        # By hash: of every result on the same questions the sample is the same.
        by_hash = sorted(judged_ids, key=_hash_of)
        return set(by_hash[: self.sample])

    def _ids_done(self, result: StoredResult | None) -> set[str]:
        """Return the ids of the answers that the new judge needn't be asked about."""
        ids: set[str] = set()
        if result is None:
            return ids
        for sample in filed_samples(result):
            is_unread = sample.reason == Reason.JUDGE_UNPARSABLE
            is_final = is_unread and not self.options.retry_unread
            if sample.state == "scored" or is_final:
                ids.add(sample.id)
        return ids

    def estimates(self) -> Iterator[CostEstimate]:
        """Yield the cost of judging, by benchmark and judge. Nothing is asked."""
        specs: dict[str, BenchmarkSpec] = {}
        items: dict[str, list[Item]] = {}
        for answers in self.answers:
            spec = answers.source.spec
            specs.setdefault(spec.id, spec)
            items.setdefault(spec.id, [])
            if answers.wanted:
                items[spec.id] += self._items(answers) or []
        for name, spec in specs.items():
            # Equal answers are asked about once, whatever results they are in.
            yield from estimate_cost(spec, items[name], self.options)

    def judge(self, out: Path) -> Iterator[Rejudged]:
        """Judge what is left, write each result below `out` and file it in the store.

        Yields the outcome for each.
        """
        budget = Budget(self.options.budget_calls, self.options.budget_usd)
        for answers in self.answers:
            if not answers.wanted:
                continue
            items = self._items(answers)
            if items is not None:
                yield self._judged(answers, items, budget, out)

    def pairs(self) -> dict[str, list[tuple[StoredResult, StoredResult]]]:
        """Return by benchmark the results by another judge, each with that by the new one.

        They are as the store has them now.
        """
        pairs: dict[str, list[tuple[StoredResult, StoredResult]]] = {}
        for spec, by_other_judges, by_new_judge in self._by_answers(stores.read(self.store)):
            if by_new_judge is not None:
                benchmark_pairs = pairs.setdefault(spec.id, [])
                benchmark_pairs += [(result, by_new_judge) for result in by_other_judges]
        return pairs

    def _by_answers(self, stored: Iterable[StoredResult]) -> Iterator[_SameAnswers]:
        for results in group_by_answers(stored):
            spec = results[0].benchmark
            if spec is None or spec.judge is None:
                continue
            by_other_judges: list[StoredResult] = []
            by_new_judge: StoredResult | None = None
            for result in results:
                if self._is_by_new_judge(spec, result):
                    by_new_judge = result
                else:
                    by_other_judges.append(result)
            if by_other_judges:
                yield _SameAnswers(spec, by_other_judges, by_new_judge)

    def _is_by_new_judge(self, spec: BenchmarkSpec, result: StoredResult) -> bool:
        """Return True of a result by the new judge, for which the maintainers vouch."""
        if result.filed_row.account is not None and not result.filed_row.judged:
            return False
        if spec.id not in self._judge_records:
            record = judge_items(spec, (), self.options).record
            self._judge_records[spec.id] = asked_of(record)
        judge = result.result.judge
        return judge is not None and asked_of(judge) == self._judge_records[spec.id]

    def _items(self, answers: StoredAnswers) -> list[Item] | None:
        """Return the answers with their questions. What is not to be judged has a reason.

        None, and a line in `refused`, where the questions are not here or are others.
        """
        source = answers.source
        spec = source.spec
        version = source.result.benchmark.version
        if version != spec.version:
            self.refused.append(
                f"{source.key}: is of version {version} of {spec.id}, and this is version "
                f"{spec.version}; score its answers again first"
            )
            return None
        samples = whole_samples(source)
        rows = self._known_rows.rows_of(source.result)
        try:
            asked_items = against_data.as_asked(spec, samples, rows, source.key)
        except InputError as error:
            self.refused.append(str(error))
            return None
        if answers.other_errata is not None:
            plain_rows = self._known_rows.rows(spec, source.result.benchmark.split) or {}
            asked_items = answers.other_errata.applied(spec, asked_items, plain_rows)
        items: list[Item] = []
        for item in asked_items:
            if is_judged(item) and not item.reason and item.id not in answers.wanted:
                items.append(item.model_copy(update={"reason": Reason.JUDGE_NOT_DRAWN}))
            else:
                items.append(item)
        return items

    def _judged(
        self, answers: StoredAnswers, items: Sequence[Item], budget: Budget, out: Path
    ) -> Rejudged:
        key = answers.source.key
        notes: list[str] = []

        def note(line: str) -> None:
            notes.append(line)
            self.note(line)

        scored = self._scored(answers, items, judge_of(self.options, note, self.bar, budget))
        pending = scored.counts.unscored.get(Reason.JUDGE_PENDING)
        if pending:
            why = f"{pending} of its answers are in a batch; run again to collect them"
            return Rejudged(key, why=why)
        if not any(sample.state == "scored" for sample in scored.samples):
            why = f"no reply of the judge {self.options.name} at {self.options.host} could be read"
            if notes:
                why = notes[-1]
            return Rejudged(key, why=f"{why}; no answer is judged", failed=True)
        return self._filed(answers, scored, out)

    def _scored(self, answers: StoredAnswers, items: Sequence[Item], judge: Judge) -> ScoredItems:
        """Score the items by the new judge."""
        spec = answers.source.spec
        source = answers.source.result
        # Text overlap is of words alone: where they are the same, so is it.
        overlap: Metrics = {}
        for metric in spec.metrics:
            if isinstance(metric.aggregate, Corpus) and metric.name in source.metrics:
                overlap[metric.name] = source.metrics[metric.name]
        has_same_words = is_current(source)
        scored = aggregation.score(
            spec,
            items,
            overlap=bool(overlap) and not has_same_words,
            judged=judge(spec, items),
            **{name: getattr(source.counts, name) for name in _COUNTS_OF_SOURCE},
        )
        return replace(scored, known=overlap) if has_same_words else scored

    def _filed(self, answers: StoredAnswers, scored: ScoredItems, out: Path) -> Rejudged:
        """Write the new result, and file it in the store."""
        source = answers.source
        judge_folder = _UNSAFE.sub("_", self.options.name) or "judge"
        folder = out / judge_folder / source.key
        provenance = source.result.provenance
        write_anew(
            folder,
            source.spec,
            scored,
            source.result,
            answers.errata,
            citation=provenance.citation,
            url=provenance.url,
            note=provenance.note,
        )
        filing = stores.Filing(
            account=answers.source.filed_row.account,
            as_maintainer=True,
            judged=True,
            replaces=True,
        )
        [added] = stores.add(folder, self.store, filing=filing)
        if added.outcome == "refused":
            return Rejudged(source.key, why=added.why, failed=True)
        return Rejudged(source.key, folder, added.why)


def _are_same(first: StoredAnswers, second: StoredAnswers) -> bool:
    """Return True of the same answers, to be scored by the same other errata."""
    if first.other_errata is None or second.other_errata is None:
        return False
    return (
        first.source.spec.id == second.source.spec.id
        and first.source.filed_row.answers == second.source.filed_row.answers
        and first.errata == second.errata
    )


def _hash_of(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
