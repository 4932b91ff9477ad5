"""Cut away what is no answer, by the steps of `CUTS`, in their order.

Reasoning goes first (see `reasoning`). The rest is known by its form, in every language alike: by
the marks of a turn, and by the columns `question`, `explanation`, `example`, `format`, `user` and
`answer` of the table of words.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.reasoning import strip_reasoning
from reelbench.scoring.answers.texts import TAIL, plain_text, tail, words_alone
from reelbench.scoring.answers.vocabulary import phrases

_SHORTEST_REPEATED = 12
_MOST_REPEATED = 200
_EXAMPLE_WORDS = (*phrases("example"), *phrases("format"))
_LETTERS_OF_EXAMPLE_WORDS = {word: frozenset(word) for word in _EXAMPLE_WORDS}
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
    text_letters = set(low)
    named: list[str] = []
    for word, word_letters in _LETTERS_OF_EXAMPLE_WORDS.items():
        # The words of other scripts fall out by their letters, faster than by looking for each.
        if word_letters <= text_letters and word in low:
            named.append(word)
    if not named:
        return text
    if len(low) != len(text):
        return patterns.EXAMPLE.sub("\n", text)
    # The pattern is slow, so it is tried only where one of its first words stands.
    starts: set[int] = set()
    for word in named:
        starts.update(_places(word, low))
    pieces: list[str] = []
    end = 0
    for start in sorted(starts):
        example = patterns.EXAMPLE.match(text, start) if start >= end else None
        if example is not None:
            pieces.append(text[end:start])
            end = example.end()
    return "\n".join([*pieces, text[end:]])


def _places(word: str, text: str) -> Iterator[int]:
    """Yield the places of a word in a text."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _without_users_turn(text: str) -> str:
    """Take away the prompt where it is said again as the user's turn."""
    turn = patterns.USERS_TURN.match(text)
    return text[turn.end() :] if turn else text


def _without_next_turn(text: str) -> str:
    """Take away what follows the end of the model's own turn.

    A question that opens a text is said again, and a heading (":") has something to follow.
    """
    opening = patterns.BEFORE_WORDS.match(text)
    start = opening.end() if opening else 0
    end = len(text)
    for pattern in patterns.several("NEXT_TURN"):
        for turn in pattern.finditer(text, start):
            words_before = text[max(0, turn.start() - 20) : turn.start()].rstrip()
            if turn.start() > start and not words_before.endswith((":", "：")):
                end = min(end, turn.start())
                break
    return text[:end]


def _without_next_question(text: str) -> str:
    """Take away a question that is answered behind the answer: it is made up."""
    if "\n" not in text:
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
    repeated: tuple[str, ...] = ()
    if question:
        sentences = _sentences_of(question, options)
        repeated = tuple(sentence for sentence in sentences if sentence in text)
    return _answer_text(text, repeated)


@lru_cache(maxsize=1)
def _answer_text(text: str, repeated: Sequence[str]) -> str | None:
    answer = strip_reasoning(text)
    if answer is None:
        return None
    if "\\n" in answer:
        answer = patterns.ESCAPED_BREAK.sub("\n", answer)
    answer = _without_repeated(answer, repeated)
    if len(answer) > _LONGEST:
        answer = tail(_without_next_turn(answer))
    for step in CUTS:
        answer = step.apply(answer)
    answer = tail(plain_text(tail(answer)))
    return patterns.CALL.sub(r"Answer: \1", answer)


@lru_cache(maxsize=64)
def _sentences_of(question: str, options: tuple[str, ...]) -> list[str]:
    """Return a question's sentences, the longest first, without those that say an option.

    A question may list its options, and an answer says one of them again.
    """
    options_words = [words_alone(option) for option in options]
    long_options = [words for words in options_words if " " in words]
    sentences: list[str] = []
    for match in islice(patterns.SENTENCE_OF_QUESTION.finditer(question), _MOST_REPEATED):
        sentence = match[0].strip()
        words = words_alone(sentence)
        says_option = words in options_words or any(option in words for option in long_options)
        if len(sentence) >= _SHORTEST_REPEATED and not says_option:
            sentences.append(sentence)
    return sorted(sentences, key=len, reverse=True)


def _without_repeated(answer: str, sentences: Sequence[str]) -> str:
    """Take away the question's sentences that an answer says again.

    One that an answer is, as a whole, stays.
    """
    whole = answer.strip(" .\n")
    for sentence in sentences:
        if sentence.strip(" .") != whole:
            answer = answer.replace(sentence, "\n")
    return answer
