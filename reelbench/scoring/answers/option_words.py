"""Know a question's options: their letters, and by which words each is said."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
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
_SIGNS_OF_FORMULAS = frozenset("+=<>")
_SHORTEST_SENTENCE = 5  # words of an option's that say which one it is
_LONGEST_JOINT = 8  # signs between two words of an option
_WORDS_OF_NUMBERS = {word: float(number) for number, word in enumerate(WORDS["numbers"])}


class Place(NamedTuple):
    """The start and the end of words in a text."""

    start: int
    end: int


class OwnWords(NamedTuple):
    """The place of an option's own words in a text, and its letter.

    `is_grammar` is True of words that have a part in sentences ("No"), `is_number` of a number.
    """

    start: int
    end: int
    letter: str
    is_grammar: bool
    is_number: bool


class _TextWords:
    """The words of a text in small letters, and the joints between them.

    Scripts without spaces are cut by characters.
    """

    def __init__(self, text: str) -> None:
        pieces = patterns.OPTION_WORD.split(text)  # what stands between words, and words, in turn
        self.text = text
        borders = list(accumulate(map(len, pieces)))
        # Of the words as they stand: in small letters some are longer (İ).
        self.starts = borders[:-1:2]
        self.ends = borders[1::2]
        self.joints = pieces[2:-1:2]
        self.words = [word.lower() for word in pieces[1::2]]

    @cached_property
    def longest_word(self) -> str:
        """The word that is looked for first, since the fewest texts have it."""
        return max(self.words, key=len)

    def numbers_of(self, word: str) -> Iterator[int]:
        """Yield the numbers of the words that are one word."""
        at = -1
        for _ in range(self.words.count(word)):
            at = self.words.index(word, at + 1)
            yield at


_text_words = lru_cache(maxsize=4)(_TextWords)


@dataclass(frozen=True)
class _Option:
    letter: str
    plain: str
    ways: list[_TextWords]
    """The texts in which it may be said: its own, or a word for yes or no in any language."""
    is_grammar: bool
    is_number: bool
    is_picture: bool

    def places_in(self, text: str) -> Iterator[Place]:
        """Yield the places of the option's words."""
        if self.is_picture:
            for start in texts.places(self.plain, text):
                yield Place(start, start + len(self.plain))
            return
        low = text.lower()
        for way in self.ways:
            if way.longest_word not in low:
                continue  # most texts need not be cut into words
            text_words = _text_words(text)
            longest_at = way.words.index(way.longest_word)
            for at in text_words.numbers_of(way.longest_word):
                place = self._place_at(text_words, at - longest_at, way)
                if place is not None:
                    yield place

    def is_said_by(self, text: str) -> bool:
        """Return True where a text is the option's words, no more."""
        if self.is_picture:
            return text.strip(" .!。,\n") == self.plain
        words = _text_words(text).words
        is_said = any(way.words == words for way in self.ways)
        # Of a number the sign counts too.
        return is_said and (not self.plain[-1].isdigit() or any(self.places_in(text)))

    def is_begun_by(self, text: str) -> bool:
        """Return True where a text is the option's first sentence, or several."""
        words = _text_words(text).words
        count = len(words)
        for way in self.ways:
            if _SHORTEST_SENTENCE <= count < len(way.words) and way.words[:count] == words:
                return patterns.ENDS_SENTENCE.search(way.joints[count - 1]) is not None
        return False

    def _place_at(self, text_words: _TextWords, at: int, way: _TextWords) -> Place | None:
        """Return the place of words that begin with a text's word, or None."""
        last = at + len(way.words) - 1
        if at < 0 or text_words.words[at : last + 1] != way.words:
            return None
        for number, joint in enumerate(way.joints):
            if not self._is_joint(joint, text_words, at + number):
                return None
        place = Place(text_words.starts[at], text_words.ends[last])
        return self._whole_place(text_words.text, place)

    def _is_joint(self, joint: str, text_words: _TextWords, at: int) -> bool:
        """Return True of what may stand between two words instead of the option's own joint."""
        said_joint = text_words.joints[at]
        if not joint or not said_joint:
            return joint == said_joint
        # Two numbers of two lines of a derivation are no option.
        first, second = text_words.words[at : at + 2]
        is_derivation = "\n" in said_joint and first.isdigit() and second.isdigit()
        is_same = _signs_of_formula(joint) == _signs_of_formula(said_joint)
        return is_same and not is_derivation and len(said_joint) <= _LONGEST_JOINT

    def _whole_place(self, text: str, place: Place) -> Place | None:
        """Return the place of whole words with their signs, or None."""
        start, end = place
        word = text[start:end]
        is_letter = len(word) == 1 and word.isascii() and word.isalpha()
        if is_letter and (word not in self.plain or patterns.WORD_BEHIND.match(text, end)):
            # In small letters, or before another word, it is an article or a word.
            return None
        if self.is_signed:
            sign = patterns.SIGN_BEFORE.search(text, 0, start)
            if sign is None:
                return None
            start = sign.start()
        elif word[0].isdigit() and not patterns.NUMBER_STARTS.match(text, start):
            return None
        if word[-1].isdigit() and not patterns.NUMBER_ENDS.match(text, end):
            return None
        if patterns.QUESTION_MARK.match(self.plain[-1]):  # a question that it asks is part of it
            mark = patterns.QUESTION_MARK.match(text, end)
            end = mark.end() if mark else end
        return Place(start, end)

    @cached_property
    def is_signed(self) -> bool:
        """True of an option that begins with a number and its sign: -3 °C."""
        return patterns.SIGNED_NUMBER.match(self.plain) is not None


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
        hits: list[OwnWords] = []
        for option in self._options:
            for start, end in option.places_in(text):
                hit = OwnWords(start, end, option.letter, option.is_grammar, option.is_number)
                hits.append(hit)
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
        return [option.letter for option in self._options if option.is_said_by(text)]

    def begun_by(self, text: str) -> list[str]:
        """Return the letters of the long options whose first sentence a text is."""
        return [option.letter for option in self._options if option.is_begun_by(text)]

    def answers_alone(self, text: str) -> bool:
        """Return True of an option's words such as yes, no or never."""
        return any(option.is_grammar and option.is_said_by(text) for option in self._options)

    def begins_with_own_words(self, letter: str, text: str, at: int) -> bool:
        """Return True where a letter's own words begin at a place of a text."""
        for option in self._options:
            if option.letter == letter:
                return any(place.start == at for place in option.places_in(text))
        return False


