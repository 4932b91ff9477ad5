"""Which rows a result was made on, and whose: the benchmark's owners', somebody's own, or nobody knows.

The spec states the sha256 of the owners' files where their bytes are known, and one over their
rows, so that the same rows in another file format are the owners' too. Mini rows are Reelbench's
and known: they count as their owners'.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.values import is_array
from reelbench.data.loading import SplitData, fingerprint, locate
from reelbench.registry import rows
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini, upstream_split

if TYPE_CHECKING:
    from reelbench.registry.records import Data, SourceRecord

Entry = tuple[str, str, str, dict[str, Any]]
"""A question's id, video, text, and what an answer is compared with (`rows.target`)."""

_PREFIX = 16  # digits of a fingerprint that a run's name of its rows has


def entry_of(spec: BenchmarkSpec, row: rows.Row) -> Entry:
    """Return the fields of a row that are compared."""
    return row["id"], row["video"], row["question"], rows.target(spec, row)


def rows_sha256(entries: Iterable[Entry]) -> str:
    """Return the sha256 over rows in any order; case, spaces and Unicode's forms of a text don't matter."""
    return _sorted_sha256(_sha256(*entry) for entry in entries)


def _sorted_sha256(digests: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for number, digest in enumerate(sorted(digests)):
        whole.update(("\n" if number else "").encode() + digest.hex().encode())
    return whole.hexdigest()


def questions_sha256(
    spec: BenchmarkSpec,
    split: str,
    source: "SourceRecord",
    asked: Iterable[tuple[str, str, Sequence[str], dict[str, Any] | None]],
    here: SplitData | None = None,
) -> str | None:
    """Return the sha256 over what a split asks: each row's id, question, options and answer, in any order.

    Whatever file the rows are from, and however its columns are called, equal rows have one hash.
    While their source is here, all of its rows count; else those that were `asked` (id, question,
    options and `rows.target`) stand for the split. None where a question or an answer isn't known.
    `here` is the split as the caller found it, if he did.
    """
    if (table := _rows_of(spec, split, source, here)) is not None:
        return rows_questions_sha256(spec, table)
    digests: list[bytes] = []
    for name, question, options, target in asked:
        if not question or target is None:
            return None
        digests.append(_sha256(name, None, question, target, options))
    return _sorted_sha256(digests) if digests else None


def rows_questions_sha256(spec: BenchmarkSpec, table: Iterable[rows.Row]) -> str:
    """Return `questions_sha256` of all of a split's rows."""
    return _sorted_sha256(
        _sha256(row["id"], None, row["question"], rows.target(spec, row), row.get("options", ()))
        for row in table
    )


def whose(
    spec: BenchmarkSpec,
    split: str,
    source: "SourceRecord",
    entries: Iterable[Entry],
    here: SplitData | None = None,
) -> "Data":
    """Return the owner of a result's rows: the benchmark's owners, the user, or unstated.

    All rows of `source` are read where they are here, so the `entries` of the result may be a part
    of them; `here` is the split as the caller found it, if he did.
    """
    declared, stated = spec.splits[upstream_split(spec, split)], source.fingerprint
    if source.kind == "mini":
        return "owners"
    if is_mini(split):
        known = {
            _sha256(*entry_of(spec, row)) for row in locate(spec.id, split, fetch=False).read()
        }
        same = known.issuperset(_sha256(*entry) for entry in entries)
    elif spec.mapping is not None and not spec.package:
        # The rows that the benchmark's own file names.
        try:
            same = len(stated) >= _PREFIX and locate(
                spec.id, split, fetch=False
            ).source.fingerprint.startswith(stated)
        except ReelbenchError:
            same = False
    elif not declared.owners_files and declared.owners_rows is None:
        return "unstated"
    else:
        # One of the owners' files, by its bytes, or their rows.
        known = declared.owners_files
        same = (f"{spec.id}:" in stated and stated.partition(":")[2] in known) or (
            len(stated) >= _PREFIX
            and any(fingerprint(spec, [digest]).startswith(stated) for digest in known)
        )
        if not same:
            everything = [entry_of(spec, row) for row in _rows_of(spec, split, source, here) or ()]
            same = rows_sha256(everything or entries) == declared.owners_rows
    if same:
        return "owners"
    return "own" if source.kind in {"local", "files"} else "unstated"


def _rows_of(
    spec: BenchmarkSpec, split: str, source: "SourceRecord", here: SplitData | None
) -> Sequence[rows.Row] | None:
    """Return all rows of a source where it is still here, with the bytes that it had; else None."""
    stated = source.fingerprint
    if source.kind == "files":  # which have no fingerprint of a split's
        return None
    if here is not None and len(stated) >= _PREFIX and here.source.fingerprint.startswith(stated):
        return (
            replace(here, task=None).rows if here.task is not None and here.task.only else here.rows
        )
    for place in dict.fromkeys((Path(source.location) if source.kind == "local" else None, None)):
        with suppress(ReelbenchError):
            found = locate(spec.id, split, place, fetch=False)
            if len(stated) >= _PREFIX and found.source.fingerprint.startswith(stated):
                return found.rows
    return None


def _sha256(
    name: str,
    video: str | None,
    question: str,
    target: dict[str, Any],
    options: Sequence[str] | None = None,
) -> bytes:
    """Return the hash of an entry; with `options`, and no `video`, that of what is asked."""
    right: dict[str, Any] = {key: _plain(value) for key, value in target.items() if key != "spans"}
    if "spans" in target:
        right["spans"] = [[float(number) for number in span] for span in target["spans"]]
    named = [part for part in (name, video) if part is not None]
    parts = [*named, _plain(question), *([] if options is None else [_plain(options)]), right]
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _plain(text: Any) -> Any:  # noqa: ANN401 - a text, or a list of them
    if is_array(text):
        return [_plain(part) for part in text]
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
