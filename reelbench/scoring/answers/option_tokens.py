"""Mark the options in the tokens of a text: their letters, and their own words.

Beyond the kinds of words (see `vocabulary`) a token is `L` a bare letter, `M` one in brackets or
behind "option", `A` a letter with its option's own words, and `Z` an option's own words alone. So
no word of an option denies, doubts or asks anything.
"""

from bisect import bisect_left

from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.option_words import OptionWords, OwnWords, is_noun
from reelbench.scoring.answers.tokens import Tokens
from reelbench.scoring.answers.vocabulary import OPTION_LETTERS, TIMES, WORDS, phrases

LETTER_KINDS = "LMA"

_AFTER_NO = frozenset(WORDS["after_no"])
# No article stands before these, so a letter before them is a letter.
_BEHIND_NO_ARTICLE = frozenset(TIMES["from"] + TIMES["between"] + WORDS["behind_no_article"])
_LETTERS_OF_WORDS = frozenset("AEIOUYaeiouy")
# "A seçeneği" is option A, while "a opção" is "the option".
_OPTION_BEHIND = frozenset(phrases("option_behind"))
_PAIRS = frozenset({("(", ")"), ("q", "q")})
# The kinds behind a letter of another alphabet, which may be a word: signs, "is", or nothing.
_BEHIND_OPTION_LETTER = frozenset(("", *".,:)(q\nDBCk?"))
_BEFORE_LAST_LETTER = frozenset(("", *".\n:(qNCOD"))
_BETWEEN_LETTER_AND_WORDS = ".):,Dq\n"
_FARTHEST_OWN_WORDS = 6  # tokens behind a letter


def marked_tokens(text: str, options: OptionWords) -> Tokens:
    """Cut a plain text into tokens, with the options marked."""
    tokens = Tokens(text)
    _mark_own_words(tokens, options)
    _mark_letters(tokens, options)
    _join_letters_and_own_words(tokens)
    return tokens


# --- own words
# --------------------------------------------------------------------------------------


def _mark_own_words(tokens: Tokens, options: OptionWords) -> None:
    """Put one token in the place of an option's own words.

    Where the words are of the grammar itself ("No", "Never") they are an option only where an
    answer stands: at a line's start, behind its letter or behind what states one.
    """
    for place in options.occurrences(tokens.text):
        first = bisect_left(tokens.starts, place.start)
        end = bisect_left(tokens.starts, place.end)
        if first == end:
            continue
        word = tokens.text[place.start : place.end]
        kind = "Z"
        if place.is_number:
            kind = "#"
        elif place.is_grammar and not _stands_as_answer(tokens, first, end, place, options):
            continue
        tokens.join(first, end, kind, letter=place.letter, word=word)
        tokens.starts[first] = place.start
        tokens.ends[first] = place.end


def _stands_as_answer(
    tokens: Tokens, first: int, end: int, place: OwnWords, options: OptionWords
) -> bool:
    """Return True where a word of the grammar is in an answer's place."""
    word = tokens.text[place.start : place.end]
    is_no_determiner = end < len(tokens.words) and tokens.words[end].casefold() in _AFTER_NO
    if not is_no_determiner:
        behind = tokens.kinds_between(end, end + 2)
        if not patterns.ENDS_ANSWER.match(behind):
            return False
    is_letter = len(word) == 1 and word.isascii() and word.isalpha()
    if not is_letter and patterns.BEFORE_ANSWER.search(tokens.kinds_between(first - 8, first)):
        return True
    before = "".join(tokens.words[max(0, first - 4) : first])
    signs = patterns.LETTER_BEFORE.search(before)
    return signs is not None and options.letter_by_sign.get(signs[1]) == place.letter


# --- letters
# --------------------------------------------------------------------------------------


