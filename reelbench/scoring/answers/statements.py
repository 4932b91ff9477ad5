"""Find the sentences that state an option as the answer.

They are found in the kinds of their words (see `vocabulary`).
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from reelbench.scoring.answers import patterns, texts
from reelbench.scoring.answers.vocabulary import NOUNS, WORDS

_SAYS_NO = frozenset(("no", "not", "never", "nothing", "neither"))
_LONGEST_CLAUSE = 200  # tokens before a letter in which something may deny it
_NOUNS = frozenset(NOUNS)
# No article stands before these, so a letter before them is a letter.
_BEHIND_NO_ARTICLE = frozenset(
    WORDS["times"]["from"] + WORDS["times"]["between"] + WORDS["behind_no_article"]
)


@dataclass(frozen=True)
class Statement:
    """A letter that a text states; `at` is its token.

    The letter is None where it states several at once.
    """

    at: int
    letter: str | None


class Sentences:
    """A plain text as tokens, with its letters marked.

    Args:
        text: From `texts.plain_text`, without markup.
        letters: The options' letters.
        nouns: Whether the letter of "Image B" is an option's; not where options themselves say so.
    """

    def __init__(self, text: str, letters: str, *, nouns: bool = True) -> None:
        self.text = text
        self.tokens = _with_letters(texts.tokens(text), letters, nouns=nouns)
        self.kinds = "".join(token.kind for token in self.tokens)
        self._ends = [match.start() for match in patterns.ENDS.finditer(self.kinds)]
        self._breaks = [match.start() for match in patterns.BREAK.finditer(self.kinds)]

    def letter(self, at: int) -> str:
        """Return the letter of the token."""
        return self.tokens[at].text.strip("()[]{}\"'“”‘’«»「」『』<>【】 ")[-1].upper()

    def token_at(self, start: int) -> int:
        """Return the first token that ends behind a place of the text."""
        for at, token in enumerate(self.tokens):
            if token.end > start:
                return at
        return 0

    def token_from(self, end: int, first: int) -> int:
        """Return the first token from `first` on that begins at `end` or behind it."""
        for at in range(first, len(self.tokens)):
            if self.tokens[at].start >= end:
                return at
        return len(self.tokens)

    def segment_start(self, at: int) -> int:
        """Return the first token behind the last break before `at`."""
        index = bisect_left(self._breaks, at)
        return self._breaks[index - 1] + 1 if index else 0

    def is_denied(self, start: int, at: int, end: int | None = None) -> bool:
        """Return True where a phrase is ruled out, hedged, asked or a condition.

        A letter or own words stand in it at the tokens `at` to `end`.

        Args:
            start: Where the phrase that names it begins.
            at: The first token of the letter or of an option's own words.
            end: One behind the last; only `at` without it.
        """
        end = at + 1 if end is None else end
        index = bisect_left(self._ends, end - 1)
        first = self._ends[index - 1] + 1 if index else 0
        last = self._ends[index] if index < len(self._ends) else len(self.kinds)
        begin = max(self.segment_start(start), start - _LONGEST_CLAUSE)
        kinds = self.kinds
        # A letter's own denial ("A is wrong, so …") is not the next one's.
        clause = patterns.OWN_DENIAL.sub("", kinds[begin:start])
        if start < at and patterns.JOINED.search(clause):
            clause = ""
        before = clause + kinds[start:at]
        after = kinds[end : end + 12]
        if kinds[at] == "M" and after[:1] == "X" and self.tokens[end].text.casefold() in _SAYS_NO:
            after = ""  # (A) No, it does not: that is what the option says
        if re.search("[XH]", before) or re.search("E[FOq]?$", before):
            return True
        if patterns.HEDGED_BEFORE.search(kinds[max(0, begin - 6) : begin]):
            return True
        if patterns.HEDGED_AFTER.match(after) or patterns.RULED_OUT_AFTER.match(after):
            return True
        clause_behind = re.split("[.?,\n(TKB)]", after, maxsplit=1)[0]
        if patterns.DENIED_CLAUSE.match(after) or "H" in clause_behind:
            return True
        sentence = kinds[first : min(last, first + 60)]
        condition = "I" in kinds[max(first, at - 60) : at] or (
            re.search("[Ii]", sentence) and "c" in sentence
        )
        return bool(condition) or kinds[last : last + 1] == "?"

    def names_several(self, at: int) -> bool:
        """Return True where a letter is one of several that are named together."""
        before = self.kinds[max(0, at - 6) : at]
        beside = patterns.LISTED_AFTER.match(self.kinds, at + 1)
        beside = beside or patterns.BESIDE_AFTER.match(self.kinds, at + 1)
        ends_clause = self.kinds[at + 1 : at + 2] in ("", *".,)\n")
        joined = patterns.BESIDE_BEFORE.search(before)
        if not joined and ends_clause:
            joined = patterns.WORD_BETWEEN.search(before)
        if not beside and not joined:
            return False
        last = max(at + 6, beside.end()) if beside else at + 6
        letters: set[str] = set()
        for near in range(max(0, at - 4), min(len(self.kinds), last)):
            if self.kinds[near] in "LM":
                letters.add(self.letter(near))
        return len(letters) > 1

    def statements(self, own_words: "Sequence[tuple[int, int, str]]" = ()) -> list[Statement]:
        """Return the text's statements, in their order.

        Args:
            own_words: Where options' own words stand in the text: start, end, letter.
        """
        letters = self._stated_letters()
        letters |= self._verdicts()
        self._drop_behind_heading(letters)
        self._add_own_words(letters, own_words)
        retraction = self._retraction(own_words)
        if retraction is not None and letters and max(letters) < retraction:
            letters[retraction] = None
        for match in patterns.NO_ANSWER.finditer(self.kinds):
            letters[match.end() - 1] = None
        return [Statement(at, letters[at]) for at in sorted(letters)]

    def _stated_letters(self) -> dict[int, str | None]:
        """Return the letters in the patterns of statements, by their tokens."""
        letters: dict[int, str | None] = {}
        for pattern in patterns.several("STATEMENT"):
            match = pattern.search(self.kinds)
            while match:
                at = match.start("letter")
                start = at if pattern.pattern[0] in "XW[" else match.start()
                if not self.is_denied(min(start, at), at):
                    letters[at] = None if self.names_several(at) else self.letter(at)
                match = pattern.search(self.kinds, match.start() + 1)
        return letters

    def _verdicts(self) -> dict[int, str | None]:
        """Return the letters in verdicts on one option, by their tokens."""
        places: list[int] = []
        for match in patterns.VERDICT_ON_ONE.finditer(self.kinds):
            at = match.start(match.lastgroup or 0)
            if not self.is_denied(at, at):
                places.append(at)
        several = len({self.letter(at) for at in places}) > 1
        letters: dict[int, str | None] = {}
        for at in places:
            letters[at] = None if several else self.letter(at)
        return letters

    def _drop_behind_heading(self, letters: dict[int, str | None]) -> None:
        """Leave out the verdicts behind the last heading that states a letter."""
        last_heading = len(self.kinds)
        for match in patterns.HEADING.finditer(self.kinds):
            at = match.start(match.lastgroup or 0)
            if at in letters:
                last_heading = at
        for at in list(letters):
            if at > last_heading and patterns.VERDICT.match(self.kinds, at):
                del letters[at]

    def _add_own_words(
        self, letters: dict[int, str | None], own_words: "Sequence[tuple[int, int, str]]"
    ) -> None:
        """Add the options whose own words stand where a letter would."""
        if not own_words:
            return
        by_start = {start: (end, letter) for start, end, letter in own_words}
        for match in patterns.BEFORE_OWN_WORDS.finditer(self.kinds):
            for at in range(match.end() - 1, min(match.end() + 3, len(self.tokens))):
                if self.kinds[at] in "LM":
                    break
                start = self.tokens[at].start
                if at > 0 and start in by_start and at not in letters:
                    end, letter = by_start[start]
                    if not self.is_denied(match.start(), at, self.token_from(end, at)):
                        letters[at] = letter
                    break

    def _retraction(self, own_words: "Sequence[tuple[int, int, str]]") -> int | None:
        """Return the token of the last word that takes something back.

        An option that is itself such a word retracts nothing: (C) wait.
        """
        for at in range(len(self.kinds) - 1, -1, -1):
            place = self.tokens[at].start
            is_own = any(start <= place < end for start, end, _ in own_words)
            if self.kinds[at] == "W" and not is_own:
                return at
        return None


def is_noun(token: texts.Token) -> bool:
    """Return True of a noun of the things that options may be: caption, sentence, image."""
    return token.text.casefold() in _NOUNS


def _with_letters(cut: list[texts.Token], letters: str, *, nouns: bool) -> list[texts.Token]:
    """Mark the options' letters.

    Brackets, quotes and a noun around one become one token with it.
    """
    marked: list[texts.Token] = []
    at = 0
    while at < len(cut):
        token = cut[at]
        if len(token.text) == 1 and token.text.upper() in letters and token.text.isascii():
            following = cut[at + 1] if at + 1 < len(cut) else None
            third = cut[at + 2] if at + 2 < len(cut) else None
            before = marked[-1] if marked else None
            if before and following and _encloses(before, token, following):
                marked.pop()
                bracketed = before.text + token.text + following.text
                token = texts.Token("M", before.start, following.end, bracketed)
                at += 1
            elif not _is_word(token, following, before, third):
                token = token._replace(kind="L")
            if token.kind in "LM":
                token = _with_noun(token, marked, cut[at + 1 : at + 2], nouns=nouns)
                behind = "".join(part.text for part in cut[at + 1 : at + 3])
                if patterns.IS_BEHIND.match(behind):
                    cut[at + 1] = cut[at + 1]._replace(kind="k")
        marked.append(token)
        at += 1
    return marked


def _encloses(before: texts.Token, token: texts.Token, following: texts.Token) -> bool:
    """Return True where brackets or quotes stand right around a token."""
    gap = max(token.start - before.end, following.start - token.end)
    return (before.kind, following.kind) in {("(", ")"), ("q", "q")} and gap <= 1


def _with_noun(
    token: texts.Token, marked: list[texts.Token], behind: Sequence[texts.Token], *, nouns: bool
) -> texts.Token:
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
    return texts.Token(kind, noun.start, token.end, token.text)


def _is_word(  # noqa: PLR0911 - a reason a line
    token: texts.Token,
    following: texts.Token | None,
    before: texts.Token | None,
    third: texts.Token | None,
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
