"""Compare the scores of two judges on the same answers.

A bridge says how two tables relate and converts nothing. Shift and agreement are over the answers
that both judges scored. A pair of results has changed places beyond chance only if each judge alone
tells the two apart, in opposite directions. That is tested by a paired bootstrap over videos, with
p adjusted by Holm for all pairs under both judges, at most 0.05.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

from reelbench.base.errors import InputError
from reelbench.judges.identity import judge_as_answered
from reelbench.leaderboard.entries import RankingGroup, prompts_in_words, run_entry
from reelbench.leaderboard.identity import answers_key
from reelbench.leaderboard.standing import ranked_samples
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, comparison
from reelbench.scoring.comparison import Difference
from reelbench.stats import multiple_comparisons
from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.power import ALPHA
from reelbench.stats.rank_correlation import kendall_tau
from reelbench.stats.ratios import Resampled

MOST_COMPARED = 100
"""Results of a group that are compared each with each."""


ResultPair = tuple[StoredResult, StoredResult]
"""Results of the same answers: by the old judge, by the new one."""
_GroupPair = tuple[RankingGroup, RankingGroup]
_Samples = dict[str, Sample]
"""Samples by id."""


@dataclass(frozen=True, slots=True)
class BridgedResult:
    """Answers that two judges scored.

    Attributes:
        old: The result by the old judge.
        new: The result by the new judge.
        values: The primary metric by the old and the new judge, each over all that it scored.
        shift: New less old, over the answers that both scored.
        ratings: Pairs of answer and criterion that both judges scored.
        exact: Share of equal ratings, 0 to 1.
        kappa: Cohen's kappa with quadratic weights (Cohen 1968). None where it is undefined.
        old_samples: The answers that both scored, as the old judge scored them.
        new_samples: The same answers, as the new judge scored them.
        ranks: Ranks by the old and the new judge, over the answers that both scored.
    """

    old: StoredResult
    new: StoredResult
    values: tuple[float, float]
    shift: Difference
    ratings: int
    exact: float
    kappa: float | None
    old_samples: _Samples = field(repr=False)
    new_samples: _Samples = field(repr=False)
    ranks: tuple[int, int] = (0, 0)


class ChangedPlaces(NamedTuple):
    """Two results that two judges rank in opposite order, each beyond chance.

    Attributes:
        higher_by_old: The one that the old judge has higher.
        higher_by_new: The one that the new judge has higher.
        p: The greater of the two p values, adjusted by Holm.
    """

    higher_by_old: StoredResult
    higher_by_new: StoredResult
    p: float


@dataclass(frozen=True, slots=True)
class Bridge:
    """Two groups whose results are of the same answers, by two judges.

    Attributes:
        old: The group by the old judge.
        new: The group by the new judge.
        results: By rank under the new judge, the best first.
        changed: Pairs that changed places. None of more than `MOST_COMPARED` results.
        orders: Of each pair the difference, first less second, under the old and the new judge.
    """

    old: RankingGroup
    new: RankingGroup
    results: Sequence[BridgedResult]
    changed: Sequence[ChangedPlaces] | None
    orders: Sequence[tuple[float, float]]

    @property
    def tau(self) -> float | None:
        """Kendall's tau-b of the two orders. None where one has no order."""
        return kendall_tau(self.orders)


def group_by_answers(stored: Iterable[StoredResult]) -> Iterator[list[StoredResult]]:
    """Yield lists of judged results that score the same answers.

    Each list begins with what was taken first.
    """
    by_key: dict[str, list[StoredResult]] = defaultdict(list)
    for result in stored:
        if result.result.judge is not None and result.videos is None:
            by_key[answers_key(result.result)].append(result)
    for results in by_key.values():
        if len(results) == 1:
            yield results
            continue
        by_answers: dict[str, list[StoredResult]] = defaultdict(list)
        for result in sorted(results, key=_filing_order):
            by_answers[result.filed_row.answers].append(result)
        yield from by_answers.values()


def _filing_order(stored: StoredResult) -> tuple[object, str]:
    return stored.filed_row.order, stored.key


