"""Sentences that state which option is the answer, found in the kinds of their words (see `vocabulary`)."""

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
    """A letter that a text states, None where it states several at once; `at` is its token."""

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

    def segment_start(self, at: int) -> int:
        """Return the first token behind the last break before `at`."""
        index = bisect_left(self._breaks, at)
        return self._breaks[index - 1] + 1 if index else 0

    def is_denied(self, start: int, at: int, end: int | None = None) -> bool:
        """Return whether what stands at the tokens `at` to `end` is ruled out, hedged, asked or a condition.

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
        if patterns.HEDGED_BEFORE.search(
            kinds[max(0, begin - 6) : begin]
        ) or patterns.HEDGED_AFTER.match(after):
            return True
        if (
            patterns.RULED_OUT_AFTER.match(after)
            or patterns.DENIED_CLAUSE.match(after)
            or "H" in re.split("[.?,\n(TKB)]", after, maxsplit=1)[0]
        ):
            return True
        sentence = kinds[first : min(last, first + 60)]
        condition = "I" in kinds[max(first, at - 60) : at] or (
            re.search("[Ii]", sentence) and "c" in sentence
        )
        return bool(condition) or kinds[last : last + 1] == "?"

    def names_several(self, at: int) -> bool:
        """Return whether the letter is one of several that are named together."""
        before = self.kinds[max(0, at - 6) : at]
        beside = patterns.LISTED_AFTER.match(self.kinds, at + 1) or patterns.BESIDE_AFTER.match(
            self.kinds, at + 1
        )
        joined = patterns.BESIDE_BEFORE.search(before) or (
            patterns.WORD_BETWEEN.search(before) and self.kinds[at + 1 : at + 2] in ("", *".,)\n")
        )
        if beside or joined:
            last = max(at + 6, beside.end() if beside else 0)
            near = {
                self.letter(i)
                for i in range(max(0, at - 4), min(len(self.kinds), last))
                if self.kinds[i] in "LM"
            }
            return len(near) > 1
        return False

    def statements(self, own_words: "Sequence[tuple[int, int, str]]" = ()) -> list[Statement]:
        """Return the text's statements, in their order.

        Args:
            own_words: Where options' own words stand in the text: start, end, letter.
        """
        stated: dict[int, Statement] = {}
        for pattern in patterns.several("STATEMENT"):
            at = 0
            while match := pattern.search(self.kinds, at):
                at = match.start() + 1
                letter = match.start("letter")
                start = letter if pattern.pattern[0] in "XW[" else match.start()
                if not self.is_denied(min(start, letter), letter):
                    stated[letter] = Statement(
                        letter, None if self.names_several(letter) else self.letter(letter)
                    )
        verdicts = {
            match.start(match.lastgroup or 0)
            for match in patterns.VERDICT_ON_ONE.finditer(self.kinds)
        }
        verdicts = {at for at in verdicts if not self.is_denied(at, at)}
        several = len({self.letter(at) for at in verdicts}) > 1
        stated |= {at: Statement(at, None if several else self.letter(at)) for at in verdicts}
        headings = [
            match.start(match.lastgroup or 0) for match in patterns.HEADING.finditer(self.kinds)
        ]
        heading = max((at for at in headings if at in stated), default=len(self.kinds))
        stated = {
            at: entry
            for at, entry in stated.items()
            if at <= heading or not patterns.VERDICT.match(self.kinds, at)
        }
        starts = {start: (end, letter) for start, end, letter in own_words}
        for match in patterns.BEFORE_OWN_WORDS.finditer(self.kinds) if starts else ():
            for at in range(match.end() - 1, min(match.end() + 3, len(self.tokens))):
                if self.kinds[at] in "LM":
                    break
                if at > 0 and self.tokens[at].start in starts and at not in stated:
                    end, letter = starts[self.tokens[at].start]
                    behind = next(
                        (i for i in range(at, len(self.tokens)) if self.tokens[i].start >= end),
                        len(self.tokens),
                    )
                    if not self.is_denied(match.start(), at, behind):
                        stated[at] = Statement(at, letter)
                    break
        # An option that is itself such a word retracts nothing: (C) wait.
        spans = [(start, end) for start, end, _ in own_words]
        words = [self.tokens[at].start for at, kind in enumerate(self.kinds) if kind == "W"]
        kept = [at for at in words if not any(start <= at < end for start, end in spans)]
        retracted = next(
            (at for at, token in enumerate(self.tokens) if kept and token.start == kept[-1]), -1
        )
        if retracted >= 0 and stated and max(stated) < retracted:
            stated[retracted] = Statement(retracted, None)
        stated |= {
            match.end() - 1: Statement(match.end() - 1, None)
            for match in patterns.NO_ANSWER.finditer(self.kinds)
        }
        return [stated[at] for at in sorted(stated)]


def is_noun(token: texts.Token) -> bool:
    """Return whether a token is a noun of what options may be: caption, sentence, image."""
    return token.text.casefold() in _NOUNS


def _with_letters(cut: list[texts.Token], letters: str, *, nouns: bool) -> list[texts.Token]:
    """Mark the options' letters; brackets, quotes and a noun around one become one token with it."""
    marked: list[texts.Token] = []
    at = 0
    while at < len(cut):
        token = cut[at]
        following = cut[at + 1] if at + 1 < len(cut) else None
        if len(token.text) == 1 and token.text.upper() in letters and token.text.isascii():
            before = marked[-1] if marked else None
            if (
                before
                and following
                and (before.kind, following.kind) in {("(", ")"), ("q", "q")}
                and max(token.start - before.end, following.start - token.end) <= 1
            ):
                marked.pop()
                token = texts.Token(
                    "M", before.start, following.end, before.text + token.text + following.text
                )
                at += 1
            elif not _is_word(token, following, before, cut[at + 2] if at + 2 < len(cut) else None):
                token = texts.Token("L", token.start, token.end, token.text)
            if token.kind in "LM":
                token = _with_noun(token, marked, cut[at + 1 : at + 2], nouns=nouns)
                if patterns.IS_BEHIND.match(
                    "".join(behind.text for behind in cut[at + 1 : at + 3])
                ):
                    cut[at + 1] = texts.Token(
                        "k", cut[at + 1].start, cut[at + 1].end, cut[at + 1].text
                    )
        marked.append(token)
        at += 1
    return marked


