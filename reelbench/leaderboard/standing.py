"""Work out the values by which a result is ranked.

They are its answers as today's rules read them, and lower bounds where a few have no score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reelbench.base import bounds
from reelbench.base.files import read_text, sha256_of_names
from reelbench.judges.identity import judges_under_several_ids
from reelbench.leaderboard import rereading, sample_columns
from reelbench.leaderboard.identity import models_that_answered
from reelbench.leaderboard.sample_columns import ItemFacts, Usage
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.reasons import EXCUSED, Reason
from reelbench.registry.records import Breakdowns, Metrics, MetricValue, Sample
from reelbench.registry.spec import BenchmarkSpec, Metric
from reelbench.scoring import aggregation, result_files, runs
from reelbench.scoring.score_columns import ScoreColumns
from reelbench.scoring.value_bounds import is_few, value_bounds


@dataclass(frozen=True, slots=True)
class Standing:
    """The values that a row shows of a result.

    Attributes:
        metrics: Where items are unscored, these are lower bounds, each with an interval that runs
            from its own low end to the upper bound's high end.
        breakdowns: Of the scored items alone.
        items: Items of the result.
        scored: Items with a score.
        unread: Items that are scored as wrong because their answer can't be read.
        unscored: Items without a score, where `metrics` are lower bounds.
        lowest: Then the primary metric with the lower bound's own interval.
        media: The part of the items that had their media, where not all had.
        videos: How many videos it had, of how many, where it had not all.
        unranked: Why it is listed and not ranked.
    """

    metrics: Metrics
    breakdowns: Breakdowns
    items: int
    scored: int
    unread: int
    unscored: int = 0
    lowest: MetricValue | None = None
    media: str | None = None
    videos: str | None = None
    unranked: str | None = None


class _ReadSamples(NamedTuple):
    """A result's samples.

    Attributes:
        samples: As today's rules read them, or as filed where these can't read them here.
        are_current: Today's rules read them.
        are_changed: Today's rules read them otherwise than they are filed.
    """

    samples: list[Sample]
    are_current: bool
    are_changed: bool


def ranked_samples(stored: StoredResult) -> list[Sample]:
    """Return a result's samples as today's rules read them, with what boards need of them.

    Where these can't read them on this machine, the samples are as filed. Answers and judges'
    replies may be absent (`sample_columns`).
    """
    return _read(stored).samples


def score_columns(stored: StoredResult) -> ScoreColumns | None:
    """Return the scores of a result's samples as today's rules read them.

    None where its columns don't have them: it is several runs.
    """
    if stored.columns is None or stored.runs:
        return None
    data = stored.columns.read()
    if data is None:
        return None
    columns = sample_columns.scores_of(data)
    return columns if stored.videos is None else columns.on(stored.videos)


def whole_samples(stored: StoredResult) -> list[Sample]:
    """Return a result's samples as `ranked_samples` does, with all of their fields."""
    runs_of_files = tuple(replace(run, columns=None) for run in stored.runs)
    return _read(replace(stored, columns=None, runs=runs_of_files)).samples


def filed_samples(stored: StoredResult) -> list[Sample]:
    """Return a result's samples as they are filed, from their columns where these are whole.

    Answers and judges' replies may be absent (`sample_columns`).
    """
    if stored.columns is not None and rereading.is_current(stored.result):
        data = stored.columns.read()
        if data is not None:
            return sample_columns.samples_of(data)
    return list(result_files.read_samples(stored.folder))


def usage_of(stored: StoredResult) -> Usage:
    """Return the usage of a result's items.

    Raises:
        InputError: The samples can't be read.
    """
    if stored.columns is not None:
        data = stored.columns.read()
        if data is not None:
            return sample_columns.usage_in(data)
    path = stored.folder / result_files.SAMPLES_FILE
    text = read_text(path, most=bounds.SAMPLES_BYTES)
    if '"tokens"' in text or '"seconds"' in text:
        return sample_columns.usage_of(result_files.read_samples(stored.folder))
    return Usage({}, [])


