"""The frame store: what adapters read back, one decode for all who ask, and a bounded size."""

import importlib.util
import json
import logging
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import av
import numpy as np
import pytest

from reelbench.base.errors import InputError, MediaError
from reelbench.registry.sampling import FrameSampling
from reelbench.video import content_hash, take
from reelbench.video.frame_store import ENCODER_VERSIONS, IN_USE_S, FrameStore, StoredFrames
from tests.video import clips

Make = Callable[..., Path]
parse = FrameSampling.parse


@pytest.fixture
def store(tmp_path: Path) -> FrameStore:
    return FrameStore(tmp_path / "store")


@pytest.fixture
def decodes(caplog: pytest.LogCaptureFixture) -> Callable[[], int]:
    caplog.set_level(logging.INFO, logger="reelbench.video.frame_store")
    return lambda: sum(record.getMessage().startswith("decoded ") for record in caplog.records)


def in_clip(path: Path) -> list[tuple[int, float]]:
    """(number, clip time) of a stored clip's frames, by a plain decode."""
    with av.open(str(path)) as container:
        return [
            (clips.number_in(frame.to_ndarray(format="rgb24")), frame.time)
            for frame in container.decode(video=0)
        ]


def last_used(stored: StoredFrames, seconds_ago: float) -> None:
    then = time.time() - seconds_ago
    os.utime((stored.path or stored.images[0]).parent / "frames.json", (then, then))


# --- what is delivered
# -----------------------------------------------------------------------------------------------


def test_a_clip_holds_the_frames_on_the_videos_own_time_line(clip: Make, store: FrameStore) -> None:
    stored = store.get(clip("libx264", "mkv"), parse("uniform:7"))
    assert stored.path is not None
    assert stored.path.suffix == ".mp4"
    assert not {"mkv", "webm"} & set(str(stored.path.relative_to(store.root)).split("."))
    frames = in_clip(stored.path)
    assert [number for number, _ in frames] == [0, 49, 99, 149, 199, 249, 299]
    assert [at for _, at in frames] == pytest.approx(
        [11.96 / 6 * place for place in range(7)], abs=1e-3
    )
    assert stored.timestamps == pytest.approx([0, 1.96, 3.96, 5.96, 7.96, 9.96, 11.96], abs=2e-3)
    assert (stored.asked, stored.given, stored.padding, stored.notes) == (7, 7, 0, ())
    assert stored.duration == pytest.approx(12.0, abs=0.01)
    assert stored.rate == pytest.approx(6 / 11.96, abs=1e-3)
    assert stored.differing_clock_times is None
    assert (stored.width, stored.height) == (128, 96)


def test_every_frame_of_a_clip_is_a_keyframe(clip: Make, store: FrameStore) -> None:
    stored = store.get(clip("libx264", "mp4"), parse("fps:2"))
    with av.open(str(stored.path)) as container:
        flags = [
            (packet.is_keyframe, packet.pts == packet.dts)
            for packet in container.demux(video=0)
            if packet.size
        ]
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt, stream.average_rate) == (
            "h264",
            "yuv420p",
            2,
        )
    assert flags == [(True, True)] * 24


