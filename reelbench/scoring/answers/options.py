"""Read the letter of an option out of a model's answer."""

import re
from collections.abc import Callable, Mapping, Sequence
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
    """The result of a reader of a text that is of its form.

    The letter is None where the text names no single option.
    """

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
    parsed_options = _parsed_options(tuple(options))
    # Without own words behind their option's letter that mislead: "(B) C" is B where that says C.
    # So are letters by themselves, a word of denial or doubt ("(B) No", "(D) A > B"), and any words
    # before another letter ("(A) a dog or (B) a cat"). "A: C" answers a "Q:".
    for pattern in parsed_options.behind_letters:
        answer = pattern.sub(r"\1", answer)
    letter = _read(patterns.ANSWER_MARK.sub("Answer: ", answer), parsed_options, READERS)
    if letter or parsed_options.circled or len(text) > _LONGEST_COUNT:
        return letter
    # `정답은 ②`: the one circled number in a short text, where no option has any.
    circled_number = patterns.STATED_CIRCLED.fullmatch(text)
    if circled_number is None:
        return None
    place = ord(circled_number[1]) - ord("①")
    letters = parsed_options.letters
    return letters[place] if place < len(letters) else None


def read_options(text: str, options: Sequence[str]) -> str | None:
    """Return the letters of all options that `text` answers with, or None.

    They are in the alphabet's order. They are listed (`A, C`, `A and C`, `AC`, `["A", "C"]`), alone
    or after "answer"; else it is one, as `read_option` reads it.
    """
    answer = texts.answer_text(text) or ""
    marked = texts.marked_answers(answer)
    if marked:
        answer, _ = marked[0]
    for literal in reversed(find_literals(answer)):
        values = _listed_texts(literal.value)
        if values:
            answer = ", ".join(values)
            break
    listed = patterns.LISTED.fullmatch(patterns.ANSWERS_ARE.split(answer)[-1])
    if listed is None:
        return read_option(text, options)
    letters = sorted(set(listed[0]) & set(LETTERS))
    return "".join(letters) if letters[-1] in LETTERS[: len(options)] else None


def _listed_texts(value: Any) -> list[str]:  # noqa: ANN401 - any literal
    """Return the texts in a list, or in the list of an object's answer."""
    if is_object(value):
        for key in _KEYS:
            if key in value:
                value = value[key]
                break
    if is_array(value) and all(isinstance(part, str) for part in value):
        return list(value)
    return []


@lru_cache(maxsize=8)
def _parsed_options(options: tuple[str, ...]) -> _Options:
    plain = [texts.plain_text(option).strip() for option in options]
    circled = any(map(patterns.CIRCLED.search, options))
    letters = LETTERS[: len(plain)]
    behind: list[re.Pattern[str]] = []
    nouns = True
    for letter, option in zip(letters, plain, strict=True):
        tokens = texts.tokens(option)
        words = re.escape(option.rstrip("."))
        if _looks_like_letter(option, tokens, letters):
            behind.append(re.compile(rf"(?<!\w)({letter}[\s.):\]\-]{{1,4}}){words}(?!\w)"))
        elif option:
            behind.append(
                re.compile(rf"(\({letter}\)\s?){words}(?=,?\s(?:or|and|or also|&|,)\s\([A-Z]\))")
            )
        # "Image B" itself: an answer which says so means its words.
        for noun, token in pairwise(tokens):
            if is_noun(noun) and len(token.text) == 1 and token.text.isalpha():
                nouns = False
    return _Options(letters, plain, nouns, circled, tuple(behind))


def _looks_like_letter(option: str, tokens: Sequence[texts.Token], letters: str) -> bool:
    """Return True where an option behind its letter looks like another letter or a denial."""
    if len(option) == 1 and option.isalpha():
        return True
    if len(tokens) == 1 and tokens[0].kind in "XHWI":
        return True
    # A capital that opens a sentence is rather an article.
    opens_sentence = len(tokens) > 1 and tokens[1].kind == "w"
    checked = tokens[1:] if opens_sentence else tokens
    return any(len(token.text) == 1 and token.text in letters for token in checked)


def _read(text: str, options: _Options, readers: "tuple[_Reader, ...]") -> str | None:
    for reader in readers:
        reading = reader(text, options)
        if reading:
            return reading.letter
    return None


