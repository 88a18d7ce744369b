"""The interface of data: the only way to X.

X is multiplied with small matrices (`apply`), compared entry by entry with a low-rank product (`visit`), summed up (`survey`), gone
over row by row by coordinate descent (`sweep`), and taken in part (`take`). A kind of data is a class with these methods and hides
its storage. Only the first few methods are abstract; a kind overrides others if it has a quicker way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.host import as_dense, as_operand, in_double
from ..kernels.namespace import Array, Namespace
from ..kernels.tuned import tuned
from .profile import Costs
from .steps import Descent, Request, Sweep

_CHUNK = tuned(2**20, by="iteration", on="2026-11-16")
"""Entries of X in one piece of a pass."""


class Facts(NamedTuple):
    """Results of one pass over the data."""

    lowest: float
    highest: float
    non_zeros: int
    """Entries that are not zero. Stored zeros are not counted, so that dense and sparse X have the same plans."""
    missing: int = 0
    """Entries without a weight, whose values are unknown."""

    @property
    def peak(self) -> float:
        """The largest magnitude among the entries."""
        return max(self.highest, -self.lowest)

    def has_squares(self, namespace: Namespace) -> bool:
        """Whether squares of the largest entries, and sums of them, neither over- nor underflow."""
        return bool(namespace.smallest ** (1 / 3) < self.peak < namespace.largest ** (1 / 3))

    def in_units(self, unit: float) -> Facts:
        """The facts of X/unit."""
        return self._replace(lowest=self.lowest / unit, highest=self.highest / unit)


Total = tuple[Literal["power", "logarithm"], float]
"""A sum over all entries: ("power", p) is Σ Xᵖ, ("logarithm", p) is Σ Xᵖ ln X with 0 ln 0 = 0."""


def terms_of(xp: Any, x: Array, kind: str, exponent: float) -> Array:
    """xᵖ, or xᵖ ln x with 0 ln 0 = 0, of each entry, in double precision."""
    x = in_double(x)
    terms = x if exponent == 1 else x**exponent if exponent else xp.ones_like(x)
    return terms if kind == "power" else terms * xp.log(xp.where(x > 0, x, xp.ones_like(x)))


class Data(ABC):
    """An m × n matrix that is given, and reached only through these methods.

    Arguments and results are arrays of its `namespace`; a fixed factor may be sparse.
    """

    namespace: Namespace
    shape: tuple[int, int]
    costs: Costs = Costs()
    """How entries are stored, and which passes over them there are."""
    feature_names: Sequence[str] | None = None
    """Names of the columns, if there are any."""
    log: Any = None
    """Counter of passes, a `ReadingLog`, for data out of core."""
    in_blocks: tuple[Any, bool] | None = None
    """Blocks that one reading can do several things with, and whether their rows are columns of X."""
    seen: Any = None
    """Wishes for the first pass out of core, and its results: a `Seen`."""
    cache: dict[Any, Any] | None = None
    """Results of functions of the data that take passes out of core, by name."""
    origin: Any = None
    """Source of data in memory, for messages: an `Origin` (a file) or a `BlockOrigin` (a collection)."""

    # ---- abstract

    @abstractmethod
    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        """X M, or Xᵀ M; with the sign "⁺" or "⁻", of the positive part of X, or of −X."""

    @abstractmethod
    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        """The requested products for X̂ = U·V, in one pass, and Σ X^log_power · ln X̂ if asked for.

        V is None if U is X̂ itself. Entries of X̂ are raised to `floor_of` of their type.
        """

    @abstractmethod
    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        """Facts and sums over all entries, in one reading. Entries that are not finite show in the extremes."""

    @abstractmethod
    def take(self, items: np.ndarray, axis: int) -> Any:
        """Some rows (axis 0) or columns (axis 1) on the host, one row of the result for each: a NumPy or a SciPy sparse array."""

    @abstractmethod
    def in_units(self, unit: float) -> Data:
        """X/unit, without a copy."""

    # ---- derived

    @property
    def size(self) -> int:
        """Entries that are stored, and that a product with X has to visit."""
        return self.shape[0] * self.shape[1]

    @property
    def facts(self) -> Facts:
        """Extremes and counts, from the first pass."""
        return self._read()[0]

    def _read(self, totals: Sequence[Total] = ()) -> tuple[Facts, list[float]]:
        """The facts and these sums, each found once."""
        known: dict[Total, float] = self.__dict__.setdefault("_totals", {})
        missing = [total for total in dict.fromkeys(totals) if total not in known]
        if missing or "_facts" not in self.__dict__:
            self._facts, values = self.survey(missing)
            known.update(zip(missing, values, strict=True))
        return self._facts, [known[total] for total in totals]

    @property
    def T(self) -> Data:
        """Xᵀ."""
        from .transposed import TransposedData

        return TransposedData(self)

    def power_sum(self, exponent: float, *, logarithm: bool = False) -> float:
        """Σ X^exponent over all entries, times their weights, for exponent 0 the sum of the weights; or Σ X^exponent · ln X."""
        if not exponent and not logarithm and not self.costs.weighted:
            return float(self.shape[0] * self.shape[1])
        return float(self._read([("logarithm" if logarithm else "power", exponent)])[1][0])

    def apply_after(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        """M X, or M Xᵀ, in rows."""
        return self.namespace.in_rows(self.apply(M.T, transposed=not transposed, sign=sign).T)

    def apply_gram(self, M: Array, *, transposed: bool = False) -> Array:
        """X Xᵀ M, or Xᵀ X M."""
        return self.apply(
            as_operand(self.apply(M, transposed=not transposed), self.namespace.dtype, self.shape), transposed=transposed
        )

    def with_itself(self, first: bool, second: bool) -> Array:
        """The product of X with itself, each of the two transposed or not: X Xᵀ is ``with_itself(False, True)``."""
        columns = self.shape[0] if second else self.shape[1]
        pieces = [
            self.apply(self.namespace.asarray(as_dense(self.take(some, axis=0 if second else 1))).T, transposed=first)
            for some in chunks(columns, self.shape[1] if second else self.shape[0])
        ]
        return self.namespace.in_rows(self.namespace.xp.concat(pieces, axis=1))

    def itself(self) -> Any:
        """X as an array or a sparse array, for forms with a factor as large as X."""
        return self.apply(self.namespace.xp.eye(self.shape[1], dtype=self.namespace.dtype, device=self.namespace.device))

    def blocks(self, *, transposed: bool = False, as_stored: bool = False) -> Iterator[tuple[slice, Any]]:
        """A few rows of X, or of Xᵀ, at a time, on the host; `as_stored` sparse ones are cut by non-zeros, too wide to be dense."""
        rows, columns = self.shape[::-1] if transposed else self.shape
        for some in chunks(rows, columns):
            yield slice(int(some[0]), int(some[-1]) + 1), self.take(some, axis=int(transposed))

    def sweep(self, sweep: Sweep, *, transposed: bool = False) -> None:
        """Go over the rows of F once, for C = Q = X Xᵀ (or Xᵀ X; see `Sweep`), in place."""
        if sweep.is_symmetric:
            self._sweep_symmetric(sweep)
            return
        from ..kernels.coordinates import quadratic_rows

        F, Y, B, G, order, options, _ = sweep
        for start in range(0, len(order), step := chunk_rows(self.shape[0 if transposed else 1])):
            some = order[start : start + step]
            X = np.ascontiguousarray(as_dense(self.take(some, axis=int(transposed))), dtype=F.dtype)
            own = F[some]
            quadratic_rows(np.arange(len(some)), own, Y, B, G, X, *options)
            F[some] = own

    def _sweep_symmetric(self, sweep: Sweep) -> None:
        """As `sweep`, for C = (X + Xᵀ)/2 and Q = I; X is square."""
        from .sparse import sweep_sparse

        for start in range(0, len(sweep.order), step := chunk_rows(self.shape[1])):
            some = sweep.order[start : start + step]
            C = sparse.csr_array((self.take(some, axis=0) + self.take(some, axis=1)) / 2)
            # Among rows of zeros, which are not gone over.
            spread = sparse.csr_array((np.ones(len(some)), (some, np.arange(len(some)))), shape=(self.shape[0], len(some)))
            sweep_sparse(sparse.csr_array(spread @ C), sweep._replace(Y=sweep.F, order=some), is_gram=True, is_identity=True)

    def descend(self, descent: Descent, *, transposed: bool = False) -> None:
        """Go over the rows of F once by Newton's method, beside the rows of X, or of Xᵀ, in place."""
        descent = descent.padded()
        for rows, block in self.blocks(transposed=transposed):
            descent.over_dense(rows, as_dense(block))

    def subset(self, items: np.ndarray, axis: int) -> Data:
        """Some of the rows (axis 0) or columns (axis 1), as data of their own."""
        from .device import dense

        some = self.namespace.asarray(as_dense(self.take(items, axis)))
        return dense(self.namespace.in_rows(some.T if axis else some), self.namespace)

    def lengths(self, axis: int) -> np.ndarray:
        """The Euclidean length of each row (axis 0) or column (axis 1)."""
        known = self.__dict__.setdefault("_lengths", {})
        if axis not in known:
            known[axis] = self._measured_lengths(axis)
        return known[axis]

    def _measured_lengths(self, axis: int) -> np.ndarray:
        squares = [
            np.asarray((block.multiply(block) if hasattr(block, "multiply") else block * block).sum(axis=1, dtype=np.float64))
            for _, block in self.blocks(transposed=axis == 1, as_stored=True)
        ]
        return np.sqrt(np.concatenate([np.ravel(part) for part in squares]))


