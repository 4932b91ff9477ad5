"""Pictures that a row shows beside its video: named, or held in the row itself.

Parquet files of the Hub hold pictures as bytes. These are written once into the folder of the
benchmark's fetched videos, under the hash of their content, and are then found as any others.
"""

import hashlib
from typing import Any

from reelbench.base import bounds
from reelbench.base.files import open_aside
from reelbench.base.picture_files import suffix_of
from reelbench.base.tables import as_text
from reelbench.base.values import is_object
from reelbench.data.row_cells import as_list
from reelbench.registry.spec import BenchmarkSpec
from reelbench.video.media_roots import fetched_root

FOLDER = "pictures"


def names(spec: BenchmarkSpec, value: Any, where: str) -> list[str]:  # noqa: ANN401 - a cell
    """Return the paths of a cell's pictures below a folder of videos. Null is none.

    Raises:
        InputError: The cell holds something else, or too many.
    """
    paths: list[str] = []
    parts = as_list(value)
    bounds.hold(f"{where}: pictures of a row", len(parts), bounds.PICTURES)
    for part in parts:
        content = _content(part)
        if content is not None:
            paths.append(_write_picture_once(spec, content, where))
            continue
        if is_object(part):
            part = part.get("path")  # noqa: PLW2901 - the Hub's pictures that lie elsewhere
        path = as_text(part, where)
        if path:
            paths.append(path)
    return paths


def _content(value: Any) -> bytes | None:  # noqa: ANN401 - a cell
    """Return the bytes of a picture that a cell holds. None where it names one."""
    if is_object(value):
        value = value.get("bytes")
    return value if isinstance(value, bytes) and value else None


def _write_picture_once(spec: BenchmarkSpec, content: bytes, where: str) -> str:
    """Write a picture once. Return its path below the folder of fetched videos."""
    bounds.hold(f"{where}: bytes of a picture", len(content), bounds.FILE_BYTES)
    name = f"{FOLDER}/{hashlib.sha256(content).hexdigest()}{suffix_of(content, where)}"
    path = fetched_root(spec) / name
    if not path.is_file():
        with open_aside(path, "wb") as file:
            file.write(content)
    return name
