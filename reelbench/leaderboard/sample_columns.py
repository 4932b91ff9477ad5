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

    texts = {
        "id": [sample.id for sample in samples],
        "video": [sample.video for sample in samples],
        "state": [sample.state for sample in samples],
        "reason": [sample.reason for sample in samples],
        "flags": _texts_of([sample.flags for sample in samples]),
        "facets": _texts_of([sample.facets for sample in samples]),
    }
    columns: dict[str, Any] = {}
    for name, column in texts.items():
        columns[name] = _text_array(column)
    scores = [sample.scores for sample in samples]
    for name, values in _by_name(scores).items():
        columns[_SCORE + name] = _number_array(values, pa.float64())
    tokens = [sample.tokens or {} for sample in samples]
    for name, counts in _by_name(tokens).items():
        columns[_TOKENS + name] = _number_array(counts, pa.int64())
    seconds = [sample.seconds for sample in samples]
    if any(value is not None for value in seconds):
        columns[_SECONDS] = _number_array(seconds, pa.float64())
    file = io.BytesIO()
    table = pa.table(columns)
    if are_changed:
        table = table.replace_schema_metadata({_CHANGED: b""})
    parquet.write_table(table, file)
    return file.getvalue()


def _text_array(texts: Sequence[str | None]) -> "pa.Array":
    """Return texts as an array. `pyarrow.array` would load pandas, which takes 0.5 s."""
    from pyarrow import lib  # type: ignore[attr-defined] - it is not in its type stubs

    builder = lib.StringBuilder()
    builder.append_values(texts)
    return builder.finish()


def _number_array(numbers: Sequence[float | None], number_type: "pa.DataType") -> "pa.Array":
    """Return numbers as an array, without `pyarrow.array`.

    Args:
        numbers: The numbers, None in the place of a missing one.
        number_type: Their type, of 64 bits.
    """
    import pyarrow as pa

    dtype = np.int64 if pa.types.is_integer(number_type) else np.float64
    is_there = np.array([number is not None for number in numbers], np.bool_)
    values = np.zeros(len(numbers), dtype)
    values[is_there] = [number for number in numbers if number is not None]
    validity = None
    if not is_there.all():
        validity = pa.py_buffer(np.packbits(is_there, bitorder="little"))
    return pa.Array.from_buffers(number_type, len(values), [validity, pa.py_buffer(values)])


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


@dataclass(frozen=True, slots=True)
class _CodedColumns:
    """The columns of a few texts, of the same items in the same order."""

    videos: "_CodedTexts"
    states: "_CodedTexts"
    reasons: "_CodedTexts"
    flags: "_CodedTexts"
    facets: "_CodedTexts"

    @classmethod
    def of(cls, table: "pa.Table") -> "_CodedColumns":
        """Return those of all items."""
        return cls(
            videos=_coded(table, "video"),
            states=_coded(table, "state"),
            reasons=_coded(table, "reason"),
            flags=_coded(table, "flags"),
            facets=_coded(table, "facets"),
        )

    def at(self, places: Places) -> "_CodedColumns":
        """Return those of some items, in another order."""
        return _CodedColumns(
            videos=self.videos.at(places),
            states=self.states.at(places),
            reasons=self.reasons.at(places),
            flags=self.flags.at(places),
            facets=self.facets.at(places),
        )


def items_on(data: bytes, videos: frozenset[str]) -> BoardItems:
    """Return the items in columns that are on some videos."""
    table = _read_table(data, _is_of_items)
    assert table is not None  # noqa: S101 - every file has ids
    all_ids: list[str] = table["id"].to_pylist()
    all_columns = _CodedColumns.of(table)
    places = _places_on(videos, all_columns.videos, all_ids)
    coded_columns = all_columns.at(places)
    ids = [all_ids[place] for place in places.tolist()]
    facets = coded_columns.facets
    columns = ItemColumns(
        clusters=_clusters(coded_columns.videos),
        label_sets=[json.loads(text) for text in facets.texts],
        label_places=facets.places,
        scores=_scores_at(places, table),
    )
    return BoardItems(columns, _facts_of(coded_columns, ids))


def _is_of_items(column: str) -> bool:
    """Return True of a column that numbers over items need."""
    is_usage = column == _SECONDS or column.startswith(_TOKENS)
    return not is_usage


def _places_on(videos: frozenset[str], all_videos: "_CodedTexts", ids: Sequence[str]) -> Places:
    """Return the places of the items on some videos, in the order of their ids."""
    is_on_videos = all_videos.where(*videos)
    places: list[int] = np.flatnonzero(is_on_videos).tolist()
    places.sort(key=ids.__getitem__)
    return np.array(places, dtype=np.intp)


def _scores_at(places: Places, table: "pa.Table") -> dict[str, Array]:
    """Return each column of scores by its name, of some items.

    As of samples, a score that no item has is none.
    """
    scores: dict[str, Array] = {}
    for name, all_scores in _scores(table).items():
        scores_at_places = all_scores[places]
        is_missing = np.isnan(scores_at_places)
        if not is_missing.all():
            scores[name] = scores_at_places
    return scores


def _facts_of(columns: _CodedColumns, ids: Sequence[str]) -> ItemFacts:
    """Count the items in columns.

    Args:
        columns: Their columns.
        ids: Their ids, which are in order.
    """
    reasons = columns.reasons
    is_scored = columns.states.where("scored")
    is_unread = columns.flags.where(*_unread_flags(columns.flags))
    is_left_out = _left_out(columns.states, reasons)
    is_without_media = reasons.where(Reason.MEDIA_MISSING)
    places_without_media: list[int] = np.flatnonzero(is_without_media).tolist()
    is_without_video = reasons.where(*NO_VIDEO)
    places_with_video = np.flatnonzero(~is_without_video)
    videos_there = columns.videos.at(places_with_video)
    return ItemFacts(
        items=len(ids),
        scored=_count(is_scored),
        unread=_count(is_unread),
        left_out=_count(is_left_out),
        without_media=[ids[place] for place in places_without_media],
        videos_had=_number_of_videos(videos_there),
        videos_asked=_number_of_videos(columns.videos),
    )


def _unread_flags(flags: "_CodedTexts") -> list[str]:
    """Return the flags, as JSON, of items whose answer can't be read."""
    return [text for text in flags.texts if _UNREAD in _flags_of(text)]


def _count(mask: Mask) -> int:
    return int(np.count_nonzero(mask))


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
        used = self._in_order_of_use(chosen)
        # The last place is that of an item without a text.
        new_places = np.full(len(self.texts) + 1, -1, dtype=np.intp)
        new_places[used] = np.arange(len(used))
        used_places: list[int] = used.tolist()
        texts = [self.texts[place] for place in used_places]
        return _CodedTexts(texts, new_places[chosen])

    def _in_order_of_use(self, chosen: Places) -> Places:
        """Return the texts that items have, by their places, the first item's first."""
        items = len(chosen)
        first_items = np.full(len(self.texts) + 1, items)
        # From the last item to the first, so that the first one of each text stays.
        first_items[chosen[::-1]] = np.arange(items)[::-1]
        first_of_texts = first_items[:-1]
        used = np.flatnonzero(first_of_texts < items)
        order = np.argsort(first_of_texts[used])
        return used[order]


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
