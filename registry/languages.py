"""What of a language matters here: its code, and whether its words can be counted."""

UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages that put no spaces between words: their words are not counted."""


def language_of(tag: str) -> str:
    """Return the ISO 639 code of a BCP-47 tag."""
    return tag.replace("_", "-").partition("-")[0].lower()
