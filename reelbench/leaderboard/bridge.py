"""The same answers under two judges: how far one judge's scores are from the other's, and what ranks become of it.

A bridge says how two tables relate and converts nothing. Shift and agreement are over the answers
that both judges scored. A pair of results has changed places beyond chance only if each judge alone
tells the two apart (paired bootstrap over videos, p adjusted by Holm for all pairs under both
judges, at most 0.05), in opposite directions.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations

from reelbench.base.errors import InputError
from reelbench.judges.identity import judge_as_answered
from reelbench.leaderboard.entries import RankingGroup, run_entry
from reelbench.leaderboard.identity import answers_key
from reelbench.leaderboard.standing import ranked_samples
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, comparison, result_files
from reelbench.scoring.comparison import Difference
from reelbench.stats import intervals, multiple_comparisons, ratios
from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.power import ALPHA
from reelbench.stats.rank_correlation import kendall_tau

MOST_COMPARED = 100
"""Results of a group that are compared each with each."""


@dataclass(frozen=True, slots=True)
class BridgedResult:
    """Answers that two judges scored: the result by the old judge, and by the new one.

    `values` are the primary metric of either over all that it scored; `shift`, new less old, and
    `ranks` are over the answers that both scored. Of the `ratings` (answer and criterion) that both
    gave, `exact` is the share of equal ones, 0 to 1, `kappa` Cohen's with quadratic weights (Cohen
    1968), None where it is undefined. `samples` are those answers by id, as the old judge and as
    the new one scored them.
    """

    old: StoredResult
    new: StoredResult
    values: tuple[float, float]
    shift: Difference
    ratings: int
    exact: float
    kappa: float | None
    samples: tuple[dict[str, Sample], dict[str, Sample]] = field(repr=False)
    ranks: tuple[int, int] = (0, 0)


ChangedPlaces = tuple[StoredResult, StoredResult, float]
"""Of two results the one that the old judge has higher beyond chance, and the one that the new judge has; and the
greater of the two p values, adjusted by Holm."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """Two groups whose results are of the same answers, by the old judge and by the new one.

    `results` stand by the value under the new judge, the best first. `changed` are the pairs that
    changed places beyond chance, None of more than `MOST_COMPARED` results; `orders` by how much
    the first of each pair is higher under the old judge and under the new one.
    """

    old: RankingGroup
    new: RankingGroup
    results: Sequence[BridgedResult]
    changed: Sequence[ChangedPlaces] | None
    orders: Sequence[tuple[float, float]]

    @property
    def tau(self) -> float | None:
        """Kendall's tau-b of the two orders; None where one of them has no order at all."""
        return kendall_tau(self.orders)


def same_answers(stored: Iterable[StoredResult]) -> Iterator[list[StoredResult]]:
    """Yield the judged results of a store by the answers that they score, each list from what was taken first on."""
    by_key: dict[str, list[StoredResult]] = defaultdict(list)
    for one in stored:
        if one.result.judge is not None and one.videos is None:
            by_key[answers_key(one.result)].append(one)
    for results in by_key.values():
        by_answers: dict[str, list[StoredResult]] = defaultdict(list)
        for one in sorted(results, key=lambda one: (one.filed.taken, one.key)):
            by_answers["" if len(results) == 1 else result_files.answers_sha256(one.folder)].append(
                one
            )
        yield from by_answers.values()


def bridges(pairs: Sequence[tuple[StoredResult, StoredResult]]) -> list[Bridge]:
    """Return the bridges of some pairs of results on one benchmark, (by the old judge, by the new one).

    Pairs of which the judges have no answer in common are left out.
    """
    by_groups: dict[tuple[RankingGroup, RankingGroup], list[BridgedResult]] = defaultdict(list)
    for old, new in pairs:
        if (bridged := _bridge_results(old, new)) is not None:
            by_groups[run_entry(old).group, run_entry(new).group].append(bridged)
    return [_bridge(*groups, members) for groups, members in by_groups.items()]


