"""Read the letter of an option out of a model's answer."""

import re
from collections.abc import Sequence
from typing import Any

from reelbench.base.values import is_array, is_object
from reelbench.registry.rows import LETTERS
from reelbench.scoring.answers import cut, patterns, texts
from reelbench.scoring.answers.collect import ANSWER_KEYS, KEYS
from reelbench.scoring.answers.decide import stated_letter
from reelbench.scoring.answers.json_literals import find_literals
from reelbench.scoring.answers.option_words import OptionWords, option_words

__all__ = ["ANSWER_KEYS", "read_option", "read_options"]

_LONGEST_COUNT = 200


def read_option(text: str, options: Sequence[str], *, question: str = "") -> str | None:
    """Return the letter of the option that `text` states as its answer, or None.

    Args:
        text: A model's answer. It may contain reasoning.
        options: The options' texts. The first is A.
        question: The question as it was asked, where it is known. What repeats it is no answer.
    """
    answer = cut.answer_text(text, question, tuple(options))
    words = option_words(tuple(options), question)
    if answer is None:
        return _closing_letter(text, words)
    letter = stated_letter(_with_answer_marks(answer, words), words)
    reply = "" if letter else cut.behind_question(text, question)
    if reply:
        return read_option(reply, options)
    if letter or words.circled or len(text) > _LONGEST_COUNT:
        return letter
    # `정답은 ②`: the one circled number in a short text, where no option has any.
    circled_number = patterns.STATED_CIRCLED.fullmatch(text)
    if circled_number is None:
        return None
    place = ord(circled_number[1]) - ord("①")
    return words.letters[place] if place < len(words.letters) else None


def _closing_letter(text: str, options: OptionWords) -> str | None:
    """Return the letter with which reasoning that never ends closes.

    It was cut off, unless its last line is an answer in a form of its own: marked, an object, or
    behind a heading.
    """
    closing = cut.closing_text(text)
    forms = ["object", "head"]
    heading, _, label = closing.partition("\n")
    if label and patterns.ANSWER_WORD.search(heading.lower()):
        forms.append("statement")
    if patterns.ENDS_WITH_MARK.search(closing):
        forms.append("mark")
    return stated_letter(closing, options, forms)


def _with_answer_marks(text: str, options: OptionWords) -> str:
    """Write "Answer:" for the "A:" that answers a "Q:", not for option A."""

    def mark(match: re.Match[str]) -> str:
        is_option = options.begins_with_own_words("A", text, match.end())
        return match[0] if is_option else "Answer: "

    return patterns.ANSWER_MARK.sub(mark, text)


def read_options(text: str, options: Sequence[str], *, question: str = "") -> str | None:
    """Return the letters of all options that `text` answers with, or None.

    They are in the alphabet's order. They are listed (`A, C`, `A and C`, `AC`, `["A", "C"]`), alone
    or after "answer"; else it is one, as `read_option` reads it.
    """
    answer = cut.answer_text(text, question, tuple(options)) or ""
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
        return read_option(text, options, question=question)
    letters = sorted(set(listed[0]) & set(LETTERS))
    return "".join(letters) if letters[-1] in LETTERS[: len(options)] else None


def _listed_texts(value: Any) -> list[str]:  # noqa: ANN401 - any literal
    """Return the texts in a list, or in the list of an object's answer."""
    if is_object(value):
        for key in KEYS:
            if key in value:
                value = value[key]
                break
    if is_array(value) and all(isinstance(part, str) for part in value):
        return list(value)
    return []
