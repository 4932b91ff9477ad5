"""Check a change to a results dataset: one function of the files that it changes.

The webhook, the published workflow and `check FOLDER --base FOLDER` all use it. A submission adds
the files of a new row, or changes those of a row that its submitter owns. Every other path refuses
it, by name: no checker reads a ledger, settings, names or another's row from a change.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from reelbench.base import bounds
from reelbench.base.bounded import Bounds, EndedError, run_bounded
from reelbench.base.errors import InputError
from reelbench.base.files import sha256_of
from reelbench.base.workers import ALONE
from reelbench.leaderboard import (
    aliases,
    board_state,
    hidden_key,
    results_dataset,
    store,
    submission,
    submission_page,
)
from reelbench.leaderboard.board_state import BoardState
from reelbench.leaderboard.submission import Report

BOUNDS = Bounds(seconds=300)
"""Time and memory of a check, where nobody says other ones."""
LARGEST = bounds.SUBMITTED_BYTES
"""Bytes of all files of a change. More is left to the maintainers."""
_UNTRACKED = {".git", ".cache", ".base"}
"""Folders of a checkout that are no part of what it has."""


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The paths that a change touches, and those that it removes."""

    touched: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def keys(self) -> list[str]:
        """The keys of the results that it adds or changes, in order."""
        return self._keys(results_dataset.key_of_path)

    @property
    def submissions(self) -> list[str]:
        """The keys of the submissions to hidden tests that it adds, in order."""
        return self._keys(results_dataset.key_of_submission)

    def _keys(self, key_of: Callable[[str], str | None]) -> list[str]:
        keys: dict[str, None] = {}
        for path in sorted(self.touched):
            key = key_of(path)
            if key is not None:
                keys[key] = None
        return list(keys)

    def problems(self) -> Iterator[str]:
        """Yield why it can't be taken whatever its results hold, a line each."""
        for path in sorted(self.removed):
            yield f"{path}: removed, but a submission may remove nothing"
        for path in sorted(self.touched):
            is_submitted = results_dataset.key_of_submission(path) is not None
            if results_dataset.key_of_path(path) is None and not is_submitted:
                yield f"{path}: not a file of a result, and a submission may change nothing else"


def between(base: Path, folder: Path) -> ChangedFiles:
    """Return the difference of two checkouts of a results dataset."""
    base_files = _files(base)
    files = _files(folder)
    touched: list[str] = []
    for path, file in files.items():
        base_file = base_files.get(path)
        if base_file is None or not _is_same(file, base_file):
            touched.append(path)
    removed = base_files.keys() - files.keys()
    return ChangedFiles(tuple(sorted(touched)), tuple(sorted(removed)))


def _files(folder: Path) -> dict[str, Path]:
    """Return the files of a copy, its links, and its submodules, by their paths."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    files: dict[str, Path] = {}
    # Git has no empty folders: one in its checkout is another repository's place, a submodule.
    is_checkout = (folder / ".git").exists()
    for file in folder.rglob("*"):
        path = file.relative_to(folder)
        if path.parts[0] in _UNTRACKED:
            continue
        is_folder = file.is_dir() and not file.is_symlink()
        is_submodule = is_folder and is_checkout and not any(file.iterdir())
        if not is_folder or is_submodule:
            files[path.as_posix()] = file
    return files


def _is_same(file: Path, base_file: Path) -> bool:
    if file.is_symlink() or base_file.is_symlink():
        return False
    if file.is_dir() or base_file.is_dir():
        return file.is_dir() and base_file.is_dir()
    if file.stat().st_size != base_file.stat().st_size:
        return False
    return sha256_of(file) == sha256_of(base_file)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of checking a change.

    Attributes:
        number: Results that it adds or changes.
        refusals: Why it is refused, a line each.
        markdown: The report for people.
        document: The report for scripts.
        ended: Why the check was ended before it was done.
    """

    number: int = 0
    refusals: tuple[str, ...] = ()
    markdown: str = ""
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    ended: str | None = None


