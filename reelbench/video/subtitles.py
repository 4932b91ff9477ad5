"""The subtitles that lie beside a video, as SubRip (`.srt`) or WebVTT (`.vtt`): what is said, and when."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reelbench.base.errors import MediaError
from reelbench.base.files import read_text

SUFFIXES = (".srt", ".vtt")  # tried in this order

_CLOCK = r"(?:(?P<h{0}>\d+):)?(?P<m{0}>\d{{1,2}}):(?P<s{0}>\d{{1,2}})(?:[.,](?P<f{0}>\d{{1,3}}))?"
_TIMES = re.compile(rf"\s*{_CLOCK.format(1)}\s*-->\s*{_CLOCK.format(2)}(?:\s.*)?")
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_WORD_BY_WORD = "<c>"
"""In YouTube's automatic captions, where each cue begins with the line that the one before it ended with."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A line of subtitles: what is said from `start` to `end`, in seconds of the video."""

    start: float
    end: float
    text: str


def read(path: Path) -> list[Cue]:
    """Read a file's cues in the order of their times, without markup; blank ones are left out.

    MediaError where there is none in it, or it is not UTF-8.
    """
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    # A cue for each line of times, with what stands between it and the next blank line, or line of
    # times.
    cues: list[Cue] = []
    times, said = None, list[str]()
    for line in [*text.split("\n"), ""]:
        begins = _TIMES.fullmatch(line)
        if times is not None and (begins is not None or not line.strip()):
            cues.append(
                Cue(
                    _seconds(times, 1),
                    _seconds(times, 2),
                    html.unescape(_MARKUP.sub("", "\n".join(said))),
                )
            )
            times = None
        if begins is not None:
            times, said = begins, []
        else:
            said.append(line)
    if not cues:
        raise MediaError(
            path, "no subtitles in it; expected SubRip or WebVTT (00:00:01,000 --> 00:00:02,500)"
        )
    if _WORD_BY_WORD in text:
        # Rolling captions: each line once, from when it first appears.
        shown: list[str] = []
        for number, cue in enumerate(cues):
            lines = [line.strip() for line in cue.text.split("\n") if line.strip()]
            cues[number] = replace(cue, text="\n".join(line for line in lines if line not in shown))
            shown = lines
    told = (replace(cue, text=" ".join(cue.text.split())) for cue in cues)
    return sorted((cue for cue in told if cue.text), key=lambda cue: (cue.start, cue.end))


def within(cues: Sequence[Cue], start: float, end: float) -> list[Cue]:
    """Return the cues on screen between two moments (s), their times cut to them."""
    shown = (replace(cue, start=max(cue.start, start), end=min(cue.end, end)) for cue in cues)
    return [cue for cue in shown if cue.start < cue.end]


def _seconds(times: re.Match[str], which: int) -> float:
    hours, minutes, whole = (int(times[f"{unit}{which}"] or 0) for unit in "hms")
    return 3600 * hours + 60 * minutes + whole + float(f"0.{times[f'f{which}'] or 0}")
