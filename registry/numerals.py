"""Numbers as languages write them: their digits, and what stands between these."""

import unicodedata

DECIMAL_COMMA = frozenset({"de", "fr", "id", "it", "pt", "ru"})
"""Where the comma is the decimal sign, among the benchmarks' languages. Mexico, the only Spanish one, has the point."""
NUMBER_SIGNS = ".,'\u066b\u066c "
"""What stands between the digits of one number: decimal signs and those that group digits."""


def ascii_digits(text: str) -> str:
    """Return `text` with the decimal digits of every script as ASCII digits."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
