"""The bound on the length of a judge's replies.

It is sent with each call and is no part of a reply's key: it keeps a model that repeats itself from
filling its context. A reply that it cut off is kept with it, and passed over once it is higher.
"""

import json
import re
from collections.abc import Sequence

from reelbench.llm.ask_result import reply_failure_kind
from reelbench.llm.messages import Message, estimated_tokens
from reelbench.llm.reply import Reply
from reelbench.llm.store import StoredReply

TOKENS = 8192
"""The bound of a model that answers at once."""
REASONING_TOKENS = 32_768
"""The bound of a model that reasons before it answers."""

_BOUND = "bound"
_REASONING = re.compile(r"\s*(?:<think|<reasoning|\[THINK\]|<\|channel\|>analysis)", re.IGNORECASE)
_REFUSAL = re.compile(
    r"max_(?:completion_|output_|new_)?tokens|context.?length|maximum context|completion tokens",
    re.IGNORECASE,
)


class ReplyBound:
    """The bound on one model's replies.

    Attributes:
        tokens: The most tokens of a reply.
        is_refused: True where the server takes none.
    """

    def __init__(self, tokens: int, *, may_grow: bool) -> None:
        """Set up.

        Args:
            tokens: The most tokens of a reply.
            may_grow: It becomes `REASONING_TOKENS` once the model is seen to reason.
        """
        self.tokens = tokens
        self.is_refused = False
        self._may_grow = may_grow

    def note(self, reply: Reply) -> None:
        """Raise the bound where a reply has reasoning."""
        has_reasoning = reply.reasoning_tokens or _REASONING.match(reply.raw or "")
        if has_reasoning and self._may_grow:
            self.tokens = max(self.tokens, REASONING_TOKENS)

    def of_prompt(self, messages: Sequence[Message], context: int | None) -> int | None:
        """Return the bound that goes out with a prompt. None for none.

        None goes out where the window may have less room behind the prompt: it ends the reply
        by itself, and a lower bound would rest on a rough estimate of the prompt's tokens.

        Args:
            messages: The prompt.
            context: Tokens that a prompt and its reply may have together, where that is known.
        """
        if self.is_refused:
            return None
        if context is not None and context - estimated_tokens(messages) < self.tokens:
            return None
        return self.tokens

    def is_outgrown_by(self, stored: StoredReply, bound: int | None) -> bool:
        """Return True for a kept reply that a lower bound than today's cut off."""
        if bound is None or stored.giver is None or reply_failure_kind(stored.reply) != "cut_off":
            return False
        return json.loads(stored.giver).get(_BOUND, bound) < bound


def giver_of_cut(reply: Reply, bound: int | None) -> str | None:
    """Return the note of the bound that cut a reply off. None where none did."""
    if bound is None or reply_failure_kind(reply) != "cut_off":
        return None
    return json.dumps({_BOUND: bound})


def may_refuse_bound(words: str) -> bool:
    """Return True where a server's words may refuse a bound.

    Those on a prompt that is too long are alike.
    """
    return _REFUSAL.search(words) is not None
