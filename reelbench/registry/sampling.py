"""`FrameSampling`: one string for the frames of a video that a model is shown.

| spec | frames |
|---|---|
| `uniform:N`, `N` | `numpy.linspace(0, n - 1, N, dtype=int)` over the n frames in order |
| `fps:F[,max=N]` | the frame on screen at 0, 1/F, 2/F, … seconds. `uniform:N` if more than N |
| `keyframe:N` | N of the video's K keyframes, `numpy.linspace(0, K - 1, N, dtype=int)` of them |
| `window:START-END,N` | as `uniform:N`, over the frames with START ≤ t ≤ END seconds |
| `all` | every frame |
| `none` | no frame: the question is asked in words only |
| `native` | Reelbench leaves sampling to the model's own adapter (the default) |

`uniform` is the convention of lmms-eval's `read_video` and `load_video_decord` (first and last
frame included, positions cut to whole numbers), so results are comparable with a model's native
sampling of the same N. Time is counted in seconds from the video's first frame. A frame is on
screen from its own timestamp until the next frame's. No frame is given twice: a video with fewer
frames than asked gives all it has, and the record says how many were asked and given.

Options of every sampling that decodes: `size=448` scales so that the short side has at most 448
pixels (never up; sides are made even), `as=clip` (default) or `as=images` chooses how the frames
are delivered. `audio=keep` copies the video's sound into the clip, packet by packet (of a window,
its own sound); by default, `audio=drop`, a clip has none. `native` hands over the video as it
is, with its sound. `times=text` writes when each picture is on screen before it (`<12.5 seconds>`),
so the frames go as pictures; by default, `times=none`, nothing is written.

Any sampling, `none` and `native` too, takes `subs=file`: the subtitles beside the video
(`media.subtitles`) go before the question, of a window those in it, each with its times in the
video.
"""

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, Self

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
"""The largest number of frames that can be asked for. `settings.FRAMES_CAP_GB` bounds the disk."""
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
        "pictures have no sound: as=images can't go with audio=keep",
    ),
    (
        {"times": "text", "audio": "keep"},
        "pictures have no sound: times=text can't go with audio=keep",
    ),
    (
        {"times": "text", "as": "clip"},
        "a clip has its own times: times=text can't go with as=clip",
    ),
)
_FIELD_BY_OPTION = {
    "max": "frames",
    "size": "size",
    "as": "form",
    "audio": "audio",
    "times": "times",
    "subs": "subs",
}
SUBTITLED = "subs=file"  # the part of a spec that says that subtitles were shown
TIMED_KINDS = frozenset({"span", "grounded_choice"})
"""Kinds of rows that are answered with times.

A server's pictures carry times for them, unless `times=none` is asked for.
"""

_SLACK = 1e-6  # seconds: less than any frame lasts, more than the rounding of a timestamp
_DIGITS = 6  # of seconds and rates
_LEAST_RATE = 1e-6  # frames a second
_MOST_RATE = 1000  # frames a second: faster than any camera that benchmarks use
_LEAST_WINDOW = 1e-3  # seconds that one frame of a window lasts in a clip


@dataclass(frozen=True)
class Timeline:
    """The frames of a video in order of presentation, for sampling.

    `timestamps` (n,) are seconds from the first frame, rising; `keyframes` (n,) is true where
    decoding can start; `duration` is in seconds, from the first frame's start to the last frame's
    end.
    """

    timestamps: "np.ndarray"
    keyframes: "np.ndarray"
    duration: float


