"""Names of a package that are loaded when they are first used.

So a program that needs one of them does not wait for all.
"""

from collections.abc import Callable, Mapping, Sequence
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
            functions = ", ".join(name for name in module_by_name if name.islower())
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}; it has {functions}"
            )
        return getattr(import_module(module_by_name[name]), name)

    return load


@cache
def import_object(dotted: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Return the object that a spec's `package.module:name` (or `package.module`) stands for."""
    module_name, _, name = dotted.partition(":")
    module = import_module(module_name)
    return getattr(module, name) if name else module
