"""Small clips for people: every frame and every tone at its own time, whatever part of the video is cut."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from reelbench.video.excerpt import FPS, SIDE, write_excerpt
from tests.video import clips

HZ = 24_000
SECONDS = 4


def film(path: Path, codec: str) -> Path:
    """Write four seconds of numbered frames, 25 a second, with a noise below 500 Hz that is nowhere like itself."""
    noise = (
        np.random.default_rng(7).choice([-9000, 9000], SECONDS * 1000).repeat(48).astype(np.int16)
    )
    with av.open(str(path), "w") as container:
        pictures = container.add_stream("libx264", rate=25)
        pictures.width, pictures.height, pictures.pix_fmt = clips.WIDTH, clips.HEIGHT, "yuv420p"
        sound = container.add_stream(codec, rate=48_000, layout="stereo")
        for number in range(25 * SECONDS):
            frame = clips.picture(number)
            frame.pts, frame.time_base = number, Fraction(1, 25)
            container.mux(pictures.encode(frame))
            wave = noise[number * 1920 : (number + 1) * 1920].repeat(2)[None]
            tone = av.AudioFrame.from_ndarray(wave, format="s16", layout="stereo")
            tone.sample_rate, tone.time_base, tone.pts = 48_000, Fraction(1, 48_000), number * 1920
            container.mux(sound.encode(tone))
        container.mux(pictures.encode(None))
        container.mux(sound.encode(None))
    return path


def heard(path: Path, start: float, seconds: float) -> np.ndarray:
    """Return what sounds from `start` on, one channel at 24 kHz."""
    fit = av.AudioResampler(format="fltp", layout="mono", rate=HZ)
    with av.open(str(path)) as container:
        frames = list(container.decode(audio=0))
        first = frames[0].time
        wave = np.concatenate(
            [part.to_ndarray()[0] for frame in frames for part in fit.resample(frame)]
        )
    at = round((start - first) * HZ)
    return wave[at : at + round(seconds * HZ)]


def lag(small: np.ndarray, source: np.ndarray) -> float:
    """Return by how many seconds the middle of `source` sounds later in `small`, by the highest correlation."""
    edge = HZ // 4
    part = source[edge:-edge]
    places = [float(np.dot(part, small[at : at + len(part)])) for at in range(2 * edge)]
    return (int(np.argmax(places)) - edge) / HZ


@pytest.mark.parametrize("codec", ["aac", "ac3"])
@pytest.mark.parametrize(("start", "end"), [(0.0, None), (1.5, 3.0)])
def test_frames_and_sound_keep_their_times(tmp_path, codec, start, end):
    source = film(tmp_path / "film.mkv", codec)
    made = write_excerpt(source, tmp_path / "small.mp4", start, end)
    assert (made.start, made.end) == pytest.approx((start, end or SECONDS))
    shown = clips.decoded_in_order(tmp_path / "small.mp4")
    with av.open(str(tmp_path / "small.mp4")) as container:
        first = next(container.decode(video=0)).time
        audio = container.streams.audio[0].codec_context
        assert (audio.name, audio.layout.name) == ("aac", "mono")
        assert container.duration / 1e6 == pytest.approx((end or SECONDS) - start, abs=0.1)
    assert len(shown) == pytest.approx(FPS * ((end or SECONDS) - start), abs=1)
    for number, at, _ in shown:
        assert number / 25 == pytest.approx(start + first + at, abs=0.021)
    assert lag(
        heard(tmp_path / "small.mp4", 0.1, 1.2), heard(source, start + 0.1, 1.2)
    ) == pytest.approx(0, abs=0.01)


def test_it_is_small_and_no_picture_is_enlarged(tmp_path):
    source = tmp_path / "large.mp4"
    with av.open(str(source), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        for number in range(90):
            picture = clips.picture(number).reformat(1280, 720)
            picture.pts, picture.time_base = number, Fraction(1, 30)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    write_excerpt(source, tmp_path / "small.mp4")
    with av.open(str(tmp_path / "small.mp4")) as container:
        picture = container.streams.video[0]
        assert (min(picture.width, picture.height), picture.frames) == (SIDE, 3 * FPS)
    tiny = clips.encode(tmp_path / "tiny.mp4", codec="libx264", gop=12, ticks=clips.varying(8))
    write_excerpt(tiny, tmp_path / "tiny-small.mp4")
    with av.open(str(tmp_path / "tiny-small.mp4")) as container:
        assert container.streams.video[0].width == clips.WIDTH
