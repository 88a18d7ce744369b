"""Data with weights, made of data in memory, or of a block, and weights in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ...exceptions import DataError
from ...kernels.csr import to_csr
from ...kernels.host import as_dense
from ...kernels.namespace import Array, Namespace, to_host
from ..base import Data
from ..dense import DenseData
from ..device import dense
from ..sketch import SketchData
from ..sparse import SparseData
from .dense import WeightedDense
from .observed import ObservedData
from .pairs import PairWeighted
from .weights import Pair, Scaled, check_weights, rows_of, scaled


@dataclass(frozen=True)
class Weighing:
    """Weights of the blocks of data.

    Attributes
    ----------
    ignores : bool
        Whether NaN stands for a missing entry; if not, NaN with a weight is refused.
    weights : Pair, Scaled, or anything with slices of rows
        None for all ones.
    keeps_pairs : bool
        Whether no entry has to be filled: all features have a weight, and all values are there.
    """

    ignores: bool = False
    weights: Any = None
    keeps_pairs: bool = False

    def of(self, rows: Any) -> Any:
        """The weights of some rows."""
        return rows_of(self.weights, rows)

    def without_weights(self) -> Weighing:
        """The same for workers, to which the weights of their rows are sent."""
        return replace(self, weights=None)

    def weigh(self, block: Any, weights: Any) -> Data:
        """A block with the weights of its rows: the same as these rows in memory."""
        if weights is None:
            return block if isinstance(block, SparseData) else WeightedDense(block.values, block.namespace, block.unit)
        if isinstance(weights, Pair):
            own: Any = Pair(*(np.asarray(part, block.namespace.dtype) for part in weights))
        else:
            own = _in_memory(weights, block)
        return weigh(block, own, self.ignores, keeps_pairs=self.keeps_pairs)


def weigh(data: Any, weights: Any, ignores: bool, name: str = "X", *, keeps_pairs: bool) -> Data:
    """Data in memory with weights that were checked; entries that are missing have none."""
    if isinstance(data, SparseData):
        return weighted_sparse(data, weights)
    if not isinstance(data, DenseData) or isinstance(data, SketchData):
        if not isinstance(weights, Pair):
            raise DataError(
                f"Data of the kind {type(data).__name__} take weights as a pair of arrays, of rows and of columns, only."
            )
        return PairWeighted(data, Pair(*map(data.namespace.asarray, weights)))
    if sparse.issparse(weights):
        return _at_weights(data, weights, name, ignores)
    if not keeps_pairs:
        return WeightedDense(data.values, data.namespace, data.unit, weights)
    values = zero_without_weight(data.values, weights, data.namespace)
    return PairWeighted(dense(values, data.namespace, data.unit), weights)


def _in_memory(weights: Any, block: Data) -> Any:
    """The weights of the entries of a block, checked, as an array or a sparse array."""
    entries, by = weights if isinstance(weights, Scaled) else (weights, None)
    entries = to_csr(entries, "weights") if sparse.issparse(entries) else np.asarray(entries, block.namespace.dtype)
    if entries.shape != block.shape:
        raise DataError(f"weights must have the shape of X; some rows of X are {block.shape}, and their weights {entries.shape}.")
    check_weights(entries.data if sparse.issparse(entries) else entries, "The weights of X")
    if by is None:
        return entries
    rows, columns = (np.asarray(part, block.namespace.dtype) for part in by)
    return scaled(entries, rows, columns)


def first_unknown(block: Any) -> tuple[int, int] | None:
    """The first entry that is NaN and has a weight."""
    if not isinstance(block, WeightedDense) or block.weights is None:
        return None
    weights = block.weights.block(slice(None)) if isinstance(block.weights, Pair) else block.weights
    wrong = np.isnan(block.values) & (weights > 0)
    if not wrong.any():
        return None
    i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(i), int(j)


def zero_without_weight(values: Array, weights: Pair, namespace: Namespace) -> Array:
    """Values with zeros in rows and columns without weight."""
    xp = namespace.xp
    rows, columns = (part > 0 for part in weights)
    if bool(xp.all(rows)) and bool(xp.all(columns)):
        return values
    return xp.where(rows[:, None] & columns[None, :], values, xp.zeros_like(values[:1, :1]))


def observed(values: sparse.csr_array, weights: np.ndarray | None, namespace: Namespace) -> ObservedData:
    """The stored entries with their weights; NaN and entries of weight 0 are dropped."""
    known = ~np.isnan(values.data) if weights is None else ~np.isnan(values.data) & (weights != 0)
    if not known.all():
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))[known]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=values.shape[0]))])
        values = sparse.csr_array((values.data[known], values.indices[known], indptr), shape=values.shape)
        weights = None if weights is None else weights[known]
    if weights is None:
        return ObservedData(values, namespace)
    own = sparse.csr_array((weights.astype(namespace.dtype), values.indices, values.indptr), shape=values.shape)
    return ObservedData(values, namespace, own)


def _at_weights(data: Any, weights: sparse.csr_array, name: str, ignores: bool) -> ObservedData:
    """The few entries of dense data with a weight."""
    weights.sum_duplicates()
    rows, X = np.repeat(np.arange(data.shape[0]), np.diff(weights.indptr)), to_host(as_dense(data.itself()))
    entries = np.where(weights.data > 0, X[rows, weights.indices], 0.0).astype(X.dtype)
    if not ignores and np.isnan(entries).any():
        raise DataError(f"{name} has entries that are not finite, NaN, and have a weight. With missing='ignore' they are left out.")
    values = sparse.csr_array((entries, weights.indices, weights.indptr), shape=X.shape)
    return observed(values, weights.data, Namespace(np, X.dtype, "cpu"))


def weighted_sparse(data: SparseData, weights: Any) -> Data:
    """Sparse data, whose zeros are data too, with weights."""
    dtype = data.namespace.dtype
    if isinstance(weights, Pair):
        return PairWeighted(_without_hidden(data, weights), Pair(*(part.astype(dtype) for part in weights)))
    weights = to_csr(weights, "weights")
    weights.sum_duplicates()
    weights.eliminate_zeros()
    if weights.nnz == data.shape[0] * data.shape[1] and (weights.data == 1).all():
        return data
    pattern = sparse.csr_array((np.arange(1, weights.nnz + 1), weights.indices, weights.indptr), shape=weights.shape)
    entries = np.zeros(weights.nnz, dtype)
    both = data.values.astype(bool).multiply(pattern).tocsr()  # the numbers of the entries that are not zero
    x = data.values.multiply(pattern.astype(bool)).tocsr()
    both.sort_indices()
    x.sort_indices()
    entries[both.data - 1] = x.data
    values = sparse.csr_array((entries, weights.indices, weights.indptr), shape=weights.shape)
    return ObservedData(values, data.namespace, weights.astype(dtype))


def _without_hidden(data: SparseData, weights: Pair) -> SparseData:
    """Sparse data without the entries of rows and columns that have no weight."""
    X, (of_rows, of_columns) = data.values, weights
    if (of_rows > 0).all() and (of_columns > 0).all():
        return data
    kept = np.repeat(of_rows > 0, np.diff(X.indptr)) & (of_columns[X.indices] > 0)
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    return SparseData(sparse.csr_array((X.data[kept], X.indices[kept], indptr), shape=X.shape), data.namespace)
