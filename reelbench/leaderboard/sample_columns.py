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

from reelbench.registry.reasons import EXCUSED, Reason
from reelbench.registry.records import Sample
from reelbench.scoring.score_columns import ScoreColumns

if TYPE_CHECKING:
    import pyarrow as pa

    from reelbench.stats.intervals import Array

ValueT = TypeVar("ValueT")

_SCORE = "score "
_TOKENS = "tokens "
_SECONDS = "seconds"
_CHANGED = b"read otherwise than filed"
_TEXTS = ("id", "video", "state", "reason", "flags", "facets")


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
    values = {name: table[name].to_numpy() for name in table.column_names}
    excused = np.isin(values["reason"].astype(str), [str(reason) for reason in EXCUSED])
    scores: dict[str, Array] = {}
    for column, column_scores in values.items():
        if column.startswith(_SCORE):
            scores[column.removeprefix(_SCORE)] = column_scores
    return ScoreColumns(
        ids=values["id"].tolist(),
        videos=values["video"].tolist(),
        scored=values["state"] == "scored",
        left_out=(values["state"] == "unscored") & ~excused,
        scores=scores,
    )


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
    table = _read_table(data, is_wanted)
    if table is None:
        return {}
    return {name: table[name].to_pylist() for name in table.column_names}


def _read_table(data: bytes, is_wanted: Callable[[str], bool]) -> "pa.Table | None":
    """Return the columns with a name that is wanted. None without any."""
    import pyarrow as pa
    from pyarrow import parquet

    file = parquet.ParquetFile(pa.BufferReader(data))
    names = [name for name in file.schema_arrow.names if is_wanted(name)]
    return file.read(names, use_threads=False) if names else None


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
