"""Starts from singular vectors: NNDSVD (Boutsidis and Gallopoulos 2008), without its zeros.

Each singular pair u vᵀ has two non-negative pieces, u⁺ v⁺ᵀ and u⁻ v⁻ᵀ; the larger one is taken. Half of its entries are zero,
which a multiplicative rule would never change: "nndsvd" makes them a thousandth of the mean, "nndsvda" the mean, "nndsvdar"
random up to a hundredth of it.

Singular vectors whose singular values are equal, as those of equal blocks are, are known only up to a rotation, and any mixture of
the blocks would do. They are rotated so that each has few large entries (varimax, Kaiser 1958).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.namespace import Array, namespace_of, to_host
from .items import Items, leading_on_device, leading_singular

Pair = tuple[Array, Array]


def nndsvd(items: Items, count: int, seed: int, whose: str) -> Pair:
    """Zeros become a thousandth of the mean."""
    own, facing = _pieces(items, count, seed)
    return _filled(own, 1e-3 * _mean(own)), _filled(facing, 1e-3 * _mean(facing))


def nndsvda(items: Items, count: int, seed: int, whose: str) -> Pair:
    """Zeros become the mean."""
    own, facing = _pieces(items, count, seed)
    return _filled(own, _mean(own)), _filled(facing, _mean(facing))


def nndsvdar(items: Items, count: int, seed: int, whose: str) -> Pair:
    """Zeros become random numbers, up to a hundredth of the mean."""
    own, facing = _pieces(items, count, seed)
    generator = np.random.default_rng(seed)

    def filled(factor: np.ndarray) -> np.ndarray:
        draws = 1.0 - generator.uniform(size=tuple(factor.shape))
        return _filled(
            factor, 0.01 * _mean(factor) * (draws if isinstance(factor, np.ndarray) else namespace_of(factor).asarray(draws))
        )

    return filled(own), filled(facing)


def _pieces(items: Items, count: int, seed: int) -> Pair:
    possible = min(count, *items.shape)
    if not items.data.namespace.is_host:
        return _pieces_on_device(items, possible, count, seed)
    U, singular, VT = _simplest(*leading_singular(items, possible, seed))
    own, facing = np.zeros((items.shape[0], count)), np.zeros((items.shape[1], count))
    own[:, 0], facing[:, 0] = np.abs(U[:, 0]), np.abs(VT[0])
    for k in range(1, possible):
        pieces = [(np.maximum(sign * U[:, k], 0), np.maximum(sign * VT[k], 0)) for sign in (1, -1)]
        u, v = max(pieces, key=lambda piece: np.linalg.norm(piece[0]) * np.linalg.norm(piece[1]))
        lengths = np.linalg.norm(u), np.linalg.norm(v)
        if all(lengths):
            singular[k] *= lengths[0] * lengths[1]
            own[:, k], facing[:, k] = u / lengths[0], v / lengths[1]
    root = np.sqrt(np.append(singular, np.zeros(count - possible)))
    return own * root, facing * root


def _pieces_on_device(items: Items, possible: int, count: int, seed: int) -> Pair:
    """The same on a device, all components at once."""
    namespace, (U, singular, V) = items.data.namespace, leading_on_device(items, possible, seed)
    xp = namespace.xp
    if np.any(singular[1:] >= (1 - _EQUAL) * singular[:-1]):
        U, V = (namespace.asarray(part) for part in _simplest(to_host(U), singular, to_host(V).T)[::2])
        V = V.T
    up, down = ([xp.maximum(sign * part, xp.zeros_like(part)) for part in (U, V)] for sign in (1, -1))
    of_up, of_down = (math.prod(xp.linalg.vector_norm(part, axis=0) for part in parts) for parts in (up, down))
    is_up = of_up >= of_down
    pieces = [
        xp.concat([abs(whole[:, :1]), xp.where(is_up, one, other)[:, 1:]], axis=1)
        for whole, one, other in zip((U, V), up, down, strict=True)
    ]
    lengths = [xp.linalg.vector_norm(piece, axis=0) for piece in pieces]
    is_there, one = lengths[0] * lengths[1] > 0, xp.ones_like(lengths[0])
    root = xp.where(is_there, xp.sqrt(namespace.asarray(singular) * lengths[0] * lengths[1]), 0.0 * one)
    own, facing = (piece / xp.where(is_there, length, one) * root for piece, length in zip(pieces, lengths, strict=True))
    rest = [xp.zeros((part.shape[0], count - possible), dtype=namespace.dtype, device=namespace.device) for part in (own, facing)]
    return xp.concat([own, rest[0]], axis=1), xp.concat([facing, rest[1]], axis=1)


def _simplest(U: np.ndarray, singular: np.ndarray, VT: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular vectors, those of equal singular values rotated together: U R and V R are singular vectors just as well."""
    U, VT, start = U.copy(), VT.copy(), 0
    while start < len(singular):
        tied = slice(start, start + int(np.count_nonzero(singular[start:] >= (1 - _EQUAL) * singular[start])))
        if tied.stop - start > 1 and singular[start] > 0:
            R = _varimax(np.vstack([U[:, tied], VT[tied].T]))
            U[:, tied], VT[tied] = U[:, tied] @ R, R.T @ VT[tied]
        start = tied.stop
    return U, singular, VT


def _varimax(A: np.ndarray) -> np.ndarray:
    """The varimax rotation R: the squares of the columns of A R have the largest variance.

    Halfway between two blocks, with (1, 1) and (1, −1) for (1, 0) and (0, 1), they vary least, and no small turn shows the
    way. So the better of two ways is taken, one of which begins at a rotation that nothing is symmetric about.
    """
    generic = np.linalg.qr(np.random.default_rng(0).standard_normal((A.shape[1], A.shape[1])))[0]
    return max((_turned_from(A, R) for R in (np.eye(A.shape[1]), generic)), key=lambda R: float(np.var((A @ R) ** 2, axis=0).sum()))


def _turned_from(A: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Tolerance of a rotation."""
    last = 0.0
    for _ in range(_TURNS):
        turned = A @ R
        left, size, right = np.linalg.svd(A.T @ (turned**3 - turned * np.mean(turned**2, axis=0)))
        R = left @ right
        if size.sum() <= last * (1 + _EQUAL):
            break
        last = float(size.sum())
    return R


_EQUAL, _TURNS = 1e-6, 100
"""Relative difference below which singular values, or gains of a rotation, count as equal; rotations, at most."""


def _mean(factor: Array) -> Any:
    return factor.mean() if isinstance(factor, np.ndarray) else namespace_of(factor).xp.mean(factor)


def _filled(factor: Array, fill: Any) -> Array:
    """Without zeros, and without the noise that the singular vectors have in place of them."""
    if isinstance(factor, np.ndarray):
        fill = np.broadcast_to(fill, factor.shape)
        return np.where(factor > 1e-6 * factor.max(), factor, np.where(fill > 0, fill, 1.0))
    xp = namespace_of(factor).xp
    fill = xp.broadcast_to(fill, factor.shape)
    return xp.where(factor > 1e-6 * xp.max(factor), factor, xp.where(fill > 0, fill, xp.ones_like(fill)))
