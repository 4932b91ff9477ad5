"""The ledger of a store: all that its maintainers did, and what they know of each result.

It is one append-only file, `ledger.jsonl`. A line has an entry, the entry's hash, and the chain:
the hash of the chain before it and of the entry's hash. So an entry's text can be blanked (`null`)
and the chain still holds, while a torn, edited, missing or moved line shows. The chain shows
tearing and mistakes. It does not show what a maintainer rewrites: whoever can write it is one.

Nothing in it comes from a file that a submitter hands in but hashes and what was computed here.
"""

import hashlib
import json
import os
import string
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, ValidationError

from reelbench.base import bounds
from reelbench.base.base_record import Count, Name, Omittable, Record, first_wrong_field
from reelbench.base.errors import InputError
from reelbench.leaderboard.rejudge import Rejudged
from reelbench.registry import name_faults
from reelbench.registry.records import Metrics

FILE = "ledger.jsonl"
MAINTAINER = "maintainer"
"""Who did what no account on the Hub did."""

Ids = Literal["checked", "unchecked"]
"""`checked` where the items were compared with the benchmark's own data; else it wasn't here."""
Stated = Literal[
    "references", "labels", "answers", "judge replies", "ranker replies", "reader replies"
]
"""Parts that a result's numbers follow from, for which nobody but the submitter vouches."""

_LOCK = ".ledger.lock"
_SAFE = {*string.ascii_letters, *string.digits, *"._-/"}
_SLASHES = 3  # in a key
START = "0" * 64


def _folder_below(path: str) -> str:
    """Return a relative path. ValueError where it may lead elsewhere."""
    is_plain = set(path) <= _SAFE
    if not is_plain or not all(name.strip(".") for name in path.split("/")):
        raise ValueError("is not a path below the store")
    return path


def _key(path: str) -> str:
    """Return a row's key. ValueError where it is none."""
    if path.count("/") != _SLASHES:
        raise ValueError("is not a key of a row")
    return _folder_below(path)


Key = Annotated[Name, AfterValidator(_key)]
"""The folder of a row: whoever reads a ledger reads and deletes there."""


def _model_name(name: str) -> str:
    """Return the name of a model. ValueError where no submission may have it."""
    for fault in name_faults.id_faults("it", name):
        raise ValueError(fault)
    return name


ModelName = Annotated[Name, AfterValidator(_model_name)]
FileName = Annotated[Name, AfterValidator(_folder_below)]


class Verification(Record):
    """The facts of a result that were verified, and against which data.

    `answers_sha256` is over the ids and right answers of its items, by which results that state the
    same questions are compared where nobody here has these. Null where the answers are secret.
    `data` is the hash of the questions that it was compared with. `failed` says what was wrong when
    it was checked again with more data: such a row is not ranked.
    """

    ids: Ids
    subset: Name | None
    partial: Name | None
    stated: tuple[Stated, ...] = ()
    answers_sha256: Omittable[str | None] = None
    data: Omittable[str | None] = None
    failed: Omittable[str | None] = None

    @property
    def marks(self) -> tuple[str, ...]:
        """The parts that nobody here could verify, or "failed": fewer is better."""
        if self.failed:
            return ("failed",)
        return self.stated


class _Entry(Record):
    """The fields of every entry: when, and who."""

    at: AwareDatetime
    who: Name


class Filed(_Entry):
    """A result was filed, or took the place of the same row's earlier one.

    `files` has the sha256 of each file, by name. None where the answers are secret, as the samples
    repeat them. `answers` is over ids and predictions, which are the submitter's own. `judged` says
    that the maintainers asked its judge themselves.
    """

    act: Literal["filed", "replaced"]
    key: Key
    model: Name
    files: dict[FileName, str]
    answers: str
    verified: Verification
    judged: Omittable[bool] = False
    rejudged: Omittable[Rejudged | None] = None


class Checked(_Entry):
    """A filed result was checked again, or its judge was asked again.

    `answers` is their hash: of other answers it says nothing. Without it, it is of those that were
    filed at its place in the ledger.
    """

    act: Literal["checked"]
    key: Key
    answers: Omittable[str | None] = None
    verified: Verification
    rejudged: Omittable[Rejudged | None] = None


