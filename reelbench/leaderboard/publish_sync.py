"""Bring into a store what other maintainers published since, before it is published itself.

The published ledger comes first, and the store's own entries after it. The files of rows that the
store lacks are fetched at the commit whose ledger was read.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from reelbench.base.errors import number_of
from reelbench.base.files import read_json, write_text, written_aside
from reelbench.data import hub
from reelbench.data.hub_write import Head, Repository, differs
from reelbench.leaderboard import (
    aliases,
    hidden_key,
    ledger,
    ledger_merge,
    maintainers_files,
    results_dataset,
    store,
)
from reelbench.leaderboard.board_state import BoardLedger, BoardState, FiledRow, state_of
from reelbench.leaderboard.results_dataset import LEDGER_PATH, RESULTS
from reelbench.scoring import result_files

Note = Callable[[str], None]


def published_lines(repository: Repository, head: Head) -> list[ledger.Line]:
    """Return the lines of a dataset's ledger at a commit, if any.

    Raises:
        InputError: It is broken.
    """
    if LEDGER_PATH not in head.files:
        return []
    path = hub.download(repository.id, LEDGER_PATH, revision=str(head.commit))
    return ledger.read_lines(path.read_bytes(), f"{repository.page}, {LEDGER_PATH}")


def sync(place: Path, repository: Repository, head: Head, folder: Path, note: Note) -> None:
    """Bring a store up to what is published. `folder` is for files on their way.

    Raises:
        InputError: The store and the dataset contradict each other, or a ledger is broken.
        ReelbenchError: The Hub refused or broke off. The store is as it was.
    """
    lines = published_lines(repository, head)
    book = BoardLedger(place)
    with book.locked():
        merged = ledger_merge.merge(book.lines, lines, aliases.read(place))
        state = state_of(merged)
        is_moved = merged != book.lines
        lacking: list[FiledRow] = []
        if lines:
            lacking = [row for row in state.rows.values() if not _is_whole(row, place)]
        published = _paths_of(lacking, head)
        files = results_dataset.chosen(head.files, published)
        files |= _beside(place, head)
        submissions = _submissions(place, state, head)
        files |= submissions
        results_dataset.download(repository.id, str(head.commit), files, folder)
        for received in _lacking_submissions(place, state):
            _take_submission(received, folder / RESULTS / received.key, place, note)
        brought = 0
        for row in lacking:
            brought += _take(row, folder / RESULTS / row.key, place)
        _take_beside(folder / RESULTS, place, note)
        _remember_equal_files(place, head, files)
        for key, _ in state.withdrawn:
            if key not in state.rows and (place / key).is_dir():
                store.keep_earlier(place / key, store.REMOVED_FOLDER)
                store.delete_files(key, place)
        if is_moved:
            with written_aside(place / ledger.FILE) as aside:
                aside.write_bytes(ledger.as_bytes(merged))
            own_hashes = {line.sha256 for line in book.lines}
            new_lines = sum(line.sha256 not in own_hashes for line in merged)
            note(
                f"{repository.page}: {number_of(new_lines, 'entry', 'entries')} of other "
                f"maintainers came into the ledger of {place}, with {number_of(brought, 'result')}"
            )


def _is_whole(row: FiledRow, place: Path) -> bool:
    """Return True where a row's files are here as they were filed."""
    folder = place / row.key
    has_result = (folder / result_files.RESULT_FILE).is_file()
    return has_result and hidden_key.is_whole(folder, row.files)


def _paths_of(rows: list[FiledRow], head: Head) -> Iterator[str]:
    """Yield the paths of some rows in a dataset, those of replaced answers too."""
    keys = {row.key for row in rows}
    for path in head.files:
        key = results_dataset.key_of_path(path) or results_dataset.key_of_earlier(path)
        if key in keys:
            yield path


def _take(row: FiledRow, folder: Path, place: Path) -> bool:
    """Copy a row's fetched files into the store. Return False where there are none."""
    if not (folder / result_files.RESULT_FILE).is_file():
        return False
    target = store.place_of(row.key, place)
    if target.is_dir():
        store.keep_earlier(target, store.REPLACED_FOLDER)
        shutil.rmtree(target)
    shutil.copytree(folder, target)
    earlier = folder.parents[3] / store.REPLACED_FOLDER / row.key
    if earlier.is_dir():
        shutil.copytree(earlier, place / store.REPLACED_FOLDER / row.key, dirs_exist_ok=True)
    return True


def _beside(place: Path, head: Head) -> dict[str, hub.RemoteFile]:
    """Return the files beside results that differ from the store's, or that it lacks."""
    files: dict[str, hub.RemoteFile] = {}
    for path, file in head.files.items():
        own_file = place / path.removeprefix(f"{RESULTS}/")
        is_beside = results_dataset.is_of_board(path) and path != LEDGER_PATH
        if is_beside and (not own_file.is_file() or differs(own_file, file)):
            files[path] = file
    return files


def _submissions(place: Path, state: BoardState, head: Head) -> dict[str, hub.RemoteFile]:
    """Return the published files of submissions that the store lacks."""
    keys = {received.key for received in _lacking_submissions(place, state)}
    files: dict[str, hub.RemoteFile] = {}
    for path, file in head.files.items():
        if results_dataset.key_of_submission(path) in keys:
            files[path] = file
    return files


def _lacking_submissions(place: Path, state: BoardState) -> list[ledger.Received]:
    """Return the submissions whose files are not in the store as they were handed in."""
    entries = [file.received for file in state.hidden.values()]
    return [entry for entry in entries if not hidden_key.is_whole(place / entry.key, entry.files)]


def _take_submission(received: ledger.Received, folder: Path, place: Path, note: Note) -> None:
    """Copy a submission's fetched files into the store, where they are those handed in."""
    if not folder.is_dir():
        return
    if not hidden_key.is_whole(folder, received.files):
        note(f"{received.key}: not taken: its published files are not as they were submitted")
        return
    target = place / received.key
    if target.is_dir():
        shutil.rmtree(target)
    with written_aside(target) as aside:
        shutil.copytree(folder, aside)


def _remember_equal_files(place: Path, head: Head, changed: Mapping[str, hub.RemoteFile]) -> None:
    """Note which files that maintainers write are in the store as they are published."""
    equal_files: list[Path] = []
    for name in maintainers_files.FILES:
        path = f"{RESULTS}/{name}"
        if path in head.files and path not in changed:
            equal_files.append(place / name)
    maintainers_files.remember(equal_files, place)


def _take_beside(folder: Path, place: Path, note: Note) -> None:
    """Copy the files beside results that the store lacks, and those that are newer there."""
    if not folder.is_dir():
        return
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder.parent).as_posix()
        if not file.is_file() or not results_dataset.is_of_board(path):
            continue
        if file.name in maintainers_files.FILES:
            maintainers_files.take(file.name, file.read_bytes(), place, note)
            continue
        target = place / file.relative_to(folder)
        if target.is_file() and not _is_newer(file, target):
            continue
        write_text(target, file.read_text(encoding="utf-8"))


def _is_newer(file: Path, own_file: Path) -> bool:
    """Return True of published rows, and of a newer imported board."""
    if file.parent.name == store.ROWS_FOLDER:
        # A store never writes such a file: its own is a copy of an earlier published one.
        return True
    if file.suffix == ".json":
        return str(read_json(file).get("fetched", "")) > str(read_json(own_file).get("fetched", ""))
    return False
