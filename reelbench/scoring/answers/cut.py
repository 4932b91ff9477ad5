"""Cut away what is no answer, by the steps of `CUTS`, in their order.

Reasoning goes first (see `reasoning`). The rest is known by its form, in every language alike: by
the marks of a turn, and by the columns `question`, `explanation`, `example`, `format`, `user` and
`answer` of the table of words.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.reasoning import closing_lines, strip_reasoning
from reelbench.scoring.answers.texts import TAIL, closing_part, places, plain_text, words_alone
from reelbench.scoring.answers.vocabulary import phrases

_LONGEST_IS = 30
_LONGEST_HEAD = 60  # signs before a question, which its head stands in
_SHORTEST_REPEATED = 12
_MOST_REPEATED = 200
_EXAMPLE_WORDS = tuple(dict.fromkeys((*phrases("example"), *phrases("format"))))
_ARTICLES = frozenset("AEIOUY")
_LONGEST = 2 * TAIL  # of a longer text only the end is read, and a made-up turn ends it


class Cut(NamedTuple):
    """A step: what it takes away, of what text, and the function that does so."""

    name: str
    example: str
    apply: Callable[[str], str]


def _without_examples(text: str) -> str:
    """Take away examples of the form that an answer is to have."""
    low = text.lower()
    # The pattern is slow, so it is tried only where one of its first words stands.
    starts: set[int] = set()
    for word in _EXAMPLE_WORDS:
        if word in low:
            starts.update(_whole_words(word, low))
    if starts and len(low) != len(text):
        return patterns.EXAMPLE.sub("\n", text)
    pieces: list[str] = []
    end = 0
    for start in sorted(starts):
        example = patterns.EXAMPLE.match(text, start) if start >= end else None
        if example is not None:
            pieces.append(text[end:start])
            end = example.end()
    return "\n".join([*pieces, text[end:]])


def _whole_words(word: str, text: str) -> Iterator[int]:
    """Yield where a whole word stands in a text."""
    for place in places(word, text):
        end = place + len(word)
        is_part = text[place - 1 : place].isalpha() or text[end : end + 1].isalpha()
        if not is_part or patterns.is_unspaced(word):
            yield place


def _without_users_turn(text: str) -> str:
    """Take away the prompt where it is said again as the user's turn."""
    turn = patterns.USERS_TURN.match(text)
    return text[turn.end() :] if turn else text


def _without_choices(text: str) -> str:
    """Take away the letters to choose from before the one that is chosen."""
    return patterns.CHOICES.sub("", text) if "/" in text or "／" in text else text


def _without_next_turn(text: str) -> str:
    """Take away what follows the end of the model's own turn.

    A question that opens a text is said again, and a heading (":") has something to follow.
    """
    opening = patterns.BEFORE_WORDS.match(text)
    start = opening.end() if opening else 0
    end = len(text)
    for pattern in patterns.patterns_of("NEXT_TURN"):
        for turn in pattern.finditer(text, start):
            place = turn.start(turn.lastgroup or 0)
            words_before = text[max(0, place - 20) : place].rstrip(" \t\n*_")
            if place > start and not words_before.endswith((":", "：")):
                end = min(end, place)
                break
    return text[:end]


def _without_next_question(text: str) -> str:
    """Take away a question that is answered behind the answer: it is made up."""
    if "\n" not in text or not patterns.ASKS.search(text):
        return text
    heads = list(patterns.HEAD_LINE.finditer(text))
    if len(heads) < 2:  # noqa: PLR2004
        return text
    first = heads[0]
    between = text[first.end() : heads[1].start()]
    return text[: first.end()] if patterns.ASKING_LINE.search(between) else text


def _without_explanation(text: str) -> str:
    """Take away what explains a letter, or asks something else, right behind it.

    An explanation that comes to an answer of its own stays.
    """
    explained = patterns.EXPLAINED.match(text)
    if explained is None:
        return text
    word = explained["word"]
    may_be_article = explained["joint"] == " " and explained["letter"] in _ARTICLES
    if may_be_article and word.isascii() and word.islower():
        return text
    if patterns.CONCLUDED.search(text, explained.end()):
        return text
    return text[: explained.end("letter")]


