"""Exact frames and times, read back from the pixels of numbered clips, for every container and codec PyAV can write."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import av
import numpy as np
import pytest

from reelbench.base.errors import MediaError
from reelbench.registry.sampling import FrameSampling
from reelbench.video import decode_ahead, decoder
from reelbench.video.decoder import Frame, VideoFile, decode
from tests.alarms import PATIENCE_S
from tests.video import clips

Make = Callable[..., Path]

WRITTEN = [
    ("libx264", "mp4"), ("libx264", "mkv"), ("libx264", "mov"), ("libx264", "avi"), ("libx264", "ts"),
    ("libx265", "mp4"), ("libx265", "mkv"), ("libx265", "mov"),
    ("libvpx-vp9", "webm"), ("libvpx-vp9", "mkv"), ("libvpx-vp9", "mp4"),
]  # fmt: skip

# Worked out by hand for 300 frames at 25 a second; a kind's places are documented in the module
# `sampling`.
EVEN = {
    "uniform:7": [0, 49, 99, 149, 199, 249, 299],
    "uniform:1": [0],
    "fps:2": [25 * place // 2 for place in range(24)],  # 0, 12, 25, 37, 50, ...
    "fps:2,max=10": [0, 33, 66, 99, 132, 166, 199, 232, 265, 299],
    "window:10.4-11.2,3": [260, 270, 280],
    "all": list(range(300)),
}  # fmt: skip
KEYFRAMES = {1: [0, 99, 199, 299], 12: [0, 96, 192, 288], 250: [0, 250], 1000: [0]}

# For gaps of 40, 120, 20, 80 ms: four frames every 260 ms. 10.4 s is frame 160; the last before
# 11.2 s is frame 172.
UNEVEN = {
    "uniform:7": EVEN["uniform:7"],
    "window:10.4-11.2,3": [160, 166, 172],
    "fps:10,max=9": [0, 37, 74, 112, 149, 186, 224, 261, 299],
    "all": list(range(300)),
}


def shown(path: Path, spec: str) -> list[tuple[int, float]]:
    """(number in the pixels, time) of the frames under a spec."""
    return [
        (clips.number_in(frame.rgb), frame.timestamp)
        for frame in decode(path, FrameSampling.parse(spec))
    ]


def numbers(path: Path, spec: str) -> list[int]:
    return [number for number, _ in shown(path, spec)]


@pytest.mark.parametrize("gop", [1, 12, 250, 1000])
@pytest.mark.parametrize(("codec", "container"), WRITTEN)
def test_exactly_the_frames_asked_for(clip: Make, codec: str, container: str, gop: int) -> None:
    path = clip(codec, container, gop=gop)
    expected = EVEN | {"keyframe:4": KEYFRAMES[gop]}
    got = {spec: shown(path, spec) for spec in expected}
    assert {spec: [number for number, _ in frames] for spec, frames in got.items()} == expected
    times = [at for frames in got.values() for _, at in frames]
    assert times == pytest.approx(
        [number / 25 for frames in expected.values() for number in frames], abs=2e-3
    )


@pytest.mark.parametrize(("codec", "container"), [pair for pair in WRITTEN if pair[1] != "avi"])
def test_exact_frames_and_times_where_the_frame_rate_varies(
    clip: Make, codec: str, container: str
) -> None:
    path = clip(codec, container, even=False)
    ticks = clips.varying(300)
    on_screen = [
        max(number for number in range(300) if ticks[number] <= 500 * k) for k in range(39)
    ]  # 19.5 s long
    for spec, expected in (UNEVEN | {"fps:2": on_screen}).items():
        got = shown(path, spec)
        assert [number for number, _ in got] == expected, spec
        assert [at for _, at in got] == pytest.approx(
            [ticks[number] / 1000 for number in expected], abs=2e-3
        )


def test_the_pixels_are_those_of_a_plain_decode(clip: Make) -> None:
    path = clip("libx264", "mp4", gop=250)
    with av.open(str(path)) as container:
        plain = {
            n: frame.to_ndarray(format="rgb24") for n, frame in enumerate(container.decode(video=0))
        }
    for spec in ("uniform:7", "window:10.4-11.2,3"):
        for frame in decode(path, FrameSampling.parse(spec)):
            assert np.array_equal(frame.rgb, plain[frame.index])


def test_frames_before_their_keyframe_in_an_open_group_of_pictures_are_exact(
    tmp_path: Path,
) -> None:
    path = tmp_path / "open.mkv"
    with av.open(str(path), "w") as container:
        options = {
            "preset": "veryfast",
            "x264-params": "keyint=24:min-keyint=24:scenecut=0:bframes=5:b-adapt=0:open-gop=1",
        }
        stream = container.add_stream("libx264", rate=25, options=options)
        stream.width, stream.height, stream.pix_fmt = clips.WIDTH, clips.HEIGHT, "yuv420p"
        for number in range(120):
            container.mux(stream.encode(clips.picture(number)))
        container.mux(stream.encode(None))
    assert numbers(path, "all") == list(range(120))
    for first in range(40, 52):
        assert numbers(path, f"window:{first / 25 - 0.001:.3f}-{first / 25 + 0.001:.3f},1") == [
            first
        ]


def test_a_transport_stream_that_starts_late_counts_from_its_first_frame(tmp_path: Path) -> None:
    path = clips.encode(
        tmp_path / "late.ts",
        codec="libx264",
        gop=12,
        ticks=[5000 + tick for tick in clips.constant(100)],
        first=7,
    )
    assert shown(path, "uniform:3") == [
        (7, 0.0),
        (56, pytest.approx(1.96, abs=2e-3)),
        (106, pytest.approx(3.96, abs=2e-3)),
    ]


def test_joined_streams_whose_clock_jumps_back_play_one_after_the_other(tmp_path: Path) -> None:
    first = clips.encode(tmp_path / "a.ts", codec="libx264", gop=12, ticks=clips.constant(100))
    second = clips.encode(
        tmp_path / "b.ts",
        codec="libx264",
        gop=12,
        ticks=[1500 + tick for tick in clips.constant(40)],
        first=100,
    )
    joined = tmp_path / "joined.ts"
    joined.write_bytes(first.read_bytes() + second.read_bytes())
    assert numbers(joined, "all") == list(range(140))
    assert numbers(joined, "uniform:6") == [int(139 * place / 5) for place in range(6)]


def turned(source: Path, path: Path, matrix: tuple[int, ...]) -> Path:
    data = bytearray(source.read_bytes())
    at = data.index(b"tkhd") + 44
    for place, value in zip((0, 1, 3, 4), matrix, strict=True):
        data[at + 4 * place : at + 4 * place + 4] = (value * 65536 & 0xFFFFFFFF).to_bytes(4, "big")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("matrix", "turns"),
    [((0, 1, -1, 0), -1), ((-1, 0, 0, -1), 2), ((0, -1, 1, 0), 1)],
    ids=["clockwise", "upside down", "counter-clockwise"],
)
def test_rotation_in_the_file_is_honoured(
    clip: Make, tmp_path: Path, matrix: tuple[int, ...], turns: int
) -> None:
    """A phone's display matrix (ISO/IEC 14496-12, 8.3.2) is written into the track header by hand."""
    path = turned(clip("libx264", "mp4"), tmp_path / "turned.mp4", matrix)
    info = VideoFile(path).info
    upright = (clips.HEIGHT, clips.WIDTH) if turns % 2 else (clips.WIDTH, clips.HEIGHT)
    assert (info.width, info.height) == upright
    for frame in decode(path, FrameSampling.parse("uniform:7")):
        assert frame.rgb.shape == (upright[1], upright[0], 3)
        assert clips.number_in(np.rot90(frame.rgb, -turns)) == frame.index


