"""From data and their weights to data with weights: of arrays in memory, and of blocks, each of which has its own rows of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...exceptions import DataError
from ...kernels.namespace import Array, Namespace, to_host
from ..base import Data
from ..compressed import to_csr
from ..dense import DenseData
from ..sparse import SparseData
from .base import Pair
from .dense import WeightedDense
from .observed import ObservedData
from .pairs import PairWeighted


class Scaled(NamedTuple):
    """The weights entriesᵢⱼ · rowsᵢ · columnsⱼ, where those of entries are not in memory."""

    entries: Any
    by: Pair


@dataclass(frozen=True)
class Weighing:
    """What the blocks of data are weighted with.

    Attributes
    ----------
    ignores : bool
        Whether NaN stands for what is missing; it is refused where it is not, and has a weight.
    weights : Pair, Scaled, or anything a range of whose rows can be had by a slice
        None where all are one.
    keeps_pairs : bool
        Whether no entry has to be filled, since all features have a weight and all values are there. Samples without one are
        zero.
    """

    ignores: bool = False
    weights: Any = None
    keeps_pairs: bool = False

    def of(self, rows: Any) -> Any:
        """The weights of some rows."""
        match self.weights:
            case None:
                return None
            case Pair(own, columns):
                return Pair(own[rows], columns)
            case Scaled(entries, by):
                return Scaled(entries[rows], Pair(by.rows[rows], by.columns))
            case entries:
                return entries[rows]

    def without_weights(self) -> Weighing:
        """The same for those to whom the weights of their rows are sent."""
        return replace(self, weights=None)

    def weigh(self, block: Any, weights: Any) -> Data:
        """A block, with its rows of the weights: what the same rows are in memory."""
        if weights is None:
            return block if isinstance(block, SparseData) else WeightedDense(block.values, block.namespace, block.unit)
        if not isinstance(weights, Pair):
            return _of_entries(block, _in_memory(weights, block), self.ignores)
        pair = Pair(*(np.asarray(part, block.namespace.dtype) for part in weights))
        if isinstance(block, SparseData):
            return weighted_sparse(block, pair)
        if not self.keeps_pairs:
            return WeightedDense(block.values, block.namespace, block.unit, pair)
        values = zero_without_weight(block.values, pair, block.namespace)
        return PairWeighted(DenseData(np.ascontiguousarray(values), block.namespace), pair)


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
    if sparse.issparse(entries):
        return sparse.csr_array(sparse.diags_array(rows) @ entries @ sparse.diags_array(columns))
    return entries * rows[:, None] * columns


def _of_entries(block: Any, weights: Any, ignores: bool) -> Data:
    if isinstance(block, SparseData):
        return weighted_sparse(block, weights)
    if not sparse.issparse(weights):
        return WeightedDense(block.values, block.namespace, block.unit, weights)
    weights.sum_duplicates()
    weights.eliminate_zeros()
    values = stored(block.values, weights, "X", ignores)
    known = ~np.isnan(values.data)
    if not known.all():
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))[known]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=values.shape[0]))])
        values, weights = (
            sparse.csr_array((part.data[known], part.indices[known], indptr), shape=part.shape) for part in (values, weights)
        )
    return ObservedData(values, block.namespace, weights.astype(block.namespace.dtype))


def refuses_nan(weighing: Weighing | None) -> bool:
    """Whether an entry with a weight must not be NaN."""
    return weighing is not None and not weighing.ignores


def first_unknown(block: Any) -> tuple[int, int] | None:
    """The first entry that is NaN and has a weight, where NaN does not stand for what is missing."""
    if not isinstance(block, WeightedDense) or block.weights is None:
        return None
    weights = block.weights.block(slice(None)) if isinstance(block.weights, Pair) else block.weights
    wrong = np.isnan(block.values) & (weights > 0)
    if not wrong.any():
        return None
    i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(i), int(j)


def check_weights(weights: Any, what: str) -> None:
    """Refuse weights that are negative, or not finite."""
    host = to_host(weights)
    if not np.isfinite(host).all():
        raise DataError(f"{what} must be finite numbers; {int(np.sum(~np.isfinite(host)))} of them are not.")
    if (host < 0).any():
        raise DataError(f"{what} must not be negative; {int(np.sum(host < 0))} of them are. Weight 0 stands for a missing entry.")


def zero_without_weight(values: Array, weights: Pair, namespace: Namespace) -> Array:
    """Set rows and columns without weight to zero, whatever stands there: in a copy, where there are any."""
    xp = namespace.xp
    rows, columns = (part > 0 for part in weights)
    if bool(xp.all(rows)) and bool(xp.all(columns)):
        return values
    return xp.where(rows[:, None] & columns[None, :], values, xp.zeros_like(values[:1, :1]))


def stored(X: np.ndarray, weights: sparse.csr_array, name: str, ignores: bool) -> sparse.csr_array:
    """The entries of a dense array that have a weight, of those that are few."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(weights.indptr))
    entries = np.where(weights.data > 0, X[rows, weights.indices], 0.0).astype(X.dtype)
    if not ignores and np.isnan(entries).any():
        raise DataError(f"{name} has entries that are not finite, NaN, and have a weight. With missing='ignore' they are left out.")
    return sparse.csr_array((entries, weights.indices, weights.indptr), shape=X.shape)


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
