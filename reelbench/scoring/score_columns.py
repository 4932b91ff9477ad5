"""A run's scores as columns, and its main metric made of them, without an object an item.

Most metrics are plain means of columns. For these the numbers are those that samples give, to the
bit. Any other metric needs the samples.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from reelbench.base.files import sha256_of_names
from reelbench.registry.spec import BenchmarkSpec, Mean
from reelbench.scoring import aggregation
from reelbench.scoring.comparison import AtBothEnds
from reelbench.scoring.value_bounds import End, end_scores
from reelbench.stats import ratios
from reelbench.stats.intervals import Array, Clusters, Mask, Places


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumns:
    """The scores of a run's items, in columns of one length.

    Attributes:
        ids: The items' ids.
        videos: Their videos.
        scored: True of an item with scores.
        left_out: True of an item that lacks a score it could have.
        scores: Name -> each item's score, NaN where it has none.
    """

    ids: Sequence[str]
    videos: Sequence[str]
    scored: Mask
    left_out: Mask
    scores: Mapping[str, Array]

    def on(self, videos: Collection[str]) -> "ScoreColumns":
        """Return the items on some videos."""
        places = [place for place, video in enumerate(self.videos) if video in videos]
        return ScoreColumns(
            ids=[self.ids[place] for place in places],
            videos=[self.videos[place] for place in places],
            scored=self.scored[places],
            left_out=self.left_out[places],
            scores={name: column[places] for name, column in self.scores.items()},
        )


def columns_at_both_ends(
    spec: BenchmarkSpec, columns: ScoreColumns, only: Collection[str] | None = None
) -> AtBothEnds | None:
    """Resample a run's main metric as `comparison.at_both_ends` does, from columns.

    Args:
        spec: The benchmark.
        columns: The run's columns.
        only: Where given, only items with these ids count.

    Returns:
        None where the main metric is no plain mean of columns.
    """
    means = spec.means_of(spec.primary)
    if not means or any(mean.weight_by for mean in means):
        return None
    is_counted = columns.scored | columns.left_out
    if only is not None:
        is_counted &= np.array([item in only for item in columns.ids], dtype=np.bool_)
    items = _counted_items(tuple(columns.ids), tuple(columns.videos), is_counted.tobytes())
    lowest = _resampled_at("lowest", spec, means, columns, items)
    highest = lowest
    if columns.left_out[items.places].any():
        highest = _resampled_at("highest", spec, means, columns, items)
    return AtBothEnds(items.digest, lowest, highest)


@dataclass(frozen=True, slots=True, eq=False)
class _CountedItems:
    """The items of a run that count, in the order of their ids.

    Attributes:
        places: Their places among all.
        clusters: Their videos.
        digest: The hash of their ids.
    """

    places: Places
    clusters: Clusters
    digest: str


@lru_cache(maxsize=4)
def _counted_items(
    ids: tuple[str, ...], videos: tuple[str, ...], is_counted: bytes
) -> _CountedItems:
    """Return the items that count. Most runs of a table have the same.

    Args:
        ids: The ids of all items.
        videos: Their videos.
        is_counted: A byte for each, 1 where it counts.
    """
    places: list[int] = np.flatnonzero(np.frombuffer(is_counted, np.bool_)).tolist()
    places.sort(key=ids.__getitem__)
    return _CountedItems(
        places=np.array(places, dtype=np.intp),
        clusters=Clusters.of([videos[place] for place in places]),
        digest=sha256_of_names(ids[place] for place in places),
    )


def _resampled_at(
    end: End,
    spec: BenchmarkSpec,
    means: Sequence[Mean],
    columns: ScoreColumns,
    items: _CountedItems,
) -> ratios.Resampled:
    """Resample the main metric with missing scores at one end of their scale."""
    scores_at_end = end_scores(end, spec, spec.primary)
    metric_ratios: list[ratios.Ratio] = []
    for mean in means:
        scores = np.full(len(items.places), np.nan)
        if mean.column in columns.scores:
            scores = columns.scores[mean.column][items.places]
        filled = np.where(np.isnan(scores), scores_at_end[mean.column], scores)
        metric_ratios.append(aggregation.plain_ratio(mean, filled))
    mean_of_ratios = ratios.MeanOfRatios(metric_ratios, bounds=spec.primary.bounds)
    return ratios.resampled(mean_of_ratios, items.clusters)