class Removed(_Entry):
    """A row was withdrawn: these answers of this model and setting are not taken again."""

    act: Literal["removed"]
    key: Key
    model: Name
    answers: str
    reason: Name


class Restored(_Entry):
    """A withdrawal was taken back, and with the files here the row stands again.

    Without them its answers may be added anew.
    """

    act: Literal["restored"]
    key: Key
    answers: str
    with_files: bool


class Renamed(_Entry):
    """A model got another name. Results under the old one are its too."""

    act: Literal["renamed"]
    model: Name
    to: ModelName


class Moved(_Entry):
    """A model's rows belong to another account from now on. Null is the maintainers."""

    act: Literal["moved"]
    model: Name
    account: Name | None


class Received(_Entry):
    """A submission to a hidden test was taken: it counts towards its account's quota.

    `request` is its pull request, `files` has the sha256 of the submitter's own bytes, and
    `unanswered` counts its questions that have a reason in place of an answer.
    """

    act: Literal["received"]
    key: Key
    model: Name
    benchmark: Name
    version: Count
    split: Name
    phase: Name
    request: Count
    files: dict[FileName, str]
    unanswered: Omittable[Count] = 0
    late: Omittable[bool] = False


class Scored(_Entry):
    """A submission was scored by the benchmark's owner, on his machine alone.

    `totals` are what the row of its account (`who`) shows from then on, rounded. There are none
    where that row stays as it is.
    """

    act: Literal["scored"]
    key: Key
    phase: Name
    totals: Metrics


class Published(_Entry):
    """A main table changed since it was published before.

    `table` is its group's id. `rows` has the main value of each model's best row that is new or
    has another value, and null for a row that has no place any more. Several entries of one time
    are one publication.
    """

    act: Literal["published"]
    table: Name
    rows: dict[Name, float | None]


Entry = Filed | Checked | Removed | Restored | Renamed | Moved | Received | Scored | Published


class Line(Record):
    """A line of `ledger.jsonl`: an entry and its hash, and the chain after it.

    `entry` is null where its text was blanked. `sha256` is of the entry as JSON with sorted names
    and no blanks. `chain` of the line before's chain (64 zeros at first) and of `sha256`.
    """

    entry: Annotated[Entry, Field(discriminator="act")] | None
    sha256: str
    chain: str

    @property
    def text(self) -> str:
        """The line as it stands in the file."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False) + "\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def entry_sha256(entry: Entry) -> str:
    """Return the hash of an entry."""
    return _digest(json.dumps(entry.model_dump(mode="json"), sort_keys=True, separators=(",", ":")))


def next_chain(chain: str, sha256: str) -> str:
    """Return the chain after one more entry."""
    return _digest(f"{chain}{sha256}")


def account_of(who: str) -> str | None:
    """Return the account on the Hub, None for the maintainers."""
    return None if who == MAINTAINER else who


def who_is(account: str | None) -> str:
    """Return the ledger's name of an account, or of the maintainers."""
    return account or MAINTAINER


def now() -> datetime:
    """Return the time of an entry that is made now, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def chained(entries: Iterable[tuple[Entry | None, str]], chain: str = START) -> list[Line]:
    """Return the lines of entries and their hashes, in this order, after a chain."""
    lines: list[Line] = []
    for entry, sha256 in entries:
        chain = next_chain(chain, sha256)
        lines.append(Line(entry=entry, sha256=sha256, chain=chain))
    return lines


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The whole lines of a text, and the bytes that they take."""

    lines: list[Line]
    size: int


def _parsed(data: bytes, where: str, first_number: int, chain: str) -> _Parsed:
    """Read lines, and hold each to the chain.

    Bytes after the last line break are a line that was torn while it was written: left out.

    Raises:
        InputError: A line is no entry, or does not fit to the one before it.
    """
    lines: list[Line] = []
    size = data.rfind(b"\n") + 1
    for number, raw_line in enumerate(data[:size].splitlines(), start=first_number):
        place = f"{where}, line {number}"
        bounds.hold(f"{place}: bytes", len(raw_line), bounds.PART)
        line = _read_line(raw_line, place)
        chain = next_chain(chain, line.sha256)
        if line.chain != chain:
            raise InputError(
                f"{place}: does not follow from the line before it (the chain is broken); a line "
                "was edited, removed or moved: get the file again from where it was whole"
            )
        lines.append(line)
    return _Parsed(lines, size)


