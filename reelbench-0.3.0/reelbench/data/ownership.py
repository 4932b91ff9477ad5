"""The owner of the rows that a result was made on.

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

_PREFIX = 16
"""Digits of a fingerprint that a run's name of its rows has."""


def entry_of(spec: BenchmarkSpec, row: rows.Row) -> Entry:
    """Return the fields of a row that are compared."""
    return row["id"], row["video"], row["question"], rows.target(spec, row)


def rows_owner(
    spec: BenchmarkSpec,
    split: str,
    source: "SourceRecord",
    entries: Iterable[Entry],
    located: SplitData | None = None,
) -> "Data":
    """Return the owner of a result's rows: the benchmark's owners, the user, or unstated.

    Args:
        spec: The benchmark.
        split: The result's split.
        source: The result's record of where its rows were from.
        entries: The result's rows. They may be a part of the source's, which are read where they
            are on this machine.
        located: The split as the caller found it, if he did.
    """
    if source.kind == "mini":
        return "owners"
    if not _is_declared(spec, split):
        return "unstated"
    if _are_owners_rows(spec, split, source, entries, located):
        return "owners"
    is_users_file = source.kind in {"local", "files"}
    return "own" if is_users_file else "unstated"


def _is_declared(spec: BenchmarkSpec, split: str) -> bool:
    """Return True where the benchmark declares what its owners' rows are."""
    if is_mini(split) or _has_declared_file(spec):
        return True
    declared = spec.splits[upstream_split(spec, split)]
    return bool(declared.owners_files) or declared.owners_rows is not None


def _has_declared_file(spec: BenchmarkSpec) -> bool:
    return spec.mapping is not None and not spec.package


def _are_owners_rows(
    spec: BenchmarkSpec,
    split: str,
    source: "SourceRecord",
    entries: Iterable[Entry],
    located: SplitData | None,
) -> bool:
    """Return True where the rows, or the file that they are from, are the owners'."""
    if is_mini(split):
        return _are_mini_rows(spec, split, entries)
    if _has_declared_file(spec):
        return _is_declared_file(spec, split, source.fingerprint)
    declared = spec.splits[upstream_split(spec, split)]
    if _is_owners_file(spec, declared.owners_files, source.fingerprint):
        return True
    all_rows = _rows_of(spec, split, source, located) or ()
    all_entries = [entry_of(spec, row) for row in all_rows]
    return rows_sha256(all_entries or entries) == declared.owners_rows


def _are_mini_rows(spec: BenchmarkSpec, split: str, entries: Iterable[Entry]) -> bool:
    mini_rows = locate(spec.id, split, fetch=False).read()
    mini_hashes = {_entry_hash(*entry_of(spec, row)) for row in mini_rows}
    return all(_entry_hash(*entry) in mini_hashes for entry in entries)


def _is_declared_file(spec: BenchmarkSpec, split: str, fingerprint_start: str) -> bool:
    """Return True where the rows are those that the benchmark's own file names."""
    try:
        located = locate(spec.id, split, fetch=False)
    except ReelbenchError:
        return False
    return _starts_with(located.source.fingerprint, fingerprint_start)


def _is_owners_file(
    spec: BenchmarkSpec, owners_files: Iterable[str], fingerprint_start: str
) -> bool:
    """Return True where the rows are from one of the owners' files, by its bytes."""
    benchmark, _, file_sha256 = fingerprint_start.rpartition(":")
    for digest in owners_files:
        if benchmark == spec.id and file_sha256 == digest:
            return True
        if _starts_with(fingerprint(spec, [digest]), fingerprint_start):
            return True
    return False


def _starts_with(whole_fingerprint: str, start: str) -> bool:
    return len(start) >= _PREFIX and whole_fingerprint.startswith(start)


