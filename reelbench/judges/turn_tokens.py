"""Tokens of chat templates in answers, by which an answer could speak for the judge.

A server that tokenizes a whole prompt at once makes real tokens of such texts: `<|im_start|>` in
an answer then opens a turn. An answer that only ends in one (`</s>`, `<|im_end|>`) is honest, and
stays.
"""

import re

_OPENING = re.compile(
    r"<[|｜](?:im_start|start_header_id|start|turn|user|assistant|system|developer|tool"
    r"|observation|begin_of_text|begin▁of▁sentence|start_of_turn_token|user_token|chatbot_token"
    r"|system_token|start_of_role)(?:[|｜]>|>)|<start_of_turn>|<bos>|<s>|\[/?(?:INST|SYSTEM_PROMPT)\]",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"[<\[](?=[|｜][^|｜<>\s]{1,40}[|｜]?>|[^|｜<>\s]{1,40}[|｜]>|/?s>|[be]os>|(?:start|end)_of_turn>"
    r"|/?(?:INST|SYSTEM_PROMPT)\])",
    re.IGNORECASE,
)


def opens_a_turn(answer: str) -> bool:
    """Return True where an answer holds a token that opens a turn."""
    return _OPENING.search(answer) is not None


def with_broken_tokens(answer: str) -> str:
    """Return an answer whose tokens are broken, where one opens a turn."""
    if not opens_a_turn(answer):
        return answer
    return _ANY.sub(r"\g<0> ", answer)
