"""Collect the candidates of an answer: where each form names an option, and which.

A candidate that is denied, ruled out, hedged, asked, a condition, or said by somebody in the film
is none.
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from reelbench.base.values import is_array, is_object
from reelbench.registry.rows import LETTERS
from reelbench.scoring import answers
from reelbench.scoring.answers import patterns, texts
from reelbench.scoring.answers.json_literals import find_literals, without_objects
from reelbench.scoring.answers.option_tokens import LETTER_KINDS
from reelbench.scoring.answers.option_words import OptionWords, is_noun, number
from reelbench.scoring.answers.sentences import Sentences
from reelbench.scoring.answers.vocabulary import WORDS

ANSWER_KEYS: tuple[str, ...] = tuple(WORDS["keys"]["option"])
KEYS = tuple(texts.plain_text(key).replace(" ", "_") for key in ANSWER_KEYS)
_DEEPEST = 6
_LONGEST_COUNT = 200
_CLOSING = 150  # signs of a long paragraph in which a head is looked for first
_PERSON = 40  # signs before or behind an answer in which somebody may be named
_SECTION_NOUNS = frozenset(("sentence", "caption", "statement", "description"))


class Candidate(NamedTuple):
    """An option that a text names. `at` is the place.

    The letter is None where the text names several options there, or says that none is right.
    """

    at: int
    letter: str | None


Candidates = Sequence[Candidate]
ReadPart = Callable[[str, Sequence[str]], str | None]
"""A part's text and the names of the forms that are tried on it -> its letter."""

_INSIDE_MARKS = ("object", "head", "last line", "statement", "label", "own words", "count")
_INSIDE_OBJECTS = _INSIDE_MARKS[1:]


class Answer:
    """A text that is read, and what all forms need of it, made once.

    Args:
        text: From `cut.answer_text`.
        options: The question's options.
        read: Reads a part of it: what a mark or an object holds.
    """

    def __init__(self, text: str, options: OptionWords, read: "ReadPart") -> None:
        self.text = text
        self.options = options
        self.read = read

    @cached_property
    def prose(self) -> str:
        """The text without objects, markup and the left sides of equations.

        The letters in there are no options'.
        """
        prose = texts.without_markup(without_objects(self.text)).strip()
        if "=" not in prose:
            return prose

        starts = {words.start for words in self.options.occurrences(prose)}

        def symbol(match: re.Match[str]) -> str:
            letter = match[1].upper()
            is_option = match.start() in starts
            if not is_option:
                is_option = self.options.begins_with_own_words(letter, prose, match.end())
            return match[0] if is_option else match[2]

        return patterns.SYMBOL.sub(symbol, prose)

    @cached_property
    def sentences(self) -> Sentences:
        """The prose as tokens."""
        return Sentences(self.prose, self.options)

    @cached_property
    def question_lists(self) -> set[int]:
        """The tokens of letters that go through all options in a row."""
        return _question_lists(self.sentences, self.options)

    @cached_property
    def listed_labels(self) -> set[int]:
        """The tokens of labels that go on from line to line: a list of options.

        A question's own list may break off in its first line.
        """
        labels = patterns.LABEL_OF_LIST.finditer(self.sentences.kinds)
        listed: set[int] = set()
        for first, second in pairwise(label.start("letter") for label in labels):
            place = LETTERS.find(self.sentences.letter(first))
            is_next = LETTERS.find(self.sentences.letter(second)) == place + 1
            if is_next and not self.sentences.is_denied(second, second):
                listed.update((first, second))
        first_option = _option_behind_question(self.sentences)
        if first_option is not None:
            listed.add(first_option)
        return listed

    @cached_property
    def taken_back(self) -> int:
        """The token of the last word that takes something back, or -1."""
        return _last_retraction(self.sentences)


# --- statements, by the kinds of their words
# --------------------------------------------------------------------


def head_candidates(answer: Answer) -> Candidates:
    """Collect heads: `Answer: B`, `【答案】B`; `Answer: none of them` states none.

    Those of the closing words are the latest. If these have one, the rest is not searched.
    """
    closing_words = _closing_words(answer.text)
    if closing_words != answer.text:
        closing = _heads_in(Answer(closing_words, answer.options, answer.read))
        if closing and all(candidate.letter for candidate in closing):
            return closing
    return _heads_in(answer)


