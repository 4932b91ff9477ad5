"""Call functions of ours in the place of methods of other people's classes."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

_MARK = "_reelbench_wrapped"


def wrap(
    owner: type | None,
    name: str,
    ours: Callable[..., Any],
    expected: str | None = None,
    kind: "type[classmethod[Any, Any, Any] | staticmethod[Any, Any]] | None" = None,
) -> bool:
    """Have `ours` called in a method's place, with the method as its first argument.

    A method is wrapped once. Nothing is changed, and False returned, where it is not of this
    `kind`, or its parameters are not those `expected`.
    """
    if owner and kind:
        attribute = vars(owner).get(name)
        original: Any = attribute.__func__ if isinstance(attribute, kind) else None
    else:
        original = getattr(owner, name, None)
        if kind is not None:
            original = None
    if getattr(original, _MARK, False):
        return True
    if not callable(original):
        return False
    if expected and list(inspect.signature(original).parameters) != expected.split():
        return False

    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return ours(original, *args, **kwargs)

    setattr(method, _MARK, True)
    replacement = kind(method) if kind else method
    setattr(owner, name, replacement)
    return True