@pytest.mark.parametrize("size", [(854, 480), (426, 240), (130, 98), (127, 95), (64, 36)])
def test_pictures_of_any_size_are_turned(tmp_path: Path, size: tuple[int, int]) -> None:
    """A phone's upright film: red above, green below, coded lying on its side."""
    width, height = size
    picture = np.full((height, width, 3), (200, 30, 30), np.uint8)
    picture[:, width // 2 :] = (30, 200, 30)  # clockwise by a quarter, right becomes below
    lying = tmp_path / "lying.mp4"
    with av.open(str(lying), "w") as container:
        even = not (width % 2 or height % 2)
        stream = container.add_stream("libx264", rate=25, options={"qp": "0"})
        stream.width, stream.height, stream.pix_fmt = (
            width,
            height,
            "yuv420p" if even else "yuv444p",
        )
        for _ in range(3):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    path = turned(lying, tmp_path / "upright.mp4", (0, 1, -1, 0))
    for spec in ("uniform:2", "uniform:2,size=30", "uniform:2,size=22"):
        frames = [frame.rgb.astype(int) for frame in decode(path, FrameSampling.parse(spec))]
        assert len(frames) == 2
        rows, columns = frames[0].shape[:2]
        assert rows / columns == pytest.approx(width / height, rel=0.1)
        assert (frames[0][: rows // 2 - 2, :, 0] > 150).all(), spec
        assert (frames[0][rows // 2 + 2 :, :, 1] > 150).all(), spec


def test_size_limits_the_short_side(clip: Make) -> None:
    path = clip("libx264", "mp4")
    small = list(decode(path, FrameSampling.parse("uniform:7,size=48")))
    assert {frame.rgb.shape for frame in small} == {(48, 64, 3)}
    assert [clips.number_in(frame.rgb) for frame in small] == EVEN["uniform:7"]
    assert next(decode(path, FrameSampling.parse("uniform:1,size=480"))).rgb.shape == (96, 128, 3)


@pytest.mark.parametrize(
    ("codec", "pix_fmt", "full"),
    [
        ("libx264", "yuv420p10le", False),
        ("libx264", "yuvj420p", True),
        ("ffv1", "yuv420p", True),
        ("ffv1", "yuv444p", False),
    ],
)
def test_deep_full_range_and_unsampled_colours_come_out_as_they_are(
    tmp_path: Path, codec: str, pix_fmt: str, full: bool
) -> None:
    colour = (200, 60, 30)
    path = tmp_path / "colour.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, pix_fmt
        stream.codec_context.color_range = 2 if full else 1
        flat = av.VideoFrame.from_ndarray(np.full((48, 64, 3), colour, np.uint8), format="rgb24")
        flat = flat.reformat(format=pix_fmt, dst_color_range="JPEG" if full else None)
        flat.color_range = 2 if full else 1
        for number in range(5):
            flat.pts, flat.time_base = number, Fraction(1, 25)
            container.mux(stream.encode(flat))
        container.mux(stream.encode(None))
    (frame,) = decode(path, FrameSampling.parse("uniform:1"))
    assert frame.rgb.reshape(-1, 3).mean(0) == pytest.approx(colour, abs=4)


# --- files that are not as they should be
# ----------------------------------------------------------------------------


def test_probe_counts_what_is_there(clip: Make) -> None:
    info = VideoFile(clip("libx264", "mkv", gop=250)).info  # whose header has no count of frames
    assert (info.codec, info.width, info.height, info.rotation) == ("h264", 128, 96, 0)
    assert (info.frames, info.timeline.keyframes.sum(), info.notes) == (300, 2, ())
    assert info.timeline.duration == pytest.approx(12.0, abs=0.01)
    assert info.fps == pytest.approx(25.0, abs=0.05)


@pytest.mark.parametrize(
    ("container", "stills", "side"),
    [
        ("mp4", "before", 64),
        ("mkv", "before", 64),
        ("mp4", "behind", 64),
        ("mkv", "before and behind", 64),
        ("mp4", "before", 512),  # a cover is often larger than its film
    ],
)
def test_a_still_beside_the_film_is_not_the_film(
    tmp_path: Path, container: str, stills: str, side: int
) -> None:
    """As files with a cover that isn't flagged as one have it (mutagen#661)."""
    path = tmp_path / f"film.{container}"
    with av.open(str(path), "w") as out:
        covers = []
        shape = {"rate": 1, "width": side, "height": side, "pix_fmt": "yuvj420p"}
        if "before" in stills:
            covers.append(out.add_stream("mjpeg", **shape))
        film = out.add_stream("mpeg4", rate=25, width=128, height=96, pix_fmt="yuv420p")
        if "behind" in stills:
            covers.append(out.add_stream("mjpeg", **shape))
        black = av.VideoFrame.from_ndarray(np.zeros((side, side, 3), np.uint8))
        for cover in covers:
            for packet in [*cover.encode(black), *cover.encode(None)]:
                out.mux(packet)
        for number in range(50):
            out.mux(film.encode(clips.picture(number).reformat(128, 96)))
        out.mux(film.encode(None))
    index = decoder.VideoFile(path).info
    assert (index.width, index.height, index.frames) == (128, 96, 50)


def test_a_video_shorter_than_the_frames_asked_for_gives_all_it_has(clip: Make) -> None:
    path = clip("libx264", "mp4", frames=5)
    assert numbers(path, "uniform:32") == [0, 1, 2, 3, 4]
    assert numbers(path, "keyframe:32") == [0]
    assert numbers(clip("libx264", "mp4", frames=1), "uniform:8") == [0]


def test_a_truncated_file_gives_what_is_in_it_and_says_so(clip: Make, tmp_path: Path) -> None:
    whole = clip("libx264", "mp4", gop=12)
    fast = tmp_path / "fast.mp4"
    with (
        av.open(str(whole)) as old,
        av.open(str(fast), "w", options={"movflags": "faststart"}) as new,
    ):
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.size:
                packet.stream = stream
                new.mux(packet)
    data = fast.read_bytes()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(data[: len(data) * 2 // 3])
    info = VideoFile(cut).info
    assert 100 < info.frames < 290
    assert info.notes == (f"truncated: {info.frames} of 300 frames are in the file",)
    frames = list(decode(cut, FrameSampling.parse("uniform:8")))
    assert [clips.number_in(frame.rgb) for frame in frames] == [frame.index for frame in frames]
    assert len(frames) >= 7  # the very last may be cut through


def audio_only(path: Path) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=16000)
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 1024), np.float32), format="fltp", layout="mono"
        )
        frame.sample_rate = 16000
        for _ in range(20):
            frame.pts = None
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


UNREADABLE = "not a video that can be read"


def neighbour(path: Path) -> str:
    """A film that is all right, beside `path`."""
    clips.encode(path.with_name("other.mp4"), codec="libx264", gop=12, ticks=clips.constant(9))
    return "other.mp4"


def cut_head(path: Path) -> None:
    path.write_bytes(b"\0\0\0\x18ftypmp42" + b"\0" * 3000)


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (lambda path: path.touch(), UNREADABLE),
        (lambda path: path.write_text("not a film\n" * 400), UNREADABLE),
        (lambda path: path.write_bytes(b"\x1b[2Jansi\x1b[0m\n" * 400), UNREADABLE),
        (
            lambda path: path.write_text(f"ffconcat version 1.0\nfile {neighbour(path)}\n"),
            UNREADABLE,
        ),
        (cut_head, "not a video"),
        (audio_only, r"has no video stream \(only sound\)"),
        (lambda path: path.mkdir(), "folder|Is a directory"),
        (lambda _: None, "No such file"),
    ],
    ids=["empty", "text", "terminal", "playlist", "head only", "audio only", "folder", "missing"],
)
def test_what_is_no_video_is_one_clear_error(
    tmp_path: Path, write: Callable[[Path], None], reason: str
) -> None:
    path = tmp_path / "film.mp4"
    write(path)
    with pytest.raises(MediaError, match=reason) as caught:
        list(decode(path, FrameSampling.parse("uniform:4")))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "name", ["pipe:0", "http:/127.0.0.1:9/film.mp4", "concat:a.mp4|b.mp4", "50%d.mp4", "-i.mp4"]
)
def test_a_name_is_never_an_address(
    clip: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(clip("libx264", "mp4").read_bytes())
    assert VideoFile(name).info.frames == 300
    assert numbers(Path(name), "uniform:2") == [0, 299]


def test_a_text_that_is_read_as_a_terminals_output_is_no_video(tmp_path: Path) -> None:
    path = tmp_path / "notes.nfo"
    path.write_text("not a film\n" * 400)
    with pytest.raises(MediaError, match="not a video that can be read"):
        VideoFile(path)


def test_a_picture_larger_than_8k_film_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "large.png"
    Image.new("1", (8192, 4354)).save(path)
    with pytest.raises(MediaError, match="claims 8192 x 4354 pixels"):
        VideoFile(path)


def test_metadata_in_another_encoding_is_no_hindrance(clip: Make, tmp_path: Path) -> None:
    path = tmp_path / "titled.mp4"
    with av.open(str(clip("libx264", "mp4"))) as old, av.open(str(path), "w") as new:
        new.metadata["title"] = "PLACEHOLDER"
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.size:
                packet.stream = stream
                new.mux(packet)
    data = path.read_bytes()
    assert b"PLACEHOLDER" in data
    path.write_bytes(data.replace(b"PLACEHOLDER", b"Caf\xe9 \xff\xfe\xc3\x28LD"))
    assert VideoFile(path).info.codec == "h264"


def test_a_window_behind_the_end_names_the_video(clip: Make) -> None:
    path = clip("libx264", "mp4")
    with pytest.raises(
        MediaError, match=r"window:90-95,4: the window starts at 90 s, but the video lasts 12 s"
    ):
        list(decode(path, FrameSampling.parse("window:90-95,4")))


def test_a_file_that_never_answers_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "stuck.mp4"
    os.mkfifo(path)  # opening it waits for a writer that never comes
    try:
        with pytest.raises(MediaError, match=r"took longer than 0\.5 s"):
            VideoFile(path, time_limit=0.5)
    finally:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))  # lets the abandoned thread end


