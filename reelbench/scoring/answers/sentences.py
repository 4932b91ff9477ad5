"""Cut a plain text into tokens of which each says what it does in a statement.

A token's kind is one character (see `vocabulary`). Beyond the kinds of words these are `L` a bare
letter, `M` one in brackets or behind "option", `A` a letter with its option's own words, and `Z`
an option's own words alone. So no word of an option denies, doubts or asks anything.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.option_words import OptionWords, is_noun
from reelbench.scoring.answers.texts import Token, tokens
from reelbench.scoring.answers.vocabulary import TIMES, WORDS

LETTER_KINDS = "LMA"
_SAYS_NO = frozenset(("no", "not", "never", "nothing", "neither"))
_AFTER_NO = frozenset(WORDS["after_no"])
_LONGEST_CLAUSE = 200  # tokens before a letter in which something may deny it
# No article stands before these, so a letter before them is a letter.
_BEHIND_NO_ARTICLE = frozenset(TIMES["from"] + TIMES["between"] + WORDS["behind_no_article"])


class Sentences:
    """A plain text as tokens, with its letters and its options' own words marked.

    Args:
        text: From `texts.plain_text`, without markup.
        options: The question's options.
    """

    def __init__(self, text: str, options: OptionWords) -> None:
        self.text = text
        cut = _with_own_words(tokens(text), text, options)
        self.tokens = _joined(_with_letters(cut, options))
        self.kinds = "".join(token.kind for token in self.tokens)
        self._ends = [match.start() for match in patterns.ENDS.finditer(self.kinds)]
        self._breaks = [match.start() for match in patterns.BREAK.finditer(self.kinds)]

    def letter(self, at: int) -> str:
        """Return the letter of the token."""
        return self.tokens[at].letter

    def token_at(self, start: int) -> int:
        """Return the first token that ends behind a place of the text."""
        for at, token in enumerate(self.tokens):
            if token.end > start:
                return at
        return 0

    def segment_start(self, at: int) -> int:
        """Return the first token behind the last break before `at`."""
        index = bisect_left(self._breaks, at)
        return self._breaks[index - 1] + 1 if index else 0

    def is_denied(self, start: int, at: int) -> bool:
        """Return True where a phrase is ruled out, hedged, asked or a condition.

        Args:
            start: Where the phrase that names an option begins.
            at: The token of its letter or own words.
        """
        index = bisect_left(self._ends, at)
        first = self._ends[index - 1] + 1 if index else 0
        last = self._ends[index] if index < len(self._ends) else len(self.kinds)
        return (
            self._is_denied_before(start, at)
            or self._is_denied_behind(at)
            or self._is_condition(first, last, at)
            or self.kinds[last : last + 1] == "?"
        )

    def _is_denied_before(self, start: int, at: int) -> bool:
        begin = max(self.segment_start(start), start - _LONGEST_CLAUSE)
        kinds = self.kinds
        # A letter's own denial ("A is wrong, so …") is not the next one's.
        clause = patterns.OWN_DENIAL.sub("", kinds[begin:start])
        if start < at and patterns.JOINED.search(clause):
            clause = ""
        before = clause + kinds[start:at]
        # Of "the one that is not shown is" the denial is the subject's own.
        before = patterns.DENIED_SUBJECT.sub("", before)
        if patterns.DENIES_BEHIND_IT.search(before):
            return True
        return patterns.HEDGED_BEFORE.search(kinds[max(0, begin - 6) : begin]) is not None

    def _is_denied_behind(self, at: int) -> bool:
        end = at + 1
        after = self.kinds[end : end + 12]
        is_own_no = self.kinds[at] in "MA" and after[:1] in ("X", "x")
        if is_own_no and self.tokens[end].text.casefold() in _SAYS_NO:
            return False  # (A) No, it does not: that is what the option says
        if patterns.HEDGED_AFTER.match(after) or patterns.RULED_OUT_AFTER.match(after):
            return True
        if self.kinds[at] in "AZ" and patterns.RULED_OUT_BEHIND_WORDS.match(after):
            return True
        clause_behind = re.split("[.?,\n(TKB)]", after, maxsplit=1)[0]
        return "H" in clause_behind or patterns.DENIED_CLAUSE.match(after) is not None

    def _is_condition(self, first: int, last: int, at: int) -> bool:
        if "I" in self.kinds[max(first, at - 60) : at]:
            return True
        sentence = self.kinds[first : min(last, first + 60)]
        return "c" in sentence and re.search("[Ii]", sentence) is not None

    def names_several(self, at: int) -> bool:
        """Return True where a letter is one of several that are named together."""
        before = self.kinds[max(0, at - 6) : at]
        beside = patterns.BESIDE_AFTER.match(self.kinds, at + 1)
        ends_clause = self.kinds[at + 1 : at + 2] in ("", *".,)\n")
        joined = patterns.BESIDE_BEFORE.search(before)
        if not joined and ends_clause:
            joined = patterns.WORD_BETWEEN.search(before)
        if not beside and not joined:
            return False
        last = max(at + 6, beside.end()) if beside else at + 6
        letters = {token.letter for token in self.tokens[max(0, at - 4) : last]} - {""}
        return len(letters) > 1


def _with_own_words(cut: Sequence[Token], text: str, options: OptionWords) -> list[Token]:
    """Put one token in the place of an option's own words.

    Where the words are of the grammar itself ("No", "Never") they are an option only where an
    answer stands: at a line's start, behind its letter or behind what states one.
    """
    places = options.occurrences(text)
    marked: list[Token] = []
    at = 0
    for place in places:
        while at < len(cut) and cut[at].start < place.start:
            marked.append(cut[at])
            at += 1
        first = at
        while at < len(cut) and cut[at].start < place.end:
            at += 1
        if first == at:
            continue
        token = Token("Z", place.start, place.end, text[place.start : place.end], place.letter)
        if place.is_number:
            marked.append(token._replace(kind="#"))
        elif not place.is_grammar or _stands_as_answer(marked, cut[at : at + 2], token):
            marked.append(token)
        else:
            marked.extend(cut[first:at])
    marked.extend(cut[at:])
    return marked


def _stands_as_answer(before: Sequence[Token], behind: Sequence[Token], token: Token) -> bool:
    """Return True where a word of the grammar is in an answer's place."""
    kinds = "".join(part.kind for part in before[-8:])
    following = "".join(part.kind for part in behind)
    is_no_determiner = bool(behind) and behind[0].text.casefold() in _AFTER_NO
    if not patterns.ENDS_ANSWER.match(following) and not is_no_determiner:
        return False
    is_letter = len(token.text) == 1 and token.text.isascii() and token.text.isalpha()
    if not is_letter and patterns.BEFORE_ANSWER.search(kinds):
        return True
    signs = patterns.LETTER_BEFORE.search("".join(part.text for part in before[-4:]))
    return signs is not None and signs[1].upper() == token.letter


