"""Errors, each with its own name, and checks of arguments that raise them.

All of them are `ValueError`, so code written for scikit-learn catches them. A message names the given value, the
reason against it, and valid ones. `Stopped` is none of them: it is a `KeyboardInterrupt`.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

__all__ = [
    "DataError",
    "DeviceMemoryError",
    "EmptySamplesWarning",
    "ExpressionError",
    "FileError",
    "IncompatibleError",
    "MissingLibraryError",
    "ReadingError",
    "ShapeError",
    "Stopped",
]

T = TypeVar("T")


class ExpressionError(ValueError):
    """A product form that cannot be read, or that does not mean anything.

    See Also
    --------
    nonneg.Model : Forms that are understood.

    Examples
    --------
    >>> import nonneg
    >>> from nonneg.exceptions import ExpressionError
    >>> try:
    ...     nonneg.Model("W + + H")
    ... except ExpressionError as error:
    ...     print(type(error).__name__)
    ExpressionError
    """


class ShapeError(ValueError):
    """Factors, ranks and data whose sizes do not fit each other.

    See Also
    --------
    DataError : Entries that do not fit.

    Examples
    --------
    >>> import nonneg
    >>> from nonneg.exceptions import ShapeError
    >>> try:
    ...     nonneg.OPNMF(5).fit([[1.0, 2.0], [2.0, 3.0]])
    ... except ShapeError as error:
    ...     print(type(error).__name__)
    ShapeError
    """


class DataError(ValueError):
    """Data that the model cannot approximate: negative, not finite, empty, or of the wrong kind.

    See Also
    --------
    FileError : A file that cannot be read.
    ShapeError : Sizes that do not fit.

    Examples
    --------
    >>> import nonneg
    >>> from nonneg.exceptions import DataError
    >>> try:
    ...     nonneg.NMF(2).fit([[1.0, -1.0], [2.0, 3.0]])
    ... except DataError as error:
    ...     print(type(error).__name__)
    DataError
    """


class IncompatibleError(ValueError):
    """Two parts of a model that cannot be used together, or one that is not known.

    See Also
    --------
    ShapeError : Sizes that do not fit.

    Examples
    --------
    >>> import nonneg
    >>> from nonneg.exceptions import IncompatibleError
    >>> try:
    ...     nonneg.Model("W H", constraints={"W": "ortogonal"})
    ... except IncompatibleError as error:
    ...     print(type(error).__name__)
    IncompatibleError
    """


class FileError(DataError):
    """A file that cannot be read: empty, cut off, of another kind, or too large.

    See Also
    --------
    nonneg.files.read : Raises it.
    nonneg.files.kind_of : Raises it for kinds that are not known.

    Examples
    --------
    >>> import tempfile
    >>> from nonneg.files import FileError, read
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     try:
    ...         read(file.name)
    ...     except FileError as error:
    ...         print(str(error).removeprefix(file.name))
     is empty: nothing is stored in it.
    """


class ReadingError(FileError):
    """A file of which more has to be said before it can be read: an option of `nonneg.files.read`, of which a value is proposed.

    Parameters
    ----------
    text : str
        The obstacle and the remedy, without the option.
    option : str
        The name of the option.
    value : str or list of str
        Its valid values.

    See Also
    --------
    FileError : Its base class.
    nonneg.files.read : Raises it, and has the options.

    Examples
    --------
    >>> from nonneg.exceptions import ReadingError
    >>> print(ReadingError("x.npz has two arrays; choose one", "variable", ["a", "b"]))
    x.npz has two arrays; choose one: variable=['a', 'b'].
    """

    def __init__(self, text: str, option: str, value: Any) -> None:
        super().__init__(f"{text}: {option}={value!r}.")
        self.text, self.option, self.value = text, option, value

    def __reduce__(self) -> Any:
        return type(self), (self.text, self.option, self.value)


class MissingLibraryError(DataError, ImportError):
    """Something that needs a library which is not installed.

    See Also
    --------
    DataError : Its base class.

    Examples
    --------
    >>> from nonneg.exceptions import MissingLibraryError
    >>> issubclass(MissingLibraryError, ImportError)
    True
    """


class DeviceMemoryError(DataError, MemoryError):
    """A device that has no memory left for what was asked of it. It can be used again.

    See Also
    --------
    DataError : Its base class.

    Examples
    --------
    >>> from nonneg.exceptions import DeviceMemoryError
    >>> issubclass(DeviceMemoryError, MemoryError)
    True
    """


class Stopped(KeyboardInterrupt):
    """Ctrl-C, with the result so far kept: in the estimator, or as `solution`.

    See Also
    --------
    nonneg.Checkpoint : Goes on from a file.

    Examples
    --------
    >>> from nonneg.exceptions import Stopped
    >>> issubclass(Stopped, KeyboardInterrupt)
    True
    """

    solution: Any = None


class EmptySamplesWarning(UserWarning):
    """Some samples have no known value, or zeros only: nothing is learned from them.

    See Also
    --------
    DataError : Data that cannot be fitted at all.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np, nonneg
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = nonneg.NMF(1, missing="ignore", random_state=0).fit([[np.nan, np.nan], [1.0, 2.0], [2.0, 1.0]])
    >>> [warning.category.__name__ for warning in caught]
    ['EmptySamplesWarning']
    """


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a finite real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def is_count(value: Any, least: int = 0) -> TypeGuard[int]:
    """Whether it is a whole number of at least so many; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def is_one_of(value: Any, names: Iterable[str]) -> bool:
    """Whether it is one of the names, whatever else it may be."""
    return isinstance(value, str) and value in names


