"""The words with which answers and times are stated, by language: `words.json`, read once.

`COLUMNS` are the table's columns, and no language lacks one. A column of the words of statements
has a kind, one character, by which `patterns.txt` speaks of it. The further columns are of what
some languages have: a denial or a choice behind what it is about, the particles of their sentences,
their own letters of options, in the options' order.

`signs` are of kinds too. `nouns` are what options may be, of which only the letter names one where
they stand alone or as what is stated (Caption B). `copulas` are of languages whose sentences end
with "is": behind a letter these end a statement, elsewhere some are mere endings. `suffixes` hang
on to a letter, in Turkish: B'dir. `numbers` count from zero; behind `after_no` the word "no"
answers, before any other it is a determiner (no idea); before those of `behind_no_article` a letter
is no article; `latex` has its symbols in plain signs. `keys` are those of objects: an option's, a
span's, a span's two bounds, and those that may hold either.

`times` are words around spans, for `patterns.txt`: units, and what stands between, before and
behind a span's two ends. `and` counts only with a word for "between"; names of the two ends
(`start_name`) say what they are of wherever the other stands; behind what names a `span` a bare
range of numbers is time. Behind `first` a moment is the end of a span from 0. `not_times` makes
bare numbers no times, before or behind them. What is `numbered` only right before them, since it
may as well be where something happens. `lasting` is a stretch of time, no place in the video.
`happens` says of a time that something is there. `denies_no_time` denies or hedges an option, but
never a time.
"""

import json
from importlib import resources
from typing import Any, NamedTuple


class Column(NamedTuple):
    """A column of the table: its kind, or the list of `times` that it joins."""

    kind: str = ""
    times: str = ""


COLUMNS: dict[str, Column] = {
    "answer": Column("N"),
    "option": Column("O"),
    "is": Column("C"),
    "right": Column("P"),
    "wrong": Column("x"),
    "not": Column("X"),
    "maybe": Column("H"),
    "if": Column("I"),
    "choose": Column("V"),
    "so": Column("T"),
    "or": Column("J"),
    "because": Column("B"),
    "but": Column("K"),
    "taken_back": Column("W"),
    "question": Column(),
    "explanation": Column(),
    "example": Column(),
    "format": Column(),
    "yes": Column(),
    "no": Column(),
    "none": Column(),
    "person": Column(),
    "user": Column(),
    "assistant": Column(),
    "second": Column(times="seconds"),
    "minute": Column(times="minutes"),
    "hour": Column(times="hours"),
    "from": Column(times="from"),
    "to": Column(times="to"),
    "between": Column(times="between"),
    "start": Column(times="start"),
    "end": Column(times="end"),
}
FURTHER_COLUMNS: dict[str, Column] = {
    "would_be": Column("c"),
    "not_behind": Column("Y"),
    "if_with_would": Column("i"),
    "choose_behind": Column("U"),
    "it": Column("R"),
    "it_is": Column("S"),
    "filler": Column("F"),
    "rather_than": Column("E"),
    "fits": Column("G"),
    "option_behind": Column("O"),
    "other": Column("w"),
    "letters": Column(),
}

_FILE = resources.files("reelbench.scoring.answers").joinpath("words.json")
WORDS: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
LANGUAGES: dict[str, dict[str, list[str]]] = WORDS["languages"]
NOUNS: list[str] = WORDS["nouns"]


def phrases(column: str) -> list[str]:
    """Return a column's phrases of all languages, each once."""
    phrases_in_order: dict[str, None] = {}
    for language in LANGUAGES.values():
        phrases_in_order.update(dict.fromkeys(language.get(column, ())))
    return list(phrases_in_order)


def _kinds() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, list[str]] = {kind: list(signs) for kind, signs in WORDS["signs"].items()}
    known_phrases: set[str] = set()
    columns = COLUMNS | FURTHER_COLUMNS
    for language in LANGUAGES.values():
        for name, column in columns.items():
            if not column.kind:
                continue
            # The first language to name a phrase decides what it is.
            new = [phrase for phrase in language.get(name, ()) if phrase not in known_phrases]
            known_phrases.update(new)
            kinds.setdefault(column.kind, []).extend(new)
    kinds["w"] += [noun for noun in NOUNS if noun not in known_phrases]
    return {kind: tuple(kind_phrases) for kind, kind_phrases in kinds.items()}


def _times() -> dict[str, list[str]]:
    times: dict[str, list[str]] = {name: list(words) for name, words in WORDS["times"].items()}
    for name, column in COLUMNS.items():
        if column.times:
            words = times[column.times]
            words += [phrase for phrase in phrases(name) if phrase not in words]
    return times


def _option_letters() -> dict[str, int]:
    """Return the letters of other alphabets by which options are listed, with their places."""
    places: dict[str, int] = {}
    for language in LANGUAGES.values():
        for place, letters in enumerate(language.get("letters", ())):
            places.update(dict.fromkeys(letters.split(), place))
    return places


OPTION_LETTERS = _option_letters()
KINDS = _kinds()
TIMES = _times()
