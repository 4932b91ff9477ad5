"""Pictures that are shown with a row's video: a diagram to a lecture, a face to look for.

A row names each by its path below a folder of videos. The folders and layouts are the videos' own,
and so is the rule of who may be read: see `library.Library`.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from reelbench.base.errors import InputError
from reelbench.base.files import path_inside
from reelbench.base.picture_files import FORMAT_BY_SUFFIX, opened
from reelbench.registry.row_columns import PICTURES
from reelbench.registry.rows import Row
from reelbench.video.media_roots import path_in_layout

FindFile = Callable[[Iterable[str]], Path | None]
"""From paths below a root to the first that exists."""


def names_of_pictures(row: Row) -> Sequence[str]:
    """Return the paths of the pictures that are shown with a row's video."""
    return row.get(PICTURES.name) or ()


def find(name: str, layouts: Iterable[str], find_file: FindFile) -> Path | None:
    """Return the picture that a row names. None where it is missing.

    Raises:
        InputError: The name leads out of a folder, or is not a picture's.
    """
    path_inside(Path(), name, "picture ")
    if not name.lower().endswith(tuple(FORMAT_BY_SUFFIX)):
        suffixes = ", ".join(FORMAT_BY_SUFFIX)
        raise InputError(f"picture {name[:200]!r} does not end in {suffixes}")
    return find_file(path_in_layout(layout, name) for layout in layouts)


def check(path: Path) -> None:
    """Raise InputError where a file is no picture that can be decoded."""
    with opened(path) as image:
        image.load()
