"""The folder of a submission to a hidden test, in a store and in a results dataset.

It ends with a hash of its files: no later file takes the place of another.
"""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from reelbench.base.errors import InputError
from reelbench.base.files import sha256_of, write_json, written_aside
from reelbench.leaderboard import identity
from reelbench.registry.records import About
from reelbench.tasks import about as abouts
from reelbench.tasks import hidden_submission
from reelbench.tasks.hidden_submission import HandedIn, Submission

FOLDER = "submissions"
_DIGITS = 16


def hashes_of_files(folder: Path) -> dict[str, str]:
    """Return the sha256 of each file of a submission."""
    return {name: sha256_of(folder / name) for name in hidden_submission.FILES}


def is_whole(folder: Path, files: Mapping[str, str]) -> bool:
    """Return True where a folder has some files with these hashes."""
    for name, digest in files.items():
        file = folder / name
        if not file.is_file() or sha256_of(file) != digest:
            return False
    return True


def key_of(record: Submission, folder: Path) -> str:
    """Return the key of a submission that lies in a folder."""
    hashes = "".join(hashes_of_files(folder).values())
    digest = hashlib.sha256(hashes.encode()).hexdigest()[:_DIGITS]
    model = identity.model_folder(record.model.id)
    return f"{FOLDER}/{record.benchmark.id}/{model}/{digest}"


def read_submission(results: Path, key: str) -> HandedIn:
    """Return the submission of a key in a folder of results.

    Raises:
        InputError: It is none, or its files are not those that its folder is named after.
    """
    folder = results / key
    try:
        handed_in = hidden_submission.read_submission(folder)
    except InputError as error:
        raise InputError(str(error).replace(f"{folder}/", "")) from None
    if key_of(handed_in.record, folder) != key:
        raise InputError("its folder is not named after its model and files; publish makes it")
    return handed_in


def keep_own_submission(folder: Path, store: Path, about: About | None = None) -> str:
    """Copy a submission of one's own into a store, and return its key.

    Args:
        folder: Where it lies.
        store: The store.
        about: Said of its model in the copy.
    """
    record = hidden_submission.read_submission(folder).record
    with TemporaryDirectory(prefix="reelbench-submission-") as name:
        edited = Path(name)
        _copy_files(folder, edited)
        if about is not None:
            record = abouts.with_about(record, about)
            write_json(edited / hidden_submission.FILE, record.model_dump(mode="json"))
        key = key_of(record, edited)
        _copy_whole(edited, store / key)
    return key


def copy_submission(results: Path, key: str, store: Path) -> None:
    """Copy a submission that was read from a folder of results into a store."""
    _copy_whole(results / key, store / key)


def _copy_whole(folder: Path, place: Path) -> None:
    """Copy a submission whole or not at all. One that is there stays."""
    if place.is_dir():
        return
    with written_aside(place) as aside:
        aside.mkdir()
        _copy_files(folder, aside)


def _copy_files(folder: Path, place: Path) -> None:
    for name in hidden_submission.FILES:
        shutil.copyfile(folder / name, place / name)
