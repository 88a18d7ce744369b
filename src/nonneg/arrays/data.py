"""The data, as the engine sees it: something that can be multiplied, summed, and compared with a low-rank product.

The engine asks three things of X: the products X·M and Xᵀ·M (through `array`), sums of functions of its entries (`total`), and
products with a matrix that is an elementwise function of X and of X̂ = U·V (`elementwise`). Each kind of data answers in its own
way, and is the only place that knows how it is stored: dense rows in blocks, non-zeros only, or a Gram matrix alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from ..exceptions import IncompatibleError
from ..expression import Letter, Word
from ..rewriting import reduce_identity
from .namespace import Array, Namespace, to_host

_BLOCK_ENTRIES = {"cpu": 2**18, "accelerator": 2**24}
"""Entries of X̂ alive at a time: what fits into a cache, or what keeps an accelerator busy."""


class ElementwiseOperand(Protocol):
    """An m × n matrix made of X and X̂ entry by entry."""

    @property
    def on_pattern(self) -> bool: ...

    @property
    def needs_data(self) -> bool: ...

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

    def evaluate(self, xp: Any, x: Array, approximation: Array) -> Array:
        floor = _floor(xp, approximation.dtype)
        return xp.astype((x > 0) & (approximation <= floor), approximation.dtype)


class Data(ABC):
    """An m × n matrix that is given."""

    namespace: Namespace
    shape: tuple[int, int]

    @property
    @abstractmethod
    def array(self) -> Any:
        """What stands for X in a product with ``@``; None where X itself is not known."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Entries that are stored, and that a product with X has to visit."""

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


def _floor(xp: Any, dtype: Any) -> float:
    """The least that X̂ is taken for, which keeps X/X̂ finite where a product is exactly zero."""
    return float(xp.finfo(dtype).smallest_normal) ** 0.5


