"""Estimators for arrays of PyTorch, CuPy and other libraries: codes and fitted attributes are arrays of the library of X."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..data.device import as_library, library_of, memory_explained
from ..exceptions import Stopped
from ..kernels.namespace import Namespace, to_host

P = ParamSpec("P")
R = TypeVar("R")


def with_library(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method whose results are arrays of the library of its first argument; attributes are NumPy's within it."""

    @wraps(method)
    def called(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        library = library_of(args[0] if args else kwargs.get("X"))
        if "_library" in vars(self):
            self = copy(self)
            _to_host(self)
        with memory_explained():
            found = method(self, *args, **kwargs)
        return found if library is None else as_library(found, library)

    return called


def fit_with_library(fit: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """An atomic fit (`atomic_fit`) whose attributes become arrays of the library of its first argument."""

    @wraps(fit)
    def called(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        library, before = library_of(args[0] if args else kwargs.get("X")), dict(vars(self))
        if "_library" in before:
            _to_host(self)
        try:
            try:
                with memory_explained():
                    return fit(self, *args, **kwargs)
            finally:
                if library is not None:
                    _to_library(self, library)
        except Stopped:
            raise
        except BaseException:
            self.__dict__ = before
            raise

    return called


def _to_host(estimator: Any) -> None:
    """Make fitted attributes NumPy arrays."""
    vars(estimator).pop("_library")
    _change(estimator, lambda array: to_host(array) if library_of(array) is not None else array)


def _to_library(estimator: Any, library: Namespace) -> None:
    """Make fitted attributes arrays of a library."""
    estimator._library = library
    _change(estimator, lambda array: as_library(array, library))


def _change(estimator: Any, change: Callable[[Any], Any]) -> None:
    """Apply a function to every fitted attribute."""
    for name, value in list(vars(estimator).items()):
        if name.endswith("_") and not name.startswith("_") and isinstance(value, Mapping):
            setattr(estimator, name, {key: change(each) for key, each in value.items()})
        elif name.endswith("_") or name.startswith("_"):
            setattr(estimator, name, change(value))
