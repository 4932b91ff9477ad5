"""A question's options, and how its right answer names one of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.tables import as_text
from reelbench.base.values import is_array, is_object
from reelbench.data.row_cells import parse_literal
from reelbench.registry.rows import LETTERS
from reelbench.registry.spec import AnswerFormat

SEVERAL_LETTERS = re.compile(r"\s*[A-Za-z](?:\s*+[,;/&+]?\s*+[A-Z])+\s*")

_LABEL = re.compile(r"\s*(?:\(([A-Za-z])\)|([A-Za-z])\s*[.:)、])\s*(.+)", re.DOTALL)
_LETTER = re.compile(r"\s*(?:\(([A-Za-z])\)|([A-Za-z])\s*+[.:)、]?)\s*")

_OPTION_WORD = r"(?<![ \t])[ \t]*+(?:option|choice|sentence|caption|statement|description)[ \t]++"
_OPTION_LINE = re.compile(
    rf"^(?:{_OPTION_WORD})?[ \t]*\(?([A-Za-z]|\d{{1,2}})[).:、]+[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_BAR = "|"
_SEMICOLON = ";"
_BETWEEN_OPTIONS = ";,"
_FULL_STOP = "."
_ENDS_OF_QUESTIONS = ("?", ":", ".", "!", "。", "？", "：", "\n")
_INLINE_LABEL = re.compile(r"(?:^|(?<=[\s;,]))\(?([A-Ja-j])[).:、][ \t]*(?=\S)")
"""A letter in front of an option, of several that stand in one line."""
_OPTION_NAMED = re.compile(rf"{_OPTION_WORD}(?=([A-Za-z]|\d{{1,2}})\s*$)", re.IGNORECASE)

_TAGGED_OR_BOXED = re.compile(
    r"\s*(?:<answer>(.*)</answer>|\$?\\boxed\{(.*)\}\$?)\s*", re.IGNORECASE | re.DOTALL
)
"""An answer as models are trained to give it."""

_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Options:
    """A question's options in their order."""

    texts: tuple[str, ...]
    """The texts without letters in front."""

    keys: tuple[str, ...]
    """What names each option: its key, or its letter."""

    raw: tuple[str, ...]
    """The texts as they stand."""


class _NamedOption(NamedTuple):
    key: str
    text: Any


def read_options(
    value: Any,  # noqa: ANN401 - whatever a cell holds
    where: str,
    absent: Sequence[str] = (),
) -> Options:
    """Return the options of a cell.

    The cell holds a list, a mapping of keys to texts, either of these as JSON or Python text, or a
    text with its options in lines, parted by `|` or `;`, or with letters in order in one line.
    Letters in front of all of them (`A. …`, `(A) …`) are taken off.

    Args:
        value: The cell.
        where: Names the cell in errors.
        absent: Texts that stand where an option is missing.

    Raises:
        InputError: There are fewer than two, or one between others is empty.
    """
    named = _named_options(value, where)
    texts: list[str] = []
    for option in named:
        text = (as_text(option.text, where) or "").strip()
        if text in absent:
            text = ""
        texts.append(text)
    # A table has as many columns as its longest question needs.
    while texts and not texts[-1]:
        texts.pop()
    if "" in texts:
        raise InputError(f"{where}: option {1 + texts.index('')} is empty")
    if not _FEWEST <= len(texts) <= len(LETTERS):
        raise InputError(f"{where} has {len(texts)} options, expected 2 to {len(LETTERS)}")
    keys = tuple(option.key for option in named[: len(texts)])
    return Options(_without_letters(texts), keys, tuple(texts))


def _named_options(value: Any, where: str) -> list[_NamedOption]:  # noqa: ANN401 - a cell
    """Return a cell's options with their keys, or their letters where they have none."""
    parts = parse_literal(value)
    if isinstance(parts, str):
        parts = _options_of_text(parts)
    if is_object(parts):
        # A Python literal's keys may be numbers.
        named_options = [_NamedOption(str(key), text) for key, text in parts.items()]
        if all(_is_letter(option.key) for option in named_options):
            named_options.sort(key=lambda option: option.key.upper())
        return named_options
    if is_array(parts):
        named_options: list[_NamedOption] = []
        for index, text in enumerate(parts):
            # There may be more options than letters, which is told later.
            letter = LETTERS[index : index + 1]
            named_options.append(_NamedOption(letter, text))
        return named_options
    raise InputError(f"{where} is a {type(value).__name__}, expected a list of options")