# --- the readers, the most explicit form first
# --------------------------------------------------------------------


def _from_marks(text: str, options: _Options) -> _Reading | None:
    r"""Read tags and boxes: `<answer>B</answer>`, `\boxed{B}`.

    The last one that holds more than a span counts, or a statement behind it.
    """
    for content, end in texts.marked_answers(text):
        boxed = text[: end - len(content)].endswith("{")
        inner = content
        if "{" not in content or "\\" in content:
            inner = texts.without_markup(content)
        if not inner.strip() or answers.is_span(inner):
            continue
        letter = _read(inner, options, READERS[1:])
        if letter is None and boxed:
            letter = _by_value(inner, options)
        letter = letter or _read(text[end:], options, (_from_literals, _from_statements))
        # A box that holds a value silences nothing that is said in words.
        if letter or not boxed or not patterns.VALUE.search(inner):
            return _Reading(letter)
    return None


def _by_value(content: str, options: _Options) -> str | None:
    """Return the one option that begins with a number: 65 for "65 cm²"."""
    value = patterns.VALUE.fullmatch(content.strip())
    if not value:
        return None
    equal: list[str] = []
    for letter, plain in zip(options.letters, options.plain, strict=True):
        match = patterns.VALUE.match(texts.without_markup(plain).strip())
        if match and float(match[0]) == float(value[0]):
            equal.append(letter)
    return equal[0] if len(equal) == 1 else None


def _from_literals(text: str, options: _Options) -> _Reading | None:
    """Read literals: `{"answer": "B"}`, `{'option': 'B',}`.

    The last one that has such a key counts; a list whose answers differ has none.
    """
    for literal in reversed(find_literals(text)):
        letters = _answers(literal.value, options)
        if letters:
            letter = letters[0] if len(set(letters)) == 1 else None
            return _Reading(letter or _read(text[literal.end :], options, (_from_statements,)))
    return None


def _from_statements(text: str, options: _Options) -> _Reading | None:
    """Read statements: `The answer is B`; the last one counts."""
    sentences = _sentences(_prose(text, options), options.letters, nouns=options.nouns)
    statements = sentences.statements(_occurrences(sentences.text, options))
    if not statements:
        return None
    last = statements[-1]
    is_letter = last.letter is not None and sentences.kinds[last.at] in "LM"
    if is_letter and _contradicted(sentences, last.at, options):
        return _Reading(None)
    return _Reading(last.letter)


def _from_labels(text: str, options: _Options) -> _Reading | None:
    """Read labels: `B`, `(B) because it is late`, `B [3, 12]`.

    They are lines, or sentences and clauses.
    """
    sentences = _sentences(_prose(text, options), options.letters, nouns=options.nouns)
    labels = _line_labels(sentences, options) or _lone_labels(sentences, options)
    labels = [at for at in labels if _stands_as_answer(sentences, at, options)] or labels
    question_list = _question_list(sentences, options)
    labels = [at for at in labels if at not in question_list]
    letters = {sentences.letter(at) for at in labels}
    if not letters:
        return None
    last = labels[-1]
    several = len(letters) > 1 or any(map(sentences.names_several, labels))
    if several or _contradicted(sentences, last, options):
        return _Reading(None)
    return _Reading(letters.pop())


def _question_list(sentences: Sentences, options: _Options) -> Sequence[int]:
    """Return the letters that go through all options in a row: the question's own list."""
    signed: list[int] = []
    for at, kind in enumerate(sentences.kinds):
        sign = sentences.kinds[at + 1 : at + 2]
        if kind == "M" or (kind == "L" and sign in (".", ")", ":", "D")):
            signed.append(at)
    count = len(options.letters)
    order = "".join(map(sentences.letter, signed))
    start = order.find(options.letters)
    return signed[start : start + count] if count > 1 and start >= 0 else ()


