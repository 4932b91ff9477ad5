"""Names of a package that are loaded when they are first used.

So a program that needs one of them does not wait for all.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any


def names_of(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Return a package's `__getattr__`.

    Args:
        package: The package's name.
        modules: Import name of a module -> the names that it gives the package.
    """
    module_by_name: dict[str, str] = {}
    for module, names in modules.items():
        module_by_name |= dict.fromkeys(names, module)

    def load(name: str) -> object:
        if name not in module_by_name:
            functions = [function for function in module_by_name if function.islower()]
            likely_names = _likely_names(name, functions)
            hint = f"it has {', '.join(functions)}"
            if likely_names:
                hint = f"did you mean {' or '.join(likely_names)}?"
            raise AttributeError(f"module {package!r} has no attribute {name!r}; {hint}")
        return getattr(import_module(module_by_name[name]), name)

    return load


def _likely_names(name: str, functions: Sequence[str]) -> list[str]:
    """Return the functions that were likely meant by another name."""
    words = name.casefold().split("_")
    with_word = [function for function in functions if function in words]
    return with_word or get_close_matches(name, functions)


@cache
def import_object(dotted: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Return the object that a spec's `package.module:name` (or `package.module`) stands for."""
    module_name, _, name = dotted.partition(":")
    module = import_module(module_name)
    return getattr(module, name) if name else module
