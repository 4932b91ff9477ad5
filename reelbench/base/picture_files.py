"""Open pictures that others made, with few decoders.

Pillow chooses a decoder by a file's content, whatever its name. It has some forty, and the one of
EPS starts Ghostscript. Only those of four formats are let at others' bytes, and only from here.
"""

from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base import bounds
from reelbench.base.errors import InputError, first_line

if TYPE_CHECKING:
    from PIL.Image import Image

FORMAT_BY_SUFFIX = {
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".png": "PNG",
    ".webp": "WEBP",
    ".bmp": "BMP",
}
"""The end of a picture's name -> Pillow's name of its format."""

_FORMATS = tuple(dict.fromkeys(FORMAT_BY_SUFFIX.values()))
_NAMES_OF_JPEG = ("JPEG", "MPO")
"""Pillow's names of a JPEG. MPO is one with further pictures behind it, as cameras write them."""


@contextmanager
def opened(path: Path) -> Generator["Image"]:
    """Open a picture's file for the block, which decodes it.

    Its compressed bytes are in memory and the file is closed: the picture may outlive the block.

    Raises:
        InputError: It is too large, its name ends as that of another format, or Pillow raised
            anything, in the block too.
    """
    bounds.hold(f"{path}: bytes", path.stat().st_size, bounds.FILE_BYTES)
    with opened_bytes(path.read_bytes(), str(path)) as image:
        is_format = _format_of(image)
        if FORMAT_BY_SUFFIX.get(path.suffix.lower()) != is_format:
            raise InputError(f"{path}: is a {is_format} by its content; name it as one")
        yield image


@contextmanager
def opened_bytes(content: bytes, where: str) -> Generator["Image"]:
    """Open a picture's bytes for the block, as `opened` does a file."""
    try:
        image = _open(content, where)
        yield image
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - Pillow's decoders raise of any kind, SyntaxError too
        raise InputError(
            f"{where}: is not a picture that can be read ({first_line(error)})"
        ) from None


def suffix_of(content: bytes, where: str) -> str:
    """Return the suffix for the file of a picture, by its content.

    Raises:
        InputError: As in `opened`.
    """
    with opened_bytes(content, where) as image:
        is_format = _format_of(image)
    for suffix, name in FORMAT_BY_SUFFIX.items():
        if name == is_format:
            return suffix
    raise AssertionError(is_format)  # Pillow opened what it wasn't told to


def open_rgb(path: Path) -> "Image":
    """Open a picture in RGB, to be decoded when it is used.

    So of many pictures not all are decoded at once.

    Raises:
        InputError: As in `opened`.
    """
    with opened(path) as image:
        if image.mode == "RGB":
            return image
        packed = BytesIO()
        image.convert("RGB").save(packed, "PNG", compress_level=1)
        with opened_bytes(packed.getvalue(), str(path)) as packed_image:
            return packed_image


def _open(content: bytes, where: str) -> "Image":
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(BytesIO(content), formats=_FORMATS)  # noqa: TID251 - the one place
    except UnidentifiedImageError:
        raise InputError(
            f"{where}: is not a picture that can be read (none of {', '.join(_FORMATS)})"
        ) from None
    bounds.hold(f"{where}: pixels", image.width * image.height, bounds.PICTURE_PIXELS)
    return image


def _format_of(image: "Image") -> str:
    """Return the format that a picture has by its content."""
    name = str(image.format)
    return "JPEG" if name in _NAMES_OF_JPEG else name
