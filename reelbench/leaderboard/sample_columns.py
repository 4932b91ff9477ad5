"""The columns of a result's samples that boards need, as Parquet: an item a row, in their order.

They are id, video, state, reason, flags, facets, scores and usage. Answers and judges' replies are
in `samples.jsonl` alone. Every number is the JSON's to the bit.
"""

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from reelbench.registry.reasons import EXCUSED, NO_VIDEO, Reason
from reelbench.registry.records import Sample
from reelbench.scoring.item_columns import ItemColumns
from reelbench.scoring.score_columns import ScoreColumns
from reelbench.scoring.value_bounds import is_left_out
from reelbench.scoring.videos import videos_asked, videos_had
from reelbench.stats.intervals import Array, Clusters, Mask, Places

if TYPE_CHECKING:
    import pyarrow as pa

ValueT = TypeVar("ValueT")

_SCORE = "score "
_TOKENS = "tokens "
_SECONDS = "seconds"
_CHANGED = b"read otherwise than filed"
_UNREAD = "parse_failed"
_CODED = ("video", "state", "reason", "flags", "facets")
"""Columns of a few texts, which are read with each text once."""


class BoardSample(Sample):
    """A sample as its columns have it.

    The fields that boards don't need are absent, and reading one raises AttributeError.
    """


def as_parquet(samples: Sequence[Sample], *, are_changed: bool = False) -> bytes:
    """Return the columns of samples.

    Args:
        samples: The samples as today's rules read them.
        are_changed: These read them otherwise than they are filed.
    """
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {
        "id": pa.array([sample.id for sample in samples], pa.string()),
        "video": pa.array([sample.video for sample in samples], pa.string()),
        "state": pa.array([sample.state for sample in samples], pa.string()),
        "reason": pa.array([sample.reason for sample in samples], pa.string()),
        "flags": pa.array(_texts_of([sample.flags for sample in samples]), pa.string()),
        "facets": pa.array(_texts_of([sample.facets for sample in samples]), pa.string()),
    }
    for name, values in _by_name([sample.scores for sample in samples]).items():
        columns[_SCORE + name] = pa.array(values, pa.float64())
    for name, values in _by_name([sample.tokens or {} for sample in samples]).items():
        columns[_TOKENS + name] = pa.array(values, pa.int64())
    if any(sample.seconds is not None for sample in samples):
        columns[_SECONDS] = pa.array([sample.seconds for sample in samples], pa.float64())
    file = io.BytesIO()
    table = pa.table(columns)
    if are_changed:
        table = table.replace_schema_metadata({_CHANGED: b""})
    parquet.write_table(table, file)
    return file.getvalue()


def are_changed(data: bytes) -> bool:
    """Return True of columns whose samples are read otherwise than they are filed."""
    import pyarrow as pa
    from pyarrow import parquet

    metadata = parquet.read_schema(pa.BufferReader(data)).metadata or {}
    return _CHANGED in metadata


def _texts_of(values: Sequence[object]) -> list[str]:
    """Return each value as JSON.

    Items share equal objects (`records.shared_labels`), so few are written out.
    """
    objects = {id(value): value for value in values}
    texts = {key: json.dumps(value) for key, value in objects.items()}
    return [texts[id(value)] for value in values]


def _by_name(mappings: Sequence[Mapping[str, ValueT]]) -> dict[str, list[ValueT | None]]:
    """Return name -> each mapping's value, None in the place of a missing one."""
    names: dict[str, None] = {}
    for mapping in mappings:
        names |= dict.fromkeys(mapping)
    values: dict[str, list[ValueT | None]] = {}
    for name in names:
        values[name] = [mapping.get(name) for mapping in mappings]
    return values


def samples_of(data: bytes) -> list[Sample]:
    """Return the samples that columns are of, each a `BoardSample`."""
    columns = _read(data)
    count = len(columns["id"])
    scores = _by_item(columns, _SCORE, count)
    tokens = _by_item(columns, _TOKENS, count)
    seconds = columns.get(_SECONDS, [None] * count)
    reasons = _each_once(columns["reason"], _reason_of)
    flags = _each_once(columns["flags"], _flags_of)
    facets = _each_once(columns["facets"], json.loads)
    samples: list[Sample] = []
    for place in range(count):
        fields = {
            "id": columns["id"][place],
            "video": columns["video"][place],
            "state": columns["state"][place],
            "reason": reasons[place],
            "flags": flags[place],
            "facets": facets[place],
            "scores": scores[place],
            "tokens": tokens[place] or None,
            "seconds": seconds[place],
        }
        samples.append(BoardSample.from_checked(fields))
    return samples


