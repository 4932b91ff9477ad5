"""Every form of an answer in every language: the words are the table's, so no cell can be empty."""

import pytest

from reelbench.scoring.answers import read_option, read_span
from reelbench.scoring.answers.vocabulary import COLUMNS, FURTHER_COLUMNS, LANGUAGES

OPTIONS = ("red kites", "blue kites", "green kites", "white kites")
# Languages whose words for "from" and "to" stand behind their numbers.
POSTPOSED = frozenset(
    ("ja", "ko", "hi", "mr", "bn", "ta", "te", "kn", "tr", "hu", "fi", "ur", "az", "kk", "uz")
)


def _every(language, column, template):
    """Return a template with every phrase of a column, its other places with the first of theirs."""
    row = LANGUAGES[language]
    first = {name: phrases[0] for name, phrases in row.items()}
    return [template.format(**first | {column: phrase}) for phrase in row[column]]


# Form -> the column whose phrases go through it, the text, and the letter that it states.
FORMS = {
    "a head": ("answer", "{answer}: B", "B"),
    "a head in brackets": ("answer", "【{answer}】B", "B"),
    "a head behind words": ("answer", "-\n{answer}: B\n", "B"),
    "is": ("is", "{answer} {is} B.", "B"),
    "is, then a label that stands out": ("is", "kites {is} **B. *kites of blue***", "B"),
    "is, then a line": ("is", "… {is}:\n\nB. blue kites\n\n…", "B"),
    "is, then a list": ("is", "… {is}:\n\nA. red kites\n…\n\nB. blue kites\n…", None),
    "what is right, then a line": ("right", "… {right} {is}:\n\nB. blue kites\n\n…", "B"),
    "an option": ("option", "{answer}: {option} B", "B"),
    "a list of all options": (
        "answer",
        "{answer}:\nA. red kites\nB. blue kites\nC. green kites\nD. white kites",
        None,
    ),
    "an option in the last words": ("option", "kites\n\nkites kites {is} {option} B.", "B"),
    "an option in its own words behind it": ("is", "kites kites {is} {option} B, {is}: kites", "B"),
    "a condition in the subject": ("if", "{answer}, {if} kites kites, {is} B.", "B"),
    "an option, then what it does": (
        "so",
        "A. kites\n{so}, (B) blue kites kites kites kites.",
        "B",
    ),
    "options, then what they do": ("so", "{so}, (B) blue kites kites (C) green kites kites.", None),
    "a choice": ("choose", "{choose} B", "B"),
    "a conclusion": ("so", "{so} B.", "B"),
    "two options": ("or", "{answer}: A {or} B", None),
    "two options behind words": ("or", "{answer} {is} C.\n\n{answer} {is} kites A {or} B.", None),
    "a hedge": ("maybe", "{maybe} B.", None),
    "a condition": ("if", "{if} B.", None),
    "a wrong one": ("wrong", "B {wrong}.", None),
    "the wrong one": ("wrong", "{wrong}: C", "C"),
    "the wrong one in its words": ("wrong", "{wrong}: 2. blue kites.", "B"),
    "taken back": ("taken_back", "{answer}: A\n{taken_back} {answer}: B", "B"),
    "a word that takes nothing back": (
        "taken_back",
        "{answer}: B\n\nkites {taken_back} kites.",
        "B",
    ),
    "a made-up question": ("question", "{answer}: B\n\n{question}: …?\n{answer}: C", "B"),
    "a question behind a letter": ("question", "B {question}: …? {answer}: C", "B"),
    "a made-up user": ("user", "B\n{user}: …\n{answer}: C", "B"),
    "a line that asks": ("answer", "{answer}: B\n\n…?\n{answer}: C", "B"),
    "an example": ("example", "{example}: {answer}: A", None),
    "an example in brackets": ("example", "{example}[{answer}]A<eoa>。", None),
    "an example, then an answer": ("example", "{example}: {answer}: A\n{answer}: C", "C"),
    "a format": ("format", '{format}: "{answer}: A"', None),
    "a format as an object": ("format", '{format}: {{"answer": "A"}}\n{answer}: C', "C"),
    "an explanation": ("explanation", "B {explanation}: …, {answer}: C", "B"),
    "an explanation on a line": ("explanation", "B\n{explanation}: …", "B"),
    "an explanation that concludes": ("so", "A\n\n{explanation}: …\n{so}, {answer} {is} B.", "B"),
    "a break that was written down": ("explanation", "B\\n\\n{explanation}: …", "B"),
    "a remark on the last line": ("because", "…\n\nB ({because} …)", "B"),
    "a verdict on the last line": ("wrong", "…\n\nB ({wrong})", None),
    "somebody's answer": ("person", "{person} {answer}: B", None),
}


