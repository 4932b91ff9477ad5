"""What a folder that somebody else may have written can make us read: what lies in it, and what the user allows it.

Everything that names a file on behalf of such a folder (a `benchmark.yaml`, its rows, its links)
asks `contained`. The user allows a folder more by `reelbench check FOLDER --allow-outside DIR` and
`reelbench new --media DIR`, kept in his home by the folder's resolved path, so that it holds for
every command and for a bare lmms-eval.
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


def contained(folder: Path, path: Path, *, media: bool = False, also: Sequence[Path] = ()) -> Path:
    """Return `path`, there or not, where its file, links followed, lies in `folder` or where the user allows it.

    He allows the folders that he has named (`also`) and, for videos and what lies beside one
    (`media`), REELBENCH_MEDIA. InputError where it lies elsewhere.
    """
    shown = cut_in_the_middle(str(path), _SHOWN_NAME)
    try:
        real, here = path.resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, a null: no file
        raise InputError(f"{shown}: can't be a file's name, or its links go in a circle") from None
    users = [*allowed_folders(folder), *also, *(settings.MEDIA.paths if media else ())]
    # Where the Hub's client keeps what a snapshot of a repository, in which the folder lies, has
    # links to.
    blobs = [place.parent / "blobs" for place in here.parents if place.name == "snapshots"]
    if any(
        real.is_relative_to(place) for place in (here, *blobs, *(user.resolve() for user in users))
    ):
        return path
    there, where = (
        cut_in_the_middle(str(p), _SHOWN_NAME)
        for p in (real, real if real.is_dir() else real.parent)
    )
    raise InputError(
        f"{shown} lies outside of {folder} ({there}), and a folder reads only what is in it; put it "
        f"there, or, if you trust who wrote it: reelbench check {folder} --allow-outside {where}"
    )


def hub_id(name: str, what: str) -> str:
    """Return the id of a repository on the Hub; InputError where what lies here by that name would be taken for it."""
    if re.fullmatch(r"(?!\.{1,2}(?:/|$))(?:[\w.-]+/)?[\w.-]+", name) and Path(name).exists():
        raise InputError(
            f"{what}: {name} lies in this folder, too, and would be taken for the Hub's; write ./{name}"
        )
    return name


def allowed_folders(folder: Path) -> list[Path]:
    """The folders that the user has allowed a folder to read from, beside itself."""
    kept = (read_record(settings.home() / _LIST) or {}).get(str(folder.resolve()), [])
    return [Path(str(path)) for path in kept] if is_array(kept) else []


def allow(folder: Path, outside: Path) -> None:
    """Let a folder read from another one, from now on; InputError where that isn't there."""
    if not outside.is_dir():
        raise InputError(f"{outside}: no such folder")
    name, place = str(folder.resolve()), str(outside.resolve())
    if place not in map(str, allowed_folders(folder)) and not outside.resolve().is_relative_to(
        folder.resolve()
    ):
        record = read_record(settings.home() / _LIST) or {}
        write_json(settings.home() / _LIST, {**record, name: [*record.get(name, []), place]})
