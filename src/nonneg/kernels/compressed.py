"""Sparse matrices in rows on a device: their products with dense ones, and X̂ in the places of their entries.

Arrays are PyTorch's or CuPy's. On CUDA with PyTorch kernels in Triton serve (`nonzeros`); else each library's own functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from .namespace import Array, Namespace

_LENGTH = 1024
"""Entries of a row that one program of a kernel goes over; longer rows are cut into pieces."""
_GATHERED = 2**24
"""Numbers that are gathered at a time where there are no kernels."""


class Pieces(NamedTuple):
    """Rows cut into pieces of bounded length."""

    first: Array
    """The first entry of each piece, and the number of entries."""
    row: Array
    place: Array
    """The row of a first piece; −1, −2, … for further ones."""
    long: Array
    """Rows of several pieces, and the ranges of their further ones."""
    begin: Array
    end: Array


@dataclass(eq=False)
class Pattern:
    """The places of the entries of a sparse matrix: columns, row by row, and where rows start among them."""

    starts: Array
    columns: Array
    shape: tuple[int, int]
    namespace: Namespace

    @cached_property
    def rows(self) -> Array:
        """The row of each entry."""
        xp = self.namespace.xp
        return xp.repeat(self._numbers(self.shape[0]), self.starts[1:] - self.starts[:-1])

    def _numbers(self, count: int) -> Array:
        return self.namespace.xp.arange(count, dtype=self.namespace.xp.int64, device=self.namespace.device)

    @cached_property
    def turned(self) -> tuple[Pattern, Array]:
        """The pattern of the transpose, and the order of its entries among these."""
        xp, (m, n) = self.namespace.xp, self.shape
        order = xp.argsort(self.columns, stable=True)
        columns = xp.take(self.columns, order, axis=0)
        starts = xp.searchsorted(xp.astype(columns, xp.int64), self._numbers(n + 1))
        return Pattern(starts, xp.astype(xp.take(self.rows, order, axis=0), self.columns.dtype), (n, m), self.namespace), order

    @cached_property
    def pieces(self) -> Pieces:
        xp, m = self.namespace.xp, self.shape[0]
        lengths = self.starts[1:] - self.starts[:-1]
        counts = xp.maximum((lengths + (_LENGTH - 1)) // _LENGTH, xp.ones_like(lengths))
        before = xp.cumulative_sum(counts, include_initial=True)
        row = xp.repeat(self._numbers(m), counts)
        number = self._numbers(row.shape[0]) - xp.take(before, row, axis=0)
        first = xp.concat([xp.take(self.starts, row, axis=0) + number * _LENGTH, self.starts[-1:]])
        further = xp.cumulative_sum(xp.astype(number > 0, xp.int64))
        long = xp.nonzero(counts > 1)[0]
        begin = xp.take(before, long, axis=0) - long
        return Pieces(first, row, xp.where(number > 0, -further, row), long, begin, begin + xp.take(counts, long, axis=0) - 1)


@dataclass(eq=False)
class Compressed:
    """A sparse matrix on a device. `kernels` is the module `nonzeros` where it serves, else None."""

    pattern: Pattern
    entries: Array
    kernels: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    @property
    def nnz(self) -> int:
        return int(self.entries.shape[0])

    @property
    def dtype(self) -> Any:
        return self.entries.dtype

    def with_entries(self, entries: Array) -> Compressed:
        """Other entries in the same places."""
        return replace(self, entries=entries)

    @cached_property
    def T(self) -> Compressed:
        pattern, order = self.pattern.turned
        return Compressed(pattern, self.pattern.namespace.xp.take(self.entries, order, axis=0), self.kernels)

    def __matmul__(self, M: Array) -> Array:
        if self.kernels is not None:
            return self.kernels.multiplied(self.pattern, self.entries, M)
        return _multiplied(self, M)

    def at_entries(self, U: Array, V: Array, floor: float) -> Array:
        """X̂ = U·Vᵀ ≥ floor in the places of the entries."""
        xp = self.pattern.namespace.xp
        if self.kernels is not None:
            return xp.maximum(self.kernels.sampled(self.pattern, U, V), xp.asarray(floor, dtype=U.dtype, device=U.device))
        step = max(1, _GATHERED // max(1, U.shape[1]))
        parts = [
            xp.sum(xp.take(U, self.pattern.rows[some], axis=0) * xp.take(V, self.pattern.columns[some], axis=0), axis=1)
            for some in (slice(start, start + step) for start in range(0, self.nnz, step))
        ]
        return xp.clip(xp.concat(parts) if parts else xp.zeros_like(self.entries), floor, xp.inf)

    def raised(
        self, U: Array, V: Array, exponents: tuple[float, float], M: Array | None, floor: float, log_power: float | None = None
    ) -> tuple[Array | None, Array | None]:
        """E·M for E = X^p ∘ X̂^e with X̂ = U·Vᵀ ≥ floor, and Σ X^log_power · ln X̂ over the entries."""
        if self.kernels is not None and max(U.shape[1], 0 if M is None else M.shape[1]) <= self.kernels.WIDEST:
            found: tuple[Array | None, Array | None]
            found = self.kernels.raised(self.pattern, self.entries, U, V, exponents, M, floor, log_power)
            return found
        xp, x, y = self.pattern.namespace.xp, self.entries, self.at_entries(U, V, floor)
        product = None if M is None else self.with_entries(power(x, exponents[0]) * power(y, exponents[1])) @ M
        terms = None if log_power is None else power(x, log_power) * xp.log(y)
        return product, None if terms is None else xp.sum(terms, dtype=xp.float64)

    def dense(self, rows: slice) -> Array:
        """Some rows as a dense array."""
        xp, (first, last) = self.pattern.namespace.xp, (int(self.pattern.starts[end]) for end in (rows.start, rows.stop))
        found = xp.zeros(((rows.stop - rows.start) * self.shape[1],), dtype=self.dtype, device=self.pattern.namespace.device)
        places = (self.pattern.rows[first:last] - rows.start) * self.shape[1] + self.pattern.columns[first:last]
        found[places] = self.entries[first:last]
        return xp.reshape(found, (rows.stop - rows.start, self.shape[1]))


def power(x: Array, exponent: float) -> Array:
    """x^exponent, without a call for the usual ones."""
    return x if exponent == 1 else 1.0 / x if exponent == -1 else x**exponent if exponent else x * 0 + 1


def _multiplied(X: Compressed, M: Array) -> Array:
    xp = X.pattern.namespace.xp
    by_library: Callable[[Compressed, Array], Array] = _by_torch if xp.__name__.endswith("torch") else _by_cupy
    return by_library(X, M)


def _by_torch(X: Compressed, M: Array) -> Array:
    """Products gathered in blocks of rows, and added up row by row: PyTorch's own product of sparse tensors has no fixed order."""
    import torch

    starts, step = X.pattern.starts, max(1, _GATHERED // max(1, M.shape[1]))
    found = torch.searchsorted(starts, torch.arange(0, X.nnz + step, step, device=starts.device), right=True) - 1
    cuts = sorted({0, *found.tolist(), X.shape[0]})
    parts = []
    for begin, end in pairwise(cuts):
        first, last = int(starts[begin]), int(starts[end])
        terms = X.entries[first:last, None] * M[X.pattern.columns[first:last]]
        parts.append(torch.segment_reduce(terms, "sum", lengths=starts[begin + 1 : end + 1] - starts[begin:end], axis=0))
    return torch.cat(parts) if parts else M.new_zeros((X.shape[0], M.shape[1]))


def _by_cupy(X: Compressed, M: Array) -> Array:
    from cupyx.scipy.sparse import csr_matrix

    pattern = X.pattern
    return csr_matrix((X.entries, pattern.columns, pattern.starts.astype(pattern.columns.dtype)), shape=X.shape) @ M
