"""What a frame spec means: its canonical form, what is refused, and which frames it picks."""

from pathlib import Path

import numpy as np
import pytest

from reelbench.base.errors import InputError
from reelbench.registry.sampling import FrameSampling, Timeline
from reelbench.video.shown_media import Shown

parse = FrameSampling.parse


def timeline(times: list[float], duration: float, keyframes: tuple[int, ...] = (0,)) -> Timeline:
    keys = np.zeros(len(times), bool)
    keys[list(keyframes)] = True
    return Timeline(np.array(times), keys, duration)


TEN = timeline([number / 10 for number in range(10)], 1.0, keyframes=(0, 3, 4, 9))


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("uniform:32", "uniform:32"),
        (" uniform:032 , as=clip ", "uniform:32"),
        ("32", "uniform:32"),
        ("fps:2", "fps:2"),
        ("fps:2.50,max=128,size=448", "fps:2.5,max=128,size=448"),
        ("fps:.5,size=448,max=9", "fps:0.5,max=9,size=448"),
        ("keyframe:8,as=images", "keyframe:8,as=images"),
        ("window:12.5-40,16", "window:12.5-40,16"),
        ("window:0-1.500,4,as=images,size=336", "window:0-1.5,4,size=336,as=images"),
        ("all", "all"),
        ("none", "none"),
        ("native", "native"),
        ("uniform:8,audio=drop", "uniform:8"),
        ("uniform:8,times=none", "uniform:8"),
        ("uniform:8,as=clip,times=none", "uniform:8"),
        ("uniform:8,times=text", "uniform:8,times=text"),
        ("uniform:8,times=text,as=images,size=64", "uniform:8,size=64,times=text"),
        ("window:1-2,8,audio=keep,size=64,as=clip", "window:1-2,8,size=64,audio=keep"),
        ("uniform:100000", "uniform:100000"),  # the most there may be
        ("window:0.1234564-2.9999996,8", "window:0.123456-3,8"),  # to a millionth of a second
        ("fps:0.0000014", "fps:0.000001"),
    ],
)
def test_a_spec_has_one_canonical_form(spec: str, canonical: str) -> None:
    sampling = parse(spec)
    assert str(sampling) == canonical
    assert parse(canonical) == sampling
    assert hash(parse(canonical)) == hash(sampling)


@pytest.mark.parametrize(
    "spec",
    [
        "", "uniform", "uniform:", "uniform:0", "uniform:-3", "uniform:2.5", "uniform:9999999", "unifrom:8",
        "uniform:٣", "fps:0", "fps:nan", "fps:1e9", "fps:2,128", "fps:2,max=0", "fps:2,max=4,max=5",
        "uniform:8,max=4",
        "window:5-2,4", "window:5-5,4", "window:5,4", "window:1-2", "window:1-2,size=448", "window:-1-2,4",
        "all:3", "none,size=448", "native,as=images", "uniform:8,size=2", "uniform:8,size=", "uniform:8,as=gif",
        "uniform:8,x=1", "uniform:100001", "all,size=100001", "window:1-1.0000004,8",
        "uniform:8,audio=loud", "uniform:8,audio=", "uniform:8,audio=keep,audio=keep", "native,audio=keep",
        "none,audio=drop", "uniform:8,as=images,audio=keep", "uniform:8,audio=keep,as=images",
        "uniform:8,times=text,as=clip", "uniform:8,as=clip,times=text", "uniform:8,audio=keep,times=text",
        "uniform:8,times=yes", "uniform:8,times=text,times=text", "native,times=text", "none,times=none",
    ],
)  # fmt: skip
def test_a_bad_spec_is_one_line_that_says_what_is_allowed(spec: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(spec)
    message = str(caught.value)
    assert message.startswith(f"frames {spec!r}: ")
    assert "uniform:N" in message
    assert "window:START-END,N" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("spec", "picked"),
    [
        ("uniform:4", [0, 3, 6, 9]),  # numpy.linspace(0, 9, 4)
        ("uniform:3", [0, 4, 9]),  # 4.5 is cut, not rounded
        ("uniform:1", [0]),
        ("uniform:10", list(range(10))),
        ("uniform:64", list(range(10))),
        ("fps:4", [0, 2, 5, 7]),  # 0, 0.25, 0.5, 0.75 s
        ("fps:10", list(range(10))),
        ("fps:30", list(range(10))),
        ("fps:0.5", [0]),
        ("fps:4,max=4", [0, 2, 5, 7]),
        ("fps:4,max=3", [0, 4, 9]),  # too many: spread as uniform:3
        ("keyframe:9", [0, 3, 4, 9]),
        ("keyframe:2", [0, 9]),
        ("keyframe:3", [0, 3, 9]),  # the list's places 0, 1.5, 3
        ("window:0.2-0.6,3", [2, 4, 6]),
        ("window:0.25-0.55,9", [3, 4, 5]),
        ("window:0.31-0.38,4", [3]),  # between two frames: what is on screen
        ("window:0.8-7,4", [8, 9]),
        ("window:0.95-7,4", [9]),
        ("all", list(range(10))),
        ("none", []),
    ],
)
def test_which_frames_are_picked(spec: str, picked: list[int]) -> None:
    assert parse(spec).pick(TEN).tolist() == picked


