"""The door to X: what the library asks of the data, and nothing else.

X is multiplied with small matrices (`apply`), compared entry by entry with a low-rank product (`visit`), summed up (`survey`), gone
over row by row by coordinate descent (`sweep`), and looked at in part (`take`). A kind of data is a class that answers; how it is
stored, and where, is nobody else's business. Only the first few methods have to be written: the others follow from them, and are
written again where a kind of data knows a quicker way.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from ..exceptions import IncompatibleError
from .host import as_dense
from .namespace import Array, Namespace

_BLOCK_ENTRIES = {"cpu": 2**17, "accelerator": 2**24}
"""Entries of X̂ alive at a time: what fits into a cache, or what keeps an accelerator busy."""
_LEAST_ENTRIES = 2**17
"""Entries of X̂ below which a second thread costs more than it saves."""
_CHUNK = 2**20
"""Entries of X that are looked at together where it is gone over in pieces."""


class Need(Enum):
    """What a model may need of X; data say which of these they give."""

    ROW_GRAM = "X Xᵀ"
    COLUMN_GRAM = "Xᵀ X"
    PRODUCTS = "products with X"
    SIGNED_PRODUCTS = "products with X⁺ and X⁻"
    ENTRIES = "its entries"


class Facts(NamedTuple):
    """What one reading of the data tells."""

    lowest: float
    highest: float
    non_zeros: int
    """Entries that are not zero: what decides about the path of a run, which is not to depend on how X is stored."""

    @property
    def peak(self) -> float:
        """The largest magnitude among the entries."""
        return max(self.highest, -self.lowest)


Total = tuple[Literal["power", "logarithm"], float]
"""A sum over all entries: ("power", p) is Σ Xᵖ, ("logarithm", p) is Σ Xᵖ ln X with 0 ln 0 = 0."""


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


class SquaredDifference:
    """(X − X̂)²."""

    on_pattern = False
    needs_data = True
    exponents = None

    def evaluate(self, xp: Any, x: Array, approximation: Array) -> Array:
        difference = x - xp.where(approximation <= floor_of(xp, approximation.dtype), 0.0 * approximation, approximation)
        return difference * difference


class Sweep(NamedTuple):
    """What coordinate descent over the rows of F goes by, kept up to date in place.

    The objective is −⟨C, F Fᵀ⟩ + ½⟨Fᵀ Q F, Fᵀ F⟩; C and Q are X Xᵀ (or Xᵀ X), or C is X made symmetric and Q the identity.
    """

    F: Array
    """The factor, by rows."""
    Y: Array
    """Xᵀ F (or X F) where X can be multiplied; F itself where only X Xᵀ is known, or Q is the identity."""
    B: Array
    """Fᵀ Q F."""
    G: Array
    """Fᵀ F."""
    order: Array
    """In which order to go over the rows."""
    options: tuple[float, float, int, int, float]
    """Weight of the penalty on the sum, on the overlap, the first column that is not given, passes, and what is enough."""

    def value(self) -> float:
        """The objective but for a constant, where C = Q."""
        penalty, overlap = self.options[:2]
        sums = penalty * self.F.sum() + overlap / 2 * (np.square(self.F.sum(axis=1)).sum() - np.trace(self.G))
        return float(np.sum(self.B * self.G) / 2 - np.trace(self.B) + sums)


class Curve(NamedTuple):
    """A divergence d(x, x̂) of two numbers as the kernels of Newton's method take it: monomials slope · xᵖ x̂^(φ−1) of its slope."""

    slopes: np.ndarray
    data_powers: np.ndarray
    powers: np.ndarray | None
    """The φ, of all monomials but X̂ itself; None stands for [0], as of the I-divergence."""
    linear: float
    """The slope of X̂ itself, 0 where it is not among them."""
    bounds: tuple[float, float]
    """The lowest and the highest φ of those that are convex."""

    @property
    def on_pattern(self) -> bool:
        """Whether it is linear in X̂ where X is zero, so that a sparse X needs only its non-zeros."""
        return not self.is_dual and bool(np.all(self.data_powers > 0))

    @property
    def is_suited(self) -> bool:
        """Whether Newton's steps serve it well.

        Its powers should be made of products and square roots. And where X and X̂ are zero nothing should be left of it but what is
        linear or quadratic: a bound on changes in relation to X̂ lets no entry leave zero there.
        """
        if self.powers is None or self.is_dual:
            return not self.is_dual
        bends = (self.data_powers == 0) & (self.slopes * (self.powers - 1) > 0) & (self.powers != 2)
        return bool(np.all(4 * self.powers % 1 == 0)) and not bends.any()

    @property
    def is_dual(self) -> bool:
        """Whether it is the dual I-divergence, which has no monomials."""
        return len(self.slopes) == 0