def _rows_of(
    spec: BenchmarkSpec, split: str, source: "SourceRecord", located: SplitData | None
) -> Sequence[rows.Row] | None:
    """Return all rows of a source where it is still here unchanged, else None."""
    if source.kind == "files":  # these have no fingerprint of a split's
        return None
    if located is not None and _starts_with(located.source.fingerprint, source.fingerprint):
        if located.task is not None and located.task.only:
            located = replace(located, task=None)
        return located.rows
    places: list[Path | None] = [None]
    if source.kind == "local":
        places.insert(0, Path(source.location))
    for place in places:
        with suppress(ReelbenchError):
            located = locate(spec.id, split, place, fetch=False)
            if _starts_with(located.source.fingerprint, source.fingerprint):
                return located.rows
    return None


# --- hashes
# ----------------------------------------------------------------------------------------------


def rows_sha256(entries: Iterable[Entry]) -> str:
    """Return the sha256 over rows in any order.

    Case, spaces and Unicode's forms of a text don't matter.
    """
    return _sorted_sha256(_entry_hash(*entry) for entry in entries)


def questions_sha256(
    spec: BenchmarkSpec,
    split: str,
    source: "SourceRecord",
    questions: Iterable[tuple[str, str, Sequence[str], dict[str, Any] | None]],
    located: SplitData | None = None,
) -> str | None:
    """Return the sha256 over a split's ids, questions, options and answers.

    Their order doesn't matter. Secret answers are left out: with a hash of them, anybody could try
    answers until one fits.
    Whatever file the rows are from, and however its columns are called, equal rows have one hash.
    While their source is on this machine, all of its rows count; else the given
    `questions` stand for the split.

    Args:
        spec: The benchmark.
        split: The result's split.
        source: The result's record of where its rows were from.
        questions: The id, question, options and `rows.target` of each question.
        located: The split as the caller found it, if he did.

    Returns:
        The hash. None where a question or an answer isn't known.
    """
    table = _rows_of(spec, split, source, located)
    if table is not None:
        return rows_questions_sha256(spec, split, table)
    is_secret = has_secret_answers(spec, split)
    digests: list[bytes] = []
    for name, question, options, target in questions:
        if not question or (target is None and not is_secret):
            return None
        hashed_target: dict[str, Any] = {}
        if target is not None and not is_secret:
            hashed_target = target
        digests.append(_entry_hash(name, None, question, hashed_target, options))
    return _sorted_sha256(digests) if digests else None


def rows_questions_sha256(spec: BenchmarkSpec, split: str, table: Iterable[rows.Row]) -> str:
    """Return `questions_sha256` of all of a split's rows."""
    is_secret = has_secret_answers(spec, split)
    digests: list[bytes] = []
    for row in table:
        target: dict[str, Any] = {}
        if not is_secret:
            target = rows.target(spec, row)
        options = row.get("options", ())
        digests.append(_entry_hash(row["id"], None, row["question"], target, options))
    return _sorted_sha256(digests)


def has_secret_answers(spec: BenchmarkSpec, split: str) -> bool:
    """Return True where a split's answers are public nowhere. Mini rows are ours."""
    if is_mini(split):
        return False
    return spec.splits[upstream_split(spec, split)].secret


def _sorted_sha256(digests: Iterable[bytes]) -> str:
    lines = [digest.hex() for digest in sorted(digests)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _entry_hash(
    name: str,
    video: str | None,
    question: str,
    target: dict[str, Any],
    options: Sequence[str] | None = None,
) -> bytes:
    """Return the hash of an entry; with `options`, and no `video`, that of a question."""
    answer: dict[str, Any] = {}
    for key, value in target.items():
        if key == "spans":
            answer[key] = [list(map(float, span)) for span in value]
        else:
            answer[key] = _normalised_text(value)
    parts: list[Any] = [name]
    if video is not None:
        parts.append(video)
    parts.append(_normalised_text(question))
    if options is not None:
        parts.append(_normalised_text(options))
    parts.append(answer)
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _normalised_text(text: Any) -> Any:  # noqa: ANN401 - a text, or a list of them
    """Return a text in small letters, one Unicode form and with single spaces."""
    if is_array(text):
        return [_normalised_text(part) for part in text]
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
