"""Data that stand for others by a product of two matrices, and how such a product is found and brought up to date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from ..exceptions import DataError
from ..kernels.namespace import Array, Namespace
from .base import Data, Facts, Total, apply_both
from .profile import Costs, Need
from .steps import Request


@dataclass(eq=False)
class LowRankData(Data):
    """A low-rank matrix in place of X, as products of either sign, with the extremes and ‖X‖² of X.

    Attributes
    ----------
    terms : tuple of pairs of arrays
        X is the sum of their products. They stay apart, since each may be as long as X, and belongs to somebody else, too.
    """

    terms: tuple[tuple[Array, Array], ...]
    namespace: Namespace
    known: Facts
    energy: float
    costs: ClassVar[Costs] = Costs(  # type: ignore[misc]
        storage="low-rank", bounded=False, gives=frozenset({Need.PRODUCTS, Need.ROW_GRAM, Need.COLUMN_GRAM})
    )

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        left, right = self.terms[0]
        return left.shape[0], right.shape[1]

    @property
    def size(self) -> int:
        return sum(left.size + right.size for left, right in self.terms)

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        if sign:
            raise self.costs.refuse({Need.SIGNED_PRODUCTS})
        if transposed:
            return sum(right.T @ (left.T @ M) for left, right in self.terms)
        return sum(left @ (right @ M) for left, right in self.terms)

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        raise self.costs.refuse({Need.ENTRIES})

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        if any(total != ("power", 2) for total in totals):
            raise self.costs.refuse({Need.ENTRIES})
        return self.known._replace(lowest=-self.known.peak), [self.energy] * len(totals)

    def take(self, items: np.ndarray, axis: int) -> Array:
        if axis == 0:
            return sum(left[items] @ right for left, right in self.terms)
        return sum(left @ right[:, items] for left, right in self.terms).T

    def in_units(self, unit: float) -> Data:
        terms = tuple((left, right / unit) for left, right in self.terms)
        return replace(self, terms=terms, known=self.known.in_units(unit), energy=self.energy / unit / unit)


@dataclass(frozen=True)
class Compression:
    """A low-rank surrogate of X, by its products with orthonormal R (n × few) and L (m × few).

    X~ = A Rᵀ + L (B − LᵀA Rᵀ), with A = X R and B = LᵀX, agrees with X on the spans of both: X~ R = X R and LᵀX~ = LᵀX.
    """

    data: Data
    R: np.ndarray
    L: np.ndarray
    A: np.ndarray
    BT: np.ndarray

    @classmethod
    def begun(cls, data: Data, size: int, generator: np.random.Generator) -> Compression:
        """One for the directions in which X has most, nearly: two readings."""
        along = data if True in data.costs.one_pass_grams else data.T
        draws = data.namespace.asarray(generator.standard_normal((along.shape[1], size)))
        near, far = (_orthonormal(product) for product in apply_both(along, draws))
        R, L = (far, near) if along is data else (near, far)
        return cls(data, R, L, *apply_both(data, R, L))

    @classmethod
    def of_arrays(cls, data: Data, R: np.ndarray, L: np.ndarray, A: np.ndarray, BT: np.ndarray) -> Compression:
        """One that was made already, from its arrays."""
        m, n = data.shape
        if (
            (A.shape, BT.shape) != ((m, *R.shape[1:]), (n, *L.shape[1:]))
            or (L.shape[0], R.shape[0]) != (m, n)
            or A.ndim + L.ndim != 4
        ):
            raise DataError(
                f"The stored compression of X, of shapes {R.shape}, {L.shape}, {A.shape} and {BT.shape}, is not of {m} × {n}."
            )
        if not all(np.isfinite(part).all() for part in (R, L, A, BT)):
            raise DataError("The stored compression of X has entries that are not finite.")
        return cls(data, R, L, A, BT)

    def in_units_of(self, data: Data, unit: float) -> Compression:
        """The same for data in other units."""
        A, BT = (self.A, self.BT) if unit == 1 else (self.A / unit, self.BT / unit)
        return Compression(data, self.R, self.L, A, BT)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Its arrays, besides the data."""
        return {"R": self.R, "L": self.L, "A": self.A, "BT": self.BT}

    def low_rank(self, namespace: Namespace) -> LowRankData:
        """X~, in the precision of a namespace."""
        data, (R, L, A, BT) = self.data, map(namespace.asarray, (self.R, self.L, self.A, self.BT))
        found = LowRankData(((A, R.T), (L, BT.T - (L.T @ A) @ R.T)), namespace, data.facts, data.power_sum(2))
        found.log = data.log
        return found

    def with_spans(self, left: np.ndarray, right: np.ndarray) -> Compression:
        """One that agrees with X on the columns of these, too: one reading."""
        more_L, more_R = _beyond(self.L, left), _beyond(self.R, right)
        del left, right
        A, BT = apply_both(self.data, more_R, more_L)
        return Compression(
            self.data,
            np.hstack([self.R, more_R]),
            np.hstack([self.L, more_L]),
            np.hstack([self.A, A]),
            np.hstack([self.BT, BT]),
        )


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(linalg.qr(columns, mode="economic", check_finite=False)[0])


def _beyond(basis: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Orthonormal columns that extend a basis to the span of others."""
    lengths = np.linalg.norm(columns, axis=0)
    columns = (columns / np.where(lengths > 0, lengths, 1.0)).astype(np.float64)
    for _ in range(2):  # twice, against rounding
        columns = columns - basis @ (basis.T @ columns)
    Q, sizes, _ = linalg.svd(columns, full_matrices=False, check_finite=False)
    Q = Q[:, sizes > 10 * np.finfo(basis.dtype).eps]
    # Division by a small size magnifies rounding in the span of the basis: project again, and drop columns that vanish.
    Q, sizes, _ = linalg.svd(Q - basis @ (basis.T @ Q), full_matrices=False, check_finite=False)
    return np.ascontiguousarray(Q[:, sizes > _HALF], dtype=basis.dtype)


_HALF = 0.5
"""Least length of a direction outside the basis; rounding leaves far less of others."""