def _closing_words(text: str) -> str:
    """Return the last paragraph of a text, or a long one's last sentences."""
    _, _, paragraph = text.rpartition("\n\n")
    if len(paragraph) < 2 * _CLOSING or "{" in text:
        return paragraph
    end = patterns.END_OF_SENTENCE.search(paragraph, len(paragraph) - _CLOSING)
    return paragraph[end.end() :] if end else paragraph


def _heads_in(answer: Answer) -> Candidates:
    sentences = answer.sentences
    letters = _stated_letters(sentences, "HEAD")
    for match in patterns.NO_ANSWER.finditer(sentences.kinds):
        letters[match.end() - 1] = None
    return [Candidate(at, letter) for at, letter in letters.items() if at > answer.taken_back]


def statement_candidates(answer: Answer) -> Candidates:
    """Collect statements: `The answer is B`, `B is correct`. Several verdicts state several."""
    sentences = answer.sentences
    letters = _stated_letters(sentences, "STATEMENT")
    for at in tuple(letters):
        if _opens_list(sentences, at, is_of_question=at in answer.question_lists):
            del letters[at]
    if letters and max(letters) < answer.taken_back:
        letters[answer.taken_back] = None
    letters |= _letters_of_verdicts(sentences)
    return [Candidate(at, letter) for at, letter in letters.items()]


def _opens_list(sentences: Sentences, at: int, *, is_of_question: bool) -> bool:
    """Return True behind a colon that names no answer (Correct is: A, B)."""
    before = sentences.kinds[max(0, at - 10) : at]
    if "N" in before or not before.rstrip("\n").endswith(":"):
        return False
    if is_of_question and before.endswith((":", ":\n")):
        return True
    return _is_followed_by_next_line(sentences, at)


def _is_followed_by_next_line(sentences: Sentences, at: int) -> bool:
    """Return True where the next letter is the alphabet's next, and begins its line."""
    behind = patterns.LINE_OF_LIST_BEHIND.match(sentences.kinds, at + 1)
    if behind is None:
        return False
    place = behind.end() - 1
    letter = sentences.letter(place)
    is_next = LETTERS.find(letter) == LETTERS.find(sentences.letter(at)) + 1
    return is_next and sentences.text[sentences.tokens.starts[place]].upper() in ("(", letter)


def _letters_of_verdicts(sentences: Sentences) -> dict[int, str | None]:
    """Return the letters in verdicts on one option, by their tokens."""
    letters: dict[int, str | None] = {}
    for match in patterns.VERDICT_ON_ONE.finditer(sentences.kinds):
        at = match.start(match.lastgroup or 0)
        if not sentences.is_denied(at, at):
            letters[at] = sentences.letter(at)
    if len(set(letters.values())) > 1:
        return dict.fromkeys(letters)
    return letters


def _stated_letters(sentences: Sentences, name: str) -> dict[int, str | None]:
    """Return the letters that the patterns of a name state, by their tokens."""
    letters: dict[int, str | None] = {}
    for stretch in sentences.stretches_with_letters:
        for pattern in patterns.patterns_of(name):
            match = pattern.search(sentences.kinds, *stretch)
            while match:
                at = match.start("letter")
                start = at if pattern.pattern[0] in "W[" else match.start()
                is_new = sentences.letter(at) and at not in letters
                if is_new and _is_stated(sentences, match.start(), min(start, at), at):
                    letters[at] = _letter_unless_open(sentences, at)
                match = pattern.search(sentences.kinds, match.start() + 1, stretch.stop)
    return letters


def _is_stated(sentences: Sentences, first: int, start: int, at: int) -> bool:
    """Return True where a statement is the model's own, and neither denied nor doubted."""
    return not _is_somebodys(sentences, first) and not sentences.is_denied(start, at)


def _letter_unless_open(sentences: Sentences, at: int) -> str | None:
    """Return the letter of a token. None where it is one of several."""
    return None if _is_open(sentences, at) else sentences.letter(at)


def _is_somebodys(sentences: Sentences, at: int) -> bool:
    """Return True where an answer or a choice is that of somebody in the film."""
    tokens = sentences.tokens
    if tokens.kinds[at] not in "NV" or tokens.words[at].lower().startswith("i "):
        return False
    start = tokens.starts[at]
    before = sentences.text[max(0, start - _PERSON) : start].lower()
    if patterns.PERSON_BEFORE.search(before):
        return True
    behind = sentences.text[tokens.ends[at] : tokens.ends[at] + _PERSON].lower()
    return patterns.PERSON_BEHIND.match(behind) is not None


