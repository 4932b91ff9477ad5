"""Two small questions with known pictures, which show what of a prompt arrives at a model.

Nothing of them is guessed from a name: the colours are in the pictures alone.
"""

import re
import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from reelbench.base.attachment import Attachment
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.client import NotServedError, TransientError

if TYPE_CHECKING:
    from reelbench.llm.messages import Message
    from reelbench.llm.reply import Reply

_SIDE = 224  # pixels
_COLOURS = {"red": (220, 20, 20), "blue": (20, 20, 220), "green": (20, 160, 20)}
_COLOUR = re.compile(rf"\b({'|'.join(_COLOURS)})\b")
_SETTINGS = {"max_tokens": 64, "temperature": 0}
_ONE_PICTURE = ("red",)
_IN_ORDER = ("blue", "green", "red")
_QUESTION = "Which colour fills each picture? Name the colours in their order, and nothing else."


class _Answer(NamedTuple):
    """The answer to one question of the probe."""

    text: str | None
    tokens: int


def probe(options: AskOptions) -> dict[str, object]:
    """Ask a served model two questions with pictures; return what arrives, in words.

    The two are asked anew each time.
    """
    return loop.run(_probe(options))


async def _probe(options: AskOptions) -> dict[str, object]:
    asker = Asker(options, _SETTINGS, on_note=lambda _: None, as_it_stands=True)
    facts: dict[str, object] = {"server": options.host, "model": options.model}
    async with asker:
        try:
            await asker.served_model()
        except (TransientError, NotServedError) as error:
            facts["list of models"] = str(error)
        facts |= asker.statement.record_fields() or {}
        to_one = await _answer(asker, _ONE_PICTURE)
        to_several = await _answer(asker, _IN_ORDER)
    troubles = [note for note in asker.notes if " is asked at " not in note]
    if to_one.text is None or to_several.text is None:
        facts["pictures"] = "no answer"
        if troubles:
            facts["pictures"] = troubles[-1]
        return facts
    facts |= _sight(to_one, to_several)
    for name, sent_name in asker.sent_instead.items():
        facts[name] = f"refused, sent as {sent_name or 'nothing'}"
    return facts


async def _answer(asker: Asker, colours: Sequence[str]) -> _Answer:
    """Return the answer to a question with pictures of these colours."""
    pictures = [Attachment("image_url", "image/png", _png(colour)) for colour in colours]
    messages: list[Message] = [{"role": "user", "content": [*pictures, _QUESTION]}]
    result = await asker.ask(messages, str, outdated=lambda _: True)
    reply: Reply | None = None
    if result.replies:
        reply = result.replies[-1].reply
    if reply is None:
        return _Answer(None, 0)
    return _Answer(result.value, reply.prompt_tokens)


def _sight(to_one: _Answer, to_several: _Answer) -> dict[str, object]:
    """Return the facts that the answers to the two questions show."""
    facts: dict[str, object] = {}
    named_colours = _colours_in(to_several.text or "")
    has_seen_one = _colours_in(to_one.text or "") == list(_ONE_PICTURE)
    if not has_seen_one or set(named_colours) != set(_IN_ORDER):
        facts["pictures"] = "not seen"
    elif named_colours == list(_IN_ORDER):
        facts["pictures"] = "seen, in their order"
    else:
        facts["pictures"] = "seen, in another order"
    facts["answers"] = f"{(to_one.text or '')[:60]!r}, {(to_several.text or '')[:60]!r}"
    if not to_several.tokens:
        facts["tokens"] = "not counted"
        return facts
    growth = (to_several.tokens - to_one.tokens) / (len(_IN_ORDER) - len(_ONE_PICTURE))
    facts["tokens"] = f"{growth:g} for a picture of {_SIDE} x {_SIDE}"
    return facts


def _colours_in(text: str) -> list[str]:
    """Return the colours that a text names, in its order."""
    return _COLOUR.findall(text.lower())


def _png(colour: str) -> bytes:
    """Return a picture of one colour, as PNG (RFC 2083)."""
    row = b"\0" + bytes(_COLOURS[colour]) * _SIDE
    header = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(row * _SIDE)), (b"IEND", b"")]
    content = b"\x89PNG\r\n\x1a\n"
    for name, data in chunks:
        checksum = zlib.crc32(name + data)
        content += struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)
    return content