class Descent(NamedTuple):
    """What Newton's method goes over, row by row: Σ d(X, F V) is to fall. Rows do not depend on each other."""

    F: Array
    """In rows; changed in place."""
    V: Array
    curve: Curve
    options: tuple[float, float, int, int, float]
    """Weight of the penalty on the sum, on the overlap, the first column that is not given, passes, and what is enough."""
    first_row: int = 0
    """The first row that is not given."""
    totals: np.ndarray = np.empty((0, 0))
    """For each row the sums over the monomials that the objective is made of, where there is room for them."""

    def padded(self) -> Descent:
        """The same with V as wide as `over_dense` needs it."""
        from ..kernels.newton import TOGETHER

        return self._replace(V=np.pad(self.V, ((0, 0), (0, -self.V.shape[1] % TOGETHER))))

    def over_dense(self, rows: slice, X: np.ndarray) -> None:
        """Go over some rows of F, with those of X beside them."""
        from ..kernels.newton import newton_rows

        curve = self.curve
        newton_rows(
            0,
            X.shape[0],
            self.first_row - rows.start,
            self.F[rows],
            np.ascontiguousarray(X, dtype=self.F.dtype),
            self.V,
            self.linear,
            *curve[:3],
            curve.bounds,
            floor_of(np, self.F.dtype),
            self.options,
            self.totals[rows] if len(self.totals) else self.totals,
        )

    @property
    def linear(self) -> np.ndarray:
        """The slope by each entry of a row that X̂ itself makes."""
        return np.asarray(self.curve.linear * self.V.sum(axis=1, dtype=np.float64))