@pytest.mark.parametrize(
    ("template", "letter"),
    [
        (
            "kites\n{question}: …?\n{answer}: A\n\n{question}: Which kites?\n{answer}: B\n\n{question}: C",
            "B",
        ),
        ("{format}\n\n### {question}:\nWhich kites?\n{answer}: B", "B"),
        # What was read before stays.
        ("{answer}: B\n\n{question}: Which kites?\n{answer}: C", "B"),
    ],
)
def test_a_prompt_that_is_said_again_ends_with_its_question(template, letter):
    for language, row in LANGUAGES.items():
        text = template.format(**{name: phrases[0] for name, phrases in row.items()})
        assert read_option(text, OPTIONS, question="Which kites?") == letter, (language, text)


def _read_otherwise(texts, letter, options=OPTIONS):
    """Return the texts that are read otherwise, with what they are read as."""
    read = {text: read_option(text, options) for text in texts}
    return {text: found for text, found in read.items() if found != letter}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_read_in_every_language(form):
    column, template, letter = FORMS[form]
    for language in LANGUAGES:
        texts = _every(language, column, template)
        assert texts, language
        assert not _read_otherwise(texts, letter), language


@pytest.mark.parametrize("column", ["yes", "no", "none"])
def test_a_word_of_denial_that_is_an_option_is_that_option(column):
    for language, row in LANGUAGES.items():
        for phrase in row[column]:
            options = {
                "yes": (phrase, row["no"][0]),
                "no": (row["yes"][0], phrase),
                "none": ("red kites", phrase),
            }[column]
            letter = "A" if column == "yes" else "B"
            texts = (phrase, f"{row['answer'][0]}: {phrase}", f"({letter}) {phrase}", f"{phrase}.")
            assert not _read_otherwise(texts, letter, options), language


@pytest.mark.parametrize(("column", "seconds"), [("second", 1), ("minute", 60), ("hour", 3600)])
def test_a_unit_of_time(column, seconds):
    for row in LANGUAGES.values():
        for unit in row[column]:
            assert read_span(f"3 {unit} - 12 {unit}") == [3 * seconds, 12 * seconds], unit


def test_a_range_in_words():
    for language, row in LANGUAGES.items():
        unit = row["second"][0]
        for start in row["from"]:
            for end in row["to"]:
                text = f"{start} 3 {unit} {end} 12 {unit}"
                if language in POSTPOSED:
                    text = f"3 {unit} {start} 12 {unit} {end}"
                assert read_span(text) == [3, 12], text


def test_a_start_and_an_end():
    for row in LANGUAGES.values():
        unit = row["second"][0]
        for start in row["start"]:
            for end in row["end"]:
                text = f"{start}: 3 {unit}, {end}: 12 {unit}"
                assert read_span(text) == [3, 12], text


def test_several_numbers_behind_a_head_are_none():
    for language, row in LANGUAGES.items():
        for answer in row["answer"]:
            texts = (f"{answer}: 3, 4, 5", f"{answer}: 3, 5")
            assert not _read_otherwise(texts, None, ("1", "2", "3", "4", "5")), language


@pytest.mark.parametrize("column", ["answer", "option"])
@pytest.mark.parametrize("end", ["", "_key", "_letter", "_id"])
def test_a_key_that_is_composed_of_an_answers_names(column, end):
    for language, row in LANGUAGES.items():
        keys = [phrase.replace(" ", "_") + end for phrase in row[column]]
        texts = [f'kites\n\n```json\n{{"{key}": "b"}}\n```' for key in keys if "'" not in key]
        assert not _read_otherwise(texts, "B"), language


@pytest.mark.parametrize(
    "template", ["{letter}", "{answer}: {letter}", "**{letter})**", "({letter})"]
)
def test_a_letter_of_another_alphabet(template):
    for language, row in LANGUAGES.items():
        for place, letters in enumerate(row.get("letters", ())):
            for letter in letters.split():
                text = template.format(letter=letter, answer=row["answer"][0])
                read = read_option(text, OPTIONS) if place < len(OPTIONS) else None
                assert read == ("ABCD"[place] if place < len(OPTIONS) else None), (language, text)


def test_letters_of_another_alphabet_are_words_elsewhere():
    for row in LANGUAGES.values():
        for letters in row.get("letters", ()):
            for letter in letters.split():
                assert read_option(f"kites {letter} kites", OPTIONS) is None, letter


def test_no_language_lacks_a_column():
    for language, row in LANGUAGES.items():
        assert [name for name in COLUMNS if not row.get(name)] == [], language
        assert set(row) <= set(COLUMNS) | set(FURTHER_COLUMNS), language
