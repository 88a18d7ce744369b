"""Exactly orthogonal factors: W ≥ 0 with Wᵀ W = I has one entry a row, so it is a partition of the rows, with weights.

For ‖X − W Wᵀ X‖², and for ‖X − W H‖² with H free, what remains is to find the partition for which Σₖ λ₁(Kₖₖ) is largest, where K =
X Xᵀ and Kₖₖ is that of the rows of part k; the column of W is its leading eigenvector, and each part a line through the origin.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..constraints import unit_length

Product = Callable[[np.ndarray], np.ndarray]


def k_lines(product: Product, diagonal: np.ndarray, W: np.ndarray, tol: float = 1e-7, max_iter: int = 300) -> np.ndarray:
    """The partition, as a W with orthonormal columns, that a nearly orthogonal one leads to.

    Rows go to the line they are closest to, and lines are fitted to their rows, in turn (K-lines); then single rows are moved as
    long as some move is sure to gain. Σₖ λ₁(Kₖₖ) never falls.

    Parameters
    ----------
    product : callable
        W ↦ K W, for K positive semi-definite.
    diagonal : array
        Of K.
    W : array of shape (rows, columns)
        Where to start from.
    tol : float
        The relative gain below which it ends.
    max_iter : int
        Products with K, at most.
    """
    shares = unit_length(np, W, "columns")
    A = product(shares)
    labels, weights = _nearest(A, np.einsum("ik,ik->k", shares, A))
    best, improve = -np.inf, _reassigned
    for _ in range(max_iter):
        labels, weights = _without_empty(labels, weights, diagonal, W.shape[1])
        W = _partition(labels, weights, W.shape[1])
        A = product(W)
        energies = np.einsum("ik,ik->k", W, A)
        if energies.sum() <= best * (1 + tol):
            if improve is _moved:
                break
            improve = _moved
        best = max(best, energies.sum())
        labels, weights = improve(labels, A, energies, W, diagonal)
    return _partition(labels, weights, W.shape[1])


def _partition(labels: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    W = np.zeros((len(labels), count), dtype=weights.dtype)
    W[np.arange(len(labels)), labels] = weights
    return unit_length(np, W, "columns")


def _nearest(A: np.ndarray, energies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the line on which its coordinate, (KW)ᵢₖ/√(wₖᵀKwₖ), is largest, and that coordinate."""
    coordinates = A / np.sqrt(np.where(energies > 0, energies, np.inf))
    labels = coordinates.argmax(axis=1)
    return labels, np.maximum(coordinates[np.arange(len(labels)), labels], 0.0)


def _reassigned(
    labels: np.ndarray, A: np.ndarray, energies: np.ndarray, W: np.ndarray, diagonal: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    return _nearest(A, energies)


def _moved(
    labels: np.ndarray, A: np.ndarray, energies: np.ndarray, W: np.ndarray, diagonal: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same labels but for the best moves of single rows, no two of which touch the same part; weights one power step on.

    A part that loses row i keeps at least the Rayleigh quotient of its w without entry i; one that gains it has at least the larger
    eigenvalue of K on the span of its w and eᵢ. The sum of both, less what there was, is a gain that cannot fail.
    """
    rows, count = np.arange(len(labels)), W.shape[1]
    weights, own, kappa = W[rows, labels], A[rows, labels], diagonal
    rest = 1 - weights**2
    kept = np.where(
        rest > 1e-12, (energies[labels] - 2 * weights * own + weights**2 * kappa) / np.where(rest > 1e-12, rest, 1), 0.0
    )
    mean, half = (energies + kappa[:, None]) / 2, (energies - kappa[:, None]) / 2
    gains = mean + np.sqrt(half**2 + A**2) - energies + (kept - energies[labels])[:, None]
    gains[rows, labels] = 0.0
    labels, touched = labels.copy(), np.zeros(count, dtype=bool)
    targets = gains.argmax(axis=1)
    order = np.argsort(-gains[rows, targets])
    for i in order[: 4 * count]:
        source, target = labels[i], targets[i]
        if gains[i, target] <= 1e-12 * energies.sum():
            break
        if not touched[source] and not touched[target]:
            touched[source] = touched[target] = True
            labels[i] = target
    return labels, np.maximum(A[rows, labels] / np.sqrt(np.where(energies > 0, energies, np.inf))[labels], 0.0)


def _without_empty(labels: np.ndarray, weights: np.ndarray, diagonal: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Parts that have lost all rows are given one each: those that their lines explain worst."""
    energies = np.bincount(labels, weights**2, minlength=count)
    empty = np.flatnonzero(energies <= 0)
    if not len(empty):
        return labels, weights
    labels, weights = labels.copy(), weights.copy()
    sizes = np.bincount(labels, weights > 0, minlength=count)
    for i in np.argsort(weights**2 - diagonal, kind="stable"):
        if not len(empty):
            break
        if diagonal[i] > 0 and (sizes[labels[i]] > 1 or weights[i] == 0):
            sizes[labels[i]] -= weights[i] > 0
            labels[i], weights[i], empty = empty[0], np.sqrt(diagonal[i]), empty[1:]
    return labels, weights
