"""See a plain text as sentences of tokens, each with its part in a statement.

A token's kind is one character: those of words are in `vocabulary`, those of options in
`option_tokens`. The patterns of statements run over these characters.
"""

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.option_tokens import marked_tokens
from reelbench.scoring.answers.option_words import OptionWords

_SAYS_NO = frozenset(("no", "not", "never", "nothing", "neither"))
_ENDS = str.maketrans("?\n", "..")
_BREAKS = str.maketrans("?,\n(TKB", "." * 7)
_LONGEST_CLAUSE = 200  # tokens before a letter in which something may deny it
_LONGEST_DENIAL = 12  # tokens behind it in which something may
_LONGEST_CONDITION = 60  # tokens of a sentence in which one is looked for
_LONGEST_BEFORE = 40  # tokens of a statement before what names its option: 24 at most
_LONGEST_BEHIND = 20  # and behind it: 14 at most
_LONGEST_LIST = 6  # tokens around a letter in which another one may stand


class Stretch(NamedTuple):
    """A stretch of tokens: its first, and the one behind its last."""

    start: int
    stop: int


class Sentences:
    """A plain text as tokens, with its letters and its options' own words marked.

    Args:
        text: From `texts.plain_text`, without markup.
        options: The question's options.
    """

    def __init__(self, text: str, options: OptionWords) -> None:
        self.text = text
        self._options = options
        self.tokens = marked_tokens(text, options)
        self.kinds = "".join(self.tokens.kinds)

    @cached_property
    def _ends(self) -> str:
        """The kinds with "." for all that ends a sentence."""
        return self.kinds.translate(_ENDS)

    @cached_property
    def _breaks(self) -> str:
        """The kinds with "." for all that ends a clause."""
        return patterns.COLON_THAT_ENDS.sub(".", self.kinds.translate(_BREAKS))

    def letter(self, at: int) -> str:
        """Return the letter of the token."""
        return self.tokens.letters[at]

    def places(self, kind: re.Pattern[str]) -> list[int]:
        """Return the tokens of some kinds."""
        return [match.start() for match in kind.finditer(self.kinds)]

    @cached_property
    def stretches_with_letters(self) -> list[Stretch]:
        """The stretches around tokens that name an option, from where no statement reaches out."""
        stretches: list[Stretch] = []
        for at, letter in enumerate(self.tokens.letters):
            if not letter:
                continue
            start = max(0, at - _LONGEST_BEFORE)
            if stretches and start <= stretches[-1].stop:
                start = stretches.pop().start
            stretches.append(Stretch(start, at + _LONGEST_BEHIND))
        return stretches

    def token_at(self, start: int) -> int:
        """Return the first token that ends behind a place of the text."""
        return bisect_right(self.tokens.ends, start)

    def segment_start(self, at: int) -> int:
        """Return the first token behind the last break before `at`."""
        return self._breaks.rfind(".", 0, at) + 1

    def is_denied(self, start: int, at: int) -> bool:
        """Return True where a phrase is ruled out, hedged, asked or a condition.

        Args:
            start: Where the phrase that names an option begins.
            at: The token of its letter or own words.
        """
        return (
            self._is_denied_before(start, at)
            or self._is_denied_behind(at)
            or self._is_condition_or_question(at)
        )

    def is_hedged(self, at: int) -> bool:
        """Return True where the clause of an option's words has a word of doubt."""
        if "H" in self.kinds[self.segment_start(at) : at]:
            return True
        end = at + 1
        return patterns.HEDGED_CLAUSE.match(self.kinds, end, end + _LONGEST_DENIAL) is not None

    def _is_denied_before(self, start: int, at: int) -> bool:
        begin = max(self.segment_start(start), start - _LONGEST_CLAUSE)
        # A letter's own denial ("A is wrong, so …") is not the next one's.
        clause = patterns.OWN_DENIAL.sub("", self.kinds[begin:start])
        if start < at and patterns.JOINED.search(clause):
            clause = ""
        # Of "the one that is not shown is" the denial is the subject's own.
        before = patterns.DENIED_SUBJECT.sub("", clause + self.kinds[start:at])
        if patterns.DENIES_BEHIND_IT.search(before):
            return True
        sentence_before = self.kinds[max(0, begin - 6) : begin]
        return patterns.HEDGED_BEFORE.search(sentence_before) is not None

    def _is_denied_behind(self, at: int) -> bool:
        if self._says_no_itself(at):
            return False
        end = at + 1
        last = end + _LONGEST_DENIAL
        if patterns.DENIED_BEHIND.match(self.kinds, end, last):
            return True
        has_own_words = self.kinds[at] in "AZ"
        return has_own_words and bool(patterns.RULED_OUT_BEHIND_WORDS.match(self.kinds, end, last))

    def _says_no_itself(self, at: int) -> bool:
        """Return True of "(A) No, it does not": that is what the option says."""
        is_denial_behind = self.kinds[at] in "MA" and self.kinds[at + 1 : at + 2] in ("X", "x")
        return is_denial_behind and self.tokens.words[at + 1].casefold() in _SAYS_NO

    def _is_condition_or_question(self, at: int) -> bool:
        first = self._ends.rfind(".", 0, at) + 1
        last = self._ends.find(".", at)
        if last < 0:
            last = len(self.kinds)
        if self.kinds[last : last + 1] == "?":
            return True
        sentence = self.kinds[first : min(last, first + _LONGEST_CONDITION)]
        before = self.kinds[max(first, at - _LONGEST_CONDITION) : at]
        if "I" in before or "i" in sentence or "I" in sentence:
            sentence = patterns.CONDITION_OF_SUBJECT.sub("", sentence)
            before = patterns.CONDITION_OF_SUBJECT.sub("", before)
        is_condition = "I" in before or ("c" in sentence and ("I" in sentence or "i" in sentence))
        return is_condition and not self._options.are_conditional

    def names_several(self, at: int) -> bool:
        """Return True where a letter is one of several that are named together."""
        before = self.kinds[max(0, at - _LONGEST_LIST) : at]
        beside = patterns.BESIDE_AFTER.match(self.kinds, at + 1)
        is_joined = patterns.BESIDE_BEFORE.search(before) is not None
        if not is_joined and self.kinds[at + 1 : at + 2] in ("", ".", ",", ")", "\n"):
            is_joined = patterns.WORD_BETWEEN.search(before) is not None
        if beside is None and not is_joined:
            return False
        last = at + _LONGEST_LIST
        if beside is not None:
            last = max(last, beside.end())
        letters = set(self.tokens.letters[max(0, at - 4) : last])
        letters.discard("")
        return len(letters) > 1