def _from_own_words(text: str, options: _Options) -> _Reading | None:
    """Read own words: `He left because it is late`.

    They are one option's own words, whole, where no other option is named.
    """
    prose = _prose(text, options)
    equal = _options_equal_to(prose, options)
    if equal:
        letter = equal[0] if len(equal) == 1 else None
        return _Reading(letter)
    letter = _from_first_sentence(prose, options)
    if letter:
        return _Reading(letter)
    sentences = _sentences(prose, options.letters, nouns=options.nouns)
    letters: set[str] = set()
    for start, end, letter in _occurrences(sentences.text, options):
        plain = options.plain[options.letters.index(letter)]
        if patterns.NUMBER_ALONE.fullmatch(plain):
            continue
        at = sentences.token_at(start)
        behind = sentences.token_from(end, at)
        # The words that an option says are not the answer.
        quoted = re.search("[LM]G", sentences.kinds[sentences.segment_start(at) : at])
        if not quoted and not sentences.is_denied(at, at, behind):
            letters.add(letter)
    return _Reading(letters.pop()) if len(letters) == 1 else None


def _options_equal_to(prose: str, options: _Options) -> list[str]:
    """Return the options of which a text is the own words and nothing else."""
    whole = _squeezed(prose)
    equal: list[str] = []
    for letter, plain in zip(options.letters, options.plain, strict=True):
        if not whole or _squeezed(plain) != whole:
            continue
        if plain[-1:].isdigit():  # of a number the sign counts too
            pattern = _own_pattern(plain)
            if not pattern or not pattern.search(prose):
                continue
        equal.append(letter)
    return equal


def _from_first_sentence(prose: str, options: _Options) -> str | None:
    """Return the option that is a text's first sentence: `Yes. It does`, `Yes, it does`.

    No other one may be its last line.
    """
    first = patterns.FIRST_SENTENCE.match(prose)
    if first is None:
        return None
    first_words = _squeezed(first[1])
    last_words = _squeezed(prose.strip().rpartition("\n")[2])
    if not first_words and not last_words:
        return None
    # Behind a comma only a word that answers: of others it may begin a list.
    if first[2] == "," and first_words not in ("yes", "no"):
        return None
    squeezed = list(map(_squeezed, options.plain))
    if squeezed.count(first_words or last_words) != 1:
        return None
    if first_words and last_words != first_words and last_words and last_words in squeezed:
        return None
    return options.letters[squeezed.index(first_words or last_words)]


def _from_count(text: str, options: _Options) -> _Reading | None:
    """Read counts: `There are 4 people`.

    It is the only number of a short answer, where the options are numbers.
    """
    prose = _prose(text, options)
    values = list(map(_number, options.plain))
    if None in values or len(prose) > _LONGEST_COUNT:
        return None
    sentences = _sentences(prose, options.letters, nouns=options.nouns)
    counts: list[re.Match[str]] = []
    for match in patterns.COUNT.finditer(prose):
        # "One" is rather a pronoun, unless it is all that is said.
        is_pronoun = match[0].lower() == "one" and match[0] != prose.strip(".")
        if _number(match[0]) and not is_pronoun:
            counts.append(match)
    numbers = {_number(match[0]) for match in counts}
    if len(numbers) != 1 or re.search(r"\d", patterns.COUNT.sub("", prose)):
        return None
    for match in counts:
        at = sentences.token_at(match.start())
        moment = patterns.SINGLE.match(prose.lower(), match.start())
        is_time = moment is not None and moment.end() > match.end()
        is_label = sentences.kinds[:at][-1:] in ("O", "N")
        if is_label or is_time or sentences.is_denied(at, at):
            return None
    number = numbers.pop()
    if values.count(number) != 1:
        return None
    return _Reading(options.letters[values.index(number)])


def _number(text: str) -> str | None:
    text = text.strip().rstrip(".").casefold()
    return _WORDS_OF_NUMBERS.get(text) or (text if re.fullmatch(r"\d{1,9}", text) else None)


READERS: tuple[_Reader, ...] = (
    _from_marks,
    _from_literals,
    _from_statements,
    _from_labels,
    _from_own_words,
    _from_count,
)


_sentences = lru_cache(maxsize=2)(Sentences)
"""A text is cut once for all readers."""


# --- literals
# ------------------------------------------------------------------------------------------


