"""What a result is ranked by: its answers as today's rules read them, a lower bound where a few have no score."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reelbench.base.files import sha256_of_names
from reelbench.judges.identity import judges_under_several_ids
from reelbench.leaderboard import rereading
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.reasons import EXCUSED, Reason
from reelbench.registry.records import Breakdowns, Metrics, MetricValue, Sample
from reelbench.registry.spec import Metric
from reelbench.scoring import aggregation, result_files, runs
from reelbench.scoring.value_bounds import is_few, is_left_out, value_bounds
from reelbench.scoring.videos import videos_asked, videos_had


@dataclass(frozen=True, slots=True)
class Standing:
    """What a row shows of a result, `unranked` where it is listed and not ranked, and why.

    Where `unscored` items lack a score, `metrics` are lower bounds, each with an interval that runs
    from its own low end to the upper bound's high end, and `lowest` is the primary one with the
    lower bound's own interval; `breakdowns` are of the scored items alone. `unread` are scored as
    wrong because their answer can't be read. `media` is the part of the items that had theirs,
    `videos` how many it had, of how many, where it had not all. `readers` is the version of the
    rules that read its answers, where today's can't read them again without the benchmark's data:
    it stands among those that the same version read.
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
    readers: int | None = None
    unranked: str | None = None


def ranked_samples(stored: StoredResult) -> list[Sample]:
    """Return a result's samples as today's rules read them; as they were read where that can't be done here."""
    samples, again = _read(stored)
    return again or samples


def of_runs(several: Sequence[StoredResult]) -> StoredResult:
    """Return several runs of one model as one result: its numbers are theirs together, its folder is the first's."""
    first = several[0]
    samples = [list(result_files.read_samples(one.folder)) for one in several]
    result, _ = runs.together(first.spec, [one.result for one in several], samples)
    partial = next((one.check.partial for one in several if one.check.partial), None)
    check = first.check.model_copy(update={"partial": partial})
    return replace(first, result=result, check=check, runs=tuple(several))


def _read(stored: StoredResult) -> tuple[list[Sample], list[Sample] | None]:
    """Return a result's samples as it has them, and as today's rules read them; None where that can't be done here."""
    if stored.runs:
        both = [_read(replace(one, videos=stored.videos)) for one in stored.runs]
        today = [again for _, again in both if again is not None]
        return runs.average([there for there, _ in both]), runs.average(today) if len(today) == len(
            both
        ) else None
    only = stored.videos
    samples = [
        s for s in result_files.read_samples(stored.folder) if only is None or s.video in only
    ]
    if rereading.is_current(stored.result):
        return samples, samples
    return samples, rereading.read_today(stored.spec, stored.result, samples, stored.rows)


def standing(stored: StoredResult) -> Standing:
    """Return a stored result's standing: the values that it is ranked by."""
    spec, result, counts = stored.spec, stored.result, stored.result.counts
    several = judges_under_several_ids(result.judge) if result.judge else []
    why = [stored.check.partial] if stored.check.partial else []
    why += [f"judge {judge} answered under several ids" for judge in several]
    shown = Standing(
        result.metrics, result.breakdowns, counts.items, counts.scored, counts.parse_failed
    )
    if rereading.is_current(result) and not counts.unscored and stored.videos is None:
        return replace(shown, unranked="; ".join(why) or None)
    samples, again = _read(stored)
    if stored.videos is not None or (again is not None and again != samples):
        samples = again or samples
        # What follows from the answers; text overlap, which is of words alone, stays.
        metrics, breakdowns = aggregation.aggregate(
            spec, samples, overlap=False, interval=result.interval
        )
        shown = Standing(
            shown.metrics | metrics if stored.videos is None else metrics,
            breakdowns,
            items=len(samples),
            scored=sum(sample.state == "scored" for sample in samples),
            unread=sum("parse_failed" in sample.flags for sample in samples),
        )
    if again is None:
        shown = replace(shown, readers=result.answers)
    left_out = sum(map(is_left_out, samples))
    if left_out and not stored.check.partial and shown.metrics:
        items = sum(sample.reason not in EXCUSED for sample in samples)
        if not is_few(left_out, items):
            why.append(f"{left_out} of {items} items unscored")
        else:
            # Lower bounds in place of the values.
            bounded = dict(shown.metrics)
            lowest = None
            for metric in spec.metrics:
                stated = bounded.get(metric.name)
                bounds = (
                    value_bounds(spec, metric, samples)
                    if stated and stated.value is not None
                    else None
                )
                if stated is None or bounds is None:
                    continue
                bounded[metric.name] = MetricValue(
                    value=bounds.lower.value, ci95=bounds.ci95, n=bounds.items
                )
                if metric == spec.primary:
                    lowest = bounds.lower
            shown = replace(shown, metrics=bounded, unscored=left_out, lowest=lowest)
    media = None
    if missing := sorted(sample.id for sample in samples if sample.reason == Reason.MEDIA_MISSING):
        # Two runs that lack the same items share a table.
        digest = sha256_of_names(missing)
        media = f"media of {len(samples) - len(missing)} of {len(samples)} items @{digest[:8]}"
    had, asked = len(videos_had(samples)), len(videos_asked(samples))
    return replace(
        shown,
        media=media,
        videos=f"{had} of {asked}" if had < asked else None,
        unranked="; ".join(why) or None,
    )


def bound_in_words(metric: Metric, stored: StoredResult, shown: Standing) -> str | None:
    """Return the note on a row's value, interval and items where a few have no score; None where all have."""
    bound, stated = shown.metrics.get(metric.name), stored.result.metrics.get(metric.name)
    if shown.lowest is None or bound is None or stated is None or stated.value is None:
        return None
    digits = metric.in_unit.long_digits
    return (
        f"lower bound: of {bound.n} questions {shown.unscored} without a score count at the scale's lowest; the "
        f"interval ends where each counts at the highest; {stated.value:.{digits}f} over the {stated.n} scored"
    )


def stated_score(metric: Metric, stored: StoredResult, shown: Standing) -> float | None:
    """Return the primary value that a result states, where the row shows another."""
    stated, now = (metrics.get(metric.name) for metrics in (stored.result.metrics, shown.metrics))
    return None if stated is None or now is None or stated.value == now.value else stated.value