def checked(folder: Path, base: Path, account: str | None) -> Outcome:
    """Check what a copy of a results dataset changes of another, within bounds.

    Args:
        folder: The changed copy.
        base: The copy that it is compared with, whose rows it stands among.
        account: Who hands the change in. None where nobody knows.
    """
    try:
        return run_bounded(_checked, folder, base, account, bounds=BOUNDS)
    except EndedError as error:
        return Outcome(ended=str(error))


def _checked(_: Callable[[object], None], folder: Path, base: Path, account: str | None) -> Outcome:
    changes = between(base, folder)
    base_store = base / results_dataset.RESULTS
    whole_report = report(changes, folder, base_store, account=account)
    refusals = list(whole_report.problems)
    refused = [each for each in whole_report.submissions if each.verdict == "refused"]
    refusals += [f"{submitted.folder}: {submitted.why}" for submitted in refused]
    return Outcome(
        number=len(whole_report.submissions),
        refusals=tuple(refusals),
        markdown=submission_page.markdown(whole_report),
        document=whole_report.as_json(),
    )


def report(
    changes: ChangedFiles,
    folder: Path,
    base_store: Path,
    *,
    account: str | None,
    is_of: Callable[[str], bool] | None = None,
) -> Report:
    """Return the report on a change, and where its results would stand.

    Args:
        changes: The files that it touches and removes.
        folder: What it offers; of it the touched results are read, and nothing else.
        base_store: The store that it is a change of (`results`).
        account: Who hands it in. None where nobody knows.
        is_of: Returns True where whoever hands it in is of an organisation. None where nobody
            knows who that is.
    """
    problems = list(changes.problems())
    notes: list[str] = []
    keys = changes.keys
    result_paths = [path for path in changes.touched if results_dataset.is_part_of_board(path)]
    size = sum(_size(folder / path) for path in result_paths)
    if size > LARGEST:
        problems.append(f"more than {LARGEST // 1_000_000} MB: too much to be checked here")
        keys = []
    else:
        for key in changes.submissions:
            try:
                hidden_key.read_submission(folder / results_dataset.RESULTS, key)
                notes.append(f"{key}: its form is valid; the owner of the answers scores it")
            except InputError as error:
                problems.append(f"{key}: {error}")

    def note_left_out(key: str, why: str) -> None:
        notes.append(f"not compared with {key}, which can't be read: {why}")

    folders = [folder / results_dataset.RESULTS / key for key in keys]
    # In this process alone, which has bounds, and with which all that it began ends.
    checked = store.check(*folders, workers=ALONE)
    read = partial(submission.read, checked, below=folder, is_of=is_of, account=account)
    try:
        problems += _changed_rows(keys, base_store, account)
        results = read(base_store, left_out=note_left_out)
    except InputError as error:  # the base itself: no fault of the submission's
        notes.append(f"not compared with the table, which can't be read: {error}")
        results = read()
    return Report(results, tuple(problems), tuple(notes))


def _size(file: Path) -> int:
    if file.is_symlink() or not file.is_file():
        return 0
    return file.stat().st_size


def _changed_rows(keys: Iterable[str], base_store: Path, account: str | None) -> Iterator[str]:
    """Yield the rows that are filed, and that nobody knows to be the submitter's own."""
    state = BoardState()
    names = aliases.NO_ALIASES
    if base_store.is_dir():
        state = board_state.read(base_store)
        names = aliases.read(base_store)
    for key in keys:
        row = state.rows.get(key)
        if row is None:
            continue
        if account is None:
            yield (
                f"results/{key}: is filed, and only its owner changes it; nobody here knows who "
                "hands this in (--account NAME says so)"
            )
            continue
        owner = state.owner_of(row, names)
        if not board_state.same_account(owner, account):
            name = owner or "the maintainers of this board"
            yield f"results/{key}: belongs to {name}, and only they change it"