def _answers(  # noqa: PLR0911 - a form a line
    value: Any,  # noqa: ANN401 - any literal
    options: _Options,
    depth: int = 0,
) -> list[str | None]:
    """Return the letters behind the answer keys of a literal, or of a list's entries."""
    if depth >= _DEEPEST:
        return []
    if is_array(value):
        letters: list[str | None] = []
        for entry in value:
            if is_object(entry):
                letters += _answers(entry, options, depth + 1)
        return letters
    if not is_object(value):
        return []
    for key in _KEYS:
        answer = value.get(key)
        if key not in value or (isinstance(answer, str) and answers.is_span(answer)):
            continue
        if is_array(answer) and len(answer) == 1:
            answer = answer[0]
        if is_object(answer):
            return _answers(answer, options, depth + 1)[:1] or [None]
        if isinstance(answer, str):
            return [_read(texts.without_markup(answer), options, READERS[2:])]
        return [None]
    return []


def _prose(text: str, options: _Options) -> str:
    """Return `text` without JSON objects, markup and equations' left sides.

    The letters in there are no options'.
    """
    prose = texts.without_markup(without_objects(text)).strip()

    def symbol(match: re.Match[str]) -> str:
        place = options.letters.find(match[1].upper())
        pattern = _own_pattern(options.plain[place]) if place >= 0 else None
        return match[0] if pattern and pattern.match(prose, match.end()) else match[2]

    return patterns.SYMBOL.sub(symbol, prose) if "=" in prose else prose


# --- labels
# ------------------------------------------------------------------------------------------


def _line_labels(sentences: Sentences, options: _Options) -> list[int]:
    """Return the letters that are a line's label, by their tokens.

    A list of the options is none.
    """
    runs: list[list[int]] = []
    for number, line in enumerate(patterns.LINE.finditer(sentences.kinds)):
        at = _label_of_line(sentences, line.start(), line.end(), options, first=number == 0)
        if at is None:
            continue
        place = LETTERS.index(sentences.letter(at))
        if runs and place == LETTERS.index(sentences.letter(runs[-1][-1])) + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    labels = [run[0] for run in runs if len(run) == 1]
    return [at for at in labels if not sentences.is_denied(at, at)]


def _label_of_line(  # noqa: PLR0911 - a form a line
    sentences: Sentences, start: int, end: int, options: _Options, *, first: bool
) -> int | None:
    letters = [at for at in range(start, end) if sentences.kinds[at] in "LM"]
    if not letters:
        return None
    at = letters[0]
    if len(letters) == 1 and all(map(_is_of_label, sentences.tokens[start:end])):
        return at
    named = at - start == 1 and is_noun(sentences.tokens[start])
    has_signs_before = set(sentences.kinds[start:at]) <= set("q(D#")
    if at - start > 1 or not (named or has_signs_before):
        return None
    if any(_own_words_follow(sentences, further, options) for further in letters[1:]):
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


def _is_of_label(token: texts.Token) -> bool:
    """Return True of a letter, a span of time, their names and punctuation."""
    return token.kind in "LM#.,()q:DJCkOSN~" or answers.is_span_word(token.text)


def _stands_as_answer(sentences: Sentences, at: int, options: _Options) -> bool:
    """Return True where "is" stands before a letter with its option's own words.

    So in: It is (D) a dog; it is a dog (D).
    """
    if sentences.kinds[at] != "M":
        return False
    if sentences.kinds[at - 1 : at] in ("C", "S"):
        return bool(_own_words_follow(sentences, at, options))
    option = options.plain[options.letters.index(sentences.letter(at))]
    before = sentences.text[: sentences.tokens[at].start].rstrip()
    begin = len(before) - len(option)
    if begin <= 0 or before[begin:].casefold() != option.casefold():
        return False
    last = max(0, at - 1)
    while last > 0 and sentences.tokens[last].end > begin:
        last -= 1
    return sentences.kinds[last] in "CS"


def _own_words_follow(sentences: Sentences, at: int, options: _Options) -> "re.Match[str] | None":
    """Return the place of an option's own words right behind its letter."""
    pattern = _own_pattern(options.plain[options.letters.index(sentences.letter(at))])
    begin = patterns.LABEL_SIGNS.match(sentences.text, sentences.tokens[at].end)
    return pattern.match(sentences.text, begin.end()) if pattern and begin else None


