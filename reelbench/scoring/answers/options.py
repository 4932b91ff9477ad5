"""Reading the letter of an option out of a model's answer."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from reelbench.base.values import is_array, is_object
from reelbench.registry.rows import LETTERS
from reelbench.scoring import answers
from reelbench.scoring.answers import patterns, texts
from reelbench.scoring.answers.json_literals import find_literals, without_objects
from reelbench.scoring.answers.statements import Sentences, is_noun
from reelbench.scoring.answers.vocabulary import WORDS

ANSWER_KEYS: tuple[str, ...] = tuple(WORDS["keys"]["option"])
_KEYS = tuple(texts.plain_text(key).replace(" ", "_") for key in ANSWER_KEYS)
_DEEPEST = 6
_WORDS_OF_NUMBERS = {word: str(number) for number, word in enumerate(WORDS["numbers"])}
_LONGEST_COUNT = 200


class _Reading(NamedTuple):
    """What a reader says: the letter, or None where the text is of its form but names no single option."""

    letter: str | None


class _Options(NamedTuple):
    letters: str
    plain: list[str]
    nouns: bool
    circled: bool
    behind_letters: "tuple[re.Pattern[str], ...]"


_Reader = Callable[[str, _Options], _Reading | None]


def read_option(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that `text` states as its answer, or None.

    Args:
        text: A model's answer; it may contain reasoning.
        options: The options' texts; the first is A.
    """
    answer = texts.answer_text(text)
    if answer is None:
        return None
    known = _known(tuple(options))
    # Without own words behind their option's letter that mislead: "(B) C" is B where that says C.
    # So are letters by themselves, a word of denial or doubt ("(B) No", "(D) A > B"), and any words
    # before another letter ("(A) a dog or (B) a cat"). "A: C" answers a "Q:".
    for pattern in known.behind_letters:
        answer = pattern.sub(r"\1", answer)
    letter = _read(patterns.ANSWER_MARK.sub("Answer: ", answer), known, READERS)
    if letter or known.circled or len(text) > _LONGEST_COUNT:
        return letter
    # `정답은 ②`: the one circled number in a short text, where no option has any.
    stated = patterns.STATED_CIRCLED.fullmatch(text)
    at = ord(stated[1]) - ord("①") if stated else len(known.letters)
    return known.letters[at] if at < len(known.letters) else None


def read_options(text: str, options: Sequence[str]) -> str | None:
    """Return the letters of all options that `text` answers with, in the alphabet's order, or None.

    They are listed (`A, C`, `A and C`, `AC`, `["A", "C"]`), alone or after "answer"; else it is
    one, as `read_option` reads it.
    """
    answer = texts.answer_text(text) or ""
    said = next((content for content, _ in texts.marked_answers(answer)), answer)
    for literal in reversed(find_literals(said)):
        held = literal.value
        listed: Any = (
            next((held[key] for key in _KEYS if key in held), held) if is_object(held) else held
        )
        if is_array(listed) and listed and all(isinstance(part, str) for part in listed):
            said = ", ".join(listed)
            break
    if listed := patterns.LISTED.fullmatch(patterns.ANSWERS_ARE.split(said)[-1]):
        letters = sorted({letter for letter in listed[0] if letter in LETTERS})
        return "".join(letters) if letters[-1] in LETTERS[: len(options)] else None
    return read_option(text, options)


@lru_cache(maxsize=8)
def _known(options: tuple[str, ...]) -> _Options:
    plain = [texts.plain_text(option).strip() for option in options]
    circled = any(map(patterns.CIRCLED.search, options))
    letters = LETTERS[: len(plain)]
    behind: list[re.Pattern[str]] = []
    nouns = True
    for letter, own in zip(letters, plain, strict=True):
        cut, words = texts.tokens(own), re.escape(own.rstrip("."))
        denies = len(cut) == 1 and cut[0].kind in "XHWI"
        # A capital that opens a sentence is rather an article.
        named = any(
            len(part.text) == 1 and part.text in letters
            for part in cut[len(cut) > 1 and cut[1].kind == "w" :]
        )
        if denies or named or (len(own) == 1 and own.isalpha()):
            # Behind its letter it looks like another letter or like a denial.
            behind.append(re.compile(rf"(?<!\w)({letter}[\s.):\]\-]{{1,4}}){words}(?!\w)"))
        elif own:
            behind.append(
                re.compile(rf"(\({letter}\)\s?){words}(?=,?\s(?:or|and|or also|&|,)\s\([A-Z]\))")
            )
        # "Image B" itself: an answer which says so means its words.
        nouns &= not any(
            is_noun(a) and len(b.text) == 1 and b.text.isalpha() for a, b in pairwise(cut)
        )
    return _Options(letters, plain, nouns, circled, tuple(behind))


