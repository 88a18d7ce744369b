"""From whatever the user has to data the engine can work with, or to a sentence that says why not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from .base import Data, Total
from .dense import DenseData
from .gram import GramData
from .host import as_dense
from .namespace import Array, Namespace, is_array, namespace_of, to_host
from .opening import opened
from .signed import Operator, SignedData
from .sketch import SketchData
from .sparse import SparseData


class Gram:
    """Data X given by its Gram matrix K = X Xᵀ alone: a kernel between the rows of X.

    ``factorize(Gram(K), "W W.T X", rank=5)`` is kernel PNMF (QNMF §5.1).

    Parameters
    ----------
    kernel : array, sparse array or Operator
    checked : bool, default=True
        Refuse what cannot be X Xᵀ. A similarity that is not, as of a graph, can be used all the same: the rule, and its proof, need
        no more than entries ≥ 0; the objective is then no longer a distance, and may be negative.
    """

    def __init__(self, kernel: Any, *, checked: bool = True) -> None:
        self.kernel, self.checked = kernel, checked


class Signed:
    """A symmetric matrix of either sign, S = positive − negative, given by two parts without negative entries.

    Each is an array, a sparse array or an `Operator`; ``factorize(Signed(P, N), Model("W.T S W", "trace", …, data="S"))`` never
    forms S.
    """

    def __init__(self, positive: Any, negative: Any) -> None:
        self.positive, self.negative = positive, negative


class Sketch:
    """Data X given by combinations R of its rows with RᵀR ≈ XᵀX, of either sign: a summary of many samples in constant memory.

    Parameters
    ----------
    rows : array of shape (few, n_features)
    energy : float, optional
        ‖X‖², if that is known: what is left out of the sketch then counts in the objective.
    """

    def __init__(self, rows: Any, energy: float | None = None) -> None:
        self.rows, self.energy = rows, energy


def read_data(
    X: Any,
    name: str = "X",
    *,
    signed: bool = False,
    symmetric: bool = False,
    positive: bool = False,
    totals: Iterable[Total] = (),
) -> Data:
    """Check X and wrap it, in one reading.

    Parameters
    ----------
    X : array, sparse array, Gram, Data, path or open file, or anything NumPy can read as a matrix
    signed : bool
        Whether negative entries are allowed.
    symmetric : bool
        Whether X must be.
    positive : bool
        Whether zeros are not.
    totals : iterable
        Sums over all entries that will be asked for, to be found on the way.
    """
    if isinstance(X, Gram):
        return _read_gram(X, name)
    if isinstance(X, Signed):
        return _read_signed(X, name)
    if isinstance(X, Sketch):
        sketch = SketchData(*read_matrix(X.rows, f"the sketch of {name}"), energy=X.energy)
        if 0 in sketch.shape:
            raise DataError(f"The sketch of {name} is empty: its shape is {tuple(sketch.shape)}.")
        _check_finite(sketch, f"the sketch of {name}")
        return sketch
    if isinstance(X, SketchData):
        return X
    X = opened(X)
    data = X if isinstance(X, Data) else _read_sparse(X, name) if sparse.issparse(X) else DenseData(*read_matrix(X, name))
    if 0 in data.shape:
        raise DataError(f"{name} is empty: its shape is {tuple(data.shape)}. At least one row and one column are needed.")
    data.expect(totals, signed=signed)
    data.read(totals)
    _check_finite(data, name)
    if symmetric:
        _check_symmetric(data, name)
    if not signed:
        _check_sign(data, name, positive)
    return data


def read_array(X: Any, name: str) -> np.ndarray:
    """A matrix without negative entries, checked, as a dense array on the host: for factors that are given."""
    return to_host(read_data(X, name).whole())


def read_matrix(array: Any, name: str) -> tuple[Array, Namespace]:
    """A dense matrix with its namespace: float32 stays float32, anything else real becomes float64."""
    refuse_masked(array, name)
    if not is_array(array):
        try:
            array = np.asarray(array)
        except ValueError as error:
            raise DataError(f"{name} cannot be read as a matrix: {error}.") from error
    if getattr(array, "requires_grad", False):
        array = array.detach()  # a factorization is not differentiated through
    if getattr(array, "is_sparse", False) or getattr(array, "is_sparse_csr", False):
        raise DataError(f"{name} is a sparse tensor of {type(array).__module__}; give it as a SciPy sparse array, or dense.")
    if isinstance(array, np.ndarray):
        array = np.asarray(array)  # np.matrix and masked arrays are subclasses that multiply otherwise
    if array.ndim != 2:
        raise DataError(
            f"{name} must be a matrix with rows and columns; got {array.ndim} dimension{'s' * (array.ndim != 1)}, shape "
            f"{tuple(array.shape)}." + (" Reshape it with reshape(-1, 1) or reshape(1, -1)." if array.ndim == 1 else "")
        )
    namespace = namespace_of(array)
    if isinstance(array, np.ndarray) and array.dtype.kind not in "fiub":
        if array.dtype.kind == "c":
            raise DataError(f"{name} is complex; only real numbers can be non-negative.")
        if array.dtype.kind != "O":
            raise DataError(f"{name} holds entries of type {array.dtype}, which are not numbers.")
        try:
            return array.astype(np.float64), namespace
        except (TypeError, ValueError) as error:
            raise DataError(f"{name} holds entries that are not numbers: {error}.") from error
    if not isinstance(array, np.ndarray) and namespace.xp.isdtype(array.dtype, "complex floating"):
        raise DataError(f"{name} is complex; only real numbers can be non-negative.")
    return namespace.asarray(array), namespace


def refuse_masked(array: Any, name: str) -> None:
    """Refuse a masked array in which something is masked: what lies under the mask is no data."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise DataError(
            f"{name} is a masked array with missing entries, {int(np.sum(array.mask))} of them. Missing values are not supported "
            "yet: drop those rows or columns, or fill them in first, as with `filled`."
        )