def _with_noun(
    token: texts.Token, marked: list[texts.Token], behind: Sequence[texts.Token], *, nouns: bool
) -> texts.Token:
    """Return a letter's token with the noun before it, taken from `marked`: option B; caption B where that is all."""
    noun = marked[-1] if marked else None
    if not noun or not (noun.kind == "O" or (nouns and is_noun(noun))):
        return token
    if noun.kind != "O":
        line = "".join(token.kind for token in marked[-7:-1])
        alone = line[-1:] in ("", "\n") and (not behind or behind[0].kind in "\n.")
        if not alone and not patterns.STATES.search(line):
            return token
    marked.pop()
    return texts.Token("M" if noun.kind == "O" else token.kind, noun.start, token.end, token.text)


def _is_word(
    token: texts.Token,
    following: texts.Token | None,
    before: texts.Token | None,
    third: texts.Token | None,
) -> bool:
    """Whether a bare letter is a word: "A man", "I think", "E a resposta", "B o C", "a 2x speed"."""
    if token.text.upper() not in "AEIOUY" or not following or following.start - token.end != 1:
        return False
    if following.text.casefold() in _BEHIND_NO_ARTICLE or (
        before and before.kind == "O" and token.text.isupper()
    ):
        return False
    if before and before.kind == following.kind == "#" and token.text.islower():
        return True
    if token.text == "a" and following.kind == "#" and third and third.start == following.end:
        return third.text[0].isalpha() and not patterns.UNIT_OF_TIME.fullmatch(
            third.text
        )  # a 3rd cup; a 3s to 5s is A
    because = following.text == "car" and (not before or before.kind in ".\n?")  # in French
    if because or (token.text == "I" and following.kind in "CHVGF"):
        return True
    # "B o C", but "a o b" and "a ou b" begin with a letter.
    another = following.kind == "J" or (len(following.text) == 1 and following.text.islower())
    joins = (
        token.text.islower() and token.kind != "w" and following.text[0].isalpha() and not another
    )
    return joins or (following.kind in "wPNOVF" and bool(patterns.LATIN_WORD.match(following.text)))
