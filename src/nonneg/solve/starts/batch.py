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
from ...kernels.tuned import tuned
from ..run import Solver
from ..signature import Signature
from ..solvers import BlockCoordinate
from ..solvers.block_coordinate import projective_of
from .base import Beginning, Setting, Start

_POINTS, _SWEEPS = tuned((16, 30), by="gpu", on="2026-11-19")
"""Points of a start, and sweeps from the beginning."""
_AT_ONCE, _LEAST_POINTS = tuned((320, 4), by="gpu", on="2026-11-19")
"""Points of all starts of a batch beyond which each has fewer, and how many at least."""
_ROUNDS, _SWEEPS_A_ROUND = tuned((12, 12), by="gpu", on="2026-11-19")
"""Rounds of swaps, at most, and sweeps of each. The last round that finds nothing lower ends the search."""
_BLOCKS, _MOMENTUM = tuned((4, 0.7), by="gpu", on="2026-11-19")
"""Blocks of rows in a sweep, and its momentum."""
_FEW, _FEW_PER_COMPONENT = tuned((1200, 32), by="gpu", on="2026-11-16")
"""Rows of the factor that the batch has, at most: features drawn in proportion to their squared length."""
_FITS = tuned(10, by="gpu", on="2026-11-19")
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
        return self.make_all([setting])[0]

    def make_all(self, settings: Sequence[Setting]) -> list[Beginning]:
        """Several starts on the same features, each the best of its own points."""
        problem, surrogate = settings[0].problem, settings[0].surrogate
        if not problem.data.facts.non_zeros:
            return [{} for _ in settings]
        rough = problem if surrogate is None else surrogate.small
        (name,) = problem.learned
        rank, namespace = min(problem.shapes[name]), problem.namespace
        whole = projective_of(rough, BlockCoordinate(blocks=_BLOCKS))
        ranks = [setting.rank or rank for setting in settings]
        found = _found(whole, ranks, [np.random.default_rng(setting.seed) for setting in settings], namespace)
        begun: list[Beginning] = []
        for number, setting in enumerate(settings):
            F = found[number, :, :]
            setting.context.say("searched for a start by a batch of points")
            is_there = bool(namespace.xp.all(namespace.xp.isfinite(F))) and bool(namespace.xp.any(F > 0))
            F = F.T if tuple(F.shape) != tuple(problem.shapes[name]) else F
            begun.append(problem.units.to_user({name: F}) if is_there else {})
        return begun

    def __str__(self) -> str:
        return f"swap search by {_POINTS} points at a time"


def _found(whole: Projective, ranks: Sequence[int], generators: Sequence[np.random.Generator], namespace: Namespace) -> Array:
    """The best factor of each start, at its best scale: found on some rows, with all rows fitted to its codes.

    Starts of fewer components than the most have columns of zeros, which no step moves. The search is in single precision.
    """
    xp, unit, namespace = whole.xp, whole.xp.max(abs(whole.R)), namespace._replace(dtype=whole.xp.float32)
    R = xp.astype(whole.R / unit, namespace.dtype)
    whole = whole._replace(R=R, penalty=whole.penalty and whole.penalty / float(unit) ** 2)
    squares = to_host(xp.sum(R * R, axis=1, dtype=xp.float64))
    filled = np.flatnonzero(squares > 0)
    few = min(len(filled), max(_FEW, _FEW_PER_COMPONENT * max(ranks)))
    some = generators[0].choice(filled, few, replace=False, p=squares[filled] / squares[filled].sum())
    part = whole._replace(R=xp.take(R, xp.asarray(some, device=namespace.device), axis=0))
    best = _searched(part, _beginnings(part, ranks, generators, namespace), ranks, generators, namespace)
    codes = unit_length(xp, part.R.T @ best, "columns")
    C = R @ codes
    F = whole.steps.rows(xp.maximum(C, xp.zeros_like(C)), C, codes.mT @ codes, 0.0, _FITS)
    return whole.rescaled(unit_length(xp, F, "columns"))


def _searched(
    part: Projective, F: Array, ranks: Sequence[int], generators: Sequence[np.random.Generator], namespace: Namespace
) -> Array:
    """The lowest point of each start after descents from a batch, and from swaps of the best; once half have ended, of the rest."""
    points = _points(len(ranks))

    def begin() -> Callable[..., Sequence[Array]]:
        return recorded(namespace, lambda *arrays: part.advance(Progress(*arrays)))

    advance = begin()
    best, lowest = _descended(part, advance, F, _SWEEPS, len(ranks))
    batch = list(range(len(ranks)))
    falls = np.array(ranks) > 1
    for _ in range(_ROUNDS if falls.any() else 0):
        if 2 * falls.sum() <= len(batch):
            batch, advance = np.flatnonzero(falls).tolist(), begin()
        own = [ranks[place] for place in batch], [generators[place] for place in batch]
        swapped = _swapped(part, part.xp.stack([best[place] for place in batch]), *own, namespace, points)
        found, values = _descended(part, advance, swapped, _SWEEPS_A_ROUND, len(batch))
        for place, F, value in zip(batch, found, values, strict=True):
            falls[place] &= value < lowest[place]
            if falls[place]:
                best[place], lowest[place] = F, value
        if not falls.any():
            break
    return part.xp.stack(best)


