"""Eigenvectors of the algebraically largest eigenvalues, as many as asked for, of any multiplicity.

LAPACK's routine for a few of them and ARPACK may return fewer, or none, of multiple eigenvalues, as of cliques, stars and
disconnected graphs. Their results are checked; if some are missing, all eigenvectors are computed, or a block is iterated.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from .tuned import tuned

SMALL = tuned(1500, by="graphs", on="2026-11-15")
"""Vertices up to which a dense method takes less time than products with S."""
_ROUNDED = 1e-6
"""Tolerance of WᵀW = I for LAPACK's result: rounding is 1e-13, a lost eigenvector about 1."""

_MISSED = tuned(1e-2, by="graphs", on="2026-11-17")
"""Share of the largest eigenvalue by which another one may exceed the least that was found."""

_BESIDES = tuned(8, by="graphs", on="2026-11-15")
"""Extra columns of a block, so that the first ones converge sooner."""


def leading(
    S: Any, count: int, generator: np.random.Generator, *, tol: float = 1e-4, steps: int = 100, small: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The `count` largest eigenvalues, the largest first, and orthonormal eigenvectors.

    Parameters
    ----------
    S : array, sparse array or Similarity of shape (n, n)
        Symmetric.
    count : int
        At most n.
    generator : Generator
        Draws the vectors that are iterated, of large S.
    tol : float
        Of large S, the tolerance of eigenvalues, relative to the largest.
    steps : int
        Of large S, after how many restarts ARPACK gives up.
    small : int, optional
        Vertices above which sparse S counts as large: `SMALL` if it is None. Between both, missed copies of eigenvalues are
        searched for.

    Notes
    -----
    Of an eigenvalue with many copies, ARPACK may miss some, and return eigenvectors of the next in their place: good enough to
    start a partition from. Up to `SMALL` vertices all are right.
    """
    n = S.shape[0]
    few = SMALL if small is None else min(small, SMALL)
    if n <= few or n <= 2 * count:
        return _as_array(S, count)
    values, vectors = _by_arpack(lambda v: S @ v, n, count, generator, tol, steps)
    is_whole = len(values) == count and np.isfinite(vectors).all()
    if n <= SMALL and not (is_whole and _has_all(S, values, vectors, generator)):
        return _as_array(S, count)
    if not is_whole:
        more = generator.standard_normal((n, min(count + _BESIDES, n) - vectors.shape[1]))
        return _by_block(S, np.hstack([np.nan_to_num(vectors), more]), count, tol)
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def _by_arpack(
    apply: Callable[[np.ndarray], np.ndarray], n: int, count: int, generator: np.random.Generator, tol: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues and their eigenvectors; no eigenvalues, and the converged vectors, if too few have converged."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    operator = LinearOperator((n, n), matvec=lambda v: apply(v.reshape(-1)), matmat=apply, dtype=np.float64)
    start = generator.standard_normal(n)
    # If the space of the start is exhausted, ARPACK draws another, from the generator if it takes one (SciPy 1.17 and later).
    draws = {"rng": generator} if "rng" in signature(eigsh).parameters else {}
    try:
        return eigsh(operator, k=count, which="LA", v0=start, tol=tol, maxiter=steps, **draws)
    except ArpackError as error:  # too few have converged, or the start was exhausted
        return np.zeros(0), getattr(error, "eigenvectors", np.zeros((n, 0)))


def _has_all(S: Any, values: np.ndarray, vectors: np.ndarray, generator: np.random.Generator) -> bool:
    """Whether nothing that is orthogonal to the eigenvectors has a larger eigenvalue than the least of theirs."""

    def beside(v: np.ndarray) -> np.ndarray:
        product = S @ (v - vectors @ (vectors.T @ v))
        return product - vectors @ (vectors.T @ product)

    missed = _by_arpack(beside, len(vectors), 1, generator, _MISSED, 20)[0]
    return len(missed) == 1 and missed[0] <= values.min() + _MISSED * np.abs(values).max()


def _as_array(S: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    n = S.shape[0]
    return _of_array(S.toarray() if hasattr(S, "toarray") and n <= SMALL else S @ np.eye(n), count)


def _of_array(array: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    from scipy.linalg import LinAlgError, eigh

    n = len(array)
    array = (array + array.T) / 2
    try:
        values, vectors = eigh(array, subset_by_index=[n - count, n - 1])
        is_whole = vectors.shape == (n, count) and np.allclose(vectors.T @ vectors, np.eye(count), rtol=0, atol=_ROUNDED)
    except LinAlgError:
        is_whole = False
    if not is_whole:
        values, vectors = (found[..., n - count :] for found in np.linalg.eigh(array))
    return values[::-1], vectors[:, ::-1]


def _by_block(S: Any, start: np.ndarray, count: int, tol: float, steps: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Iterate S + shift on a block until its `count` leading eigenvalues are steady."""
    basis, shift, last = np.linalg.qr(start)[0], 0.0, np.full(count, np.inf)
    for _ in range(steps):
        product = S @ basis
        values, rotation = np.linalg.eigh(basis.T @ product)
        values, vectors = values[::-1][:count], basis @ rotation[:, ::-1][:, :count]
        shift = max(shift, float(np.linalg.norm(product, axis=0).max()))  # no eigenvalue below −shift is the largest in magnitude
        if np.abs(values - last).max() <= tol * shift / 10:
            break
        last, basis = values, np.linalg.qr(product + shift * basis)[0]
    return values, vectors
