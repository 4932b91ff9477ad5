"""Know a question's options: their letters, and by which words each is said."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from reelbench.registry.rows import LETTERS
from reelbench.scoring.answers import patterns, texts
from reelbench.scoring.answers.tokens import Tokens, has_only_kinds
from reelbench.scoring.answers.vocabulary import NOUNS, OPTION_LETTERS, WORDS, phrases

_GRAMMAR = frozenset("XxYHICcRSJNOWKTVUFq.,iD")
_CONDITIONS = frozenset("Ii")
_NOUNS = frozenset(NOUNS)
_YES = frozenset(phrases("yes"))
_NO = frozenset(phrases("no"))
_WORDS = re.compile(r"\w+")
_JOINT = re.compile(r"[\W_]{1,8}")  # what may stand between two words of an option
_QUESTION_MARKS = "?？؟"
_SIGNS_OF_FORMULAS = frozenset("+=<>")
_SIGN = re.compile(r"-\s?$")
# A number is no part of another.
_NUMBER_STARTS = re.compile(r"(?<![.-])(?<!\d,)")
_NUMBER_ENDS = re.compile(r"(?![.,:/]\d)")
_WORDS_OF_NUMBERS = {word: float(number) for number, word in enumerate(WORDS["numbers"])}


_Place = tuple[int, int]
"""The start and the end of words in a text."""


class OwnWords(NamedTuple):
    """The place of an option's own words in a text, and its letter.

    `is_grammar` is True of words that have a part in sentences ("No"), `is_number` of a number.
    """

    start: int
    end: int
    letter: str
    is_grammar: bool
    is_number: bool


@dataclass(frozen=True)
class _Option:
    letter: str
    plain: str
    synonyms: frozenset[str]
    is_grammar: bool
    is_number: bool
    is_picture: bool

    def places_in(self, text: str, low: str) -> Iterable[_Place]:
        """Return the places of the option's words. `low` is the text in small letters."""
        if self.is_picture:
            return _places_of_signs(self.plain, text)
        if not self.is_grammar and self._longest_word not in low:
            return ()
        if self._has_plain_words and len(low) == len(text):
            return self._places_of_plain_words(text, low)
        pattern = self.pattern_in(text)
        if pattern is None:
            return ()
        return [match.span() for match in pattern.finditer(text)]

    @cached_property
    def _low_words(self) -> list[str]:
        return _WORDS.findall(self.plain.lower())

    @cached_property
    def _signs_between(self) -> list[frozenset[str]]:
        """The signs of formulas between each word and the next."""
        return [_SIGNS_OF_FORMULAS & set(joint) for joint in _WORDS.split(self.plain)[1:-1]]

    @cached_property
    def _longest_word(self) -> str:
        return max(self._low_words, key=len, default="")

    @cached_property
    def _has_plain_words(self) -> bool:
        """True where the words are looked for as they are, without a pattern.

        A pattern takes longer to make than all answers to a question take to read.
        """
        words = self._low_words
        if self.synonyms or not words or len(self.plain.lower()) != len(self.plain):
            return False
        if any(word.startswith("_") for word in words):
            return False
        is_letter = len(words) == 1 and len(words[0]) == 1 and words[0].isalpha()
        is_question = self.plain[-1] in _QUESTION_MARKS
        return not (is_letter or is_question or _is_order(self.plain) or _is_signed(self.plain))

    def _places_of_plain_words(self, text: str, low: str) -> Iterator[_Place]:
        words = self._low_words
        start = low.find(words[0])
        while start >= 0:
            end = _end_of_words(low, words, start, self._signs_between)
            if end is not None and self._has_word_ends(text, start, end):
                yield start, end
                start = low.find(words[0], end)
            else:
                start = low.find(words[0], start + 1)

    def _has_word_ends(self, text: str, start: int, end: int) -> bool:
        """Return True where words end at both ends, and numbers are whole."""
        first = self._low_words[0][0]
        last = self._low_words[-1][-1]
        # Scripts without spaces have no such ends.
        if not patterns.UNSPACED_SIGN.match(first) and not patterns.WORD_STARTS.match(text, start):
            return False
        if not patterns.UNSPACED_SIGN.match(last) and not patterns.WORD_ENDS.match(text, end):
            return False
        if first.isdigit() and not _NUMBER_STARTS.match(text, start):
            return False
        return not last.isdigit() or _NUMBER_ENDS.match(text, end) is not None

    def pattern_in(self, text: str) -> "re.Pattern[str] | None":
        """Return the pattern of the option's words in a text, if it has any."""
        if self.synonyms:
            return self._pattern_of_synonyms
        return self._pattern_in_ascii if text.isascii() else self._pattern_in_any_text

    @cached_property
    def _pattern_of_synonyms(self) -> re.Pattern[str]:
        return _pattern_of_any(self.synonyms)

    @cached_property
    def _pattern_in_any_text(self) -> "re.Pattern[str] | None":
        starts = patterns.WORD_STARTS.pattern
        return _own_pattern(self.plain, starts, patterns.WORD_ENDS.pattern)

    @cached_property
    def _pattern_in_ascii(self) -> "re.Pattern[str] | None":
        """The pattern without unspaced scripts, made in a tenth of the time."""
        return _own_pattern(self.plain, r"(?<!\w)", r"(?!\w)")


