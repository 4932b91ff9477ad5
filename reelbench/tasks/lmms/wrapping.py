"""Methods of other people's classes, with a function of ours called in their place."""

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
    """Have `ours` called in a method's place, with the method first, if that takes what is `expected`; once each.

    False, and nothing changed, if it doesn't, or is not of this `kind`.
    """
    original: Any = vars(owner).get(name) if owner and kind else getattr(owner, name, None)
    if kind is not None:
        original = original.__func__ if isinstance(original, kind) else None
    if getattr(original, _MARK, False):
        return True
    if not callable(original) or (
        expected and [*inspect.signature(original).parameters] != expected.split()
    ):
        return False

    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return ours(original, *args, **kwargs)

    setattr(method, _MARK, True)
    setattr(owner, name, kind(method) if kind else method)
    return True