def test_pictures_survive_the_clip_nearly_unchanged(store: FrameStore, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    smooth = np.kron(rng.integers(30, 220, (12, 16, 3)), np.ones((20, 20, 1))).astype(np.uint8)
    path = tmp_path / "smooth.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        for _ in range(4):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(smooth, format="rgb24")))
        container.mux(stream.encode(None))
    stored = store.get(path, parse("uniform:2"))
    with av.open(str(path)) as before, av.open(str(stored.path)) as after:
        one = next(before.decode(video=0)).to_ndarray(format="rgb24").astype(float)
        two = next(after.decode(video=0)).to_ndarray(format="rgb24").astype(float)
    assert 10 * np.log10(255**2 / ((one - two) ** 2).mean()) > 40  # dB


@pytest.mark.parametrize(("given", "delivered"), [(7, 8), (1, 2), (8, 8)])
def test_an_even_number_of_frames_by_repeating_the_last(
    clip: Make, store: FrameStore, decodes: Callable[[], int], given: int, delivered: int
) -> None:
    spec = f"uniform:{given}"
    video = clip("libx264", "mp4")
    odd, even = store.get(video, parse(spec)), store.get(video, parse(spec), even=True)
    assert decodes() == 1
    assert (even.given, even.padding, len(even.timestamps)) == (given, delivered - given, delivered)
    frames = in_clip(even.path)
    expected = [number for number, _ in in_clip(odd.path)]
    assert [number for number, _ in frames] == expected + expected[-1:] * (delivered - given)
    if len(frames) > 2:
        gaps = np.diff([at for _, at in frames])
        assert gaps == pytest.approx(gaps[0], abs=1e-3)
    assert store.get(video, parse(spec), even=True) == even


def test_images(clip: Make, store: FrameStore) -> None:
    from PIL import Image

    stored = store.get(clip("libx264", "mp4"), parse("uniform:7,as=images,size=64"), even=True)
    assert stored.path is None
    pictures = [np.asarray(Image.open(image)) for image in stored.images]
    assert [clips.number_in(picture) for picture in pictures] == [
        0,
        49,
        99,
        149,
        199,
        249,
        299,
        299,
    ]
    assert {picture.shape for picture in pictures} == {(64, 84, 3)}
    assert (stored.given, stored.padding, len(stored.timestamps)) == (7, 1, 8)


def test_a_short_video_gives_fewer_frames_and_says_so(clip: Make, store: FrameStore) -> None:
    stored = store.get(clip("libx264", "mp4", frames=5), parse("uniform:32"))
    assert (stored.asked, stored.given, len(in_clip(stored.path))) == (32, 5, 5)
    assert stored.notes == ("short: 32 frames asked for, the video has 5",)


@pytest.mark.parametrize("spec", ["none", "native"])
def test_what_decodes_nothing_is_not_stored(clip: Make, store: FrameStore, spec: str) -> None:
    with pytest.raises(ValueError, match=spec):
        store.get(clip("libx264", "mp4"), parse(spec))


# --- what adapters read
# ----------------------------------------------------------------------------------------------


def lmms_eval_reader() -> object:
    """lmms-eval's own reading of videos, without importing the rest of it."""
    package = importlib.util.find_spec("lmms_eval")
    if package is None:
        pytest.skip("lmms-eval is not installed")
    file = Path(package.submodule_search_locations[0]) / "models/model_utils/load_video.py"
    spec = importlib.util.spec_from_file_location("load_video", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("spec", ["uniform:8", "uniform:1", "fps:2", "window:1-1.2,6"])
def test_lmms_eval_and_decord_read_exactly_the_frames(
    clip: Make, store: FrameStore, spec: str
) -> None:
    decord = pytest.importorskip("decord")
    stored = store.get(clip("libvpx-vp9", "webm"), parse(spec), even=True)
    expected = [round(at * 25) for at in stored.timestamps]
    module = lmms_eval_reader()
    read = module.read_video(str(stored.path), num_frm=len(expected))
    assert [clips.number_in(frame) for frame in read] == expected
    assert [
        clips.number_in(frame)
        for frame in module.load_video_decord(str(stored.path), len(expected))
    ] == expected
    assert decord.VideoReader(str(stored.path)).get_avg_fps() == pytest.approx(
        stored.rate, rel=1e-3
    )


@pytest.mark.parametrize("spec", ["uniform:7", "uniform:32", "fps:2", "window:2-8,4", "keyframe:4"])
@pytest.mark.parametrize("kind", [("libx264", "mp4"), ("libvpx-vp9", "webm")])
def test_torchcodec_reads_exactly_the_frames_at_their_times(
    clip: Make, store: FrameStore, spec: str, kind: tuple[str, str]
) -> None:
    if importlib.util.find_spec("torchcodec") is None:
        pytest.skip("torchcodec is not installed")
    try:
        from torchcodec.decoders import VideoDecoder
    except RuntimeError:
        pytest.skip("torchcodec finds no libraries of FFmpeg")
    stored = store.get(clip(*kind), parse(spec), even=True)
    read = VideoDecoder(str(stored.path))
    frames = read.get_frames_in_range(0, len(read))
    expected = [round(at * 25) for at in stored.timestamps]
    assert [clips.number_in(frame.permute(1, 2, 0).numpy()) for frame in frames.data] == expected
    assert read.metadata.average_fps == pytest.approx(stored.rate, rel=1e-3)
    told = stored.differing_clock_times or stored.timestamps
    times = np.array(told[: stored.given]) - told[0]
    assert frames.pts_seconds.numpy()[: stored.given] == pytest.approx(times, abs=1 / 25)
    assert np.arange(stored.given) / read.metadata.average_fps == pytest.approx(times, abs=1 / 25)


@pytest.mark.lmms
def test_qwen_vl_utils_reads_exactly_the_frames(
    clip: Make, store: FrameStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("decord")
    pytest.importorskip("qwen_vl_utils")
    from qwen_vl_utils import vision_process

    monkeypatch.setattr(vision_process, "FORCE_QWENVL_VIDEO_READER", "decord")
    vision_process.get_video_reader_backend.cache_clear()
    stored = store.get(clip("libx264", "mp4"), parse("uniform:7"), even=True)
    video, fps = vision_process.fetch_video(
        {"video": str(stored.path), "nframes": 8}, return_video_sample_fps=True
    )
    vision_process.get_video_reader_backend.cache_clear()
    pixels = video.permute(0, 2, 3, 1).numpy()
    assert [clips.number_in(frame) for frame in pixels] == [0, 49, 99, 149, 199, 249, 299, 299]
    assert fps == pytest.approx(stored.rate, rel=1e-3)


# --- one decode for all
# ----------------------------------------------------------------------------------------------


def test_a_second_question_decodes_nothing(
    clip: Make, store: FrameStore, decodes: Callable[[], int], tmp_path: Path
) -> None:
    video = clip("libx264", "mp4")
    first = store.get(video, parse("uniform:7"))
    assert FrameStore(store.root).get(video, parse("uniform:07")) == first
    assert decodes() == 1
    elsewhere = tmp_path / "other name.mp4"
    elsewhere.hardlink_to(video)
    assert store.get(elsewhere, parse("uniform:7")) == first
    assert decodes() == 1
    store.get(video, parse("uniform:7,size=48"))
    assert decodes() == 2


def test_a_changed_video_is_decoded_anew(clip: Make, store: FrameStore, tmp_path: Path) -> None:
    video = tmp_path / "film.mp4"
    video.write_bytes(clip("libx264", "mp4").read_bytes())
    before = store.get(video, parse("uniform:2"))
    clips.encode(video, codec="libx264", gop=12, ticks=clips.constant(300), first=1000)
    after = store.get(video, parse("uniform:2"))
    assert before.path != after.path
    assert [number for number, _ in in_clip(after.path)] == [1000, 1299]


def test_a_video_that_changed_in_the_middle_is_decoded_anew(
    clip: Make, store: FrameStore, tmp_path: Path, decodes: Callable[[], int]
) -> None:
    video, content = tmp_path / "film.mp4", bytearray(clip("libx264", "mp4").read_bytes())
    content += b"\0\x10\0\0free" + bytes(0x100000 - 8)
    for filler in (0, 1):
        content[-0x80000:-0x40000] = (
            bytes([filler]) * 0x40000
        )  # the size, the head and the tail stay
        video.write_bytes(content)
        store.get(video, parse("uniform:2"))
    assert decodes() == 2


def test_a_single_other_byte_makes_another_video(
    clip: Make, store: FrameStore, tmp_path: Path
) -> None:
    video = tmp_path / "film.mp4"
    filler = bytearray(b"\0\x30\0\0free" + bytes(0x300000 - 8))
    paths: set[Path | None] = set()
    for place in (8, 0x12345, 0x2FFFF0):
        changed = filler.copy()
        changed[place] = 1
        video.write_bytes(clip("libx264", "mp4").read_bytes() + changed)
        paths.add(store.get(video, parse("uniform:1")).path)
    assert len(paths) == 3


def test_a_video_that_stays_as_it_is_is_read_once(
    clip: Make, store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = tmp_path / "film.mp4"
    video.write_bytes(clip("libx264", "mp4").read_bytes() + b"\0\x20\0\0free" + bytes(0x200000 - 8))
    monkeypatch.setattr(content_hash, "SETTLED_S", -60.0)
    stored = store.get(video, parse("uniform:1"))
    with monkeypatch.context() as unreadable:
        unreadable.setattr(content_hash.hashlib, "file_digest", None)
        assert FrameStore(store.root).find(video, parse("uniform:1")) == stored
    with video.open("r+b") as film:
        film.seek(-5, os.SEEK_END)
        film.write(b"x")
    assert store.get(video, parse("uniform:1")).path != stored.path


def test_threads_decode_once(clip: Make, store: FrameStore, decodes: Callable[[], int]) -> None:
    video = clip("libx264", "mp4")
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: store.get(video, parse("all"), even=True), range(16)))
    assert len(set(got)) == 1
    assert decodes() == 1


ASK = """
import logging, sys
from concurrent.futures import ThreadPoolExecutor
from reelbench.registry.sampling import FrameSampling
from reelbench.video.frame_store import FrameStore
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
store = FrameStore(sys.argv[1])
import reelbench.video.decoder
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(4) as pool:
    got = list(pool.map(lambda video: store.get(video, FrameSampling.parse("all"), even=True), sys.argv[2:] * 2))
print("frames", [len(stored.timestamps) for stored in got])
"""


def test_two_processes_on_one_store_decode_each_video_once(
    clip: Make, store: FrameStore, python: Path
) -> None:
    videos = [clip("libx264", "mp4"), clip("libx264", "mkv", gop=250), clip("libvpx-vp9", "webm")]
    command = [python, "-c", ASK, store.root, *videos]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [child.stdout.readline() for child in children] == ["ready\n"] * 2
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    lines = [line for child in children for line in child.communicate(timeout=1800)[0].splitlines()]
    assert [child.returncode for child in children] == [0, 0]
    assert sorted(line.split(":")[0] for line in lines if line.startswith("decoded ")) == sorted(
        f"decoded {video}" for video in videos
    )
    assert [line for line in lines if line.startswith("frames")] == [
        "frames [300, 300, 300, 300, 300, 300]"
    ] * 2


def test_a_half_written_entry_is_not_used(
    clip: Make, store: FrameStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reelbench.video import clip_writer as writer

    video = clip("libx264", "mp4")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writer, "write_clip", killed)
        with pytest.raises(KeyboardInterrupt):
            store.get(video, parse("uniform:4"))
    assert store.info().entries == 0
    assert len(in_clip(store.get(video, parse("uniform:4")).path)) == 4


def test_a_bad_video_is_tried_once_per_process(
    store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reelbench.video import decoder

    path = tmp_path / "broken.mp4"
    path.write_bytes(b"\0" * 5000)
    with pytest.raises(MediaError, match="not a video that can be read"):
        store.get(path, parse("uniform:4"))
    monkeypatch.setattr(decoder, "VideoFile", None)  # would fail otherwise than with a MediaError
    with pytest.raises(MediaError, match="not a video that can be read"):
        store.get(path, parse("uniform:4"))
    assert store.info().entries == 0
    with pytest.raises(MediaError, match="No such file"):
        store.get(tmp_path / "absent.mp4", parse("uniform:4"))


def test_the_short_way_for_who_has_a_video_and_a_spec(
    clip: Make, store: FrameStore, reelbench_home: Path
) -> None:
    video = clip("libx264", "mp4")
    images = take(video, "uniform:3,as=images", store=store)
    assert (len(images.images), images.timestamps) == (3, pytest.approx((0, 5.96, 11.96), abs=2e-3))
    assert take(str(video), parse("uniform:3"), even=True, store=store).padding == 1
    default = take(video, "uniform:2")
    assert default.path is not None
    assert reelbench_home in default.path.parents
    for spec in ("native", "none"):
        with pytest.raises(InputError, match=f"frames {spec}: no frames are taken"):
            take(video, spec, store=store)


# --- damage
# ----------------------------------------------------------------------------------------------------------


def without(*names: str) -> Callable[[Path], None]:
    def change(record: Path) -> None:
        fields = json.loads(record.read_text())
        record.write_text(
            json.dumps({name: value for name, value in fields.items() if name not in names})
        )

    return change


def saying(**values: object) -> Callable[[Path], None]:
    def change(record: Path) -> None:
        record.write_text(json.dumps(json.loads(record.read_text()) | values))

    return change


def on_files(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def change_all(record: Path) -> None:
        for file in record.parent.iterdir():
            if file != record:
                change(file)

    return change_all


DAMAGE = {
    "record cut": lambda record: record.write_text(record.read_text()[:100]),
    "record empty": lambda record: record.write_bytes(b""),
    "record gone": lambda record: record.unlink(),
    "record is {}": lambda record: record.write_text("{}"),
    "record is []": lambda record: record.write_text("[]"),
    "record is nested": lambda record: record.write_text("[" * 5000),
    "record is not text": lambda record: record.write_bytes(b"\xff\xfe\x00"),
    "times missing": without("timestamps"),
    "sound missing": without("audio"),
    "times too few": saying(timestamps=[0.0]),
    "times are words": saying(timestamps=["soon"] * 4),
    "another form": saying(form="films"),
    "a path outside": saying(path="../../../../etc/passwd", images=["../../../../etc/passwd"] * 4),
    "an absolute path": saying(path="/etc/passwd", images=["/etc/passwd"] * 4),
    "a folder": saying(path="..", images=[".."] * 4),
    "files gone": on_files(Path.unlink),
    "files empty": on_files(lambda file: file.write_bytes(b"")),
    "files cut": on_files(lambda file: file.write_bytes(file.read_bytes()[:-40])),
    "files cut in half": on_files(
        lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    ),
    "files are zeros": on_files(lambda file: file.write_bytes(bytes(file.stat().st_size))),
    "files are text": on_files(lambda file: file.write_text("no film\n" * 100)),
}


@pytest.mark.parametrize("spec", ["uniform:4", "uniform:4,as=images"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_made_anew(
    clip: Make, store: FrameStore, decodes: Callable[[], int], damage: str, spec: str
) -> None:
    video = clip("libx264", "mp4", gop=250)
    stored = store.get(video, parse(spec))
    before = [file.read_bytes() for file in stored.files]
    DAMAGE[damage](stored.files[0].parent / "frames.json")
    again = FrameStore(store.root).get(video, parse(spec))
    assert again == stored
    assert [file.read_bytes() for file in again.files] == before
    assert decodes() == 2
    assert FrameStore(store.root).get(video, parse(spec)) == stored
    assert decodes() == 2


@pytest.mark.parametrize("spec", ["uniform:4", "uniform:4,as=images"])
def test_a_record_that_names_films_elsewhere_is_not_believed(
    clip: Make, store: FrameStore, spec: str
) -> None:
    stored, other = (
        store.get(clip("libx264", "mp4", frames=frames), parse(spec)) for frames in (300, 50)
    )
    elsewhere = [str(file) for file in other.files]
    saying(path=elsewhere[0] if other.path else None, images=elsewhere[: len(other.images)])(
        stored.files[0].parent / "frames.json"
    )
    assert store.get(clip("libx264", "mp4"), parse(spec)) == stored


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_counted_and_can_be_removed(
    clip: Make, store: FrameStore, damage: str
) -> None:
    video = clip("libx264", "mp4", gop=250)
    other = store.get(video, parse("uniform:2"))
    DAMAGE[damage](store.get(video, parse("uniform:4")).path.parent / "frames.json")
    assert store.info().entries == 2
    assert other in store.find_all(video, store.samplings())
    assert store.clear() == 2
    assert store.info().entries == 0


def test_a_damaged_twin_with_an_even_number_is_made_anew(clip: Make, store: FrameStore) -> None:
    video = clip("libx264", "mp4")
    stored = store.get(video, parse("uniform:3"), even=True)
    stored.path.write_bytes(b"")
    assert store.get(video, parse("uniform:3"), even=True) == stored
    assert [number for number, _ in in_clip(stored.path)] == [0, 149, 299, 299]


def test_pictures_too_large_for_a_clip_are_the_videos_own_failure(
    store: FrameStore, tmp_path: Path, decodes: Callable[[], int]
) -> None:
    wide = tmp_path / "wide.mkv"
    with av.open(str(wide), "w") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 17_000, 32, "yuv420p"
        flat = av.VideoFrame.from_ndarray(np.full((48, 17_000), 128, np.uint8), format="yuv420p")
        container.mux(stream.encode(flat))
        container.mux(stream.encode(None))
    for _ in range(2):
        with pytest.raises(
            MediaError, match=r"wide\.mkv: .*17000 x 32 pixels, as=clip holds up to 16384 a side"
        ):
            store.get(wide, parse("uniform:1"))
    assert store.get(wide, parse("uniform:1,as=images")).width == 17_000
    assert store.get(wide, parse("uniform:1,size=16")).width == 8_500
    assert decodes() == 2


def test_whatever_a_library_raises_is_the_videos_own_failure(
    clip: Make, store: FrameStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reelbench.video import decoder

    def fails(*_: object) -> None:
        raise ZeroDivisionError("by a header that lies\nat 0x7f")

    monkeypatch.setattr(decoder, "turn_and_scale", fails)
    video = clip("libx264", "mp4")
    with pytest.raises(
        MediaError, match=f"{video.name}: its frames can't be made ready .by a header that lies."
    ):
        store.get(video, parse("uniform:1"))
    assert store.info().entries == 0


# --- size
# ------------------------------------------------------------------------------------------------------------


def test_the_least_recently_used_goes_first_and_what_is_in_use_stays(
    clip: Make, tmp_path: Path
) -> None:
    video = clip("libx264", "mp4")
    size = FrameStore(tmp_path / "measure")
    size.get(video, parse("uniform:40"))
    store = FrameStore(tmp_path / "store", cap_bytes=int(size.info().size_bytes * 2.5))
    old, older, fresh = (store.get(video, parse(f"uniform:{count}")) for count in (40, 41, 42))
    assert store.info().entries == 3  # over the cap, but all three were asked for just now
    last_used(old, IN_USE_S + 100)
    last_used(older, IN_USE_S + 200)
    newest = store.get(video, parse("uniform:39"))
    assert [stored.path.exists() for stored in (old, older, fresh, newest)] == [
        False,
        False,
        True,
        True,
    ]
    assert store.info().size_bytes < store.info().cap_bytes


def test_asking_keeps_an_entry(clip: Make, tmp_path: Path) -> None:
    video = clip("libx264", "mp4")
    store = FrameStore(tmp_path / "store", cap_bytes=1)
    kept, dropped = store.get(video, parse("uniform:4")), store.get(video, parse("uniform:5"))
    last_used(kept, IN_USE_S * 2)
    last_used(dropped, IN_USE_S * 2)
    assert store.get(video, parse("uniform:4")) == kept
    store.get(video, parse("uniform:6"))
    assert kept.path.exists()
    assert not dropped.path.exists()


def test_a_copy_of_a_video_is_the_video(
    clip: Make, store: FrameStore, tmp_path: Path, decodes: Callable[[], int]
) -> None:
    video, copy = clip("libx264", "mp4"), tmp_path / "elsewhere.mp4"
    shutil.copyfile(video, copy)
    os.utime(copy, (1, 1))
    assert store.get(copy, parse("uniform:4")) == store.get(video, parse("uniform:4"))
    assert decodes() == 1


def test_a_clip_with_the_clock_of_before_is_not_shown(
    clip: Make, store: FrameStore, decodes: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as then:
        then.setitem(ENCODER_VERSIONS, "clip", 1)
        old = store.get(clip("libx264", "mp4"), parse("uniform:4"))
    assert store.get(clip("libx264", "mp4"), parse("uniform:4")).path != old.path
    assert decodes() == 2


def test_info_and_clear(clip: Make, store: FrameStore) -> None:
    stored = store.get(clip("libx264", "mp4"), parse("uniform:4"))
    info = store.info()
    assert (info.root, info.entries) == (store.root, 1)
    assert info.size_bytes == sum(file.stat().st_size for file in stored.path.parent.iterdir())
    assert store.clear() == 1
    assert (store.info().entries, stored.path.exists()) == (0, False)
    assert store.get(clip("libx264", "mp4"), parse("uniform:4")) == stored


def test_the_store_and_its_cap_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("REELBENCH_FRAMES_CAP_GB", "1.5")
    assert (FrameStore().root, FrameStore().cap_bytes) == (tmp_path / "frames", 1_500_000_000)
    monkeypatch.setenv("REELBENCH_FRAMES_CAP_GB", "lots")
    with pytest.raises(InputError, match="REELBENCH_FRAMES_CAP_GB='lots'"):
        FrameStore()


def test_the_record_beside_the_clip_can_be_read_by_others(clip: Make, store: FrameStore) -> None:
    stored = store.get(clip("libx264", "mp4"), parse("uniform:2,size=48"))
    record = json.loads((stored.path.parent / "frames.json").read_text())
    assert record["path"] == stored.path.name
    assert record["sampling"] == "uniform:2,size=48"
    assert record["timestamps"] == pytest.approx([0.0, 11.96], abs=2e-3)


# --- videos that are there as pictures
# -------------------------------------------------------------------------------


THIRDS = [place / 3 for place in range(10)]


@pytest.fixture
def stills(tmp_path: Path) -> list[Path]:
    """Two shots, three pictures a second, numbered as frames of a 25 fps source, eight apart."""
    from PIL import Image

    paths = []
    for number in range(0, 80, 8):
        shot = tmp_path / "scene" / ("0001" if number < 40 else "0002")
        shot.mkdir(parents=True, exist_ok=True)
        paths.append(shot / f"IMAGE_{46000 + number:010d}.jpg")
        Image.fromarray(clips.picture(number).to_ndarray(format="rgb24")).save(
            paths[-1], quality=95
        )
    return paths


def test_pictures_become_a_clip(stills: list[Path], store: FrameStore) -> None:
    stored = store.get_images(stills, parse("uniform:4"), THIRDS)
    assert [number for number, _ in in_clip(stored.path)] == [0, 24, 48, 72]
    assert stored.timestamps == pytest.approx([0, 1, 2, 3])
    assert (stored.asked, stored.given, stored.duration) == (4, 4, pytest.approx(10 / 3))
    assert stored.rate == pytest.approx(3 / 3)
    assert store.get_images(stills, parse("uniform:4"), THIRDS) == stored
    assert (
        store.get_images(stills, parse("uniform:4"), [at / 2 for at in THIRDS]).path != stored.path
    )


def test_pictures_with_times_of_their_own(stills: list[Path], store: FrameStore) -> None:
    times = [100 + 8 * place / 25 for place in range(10)]
    stored = store.get_images(stills, parse("window:0.6-1.5,9,size=48"), times, even=True)
    assert [number for number, _ in in_clip(stored.path)] == [16, 24, 32, 32]
    assert stored.timestamps == pytest.approx([0.64, 0.96, 1.28, 1.28])
    assert (stored.padding, stored.width, stored.height) == (1, 64, 48)


def test_pictures_asked_for_as_images_are_the_files_themselves(
    stills: list[Path], store: FrameStore
) -> None:
    stored = store.get_images(stills, parse("uniform:3,as=images"), THIRDS, even=True)
    assert stored.images == (stills[0], stills[4], stills[9], stills[9])
    assert store.info().entries == 0
    scaled = store.get_images(stills, parse("uniform:3,as=images,size=48"), THIRDS)
    assert [image.parent.parent.parent for image in scaled.images] == [store.root] * 3


@pytest.mark.parametrize("name", ["colour.jpg", "colour.png", "gray.jpg", "gray.png"])
def test_pictures_keep_their_colours(store: FrameStore, tmp_path: Path, name: str) -> None:
    from PIL import Image

    gray = name.startswith("gray")
    Image.new("L" if gray else "RGB", (64, 48), 200 if gray else (200, 60, 30)).save(
        tmp_path / name, quality=95
    )
    (image,) = store.get_images([tmp_path / name], parse("all,as=images,size=32"), [0.0]).images
    mean = np.asarray(Image.open(image)).reshape(-1, 3).mean(0)
    assert mean == pytest.approx((200, 200, 200) if gray else (200, 60, 30), abs=4)


def test_pictures_that_do_not_fit_are_refused(stills: list[Path], store: FrameStore) -> None:
    with pytest.raises(InputError, match="10 pictures need as many rising timestamps, not 2"):
        store.get_images(stills, parse("all"), [0, 1])
    with pytest.raises(InputError, match="rising"):
        store.get_images(stills, parse("all"), [0] * 10)
    with pytest.raises(InputError, match="no pictures"):
        store.get_images([], parse("all"), [])
    stills[3].write_bytes(b"no picture")
    with pytest.raises(MediaError, match=stills[3].name):
        store.get_images(stills, parse("all"), THIRDS)
