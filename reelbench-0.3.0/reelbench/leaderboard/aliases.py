"""Names that stand for the same model.

They are listed in the package's `aliases.yaml`, and in a store's file of that name if it has one.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.base.yaml_text import read_mapping
from reelbench.pages.shell_page import page_asset

FILE = "aliases.yaml"


class Aliases:
    """Names that stand for one model, in upper or lower case alike.

    Args:
        files: Path of a file, for messages -> model id -> its other names.

    Raises:
        InputError: If a name stands for two models, or a file has another form.
    """

    def __init__(self, files: Mapping[str, Mapping[Any, Any]]) -> None:
        self._ids: dict[str, str] = {}
        for path, models in files.items():
            for model, aliases in models.items():
                self._add_model(path, model, aliases)

    def _add_model(self, path: str, model: Any, aliases: Any) -> None:  # noqa: ANN401 - from YAML
        is_list = isinstance(aliases, list)
        names = [model, *aliases] if is_list else [model]
        if not is_list or not all(isinstance(name, str) for name in names):
            raise InputError(
                f"{path}: {model!r} has {aliases!r:.60}, expected a list of names in quotes"
            )
        for name in names:
            first_model = self._ids.setdefault(name.casefold(), model)
            if first_model.casefold() != model.casefold():
                raise InputError(
                    f"{path}: {name!r} is a name of {model!r} and of {first_model!r}; "
                    "a name has one model"
                )

    def models(self, names: Iterable[str]) -> dict[str, str]:
        """Return the one name of the model that each name stands for.

        That is the model's id, or the first spelling of names that differ in case alone. Owners
        have one spelling as well: `OpenAI/b` beside `openai/a` is `openai/b`.
        """
        models: dict[str, str] = {}
        for name, spelling in one_spelling(names).items():
            models[name] = self._ids.get(name.casefold(), spelling)
        all_models = [*self._ids.values(), *models.values()]
        owner_spellings = one_spelling(_owner(model) for model in all_models)
        for name, model in models.items():
            owner, slash, rest = model.partition("/")
            if slash:
                models[name] = f"{owner_spellings[owner]}/{rest}"
        return models

    def id_of(self, name: str) -> str:
        """Return the id of the model that a name stands for, in lower case."""
        return self._ids.get(name.casefold(), name).casefold()


NO_ALIASES = Aliases({})


def one_spelling(names: Iterable[str]) -> dict[str, str]:
    """Return the first spelling of each name, among those that differ in case alone.

    The first one stands, so that a later name never spells an earlier one anew.
    """
    spellings: dict[str, str] = {}
    first_spellings: dict[str, str] = {}
    for name in names:
        spellings[name] = first_spellings.setdefault(name.casefold(), name)
    return spellings


def read(store: Path | None = None) -> Aliases:
    """Return the package's aliases, together with those of a store."""
    texts = {FILE: page_asset(FILE, "leaderboard")}
    if store is not None:
        path = store / FILE
        if path.is_file():
            texts[str(path)] = read_text(path, most=bounds.SETTINGS_BYTES)
    files: dict[str, Mapping[Any, Any]] = {}
    for path_text, text in texts.items():
        files[path_text] = read_mapping(text, path_text, what="the file of names")
    return Aliases(files)


def _owner(model: str) -> str:
    return model.partition("/")[0]