def request(data: Data, totals: Iterable[Total], *, signed: bool = False) -> None:
    """Find sums with the facts; out of core note them for the first pass, and whether entries may be negative."""
    if data.seen is None:
        data._read(tuple(totals))
    elif data.seen.facts is None:
        data.seen.wanted |= dict.fromkeys(totals)
        data.seen.signed = data.seen.signed or signed


def apply_both(data: Data, M: Array, N: Array | None = None) -> tuple[Array, Array]:
    """X M and Xᵀ N; without N, X M and Xᵀ X M. Out of core they share a pass, if one pass can give both."""
    blocks, is_turned = data.in_blocks or (None, False)
    if blocks is not None and not is_turned:
        return blocks.apply_both(M, N)
    if blocks is not None and N is not None:
        return blocks.apply_both(N, M)[::-1]
    product = data.apply(M)
    return product, data.apply(as_operand(product, data.namespace.dtype, data.shape) if N is None else N, transposed=True)


def items_of(data: Any) -> Data:
    """Data to find clusters in: X, filled where entries are missing; or its Gram matrix, or sketch, if nothing else is known."""
    found: Data = getattr(data, "items", data)
    return found


def chunk_rows(columns: int) -> int:
    """How many rows with so many columns are looked at together."""
    return max(16, _CHUNK // max(columns, 1))


def chunks(rows: int, columns: int) -> Iterator[np.ndarray]:
    """The numbers of rows, a few at a time."""
    step = chunk_rows(columns)
    for start in range(0, rows, step):
        yield np.arange(start, min(start + step, rows))
