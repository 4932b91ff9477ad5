"""Comparison of two models: a test on the items that both answered.

For each metric there is a paired bootstrap over videos: the same videos are drawn for both models,
so the difficulty of a video cancels out. Two pairs are added to what was seen, as each score's own
interval allows for what was not (`stats.intervals`): two equal results may still differ. For
columns of 0 and 1 (a choice right or wrong) there is also McNemar's exact test on the items where
only one of the two is right. It takes items as independent, which questions on one video are not,
so the bootstrap is the one to trust where the two differ.
"""

# pyright: reportMissingTypeStubs=false

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import sha256_of_names
from reelbench.base.progress import Bar, counted, no_bar
from reelbench.base.python_guesses import NamedMetrics
from reelbench.base.text_tables import Table, p_value
from reelbench.judges.identity import judge_as_answered, returned_ids, single_judges
from reelbench.registry.model_ids import same_model
from reelbench.registry.records import JudgeRecord, ReaderRecord, Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, Mean, Metric
from reelbench.scoring import aggregation, metric_table, value_bounds
from reelbench.scoring.cognitive_profile import COMPONENTS
from reelbench.scoring.value_bounds import is_left_out
from reelbench.stats import intervals, paired
from reelbench.stats.multiple_comparisons import holm
from reelbench.stats.paired import PairedTest
from reelbench.stats.ratios import Resampled

if TYPE_CHECKING:
    import pandas as pd

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

