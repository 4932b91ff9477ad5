"""Errors for guessed names and calls in Python, which say what the right ones are."""

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

Value = TypeVar("Value")


class NamedMetrics(dict[str, Value]):
    """The metrics of a result, by name.

    The error for an unknown name lists the names that exist.
    """

    def __missing__(self, name: object) -> NoReturn:
        raise KeyError(f"no metric {name!r}; there are {_listed(self)}")

    if not TYPE_CHECKING:  # to a type checker a misspelt name stays one

        def __getattr__(self, name: str) -> NoReturn:
            where = f"there are {_listed(self)}"
            if name in self:
                where = f"a metric is metrics[{name!r}]"
            raise AttributeError(f"metrics has no attribute {name!r}; {where}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def refuse_calls(package: str, answer: str) -> None:
    """Make a call of a package raise TypeError with an answer.

    A user who guesses `reelbench.tasks()` calls the package of that name.

    Args:
        package: The package's name. It is already in `sys.modules`.
        answer: Says which function does what the call was meant to do.
    """

    class _Package(ModuleType):
        def __call__(self, *_args: Any, **_keywords: Any) -> NoReturn:  # noqa: ANN401 - any call
            raise TypeError(f"{package} is a package, not a function; {answer}")

    sys.modules[package].__class__ = _Package
