"""How the page of a chain writes what others wrote: as text, changed words marked, times as people read them.

All functions return HTML; what they are given is escaped in it.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from html import escape

Span = tuple[float, float]

# Of scripts without spaces each character is a word.
_WORD = re.compile(r"\s*(?:[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)")
_STEPS = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)  # seconds between an axis' marks
_MARKS = 6


def named(code: str) -> str:
    """Return a name that programs use as words."""
    return escape(code.replace("_", " "))


def changes(before: str, after: str) -> str:
    """Return a text with what was taken out and what was put in marked where it stands."""
    shown = ""
    for old, new in _parts(before, after):
        taken, put = (new, "") if old == new else (_marked("del", old), _marked("ins", new))
        # Words that stand for others are parted from them, where words are.
        shown += taken + (" " if put and taken and not put[0].isspace() and " " in before else "") + put
    return shown


def side_by_side(before: str, after: str) -> tuple[str, str]:
    """Return both texts, with the words that only one of them has marked."""
    parts = _parts(before, after)
    return (
        "".join(old if old == new else _marked("del", old) for old, new in parts),
        "".join(new if old == new else _marked("ins", new) for old, new in parts),
    )


def _marked(tag: str, words: str) -> str:
    text = words.lstrip()
    return f"{words[: len(words) - len(text)]}<{tag}>{text}</{tag}>" if text else ""


def _parts(before: str, after: str) -> list[tuple[str, str]]:
    """Return runs of words, escaped, as (before, after): the same text where nothing changed."""
    words = _WORD.findall(before), _WORD.findall(after)
    codes = SequenceMatcher(None, *([word.strip() for word in side] for side in words), autojunk=False).get_opcodes()
    runs: list[tuple[str, str]] = []
    for change, *places in codes:
        old, new = (escape("".join(words[n][places[2 * n] : places[2 * n + 1]])) for n in range(2))
        runs.append((new, new) if change == "equal" else (old, new))
    return runs


def clock(seconds: float) -> str:
    """Return a time as mm:ss, with hours where there are any and tenths where they say something."""
    tenths = round(10 * seconds)
    minutes, rest = divmod(tenths, 600)
    shown = f"{rest // 10:02}" if rest % 10 == 0 else f"{rest / 10:04.1f}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{shown}" if hours else f"{minutes:02}:{shown}"


def stretch(span: Span) -> str:
    """Return a span in words."""
    return f"{clock(span[0])} to {clock(span[1])}"


def strip(spans: Mapping[str, Span], length: float) -> str:
    """Return spans on one axis from 0 to `length` (seconds) or the last end: a line each, called by its key."""
    end = max([length, *(span[1] for span in spans.values())])
    if end <= 0 or not spans:
        return ""
    lines = "".join(_line(name, span, end) for name, span in spans.items())
    step = next((step for step in _STEPS if end / step <= _MARKS), end / _MARKS)
    marks = [place * step for place in range(int(end / step) + 1) if place * step <= 0.9 * end]
    ruler = "".join(f"<i style='left:{100 * mark / end:.3f}%'>{clock(mark)}</i>" for mark in (*marks, end))
    return (
        f"<div class='lines'>{lines}"
        f"<span class='ruled' aria-hidden='true'></span><span class='ruler' aria-hidden='true'>{ruler}</span></div>"
    )


def _line(name: str, span: Span, end: float) -> str:
    left, width = 100 * span[0] / end, 100 * (span[1] - span[0]) / end
    box = f"<i style='left:{left:.3f}%;width:{width:.3f}%' data-start='{span[0]:g}' data-end='{span[1]:g}'></i>"
    return (
        f"<span>{escape(name)} <span class='sub'>{stretch(span)}</span></span>"
        f"<span class='rail' aria-hidden='true'>{box}</span>"
    )


def paragraph(text: str, kind: str = "") -> str:
    """Return a text in its own direction, its line breaks kept."""
    return f"<p class='said{f' {kind}' if kind else ''}' dir='auto'>{escape(text)}</p>"


def facts(values: Sequence[tuple[str, object]]) -> str:
    """Return names and values as a list of short facts."""
    shown = "".join(f"<li><span class='sub'>{named(name)}</span> {escape(str(value))}</li>" for name, value in values)
    return f"<ul class='facts'>{shown}</ul>" if shown else ""