_WHERE_NUMBERS_ARE = (
    "metrics[NAME] has a, b, difference, ci95 and p, to_frame() a row for each metric"
)


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's exact test.

    Attributes:
        only_a: Items that only a has right.
        only_b: Items that only b has right.
        p: Two-sided, binomial. None of a comparison under ten videos, as every p.
    """

    only_a: int
    only_b: int
    p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A metric of two models, a and b, on their common items.

    Attributes:
        n: Items.
        videos: Videos among them.
        a: The value of a, in its own unit.
        b: The value of b.
        difference: a minus b.
        ci95: 95 % interval of the difference over videos, of the same test as p: it excludes 0
            exactly where p is at most 0.05. None under ten videos.
        p: Two-sided, of no difference, by a t test over videos (`paired.PairedTest`). Never 0.
            None under ten videos.
        mcnemar: For a mean of zeros and ones only.
    """

    n: int
    videos: int
    a: float
    b: float
    difference: float
    ci95: tuple[float, float] | None
    p: float | None
    mcnemar: McNemar | None

    @property
    def mcnemar_p(self) -> float | None:
        """The p of McNemar's test, where there is one."""
        if self.mcnemar is None:
            return None
        return self.mcnemar.p


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Two models on one benchmark. It prints as a table, also in a notebook.

    Attributes:
        both: Items that both answered (that have a score in common).
        only_a: Items that only a answered.
        only_b: Items that only b answered.
        metrics: Metric -> difference. BLEU, CIDEr and METEOR, which no item has alone, are not
            here.
        unscored: Items without a score of one of the two, so few that a board ranks both: p and
            interval of the main metric hold with each of them at the scale's lowest and at its
            highest, as on the board.
        names: The names of a and b.
    """

    both: int
    only_a: int
    only_b: int
    metrics: dict[str, Difference]
    unscored: int = 0
    names: tuple[str, str] = ("a", "b")

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", NamedMetrics(self.metrics))

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    if not TYPE_CHECKING:  # to a type checker a misspelt name stays one

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"Comparison has no attribute {name!r}; {_WHERE_NUMBERS_ARE}")

        def __getitem__(self, name: object) -> NoReturn:
            raise TypeError(f"Comparison has no keys; {_WHERE_NUMBERS_ARE}")

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per metric.

        Columns are `metric`, `a`, `b`, `difference` (a minus b), `low` and `high` (its 95 %
        interval), `p`, `mcnemar_p`, `items` and `videos`.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for name, difference in self.metrics.items():
            low, high = difference.ci95 or (None, None)
            rows.append(
                {
                    "metric": name,
                    "a": difference.a,
                    "b": difference.b,
                    "difference": difference.difference,
                    "low": low,
                    "high": high,
                    "p": difference.p,
                    "mcnemar_p": difference.mcnemar_p,
                    "items": difference.n,
                    "videos": difference.videos,
                }
            )
        return pd.DataFrame(rows)

    to_pandas = to_frame

    def table(self, title: str | None = None) -> Table:
        """Return a row per metric. Below it the left-out items, and missing intervals.

        A column that says the same in each row is left out, so that the rest fits a terminal of 80
        columns: one without values, and those whose values the title has.
        """
        videos = {difference.videos for difference in self.metrics.values()}
        items = {difference.n for difference in self.metrics.values()}
        same_items_and_videos = items == {self.both} and len(videos) == 1
        if title is None:
            title = self._default_title()
        title += f"; {number_of(self.both, 'item')} answered by both"
        hidden_columns: set[str] = set()
        if same_items_and_videos:
            title += f", on {number_of(max(videos), 'video')}"
            hidden_columns |= {"#items", "#videos"}
        if all(difference.mcnemar_p is None for difference in self.metrics.values()):
            hidden_columns.add("#McNemar p")
        columns = [name for name in _COLUMNS if name not in hidden_columns]
        rows: list[list[str]] = []
        for name, difference in self.metrics.items():
            cells = _cells(name, difference)
            rows.append([cells[column] for column in columns])
        return Table(title, columns, rows, self._notes())

    def _default_title(self) -> str:
        name_a, name_b = self.names
        if self.names == ("a", "b"):
            return "a and b"
        return f"a = {name_a}, b = {name_b}"

    def _notes(self) -> list[str]:
        """Return the lines below the table."""
        notes: list[str] = []
        without_interval: list[str] = []
        for name, difference in self.metrics.items():
            if difference.ci95 is None and difference.videos < intervals.MIN_CLUSTERS:
                without_interval.append(name)
        if without_interval:
            notes.append(metric_table.no_interval(without_interval))
        if self.only_a or self.only_b:
            items_a = number_of(self.only_a, "item")
            notes.append(
                f"left out: {items_a} that only a answered, {self.only_b} that only b answered"
            )
        if self.unscored:
            items = number_of(self.unscored, "item")
            notes.append(
                f"p and interval of the main metric hold whatever the {items} "
                "without a score would be"
            )
        return notes


def _cells(name: str, difference: Difference) -> dict[str, str]:
    """Return a metric's text in each of `_COLUMNS`."""
    interval = ""
    if difference.ci95 is not None:
        low, high = difference.ci95
        interval = f"{low:.2f} to {high:.2f}"
    return {
        "metric": name,
        "#a": f"{difference.a:.2f}",
        "#b": f"{difference.b:.2f}",
        "#a - b": f"{difference.difference:+.2f}",
        "#95 % interval": interval,
        "#p": p_value(difference.p),
        "#McNemar p": p_value(difference.mcnemar_p),
        "#items": str(difference.n),
        "#videos": str(difference.videos),
    }


def judging_apart(
    a: JudgeRecord | None, b: JudgeRecord | None, *, twins: bool = False
) -> str | None:
    """Return the difference in the judging of two results. None where there is none.

    A judge is the model that answered. A name and the same name with a date are one judge, two
    dates are two. Nothing differs where a result has no judge.

    Args:
        a: The judge of the first result.
        b: The judge of the second.
        twins: True for results of two benchmarks that are twins. They have criteria of their own,
            so their prompt sets are compared by name.
    """
    if a is None or b is None:
        return None
    names_a = _judge_names(a)
    names_b = _judge_names(b)
    same_judges = len(names_a) == len(names_b) and all(map(_same_judge, names_a, names_b))
    if not same_judges:
        return f"different judges: a has {judge_as_answered(a)}, b has {judge_as_answered(b)}"
    same_prompts = a.prompt_sha256 == b.prompt_sha256
    if twins:
        same_prompts = a.prompt == b.prompt
    if not same_prompts:
        return f"different judge prompts: a has {_prompt_name(a)}, b has {_prompt_name(b)}"
    if a.structured != b.structured:
        return "different ways of judging: one judge was sent a reply schema with every call"
    return None