def _bridge_results(old: StoredResult, new: StoredResult) -> BridgedResult | None:
    """Return two results on the answers that both scored, without ranks; None where there are none."""
    spec, criteria = new.spec, new.spec.judge.criteria if new.spec.judge else ()
    sides = [[s for s in ranked_samples(one) if s.state == "scored"] for one in (old, new)]
    try:
        new_samples, old_samples = comparison.on_both(sides[1], sides[0])
    except InputError:
        return None
    shift = comparison.metric_difference(spec, spec.primary, new_samples, old_samples)
    by_old, by_new = (aggregation.metric_value(spec, spec.primary, side) for side in sides)
    if shift is None or by_old is None or by_new is None:
        return None
    samples = {s.id: s for s in old_samples}, {s.id: s for s in new_samples}
    places = [
        (name, criterion)
        for name, s in samples[0].items()
        for criterion in criteria
        if criterion in s.scores
    ]
    ratings, again = (
        [side[name].scores[criterion] for name, criterion in places] for side in samples
    )
    exact = sum(a == b for a, b in zip(ratings, again, strict=True)) / len(ratings)
    kappa = cohen_kappa(ratings, again, weights="quadratic")
    return BridgedResult(old, new, (by_old, by_new), shift, len(ratings), exact, kappa, samples)


def _bridge(old: RankingGroup, new: RankingGroup, pairs: Sequence[BridgedResult]) -> Bridge:
    # `shift` is new less old: `a` is the new judge's value, `b` the old one's.
    values = [(pair.shift.b, pair.shift.a) for pair in pairs]
    ranks = [
        tuple(1 + sum(other[side] > one[side] for other in values) for side in (0, 1))
        for one in values
    ]
    results = [replace(pair, ranks=both) for pair, both in zip(pairs, ranks, strict=True)]
    changed: list[ChangedPlaces] | None = None

    @cache  # equal items are drawn alike
    def resampled(number: int, side: int, ids: tuple[str, ...]) -> ratios.Resampled:
        spec, samples = pairs[number].new.spec, pairs[number].samples[side]
        return aggregation.resampled(spec, spec.primary, [samples[name] for name in ids])

    if len(pairs) <= MOST_COMPARED:
        told: list[tuple[BridgedResult, BridgedResult, float, float | None]] = []
        for (m, first), (n, second) in combinations(enumerate(pairs), 2):
            ids = tuple(sorted(first.samples[0].keys() & second.samples[0].keys()))
            sides = [(resampled(m, side, ids), resampled(n, side, ids)) for side in (0, 1) if ids]
            told += [(first, second, *_apart(a, b)) for a, b in sides]
        adjusted = multiple_comparisons.holm([p for *_, p in told])
        changed = []
        for by_old, by_new in zip(range(0, len(told), 2), range(1, len(told), 2), strict=True):
            first, second, above, _ = told[by_old]
            chances = [p for p in (adjusted[by_old], adjusted[by_new]) if p is not None]
            if above * told[by_new][2] < 0 and len(chances) == 2 and max(chances) <= ALPHA:  # noqa: PLR2004 - both
                ordered = (first, second) if above > 0 else (second, first)
                changed.append((ordered[0].new, ordered[1].new, max(chances)))
    orders = [(a[0] - b[0], a[1] - b[1]) for a, b in combinations(values, 2)]
    return Bridge(
        old, new, sorted(results, key=lambda one: (one.ranks[1], one.new.key)), changed, orders
    )


def _apart(a: ratios.Resampled, b: ratios.Resampled) -> tuple[float, float | None]:
    """By how much `a` is higher, and the p of no difference; None where it can't be told."""
    if a.value is None or b.value is None or a.draws is None or b.draws is None:
        return 0.0, None
    test = intervals.paired_test(a.value - b.value, a.draws - b.draws, a.clusters)
    return a.value - b.value, test and test.p