def _is_open(sentences: Sentences, at: int) -> bool:
    """Return True where a letter is one of several, or says another option's words."""
    return (
        len(sentences.letter(at)) > 1
        or sentences.names_several(at)
        or _is_contradicted(sentences, at)
        or _is_listed(sentences, at)
    )


def _is_listed(sentences: Sentences, at: int) -> bool:
    """Return True where another option stands right behind, with its words or as a number."""
    if sentences.kinds[at] == "#":
        another = patterns.ANOTHER_NUMBER.match(sentences.kinds, at + 1)
        return another is not None and bool(sentences.letter(another.end() - 1))
    if sentences.kinds[at] != "A":
        return False
    another = patterns.ANOTHER_BEHIND.match(sentences.kinds, at + 1)
    if another is None:
        return False
    place = another.end() - 1
    return sentences.letter(place) != sentences.letter(at) and not sentences.is_denied(place, place)


def _is_contradicted(sentences: Sentences, at: int) -> bool:
    """Return True where just another option's own words follow a letter.

    So in: "B: because it rains", where A says that.
    """
    if sentences.kinds[at] not in "LM":
        return False
    match = patterns.OTHER_WORDS_BEHIND.match(sentences.kinds, at + 1)
    if match is None:
        return False
    said_letter = sentences.letter(match.end() - 1)
    return bool(said_letter) and sentences.letter(at) not in said_letter


def _last_retraction(sentences: Sentences) -> int:
    """Return the token of the last word that takes something back, or -1.

    "Wait, only the letter is wanted" takes nothing back.
    """
    for match in reversed(list(patterns.RETRACTION.finditer(sentences.kinds))):
        at = match.start()
        end = patterns.ENDS.search(sentences.kinds, at + 1)
        last = end.start() if end else len(sentences.kinds) - 1
        behind = sentences.text[sentences.tokens.ends[at] : sentences.tokens.ends[last]]
        if not patterns.FORMAT_WORD.search(behind):
            return at
    return -1


# --- marks and objects
# --------------------------------------------------------------------


def marked_candidates(answer: Answer) -> Candidates:
    r"""Collect tags and boxes: `<answer>B</answer>`, `\boxed{B}`.

    The last one that holds more than a span counts, or a statement behind it.
    """
    text = answer.text
    for content, end in texts.marked_answers(text):
        boxed = text[: end - len(content)].endswith("{")
        inner = content
        if "{" not in content or "\\" in content:
            inner = texts.without_markup(content)
        if not inner.strip() or answers.is_span(inner):
            continue
        letter = answer.read(inner, _INSIDE_MARKS)
        if letter is None and boxed:
            letter = _by_value(inner, answer.options)
        if letter is None:
            letter = answer.read(text[end:], ("object", "head", "last line", "statement"))
        # A box that holds a value silences nothing that is said in words.
        if letter or not boxed or not patterns.VALUE.search(inner):
            return [Candidate(end, letter)]
    return []


def _by_value(content: str, options: OptionWords) -> str | None:
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


def object_candidates(answer: Answer) -> Candidates:
    """Collect objects: `{"answer": "B"}`, `{'option': 'B',}`.

    The last one that has such a key counts. A list whose answers differ has none.
    """
    if "{" not in answer.text:
        return []
    for literal in reversed(find_literals(answer.text)):
        letters = _behind_keys(literal.value, answer)
        if letters:
            letter = letters[0] if len(set(letters)) == 1 else None
            if letter is None:
                letter = answer.read(answer.text[literal.end :], ("head", "last line", "statement"))
            return [Candidate(literal.end, letter)]
    return []


def _behind_keys(  # noqa: PLR0911 - a form a line
    value: Any,  # noqa: ANN401 - any literal
    answer: Answer,
    depth: int = 0,
) -> list[str | None]:
    """Return the letters behind the answer keys of a literal, or of a list's entries."""
    if depth >= _DEEPEST:
        return []
    if is_array(value):
        letters: list[str | None] = []
        for entry in value:
            if is_object(entry):
                letters += _behind_keys(entry, answer, depth + 1)
        return letters
    if not is_object(value):
        return []
    for key in KEYS:
        content = value.get(key)
        if key not in value or (isinstance(content, str) and answers.is_span(content)):
            continue
        if is_array(content) and len(content) == 1:
            content = content[0]
        if is_object(content):
            return _behind_keys(content, answer, depth + 1)[:1] or [None]
        if isinstance(content, str):
            return [answer.read(texts.without_markup(content), _INSIDE_OBJECTS)]
        return [None]
    return _behind_composed_key(value, answer)


