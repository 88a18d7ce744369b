"""Sparse data: passes visit non-zeros alone if possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..kernels.host import as_dense, is_kept_in_double, is_small, kept, multiplied
from ..kernels.host import logarithm as log_of
from ..kernels.namespace import Array, Namespace
from ..kernels.tuned import tuned
from .base import Data, Facts, Total, terms_of
from .dense import known_from
from .device import not_to_be_moved
from .profile import Costs
from .steps import Descent, ElementwiseOperand, Request, Sweep, floor_of
from .visiting import Pass, row_blocks, share_out

_Way = Callable[[Array, Array | None, Sequence[Request], float | None], tuple[list[Array], Array | None]]


@dataclass(eq=False)
class SparseData(Data):
    """A SciPy sparse array, in rows. Zeros are never visited unless the operand is not zero there."""

    values: sparse.csr_array
    namespace: Namespace
    costs: ClassVar[Costs] = Costs(storage="sparse", mixed_precision=False)  # type: ignore[misc]
    is_passing: bool = field(default=False, kw_only=True)
    """Whether it is here for one visit, as a block of a file is: then to have Xᵀ in rows is not worth the time that it takes."""

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.values.shape

    @property
    def size(self) -> int:
        return self.values.nnz

    def moved(self, namespace: Namespace) -> Data:
        if self.is_pattern:
            raise not_to_be_moved(self, namespace, "Sparse data with a weight for each entry, or with missing entries,")
        from .device_sparse import DeviceSparse

        return known_from(self, DeviceSparse.of(self.values, namespace))

    def in_units(self, unit: float) -> SparseData:
        values = sparse.csr_array((self.values.data / unit, self.values.indices, self.values.indptr), shape=self.shape)
        return SparseData(without_zeros(values), self.namespace, is_passing=self.is_passing)

    is_pattern: ClassVar[bool] = False
    """Whether entries that are not stored are missing, rather than zero."""

    # ---- sums

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        entries, weights, each = self.values.data, self._weights(False), self.size if self.size < _LARGE else _PIECE
        beside = self.shape[0] * self.shape[1] - self.size
        extremes, counts, sums = [0.0] if (beside and not self.is_pattern) or not self.size else [], 0, np.zeros(len(totals))
        with np.errstate(all="ignore"):  # entries that are not finite are refused later, by name
            for start in range(0, self.size, max(each, 1)):
                some, own = entries[start : start + each], weights[start : start + each]
                extremes += [float(some.min()), float(some.max())]
                counts += int(np.count_nonzero(some))
                # A negative power of a zero is refused with the data (`requires_positive_data`); a positive one adds nothing.
                found = (terms_of(np, some, *total) for total in totals)
                sums += [float(np.sum(terms * own if len(own) else terms, dtype=np.float64)) for terms in found]
        facts = Facts(float(np.min(extremes)), float(np.max(extremes)), counts, beside if self.is_pattern else 0)
        return facts, sums.tolist()

    @cached_property
    def _row_of_entry(self) -> np.ndarray:
        return np.repeat(np.arange(self.shape[0]), np.diff(self.values.indptr))

    # ---- products

    @cached_property
    def _signed_parts(self) -> dict[str, sparse.csr_array]:
        return {"⁺": self.values.maximum(0), "⁻": (-self.values).maximum(0)}

    def apply(self, M: Any, *, transposed: bool = False, sign: str = "") -> Array:
        X = self._signed_parts[sign] if sign else self.values
        if type(M) is np.ndarray and self._sums_in_double(M, transposed):
            return _in_double(X, M, transposed)
        if type(M) is np.ndarray and X.nnz * M.shape[1] >= 2 * _WORTH_A_RANGE:
            return _by_ranges(X, M, transposed)
        return multiplied(X.T if transposed else X, M)

    def apply_after(self, M: Any, *, transposed: bool = False, sign: str = "") -> Array:
        if type(M) is np.ndarray and self._sums_in_double(M.T, not transposed):
            return super().apply_after(M, transposed=transposed, sign=sign)
        X = self._signed_parts[sign] if sign else self.values
        return multiplied(M, X.T if transposed else X)

    def _sums_in_double(self, M: np.ndarray, transposed: bool) -> bool:
        """Whether a product of float32 data is summed in double precision."""
        rows, summands = self.shape[::-1] if transposed else self.shape
        return self.values.dtype == np.float32 and (M.dtype == np.float64 or is_kept_in_double(rows, summands, M.shape[1]))

    def with_itself(self, first: bool, second: bool) -> np.ndarray:
        # It is formed only if it is smaller than the data.
        X = self.values.astype(np.float64) if self.values.dtype == np.float32 else self.values
        return as_dense((X.T if first else X) @ (X.T if second else X))

    def itself(self) -> sparse.csr_array:
        return self.values

    def take(self, items: np.ndarray, axis: int) -> sparse.csr_array:
        return (self.values if axis == 0 else self._transposed)[items]

    def subset(self, items: np.ndarray, axis: int) -> SparseData:
        some = self.take(items, axis)
        return SparseData(some.T.tocsr() if axis else some, self.namespace)

    def blocks(self, *, transposed: bool = False, as_stored: bool = False) -> Iterator[tuple[slice, sparse.csr_array]]:
        if not as_stored:
            return super().blocks(transposed=transposed)
        return cut_by_non_zeros(self._transposed if transposed else self.values)

    @cached_property
    def _transposed(self) -> sparse.csr_array:
        """Xᵀ in rows, for passes that would otherwise add to all rows of their result in turn, and could not be shared out."""
        return self.values.T.tocsr()

    # ---- row by row

    def sweep(self, sweep: Sweep, *, transposed: bool = False) -> None:
        if sweep.is_symmetric:
            self._sweep_symmetric(sweep)
            return
        sweep_sparse(self._transposed if transposed else self.values, sweep, is_gram=False, is_identity=False)

    @cached_property
    def _symmetric(self) -> sparse.csr_array:
        return self.values if not (self.values != self.values.T).nnz else ((self.values + self.values.T) / 2).tocsr()

    def _sweep_symmetric(self, sweep: Sweep) -> None:
        sweep_sparse(self._symmetric, sweep._replace(Y=sweep.F), is_gram=True, is_identity=True)

    def descend(self, descent: Descent, *, transposed: bool = False) -> None:
        if not descent.curve.on_pattern:
            super().descend(descent, transposed=transposed)
            return
        self.descend_stored(descent, transposed=transposed)

    def descend_stored(self, descent: Descent, *, transposed: bool = False) -> None:
        """As `descend`, over the stored entries: beside them X̂ counts by its linear term, if the curve has one."""
        from ..kernels.newton import newton_sparse
        from ..kernels.threads import over_rows

        X, (F, V, curve, options, first, totals) = self._transposed if transposed else self.values, descent
        rest = (np.ascontiguousarray(V.T), descent.linear, *curve.arguments, floor_of(np, F.dtype), options, totals)
        over_rows(newton_sparse, X.indptr, first, F, X.indptr, X.indices, X.data.astype(F.dtype, copy=False), *rest)

    # ---- entry by entry

    def visit(self, U: Any, V: Any | None, requests: Sequence[Request], log_power: float | None = None) -> tuple[list[Array], Any]:
        if V is not None and V.shape[0] < min(self.shape):  # narrow: a fixed factor, which is small, and not X itself
            U, V = as_dense(U), as_dense(V)
        at_non_zeros = self._way_at_non_zeros(U, V)
        ways = [self._way_of(request, at_non_zeros) for request in requests]
        without_data = self._gathered if self.is_pattern else self._everywhere
        way_of_logarithm = None if log_power is None else at_non_zeros if log_power else without_data
        results: dict[int, Array] = {}
        logarithm = None
        for compute in (self._sampled, self._gathered, self._everywhere):
            where = [i for i, chosen in enumerate(ways) if chosen == compute]
            if where or compute == way_of_logarithm:
                power = log_power if compute == way_of_logarithm else None
                products, total = compute(U, V, [requests[i] for i in where], power)
                results.update(zip(where, products, strict=True))
                logarithm = logarithm if power is None else total
        return [results[i] for i in range(len(requests))], logarithm

    def _way_at_non_zeros(self, U: Any, V: Any | None) -> _Way:
        is_exact = not self.is_pattern and self.values.dtype == np.float32 and is_small(math.prod(self.shape))
        has_sparse = V is None or sparse.issparse(U) or sparse.issparse(V)
        return self._gathered if is_exact or has_sparse else self._sampled

    def _way_of(self, request: Request, at_non_zeros: _Way) -> _Way:
        """The pass that serves a request: at non-zeros, with the operand stored or not, or at all entries."""
        operand, _, matrix = request
        if not (self.is_pattern or operand.on_pattern):
            return self._everywhere
        is_plain = operand.exponents is not None and matrix is not None and not sparse.issparse(matrix)
        return at_non_zeros if is_plain else self._gathered

    def _sampled(
        self, U: Array, V: Array, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], float | None]:
        """Products with E = X^p ∘ X̂^e, in one pass over the non-zeros for each E, in which nothing is stored.

        A pass over the rows adds to all rows of Eᵀ·N in turn. If X has many columns with few entries each, and products on
        both sides are asked for, each side has a pass of its own, which threads can share without a result for each.
        """
        together: dict[Any, dict[str, dict[int, Any]]] = {}
        for i, (operand, side, matrix) in enumerate(requests):
            sides = together.setdefault(operand, {"right": {}, "left": {}})
            assert matrix is not None  # `visit` has other ways for E itself
            sides[side][i] = matrix if side == "right" else matrix.T
        results: dict[int, Array] = {}
        logarithm: float | None = None
        for operand, sides in together.items():
            power = log_power if logarithm is None else None  # the first pass sums the logarithms
            right, left = (_side_by_side(self.namespace.xp, list(matrices.values())) for matrices in sides.values())
            *products, total = self._products(U, V, operand.exponents, right, left, power)
            for matrices, product, summands in zip(sides.values(), products, self.shape[::-1], strict=True):
                if product is not None:
                    cuts = np.cumsum([0, *(matrix.shape[1] for matrix in matrices.values())]).tolist()
                    shares = [self.namespace.in_rows(product[:, start:stop]) for start, stop in pairwise(cuts)]
                    results.update(
                        (i, kept(share, summands, self.namespace.dtype)) for i, share in zip(matrices, shares, strict=True)
                    )
            results.update({i: results[i].T for i in sides["left"]})
            logarithm = total if power else logarithm
        if not requests:
            _, _, logarithm = self._products(U, V, (1, -1), None, None, log_power)
        return [results[i] for i in range(len(requests))], logarithm

    def _products(
        self, U: Array, V: Array, exponents: tuple[float, float], right: Array | None, left: Array | None, log_power: float | None
    ) -> tuple[Array | None, Array | None, float]:
        """E·M for the matrix on the right, Eᵀ·N for the transpose of that on the left, and the sum of logarithms if asked for."""
        rows = self.values, self._weights(False), U, V.T, exponents
        if left is None or self.is_passing or (right is not None and left.shape[1] * self.shape[1] <= self.size):
            return _pass(*rows, right, left, log_power)
        columns = self._transposed, self._weights(True), V.T, U, exponents
        if right is None:
            product, _, total = _pass(*columns, left, None, log_power)
            return None, product, total
        product, _, total = _pass(*rows, right, None, log_power)
        return product, _pass(*columns, left, None, None)[0], total

    def _weights(self, transposed: bool) -> np.ndarray:
        """The weights of the entries of X, or of Xᵀ, in their stored order; empty if all are one."""
        return np.empty(0, self.values.dtype)

    def _gathered(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        """Products with any operand that is zero for zero X, evaluated at the non-zeros and stored."""
        walk = Pass(self, U, V, requests)
        x, approximation = self.values.data, self._approximation(walk)

        def evaluate(operand: ElementwiseOperand) -> sparse.csr_array:
            entries = self._weighed(operand, operand.evaluate(np, x, approximation))
            return sparse.csr_array((entries, self.values.indices, self.values.indptr), shape=self.shape)

        walk.add(slice(0, self.shape[0]), evaluate)
        if log_power is None:
            return walk.results, None
        return walk.results, np.sum(self._weighed(None, x**log_power * log_of(np, approximation)), dtype=np.float64)

    def _weighed(self, operand: ElementwiseOperand | None, entries: np.ndarray) -> np.ndarray:
        """The entries of an operand, or of a sum, times their weights, if any."""
        return entries

    def _approximation(self, walk: Pass) -> np.ndarray:
        """X̂ at the non-zeros of X, in chunks so that no nnz × rank array is alive."""
        rows, columns, U, V = self._row_of_entry, self.values.indices, walk.U, walk.V
        result = np.empty(self.size, dtype=U.dtype)
        if V is None or sparse.issparse(U) or sparse.issparse(V):
            for block in row_blocks(*self.shape, "cpu"):
                entries = slice(self.values.indptr[block.start], self.values.indptr[block.stop])
                result[entries] = walk.approximation(block)[rows[entries] - block.start, columns[entries]]
            return result
        U, VT = (np.ascontiguousarray(side, dtype=result.dtype) for side in (U, V.T))
        for chunk in row_blocks(self.size, U.shape[1], "cpu"):
            np.einsum("ij,ij->i", U[rows[chunk]], VT[columns[chunk]], out=result[chunk])
        return np.clip(result, walk.floor, None)

    def _everywhere(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        """Products with operands that are not zero for zero X; X̂ is formed in blocks of rows."""
        if V is not None and log_power is None and _suits_kernel(self.shape, U, V, requests):
            return share_out(self, partial(self._raised, V, self._may_be_single(U, V, requests)), U, requests)
        needs_data = any(request.operand.needs_data for request in requests)  # only if X has no zeros

        def walk(rows: slice, U: Array, requests: Sequence[Request]) -> tuple[list[Array], Array | None]:
            part = SparseData(self.values[rows], self.namespace)
            within, logarithms = Pass(part, U, V, requests), []
            for block in row_blocks(*part.shape, "cpu"):
                approximation = within.approximation(block)
                x = part.values[block].toarray() if needs_data else None
                within.add(block, lambda operand, x=x, a=approximation: operand.evaluate(np, x, a))  # type: ignore[misc]
                if log_power is not None:
                    logarithms.append(np.sum(log_of(np, approximation)))
            return within.results, None if log_power is None else np.sum(logarithms)

        return share_out(self, walk, U, requests)

    def _raised(self, V: Array, is_single: bool, rows: slice, U: Array, requests: Sequence[Request]) -> tuple[list[Array], None]:
        """Products with powers of X̂ alone, for a range of rows, by a kernel that makes X̂ once for all products with one power."""
        from ..kernels.everywhere import ROWS, power_products

        count, dtype, own = rows.stop - rows.start, self.namespace.dtype, np.float32 if is_single else self.namespace.dtype
        together: dict[float, list[int]] = {}
        for i, request in enumerate(requests):
            together.setdefault((request.operand.exponents or (0, 1))[1], []).append(i)
        results: dict[int, Array] = {}
        for power, places in together.items():
            sides: dict[str, list[int]] = {side: [i for i in places if requests[i].side == side] for side in ("right", "left")}
            M, N = (_stacked([requests[i].matrix for i in some], side, own) for side, some in sides.items())
            M, N = M if len(M) else np.empty((0, V.shape[1]), own), N.T if len(N) else np.empty((count, 0), own)
            height = -(-count // ROWS) * ROWS
            right, left = np.zeros((height, M.shape[0])), np.zeros((N.shape[1], V.shape[1]))
            operands = _made_up(U, height, own), np.ascontiguousarray(V, dtype=own)
            power_products(*operands, power, floor_of(np, own), M, _made_up(N, height, own), right, left)
            first = {"right": 0, "left": 0}
            for side, product in (("right", right[:count].T), ("left", left)):
                for i in sides[side]:
                    width = requests[i].matrix.shape[side == "right"]  # type: ignore[union-attr]
                    share = product[first[side] : first[side] + width]
                    results[i] = np.ascontiguousarray(share.T if side == "right" else share, dtype=dtype)
                    first[side] += width
        return [results[i] for i in range(len(requests))], None

    def _may_be_single(self, U: Array, V: Array, requests: Sequence[Request]) -> bool:
        """Whether entries of X̂ may be in single precision, their sums being in double.

        Of a sum over so many that leaves as many digits as it takes to see the objective fall. All have to be within its range, and
        powers positive: what is next to nothing then counts for nothing.
        """
        if math.prod(self.shape) < _HUGE or self.namespace.dtype != np.float64:
            return False
        if not all((request.operand.exponents or (0, 0))[1] > 0 for request in requests):
            return False
        largest = [float(np.max(A)) for A in (U, V, *(request.matrix for request in requests))]
        if not all(1 / _RANGE < peak < _RANGE for peak in largest):
            return False
        power = max((request.operand.exponents or (0, 0))[1] for request in requests)
        return power * abs(math.log(largest[0] * largest[1] * V.shape[0])) <= math.log(_REACH)


def _suits_kernel(shape: tuple[int, int], U: Array, V: Array, requests: Sequence[Request]) -> bool:
    """Whether there are so many entries that the kernel of `_raised` pays, and powers of X̂ are all that is asked for."""
    if math.prod(shape) < _MANY or sparse.issparse(U) or sparse.issparse(V) or not requests:
        return False
    exponents = [request.operand.exponents for request in requests]
    are_powers = all(e is not None and e[0] == 0 and e[1] >= -1 for e in exponents)
    return are_powers and not any(r.matrix is None or sparse.issparse(r.matrix) for r in requests)


def _stacked(matrices: list[Array], side: str, dtype: Any) -> Array:
    """Matrices of products on one side, on the right transposed, one below the other."""
    rows = [matrix.T if side == "right" else matrix for matrix in matrices]
    return np.ascontiguousarray(np.concatenate(rows) if len(rows) > 1 else rows[0], dtype=dtype) if rows else np.empty((0, 0))


def _made_up(A: Array, height: int, dtype: Any) -> Array:
    """A matrix with rows of zeros below it, as many as are missing."""
    found = np.zeros((height, A.shape[1]), dtype)
    found[: len(A)] = A
    return found


def sweep_sparse(X: sparse.csr_array, sweep: Sweep, *, is_gram: bool, is_identity: bool) -> None:
    """Go over the rows of F with C = X Xᵀ; or with C = X, if X is the Gram matrix. Q is C, or the identity."""
    from ..kernels.coordinates import quadratic_sparse

    F, Y, B, G, order, options, _ = sweep
    quadratic_sparse(order, F, Y, B, G, X.indptr, X.indices, X.data, is_gram, is_identity, *options)


_MANY, _HUGE = tuned((2**24, 2**29), by="text", on="2026-11-17")
"""Entries of X̂ from which a kernel is worth the seconds that its compilation takes, and from which single precision is enough."""
_RANGE, _REACH = 1e6, 1e24
"""By how much the largest entry of a factor may differ from one for single precision, and the power that is taken of that of X̂."""
_LARGE, _PIECE = tuned((2**22, 2**17), by="text", on="2026-11-17")
"""Non-zeros above which a survey goes in pieces, and the size of a piece, which fits into the cache."""
_BLOCK = tuned(2**20, by="text", on="2026-11-15")
"""Non-zeros of a block of rows, at least the number of columns."""
_WORTH_A_RANGE = tuned(2 * 10**7, by="text", on="2026-11-17")
"""Multiplications that are worth a thread."""


def without_zeros(values: Any) -> Any:
    """A sparse array without zeros that are stored, as of entries that have underflowed; others as they are."""
    if not sparse.issparse(values) or values.data.all():
        return values
    values = values.copy()  # its places may be those of another array
    values.eliminate_zeros()
    return values


def cut_by_non_zeros(X: sparse.csr_array) -> Iterator[tuple[slice, sparse.csr_array]]:
    """Blocks of the rows of X."""
    rows, columns = X.shape
    each = max(_BLOCK, columns)  # work in proportion to the columns, done for every block, stays below that for the non-zeros
    start = 0
    while start < rows:
        stop = max(start + 1, int(np.searchsorted(X.indptr, X.indptr[start] + each, side="right")) - 1)
        yield slice(start, stop), X if stop - start == rows else X[start:stop]
        start = stop


def _by_ranges(X: sparse.csr_array, M: np.ndarray, transposed: bool) -> np.ndarray:
    """X M, or Xᵀ M, by ranges of the rows of X in threads: SciPy has one for a product, and lets others work meanwhile.

    Ranges do not depend on the number of threads. Those of Xᵀ M are added up, and are so long that all sums together take no more
    memory than X does.
    """
    from ..kernels.threads import over_pieces

    (rows, columns), width, M = X.shape, M.shape[1], np.ascontiguousarray(M)

    def multiply(start: int, stop: int) -> np.ndarray:
        first, last = int(X.indptr[start]), int(X.indptr[stop])
        arrays = (X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - X.indptr[start])
        some = sparse.csr_array(arrays, shape=(stop - start, columns))
        return some.T @ M[start:stop] if transposed else some @ M

    least = max(_WORTH_A_RANGE, columns * width * width if transposed else 0)
    first, *others = found = over_pieces(multiply, rows, X.nnz * width / rows, least)
    if not transposed:
        return np.concatenate(found)
    for other in others:
        first += other
    return first


def _in_double(X: sparse.csr_array, M: np.ndarray, transposed: bool) -> np.ndarray:
    """X M, or Xᵀ M, of float32 data in double precision, in blocks of rows, so that X is not copied; a large result is rounded.

    SciPy adds up one product after the other: the rounding errors of long sums in single precision would grow with them.
    """
    (rows, columns), width, M = X.shape, M.shape[1], np.ascontiguousarray(M, dtype=np.float64)
    cuts = np.unique([0, *np.searchsorted(X.indptr, np.arange(0, X.nnz, _BLOCK)), rows])
    result = np.zeros((columns if transposed else rows, width))
    for start, stop in pairwise(cuts.tolist()):
        first, last = int(X.indptr[start]), int(X.indptr[stop])
        arrays = (X.data[first:last].astype(np.float64), X.indices[first:last], X.indptr[start : stop + 1] - X.indptr[start])
        some = sparse.csr_array(arrays, shape=(stop - start, columns))
        if transposed:
            result += some.T @ M[start:stop]
        else:
            result[start:stop] = some @ M
    return kept(result, rows if transposed else columns, X.dtype)


def _side_by_side(xp: Any, matrices: list[Array]) -> Array | None:
    """Matrices as one, or none."""
    return None if not matrices else matrices[0] if len(matrices) == 1 else xp.concat(matrices, axis=1)


def _pass(
    X: sparse.csr_array,
    weights: np.ndarray,
    U: np.ndarray,
    V: np.ndarray,
    exponents: tuple[float, float],
    M: np.ndarray | None,
    N: np.ndarray | None,
    log_power: float | None,
) -> tuple[np.ndarray | None, np.ndarray | None, float]:
    """E·M and Eᵀ·N for E = X^p ∘ X̂^e with X̂ = U·Vᵀ, and Σ X^log_power · ln X̂, whichever are asked for; rows are shared out.

    Ranges whose Eᵀ·N are added up are as many whatever the threads. Sums are in double precision.
    """
    from ..kernels.sampled import sampled_products
    from ..kernels.threads import over_pieces, over_rows

    U, V = np.ascontiguousarray(U, dtype=X.dtype), np.ascontiguousarray(V, dtype=X.dtype)
    M, N = (None if A is None else np.ascontiguousarray(A, dtype=X.dtype) for A in (M, N))
    rows, columns = X.shape
    entries, bounds = (X.indptr, X.indices, X.data, weights), _floor_and_powers(X, exponents, log_power)
    right = np.empty((columns, 0), X.dtype) if M is None else V if _are_one(M, V) else M  # often M is V
    out = np.empty((rows, right.shape[1]))
    arguments = (*entries, U, V, *bounds, right, out)
    if N is None:
        totals = over_rows(sampled_products, X.indptr, *arguments, np.empty((rows, 0), X.dtype), np.empty((columns, 0)))
        return None if M is None else out, None, sum(totals)
    left = U if _are_one(N, U) else N

    def work(start: int, stop: int) -> tuple[np.ndarray, float]:
        sums = np.zeros((columns, left.shape[1]))
        return sums, sampled_products(start, stop, *arguments, left, sums)

    least = max(_WORTH_A_PIECE, columns * left.shape[1])  # all sums together take no more memory than X
    (product, total), *others = over_pieces(work, rows, X.nnz / max(rows, 1), least)
    for more, share in others:
        product += more
        total += share
    return None if M is None else out, product, total


_WORTH_A_PIECE = tuned(20_000, by="text", on="2026-11-16")
"""Non-zeros below which a second range of rows costs more than it saves."""


def _floor_and_powers(
    X: sparse.csr_array, exponents: tuple[float, float], log_power: float | None
) -> tuple[Any, float, float, float]:
    """As kernels take them: (X/X̂)^p · X̂^(p+e) takes one power where Xᵖ · X̂ᵉ takes two; for α and Rényi divergences p + e = 0."""
    data_power, power = exponents
    return X.dtype.type(floor_of(np, X.dtype)), float(data_power), float(data_power + power), float(log_power or 0)


def _are_one(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are views of the same numbers in the same order."""
    return a.__array_interface__ == b.__array_interface__
