"""Work on a block whose entries have weights, for `Blocks`; and rows of several blocks, in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...kernels.namespace import Array
from ..base import Data, items_of
from ..sparse import SparseData
from ..steps import Request
from .base import DataTerm, LowRank, Partial, Weighted
from .pairs import PairWeighted
from .weights import stacked, transposed

_ENTRIES = 2**24
"""Of products of the columns of a factor that are alive at a time in a block."""


# ---- work on a block


def filled(block: Any, shared: Any, own: Any) -> Data:
    return block.filled(LowRank(own[0], shared[0])) if isinstance(block, Partial) else block


def blended(block: Any, shared: Any, own: Any) -> Data:
    return block.blended(LowRank(own[0], shared[0]), *shared[1:])[0] if isinstance(block, Partial) else block


def spread_of(block: Any, shared: Any, own: Any) -> tuple[float]:
    return (block.blended(LowRank(own[0], shared[0]), *shared[1:])[1] if isinstance(block, Partial) else 0.0,)


def with_inside(block: Any, shared: Any, own: Any) -> Data:
    return block.with_inside(filled(block, shared, own)) if isinstance(block, Partial) else block


def whole(block: Any, shared: Any, own: Any) -> Data:
    return items_of(block)


def absorbed(block: Any, shared: Any, own: Any) -> Data:
    return block.absorbed(*shared)


def swept(block: Any, shared: Any, own: Any) -> tuple[Array]:
    F = np.array(own[0], order="C")
    block.sweep_rows(F, *shared)
    return (F,)


def settled(block: Any, shared: Any, own: Any) -> tuple[Array]:
    left, right, prior = shared
    found = block.settled(left, right, prior) if isinstance(block, Partial) else None
    return (block.apply(left) if found is None else found.U,)


def some_columns(block: Data, shared: Any, own: Any) -> tuple[Data]:
    return (block.subset(shared[0], 1),)


def _sums(block: Data, terms: Sequence[tuple[float, np.ndarray]]) -> list[Array]:
    """Σ v xᵖ mᵢ over the rows of a block, for each column of it, for every power and matrix that is asked for."""
    m, n = block.shape
    requests = [Request(DataTerm("power", power), "left", np.ascontiguousarray(M.T)) for power, M in terms]
    return block.visit(block.namespace.ones(m, 1), block.namespace.ones(1, n), requests)[0]


def _products_of(A: np.ndarray, B: np.ndarray, block: Data, pairs: Sequence[tuple[int, int]]) -> Array:
    """Σ v aₖ bₗ over the rows of a block for each column of it, and each of these k and l: a row for each."""
    each, found = max(1, _ENTRIES // max(len(A), 1)), []
    for start in range(0, len(pairs), each):
        some = np.array(pairs[start : start + each])
        found += _sums(block, [(0.0, A[:, some[:, 0]] * B[:, some[:, 1]])])
    return np.concatenate(found)


def sums_of_columns(block: Data, shared: Any, own: Any) -> tuple[Array, Array]:
    """Σ v lₖ rⱼ for pairs of k and j, and Σ v x l, for some columns; R is L if it is not given."""
    (some, pairs), left, right = shared, own[0], own[-1]
    block = block if len(some) == block.shape[1] else block.subset(some, 1)
    L, R = left.astype(np.float64), right.astype(np.float64)
    return _products_of(L, R, block, pairs).astype(np.float64), _sums(block, [(1.0, L)])[0].astype(np.float64)


# ---- rows of several blocks, in memory


def stack_blocks(parts: Sequence[Any]) -> Data:
    """Blocks, one below the other."""
    return parts[0] if len(parts) == 1 else _arranged(parts, stacked)


def transpose_block(data: Any) -> Data:
    """The transpose of data in memory."""
    return _arranged([data], lambda matrices: transposed(matrices[0]))


def _arranged(parts: Sequence[Any], arrange: Callable[[Sequence[Any]], Any]) -> Data:
    """Data with values and weights of several, stacked or transposed."""
    first, weights = parts[0], {"weights": arrange([part.weights for part in parts])} if isinstance(parts[0], Weighted) else {}
    if isinstance(first, PairWeighted):
        return PairWeighted(_arranged([part.base for part in parts], arrange), weights["weights"])
    kept = {"is_passing": False} if isinstance(first, SparseData) else {}
    return replace(first, values=arrange([part.values for part in parts]), **weights, **kept)