def _mark_letters(tokens: Tokens, options: OptionWords) -> None:
    """Mark the options' letters."""
    letters = options.letter_by_sign
    places = [place for place, word in enumerate(tokens.words) if word in letters]
    count = len(tokens.words)
    for place in places:
        at = place - (count - len(tokens.words))  # tokens before it may have been joined
        if tokens.kinds[at] != "Z" and not _is_symbol(tokens, at):
            _mark_letter(tokens, at, options)


def _is_symbol(tokens: Tokens, at: int) -> bool:
    """Return True of the C in C6H6, C^4, and the ratio H/C."""
    behind = tokens.ends[at]
    following = tokens.text[behind : behind + 1]
    if (following.isdigit() or following == "^") and tokens.words[at].isascii():
        return True
    if at == 0 or tokens.words[at - 1] != "/":
        return False
    first = max(0, at - 2)
    word = tokens.words[first]
    is_letter = len(word) == 1 and word.isalpha()
    is_joined = tokens.ends[first] == tokens.starts[at - 1]
    return is_letter and not tokens.letters[first] and is_joined


def _mark_letter(tokens: Tokens, at: int, options: OptionWords) -> None:
    """Mark a letter, unless it is a word after all.

    Brackets, quotes and a noun around a letter become one token with it.
    """
    letter = options.letter_by_sign[tokens.words[at]]
    if _is_enclosed(tokens, at):
        at -= 1
        word = "".join(tokens.words[at : at + 3])
        tokens.join(at, at + 3, "M", letter=letter, word=word)
    elif _is_word(tokens, at):
        return
    else:
        tokens.kinds[at] = "L"
        tokens.letters[at] = letter
    behind = "".join(tokens.words[at + 1 : at + 3])
    if patterns.IS_BEHIND.match(behind):
        tokens.kinds[at + 1] = "k"
    _join_noun_before(tokens, at, options)


def _is_enclosed(tokens: Tokens, at: int) -> bool:
    """Return True where brackets or quotes stand right around a token."""
    if not 0 < at < len(tokens.words) - 1:
        return False
    if (tokens.kinds[at - 1], tokens.kinds[at + 1]) not in _PAIRS:
        return False
    gap_before = tokens.starts[at] - tokens.ends[at - 1]
    gap_behind = tokens.starts[at + 1] - tokens.ends[at]
    return gap_before <= 1 and gap_behind <= 1


def _join_noun_before(tokens: Tokens, at: int, options: OptionWords) -> None:
    """Join a letter with the noun before it.

    So of option B; of caption B where that is all.
    """
    if at == 0:
        return
    is_option = tokens.kinds[at - 1] == "O"
    is_named = is_noun(tokens.words[at - 1]) and options.nouns and _is_all_or_stated(tokens, at)
    if is_option or is_named:
        kind = "M" if is_option else tokens.kinds[at]
        tokens.join(at - 1, at + 1, kind, letter=tokens.letters[at], word=tokens.words[at])


def _is_all_or_stated(tokens: Tokens, at: int) -> bool:
    """Return True where a letter and its noun are a line or a stated answer."""
    before = tokens.kinds_between(at - 7, at - 1)
    ends_line = tokens.kinds_between(at + 1, at + 2) in ("", "\n", ".")
    is_all = before[-1:] in ("", "\n") and ends_line
    return is_all or patterns.STATES.search(before) is not None


