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
        return cls(Clusters(_FIRST, 1), [sample.facets], _FIRST, scores)

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
        self._set_by_object: dict[int, int] = {}
        self._set_by_labels: dict[tuple[tuple[str, tuple[str, ...]], ...], int] = {}
        self._label_places = array("i")
        self._scores: dict[str, array[float]] = {}

    def extend(self, samples: Sequence[Sample]) -> None:
        """Add the videos, labels and scores of samples."""
        videos = [sample.video for sample in samples]
        for video in dict.fromkeys(videos):
            self._videos.setdefault(video, len(self._videos))
        self._video_places.extend(map(self._videos.__getitem__, videos))
        # Most samples share the objects of their labels (`records.shared_labels`).
        facets = [sample.facets for sample in samples]
        objects = list(map(id, facets))
        for key, labels in dict(zip(objects, facets, strict=True)).items():
            self._set_by_object[key] = self._label_place(labels)
        self._label_places.extend(map(self._set_by_object.__getitem__, objects))
        self._set_by_object.clear()  # the objects may go, and others have their addresses
        self._add_scores([sample.scores for sample in samples])
        self._count += len(samples)

    def _label_place(self, facets: Facets) -> int:
        labels = tuple([(facet, tuple(names)) for facet, names in facets.items()])
        if labels not in self._set_by_labels:
            self._set_by_labels[labels] = len(self._label_sets)
            self._label_sets.append(facets)
        return self._set_by_labels[labels]

    def _add_scores(self, scores: Sequence[Mapping[str, float]]) -> None:
        for name in dict.fromkeys(chain.from_iterable(scores)):
            column = self._scores.setdefault(name, array("d"))
            _fill(column, self._count)
            column.extend([of_sample.get(name, nan) for of_sample in scores])

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
        rank_of_video = np.empty(len(self._videos), dtype=np.intc)
        for rank, name in enumerate(sorted(self._videos)):
            rank_of_video[self._videos[name]] = rank
        videos = rank_of_video[np.array(self._video_places)[in_order]]
        self._video_places = array("i")
        labels = np.array(self._label_places)[in_order]
        self._label_places = array("i")
        return ItemColumns(Clusters(videos, len(self._videos)), self._label_sets, labels, scores)


def _fill(column: "array[float]", count: int) -> None:
    """Fill a column with NaN up to so many items."""
    column.extend([nan] * (count - len(column)))
