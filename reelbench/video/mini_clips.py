"""The short clips of the mini splits.

They are drawn and encoded on first use, so that no video has to be shipped.
"""
# pyright: reportUnknownMemberType=false

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

from reelbench.base.files import path_inside, written_aside
from reelbench.base.settings import home

if TYPE_CHECKING:
    from av import VideoCodecContext, VideoFrame

WIDTH = 128
HEIGHT = 96

FPS = 12
"""Enough for 64 frames in the shortest clip, which lasts 6 s.

Some of lmms-eval's adapters ask for 10, 32 or 64 by default, and fail on a video that has fewer.
"""

SECONDS = 6.0
"""Length of a clip whose row does not say how long its video is."""

PICTURES = 64
"""Pictures in a mini folder of pictures."""

NUMBER_STEP = 8
"""Step between the pictures' numbers, as in DramaQA's."""

_SIDE = 24
_TOP = 36


def folder(benchmark: str) -> Path:
    """Return the folder of a benchmark's clips, or folders of pictures."""
    return home() / "mini" / benchmark


def mini_clip(benchmark: str, video: str, seconds: float | None = None) -> Path:
    """Return the clip for a mini row's media key, made if it isn't there yet.

    It is an H.264 mp4 that lasts `seconds`.
    """
    path = path_inside(folder(benchmark), f"{video}.mp4")
    if not path.is_file():
        with written_aside(path) as aside:
            draw_clip(aside, video, seconds or SECONDS)
    return path


def mini_pictures(benchmark: str, layout: str, folders: Sequence[str]) -> Path:
    """Make a mini row's folders of numbered pictures, where they are not there yet.

    Returns:
        The root under which they lie.
    """
    root = folder(benchmark)
    for name in folders:
        path = root / layout.format(video=name)
        if not path.is_dir():
            _draw_pictures(path, name)
    return root


def _draw_pictures(path: Path, name: str) -> None:
    # Shots follow one another: the number says where in the episode a picture is.
    shot = int(name.rpartition("/")[2] or 0)
    first_place = shot * PICTURES
    with written_aside(path) as aside:
        aside.mkdir(parents=True)
        for number in range(PICTURES):
            picture = _draw_crossing(name, number, PICTURES)
            picture_number = (first_place + number) * NUMBER_STEP
            file = aside / f"IMAGE_{picture_number:010d}.jpg"
            file.write_bytes(_as_jpeg(picture))


def _as_jpeg(picture: "VideoFrame") -> bytes:
    from av import CodecContext

    encoder = cast("VideoCodecContext", CodecContext.create("mjpeg", "w"))
    encoder.width = WIDTH
    encoder.height = HEIGHT
    encoder.pix_fmt = "yuvj420p"
    encoder.time_base = Fraction(1, 25)
    frame = picture.reformat(format="yuvj420p")
    frame.pts = 0
    packets = [*encoder.encode(frame), *encoder.encode(None)]
    return b"".join(map(bytes, packets))


def draw_clip(path: Path, key: str, seconds: float) -> None:
    """Encode a square that crosses a coloured ground in some seconds.

    The key decides the colours.
    """
    import av

    frame_count = max(1, round(seconds * FPS))
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width = WIDTH
        stream.height = HEIGHT
        stream.pix_fmt = "yuv420p"
        stream.time_base = Fraction(1, FPS)
        for number in range(frame_count):
            frame = _draw_crossing(key, number, frame_count)
            frame.pts = number
            frame.time_base = Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _draw_crossing(key: str, number: int, frame_count: int) -> "VideoFrame":
    """Draw one picture of the crossing."""
    import numpy as np
    from av import VideoFrame

    digest = hashlib.sha256(key.encode()).digest()
    background = np.frombuffer(digest[:3], dtype=np.uint8)
    foreground = 255 - np.frombuffer(digest[3:6], dtype=np.uint8)
    picture = np.full((HEIGHT, WIDTH, 3), background, dtype=np.uint8)
    last_number = max(1, frame_count - 1)
    left_edge = round((WIDTH - _SIDE) * number / last_number)
    right_edge = left_edge + _SIDE
    bottom_edge = _TOP + _SIDE
    picture[_TOP:bottom_edge, left_edge:right_edge] = foreground
    return VideoFrame.from_ndarray(picture, format="rgb24")