def bridges(pairs: Sequence[ResultPair]) -> list[Bridge]:
    """Return the bridges of pairs of results on one benchmark.

    A pair is (by the old judge, by the new one). Pairs without an answer that both judges scored
    are left out.
    """
    by_groups: dict[_GroupPair, list[BridgedResult]] = defaultdict(list)
    for old, new in pairs:
        bridged = _bridge_results(old, new)
        if bridged is not None:
            groups = (run_entry(old).group, run_entry(new).group)
            by_groups[groups].append(bridged)
    all_bridges: list[Bridge] = []
    for (old_group, new_group), results in by_groups.items():
        all_bridges.append(_bridge(old_group, new_group, results))
    return all_bridges


def _bridge_results(old: StoredResult, new: StoredResult) -> BridgedResult | None:
    """Return two results on the answers that both judges scored, without ranks.

    None where there are no such answers.
    """
    spec = new.spec
    old_scored = _scored_samples(old)
    new_scored = _scored_samples(new)
    try:
        new_samples, old_samples = comparison.on_both(new_scored, old_scored)
    except InputError:
        return None
    shift = comparison.metric_difference(spec, spec.primary, new_samples, old_samples)
    old_value = aggregation.metric_value(spec, spec.primary, old_scored)
    new_value = aggregation.metric_value(spec, spec.primary, new_scored)
    if shift is None or old_value is None or new_value is None:
        return None
    old_ratings: list[float] = []
    new_ratings: list[float] = []
    criteria = spec.judge.criteria if spec.judge else ()
    for old_sample, new_sample in zip(old_samples, new_samples, strict=True):
        for criterion in criteria:
            if criterion in old_sample.scores:
                old_ratings.append(old_sample.scores[criterion])
                new_ratings.append(new_sample.scores[criterion])
    rating_pairs = zip(old_ratings, new_ratings, strict=True)
    equal = sum(old_rating == new_rating for old_rating, new_rating in rating_pairs)
    return BridgedResult(
        old=old,
        new=new,
        values=(old_value, new_value),
        shift=shift,
        ratings=len(old_ratings),
        exact=equal / len(old_ratings),
        kappa=cohen_kappa(old_ratings, new_ratings, weights="quadratic"),
        old_samples=_by_id(old_samples),
        new_samples=_by_id(new_samples),
    )


def _scored_samples(stored: StoredResult) -> list[Sample]:
    return [sample for sample in ranked_samples(stored) if sample.state == "scored"]


def _by_id(samples: Sequence[Sample]) -> _Samples:
    return {sample.id: sample for sample in samples}


def _bridge(old: RankingGroup, new: RankingGroup, results: Sequence[BridgedResult]) -> Bridge:
    # `shift` is new less old: `a` is the new judge's value, `b` the old one's.
    old_values = [result.shift.b for result in results]
    new_values = [result.shift.a for result in results]
    ranked: list[BridgedResult] = []
    for result in results:
        old_rank = _rank(result.shift.b, old_values)
        new_rank = _rank(result.shift.a, new_values)
        ranked.append(replace(result, ranks=(old_rank, new_rank)))
    ranked.sort(key=lambda result: (result.ranks[1], result.new.key))
    orders: list[tuple[float, float]] = []
    for first, second in combinations(results, 2):
        old_difference = first.shift.b - second.shift.b
        new_difference = first.shift.a - second.shift.a
        orders.append((old_difference, new_difference))
    changed = None
    if len(results) <= MOST_COMPARED:
        changed = _changed_places(results)
    return Bridge(old=old, new=new, results=ranked, changed=changed, orders=orders)


def _rank(value: float, values: Sequence[float]) -> int:
    return 1 + sum(rival > value for rival in values)


@dataclass(frozen=True, slots=True)
class _PairTest:
    """The difference of two results under one judge, first less second, and its p."""

    difference: float
    p: float | None