def reading_apart(a: ReaderRecord | None, b: ReaderRecord | None) -> str | None:
    """Return the difference in who read unread answers. None where there is none."""
    if a == b:
        return None
    name_a = a.model if a else "nobody"
    name_b = b.model if b else "nobody"
    return f"different readers of unread answers: a has {name_a}, b has {name_b}"


def _judge_names(record: JudgeRecord) -> list[str]:
    """Return the ids of the models that judged, sorted."""
    names: list[str] = []
    for judge in single_judges(record):
        names += returned_ids(judge) or [judge.requested]
    return sorted(names)


def _same_judge(name_a: str, name_b: str) -> bool:
    return same_model(name_a, name_b) or same_model(name_b, name_a)


def _prompt_name(record: JudgeRecord) -> str:
    return f"{record.prompt} (sha256 {record.prompt_sha256[:8]})"


def compare(
    samples_a: Sequence[Sample],
    samples_b: Sequence[Sample],
    spec: BenchmarkSpec,
    bar: Bar = no_bar,
) -> Comparison:
    """Test two models' samples of the same benchmark and split, metric by metric.

    Args:
        samples_a: One model's samples.
        samples_b: The other's.
        spec: The benchmark.
        bar: It shows how many metrics are compared.

    Raises:
        InputError: There is no item that both answered.
    """
    a, b = on_both(samples_a, samples_b)
    metrics: dict[str, Difference] = {}
    compared_metrics = [
        metric for metric in spec.metrics if not isinstance(metric.aggregate, Corpus)
    ]
    with bar("comparing metrics", len(compared_metrics)) as show:
        for metric in counted(compared_metrics, show):
            difference = metric_difference(spec, metric, a, b)
            if difference is not None:
                metrics[metric.name] = difference
    unscored = _few_unscored(samples_a, samples_b)
    primary = metrics.get(spec.primary.name)
    if primary is None:
        unscored.clear()
    if primary is not None and unscored:
        shared = {sample.id for sample in samples_a} & {sample.id for sample in samples_b}
        ends_a = at_both_ends(spec, samples_a, shared)
        ends_b = at_both_ends(spec, samples_b, shared)
        tests = tests_at_both_ends(ends_a, ends_b)
        metrics[spec.primary.name] = replace(primary, p=p_of(tests), ci95=interval_of(tests, 0.05))
    ids_a = {sample.id for sample in samples_a if sample.scores}
    ids_b = {sample.id for sample in samples_b if sample.scores}
    return Comparison(
        both=len(a),
        only_a=len(ids_a - ids_b),
        only_b=len(ids_b - ids_a),
        metrics=metrics,
        unscored=len(unscored),
    )


def _few_unscored(samples_a: Sequence[Sample], samples_b: Sequence[Sample]) -> set[str]:
    """Return the ids of both results that lack a score in one.

    There is none where one of the results has so many that a board does not rank it.
    """
    is_ranked_a = value_bounds.few_left_out(samples_a)
    is_ranked_b = value_bounds.few_left_out(samples_b)
    if not is_ranked_a or not is_ranked_b:
        return set()
    left_out_ids: set[str] = set()
    for sample in (*samples_a, *samples_b):
        if is_left_out(sample):
            left_out_ids.add(sample.id)
    ids_a = {sample.id for sample in samples_a}
    ids_b = {sample.id for sample in samples_b}
    return left_out_ids & ids_a & ids_b


@dataclass(frozen=True, slots=True, eq=False)
class AtBothEnds:
    """A run's main metric, resampled over videos, at both ends of its unscored items.

    Attributes:
        items: The hash of the items' ids.
        lowest: The metric with each item that lacks a score at the scale's lowest.
        highest: The same at its highest. The same object where all items are scored.
    """

    items: str
    lowest: Resampled
    highest: Resampled


