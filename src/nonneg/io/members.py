"""The choice of a matrix among the named arrays of a file, as in HDF5 and zarr."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from ..exceptions import DataError, ReadingError

_SHOWN = 12
"""Arrays that are named in a message."""
Shapes = Mapping[str, tuple[int, ...]]
"""The shapes of arrays of numbers, by name; a sparse matrix, which is a group of three arrays, is one of them."""


def chosen(key: str | None, holds: Callable[[str], bool], arrays: Callable[[], Shapes], label: str, option: str = "key") -> str:
    """The name of the matrix that is wanted, or of the only one there is.

    Parameters
    ----------
    key : str, optional
        What is asked for. Layers of AnnData may be named with and without "layers/".
    holds : callable
        Whether something of a name is there.
    arrays : callable
        Finds all arrays of numbers, to name or count them.
    label : str
        The name of the file.
    option : str
        By which the matrix is asked for.
    """
    if key is not None:
        found = next((name for name in (key, f"layers/{key}") if holds(name)), None)
        if found is not None:
            return found
    shapes = arrays()
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    if not matrices:
        raise DataError(f"{label} holds no matrix, which is needed, of rows and columns; {_others(shapes)}.")
    if key is not None:
        raise DataError(f"{label} has no matrix {key!r}; it has {_listed(map(repr, matrices))}.")
    if len(matrices) > 1:
        which = "say which, by nonneg.open_data" if option == "key" else "say which"
        raise ReadingError(f"{label} has {len(matrices)} matrices: {_listed(map(repr, matrices))}; {which}", option, matrices[0])
    return matrices[0]


def warn_of_missing_chunks(name: str, stored: int, count: int, fill: Any) -> None:
    """Warn of chunks that are not stored: they are read as one value, whether they were left out or got lost."""
    if stored < count:
        warnings.warn(f"{name}: {count - stored} of {count} chunks are not stored; they are read as {fill}.", stacklevel=2)


def is_sparse_matrix(group: Any) -> bool:
    """Whether a group is a sparse matrix, as AnnData and others write it."""
    return all(part in group for part in ("data", "indices", "indptr"))


def shape_of_sparse(group: Any) -> Any:
    """The declared shape of a sparse matrix; None if it declares none."""
    return group.attrs.get("shape", group.attrs.get("h5sparse_shape"))


def _others(shapes: Shapes) -> str:
    """The members of the file, in words."""
    if not shapes:
        return "there are no arrays of numbers in it"
    return "it has " + _listed(f"{name!r} of shape {tuple(shape)}" for name, shape in shapes.items())


def _listed(items: Any) -> str:
    names = list(items)
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