def _is_word(tokens: Tokens, at: int) -> bool:  # noqa: PLR0911 - a reason a line
    """Return True where a bare letter is a word.

    So in "A man", "I think", "E a resposta", "B o C", "a 2x speed".
    """
    word = tokens.words[at]
    if word in OPTION_LETTERS:
        return tokens.kinds[at] != "w" or not _stands_apart(tokens, at)
    if word not in _LETTERS_OF_WORDS or at + 1 == len(tokens.words):
        return False
    following = tokens.words[at + 1]
    kind_behind = tokens.kinds[at + 1]
    is_apart = tokens.starts[at + 1] - tokens.ends[at] == 1
    if not is_apart or following.casefold() in _BEHIND_NO_ARTICLE:
        return False
    if kind_behind == "U" or following.casefold() in _OPTION_BEHIND:
        return False
    is_small = word.islower()
    kind_before = tokens.kinds_between(at - 1, at)
    if kind_before == "O" and not is_small:
        return False
    if kind_before == kind_behind == "#" and is_small:
        return True
    if word == "a" and kind_behind == "#" and _counts_something(tokens, at + 1):
        return True
    if word == "I" and kind_behind in "CHVGF":
        return True
    # "A car" may open a sentence; elsewhere "car" is French for "because".
    if following == "car" and kind_before in ("", ".", "\n", "?"):
        return True
    is_small_word = is_small and tokens.kinds[at] != "w"
    if is_small_word and following[0].isalpha() and not _joins_letter(tokens, at + 1):
        return True
    return kind_behind in "wPNOVF" and patterns.LATIN_WORD.match(following) is not None


def _stands_apart(tokens: Tokens, at: int) -> bool:
    """Return True of a letter with a sign or "is" behind it."""
    start = tokens.starts[at]
    end = tokens.ends[at]
    beside = tokens.text[max(0, start - 1) : start] + tokens.text[end : end + 1]
    if any(sign.isalpha() for sign in beside):
        return False
    behind = tokens.kinds_between(at + 1, at + 2)
    # A text that breaks off ends in a part of a word.
    breaks_off = behind == "" and tokens.kinds_between(at - 1, at) not in _BEFORE_LAST_LETTER
    return behind in _BEHIND_OPTION_LETTER and not breaks_off


def _joins_letter(tokens: Tokens, at: int) -> bool:
    """Return True of a joint of two letters: a o b, not "e o homem"."""
    joint = tokens.words[at]
    is_joint = tokens.kinds[at] == "J" or (len(joint) == 1 and joint.islower())
    further = tokens.words[at + 1 : at + 3]
    return is_joint and any(len(word) == 1 and word.isalpha() for word in further)


def _counts_something(tokens: Tokens, at: int) -> bool:
    """Return True of "3rd cup" behind an "a", not of "3s to 5s"."""
    if at + 1 == len(tokens.words):
        return False
    unit = tokens.words[at + 1]
    is_joined = tokens.starts[at + 1] == tokens.ends[at] and unit[0].isalpha()
    return is_joined and patterns.UNIT_OF_TIME.fullmatch(unit) is None


# --- letters with own words
# --------------------------------------------------------------------------------------


def _join_letters_and_own_words(tokens: Tokens) -> None:
    """Join a letter with its option's own words behind or before it to one token."""
    places = [place for place, kind in enumerate(tokens.kinds) if kind in "LMZ"]
    count = len(tokens.kinds)
    joined_to = 0
    for place in places:
        at = place - (count - len(tokens.kinds))
        if at < joined_to:
            continue
        last = at
        if tokens.kinds[at] != "Z":
            last = _own_words_behind(tokens, at)
        elif tokens.kinds_between(at + 1, at + 2) == "M":
            is_own = tokens.letters[at + 1] == tokens.letters[at]
            last = at + 1 if is_own else at
        if last > at:
            letter = tokens.letters[at]
            tokens.join(at, last + 1, "A", letter=letter, word=tokens.words[at])
        joined_to = at + 1


def _own_words_behind(tokens: Tokens, at: int) -> int:
    """Return the token of the own words right behind a letter, or the letter's own."""
    end = min(at + _FARTHEST_OWN_WORDS, len(tokens.kinds))
    for place in range(at + 1, end):
        kind = tokens.kinds[place]
        if tokens.letters[place] == tokens.letters[at] and kind in "Z#":
            return place
        if kind not in _BETWEEN_LETTER_AND_WORDS or tokens.words[place] in "!|•":
            break
    return at