def _read(text: str, options: _Options, readers: "tuple[_Reader, ...]") -> str | None:
    for reader in readers:
        if reading := reader(text, options):
            return reading.letter
    return None


# --- the readers, the most explicit form first
# --------------------------------------------------------------------


def _from_marks(text: str, options: _Options) -> _Reading | None:
    r"""`<answer>B</answer>`, `\boxed{B}`: the last one that holds more than a span, or what is stated behind it."""
    for content, end in texts.marked_answers(text):
        boxed = text[: end - len(content)].endswith("{")
        content = (
            texts.without_markup(content) if "{" not in content or "\\" in content else content
        )  # noqa: PLW2901
        if content.strip() and not answers.is_span(content):
            letter = _read(content, options, READERS[1:]) or (
                _by_value(content, options) if boxed else None
            )
            letter = letter or _read(text[end:], options, (_from_literals, _from_statements))
            # A box that holds a value silences nothing that is said in words.
            if letter or not boxed or not patterns.VALUE.search(content):
                return _Reading(letter)
    return None


def _by_value(content: str, options: _Options) -> str | None:
    """Return the one option that begins with the number that `content` is: 65 for "65 cm²"."""
    value = patterns.VALUE.fullmatch(content.strip())
    if not value:
        return None
    values = [patterns.VALUE.match(texts.without_markup(plain).strip()) for plain in options.plain]
    equal = [
        letter
        for letter, match in zip(options.letters, values, strict=True)
        if match and float(match[0]) == float(value[0])
    ]
    return equal[0] if len(equal) == 1 else None


def _from_literals(text: str, options: _Options) -> _Reading | None:
    """`{"answer": "B"}`, `{'option': 'B',}`: the last one that has such a key; a list whose answers differ has none."""
    literals = find_literals(text)
    for literal in reversed(literals):
        answers = _answers(literal.value, options)
        if answers:
            letter = answers[0] if len(set(answers)) == 1 else None
            return _Reading(letter or _read(text[literal.end :], options, (_from_statements,)))
    return None


def _from_statements(text: str, options: _Options) -> _Reading | None:
    """`The answer is B`: the last statement."""
    sentences = _sentences(_prose(text, options), options.letters, nouns=options.nouns)
    stated = sentences.statements(_occurrences(sentences.text, options))
    if not stated:
        return None
    last = stated[-1]
    if (
        last.letter
        and sentences.kinds[last.at] in "LM"
        and _contradicted(sentences, last.at, last.letter, options)
    ):
        return _Reading(None)
    return _Reading(last.letter)


def _from_labels(text: str, options: _Options) -> _Reading | None:
    """`B`, `(B) because it is late`, `B [3, 12]`: the lines that are labels, or sentences and clauses that are."""
    sentences = _sentences(_prose(text, options), options.letters, nouns=options.nouns)
    labels = _line_labels(sentences, options) or _lone_labels(sentences, options)
    labels = [at for at in labels if _stands_as_answer(sentences, at, options)] or labels
    # Letters that go through all options in a row are the question's own list.
    signed = [
        at
        for at, kind in enumerate(sentences.kinds)
        if kind == "M" or (kind == "L" and sentences.kinds[at + 1 : at + 2] in (".", ")", ":", "D"))
    ]
    order, count = "".join(map(sentences.letter, signed)), len(options.letters)
    start = order.find(options.letters) if count > 1 else -1
    labels = [at for at in labels if start < 0 or at not in signed[start : start + count]]
    letters = {sentences.letter(at) for at in labels}
    if not letters:
        return None
    at = labels[-1]
    several = len(letters) > 1 or any(sentences.names_several(label) for label in labels)
    if several or _contradicted(sentences, at, sentences.letter(at), options):
        return _Reading(None)
    return _Reading(letters.pop())