def of_runs(several: Sequence[StoredResult]) -> StoredResult:
    """Return several runs of one model as one result.

    Its numbers are theirs together. Its folder is the first one's.
    """
    first = several[0]
    results = [run.result for run in several]
    samples = [filed_samples(run) for run in several]
    result, _ = runs.together(first.spec, results, samples)
    reasons = [run.filed_row.partial for run in several if run.filed_row.partial]
    partial = reasons[0] if reasons else None
    filed_row = first.filed_row.with_verified(partial=partial)
    return replace(first, result=result, filed_row=filed_row, runs=tuple(several))


def _read(stored: StoredResult) -> _ReadSamples:
    if stored.runs:
        return _read_runs(stored)
    if rereading.is_current(stored.result):
        samples = _on_videos(stored, filed_samples(stored))
        return _ReadSamples(samples, are_current=True, are_changed=False)
    data = None
    if stored.columns is not None:
        data = stored.columns.read()
    if data is not None:
        samples = _on_videos(stored, sample_columns.samples_of(data))
        are_changed = sample_columns.are_changed(data)
        return _ReadSamples(samples, are_current=True, are_changed=are_changed)
    samples = _on_videos(stored, filed_samples(stored))
    samples_today = rereading.read_today(stored.spec, stored.result, samples, stored.rows)
    if samples_today is None:
        return _ReadSamples(samples, are_current=False, are_changed=False)
    return _ReadSamples(samples_today, are_current=True, are_changed=samples_today != samples)


def _on_videos(stored: StoredResult, samples: list[Sample]) -> list[Sample]:
    """Return those of a result's samples that count."""
    if stored.videos is None:
        return samples
    return [sample for sample in samples if sample.video in stored.videos]


def _read_runs(stored: StoredResult) -> _ReadSamples:
    reads = [_read(replace(run, videos=stored.videos)) for run in stored.runs]
    return _ReadSamples(
        samples=runs.average([read.samples for read in reads]),
        are_current=all(read.are_current for read in reads),
        are_changed=any(read.are_changed for read in reads),
    )


def standing(stored: StoredResult) -> Standing:
    """Return the values by which a stored result is ranked."""
    result = stored.result
    counts = result.counts
    reasons = _faults(stored)
    shown_values = Standing(
        metrics=result.metrics,
        breakdowns=result.breakdowns,
        items=counts.items,
        scored=counts.scored,
        unread=counts.parse_failed,
        unranked="; ".join(reasons) or None,
    )
    if rereading.is_current(result) and not counts.unscored and stored.videos is None:
        return shown_values
    values_on_videos = _values_on_videos(stored)
    if values_on_videos is not None:
        return replace(values_on_videos, unranked=shown_values.unranked)
    read = _read(stored)
    samples = read.samples
    facts = ItemFacts.of(samples)
    if stored.videos is not None or read.are_changed:
        numbers = aggregation.aggregate(
            stored.spec, samples, overlap=False, interval=result.interval
        )
        shown_values = _values_of(stored, numbers, facts)
    if not read.are_current:
        reasons.append(
            f"answers as version {result.answers} of the rules read them: the benchmark's data "
            "is not here to read them again"
        )
    if facts.left_out and not stored.filed_row.partial and shown_values.metrics:
        items = sum(sample.reason not in EXCUSED for sample in samples)
        if is_few(facts.left_out, items):
            shown_values = _bounded(stored.spec, shown_values, samples)
            shown_values = replace(shown_values, unscored=facts.left_out)
        else:
            reasons.append(f"{facts.left_out} of {items} items unscored")
    return replace(
        shown_values,
        media=_media_text(facts),
        videos=_videos_text(facts),
        unranked="; ".join(reasons) or None,
    )


def _values_on_videos(stored: StoredResult) -> Standing | None:
    """Return a result's values on some videos, from its columns.

    None where these don't have them: of all videos, of several runs, or where items lack a score.
    """
    if stored.videos is None or stored.columns is None or stored.runs:
        return None
    data = stored.columns.read()
    if data is None:
        return None
    items = sample_columns.items_on(data, stored.videos)
    facts = items.facts
    if facts.left_out:
        return None
    numbers = aggregation.aggregate_columns(
        stored.spec, items.columns, interval=stored.result.interval
    )
    values = _values_of(stored, numbers, facts)
    return replace(values, media=_media_text(facts), videos=_videos_text(facts))


