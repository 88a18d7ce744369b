"""Elementwise passes over rows: blocks of X̂ = U·V, ranges of rows in threads, and their results combined."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from operator import matmul
from typing import Any

import numpy as np

from ..kernels.host import as_dense, as_type, clip, in_double, is_kept_in_double, is_small, multiplied_in_double
from ..kernels.namespace import Array, Namespace
from ..kernels.tuned import tuned
from .base import Data
from .steps import ElementwiseOperand, Request, floor_of

_BLOCK_ENTRIES = {"cpu": 2**17, "accelerator": 2**24}
"""Entries of X̂ alive at a time: few enough for a cache, or enough for an accelerator."""
_LEAST_ENTRIES = tuned(2**17, by="iteration", on="2026-11-15")
"""Entries of X̂ below which a second thread costs more than it saves."""
_TINY = tuned(2**17, by="iteration", on="2026-11-17")
"""Multiplications of a product that no BLAS gives to more than one thread."""


def row_blocks(m: int, n: int, device: Any) -> Iterator[slice]:
    """Ranges of rows that are worked on at a time."""
    entries = _BLOCK_ENTRIES["cpu" if "cpu" in str(device).lower() else "accelerator"]
    # Each block reads all of V in X̂ = U·V: very wide data want several rows at a time, and BLAS likes them in sixteens.
    step = max(16, entries // max(n, 1) // 16 * 16)
    for start in range(0, m, step):
        yield slice(start, min(start + step, m))


class Pass:
    """One walk over the rows: gathers the requested products and sums block by block."""

    def __init__(self, data: Data, U: Array, V: Array | None, requests: Sequence[Request]) -> None:
        self.data, self.U, self.V, self.requests = data, U, V, requests
        self.namespace = data.namespace
        self.is_exact = self.namespace.is_host and is_small(math.prod(data.shape))
        if self.is_exact:
            self.U, self.V = in_double(U), in_double(V)
        self.floor = floor_of(self.namespace.xp, self.U.dtype)
        self.results = [self._zeros(request) for request in requests]

    def _zeros(self, request: Request) -> Array:
        m, n = self.data.shape
        width = n if request.matrix is None else request.matrix.shape[request.side == "right"]
        shape = (m, width) if request.side == "right" else (width, n)
        dtype = self.namespace.dtype
        summands = n if request.side == "right" else m
        is_kept = self.namespace.is_host and request.matrix is not None and is_kept_in_double(shape[0], summands, shape[1])
        if is_kept or self.is_exact:
            dtype = np.dtype(np.float64)
        return self.namespace.xp.zeros(shape, dtype=dtype, device=self.namespace.device)

    def approximation(self, rows: slice, *, by_columns: bool = False) -> Array:
        """A block of rows of X̂, in memory by columns if those of X are."""
        U = self.U[rows, :]
        block = as_dense(U if self.V is None else (self.V.T @ U.T).T if by_columns else U @ self.V)
        if self.U.dtype == self.namespace.dtype:
            block = as_type(block, self.U.dtype)  # V may be small, and in double precision
        return clip(self.namespace.xp, block, self.floor, math.inf)

    def add(self, rows: slice, evaluate: Callable[[ElementwiseOperand], Array]) -> None:
        """Add one block of rows to the results."""
        blocks: dict[ElementwiseOperand, Array] = {}
        for i, (operand, side, matrix) in enumerate(self.requests):
            if operand not in blocks:
                blocks[operand] = evaluate(operand)
            block = blocks[operand]
            multiply = matmul if self.results[i].dtype == self.namespace.dtype else multiplied_in_double
            if matrix is None:
                self.results[i][rows, :] = as_dense(block)
            elif side == "right":
                self.results[i][rows, :] = as_dense(multiply(block, matrix))
            else:
                self.results[i] += as_dense(multiply(matrix[:, rows], block))


Walk = Callable[[slice, Any, Sequence[Request]], tuple[list[Array], Any]]
"""(rows, rows of U, requests for these rows) → products and a sum."""


def visit_rows(walk: Walk, rows: slice, U: Array, requests: Sequence[Request]) -> tuple[list[Array], Any]:
    """Run an elementwise pass over a range of rows, with the rows of U and of requests that belong to it."""
    own = [r if r.side == "right" or r.matrix is None else r._replace(matrix=r.matrix[:, rows]) for r in requests]
    return walk(rows, U[rows, :], own)


def put_together(
    namespace: Namespace, requests: Sequence[Request], visits: Sequence[tuple[list[Array], Any]]
) -> tuple[list[Array], Any]:
    """Combine the results of ranges of rows, in order: products stacked or added, and a sum."""
    results, sums = zip(*visits, strict=True)
    if len(results) == 1:
        return results[0], sums[0]
    products = [
        namespace.xp.concat(parts) if request.side == "right" else sum(parts[1:], parts[0])
        for request, parts in zip(requests, zip(*results, strict=True), strict=True)
    ]
    return products, None if sums[0] is None else sum(sums[1:], sums[0])


def share_out(data: Data, walk: Walk, U: Array, requests: Sequence[Request]) -> tuple[list[Array], Any]:
    """Visit ranges of the rows of data on the host side by side.

    BLAS has one thread meanwhile: its products are small, and it would wait for them where the walks do not. Of tiny ones it makes
    none but with one thread, and telling it so would take longer than they do.
    """
    from ..kernels.threads import over_pieces, suited_to

    m, n = data.shape
    with nullcontext() if m * n * U.shape[1] <= _TINY else suited_to(0):
        visits = over_pieces(lambda start, stop: visit_rows(walk, slice(start, stop), U, requests), *data.shape, _LEAST_ENTRIES)
    return put_together(data.namespace, requests, visits)
