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


def record_published(files: Iterable[Path], store_path: Path) -> None:
    """Record in a store that the given files are published as they are here."""
    seen_digests = dict(read_record(store_path / _SEEN) or {})
    digests = {file.name: sha256_of(file) for file in files if file.is_file()}
    if not digests.items() <= seen_digests.items():
        write_json(store_path / _SEEN, {**seen_digests, **digests})


def bring_in(name: str, published: bytes, store_path: Path, note: Callable[[str], None]) -> None:
    """Bring a published file into a store, unless the store's own is to be published.

    Raises:
        InputError: It was changed here and by another maintainer, and this is the first time that
            the store meets that version.
    """
    file = store_path / name
    seen_digests = dict(read_record(store_path / _SEEN) or {})
    published_digest = hashlib.sha256(published).hexdigest()
    is_new_version = seen_digests.get(name) != published_digest
    own_digest = sha256_of(file) if file.is_file() else None
    changed_here = own_digest is not None and own_digest != seen_digests.get(name)
    seen_digests[name] = published_digest
    if own_digest != published_digest:
        if not changed_here:
            _write(file, published)
            note(f"{file}: brought in as another maintainer published it")
        elif is_new_version:
            published_copy = store_path / f"published_{name}"
            _write(published_copy, published)
            write_json(store_path / _SEEN, seen_digests)
            raise InputError(
                f"{file}: was changed here, and by another maintainer, whose file is now "
                f"{published_copy}; put into yours what you want of it, and publish again"
            )
        else:
            note(f"{file}: yours takes the place of the published one")
    if is_new_version:
        write_json(store_path / _SEEN, seen_digests)


def _write(file: Path, content: bytes) -> None:
    """Write a file at once: a temporary file is renamed to it."""
    with written_aside(file) as temporary_file:
        temporary_file.write_bytes(content)