def _from_own_words(text: str, options: _Options) -> _Reading | None:
    """`He left because it is late`: one option's own words, whole, where no other option is named."""
    prose = _prose(text, options)
    whole = _squeezed(prose)
    if whole:
        equal = [
            letter
            for letter, plain in zip(options.letters, options.plain, strict=True)
            # Of a number the sign counts too.
            if _squeezed(plain) == whole
            and (not plain[-1:].isdigit() or ((own := _own_pattern(plain)) and own.search(prose)))
        ]
        if equal:
            return _Reading(equal[0] if len(equal) == 1 else None)
    # `Yes. It does`: the option that is a text's first sentence, where no other is its last line;
    # `Yes, it does`.
    first = patterns.FIRST_SENTENCE.match(prose)
    ends = [first[1], prose.strip().rpartition("\n")[2]] if first else []
    named = [
        [
            letter
            for letter, plain in zip(options.letters, options.plain, strict=True)
            if _squeezed(plain) == said
        ]
        for said in map(_squeezed, ends)
        if said
    ]
    if not named or len(named[0]) != 1 or any(also and also != named[0] for also in named):
        opening_words = None
    else:
        # Behind a comma only a word that answers: of others it may begin a list.
        answers = first is not None and (first[2] != "," or _squeezed(first[1]) in ("yes", "no"))
        opening_words = named[0][0] if answers else None
    if letter := opening_words:
        return _Reading(letter)
    sentences = _sentences(prose, options.letters, nouns=options.nouns)
    letters: set[str] = set()
    for start, end, letter in _occurrences(sentences.text, options):
        plain = options.plain[options.letters.index(letter)]
        if patterns.NUMBER_ALONE.fullmatch(plain):
            continue
        at = next((i for i, token in enumerate(sentences.tokens) if token.end > start), 0)
        behind = next(
            (i for i in range(at, len(sentences.tokens)) if sentences.tokens[i].start >= end),
            len(sentences.tokens),
        )
        # What an option says is not what the answer is.
        quoted = re.search("[LM]G", sentences.kinds[sentences.segment_start(at) : at])
        if not quoted and not sentences.is_denied(at, at, behind):
            letters.add(letter)
    return _Reading(letters.pop()) if len(letters) == 1 else None


def _from_count(text: str, options: _Options) -> _Reading | None:
    """`There are 4 people`: the only number of a short answer, where the options are numbers."""
    prose = _prose(text, options)
    values = [_number(plain) for plain in options.plain]
    if None in values or len(prose) > _LONGEST_COUNT:
        return None
    sentences = _sentences(prose, options.letters, nouns=options.nouns)
    said = [(match, _number(match[0])) for match in patterns.COUNT.finditer(prose)]
    # "One" is rather a pronoun, unless it is all that is said.
    said = [
        (match, value)
        for match, value in said
        if value and (match[0].lower() != "one" or match[0] == prose.strip("."))
    ]
    if len({value for _, value in said}) != 1 or re.search(r"\d", patterns.COUNT.sub("", prose)):
        return None
    for match, _ in said:
        at = next(i for i, token in enumerate(sentences.tokens) if token.end > match.start())
        before = sentences.kinds[:at][-1:]
        moment = patterns.SINGLE.match(prose.lower(), match.start())
        timed = moment is not None and moment.end() > match.end()
        if before in ("O", "N") or timed or sentences.is_denied(at, at):
            return None
    equal = [
        letter for letter, value in zip(options.letters, values, strict=True) if value == said[0][1]
    ]
    return _Reading(equal[0]) if len(equal) == 1 else None


def _number(text: str) -> str | None:
    text = text.strip().rstrip(".").casefold()
    return _WORDS_OF_NUMBERS.get(text) or (text if re.fullmatch(r"\d{1,9}", text) else None)


READERS: tuple[_Reader, ...] = (
    *(_from_marks, _from_literals, _from_statements, _from_labels, _from_own_words, _from_count),
)


_sentences = lru_cache(maxsize=2)(Sentences)
"""A text is cut once for all readers."""


# --- literals
# -------------------------------------------------------------------------------------------------------


def _answers(value: Any, options: _Options, depth: int = 0) -> list[str | None]:  # noqa: ANN401 - any literal
    """Return the values of the answer keys in a literal, of every entry of a list."""
    if is_array(value) and depth < _DEEPEST:
        return [
            answer
            for entry in value
            if is_object(entry)
            for answer in _answers(entry, options, depth + 1)
        ]
    if not is_object(value) or depth >= _DEEPEST:
        return []
    for key in _KEYS:
        stated = value.get(key)
        if key not in value or (isinstance(stated, str) and answers.is_span(stated)):
            continue
        if is_array(stated) and len(stated) == 1:
            stated = stated[0]
        if is_object(stated):
            return _answers(stated, options, depth + 1)[:1] or [None]
        return [
            _read(texts.without_markup(stated), options, READERS[2:])
            if isinstance(stated, str)
            else None
        ]
    return []


