"""Stored values, checked against the annotations of the class that is to hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..exceptions import FileError


def check_fields(cls: type, given: Mapping[str, Any]) -> None:
    """Refuse values whose type is not that of the field."""
    hints = _hints(cls)
    for name, value in given.items():
        if name in hints and not fits(value, hints[name]):
            wanted = getattr(hints[name], "__name__", None) if isinstance(hints[name], type) else str(hints[name])
            raise FileError(f"{cls.__name__}.{name} must be of type {wanted}; got {shown(value)}.")


def shown(value: Any) -> str:
    """A value for a message, shortened if long."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type. Numbers of NumPy are numbers; True and False are none."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if hint is None or hint is NoneType:
        return value is None
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in args)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in args)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    if isinstance(origin, type) and issubclass(origin, Mapping | Sequence):
        return _fits_collection(value, origin, args)
    return not isinstance(hint, type) or isinstance(value, hint)


def _fits_collection(value: Any, origin: type, args: tuple[Any, ...]) -> bool:
    """Whether a value is a mapping, or a list or tuple, as annotated, and all that it holds is of the annotated types."""
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(fits(key, args[0]) and fits(item, args[1]) for key, item in value.items())
    if not isinstance(value, list | tuple):
        return False
    if origin is tuple and args[-1] is not Ellipsis:
        return len(value) == len(args) and all(map(fits, value, args))
    return all(fits(item, args[0]) for item in value)
