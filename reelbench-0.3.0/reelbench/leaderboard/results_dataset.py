"""The files of a published results dataset: whose each path is, and how files come here.

A path is read by these rules alone. Of a submission only the files of a result count.
"""

import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reelbench.base import bounds
from reelbench.base.errors import ReelbenchError
from reelbench.data import hub
from reelbench.data.hub import RemoteFile
from reelbench.data.hub_write import differs
from reelbench.leaderboard import aliases, board_settings, hidden_key, ledger, store
from reelbench.tasks import hidden_submission

RESULTS = "results"
LEDGER_PATH = f"{RESULTS}/{ledger.FILE}"

# As the store names folders: no other name is one of ours, and not every name can be written here.
_FOLDER = r"(?!\.\.?/)[A-Za-z0-9._-]{1,128}"
_FILE = "|".join(re.escape(name) for name in store.FILES)
_SUBMITTED = "|".join(re.escape(name) for name in hidden_submission.FILES)
_KEY = rf"(?:{_FOLDER}/){{3}}{_FOLDER}"
_OF_RESULT = re.compile(rf"{RESULTS}/({_KEY})/(?:{_FILE})")
_OF_EARLIER = re.compile(rf"{RESULTS}/{store.REPLACED_FOLDER}/({_KEY})/[0-9a-f]{{12}}/(?:{_FILE})")
_OF_SUBMISSION = re.compile(
    rf"{RESULTS}/({hidden_key.FOLDER}/(?:{_FOLDER}/){{2}}{_FOLDER})/(?:{_SUBMITTED})"
)
_BESIDE = re.compile(rf"{RESULTS}/(?:{store.ROWS_FOLDER}|community)/[A-Za-z0-9._-]{{1,128}}\.json")
_OWN = {LEDGER_PATH, f"{RESULTS}/{aliases.FILE}", f"{RESULTS}/{board_settings.FILE}"}
_DOWNLOADS = 8


def key_of_path(path: str) -> str | None:
    """Return the key of the result that a file belongs to. None of other files."""
    match = _OF_RESULT.fullmatch(path)
    return match[1] if match else None


def key_of_earlier(path: str) -> str | None:
    """Return the key of the row whose earlier answers a file has, or None."""
    match = _OF_EARLIER.fullmatch(path)
    return match[1] if match else None


def key_of_submission(path: str) -> str | None:
    """Return the key of the submission that a file belongs to, or None."""
    match = _OF_SUBMISSION.fullmatch(path)
    return match[1] if match else None


def is_of_board(path: str) -> bool:
    """Return True of a file that the board's maintainers alone write."""
    return path in _OWN or _BESIDE.fullmatch(path) is not None


def is_part_of_board(path: str) -> bool:
    """Return True of every file that a board is made from."""
    keys = (key_of_path(path), key_of_earlier(path), key_of_submission(path))
    return any(keys) or is_of_board(path)


def download(dataset: str, commit: str, files: Mapping[str, RemoteFile], folder: Path) -> None:
    """Fetch the files that are not there yet, and check the hash of each."""

    def fetch(path: str) -> None:
        hub.download(dataset, path, revision=commit, folder=folder)
        difference = hub.mismatch(folder / path, files[path])
        if difference is not None:
            raise ReelbenchError(f"{dataset}, {path}: arrived damaged ({difference})")

    lacking: list[str] = []
    for path, file in files.items():
        bounds.hold(f"{dataset}, {path}: bytes", file.size or 0, bounds.SAMPLES_BYTES)
        if not (folder / path).is_file() or differs(folder / path, file):
            lacking.append(path)
    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        list(pool.map(fetch, lacking))


def chosen(files: Mapping[str, RemoteFile], paths: Iterable[str]) -> dict[str, RemoteFile]:
    """Return the files of some paths."""
    return {path: files[path] for path in paths if path in files}
