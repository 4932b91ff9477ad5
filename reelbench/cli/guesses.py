"""What people type who come from other tools, and the line that does it here: run in its place, or said.

`guesses.json` has them. A guess is the words that it begins with (`*` is any command), then kinds
of words in capitals, at any place, then options, whose value is a word or, in capitals, any, and
what must not be there after a `!`; `|` stands between others. Of several that fit the one counts
that says most. In a line `{KIND}` and `{--option}` is what was typed, else what follows a `:`;
where nothing does, the line is only said, with an example in that place.
"""

import json
import re
import shlex
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

from reelbench.base.credentials import is_secret
from reelbench.base.errors import InputError
from reelbench.base.settings import home
from reelbench.cli import console
from reelbench.cli.families import MOVED
from reelbench.cli.option_groups import before_dashes, shell_line

_TABLE: dict[str, Any] = json.loads(Path(__file__).with_name("guesses.json").read_bytes())
LINES: dict[str, str] = MOVED | _TABLE["lines"]
"""Guess -> the words that are run in its place."""
SAID: dict[str, str] = _TABLE["said"]
"""Guess -> what is said, its lines in backticks; nothing runs."""
EXAMPLES: dict[str, str] = _TABLE["examples"]
"""Kind of word, or option -> a value with which a line runs as it stands."""

_PART = re.compile(r"(?P<option>!\S+|-\S+)(?: (?P<value>[^-!\s]\S*))?|(?P<word>\S+)")
_PLACE = re.compile(r"\{([\w.|-]+)(?::([^{}]*))?\}")
_NEAR = 0.75  # two letters of four in each other's place


def near(word: str, known: Collection[str]) -> str | None:
    """Return the known word of which a typed one is a slip, or None."""
    as_long = {name.strip("-"): name for name in known if abs(len(name) - len(word)) <= 1}
    return as_long.get(*get_close_matches(word.strip("-"), as_long, n=1, cutoff=_NEAR) or [""])


def correct_arguments(typed: Sequence[str], known: Collection[str]) -> list[str]:
    """Return the words that were meant, each guess told; InputError with the line where it is only said.

    `known` are the words of commands, and the first of each.
    """
    words, unused = [*typed], dict.fromkeys([*LINES, *SAID])
    while True:
        mine = before_dashes(words)
        apart = [
            part
            for word in mine
            for part in (word.split("=", 1) if word.startswith("--") else [word])
        ]
        apart += words[len(mine) :]
        fits = [
            (weight, fit)
            for fit in (_Fit(guess, apart, known) for guess in unused)
            if (weight := fit.weight())
        ]
        if not fits:
            return words
        best = max(fits, key=lambda fit: fit[0])[1]
        words = best.corrected(apart)
        del unused[best.guess]


