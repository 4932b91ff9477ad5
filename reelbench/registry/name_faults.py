"""Check the names of models: two that are shown must never look alike.

Refused are characters that can't be seen or that turn the text around, and letters that pass for
others (as in Unicode TR 39, section 5, but stricter: see `_script_fault`).
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from reelbench.base.errors import BLANK

LONGEST = 200
"""Characters of a name. The Hub's repositories have at most 96."""

_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories of characters that can't be seen."""
_SCRIPTS = ({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}, {"CYRILLIC"}, {"GREEK"})
"""Scripts of names, each set of those that are written together.

Other scripts have letters that look like Latin letters and digits.
"""
_JAMO = re.compile("[\u1100-\u11ff\u3131-\u318f]")
"""Parts of Hangul's syllables: strokes, circles and bars."""
_MARKS = {"KATAKANA-HIRAGANA": {"KATAKANA", "HIRAGANA"}, "IDEOGRAPHIC": {"CJK"}}
"""Marks and the scripts that they are written with (ー, 々): elsewhere ー passes for a dash."""
_PASS_FOR_ASCII = frozenset(
    "авеікмнорсԁѕтухԛԝјһӏгпзбчьАВЕІКМНОРСЅТУХЈԌԜҮЗӀЬαικνορτυχγηΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
    "一丨丶丿口工卜二三十八入ーノニハエロトヘへリり"
)
"""Characters that look like a Latin letter, a digit or a sign.

A word of these alone passes for a word of ASCII.
"""


def id_faults(field: str, name: str) -> Iterator[str]:
    """Yield the faults of the name of a model or an organisation."""
    faults = list(text_faults(field, name))
    if faults:
        yield from faults
        return
    if any(part.strip(" .") == "" for part in name.split("/")):
        yield f"{field} is {name!r}, a part of which is empty or only dots"
    if name.startswith("-"):  # its folder would be an option to whoever names all with *
        yield f"{field} is {name!r}, which begins with a hyphen"
    for sign in name:
        if _is_foreign_sign(sign):
            code = code_point(sign)
            yield f"{field} is {name!r}; {sign!r} ({code}) looks like an ASCII character; use it"
            break
    for letter, mark in pairwise(name):
        # A letter that usually has a mark is one character with it.
        if letter.isascii() and unicodedata.category(mark).startswith("M"):
            code = code_point(mark)
            yield f"{field} is {name!r}, in which {letter!r} has a mark ({code}) that it never has"
    for word in re.split(r"[^\w]|_", name):
        fault = _script_fault(word)
        if fault:
            yield f"{field} is {name!r}, in which {word!r} {fault}"


def code_point(character: str) -> str:
    """Return a character's number as Unicode writes it."""
    return f"U+{ord(character):04X}"


def _is_foreign_sign(character: str) -> bool:
    """Return True of what is neither ASCII nor a letter or a mark."""
    if character.isascii():
        return False
    category = unicodedata.category(character)
    return not category.startswith(("L", "M"))


def text_faults(field: str, text: str) -> Iterator[str]:
    """Yield the faults of a short text that is shown."""
    character = unseen_character(text)
    usual_text = unicodedata.normalize("NFKC", text)
    if not text.strip():
        yield f"{field} is blank"
    elif len(text) > LONGEST:
        yield f"{field} has {len(text)} characters; the maximum is {LONGEST}"
    elif character is not None:
        yield f"{field} has the character {code_point(character)}, which is invisible"
    elif text != " ".join(text.split()):
        yield f"{field} is {text!r}; remove leading, trailing and double spaces"
    elif text != usual_text:
        yield (
            f"{field} is {text!r}, which has unusual variants of common characters; write "
            f"{usual_text!r}"
        )


def unseen_character(text: str) -> str | None:
    """Return the first character that can't be seen, if there is one."""
    for character in text:
        if unicodedata.category(character) in _UNSEEN or BLANK.match(character):
            return character
    return None


def _script_fault(word: str) -> str:
    """Return the reason why a word passes for another. Empty where it doesn't.

    Its letters are A to Z, with marks or without, or of another script or of those that are written
    together. They are never of both, and never look-alikes alone.
    """
    letters = [char for char in unicodedata.normalize("NFD", word) if char.isalpha()]
    foreign_letters = [char for char in letters if not char.isascii()]
    if not foreign_letters:
        return ""
    scripts: set[str] = set()
    for char in foreign_letters:
        script, *_ = unicodedata.name(char, "UNKNOWN").split()
        scripts.add(script)
    for mark, written_with in _MARKS.items():
        if scripts & written_with:
            scripts.discard(mark)
    has_latin = len(foreign_letters) < len(letters)
    if has_latin or not any(scripts <= together for together in _SCRIPTS):
        if has_latin:
            scripts.add("LATIN")
        first = foreign_letters[0]
        script_names = ", ".join(sorted(scripts)).lower()
        code = code_point(first)
        return f"has {first!r} ({code}, {script_names}), which looks like another letter"
    if _JAMO.search(word) or _PASS_FOR_ASCII.issuperset(foreign_letters):
        return "looks like Latin letters or signs and is not"
    return ""
