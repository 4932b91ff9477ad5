"""The files that a folder of somebody else may make us read: its own, and those the user allows.

Everything that names a file on behalf of such a folder (a `benchmark.yaml`, its rows, its links)
asks `contained`. The user allows a folder more by `reelbench check FOLDER --allow-outside DIR` and
`reelbench new --media DIR`. That is kept in his home by the folder's resolved path, so that it
holds for every command and for a bare lmms-eval.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from reelbench.base import settings
from reelbench.base.errors import InputError, cut_in_the_middle
from reelbench.base.files import read_record, write_json
from reelbench.base.values import is_array

_SHOWN_NAME = 120
_LIST = "allowed_outside.json"
"""In the user's home: the folders that he has allowed others to read from."""

_FOR_THE_TOKEN = "allowed_token.json"  # noqa: S105 - a file's name
"""In the user's home: the folders for whose files his token of the Hub may be used."""

_HUB_ID = re.compile(r"(?!\.{1,2}(?:/|$))(?:[\w.-]+/)?[\w.-]+")


def contained(folder: Path, path: Path, *, media: bool = False, also: Sequence[Path] = ()) -> Path:
    """Return `path` where its file, links followed, lies in `folder` or an allowed one.

    The file need not exist.

    Args:
        folder: The folder that names the file.
        path: The file's path.
        media: The file is a video or lies beside one. REELBENCH_MEDIA is allowed, too.
        also: Further folders that the user has named.

    Raises:
        InputError: It lies elsewhere.
    """
    shown_path = cut_in_the_middle(str(path), _SHOWN_NAME)
    try:
        real = path.resolve()
        real_folder = folder.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, a null: no file
        raise InputError(
            f"{shown_path}: can't be a file's name, or its links go in a circle"
        ) from None
    users_folders = [*allowed_folders(folder), *also]
    if media:
        users_folders += settings.MEDIA.paths
    real_users_folders = [users_folder.resolve() for users_folder in users_folders]
    for allowed_folder in (real_folder, *_blobs_of_snapshot(real_folder), *real_users_folders):
        if real.is_relative_to(allowed_folder):
            return path
    outside = real if real.is_dir() else real.parent
    shown_real = cut_in_the_middle(str(real), _SHOWN_NAME)
    shown_outside = cut_in_the_middle(str(outside), _SHOWN_NAME)
    raise InputError(
        f"{shown_path} is outside {folder} ({shown_real}), and a folder reads only "
        "what is in it; put it there, or, if you trust who wrote it: "
        f"reelbench check {folder} --allow-outside {shown_outside}"
    )


def hub_id(name: str, what: str) -> str:
    """Return the id of a repository on the Hub.

    Raises:
        InputError: A file or folder here has that name, and would be taken for the repository.
    """
    if _HUB_ID.fullmatch(name) and Path(name).exists():
        raise InputError(
            f"{what}: {name} is in this folder, too, and would be taken for the Hub's; write "
            f"./{name}"
        )
    return name


def allowed_folders(folder: Path) -> list[Path]:
    """Return the further folders that the user has allowed a folder to read from."""
    record = read_record(settings.home() / _LIST) or {}
    paths = record.get(str(folder.resolve()), [])
    if not is_array(paths):
        return []
    return [Path(str(path)) for path in paths]


def all_allowed_folders() -> list[Path]:
    """Return every folder that the user has allowed some folder to read from."""
    record = read_record(settings.home() / _LIST) or {}
    folders: list[Path] = []
    for paths in record.values():
        if is_array(paths):
            folders += [Path(str(path)) for path in paths]
    return folders


def allow_outside_folder(folder: Path, outside: Path) -> None:
    """Let a folder read from another one, from now on. InputError where that isn't there."""
    if not outside.is_dir():
        raise InputError(f"{outside}: no such folder")
    real_folder = folder.resolve()
    real_outside = outside.resolve()
    if real_outside.is_relative_to(real_folder):
        return
    if str(real_outside) in map(str, allowed_folders(folder)):
        return
    file = settings.home() / _LIST
    record = read_record(file) or {}
    name = str(real_folder)
    record[name] = [*record.get(name, []), str(real_outside)]
    write_json(file, record)


def may_use_token(folder: Path) -> bool:
    """Return True where the user allowed a folder's files to be fetched with his token."""
    record = read_record(settings.home() / _FOR_THE_TOKEN) or {}
    return str(folder.resolve()) in record


def allow_token(folder: Path) -> None:
    """Allow the user's token for what a folder names on the Hub, from now on."""
    file = settings.home() / _FOR_THE_TOKEN
    record = read_record(file) or {}
    write_json(file, {**record, str(folder.resolve()): True})


def _blobs_of_snapshot(folder: Path) -> list[Path]:
    """Return the folders to which links of the Hub client's snapshot of a repository lead."""
    snapshots = [parent for parent in folder.parents if parent.name == "snapshots"]
    return [snapshot.with_name("blobs") for snapshot in snapshots]
