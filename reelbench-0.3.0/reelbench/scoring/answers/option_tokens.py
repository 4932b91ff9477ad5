"""Mark the options in the tokens of a text: their letters, and their own words.

Beyond the kinds of words (see `vocabulary`) a token is `L` a bare letter, `M` one in brackets or
behind "option", `A` a letter with its option's own words, and `Z` an option's own words alone. So
no word of an option denies, doubts or asks anything.
"""

from collections.abc import Sequence

from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.option_words import OptionWords, is_noun
from reelbench.scoring.answers.texts import Token, tokens
from reelbench.scoring.answers.vocabulary import TIMES, WORDS

LETTER_KINDS = "LMA"

_AFTER_NO = frozenset(WORDS["after_no"])
# No article stands before these, so a letter before them is a letter.
_BEHIND_NO_ARTICLE = frozenset(TIMES["from"] + TIMES["between"] + WORDS["behind_no_article"])
_LETTERS_OF_WORDS = frozenset("AEIOUYaeiouy")
_PAIRS = frozenset({("(", ")"), ("q", "q")})
_BETWEEN_LETTER_AND_WORDS = ".):,Dq\n"
_FARTHEST_OWN_WORDS = 6  # tokens behind a letter


def marked_tokens(text: str, options: OptionWords) -> list[Token]:
    """Cut a plain text into tokens, with the options marked."""
    cut = _with_own_words(tokens(text), text, options)
    return _joined(_with_letters(cut, options))


# --- own words
# --------------------------------------------------------------------------------------


def _with_own_words(cut: list[Token], text: str, options: OptionWords) -> list[Token]:
    """Put one token in the place of an option's own words.

    Where the words are of the grammar itself ("No", "Never") they are an option only where an
    answer stands: at a line's start, behind its letter or behind what states one.
    """
    places = options.occurrences(text)
    if not places:
        return cut
    marked: list[Token] = []
    at = 0
    for place in places:
        first = _first_from(cut, at, place.start)
        last = _first_from(cut, first, place.end)
        marked.extend(cut[at:first])
        at = last
        if first == last:
            continue
        token = Token("Z", place.start, place.end, text[place.start : place.end], place.letter)
        if place.is_number:
            marked.append(token._replace(kind="#"))
        elif not place.is_grammar or _stands_as_answer(marked, cut[last : last + 2], token):
            marked.append(token)
        else:
            marked.extend(cut[first:last])
    marked.extend(cut[at:])
    return marked


def _first_from(cut: Sequence[Token], at: int, start: int) -> int:
    """Return the first token from `at` on that does not begin before a place."""
    while at < len(cut) and cut[at].start < start:
        at += 1
    return at


def _stands_as_answer(before: Sequence[Token], behind: Sequence[Token], token: Token) -> bool:
    """Return True where a word of the grammar is in an answer's place."""
    is_no_determiner = bool(behind) and behind[0].text.casefold() in _AFTER_NO
    if not is_no_determiner and not patterns.ENDS_ANSWER.match(_kinds_of(behind)):
        return False
    is_letter = len(token.text) == 1 and token.text.isascii() and token.text.isalpha()
    if not is_letter and patterns.BEFORE_ANSWER.search(_kinds_of(before[-8:])):
        return True
    signs = patterns.LETTER_BEFORE.search(_text_of(before[-4:]))
    return signs is not None and signs[1].upper() == token.letter


def _kinds_of(part: Sequence[Token]) -> str:
    return "".join([token.kind for token in part])


def _text_of(part: Sequence[Token]) -> str:
    return "".join([token.text for token in part])


# --- letters
# --------------------------------------------------------------------------------------


def _with_letters(cut: list[Token], options: OptionWords) -> list[Token]:
    """Mark the options' letters."""
    signs = frozenset(options.letters + options.letters.lower())
    marked: list[Token] = []
    at = 0
    while at < len(cut):
        token = cut[at]
        if token.text in signs and token.kind != "Z" and not _is_part_of_ratio(marked):
            at = _mark_letter(cut, at, marked, options)
        else:
            marked.append(token)
            at += 1
    return marked


def _is_part_of_ratio(before: Sequence[Token]) -> bool:
    """Return True behind `H/`, a letter that is no option's: H/C is a ratio."""
    if not before or before[-1].text != "/":
        return False
    first = before[max(0, len(before) - 2)]
    is_letter = len(first.text) == 1 and first.text.isalpha()
    return is_letter and not first.letter and first.end == before[-1].start


