"""The rows, or the columns, of the data, as starts look at them: few readings of X, and no copy of it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from ...data import Data
from ...data.base import items_of
from ...kernels.namespace import Array, to_host
from ...kernels.tuned import tuned

_DIMENSIONS_PER_CLUSTER = tuned(4, by="documents", on="2026-11-16")
"""Dimensions for each cluster."""
_LEAST_DIMENSIONS = tuned(32, by="documents", on="2026-11-16")
"""Dimensions in which items are compared, at most: those in which they differ most."""
_OVERSAMPLED = tuned(10, by="documents", on="2026-11-16")
"""Random directions beyond the number of singular vectors."""
_SAFE = (1e-18, 1e18)
"""Between these, sums of squares are numbers in single precision too."""


class Items:
    """Rows (axis 0) or columns (axis 1) of X; their products, and the factors of these, are arrays on the host."""

    def __init__(self, data: Data, axis: int) -> None:
        data, peak = items_of(data), data.facts.peak
        # If squares of the data overflow, they are measured in units of about their largest entry, a power of two, so that
        # no digit changes; factors are scaled later.
        self.unit = 2.0 ** round(math.log2(peak)) if peak and not _SAFE[0] < peak < _SAFE[1] else 1.0
        self.data = data if self.unit == 1 else data.in_units(self.unit)
        self.axis = axis

    @property
    def shape(self) -> tuple[int, int]:
        """How many items there are, and how many numbers each has."""
        return self.data.shape if self.axis == 0 else self.data.shape[::-1]

    @property
    def T(self) -> Items:
        return Items(self.data, 1 - self.axis)

    def __matmul__(self, M: np.ndarray) -> np.ndarray:
        product = self.data.apply(self.data.namespace.asarray(M), transposed=self.axis == 1)
        return np.asarray(to_host(product), dtype=np.float64)

    @cached_property
    def sums(self) -> np.ndarray:
        """The sum of each item."""
        return (self @ np.ones((self.shape[1], 1))).ravel()

    def coordinates(self, count: int, generator: Any) -> np.ndarray:
        """The items in few dimensions, enough to tell so many clusters of them apart: in those in which they have most."""
        dimensions = max(_DIMENSIONS_PER_CLUSTER * count, _LEAST_DIMENSIONS)
        if self.shape[1] <= dimensions:
            return self @ np.eye(self.shape[1])
        # Two readings find the directions, one more the coordinates along them.
        basis = np.linalg.qr(self.T @ (self @ generator.standard_normal((self.shape[1], dimensions))))[0]
        return self @ basis


def leading_singular(items: Any, count: int, seed: int, powers: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, S and Vᵀ of the leading singular vectors, by powers of a few random directions (Halko, Martinsson and Tropp 2011).

    Parameters
    ----------
    items : Items, or whatever can be multiplied, transposed or not
    count : int
        At most as many as there are.
    seed : int
    powers : int, optional
        Fewer for a rough result; by default as many as scikit-learn has.
    """
    draws, powers = _drawn(items, count, seed, powers)
    if isinstance(items, Items) and not items.data.namespace.is_host:
        U, S, V = leading_on_device(items, count, seed, powers)
        return to_host(U).astype(np.float64), S, to_host(V).T.astype(np.float64)
    found = items @ draws
    for _ in range(powers):
        found = items @ _basis(items.T @ _basis(found))
    Q = np.linalg.qr(found)[0]
    U, S, VT = np.linalg.svd((items.T @ Q).T, full_matrices=False)
    return (Q @ U)[:, :count], S[:count], VT[:count]


def _basis(M: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns; if there are many entries, from MᵀM where that keeps enough digits,
    in a third of the time.
    """
    if M.size >= _LARGE:
        G = M.T @ M
        sizes = np.sqrt(np.diag(G))
        if sizes.all():
            values, vectors = np.linalg.eigh(G / np.outer(sizes, sizes))
            if values[0] > _DEPENDENT * values[-1]:
                return np.asarray(M @ (vectors / np.sqrt(values) / sizes[:, None]))
    return np.linalg.qr(M)[0]


_LARGE, _DEPENDENT = 2**16, 1e-8
"""Entries from which a basis is worth two products, and eigenvalues of MᵀM, as a share of the largest, that rounding spoils."""


def _drawn(items: Any, count: int, seed: int, powers: int | None) -> tuple[np.ndarray, int]:
    """Random directions, and the powers of the matrix to take."""
    size = min(count + _OVERSAMPLED, *items.shape)
    draws = np.random.default_rng(seed).standard_normal((items.shape[1], size))
    return draws, powers or (7 if count < 0.1 * min(items.shape) else 4)


def leading_on_device(items: Items, count: int, seed: int, powers: int | None = None) -> tuple[Array, np.ndarray, Array]:
    """The same on a device: U, S and V, of which U and V stay there."""
    draws, powers = _drawn(items, count, seed, powers)
    xp, data, is_turned = items.data.namespace.xp, items.data, items.axis == 1

    def basis(M: Array) -> Array:
        return xp.linalg.qr(M, mode="reduced")[0]

    found = data.apply(data.namespace.asarray(draws), transposed=is_turned)
    for _ in range(powers):
        found = data.apply(basis(data.apply(basis(found), transposed=not is_turned)), transposed=is_turned)
    Q = basis(found)
    facing, R = xp.linalg.qr(data.apply(Q, transposed=not is_turned), mode="reduced")
    U, S, VT = np.linalg.svd(to_host(R).T.astype(np.float64), full_matrices=False)
    left, right = (long @ data.namespace.asarray(short[:, :count]) for long, short in ((Q, U), (facing, VT.T)))
    return left, S[:count], right
