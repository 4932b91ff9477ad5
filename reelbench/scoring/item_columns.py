"""Items in columns: what numbers over items need to know of each, without an object an item."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan

import numpy as np

from reelbench.registry.records import Sample
from reelbench.stats.intervals import ALL_ITEMS, Array, Clusters, Mask, Places

Facets = Mapping[str, Sequence[str]]
"""Facet -> an item's labels."""

_FIRST = np.zeros(1, dtype=np.intc)


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a facet."""

    facet: str
    name: str

    def is_of(self, facets: Facets) -> bool:
        """Return True where an item with these facets has the label."""
        return self.name in facets.get(self.facet, ())


@dataclass(frozen=True, slots=True, eq=False)
class ItemColumns:
    """The videos, labels and scores of items, in columns of one length.

    Attributes:
        clusters: Each item's video.
        label_sets: The facets that items have, each once.
        label_places: Each item's place in `label_sets`.
        scores: Name -> each item's score, NaN where it has none.
    """

    clusters: Clusters
    label_sets: Sequence[Facets]
    label_places: Places
    scores: Mapping[str, Array]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "ItemColumns":
        """Return the columns of samples, in their order."""
        if len(samples) == 1:
            return cls._of_one(samples[0])
        collected = ColumnCollector()
        collected.extend(samples)
        return collected.columns()

    @classmethod
    def _of_one(cls, sample: Sample) -> "ItemColumns":
        """Return the columns of one sample: pages score each by itself."""
        scores = {name: np.array([score]) for name, score in sample.scores.items()}
        return cls(
            clusters=Clusters(_FIRST, 1),
            label_sets=[sample.facets],
            label_places=_FIRST,
            scores=scores,
        )

    def __len__(self) -> int:
        return len(self.label_places)

    def having(self, label: Label) -> Mask:
        """Return True for each item that has a label."""
        has_label = [label.is_of(facets) for facets in self.label_sets]
        return np.array(has_label, dtype=np.bool_)[self.label_places]

    def labels(self, facet: str, within: Label | None = None) -> list[str]:
        """Return a facet's labels in sorted order, of the items that have the label `within`."""
        names: set[str] = set()
        for facets in self.label_sets:
            if within is None or within.is_of(facets):
                names.update(facets.get(facet, ()))
        return sorted(names)


class ColumnCollector:
    """Columns that grow by some samples after the other."""

    def __init__(self) -> None:
        self._count = 0
        self._videos: dict[str, int] = {}
        self._video_places = array("i")
        self._label_sets: list[Facets] = []
        self._set_by_labels: dict[tuple[tuple[str, tuple[str, ...]], ...], int] = {}
        self._label_places = array("i")
        self._scores: dict[str, array[float]] = {}

    def extend(self, samples: Sequence[Sample]) -> None:
        """Add the videos, labels and scores of samples."""
        self._add_videos([sample.video for sample in samples])
        self._add_labels([sample.facets for sample in samples])
        self._add_scores([sample.scores for sample in samples])
        self._count += len(samples)

    def _add_videos(self, videos: Sequence[str]) -> None:
        for video in dict.fromkeys(videos):
            self._videos.setdefault(video, len(self._videos))
        places = map(self._videos.__getitem__, videos)
        self._video_places.extend(places)

    def _add_labels(self, label_sets: Sequence[Facets]) -> None:
        # Most samples share the objects of their labels (`records.shared_labels`), so that each
        # object is looked up once.
        objects = list(map(id, label_sets))
        place_of_object: dict[int, int] = {}
        for key, labels in dict(zip(objects, label_sets, strict=True)).items():
            place_of_object[key] = self._label_place(labels)
        places = map(place_of_object.__getitem__, objects)
        self._label_places.extend(places)

    def _label_place(self, facets: Facets) -> int:
        """Return the place of these labels among the distinct ones."""
        labels = tuple([(facet, tuple(names)) for facet, names in facets.items()])
        if labels not in self._set_by_labels:
            self._set_by_labels[labels] = len(self._label_sets)
            self._label_sets.append(facets)
        return self._set_by_labels[labels]

    def _add_scores(self, scores_of_samples: Sequence[Mapping[str, float]]) -> None:
        names = dict.fromkeys(chain.from_iterable(scores_of_samples))
        for name in names:
            column = self._scores.setdefault(name, array("d"))
            _fill(column, self._count)
            column.extend([scores.get(name, nan) for scores in scores_of_samples])

    def columns(self, order: Places | None = None) -> ItemColumns:
        """Return the columns, in another order of the items where one is given.

        The collector is empty then: there may be no room for both.
        """
        in_order: Places | slice = ALL_ITEMS
        if order is not None:
            in_order = order
        scores: dict[str, Array] = {}
        for name in list(self._scores):
            column = self._scores.pop(name)
            _fill(column, self._count)
            scores[name] = np.frombuffer(column, dtype=np.float64)[in_order]
            del column
        video_places = np.array(self._video_places)[in_order]
        self._video_places = array("i")
        label_places = np.array(self._label_places)[in_order]
        self._label_places = array("i")
        ranks = self._ranks_of_videos()
        return ItemColumns(
            clusters=Clusters(ranks[video_places], len(ranks)),
            label_sets=self._label_sets,
            label_places=label_places,
            scores=scores,
        )

    def _ranks_of_videos(self) -> Places:
        """Return each video's place in the sorted order of their names."""
        ranks = np.empty(len(self._videos), dtype=np.intc)
        for rank, name in enumerate(sorted(self._videos)):
            ranks[self._videos[name]] = rank
        return ranks


def _fill(column: "array[float]", count: int) -> None:
    """Fill a column with NaN up to so many items."""
    column.extend([nan] * (count - len(column)))