def _mark_letter(cut: list[Token], at: int, marked: list[Token], options: OptionWords) -> int:
    """Append a letter, or the word that it is after all, to the marked tokens.

    Brackets, quotes and a noun around a letter become one token with it.

    Returns:
        The place of the token behind it.
    """
    token = cut[at]
    letter = token.text.upper()
    before = marked[-1] if marked else None
    following = cut[at + 1] if at + 1 < len(cut) else None
    if before and following and _encloses(before, token, following):
        marked.pop()
        text = before.text + token.text + following.text
        token = Token("M", before.start, following.end, text, letter)
        at += 1
    elif _is_word(token, before, cut[at + 1 : at + 3]):
        marked.append(token)
        return at + 1
    else:
        token = token._replace(kind="L", letter=letter)
    behind = cut[at + 1 : at + 3]
    marked.append(_with_noun(token, marked, behind, nouns=options.nouns))
    if patterns.IS_BEHIND.match(_text_of(behind)):
        cut[at + 1] = cut[at + 1]._replace(kind="k")
    return at + 1


def _encloses(before: Token, token: Token, following: Token) -> bool:
    """Return True where brackets or quotes stand right around a token."""
    gap = max(token.start - before.end, following.start - token.end)
    return gap <= 1 and (before.kind, following.kind) in _PAIRS


def _with_noun(token: Token, marked: list[Token], behind: Sequence[Token], *, nouns: bool) -> Token:
    """Return a letter's token with the noun before it, which is taken from `marked`.

    So of option B; of caption B where that is all.
    """
    noun = marked[-1] if marked else None
    if noun is None:
        return token
    if noun.kind == "O":
        marked.pop()
        return Token("M", noun.start, token.end, token.text, token.letter)
    if nouns and is_noun(noun) and _is_all_or_stated(marked[-7:-1], behind):
        marked.pop()
        return Token(token.kind, noun.start, token.end, token.text, token.letter)
    return token


def _is_all_or_stated(before: Sequence[Token], behind: Sequence[Token]) -> bool:
    """Return True where a letter is a whole line, or is stated as an answer."""
    kinds = _kinds_of(before)
    is_all = kinds[-1:] in ("", "\n") and (not behind or behind[0].kind in "\n.")
    return is_all or patterns.STATES.search(kinds) is not None


def _is_word(  # noqa: PLR0911 - a reason a line
    token: Token, before: Token | None, behind: Sequence[Token]
) -> bool:
    """Return True where a bare letter is a word.

    So in "A man", "I think", "E a resposta", "B o C", "a 2x speed".
    """
    if token.text not in _LETTERS_OF_WORDS or not behind:
        return False
    following = behind[0]
    if following.start - token.end != 1 or following.text.casefold() in _BEHIND_NO_ARTICLE:
        return False
    is_small = token.text.islower()
    if before is not None and before.kind == "O" and not is_small:
        return False
    is_between_numbers = before is not None and before.kind == following.kind == "#"
    if is_between_numbers and is_small:
        return True
    if token.text == "a" and following.kind == "#" and _counts_something(behind):
        return True
    if token.text == "I" and following.kind in "CHVGF":
        return True
    # "A car" may open a sentence; elsewhere "car" is French for "because".
    opens_sentence = before is None or before.kind in ".\n?"
    if following.text == "car" and opens_sentence:
        return True
    # "B o C", but "a o b" and "a ou b" begin with a letter.
    joins_another = following.kind == "J" or _is_small_letter(following.text)
    is_small_word = is_small and token.kind != "w"
    if is_small_word and following.text[0].isalpha() and not joins_another:
        return True
    return following.kind in "wPNOVF" and patterns.LATIN_WORD.match(following.text) is not None


def _is_small_letter(text: str) -> bool:
    return len(text) == 1 and text.islower()


def _counts_something(behind: Sequence[Token]) -> bool:
    """Return True of "3rd cup" behind an "a", not of "3s to 5s"."""
    if len(behind) < 2:  # noqa: PLR2004
        return False
    number, unit = behind
    is_joined = unit.start == number.end and unit.text[0].isalpha()
    return is_joined and patterns.UNIT_OF_TIME.fullmatch(unit.text) is None


# --- letters with own words
# --------------------------------------------------------------------------------------


def _joined(marked: list[Token]) -> list[Token]:
    """Join a letter with its option's own words behind or before it to one token."""
    joined: list[Token] = []
    at = 0
    while at < len(marked):
        token = marked[at]
        last = at
        if token.kind in "LM":
            last = _own_words_behind(marked, at)
        elif token.kind == "Z" and _is_own_letter(token, marked[at + 1 : at + 2]):
            last = at + 1
        if last > at:
            token = Token("A", token.start, marked[last].end, token.text, token.letter)
        joined.append(token)
        at = last + 1
    return joined


def _own_words_behind(marked: Sequence[Token], at: int) -> int:
    """Return the token of the own words right behind a letter, or the letter's own."""
    letter = marked[at].letter
    for place in range(at + 1, min(at + _FARTHEST_OWN_WORDS, len(marked))):
        token = marked[place]
        if token.letter == letter and token.kind in "Z#":
            return place
        if token.kind not in _BETWEEN_LETTER_AND_WORDS or token.text in "!|•":
            break
    return at


def _is_own_letter(words: Token, behind: Sequence[Token]) -> bool:
    """Return True where an option's letter stands right behind its words: a dog (A)."""
    return bool(behind) and behind[0].kind == "M" and behind[0].letter == words.letter
