"""Reading the letter of an option out of a model's answer."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from reelbench.registry.rows import LETTERS
from reelbench.registry.values import is_array, is_object
from reelbench.scoring.answers import texts
from reelbench.scoring.answers.json_literals import find_literals, without_objects
from reelbench.scoring.answers.spans import is_span, is_span_word
from reelbench.scoring.answers.statements import Sentences, is_noun

ANSWER_KEYS = (
    *("answer", "option", "choice", "ans", "correct_option", "correct_answer", "final_answer", "letter"),
    *("selected_option", "correct_choice", "best_option", "best_answer", "predicted_answer", "prediction"),
    *("答案", "答え", "回答", "정답", "답", "respuesta", "réponse", "antwort", "resposta", "ответ", "उत्तर", "الإجابة"),
    *("risposta", "jawaban", "คำตอบ", "cevap", "odpowiedź", "antwoord", "đáp án", "svar", "απάντηση", "відповідь"),
    *("پاسخ", "תשובה", "উত্তর", "பதில்", "సమాధానం", "ಉತ್ತರ"),
)
_KEYS = tuple(texts.plain_text(key).replace(" ", "_") for key in ANSWER_KEYS)
_DEEPEST = 6
# Where letters can't follow each other without a space, a word needs no space around it.
_UNSPACED = re.compile(f"[{texts.UNSPACED}]")
_NUMBER = re.compile(r"[\d\W]+")
_ANSWER_MARK = re.compile(r"^ ?A ?: ?(?=\([A-Za-z]\)|[A-Za-z] ?(?:[.,)\[(]|$))", re.MULTILINE)


class _Reading(NamedTuple):
    """What a reader says: the letter, or None where the text is of its form but names no single option."""

    letter: str | None


class _Options(NamedTuple):
    letters: str
    plain: list[str]
    nouns: bool


_Reader = Callable[[str, _Options], _Reading | None]


def read_option(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that `text` answers with, or None.

    Args:
        text: A model's answer, with its reasoning where it has some.
        options: The options' texts; the first is A.
    """
    answer = texts.answer_text(text)
    if answer is None:
        return None
    known = _known(tuple(options))
    return _read(_as_answers(answer, known), known, READERS)


@lru_cache(maxsize=8)
def _known(options: tuple[str, ...]) -> _Options:
    plain = [texts.plain_text(option).strip() for option in options]
    return _Options(LETTERS[: len(plain)], plain, not any(map(_names_letter, plain)))


def _as_answers(text: str, options: _Options) -> str:
    """Return `text` with two letters in a row as one: "A: C" answers a "Q:", "(B) C" is B where that says C."""
    for letter, own in zip(options.letters, options.plain, strict=True):
        if len(own) == 1 and own.isalpha():
            text = re.sub(rf"(?<!\w)({letter}[\s.):\]\-]{{1,4}}){own}(?!\w)", r"\1", text)
    return _ANSWER_MARK.sub("Answer: ", text)


def _read(text: str, options: _Options, readers: "tuple[_Reader, ...]") -> str | None:
    for reader in readers:
        if reading := reader(text, options):
            return reading.letter
    return None


# --- the readers, the most explicit form first --------------------------------------------------------------------


def _from_marks(text: str, options: _Options) -> _Reading | None:
    r"""`<answer>B</answer>`, `\boxed{B}`: the last one that holds more than a span, or what is stated behind it."""
    for content, end in texts.marked_answers(text):
        content = texts.without_markup(content) if "{" not in content or "\\" in content else content  # noqa: PLW2901
        if content.strip() and not is_span(content):
            letter = _read(content, options, READERS[1:])
            return _Reading(letter or _read(text[end:], options, (_from_literals, _from_statements)))
    return None


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
    sentences = _sentences(_prose(text), options.letters, options.nouns)
    stated = sentences.statements(_occurrences(sentences.text, options))
    if not stated:
        return None
    last = stated[-1]
    if last.letter and sentences.kinds[last.at] in "LM" and _contradicted(sentences, last.at, last.letter, options):
        return _Reading(None)
    return _Reading(last.letter)