def _options_of_text(text: str) -> list[str]:
    """Return a text's options: its lines, or the parts between signs or behind letters."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        return lines
    if _BAR in text:
        return text.split(_BAR)
    labelled = _labelled_texts(text)
    if labelled is not None and not labelled.before.strip():
        return list(labelled.texts)
    if _SEMICOLON in text:
        return text.strip().rstrip(_SEMICOLON).split(_SEMICOLON)
    return lines


class _LabelledTexts(NamedTuple):
    """The lettered texts that a line ends in, and the text before them."""

    before: str
    texts: tuple[str, ...]


def _labelled_texts(line: str) -> _LabelledTexts | None:
    """Return the lettered texts that a line ends in. None where there are none."""
    starts = _label_positions(line)
    if not starts:
        return None
    texts: list[str] = []
    for start, end in pairwise([*starts, len(line)]):
        text = line[start:end].strip()
        texts.append(text.rstrip(_BETWEEN_OPTIONS))
    if all(text.endswith(_FULL_STOP) for text in texts[:-1]):
        # As the full stop parts the options, the last one's is none of its text either.
        texts = [text.removesuffix(_FULL_STOP) for text in texts]
    return _LabelledTexts(before=line[: starts[0]], texts=tuple(texts))


def _label_positions(line: str) -> list[int]:
    """Return the places in a line of the letters A, B and so on.

    They begin with its last A.

    It is empty where other letters follow that A, or none.
    """
    letters: list[str] = []
    starts: list[int] = []
    for label in _INLINE_LABEL.finditer(line):
        letter = label[1].upper()
        if letter == LETTERS[0]:
            letters.clear()
            starts.clear()
        letters.append(letter)
        starts.append(label.start())
    expected_letters = list(LETTERS[: len(letters)])
    if len(letters) < _FEWEST or letters != expected_letters:
        return []
    return starts


def _without_letters(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts without their letters, where these are A, B, C and so on."""
    bare_texts: list[str] = []
    for text, expected_letter in zip(texts, LETTERS, strict=False):
        label = _LABEL.fullmatch(text)
        if label is None:
            return tuple(texts)
        letter_in_brackets, bare_letter, bare_text = label.groups()
        letter = letter_in_brackets or bare_letter
        if letter.upper() != expected_letter:
            return tuple(texts)
        bare_texts.append(bare_text.strip())
    return tuple(bare_texts)


def _is_letter(key: str) -> bool:
    return len(key) == 1 and key.isalpha()


class QuestionOptions(NamedTuple):
    """A question, and the options that its text ended in."""

    question: str
    options: Options


def split_off_options(question: str) -> QuestionOptions | None:
    """Return a question parted from the options that it ends in, or None.

    The options stand on a line each, with letters or numbers in order in front, or behind one
    another in the last line, with letters.
    """
    parts = _options_in_lines(question)
    return parts or _options_in_last_line(question)


def _options_in_lines(question: str) -> QuestionOptions | None:
    """Return a question parted from options on a line each."""
    lines = list(_OPTION_LINE.finditer(question))
    if len(lines) < _FEWEST:
        return None
    stem = question[: lines[0].start()].strip()
    text_after = question[lines[0].start() :]
    text_between_lines = _OPTION_LINE.sub("", text_after).strip()
    if not stem or text_between_lines:
        return None
    names = [line[1].upper() for line in lines]
    letters = list(LETTERS[: len(lines)])
    numbers = [str(number) for number in range(1, len(lines) + 1)]
    if names not in (letters, numbers):
        return None
    texts = tuple(line[2].strip() for line in lines)
    raw = tuple(line[0].strip() for line in lines)
    return QuestionOptions(stem, Options(texts, tuple(names), raw))


def _options_in_last_line(question: str) -> QuestionOptions | None:
    """Return a question parted from options that stand behind one another at its end."""
    lines_before, line_end, last_line = question.strip().rpartition("\n")
    labelled = _labelled_texts(last_line)
    if labelled is None:
        return None
    stem = (lines_before + line_end + labelled.before).rstrip(" \t")
    if not stem.endswith(_ENDS_OF_QUESTIONS):
        return None
    raw = labelled.texts
    texts = _without_letters(raw)
    if texts == raw:  # a letter with nothing behind it
        return None
    return QuestionOptions(stem.strip(), Options(texts, tuple(LETTERS[: len(texts)]), raw))


