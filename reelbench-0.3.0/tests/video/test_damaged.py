"""Two hundred damaged videos: each ends in frames or in one clear error, without a hang, a crash or runaway memory."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import av
import pytest

from reelbench.base.errors import MediaError
from reelbench.registry.sampling import FrameSampling
from reelbench.video.decoder import decode
from tests.video import clips
from tests.video.clips import PEAK_MIB

FIXTURES = Path(__file__).parents[1] / "fixtures"

SOURCES = [
    ("libx264", "mp4"),
    ("libx264", "mkv"),
    ("libx264", "avi"),
    ("libx264", "ts"),
    ("libx265", "mov"),
    ("libvpx-vp9", "webm"),
]
SPECS = ["uniform:8", "fps:3", "keyframe:5", "window:1-3,4", "all"]

# In a process of its own, so that a crash in a codec is a failed test and not the end of the test
# run.
CHILD = """
import json, sys
from reelbench.base.errors import ReelbenchError
from reelbench.video.decoder import decode
from reelbench.registry.sampling import FrameSampling
for line in sys.stdin:
    path, spec = json.loads(line)
    try:
        times = [frame.timestamp for frame in decode(path, FrameSampling.parse(spec), time_limit=20)]
        end = {"frames": len(times), "rising": times == sorted(times)}
    except ReelbenchError as error:
        end = {"error": str(error)}
    peak = peak_mib()
    print(json.dumps(end | {"path": path, "peak": peak}), flush=True)
"""


def damaged(whole: bytes, rng: random.Random) -> bytes:
    data = bytearray(whole)
    at, length = rng.randrange(len(data)), rng.randrange(1, 5000)
    match rng.choice(["cut", "flip", "head", "tail", "zero", "drop", "repeat"]):
        case "cut":
            del data[at:]
        case "flip":
            for _ in range(rng.choice([1, 10, 100, 1000])):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case "head":
            for _ in range(rng.choice([1, 5, 20])):
                data[rng.randrange(2000)] = rng.randrange(256)
        case "tail":
            for _ in range(rng.choice([1, 5, 20])):
                data[-1 - rng.randrange(6000)] = rng.randrange(256)
        case "zero":
            data[at : at + length] = bytes(len(data[at : at + length]))
        case "drop":
            del data[at : at + length]
        case "repeat":
            data[at:at] = data[at : at + length]
    return bytes(data)


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_each_damaged_video_ends_in_frames_or_one_clear_error(
    count: int, clip: Callable[..., Path], tmp_path: Path
) -> None:
    rng = random.Random(20261120)
    asked = []
    for number in range(count):
        codec, container = rng.choice(SOURCES)
        path = tmp_path / f"{number}.{container}"
        path.write_bytes(damaged(clip(codec, container).read_bytes(), rng))
        asked.append(json.dumps([str(path), rng.choice(SPECS)]))
    child = subprocess.run(
        [sys.executable, "-c", PEAK_MIB + CHILD],
        input="\n".join(asked),
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    ends = [json.loads(line) for line in child.stdout.splitlines()]
    assert len(ends) == count
    for end in ends:
        if "error" in end:
            assert end["error"].startswith(f"{end['path']}: ")
            assert "\n" not in end["error"]
        else:
            assert end["frames"] > 0
            assert end["rising"]
    shown = [end for end in ends if "frames" in end]
    assert len(shown) > count / 2  # most damage spares most frames
    assert count - len(shown) > count / 10
    assert ends[-1]["peak"] < 300


# As torchvision switches PyAV's log on, FFmpeg's threads wait for the GIL, which PyAV holds while
# it waits for them.
LOGGED = """
import random, sys
from pathlib import Path
import av.logging
from reelbench.base.errors import ReelbenchError
from reelbench.video.decoder import VideoFile
from reelbench.registry.sampling import FrameSampling
av.logging.set_level(av.logging.ERROR)
whole, path, rng = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]), random.Random(3)
for turn in range(30):
    data = bytearray(whole)
    for _ in range(400):
        data[rng.randrange(3000, len(data) - 12_000)] = rng.randrange(256)
    path.write_bytes(data)
    frames = VideoFile(path).frames(FrameSampling.parse("all"))
    try:
        for _ in zip(range(40 if turn % 2 else 600), frames):
            pass
    except ReelbenchError:
        pass
    frames.close()
print("done")
"""


def test_damaged_videos_don_t_freeze_a_process_that_logs_what_ffmpeg_says(
    clip: Callable[..., Path], tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-c",
        LOGGED,
        clip("libx264", "mp4", gop=250, frames=600),
        tmp_path / "damaged.mp4",
    ]
    child = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert child.stdout == "done\n", child.stderr[-2000:]


@pytest.mark.parametrize("spec", ["window:10.8-10.9,4", "fps:4", "uniform:13", "all"])
def test_frames_rise_though_a_keyframe_claims_a_later_time(
    clip: Callable[..., Path], tmp_path: Path, spec: str
) -> None:
    path = tmp_path / "late.mkv"
    with (
        av.open(str(clip("libvpx-vp9", "webm", frames=600))) as whole,
        av.open(str(path), "w") as late,
    ):
        stream = late.add_stream_from_template(whole.streams.video[0])
        for number, packet in enumerate(whole.demux(video=0)):
            if packet.dts is None:
                continue
            if number in (240, 420):  # keyframes: every twelfth
                packet.pts += 1260  # in ms: 31.5 frames
            packet.stream = stream
            late.mux(packet)
    times = [frame.timestamp for frame in decode(path, FrameSampling.parse(spec))]
    assert times == sorted(times)
    assert len(times) > 2


def test_frames_of_which_none_is_a_keyframe_begin_with_the_first(tmp_path):
    """`keyframe:N` gave no frame, and no error: every I-VOP of an MPEG-4 film is made a P-VOP."""
    path = clips.encode(tmp_path / "film.avi", codec="mpeg4", gop=5, ticks=clips.constant(20))
    data = bytearray(path.read_bytes())
    start = b"\x00\x00\x01\xb6"
    for place in (at.end() for at in re.finditer(start, bytes(data))):
        data[place] |= (
            0x40 if data[place] >> 6 == 0 else 0
        )  # vop_coding_type (ISO/IEC 14496-2, 6.3.5)
    path.write_bytes(data)
    frames = list(decode(path, FrameSampling.parse("keyframe:5")))
    assert [frame.index for frame in frames] == [0]


def test_what_one_thread_decodes_and_several_do_not_is_one_line():
    """A fuzzed film whose only frame comes out of a decoder of one thread alone."""
    with pytest.raises(MediaError, match="not one frame of it can be decoded"):
        list(decode(FIXTURES / "damaged" / "one_frame.mkv", FrameSampling.parse("all")))
