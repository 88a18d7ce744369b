"""Starts from clusters of rows and of columns that are found together.

Where every row is in one cluster and every column is, an orthogonal tri-factorization is a partition of both, and can be searched
as one: assign each row to the cluster that it fits best, given the clusters of columns; then each column; and so on. They cost
little, for a row is then as many numbers as there are clusters of columns, so that several partitions can be tried, and the best
one kept: those of K-means, by distance and by angle, those of singular vectors (after Dhillon 2001), and some drawn at random. What
assigning items one by one cannot leave, a new clustering of all rows given the clusters of columns may, and the other way round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..arrays.data import dense
from ..constraints import FixedMultiplier
from ..divergences import Beta, Objective
from ..problem import Problem
from ..shapes import dimension_classes
from .clusters import angular, one_hot_clusters
from .sides import Start, made_by, outer_sides, samples_of

_BLUR = 1e-8
"""What is added to disjoint factors, relative to their mean, so that no entry is zero. From 0.02 on, clusters blend where they are
multiples of each other, and small ones drown in large ones."""
_SOFT = 0.02
"""The same where no constraint keeps clusters apart on the way (FONT), and thousands of steps would lead from 1e-8 to overlap."""
_ROUNDS = 30
_RANDOM = 4
"""Partitions drawn at random that are tried besides those of K-means and of singular vectors, where entries are not too many."""
_MANY = 10**5
_AGAIN = 3
"""How often each side is clustered anew, given the other, before a partition counts as the best; where entries are not too many."""


def made_together(start: Start, problem: Problem, wanted: list[str], generator: Any) -> dict[str, np.ndarray]:
    """The factors that clusters of rows and of columns make; those of `start` where the form has not both, each with its own."""
    names = _of_rows_and_columns(problem)
    X = samples_of(problem)
    kept = [np.flatnonzero(sums > 0) for sums in _sums(X)]  # what is zero is like nothing else, and would be a cluster of its own
    if names is None or any(name not in wanted for name, _ in names):
        return made_by(start, problem, wanted, generator)
    k, m = (problem.shapes[name][1 - axis] for name, axis in names)
    if any(count > len(which) for count, which in zip((k, m), kept, strict=True)):
        return made_by(start, problem, wanted, generator)
    equal, weighted = fits_for(problem.model.divergence)
    partition = best_partition(X[kept[0]][:, kept[1]], (k, m), equal, weighted, int(generator.uniform() * 2**31))
    factors, outer = {}, []
    for (name, axis), which, own, size in zip(names, kept, partition.factors(), X.shape, strict=True):
        outer.append(np.zeros((size, own.shape[1])))
        outer[-1][which] = own
        is_soft = isinstance(problem.model.constraints[name], FixedMultiplier)
        factor = outer[-1] + (_SOFT if is_soft else _BLUR) * own.mean()
        factors[name] = factor if axis == 0 else factor.T
    form = problem.model.form
    if len(form) == 3 and form[1].name in wanted and form[1].name not in factors:
        S = np.asarray(dense((X.T @ outer[0]).T @ outer[1]))
        factors[form[1].name] = (S.T if form[1].transposed else S) + _BLUR * S.mean()
    return factors


def _of_rows_and_columns(problem: Problem) -> list[tuple[str, int]] | None:
    """The factor of the rows and the factor of the columns, with the axis that their items are along; None without one of each."""
    classes, data = dimension_classes(problem.model), problem.model.data
    sides = outer_sides(problem)
    found = [[(name, axis, short) for name, axis, long, short in sides if long == classes[data, side]] for side in (0, 1)]
    if any(len(side) != 1 for side in found) or found[0][0][2] == found[1][0][2]:
        return None
    return [side[0][:2] for side in found]


@dataclass
class Side:
    """The rows, or the columns, by what they have in each cluster of the other side."""

    items: np.ndarray
    """(items, clusters of the other side)."""
    sizes: np.ndarray
    """How many there are in each cluster of the other side."""
    labels: np.ndarray
    count: int

    @property
    def blocks(self) -> np.ndarray:
        """What each block has."""
        return np.eye(self.count)[self.labels].T @ self.items

    @property
    def entries(self) -> np.ndarray:
        """How many entries each block has."""
        return np.outer(np.bincount(self.labels, minlength=self.count), self.sizes)


class Fit(ABC):
    """What it is to fit a cluster."""

    has_weights: ClassVar[bool]
    """Whether items of one cluster may be multiples of each other, rather than equal."""

    @abstractmethod
    def scores(self, side: Side) -> np.ndarray:
        """How well each item would fit each cluster, (items, clusters); more is better."""

    @abstractmethod
    def explained(self, side: Side) -> float:
        """What a partition takes off `total`; more is better, and the rest is twice the divergence."""

    @abstractmethod
    def total(self, X: Any) -> float:
        """What there is to explain."""

    @abstractmethod
    def clustered(self, side: Side, seed: int) -> np.ndarray:
        """The items clustered anew, whatever their labels were."""

    def weights(self, side: Side) -> np.ndarray:
        """How much each item weighs in its cluster."""
        return np.ones(len(side.labels))

    def facing(self, labels: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
        """What to multiply the data by for what they have in each cluster of this side."""
        return np.eye(count)[labels]


def _x_log_x(x: np.ndarray) -> float:
    return float((x * _log(x)).sum())


def _log(x: np.ndarray) -> np.ndarray:
    return np.log(np.where(x > 0, x, 1.0))


def _values(X: Any) -> np.ndarray:
    return np.asarray(X.data if sparse.issparse(X) else X, dtype=float)


def _sums(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Of rows and of columns."""
    rows, columns = (np.asarray(X.sum(axis=axis), dtype=float).ravel() for axis in (1, 0))
    return rows, columns


