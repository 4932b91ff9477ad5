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
from reelbench.base.temporary_tables import SortedKeys
from reelbench.base.values import is_array
from reelbench.data.loading import SplitData, fingerprint, locate
from reelbench.registry import rows
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini, upstream_split

if TYPE_CHECKING:
    from reelbench.registry.records import Data, SourceRecord

Entry = tuple[str, str, str, dict[str, Any]]
"""A question's id, video, text, and what an answer is compared with (`rows.target`)."""

_WAITING = 1_000  # hashes that are put on the disk together

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
    return _lines_sha256(sorted(_entry_hash(*entry) for entry in entries))


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
    digest = QuestionsHash(spec, split)
    for name, question, options, target in questions:
        digest.add(name, question, options, target)
    return digest.sha256() if digest.all_known else None


def rows_questions_sha256(spec: BenchmarkSpec, split: str, table: Iterable[rows.Row]) -> str:
    """Return `questions_sha256` of all of a split's rows."""
    digest = QuestionsHash(spec, split)
    for row in table:
        target = rows.target(spec, row)
        digest.add(row["id"], row["question"], row.get("options", ()), target)
    return digest.sha256()


class QuestionsHash:
    """The `questions_sha256` of questions that are added one by one.

    Attributes:
        all_known: True where there are questions, and each has its text and its answer.
    """

    def __init__(self, spec: BenchmarkSpec, split: str) -> None:
        self.all_known = False
        self._lacks_one = False
        self._is_secret = has_secret_answers(spec, split)
        self._digests = SortedKeys()
        self._waiting: list[bytes] = []

    def add(
        self, name: str, question: str, options: Sequence[str], target: dict[str, Any] | None
    ) -> None:
        """Add a question with its right answer, None where that is not known."""
        if not question or (target is None and not self._is_secret):
            self._lacks_one = True
        self.all_known = not self._lacks_one
        hashed_target: dict[str, Any] = {}
        if target is not None and not self._is_secret:
            hashed_target = target
        self._waiting.append(_entry_hash(name, None, question, hashed_target, options))
        if len(self._waiting) == _WAITING:
            self._file_waiting()

    def sha256(self) -> str:
        """Return the hash of all that were added, known or not."""
        self._file_waiting()
        return _lines_sha256(self._digests)

    def _file_waiting(self) -> None:
        self._digests.extend(self._waiting)
        self._waiting.clear()


def has_secret_answers(spec: BenchmarkSpec, split: str) -> bool:
    """Return True where a split's answers are public nowhere. Mini rows are ours."""
    if is_mini(split):
        return False
    return spec.splits[upstream_split(spec, split)].secret


def _lines_sha256(digests: Iterable[bytes]) -> str:
    """Return the sha256 over hashes in their order, a line of hex each."""
    sha256 = hashlib.sha256()
    separator = ""
    for digest in digests:
        sha256.update(f"{separator}{digest.hex()}".encode())
        separator = "\n"
    return sha256.hexdigest()


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
