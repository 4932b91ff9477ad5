"""Whether one model is better than another: a test on the items that both answered.

For each metric a paired bootstrap over videos: the same videos are drawn for both models, so what
makes a video hard cancels out. For columns of 0 and 1 (a choice right or wrong) also McNemar's
exact test on the items where only one of the two is right; it takes items as independent, which
questions on one video are not, so the bootstrap is the one to trust where the two differ.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from reelbench.base.errors import InputError, number_of
from reelbench.base.text_tables import Table, p_value
from reelbench.judges.identity import judge_as_answered, returned_ids, same_model, single_judges
from reelbench.registry.records import JudgeRecord, Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, Mean, Metric
from reelbench.scoring import aggregation, metric_table, value_bounds
from reelbench.scoring.cognitive_profile import COMPONENTS
from reelbench.scoring.value_bounds import is_left_out
from reelbench.stats import intervals
from reelbench.stats.intervals import PairedTest
from reelbench.stats.multiple_comparisons import holm
from reelbench.stats.ratios import Resampled

_COLUMNS = (
    "metric",
    "#a",
    "#b",
    "#a - b",
    "#95 % interval",
    "#p",
    "#McNemar p",
    "#items",
    "#videos",
)


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's exact test.

    Attributes:
        only_a: Items that only a has right.
        only_b: Items that only b has right.
        p: Two-sided, binomial; None of a comparison under ten videos, as every p.
    """

    only_a: int
    only_b: int
    p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A metric of two models, a and b, on the items for which both have it.

    Attributes:
        n: Items.
        videos: Videos among them.
        a: The value of a, in its own unit.
        b: The value of b.
        difference: a minus b.
        ci95: 95 % interval of the difference over videos, of the same test as p: it excludes 0
            exactly where p is at most 0.05; None under ten videos.
        p: Two-sided, of no difference, by a t test over videos (`intervals.PairedTest`); None under
            ten videos.
        mcnemar: Of a mean of zeros and ones alone.
    """

    n: int
    videos: int
    a: float
    b: float
    difference: float
    ci95: tuple[float, float] | None
    p: float | None
    mcnemar: McNemar | None


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Two models on one benchmark; it prints as a table, and a notebook shows it as one.

    Attributes:
        both: Items that both answered (that have a score in common).
        only_a: Items that only a answered.
        only_b: Items that only b answered.
        metrics: Metric -> difference; BLEU, CIDEr and METEOR, which no item has alone, are not
            here.
        unscored: Items without a score of one of the two, so few that a board ranks both: p and
            interval of the main metric hold with each of them at the scale's lowest and at its
            highest, as on the board.
        names: What a and b are called.
    """

    both: int
    only_a: int
    only_b: int
    metrics: dict[str, Difference]
    unscored: int = 0
    names: tuple[str, str] = ("a", "b")

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    def table(self, title: str | None = None) -> Table:
        """Return a row a metric; below it what was left out, and why there is no interval.

        A column that says the same in each row is left out, so that a terminal of 80 columns holds
        the rest: without values, or where the title has them.
        """
        if title is None:
            shown = [name for name, named in zip("ab", self.names, strict=True) if name != named]
            title = f"a = {self.names[0]}, b = {self.names[1]}" if shown else "a and b"
        rows: list[tuple[str, ...]] = []
        for name, d in self.metrics.items():
            bounds = "" if d.ci95 is None else f"{d.ci95[0]:.2f} to {d.ci95[1]:.2f}"
            tests = map(p_value, (d.p, d.mcnemar and d.mcnemar.p))
            values = (f"{d.a:.2f}", f"{d.b:.2f}", f"{d.difference:+.2f}", bounds)
            rows.append((name, *values, *tests, str(d.n), str(d.videos)))
        few = [
            name
            for name, d in self.metrics.items()
            if d.ci95 is None and d.videos < intervals.MIN_CLUSTERS
        ]
        below = [metric_table.no_interval(few)] if few else []
        if self.only_a or self.only_b:
            by_a = number_of(self.only_a, "item")
            below.append(
                f"left out: {by_a} that only a answered, {self.only_b} that only b answered"
            )
        if self.unscored:
            lacking = number_of(self.unscored, "item")
            below.append(
                f"p and interval of the main metric hold whatever the {lacking} without a score would be"
            )
        on = {d.videos for d in self.metrics.values()}
        alike = {(d.n, d.videos) for d in self.metrics.values()} == {(self.both, *on)}
        said = f"{title}; {number_of(self.both, 'item')} answered by both" + (
            f", on {number_of(max(on), 'video')}" if alike else ""
        )
        kept = [
            place
            for place, name in enumerate(_COLUMNS)
            if not (name == "#McNemar p" and not any(row[place] for row in rows))
            and not (alike and name in ("#items", "#videos"))
        ]
        return Table(
            said,
            [_COLUMNS[place] for place in kept],
            [[row[place] for place in kept] for row in rows],
            below,
        )