class OptionWords:
    """The options of a question.

    Args:
        options: Their texts. The first is A.
        question: The question, where it is known.
    """

    def __init__(self, options: Sequence[str], question: str = "") -> None:
        self.plain = [texts.plain_text(option).strip() for option in options]
        self.letters = LETTERS[: len(self.plain)]
        self.circled = any(map(patterns.CIRCLED.search, options))
        self.question = question
        self.squeezed = [texts.words_alone(option) for option in self.plain]

    @cached_property
    def letter_by_sign(self) -> dict[str, str]:
        """The options' letters by the signs for them, those of other alphabets too."""
        letters = {letter: letter for letter in self.letters}
        letters.update((letter.lower(), letter) for letter in self.letters)
        for sign, place in OPTION_LETTERS.items():
            if place < len(self.letters):
                letters[sign] = self.letters[place]
        return letters

    @cached_property
    def numbers(self) -> list[float | None]:
        """The number that each option is, if it is one."""
        return [number(option) for option in self.plain]

    @cached_property
    def are_conditional(self) -> bool:
        """True where the question sets a condition ("if"): answers say it again."""
        question = texts.plain_text(self.question)
        return not _CONDITIONS.isdisjoint(Tokens(question).kinds)

    @cached_property
    def nouns(self) -> bool:
        """False where an option says "Image B" itself: then its words are meant."""
        for option in self.plain:
            low = option.casefold()
            if not any(noun in low for noun in _NOUNS):
                continue
            for noun, word in pairwise(Tokens(option).words):
                if is_noun(noun) and len(word) == 1 and word.isalpha():
                    return False
        return True

    @property
    def _options(self) -> list[_Option]:
        return _options_of(tuple(self.plain))

    def occurrences(self, text: str) -> list[OwnWords]:
        """Return the places of options' own words, without those within a longer option's."""
        low = text.lower()
        hits: list[OwnWords] = []
        for option in self._options:
            hits.extend(_own_words(place, option) for place in option.places_in(text, low))
        hits.sort(key=lambda hit: (hit.start, -hit.end))
        outermost: list[OwnWords] = []
        for hit in hits:
            last = outermost[-1] if outermost else None
            if not last or hit.start >= last.end:
                outermost.append(hit)
            elif hit[:2] == last[:2]:
                # The words of two options are neither's.
                outermost[-1] = last._replace(letter=last.letter + hit.letter)
        return outermost

    def equal_to(self, text: str) -> list[str]:
        """Return the letters of the options whose own words a text is, no more."""
        first_run = _WORDS.search(text)
        first_word = first_run[0].casefold() if first_run else ""
        whole = text.strip(" .!。,\n")
        equal: list[str] = []
        for option, words in zip(self._options, self.squeezed, strict=True):
            if option.is_picture:
                is_equal = whole == option.plain
            else:
                is_equal = first_word != "" and words.startswith(first_word)
                is_equal = is_equal and words == texts.words_alone(text)
            if option.synonyms and not is_equal:
                is_equal = _is_whole(option, whole)
            if not is_equal:
                continue
            # Of a number the sign counts too.
            is_number = option.plain[-1:].isdigit()
            if not is_number or _is_within(option, text):
                equal.append(option.letter)
        return equal

    def answers_alone(self, text: str) -> bool:
        """Return True of an option's words such as yes, no or never."""
        equal = self.equal_to(text)
        return any(option.letter in equal and option.is_grammar for option in self._options)

    def begins_with_own_words(self, letter: str, text: str, at: int) -> bool:
        """Return True where a letter's own words begin at a place of a text."""
        place = self.letters.find(letter)
        if place < 0:
            return False
        places = self._options[place].places_in(text, text.lower())
        return any(start == at for start, _ in places)


@lru_cache(maxsize=64)
def option_words(options: tuple[str, ...], question: str = "") -> OptionWords:
    """Return the words of a question's options, made once for all its answers."""
    return OptionWords(options, question)


@lru_cache(maxsize=64)
def _options_of(plain_options: tuple[str, ...]) -> list[_Option]:
    """Return the options of some texts, made once for all questions that have the same."""
    options: list[_Option] = []
    synonyms_of_all = _words_in_other_languages(plain_options)
    words_of_all = [texts.words_alone(plain) for plain in plain_options]
    for letter, plain in zip(LETTERS, plain_options, strict=False):
        synonyms = synonyms_of_all.get(plain, frozenset())
        is_letter = len(plain) == 1 and plain.isalpha() and plain.isascii()
        has_synonyms = bool(synonyms)
        is_grammar = is_letter or has_synonyms or has_only_kinds(plain, _GRAMMAR)
        is_number = patterns.NUMBER_ALONE.fullmatch(plain) is not None
        words = texts.words_alone(plain)
        has_own_words = words != "" and words_of_all.count(words) == 1
        is_picture = not has_own_words and patterns.PICTURE.search(plain) is not None
        options.append(_Option(letter, plain, synonyms, is_grammar, is_number, is_picture))
    return options


