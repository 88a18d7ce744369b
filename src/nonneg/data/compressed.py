"""The gate for sparse matrices: SciPy's compiled loops trust the indices, so they are checked before any conversion."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from .memory import refuse_too_large

_MANY_ROWS = 10**7
"""Rows from which the index is compared with the memory that is free."""


def to_csr(matrix: Any, name: str, *, dtype: Any = None, copy: bool = False) -> sparse.csr_array:
    """Convert a sparse matrix of any format, or an array, to CSR; raise a `DataError` if indices do not fit the shape."""
    if sparse.issparse(matrix):
        check_sparse(matrix, name)
        if matrix.format != "csr" and matrix.shape[0] > _MANY_ROWS:
            refuse_too_large(16 * matrix.shape[0], f"The row index of {name}")
    return sparse.csr_array(matrix, dtype=dtype, copy=copy)


def check_sparse(matrix: Any, name: str) -> None:
    """Raise a `DataError` for a sparse matrix that is not valid: indices out of range, arrays of wrong lengths.

    SciPy does not check matrices whose arrays were assigned, nor those of its readers; converting one writes out of bounds.
    """
    problem = _problem_of(matrix)
    if problem is not None:
        shape = " × ".join(map(str, matrix.shape))
        raise DataError(
            f"{name} is not a valid sparse matrix of {shape}: {problem}. It was cut off or altered, or built from wrong arrays."
        )


def _problem_of(matrix: Any) -> str | None:
    match matrix.format:
        case "coo":
            if any(len(indices) != len(matrix.data) for indices in matrix.coords):
                return f"{len(matrix.data)} entries are stored, with indices of {', '.join(str(len(one)) for one in matrix.coords)}"
            return next(
                (found for axis, size in zip(matrix.coords, matrix.shape, strict=True) if (found := _outside(axis, size))), None
            )
        case "csr":
            return _problem_compressed(matrix, *matrix.shape)
        case "csc":
            return _problem_compressed(matrix, *matrix.shape[::-1])
        case "bsr":
            height, width = matrix.data.shape[1:] if matrix.data.ndim == 3 else (0, 0)
            if not height or not width or matrix.shape[0] % height or matrix.shape[1] % width:
                return f"blocks of {height} × {width} do not tile it"
            return _problem_compressed(matrix, matrix.shape[0] // height, matrix.shape[1] // width)
        case "lil":
            return _problem_of(matrix.tocsr())
        case "dia" if matrix.data.ndim != 2 or len(matrix.data) != len(matrix.offsets):
            return f"{len(matrix.data)} diagonals are stored, with {len(matrix.offsets)} offsets"
    return None


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
