"""Which names are one model's: `aliases.yaml` of the package, and of a store, where it has one."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.yaml_text import read_mapping
from reelbench.pages.shell_page import page_asset

FILE = "aliases.yaml"


class Aliases:
    """Names that stand for one model, whatever their case: where it is said -> a model's id -> its other names.

    InputError where a name stands for two models, or a file is not as it should be.
    """

    def __init__(self, files: Mapping[str, Mapping[Any, Any]]) -> None:
        self._ids: dict[str, str] = {}
        for where, models in files.items():
            for model, names in models.items():
                if not isinstance(names, list) or not all(
                    isinstance(name, str) for name in (model, *names)
                ):
                    raise InputError(
                        f"{where}: {model!r} has {names!r:.60}, expected a list of names in quotes"
                    )
                for name in (model, *names):
                    there = self._ids.setdefault(name.casefold(), model)
                    if there.casefold() != model.casefold():
                        raise InputError(
                            f"{where}: {name!r} is a name of {model!r} and of {there!r}; a name has one model"
                        )

    def models(self, names: Iterable[str]) -> dict[str, str]:
        """Return name -> the model's one name: its id, or one spelling of all that differ in case alone.

        Owners have one spelling as well: `OpenAI/b` beside `openai/a` is `openai/b`.
        """
        known = list(names)
        models = {
            name: self._ids.get(name.casefold(), spelling)
            for name, spelling in one_spelling(known).items()
        }
        owners = one_spelling(
            [*self._ids.values(), *models.values()], lambda name: name.partition("/")[0]
        )
        return {
            name: "".join((owners[model], *model.partition("/")[1:])) if "/" in model else model
            for name, model in models.items()
        }

    def names_of(self, name: str) -> set[str]:
        """Return all names of a model, in lower case."""
        model = self._ids.get(name.casefold(), name).casefold()
        return {model, *(other for other, of in self._ids.items() if of.casefold() == model)}


def one_spelling(
    names: Iterable[str], part: Callable[[str], str] = lambda name: name
) -> dict[str, str]:
    """Return name -> how it, or the part of it that is meant, is spelled: the one of all that differ in case alone.

    It is the one that is given first, as who comes later re-spells nobody.
    """
    given, spellings = list(names), dict[str, str]()
    for name in given:
        spellings.setdefault(part(name).casefold(), part(name))
    return {name: spellings[part(name).casefold()] for name in given}


def read(store: Path | None = None) -> Aliases:
    """Return the package's names, with those of a store."""
    texts = {FILE: page_asset(FILE, "leaderboard")}
    if store is not None and (path := store / FILE).is_file():
        texts[str(path)] = path.read_text(encoding="utf-8", errors="replace")
    return Aliases(
        {
            where: read_mapping(text, where, what="the file of names")
            for where, text in texts.items()
        }
    )
