"""Starts from clusters of rows or columns: by distance (K-means), or by angle."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...constraints import unit_length
from ...exceptions import IncompatibleError
from ...kernels.tuned import tuned
from .items import Items
from .lines import k_lines
from .sides import SMOOTHING


def kmeans(items: Items, count: int, seed: int, whose: str) -> tuple[np.ndarray, np.ndarray]:
    """The indicators of K-means clusters plus 0.2 (ONL §4.3), and the means of the clusters plus 0.2 of their mean."""
    _check_enough(items, count, "kmeans", whose)
    indicators = one_hot_clusters(items.coordinates(count, np.random.default_rng(seed)), count, seed)
    means = items.T @ (indicators / indicators.sum(axis=0))
    return indicators + SMOOTHING, means + SMOOTHING * (means.mean() or 1.0)


def one_hot_clusters(points: np.ndarray, count: int, seed: int) -> np.ndarray:
    """One column for each K-means cluster of the rows of a matrix, one for rows that belong to it; rows of zeros belong to all."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    lengths = np.abs(points).max(axis=1)
    occupied = np.flatnonzero(lengths > _ROUNDING * lengths.max(initial=0.0))
    if count <= len(occupied) < points.shape[0]:
        # Items of zeros are alike, and would be a cluster of their own, with nothing in it to approximate.
        indicators = np.full((points.shape[0], count), 1 / count)
        indicators[occupied] = one_hot_clusters(points[occupied], count, seed)
        return indicators
    some = _some(points, count, np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different items than clusters: some are then the same
        found = KMeans(count, n_init=3, random_state=seed).fit(some)
    labels = found.labels_ if some is points else _nearest(points, found.cluster_centers_)
    indicators = np.eye(count)[labels]
    empty = np.flatnonzero(indicators.sum(axis=0) == 0)
    indicators[np.argsort(-indicators.sum(axis=0)[labels], kind="stable")[: len(empty)], empty] = 1.0
    return indicators


def _some(points: np.ndarray, count: int, generator: Any) -> np.ndarray:
    """The points, or as many of them, drawn at random, as are enough to find clusters among."""
    most = max(_ENOUGH, 50 * count)
    return points if len(points) <= most else points[np.sort(generator.choice(len(points), most, replace=False))]


def _nearest(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The number of the closest centre, for each point: ‖x − c‖² is smallest if ⟨x, c⟩ − ½‖c‖² is largest."""
    return (points @ centers.T - (centers * centers).sum(axis=1) / 2).argmax(axis=1)


def angular(items: Items, count: int, seed: int, whose: str) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of directions: the rank-one factors of each cluster, plus 0.2 of their mean.

    An exactly orthogonal W is a partition of the items, each cluster a line through the origin with W its coordinates.
    """
    _check_enough(items, count, "angular", whose)
    generator = np.random.default_rng(seed)
    own = angular_clusters(items.coordinates(count, generator), count, generator)
    facing = items.T @ own
    return own + SMOOTHING * (own.mean() or 1.0), facing + SMOOTHING * (facing.mean() or 1.0)


def angular_clusters(points: np.ndarray, count: int, generator: Any) -> np.ndarray:
    """Clusters of directions, as a factor with orthonormal columns: of each point, its coordinate on the line of its cluster.

    k-means++ with sin² of the angle in place of the squared distance seeds the lines, and K-lines improve on them (spherical
    K-means, EM-ONMF of Pompili et al. 2014). The best of a few seedings is kept.
    """
    some = _some(points, count, generator)
    squares = np.einsum("ij,ij->i", some, some)
    starts = np.zeros((_SEEDINGS, len(some), count))
    for start in starts:
        start[_seeds(some, squares, count, generator), np.arange(count)] = 1.0
    attempts = k_lines(lambda W: some @ (some.T @ W), squares, starts, max_iter=_ROUNDS)
    best = attempts[np.square(some.T @ attempts).sum(axis=(1, 2)).argmax()]
    if some is points:
        return best
    coordinates = points @ unit_length(np, some.T @ best, "columns")
    labels = coordinates.argmax(axis=1)
    own = np.zeros_like(coordinates)
    own[np.arange(len(own)), labels] = np.maximum(coordinates[np.arange(len(own)), labels], 0.0)
    return unit_length(np, own, "columns")


def _seeds(points: np.ndarray, squares: np.ndarray, count: int, generator: Any) -> list[int]:
    """The items that lines are first drawn through."""
    seeds: list[int] = []
    missed = squares.copy()
    for _ in range(count):
        chances = missed if missed.sum() > 0 else np.bincount(np.setdiff1d(np.arange(len(points)), seeds), minlength=len(points))
        seeds.append(int(np.searchsorted(np.cumsum(chances), generator.uniform() * chances.sum(), side="right")))
        explained = (points @ points[seeds[-1]]) ** 2 / (squares[seeds[-1]] or 1.0)
        missed = np.minimum(missed, np.maximum(squares - explained, 0.0))
        missed[seeds] = 0.0
    return seeds


def _check_enough(items: Items, count: int, start: str, whose: str) -> None:
    if count > items.shape[0]:
        raise IncompatibleError(
            f"init={start!r} cannot make the {count} clusters that {whose} asks for out of {items.shape[0]} items. Lower the "
            "rank, or start at random."
        )


_ENOUGH = tuned(2000, by="applications", on="2026-11-15")
"""Points in which clusters are searched; or 50 for each cluster."""
_SEEDINGS = tuned(5, by="applications", on="2026-11-15")
"""Seedings of K-lines; the best is kept."""
_ROUNDS = tuned(10, by="applications", on="2026-11-15")
"""Iterations of K-lines from each seeding."""
_ROUNDING = 1e-12
"""Of the largest coordinate: items below that have none."""
