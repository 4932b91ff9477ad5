"""What a decoded JSON value is: to Python `true` is a number, to us it never is."""

from typing import TypeGuard


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number (not a finite one, necessarily), and not `true` or `false`."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer, and not `true` or `false`; `3.0` is not one."""
    return isinstance(value, int) and not isinstance(value, bool)
