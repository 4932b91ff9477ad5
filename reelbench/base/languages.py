"""Languages: their codes, words, digits and signs."""

import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages that put no spaces between words: their words are not counted."""

UNSPACED_SCRIPTS = (
    "\u0e00-\u0e7f\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""The characters of scripts that are written without spaces, for a pattern's class."""

SECONDS: Mapping[str, str] = json.loads(Path(__file__).with_name("seconds.json").read_text("utf-8"))
"""Language -> its word for seconds, after a number with decimals."""


def time_tag(tag: str, *times: float) -> str:
    """Return times in seconds as a prompt has them: `<3.5 seconds>`, or `<3.5-8.0 seconds>`.

    Models that read times are trained on this form. The word is the language's; where it is not
    known here, the English one.
    """
    word = SECONDS.get(language_of(tag), SECONDS["en"])
    numbers = "-".join(f"{time:.1f}" for time in times)
    return f"<{numbers} {word}>"


def language_of(tag: str) -> str:
    """Return the ISO 639 code of a BCP-47 tag."""
    return tag.replace("_", "-").partition("-")[0].lower()


# After NFKC: U+2033 is two U+2032 by then.
_DASHES = "\u058a\u05be\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b"
_TILDES = "\u223c\u301c\u3030"
_LINE_ENDS = "\x85\u2028\u2029"
_ASCII_SIGNS = {
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_TILDES, "~"),
    **dict.fromkeys(_LINE_ENDS, "\n"),
    "\u2032": "'",
    "\u2033": "''",
    "\u2236": ":",
}
_SIGN = re.compile(f"[{''.join(_ASCII_SIGNS)}]")
_SPACE = re.compile(r"[^\S\n ]")


def ascii_signs(text: str) -> str:
    """Return `text` with ASCII spaces, line ends, dashes, tildes and primes for Unicode's."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _SIGN.sub(lambda match: _ASCII_SIGNS[match[0]], text)
    return _SPACE.sub(" ", text)


# Vowel signs and accents that stand by themselves belong to the letter before them, though Python's
# \w lacks them: Latin, Hebrew, Arabic and the Indic scripts (without their full stops), and the
# joiners that shape them.
MARKS = (
    r"\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
_RUN = rf"[^\W_]+(?:[{MARKS}][^\W_]*)*"
WORD = re.compile(rf"{_RUN}(?:['’\-]{_RUN})*")


def words(text: str) -> list[str]:
    """Return a text's words: runs of letters and digits, with apostrophes and hyphens inside."""
    return WORD.findall(text)


DECIMAL_COMMA = frozenset({"de", "fr", "id", "it", "pt", "ru"})
"""The benchmarks' languages with a decimal comma.

Spanish is not among them: their only Spanish is Mexico's, which has the point.
"""

NUMBER_SIGNS = ".,'\u066b\u066c "
"""Signs between the digits of one number: decimal signs and those that group digits."""


def ascii_digits(text: str) -> str:
    """Return `text` with the decimal digits of every script as ASCII digits."""
    if text.isascii():
        return text
    return _OTHER_DIGIT.sub(_ascii_digit, text)


_OTHER_DIGIT = re.compile(r"\d(?<![0-9])")


def _ascii_digit(digit: re.Match[str]) -> str:
    return str(unicodedata.decimal(digit[0]))
