"""Whether a file is a whole video."""

from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
import pytest

from reelbench.video.playable import defect, seconds

CODECS = {
    "mp4": "libx264",
    "mkv": "libx264",
    "webm": "libvpx-vp9",
    "avi": "mpeg4",
    "mov": "libx264",
}


def film(path, frames=48, options=None):
    """Write a film; what is in it is made once for all tests."""
    path.write_bytes(_film(path.suffix, frames, tuple((options or {}).items())))
    return path


@cache
def _film(suffix, frames, options):
    noise = np.random.default_rng(0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"made{suffix}"
        with av.open(str(path), "w", options=dict(options)) as container:
            stream = container.add_stream(CODECS[path.suffix[1:]], rate=8)
            stream.width, stream.height, stream.pix_fmt, stream.gop_size = 128, 96, "yuv420p", 12
            for number in range(frames):
                frame = av.VideoFrame.from_ndarray(
                    noise.integers(0, 255, (96, 128, 3), dtype=np.uint8), format="rgb24"
                )
                frame.pts, frame.time_base = number, Fraction(1, 8)
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        return path.read_bytes()


def sound(path):
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=16000)
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 16000), dtype=np.float32), format="fltp", layout="mono"
        )
        frame.rate = 16000
        for packet in (*stream.encode(frame), *stream.encode()):
            container.mux(packet)
    return path


@pytest.mark.parametrize("suffix", CODECS)
@pytest.mark.parametrize("frames", [1, 48])
def test_a_whole_video_is_not_broken(tmp_path, suffix, frames):
    path = film(tmp_path / f"a.{suffix}", frames)
    assert defect(path) is None
    assert seconds(path) == pytest.approx(
        frames / 8, abs=0.13
    )  # a container may end where its last frame begins


@pytest.mark.parametrize("kept", [0.8, 0.5, 0.1])
@pytest.mark.parametrize(
    ("suffix", "options"),
    [("mp4", {"movflags": "faststart"}), ("mp4", {}), ("mkv", {}), ("webm", {}), ("avi", {})],
)
def test_a_video_that_was_cut_off_is_broken_also_where_it_opens(tmp_path, suffix, options, kept):
    whole = film(tmp_path / f"a.{suffix}", options=options).read_bytes()
    cut = tmp_path / f"cut.{suffix}"
    cut.write_bytes(whole[: int(len(whole) * kept)])

    assert defect(cut)


def test_an_index_cut_anywhere_never_crashes(tmp_path):
    whole = film(tmp_path / "a.mp4", frames=2).read_bytes()
    cut = tmp_path / "cut.mp4"
    for length in range(whole.index(b"moov"), len(whole) - 100, 7):
        cut.write_bytes(whole[:length])
        defect(cut)


def test_sound_alone_is_no_video(tmp_path):
    assert defect(sound(tmp_path / "a.mp4")) == "has no video stream (only sound)"


def test_an_empty_file_is_called_empty(tmp_path):
    (tmp_path / "a.mp4").touch()
    assert defect(tmp_path / "a.mp4") == "the file is empty"


@pytest.mark.parametrize("data", [b"<!DOCTYPE html><html></html>", b"\0" * 5000, b"RIFF"])
def test_other_files_are_not_videos(tmp_path, data):
    path = tmp_path / "a.mp4"
    path.write_bytes(data)

    reason = defect(path)

    assert reason.startswith("is not a video that can be read")
    assert "\n" not in reason
