"""The words with which answers and times are stated, by language: `words.json`, read once.

A phrase of its `statements` has a kind, one character: `N` the answer, `O` an option, `C` is (`c`
would be), `P` correct, `X` not or wrong, `Y` not, behind what it denies, `H` a hedge, `I` if (`i`
only with `c`), `V` I choose (`U` behind the option), `T` so, `R` it, `S` it is, `J` or and and, `F`
filler, `B` because, `K` but, `E` rather than, `G` fits, `W` a retraction, `w` any other word.
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
bare numbers no times, before or behind them; what is `numbered` only right before them, since it
may as well be where something happens. `lasting` is a stretch of time, no place in the video.
`happens` says of a time that something is there; `denies_no_time` denies or hedges an option, but
never a time.
"""

import json
from importlib import resources
from typing import Any

WORDS: dict[str, Any] = json.loads(
    resources.files("reelbench.scoring.answers").joinpath("words.json").read_text(encoding="utf-8")
)
NOUNS: list[str] = WORDS["nouns"]


def _kinds() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, list[str]] = {kind: list(signs) for kind, signs in WORDS["signs"].items()}
    known_phrases: set[str] = set()
    for language in WORDS["statements"].values():
        for kind, phrases in language.items():
            # The first language to name a phrase decides what it is.
            new = [phrase for phrase in phrases if phrase not in known_phrases]
            known_phrases.update(new)
            kinds.setdefault(kind, []).extend(new)
    kinds["w"] += [noun for noun in NOUNS if noun not in known_phrases]
    return {kind: tuple(phrases) for kind, phrases in kinds.items()}


KINDS = _kinds()