def _faults(stored: StoredResult) -> list[str]:
    """Return why a result can't be ranked, as its record says."""
    faults: list[str] = []
    if stored.filed_row.failed:
        faults.append(f"checked again with the benchmark's data: {stored.filed_row.failed}")
    if stored.filed_row.partial:
        faults.append(stored.filed_row.partial)
    counts = stored.result.counts
    not_seen = counts.unscored.get(Reason.MEDIA_NOT_SEEN)
    if not_seen:
        faults.append(
            f"the model did not see its pictures, by the tokens: {not_seen} of {counts.items}"
        )
    cut = counts.unscored.get(Reason.PROMPT_CUT)
    if cut:
        faults.append(f"the server cut prompts, by the tokens: {cut} of {counts.items}")
    model_ids = models_that_answered(stored.result)
    if len(model_ids) > 1:
        faults.append(f"the model answered under several ids: {', '.join(model_ids)}")
    judge = stored.result.judge
    if judge is not None:
        names = judges_under_several_ids(judge)
        faults += [f"judge {name} answered under several ids" for name in names]
    return faults


def _values_of(stored: StoredResult, numbers: aggregation.Numbers, facts: ItemFacts) -> Standing:
    """Return the values of items that are not as filed, or not all."""
    metrics = numbers.metrics
    if stored.videos is None:
        # Text overlap, which is of words alone, stays.
        metrics = stored.result.metrics | metrics
    return Standing(
        metrics=metrics,
        breakdowns=numbers.breakdowns,
        items=facts.items,
        scored=facts.scored,
        unread=facts.unread,
    )


def _bounded(spec: BenchmarkSpec, values: Standing, samples: Sequence[Sample]) -> Standing:
    """Return lower bounds in place of the metrics."""
    metrics = dict(values.metrics)
    lowest: MetricValue | None = None
    for metric in spec.metrics:
        value = metrics.get(metric.name)
        if value is None or value.value is None:
            continue
        bounds = value_bounds(spec, metric, samples)
        if bounds is None:
            continue
        metrics[metric.name] = MetricValue(
            value=bounds.lower.value, ci95=bounds.ci95, n=bounds.items
        )
        if metric == spec.primary:
            lowest = bounds.lower
    return replace(values, metrics=metrics, lowest=lowest)


def _media_text(facts: ItemFacts) -> str | None:
    """Return the part of the items that had their media. None where all had."""
    if not facts.without_media:
        return None
    # Two runs that lack the same items share a table.
    digest = sha256_of_names(facts.without_media)[:8]
    present = facts.items - len(facts.without_media)
    return f"media of {present} of {facts.items} items @{digest}"


def _videos_text(facts: ItemFacts) -> str | None:
    if facts.videos_had < facts.videos_asked:
        return f"{facts.videos_had} of {facts.videos_asked}"
    return None


def bound_in_words(metric: Metric, stored: StoredResult, values: Standing) -> str | None:
    """Return the note on a lower bound. None where the value is none."""
    bound = values.metrics.get(metric.name)
    filed = stored.result.metrics.get(metric.name)
    if values.lowest is None or bound is None or filed is None or filed.value is None:
        return None
    value = f"{filed.value:.{metric.in_unit.long_digits}f}"
    return (
        f"lower bound: of {bound.n} questions {values.unscored} without a score count at the "
        "scale's lowest; the interval ends where each counts at the highest; "
        f"{value} over the {filed.n} scored"
    )


def stated_score(metric: Metric, stored: StoredResult, values: Standing) -> float | None:
    """Return the value that a result states for a metric, where the row shows another."""
    filed = stored.result.metrics.get(metric.name)
    current = values.metrics.get(metric.name)
    if filed is None or current is None or filed.value == current.value:
        return None
    return filed.value
