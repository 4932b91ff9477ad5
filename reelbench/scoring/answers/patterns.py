"""The patterns by which answers are read: `patterns.txt`, each compiled when it is first used.

Each is an attribute of this module by its name. `patterns_of` has all of a name that is there
several times.
"""

import re
import unicodedata
from functools import cache
from importlib import resources

from reelbench.base.languages import MARKS, NUMBER_SIGNS, UNSPACED_SCRIPTS
from reelbench.scoring.answers.vocabulary import COLUMNS, KINDS, TIMES, WORDS, phrases

_REFERENCE = re.compile(r"\(\?&(words |keys |)([^()]+)\)")
_THAI = 0x0E00  # from here on, scripts are written without spaces


def _word_lists() -> dict[str, list[str]]:
    """Return the lists of words by their names."""
    lists = dict(TIMES)
    for name, column in COLUMNS.items():
        if not column.times:
            lists[name] = [re.escape(phrase) for phrase in phrases(name)]
    return lists


_NAMES = {name.upper(): "|".join(words) for name, words in _word_lists().items()} | {
    "COPULAS": "|".join(WORDS["copulas"]),
    "SUFFIXES": "|".join(WORDS["suffixes"]),
    "COPULA": "|".join(KINDS["C"]),
    "MARKS": MARKS,
    "NUMBER_SIGNS": NUMBER_SIGNS,
    "UNSPACED_SCRIPTS": UNSPACED_SCRIPTS,
    "UNSPACED": UNSPACED_SCRIPTS + "\uac00-\ud7af",  # and Korean
}


def __getattr__(name: str) -> re.Pattern[str]:
    if name not in pattern_texts():
        raise AttributeError(f"{name}: no pattern of that name in patterns.txt")
    (pattern,) = patterns_of(name)
    globals()[name] = pattern
    return pattern


@cache
def patterns_of(name: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a name, in their order."""
    return tuple(
        re.compile(_REFERENCE.sub(_expand_reference, text)) for text in pattern_texts()[name]
    )


@cache
def pattern_texts() -> dict[str, list[str]]:
    """Return the patterns by name as they are written."""
    texts: dict[str, list[str]] = {}
    file = resources.files("reelbench.scoring.answers").joinpath("patterns.txt")
    whole = file.read_text(encoding="utf-8")
    for line in whole.replace("\n ", "").split("\n"):
        if line and not line.startswith("#"):
            name, _, text = line.partition(" = ")
            texts.setdefault(name, []).append(text)
    return texts


def is_unspaced(phrase: str) -> bool:
    """Return True of a phrase in a script that is written without spaces."""
    return ord(phrase[0]) >= _THAI


def _expand_reference(reference: re.Match[str]) -> str:
    """Return the pattern for which `(?&NAME)`, `(?&words A|B)` or `(?&keys NAME)` stands."""
    kind, name = reference.groups()
    if kind == "words ":
        return _whole_words(_phrases(name.split("|")))
    if kind == "keys ":
        # Objects are read in a text's plain form, which loses underscores behind some vowel signs.
        return unicodedata.normalize("NFKC", _NAMES[name]).replace(" ", "_?")
    numbered_name = re.fullmatch("(.+)([12])", name)
    if numbered_name is None:
        return _pattern_text(name)
    base_name, number = numbered_name.groups()
    # Groups of a pattern that is used twice need two names: `@` in them is the number.
    return _pattern_text(base_name).replace("@", number)


def _pattern_text(name: str) -> str:
    if name not in pattern_texts():
        return _NAMES[name]
    first_text = pattern_texts()[name][0]
    return _REFERENCE.sub(_expand_reference, first_text)


def _phrases(names: list[str]) -> list[str]:
    """Return the phrases of the named lists. What names no list is a phrase itself."""
    phrases: list[str] = []
    for name in names:
        phrases += _NAMES.get(name, name).split("|")
    return phrases


def _whole_words(phrases: list[str]) -> str:
    """Return a pattern of phrases, the longest first, as whole words in scripts with spaces."""
    latin: list[str] = []
    unspaced: list[str] = []
    quotes: list[str] = []
    for phrase in sorted(phrases, key=len, reverse=True):
        if phrase[0] == "'":
            quotes.append(phrase + "(?!')")
        elif not is_unspaced(phrase):
            latin.append(phrase)
        else:
            unspaced.append(phrase)
    latin_words = rf"(?<![^\W\d_])(?:{'|'.join(latin)})(?![^\W\d_])"
    return "|".join([latin_words, *unspaced, *quotes])