def judging_apart(
    a: JudgeRecord | None, b: JudgeRecord | None, *, twins: bool = False
) -> str | None:
    """Return the difference in the judging of two results; None where there is none.

    A judge is who answered; a name and the same with a date are one judge, two dates are two. Twins
    have criteria of their own, so of `twins` the prompt sets are compared by name. Nothing differs
    where a result has no judge.
    """
    if a is None or b is None:
        return None
    names_a, names_b = (
        sorted(
            name
            for judge in single_judges(record)
            for name in returned_ids(judge) or [judge.requested]
        )
        for record in (a, b)
    )
    if len(names_a) != len(names_b) or not all(
        same_model(x, y) or same_model(y, x) for x, y in zip(names_a, names_b, strict=True)
    ):
        return f"different judges: a has {judge_as_answered(a)}, b has {judge_as_answered(b)}"
    same_prompts = a.prompt == b.prompt if twins else a.prompt_sha256 == b.prompt_sha256
    if not same_prompts:
        shown = [f"{record.prompt} (sha256 {record.prompt_sha256[:8]})" for record in (a, b)]
        return f"different judge prompts: a has {shown[0]}, b has {shown[1]}"
    return None


def compare(
    samples_a: Sequence[Sample], samples_b: Sequence[Sample], spec: BenchmarkSpec
) -> Comparison:
    """Test two models' samples of the same benchmark and split against each other, metric by metric.

    InputError where there is no item that both answered.
    """
    a, b = on_both(samples_a, samples_b)
    ids_a, ids_b = (
        {sample.id for sample in samples if sample.scores} for samples in (samples_a, samples_b)
    )
    metrics: dict[str, Difference] = {}
    for metric in spec.metrics:
        difference = (
            None if isinstance(metric.aggregate, Corpus) else metric_difference(spec, metric, a, b)
        )
        if difference is not None:
            metrics[metric.name] = difference
    sides = samples_a, samples_b
    shared = {sample.id for sample in samples_a} & {sample.id for sample in samples_b}
    lacking = {
        sample.id
        for side in sides
        for sample in side
        if sample.id in shared and is_left_out(sample)
    }
    few = value_bounds.few_left_out(samples_a) and value_bounds.few_left_out(samples_b)
    if (main := metrics.get(spec.primary.name)) is None or not few:
        lacking.clear()
    elif lacking:
        tests = tests_at_both_ends(*(at_both_ends(spec, samples, shared) for samples in sides))
        metrics[spec.primary.name] = replace(main, p=p_of(tests), ci95=interval_of(tests, 0.05))
    return Comparison(
        both=len(a),
        only_a=len(ids_a - ids_b),
        only_b=len(ids_b - ids_a),
        metrics=metrics,
        unscored=len(lacking),
    )


@dataclass(frozen=True, slots=True, eq=False)
class AtBothEnds:
    """A run's main metric, resampled over videos, with each item that lacks a score at the scale's ends.

    Both are one where all items are scored; `ids` are those of the items.
    """

    ids: tuple[str, ...]
    lowest: Resampled
    highest: Resampled