def _read_sparse(X: Any, name: str) -> SparseData:
    if X.ndim != 2:
        raise DataError(f"{name} must be a matrix with rows and columns; got {X.ndim} dimension, shape {X.shape}.")
    if np.dtype(X.dtype).kind not in "fiub":
        raise DataError(f"{name} is sparse with entries of type {X.dtype}; only real numbers can be approximated.")
    dtype = X.dtype if X.dtype == np.float32 else np.float64
    values = sparse.csr_array(X, dtype=dtype)
    if not values.has_canonical_format or not np.all(values.data):
        values = sparse.csr_array(values, copy=True)  # the user's arrays are never changed
        values.sum_duplicates()
        values.eliminate_zeros()
    return SparseData(values, Namespace(np, np.dtype(dtype), "cpu"))


def _read_signed(X: Signed, name: str) -> SignedData:
    parts = []
    for part, label in ((X.positive, f"the positive part of {name}"), (X.negative, f"the negative part of {name}")):
        parts.append(part if isinstance(part, Operator) else _values(read_data(part, label)))
    positive, negative = parts
    if positive.shape != negative.shape or positive.shape[0] != positive.shape[1]:
        raise DataError(f"The two parts of {name} must be square and of one size; they are {positive.shape} and {negative.shape}.")
    return SignedData(positive, negative, Namespace(np, np.dtype(np.float64), "cpu"))