def _prose(text: str, options: _Options) -> str:
    """Return `text` without JSON objects, markup and equations' left sides: the letters in there are no options'."""
    prose = texts.without_markup(without_objects(text)).strip()

    def symbol(match: re.Match[str]) -> str:
        at = options.letters.find(match[1].upper())
        own = _own_pattern(options.plain[at]) if at >= 0 else None
        return match[0] if own and own.match(prose, match.end()) else match[2]

    return patterns.SYMBOL.sub(symbol, prose) if "=" in prose else prose


# --- labels
# ---------------------------------------------------------------------------------------------------------


def _line_labels(sentences: Sentences, options: _Options) -> list[int]:
    """Return the tokens of the letters that are a line's label; a list of the options is none."""
    labels: list[int] = []
    enumerated: list[int] = []
    for number, line in enumerate(patterns.LINE.finditer(sentences.kinds)):
        at = _label_of_line(sentences, line.start(), line.end(), options, first=number == 0)
        if at is None:
            continue
        letter = sentences.letter(at)
        if (
            enumerated
            and LETTERS.index(letter) == LETTERS.index(sentences.letter(enumerated[-1])) + 1
        ):
            enumerated.append(at)
            continue
        labels += enumerated if len(enumerated) == 1 else []
        enumerated = [at]
    labels += enumerated if len(enumerated) == 1 else []
    return [at for at in labels if not sentences.is_denied(at, at)]


def _label_of_line(  # noqa: PLR0911 - a form a line
    sentences: Sentences, start: int, end: int, options: _Options, *, first: bool
) -> int | None:
    letters = [at for at in range(start, end) if sentences.kinds[at] in "LM"]
    if not letters:
        return None
    at = letters[0]
    line = sentences.tokens[start:end]
    if len(letters) == 1 and all(
        token.kind in "LM#.,()q:DJCkOSN~" or answers.is_span_word(token.text) for token in line
    ):
        return at  # a letter, a span of time, their names and punctuation
    named = at - start == 1 and is_noun(sentences.tokens[start])
    if at - start > 1 or not (named or all(kind in "q(D#" for kind in sentences.kinds[start:at])):
        return None
    if any(_own_words_follow(sentences, other, options) for other in letters[1:]):
        return None  # a list of options, or of verdicts on them
    bracketed = not sentences.tokens[at].text[0].isalnum()
    if first and not named and (bracketed or patterns.LABEL_START.match(sentences.kinds, at)):
        return at
    # "Sentence B: …" says that one again; "Image A: …" describes one.
    heading = sentences.tokens[start].text.casefold() in (
        "sentence",
        "caption",
        "statement",
        "description",
    )
    if first and named and heading and sentences.kinds[at + 1 : at + 2] == ":":
        return at
    # Any line may be a label with the option's own words.
    return at if _own_words_follow(sentences, at, options) else None


def _stands_as_answer(sentences: Sentences, at: int, options: _Options) -> bool:
    """Return whether "is" stands before a letter with its option's own words: It is (D) a dog; it is a dog (D)."""
    if sentences.kinds[at] != "M":
        return False
    if sentences.kinds[at - 1 : at] in ("C", "S"):
        return bool(_own_words_follow(sentences, at, options))
    own = options.plain[options.letters.index(sentences.letter(at))]
    before = sentences.text[: sentences.tokens[at].start].rstrip()
    begin = len(before) - len(own)
    if begin <= 0 or before[begin:].casefold() != own.casefold():
        return False
    last = next((i for i in range(at - 1, -1, -1) if sentences.tokens[i].end <= begin), 0)
    return sentences.kinds[last] in "CS"


def _own_words_follow(sentences: Sentences, at: int, options: _Options) -> "re.Match[str] | None":
    """Return the place of an option's own words right behind its letter."""
    pattern = _own_pattern(options.plain[options.letters.index(sentences.letter(at))])
    begin = patterns.LABEL_SIGNS.match(sentences.text, sentences.tokens[at].end)
    return pattern.match(sentences.text, begin.end()) if pattern and begin else None


