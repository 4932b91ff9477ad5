"""Subtitles beside a video: read as FFmpeg times them, cut to the frames' window."""

import av
import pytest

from reelbench.base.errors import InputError, MediaError
from reelbench.registry.sampling import FrameSampling
from reelbench.video import subtitles
from reelbench.video.subtitles import Cue

SRT = """1
00:00:01,000 --> 00:00:04,500
<i>Do you see</i>
the kite?

2
00:00:04,500 --> 00:00:06,250
{\\an8}Not &amp; yet.

3
01:00:00,000 --> 01:00:02,000
Much later.
"""
VTT = """WEBVTT - made by hand

STYLE
::cue { color: white; }

NOTE a remark
that is no cue

one
00:01.000 --> 00:04.500 align:start position:0%
<v Ada>Do you see the kite?

00:00:04.500 --> 00:00:06.250
Not &amp; yet.

01:00:00.000 --> 01:00:02.000
Much later.
"""
CUES = [
    Cue(1, 4.5, "Do you see the kite?"),
    Cue(4.5, 6.25, "Not & yet."),
    Cue(3600, 3602, "Much later."),
]


@pytest.mark.parametrize(
    ("name", "text"), [("a.srt", SRT), ("b.srt", SRT.replace("\n", "\r\n")), ("c.vtt", VTT)]
)
def test_both_formats_are_read_as_ffmpeg_times_them(name, text, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert subtitles.read(path) == CUES
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux() if packet.pts is not None]
        times = [
            (packet.pts * packet.time_base, (packet.pts + packet.duration) * packet.time_base)
            for packet in packets
        ]
    assert times == [(cue.start, cue.end) for cue in CUES]


def test_rolling_captions_have_each_line_once(tmp_path):
    path = tmp_path / "auto.vtt"
    path.write_text(
        "WEBVTT\n\n00:00.000 --> 00:02.000\n \nso<00:00.400><c> the</c><c> kite</c>\n\n"
        "00:02.000 --> 00:02.010\nso the kite\n \n\n"
        "00:02.010 --> 00:04.000\nso the kite\nflies<00:02.500><c> off</c>\n",
        encoding="utf-8",
    )
    assert [cue.text for cue in subtitles.read(path)] == ["so the kite", "flies off"]


def test_what_is_no_subtitles_is_a_line(tmp_path):
    path = tmp_path / "a.srt"
    path.write_text("nothing is said\n", encoding="utf-8")
    with pytest.raises(MediaError, match=r"a\.srt: no subtitles in it"):
        subtitles.read(path)


@pytest.mark.parametrize(
    ("spec", "cues"),
    [
        ("window:2-5,4,subs=file", [Cue(2, 4.5, CUES[0].text), Cue(4.5, 5, CUES[1].text)]),
        ("window:6.25-9,4,subs=file", []),
        ("uniform:4,subs=file", CUES),
        ("none,subs=file", CUES),
        ("native,subs=file", CUES),
    ],
)
def test_they_are_cut_to_the_frames_window(spec, cues):
    sampling = FrameSampling.parse(spec)
    assert str(sampling) == spec
    assert subtitles.within(CUES, *sampling.window) == cues


def test_frames_are_the_same_with_and_without_them():
    assert FrameSampling.parse("uniform:4,subs=file").decoded == FrameSampling.parse("uniform:4")
    assert str(FrameSampling.parse("uniform:4,subs=none")) == "uniform:4"
    with pytest.raises(InputError, match="subs=asr is neither file nor none"):
        FrameSampling.parse("uniform:4,subs=asr")
    with pytest.raises(InputError, match="none takes no option but subs=file"):
        FrameSampling.parse("none,size=64")
