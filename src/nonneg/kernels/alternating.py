"""Coordinate descent for X ≈ W H by arrays of any library: all rows of W at once, then all columns of H."""

from __future__ import annotations

from typing import Any, NamedTuple

from .namespace import Array
from .projective import GROWTH, Steps, combined, gram, inner


class Sides(NamedTuple):
    """The state of a descent: one point, or a batch of points along the first axis. V is Hᵀ."""

    W: Array
    V: Array
    before_w: Array
    before_v: Array
    """Both before the last sweep, with momentum."""
    numbers: Array
    """The momentum, the objective up to a constant, and the size of its terms, in double precision."""


class Alternating(NamedTuple):
    """Minimise ½‖X − W Vᵀ‖² + penalties · (ΣW, ΣV) over W, V ≥ 0.

    Attributes
    ----------
    xp : module
        The array library.
    X : array of shape (m, n)
    steps : Steps
    passes : int
        Visits of a row in a sweep.
    penalties : tuple of float
    """

    xp: Any
    X: Array
    steps: Steps
    passes: int
    penalties: tuple[float, float] = (0.0, 0.0)

    def begin(self, W: Array, V: Array, momentum: float) -> Sides:
        """The state before the first sweep."""
        numbers = self.xp.asarray([momentum, self.xp.inf, self.xp.inf], dtype=self.xp.float64, device=W.device)
        return Sides(W, V, W, V, self.xp.broadcast_to(numbers, (*W.shape[:-2], 3)))

    def advance(self, sides: Sides) -> Sides:
        """One sweep, begun a share of the last step further on; a sweep that raises the objective is not kept."""
        xp, numbers = self.xp, sides.numbers
        share = xp.astype(numbers[..., 0][..., None, None], sides.W.dtype)
        W, V = (F + share * (F - last) for F, last in ((sides.W, sides.before_w), (sides.V, sides.before_v)))
        W, V = xp.maximum(W, xp.zeros_like(W)), xp.maximum(V, xp.zeros_like(V))
        W = self.steps.rows(W, combined(xp, self.X.T, V), gram(xp, V, V), self.penalties[0], self.passes, 0.0)
        C, G = combined(xp, self.X, W), gram(xp, W, W)
        V = self.steps.rows(V, C, G, self.penalties[1], self.passes, 0.0)
        cross = xp.sum(C * V, axis=(-2, -1), dtype=xp.float64)
        half = inner(xp, xp.astype(G, xp.float64), xp.astype(gram(xp, V, V), xp.float64)) / 2
        for F, penalty in zip((W, V), self.penalties, strict=True):
            half = half + penalty * xp.sum(F, axis=(-2, -1), dtype=xp.float64) if penalty else half
        value = half - cross
        falls = value <= numbers[..., 1]
        momentum = xp.where(falls, xp.minimum(numbers[..., 0] * GROWTH, xp.ones_like(value)), numbers[..., 0] / 2)
        lowest, size = xp.where(falls, value, numbers[..., 1]), xp.where(falls, half + cross, numbers[..., 2])
        kept = falls[..., None, None]
        return Sides(
            xp.where(kept, W, sides.W), xp.where(kept, V, sides.V), sides.W, sides.V, xp.stack([momentum, lowest, size], axis=-1)
        )