def _lone_labels(sentences: Sentences, options: _Options) -> list[int]:
    """Return the letters that are a sentence alone, by their tokens.

    In brackets they may be a clause alone, or stand behind their option's words.
    """
    labels: list[int] = []
    ends = {end: letter for _, end, letter in _occurrences(sentences.text, options)}
    for at, kind in enumerate(sentences.kinds):
        if kind == "L" and sentences.tokens[at].text.islower():
            continue
        if kind == "M":
            is_label = (
                _stands_alone(sentences, at, fillers="qF", edges=".\n,DTB")
                or _stands_behind(sentences, at, ends)
                or _ends_sentence(sentences, at, options)
                or _stands_as_answer(sentences, at, options)
            )
        else:
            is_label = kind == "L" and _stands_alone(sentences, at, fillers="qF,", edges=".\n")
        if is_label and not sentences.is_denied(at, at):
            labels.append(at)
    return labels


def _stands_alone(sentences: Sentences, at: int, *, fillers: str, edges: str) -> bool:
    before = sentences.kinds[max(0, at - 3) : at].rstrip(fillers)[-1:]
    after = sentences.kinds[at + 1 : at + 4].lstrip("q)F")[:1]
    return (not before or before in edges + "?") and (not after or after in edges)


def _stands_behind(sentences: Sentences, at: int, ends: Mapping[int, str]) -> bool:
    """Return True where a letter stands behind its option's own words."""
    start = sentences.tokens[at].start
    letter = sentences.letter(at)
    return any(ends.get(start - gap) == letter for gap in range(4))


def _ends_sentence(sentences: Sentences, at: int, options: _Options) -> bool:
    """Return True where a letter with its option's own words ends a sentence.

    So in: the number of people is (C) 4.
    """
    words = _own_words_follow(sentences, at, options)
    return words is not None and bool(patterns.OWN_WORDS_END.match(sentences.text, words.end()))


# --- own words
# ------------------------------------------------------------------------------------------


def _squeezed(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@lru_cache(maxsize=64)
def _own_pattern(option: str) -> "re.Pattern[str] | None":
    """Return a pattern of the option's words, whole and in order, whatever stands between."""
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
    joined = r"[\W_]{1,8}".join(map(re.escape, words))
    return re.compile(before + joined + after, flags)


class _Occurrence(NamedTuple):
    """The place of an option's own words in a text, and its letter."""

    start: int
    end: int
    letter: str


def _occurrences(text: str, options: _Options) -> list[_Occurrence]:
    """Return the places of options' own words, without those within a longer option's."""
    low = text.lower() if text.isascii() else None
    hits: list[_Occurrence] = []
    for letter, option in zip(options.letters, options.plain, strict=True):
        if low is not None and _lacks_word(low, option):
            continue
        pattern = _own_pattern(option)
        if pattern is None:
            continue
        for match in pattern.finditer(text):
            is_no = match[0].lower() == "no"
            if not is_no or not patterns.DETERMINER.match(text, match.end()):
                hits.append(_Occurrence(match.start(), match.end(), letter))
    hits.sort(key=lambda hit: (hit.start, -hit.end))
    outermost: list[_Occurrence] = []
    for hit in hits:
        last = outermost[-1] if outermost else None
        if not last or hit.end > last.end or hit[:2] == last[:2]:
            outermost.append(hit)
    return outermost


def _lacks_word(low: str, option: str) -> bool:
    """Return True where a text in small letters lacks a word of an option.

    A pattern takes longer to make than this.
    """
    if not option.isascii():
        return False
    return not all(word in low for word in re.findall(r"\w+", option.lower()))


def _contradicted(sentences: Sentences, at: int, options: _Options) -> bool:
    """Return True where just another option's own words follow a letter.

    So in: "B: because it rains", where A says that.
    """
    longest = max(map(len, options.plain), default=0)
    start = sentences.tokens[at].end
    rest = sentences.text[start : start + 40 + longest * 2].lstrip(" .):,;-–—\"'")
    first_clause = re.split(r"\n|(?<=\w)[.;](?=\s|$)", rest, maxsplit=1)[0]
    clause = _squeezed(first_clause)
    letters: list[str] = []
    for letter, plain in zip(options.letters, options.plain, strict=True):
        if clause and _squeezed(plain) == clause:
            letters.append(letter)
    return bool(letters) and sentences.letter(at) not in letters
