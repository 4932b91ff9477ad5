"""A package's names that are loaded when they are first used, so that who needs one doesn't wait for all."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def names_of(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Return a package's `__getattr__`: import name of a module -> the names that it gives the package."""
    homes = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load


def import_object(dotted: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Return the object that a spec's `package.module:name` (or `package.module`) stands for."""
    module, _, name = dotted.partition(":")
    found = import_module(module)
    return getattr(found, name) if name else found
