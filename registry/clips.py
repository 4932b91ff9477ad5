"""The short clips of the mini splits: drawn, encoded and kept on first use, so that no video has to be shipped."""

import hashlib
from fractions import Fraction
from pathlib import Path

import numpy as np

from reelbench.registry.files import written_aside
from reelbench.registry.home import home

WIDTH, HEIGHT = 128, 96
FPS = 8
SECONDS = 6.0
"""Length of a clip whose row does not say how long its video is."""


def mini_clip(benchmark: str, video: str, seconds: float | None = None) -> Path:
    """Return the clip for a mini row's media key: an H.264 mp4 of `seconds`, made if it isn't there yet."""
    path = home() / "mini" / benchmark / f"{video}.mp4"
    if not path.is_file():
        with written_aside(path) as aside:
            write_clip(aside, video, seconds or SECONDS)
    return path


def write_clip(path: Path, key: str, seconds: float) -> None:
    """Encode a square that crosses a coloured ground in `seconds`; `key` decides the colours."""
    import av

    colours = np.frombuffer(hashlib.sha256(key.encode()).digest()[:6], dtype=np.uint8).reshape(2, 3)
    frames = max(1, round(seconds * FPS))
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.time_base = Fraction(1, FPS)
        for number in range(frames):
            picture = np.full((HEIGHT, WIDTH, 3), colours[0], dtype=np.uint8)
            left = round((WIDTH - 24) * number / max(1, frames - 1))
            picture[36:60, left : left + 24] = 255 - colours[1]
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