class EqualCounts(Fit):
    """The I-divergence to the means of the blocks: a Poisson block model."""

    has_weights = False

    def scores(self, side: Side) -> np.ndarray:
        means = side.blocks / np.maximum(side.entries, 1)
        means = means + 0.01 * side.items.sum() / (len(side.items) * side.sizes.sum())  # ln 0 would keep items out forever
        return side.items @ np.log(means).T - means @ side.sizes

    def explained(self, side: Side) -> float:
        return 2 * float((side.blocks * _log(side.blocks / np.maximum(side.entries, 1))).sum())

    def total(self, X: Any) -> float:
        return 2 * _x_log_x(_values(X))

    def clustered(self, side: Side, seed: int) -> np.ndarray:
        return _by_distance(np.sqrt(side.items), side.count, seed)  # roots of counts have equal variances


class WeightedCounts(Fit):
    """The same with a weight for each row and column: the mutual information of both partitions (Dhillon et al. 2003)."""

    has_weights = True

    def scores(self, side: Side) -> np.ndarray:
        blocks = side.blocks
        expected = np.outer(*_sums(blocks)) / blocks.sum()
        return side.items @ np.log(0.99 * blocks / np.where(expected > 0, expected, 1.0) + 0.01).T

    def explained(self, side: Side) -> float:
        blocks = side.blocks
        return 2 * (_x_log_x(blocks) - sum(map(_x_log_x, _sums(blocks))))

    def total(self, X: Any) -> float:
        return 2 * (_x_log_x(_values(X)) - sum(map(_x_log_x, _sums(X))))

    def clustered(self, side: Side, seed: int) -> np.ndarray:
        return _by_angle(side.items, side.count, seed)

    def weights(self, side: Side) -> np.ndarray:
        return side.items.sum(axis=1)


class EqualSquares(Fit):
    """The squared distance to the means of the blocks: K-means of rows and columns at once."""

    has_weights = False

    def scores(self, side: Side) -> np.ndarray:
        means = side.blocks / np.maximum(side.entries, 1)
        return 2 * side.items @ means.T - (means * means) @ side.sizes

    def explained(self, side: Side) -> float:
        return float((side.blocks**2 / np.maximum(side.entries, 1)).sum())

    def total(self, X: Any) -> float:
        return float((_values(X) ** 2).sum())

    def clustered(self, side: Side, seed: int) -> np.ndarray:
        return _by_distance(side.items / np.sqrt(np.maximum(side.sizes, 1)), side.count, seed)


