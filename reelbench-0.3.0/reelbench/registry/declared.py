"""The base of specs: frozen dataclasses that hold their values to their fields' types.

They are not pydantic's: that takes as long to import as all the rest of `reelbench list`.
"""

from contextlib import suppress
from dataclasses import dataclass, fields
from types import UnionType
from typing import Any, Literal, Union, dataclass_transform, get_args, get_origin

from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_object


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Declared:
    """Base of everything in a spec.

    It makes its subclasses frozen dataclasses, and holds their values to their fields' types.
    """

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for declared in fields(self):  # type: ignore[arg-type] - every subclass is a dataclass
            value = getattr(self, declared.name)
            try:
                field_value = _field_value(value, declared.type)
            except TypeError:
                expected = _type_name(declared.type)
                raise InputError(
                    f"{type(self).__name__}: {declared.name} is {value!r}, expected {expected}"
                ) from None
            object.__setattr__(self, declared.name, field_value)


def _type_name(kind: Any) -> str:  # noqa: ANN401 - any annotation
    if type(kind) is type:
        return kind.__name__
    return str(kind).removeprefix("typing.")


def _field_value(value: Any, kind: Any) -> Any:  # noqa: ANN401 - any value and annotation
    """Return the value as a field of that type holds it. TypeError where it can't.

    A list becomes a tuple, a whole number a float, and an object a spec.
    """
    origin = get_origin(kind)
    arguments = get_args(kind)
    if origin is Literal and value in arguments:
        return value
    if origin in (Union, UnionType):
        for alternative in arguments:
            with suppress(TypeError, InputError):
                return _field_value(value, alternative)
    if origin is tuple and is_array(value):
        return tuple(_field_value(part, arguments[0]) for part in value)
    if origin is dict and is_object(value):
        values: dict[Any, Any] = {}
        for key, part in value.items():
            values[_field_value(key, arguments[0])] = _field_value(part, arguments[1])
        return values
    if isinstance(kind, type) and issubclass(kind, Declared) and is_object(value):
        value = kind(**value)  # as JSON has it
    if kind is float and type(value) is int:
        value = float(value)
    is_truth_value_for_int = kind is int and isinstance(value, bool)
    if origin is None and isinstance(value, kind) and not is_truth_value_for_int:
        return value
    raise TypeError
