"""Pictures made ready: upright, scaled, 8-bit yuv420p in limited range, with the colours that their tags state."""

import numpy as np
import numpy.typing as npt
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation

_BT709 = 1
"""ITU-T H.273 code of the BT.709 matrix, in a frame's tags as in libswscale."""
_RGB = 0

_FULL = np.arange(256)
_LUMA = np.rint(16 + _FULL * 219 / 255).astype(np.uint8)
_CHROMA = np.rint(128 + (_FULL - 128) * 224 / 255).astype(np.uint8)
"""Full range to limited range, ITU-T H.273 section 8.3."""


def prepared(picture: VideoFrame, size: tuple[int, int], rotation: int) -> VideoFrame:
    """Return a picture turned by `rotation` degrees counter-clockwise, then scaled to `size` (width, height), even."""
    width, height = size[::-1] if rotation % 180 else size
    matrix = picture.colorspace
    name = picture.format.name
    if (picture.width, picture.height, name) != (width, height, "yuv420p"):
        picture = picture.reformat(
            width, height, "yuv420p", interpolation=Interpolation.BICUBIC, dst_color_range=ColorRange.MPEG
        )
    # Before PyAV 17 libswscale squeezes the range of yuvj, gray and RGB pictures by itself, but not that of others, and
    # the tag stays; from 17 on it squeezes all, and the tag says so.
    if picture.color_range == ColorRange.JPEG and name.startswith(("yuv", "nv")) and not name.startswith("yuvj"):
        planes = _planes(picture)
        planes[:height] = _LUMA[planes[:height]]
        planes[height:] = _CHROMA[planes[height:]]
        picture = VideoFrame.from_ndarray(planes, format="yuv420p")
    if rotation:
        picture = _turned(picture, rotation // 90)
    # RGB sources become YUV by libswscale's default matrix, BT.601.
    picture.colorspace = Colorspace.ITU601 if matrix == _RGB else matrix
    picture.color_range = ColorRange.MPEG
    return picture


def to_rgb(picture: VideoFrame) -> VideoFrame:
    """Return a prepared picture as rgb24; untagged ones count as BT.601, as in FFmpeg."""
    if picture.colorspace == _BT709:
        return picture.reformat(format="rgb24", src_colorspace=Colorspace.ITU709, dst_colorspace=Colorspace.ITU601)
    return picture.reformat(format="rgb24", src_colorspace=Colorspace.ITU601, dst_colorspace=Colorspace.ITU601)


def _planes(picture: VideoFrame) -> npt.NDArray[np.uint8]:
    """Return a yuv420p picture's planes, one below the other: (height * 3 / 2, width)."""
    return picture.to_ndarray().astype(np.uint8, copy=False)


def _turned(picture: VideoFrame, quarters: int) -> VideoFrame:
    width, height = picture.width, picture.height
    planes = _planes(picture)
    chroma = planes[height:].reshape(2, height // 2, width // 2)
    turned = [np.rot90(plane, quarters) for plane in (planes[:height], *chroma)]
    # Joined as bytes: a chroma plane by itself need not fill whole rows of the picture's width.
    joined = np.concatenate([plane.ravel() for plane in turned])
    return VideoFrame.from_ndarray(joined.reshape(-1, turned[0].shape[1]), format="yuv420p")
