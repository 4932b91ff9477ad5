"""A model's server that keeps what it has read, as vLLM's automatic prefix caching does, behind `JudgeServer`.

A prompt is cut into blocks of 16 tokens, each known by itself and all before it; a prompt's leading
blocks that are known needn't be read again. What was not used for longest is given up where there
is no more room. A picture is 256 tokens (as Gemma 3 has it), known by its bytes; of text, four
bytes are a token.
"""

import hashlib
import json
from collections import OrderedDict

from tests.servers.judge import Answer, Call

BLOCK, PICTURE, BYTES = 16, 256, 4


class PrefixCache:
    """A script of `JudgeServer`; `read` has each prompt's tokens, and those that had to be read anew."""

    def __init__(self, content: str, room: int, delay: float = 0.0) -> None:
        self.content, self.room, self.delay = content, room, delay
        self.blocks: OrderedDict[bytes, None] = OrderedDict()
        self.read: list[tuple[int, int]] = []

    def __call__(self, call: Call) -> Answer:
        tokens = _tokens(call.body["messages"])
        known, before = True, b""
        cached = 0
        for place in range(0, len(tokens) - BLOCK + 1, BLOCK):
            before = hashlib.sha256(before + b"|".join(tokens[place : place + BLOCK])).digest()
            known = known and before in self.blocks
            cached += BLOCK * known
            self.blocks[before] = None
            self.blocks.move_to_end(before)
        while len(self.blocks) * BLOCK > self.room:
            self.blocks.popitem(last=False)
        self.read.append((len(tokens), len(tokens) - cached))
        usage = {"prompt_tokens": len(tokens), "prompt_tokens_details": {"cached_tokens": cached}}
        return Answer(self.content, delay=self.delay, usage=usage)


def _tokens(messages: list[dict]) -> list[bytes]:
    tokens: list[bytes] = []
    for message in messages:
        content = message["content"]
        for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if part["type"] == "text":
                text = f"{message['role']}{part['text']}".encode()
                tokens += [text[place : place + BYTES] for place in range(0, len(text), BYTES)]
            else:
                mark = hashlib.sha256(json.dumps(part).encode()).digest()
                tokens += [mark + bytes([place]) for place in range(PICTURE)]
    return tokens