def _behind_composed_key(value: dict[str, Any], answer: Answer) -> list[str | None]:
    """Return the letter behind a key of an answer's names: `correct_answer_key`.

    Of such keys one that holds no letter is not the answer's.
    """
    for key, content in value.items():
        if isinstance(content, str) and patterns.COMPOSED_KEY.fullmatch(key):
            letter = answer.read(texts.without_markup(content), _INSIDE_OBJECTS)
            if letter:
                return [letter]
    return []


# --- lines and labels
# --------------------------------------------------------------------


def last_line_candidates(answer: Answer) -> Candidates:
    """Collect the last line: a letter alone, where no line is another."""
    sentences = answer.sentences
    kinds = sentences.kinds.rstrip("\n")
    start = kinds.rfind("\n") + 1
    last = _alone_in_line(sentences, start, len(kinds))
    is_only_line = not kinds[:start].strip("\n")
    if last is None or is_only_line or last < answer.taken_back:
        return []
    for line in patterns.LINE_WITH_LETTER.finditer(kinds):
        at = _alone_in_line(sentences, line.start(), line.end())
        if at is not None and sentences.letter(at) != sentences.letter(last):
            return []
    if sentences.is_denied(last, last) or last in answer.listed_labels:
        return []
    return [Candidate(last, sentences.letter(last))]


def _alone_in_line(sentences: Sentences, start: int, end: int) -> int | None:
    """Return the token of the one letter in a line of signs and fillers."""
    start = _behind_unknown_head(sentences, start, end)
    match = patterns.ALONE_IN_LINE.fullmatch(sentences.kinds, start, end)
    return match.start("letter") if match else None


def _behind_unknown_head(sentences: Sentences, start: int, end: int) -> int:
    """Return the token behind a head of an unknown language, or the line's first.

    Of words in ASCII signs it isn't known whether they head an answer (Grade: A).
    """
    head = patterns.UNKNOWN_HEAD.match(sentences.kinds, start, end)
    if head is None:
        return start
    tokens = sentences.tokens
    words = sentences.text[tokens.starts[start] : tokens.ends[head.end() - 1]]
    return start if words.isascii() else head.end()


def label_candidates(answer: Answer) -> Candidates:
    """Collect labels: `B`, `(B) because it is late`, `B [3, 12]`.

    They are lines, or sentences and clauses.
    """
    sentences = answer.sentences
    if answer.taken_back >= 0 and not _has_letter(sentences.kinds[answer.taken_back :]):
        is_named_before = _has_letter(sentences.kinds)
        return [Candidate(answer.taken_back, None)] if is_named_before else []
    places = _line_labels(sentences) or _lone_labels(sentences)
    places = [at for at in places if _is_named_by_is(sentences, at)] or places
    places = [at for at in places if at not in answer.question_lists | answer.listed_labels]
    return [Candidate(at, _letter_unless_open(sentences, at)) for at in places]


def _has_letter(kinds: str) -> bool:
    return patterns.LETTER_TOKEN.search(kinds) is not None


def _question_lists(sentences: Sentences, options: OptionWords) -> set[int]:
    """Return the letters that go through all options in a row: the question's own list."""
    signed = [match.start() for match in patterns.SIGNED_LETTER.finditer(sentences.kinds)]
    count = len(options.letters)
    listed: set[int] = set()
    if count < 2 or len(signed) < count:  # noqa: PLR2004
        return listed
    order = "".join(sentences.letter(at)[:1] for at in signed)
    start = order.find(options.letters)
    while start >= 0:
        listed.update(signed[start : start + count])
        start = order.find(options.letters, start + count)
    return listed


