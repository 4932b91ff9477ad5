"""The messages that are sent to a language model, and the key under which its reply is kept.

A message is a dict of the chat protocol. Its content is text, or a list of texts and attachments
(images, videos). An attachment is sent as a data URL and enters the key by the sha256 of its bytes.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.attachment import Attachment

Piece = str | Attachment
Message = dict[str, Any]
"""`role` and `content`. The content is a str, or a list of pieces."""

TOKENS_PER_ATTACHMENT = 1024
"""Tokens that a budget sets aside for one image before the first bill.

A picture of 1 megapixel costs about as much.
"""


def _protocol_messages(
    messages: Sequence[Message], url_of: Callable[[Attachment], str]
) -> list[Message]:
    """Return the messages in the form of the protocol."""
    rendered: list[Message] = []
    for message in messages:
        rendered_message = dict(message)
        content = message["content"]
        if not isinstance(content, str):
            rendered_message["content"] = [_render_piece(piece, url_of) for piece in content]
        rendered.append(rendered_message)
    return rendered


def _render_piece(piece: Piece, url_of: Callable[[Attachment], str]) -> dict[str, Any]:
    if isinstance(piece, str):
        return {"type": "text", "text": piece}
    return {
        "type": piece.kind,
        piece.kind: {"url": url_of(piece)},
        **piece.extra,
    }


def body_of(model: str, messages: Sequence[Message], sampling: Mapping[str, Any]) -> bytes:
    """Return a request as JSON, attachments as data URLs.

    Attachments are put in at the end, and never searched as text.
    """
    mark = secrets.token_hex(16)
    attachments: list[Attachment] = []

    def mark_of(attachment: Attachment) -> str:
        attachments.append(attachment)
        return mark

    body = {
        "model": model,
        "messages": _protocol_messages(messages, mark_of),
        **sampling,
    }
    text = json.dumps(body, separators=(",", ":"), allow_nan=False)
    first, *following = text.encode().split(mark.encode())
    parts = [first]
    for attachment, part in zip(attachments, following, strict=True):
        data_url = attachment.data_url()
        parts.append(data_url.encode())
        parts.append(part)
    return b"".join(parts)


def on_record(messages: Sequence[Message]) -> list[Message]:
    """Return the messages as plain data, which a key is made of.

    Attachments are there by the sha256 of their bytes.
    """

    def hash_of(attachment: Attachment) -> str:
        return f"sha256:{attachment.sha256()}"

    return _protocol_messages(messages, hash_of)


def request_shape(model: str, messages: Sequence[Message], sampling: Mapping[str, Any]) -> bytes:
    """Return the digest of all that shapes a reply: model, messages, sampling settings."""
    parts = [model, on_record(messages), sampling]
    shape = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(shape.encode()).digest()


def reply_key(shape: bytes, vote: int, attempt: int) -> bytes:
    """Return the key of one reply among those to requests of one shape."""
    key = b"%s|%d|%d" % (shape, vote, attempt)
    return hashlib.sha256(key).digest()


def pieces_of(messages: Sequence[Message]) -> Iterator[Piece]:
    """Yield the texts and attachments of messages, in their order."""
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            yield content
        else:
            yield from content


def number_of_pictures(messages: Sequence[Message]) -> int:
    """Return the number of pictures in messages."""
    number = 0
    for piece in pieces_of(messages):
        if isinstance(piece, Attachment) and piece.kind == "image_url":
            number += 1
    return number


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Estimate the tokens of messages before a server has counted them.

    A token is taken for three bytes of text.
    """
    tokens = 0
    for piece in pieces_of(messages):
        if isinstance(piece, str):
            tokens += len(piece.encode("utf-8", "replace")) // 3
        else:
            tokens += TOKENS_PER_ATTACHMENT
    return tokens