def row_blocks(m: int, n: int, device: Any) -> Iterator[slice]:
    entries = _BLOCK_ENTRIES["cpu" if "cpu" in str(device).lower() else "accelerator"]
    step = max(16, entries // max(n, 1))  # each block reads all of V in X̂ = U·V: very wide data want several rows at a time
    for start in range(0, m, step):
        yield slice(start, min(start + step, m))


class _Pass:
    """One walk over the rows: gathers the requested products and sums block by block."""

    def __init__(self, data: Data, U: Array, V: Array | None, requests: Sequence[Request]) -> None:
        self.data, self.U, self.V, self.requests = data, U, V, requests
        self.namespace = data.namespace
        xp, (m, n) = self.namespace.xp, data.shape
        self.floor = _floor(xp, self.namespace.dtype)
        self.results = []
        for request in requests:
            width = n if request.matrix is None else request.matrix.shape[request.side == "right"]
            shape = (m, width) if request.side == "right" else (width, n)
            self.results.append(xp.zeros(shape, dtype=self.namespace.dtype, device=self.namespace.device))

    def approximation(self, rows: slice) -> Array:
        block = self.U[rows, :] if self.V is None else self.U[rows, :] @ self.V
        return self.namespace.xp.clip(dense(block), self.floor, None)

    def add(self, rows: slice, evaluate: Callable[[ElementwiseOperand], Array], where: Sequence[int]) -> None:
        """Add one block of rows to the results numbered in `where`."""
        blocks: dict[ElementwiseOperand, Array] = {}
        for i in where:
            operand, side, matrix = self.requests[i]
            if operand not in blocks:
                blocks[operand] = evaluate(operand)
            block = blocks[operand]
            if matrix is None:
                self.results[i][rows, :] = dense(block)
            elif side == "right":
                self.results[i][rows, :] = dense(block @ matrix)
            else:
                self.results[i] += dense(matrix[:, rows] @ block)


@dataclass(eq=False)
class DenseData(Data):
    """A dense array of any library."""

    values: Array
    namespace: Namespace

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.values.shape

    @property
    def array(self) -> Array:
        return self.values

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def range(self) -> tuple[float, float]:
        xp = self.namespace.xp
        return float(xp.min(self.values)), float(xp.max(self.values))

    def _total(self, function: Callable[[Array], Array]) -> float:
        xp = self.namespace.xp
        blocks = (self.values[rows, :] for rows in row_blocks(*self.shape, self.namespace.device))
        return math.fsum(float(xp.sum(function(block), dtype=xp.float64)) for block in blocks)

    def power_sum(self, exponent: float) -> float:
        return self._total(lambda x: x**exponent) if exponent else float(self.size)

    def log_sum(self, data_power: float) -> float:
        xp = self.namespace.xp
        return self._total(lambda x: xp.log(xp.where(x > 0, x, xp.ones_like(x))) * (x**data_power if data_power else 1.0))

    def divided(self, by: float) -> DenseData:
        return DenseData(self.values / by, self.namespace)

    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        xp = self.namespace.xp
        walk, logarithm = _Pass(self, U, V, requests), None
        for rows in row_blocks(*self.shape, self.namespace.device):
            x, approximation = self.values[rows, :], walk.approximation(rows)
            walk.add(rows, lambda operand, x=x, a=approximation: operand.evaluate(xp, x, a), range(len(requests)))  # type: ignore[misc]
            if log_power is not None:
                terms = xp.log(approximation) * (x**log_power if log_power else 1.0)
                logarithm = xp.sum(terms, dtype=xp.float64) + (0.0 if logarithm is None else logarithm)
        return walk.results, logarithm


@dataclass(eq=False)
class SketchData(DenseData):
    """X known only through a few combinations R of its rows with RᵀR ≈ XᵀX: what is kept of a stream of samples."""

    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self._unknown()

    def power_sum(self, exponent: float) -> float:
        if exponent != 2:
            raise self._unknown()
        return super().power_sum(exponent)

    def log_sum(self, data_power: float) -> float:
        raise self._unknown()

    def divided(self, by: float) -> SketchData:
        return SketchData(self.values / by, self.namespace)

    def check(self, name: str, words: Iterable[Word]) -> None:
        X = Letter(name)
        if any(letter.name == name for word in words for letter in reduce_identity(word, X.T)):
            raise self._unknown()

    @staticmethod
    def _unknown() -> IncompatibleError:
        return IncompatibleError(
            "Only a sketch R with RᵀR ≈ XᵀX is known of this data, not its entries: use a form and a divergence that need no more, "
            "such as 'X W W.T' with 'euclidean'."
        )


@dataclass(eq=False)
class SparseData(Data):
    """A SciPy sparse array, in rows. Zeros are never visited unless the operand is not zero there."""

    values: sparse.csr_array
    namespace: Namespace

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.values.shape

    @property
    def array(self) -> sparse.csr_array:
        return self.values

    @property
    def size(self) -> int:
        return self.values.nnz

    def samples(self) -> sparse.csr_array:
        return self.values

    @property
    def range(self) -> tuple[float, float]:
        zero = [0.0] if self.size < self.shape[0] * self.shape[1] else []
        extremes = [float(extreme) for extreme in (self.values.data.min(), self.values.data.max())] if self.size else []
        return min(extremes + zero), max(extremes + zero)

    @cached_property
    def _row_of_entry(self) -> np.ndarray:
        return np.repeat(np.arange(self.shape[0]), np.diff(self.values.indptr))

    def power_sum(self, exponent: float) -> float:
        # A negative power of a zero is refused with the data (`requires_positive_data`); a positive one adds nothing.
        if not exponent:
            return float(self.shape[0] * self.shape[1])
        return float(np.sum(self.values.data**exponent, dtype=np.float64))

    def log_sum(self, data_power: float) -> float:
        entries = self.values.data
        return float(np.sum(np.log(entries) * entries**data_power, dtype=np.float64))

    def divided(self, by: float) -> SparseData:
        values = self.values.copy()
        values.data /= by
        values.eliminate_zeros()  # what is too small for the new unit is zero, and zeros are not stored
        return SparseData(values, self.namespace)

    def _approximation(self, walk: _Pass) -> np.ndarray:
        """X̂ at the non-zeros of X, in chunks so that no nnz × rank array is alive."""
        rows, columns, U, V = self._row_of_entry, self.values.indices, walk.U, walk.V
        result = np.empty(self.size, dtype=self.namespace.dtype)
        if V is not None and V.shape[0] < min(self.shape):  # narrow: a fixed factor, which is small, and not X itself
            U, V = dense(U), dense(V)
        if V is None or sparse.issparse(U) or sparse.issparse(V):
            for block in row_blocks(*self.shape, "cpu"):
                entries = slice(self.values.indptr[block.start], self.values.indptr[block.stop])
                result[entries] = walk.approximation(block)[rows[entries] - block.start, columns[entries]]
            return result
        U, VT = np.ascontiguousarray(U), np.ascontiguousarray(V.T)
        step = max(1, _BLOCK_ENTRIES["cpu"] // U.shape[1])
        for start in range(0, self.size, step):
            chunk = slice(start, start + step)
            np.einsum("ij,ij->i", U[rows[chunk]], VT[columns[chunk]], out=result[chunk])
        return np.clip(result, walk.floor, None)

    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        walk, logarithm = _Pass(self, U, V, requests), None
        on_pattern = [i for i, request in enumerate(requests) if request.operand.on_pattern]
        elsewhere = [i for i, request in enumerate(requests) if not request.operand.on_pattern]
        if on_pattern or log_power:
            x, approximation = self.values.data, self._approximation(walk)

            def evaluate(operand: ElementwiseOperand) -> sparse.csr_array:
                entries = operand.evaluate(np, x, approximation)
                return sparse.csr_array((entries, self.values.indices, self.values.indptr), shape=self.shape)

            walk.add(slice(0, self.shape[0]), evaluate, on_pattern)
            if log_power:
                logarithm = np.sum(x**log_power * np.log(approximation), dtype=np.float64)
        if elsewhere or log_power == 0:
            logarithms = []
            for rows in row_blocks(*self.shape, self.namespace.device):
                block = walk.approximation(rows)
                needs_data = any(requests[i].operand.needs_data for i in elsewhere)  # only where X has no zeros
                x = self.values[rows].toarray() if needs_data else None
                walk.add(rows, lambda operand, x=x, a=block: operand.evaluate(np, x, a), elsewhere)  # type: ignore[misc]
                if log_power == 0:
                    logarithms.append(np.sum(np.log(block), dtype=np.float64))
            logarithm = np.sum(logarithms) if log_power == 0 else logarithm
        return walk.results, logarithm


@dataclass(eq=False)
class GramData(Data):
    """X known only through K = X Xᵀ: kernel methods, where X holds the (implicit) features of each row."""

    gram: Array
    namespace: Namespace

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.gram.shape  # X may be taken to be the square root of K

    @property
    def array(self) -> None:
        return None

    def matrices(self, name: str, *, signed: bool) -> dict[str, Any]:
        return {}

    def samples(self) -> Any:
        # Rows that are alike in X are alike in their products with all the others.
        return self.gram if sparse.issparse(self.gram) else to_host(self.gram)

    def products(self, name: str) -> dict[Word, Array]:
        return {Word([Letter(name), Letter(name, True)]): self.gram}

    @property
    def size(self) -> int:
        return self.gram.nnz if sparse.issparse(self.gram) else self.shape[0] ** 2

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, float(self.gram.max() if sparse.issparse(self.gram) else self.namespace.xp.max(self.gram)) ** 0.5

    def power_sum(self, exponent: float) -> float:
        if exponent != 2:
            raise self._unknown()
        is_sparse = sparse.issparse(self.gram)
        return float(self.gram.trace() if is_sparse else self.namespace.xp.linalg.trace(self.gram))  # ‖X‖² = tr(X Xᵀ)

    def log_sum(self, data_power: float) -> float:
        raise self._unknown()

    def divided(self, by: float) -> GramData:
        return GramData(self.gram / by / by, self.namespace)

    def elementwise(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self._unknown()

    @staticmethod
    def _unknown() -> IncompatibleError:
        return IncompatibleError(
            "Only X Xᵀ is known of this data, not its entries: use a form and a divergence that need no more, such as "
            "'W W.T X' with 'euclidean'."
        )


def dense(array: Any) -> Array:
    """An array that may be sparse, as one that is not. For factors and blocks of rows only, never for the data."""
    return array.toarray() if sparse.issparse(array) else array


def _above_zero(array: Any) -> Any:
    """max(array, 0); sparse where the array is."""
    return array.maximum(0) if sparse.issparse(array) else (abs(array) + array) / 2