def scores_of(data: bytes) -> ScoreColumns:
    """Return the scores in columns, without an object an item."""
    table = _read_table(data, lambda name: name not in ("flags", "facets"))
    assert table is not None  # noqa: S101 - every file has ids
    states = _coded(table, "state")
    return ScoreColumns(
        ids=table["id"].to_pylist(),
        videos=_coded(table, "video").each(),
        scored=states.where("scored"),
        left_out=_left_out(states, _coded(table, "reason")),
        scores=_scores(table),
    )


def _left_out(states: "_CodedTexts", reasons: "_CodedTexts") -> Mask:
    """Return `is_left_out` of each item."""
    return states.where("unscored") & ~reasons.where(*EXCUSED)


def _scores(table: "pa.Table") -> dict[str, Array]:
    """Return each column of scores by its name, NaN where an item has none."""
    scores: dict[str, Array] = {}
    for column in table.column_names:
        if column.startswith(_SCORE):
            scores[column.removeprefix(_SCORE)] = _floats(table[column])
    return scores


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """The counts of a result's items.

    Attributes:
        items: Items.
        scored: Items with a score.
        unread: Items whose answer can't be read.
        left_out: Items that lack a score that they could have.
        without_media: The ids of those whose media were not there, in order.
        videos_had: Videos that were there.
        videos_asked: Videos that they are about.
    """

    items: int
    scored: int
    unread: int
    left_out: int
    without_media: Sequence[str]
    videos_had: int
    videos_asked: int

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "ItemFacts":
        """Count samples."""
        return cls(
            items=len(samples),
            scored=sum(sample.state == "scored" for sample in samples),
            unread=sum(_UNREAD in sample.flags for sample in samples),
            left_out=sum(map(is_left_out, samples)),
            without_media=sorted(
                sample.id for sample in samples if sample.reason == Reason.MEDIA_MISSING
            ),
            videos_had=len(videos_had(samples)),
            videos_asked=len(videos_asked(samples)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class BoardItems:
    """A result's items on some videos, without an object an item.

    Attributes:
        columns: What numbers over them need, in the order of their ids.
        facts: Their counts.
    """

    columns: ItemColumns
    facts: ItemFacts


def items_on(data: bytes, videos: frozenset[str]) -> BoardItems:
    """Return the items in columns that are on some videos."""
    table = _read_table(data, lambda name: name != _SECONDS and not name.startswith(_TOKENS))
    assert table is not None  # noqa: S101 - every file has ids
    ids: list[str] = table["id"].to_pylist()
    all_videos = _coded(table, "video")
    chosen: list[int] = np.flatnonzero(all_videos.where(*videos)).tolist()
    chosen.sort(key=ids.__getitem__)
    places = np.array(chosen, dtype=np.intp)
    item_videos = all_videos.at(places)
    states = _coded(table, "state").at(places)
    reasons = _coded(table, "reason").at(places)
    flags = _coded(table, "flags").at(places)
    facets = _coded(table, "facets").at(places)
    scores: dict[str, Array] = {}
    for name, column in _scores(table).items():
        scores_on_videos = column[places]
        # As of samples: a score that no item has is none.
        if not np.isnan(scores_on_videos).all():
            scores[name] = scores_on_videos
    without_media = np.flatnonzero(reasons.where(Reason.MEDIA_MISSING)).tolist()
    is_with_video = ~reasons.where(*NO_VIDEO)
    unread_flags = [text for text in flags.texts if _UNREAD in _flags_of(text)]
    facts = ItemFacts(
        items=len(places),
        scored=int(np.count_nonzero(states.where("scored"))),
        unread=int(np.count_nonzero(flags.where(*unread_flags))),
        left_out=int(np.count_nonzero(_left_out(states, reasons))),
        without_media=[ids[chosen[place]] for place in without_media],
        videos_had=_number_of_videos(item_videos.at(np.flatnonzero(is_with_video))),
        videos_asked=_number_of_videos(item_videos),
    )
    columns = ItemColumns(
        clusters=_clusters(item_videos),
        label_sets=[json.loads(text) for text in facets.texts],
        label_places=facets.places,
        scores=scores,
    )
    return BoardItems(columns, facts)


def _number_of_videos(videos: "_CodedTexts") -> int:
    return sum(video != "" for video in videos.texts)


def _clusters(videos: "_CodedTexts") -> Clusters:
    """Return the clusters of items, by their videos."""
    order = sorted(range(len(videos.texts)), key=videos.texts.__getitem__)
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order))
    return Clusters(ranks[videos.places], len(order))


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of the items that state it.

    Attributes:
        tokens: Kind of tokens -> their number in each item that states it.
        seconds: Of each item that states them.
    """

    tokens: Mapping[str, list[int]]
    seconds: list[float]


def usage_in(data: bytes) -> Usage:
    """Return the usage in columns, without reading the others."""
    # A file's names stand in it as they are. Most have none of these, and needn't be opened.
    if _SECONDS.encode() not in data and _TOKENS.encode() not in data:
        return Usage({}, [])
    columns = _read(data, lambda name: name == _SECONDS or name.startswith(_TOKENS))
    seconds = columns.pop(_SECONDS, [])
    tokens = {column.removeprefix(_TOKENS): _stated(columns[column]) for column in columns}
    return Usage(tokens, _stated(seconds))


def usage_of(samples: Iterable[Sample]) -> Usage:
    """Return the usage that samples state."""
    samples = list(samples)
    tokens = _by_name([sample.tokens or {} for sample in samples])
    stated_tokens = {name: _stated(values) for name, values in tokens.items()}
    return Usage(stated_tokens, _stated([sample.seconds for sample in samples]))


def _stated(values: Iterable[ValueT | None]) -> list[ValueT]:
    return [value for value in values if value is not None]


def _read(data: bytes, is_wanted: Callable[[str], bool] = lambda _: True) -> dict[str, list[Any]]:
    """Return the columns with a name that is wanted, as lists."""
    table = _read_table(data, is_wanted, coded=())
    if table is None:
        return {}
    return {name: table[name].to_pylist() for name in table.column_names}


def _read_table(
    data: bytes, is_wanted: Callable[[str], bool], *, coded: Sequence[str] = _CODED
) -> "pa.Table | None":
    """Return the columns with a name that is wanted. None without any.

    Args:
        data: The file.
        is_wanted: Returns True of the name of a column that is wanted.
        coded: The columns that have each text once.
    """
    import pyarrow as pa
    from pyarrow import parquet

    file = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=list(coded))
    names = [name for name in file.schema_arrow.names if is_wanted(name)]
    return file.read(names, use_threads=False) if names else None


@dataclass(frozen=True, slots=True, eq=False)
class _CodedTexts:
    """A column of texts.

    Attributes:
        texts: Each text that an item has, once.
        places: Each item's place among them, -1 where it has none.
    """

    texts: Sequence[str]
    places: Places

    def each(self) -> list[str]:
        """Return each item's text. All have one."""
        places: list[int] = self.places.tolist()
        return [self.texts[place] for place in places]

    def where(self, *texts: str) -> Mask:
        """Return True for each item with one of these texts."""
        # The last one is that of an item without a text.
        is_one = np.array([*(text in texts for text in self.texts), False], dtype=np.bool_)
        return is_one[self.places]

    def at(self, places: Places) -> "_CodedTexts":
        """Return the texts of some items, in another order."""
        chosen = self.places[places]
        used, first_places = np.unique(chosen[chosen >= 0], return_index=True)
        order = np.argsort(first_places)
        new_places = np.full(len(self.texts) + 1, -1, dtype=np.intp)
        new_places[used[order]] = np.arange(len(used))
        first_used: list[int] = used[order].tolist()
        texts = [self.texts[place] for place in first_used]
        return _CodedTexts(texts, new_places[chosen])


