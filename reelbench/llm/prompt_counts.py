"""What a server's counts of prompt tokens say of the prompts that it read.

A server may drop what doesn't fit into its context and answer all the same. Ollama does so, and
counts what is left: all of its context, or half of it and two tokens (ollama/ollama#17427, #17889).
A server may also leave out of its count what it has kept of an earlier prompt (ollama/ollama#2068),
so a low count is no sign where an earlier prompt began in the same way.
"""

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from reelbench.base.errors import number_of
from reelbench.llm.messages import Message, number_of_pictures, pieces_of
from reelbench.llm.reply import Reply

Fault = Literal["media_not_seen", "prompt_cut"]

_NEIGHBOURS = 64
"""Prompts that are remembered with their text: a server keeps the latest ones."""

_WINDOW_STEP = 512
"""Tokens: contexts are multiples of it, and so are their halves."""

_FEWEST = 3
"""Prompts of one count from which on it tells something."""

_MOST_UNDECIDED = 16
"""Prompts of one count after which they are taken for whole ones, where they are alike."""

_UNLIKE_BYTES = 40
"""Bytes by which the longest text differs from the shortest where they can't count the same."""

_WORDS_A_TOKEN = 2
"""Words of a token at most. Tokenizers end a token where a word ends, or at most a word later."""

_SMALLEST_CUT = 512
"""Tokens that a cut leaves at least. A lower count is of a part that the server had not kept."""

_BYTES_A_TOKEN = 16
"""Bytes of a token at most, for languages that are written without spaces."""


class _Size(NamedTuple):
    """The size of a prompt that was sent, and the tokens that the server counted."""

    tokens: int
    pictures: int
    text_bytes: int


