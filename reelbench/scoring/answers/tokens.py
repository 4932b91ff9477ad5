"""Cut a plain text into tokens: phrases of the vocabulary, words and signs.

A long answer has hundreds of tokens, of which few matter. So they are columns, not objects.
"""

from collections.abc import Callable
from functools import cache
from itertools import accumulate, compress
from typing import NamedTuple

from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.texts import plain_text
from reelbench.scoring.answers.vocabulary import KINDS

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʻʼ", "'"))
_MOST_WORDS = 50_000  # that are remembered with their kinds


class Tokens:
    """The tokens of a text, an entry of each column a token.

    A kind is one character, see `vocabulary`. A letter is the option's that the token names, or "".
    """

    def __init__(self, text: str) -> None:
        self.text = text
        pieces = patterns.WORD.split(text)  # what stands between words, and words, in turn
        edges = list(accumulate(map(len, pieces)))
        self.words: list[str] = pieces[1::2]
        self.starts: list[int] = edges[:-1:2]
        self.ends: list[int] = edges[1::2]
        self.kinds: list[str] = list(map(_kinds_by_word.__getitem__, self.words))
        self._join_phrases()
        self.letters: list[str] = [""] * len(self.words)

    def kinds_between(self, first: int, end: int) -> str:
        """Return the kinds of some tokens, of those that are there."""
        return "".join(self.kinds[max(0, first) : end])

    def join(self, first: int, end: int, kind: str, *, letter: str, word: str) -> None:
        """Put one token in the place of some."""
        self.starts[first:end] = [self.starts[first]]
        self.ends[first:end] = [self.ends[end - 1]]
        self.kinds[first:end] = [kind]
        self.letters[first:end] = [letter]
        self.words[first:end] = [word]

    def _join_phrases(self) -> None:
        """Take phrases of the vocabulary whole, the longest first."""
        table = _phrases()
        words = list(map(_folded_words.__getitem__, self.words))
        joined_to = 0
        for at in compress(range(len(words) - 1), map(table.__contains__, words)):
            phrases = table[words[at]].get(words[at + 1])
            if phrases is None or at < joined_to:
                continue
            for phrase in phrases:
                further = len(phrase.further_words)
                if words[at + 1 : at + 1 + further] == phrase.further_words:
                    joined_to = at + 1 + further
                    self.kinds[at:joined_to] = [phrase.kind, *[""] * further]
                    self.ends[at] = self.ends[joined_to - 1]
                    self.words[at] = self.text[self.starts[at] : self.ends[at]]
                    break
        if not joined_to:
            return
        self.words = list(compress(self.words, self.kinds))
        self.starts = list(compress(self.starts, self.kinds))
        self.ends = list(compress(self.ends, self.kinds))
        self.kinds = list(filter(None, self.kinds))


def has_only_kinds(text: str, kinds: frozenset[str]) -> bool:
    """Return True where each token of `text` has one of some kinds."""
    first = patterns.WORD.search(text)
    if first is None:
        return True
    is_other = _kinds_by_word[first[0]] not in kinds and _folded(first[0]) not in _phrases()
    return not is_other and kinds.issuperset(Tokens(text).kinds)


class _ByWord(dict[str, str]):
    """The values of a function by word, each computed once."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[word] = self._function(word)
        return self[word]


class _Phrase(NamedTuple):
    """A phrase of the vocabulary: the words behind its first, and its kind."""

    further_words: list[str]
    kind: str


@cache
def _phrases() -> dict[str, dict[str, list[_Phrase]]]:
    """Return the vocabulary's phrases of several words by their first and second ones.

    The longest phrase is first.
    """
    table: dict[str, dict[str, list[_Phrase]]] = {}
    for kind, phrases in KINDS.items():
        for phrase in phrases:
            first, *further = patterns.WORD.findall(_folded(plain_text(phrase)))
            if further:
                table.setdefault(first, {}).setdefault(further[0], []).append(
                    _Phrase(further, kind)
                )
    for by_second in table.values():
        for entries in by_second.values():
            entries.sort(key=lambda entry: -len(entry.further_words))
    return table


@cache
def _single_words() -> dict[str, str]:
    """Return the kinds of the vocabulary's phrases of one word."""
    kinds_by_word: dict[str, str] = {}
    for kind, phrases in KINDS.items():
        for phrase in phrases:
            word, *further = patterns.WORD.findall(_folded(plain_text(phrase)))
            if not further:
                kinds_by_word.setdefault(word, kind)
    return kinds_by_word


def _kind_of_word(word: str) -> str:
    """Return the kind of a word or a sign by itself."""
    folded = _folded(word)
    return _single_words().get(folded) or _kind_of_unknown(folded)


def _kind_of_unknown(word: str) -> str:
    """Return the kind of a word or a sign that is not in the vocabulary."""
    if word[0].isdigit():
        return "#"
    if word[0].isalnum():
        return "w"
    return "\n" if word == "\n" else "~"


def _folded(text: str) -> str:
    return text.casefold().translate(_APOSTROPHES)


_kinds_by_word = _ByWord(_kind_of_word)
_folded_words = _ByWord(_folded)