def _read_gram(X: Gram, name: str) -> GramData:
    label = f"the Gram matrix of {name}"
    if isinstance(X.kernel, Operator):
        return GramData(X.kernel, Namespace(np, np.dtype(np.float64), "cpu"), bounded=False)
    data: Any = _read_sparse(X.kernel, label) if sparse.issparse(X.kernel) else DenseData(*read_matrix(X.kernel, label))
    K, xp = data.values, data.namespace.xp
    if 0 in data.shape:
        raise DataError(f"The Gram matrix of {name} is empty.")
    _check_finite(data, label)
    _check_symmetric(data, label)
    _check_sign(data, label, positive=False)
    if not X.checked:
        return GramData(K, data.namespace, bounded=False)
    entries, (rows, columns) = (K.data, K.nonzero()) if sparse.issparse(K) else (K, (None, None))
    diagonal = K.diagonal() if rows is not None else xp.linalg.diagonal(K)
    length = diagonal**0.5  # squares of extreme kernels are not representable
    most = length[rows] * length[columns] if rows is not None else length[:, None] * length[None, :]
    if bool(xp.any(_ROUNDED * most < entries)):
        raise DataError(
            f"The Gram matrix of {name} has entries with K_ij² far above K_ii K_jj, so it is not X Xᵀ of any X. A graph or a "
            "similarity becomes a kernel by adding a large enough number to its diagonal."
        )
    return GramData(K, data.namespace)


_ROUNDED = 2.0
"""By how much K_ij may exceed √(K_ii K_jj): kernels come rounded, some to whole numbers."""


def _values(data: Any) -> Any:
    """The array, or sparse array, of data that were read from one."""
    return data.values


def _first(data: Data, condition: Callable[[Any], Any]) -> tuple[int, tuple[int, int], float]:
    """How many entries meet a condition, the place of the first, and its value."""
    count, place, value = 0, None, math.nan
    for rows, block in data.blocks():
        entries = as_dense(block)
        mask = condition(entries)
        count += int(mask.sum())
        if place is None and mask.any():
            i, j = np.unravel_index(int(np.argmax(mask)), mask.shape)
            place, value = (rows.start + int(i), int(j)), float(entries[i, j])
    return count, place or (0, 0), value


def _check_finite(data: Data, name: str) -> None:
    if math.isfinite(data.facts.lowest) and math.isfinite(data.facts.highest):
        return
    count, place, value = _first(data, lambda entries: ~np.isfinite(entries))
    raise DataError(
        f"{name} has {count} entr{'y' if count == 1 else 'ies'} that {'is' if count == 1 else 'are'} not finite, the first "
        f"({value}) at {place}. Missing values are not supported yet, and infinite ones cannot be approximated: drop those rows or "
        "columns, or fill them in first, as with `sklearn.impute.SimpleImputer`."
    )


def _check_sign(data: Data, name: str, positive: bool) -> None:
    if data.facts.lowest < 0:
        count, place, value = _first(data, lambda entries: entries < 0)
        raise DataError(
            f"{name} has {count} negative entr{'y' if count == 1 else 'ies'}, the first ({value:g}) at {place}. A non-negative "
            "factorization has no place for them: shift or clip them first; or let `nonneg.factorize` have a 'signed' factor."
        )
    zeros = data.shape[0] * data.shape[1] - data.facts.non_zeros
    if positive and zeros:
        raise DataError(
            f"{name} has {zeros} zero entr{'y' if zeros == 1 else 'ies'}, where this divergence is infinite whatever the "
            "approximation. Add a small number to the data, or use a divergence that allows zeros, such as "
            "'kullback-leibler', 'euclidean' or Beta(b) with b > 0."
        )


def _check_symmetric(data: Data, name: str) -> None:
    m, n = data.shape
    if m != n:
        raise DataError(f"{name} must be square and symmetric here; its shape is {(m, n)}.")
    largest = 0.0
    for (_, row_block), (_, column_block) in zip(data.blocks(), data.blocks(transposed=True), strict=True):
        largest = max(largest, float(abs(row_block - column_block).max()))
    if largest > 100 * data.namespace.eps * data.facts.peak:
        raise DataError(
            f"{name} must be symmetric here, but entries differ from their mirror image by up to {largest:g}. "
            "The mean of the matrix and its transpose is symmetric and has the same quadratic form."
        )