class Data(ABC):
    """An m × n matrix that is given, and reached only through these methods.

    Matrices that come and go are arrays of its `namespace`, or sparse ones where a fixed factor is.
    """

    namespace: Namespace
    shape: tuple[int, int]
    gives: ClassVar[frozenset[Need]] = frozenset(Need)
    bounded: ClassVar[bool] = True
    """Whether a divergence from it is at least zero, as it should be; not so for a similarity used as if it were a kernel."""

    weighted: ClassVar[bool] = False
    """Whether entries have weights, of which those that are missing have none."""
    can_take: ClassVar[bool] = True
    """Whether single rows and columns can be looked at, by `take`."""
    is_far: bool = False
    """Whether a reading takes so long that as few as possible are to be made: in a file, or on other machines."""
    log: Any = None
    """Counts readings, where that is of interest: a `ReadingLog`."""

    # ---- what every kind of data answers

    @abstractmethod
    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        """X M, or Xᵀ M; with the sign "⁺" or "⁻", of the positive part of X, or of −X."""

    @abstractmethod
    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        """The requested products for X̂ = U·V, in one pass, and Σ X^log_power · ln X̂ if asked for."""

    @abstractmethod
    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        """Facts and sums over all entries, in one reading. Entries that are not finite show in the extremes."""

    @abstractmethod
    def take(self, items: np.ndarray, axis: int) -> Any:
        """Some rows (axis 0) or columns (axis 1) on the host, one row of the result for each: a NumPy or a SciPy sparse array."""

    @abstractmethod
    def in_units(self, unit: float) -> Data:
        """X/unit, without a copy."""

    # ---- what follows from it

    @property
    def size(self) -> int:
        """Entries that are stored, and that a product with X has to visit."""
        return self.shape[0] * self.shape[1]

    @property
    def zeros(self) -> int:
        """Entries that are zero."""
        return self.shape[0] * self.shape[1] - self.facts.non_zeros

    def absorbed(self, rows: bool, columns: bool) -> Data:
        """Data whose squared distance from X̂, multiplied along, is the weighted one, where weights of rows, or columns, are asked
        for and can be taken into the data; else the data as they are.
        """
        return self

    @property
    def missing(self) -> int:
        """Entries that have no weight, so that nothing is known of them."""
        return 0

    def read(self, totals: Iterable[Total] = ()) -> Facts:
        """What the first reading tells; sums that are asked for then need no other."""
        known: dict[Total, float] = self.__dict__.setdefault("_totals", {})
        missing = [total for total in dict.fromkeys(totals) if total not in known]
        if missing or "_facts" not in self.__dict__:
            self._facts, values = self.survey(missing)
            known.update(zip(missing, values, strict=True))
        return self._facts

    @property
    def facts(self) -> Facts:
        return self.read()

    def recall(self, key: Any, make: Callable[[], Any]) -> Any:
        """What a function makes of the data; kept under this key where it would take readings to make it again."""
        return make()

    @property
    def T(self) -> Data:
        """Xᵀ."""
        from .transposed import TransposedData

        return TransposedData(self)

    @property
    def in_blocks(self) -> tuple[Any, bool] | None:
        """Blocks that one reading can do several things with, and whether their rows are columns of X; None for other data."""
        return None

    def expect(self, totals: Iterable[Total] = (), *, signed: bool = False) -> None:  # noqa: B027
        """What will be asked for, and whether entries may be negative, said before the first reading."""

    def power_sum(self, exponent: float) -> float:
        """Σ X^exponent over all m·n entries; their number for exponent 0."""
        return self._total("power", exponent) if exponent else float(self.shape[0] * self.shape[1])

    def log_sum(self, data_power: float) -> float:
        """Σ X^data_power · ln X, with 0 ln 0 = 0."""
        return self._total("logarithm", data_power)

    def _total(self, kind: Literal["power", "logarithm"], exponent: float) -> float:
        self.read([(kind, exponent)])
        return float(self.__dict__["_totals"][kind, exponent])

    def apply_after(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        """M X, or M Xᵀ, in rows."""
        return self.namespace.in_rows(self.apply(M.T, transposed=not transposed, sign=sign).T)

    def apply_both(self, M: Array, N: Array) -> tuple[Array, Array]:
        """X M and Xᵀ N, in one reading where that is possible."""
        return self.apply(M), self.apply(N, transposed=True)

    def apply_and_gram(self, M: Array) -> tuple[Array, Array]:
        """X M and Xᵀ X M, in one reading where that is possible."""
        product = self.apply(M)
        return product, self.apply(product, transposed=True)

    gram_size: float = math.inf
    """Entries that a product with the Gram matrix has to visit, where that is known without being formed."""

    def apply_gram(self, M: Array, *, transposed: bool = False) -> Array:
        """X Xᵀ M, or Xᵀ X M."""
        return self.apply(self.apply(M, transposed=not transposed), transposed=transposed)

    def formed_gram(self, *, transposed: bool = False) -> Array | None:
        """X Xᵀ, or Xᵀ X, where it is there as a dense array already."""
        return None

    def forms_gram(self, *, transposed: bool) -> bool:
        """Whether X Xᵀ, or Xᵀ X, can be formed in one reading."""
        return True

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

    def whole(self) -> Array:
        """X as a dense array."""
        return as_dense(self.itself())

    def blocks(self, *, transposed: bool = False) -> Iterator[tuple[slice, Any]]:
        """X, or Xᵀ, a few rows at a time, on the host."""
        rows, columns = self.shape[::-1] if transposed else self.shape
        for some in chunks(rows, columns):
            yield slice(int(some[0]), int(some[-1]) + 1), self.take(some, axis=int(transposed))

    def can_sweep(self, *, transposed: bool = False) -> bool:
        """Whether `sweep` can be used; kernels are compiled for arrays on the host."""
        return self.namespace.is_host

    def sweep(self, sweep: Sweep, *, transposed: bool = False) -> None:
        """Go over the rows of F once, for C = Q = X Xᵀ (or Xᵀ X), in place."""
        from ..kernels.coordinates import quadratic_rows

        F, Y, B, G, order, options = sweep
        for start in range(0, len(order), step := chunk_rows(self.shape[0 if transposed else 1])):
            some = order[start : start + step]
            X = np.ascontiguousarray(as_dense(self.take(some, axis=int(transposed))), dtype=F.dtype)
            own = F[some]
            quadratic_rows(np.arange(len(some)), own, Y, B, G, X, *options)
            F[some] = own

    can_sweep_rows: ClassVar[bool] = False
    """Whether `sweep_rows` can be used."""

    def sweep_rows(self, F: Array, B: Array, options: tuple[float, float, int, int, float], *, transposed: bool = False) -> None:
        """Go over the rows of F once, in place, for ½ Σ vᵢⱼ (xᵢⱼ − ⟨fᵢ, bⱼ⟩)², bⱼ the rows of B; or the same of Xᵀ."""
        raise self.refuse({Need.ENTRIES})

    def sweep_symmetric(self, sweep: Sweep) -> None:
        """The same for C = (X + Xᵀ)/2 and Q = I; X is square."""
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
        from .dense import DenseData

        some = self.namespace.asarray(as_dense(self.take(items, axis)))
        return DenseData(self.namespace.in_rows(some.T if axis else some), self.namespace)

    @property
    def items(self) -> Data:
        """What initializations find clusters in: X itself, or, where only its Gram matrix is known, that."""
        return self

    def lengths(self, axis: int) -> np.ndarray:
        """The Euclidean length of each row (axis 0) or column (axis 1)."""
        known = self.__dict__.setdefault("_lengths", {})
        if axis not in known:
            known[axis] = self._measured_lengths(axis)
        return known[axis]

    def _measured_lengths(self, axis: int) -> np.ndarray:
        squares = [
            np.asarray((block.multiply(block) if hasattr(block, "multiply") else block * block).sum(axis=1, dtype=np.float64))
            for _, block in self.blocks(transposed=axis == 1)
        ]
        return np.sqrt(np.concatenate([np.ravel(part) for part in squares]))

    def refuse(self, missing: Iterable[Need]) -> IncompatibleError:
        """The error for a model that needs more than there is."""
        return IncompatibleError(f"The data do not give {' and '.join(sorted(need.value for need in missing))}, which this needs.")


def chunk_rows(columns: int) -> int:
    """How many rows with so many columns are looked at together."""
    return max(16, _CHUNK // max(columns, 1))


def chunks(rows: int, columns: int) -> Iterator[np.ndarray]:
    """The numbers of rows, a few at a time."""
    step = chunk_rows(columns)
    for start in range(0, rows, step):
        yield np.arange(start, min(start + step, rows))


def floor_of(xp: Any, dtype: Any) -> float:
    """The least that X̂ is taken for, which keeps X/X̂ finite where a product is exactly zero."""
    return float(xp.finfo(dtype).smallest_normal) ** 0.5


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
        self.floor = floor_of(self.namespace.xp, self.namespace.dtype)
        self.results = [self._zeros(request) for request in requests]

    def _zeros(self, request: Request) -> Array:
        m, n = self.data.shape
        width = n if request.matrix is None else request.matrix.shape[request.side == "right"]
        shape = (m, width) if request.side == "right" else (width, n)
        return self.namespace.xp.zeros(shape, dtype=self.namespace.dtype, device=self.namespace.device)

    def approximation(self, rows: slice) -> Array:
        block = self.U[rows, :] if self.V is None else self.U[rows, :] @ self.V
        return self.namespace.xp.clip(as_dense(block), self.floor, None)

    def add(self, rows: slice, evaluate: Callable[[ElementwiseOperand], Array]) -> None:
        """Add one block of rows to the results."""
        blocks: dict[ElementwiseOperand, Array] = {}
        for i, (operand, side, matrix) in enumerate(self.requests):
            if operand not in blocks:
                blocks[operand] = evaluate(operand)
            block = blocks[operand]
            if matrix is None:
                self.results[i][rows, :] = as_dense(block)
            elif side == "right":
                self.results[i][rows, :] = as_dense(block @ matrix)
            else:
                self.results[i] += as_dense(matrix[:, rows] @ block)


Walk = Callable[[slice, Any, Sequence[Request]], tuple[list[Array], Any]]
"""(rows, rows of U, requests for these rows) → products and a sum."""


def visit_rows(walk: Walk, rows: slice, U: Array, requests: Sequence[Request]) -> tuple[list[Array], Any]:
    """Visit a range of rows on its own, with what belongs to these rows of everything that is long."""
    own = [r if r.side == "right" or r.matrix is None else r._replace(matrix=r.matrix[:, rows]) for r in requests]
    return walk(rows, U[rows, :], own)


def put_together(
    namespace: Namespace, requests: Sequence[Request], visits: Sequence[tuple[list[Array], Any]]
) -> tuple[list[Array], Any]:
    """What visits to ranges of rows, in order, come to: products side by side or added up, and a sum."""
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

    BLAS has one thread meanwhile: its products are small, and it would wait for them where the walks do not.
    """
    from ..kernels.threads import over_pieces, suited_to

    with suited_to(0):
        visits = over_pieces(lambda start, stop: visit_rows(walk, slice(start, stop), U, requests), *data.shape, _LEAST_ENTRIES)
    return put_together(data.namespace, requests, visits)