def _with_letters(cut: list[Token], options: OptionWords) -> list[Token]:
    """Mark the options' letters.

    Brackets, quotes and a noun around one become one token with it.
    """
    letters = options.letters
    marked: list[Token] = []
    at = 0
    while at < len(cut):
        token = cut[at]
        is_letter = len(token.text) == 1 and token.text.upper() in letters and token.text.isascii()
        if is_letter and token.kind != "Z" and not _is_part_of_ratio(marked):
            following = cut[at + 1] if at + 1 < len(cut) else None
            third = cut[at + 2] if at + 2 < len(cut) else None
            before = marked[-1] if marked else None
            letter = token.text.upper()
            if before and following and _encloses(before, token, following):
                marked.pop()
                bracketed = before.text + token.text + following.text
                token = Token("M", before.start, following.end, bracketed, letter)
                at += 1
            elif not _is_word(token, following, before, third):
                token = token._replace(kind="L", letter=letter)
            if token.kind in "LM":
                token = _with_noun(token, marked, cut[at + 1 : at + 2], nouns=options.nouns)
                behind = "".join(part.text for part in cut[at + 1 : at + 3])
                if patterns.IS_BEHIND.match(behind):
                    cut[at + 1] = cut[at + 1]._replace(kind="k")
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


def _joined(marked: Sequence[Token]) -> list[Token]:
    """Join a letter with its option's own words behind or before it to one token."""
    joined: list[Token] = []
    at = 0
    while at < len(marked):
        token = marked[at]
        last = at
        if token.kind in "LM":
            last = _own_words_behind(marked, at)
        elif token.kind == "Z" and at + 1 < len(marked):
            following = marked[at + 1]
            if following.kind == "M" and following.letter == token.letter:
                last = at + 1
        if last > at:
            token = Token("A", token.start, marked[last].end, token.text, token.letter)
        joined.append(token)
        at = last + 1
    return joined


