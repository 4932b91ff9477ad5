"""Whose rows a result was made on: the benchmark's owners', somebody's own, or nobody knows.

The spec states the sha256 of the owners' files where their bytes are known, and one over their rows, so that the same
rows in another file format are the owners' too. Mini rows are Reelbench's and known: they count as their owners'.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.registry import rows
from reelbench.registry.data.loading import fingerprint, is_mini, locate, upstream_split
from reelbench.registry.errors import ReelbenchError
from reelbench.registry.spec import BenchmarkSpec

if TYPE_CHECKING:
    from reelbench.registry.records import Data, SourceRecord

Entry = tuple[str, str, str, dict[str, Any]]
"""A question's id, video, text, and what an answer is compared with (`rows.target`)."""

_PREFIX = 16
"""Digits of a fingerprint that a run's name of its rows has."""


def entry_of(spec: BenchmarkSpec, row: rows.Row) -> Entry:
    """Return what of a row is compared."""
    return row["id"], row["video"], row["question"], rows.target(spec, row)


def rows_sha256(entries: Iterable[Entry]) -> str:
    """Return the sha256 over rows in any order; case, spaces and Unicode's forms of a text don't matter."""
    whole = hashlib.sha256()
    for number, digest in enumerate(sorted(map(_row_sha256, entries))):
        whole.update(("\n" if number else "").encode() + digest.hex().encode())
    return whole.hexdigest()


def whose(spec: BenchmarkSpec, split: str, source: "SourceRecord", entries: Iterable[Entry]) -> "Data":
    """Return whose the rows of a result are.

    Args:
        spec: The benchmark.
        split: The split that they stand for.
        source: Where they are from; its file is read again where it is here, so `entries` may be a part of it.
        entries: The rows of the result.
    """
    declared = spec.splits[upstream_split(spec, split)]
    if source.kind == "mini":
        return "owners"
    if is_mini(split):
        known = {_row_sha256(entry_of(spec, row)) for row in locate(spec.id, split, fetch=False).read()}
        same = known.issuperset(map(_row_sha256, entries))
    elif spec.mapping is not None and not spec.package:
        same = _as_declared(spec, split, source)
    elif not declared.owners_files and declared.owners_rows is None:
        return "unstated"
    else:
        same = _owners_file(spec, declared.owners_files, source) or (
            rows_sha256(_all_entries(spec, split, source) or entries) == declared.owners_rows
        )
    if same:
        return "owners"
    return "own" if source.kind in {"local", "files"} else "unstated"


def _as_declared(spec: BenchmarkSpec, split: str, source: "SourceRecord") -> bool:
    """Whether a source has the rows that the benchmark's own file names."""
    try:
        here = locate(spec.id, split, fetch=False).source.fingerprint
    except ReelbenchError:
        return False
    return len(source.fingerprint) >= _PREFIX and here.startswith(source.fingerprint)


def _owners_file(spec: BenchmarkSpec, known: Sequence[str], source: "SourceRecord") -> bool:
    """Whether a source is one of the owners' files, by its bytes."""
    stated = source.fingerprint
    fingerprints = [fingerprint(spec, [digest]) for digest in known]
    return (f"{spec.id}:" in stated and stated.partition(":")[2] in known) or (
        len(stated) >= _PREFIX and any(whole.startswith(stated) for whole in fingerprints)
    )


def _all_entries(spec: BenchmarkSpec, split: str, source: "SourceRecord") -> list[Entry]:
    """Return all rows of the source where it is still here, else nothing."""
    if source.kind not in {"local", "hub", "url"}:
        return []
    try:
        here = locate(spec.id, split, Path(source.location) if source.kind == "local" else None, fetch=False)
        return [entry_of(spec, row) for row in here.read()] if here.source.fingerprint == source.fingerprint else []
    except ReelbenchError:
        return []


def _row_sha256(entry: Entry) -> bytes:
    name, video, question, target = entry
    plain = {
        key: [[float(number) for number in span] for span in value] if key == "spans" else _plain(value)
        for key, value in target.items()
    }
    return hashlib.sha256(
        json.dumps([name, video, _plain(question), plain], ensure_ascii=False, sort_keys=True).encode(
            "utf-8", "surrogatepass"
        )
    ).digest()


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