def _read_line(raw_line: bytes, place: str) -> Line:
    advice = "get the file again from where it was whole"
    try:
        line = Line.model_validate(json.loads(raw_line))
    except ValidationError as error:
        raise InputError(f"{place}: {first_wrong_field(error)}; {advice}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{place}: is not JSON; {advice}") from None
    if line.entry is not None and entry_sha256(line.entry) != line.sha256:
        raise InputError(f"{place}: its entry was edited (the hash is another); {advice}")
    return line


class Ledger:
    """A store's ledger, read as far as it was written.

    Attributes:
        lines: Its lines.
        torn: Bytes after the last whole line, which a process that was ended left. They are cut by
            the next one that appends.
    """

    def __init__(self, store: Path) -> None:
        """Read the ledger. A store without one has an empty one.

        Raises:
            InputError: A line is broken.
        """
        self.path = store / FILE
        self.lines: list[Line] = []
        self.torn = 0
        self._size = 0
        self.refresh()

    @property
    def chain(self) -> str:
        """The chain after the last line."""
        return self.lines[-1].chain if self.lines else START

    @property
    def entries(self) -> list[Entry]:
        """The entries whose text is there."""
        return [line.entry for line in self.lines if line.entry is not None]

    def refresh(self) -> list[Entry]:
        """Read the lines that others appended since, and return their entries."""
        if self.path.is_symlink():
            raise InputError(f"{self.path}: is a link; a store has its own ledger")
        if not self.path.exists():
            return []
        if not self.path.is_file():
            raise InputError(f"{self.path}: is not a file; a store has its own ledger")
        size = self.path.stat().st_size
        bounds.hold(f"{self.path}: bytes", size, bounds.LEDGER_BYTES)
        if size < self._size:
            raise InputError(f"{self.path}: became shorter while it was read; run it again")
        with self.path.open("rb") as file:
            file.seek(self._size)
            data = file.read(size - self._size)
        parsed = _parsed(data, str(self.path), len(self.lines) + 1, self.chain)
        self.lines += parsed.lines
        self._size += parsed.size
        self.torn = len(data) - parsed.size
        return [line.entry for line in parsed.lines if line.entry is not None]

    @contextmanager
    def locked(self) -> Generator[list[Entry]]:
        """Hold the ledger against other writers, and yield the entries that they wrote since."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with (self.path.parent / _LOCK).open("a+") as lock:
            _hold(lock)
            yield self.refresh()

    def with_entries(self, entries: Sequence[Entry]) -> list[Line]:
        """Return the lines with those of further entries."""
        return [*self.lines, *self._next_lines(entries)]

    def _next_lines(self, entries: Sequence[Entry]) -> list[Line]:
        return chained([(entry, entry_sha256(entry)) for entry in entries], self.chain)

    def append(self, entries: Sequence[Entry]) -> None:
        """Append entries. Only within `locked`. A torn last line is cut."""
        lines = self._next_lines(entries)
        data = "".join(line.text for line in lines).encode()
        mode = "r+b" if self.path.is_file() else "w+b"
        with self.path.open(mode) as file:
            file.truncate(self._size)
            file.seek(self._size)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self.lines += lines
        self._size += len(data)
        self.torn = 0


def _hold(lock: IO[str]) -> None:
    """Wait for a lock on an open file, which its closing ends."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)


def read_lines(data: bytes, where: str) -> list[Line]:
    """Return the lines of a ledger's bytes, as of a published one.

    Raises:
        InputError: A line is broken, or the last one is torn.
    """
    bounds.hold(f"{where}: bytes", len(data), bounds.LEDGER_BYTES)
    parsed = _parsed(data, where, 1, START)
    if parsed.size != len(data):
        raise InputError(f"{where}: its last line is torn; get it again")
    return parsed.lines


def as_bytes(lines: Iterable[Line]) -> bytes:
    """Return the file of some lines."""
    return "".join(line.text for line in lines).encode()
