"""Faster calls of NumPy and BLAS: long products in blocks, and entrywise work in pieces.

Nothing here changes a result by more than rounding, and nothing is needed for other libraries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from threadpoolctl import ThreadpoolController

from .namespace import Array, has_kernels, namespace_of
from .threads import limited, over_pieces, suited_to
from .tuned import tuned

_PIECE = tuned(2**16, by="iteration", on="2026-11-17")
"""Entries of a piece: few enough for intermediate results to stay in the cache, and so many that calls do not count."""
_SMALL = tuned(10**6, by="iteration", on="2026-11-15")
"""Multiplications up to which BLAS may take matrices as they lie, rather than copying them into an order that it likes first."""
_HAVE_AVX512 = {"SkylakeX", "Cooperlake", "SapphireRapids"}
"""OpenBLAS's names of processors with AVX-512, for which it has small kernels."""
_TOGETHER = tuned(6, by="iteration", on="2026-11-16")
"""Rows that these kernels work on together: blocks have a multiple of them, and at least so many."""
_FEW = tuned(4, by="iteration", on="2026-11-15")
"""Threads that can share out a product between them, without waiting for the interpreter; more are left to BLAS."""
_WORTH_A_THREAD = tuned(2 * 10**7, by="iteration", on="2026-11-15")
"""Multiplications, at least, for each of them."""
_SMALL_RESULT, _SHORT_SUM, _TALL, _CHEAP_OPERAND = tuned((2**16, 2**12, 4, 2**18), by="single", on="2026-11-20")
"""Entries up to which a product of float32 is kept in double precision; fewer if its sums are shorter than its sides, unless they
are shorter by so many times and the operand that would have to be converted has no more than so many entries."""
_EXACT_FACTOR, _EXACT_OPERANDS = tuned((2**10, 2**17), by="single", on="2026-11-18")
"""Entries of a factor, or of data, up to which float32 is converted to double before a product; as many are in blocks of others."""
_LEAST_SUMMANDS = tuned(16, by="single", on="2026-11-18")
"""Summands of a block, at least."""
_LONG, _STEP = 64, 2**11
"""Rows of a result, and summands, beside its columns: with more rows and fewer summands, a range is one of rows, since the sums of
ranges of summands would take as long as their products; and rows that are taken at a time, to stay in the cache."""
_LONG_RANGE = tuned(400, by="iteration", on="2026-11-16")
"""Rows, at least, of a range whose result is as large as its other operand."""


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """How many threads a product of matrices may use at the moment."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)


@cache
def _has_avx512() -> bool:
    """Whether the processor has AVX-512, as far as OpenBLAS tells."""
    return any(getattr(library, "architecture", None) in _HAVE_AVX512 for library in _blas().lib_controllers)


def as_dense(array: Any) -> Array:
    """An array that may be sparse, as one that is not. For factors and blocks of rows only, never for the data."""
    return array.toarray() if sparse.issparse(array) else array


def as_type(array: Any, dtype: Any) -> Any:
    """A NumPy array converted to a dtype; anything else unchanged."""
    return array.astype(dtype) if type(array) is np.ndarray and array.dtype != dtype else array


def is_small(entries: int) -> bool:
    """Whether data of float32 have so few entries that their rounding errors do not average out: they are cast as they are used."""
    return entries <= _EXACT_OPERANDS


def as_operand(array: Any, dtype: Any, shape: tuple[int, int]) -> Any:
    """A NumPy array converted to a dtype, to be combined with data of a shape; unchanged if it is small, or they are.

    The rounding errors of few entries would not average out.
    """
    if type(array) is np.ndarray and (array.size <= _EXACT_FACTOR or is_small(math.prod(shape))):
        return array
    return as_type(array, dtype)


def in_double(array: Any) -> Any:
    """A NumPy array in double precision; another library's unchanged."""
    return as_type(array, np.float64)


def logarithm(xp: Any, array: Any) -> Any:
    """The natural logarithm, of NumPy arrays in double precision: in single, their rounding errors do not average out."""
    return xp.log(in_double(array))


def is_kept_in_double(rows: int, summands: int, columns: int) -> bool:
    """Whether a product of float32 matrices is kept in double precision: it is small.

    Objectives are differences of such products. The rounding errors of large products average out, those of small ones do not.
    """
    side = max(rows, columns)
    is_cheap = summands > side or (_TALL * summands <= side and side * summands <= _CHEAP_OPERAND)
    return rows * columns <= (_SMALL_RESULT if is_cheap else _SHORT_SUM)