def at_both_ends(
    spec: BenchmarkSpec, samples: Iterable[Sample], only: Collection[str] | None = None
) -> AtBothEnds:
    """Resample a run's main metric on the items that are scored or could have been, or those of `only`."""
    counted = [
        sample
        for sample in samples
        if (sample.state == "scored" or is_left_out(sample)) and (only is None or sample.id in only)
    ]
    ends: list[Literal["lowest", "highest"]] = (
        ["lowest", "highest"] if any(map(is_left_out, counted)) else ["lowest"]
    )
    filled = (value_bounds.with_unscored_at(end, spec, spec.primary, counted) for end in ends)
    drawn = [aggregation.resampled(spec, spec.primary, samples) for samples in filled]
    return AtBothEnds(tuple(sorted(sample.id for sample in counted)), drawn[0], drawn[-1])


def tests_at_both_ends(a: AtBothEnds, b: AtBothEnds) -> list[PairedTest]:
    """Test two runs on the same items at either end of what is unscored; none of too few videos."""
    ends = [(a.lowest, b.highest), (a.highest, b.lowest)]
    if a.lowest is a.highest and b.lowest is b.highest:
        ends.pop()
    tests = [test for ours, theirs in ends if (test := ours.test(theirs)) is not None]
    return tests if len(tests) == len(ends) else []


def p_of(tests: Sequence[PairedTest]) -> float | None:
    """Return the p of tests at both ends: the larger one, and 1 where the sign hangs on what is unscored."""
    unsure = len({test.difference > 0 for test in tests}) > 1
    return 1.0 if unsure else max((test.p for test in tests), default=None)


def interval_of(tests: Sequence[PairedTest], level: float) -> tuple[float, float] | None:
    """Return the interval of tests at both ends at a level, from the one's low end to the other's high end."""
    ends = [test.interval(level) for test in tests]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None


def on_both(
    samples_a: Sequence[Sample], samples_b: Sequence[Sample]
) -> tuple[list[Sample], list[Sample]]:
    """Return the items that both have a score for, of a and of b in one order, with the scores that both have.

    InputError where there is none.
    """
    scored_a = {sample.id: sample for sample in samples_a if sample.scores}
    scored_b = {sample.id: sample for sample in samples_b if sample.scores}
    a: list[Sample] = []
    b: list[Sample] = []
    for item in sorted(scored_a.keys() & scored_b.keys()):
        first, second = scored_a[item], scored_b[item]
        columns = first.scores.keys() & second.scores.keys()
        if columns:
            # Video and labels are the item's, not the model's: a's stand for both, so that both are
            # weighted alike.
            of_item = {"video": first.video, "facets": first.facets}
            a.append(first.model_copy(update={"scores": {c: first.scores[c] for c in columns}}))
            b.append(
                second.model_copy(
                    update=of_item | {"scores": {c: second.scores[c] for c in columns}}
                )
            )
    if not a:
        raise InputError(
            "no item was answered by both: are these of the same benchmark and split, with the same ids?"
        )
    return a, b


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """Return McNemar's exact test for the counts of items that only one of the two has right."""
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    # Whole numbers throughout: 2 ** n is beyond a float from n = 1024 on, their quotient is not.
    return McNemar(only_a, only_b, min(1.0, 2 * tail / 2**n) if n else 1.0)


def metric_difference(
    spec: BenchmarkSpec, metric: Metric, a: Sequence[Sample], b: Sequence[Sample]
) -> Difference | None:
    """Test one metric of two models on the same items, as `on_both` returns them; None where it has no value."""
    by_a, by_b = (aggregation.resampled(spec, metric, samples) for samples in (a, b))
    if by_a.value is None or by_b.value is None:
        return None
    test, how, exact = by_a.test(by_b), metric.aggregate, None
    if isinstance(how, Mean) and not metric.judged:
        column = how.column
        both = [
            (x.scores[column], y.scores[column])
            for x, y in zip(a, b, strict=True)
            if column in x.scores
        ]
        if all(score in (0, 1) for pair in both for score in pair):
            exact = mcnemar(both.count((1, 0)), both.count((0, 1)))
            if (
                len({sample.video for sample in a if column in sample.scores})
                < intervals.MIN_CLUSTERS
            ):
                exact = replace(exact, p=None)
    return Difference(
        n=by_a.n,
        videos=by_a.clusters,
        a=by_a.value,
        b=by_b.value,
        difference=by_a.value - by_b.value,
        ci95=test and test.interval(),
        p=test and test.p,
        mcnemar=exact,
    )