def _option_behind_question(sentences: Sentences) -> int | None:
    """Return the letter A of a last line that stands behind a question."""
    kinds = sentences.kinds.rstrip("\n")
    start = kinds.rfind("\n") + 1
    before = kinds[max(0, start - 3) : start].rstrip("\n")
    label = patterns.LABEL_OF_LIST.match(kinds, start)
    if not before.endswith("?") or label is None:
        return None
    at = label.start("letter")
    return at if sentences.letter(at) == "A" else None


def _line_labels(sentences: Sentences) -> list[int]:
    """Return the letters that are a line's label, by their tokens.

    A list of the options is none.
    """
    runs: list[list[int]] = []
    length = len(sentences.kinds.rstrip("\n"))
    for line in patterns.LINE_WITH_LETTER.finditer(sentences.kinds):
        is_last = line.end() >= length
        at = _label_of_line(sentences, line.start(), line.end(), is_last=is_last)
        if at is None:
            continue
        place = LETTERS.index(sentences.letter(at))
        if runs and place == LETTERS.index(sentences.letter(runs[-1][-1])) + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    places = [run[0] for run in runs if len(run) == 1]
    return [at for at in places if not sentences.is_denied(at, at)]


def _label_of_line(  # noqa: PLR0911 - a form a line
    sentences: Sentences, start: int, end: int, *, is_last: bool
) -> int | None:
    kinds = sentences.kinds
    letters = [at for at in range(start, end) if kinds[at] in LETTER_KINDS]
    at = letters[0]
    is_first = not kinds[:start].strip("\n")
    line_start = start
    if is_first or is_last:
        start = _behind_unknown_head(sentences, line_start, at)
    is_headed = start > line_start
    if len(letters) == 1 and _has_only_label(sentences, start, end):
        return at
    is_named = at - start == 1 and is_noun(sentences.tokens.words[start])
    has_signs_before = set(kinds[start:at]) <= set("q(D#")
    if at - start > 1 or not (is_named or has_signs_before):
        return None
    if any(kinds[further] == "A" for further in letters[1:]):
        return None  # a list of options, or of verdicts on them
    if kinds[at] == "A":
        return at
    if is_headed:
        return at if patterns.HEADED_LABEL.match(kinds, at) else None
    if not is_first:
        return None  # of further lines no more is a label
    is_bracketed = not sentences.tokens.words[at][0].isalnum()
    if not is_named and (is_bracketed or patterns.LABEL_START.match(kinds, at)):
        return at
    # "Sentence B: …" says that one again; "Image A: …" describes one.
    is_section = sentences.tokens.words[start].casefold() in _SECTION_NOUNS
    return at if is_named and is_section and kinds[at + 1 : at + 2] == ":" else None


def _has_only_label(sentences: Sentences, start: int, end: int) -> bool:
    """Return True of a letter, a span of time, their names and punctuation."""
    words = sentences.tokens.words
    for place in range(start, end):
        is_of_label = sentences.kinds[place] in "LMA#.,()q:DJCkOSN~"
        if not is_of_label and not answers.is_span_word(words[place]):
            return False
    return True


def _is_named_by_is(sentences: Sentences, at: int) -> bool:
    """Return True where "is" stands before a letter with its option's own words."""
    return sentences.kinds[at] == "A" and sentences.kinds[at - 1 : at] in ("C", "S")


def _lone_labels(sentences: Sentences) -> list[int]:
    """Return the letters that are a sentence alone, by their tokens.

    In brackets they may be a clause alone, or stand with their option's words.
    """
    places: list[int] = []
    for at in sentences.places(patterns.LETTER_TOKEN):
        kind = sentences.kinds[at]
        if kind == "L" and sentences.tokens.words[at].islower():
            continue
        if kind in "MA":
            is_label = _stands_alone(sentences, at, fillers="qF", edges=".\n,DTB") or (
                kind == "A" and (_is_named_by_is(sentences, at) or _ends_sentence(sentences, at))
            )
        else:
            is_label = _stands_alone(sentences, at, fillers="qF,", edges=".\n")
        if is_label and not sentences.is_denied(at, at):
            places.append(at)
    return places


def _stands_alone(sentences: Sentences, at: int, *, fillers: str, edges: str) -> bool:
    before = sentences.kinds[max(0, at - 3) : at].rstrip(fillers)[-1:]
    after = sentences.kinds[at + 1 : at + 4].lstrip("q)F")[:1]
    return (not before or before in edges + "?") and (not after or after in edges)