def is_noun(word: str) -> bool:
    """Return True of a noun of the things that options may be: caption, sentence, image."""
    return word.casefold() in _NOUNS


def number(text: str) -> float | None:
    """Return the number that a text is: digits, with a sign (65°), or its word."""
    text = text.strip().rstrip(".").casefold()
    if text in _WORDS_OF_NUMBERS:
        return _WORDS_OF_NUMBERS[text]
    match = patterns.NUMBER_WITH_SIGNS.fullmatch(text)
    return float(match[1]) if match else None


def _words_in_other_languages(options: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the synonyms of a "yes" and a "no" where the options have both."""
    options_yes: list[str] = []
    options_no: list[str] = []
    for option in options:
        low = option.rstrip(".").casefold()
        if low in _YES:
            options_yes.append(option)
        if low in _NO:
            options_no.append(option)
    if len(options_yes) != 1 or len(options_no) != 1:
        return {}
    return {options_no[0]: _NO - _YES, options_yes[0]: _YES - _NO}


def _pattern_of_any(phrases: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=len, reverse=True)
    joined = "|".join(map(re.escape, longest_first))
    before = patterns.WORD_STARTS.pattern
    after = patterns.WORD_ENDS.pattern
    return re.compile(f"{before}(?:{joined}){after}", re.IGNORECASE)


def _own_words(place: _Place, option: _Option) -> OwnWords:
    start, end = place
    return OwnWords(start, end, option.letter, option.is_grammar, option.is_number)


def _places_of_signs(option: str, text: str) -> Iterator[_Place]:
    """Yield the places of an option with pictures, sign for sign."""
    start = text.find(option)
    while start >= 0:
        end = start + len(option)
        yield start, end
        start = text.find(option, end)


def _end_of_words(
    text: str, words: Sequence[str], start: int, signs_between: Sequence[frozenset[str]]
) -> int | None:
    """Return the end of words that begin at a place, or None."""
    end = start + len(words[0])
    for (last, word), signs in zip(pairwise(words), signs_between, strict=True):
        joint = _JOINT.match(text, end)
        if joint is None or not text.startswith(word, joint.end()):
            return None
        if _SIGNS_OF_FORMULAS & set(joint[0]) != signs:
            return None
        # Two numbers of two lines of a derivation are no option.
        if "\n" in joint[0] and last.isdigit() and word.isdigit():
            return None
        end = joint.end() + len(word)
    return end


def _is_whole(option: _Option, text: str) -> bool:
    """Return True where an option's words are a whole text."""
    pattern = option.pattern_in(text)
    return pattern is not None and pattern.fullmatch(text) is not None


def _is_within(option: _Option, text: str) -> bool:
    """Return True where an option's words are in a text."""
    pattern = option.pattern_in(text)
    return pattern is not None and pattern.search(text) is not None


def _is_order(option: str) -> bool:
    """Return True of an order: (2)(1)(3)."""
    return len(set(_WORDS.findall(option))) > 1 and patterns.ORDER.fullmatch(option) is not None


def _is_signed(option: str) -> bool:
    """Return True of an option that begins with a number and its sign: -3 °C."""
    word = _WORDS.search(option)
    if word is None or not word[0][0].isdigit():
        return False
    return _SIGN.search(option, 0, word.start()) is not None


def _own_pattern(option: str, before: str, after: str) -> "re.Pattern[str] | None":
    """Return a pattern of the option's words, whole and in order, whatever stands between.

    Args:
        option: The option's text.
        before: The pattern of a place where a word may start.
        after: The pattern of a place where a word may end.
    """
    words = _WORDS.findall(option)
    if not words:
        return None
    if patterns.UNSPACED_SIGN.match(words[0][0]):
        before = ""
    if patterns.UNSPACED_SIGN.match(words[-1][-1]):
        after = ""
    flag = "i"
    if words[0][0].isdigit():
        # Its sign belongs to a number.
        before = r"-\s?" if _is_signed(option) else before + _NUMBER_STARTS.pattern
    if words[-1][-1].isdigit():
        after += _NUMBER_ENDS.pattern
    if len(words) == 1 and len(words[0]) == 1 and words[0].isascii() and words[0].isalpha():
        # In small letters, or before another word, it is an article or a word.
        flag = ""
        after = r"(?!\w)(?!['’ \t]+[a-z])"
    if option[-1] in _QUESTION_MARKS:  # a question that an option asks is part of it
        after += r"(?:\s?[?？؟])?"
    # An order may be written without its brackets: (2)(1)(3) is 213.
    joint = r"[\W_]{0,8}" if _is_order(option) else _JOINT.pattern
    own_words = joint.join(map(re.escape, words))
    # Case is nothing to the signs around them, and makes their pattern slow to build.
    return re.compile(f"{before}(?{flag}:{own_words}){after}")