@dataclass(slots=True)
class _SameCount:
    """The prompts that a server counts the same round number of tokens for."""

    names: list[str] = field(default_factory=list[str])
    fewest_bytes: int = 0
    most_bytes: int = 0
    fewest_pictures: int = 0
    most_pictures: int = 0

    def add(self, name: str, size: _Size) -> None:
        """Add a prompt."""
        if not self.names:
            self.fewest_bytes = size.text_bytes
            self.fewest_pictures = size.pictures
        self.names.append(name)
        self.fewest_bytes = min(self.fewest_bytes, size.text_bytes)
        self.most_bytes = max(self.most_bytes, size.text_bytes)
        self.fewest_pictures = min(self.fewest_pictures, size.pictures)
        self.most_pictures = max(self.most_pictures, size.pictures)

    @property
    def is_unlike(self) -> bool:
        """True where they differ so much in size that nobody counts the same for them."""
        if len(self.names) < _FEWEST:
            return False
        has_unlike_texts = self.most_bytes - self.fewest_bytes >= _UNLIKE_BYTES
        return has_unlike_texts or self.most_pictures > self.fewest_pictures


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A prompt that was sent, with its text.

    Attributes:
        name: The question's id.
        media: The name of its pictures. None where it has none.
        tokens: Those that the server counted, and those that it says it had kept.
        began: When it was sent, in seconds since 1970.
        ended: When the reply was here.
    """

    name: str
    media: str | None
    text: str
    pictures: int
    tokens: int
    began: float
    ended: float

    def fault(self) -> Fault | None:
        """Return the fault that the count shows by itself, if any."""
        if self.tokens < self.pictures:
            return "media_not_seen"
        if _SMALLEST_CUT <= self.tokens < _fewest_tokens(self.text):
            return "prompt_cut"
        return None

    def may_be_kept_from(self, earlier: "_Prompt") -> bool:
        """Return True where an earlier prompt may account for a low count."""
        if earlier.media != self.media or earlier.began >= self.ended:
            return False
        same_beginning = os.path.commonprefix([earlier.text, self.text])  # noqa: RUF071 - any texts
        text_read_anew = self.text[len(same_beginning) :]
        return self.tokens >= _fewest_tokens(text_read_anew)


class PromptCounts:
    """The counts of prompt tokens of one run, and the prompts at fault by them.

    Attributes:
        context: Tokens of the server's context, as it says. None where it doesn't say.
    """

    def __init__(self) -> None:
        self.context: int | None = None
        self.uncounted_pictures = 0
        """Pictures in prompts of which the server counts no tokens."""
        self._faults: dict[str, Fault] = {}
        self._sizes: dict[str, _Size] = {}
        self._same_counts: dict[int, _SameCount] = {}
        self._largest_count = 0
        self._whole_prompts: deque[_Prompt] = deque(maxlen=_NEIGHBOURS)
        self._low_prompts: deque[_Prompt] = deque(maxlen=_NEIGHBOURS)

    @property
    def are_unverifiable(self) -> bool:
        """True where pictures were sent, and the server counts no tokens at all."""
        return bool(self.uncounted_pictures) and not self._sizes

    @property
    def is_undecided(self) -> bool:
        """True while all counts are one round number, which may be chance."""
        if len(self._same_counts) != 1 or len(self._sizes) > _MOST_UNDECIDED:
            return False
        [same_count] = self._same_counts.values()
        return len(same_count.names) == len(self._sizes) and not same_count.is_unlike

    def note(
        self, name: str, messages: Sequence[Message], reply: Reply, at: float, media: str | None
    ) -> None:
        """Note a reply.

        Args:
            name: The question's id.
            messages: The prompt.
            reply: The reply. One of a server that counts no tokens tells nothing.
            at: When it came, in seconds since 1970.
            media: The name of the prompt's pictures. None where it has none.
        """
        if not reply.prompt_tokens:
            self.uncounted_pictures += number_of_pictures(messages)
            return
        prompt = _Prompt(
            name=name,
            media=media,
            text=_text_of(messages),
            pictures=number_of_pictures(messages),
            tokens=reply.prompt_tokens + (reply.cached_tokens or 0),
            began=at - (reply.seconds or 0.0),
            ended=at,
        )
        self._note_size(prompt, reply.prompt_tokens)
        fault = prompt.fault()
        if fault is None:
            self._note_whole_prompt(prompt)
        elif not any(prompt.may_be_kept_from(earlier) for earlier in self._whole_prompts):
            self._faults[name] = fault
            self._low_prompts.append(prompt)

    def forget(self, name: str) -> None:
        """Forget the count of a question's prompt: it is asked again."""
        self._faults.pop(name, None)
        self._sizes.pop(name, None)
        for low in list(self._low_prompts):
            if low.name == name:
                self._low_prompts.remove(low)

    def unseen_in_words(self, name: str) -> str:
        """Return the tokens that were counted for a question's pictures, in words."""
        size = self._sizes[name]
        tokens = number_of(size.tokens, "token")
        return f"the server counted {tokens} for {number_of(size.pictures, 'picture')}"

    def fault_by_now(self, name: str) -> Fault | None:
        """Return the fault of a question's prompt, as far as can be told by now."""
        size = self._sizes.get(name)
        if name not in self._faults and size is not None and self._is_window(size.tokens):
            return "prompt_cut"
        return self._faults.get(name)

    def faults(self) -> dict[str, Fault]:
        """Return id -> fault of all prompts that are at fault."""
        faults: dict[str, Fault] = {}
        for count, same_count in self._same_counts.items():
            if self._is_window(count) or self._is_below_shorter_ones(count):
                for name in same_count.names:
                    faults[name] = "prompt_cut"
        return faults | self._faults

    def _note_size(self, prompt: _Prompt, count: int) -> None:
        """Note the size of a prompt."""
        if prompt.name in self._sizes:  # one of several replies to a question is enough
            return
        text_bytes = len(prompt.text.encode("utf-8", "replace"))
        size = _Size(count, prompt.pictures, text_bytes)
        self._sizes[prompt.name] = size
        self._largest_count = max(self._largest_count, count)
        if self._is_round(count):
            self._same_counts.setdefault(count, _SameCount()).add(prompt.name, size)

    def _note_whole_prompt(self, prompt: _Prompt) -> None:
        """Note a prompt that was counted whole. Low counts beside it may be no fault."""
        self._whole_prompts.append(prompt)
        for low in list(self._low_prompts):
            if low.may_be_kept_from(prompt):
                self._low_prompts.remove(low)
                self._faults.pop(low.name, None)

    def _is_round(self, count: int) -> bool:
        """Return True for the size of a context, or half of one and two tokens."""
        if self.context is not None and count in {self.context, self.context // 2 + 2}:
            return True
        return count >= _WINDOW_STEP and count % _WINDOW_STEP in {0, 2}

    def _is_window(self, count: int) -> bool:
        """Return True where no prompt has more tokens than a round count that several share."""
        same_count = self._same_counts.get(count)
        return same_count is not None and same_count.is_unlike and count == self._largest_count

    def _is_below_shorter_ones(self, count: int) -> bool:
        """Return True where prompts of a count are longer than one that has more tokens.

        A server that cuts a prompt to half of its context has that for the longest ones alone.
        """
        same_count = self._same_counts[count]
        if not same_count.is_unlike or 4 * len(same_count.names) < len(self._sizes):
            return False
        for size in self._sizes.values():
            has_no_more_pictures = size.pictures <= same_count.fewest_pictures
            is_shorter = size.text_bytes < same_count.fewest_bytes
            if has_no_more_pictures and is_shorter and size.tokens > count:
                return True
        return False


def _text_of(messages: Sequence[Message]) -> str:
    """Return the words of messages."""
    return "\n".join(piece for piece in pieces_of(messages) if isinstance(piece, str))


def _fewest_tokens(text: str) -> int:
    """Return the fewest tokens that any tokenizer makes of a text."""
    words = text.split()
    text_bytes = sum(len(word.encode("utf-8", "replace")) for word in words)
    return max(len(words) // _WORDS_A_TOKEN, text_bytes // _BYTES_A_TOKEN)
