"""The base of specs: frozen dataclasses that hold their values to their fields' types.

Not pydantic's: that takes as long to import as all the rest of `reelbench list`.
"""

from contextlib import suppress
from dataclasses import dataclass, fields
from types import UnionType
from typing import Any, Literal, Union, dataclass_transform, get_args, get_origin

from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_object


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Declared:
    """Base of everything in a spec: makes its subclasses frozen dataclasses and holds values to their fields' types."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for declared in fields(self):  # type: ignore[arg-type] - every subclass is a dataclass
            value = getattr(self, declared.name)
            try:
                taken = _field_value(value, declared.type)
            except TypeError:
                expected = (
                    declared.type.__name__ if type(declared.type) is type else str(declared.type)
                )
                what = f"{declared.name} is {value!r}, expected {expected.removeprefix('typing.')}"
                raise InputError(f"{type(self).__name__}: {what}") from None
            object.__setattr__(self, declared.name, taken)


def _field_value(value: Any, kind: Any) -> Any:  # noqa: ANN401
    """Return the value as a field of that type holds it: a list as a tuple, a whole number as a float."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal and value in inner:
        return value
    if origin in (Union, UnionType):
        for kind_of_it in inner:
            with suppress(TypeError, InputError):
                return _field_value(value, kind_of_it)
    if origin is tuple and is_array(value):
        return tuple(_field_value(part, inner[0]) for part in value)
    if origin is dict and is_object(value):
        return {
            _field_value(key, inner[0]): _field_value(part, inner[1]) for key, part in value.items()
        }
    if isinstance(kind, type) and issubclass(kind, Declared) and is_object(value):
        value = kind(**value)  # as JSON has it
    if kind is float and type(value) is int:
        value = float(value)
    if origin is None and isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    raise TypeError