@lru_cache(maxsize=64)
def option_words(options: tuple[str, ...], question: str = "") -> OptionWords:
    """Return the words of a question's options, made once for all its answers."""
    return OptionWords(options, question)


@lru_cache(maxsize=64)
def _options_of(plain_options: tuple[str, ...]) -> list[_Option]:
    """Return the options of some texts, made once for all questions that have the same."""
    options: list[_Option] = []
    synonyms_of_all = _words_in_other_languages(plain_options)
    words_of_all = [_option_words(plain).words for plain in plain_options]
    for letter, plain, words in zip(LETTERS, plain_options, words_of_all, strict=False):
        synonyms = synonyms_of_all.get(plain, frozenset[str]())
        is_letter = len(plain) == 1 and plain.isalpha() and plain.isascii()
        is_grammar = is_letter or bool(synonyms) or has_only_kinds(plain, _GRAMMAR)
        is_number = patterns.NUMBER_ALONE.fullmatch(plain) is not None
        has_own_words = words != [] and words_of_all.count(words) == 1
        is_picture = not has_own_words and patterns.PICTURE.search(plain) is not None
        texts_of_option = synonyms or [plain]
        if _is_order(plain):
            texts_of_option = [plain, "".join(words)]
        ways = [_option_words(text) for text in texts_of_option if words]
        options.append(_Option(letter, plain, ways, is_grammar, is_number, is_picture))
    return options


def _option_words(text: str) -> _TextWords:
    """Return an option's words as they are in answers."""
    return _TextWords(texts.without_markup(text))


def _signs_of_formula(joint: str) -> frozenset[str]:
    """Return the signs of a formula between two words; a hyphen alone is none."""
    signs = _SIGNS_OF_FORMULAS.intersection(joint)
    return signs | {"-"} if signs and "-" in joint else signs


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


def _is_order(option: str) -> bool:
    """Return True of an order: (2)(1)(3), which may be written without its brackets."""
    return len(set(_TextWords(option).words)) > 1 and patterns.ORDER.fullmatch(option) is not None