def _coded(table: "pa.Table", name: str) -> _CodedTexts:
    """Return a column of texts."""
    array = table[name].combine_chunks()
    indices = array.indices
    places = _of_buffer(indices, np.dtype(np.int32)).astype(np.intp)
    places[~_is_valid(indices)] = -1
    return _CodedTexts(array.dictionary.to_pylist(), places)


def _floats(column: "pa.ChunkedArray") -> Array:
    """Return a column of numbers, NaN where there is none."""
    array = column.combine_chunks()
    floats: Array = _of_buffer(array, np.dtype(np.float64)).copy()
    floats[~_is_valid(array)] = np.nan
    return floats


def _of_buffer(array: "pa.Array", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Return the numbers of an array. pyarrow's own conversion loads pandas, which takes 0.5 s."""
    _, values = array.buffers()
    if values is None:
        return np.empty(0, dtype)
    return np.frombuffer(values, dtype, len(array), array.offset * dtype.itemsize)


def _is_valid(array: "pa.Array") -> Mask:
    """Return True for each place with a value."""
    bits, _ = array.buffers()
    if bits is None:
        return np.ones(len(array), dtype=np.bool_)
    validity = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return validity[array.offset : array.offset + len(array)].astype(np.bool_)


def _by_item(columns: Mapping[str, Sequence[Any]], mark: str, count: int) -> list[dict[str, Any]]:
    """Return each item's values by the names of the columns that begin with a mark."""
    items: list[dict[str, Any]] = [{} for _ in range(count)]
    for column, values in columns.items():
        if not column.startswith(mark):
            continue
        name = column.removeprefix(mark)
        for item, value in zip(items, values, strict=True):
            if value is not None:
                item[name] = value
    return items


def _each_once(texts: Sequence[Any], value_of: Callable[[Any], ValueT]) -> list[ValueT]:
    """Return the value of each text. Equal texts share one."""
    values = {text: value_of(text) for text in set(texts)}
    return [values[text] for text in texts]


def _reason_of(text: str | None) -> Reason | None:
    return None if text is None else Reason(text)


def _flags_of(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