def _from_labels(text: str, options: _Options) -> _Reading | None:
    """`B`, `(B) because it is late`, `B [3, 12]`: the lines that are labels, or sentences and clauses that are."""
    sentences = _sentences(_prose(text), options.letters, options.nouns)
    labels = _line_labels(sentences, options)
    if not labels:
        labels = _lone_labels(sentences, options)
    listed = _listed(sentences, options)
    labels = [at for at in labels if at not in listed]
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
    prose = _prose(text)
    whole = _squeezed(prose)
    if whole:
        equal = [
            letter for letter, plain in zip(options.letters, options.plain, strict=True) if _squeezed(plain) == whole
        ]
        if equal:
            return _Reading(equal[0] if len(equal) == 1 else None)
    sentences = _sentences(prose, options.letters, options.nouns)
    letters: set[str] = set()
    for start, end, letter in _occurrences(sentences.text, options):
        plain = options.plain[options.letters.index(letter)]
        if _NUMBER.fullmatch(plain):
            continue
        at = next((i for i, token in enumerate(sentences.tokens) if token.end > start), 0)
        behind = next(
            (i for i in range(at, len(sentences.tokens)) if sentences.tokens[i].start >= end), len(sentences.tokens)
        )
        # What an option says is not what the answer is.
        quoted = re.search("[LM]G", sentences.kinds[sentences.segment_start(at) : at])
        if not quoted and not sentences.is_denied(at, at, behind):
            letters.add(letter)
    return _Reading(letters.pop()) if len(letters) == 1 else None


READERS: tuple[_Reader, ...] = (_from_marks, _from_literals, _from_statements, _from_labels, _from_own_words)


@lru_cache(maxsize=2)
def _sentences(prose: str, letters: str, nouns: bool) -> Sentences:
    """Cut a text once for all readers."""
    return Sentences(prose, letters, nouns=nouns)


# --- literals -------------------------------------------------------------------------------------------------------


def _answers(value: Any, options: _Options, depth: int = 0) -> list[str | None]:  # noqa: ANN401 - any literal
    """Return what the answer keys in a literal say, of every entry of a list."""
    if is_array(value) and depth < _DEEPEST:
        return [answer for entry in value if is_object(entry) for answer in _answers(entry, options, depth + 1)]
    if not is_object(value) or depth >= _DEEPEST:
        return []
    for key in _KEYS:
        if key in value and not _is_span_value(value[key]):
            return [_stated(value[key], options, depth)]
    return []


def _is_span_value(value: Any) -> bool:  # noqa: ANN401 - any literal
    return isinstance(value, str) and is_span(value)


def _stated(value: Any, options: _Options, depth: int) -> str | None:  # noqa: ANN401 - any literal
    if is_array(value) and len(value) == 1:
        value = value[0]
    if is_object(value):
        answers = _answers(value, options, depth + 1)
        return answers[0] if answers else None
    return _read(texts.without_markup(value), options, READERS[2:]) if isinstance(value, str) else None


def _prose(text: str) -> str:
    """Return `text` without its JSON objects and markup: the letters in there are keys, or were read."""
    return texts.without_markup(without_objects(text)).strip()


# --- labels ---------------------------------------------------------------------------------------------------------

_START = re.compile(r"[LM](?=[.):,;DB\n]|$)")
_LABEL_SIGNS = re.compile(r"[\s.):,;\-\"'“”]{0,12}")
_LINE = re.compile(r"[^\n]+")


def _listed(sentences: Sentences, options: _Options) -> set[int]:
    """Return the tokens of letters that go through all options in a row: the question's own list."""
    labels = [at for at, kind in enumerate(sentences.kinds) if kind == "M" or (kind == "L" and sentences.is_label(at))]
    order = "".join(sentences.letter(at) for at in labels)
    start = order.find(options.letters) if len(options.letters) > 1 else -1
    return set(labels[start : start + len(options.letters)]) if start >= 0 else set()


def _line_labels(sentences: Sentences, options: _Options) -> list[int]:
    """Return the tokens of the letters that are a line's label; a list of the options is none."""
    labels: list[int] = []
    enumerated: list[int] = []
    for number, line in enumerate(_LINE.finditer(sentences.kinds)):
        at = _label_of_line(sentences, line.start(), line.end(), options, first=number == 0)
        if at is None:
            continue
        letter = sentences.letter(at)
        if enumerated and LETTERS.index(letter) == LETTERS.index(sentences.letter(enumerated[-1])) + 1:
            enumerated.append(at)
            continue
        labels += enumerated if len(enumerated) == 1 else []
        enumerated = [at]
    labels += enumerated if len(enumerated) == 1 else []
    return [at for at in labels if not sentences.is_denied(at, at)]


def _label_of_line(sentences: Sentences, start: int, end: int, options: _Options, *, first: bool) -> int | None:
    letters = [at for at in range(start, end) if sentences.kinds[at] in "LM"]
    if not letters:
        return None
    at = letters[0]
    if len(letters) == 1 and _only_span(sentences, start, end):
        return at
    named = at - start == 1 and is_noun(sentences.tokens[start])
    if at - start > 1 or not (named or all(kind in "q(D#" for kind in sentences.kinds[start:at])):
        return None
    if any(_own_words_follow(sentences, other, options) for other in letters[1:]):
        return None  # a list of options, or of verdicts on them
    bracketed = not sentences.tokens[at].text[0].isalnum()
    if first and not named and (bracketed or _START.match(sentences.kinds, at)):
        return at
    # Any line may be a label with the option's own words.
    return at if _own_words_follow(sentences, at, options) else None