def _number(value: float) -> str:
    return f"{value:.{_DIGITS}f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class FrameSampling:
    """The choice, size and delivery of frames. `parse` makes one, and `str()` is its spec.

    Equal samplings have equal specs, so the spec can stand in a settings hash. `form_given` and
    `times_given` are the words of `as=` and `times=`, if they are there: some deliver pictures
    unless a clip is asked for.
    """

    kind: Kind = "native"
    frames: int | None = None
    fps: float | None = None
    start: float | None = None
    end: float | None = None
    size: int | None = None
    form: Form = "clip"
    form_given: Form | None = field(default=None, compare=False)
    audio: Audio = "drop"
    times: Times = "none"
    times_given: Times | None = field(default=None, compare=False)
    subs: Subs = "none"

    @classmethod
    def parse(cls, spec: str) -> Self:
        """Read a spec.

        Raises:
            InputError: It is none. The line has all that is allowed.
        """
        head, *options = (part.strip() for part in spec.strip().split(","))
        kind, colon, argument = _with_kind(head).partition(":")
        fields: dict[str, object] = {"kind": kind}
        match kind:
            case "uniform" | "keyframe":
                fields["frames"] = _parse_count(spec, argument)
            case "fps":
                fields["fps"] = _parse_rate(spec, argument)
            case "window":
                fields["start"], fields["end"] = _parse_window(spec, argument)
                if not options:
                    _raise_refusal(spec, "the number of frames is missing after the window")
                fields["frames"] = _parse_count(spec, options.pop(0))
            case "all" | "none" | "native":
                if colon:
                    _raise_refusal(spec, f"{kind} takes no argument")
            case _:
                _raise_refusal(spec, f"{kind!r} is not a kind of sampling")
        choices: dict[str, str] = {}
        for option in options:
            _add_option(spec, option, fields, choices)
        if fields.get("times") == "text":
            fields["form"] = "images"
        return cls(**fields)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.spec()

    def as_images(self) -> "FrameSampling":
        """Return the same frames as pictures, which have no sound."""
        return replace(self, form="images", audio="drop")

    def with_times(self, row_kind: str) -> "FrameSampling":
        """Return the sampling for a server and rows of a kind.

        Pictures carry times where the answer is a time.
        """
        is_chosen = self.form_given == "clip" or self.times_given is not None
        if not self.decodes or is_chosen or row_kind not in TIMED_KINDS:
            return self
        return replace(self.as_images(), times="text")

    @property
    def decoded(self) -> "FrameSampling":
        """The same frames without times and subtitles, which change no picture."""
        return replace(self, times="none", times_given=None, subs="none")

    def within(self, start: float, end: float) -> "FrameSampling":
        """Return the sampling of a part of the video, from one second to another.

        Times stay the video's.

        Raises:
            InputError: The part is of no length, or the sampling isn't `uniform` or `fps`.
        """
        part = f"the part {start:g} to {end:g} s of the video, which the question is about,"
        if end <= start:
            raise InputError(f"{part} has no length")
        if self.kind not in ("uniform", "fps"):
            raise InputError(f"{part} can't be shown with frames {self}: give uniform:N or fps:F")
        number = self.frames or 0
        if self.kind == "fps":
            fps = self.fps or 0
            number = max(1, round((end - start) * fps))
            if self.frames:
                number = min(number, self.frames)
        return replace(self, kind="window", fps=None, start=start, end=end, frames=number)

    @property
    def window(self) -> tuple[float, float]:
        """The first and last second of the frames: 0 and infinity but for a window."""
        end = math.inf if self.end is None else self.end
        return (self.start or 0.0, end)

    def spec(self, *, form: bool = False, words: bool = False) -> str:
        """Return the canonical spec.

        Args:
            form: `as=` is there in any case, for a record where pictures are the default.
            words: The words of `as=` and `times=` are there, so that another process reads the same
                of it.
        """
        parts = [self._head()]
        if self.kind == "fps" and self.frames is not None:
            parts.append(f"max={self.frames}")
        if self.size is not None:
            parts.append(f"size={self.size}")
        is_stated = self.form != "clip" or (words and self.form_given is not None)
        # times=text says that they are pictures.
        if form or (is_stated and self.times == "none"):
            parts.append(f"as={self.form}")
        if self.keeps_sound:
            parts.append("audio=keep")
        if self.times == "text":
            parts.append("times=text")
        if self.subs == "file":
            parts.append(SUBTITLED)
        if words and self.times_given == "none":
            parts.append("times=none")
        return ",".join(parts)

    def _head(self) -> str:
        if self.kind in {"uniform", "keyframe"}:
            return f"{self.kind}:{self.frames}"
        if self.kind == "fps":
            return f"fps:{_number(self.fps or 0)}"
        if self.kind == "window":
            start = _number(self.start or 0)
            end = _number(self.end or 0)
            return f"window:{start}-{end},{self.frames}"
        return self.kind

    @property
    def decodes(self) -> bool:
        """True where Reelbench itself decodes frames: not for `none` and `native`."""
        return self.kind not in {"none", "native"}

    @property
    def keeps_sound(self) -> bool:
        """True where the sound goes into the clip: pictures have none."""
        return self.audio == "keep" and self.form == "clip"

    def scaled_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the delivered (width, height) in pixels of a picture: even, never larger."""
        short_side = min(width, height)
        factor = 1.0
        if self.size is not None and short_side > self.size:
            factor = self.size / short_side
        scaled_width = _even_pixels(width * factor)
        scaled_height = _even_pixels(height * factor)
        return scaled_width, scaled_height

    def pick(self, timeline: Timeline) -> "np.ndarray":
        """Return the positions (m,) of the frames to show, rising, without repeats.

        The module's table says which.

        Raises:
            InputError: A window lies behind the video's end.
            ValueError: `native` picks nothing.
        """
        import numpy as np

        every_frame = np.arange(len(timeline.timestamps))
        match self.kind:
            case "uniform":
                positions = _spread_evenly(every_frame, self.frames)
            case "keyframe":
                positions = _spread_evenly(np.flatnonzero(timeline.keyframes), self.frames)
            case "fps":
                positions = _positions_at_rate(timeline, self.fps or 1.0)
                if self.frames is not None and len(positions) > self.frames:
                    positions = _spread_evenly(every_frame, self.frames)
            case "window":
                positions = _spread_evenly(self._positions_in_window(timeline), self.frames)
            case "all":
                positions = every_frame
            case "none":
                positions = np.arange(0)
            case "native":
                raise ValueError(
                    "native sampling is left to the model: there are no frames to choose"
                )
        return positions

    def frames_asked(self, timeline: Timeline) -> int:
        """Return the number of frames that the spec asks for. A short video gives fewer."""
        if self.kind == "fps" and self.fps is not None:
            frames = max(1, math.ceil(timeline.duration * self.fps - _SLACK))
            if self.frames is not None:
                frames = min(frames, self.frames)
            return frames
        if self.kind == "all":
            return len(timeline.timestamps)
        return self.frames or 0

    def rate(self, timeline: Timeline, picked: "np.ndarray") -> float:
        """Return the frames per second of a clip of the frames at positions (m,).

        The clip's clock is then the video's. Readers make a frame's time of its number and the
        clip's average rate, so m even frames from `first` to `last` stand at their times where the
        rate is (m - 1) / (last - first). `fps` is kept where it was given whole.
        """
        count = len(picked)
        if self.kind == "fps" and self.fps is not None:
            whole_count = math.ceil(timeline.duration * self.fps - _SLACK)
            if count == whole_count:
                return self.fps
        if count < 2:  # noqa: PLR2004 - one frame stands for all of the span
            start, end = self.window
            seconds = min(end, timeline.duration) - start
            if self.kind == "window":
                seconds = max(seconds, _LEAST_WINDOW)
            return 1 / max(seconds, 0)
        first = timeline.timestamps[picked[0]]
        last = timeline.timestamps[picked[-1]]
        return float((count - 1) / (last - first))

    def _positions_in_window(self, timeline: Timeline) -> "np.ndarray":
        import numpy as np

        start = self.start or 0.0
        end = self.end or 0.0
        if start >= timeline.duration:
            raise InputError(
                f"frames {self}: the window starts at {_number(start)} s, but the video lasts "
                f"{_number(timeline.duration)} s"
            )
        first = int(np.searchsorted(timeline.timestamps, start - _SLACK))
        last = int(np.searchsorted(timeline.timestamps, end + _SLACK, side="right")) - 1
        if last < first:
            # The window lies between two frames: the one before is on screen.
            return np.arange(last, last + 1)
        return np.arange(first, last + 1)


def _positions_at_rate(timeline: Timeline, fps: float) -> "np.ndarray":
    """Return the positions of the frames on screen at multiples of 1/fps. One at least."""
    import numpy as np

    # A frame is picked where a multiple of 1/fps falls into [its time, the next one's): counted per
    # frame and not per multiple, so a damaged file that claims to last for years costs no memory.
    ends = np.append(timeline.timestamps[1:], timeline.duration)
    multiples_before_end = np.ceil((ends - _SLACK) * fps)
    multiples_before_start = np.ceil((timeline.timestamps - _SLACK) * fps)
    positions = np.flatnonzero(multiples_before_end > multiples_before_start)
    if len(positions) == 0:
        return np.arange(min(1, len(timeline.timestamps)))
    return positions


def _spread_evenly(positions: "np.ndarray", count: int | None) -> "np.ndarray":
    """Return `count` of the positions, evenly spread, the first and the last among them."""
    import numpy as np

    count = min(count or len(positions), len(positions))
    if count == 0:
        return positions
    return positions[np.linspace(0, len(positions) - 1, count, dtype=int)]


def _even_pixels(side: float) -> int:
    """Return the even number of pixels near a side's length, 2 at least."""
    return max(2, int(side + 0.5) // 2 * 2)


def _raise_refusal(spec: str, why: str) -> NoReturn:
    raise InputError(f"frames {spec!r}: {why}; give {ALLOWED}") from None


class FrameCounts(NamedTuple):
    """Several numbers of frames, rising, and the options that all of them have."""

    counts: list[int]
    options: str

    def spec(self, count: int) -> str:
        """Return the spec of one of the numbers; 0 is text only."""
        if count:
            return f"uniform:{count}{self.options}"
        if f",{SUBTITLED}" in self.options:
            return f"none,{SUBTITLED}"
        return "none"

    @property
    def pattern(self) -> str:
        """The spec with `N` for the number."""
        return f"uniform:N{self.options}"


def parse_frame_counts(spec: str) -> FrameCounts | None:
    """Return the numbers of `8,16,32[,size=448]`, or None where a spec is of one sampling.

    Raises:
        InputError: A number or an option is none.
    """
    parts = [part.strip() for part in spec.split(",")]
    counts: list[int] = []
    for part in parts:
        if not part.isdecimal():
            break
        counts.append(int(part))
    if len(counts) < 2:  # noqa: PLR2004 - several
        return None
    options = "".join(f",{part}" for part in parts[len(counts) :])
    frame_counts = FrameCounts(sorted(set(counts)), options)
    for count in frame_counts.counts:
        FrameSampling.parse(frame_counts.spec(count))
    return frame_counts


def _with_kind(head: str) -> str:
    """Return a spec's head with its kind: `uniform:8` for `8`, `fps:2` for `2fps`.

    No frames, `0`, is `none`.
    """
    if head == "0":
        return "none"
    if head.isdecimal():
        return f"uniform:{head}"
    if head.endswith("fps") and head != "fps":
        return f"fps:{head.removesuffix('fps').strip()}"
    return head


def _parse_count(spec: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= MOST_FRAMES:
        _raise_refusal(spec, f"{text!r} is not a number of frames from 1 to {MOST_FRAMES}")
    return int(text)


def _parse_rate(spec: str, text: str) -> float:
    rate = float(text) if re.fullmatch(_NUMBER, text) else 0.0
    if not _LEAST_RATE <= rate <= _MOST_RATE:
        _raise_refusal(spec, f"{text!r} is not a number of frames per second above 0, up to 1000")
    return round(rate, _DIGITS)


def _parse_window(spec: str, text: str) -> tuple[float, float]:
    match = _WINDOW.fullmatch(text)
    if match is None:
        _raise_refusal(spec, f"{text!r} is not START-END in seconds")
    start = round(float(match[1]), _DIGITS)
    end = round(float(match[2]), _DIGITS)
    if end <= start:
        _raise_refusal(spec, f"the window {text!r} is empty")
    return start, end


def _add_option(spec: str, option: str, fields: dict[str, object], choices: dict[str, str]) -> None:
    """Add an option to the fields, and its word to the choices."""
    kind = fields["kind"]
    name, _, value = option.partition("=")
    field_name = _FIELD_BY_OPTION.get(name)
    if field_name is None or (name == "max" and kind != "fps"):
        _raise_refusal(spec, f"{option!r} is not an option of {kind}")
    if kind in {"none", "native"} and name != "subs":
        _raise_refusal(spec, f"{kind} takes no option but subs=file")
    if field_name in fields:
        _raise_refusal(spec, f"{name} occurs twice")
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            _raise_refusal(spec, f"{option} is neither {' nor '.join(_CHOICES[name])}")
        fields[field_name] = value
        choices[name] = value
        if name in {"as", "times"}:
            fields[f"{field_name}_given"] = value
        for excluded_choices, why in _EXCLUDED:
            if excluded_choices.items() <= choices.items():
                _raise_refusal(spec, why)
        return
    count = _parse_count(spec, value)
    if name == "size" and count < _SMALLEST_SIDE:
        _raise_refusal(spec, f"size={value} is below {_SMALLEST_SIDE} pixels")
    fields[field_name] = count