def test_fps_goes_by_the_clock_where_the_frame_rate_varies() -> None:
    # On screen at 0, 0.5, 1.0, 1.5, 2.0: the frame that began last.
    uneven = timeline([0.0, 0.1, 0.2, 0.9, 1.0, 1.05, 1.9], 2.1)
    assert parse("fps:2").pick(uneven).tolist() == [0, 2, 4, 5, 6]


def test_a_file_that_claims_to_last_for_ages_costs_no_memory() -> None:
    ages = timeline([0.0, 1e12], 2e12)
    assert parse("fps:1000").pick(ages).tolist() == [0, 1]


def test_asked_counts_what_the_spec_wants_of_this_video() -> None:
    frames_by_spec = {
        spec: parse(spec).frames_asked(TEN)
        for spec in ("uniform:64", "fps:4", "fps:30", "fps:4,max=3", "all", "window:0-9,5")
    }
    assert frames_by_spec == {
        "uniform:64": 64,
        "fps:4": 4,
        "fps:30": 30,
        "fps:4,max=3": 3,
        "all": 10,
        "window:0-9,5": 5,
    }


def rate_of(spec: str, video: Timeline) -> float:
    sampling = parse(spec)
    return sampling.rate(video, sampling.pick(video))


def test_a_clips_steps_are_those_between_its_frames() -> None:
    assert rate_of("uniform:4", TEN) == pytest.approx(3 / 0.9)  # frames of 0, 0.3, 0.6 and 0.9 s
    assert rate_of("window:0.2-0.7,5", TEN) == pytest.approx(4 / 0.5)
    assert rate_of("window:0.5-9,5", TEN) == pytest.approx(4 / 0.4)
    assert rate_of("fps:3", TEN) == pytest.approx(3.0)
    assert rate_of("uniform:1", TEN) == pytest.approx(
        1.0
    )  # it stands for the second that the video lasts


@pytest.mark.parametrize(
    ("spec", "count", "rate"),
    [
        (
            "fps:2",
            21,
            2.0,
        ),  # 10.3 s are begun by 21 half seconds: the clip keeps the rate that was asked for
        ("fps:2,max=21", 21, 2.0),
        ("fps:2,max=9", 9, 8 / 10.2),  # spread over the video instead, as uniform:9
        ("uniform:21", 21, 20 / 10.2),
    ],
)
def test_a_clip_of_frames_at_a_rate_has_that_rate(spec: str, count: int, rate: float) -> None:
    lasting = timeline([number / 10 for number in range(103)], 10.3)
    assert rate_of(spec, lasting) == pytest.approx(rate, rel=1e-12)
    assert len(parse(spec).pick(lasting)) == count


def test_pictures_hold_no_sound() -> None:
    from dataclasses import replace

    with_sound = parse("uniform:8,audio=keep")
    assert with_sound.keeps_sound
    pictures = replace(
        with_sound, form="images"
    )  # as an adapter that takes pictures only is given them
    assert (str(pictures), pictures.keeps_sound) == ("uniform:8,as=images", False)


def test_a_window_behind_the_end_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"window:1-2,4: the window starts at 1 s, but the video lasts 1 s"
    ):
        parse("window:1-2,4").pick(TEN)


def test_native_picks_nothing() -> None:
    assert not parse("native").decodes
    with pytest.raises(ValueError, match="native"):
        parse("native").pick(TEN)


@pytest.mark.parametrize(
    ("spec", "size", "scaled"),
    [
        ("all", (1280, 720), (1280, 720)),
        ("all", (853, 479), (852, 478)),
        ("all,size=448", (1280, 720), (796, 448)),
        ("all,size=448", (720, 1280), (448, 796)),
        ("all,size=448", (320, 240), (320, 240)),
        ("all,size=16", (4000, 16), (4000, 16)),
        ("all", (1, 1), (2, 2)),
    ],
)
def test_size_limits_the_short_side_and_never_enlarges(
    spec: str, size: tuple[int, int], scaled: tuple[int, int]
) -> None:
    assert parse(spec).scaled_size(*size) == scaled


class TestTimes:
    def test_they_go_with_pictures(self):
        timed = parse("uniform:8,times=text")
        assert (timed.form, timed.times) == ("images", "text")
        assert parse(str(timed)) == timed
        assert timed.decoded == parse("uniform:8,as=images")

    @pytest.mark.parametrize(
        ("kind", "spec", "sent"),
        [
            ("grounded_choice", "uniform:8", "uniform:8,times=text"),
            ("span", "fps:1,max=8,as=images", "fps:1,max=8,times=text"),
            ("choice", "uniform:8", "uniform:8"),
            ("open", "uniform:8,times=text", "uniform:8,times=text"),
            ("grounded_choice", "uniform:8,times=none", "uniform:8"),
            ("grounded_choice", "uniform:8,as=clip", "uniform:8"),
            ("grounded_choice", "native", "native"),
            ("grounded_choice", "none", "none"),
        ],
    )
    def test_a_server_gets_them_where_the_answer_is_a_time(self, kind, spec, sent):
        assert str(parse(spec).with_times(kind)) == sent

    def test_a_mark_is_what_models_that_read_times_are_taught(self):
        # Qwen3-VL's processor: `<{time:.1f} seconds>` before a frame.
        pictures = Shown(images=(Path("a.jpg"), Path("b.jpg")), timestamps=(0.0, 12.5), timed=True)
        assert [part for part in pictures.attachments("en") if isinstance(part, str)] == [
            "<0.0 seconds>",
            "<12.5 seconds>",
        ]