def _lone_labels(sentences: Sentences, options: _Options) -> list[int]:
    """Return the letters that are a sentence alone, or in brackets a clause alone or behind their option's words."""
    labels: list[int] = []
    ends = {end: letter for _, end, letter in _occurrences(sentences.text, options)}
    for at, kind in enumerate(sentences.kinds):
        if kind not in "LM" or (kind == "L" and sentences.tokens[at].text.islower()):
            continue
        before = sentences.kinds[max(0, at - 3) : at].rstrip("qF," if kind == "L" else "qF")[-1:]
        after = sentences.kinds[at + 1 : at + 4].lstrip("q)F")[:1]
        edges = ".\n" if kind == "L" else ".\n,DTB"
        alone = (not before or before in edges + "?") and (not after or after in edges)
        # With its option's own words it ends a sentence: the number of people is (C) 4.
        own = _own_words_follow(sentences, at, options) if kind == "M" else None
        beside = kind == "M" and (
            any(
                ends.get(sentences.tokens[at].start - gap) == sentences.letter(at)
                for gap in range(4)
            )
            or (own is not None and bool(patterns.OWN_WORDS_END.match(sentences.text, own.end())))
            or _stands_as_answer(sentences, at, options)
        )
        if (alone or beside) and not sentences.is_denied(at, at):
            labels.append(at)
    return labels


# --- own words
# ------------------------------------------------------------------------------------------------------


def _squeezed(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@lru_cache(maxsize=64)
def _own_pattern(option: str) -> "re.Pattern[str] | None":
    """The option's words in order, whole; whatever space and punctuation stands between."""
    words = re.findall(r"\w+", option)
    if not words:
        return None
    before = "" if patterns.UNSPACED_SIGN.match(words[0][0]) else r"(?<!\w)"
    after = "" if patterns.UNSPACED_SIGN.match(words[-1][-1]) else r"(?!\w)"
    flags = re.IGNORECASE
    # A number is no part of another, and its sign belongs to it.
    if words[0][0].isdigit():
        signed = re.search(r"-\s?$", option[: option.index(words[0])])
        before = r"-\s?" if signed else r"(?<![\w.-])(?<!\d,)"
    if words[-1][-1].isdigit():
        after = r"(?!\w|[.,:/]\d)"
    if len(words) == 1 and len(words[0]) == 1 and words[0].isascii() and words[0].isalpha():
        # In small letters, or before another word, it is an article or a word.
        flags, after = re.NOFLAG, r"(?!\w)(?!['’ \t]+[a-z])"
    return re.compile(before + r"[\W_]{1,8}".join(re.escape(word) for word in words) + after, flags)


def _occurrences(text: str, options: _Options) -> list[tuple[int, int, str]]:
    """Return the places of options' own words: start, end, letter; those within a longer option's are left out."""
    low = text.lower() if text.isascii() else None
    hits = [
        (match.start(), match.end(), letter)
        for letter, option in zip(options.letters, options.plain, strict=True)
        # A pattern takes longer to make than to see that a word of it is missing.
        if low is None
        or not option.isascii()
        or all(word in low for word in re.findall(r"\w+", option.lower()))
        if (pattern := _own_pattern(option))
        for match in pattern.finditer(text)
        if match[0].lower() != "no" or not patterns.DETERMINER.match(text, match.end())
    ]
    hits.sort(key=lambda hit: (hit[0], -hit[1]))
    kept: list[tuple[int, int, str]] = []
    for hit in hits:
        if not kept or hit[1] > kept[-1][1] or (hit[0], hit[1]) == (kept[-1][0], kept[-1][1]):
            kept.append(hit)
    return kept


def _contradicted(sentences: Sentences, at: int, letter: str, options: _Options) -> bool:
    """Return whether just another option's own words follow a letter: "B: because it rains", where A says that."""
    rest = sentences.text[sentences.tokens[at].end :][
        : 40 + max(map(len, options.plain), default=0) * 2
    ]
    clause = _squeezed(
        re.split(r"\n|(?<=\w)[.;](?=\s|$)", rest.lstrip(" .):,;-–—\"'"), maxsplit=1)[0]
    )
    named = [
        known
        for known, plain in zip(options.letters, options.plain, strict=True)
        if _squeezed(plain) == clause
    ]
    return bool(clause) and bool(named) and letter not in named
