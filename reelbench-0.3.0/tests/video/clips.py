"""Tiny synthetic videos whose every frame says its own number in big black and white blocks."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

WIDTH, HEIGHT = 128, 96
"""4 x 4 blocks of 32 x 24 pixels, one bit each, most significant first, in rows."""

CLOCK = 1000
"""Frame times are given in ticks of 1/1000 s, which every container here can hold."""

X264 = "keyint={gop}:min-keyint={gop}:scenecut=0:bframes=3:b-pyramid=normal:ref=3:b-adapt=0"
X265 = "keyint={gop}:min-keyint={gop}:scenecut=0:bframes=3:b-adapt=0:open-gop=0:log-level=none:pools=none:frame-threads=1"


def picture(number: int) -> av.VideoFrame:
    bits = [(number >> (15 - place)) & 1 for place in range(16)]
    luma = np.kron(
        np.array(bits, np.uint8).reshape(4, 4) * 219 + 16,
        np.ones((HEIGHT // 4, WIDTH // 4), np.uint8),
    )
    chroma = np.full((HEIGHT // 2, WIDTH), 128, np.uint8)
    return av.VideoFrame.from_ndarray(
        np.concatenate([luma.astype(np.uint8), chroma]), format="yuv420p"
    )


def number_in(rgb: np.ndarray) -> int:
    """Read the number back from the pixels, whatever their scale."""
    height, width = rgb.shape[:2]
    number = 0
    for row in range(4):
        for column in range(4):
            y, x = int((row + 0.5) * height / 4), int((column + 0.5) * width / 4)
            bit = rgb[y - 1 : y + 2, x - 1 : x + 2].mean() > 127
            number = number * 2 + int(bit)
    return number


def encode(path: Path, *, codec: str, gop: int, ticks: list[int], first: int = 0) -> Path:
    """Write len(ticks) frames, the i-th shown at ticks[i] thousandths of a second."""
    options = {"g": str(gop)}
    match codec:
        case "libx264":
            options = {"preset": "veryfast", "x264-params": X264.format(gop=gop)}
        case "libx265":
            options = {"preset": "ultrafast", "x265-params": X265.format(gop=gop)}
        case "libvpx-vp9":
            options |= {
                "deadline": "realtime",
                "cpu-used": "8",
                "keyint_min": str(gop),
                "crf": "20",
                "b": "0",
            }
        case "mpeg4":
            options |= {"qmin": "2", "qmax": "4", "bf": "2", "sc_threshold": "1000000000"}
    with av.open(str(path), "w") as container:
        rate = Fraction(len(ticks) - 1, ticks[-1] - ticks[0]) * CLOCK if len(ticks) > 1 else 25
        even = path.suffix == ".avi"
        stream = container.add_stream(
            codec, rate=rate.limit_denominator(1001) if even else rate, options=options
        )
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.thread_type = "FRAME"
        stream.codec_context.thread_count = 1
        if not even:
            stream.codec_context.time_base = Fraction(1, CLOCK)
        for number, tick in enumerate(ticks):
            frame = picture(first + number)
            frame.pts, frame.time_base = (
                (number, 1 / Fraction(rate)) if even else (tick, Fraction(1, CLOCK))
            )
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def constant(frames: int, fps: int = 25) -> list[int]:
    return [CLOCK * number // fps for number in range(frames)]


def varying(frames: int) -> list[int]:
    """Gaps of 40, 120, 20 and 80 ms in turn: 260 ms for every four frames."""
    return [sum((40, 120, 20, 80)[: number % 4]) + number // 4 * 260 for number in range(frames)]


def decoded_in_order(path: Path) -> list[tuple[int, float, bool]]:
    """(number, seconds from the first, keyframe) of all frames, by one plain decode of the whole file."""
    with av.open(str(path)) as container:
        frames = [
            (number_in(f.to_ndarray(format="rgb24")), f.time, f.key_frame)
            for f in container.decode(video=0)
        ]
    return [(number, at - frames[0][1], key) for number, at, key in frames]


PEAK_MIB = """
def peak_mib():
    # Not ru_maxrss: a process begins with that of the one it was forked from, here all of pytest with lmms-eval in it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024
"""
"""Source of a function for a child process: the most memory that it itself has had, in MiB (Linux)."""