SOLVERS_OF_SCIKIT_LEARN = {"cd": "coordinate", "mu": "multiplicative"}
"""Names of scikit-learn's NMF for values here."""


def unknown(kind: str, given: Any, names: Iterable[str], otherwise: str = "") -> IncompatibleError:
    """Make the error for an unknown name: a suggestion, and the known names."""
    names, hint = list(names), ""
    if isinstance(given, type):
        hint = f" Did you mean {given.__name__}(...)?"
    elif isinstance(given, str) and SOLVERS_OF_SCIKIT_LEARN.get(given) in names:
        hint = f" What scikit-learn calls {given!r} is {SOLVERS_OF_SCIKIT_LEARN[given]!r} here."
    elif kind == "init" and is_one_of(given, ("custom",)):
        hint = " Give the factors to start from themselves: init={'W': W, 'H': H}."
    elif isinstance(given, str) and (close := get_close_matches(_plain(given), names, 1)):
        hint = f" Did you mean {close[0]!r}?"
    known = ", ".join(map(repr, names)) + (f"; or {otherwise}" if otherwise else "")
    return IncompatibleError(f"Unknown {kind} {given!r}.{hint} Known names: {known}.")


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")


def find(kind: str, given: Any, known: Mapping[str, T], otherwise: str) -> T:
    """The object with a name, whatever its case and hyphens; or an error that lists the names there are.

    Parameters
    ----------
    kind : str
        Kind of the name, for the message.
    given : object
        The given value, a name or not.
    known : dict
        The objects by name.
    otherwise : str
        Alternatives to a name.
    """
    found = known.get(_plain(given)) if isinstance(given, str) else None
    if found is None:
        raise unknown(kind, given, known, otherwise)
    return found


def needed(module: str, extra: str, what: str) -> Any:
    """A library that is not always there, or an error that says how to get it.

    Parameters
    ----------
    module : str
    extra : str
        The extra of this package that installs it.
    what : str
        The feature that needs it, as the beginning of a sentence.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingLibraryError(
            f"{what} needs {package}, which is not installed: pip install 'nonneg[{extra}]', or pip install {package}."
        ) from error


def users_line() -> int:
    """The `stacklevel` of a warning that is to be about the line which called the library, through scikit-learn or not."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _OWN.match(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


_OWN = re.compile(r"(nonneg|sklearn|joblib)(\.|$)")