class WeightedSquares(Fit):
    """The same with weights: a cluster is a line through the origin, and explains the squares of coordinates on it."""

    has_weights = True

    def scores(self, side: Side) -> np.ndarray:
        lines = np.zeros((side.items.shape[1], side.count))
        for k in range(side.count):
            own = side.items[side.labels == k]
            lines[:, k] = np.abs(np.linalg.eigh(own.T @ own)[1][:, -1])
        return side.items @ lines

    def explained(self, side: Side) -> float:
        return float((self.weights(side) ** 2).sum())

    def total(self, X: Any) -> float:
        return float((_values(X) ** 2).sum())

    def clustered(self, side: Side, seed: int) -> np.ndarray:
        return _by_angle(side.items, side.count, seed)

    def weights(self, side: Side) -> np.ndarray:
        return self.scores(side)[np.arange(len(side.labels)), side.labels]

    def facing(self, labels: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
        return _disjoint(labels, weights, count)


def fits_for(divergence: Objective) -> tuple[Fit, Fit]:
    """What it is to fit a cluster whose items are equal, and one whose items have weights."""
    return (EqualSquares(), WeightedSquares()) if divergence == Beta(2) else (EqualCounts(), WeightedCounts())


@dataclass
class Partition:
    """Clusters of rows and of columns, the weights of both in their clusters, and what they explain."""

    labels: list[np.ndarray]
    weights: list[np.ndarray]
    explained: float
    counts: tuple[int, int]

    def factors(self) -> list[np.ndarray]:
        """Disjoint factors, rows × clusters and columns × clusters, with columns of length one."""
        return [_disjoint(*side) for side in zip(self.labels, self.weights, self.counts, strict=True)]


def _disjoint(labels: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """One column of length one for each cluster, with the weights of its items."""
    factor = np.zeros((len(labels), count))
    factor[np.arange(len(labels)), labels] = weights
    lengths = np.sqrt((factor * factor).sum(axis=0))
    return factor / np.where(lengths > 0, lengths, 1.0)


def best_partition(X: Any, counts: tuple[int, int], equal: Fit, weighted: Fit, seed: int) -> Partition:
    """The best partition found of the rows and columns of X, with weights if they explain more than noise would.

    So many numbers as there are weights explain, of what is left, as large a share as theirs is of all numbers, if they fit nothing
    but noise. Rows of one cluster that are equal, and not only multiples of each other, say more about where they belong.
    """
    data = _both_ways(X)
    generator = np.random.default_rng(seed)
    starts = list(_partitions(data, counts, generator))
    with_weights = _best(data, starts, counts, weighted, generator)
    without = _best(data, [*starts, with_weights.labels], counts, equal, generator)
    return with_weights if _are_weights_real(X, (weighted, with_weights), (equal, without)) else without


def without_weights(X: Any, labels: list[np.ndarray], counts: tuple[int, int], divergence: Objective) -> list[np.ndarray]:
    """Clusters of rows and of columns, with items of one cluster taken to be equal if weights explain no more than noise would.

    A factor with weights takes rows that are multiples of each other for alike, and so, of rows that are equal but for noise, one
    that has by chance the shape of another cluster for one of that. Where the weights are noise, such rows go back to the cluster
    whose means they are closest to. Clusters keep their numbers; items of zeros keep their labels, all do if a cluster is empty.
    """
    kept = [np.flatnonzero(sums > 0) for sums in _sums(X)]
    own = [side[which] for side, which in zip(labels, kept, strict=True)]
    if any(len(np.unique(side)) < count for side, count in zip(own, counts, strict=True)):
        return labels
    X = X[kept[0]][:, kept[1]]
    X = X / X.max()  # or squares might overflow
    data = _both_ways(X)
    equal, weighted = fits_for(divergence)
    found = [(fit, _improved(data, own, counts, fit)) for fit in (weighted, equal)]
    if _are_weights_real(X, *found):
        return labels
    read = [side.copy() for side in labels]
    for side, which, new in zip(read, kept, found[1][1].labels, strict=True):
        side[which] = new
    return read


def _both_ways(X: Any) -> tuple[Any, Any]:
    """X by rows and by columns."""
    return (X.tocsr(), X.T.tocsr()) if sparse.issparse(X) else (X, X.T)


def _are_weights_real(X: Any, weighted: tuple[Fit, Partition], equal: tuple[Fit, Partition]) -> bool:
    left, left_without = (fit.total(X) - found.explained for fit, found in (weighted, equal))
    counts = weighted[1].counts
    n_weights = sum(X.shape) - sum(counts)
    freedom = max(X.shape[0] * X.shape[1] - n_weights - counts[0] * counts[1], 1)
    noise = n_weights / freedom * max(left, 0.0) + 1e-9 * abs(equal[0].total(X))
    return left_without - left > _BEYOND_NOISE * noise


_BEYOND_NOISE = 4
"""How many times as much as noise weights must explain to be taken for real."""


def _best(
    data: tuple[Any, Any], starts: Iterable[list[np.ndarray]], counts: tuple[int, int], fit: Fit, generator: Any
) -> Partition:
    """The best that the starts lead to; of few entries, until no new clustering of one side, given the other, leads to a better."""
    best = max((_improved(data, labels, counts, fit) for labels in starts), key=lambda partition: partition.explained)
    for _ in range(_ROUNDS if _are_few(data) else 0):
        anew = (_improved(data, labels, counts, fit) for labels in _clustered_anew(data, best, fit, generator))
        found = max(anew, key=lambda partition: partition.explained)
        if found.explained <= best.explained + 1e-9 * abs(best.explained):
            break
        best = found
    return best


def _clustered_anew(data: tuple[Any, Any], partition: Partition, fit: Fit, generator: Any) -> Iterator[list[np.ndarray]]:
    for own in (0, 1):
        side = _side(data, partition.labels, partition.weights, partition.counts, fit, own)
        for _ in range(_AGAIN):
            labels = list(partition.labels)
            labels[own] = fit.clustered(side, int(generator.uniform() * 2**31))
            yield labels


def _are_few(data: tuple[Any, Any]) -> bool:
    return _values(data[0]).size < _MANY


def _partitions(data: tuple[Any, Any], counts: tuple[int, int], generator: Any) -> Iterator[list[np.ndarray]]:
    sides = tuple(zip(data, counts, strict=True))
    for find in (_spectral, _by_distance, _by_angle):
        yield [find(side, count, int(generator.uniform() * 2**31)) for side, count in sides]
    for _ in range(_RANDOM if _are_few(data) else 0):
        yield [(generator.uniform(size=side.shape[0]) * count).astype(int) for side, count in sides]


def _improved(data: tuple[Any, Any], labels: list[np.ndarray], counts: tuple[int, int], fit: Fit) -> Partition:
    """A partition after assigning rows and columns in turn until none moves."""
    labels = list(labels)
    weights = [np.ones(len(own)) for own in labels]
    explained = 0.0
    for _ in range(_ROUNDS):
        before = [own.copy() for own in labels]
        for own in (0, 1):
            side = _side(data, labels, weights, counts, fit, own)
            side.labels = _occupied(labels[own], side.items, counts[own])
            side.labels = labels[own] = _occupied(fit.scores(side).argmax(axis=1), side.items, counts[own])
            weights[own], explained = fit.weights(side), fit.explained(side)
        if all(np.array_equal(a, b) for a, b in zip(before, labels, strict=True)):
            break
    return Partition(labels, weights, explained, counts)


def _side(
    data: tuple[Any, Any], labels: list[np.ndarray], weights: list[np.ndarray], counts: tuple[int, int], fit: Fit, own: int
) -> Side:
    """One side by what it has in the clusters of the other."""
    other = 1 - own
    items = np.asarray(dense(data[own] @ fit.facing(labels[other], weights[other], counts[other])))
    return Side(items, np.bincount(labels[other], minlength=counts[other]), labels[own], counts[own])


def _occupied(labels: np.ndarray, items: np.ndarray, count: int) -> np.ndarray:
    """The labels with the heaviest item of the largest cluster in each empty one."""
    for k in np.setdiff1d(np.arange(count), labels):
        inside = np.flatnonzero(labels == np.bincount(labels, minlength=count).argmax())
        labels[inside[items[inside].sum(axis=1).argmax()]] = k
    return labels


def _by_distance(items: Any, count: int, seed: int) -> np.ndarray:
    return one_hot_clusters(items, count, seed, "").argmax(axis=1)


def _by_angle(items: Any, count: int, seed: int) -> np.ndarray:
    return angular(items, count, seed, "")[0].argmax(axis=1)


def _spectral(items: Any, count: int, seed: int) -> np.ndarray:
    """K-means of singular vectors, the data divided by the roots of the sums of their rows and columns."""
    from sklearn.utils.extmath import randomized_svd

    scales = [1 / np.sqrt(np.where(sums > 0, sums, 1.0)) for sums in _sums(items)]
    scaled = sparse.diags_array(scales[0]) @ items @ sparse.diags_array(scales[1])
    scaled = scaled.tocsr() if sparse.issparse(scaled) else scaled
    U, _, _ = randomized_svd(scaled, min(count, *items.shape), random_state=seed)
    return one_hot_clusters(U * scales[0][:, None], count, seed, "").argmax(axis=1)
