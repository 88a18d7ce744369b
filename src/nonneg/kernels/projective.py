"""Coordinate descent for arrays of any library: all rows of a block at once.

Rows of a factor F of F FᵀR depend on each other through Y = RᵀF and G = FᵀF. A block takes the exact minimum of each entry with
both as they are, then the best share of that step: along it the objective is a polynomial of degree four whose coefficients need
r × r matrices only. So no block raises the objective.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .namespace import Array

RowStep = Callable[[Array, Array, Array, float, int], Array]
"""Minimises ½⟨F Q, F⟩ − ⟨C, F⟩ + penalty · ΣF over F ≥ 0 by passes over the entries of each row, from F, C, Q, penalty, passes."""
_SHARES = 12
"""Shares of a block's step that are compared: 1, ½, ¼, …; if none lowers the objective, the block stays."""
_FIRMNESS = 1e-2
"""Curvature added to that of each entry, as a share of the mean: a component of almost nothing would take steps without bound."""
_GROWTH = 1.05
"""Growth of the momentum with every sweep that it has helped."""


def coordinate_rows(xp: Any) -> RowStep:
    """The step of rows by the functions of an array library."""

    def step(F: Array, C: Array, Q: Array, penalty: float, passes: int) -> Array:
        F = xp.asarray(F, copy=True)
        for _ in range(passes):
            for k in range(F.shape[-1]):
                own = Q[..., k, k][..., None]
                slope = (F @ Q[..., :, k][..., None])[..., 0] - C[..., k] + penalty
                moved = xp.maximum(F[..., k] - slope / xp.where(own > 0, own, xp.ones_like(own)), xp.zeros_like(slope))
                F[..., k] = xp.where(own > 0, moved, F[..., k])
        return F

    return step


class Progress(NamedTuple):
    """The state of a descent: one point, or a batch of points along the first axis."""

    F: Array
    last: Array
    """F before the last step, with momentum."""
    numbers: Array
    """The momentum, and the objective up to a constant, in double precision."""


