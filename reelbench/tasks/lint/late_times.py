"""A time in a question or an option lies behind the end of the video."""

import re
from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question, is_behind

_CLOCK = r"(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?:\.\d+)?"
_RANGE = re.compile(rf"(?<![\d:.]){_CLOCK}\s*(?:-|–|—|~|to|and)\s*{_CLOCK}(?![\d:])")
"""`00:10 - 00:25`: a time of day or a score seldom stands so."""

_OF_DAY = re.compile(r"\s*(?:[ap]\.?\s?m\b|o'clock|uhr|h\b)", re.IGNORECASE)


def _late_times(questions: Sequence[Question]) -> Iterator[RowIssue]:
    for question in questions:
        if not question.duration:
            continue
        for text_name, text in question.texts.items():
            latest = _latest_time(text)
            if latest is not None and is_behind(latest, question.duration):
                video_end = f"the video ends at {question.duration:,.10g} s"
                yield RowIssue((question,), f"{text_name} names {latest:,.10g} s, and {video_end}")


def _latest_time(text: str) -> float | None:
    """Return the latest end of a text's ranges of time, in seconds."""
    latest: float | None = None
    for match in _RANGE.finditer(text):
        if _OF_DAY.match(text, match.end()):
            continue
        hours, minutes, seconds = match.groups()[3:]
        end = 3600.0 * int(hours or 0) + 60 * int(minutes) + int(seconds)
        latest = max(end, latest or 0.0)
    return latest


RULE = Rule(
    name="late_time",
    title="a time in the text is after the end of the video",
    threshold=(
        "a range such as 00:10 - 00:25, by more than 2 % of the length that the row states, and a "
        "second"
    ),
    find_issues=_late_times,
)
