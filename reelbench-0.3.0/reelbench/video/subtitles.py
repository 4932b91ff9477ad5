"""The subtitles that lie beside a video, as SubRip (`.srt`) or WebVTT (`.vtt`)."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reelbench.base.errors import MediaError
from reelbench.base.files import read_text

SUFFIXES = (".srt", ".vtt")
"""Tried in this order."""

_CLOCK = r"(?:(?P<h{0}>\d+):)?(?P<m{0}>\d{{1,2}}):(?P<s{0}>\d{{1,2}})(?:[.,](?P<f{0}>\d{{1,3}}))?"
_TIMES = re.compile(rf"\s*{_CLOCK.format(1)}\s*-->\s*{_CLOCK.format(2)}(?:\s.*)?")
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")

_WORD_BY_WORD = "<c>"
"""In YouTube's automatic captions, where each cue begins with the last line of the one before."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A line of subtitles, said from `start` to `end`, in seconds of the video."""

    start: float
    end: float
    text: str


def read(path: Path) -> list[Cue]:
    """Read a file's cues in the order of their times, without markup.

    Blank ones are left out.

    Raises:
        MediaError: The file has no cue, or is not UTF-8.
    """
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    cues = _parse_cues(text)
    if not cues:
        raise MediaError(
            path, "no subtitles in it; expected SubRip or WebVTT (00:00:01,000 --> 00:00:02,500)"
        )
    if _WORD_BY_WORD in text:
        cues = _without_repeats(cues)
    spoken_cues: list[Cue] = []
    for cue in cues:
        words = " ".join(cue.text.split())
        if words:
            spoken_cues.append(replace(cue, text=words))
    return sorted(spoken_cues, key=lambda cue: (cue.start, cue.end))


def _parse_cues(text: str) -> list[Cue]:
    """Return a cue for each line of times.

    Its text is what stands between it and the next blank line, or line of times.
    """
    cues: list[Cue] = []
    times: re.Match[str] | None = None
    lines: list[str] = []
    for line in [*text.split("\n"), ""]:
        next_times = _TIMES.fullmatch(line)
        if times is not None and (next_times is not None or not line.strip()):
            cues.append(_make_cue(times, lines))
            times = None
        if next_times is not None:
            times = next_times
            lines = []
        else:
            lines.append(line)
    return cues


def _make_cue(times: re.Match[str], lines: Sequence[str]) -> Cue:
    text = _MARKUP.sub("", "\n".join(lines))
    return Cue(_parse_cue_time(times, 1), _parse_cue_time(times, 2), html.unescape(text))


def _without_repeats(cues: Sequence[Cue]) -> list[Cue]:
    """Return rolling captions with each line once, from when it first appears."""
    lines_before: list[str] = []
    changed_cues: list[Cue] = []
    for cue in cues:
        lines = [line.strip() for line in cue.text.split("\n") if line.strip()]
        new_lines = [line for line in lines if line not in lines_before]
        changed_cues.append(replace(cue, text="\n".join(new_lines)))
        lines_before = lines
    return changed_cues


def within(cues: Sequence[Cue], start: float, end: float) -> list[Cue]:
    """Return the cues on screen between two moments (s), their times cut to them."""
    cues_on_screen: list[Cue] = []
    for cue in cues:
        cut_start = max(cue.start, start)
        cut_end = min(cue.end, end)
        if cut_start < cut_end:
            cues_on_screen.append(Cue(cut_start, cut_end, cue.text))
    return cues_on_screen


def _parse_cue_time(times: re.Match[str], which: int) -> float:
    """Return the first or the second time of a line of times."""
    parts = times.groupdict(default="0")
    hours = int(parts[f"h{which}"])
    minutes = int(parts[f"m{which}"])
    seconds = int(parts[f"s{which}"])
    digits = parts[f"f{which}"]
    fraction = float(f"0.{digits}")
    return 3600 * hours + 60 * minutes + seconds + fraction