def kept(product: np.ndarray, summands: int, dtype: Any) -> np.ndarray:
    """A product in double precision as it is kept: rounded to the precision of the data if it is large."""
    return product if is_kept_in_double(product.shape[0], summands, product.shape[1]) else as_type(product, dtype)


def multiplied_in_double(left: Any, right: Any) -> Array:
    """The product left @ right of float32 arrays, converted to double a block at a time.

    In single precision, small summands would be lost beside a large sum: of entries that differ much in size, as parts have them,
    it comes out too low by as much as 1e-7 of itself.
    """
    if not type(left) is type(right) is np.ndarray or np.float32 not in (left.dtype, right.dtype):
        return left @ right
    (rows, summands), columns = left.shape, right.shape[1]
    first, *others = _share_out(_add_in_double, summands, blas_threads(), rows * columns, left, right)
    return sum(others, first)


def _add_in_double(first: int, last: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The product of a range of the inner side, a block at a time."""
    rows, columns = left.shape[0], right.shape[1]
    step, result = max(_LEAST_SUMMANDS, _EXACT_OPERANDS // (rows + columns)), np.zeros((rows, columns))
    for start in range(first, last, step):
        some = slice(start, min(start + step, last))
        result += left[:, some].astype(np.float64, copy=False) @ right[some].astype(np.float64, copy=False)
    return result


def _rounded_product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The product of a long float32 array and a small one in double precision, rounded to float32 once.

    The rounding errors of the small one would not average out.
    """
    if right.dtype == np.float32:
        return np.ascontiguousarray(_rounded_product(right.T, left.T).T)
    result = np.empty((left.shape[0], right.shape[1]), np.float32)
    step = max(1, _EXACT_OPERANDS // left.shape[1])
    for start in range(0, left.shape[0], step):
        result[start : start + step] = left[start : start + step].astype(np.float64) @ right
    return result


def summand(array: np.ndarray) -> np.ndarray:
    """A copy of an array to add others to; a small one of float32, in double precision."""
    return array.astype(np.float64 if is_added_in_double(array.size) and array.dtype == np.float32 else array.dtype)


def is_added_in_double(entries: int) -> bool:
    """Whether float32 arrays of so many entries are added up in double precision."""
    return entries <= _SMALL_RESULT


def multiplied(left: Any, right: Any) -> Array:
    """The product left @ right, in rows where one side is long. Small products of float32 are in double precision.

    Few threads get ranges of rows. Those of BLAS would meet again and again on the way through a long side, and if other work
    is going on, wait for each other most of the time. If BLAS has kernels for small matrices, a range is multiplied block by
    block, in as little as half the time that it takes at one go; without such kernels that would take longer.
    """
    (rows, inner), columns = left.shape, right.shape[1]
    if type(left) is type(right) is np.ndarray and np.float32 in (left.dtype, right.dtype):
        if is_kept_in_double(rows, inner, columns):
            return multiplied_in_double(left, right)
        if left.dtype != right.dtype:  # all rows, or columns, of an outer product would have the same rounding error
            return left @ right if inner == 1 else _rounded_product(left, right)
    if rows * inner * columns <= _SMALL or not type(left) is type(right) is np.ndarray or left.dtype != right.dtype:
        return left @ right
    threads = blas_threads()
    if threads == 1 and left.flags.c_contiguous and rows * inner * columns < 2 * _WORTH_A_THREAD and not _has_avx512():
        return left @ right  # one range, one block
    return _multiplied_by_ranges(left, right, threads) if threads <= _FEW else left @ right


def _multiplied_by_ranges(left: np.ndarray, right: np.ndarray, threads: int) -> np.ndarray:
    """The product in ranges of rows, or of summands, where one side is long; at one go where none is."""
    (rows, inner), columns = left.shape, right.shape[1]
    if left.flags.c_contiguous and rows >= 4 * columns and inner * columns * _TOGETHER <= _SMALL:
        result, block = np.empty((rows, columns), left.dtype), rows
        if _has_avx512():
            most = _SMALL // (inner * columns * _TOGETHER)
            blocks = -(-rows // (most * _TOGETHER))
            right, block = np.ascontiguousarray(right), -(-rows // (blocks * _TOGETHER)) * _TOGETHER  # all of about one size
        _share_out(_multiply_rows, rows, threads, inner * columns, left, right, result, block)
        return result
    if left.flags.f_contiguous and 4 * columns <= inner < _LONG * columns <= rows:
        result = np.empty((rows, columns), left.dtype)
        _share_out(_multiply_columns, rows, threads, inner * columns, left, np.ascontiguousarray(right.T), result)
        return result
    if left.flags.f_contiguous and inner >= 4 * min(rows, columns):
        first, *others = _share_out(_multiply_range, inner, threads, rows * columns, left, right)
        return np.ascontiguousarray(sum(others, first))
    return left @ right


def gram_multiplied(X: Array, M: Array) -> Array:
    """Xᵀ(X M) of an array that lies in rows: X M by ranges of its rows in threads, then the rest by ranges of its columns.

    No range waits for another within a product, and none has a result of its own to be added to those of others. Ranges of rows are
    long: for each of them BLAS packs all of M anew.
    """
    rows, columns = X.shape
    product, result = np.empty((rows, M.shape[1]), X.dtype), np.empty(M.shape, X.dtype)
    threads, each = blas_threads(), columns * M.shape[1]
    _share_out(_multiply_rows, rows, threads, each, X, M, product, rows, least=_LONG_RANGE * each)
    _share_out(_multiply_rows, columns, threads, rows * M.shape[1], X.T, product, result, columns)
    return result


def _multiply_rows(first: int, last: int, left: Array, right: Array, result: Array, block: int) -> None:
    """Some rows of left, a block at a time."""
    for start in range(first, last, block):
        rows = slice(start, min(start + block, last))
        np.matmul(left[rows], right, out=result[rows])


def _multiply_columns(first: int, last: int, left: Array, rightT: Array, result: Array) -> None:
    """Some rows of left, which lie in memory by columns: (rightᵀ leftᵀ)ᵀ a block at a time, which BLAS is quicker at."""
    for start in range(first, last, _STEP):
        rows = slice(start, min(start + _STEP, last))
        result[rows] = (rightT @ left[rows].T).T


def _multiply_range(first: int, last: int, left: Array, right: Array) -> Array:
    """Product of a range of the inner side, a summand of Aᵀ · right; with A the larger one, BLAS is quicker at rightᵀ · A."""
    a, b = left[:, first:last], right[first:last]
    return a @ b if left.size <= right.size else (b.T @ a.T).T


def _share_out(work: Callable[..., Any], rows: int, threads: int, each: int, *arguments: Any, least: int = 0) -> list[Any]:
    """Do the work for ranges of rows, each of which takes so many multiplications; a range, the least or more."""
    with limited(threads), nullcontext() if threads == 1 else suited_to(0):
        return over_pieces(lambda start, stop: work(start, stop, *arguments), rows, each, max(least, _WORTH_A_THREAD))


def positive_part(array: Any) -> Array:
    """The positive part of an array, or of a sparse one."""
    return array.maximum(0) if sparse.issparse(array) else (abs(array) + array) / 2


def above_floor(xp: Any, factor: Array, floor: float | None = None) -> Array:
    """A factor with its entries kept from vanishing: at least eps² times the largest, or a floor that is given.

    A zero never comes back under a multiplicative rule, and underflow makes zeros. The floor is relative, so it means the same at
    every scale. It is as far below eps as it is so that rows of very different size, as an Itakura–Saito fit may have, are not
    touched by it. A NumPy array is changed in place.
    """
    if xp is np:
        least = float(factor.max(initial=0.0)) * limits(np, factor.dtype)[1] ** 2 if floor is None else floor
        return np.asarray(factor.clip(least, math.inf, out=factor))
    if floor is None:  # a device would have to wait for its largest entry
        return xp.maximum(factor, xp.max(factor) * limits(xp, factor.dtype)[1] ** 2)
    return xp.clip(factor, floor, math.inf)


def bounded_ratio(xp: Any, numerator: Array, denominator: Array, least: float, most: float) -> Array:
    """Numerator / denominator, which counts as `least` at least; the ratio is from 0 to `most`."""
    if xp is not np and numerator.dtype == xp.float32 and has_kernels(namespace_of(numerator)):
        from . import fused

        if numerator.shape == denominator.shape:
            return fused.bounded_ratio(numerator, denominator, least, most)
    with np.errstate(over="ignore"):  # of matrices whose scales are as far apart as can be; the bound makes it finite
        ratio = numerator / clip(xp, denominator, least, math.inf)
    return ratio.clip(0.0, most, out=ratio) if xp is np else xp.clip(ratio, 0.0, most)


@cache
def limits(xp: Any, dtype: Any) -> tuple[float, float]:
    """The smallest normal number of a type, and its eps."""
    info = xp.finfo(dtype)
    return float(info.smallest_normal), float(info.eps)


def cube_root(xp: Any, array: Array) -> Array:
    """The cube root of non-negative numbers. NumPy's `cbrt` of float32 takes seven times as long without AVX-512."""
    if xp is not np:
        return array ** (1 / 3)
    if array.dtype != np.float32:
        return np.cbrt(array)
    with np.errstate(divide="ignore"):  # the logarithm of zero is −∞, and its power is zero
        root = np.log(array)
    root /= 3
    return np.exp(root, out=root)


def of_unit_norm(xp: Any, factor: Array, gram: Array) -> Array:
    """A factor divided by its spectral norm, the root of the largest eigenvalue of its Gram matrix."""
    if xp is np:
        square = _largest_eigenvalue(gram) if math.isfinite(gram.trace()) else 0.0  # or it is for the loop to report
        return factor * (1.0 / math.sqrt(square)) if square > 0 else factor
    gram = xp.where(xp.isfinite(gram), gram, xp.zeros_like(gram))  # or LAPACK raises before the loop can report it
    if has_kernels(namespace_of(gram)) and gram.dtype == xp.float32:
        from .fused import largest_eigenvalue  # all of them take a card as long as a product with X
    else:
        largest_eigenvalue = lambda gram: xp.linalg.eigvalsh(gram)[-1]  # noqa: E731
    norm = xp.sqrt(largest_eigenvalue(gram))
    return factor / xp.where(norm > 0, norm, xp.ones_like(norm))


def _largest_eigenvalue(gram: np.ndarray) -> float:
    """From LAPACK, which need not find the others, as it would for `eigvalsh`."""
    count = gram.shape[0]
    (find,) = get_lapack_funcs(("syevr",), (gram,))
    eigenvalues, *_, trouble = find(gram, compute_v=0, range="I", il=count, iu=count)
    return float(np.linalg.eigvalsh(gram)[-1] if trouble else eigenvalues[0])


def plus(total: Array, share: Any, more: Array) -> Array:
    """Total + share · more, in one walk if the library can; of NumPy arrays, in place."""
    if isinstance(total, np.ndarray):
        return _axpy(total.dtype)(more, total, a=float(share))
    return total.addcmul(more, share) if hasattr(total, "addcmul") else total + share * more


@cache
def _axpy(dtype: np.dtype) -> Any:
    """BLAS's axpy; looked up once, since the lookup takes longer than adding short vectors."""
    return get_blas_funcs("axpy", dtype=dtype)


def quadratic_value(F: Array, B: Array, G: Array, penalty: float, overlap: float) -> float:
    """−⟨Q, F Fᵀ⟩ + ½⟨Fᵀ Q F, Fᵀ F⟩ with B = FᵀQ F and G = FᵀF, and penalties on the sum and the overlap of rows."""
    value = np.sum(B * G) / 2 - np.trace(B)
    if penalty:
        value += penalty * F.sum(dtype=np.float64)
    if overlap:
        value += overlap / 2 * (np.square(F.sum(axis=1, dtype=np.float64)).sum() - np.trace(G))
    return float(value)


def locked(array: Array) -> Array:
    """A read-only view of an array, if its library has such."""
    if isinstance(array, np.ndarray):
        array = array.view()
        array.flags.writeable = False
    return array


def clip(xp: Any, array: Array, low: float, high: float) -> Array:
    """`xp.clip`; returns a NumPy array itself if it is within the bounds, since the test is quicker."""
    if xp is not np:
        return xp.clip(array, low, high)
    is_within = array.size == 0 or ((low == -math.inf or array.min() >= low) and (high == math.inf or array.max() <= high))
    return array if is_within else array.clip(low, high)


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
    """⟨left, right⟩, summed in double precision; infinite, without a warning, on overflow."""
    pieces = _pieces(left, right)
    if pieces is None:
        with np.errstate(over="ignore"):
            return xp.sum(xp.astype(left, xp.float64, copy=False) * xp.astype(right, xp.float64, copy=False))
    return sum(np.vdot(a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)) for a, b in pieces)


def _pieces(*arrays: Array) -> Iterator[tuple[Array, ...]] | None:
    """NumPy arrays of one shape and order, piece by piece; None for others, and small ones."""
    first = arrays[0]
    if not isinstance(first, np.ndarray) or first.size <= 2 * _PIECE or any(array.shape != first.shape for array in arrays):
        return None
    for order in ("c_contiguous", "f_contiguous"):
        if all(getattr(array.flags, order) for array in arrays):
            flat = [array.reshape(-1, order="A") for array in arrays]
            return (tuple(array[start : start + _PIECE] for array in flat) for start in range(0, first.size, _PIECE))
    return None