class _Resamples:
    """Resamples of results under one judge, each made once: equal items are drawn alike."""

    def __init__(self, spec: BenchmarkSpec, samples: Sequence[_Samples]) -> None:
        self._spec = spec
        self._samples = samples
        self._resampled: dict[object, Resampled] = {}

    def of(self, number: int, ids: tuple[str, ...]) -> Resampled:
        """Return the resamples of the result of that number, over some of its answers."""
        key = (number, ids)
        if key not in self._resampled:
            samples = [self._samples[number][name] for name in ids]
            resampled = aggregation.resampled(self._spec, self._spec.primary, samples)
            self._resampled[key] = resampled
        return self._resampled[key]

    def test(self, first: int, second: int, ids: tuple[str, ...]) -> _PairTest:
        """Test two results, by their numbers. P is None where it can't be told."""
        test = self.of(first, ids).test(self.of(second, ids))
        if test is None:
            return _PairTest(0.0, None)
        return _PairTest(test.difference, test.p)


def _changed_places(results: Sequence[BridgedResult]) -> list[ChangedPlaces]:
    spec = results[0].new.spec
    old_resamples = _Resamples(spec, [result.old_samples for result in results])
    new_resamples = _Resamples(spec, [result.new_samples for result in results])
    pairs: list[tuple[BridgedResult, BridgedResult]] = []
    old_tests: list[_PairTest] = []
    new_tests: list[_PairTest] = []
    for (m, first), (n, second) in combinations(enumerate(results), 2):
        shared_ids = first.old_samples.keys() & second.old_samples.keys()
        if not shared_ids:
            continue
        ids = tuple(sorted(shared_ids))
        pairs.append((first, second))
        old_tests.append(old_resamples.test(m, n, ids))
        new_tests.append(new_resamples.test(m, n, ids))
    p_values = multiple_comparisons.holm([test.p for test in old_tests + new_tests])
    changed: list[ChangedPlaces] = []
    for number, (first, second) in enumerate(pairs):
        old_p = p_values[number]
        new_p = p_values[len(pairs) + number]
        old_difference = old_tests[number].difference
        new_difference = new_tests[number].difference
        if old_p is None or new_p is None or old_difference * new_difference >= 0:
            continue
        p = max(old_p, new_p)
        if p > ALPHA:
            continue
        if old_difference > 0:
            changed.append(ChangedPlaces(first.new, second.new, p))
        else:
            changed.append(ChangedPlaces(second.new, first.new, p))
    return changed


def bridges_of(stored: Iterable[StoredResult]) -> list[Bridge]:
    """Return the bridges between all results of the same answers.

    The judges stand in the order of their names.
    """
    pairs: dict[str, list[ResultPair]] = defaultdict(list)
    for results in group_by_answers(stored):
        by_judge = sorted(results, key=lambda result: (_judge_name(result), result.key))
        benchmark = results[0].result.benchmark.id
        pairs[benchmark].extend(combinations(by_judge, 2))
    all_bridges: list[Bridge] = []
    for benchmark_pairs in pairs.values():
        all_bridges.extend(bridges(benchmark_pairs))
    return all_bridges


def relation(spec: BenchmarkSpec, bridge: Bridge, group: RankingGroup) -> str:
    """Return the note for a group's reader on the same answers under another judge."""
    if group == bridge.old:
        far_group = bridge.new
        sign = 1
    else:
        far_group = bridge.old
        sign = -1
    shifts = sorted(sign * result.shift.difference for result in bridge.results)
    parts = [
        _shift_text(shifts, spec.primary.in_unit.digits),
        _agreement_text(bridge.results),
    ]
    if len(shifts) > 1:
        if bridge.tau is not None:
            parts.append(f"Kendall’s tau of the two orders is {bridge.tau:.2f}")
        if bridge.changed is not None:
            pairs = _pairs_text(len(bridge.changed))
            parts.append(f"{pairs} changed places beyond chance")
    runs = "one run"
    if len(shifts) > 1:
        runs = f"{len(shifts)} runs"
    prompts = prompts_in_words(far_group.prompts)
    return (
        f"The answers of {runs} were judged by {far_group.judge} ({prompts}), "
        f"too: {'; '.join(parts)}."
    )