def at_both_ends(
    spec: BenchmarkSpec, samples: Iterable[Sample], only: Collection[str] | None = None
) -> AtBothEnds:
    """Resample a run's main metric on the items that are scored or could have been.

    Args:
        spec: The benchmark.
        samples: The run's samples.
        only: Where given, only items with these ids count.
    """
    counted: list[Sample] = []
    for sample in samples:
        if _is_counted(sample) and (only is None or sample.id in only):
            counted.append(sample)
    metric = spec.primary
    filled = value_bounds.with_unscored_at("lowest", spec, metric, counted)
    lowest = aggregation.resampled(spec, metric, filled)
    highest = lowest
    if any(map(is_left_out, counted)):
        filled = value_bounds.with_unscored_at("highest", spec, metric, counted)
        highest = aggregation.resampled(spec, metric, filled)
    items = sha256_of_names(sample.id for sample in counted)
    return AtBothEnds(items, lowest, highest)


def counted_ids(samples: Iterable[Sample]) -> frozenset[str]:
    """Return the ids of the items that are scored or could have been."""
    return frozenset(sample.id for sample in samples if _is_counted(sample))


def _is_counted(sample: Sample) -> bool:
    return sample.state == "scored" or is_left_out(sample)


def tests_at_both_ends(a: AtBothEnds, b: AtBothEnds) -> list[PairedTest]:
    """Test two runs on the same items at either end of their unscored ones.

    Returns:
        One test where all items are scored, else two. None on too few videos.
    """
    test_at_lowest = a.lowest.test(b.highest)
    if test_at_lowest is None:
        return []
    if a.lowest is a.highest and b.lowest is b.highest:
        return [test_at_lowest]
    test_at_highest = a.highest.test(b.lowest)
    if test_at_highest is None:
        return []
    return [test_at_lowest, test_at_highest]


def p_of(tests: Sequence[PairedTest]) -> float | None:
    """Return the p of tests at both ends: the larger one.

    It is 1 where the sign of the difference depends on what is unscored.
    """
    signs = {test.difference > 0 for test in tests}
    if len(signs) > 1:
        return 1.0
    return max((test.p for test in tests), default=None)


def interval_of(tests: Sequence[PairedTest], level: float) -> tuple[float, float] | None:
    """Return the interval of tests at both ends, from the lowest end to the highest."""
    if not tests:
        return None
    lows: list[float] = []
    highs: list[float] = []
    for test in tests:
        low, high = test.interval(level)
        lows.append(low)
        highs.append(high)
    return min(lows), max(highs)


def on_both(
    samples_a: Sequence[Sample], samples_b: Sequence[Sample]
) -> tuple[list[Sample], list[Sample]]:
    """Return the items that both have a score for, of a and of b.

    Both lists have the same order, and only the scores that both models have.

    Raises:
        InputError: There is no such item.
    """
    scored_a = {sample.id: sample for sample in samples_a if sample.scores}
    scored_b = {sample.id: sample for sample in samples_b if sample.scores}
    a: list[Sample] = []
    b: list[Sample] = []
    for item in sorted(scored_a.keys() & scored_b.keys()):
        sample_a = scored_a[item]
        sample_b = scored_b[item]
        columns = sample_a.scores.keys() & sample_b.scores.keys()
        if not columns:
            continue
        scores_a = {column: sample_a.scores[column] for column in columns}
        scores_b = {column: sample_b.scores[column] for column in columns}
        a.append(sample_a.model_copy(update={"scores": scores_a}))
        # Video and labels are the item's, not the model's: those of a stand for both, so that both
        # are weighted alike.
        b.append(
            sample_b.model_copy(
                update={"video": sample_a.video, "facets": sample_a.facets, "scores": scores_b}
            )
        )
    if not a:
        raise InputError(
            "no item was answered by both: are these of the same benchmark and split, "
            "with the same ids?"
        )
    return a, b


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """Return McNemar's exact test for the counts of items that only one has right."""
    n = only_a + only_b
    if not n:
        return McNemar(only_a, only_b, 1.0)
    fewer = min(only_a, only_b)
    outcomes_as_uneven = sum(math.comb(n, k) for k in range(fewer + 1))
    # Whole numbers throughout: 2 ** n is beyond a float from n = 1024 on, their quotient is not.
    p = 2 * outcomes_as_uneven / 2**n
    p = min(p, 1.0)
    return McNemar(only_a, only_b, max(p, paired.SMALLEST_P))