def _own_words_follow(sentences: Sentences, at: int, options: _Options) -> bool:
    """Return whether an option's own words stand right behind its letter."""
    pattern = _own_pattern(options.plain[options.letters.index(sentences.letter(at))])
    begin = _LABEL_SIGNS.match(sentences.text, sentences.tokens[at].end)
    return bool(pattern and begin and pattern.match(sentences.text, begin.end()))


def _only_span(sentences: Sentences, start: int, end: int) -> bool:
    """Return whether the tokens are a letter, a span of time, their names and punctuation."""
    return all(token.kind in "LM#.,()q:DJCkOSN~" or is_span_word(token.text) for token in sentences.tokens[start:end])


def _lone_labels(sentences: Sentences, options: _Options) -> list[int]:
    """Return the letters that are a sentence alone, or in brackets a clause alone or behind their option's words."""
    labels: list[int] = []
    ends = {end: letter for _, end, letter in _occurrences(sentences.text, options)}
    for at, kind in enumerate(sentences.kinds):
        if kind not in "LM" or (kind == "L" and sentences.tokens[at].text.islower()):
            continue
        before = (
            sentences.kinds[max(0, at - 3) : at].rstrip("qF,")[-1:]
            if kind == "L"
            else sentences.kinds[max(0, at - 3) : at].rstrip("qF")[-1:]
        )
        after = sentences.kinds[at + 1 : at + 4].lstrip("q)F")[:1]
        edges = ".\n" if kind == "L" else ".\n,DTB"
        alone = (not before or before in edges + "?") and (not after or after in edges)
        behind = kind == "M" and any(
            ends.get(sentences.tokens[at].start - gap) == sentences.letter(at) for gap in range(4)
        )
        if (alone or behind) and not sentences.is_denied(at, at):
            labels.append(at)
    return labels


# --- own words ------------------------------------------------------------------------------------------------------


def _squeezed(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@lru_cache(maxsize=64)
def _own_pattern(option: str) -> "re.Pattern[str] | None":
    """The option's words in order, whole; whatever space and punctuation stands between."""
    words = re.findall(r"\w+", option)
    if not words:
        return None
    before = "" if _UNSPACED.match(words[0][0]) else r"(?<!\w)"
    after = "" if _UNSPACED.match(words[-1][-1]) else r"(?!\w)"
    return re.compile(before + r"[\W_]{1,8}".join(re.escape(word) for word in words) + after, re.IGNORECASE)


def _names_letter(option: str) -> bool:
    """Return whether an option is "Image B" itself, so that an answer which says so means its words."""
    cut = texts.tokens(option)
    return any(is_noun(noun) and len(letter.text) == 1 and letter.text.isalpha() for noun, letter in pairwise(cut))


def _occurrences(text: str, options: _Options) -> list[tuple[int, int, str]]:
    """Return where options' own words stand: start, end, letter; those within a longer option's are left out."""
    low = text.lower() if text.isascii() else None
    hits = [
        (match.start(), match.end(), letter)
        for letter, option in zip(options.letters, options.plain, strict=True)
        if _may_stand_in(low, option) and (pattern := _own_pattern(option))
        for match in pattern.finditer(text)
    ]
    hits.sort(key=lambda hit: (hit[0], -hit[1]))
    kept: list[tuple[int, int, str]] = []
    for hit in hits:
        if not kept or hit[1] > kept[-1][1] or (hit[0], hit[1]) == (kept[-1][0], kept[-1][1]):
            kept.append(hit)
    return kept


def _may_stand_in(low: str | None, option: str) -> bool:
    """Return whether an option's words are all in a lower-case ASCII text: a pattern takes longer to make than that."""
    return low is None or not option.isascii() or all(word in low for word in re.findall(r"\w+", option.lower()))


def _contradicted(sentences: Sentences, at: int, letter: str, options: _Options) -> bool:
    """Return whether just another option's own words follow a letter: "B: because it rains", where A says that."""
    rest = sentences.text[sentences.tokens[at].end :][: 40 + max(map(len, options.plain), default=0) * 2]
    clause = _squeezed(re.split(r"\n|(?<=\w)[.;](?=\s|$)", rest.lstrip(" .):,;-–—\"'"), maxsplit=1)[0])
    named = [known for known, plain in zip(options.letters, options.plain, strict=True) if _squeezed(plain) == clause]
    return bool(clause) and bool(named) and letter not in named