def compare_by_video(
    samples_a: Sequence[Sample], samples_b: Sequence[Sample], metric: Metric
) -> dict[str, Any]:
    """Compare two results on the same videos with different questions, one mean a video (MovieCORE §6.2, Table 5).

    Returns:
        As JSON `metric` (a column that both have), `videos`, both means over these videos' means,
        `a` and `b`, their `difference` with its `ci95` over videos (None under ten), and
        `a_higher`, the share of videos on which a is higher; a tie is half. `right` has of each the
        percentage of answers that a yes-or-no judge would call right, where 4 or 5 of 5 is right,
        and what the paper's conversion makes of it (percent x 5 / 100).

    Raises:
        InputError: The metric is not a mean of a column, or no video has the column in both.
    """
    if not isinstance(metric.aggregate, Mean):
        raise InputError(
            f"{metric.name} is not a mean of single answers' scores, so videos can't be paired by it"
        )
    column = metric.aggregate.column
    by_a, by_b = _by_video(samples_a, column), _by_video(samples_b, column)
    shared = sorted(by_a.keys() & by_b.keys())
    if not shared:
        raise InputError(
            f"no video has {column!r} in both results: are both judged, and on the same videos?"
        )
    pairs = np.array([(np.mean(by_a[video]), np.mean(by_b[video])) for video in shared])
    gaps = pairs[:, 0] - pairs[:, 1]
    right: list[tuple[float, float]] = []
    for by_video in (by_a, by_b):
        scores = [score for video in shared for score in by_video[video]]
        percent = 100.0 * sum(metric.is_right(score) is True for score in scores) / len(scores)
        right.append((percent, percent * 5 / 100))
    estimate = intervals.mean_over_clusters(gaps, shared)
    return {
        "metric": column,
        "videos": len(shared),
        "a": float(pairs[:, 0].mean()),
        "b": float(pairs[:, 1].mean()),
        "difference": float(gaps.mean()),
        "ci95": estimate.ci95,
        "a_higher": float(np.mean(np.where(np.isclose(gaps, 0), 0.5, gaps > 0))),
        "right": tuple(right),
    }


def _by_video(samples: Sequence[Sample], column: str) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {}
    for sample in samples:
        if column in sample.scores:
            scores.setdefault(sample.video, []).append(sample.scores[column])
    return scores


# --- label by label (as CogME, Figure 3)
# -----------------------------------------------------------------------------


def compare_labels(
    samples_a: Sequence[Sample], samples_b: Sequence[Sample], spec: BenchmarkSpec
) -> list[dict[str, Any]]:
    """Return the primary metric of both models on each CogME label's questions, the largest difference first.

    Each is a `Difference` as JSON with its `label` (`component.Label`), and `p_holm`, adjusted for
    all (Holm 1979). Labels are a's where its samples have them, else b's: tags are the question's,
    not the agent's. InputError where no question was answered by both, or none has a label.
    """
    a, b = on_both(samples_a, samples_b)
    of_b = {sample.id: sample.facets for sample in samples_b}
    rows: list[tuple[str, list[tuple[Sample, Sample]]]] = []
    for component, names in COMPONENTS.items():
        labels = [x.facets.get(component) or of_b[x.id].get(component) or () for x in a]
        rows += [
            (
                f"{component}.{name}",
                [(x, y) for x, y, given in zip(a, b, labels, strict=True) if name in given],
            )
            for name in names
        ]
    rows = [(label, tagged) for label, tagged in rows if tagged]
    if not rows:
        raise InputError(
            "--labels: these results have no CogME labels; score both with --tags FILE"
        )
    differences: list[dict[str, Any]] = []
    for label, tagged in rows:
        d = metric_difference(spec, spec.primary, [x for x, _ in tagged], [y for _, y in tagged])
        if d is not None:
            differences.append(
                {name: value for name, value in asdict(d).items() if name != "mcnemar"}
                | {"label": label}
            )
    if not differences:
        raise InputError(f"--labels: no tagged question has {spec.primary.name} in both results")
    for d, p in zip(differences, holm([d["p"] for d in differences]), strict=True):
        d["p_holm"] = p
    return sorted(differences, key=lambda d: -abs(d["difference"]))
