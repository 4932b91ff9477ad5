"""What of a language matters here: its code, its words, its digits and signs."""

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
    """Return times in seconds as a prompt has them before what is on screen then, in a language's words.

    `<3.5 seconds>`, or of a span `<3.5-8.0 seconds>`: as models that read times are taught it.
    Where the word for seconds is not known here, it is the English one.
    """
    return (
        f"<{'-'.join(f'{at:.1f}' for at in times)} {SECONDS.get(language_of(tag), SECONDS['en'])}>"
    )


def language_of(tag: str) -> str:
    """Return the ISO 639 code of a BCP-47 tag."""
    return tag.replace("_", "-").partition("-")[0].lower()


# After NFKC: U+2033 is two U+2032 by then.
_ASCII_SIGNS = {
    **dict.fromkeys(
        map(chr, (0x58A, 0x5BE, 0x1806, *range(0x2010, 0x2016), 0x2043, 0x2212, 0x2E3A, 0x2E3B)),
        "-",
    ),
    **dict.fromkeys(map(chr, (0x223C, 0x301C, 0x3030)), "~"),
    **dict.fromkeys(map(chr, (0x85, 0x2028, 0x2029)), "\n"),
    "\u2032": "'",
    "\u2033": "''",
    "\u2236": ":",
}
_SIGN = re.compile(f"[{''.join(_ASCII_SIGNS)}]")
_SPACE = re.compile(r"[^\S\n ]")


def ascii_signs(text: str) -> str:
    """Return `text` with every space, line end, dash, tilde and prime of Unicode as the ASCII one."""
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
    """Return a text's words: runs of letters and digits, apostrophes and hyphens within them kept."""
    return WORD.findall(text)


DECIMAL_COMMA = frozenset({"de", "fr", "id", "it", "pt", "ru"})
"""Where the comma is the decimal sign, among the benchmarks' languages. Mexico, the only Spanish one, has the point."""
NUMBER_SIGNS = ".,'\u066b\u066c "
"""What stands between the digits of one number: decimal signs and those that group digits."""


def ascii_digits(text: str) -> str:
    """Return `text` with the decimal digits of every script as ASCII digits."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
