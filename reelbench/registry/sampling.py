"""`FrameSampling`: one string that says which frames of a video a model is shown.

| spec | frames | |---|---| | `uniform:N`, `N` | `numpy.linspace(0, n - 1, N, dtype=int)` over the n
frames in order of presentation | | `fps:F[,max=N]` | the frame on screen at 0, 1/F, 2/F, … seconds;
where these are more than N, `uniform:N` instead | | `keyframe:N` | N of the video's K keyframes,
`numpy.linspace(0, K - 1, N, dtype=int)` over the list of them | | `window:START-END,N` | as
`uniform:N`, over the frames with START ≤ t ≤ END seconds | | `all` | every frame | | `none` | no
frame: the question is asked in words only | | `native` | Reelbench leaves sampling to the model's
own adapter (the default) |

`uniform` is the convention of lmms-eval's `read_video` and `load_video_decord` (first and last
frame included, positions cut to whole numbers), so results are comparable with a model's native
sampling of the same N. Time is counted in seconds from the video's first frame. A frame is on
screen from its own timestamp until the next frame's. No frame is given twice: a video with fewer
frames than asked gives all it has, and the record says how many were asked and given.

Options of every sampling that decodes: `size=448` scales so that the short side has at most 448
pixels (never up; sides are made even), `as=clip` (default) or `as=images` chooses how the frames
are delivered. `audio=keep` copies the video's sound into the clip, packet by packet (of a window,
what sounds in it); by default, `audio=drop`, a clip has none. `native` hands over the video as it
is, with its sound. `times=text` writes when each picture is on screen before it (`<12.5 seconds>`),
so the frames go as pictures; by default, `times=none`, nothing is written.

Any sampling, `none` and `native` too, takes `subs=file`: the subtitles beside the video
(`media.subtitles`) go before the question, of a window those in it, each with its times in the
video.
"""

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NoReturn, Self

from reelbench.base.errors import InputError

if TYPE_CHECKING:
    import numpy as np

Kind = Literal["uniform", "fps", "keyframe", "window", "all", "none", "native"]
Form = Literal["clip", "images"]
Audio = Literal["keep", "drop"]
Times = Literal["text", "none"]
Subs = Literal["file", "none"]

ALLOWED = (
    "uniform:N, fps:F[,max=N], keyframe:N, window:START-END,N, all, none or native; "
    "options size=PIXELS, as=clip|images, audio=keep|drop, times=text|none, subs=file|none"
)

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_WINDOW = re.compile(rf"({_NUMBER})-({_NUMBER})")
MOST_FRAMES = 100_000
"""The largest number of frames that can be asked for; the disk that frames take is `settings.FRAMES_CAP_GB`."""
_SMALLEST_SIDE = 16
_CHOICES = {
    "as": ("clip", "images"),
    "audio": ("keep", "drop"),
    "times": ("text", "none"),
    "subs": ("file", "none"),
}
_EXCLUDED = (
    (
        {"as": "images", "audio": "keep"},
        "pictures hold no sound: as=images and audio=keep exclude each other",
    ),
    (
        {"times": "text", "audio": "keep"},
        "pictures hold no sound: times=text and audio=keep exclude each other",
    ),
    (
        {"times": "text", "as": "clip"},
        "a clip has its own time line: times=text and as=clip exclude each other",
    ),
)
SUBTITLED = "subs=file"  # the part of a spec that says that subtitles were shown
TIMED_KINDS = frozenset({"span", "grounded_choice"})
"""Kinds of rows that are answered with times: a server's pictures carry theirs, unless `times=none` is asked for."""


