"""Search for a start of X ≈ X W Wᵀ by a batch of points, which on a device takes little longer than one.

Some points begin at random, others at features that are unlike each other. Then swaps of the best point are tried side by side, as
`search` tries them one after the other: two components are merged, and another begins at badly approximated features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from ...constraints import unit_length
from ...data.device import recorded
from ...kernels.namespace import Array, Namespace, to_host
from ...kernels.projective import Progress, Projective
from ..run import Solver
from ..signature import Signature
from ..solvers import BlockCoordinate
from ..solvers.block_coordinate import projective_of
from .base import Beginning, Setting, Start

_POINTS, _SWEEPS = 16, 30
"""Points of the batch, and sweeps from the beginning."""
_ROUNDS, _SWEEPS_A_ROUND = 12, 12
"""Rounds of swaps, at most, and sweeps of each. The last round that finds nothing lower ends the search."""
_BLOCKS, _MOMENTUM = 4, 0.7
"""Blocks of rows in a sweep, and its momentum."""
_FEW, _FEW_PER_COMPONENT = 1200, 32
"""Rows of the factor that the batch has, at most: features drawn in proportion to their squared length."""
_FITS = 10
"""Visits of each row that fit all features to the codes of the best point."""


class Batch(Start):
    """The best of many points and their swaps on a sample of features; entries of the others are fitted to its codes."""

    is_warm = True
    searches: ClassVar[bool] = True
    why: ClassVar[str] = "local minima differ, and a batch of points takes little longer than one"

    @classmethod
    def applies(cls, signature: Signature, solver: Solver) -> bool:
        """Whether coordinate descent in blocks serves."""
        return isinstance(solver, BlockCoordinate) and solver.suits(signature)

    def make(self, setting: Setting) -> Beginning:
        """The best factor found; none, for a random start, if X is zero or it is not finite."""
        problem = setting.problem
        if not problem.data.facts.non_zeros:
            return {}
        rough = problem if setting.surrogate is None else setting.surrogate.small
        (name,) = problem.learned
        rank, namespace = min(problem.shapes[name]), problem.namespace
        whole = projective_of(rough, BlockCoordinate(blocks=_BLOCKS))
        F = _found(whole, rank, np.random.default_rng(setting.seed), namespace)
        setting.context.say("searched for a start by a batch of points")
        if not bool(namespace.xp.all(namespace.xp.isfinite(F))) or not bool(namespace.xp.any(F > 0)):
            return {}
        is_transposed = tuple(F.shape) != tuple(problem.shapes[name])
        return problem.units.to_user({name: F.T if is_transposed else F})

    def __str__(self) -> str:
        return f"swap search by {_POINTS} points at a time"


def _found(whole: Projective, rank: int, generator: np.random.Generator, namespace: Namespace) -> Array:
    """The best factor, at its best scale: found on some rows, with all rows fitted to its codes."""
    xp, R = whole.xp, whole.R
    squares = to_host(xp.sum(R * R, axis=1, dtype=xp.float64))
    filled = np.flatnonzero(squares > 0)
    few = min(len(filled), max(_FEW, _FEW_PER_COMPONENT * rank))
    some = generator.choice(filled, few, replace=False, p=squares[filled] / squares[filled].sum())
    part = whole._replace(R=xp.take(R, xp.asarray(some, device=namespace.device), axis=0))
    best = _searched(part, _beginnings(part, rank, generator, namespace), generator, namespace)
    codes = unit_length(xp, part.R.T @ best, "columns")
    C = R @ codes
    F = whole.steps.rows(xp.maximum(C, xp.zeros_like(C)), C, codes.T @ codes, 0.0, _FITS)
    return whole.rescaled(unit_length(xp, F, "columns"))


def _searched(part: Projective, F: Array, generator: np.random.Generator, namespace: Namespace) -> Array:
    """The lowest point after descents from a batch, and from swaps of the best."""
    advance = recorded(namespace, lambda *arrays: part.advance(Progress(*arrays)))
    best, lowest = _descended(part, advance, F, _SWEEPS)
    if F.shape[-1] > 1:
        for _ in range(_ROUNDS):
            F, value = _descended(part, advance, _swapped(part, best, generator, namespace), _SWEEPS_A_ROUND)
            if not value < lowest:
                break
            best, lowest = F, value
    return best


def _descended(part: Projective, advance: Callable[..., Sequence[Array]], F: Array, sweeps: int) -> tuple[Array, float]:
    """The lowest point after some sweeps from each of a batch, and its objective up to a constant."""
    progress: Sequence[Array] = part.begin(F, _MOMENTUM)
    for _ in range(sweeps):
        progress = advance(*progress)
    values = to_host(progress[2])[:, 1]
    values = np.where(np.isfinite(values), values, np.inf)
    number = int(np.argmin(values))
    return progress[0][number, :, :], float(values[number])


def _beginnings(part: Projective, rank: int, generator: np.random.Generator, namespace: Namespace) -> Array:
    """Random points, and as many whose components begin at features that are unlike each other."""
    xp, (few, _) = part.xp, part.R.shape
    random = namespace.asarray(generator.uniform(size=(_POINTS // 2, few, rank)))
    unit = unit_length(xp, part.R.T, "columns").T
    squares = xp.sum(part.R * part.R, axis=1)
    unlike = xp.ones((_POINTS // 2, few), dtype=namespace.dtype, device=namespace.device)
    cosines = []
    for draw in generator.uniform(size=(rank, _POINTS // 2, 1)):
        sums = xp.cumulative_sum(squares * unlike, axis=1)
        below = xp.astype(sums < namespace.asarray(draw) * sums[:, -1:], xp.int64)
        item = xp.minimum(xp.sum(below, axis=1), xp.asarray(few - 1, dtype=xp.int64, device=namespace.device))
        cosine = xp.take(unit, item, axis=0) @ unit.T
        cosine = xp.maximum(cosine, xp.zeros_like(cosine))
        unlike = xp.minimum(unlike, xp.maximum(1.0 - cosine * cosine, xp.zeros_like(cosine)))
        cosines.append(cosine)
    length = xp.sqrt(squares)[:, None]
    return xp.concat([random, length * xp.stack(cosines, axis=-1) ** 4], axis=0)


def _swapped(part: Projective, F: Array, generator: np.random.Generator, namespace: Namespace) -> Array:
    """Copies of a point, each with two components merged and a new one at badly approximated features.

    The pairs whose merging loses least are taken in turn; see `search.swapped`.
    """
    xp = part.xp
    Y = part.R.T @ F
    B, G = (to_host(array).astype(np.float64) for array in (Y.T @ Y, F.T @ F))
    residual = part.R - F @ Y.T
    left = to_host(xp.sum(residual * residual, axis=1)).astype(np.float64)
    items = generator.choice(len(left), _POINTS, p=left / left.sum()) if left.sum() > 0 else np.zeros(_POINTS, int)
    new = residual @ xp.take(residual, xp.asarray(items, device=namespace.device), axis=0).T
    new = unit_length(xp, xp.maximum(new, xp.zeros_like(new)), "columns")
    new = new * float(np.sqrt(np.median(np.diag(G))))
    merges = np.stack([_merging(B, number) for number in range(_POINTS)])
    moved = F @ namespace.asarray(merges)
    vacant = xp.asarray(np.any(merges, axis=1)[:, None, :], device=namespace.device)
    return xp.where(vacant, moved, new.T[:, :, None])


def _merging(B: np.ndarray, which: int) -> np.ndarray:
    """The r × r matrix that merges a pair of components, by rank of the loss, into the first, and leaves a column of zeros."""
    size = np.diag(B)
    mean, half = (size[:, None] + size) / 2, (size[:, None] - size) / 2
    lost = mean - np.sqrt(half**2 + B**2)
    lost[np.tril_indices(len(B))] = np.inf
    pairs = len(B) * (len(B) - 1) // 2
    first, second = np.unravel_index(np.argsort(lost, axis=None)[which % pairs], lost.shape)
    shares = abs(np.linalg.eigh(B[np.ix_([first, second], [first, second])])[1][:, 1])
    matrix = np.eye(len(B))
    matrix[[first, second], first], matrix[:, second] = shares, 0.0
    matrix[second, first] = shares[1]
    return matrix
