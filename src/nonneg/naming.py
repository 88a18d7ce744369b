"""Reading what the user gave to set up a model: names of its parts, and numbers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

from .exceptions import IncompatibleError

T = TypeVar("T")


def is_number(value: Any) -> bool:
    """Whether it is a finite real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def is_count(value: Any, least: int = 0) -> bool:
    """Whether it is a whole number of at least so many; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def is_one_of(value: Any, names: Iterable[str]) -> bool:
    """Whether it is one of the names, whatever else it may be."""
    return isinstance(value, str) and value in names


_ELSEWHERE = {"cd": "coordinate", "mu": "multiplicative"}
"""What scikit-learn's NMF calls otherwise."""


def unknown(kind: str, given: Any, names: Iterable[str], otherwise: str = "") -> IncompatibleError:
    """Make the error for an unknown name: a suggestion, and the known names."""
    names, hint = list(names), ""
    if isinstance(given, type):
        hint = f" Did you mean {given.__name__}(...)?"
    elif isinstance(given, str) and _ELSEWHERE.get(given) in names:
        hint = f" What scikit-learn calls {given!r} is {_ELSEWHERE[given]!r} here."
    elif kind == "init" and is_one_of(given, ("custom",)):
        hint = " Give the factors to start from themselves: init={'W': W, 'H': H}."
    elif isinstance(given, str) and (close := get_close_matches(_plain(given), names, 1)):
        hint = f" Did you mean {close[0]!r}?"
    known = ", ".join(map(repr, names)) + (f"; or {otherwise}" if otherwise else "")
    return IncompatibleError(f"Unknown {kind} {given!r}.{hint} Known names: {known}.")


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")


_COUNTS = ("n_components", "n_clusters", "n_states")
"""What estimators call how many parts there are."""


class KnownParameters:
    """An error with a suggestion for a parameter that an estimator does not have."""

    _called_otherwise: ClassVar[Mapping[str, str]] = {}
    """What to say of parameters that other libraries have."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        own = [name for name in inspect.signature(cls.__init__).parameters if name != "self"]
        for name in kwargs:
            if name not in own:
                counts = [other for other in own if other in _COUNTS]
                is_count = name in ("rank", "k") or get_close_matches(name, _COUNTS, 1, cutoff=0.75)
                close = get_close_matches(name, own, 1, cutoff=0.75) or (counts if is_count else [])
                hint = f"Did you mean {close[0]!r}?" if close else f"Its parameters are {', '.join(own)}."
                raise TypeError(f"{cls.__name__} has no parameter {name!r}. {cls._called_otherwise.get(name, hint)}")
        return super().__new__(cls)


def find(kind: str, given: Any, known: Mapping[str, T], otherwise: str) -> T:
    """The object with a name, whatever its case and hyphens; or an error that lists the names there are.

    Parameters
    ----------
    kind : str
        What is being looked up, for the message.
    given : object
        What the user gave, a name or not.
    known : dict
        The objects by name.
    otherwise : str
        What may be given in place of a name.
    """
    found = known.get(_plain(given)) if isinstance(given, str) else None
    if found is None:
        raise unknown(kind, given, known, otherwise)
    return found
