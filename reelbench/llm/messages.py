"""What is sent to a language model, and the key under which its reply is kept.

A message is a dict of the chat protocol. Its content is text, or a list of texts and attachments
(images, videos). An attachment goes over the wire as a data URL and enters the key by the sha256 of
its bytes.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reelbench.base.attachment import Attachment

Message = dict[str, Any]
"""`role` and `content`; the content is a str, or a list of str and `Attachment`."""

TOKENS_PER_ATTACHMENT = 1024
"""What a budget sets aside for one image before the first bill: about what a picture of 1 megapixel costs."""


def _render(messages: Sequence[Message], url_of: Callable[[Attachment], str]) -> list[Message]:
    rendered: list[Message] = []
    for message in messages:
        content = message["content"]
        if not isinstance(content, str):
            content = [
                {"type": "text", "text": piece}
                if isinstance(piece, str)
                else {"type": piece.kind, piece.kind: {"url": url_of(piece)}, **piece.extra}
                for piece in content
            ]
        rendered.append({**message, "content": content})
    return rendered


def body_of(model: str, messages: Sequence[Message], sampling: Mapping[str, Any]) -> bytes:
    """Return a request as JSON, attachments as data URLs: they are put in at the end, and never searched as text."""
    mark, attached = secrets.token_hex(16), list[Attachment]()
    body = {
        "model": model,
        "messages": _render(messages, lambda one: attached.append(one) or mark),
        **sampling,
    }
    first, *others = (
        json.dumps(body, separators=(",", ":"), allow_nan=False).encode().split(mark.encode())
    )
    pairs = zip(attached, others, strict=True)
    return b"".join(
        (first, *(part for one, text in pairs for part in (one.data_url().encode(), text)))
    )


def on_record(messages: Sequence[Message]) -> list[Message]:
    """Return the messages as plain data, attachments by the sha256 of their bytes: what a key is made of."""
    return _render(messages, lambda attachment: f"sha256:{attachment.sha256()}")


def request_shape(model: str, messages: Sequence[Message], sampling: Mapping[str, Any]) -> bytes:
    """Return the digest of all that shapes a reply: the model asked, the messages, the sampling settings."""
    return hashlib.sha256(
        json.dumps([model, on_record(messages), sampling], ensure_ascii=True).encode()
    ).digest()


def reply_key(shape: bytes, vote: int, attempt: int) -> bytes:
    """Return the key of one reply among those asked for with one shape."""
    return hashlib.sha256(b"%s|%d|%d" % (shape, vote, attempt)).digest()


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Return about how many tokens the messages are, before a server has said: three bytes of text a token."""
    tokens = 0
    for message in messages:
        content = message["content"]
        for piece in [content] if isinstance(content, str) else content:
            tokens += (
                len(piece.encode("utf-8", "replace")) // 3
                if isinstance(piece, str)
                else TOKENS_PER_ATTACHMENT
            )
    return tokens
