"""What of a language matters here: its code, its words, and whether they can be counted."""

import re

UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages that put no spaces between words: their words are not counted."""


def language_of(tag: str) -> str:
    """Return the ISO 639 code of a BCP-47 tag."""
    return tag.replace("_", "-").partition("-")[0].lower()


# Vowel signs and accents that stand by themselves belong to the letter before them, though \w lacks them: Latin,
# Hebrew, Arabic, the Indic scripts (without their full stops), and the joiners that shape them.
_MARKS = (
    r"\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
_RUN = rf"[^\W_](?:[^\W_]|[{_MARKS}])*"
WORD = re.compile(rf"{_RUN}(?:['’\-]{_RUN})*")


def words(text: str) -> list[str]:
    """Return a text's words: runs of letters and digits, apostrophes and hyphens within them kept."""
    return WORD.findall(text)