class _Fit:
    """How a guess fits what was typed: the words in its places, and those that are left over."""

    def __init__(self, guess: str, typed: Sequence[str], known: Collection[str]) -> None:
        self.guess, self.left, self.known = guess, [*typed], known
        self.ours = bool(typed) and typed[0] in known
        self.begin: list[str] = []
        self.places: dict[str, str] = {}

    def weight(self) -> float:
        """How much the guess says of what was typed, 0 where it doesn't fit; fills the places."""
        first, weight = self.guess.partition(" ")[0], 0.1
        if self.ours and first.isupper():
            return 0
        for part in _PART.finditer(self.guess):
            names, value, before = (
                (part["option"] or part["word"]).split("|"),
                part["value"],
                len(self.left),
            )
            if names[0].startswith("!"):
                if not {names[0][1:], *names}.isdisjoint(self.left):
                    return 0
                continue
            if part["option"]:
                self._take_option(names, value)
                weight += 3 if value and value.islower() else 2
            elif names[0].isupper():
                self._take_word(names)
                weight += 1 if first != names[0] else 0
            elif self.left and (self.left[0] in names or (names == ["*"] and self.ours)):
                self.begin.append(self.left.pop(0))
                weight += 2 if names != ["*"] else 0
            if len(self.left) == before:
                return 0
        return weight / 99 if first.isupper() else weight

    def _take_option(self, names: Sequence[str], value: str | None = "ANYTHING") -> None:
        mine = before_dashes(self.left)
        at = next(
            (n for n, word in enumerate(mine) if re.sub("(?<=.)_", "-", word) in names), len(mine)
        )
        given = mine[at : at + 1 + (value is not None)]
        if value is None or (len(given) > 1 and _takes(value, given[1])):
            self.places |= (
                {names[0]: given[1], value: given[1]} if value and value.isupper() else {}
            )
            del self.left[at : at + len(given)]

    def _take_word(self, kinds: Sequence[str]) -> None:
        for at, (before, word) in enumerate(pairwise(["", *before_dashes(self.left)])):
            if not word.startswith("-") and not before.startswith("-"):
                its = _kind(word, folders=not self.ours)
                if its in kinds and " ".join([*self.begin, word]) not in self.known:
                    self.places |= {its: word, kinds[0]: word}
                    del self.left[at]
                    return
                if (
                    self.ours or not self.begin
                ):  # of a command's own words only the first may be another's
                    return

    def _fill(self, text: str, quote: Callable[[str], str]) -> tuple[str, bool]:
        """Return a line or a text with its places filled, and whether none is an example of ours."""
        examples = []

        def place(found: re.Match[str]) -> str:
            names, _, form = found[1].partition(".")
            word = None
            for name in names.split("|"):
                if name not in self.places:
                    (self._take_option if name.startswith("-") else self._take_word)([name])
                if (word := self.places.get(name)) is not None:
                    break
            if word is None:
                whole = {"0": self.begin[:1], "rest": self.left, "home": [str(home())]}
                whole["line"] = ["reelbench", *self.begin, *self.left]
                if names in whole or found[2] is not None:
                    return _without_keys(whole.get(names, [])) or found[2]
                examples.append(names)
                word = EXAMPLES[names.rpartition("|")[2]]
            stem = re.sub(r"\W+", "_", Path(word).stem.lower()).strip("_")
            made = {
                "": word,
                "last": word.partition("/")[2],
                "stem": stem,
                "slash": word.replace(":", "/"),
            }
            return quote(made[form])

        return _PLACE.sub(place, text), not examples

    def corrected(self, typed: Sequence[str]) -> list[str]:
        """Return the words in its place, told; InputError where they are only said."""
        if self.guess in SAID:
            text, _ = self._fill(SAID[self.guess], lambda word: _without_keys([word]))
            options = {
                option
                for part in _PART.finditer(self.guess)
                for option in (part["option"] or "").split("|")
            }
            named = [
                word for word in typed if word.replace("_", "-") in options
            ]  # and no value: it may be a key
            raise InputError(f"`{shell_line([*self.begin, *named])}`: {text}")
        # Word by word: what was typed stays one word, whatever quotes it has.
        filled = [self._fill(word, str) for word in shlex.split(LINES[self.guess])]
        words = [word for word, _ in filled]
        if not all(sure for _, sure in filled):
            raise InputError(
                f"`{_without_keys(typed)}`: as in `{_without_keys(['reelbench', *words, *self.left])}`"
            )
        used = [word for word in typed if word not in self.left]
        same = used[:1] == words[:1] and (
            not words[1:] or used[1].startswith("-")
        )  # the command itself is no news
        ours = (
            f"taken for `{_without_keys(words[same:])}`"
            if words[same:]
            else f"`{words[0]}` does so without it"
        )
        console.note_unless(quiet=not {"-q", "--quiet"}.isdisjoint(typed))(
            f"`{_without_keys(used[same:])}`: {ours}"
        )
        return [*words, *self.left]


def _without_keys(words: Sequence[str]) -> str:
    """Return words as one line, without an option that is a key, and its value."""
    secret = [word.startswith("-") and is_secret(word.partition("=")[0]) for word in ["", *words]]
    return shell_line(
        [word for word, hidden in zip(words, pairwise(secret), strict=True) if not any(hidden)]
    )


def _takes(value: str, word: str) -> bool:
    """Whether a word is the value that a guess has for an option: any, one of a kind, or one of some words."""
    return (
        _kind(word, folders=False) == value
        if value in _TABLE["kinds"]
        else value.isupper() or word in value.split("|")
    )


def _kind(word: str, *, folders: bool) -> str:
    """Return the first of `kinds` whose pattern a word is; with `folders` a folder that is here is a result's."""
    a_folder = Path(word).is_dir() or re.match(r"(?i:out|results?|runs?)\b", word)
    if folders and a_folder and not (Path(word) / "benchmark.yaml").is_file():
        return "RESULT"
    return next(
        (name for name, pattern in _TABLE["kinds"].items() if re.fullmatch(pattern, word)), "TEXT"
    )
