"""Decoded pictures made upright, scaled, and brought to one pixel format."""

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation

_BT709 = 1
"""ITU-T H.273 code of the BT.709 matrix, in a frame's tags as in libswscale."""

_RGB = 0

_FULL = np.arange(256)
_LIMITED_LUMA = 16 + _FULL * 219 / 255
_LIMITED_CHROMA = 128 + (_FULL - 128) * 224 / 255
_LUMA = np.rint(_LIMITED_LUMA).astype(np.uint8)
_CHROMA = np.rint(_LIMITED_CHROMA).astype(np.uint8)
"""Full range to limited range, ITU-T H.273 section 8.3."""


def as_rgb(picture: VideoFrame) -> np.ndarray:
    """Return a picture as uint8 RGB, (height, width, 3).

    An untagged one counts as BT.601, as in FFmpeg.
    """
    source = Colorspace.ITU601
    if picture.colorspace == _BT709:
        source = Colorspace.ITU709
    rgb = picture.reformat(
        format="rgb24",
        src_colorspace=source,
        dst_colorspace=Colorspace.ITU601,
    )
    return rgb.to_ndarray()


def turn_and_scale(picture: VideoFrame, size: tuple[int, int], rotation: int) -> VideoFrame:
    """Return a picture turned, then scaled, as 8-bit yuv420p in limited range.

    Args:
        picture: The picture as it came out of the decoder.
        size: The width and height to scale to, both even.
        rotation: Degrees counter-clockwise.
    """
    matrix = picture.colorspace
    if matrix == _RGB:
        # RGB sources become YUV by libswscale's default matrix, BT.601.
        matrix = Colorspace.ITU601
    width, height = size
    if rotation % 180:
        height, width = size
    squeezes = _needs_squeezing(picture.format.name)
    has_size = picture.width == width and picture.height == height
    if not has_size or picture.format.name != "yuv420p":
        picture = picture.reformat(
            width,
            height,
            "yuv420p",
            interpolation=Interpolation.BICUBIC,
            dst_color_range=ColorRange.MPEG,
        )
    if squeezes and picture.color_range == ColorRange.JPEG:
        planes = _stacked_planes(picture)
        luma = planes[:height]
        chroma = planes[height:]
        luma[:] = _LUMA[luma]
        chroma[:] = _CHROMA[chroma]
        picture = VideoFrame.from_ndarray(planes, format="yuv420p")
    if rotation:
        picture = _turn_picture(picture, rotation)
    picture.colorspace = matrix
    picture.color_range = ColorRange.MPEG
    return picture


def _needs_squeezing(pixel_format: str) -> bool:
    """Return True where libswscale may leave a format's range as it is.

    Before PyAV 17 libswscale squeezes the range of yuvj, gray and RGB pictures by itself, but not
    that of others, and the tag stays; from 17 on it squeezes all, and the tag says so.
    """
    if pixel_format.startswith("yuvj"):
        return False
    return pixel_format.startswith(("yuv", "nv"))


def _turn_picture(picture: VideoFrame, rotation: int) -> VideoFrame:
    """Return a picture turned by a multiple of 90 degrees counter-clockwise."""
    quarters = rotation // 90
    height = picture.height
    width = picture.width
    planes = _stacked_planes(picture)
    luma = planes[:height]
    chroma = planes[height:].reshape(2, height // 2, width // 2)
    turned_luma = np.rot90(luma, quarters)
    turned_chroma = np.rot90(chroma, quarters, axes=(1, 2))
    # Joined as bytes: a chroma plane by itself need not fill whole rows of the picture's width.
    joined = np.concatenate([turned_luma.ravel(), turned_chroma.ravel()])
    turned_width = turned_luma.shape[1]
    turned_planes = joined.reshape(-1, turned_width)
    return VideoFrame.from_ndarray(turned_planes, format="yuv420p")


def _stacked_planes(picture: VideoFrame) -> np.ndarray:
    """Return a picture's planes, one below the other: (height * 3 / 2, width)."""
    return picture.to_ndarray().astype(np.uint8, copy=False)
