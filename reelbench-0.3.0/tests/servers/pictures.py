"""Pictures in a call: how many, and of which colours those of the small test questions are.

Before a served model is shown frames for the first time it is asked two small questions with
pictures of one colour (`reelbench.methods.probe`). A test's server answers these as a model that
sees, apart from the questions, unless the test is about them.
"""

import base64
import zlib
from typing import Any

TOKENS_A_PICTURE = 64
_NAMES = {(220, 20, 20): "Red", (20, 20, 220): "Blue", (20, 160, 20): "Green"}
_QUESTION = "Which colour fills each picture?"


def pieces(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The pieces of a call's last message; none where it is one text, or another protocol's."""
    if "messages" not in body:
        return []
    content = body["messages"][-1]["content"]
    return content if isinstance(content, list) else []


def is_small_question(body: dict[str, Any]) -> bool:
    """Whether a call is one of the two small questions."""
    parts = pieces(body)
    return bool(parts) and parts[-1].get("text", "").startswith(_QUESTION)


def colours(body: dict[str, Any]) -> list[str]:
    """The colours of a small question's pictures, read from their bytes."""
    named = []
    for part in pieces(body):
        if part["type"] == "image_url":
            png = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            data = png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8]
            red, green, blue = zlib.decompress(data)[1:4]
            named.append(_NAMES[red, green, blue])
    return named


def seen(body: dict[str, Any]) -> dict[str, Any]:
    """What a model that sees the pictures of a small question answers: content and usage."""
    named = colours(body)
    tokens = 20 + TOKENS_A_PICTURE * len(named)
    return {"content": ", ".join(named), "usage": {"prompt_tokens": tokens}}
