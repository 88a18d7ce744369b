"""The gate for sparse matrices: SciPy's compiled loops trust the indices, so they are checked before any conversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from .memory import refuse_too_large

_MANY_ROWS = 10**7
"""Rows from which the index is compared with the memory that is free."""
_FARTHEST = 2**31
"""Offsets of diagonals from which SciPy would cut off digits."""


def to_csr(matrix: Any, name: str, *, dtype: Any = None, copy: bool = False) -> sparse.csr_array:
    """Convert a sparse matrix of any format, or an array, to CSR; raise a `DataError` if indices do not fit the shape."""
    if sparse.issparse(checked(matrix, name)) and matrix.format != "csr" and matrix.shape[0] > _MANY_ROWS:
        refuse_too_large(16 * matrix.shape[0], f"The row index of {name}")
    return sparse.csr_array(matrix, dtype=dtype, copy=copy)


def checked(matrix: Any, name: str) -> Any:
    """The matrix itself; raise a `DataError` if it is sparse and its indices do not fit its shape."""
    if sparse.issparse(matrix):
        check_sparse(matrix, name)
    return matrix


def check_sparse(matrix: Any, name: str) -> None:
    """Raise a `DataError` for a sparse matrix that is not valid: indices out of range, arrays of wrong lengths.

    SciPy checks neither assigned arrays nor matrices of its own readers; converting an invalid one writes out of bounds.
    """
    problem = _problem_of(matrix)
    if problem is not None:
        shape = " × ".join(map(str, matrix.shape))
        raise DataError(
            f"{name} is not a valid sparse matrix of {shape}: {problem}. It was cut off or altered, or built from wrong arrays."
        )


def _problem_of(matrix: Any) -> str | None:
    find = _PROBLEMS.get(matrix.format)
    return None if find is None else find(matrix)


def _problem_of_coo(matrix: Any) -> str | None:
    if any(axis.shape != matrix.data.shape or axis.dtype.kind not in "iu" for axis in matrix.coords):
        described = " and ".join(f"{axis.shape} of {axis.dtype}" for axis in matrix.coords)
        return f"entries of shape {matrix.data.shape} are stored, with indices of shape {described}"
    return next((found for axis, size in zip(matrix.coords, matrix.shape, strict=True) if (found := _outside(axis, size))), None)


def _problem_of_bsr(matrix: Any) -> str | None:
    height, width = matrix.data.shape[1:] if matrix.data.ndim == 3 else (0, 0)
    if not height or not width or matrix.shape[0] % height or matrix.shape[1] % width:
        return f"blocks of {height} × {width} do not tile it"
    return _problem_compressed(matrix, matrix.shape[0] // height, matrix.shape[1] // width)


def _problem_of_lil(matrix: Any) -> str | None:
    indices, entries = (np.fromiter(map(len, lists), np.int64) for lists in (matrix.rows, matrix.data))
    if indices.shape != (matrix.shape[0],) or not np.array_equal(indices, entries):
        return "each row needs a list of indices and one of entries, of one length"
    return _problem_converted(matrix.tocsr)


def _problem_of_dia(matrix: Any) -> str | None:
    offsets = matrix.offsets
    if matrix.data.ndim != 2 or offsets.shape != (len(matrix.data),) or offsets.dtype.kind not in "iu":
        return f"{len(matrix.data)} diagonals are stored, with {len(offsets)} offsets of {offsets.dtype}"
    if offsets.size and not -_FARTHEST < int(offsets.min()) <= int(offsets.max()) < _FARTHEST:
        return f"an offset is {offsets[abs(offsets.astype(float)).argmax()]}"
    return None


def _problem_converted(convert: Callable[[], Any]) -> str | None:
    """The problem of a matrix of lists or of a dict, which SciPy looks at while it converts them."""
    try:
        return _problem_of(convert())
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        return str(error)


def _problem_compressed(matrix: Any, n_major: int, n_minor: int) -> str | None:
    starts, indices = matrix.indptr, matrix.indices
    if starts.ndim != 1 or indices.ndim != 1 or starts.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        return "indices and indptr have to be vectors of whole numbers"
    if len(starts) != n_major + 1:
        return f"indptr has {len(starts)} numbers where {n_major + 1} are needed"
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        return "indptr has to begin with 0 and never fall"
    if len(indices) != len(matrix.data) or starts[-1] > len(indices):
        return f"indptr promises {starts[-1]} entries; there are {len(matrix.data)}, with {len(indices)} indices"
    return _outside(indices[: starts[-1]], n_minor)


def _outside(indices: np.ndarray, size: int) -> str | None:
    if not indices.size or ((least := indices.min()) >= 0 and indices.max() < size):
        return None
    return f"an index is {least if least < 0 else indices.max()}, outside 0 … {size - 1}"


_PROBLEMS: dict[str, Callable[[Any], str | None]] = {
    "coo": _problem_of_coo,
    "csr": lambda matrix: _problem_compressed(matrix, *matrix.shape),
    "csc": lambda matrix: _problem_compressed(matrix, *matrix.shape[::-1]),
    "bsr": _problem_of_bsr,
    "lil": _problem_of_lil,
    "dok": lambda matrix: _problem_converted(matrix.tocoo),
    "dia": _problem_of_dia,
}
