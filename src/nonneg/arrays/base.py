"""The data, as the engine sees it: something that can be multiplied, summed, and compared with a low-rank product.

The engine asks three things of X: the products X·M and Xᵀ·M (through `array`), sums of functions of its entries (`power_sum`,
`log_sum`), and products with a matrix that is an elementwise function of X and of X̂ = U·V (`elementwise`). Each kind of data
answers in its own way, and is the only place that knows how it is stored: dense rows in blocks, non-zeros only, or a Gram matrix
alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from ..expression import Word
from .namespace import Array, Namespace, to_host

_BLOCK_ENTRIES = {"cpu": 2**17, "accelerator": 2**24}
"""Entries of X̂ alive at a time: what fits into a cache, or what keeps an accelerator busy."""
_LEAST_ENTRIES = 2**17
"""Entries of X̂ below which a second thread costs more than it saves."""


class ElementwiseOperand(Protocol):
    """An m × n matrix made of X and X̂ entry by entry."""

    @property
    def on_pattern(self) -> bool: ...

    @property
    def needs_data(self) -> bool: ...

    @property
    def exponents(self) -> tuple[float, float] | None:
        """(p, e) if it is X^p ∘ X̂^e, and None if it is something else."""

    def evaluate(self, xp: Any, x: Array | None, approximation: Array) -> Array: ...


class Request(NamedTuple):
    """One product with an elementwise operand E: E·matrix (``"right"``), matrix·E (``"left"``), or E itself (no matrix)."""

    operand: ElementwiseOperand
    side: Literal["left", "right"]
    matrix: Array | None


class Unreached:
    """One where X is positive and X̂ is not, zero elsewhere."""

    on_pattern = True
    needs_data = True
    exponents = None

    def evaluate(self, xp: Any, x: Array, approximation: Array) -> Array:
        floor = floor_of(xp, approximation.dtype)
        return xp.astype((x > 0) & (approximation <= floor), approximation.dtype)


class Data(ABC):
    """An m × n matrix that is given."""

    namespace: Namespace
    shape: tuple[int, int]
    bounded: bool = True
    """Whether a divergence from it is at least zero, as it should be; not so for a similarity used as if it were a kernel."""

    @property
    @abstractmethod
    def array(self) -> Any:
        """What stands for X in a product with ``@``; None where X itself is not known."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Entries that are stored, and that a product with X has to visit."""

    @property
    def non_zeros(self) -> int:
        """Entries that are not zero: what decides about the path of a run, which is not to depend on how X is stored."""
        return self.size

    def matrices(self, name: str, *, signed: bool) -> dict[str, Any]:
        """What the letters of the data stand for: X, or its two parts X⁺ and X⁻ where it may have either sign."""
        return {name + "⁺": _above_zero(self.array), name + "⁻": _above_zero(-self.array)} if signed else {name: self.array}

    def products(self, name: str) -> dict[Word, Array]:
        """Products of the data with itself that are known to begin with."""
        return {}

    def check(self, name: str, words: Iterable[Word]) -> None:
        """Refuse words with the data in them that what is known of it cannot give."""
        return

    def samples(self) -> Any:
        """The data on the host, for what works on rows: a NumPy or a SciPy sparse array."""
        return to_host(self.array)

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """The smallest and the largest entry."""

    @property
    def peak(self) -> float:
        """The largest magnitude among the entries."""
        lowest, highest = self.range
        return max(highest, -lowest)

    @abstractmethod
    def power_sum(self, exponent: float) -> float:
        """Σ X^exponent over all m·n entries; their number for exponent 0."""

    @abstractmethod
    def log_sum(self, data_power: float) -> float:
        """Σ X^data_power · ln X, with 0 ln 0 = 0."""

    @abstractmethod
    def divided(self, by: float) -> Data:
        """The data in another unit; divided, since the reciprocal of a tiny unit is infinite."""

    @abstractmethod
    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        """The requested products for X̂ = U·V, in one pass, and Σ X^log_power · ln X̂ if asked for."""


def floor_of(xp: Any, dtype: Any) -> float:
    """The least that X̂ is taken for, which keeps X/X̂ finite where a product is exactly zero."""
    return float(xp.finfo(dtype).smallest_normal) ** 0.5


def row_blocks(m: int, n: int, device: Any) -> Iterator[slice]:
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
        self.floor = floor_of(self.namespace.xp, self.namespace.dtype)
        self.results = [self._zeros(request) for request in requests]

    def _zeros(self, request: Request) -> Array:
        m, n = self.data.shape
        width = n if request.matrix is None else request.matrix.shape[request.side == "right"]
        shape = (m, width) if request.side == "right" else (width, n)
        return self.namespace.xp.zeros(shape, dtype=self.namespace.dtype, device=self.namespace.device)

    def approximation(self, rows: slice) -> Array:
        block = self.U[rows, :] if self.V is None else self.U[rows, :] @ self.V
        return self.namespace.xp.clip(dense(block), self.floor, None)

    def add(self, rows: slice, evaluate: Callable[[ElementwiseOperand], Array]) -> None:
        """Add one block of rows to the results."""
        blocks: dict[ElementwiseOperand, Array] = {}
        for i, (operand, side, matrix) in enumerate(self.requests):
            if operand not in blocks:
                blocks[operand] = evaluate(operand)
            block = blocks[operand]
            if matrix is None:
                self.results[i][rows, :] = dense(block)
            elif side == "right":
                self.results[i][rows, :] = dense(block @ matrix)
            else:
                self.results[i] += dense(matrix[:, rows] @ block)


def share_out(
    shape: tuple[int, int],
    walk: Callable[[slice, Array, Sequence[Request]], tuple[list[Array], Array | None]],
    U: Array,
    requests: Sequence[Request],
) -> tuple[list[Array], Array | None]:
    """Walk over ranges of the rows of NumPy data side by side, and put together what the walks give: products and a sum.

    BLAS has one thread meanwhile: its products are small, and it would wait for them where the walks do not.
    """
    from ..kernels.threads import over_pieces, suited_to

    def part(start: int, stop: int) -> tuple[list[Array], Array | None]:
        rows = slice(start, stop)
        return walk(
            rows,
            U[rows, :],
            [r if r.side == "right" or r.matrix is None else r._replace(matrix=r.matrix[:, rows]) for r in requests],
        )

    m, n = shape
    with suited_to(0):
        results, sums = zip(*over_pieces(part, m, n, _LEAST_ENTRIES), strict=True)
    if len(results) == 1:
        return results[0], sums[0]
    products = [
        np.concatenate(parts) if request.side == "right" else sum(parts[1:], parts[0])
        for request, parts in zip(requests, zip(*results, strict=True), strict=True)
    ]
    return products, None if sums[0] is None else sum(sums)


def dense(array: Any) -> Array:
    """An array that may be sparse, as one that is not. For factors and blocks of rows only, never for the data."""
    return array.toarray() if sparse.issparse(array) else array


def _above_zero(array: Any) -> Any:
    """max(array, 0); sparse where the array is."""
    return array.maximum(0) if sparse.issparse(array) else (abs(array) + array) / 2
