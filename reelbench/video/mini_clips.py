"""The short clips of the mini splits: drawn, encoded and kept on first use, so that no video has to be shipped."""
# pyright: reportUnknownMemberType=false

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

from reelbench.base.files import inside, written_aside
from reelbench.base.settings import home

if TYPE_CHECKING:
    from av import VideoCodecContext, VideoFrame

WIDTH, HEIGHT = 128, 96
FPS = 12
"""Enough for 64 frames in the shortest clip, which lasts 6 s: some of lmms-eval's adapters ask for 10, 32 or 64 by
default, and fail on a video that has fewer."""
SECONDS = 6.0  # length of a clip whose row does not say how long its video is
PICTURES = 64  # pictures in a mini folder of pictures; their numbers rise by `NUMBER_STEP`, as in DramaQA's
NUMBER_STEP = 8


def folder(benchmark: str) -> Path:
    """Return the folder of a benchmark's clips, or folders of pictures, once they are made."""
    return home() / "mini" / benchmark


def mini_clip(benchmark: str, video: str, seconds: float | None = None) -> Path:
    """Return the clip for a mini row's media key: an H.264 mp4 of `seconds`, made if it isn't there yet."""
    path = inside(folder(benchmark), f"{video}.mp4")
    if not path.is_file():
        with written_aside(path) as aside:
            draw_clip(aside, video, seconds or SECONDS)
    return path


def mini_pictures(benchmark: str, layout: str, folders: Sequence[str]) -> Path:
    """Return the root under which each of a mini row's folders holds numbered pictures, made where they are not yet."""
    from av import CodecContext

    root = folder(benchmark)
    for name in folders:
        path = root / layout.format(video=name)
        if path.is_dir():
            continue
        # Shots follow one another: the number says where in the episode a picture is.
        first = int(name.rpartition("/")[2] or 0) * PICTURES * NUMBER_STEP
        with written_aside(path) as aside:
            aside.mkdir(parents=True)
            for number in range(PICTURES):
                encoder = cast("VideoCodecContext", CodecContext.create("mjpeg", "w"))
                encoder.width, encoder.height, encoder.pix_fmt = WIDTH, HEIGHT, "yuvj420p"
                encoder.time_base = Fraction(1, 25)
                frame = _drawn(name, number, PICTURES).reformat(format="yuvj420p")
                frame.pts = 0
                data = b"".join(
                    bytes(packet) for picture in (frame, None) for packet in encoder.encode(picture)
                )
                (aside / f"IMAGE_{first + number * NUMBER_STEP:010d}.jpg").write_bytes(data)
    return root


def draw_clip(path: Path, key: str, seconds: float) -> None:
    """Encode a square that crosses a coloured ground in `seconds`; `key` decides the colours."""
    import av

    frames = max(1, round(seconds * FPS))
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.time_base = Fraction(1, FPS)
        for number in range(frames):
            frame = _drawn(key, number, frames)
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _drawn(key: str, number: int, frames: int) -> "VideoFrame":
    """Draw one picture of the crossing; `key` decides the colours."""
    import numpy as np
    from av import VideoFrame

    colours = np.frombuffer(hashlib.sha256(key.encode()).digest()[:6], dtype=np.uint8).reshape(2, 3)
    picture = np.full((HEIGHT, WIDTH, 3), colours[0], dtype=np.uint8)
    left = round((WIDTH - 24) * number / max(1, frames - 1))
    picture[36:60, left : left + 24] = 255 - colours[1]
    return VideoFrame.from_ndarray(picture, format="rgb24")
