"""Mixin of all estimators: errors for unknown parameters, `save` and `report`."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar

from ..exceptions import users_line
from ..report import write_report
from .storing import write_model

C = TypeVar("C", bound="KnownParameters")
_COUNTS = ("n_components", "n_clusters", "n_states")
"""Names of the parameter for the number of parts."""


class KnownParameters:
    """An error with a suggestion for a parameter that an estimator does not have."""

    _called_otherwise: ClassVar[Mapping[str, str]] = {}
    """Sentences about other libraries' parameters."""
    _understood: ClassVar[Mapping[str, str]] = {}
    """Names of parameters that `understands` and `renamed` translate."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        own = [name for name in inspect.signature(cls.__init__).parameters if name != "self"]
        for name in kwargs:
            if name not in own and name not in cls._understood:
                counts = [other for other in own if other in _COUNTS]
                is_count = name in ("rank", "k") or get_close_matches(name, _COUNTS, 1, cutoff=0.75)
                close = get_close_matches(name, own, 1, cutoff=0.75) or (counts if is_count else [])
                hint = f"Did you mean {close[0]!r}?" if close else f"Its parameters are {', '.join(own)}."
                raise TypeError(f"{cls.__name__} has no parameter {name!r}. {cls._called_otherwise.get(name, hint)}")
        return super().__new__(cls)


def understands(**words: str) -> Callable[[type[C]], type[C]]:
    """Let a class take parameters by their names in scikit-learn, and give their names here in one sentence."""
    return _translating(words, UserWarning, "{old}={value!r} of scikit-learn is {new}={value!r} here.")


def renamed(**words: str) -> Callable[[type[C]], type[C]]:
    """Let a class take parameters by their earlier names, old="new", for one release."""
    return _translating(words, FutureWarning, "{old} is called {new} now, and only {new} in the next release: {new}={value!r}.")


def _translating(words: Mapping[str, str], category: type[Warning], sentence: str) -> Callable[[type[C]], type[C]]:
    """A decorator of classes whose constructor takes earlier names of parameters, too, with a warning."""

    def add(cls: type[C]) -> type[C]:
        own = cls.__init__

        @functools.wraps(own)
        def init(self: Any, *args: Any, **given: Any) -> None:
            for old, new in words.items():
                if old not in given:
                    continue
                if new in given:
                    raise TypeError(f"{cls.__name__}: {old} is another name of {new}. Give one of them.")
                value = given.pop(old)
                text = f"{cls.__name__}: {sentence.format(old=old, new=new, value=value)}"
                warnings.warn(text, category, stacklevel=users_line())
                given[new] = value
            own(self, *args, **given)

        cls.__init__ = init  # type: ignore[method-assign]
        cls._understood = {**cls._understood, **words}
        return cls

    return add


class Shareable(KnownParameters):
    """`save` and `report`, for any estimator; `nonneg.load` reads the saved file.

    Parameters
    ----------
    gamma : float, default=None
        Of kernels that have it, as in scikit-learn.
    degree : float, default=3
        Of the polynomial kernel.
    coef0 : float, default=1
        Of polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        For a function.
    """

    _made_of: ClassVar[tuple[type, ...]] = ()
    """Classes of objects in its attributes, beside those that models are made of."""
    _left_out: ClassVar[tuple[str, ...]] = ()
    """Attributes that are not kept in files."""

    def save(self, path: Any) -> None:
        """Keep the estimator in a file, for `nonneg.load`, on this machine or another.

        The file holds arrays, numbers and text, and no code. It is written whole or not at all. Parameters that are functions, such
        as a kernel of one's own, cannot be kept.

        Parameters
        ----------
        path : str or path
            An existing file is overwritten. Names usually end in ".nonneg".
        """
        write_model(self, path)

    def report(self, path: Any, X: Any = None, *, shape: Any = None, feature_names: Any = None) -> None:
        """Write a page about the fit: one self-contained HTML file to look at, print or send.

        Parameters
        ----------
        path : str or path
            An existing file is overwritten.
        X : array, sparse array, Table, path, open file or Dask collection, optional
            The fitted data, or other samples. With it, the page has their relative error, sizes in samples and reordered matrix.
        shape : tuple of int or Layout, optional
            Height and width of features that are pixels.
        feature_names : sequence of str, optional
            Names of features; by default those of `fit`.
        """
        write_report(self, path, X, shape=shape, feature_names=feature_names)