def bridges_of(stored: Iterable[StoredResult]) -> list[Bridge]:
    """Return the bridges between all results of the same answers; the judges stand in the order of their names."""
    pairs: dict[str, list[tuple[StoredResult, StoredResult]]] = defaultdict(list)
    for results in same_answers(stored):
        by_name = sorted(results, key=lambda one: (_judge(one), one.key))
        pairs[results[0].result.benchmark.id] += combinations(by_name, 2)
    return [made for some in pairs.values() for made in bridges(some)]


def relation(spec: BenchmarkSpec, made: Bridge, here: RankingGroup) -> str:
    """Return the note for a group's reader on the group with the same answers under another judge."""
    there, sign = (made.new, 1) if here == made.old else (made.old, -1)
    digits = spec.primary.in_unit.digits
    shifts = sorted(sign * one.shift.difference for one in made.results)
    ends = " to ".join(f"{shift:+.{digits}f}" for shift in (shifts[0], shifts[-1])).replace(
        "-", "−"
    )
    spread = "" if len(shifts) == 1 else f" on average ({ends})"
    mean = sum(shifts) / len(shifts)
    same = sum(one.exact * one.ratings for one in made.results) / sum(
        one.ratings for one in made.results
    )
    kappas = [one.kappa for one in made.results if one.kappa is not None]
    parts = [
        f"there they score {abs(mean):.{digits}f} {'higher' if mean > 0 else 'lower'}{spread}",
        f"{100 * same:.0f} % of the single scores are equal"
        + (f" (mean quadratic kappa {sum(kappas) / len(kappas):.2f})" if kappas else ""),
    ]
    if len(shifts) > 1:
        if made.tau is not None:
            parts.append(f"Kendall’s tau of the two orders is {made.tau:.2f}")
        if made.changed is not None:
            number = len(made.changed)
            pairs = "no pair" if not number else "one pair" if number == 1 else f"{number} pairs"
            parts.append(f"{pairs} changed places beyond chance")
    runs = f"{len(shifts)} runs" if len(shifts) > 1 else "one run"
    return f"The answers of {runs} were judged by {there.judge} ({there.prompts} prompts), too: {'; '.join(parts)}."


def by_other_judges(made: Iterable[Bridge]) -> dict[str, str]:
    """Return key of a result -> what other judges make of its answers, each with the paired shift and its interval."""
    texts: dict[str, list[str]] = defaultdict(list)
    for one in (one for each in made for one in each.results):
        digits = one.old.spec.primary.in_unit.digits
        for here, there, value, sign in (
            (one.old, one.new, one.values[1], 1),
            (one.new, one.old, one.values[0], -1),
        ):
            ends = sorted(sign * end for end in one.shift.ci95 or ())
            interval = f", {ends[0]:+.{digits}f} to {ends[1]:+.{digits}f}" if ends else ""
            shift = f"{sign * one.shift.difference:+.{digits}f}{interval}"
            texts[here.key].append(f"{_judge(there)}: {value:.{digits}f} ({shift})")
    return {key: "; ".join(some) for key, some in texts.items()}


def _judge(stored: StoredResult) -> str:
    return judge_as_answered(stored.result.judge) if stored.result.judge else ""


def as_json(made: Sequence[Bridge]) -> dict[str, object]:
    """Return a benchmark's bridges as `--json` has them; `kendall_tau` is over the pairs within each group."""
    return {
        "results": [
            {
                "model": one.new.result.model.id,
                "old": {"judge": _judge(one.old), "value": one.values[0]},
                "new": {"judge": _judge(one.new), "value": one.values[1]},
                "shift": {"value": one.shift.difference, "ci95": one.shift.ci95},
                "agreement": {"exact": one.exact, "kappa": one.kappa},
                "rank": {"old": one.ranks[0], "new": one.ranks[1]},
            }
            for bridge in made
            for one in bridge.results
        ],
        "kendall_tau": kendall_tau([order for bridge in made for order in bridge.orders]),
        "changed_places": [
            {"first": first.result.model.id, "second": second.result.model.id, "p": p}
            for bridge in made
            for first, second, p in bridge.changed or ()
        ],
    }
