"""Starts: symbols with the same neighbours come from the same state, as far as emissions do not overlap."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.tuned import tuned

Start = Callable[[Any, int, np.random.Generator], dict[str, np.ndarray]]
"""(X, n_states, generator) → W and Y."""
_SKETCH = tuned(8, by="chains", on="2026-11-15")
"""Columns of a sketch for each state, and as many more."""


def clustered(
    X: Any, n_states: int, generator: np.random.Generator, smoothing: float = 0.2, n_init: int = 1
) -> dict[str, np.ndarray]:
    """W and Y from clusters of symbols with like neighbours on both sides, frequent symbols counting more.

    Rows and columns of X, each divided by its sum, are distributions of the symbols after and before a symbol. Their square roots
    have Hellinger distances, in which rare and frequent neighbours weigh alike. Of sparse X a sketch is taken. Indicators of the
    clusters get 0.2 added, as in ONL §4.3.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    shares = (np.asarray(X.sum(axis=1)).ravel() + np.asarray(X.sum(axis=0)).ravel()) / 2
    profiles = np.hstack([_roots(X, n_states, generator), _roots(X.T, n_states, generator)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different symbols than states: some are then the same
        found = KMeans(n_states, n_init=n_init, random_state=int(generator.integers(2**31))).fit(profiles, sample_weight=shares)
    indicators = np.eye(n_states)[found.labels_] + smoothing
    W = indicators * shares[:, None]
    Y = np.asarray(indicators.T @ (X @ indicators))
    return {"W": W / W.sum(axis=0), "Y": Y / Y.sum()}


def scattered(X: Any, n_states: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """W and Y at random, frequent symbols frequent in every state."""
    shares = (np.asarray(X.sum(axis=1)).ravel() + np.asarray(X.sum(axis=0)).ravel()) / 2
    W = shares[:, None] * (1.0 - generator.uniform(size=(len(shares), n_states)))
    Y = 1.0 - generator.uniform(size=(n_states, n_states))
    return {"W": W / W.sum(axis=0), "Y": Y / Y.sum()}


def uniform(X: Any, n_states: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """W and Y at random, as in QNMF."""
    W, Y = (1.0 - generator.uniform(size=(size, n_states)) for size in (X.shape[0], n_states))
    return {"W": W / W.sum(axis=0), "Y": Y / Y.sum()}


def separate(X: Any, n_states: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """W and Y from clusters, with next to no overlap."""
    return clustered(X, n_states, generator, smoothing=1e-4, n_init=3)


STARTS: dict[str, tuple[Start, ...]] = {
    "auto": (clustered, scattered),
    "clusters": (clustered,),
    "random": (uniform,),
}
"""By name; several take turns."""


def _roots(X: Any, n_states: int, generator: np.random.Generator) -> np.ndarray:
    """The square roots of rows divided by their sums; of sparse ones their products with a few random vectors."""
    if not sparse.issparse(X):
        sums = X.sum(axis=1, keepdims=True)
        return np.sqrt(X / np.where(sums > 0, sums, 1.0))
    rows = sparse.csr_array(X)
    sums = np.repeat(np.asarray(rows.sum(axis=1)).ravel(), np.diff(rows.indptr))
    roots = sparse.csr_array((np.sqrt(rows.data / sums), rows.indices, rows.indptr), shape=rows.shape)
    return roots @ generator.standard_normal((rows.shape[1], _SKETCH * (n_states + 1)))
