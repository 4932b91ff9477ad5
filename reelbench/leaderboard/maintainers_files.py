"""The files that maintainers write by hand (`settings.yaml`, `aliases.yaml`), in several stores.

A store remembers which version of each it saw published last. So it knows who changed one since:
the other maintainers, whose file then comes into the store, or its own, which is published. Where
both did, nothing is published, and the other file lies beside one's own to be read.
"""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from reelbench.base.errors import InputError
from reelbench.base.files import read_record, sha256_of, write_json, written_aside
from reelbench.leaderboard import aliases, board_settings

FILES = (board_settings.FILE, aliases.FILE)

_SEEN = ".published.json"
"""In a store: file -> sha256 of the version that was published when it was last looked at."""


def remember(files: Iterable[Path], place: Path) -> None:
    """Note in a store that some files are published as they are here."""
    seen = dict(read_record(place / _SEEN) or {})
    digests = {file.name: sha256_of(file) for file in files if file.is_file()}
    if not digests.items() <= seen.items():
        write_json(place / _SEEN, {**seen, **digests})


def take(name: str, published: bytes, place: Path, note: Callable[[str], None]) -> None:
    """Bring a published file into a store, unless the store's own is to be published.

    Raises:
        InputError: It was changed here and by another maintainer, and this is the first time that
            the store meets that version.
    """
    file = place / name
    seen = dict(read_record(place / _SEEN) or {})
    published_digest = hashlib.sha256(published).hexdigest()
    last_seen = seen.get(name)
    seen[name] = published_digest
    own_digest = None
    if file.is_file():
        own_digest = sha256_of(file)
    if own_digest in (None, last_seen) and own_digest != published_digest:
        _write(file, published)
        note(f"{file}: brought in as another maintainer published it")
    elif own_digest != published_digest:
        if last_seen != published_digest:
            published_copy = place / f"published_{name}"
            _write(published_copy, published)
            write_json(place / _SEEN, seen)
            raise InputError(
                f"{file}: was changed here, and by another maintainer, whose file is now "
                f"{published_copy}; put into yours what you want of it, and publish again"
            )
        note(f"{file}: yours takes the place of the published one")
    if last_seen != published_digest:
        write_json(place / _SEEN, seen)


def _write(file: Path, content: bytes) -> None:
    """Write a file aside and rename it."""
    with written_aside(file) as aside:
        aside.write_bytes(content)
