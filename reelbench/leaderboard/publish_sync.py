"""Bring into a store what other maintainers published since, before it is published itself.

The published ledger comes first, and the store's own entries after it. The files of rows that the
store lacks are fetched at the commit whose ledger was read.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
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


def sync(
    store_path: Path, repository: Repository, head: Head, download_folder: Path, note: Note
) -> None:
    """Bring a store up to what is published.

    Raises:
        InputError: The store and the dataset contradict each other, or a ledger is broken.
        ReelbenchError: The Hub refused or broke off. The store is as it was.
    """
    published = published_lines(repository, head)
    board_ledger = BoardLedger(store_path)
    with board_ledger.locked():
        merged = ledger_merge.merge(board_ledger.lines, published, aliases.read(store_path))
        state = state_of(merged)
        missing_rows: list[FiledRow] = []
        if published:
            missing_rows = [row for row in state.rows.values() if not _is_complete(row, store_path)]
        missing_submissions = _missing_submissions(store_path, state)
        files = results_dataset.chosen(head.files, _paths_of_rows(missing_rows, head))
        files |= _changed_board_files(store_path, head)
        files |= _submission_files(missing_submissions, head)
        results_dataset.download(repository.id, str(head.commit), files, download_folder)
        results_folder = download_folder / RESULTS
        for received in missing_submissions:
            _copy_submission(received, results_folder / received.key, store_path, note)
        copied_rows = 0
        for row in missing_rows:
            copied_rows += _copy_row(row, results_folder / row.key, store_path)
        _copy_board_files(results_folder, store_path, note)
        _record_files_in_sync(store_path, head, files)
        _delete_withdrawn(state, store_path)
        if merged != board_ledger.lines:
            with written_aside(store_path / ledger.FILE) as temporary_file:
                temporary_file.write_bytes(ledger.as_bytes(merged))
            known_hashes = {line.sha256 for line in board_ledger.lines}
            new_lines = sum(line.sha256 not in known_hashes for line in merged)
            note(
                f"{repository.page}: {number_of(new_lines, 'entry', 'entries')} of other "
                f"maintainers came into the ledger of {store_path}, "
                f"with {number_of(copied_rows, 'result')}"
            )


def _delete_withdrawn(state: BoardState, store_path: Path) -> None:
    """Move the files of withdrawn results out of the store's tables."""
    for key, _ in state.withdrawn:
        if key not in state.rows and (store_path / key).is_dir():
            store.keep_earlier(store_path / key, store.REMOVED_FOLDER)
            store.delete_files(key, store_path)


def _is_complete(row: FiledRow, store_path: Path) -> bool:
    """Return True where a row's files are here as they were filed."""
    folder = store_path / row.key
    has_result = (folder / result_files.RESULT_FILE).is_file()
    return has_result and hidden_key.is_whole(folder, row.files)


def _paths_of_rows(rows: list[FiledRow], head: Head) -> Iterator[str]:
    """Yield the paths of rows in a dataset, those of replaced answers too."""
    keys = {row.key for row in rows}
    for path in head.files:
        key = results_dataset.key_of_path(path) or results_dataset.key_of_earlier(path)
        if key in keys:
            yield path


def _copy_row(row: FiledRow, folder: Path, store_path: Path) -> bool:
    """Copy a row's downloaded files into the store. Return False where there are none."""
    if not (folder / result_files.RESULT_FILE).is_file():
        return False
    target = store.place_of(row.key, store_path)
    if target.is_dir():
        store.keep_earlier(target, store.REPLACED_FOLDER)
        shutil.rmtree(target)
    shutil.copytree(folder, target)
    results_folder = folder.parents[3]  # a key has four parts
    replaced_answers = results_folder / store.REPLACED_FOLDER / row.key
    if replaced_answers.is_dir():
        stored_answers = store_path / store.REPLACED_FOLDER / row.key
        shutil.copytree(replaced_answers, stored_answers, dirs_exist_ok=True)
    return True


def _changed_board_files(store_path: Path, head: Head) -> dict[str, hub.RemoteFile]:
    """Return the board's published files, beside results, that the store lacks or has otherwise."""
    files: dict[str, hub.RemoteFile] = {}
    for path, file in head.files.items():
        if not results_dataset.is_of_board(path) or path == LEDGER_PATH:
            continue
        stored_file = store_path / path.removeprefix(f"{RESULTS}/")
        if not stored_file.is_file() or differs(stored_file, file):
            files[path] = file
    return files


def _missing_submissions(store_path: Path, state: BoardState) -> list[ledger.Received]:
    """Return the submissions whose files are not in the store as they were handed in."""
    missing: list[ledger.Received] = []
    for file in state.hidden.values():
        received = file.received
        if not hidden_key.is_whole(store_path / received.key, received.files):
            missing.append(received)
    return missing


def _submission_files(
    submissions: Sequence[ledger.Received], head: Head
) -> dict[str, hub.RemoteFile]:
    """Return the published files of submissions."""
    keys = {received.key for received in submissions}
    files: dict[str, hub.RemoteFile] = {}
    for path, file in head.files.items():
        if results_dataset.key_of_submission(path) in keys:
            files[path] = file
    return files


def _copy_submission(received: ledger.Received, folder: Path, store_path: Path, note: Note) -> None:
    """Copy a submission's downloaded files into the store, if they are those handed in."""
    if not folder.is_dir():
        return
    if not hidden_key.is_whole(folder, received.files):
        note(f"{received.key}: not taken: its published files are not as they were submitted")
        return
    target = store_path / received.key
    if target.is_dir():
        shutil.rmtree(target)
    with written_aside(target) as temporary_folder:
        shutil.copytree(folder, temporary_folder)


def _record_files_in_sync(
    store_path: Path, head: Head, changed: Mapping[str, hub.RemoteFile]
) -> None:
    """Record which hand-written files the store has exactly as they are published."""
    files_in_sync: list[Path] = []
    for name in maintainers_files.FILES:
        path = f"{RESULTS}/{name}"
        if path in head.files and path not in changed:
            files_in_sync.append(store_path / name)
    maintainers_files.record_published(files_in_sync, store_path)


def _copy_board_files(results_folder: Path, store_path: Path, note: Note) -> None:
    """Copy the board's downloaded files that the store lacks, or has in an older version."""
    if not results_folder.is_dir():
        return
    for file in sorted(results_folder.rglob("*")):
        path_in_dataset = file.relative_to(results_folder.parent).as_posix()
        if not file.is_file() or not results_dataset.is_of_board(path_in_dataset):
            continue
        if file.name in maintainers_files.FILES:
            maintainers_files.bring_in(file.name, file.read_bytes(), store_path, note)
            continue
        target = store_path / file.relative_to(results_folder)
        if not target.is_file() or _is_newer(file, target):
            write_text(target, file.read_text(encoding="utf-8"))


def _is_newer(published_file: Path, stored_file: Path) -> bool:
    """Return True of published rows, and of a newer imported board."""
    if published_file.parent.name == store.ROWS_FOLDER:
        # A store never writes such a file: its own is a copy of an earlier published one.
        return True
    if published_file.suffix == ".json":
        published_date = str(read_json(published_file).get("fetched", ""))
        stored_date = str(read_json(stored_file).get("fetched", ""))
        return published_date > stored_date
    return False
