"""Arguments of passes over X: elementwise requests, sweeps of coordinate descent, and of Newton's method."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ..kernels.host import quadratic_value
from ..kernels.namespace import Array


def floor_of(xp: Any, dtype: Any) -> float:
    """The lower bound of X̂, which keeps X/X̂ finite if a product is zero."""
    return float(xp.finfo(dtype).smallest_normal) ** 0.5


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
    """One for positive X with X̂ = 0, else zero."""

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
    """State of a sweep of coordinate descent over the rows of F, updated in place.

    The objective is −⟨C, F Fᵀ⟩ + ½⟨Fᵀ Q F, Fᵀ F⟩; C and Q are X Xᵀ (or Xᵀ X), or C is X made symmetric and Q the identity.
    """

    F: Array
    """The factor, by rows."""
    Y: Array
    """Xᵀ F (or X F), in double precision; F itself if only X Xᵀ is known, or Q is the identity."""
    B: Array
    """Fᵀ Q F."""
    G: Array
    """Fᵀ F."""
    order: Array
    """Order of the rows."""
    options: tuple[float, float, int, int, float]
    """Weights of the penalties on the sum and on the overlap, the first column that is not given, passes, and the tolerance."""
    is_symmetric: bool = False
    """Whether C is (X + Xᵀ)/2, of square X, and Q the identity."""

    def value(self) -> float:
        """The objective but for a constant, for C = Q."""
        return quadratic_value(self.F, self.B, self.G, *self.options[:2])


class Curve(NamedTuple):
    """A divergence d(x, x̂) of two numbers as the kernels of Newton's method take it: monomials slope · xᵖ x̂^(φ−1) of its slope."""

    slopes: np.ndarray
    data_powers: np.ndarray
    powers: np.ndarray | None
    """The φ, of all monomials but X̂ itself; None stands for [0], as of the I-divergence."""
    linear: float
    """The slope of the monomial X̂, 0 without it."""
    bounds: tuple[float, float]
    """The lowest and the highest φ of convex monomials."""

    @property
    def arguments(self) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None, tuple[float, float]]:
        """Slopes, powers and bounds as the kernels take them: None for what they know of a divergence, see `newton_rows`."""
        if self.is_dual:
            return None, self.data_powers, self.powers, self.bounds
        if self.powers is not None and (*self.powers, *self.data_powers) == (0, -1, 0, 1):  # Itakura and Saito
            return self.slopes, None, None, self.bounds
        if self.powers is not None and (*self.powers, *self.data_powers) == (0.5, 0.5):  # Hellinger
            return self.slopes, None, self.powers, self.bounds
        return self.slopes, self.data_powers, self.powers, self.bounds

    @property
    def on_pattern(self) -> bool:
        """Whether it is linear in X̂ for X = 0, so that a sparse X needs only its non-zeros."""
        return not self.is_dual and bool(np.all(self.data_powers > 0))

    @property
    def without_linear(self) -> Curve:
        """The same with X̂ itself among the monomials, for data of which some entries do not count."""
        if not self.linear:
            return self
        parts = ((self.slopes, self.linear), (self.data_powers, 0.0), (np.zeros(1) if self.powers is None else self.powers, 1.0))
        slopes, data_powers, powers = (np.append(numbers, more) for numbers, more in parts)
        return Curve(slopes, data_powers, powers, 0.0, self.bounds)

    @property
    def is_suited(self) -> bool:
        """Whether Newton's steps serve it well.

        Its powers should be products and square roots. At X = X̂ = 0 it should be linear or quadratic: a bound on relative changes
        of X̂ lets no entry leave zero.
        """
        if self.powers is None or self.is_dual:
            return not self.is_dual
        bends = (self.data_powers == 0) & (self.slopes * (self.powers - 1) > 0) & (self.powers != 2)
        return bool(np.all(4 * self.powers % 1 == 0)) and not bends.any()

    @property
    def is_convex(self) -> bool:
        """Whether it is convex in X̂ for any X: none of its monomials is concave."""
        return self.powers is None or not bool(np.any(self.slopes * (self.powers - 1) < 0))

    @property
    def is_dual(self) -> bool:
        """Whether it is the dual I-divergence, which has no monomials."""
        return len(self.slopes) == 0


class Descent(NamedTuple):
    """State of a sweep of Newton's method over the rows of F, which lowers Σ d(X, F V); rows are independent."""

    F: Array
    """In rows; changed in place."""
    V: Array
    curve: Curve
    options: tuple[float, float, int, int, float]
    """Weights of the penalties on the sum and on the overlap, the first column that is not given, passes, and the tolerance."""
    first_row: int = 0
    """The first row that is not given."""
    totals: np.ndarray = np.empty((0, 0))
    """Sums over the monomials of the objective for each row, if the array is not empty."""

    def padded(self) -> Descent:
        """The same with V as wide as `over_dense` needs it."""
        from ..kernels.newton import TOGETHER

        return self._replace(V=np.pad(self.V, ((0, 0), (0, -self.V.shape[1] % TOGETHER))))

    def over_dense(self, rows: slice, X: np.ndarray) -> None:
        """Update some rows of F from the rows of X."""
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
            *curve.arguments,
            floor_of(np, self.F.dtype),
            self.options,
            self.totals[rows] if len(self.totals) else self.totals,
        )

    @property
    def linear(self) -> np.ndarray:
        """The slope by each entry of a row that X̂ itself makes."""
        return np.asarray(self.curve.linear * self.V.sum(axis=1, dtype=np.float64))