def _descended(
    part: Projective, advance: Callable[..., Sequence[Array]], F: Array, sweeps: int, count: int
) -> tuple[list[Array], np.ndarray]:
    """The lowest point of each start after some sweeps from each of its points, and its objective up to a constant."""
    progress: Sequence[Array] = part.begin(F, _MOMENTUM)
    for _ in range(sweeps):
        progress = advance(*progress)
    values = to_host(progress[2])[:, 1].reshape(count, -1)
    values = np.where(np.isfinite(values), values, np.inf)
    numbers = values.argmin(axis=1)
    best = [progress[0][number + start * values.shape[1], :, :] for start, number in enumerate(numbers.tolist())]
    return best, values[np.arange(count), numbers]


def _points(starts: int) -> int:
    """Points of each of so many starts."""
    return max(_LEAST_POINTS, min(_POINTS, _AT_ONCE // starts // 2 * 2))


def _beginnings(part: Projective, ranks: Sequence[int], generators: Sequence[np.random.Generator], namespace: Namespace) -> Array:
    """Random points for each start, and as many whose components begin at features that are unlike each other."""
    xp, (few, _), half, count, rank = part.xp, part.R.shape, _points(len(ranks)) // 2, len(generators), max(ranks)
    random = namespace.asarray(np.stack([generator.random((half, few, rank), dtype=np.float32) for generator in generators]))
    draws = namespace.asarray(np.stack([generator.uniform(size=(rank, half, 1)) for generator in generators], axis=1))
    unit = unit_length(xp, part.R.T, "columns").T
    squares = xp.sum(part.R * part.R, axis=1)
    unlike = xp.ones((count * half, few), dtype=namespace.dtype, device=namespace.device)
    cosines = []
    for component in range(rank):
        sums = xp.cumulative_sum(squares * unlike, axis=1)
        below = xp.astype(sums < xp.reshape(draws[component, ...], (-1, 1)) * sums[:, -1:], xp.int64)
        item = xp.minimum(xp.sum(below, axis=1), xp.asarray(few - 1, dtype=xp.int64, device=namespace.device))
        cosine = xp.take(unit, item, axis=0) @ unit.T
        cosine = xp.maximum(cosine, xp.zeros_like(cosine))
        unlike = xp.minimum(unlike, xp.maximum(1.0 - cosine * cosine, xp.zeros_like(cosine)))
        cosines.append(cosine)
    begun = xp.reshape(xp.sqrt(squares)[:, None] * xp.stack(cosines, axis=-1) ** 4, (count, half, few, rank))
    is_there = namespace.asarray(np.arange(rank) < np.array(ranks)[:, None])[:, None, None, :]
    return xp.reshape(xp.concat([random, begun], axis=1) * is_there, (-1, few, rank))


def _swapped(
    part: Projective,
    F: Array,
    ranks: Sequence[int],
    generators: Sequence[np.random.Generator],
    namespace: Namespace,
    points: int,
) -> Array:
    """Copies of the point of each start, each with two components merged and a new one at badly approximated features.

    The pairs whose merging loses least are taken in turn; see `search.swapped`.
    """
    xp, (count, few, rank) = part.xp, F.shape
    Y = part.R.T @ F
    B, G = (to_host(array).astype(np.float64) for array in (Y.mT @ Y, F.mT @ F))
    residual = part.R - F @ Y.mT
    left = to_host(xp.sum(residual * residual, axis=-1)).astype(np.float64)
    items = np.stack([_drawn(*pair, points) for pair in zip(generators, left, strict=True)]) + few * np.arange(count)[:, None]
    chosen = xp.take(xp.reshape(residual, (count * few, -1)), xp.asarray(items.ravel(), device=namespace.device), axis=0)
    new = residual @ xp.reshape(chosen, (count, points, -1)).mT
    new = unit_length(xp, xp.maximum(new, xp.zeros_like(new)), "columns")
    lengths = [np.sqrt(np.median(np.diag(one)[:own])) for one, own in zip(G, ranks, strict=True)]
    new = new * namespace.asarray(np.array(lengths))[:, None, None]
    merges = np.tile(np.eye(rank), (count, points, 1, 1))
    for number, own in enumerate(ranks):
        if own > 1:
            merges[number, :, :own, :own] = _mergings(B[number, :own, :own], points)
    moved = F[:, None, :, :] @ namespace.asarray(merges)
    is_kept = xp.asarray(np.any(merges, axis=-2)[:, :, None, :], device=namespace.device)  # all but the second of a pair
    return xp.reshape(xp.where(is_kept, moved, new.mT[:, :, :, None]), (-1, few, rank))


def _drawn(generator: np.random.Generator, left: np.ndarray, points: int) -> np.ndarray:
    """Features in proportion to their unexplained part."""
    return generator.choice(len(left), points, p=left / left.sum()) if left.sum() > 0 else np.zeros(points, int)


def _mergings(B: np.ndarray, count: int) -> np.ndarray:
    """The r × r matrices that merge a pair of components into the first, and leave a column of zeros; pairs that lose least first.

    Merged along the leading eigenvector of [[B_ii, B_ij], [B_ij, B_jj]], a pair loses the smaller eigenvalue.
    """
    first, second = np.triu_indices(len(B), 1)
    own, other, cross = B[first, first], B[second, second], B[first, second]
    lost = (own + other) / 2 - np.sqrt(((own - other) / 2) ** 2 + cross**2)
    chosen = np.argsort(lost, kind="stable")[np.arange(count) % len(lost)]
    first, second, numbers = first[chosen], second[chosen], np.arange(count)
    angle = np.arctan2(2 * cross[chosen], (own - other)[chosen]) / 2
    matrices = np.tile(np.eye(len(B)), (count, 1, 1))
    matrices[numbers, :, second] = 0.0
    matrices[numbers, first, first], matrices[numbers, second, first] = abs(np.cos(angle)), abs(np.sin(angle))
    return matrices
