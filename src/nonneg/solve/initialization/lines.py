"""Exactly orthogonal factors: W ≥ 0 with Wᵀ W = I has one entry a row, so it is a partition of the rows, with weights.

For ‖X − W Wᵀ X‖², and for ‖X − W H‖² with H free, what remains is to find the partition for which Σₖ λ₁(Kₖₖ) is largest, with K =
X Xᵀ and Kₖₖ is that of the rows of part k; the column of W is its leading eigenvector, and each part a line through the origin.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...constraints import unit_length

Product = Callable[[np.ndarray], np.ndarray]


def k_lines(product: Product, diagonal: np.ndarray, W: np.ndarray, tol: float = 1e-7, max_iter: int = 300) -> np.ndarray:
    """The partition, as a W with orthonormal columns, that a nearly orthogonal one leads to.

    Rows go to the line they are closest to, and lines are fitted to their rows, in turn (K-lines); then single rows are moved as
    long as some move is sure to gain. Σₖ λ₁(Kₖₖ) never falls. Several starts are improved at once, each as if it were alone, which
    costs little more than one if they are small.

    Parameters
    ----------
    product : callable
        W ↦ K W, for K positive semi-definite; of a stack of them if W is one.
    diagonal : array
        Of K.
    W : array of shape (rows, columns), or (starts, rows, columns)
        Starts.
    tol : float
        The relative gain below which it ends.
    max_iter : int
        Products with K, at most.
    """
    if W.ndim == 2:
        return k_lines(lambda stack: product(stack[0])[None], diagonal, W[None], tol, max_iter)[0]
    shares = unit_length(np, W, "columns")
    A = product(shares)
    labels, weights = _nearest(A, _energies(shares, A))
    found = np.empty_like(shares)
    going = np.arange(len(W))  # the starts that are still improved; the following arrays have these only
    best, reassigns = np.full(len(W), -np.inf), np.ones(len(W), dtype=bool)
    for _ in range(max_iter):
        labels, weights = _without_empty(labels, weights, diagonal, W.shape[2])
        shares = _partition(labels, weights, W.shape[2])
        A = product(shares)
        energies = _energies(shares, A)
        total = energies.sum(axis=1)
        stays = total <= best * (1 + tol)
        best = np.maximum(best, total)
        is_over, reassigns = stays & ~reassigns, reassigns & ~stays
        if is_over.any():
            found[going[is_over]] = shares[is_over]
            left = ~is_over
            going, labels, weights, shares, A, energies, best, reassigns = (
                each[left] for each in (going, labels, weights, shares, A, energies, best, reassigns)
            )
        if not len(going):
            break
        moves = ~reassigns
        new_labels, weights = _nearest(A, energies)
        if moves.any():
            new_labels[moves], weights[moves] = _moved(labels[moves], A[moves], energies[moves], shares[moves], diagonal)
        labels = new_labels
    if len(going):
        found[going] = _partition(labels, weights, W.shape[2])
    return found


def _energies(W: np.ndarray, A: np.ndarray) -> np.ndarray:
    """wₖᵀ K wₖ, for each start and column."""
    return np.einsum("sik,sik->sk", W, A)


def _partition(labels: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """A partition as a factor: each row has its weight in the column of its label; columns have length one."""
    W = np.zeros((*labels.shape, count), dtype=weights.dtype)
    _set(W, labels, weights)
    return unit_length(np, W, "columns")


def _at(A: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of each row, the entry that its label stands for."""
    return np.take_along_axis(A, labels[..., None], axis=-1)[..., 0]


def _set(A: np.ndarray, labels: np.ndarray, values: np.ndarray | float) -> None:
    """Set the entry of each row that its label stands for, in place."""
    np.put_along_axis(A, labels[..., None], np.asarray(values)[..., None], axis=-1)


def _nearest(A: np.ndarray, energies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the line on which its coordinate, (KW)ᵢₖ/√(wₖᵀKwₖ), is largest, and that coordinate."""
    coordinates = A / _roots(energies)[:, None, :]
    labels = coordinates.argmax(axis=-1)
    return labels, np.maximum(_at(coordinates, labels), 0.0)


def _roots(energies: np.ndarray) -> np.ndarray:
    return np.sqrt(np.where(energies > 0, energies, np.inf))


def _moved(
    labels: np.ndarray, A: np.ndarray, energies: np.ndarray, W: np.ndarray, diagonal: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same labels but for the best moves of single rows, no two of which touch the same part; weights one power step on.

    A part that loses row i keeps at least the Rayleigh quotient of its w without entry i; one that gains it has at least the larger
    eigenvalue of K on the span of its w and eᵢ. The sum of both, less what there was, is a gain that cannot fail.
    """
    weights, own, energy = _at(W, labels), _at(A, labels), np.take_along_axis(energies, labels, axis=1)
    rest = 1 - weights**2
    kept = np.where(rest > 1e-12, (energy - 2 * weights * own + weights**2 * diagonal) / np.where(rest > 1e-12, rest, 1), 0.0)
    of_parts, of_rows = energies[:, None, :], diagonal[None, :, None]
    gains = (of_parts + of_rows) / 2 + np.sqrt(((of_parts - of_rows) / 2) ** 2 + A**2) - of_parts + (kept - energy)[..., None]
    _set(gains, labels, 0.0 * energy)
    targets = gains.argmax(axis=-1)
    gained = _at(gains, targets)
    labels = labels.copy()
    for start, order in enumerate(np.argsort(-gained, axis=1)[:, : 4 * W.shape[2]]):
        touched = np.zeros(W.shape[2], dtype=bool)
        for i in order[gained[start, order] > 1e-12 * energies[start].sum()]:
            source, target = labels[start, i], targets[start, i]
            if not touched[source] and not touched[target]:
                touched[source] = touched[target] = True
                labels[start, i] = target
    return labels, np.maximum(_at(A, labels) / np.take_along_axis(_roots(energies), labels, axis=1), 0.0)


def _without_empty(labels: np.ndarray, weights: np.ndarray, diagonal: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Give each empty part one row, of the rows that are explained worst."""
    starts = np.arange(len(labels))[:, None]
    energies = np.bincount((starts * count + labels).ravel(), np.square(weights).ravel(), minlength=len(labels) * count)
    is_empty = energies.reshape(len(labels), count) <= 0
    if not is_empty.any():
        return labels, weights
    labels, weights = labels.copy(), weights.copy()
    for start in np.flatnonzero(is_empty.any(axis=1)):
        _fill(np.flatnonzero(is_empty[start]), labels[start], weights[start], diagonal, count)
    return labels, weights


def _fill(empty: np.ndarray, labels: np.ndarray, weights: np.ndarray, diagonal: np.ndarray, count: int) -> None:
    """Give empty parts a row each, in place."""
    sizes = np.bincount(labels, weights > 0, minlength=count)
    for i in np.argsort(weights**2 - diagonal, kind="stable"):
        if not len(empty):
            break
        if diagonal[i] > 0 and (sizes[labels[i]] > 1 or weights[i] == 0):
            sizes[labels[i]] -= weights[i] > 0
            labels[i], weights[i], empty = empty[0], np.sqrt(diagonal[i]), empty[1:]
