"""Coordinate descent for arrays of any library: all rows of a block at once.

Rows of a factor F of F FᵀR depend on each other through Y = RᵀF and G = FᵀF. A block takes the exact minimum of each entry with
both as they are, then the best share of that step: along it the objective is a polynomial of degree four whose coefficients need
r × r matrices only. So no block raises the objective.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .namespace import Array

_SHARES = 12
"""Shares of a block's step that are compared: 1, ½, ¼, …; if none lowers the objective, the block stays."""
_FIRMNESS = 1e-2
"""Curvature added to that of each entry, as a share of the mean: a component of almost nothing would take steps without bound."""
GROWTH = 1.05
"""Growth of the momentum with every sweep that it has helped."""


def coordinate_rows(xp: Any) -> Callable[..., Array]:
    """The step of rows by the functions of an array library.

    It minimises ½⟨F Q, F⟩ − ⟨C, F⟩ + penalty · ΣF over F ≥ 0 by `passes` over the entries of each row, from F₀. Of each entry,
    `firmness` times the mean curvature, ½ firm (F − F₀)², is added.
    """

    def step(F: Array, C: Array, Q: Array, penalty: float = 0.0, passes: int = 1, firmness: float = 0.0) -> Array:
        F, r = xp.asarray(F, copy=True), F.shape[-1]
        if firmness:
            firm = firmness / r * _trace(xp, Q)[..., None, None]
            C, Q = C + firm * F, Q + firm * xp.eye(r, dtype=Q.dtype, device=_device(Q))
        for _ in range(passes):
            for k in range(r):
                own = Q[..., k, k][..., None]
                slope = (F @ Q[..., :, k][..., None])[..., 0] - C[..., k] + penalty
                moved = xp.maximum(F[..., k] - slope / xp.where(own > 0, own, xp.ones_like(own)), xp.zeros_like(slope))
                F[..., k] = xp.where(own > 0, moved, F[..., k])
        return F

    return step


def best_share(xp: Any) -> Callable[..., tuple[Array, Array, Array]]:
    """The share t of a step with the lowest objective, by the functions of an array library.

    Y, with B = YᵀY, becomes Y + t·moved, and G becomes G + t·(cross + crossᵀ) + t²·square; mixed = Yᵀ·moved, B2 = movedᵀ·moved, and
    `linear` is the slope of the penalty. It returns t, the new G, and two numbers in double precision: the objective up to a
    constant, and the size of its terms.
    """

    def find(
        B: Array, G: Array, mixed: Array, B2: Array, cross: Array, square: Array, linear: Array | None, shares: int
    ) -> tuple[Array, Array, Array]:
        G0, dtype = G, B.dtype
        B1, G1 = mixed + mixed.mT, cross + cross.mT
        B, B1, B2, G, G1, G2 = (xp.astype(array, xp.float64) for array in (B, B1, B2, G, G1, square))
        trace, half = _trace(xp, B), inner(xp, B, G) / 2
        one = (inner(xp, B, G1) + inner(xp, B1, G)) / 2 - _trace(xp, B1)
        one = one if linear is None else one + linear
        two = (inner(xp, B, G2) + inner(xp, B1, G1) + inner(xp, B2, G)) / 2 - _trace(xp, B2)
        three, four = (inner(xp, B1, G2) + inner(xp, B2, G1)) / 2, inner(xp, B2, G2) / 2
        t = 0.5 ** xp.arange(shares, dtype=xp.float64, device=_device(B))
        values = t * (one[..., None] + t * (two[..., None] + t * (three[..., None] + t * four[..., None])))
        lowest = xp.min(values, axis=-1)
        place = xp.astype(xp.argmin(values, axis=-1)[..., None], xp.float64)  # NumPy 2.0 refuses to cast a scalar, 2.1 does not
        best = xp.where(lowest[..., None] < 0, 0.5**place, 0.0 * one[..., None])
        numbers = xp.stack([half - trace + xp.minimum(lowest, 0.0 * one), half + trace], axis=-1)
        best = xp.astype(best[..., None], dtype)
        return best, G0 + best * xp.astype(G1, dtype) + best * best * square, numbers

    return find


class Steps(NamedTuple):
    """The parts of a sweep that a device may have kernels for, as `coordinate_rows` and `best_share` make them."""

    rows: Callable[..., Array]
    share: Callable[..., tuple[Array, Array, Array]]


def steps_of(xp: Any) -> Steps:
    """The steps by the functions of an array library."""
    return Steps(coordinate_rows(xp), best_share(xp))


class Progress(NamedTuple):
    """The state of a descent: one point, or a batch of points along the first axis."""

    F: Array
    last: Array
    """F before the last step, with momentum."""
    numbers: Array
    """The momentum, the objective up to a constant, and the size of its terms, in double precision."""