def _ends_sentence(sentences: Sentences, at: int) -> bool:
    """Return True where a letter with its option's own words ends a sentence."""
    end = sentences.tokens.ends[at]
    return patterns.OWN_WORDS_END.match(sentences.text, end) is not None


# --- own words and counts
# --------------------------------------------------------------------


def own_word_candidates(answer: Answer) -> Candidates:
    """Collect own words: `He left because it is late`.

    They are one option's own words, whole, where no other option is named.
    """
    options = answer.options
    equal = options.equal_to(answer.prose)
    if equal:
        letter = equal[0] if len(equal) == 1 else None
        return [Candidate(0, letter)]
    first = _of_first_sentence(answer.prose, options)
    if first:
        return [Candidate(0, first)]
    sentences = answer.sentences
    letters_by_place: dict[int, str] = {}
    doubtful_letters: set[str] = set()
    is_named_by_is = False
    for at in sentences.places(patterns.OWN_WORDS_TOKEN):
        if at in answer.question_lists or at in answer.listed_labels:
            continue
        clause = sentences.kinds[sentences.segment_start(at) : at]
        if sentences.is_denied(at, at):
            if sentences.is_hedged(at):
                doubtful_letters.add(sentences.letter(at))
        elif not patterns.OPTION_SAYS.search(clause):
            letters_by_place[at] = sentences.letter(at)
            is_named_by_is = is_named_by_is or patterns.ENDS_IN_IS.search(clause) is not None
    letters = set(letters_by_place.values())
    # Beside an option that may be right, only "is" states another one.
    is_in_doubt = bool(doubtful_letters - letters) and not is_named_by_is
    if is_in_doubt or len(letters) > 1:
        return []
    if not letters:
        return _of_first_sentence_of_option(answer)
    return [Candidate(at, letter) for at, letter in letters_by_place.items() if len(letter) == 1]


def _of_first_sentence(prose: str, options: OptionWords) -> str | None:
    """Return the option that is a text's first sentence: `Yes. It does`, `Yes, it does`.

    No other one may be its last line.
    """
    first = patterns.FIRST_SENTENCE.match(prose)
    if first is None:
        return None
    at_first = options.equal_to(first[1])
    last_line = prose.strip().rpartition("\n")[2]
    at_last = options.equal_to(last_line)
    # Behind a comma only a word that answers: of others it may begin a list.
    if first[2] == "," and not options.answers_alone(first[1]):
        return None
    if len(at_first) == 1 and (not at_last or at_last == at_first):
        return at_first[0]
    is_named_first = bool(texts.words_alone(first[1]))
    return at_last[0] if len(at_last) == 1 and not is_named_first else None


def _of_first_sentence_of_option(answer: Answer) -> Candidates:
    """Return the long option whose first sentence is the text, or follows a head."""
    tokens = answer.sentences.tokens
    head = patterns.HEAD_BEFORE_WORDS.match(answer.sentences.kinds)
    start = tokens.ends[head.end() - 1] if head else 0
    letters = answer.options.begun_by(answer.prose[start:])
    return [Candidate(start, letters[0])] if len(letters) == 1 else []


def count_candidates(answer: Answer) -> Candidates:
    """Collect counts: `There are 4 people`.

    It is the only number of a short answer, where the options are numbers.
    """
    prose = answer.prose
    values = answer.options.numbers
    if None in values or len(prose) > _LONGEST_COUNT:
        return []
    places = [match for match in patterns.COUNT.finditer(prose) if _is_count(match, prose)]
    numbers = {number(match[0]) for match in places}
    if len(numbers) != 1 or re.search(r"\d", patterns.COUNT.sub("", prose)):
        return []
    sentences = answer.sentences
    for match in places:
        at = sentences.token_at(match.start())
        moment = patterns.SINGLE.match(prose.lower(), match.start())
        is_time = moment is not None and moment.end() > match.end()
        is_label = sentences.kinds[:at][-1:] in ("O", "N")
        if is_label or is_time or sentences.is_denied(at, at):
            return []
    value = numbers.pop()
    if values.count(value) != 1:
        return []
    return [Candidate(0, answer.options.letters[values.index(value)])]


def _is_count(match: re.Match[str], prose: str) -> bool:
    """Return True of a number; "one" is one only where it stands alone."""
    is_pronoun = match[0].lower() == "one" and match[0] != prose.strip(".")
    return number(match[0]) is not None and not is_pronoun