def metric_difference(
    spec: BenchmarkSpec, metric: Metric, a: Sequence[Sample], b: Sequence[Sample]
) -> Difference | None:
    """Test one metric of two models on the same items, as `on_both` returns them.

    None where a model has no value.
    """
    resampled_a = aggregation.resampled(spec, metric, a)
    resampled_b = aggregation.resampled(spec, metric, b)
    if resampled_a.value is None or resampled_b.value is None:
        return None
    p = None
    ci95 = None
    test = resampled_a.test(resampled_b)
    if test is not None:
        p = test.p
        ci95 = test.interval()
    return Difference(
        n=resampled_a.n,
        videos=resampled_a.clusters,
        a=resampled_a.value,
        b=resampled_b.value,
        difference=resampled_a.value - resampled_b.value,
        ci95=ci95,
        p=p,
        mcnemar=_mcnemar_of(metric, a, b),
    )


def _mcnemar_of(metric: Metric, a: Sequence[Sample], b: Sequence[Sample]) -> McNemar | None:
    """Return McNemar's test of a mean of zeros and ones. None of other metrics."""
    if not isinstance(metric.aggregate, Mean) or metric.judged:
        return None
    column = metric.aggregate.column
    pairs: list[tuple[float, float]] = []
    videos: set[str] = set()
    for sample_a, sample_b in zip(a, b, strict=True):
        if column not in sample_a.scores:
            continue
        pair = (sample_a.scores[column], sample_b.scores[column])
        if not set(pair) <= {0, 1}:
            return None
        pairs.append(pair)
        videos.add(sample_a.video)
    exact = mcnemar(pairs.count((1, 0)), pairs.count((0, 1)))
    if len(videos) < intervals.MIN_CLUSTERS:
        exact = replace(exact, p=None)
    return exact


def compare_by_video(
    samples_a: Sequence[Sample], samples_b: Sequence[Sample], metric: Metric
) -> dict[str, Any]:
    """Compare two results on the same videos with different questions.

    Each video has one mean (MovieCORE §6.2, Table 5).

    Returns:
        As JSON `metric` (a column that both have), `videos`, both means over these videos' means,
        `a` and `b`, their `difference` with its `ci95` over videos (None under ten), and
        `a_higher`, the share of videos on which a is higher. A tie is half. `right` has of each the
        percentage of answers that a yes-or-no judge would call right, where 4 or 5 of 5 is right,
        and what the paper's conversion makes of it (percent x 5 / 100).

    Raises:
        InputError: The metric is not a mean of a column, or no video has the column in both.
    """
    mean = metric.aggregate
    if not isinstance(mean, Mean):
        raise InputError(
            f"{metric.name} is not a mean of single answers' scores, "
            "so videos can't be paired by it"
        )
    scores_a = _scores_by_video(samples_a, mean.column)
    scores_b = _scores_by_video(samples_b, mean.column)
    shared_videos = sorted(scores_a.keys() & scores_b.keys())
    if not shared_videos:
        raise InputError(
            f"no video has {mean.column!r} in both results: are both judged, "
            "and on the same videos?"
        )
    means_a = _mean_scores(scores_a, shared_videos)
    means_b = _mean_scores(scores_b, shared_videos)
    differences = means_a - means_b
    low, high = metric.bounds
    column_bounds = (mean.lowest + low / mean.scale, mean.lowest + high / mean.scale)
    one_of_each = np.ones_like(differences)
    sums = np.stack([means_a, one_of_each, means_b, one_of_each], axis=1)
    _, _, test = paired.difference_of_means(sums, bounds=column_bounds)
    ci95 = None
    if test is not None:
        ci95 = test.interval()
    a_is_higher = np.where(np.isclose(differences, 0), 0.5, differences > 0)
    percent_a = _percent_right(metric, scores_a, shared_videos)
    percent_b = _percent_right(metric, scores_b, shared_videos)
    return {
        "metric": mean.column,
        "videos": len(shared_videos),
        "a": float(means_a.mean()),
        "b": float(means_b.mean()),
        "difference": float(differences.mean()),
        "ci95": ci95,
        "a_higher": float(np.mean(a_is_higher)),
        "right": ((percent_a, percent_a * 5 / 100), (percent_b, percent_b * 5 / 100)),
    }