def test_a_consumer_that_stops_early_leaves_no_thread(clip: Make) -> None:
    path = clip("libx264", "mp4", gop=12)
    frames = VideoFile(path).frames(FrameSampling.parse("all"))
    assert isinstance(next(frames), Frame)
    frames.close()
    for thread in threading.enumerate():
        if thread.name == "reelbench-frames":
            thread.join(timeout=PATIENCE_S)
    assert not [thread for thread in threading.enumerate() if thread.name == "reelbench-frames"]


PEAK = """
import sys
from reelbench.video import decode_ahead, decoder
from reelbench.video.decoder import decode
from reelbench.registry.sampling import FrameSampling
count = 0
for frame in decode(sys.argv[1], FrameSampling.parse("all")):
    count += frame.rgb.std() >= 0  # takes longer than decoding
print(count, peak_mib())
"""


def test_memory_does_not_grow_with_the_video(tmp_path: Path) -> None:
    path = tmp_path / "large.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "libx264", rate=25, options={"preset": "ultrafast", "g": "250"}
        )
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        flat = av.VideoFrame.from_ndarray(np.full((1080, 1280), 90, np.uint8), format="yuv420p")
        for number in range(250):  # 345 MB as pictures
            flat.pts, flat.time_base = number, Fraction(1, 25)
            container.mux(stream.encode(flat))
        container.mux(stream.encode(None))
    out = subprocess.run(
        [sys.executable, "-c", clips.PEAK_MIB + PEAK, path],
        check=True,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    count, peak = map(int, out.stdout.split())
    assert count == 250
    assert peak < 300


def test_a_film_that_begins_behind_its_only_keyframe_has_none_to_show(tmp_path):
    path = clips.encode(
        tmp_path / "cut.mov", codec="libx264", gop=100, ticks=[40 * n for n in range(30)]
    )
    content = bytearray(path.read_bytes())
    begin = content.index(b"elst") + 16  # of what is shown, in ticks of the file's own
    content[begin : begin + 4] = (4000).to_bytes(4)
    path.write_bytes(content)
    with pytest.raises(
        MediaError, match=r"cut.mov: shows no frame of those that keyframe:5 takes; take uniform:8"
    ):
        list(decode(path, FrameSampling.parse("keyframe:5")))


@pytest.fixture
def two_ahead(monkeypatch: pytest.MonkeyPatch, clip: Make) -> Callable[..., list[str]]:
    """Decode two films ahead, the first once the second waits for it -> the films' suffixes as readers opened them."""
    opened: list[str] = []
    start, wait, waits = decoder.RunReader.__init__, decode_ahead.turns.wait, threading.Event()

    def noted(reader: decoder.RunReader, index: decoder.FrameIndex, *rest: object) -> None:
        opened.append(index.path.suffix)
        start(reader, index, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(decoder.RunReader, "__init__", noted)
    monkeypatch.setattr(decode_ahead.turns, "wait", lambda seconds: (waits.set(), wait(seconds)))
    monkeypatch.setattr(decode_ahead, "usable_cores", lambda: 2)
    monkeypatch.setattr(decoder, "usable_cores", lambda: 2)

    def run(goes_on: threading.Event = waits) -> list[str]:
        def work(suffix: str) -> None:
            path = clip("libx264", suffix)
            if suffix == "mp4":
                assert goes_on.wait(PATIENCE_S)
            assert len(list(VideoFile(path).frames(FrameSampling.parse("all")))) == 300
            if suffix == "mkv":
                done.set()

        with decode_ahead.Ahead(
            {suffix: partial(work, suffix) for suffix in ("mp4", "mkv")}
        ) as both:
            for suffix in ("mp4", "mkv"):
                both.reached(suffix).result(60)
        return opened

    done = threading.Event()
    run.done = done
    return run


def test_the_film_that_is_asked_for_first_is_read_first_whichever_is_open_first(
    two_ahead: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "_TURN_S", 600.0)
    assert two_ahead() == [".mp4", ".mkv"]
    assert (decode_ahead.waiting, decoder._reading) == ({}, set())


def test_a_film_of_which_nothing_comes_holds_up_no_other(
    two_ahead: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "_TURN_S", 0.1)
    assert two_ahead(two_ahead.done) == [".mkv", ".mp4"]