CUTS: tuple[Cut, ...] = (
    Cut("an example", 'in the format "Answer: A"', _without_examples),
    Cut("the prompt said again", "<human>: Why does he run? <bot>:", _without_users_turn),
    Cut("letters to choose from", "A / B / C / D) B", _without_choices),
    Cut("a made-up turn", "B<eoa> …, B\\nQuestion: …", _without_next_turn),
    Cut("a made-up question", "Answer: B\\nWho runs?\\nAnswer: C", _without_next_question),
    Cut("an explanation", "B Explanation: …", _without_explanation),
)


def answer_text(text: str, question: str = "", options: tuple[str, ...] = ()) -> str | None:
    """Return the part of a model's answer that is read, in its plain form.

    None where its reasoning never ends.

    Args:
        text: A model's answer.
        question: The question as it was asked, where it is known.
        options: The question's options, where it has any.
    """
    repeated = _repeated_sentences(text, question, options) if question else ()
    return _answer_text(text, repeated)


def behind_question(text: str, question: str) -> str:
    """Return the part of a repeated prompt behind its question."""
    sentence = question.strip()
    if not sentence:
        return ""
    prompt, _, rest = text.partition(sentence)
    is_prompt = patterns.ENDS_WITH_TURN_HEAD.search("\n" + prompt[-_LONGEST_HEAD:])
    return rest if is_prompt else ""


def closing_text(text: str) -> str:
    """Return the closing lines of reasoning that never ends, in their plain form."""
    return plain_text(_with_bold_answers(closing_lines(closing_part(text)))).strip()


@lru_cache(maxsize=1)
def _answer_text(text: str, repeated: Sequence[str]) -> str | None:
    answer = strip_reasoning(text)
    if answer is None:
        return None
    if "\\n" in answer:
        answer = patterns.ESCAPED_BREAK.sub("\n", answer)
    answer = _without_repeated(answer, repeated)
    if len(answer) > _LONGEST:
        answer = closing_part(_without_next_turn(answer))
    for step in CUTS:
        answer = step.apply(answer)
    answer = closing_part(plain_text(_with_bold_answers(closing_part(answer))))
    return patterns.CALL.sub(r"Answer: \1", answer)


def _with_bold_answers(text: str) -> str:
    """Write "Answer:" before a label that stands out behind "is"."""

    def mark(label: re.Match[str]) -> str:
        before = text[max(0, label.start() - _LONGEST_IS) : label.start()].lower()
        return ": Answer: " if patterns.ENDS_IN_IS_WORD.search(before) else label[0]

    return patterns.BOLD_LABEL.sub(mark, text)


def _repeated_sentences(text: str, question: str, options: Sequence[str]) -> tuple[str, ...]:
    """Return a question's sentences that a text says again, the longest first.

    A question may list its options, and an answer says one of them again: that is none of these.
    """
    sentences: list[str] = []
    for match in islice(patterns.SENTENCE_OF_QUESTION.finditer(question), _MOST_REPEATED):
        sentence = match[0].strip()
        if len(sentence) >= _SHORTEST_REPEATED and sentence in text:
            if not _says_option(sentence, options):
                sentences.append(sentence)
    return tuple(sorted(sentences, key=len, reverse=True))


def _says_option(sentence: str, options: Sequence[str]) -> bool:
    """Return True where a sentence is within an option, or holds a long one."""
    words = words_alone(sentence)
    label, _, labelled_words = words.partition(" ")
    if len(label) == 1 and labelled_words:
        words = labelled_words
    for option in options:
        option_words = words_alone(option)
        if words in option_words or (" " in option_words and option_words in words):
            return True
    return False


def _without_repeated(answer: str, sentences: Sequence[str]) -> str:
    """Take away the question's sentences that an answer says again.

    One that an answer is, as a whole, stays.
    """
    whole = answer.strip(" .\n")
    for sentence in sentences:
        if sentence.strip(" .") != whole:
            answer = answer.replace(sentence, "\n")
    return answer