def _mean_scores(scores: Mapping[str, Sequence[float]], videos: Sequence[str]) -> intervals.Array:
    """Return the mean score of each video."""
    return np.array([np.mean(scores[video]) for video in videos], dtype=np.float64)


def _scores_by_video(samples: Sequence[Sample], column: str) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {}
    for sample in samples:
        if column in sample.scores:
            scores.setdefault(sample.video, []).append(sample.scores[column])
    return scores


def _percent_right(
    metric: Metric, scores: Mapping[str, Sequence[float]], videos: Sequence[str]
) -> float:
    """Return the percentage of the videos' answers that are right."""
    answers = 0
    right_answers = 0
    for video in videos:
        for score in scores[video]:
            answers += 1
            right_answers += metric.is_right(score) is True
    return 100.0 * right_answers / answers


# --- label by label (as CogME, Figure 3)


def compare_labels(
    samples_a: Sequence[Sample],
    samples_b: Sequence[Sample],
    spec: BenchmarkSpec,
    bar: Bar = no_bar,
) -> list[dict[str, Any]]:
    """Return the primary metric of both models on each CogME label's questions.

    Labels are those of a where its samples have them, else those of b: tags are the question's, not
    the agent's.

    Returns:
        The largest difference first. Each is a `Difference` as JSON with its `label`
        (`component.Label`), and `p_holm`, adjusted for all (Holm 1979).

    Raises:
        InputError: No question was answered by both, or none has a label.
    """
    a, b = on_both(samples_a, samples_b)
    tagged = _tagged_items(a, b, {sample.id: sample.facets for sample in samples_b})
    if not tagged:
        raise InputError(
            "--labels: these results have no CogME labels; score both with --tags FILE"
        )
    differences: list[dict[str, Any]] = []
    with bar("comparing labels", len(tagged)) as show:
        for label, (tagged_a, tagged_b) in counted(tagged.items(), show):
            difference = metric_difference(spec, spec.primary, tagged_a, tagged_b)
            if difference is not None:
                row = asdict(difference)
                del row["mcnemar"]
                row["label"] = label
                differences.append(row)
    if not differences:
        raise InputError(f"--labels: no tagged question has {spec.primary.name} in both results")
    adjusted = holm([row["p"] for row in differences])
    for row, p_holm in zip(differences, adjusted, strict=True):
        row["p_holm"] = p_holm
    return sorted(differences, key=lambda row: -abs(row["difference"]))


def _tagged_items(
    a: Sequence[Sample], b: Sequence[Sample], facets_b: Mapping[str, Mapping[str, Sequence[str]]]
) -> dict[str, tuple[list[Sample], list[Sample]]]:
    """Return the items of a and of b with each label (`component.Label`) that is used."""
    tagged: dict[str, tuple[list[Sample], list[Sample]]] = {}
    for component, names in COMPONENTS.items():
        labels_of_items: list[Sequence[str]] = []
        for sample in a:
            labels = sample.facets.get(component) or facets_b[sample.id].get(component)
            labels_of_items.append(labels or ())
        for name in names:
            places = [place for place, labels in enumerate(labels_of_items) if name in labels]
            if places:
                tagged_a = [a[place] for place in places]
                tagged_b = [b[place] for place in places]
                tagged[f"{component}.{name}"] = (tagged_a, tagged_b)
    return tagged