class Projective(NamedTuple):
    """Minimise ½‖R − F FᵀR‖² + penalty · ΣF over F ≥ 0.

    Attributes
    ----------
    xp : module
        The array library.
    R : array of shape (m, s)
    steps : Steps
    blocks : int
        Block number b has rows b, b + blocks, …: neighbours, which are often alike, move one after the other.
    passes : int
        Visits of a row in a sweep.
    penalty : float
    """

    xp: Any
    R: Array
    steps: Steps
    blocks: int
    passes: int
    penalty: float = 0.0

    def begin(self, F: Array, momentum: float) -> Progress:
        """The state before the first step, at the best scale: from one far too large, the first step would lead to zero."""
        xp, F = self.xp, self.rescaled(F)
        numbers = xp.asarray([momentum, xp.inf, xp.inf], dtype=xp.float64, device=_device(F))
        return Progress(F, F, xp.broadcast_to(numbers, (*F.shape[:-2], 3)))

    def advance(self, progress: Progress) -> Progress:
        """One sweep, begun a share of the last step further on; a sweep that raises the objective is not kept."""
        xp, (F, last, numbers) = self.xp, progress
        momentum = numbers[..., 0]
        ahead = F + xp.astype(momentum[..., None, None], F.dtype) * (F - last)
        new, found = self._sweep(xp.maximum(ahead, xp.zeros_like(ahead)))
        falls = found[..., 0] <= numbers[..., 1]
        momentum = xp.where(falls, xp.minimum(momentum * GROWTH, xp.ones_like(momentum)), momentum / 2)
        kept = xp.where(falls[..., None, None], new, F)
        return Progress(kept, F, xp.concat([momentum[..., None], xp.where(falls[..., None], found, numbers[..., 1:])], axis=-1))

    def rescaled(self, F: Array) -> Array:
        """F at the scale with the lowest objective, without the penalty."""
        return F * self._best_scale(combined(self.xp, self.R, F), gram(self.xp, F, F))

    def _sweep(self, F: Array) -> tuple[Array, Array]:
        """F after a step of each block, the objective up to a constant, and the size of its terms."""
        xp, R = self.xp, self.R
        Y, G = combined(xp, R, F), gram(xp, F, F)
        numbers: Any = None
        if not self.penalty:
            scale = self._best_scale(Y, G)
            F, Y, G = F * scale, Y * scale, G * scale * scale
        else:
            F = xp.asarray(F, copy=True)
        for first in range(self.blocks):
            rows = slice(first, None, self.blocks)
            f, part = F[..., rows, :], R[rows, :]
            B = Y.mT @ Y
            step = self.steps.rows(f, part @ (2 * Y - Y @ G), B, self.penalty, self.passes, _FIRMNESS) - f
            moved = combined(xp, part, step)
            linear = self.penalty * xp.sum(step, axis=(-2, -1), dtype=xp.float64) if self.penalty else None
            both = gram(xp, xp.concat([f, step], axis=-1), step)
            cross, square = both[..., : f.shape[-1], :], both[..., f.shape[-1] :, :]
            share, G, numbers = self.steps.share(B, G, Y.mT @ moved, moved.mT @ moved, cross, square, linear, _SHARES)
            F[..., rows, :] = f + share * step
            Y = Y + share * moved
        if self.penalty:  # the slope along the last step is in the objective already
            numbers = numbers + (self.penalty * xp.sum(F, axis=(-2, -1), dtype=xp.float64) - share[..., 0, 0] * linear)[..., None]
        return F, numbers

    def _best_scale(self, Y: Array, G: Array) -> Array:
        """The scale of F with the lowest objective, PNMF Eq. 21."""
        xp, B = self.xp, self.xp.astype(Y.mT @ Y, self.xp.float64)
        quartic = inner(xp, B, xp.astype(G, xp.float64))
        is_there = quartic > 0
        squared = xp.where(is_there, _trace(xp, B) / xp.where(is_there, quartic, xp.ones_like(quartic)), xp.ones_like(quartic))
        return xp.astype(xp.sqrt(squared)[..., None, None], Y.dtype)  # NumPy 2.0 refuses to cast a scalar, 2.1 does not


def combined(xp: Any, R: Array, F: Array) -> Array:
    """Rᵀ F, of a batch as one product: a batch of long sums would leave most of a device idle."""
    if F.ndim == 2:
        return R.T @ F
    *points, m, r = F.shape
    rows = xp.reshape(xp.permute_dims(xp.reshape(F, (-1, m, r)), (1, 0, 2)), (m, -1))
    return xp.reshape(xp.permute_dims(xp.reshape(R.T @ rows, (R.shape[1], -1, r)), (1, 0, 2)), (*points, R.shape[1], r))


_LONG, _PIECE = 2**11, 2**8
"""Summands of a product of a batch from which it is made by pieces, and of a piece."""


def gram(xp: Any, A: Array, B: Array) -> Array:
    """Aᵀ B; long ones of a batch by pieces, each of which keeps a part of a device busy."""
    *points, m, r = A.shape
    if len(points) == 0 or m < _LONG:
        return A.mT @ B
    whole = m // _PIECE * _PIECE
    a, b = (xp.reshape(each[..., :whole, :], (-1, _PIECE, each.shape[-1])) for each in (A, B))
    parts = xp.sum(xp.reshape(a.mT @ b, (*points, -1, r, B.shape[-1])), axis=-3)
    return parts if whole == m else parts + A[..., whole:, :].mT @ B[..., whole:, :]


def inner(xp: Any, A: Array, B: Array) -> Array:
    return xp.sum(A * B, axis=(-2, -1))


def _trace(xp: Any, A: Array) -> Array:
    return xp.linalg.trace(A)


def _device(array: Array) -> Any:
    import array_api_compat

    return array_api_compat.device(array)
