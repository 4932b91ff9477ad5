"""Other people's text in a question, so that it can't pass for an order.

Each piece stands between tags that carry a mark: 128 bits of the hash of all of them, so no text can hold the tag that
would end it.
"""

import hashlib
from collections.abc import Sequence

_MARK = 32  # hexadecimal digits


def marked(material: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the mark of (tag, text) of each piece, and the pieces between tags that carry it, in order."""
    texts = "\0".join(f"{tag}\0{text}" for tag, text in material)
    mark = hashlib.sha256(texts.encode("utf-8", "replace")).hexdigest()[:_MARK]
    return mark, "\n\n".join(f"<{tag} {mark}>\n{text}\n</{tag} {mark}>" for tag, text in material)
