"""A run's scores as columns, and its main metric made of them, without an object an item.

Most metrics are plain means of columns. For these the numbers are those that samples give, to the
bit. Any other metric needs the samples.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.base.files import sha256_of_names
from reelbench.registry.spec import BenchmarkSpec, Mean
from reelbench.scoring import aggregation
from reelbench.scoring.comparison import AtBothEnds
from reelbench.scoring.value_bounds import End, end_scores
from reelbench.stats import ratios
from reelbench.stats.intervals import Array, Clusters, Mask


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
    places = _places_in_order_of_ids(columns, only)
    lowest = _resampled_at("lowest", spec, means, columns, places)
    highest = lowest
    if columns.left_out[places].any():
        highest = _resampled_at("highest", spec, means, columns, places)
    items = sha256_of_names(columns.ids[place] for place in places)
    return AtBothEnds(items, lowest, highest)


def _places_in_order_of_ids(columns: ScoreColumns, only: Collection[str] | None) -> list[int]:
    """Return the places of the items that count, in the order of their ids."""
    is_counted = columns.scored | columns.left_out
    places: list[int] = np.flatnonzero(is_counted).tolist()
    if only is not None:
        places = [place for place in places if columns.ids[place] in only]
    return sorted(places, key=columns.ids.__getitem__)


def _resampled_at(
    end: End,
    spec: BenchmarkSpec,
    means: Sequence[Mean],
    columns: ScoreColumns,
    places: Sequence[int],
) -> ratios.Resampled:
    """Resample the main metric with missing scores at one end of their scale."""
    scores_at_end = end_scores(end, spec, spec.primary)
    metric_ratios: list[ratios.Ratio] = []
    for mean in means:
        scores = np.full(len(places), np.nan)
        if mean.column in columns.scores:
            scores = columns.scores[mean.column][places]
        filled = np.where(np.isnan(scores), scores_at_end[mean.column], scores)
        metric_ratios.append(aggregation.plain_ratio(mean, filled))
    mean_of_ratios = ratios.MeanOfRatios(metric_ratios, bounds=spec.primary.bounds)
    clusters = Clusters.of([columns.videos[place] for place in places])
    return ratios.resampled(mean_of_ratios, clusters)
