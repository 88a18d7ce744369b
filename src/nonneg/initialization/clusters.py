"""Starts from clusters of rows or columns: by distance (K-means), or by angle."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import IncompatibleError
from .sides import SMOOTHING


def kmeans(items: Any, count: int, seed: int, whose: str) -> tuple[np.ndarray, np.ndarray]:
    """The indicators of K-means clusters plus 0.2 (ONL §4.3), and the means of the clusters plus 0.2 of their mean."""
    indicators = one_hot_clusters(items, count, seed, whose)
    means = np.asarray(items.T @ (indicators / indicators.sum(axis=0)))
    return indicators + SMOOTHING, means + SMOOTHING * (means.mean() or 1.0)


def one_hot_clusters(samples: Any, count: int, seed: int, where: str) -> np.ndarray:
    """One column for each K-means cluster of the rows of a matrix, one where a row belongs to it; rows of zeros belong to all."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    _check_enough(samples, count, "kmeans", where)
    occupied = np.flatnonzero(np.diff(samples.tocsr().indptr) if sparse.issparse(samples) else samples.any(axis=1))
    if count <= len(occupied) < samples.shape[0]:
        # Items of zeros are alike, and would be a cluster of their own, with nothing in it to approximate.
        indicators = np.full((samples.shape[0], count), 1 / count)
        indicators[occupied] = one_hot_clusters(samples[occupied], count, seed, where)
        return indicators
    some = _some(samples, count, np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different items than clusters: some are then the same
        found = KMeans(count, n_init=3, random_state=seed).fit(_with_small_indices(some))
    labels = found.labels_ if some is samples else _nearest(samples, found.cluster_centers_)
    indicators = np.eye(count)[labels]
    empty = np.flatnonzero(indicators.sum(axis=0) == 0)
    indicators[np.argsort(-indicators.sum(axis=0)[labels], kind="stable")[: len(empty)], empty] = 1.0
    return indicators


def _some(items: Any, count: int, generator: Any) -> Any:
    """The items, or as many of them, drawn at random, as are enough to find clusters among."""
    most = max(_ENOUGH, 50 * count)
    return items if items.shape[0] <= most else items[np.sort(generator.choice(items.shape[0], most, replace=False))]


def _nearest(items: Any, centers: np.ndarray) -> np.ndarray:
    """The number of the closest centre, for each item: ‖x − c‖² is smallest where ⟨x, c⟩ − ½‖c‖² is largest."""
    return (np.asarray(items @ centers.T) - (centers * centers).sum(axis=1) / 2).argmax(axis=1)


def _with_small_indices(items: Any) -> Any:
    """A sparse array with 32-bit indices, the only ones that K-means takes."""
    if not sparse.issparse(items) or max(items.nnz, *items.shape) >= 2**31:
        return items
    rows = items.tocsr()
    return sparse.csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape)


def angular(items: Any, count: int, seed: int, whose: str) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of directions: the rank-one factors of each cluster, plus 0.2 of their mean.

    An exactly orthogonal W is a partition of the items, each cluster a line through the origin with W its coordinates. k-means++
    with sin² of the angle in place of the squared distance seeds the lines; a few rounds of assigning items to the closest line,
    and fitting lines to their items, follow (spherical K-means, EM-ONMF of Pompili et al. 2014). The best of a few seedings is
    kept.
    """
    _check_enough(items, count, "angular", whose)
    generator = np.random.default_rng(seed)
    some = _some(items, count, generator)
    squares = (some * some).sum(axis=1) if sparse.issparse(some) else np.einsum("ij,ij->i", some, some)
    lengths = np.sqrt(np.asarray(squares, dtype=float).ravel())
    attempts = [_lines(some, lengths, count, generator) for _ in range(_SEEDINGS)]
    labels, lines, coordinates, _ = max(attempts, key=lambda attempt: attempt[-1])
    if some is not items:
        labels, lines, coordinates = _round(items, lines)
    own = np.zeros((len(labels), count))
    own[np.arange(len(labels)), labels] = coordinates
    scale = np.sqrt((own * own).sum(axis=0))
    own /= np.where(scale > 0, scale, 1.0)
    return own + SMOOTHING * (own.mean() or 1.0), lines * scale + SMOOTHING * ((lines * scale).mean() or 1.0)


def _lines(items: Any, lengths: np.ndarray, count: int, generator: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Labels, unit vectors of the lines (in columns), coordinates of the items on theirs, and the sum of their squares."""
    seeds: list[int] = []
    explained = np.zeros(len(lengths))
    for _ in range(count):
        missed = np.maximum(lengths**2 - explained, 0.0)
        missed[seeds] = 0.0
        chances = missed if missed.sum() > 0 else np.bincount(np.setdiff1d(np.arange(len(lengths)), seeds), minlength=len(lengths))
        seeds.append(int(np.searchsorted(np.cumsum(chances), generator.uniform() * chances.sum(), side="right")))
        explained = np.maximum(explained, np.asarray(items @ _unit(_columns(items, seeds[-1:]))).ravel() ** 2)
    lines = _unit(_columns(items, seeds))
    labels = coordinates = np.zeros(0)
    for _ in range(_ROUNDS):
        labels, lines, coordinates = _round(items, lines)
    return labels, lines, coordinates, float((coordinates**2).sum())


def _round(items: Any, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items assigned to the line they are closest to, and lines fitted to their items."""
    products = np.asarray(items @ lines)
    labels = products.argmax(axis=1)
    coordinates = products[np.arange(len(labels)), labels]
    weighted = np.zeros_like(products)
    weighted[np.arange(len(labels)), labels] = coordinates
    fitted = np.asarray(items.T @ weighted)  # a step of the power method for the leading direction of each cluster
    alive = (fitted * fitted).sum(axis=0) > 0
    return labels, np.where(alive, _unit(fitted), lines), coordinates


def _columns(items: Any, which: list[int]) -> np.ndarray:
    chosen = items[which]
    return np.asarray(chosen.toarray() if sparse.issparse(chosen) else chosen, dtype=float).T


def _unit(columns: np.ndarray) -> np.ndarray:
    lengths = np.sqrt((columns * columns).sum(axis=0))
    return columns / np.where(lengths > 0, lengths, 1.0)


def _check_enough(items: Any, count: int, start: str, whose: str) -> None:
    if count > items.shape[0]:
        raise IncompatibleError(
            f"init={start!r} cannot make the {count} clusters that {whose} asks for out of {items.shape[0]} items. Lower the "
            "rank, or start at random."
        )


_ENOUGH = 2000
_SEEDINGS = 5
_ROUNDS = 10