def _shift_text(shifts: Sequence[float], digits: int) -> str:
    """Return the mean shift in words, with its ends. The shifts are sorted."""
    mean = sum(shifts) / len(shifts)
    direction = "higher" if mean > 0 else "lower"
    text = f"there they score {abs(mean):.{digits}f} {direction}"
    if len(shifts) > 1:
        low = f"{shifts[0]:+.{digits}f}"
        high = f"{shifts[-1]:+.{digits}f}"
        ends = f"{low} to {high}"
        text += f" on average ({ends.replace('-', '−')})"
    return text


def _agreement_text(results: Sequence[BridgedResult]) -> str:
    ratings = sum(result.ratings for result in results)
    equal = sum(result.exact * result.ratings for result in results)
    percentage = 100 * (equal / ratings)
    text = f"{percentage:.0f} % of the single scores are equal"
    kappas = [result.kappa for result in results if result.kappa is not None]
    if kappas:
        mean_kappa = sum(kappas) / len(kappas)
        text += f" (mean quadratic kappa {mean_kappa:.2f})"
    return text


def _pairs_text(number: int) -> str:
    if number == 0:
        return "no pair"
    if number == 1:
        return "one pair"
    return f"{number} pairs"


def by_other_judges(bridges_of_board: Iterable[Bridge]) -> dict[str, str]:
    """Return key of a result -> its scores by other judges, in words.

    Each has the paired shift and its interval.
    """
    texts: dict[str, list[str]] = defaultdict(list)
    for bridge in bridges_of_board:
        for result in bridge.results:
            old_value, new_value = result.values
            by_new = _score_by_judge(result.new, new_value, result.shift, sign=1)
            texts[result.old.key].append(by_new)
            by_old = _score_by_judge(result.old, old_value, result.shift, sign=-1)
            texts[result.new.key].append(by_old)
    return {key: "; ".join(parts) for key, parts in texts.items()}


def _score_by_judge(stored: StoredResult, value: float, shift: Difference, *, sign: int) -> str:
    digits = stored.spec.primary.in_unit.digits
    shift_text = f"{sign * shift.difference:+.{digits}f}"
    if shift.ci95 is not None:
        low, high = sorted(sign * end for end in shift.ci95)
        shift_text += f", {low:+.{digits}f}"
        shift_text += f" to {high:+.{digits}f}"
    # The number first: a narrow cell shows that.
    return f"{value:.{digits}f} by {_judge_name(stored)} ({shift_text})"


def _judge_name(stored: StoredResult) -> str:
    judge = stored.result.judge
    return "" if judge is None else judge_as_answered(judge)


def as_json(bridges_of_benchmark: Sequence[Bridge]) -> dict[str, object]:
    """Return a benchmark's bridges as `--json` has them.

    `kendall_tau` is over the pairs within each group.
    """
    results: list[dict[str, object]] = []
    orders: list[tuple[float, float]] = []
    changed_places: list[dict[str, object]] = []
    for bridge in bridges_of_benchmark:
        results += [_result_as_json(result) for result in bridge.results]
        orders += bridge.orders
        for pair in bridge.changed or ():
            first = pair.higher_by_old.result.model.id
            second = pair.higher_by_new.result.model.id
            changed_places.append({"first": first, "second": second, "p": pair.p})
    return {
        "results": results,
        "kendall_tau": kendall_tau(orders),
        "changed_places": changed_places,
    }


def _result_as_json(result: BridgedResult) -> dict[str, object]:
    old_value, new_value = result.values
    old_rank, new_rank = result.ranks
    return {
        "model": result.new.result.model.id,
        "old": {"judge": _judge_name(result.old), "value": old_value},
        "new": {"judge": _judge_name(result.new), "value": new_value},
        "shift": {"value": result.shift.difference, "ci95": result.shift.ci95},
        "agreement": {"exact": result.exact, "kappa": result.kappa},
        "rank": {"old": old_rank, "new": new_rank},
    }