class Projective(NamedTuple):
    """Minimise ½‖R − F FᵀR‖² + penalty · ΣF over F ≥ 0.

    Attributes
    ----------
    xp : module
        The array library.
    R : array of shape (m, s)
    row_step : callable
    blocks : int
        Block number b has rows b, b + blocks, …: neighbours, which are often alike, move one after the other.
    passes : int
        Visits of a row in a sweep.
    penalty : float
    """

    xp: Any
    R: Array
    row_step: RowStep
    blocks: int
    passes: int
    penalty: float = 0.0

    def begin(self, F: Array, momentum: float) -> Progress:
        """The state before the first step, at the best scale: from one far too large, the first step would lead to zero."""
        xp, F = self.xp, self.rescaled(F)
        numbers = xp.asarray([momentum, xp.inf], dtype=xp.float64, device=_device(F))
        return Progress(F, F, xp.broadcast_to(numbers, (*F.shape[:-2], 2)))

    def advance(self, progress: Progress) -> Progress:
        """One sweep, begun a share of the last step further on; a sweep that raises the objective is not kept."""
        xp, (F, last, numbers) = self.xp, progress
        momentum, value = numbers[..., 0], numbers[..., 1]
        ahead = F + xp.astype(momentum[..., None, None], F.dtype) * (F - last)
        new, lower = self._sweep(xp.maximum(ahead, xp.zeros_like(ahead)))
        falls = lower <= value
        momentum = xp.where(falls, xp.minimum(momentum * _GROWTH, xp.ones_like(momentum)), momentum / 2)
        kept = xp.where(falls[..., None, None], new, F)
        return Progress(kept, F, xp.stack([momentum, xp.where(falls, lower, value)], axis=-1))

    def rescaled(self, F: Array) -> Array:
        """F at the scale with the lowest objective, without the penalty."""
        return F * self._best_scale(self.R.T @ F, F.mT @ F)

    def _sweep(self, F: Array) -> tuple[Array, Array]:
        """F after a step of each block, and the objective up to a constant."""
        xp, R = self.xp, self.R
        Y, G = R.T @ F, F.mT @ F
        if not self.penalty:
            scale = self._best_scale(Y, G)
            F, Y, G = F * scale, Y * scale, G * scale * scale
        else:
            F = xp.asarray(F, copy=True)
        for first in range(self.blocks):
            rows = slice(first, None, self.blocks)
            f, part = F[..., rows, :], R[rows, :]
            B = Y.mT @ Y
            firm = _FIRMNESS / B.shape[-1] * _trace(xp, B)[..., None, None]
            C = part @ (2 * Y - Y @ G) + firm * f
            step = (
                self.row_step(f, C, B + firm * xp.eye(B.shape[-1], dtype=B.dtype, device=_device(B)), self.penalty, self.passes) - f
            )
            moved, cross, square = part.T @ step, f.mT @ step, step.mT @ step
            cross = cross + cross.mT
            share = self._best_share(Y, G, moved, cross, square, step)
            F[..., rows, :] = f + share * step
            Y, G = Y + share * moved, G + share * cross + share * share * square
        B, G = (xp.astype(array, xp.float64) for array in (Y.mT @ Y, G))
        return F, _inner(xp, B, G) / 2 - _trace(xp, B) + self.penalty * xp.sum(F, axis=(-2, -1), dtype=xp.float64)

    def _best_scale(self, Y: Array, G: Array) -> Array:
        """The scale of F with the lowest objective, PNMF Eq. 21."""
        xp, B = self.xp, self.xp.astype(Y.mT @ Y, self.xp.float64)
        quartic = _inner(xp, B, xp.astype(G, xp.float64))
        is_there = quartic > 0
        squared = xp.where(is_there, _trace(xp, B) / xp.where(is_there, quartic, xp.ones_like(quartic)), xp.ones_like(quartic))
        return xp.astype(xp.sqrt(squared)[..., None, None], Y.dtype)  # NumPy 2.0 refuses to cast a scalar, 2.1 does not

    def _best_share(self, Y: Array, G: Array, moved: Array, cross: Array, square: Array, step: Array) -> Array:
        """The share t of a step with the lowest objective, for Y + t·moved and G + t·cross + t²·square."""
        xp = self.xp
        mixed = Y.mT @ moved
        B, B1, B2, G, G1, G2 = (
            xp.astype(array, xp.float64) for array in (Y.mT @ Y, mixed + mixed.mT, moved.mT @ moved, G, cross, square)
        )
        one = (_inner(xp, B, G1) + _inner(xp, B1, G)) / 2 - _trace(xp, B1)
        if self.penalty:
            one = one + self.penalty * xp.sum(step, axis=(-2, -1), dtype=xp.float64)
        two = (_inner(xp, B, G2) + _inner(xp, B1, G1) + _inner(xp, B2, G)) / 2 - _trace(xp, B2)
        three, four = (_inner(xp, B1, G2) + _inner(xp, B2, G1)) / 2, _inner(xp, B2, G2) / 2
        t = 0.5 ** xp.arange(_SHARES, dtype=xp.float64, device=_device(Y))
        values = t * (one[..., None] + t * (two[..., None] + t * (three[..., None] + t * four[..., None])))
        least, is_lower = xp.argmin(values, axis=-1)[..., None], (xp.min(values, axis=-1) < 0)[..., None]
        best = xp.where(is_lower, 0.5 ** xp.astype(least, xp.float64), 0.0 * one[..., None])
        return xp.astype(best[..., None], Y.dtype)


def _inner(xp: Any, A: Array, B: Array) -> Array:
    return xp.sum(A * B, axis=(-2, -1))


def _trace(xp: Any, A: Array) -> Array:
    return xp.linalg.trace(A)


def _device(array: Array) -> Any:
    import array_api_compat

    return array_api_compat.device(array)