@dataclass(frozen=True)
class Timeline:
    """The frames of a video in order of presentation, as far as sampling needs to know them.

    `timestamps` (n,) are seconds from the first frame, rising; `keyframes` (n,) is true where
    decoding can start; `duration` is in seconds, from the first frame's start to the last frame's
    end.
    """

    timestamps: "np.ndarray"
    keyframes: "np.ndarray"
    duration: float


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class FrameSampling:
    """Which frames, at which size, delivered how. Make one with `parse`; `str()` is the canonical spec.

    Equal samplings have equal canonical specs, so the spec can stand in a settings hash.
    """

    kind: Kind = "native"
    frames: int | None = None
    fps: float | None = None
    start: float | None = None
    end: float | None = None
    size: int | None = None
    form: Form = "clip"
    form_given: Form | None = field(default=None, compare=False)
    """What `as=` says, if it is there: some deliver pictures unless a clip is asked for."""
    audio: Audio = "drop"
    times: Times = "none"
    times_given: Times | None = field(
        default=None, compare=False
    )  # what `times=` says, if it is there
    subs: Subs = "none"

    @classmethod
    def parse(cls, spec: str) -> Self:
        """Read a spec; InputError (one line, with all that is allowed) where it is not one."""
        head, *rest = (part.strip() for part in spec.strip().split(","))
        head = f"uniform:{head}" if head.isdecimal() else head
        head = (
            f"fps:{head.removesuffix('fps').strip()}"
            if head.endswith("fps") and head != "fps"
            else head
        )
        kind, colon, argument = head.partition(":")
        fields: dict[str, object] = {"kind": kind}
        match kind:
            case "uniform" | "keyframe":
                fields["frames"] = _count(spec, argument)
            case "fps":
                rate = float(argument) if re.fullmatch(_NUMBER, argument) else 0.0
                if not 1e-6 <= rate <= 1000:  # noqa: PLR2004 - faster than any camera that benchmarks use
                    _refuse(
                        spec,
                        f"{argument!r} is not a number of frames per second above 0, up to 1000",
                    )
                fields["fps"] = round(rate, 6)
            case "window":
                if (match := _WINDOW.fullmatch(argument)) is None:
                    _refuse(spec, f"{argument!r} is not START-END in seconds")
                start, end = (round(float(number), 6) for number in match.groups())
                if end <= start:
                    _refuse(spec, f"the window {argument!r} is empty")
                fields |= {"start": start, "end": end}
                if not rest:
                    _refuse(spec, "the number of frames is missing after the window")
                fields["frames"] = _count(spec, rest.pop(0))
            case "all" | "none" | "native":
                if colon:
                    _refuse(spec, f"{kind} takes no argument")
            case _:
                _refuse(spec, f"{kind!r} is not a kind of sampling")
        given: dict[str, str] = {}
        for option in rest:
            _option(spec, option, fields, given)
        if fields.get("times") == "text":
            fields["form"] = "images"
        return cls(**fields)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.spec()

    def as_images(self) -> "FrameSampling":
        """Return the same frames as pictures, which have no sound."""
        return replace(self, form="images", audio="drop")

    def with_times(self, row_kind: str) -> "FrameSampling":
        """Return the sampling for a server and rows of a kind: pictures carry times where the answer is a time."""
        if (
            not self.decodes
            or self.form_given == "clip"
            or self.times_given
            or row_kind not in TIMED_KINDS
        ):
            return self
        return replace(self.as_images(), times="text")

    @property
    def decoded(self) -> "FrameSampling":
        """The same frames by themselves: what is written beside them changes no picture."""
        return replace(self, times="none", times_given=None, subs="none")

    def within(self, start: float, end: float) -> "FrameSampling":
        """Return the sampling of a part of the video, from one second to another; times stay the video's.

        InputError where it isn't one of so many frames, or of so many a second.
        """
        if self.kind not in ("uniform", "fps") or end <= start:
            why = (
                "is of no length"
                if end <= start
                else f"can't be shown with frames {self}: give uniform:N or fps:F"
            )
            raise InputError(
                f"the part {start:g} to {end:g} s of the video, which the question is about, {why}"
            )
        number = self.frames or 0
        if self.kind == "fps":
            number = min(max(1, round((end - start) * (self.fps or 0))), self.frames or 10**9)
        return replace(self, kind="window", fps=None, start=start, end=end, frames=number)

    @property
    def window(self) -> tuple[float, float]:
        """From when to when the frames are, in seconds: 0 to infinity but for a window."""
        return (self.start or 0.0, math.inf if self.end is None else self.end)

    def spec(self, *, form: bool = False, given: bool = False) -> str:
        """Return the canonical spec; with `form`, `as=` in any case: what a record has where pictures are the default.

        With `given` it has what `as=` and `times=` said, so that another process reads the same of
        it.
        """
        said = self.form != "clip" or (given and self.form_given is not None)
        several = (
            f"{self.kind}:{self.frames}" if self.kind in {"uniform", "keyframe"} else self.kind
        )
        heads = {
            "fps": f"fps:{_number(self.fps or 0)}",
            "window": f"window:{_number(self.start or 0)}-{_number(self.end or 0)},{self.frames}",
        }
        parts = {
            heads.get(self.kind, several): True,
            f"max={self.frames}": self.kind == "fps" and self.frames is not None,
            f"size={self.size}": self.size is not None,
            f"as={self.form}": form
            or (said and self.times == "none"),  # times=text says that they are pictures
            "audio=keep": self.keeps_sound,
            "times=text": self.times == "text",
            SUBTITLED: self.subs == "file",
            "times=none": given and self.times_given == "none",
        }
        return ",".join(part for part, said in parts.items() if said)

    @property
    def decodes(self) -> bool:
        """Whether Reelbench itself decodes frames: false for `none` and `native`."""
        return self.kind not in {"none", "native"}

    @property
    def keeps_sound(self) -> bool:
        """Whether the sound goes into the clip: pictures have none, whatever was asked for."""
        return self.audio == "keep" and self.form == "clip"

    def scaled_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the (width, height) in pixels that a picture of this size is delivered at: even, never larger."""
        short = min(width, height)
        factor = 1.0 if self.size is None or short <= self.size else self.size / short
        even_width, even_height = (
            max(2, int(side * factor + 0.5) // 2 * 2) for side in (width, height)
        )
        return even_width, even_height

    def pick(self, timeline: Timeline) -> "np.ndarray":
        """Return the positions (m,) of the frames to show, rising, without repeats; see the module for which.

        InputError where a window lies behind the video's end. ValueError for `native`, which picks
        nothing.
        """
        import numpy as np

        n = len(timeline.timestamps)
        match self.kind:
            case "uniform":
                return _spread(np.arange(n), self.frames)
            case "keyframe":
                return _spread(np.flatnonzero(timeline.keyframes), self.frames)
            case "fps":
                # A frame is picked where a multiple of 1/fps falls into [its time, the next one's):
                # counted per frame and not per multiple, so a damaged file that claims to last for
                # years costs no memory.
                fps, ends = self.fps or 1.0, np.append(timeline.timestamps[1:], timeline.duration)
                beyond = np.ceil((ends - _SLACK) * fps)
                shown = np.flatnonzero(beyond > np.ceil((timeline.timestamps - _SLACK) * fps))
                shown = shown if len(shown) else np.arange(min(1, n))
                too_many = self.frames is not None and len(shown) > self.frames
                return _spread(np.arange(n), self.frames) if too_many else shown
            case "window":
                return _spread(self._within(timeline), self.frames)
            case "all":
                return np.arange(n)
            case "none":
                return np.arange(0)
            case "native":
                raise ValueError("native sampling is the model's own: there is nothing to pick")

    def frames_asked(self, timeline: Timeline) -> int:
        """Return the number of frames that the spec asks for; a short video gives fewer."""
        if self.kind == "fps" and self.fps is not None:
            times = max(1, math.ceil(timeline.duration * self.fps - _SLACK))
            return times if self.frames is None else min(times, self.frames)
        if self.kind == "all":
            return len(timeline.timestamps)
        return self.frames or 0

    def rate(self, timeline: Timeline, picked: "np.ndarray") -> float:
        """Return the frames per second of a clip of the frames at positions (m,): its clock is then the video's.

        Readers make a frame's time of its number and the clip's average rate, so m even frames from
        `first` to `last` stand at their times where the rate is (m - 1) / (last - first). `fps` is
        kept where it was given whole.
        """
        count = len(picked)
        if (
            self.kind == "fps"
            and self.fps is not None
            and count == math.ceil(timeline.duration * self.fps - _SLACK)
        ):
            return self.fps
        if count < 2:  # noqa: PLR2004 - one frame stands for all of the span
            begins, ends = self.window
            return 1 / max(
                min(ends, timeline.duration) - begins, 1e-3 if self.kind == "window" else 0
            )
        return float(
            (count - 1) / (timeline.timestamps[picked[-1]] - timeline.timestamps[picked[0]])
        )

    def _within(self, timeline: Timeline) -> "np.ndarray":
        import numpy as np

        start, end = self.start or 0.0, self.end or 0.0
        if start >= timeline.duration:
            where = (
                f"starts at {_number(start)} s, but the video lasts {_number(timeline.duration)} s"
            )
            raise InputError(f"frames {self}: the window {where}")
        first = int(np.searchsorted(timeline.timestamps, start - _SLACK))
        last = int(np.searchsorted(timeline.timestamps, end + _SLACK, side="right")) - 1
        if last < first:
            # The window lies between two frames: what is on screen is the one before.
            return np.arange(last, last + 1)
        return np.arange(first, last + 1)


_SLACK = 1e-6  # seconds: less than any frame lasts, more than the rounding of a timestamp


def _spread(positions: "np.ndarray", count: int | None) -> "np.ndarray":
    import numpy as np

    count = min(count or len(positions), len(positions))
    return positions[np.linspace(0, len(positions) - 1, count, dtype=int)] if count else positions


def _refuse(spec: str, why: str) -> NoReturn:
    raise InputError(f"frames {spec!r}: {why}; give {ALLOWED}") from None


def _count(spec: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= MOST_FRAMES:
        _refuse(spec, f"{text!r} is not a number of frames from 1 to {MOST_FRAMES}")
    return int(text)


def _option(spec: str, option: str, fields: dict[str, object], given: dict[str, str]) -> None:
    name, _, value = option.partition("=")
    name_of = {"max": "frames", "as": "form"}.get(
        name, name if name in {"size", "audio", "times", "subs"} else None
    )
    if name_of is None or (name == "max" and fields["kind"] != "fps"):
        _refuse(spec, f"{option!r} is not an option of {fields['kind']}")
    if fields["kind"] in {"none", "native"} and name != "subs":
        _refuse(spec, f"{fields['kind']} takes no option but subs=file")
    if name_of in fields:
        _refuse(spec, f"{name} occurs twice")
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            _refuse(spec, f"{option} is neither {' nor '.join(_CHOICES[name])}")
        fields[name_of] = given[name] = value
        if name in {"as", "times"}:
            fields[f"{name_of}_given"] = value
        for together, why in _EXCLUDED:
            if together.items() <= given.items():
                _refuse(spec, why)
        return
    count = _count(spec, value)
    if name == "size" and count < _SMALLEST_SIDE:
        _refuse(spec, f"size={value} is below {_SMALLEST_SIDE} pixels")
    fields[name_of] = count
