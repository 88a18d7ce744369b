"""What NumPy and BLAS are quick at, for arrays of theirs: long products in blocks, and entrywise work in pieces.

Nothing here changes a result by more than rounding, and nothing is needed for other libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from ..kernels.threads import over_pieces, suited_to
from .namespace import Array

_PIECE = 2**14
"""Entries of a piece: few enough for all that is made of it on the way to stay in the cache."""
_SMALL = 10**6
"""Multiplications up to which BLAS takes matrices as they lie, rather than copying them into an order that it likes first."""
_ENOUGH = 8
"""Rows that a block must have at least to be worth a call."""
_FEW = 4
"""Threads that can share out a product between them, without waiting for the interpreter; more are left to BLAS."""
_WORTH_A_THREAD = 2 * 10**7
"""Multiplications, at least, for each of them."""


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """How many threads a product of matrices may use at the moment."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)


def multiplied(left: Any, right: Any, threads: int | None = None) -> Array:
    """The product left @ right, in rows: where one side is long, in as little as half the time that BLAS takes at one go.

    Few threads get ranges of rows. Those of BLAS would meet again and again on the way through a long side, and if other work
    is going on, wait for each other most of the time.

    Parameters
    ----------
    threads : int, optional
        What `blas_threads` said, for who asks often.
    """
    (rows, inner), columns = left.shape, right.shape[1]
    if rows * inner * columns <= _SMALL or not type(left) is type(right) is np.ndarray or left.dtype != right.dtype:
        return left @ right
    threads = threads or blas_threads()
    if threads <= _FEW and left.flags.c_contiguous and rows >= 4 * columns and inner * columns * _ENOUGH <= _SMALL:
        result, block = np.empty((rows, columns), left.dtype), _SMALL // (inner * columns)
        _share_out(_multiply_rows, rows, threads, inner * columns, left, np.ascontiguousarray(right), result, block)
        return result
    if threads <= _FEW and left.flags.f_contiguous and inner >= 4 * min(rows, columns):
        product = sum(_share_out(_multiply_range, inner, threads, rows * columns, left, right))
        return product if product.flags.c_contiguous else np.ascontiguousarray(product)
    return left @ right


def _multiply_rows(first: int, last: int, left: Array, right: Array, result: Array, block: int) -> None:
    """Some rows of left, so few at a time that BLAS does not copy them."""
    for start in range(first, last, block):
        rows = slice(start, min(start + block, last))
        np.matmul(left[rows], right, out=result[rows])


def _multiply_range(first: int, last: int, left: Array, right: Array) -> Array:
    """What a range of the inner side adds to Aᵀ · right; with A the larger one, BLAS is quicker at rightᵀ · A."""
    a, b = left[:, first:last], right[first:last]
    return a @ b if left.size <= right.size else (b.T @ a.T).T


def _share_out(work: Callable[..., Any], rows: int, threads: int, each: int, *arguments: Any) -> list[Any]:
    """Do the work for ranges of rows, each of which takes so many multiplications."""
    with nullcontext() if threads == 1 else suited_to(0):
        return over_pieces(lambda start, stop: work(start, stop, *arguments), rows, each, _WORTH_A_THREAD)


def clip(xp: Any, array: Array, low: float, high: float) -> Array:
    """What `xp.clip` gives, without the microsecond that NumPy takes to find its method."""
    clipped: Array = array.clip(low, high) if xp is np else xp.clip(array, low, high)
    return clipped


def by_pieces(function: Callable[..., Array], *arrays: Array) -> Array:
    """An entrywise function of arrays. Large ones are taken to pieces, lest every operation goes through memory."""
    pieces = _pieces(*arrays)
    if pieces is None:
        return function(*arrays)
    result = np.empty_like(arrays[0])
    entries = result.reshape(-1, order="A")
    for start, piece in zip(range(0, result.size, _PIECE), pieces, strict=True):
        entries[start : start + _PIECE] = function(*piece)
    return result


def inner(xp: Any, left: Array, right: Array) -> Array:
    """⟨left, right⟩, summed in double precision."""
    pieces = _pieces(left, right)
    if pieces is None:
        return xp.sum(xp.astype(left, xp.float64, copy=False) * xp.astype(right, xp.float64, copy=False))
    return sum(np.vdot(a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)) for a, b in pieces)


def _pieces(*arrays: Array) -> Iterator[tuple[Array, ...]] | None:
    """NumPy arrays of one shape and order, piece by piece; None where they are not, or are small."""
    first = arrays[0]
    if not isinstance(first, np.ndarray) or first.size <= 2 * _PIECE or any(array.shape != first.shape for array in arrays):
        return None
    for order in ("c_contiguous", "f_contiguous"):
        if all(getattr(array.flags, order) for array in arrays):
            flat = [array.reshape(-1, order="A") for array in arrays]
            return (tuple(array[start : start + _PIECE] for array in flat) for start in range(0, first.size, _PIECE))
    return None