def _own_words_behind(marked: Sequence[Token], at: int) -> int:
    """Return the token of the own words right behind a letter, or the letter's own."""
    letter = marked[at].letter
    for place in range(at + 1, min(at + 6, len(marked))):
        token = marked[place]
        if token.letter == letter and token.kind in "Z#":
            return place
        if token.kind not in ".):,Dq\n" or token.text in "!|•":
            break
    return at


def _encloses(before: Token, token: Token, following: Token) -> bool:
    """Return True where brackets or quotes stand right around a token."""
    gap = max(token.start - before.end, following.start - token.end)
    return (before.kind, following.kind) in {("(", ")"), ("q", "q")} and gap <= 1


def _with_noun(token: Token, marked: list[Token], behind: Sequence[Token], *, nouns: bool) -> Token:
    """Return a letter's token with the noun before it, which is taken from `marked`.

    So of option B; of caption B where that is all.
    """
    noun = marked[-1] if marked else None
    if not noun or not (noun.kind == "O" or (nouns and is_noun(noun))):
        return token
    if noun.kind != "O":
        line = "".join(token.kind for token in marked[-7:-1])
        alone = line[-1:] in ("", "\n") and (not behind or behind[0].kind in "\n.")
        if not alone and not patterns.STATES.search(line):
            return token
    marked.pop()
    kind = "M" if noun.kind == "O" else token.kind
    return Token(kind, noun.start, token.end, token.text, token.letter)


def _is_word(  # noqa: PLR0911 - a reason a line
    token: Token,
    following: Token | None,
    before: Token | None,
    third: Token | None,
) -> bool:
    """Return True where a bare letter is a word.

    So in "A man", "I think", "E a resposta", "B o C", "a 2x speed".
    """
    if token.text.upper() not in "AEIOUY" or not following or following.start - token.end != 1:
        return False
    if following.text.casefold() in _BEHIND_NO_ARTICLE:
        return False
    if before and before.kind == "O" and token.text.isupper():
        return False
    if before and before.kind == following.kind == "#" and token.text.islower():
        return True
    if token.text == "a" and following.kind == "#" and third and third.start == following.end:
        # "a 3rd cup"; but "a 3s to 5s" is A.
        is_unit = patterns.UNIT_OF_TIME.fullmatch(third.text)
        return third.text[0].isalpha() and not is_unit
    because = following.text == "car" and (not before or before.kind in ".\n?")  # in French
    if because or (token.text == "I" and following.kind in "CHVGF"):
        return True
    # "B o C", but "a o b" and "a ou b" begin with a letter.
    another = following.kind == "J" or (len(following.text) == 1 and following.text.islower())
    is_small_word = token.text.islower() and token.kind != "w"
    if is_small_word and following.text[0].isalpha() and not another:
        return True
    return following.kind in "wPNOVF" and bool(patterns.LATIN_WORD.match(following.text))