def split_options(question: str, where: str) -> QuestionOptions:
    """Return a question parted from its options, as `split_off_options` does.

    Raises:
        InputError: The question ends in none.
    """
    parts = split_off_options(question)
    if parts is None:
        raise InputError(
            f"{where} ends in no options: expected `A. …`, a line each or in the last line "
            "(options: {in: question})"
        )
    return parts


# --- answers
# ----------------------------------------------------------------------------------------------


def normalised_text(text: str) -> str:
    """Return a text in small letters, with single spaces between its words."""
    return " ".join(text.split()).casefold()


_ANSWER_FORMATS: tuple[AnswerFormat, ...] = ("letter", "text", "index0", "index1")
"""The ways to name an option, the preferred ones first."""


_OptionIndices = tuple[int | None, ...]
"""The place of the option that each answer names."""


def option_index(answer: str, options: Options, answer_format: AnswerFormat) -> int | None:
    r"""Return the place of the option that an answer in this form names, or None.

    It may stand in a tag or a box (`<answer>B</answer>`, `\\boxed{B}`), as answers to train on do.
    """
    tagged_answer = _TAGGED_OR_BOXED.fullmatch(answer)
    if tagged_answer is not None:
        answer = (tagged_answer[1] or tagged_answer[2] or "").strip()
    if answer_format == "index0":
        return _index_by_number(answer, options, first=0)
    if answer_format == "index1":
        return _index_by_number(answer, options, first=1)
    if answer_format == "text":
        return _index_by_text(answer, options)
    return _index_by_letter(answer, options)


def _index_by_number(answer: str, options: Options, *, first: int) -> int | None:
    if not re.fullmatch(r"\d{1,3}", answer.strip()):
        return None
    index = int(answer) - first
    if 0 <= index < len(options.texts):
        return index
    return None


def _index_by_text(answer: str, options: Options) -> int | None:
    for texts in (options.texts, options.raw):
        if texts.count(answer.strip()) == 1:
            return texts.index(answer.strip())
    normalised_texts = [normalised_text(text) for text in options.texts]
    normalised_answer = normalised_text(answer)
    without_full_stop = normalised_answer.removesuffix(_FULL_STOP)
    for text in (normalised_answer, without_full_stop):
        if normalised_texts.count(text) == 1:
            return normalised_texts.index(text)
    return None


def _index_by_letter(answer: str, options: Options) -> int | None:
    """Return the place of the option whose key or letter an answer names."""
    answer = _OPTION_NAMED.sub("", answer)
    if answer in options.keys:
        return options.keys.index(answer)
    if not all(_is_letter(key) for key in options.keys):
        return None
    match = _LETTER.fullmatch(answer)
    text_behind_letter = None
    if match is None:
        match = _LABEL.fullmatch(answer)
        if match is None:
            return None
        text_behind_letter = match[3]
    letter = match[1] or match[2]
    index = LETTERS.index(letter.upper())
    if index >= len(options.texts):
        return None
    is_whole_option = normalised_text(answer) == normalised_text(options.raw[index])
    is_option_text = normalised_text(text_behind_letter or "") == normalised_text(
        options.texts[index]
    )
    if text_behind_letter is None or is_whole_option or is_option_text:
        return index
    return None


def matching_answer_formats(
    questions: Sequence[tuple[Options, str]], share: float = 1.0
) -> list[AnswerFormat]:
    """Return the forms in which most answers name one of their options.

    Forms that read all answers alike count once, by the preferred one.

    Args:
        questions: The options and the answer of each question.
        share: The part of the answers that must name an option, at least.
    """
    format_by_indices: dict[_OptionIndices, AnswerFormat] = {}
    for answer_format in _ANSWER_FORMATS:
        indices = tuple(
            option_index(answer, options, answer_format) for options, answer in questions
        )
        format_by_indices.setdefault(indices, answer_format)
    most_named = max(map(_count_named, format_by_indices))
    if not most_named or most_named < share * len(questions):
        return []
    answer_formats: list[AnswerFormat] = []
    for indices, answer_format in format_by_indices.items():
        if _count_named(indices) == most_named:
            answer_formats.append(answer_format)
    return answer_formats


def _count_named(indices: _OptionIndices) -> int:
    """Return the number of answers that name an option."""
    return len(indices) - indices.count(None)
