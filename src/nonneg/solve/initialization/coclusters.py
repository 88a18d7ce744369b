"""Starts from clusters of rows and of columns that are found together.

If every row is in one cluster and every column is, an orthogonal tri-factorization is a partition of both, and can be searched
as one: assign each row to the cluster that it fits best, given the clusters of columns; then each column; and so on. They cost
little, for a row is then as many numbers as there are clusters of columns, so that several partitions can be tried, and the best
one kept: those of K-means, by distance and by angle, those of singular vectors (after Dhillon 2001), and some drawn at random. What
assigning items one by one cannot leave, a new clustering of all rows given the clusters of columns may, and the other way round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...constraints import unit_length
from ...data import Data
from ...divergences import Objective
from ...kernels.tuned import tuned
from ..problem import Problem
from ..signature import dimension_classes
from .clusters import angular_clusters, one_hot_clusters
from .items import Items, leading_singular
from .sides import Initialization, made_by, outer_sides

_BLUR = tuned(1e-8, by="documents", on="2026-11-16")
"""What is added to disjoint factors, relative to their mean, so that no entry is zero; if they are orthogonal, it is to stay so
little."""
_SOFT, _FREE = tuned((0.02, 0.01), by="documents", on="2026-11-17")
"""The same for factors that end up overlapping, since multiplicative steps from 1e-8 take long: nearly orthogonal ones
(FONT), and those without a constraint. From 0.02 on, free clusters blend if they are multiples of each other, and small ones
drown in large ones."""
_ROUNDS = tuned(30, by="documents", on="2026-11-15")
"""Rounds of reassignment of rows and columns, at most."""
_RANDOM = tuned(4, by="documents", on="2026-11-15")
"""Random partitions of small data, tried beside those of K-means and of singular vectors."""
_SMALL, _FEW = tuned((10**5, 1000), by="documents", on="2026-11-16")
"""Entries, and rows plus columns, below which data are small: more partitions cost little."""
_EXACT, _PROMISING, _WORTH = tuned((0.0, 0.03, 1e-4), by="documents", on="2026-11-17")
"""The share that a round must add to what a partition explains for another round: none if the data are small; else one
while it is seen which partition is the best, and another for that."""
_POWERS = tuned(2, by="documents", on="2026-11-17")
"""Of large data, from which singular vectors are found, roughly: assigning rows and columns in turn does the rest."""
_GRAMS = tuned(2**18, by="documents", on="2026-11-17")
"""Entries of Gram matrices of clusters that are held at a time."""
_AGAIN = tuned(3, by="documents", on="2026-11-16")
"""Times that each side of small data is clustered anew, given the other, before a partition counts as the best."""


def made_together(start: Initialization, problem: Problem, wanted: list[str], generator: Any) -> dict[str, np.ndarray]:
    """Factors of clusters of rows and of columns; those of `start`, each for itself, if the form does not have both."""
    names = _of_rows_and_columns(problem)
    if names is None or any(name not in wanted for name, _ in names):
        return made_by(start, problem, wanted, generator)
    X = Table([Items(problem.data, axis) for axis in (0, 1)])
    k, m = (problem.shapes[name][1 - axis] for name, axis in names)
    if any(count > size for count, size in zip((k, m), X.shape, strict=True)):
        return made_by(start, problem, wanted, generator)
    equal, weighted = fits_for(problem.model.divergence)
    partition = best_partition(X, (k, m), equal, weighted, int(generator.uniform() * 2**31))
    blur = max(_BLUR, problem.namespace.eps**0.5)  # less, and no step that makes it grow would lower the objective visibly
    factors, outer = {}, []
    for (name, axis), side, own in zip(names, (0, 1), partition.factors(), strict=True):
        outer.append(X.spread(own, side))
        constraint = problem.model.constraints[name]
        factor = outer[-1] + (_SOFT if constraint.is_soft else _FREE if constraint.is_free else blur) * own.mean()
        factors[name] = factor if axis == 0 else factor.T
    form = problem.model.form
    if len(form) == 3 and form[1].name in wanted and form[1].name not in factors:
        S = (X.items[1] @ outer[0]).T @ outer[1]
        factors[form[1].name] = (S.T if form[1].transposed else S) + blur * S.mean()
    return factors


class EvenItems(Items):
    """Rows or columns of X with its rows divided by the roots of their sums."""

    def __init__(self, items: Items, scales: np.ndarray) -> None:
        self.data, self.axis, self.unit, self.scales = items.data, items.axis, items.unit, scales[:, None]

    @property
    def T(self) -> EvenItems:
        return EvenItems(super().T, self.scales[:, 0])

    def __matmul__(self, M: np.ndarray) -> np.ndarray:
        return self.scales * super().__matmul__(M) if self.axis == 0 else super().__matmul__(self.scales * M)


class Table:
    """The data by their rows (side 0) and columns (side 1), without those that are zero: these are like nothing else, and would be
    a cluster of their own.

    With `is_even`, rows are divided by the roots of their sums.
    """

    def __init__(self, items: Sequence[Items], is_even: bool = False) -> None:
        self.items, self.is_even = items, is_even
        self.kept = [np.flatnonzero(side.sums > 0) for side in items]
        self.sums = [side.sums[kept] for side, kept in zip(items, self.kept, strict=True)]

    def evened(self) -> Table:
        """The same with rows of more equal length: of counts, a few long rows would else decide which columns are alike."""
        sums = self.items[0].sums
        scales = 1 / np.sqrt(np.where(sums > 0, sums, 1.0))
        return Table([EvenItems(side, scales) for side in self.items], is_even=True)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.kept[0]), len(self.kept[1])

    @property
    def entries(self) -> int:
        return self.items[0].data.facts.non_zeros

    @property
    def is_small(self) -> bool:
        return self.entries < _SMALL and sum(self.shape) < _FEW

    def spread(self, own: np.ndarray, side: int) -> np.ndarray:
        """The rows of the kept items, among rows of zeros for the others."""
        whole = np.zeros((self.items[side].shape[0], own.shape[1]))
        whole[self.kept[side]] = own
        return whole

    def times(self, M: np.ndarray, side: int) -> np.ndarray:
        """The rows, or the columns, times a matrix with a row for each of the other side."""
        return (self.items[side] @ self.spread(M, 1 - side))[self.kept[side]]

    def coordinates(self, count: int, generator: Any) -> list[np.ndarray]:
        """The rows, and the columns, in few dimensions: both in those in which the rows have most."""
        rows = self.items[0].coordinates(count, generator)
        columns = self.items[1] @ np.linalg.qr(rows)[0]
        return [side[kept] for side, kept in zip((rows, columns), self.kept, strict=True)]

    def total(self, kind: str) -> float:
        """Σ X², or Σ X ln X."""
        data = self.items[0].data
        return data.power_sum(2) if kind == "squares" else data.power_sum(1, logarithm=True)


class Scaled:
    """A table divided by the roots of the sums of its rows and columns, as an operator."""

    def __init__(self, X: Table, side: int) -> None:
        self.X, self.side = X, side
        self.scales = [1 / np.sqrt(np.where(sums > 0, sums, 1.0)) for sums in X.sums]

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape if self.side == 0 else self.X.shape[::-1]

    @property
    def T(self) -> Scaled:
        return Scaled(self.X, 1 - self.side)

    def __matmul__(self, M: np.ndarray) -> np.ndarray:
        own, other = self.scales[self.side], self.scales[1 - self.side]
        return own[:, None] * self.X.times(other[:, None] * M, self.side)


def _of_rows_and_columns(problem: Problem) -> list[tuple[str, int]] | None:
    """The factors of rows and of columns, each with the axis of its items; None without one of each."""
    classes, data = dimension_classes(problem.model), problem.model.data
    sides = outer_sides(problem.model)
    found = [[(name, axis, short) for name, axis, long, short in sides if long == classes[data, side]] for side in (0, 1)]
    if any(len(side) != 1 for side in found) or found[0][0][2] == found[1][0][2]:
        return None
    return [side[0][:2] for side in found]


@dataclass
class Side:
    """The rows, or the columns, by their sums over each cluster of the other side."""

    items: np.ndarray
    """(items, clusters of the other side)."""
    sizes: np.ndarray
    """Sizes of the clusters of the other side."""
    labels: np.ndarray
    count: int

    @property
    def blocks(self) -> np.ndarray:
        """The sum of each block."""
        return np.eye(self.count)[self.labels].T @ self.items

    @property
    def entries(self) -> np.ndarray:
        """The number of entries of each block."""
        return np.outer(np.bincount(self.labels, minlength=self.count), self.sizes)


class Fit(ABC):
    """A criterion of clusters."""

    has_weights: ClassVar[bool]
    """Whether items of one cluster may be multiples of each other, rather than equal."""
    is_of_counts: ClassVar[bool]
    """Whether rows with larger sums weigh more, as those of counts do."""

    @abstractmethod
    def scores(self, side: Side) -> np.ndarray:
        """How well each item would fit each cluster, (items, clusters); more is better."""

    @abstractmethod
    def explained(self, side: Side) -> float:
        """Decrease of `total` by a partition; more is better, and the rest is twice the divergence.

        Of counts, beyond what a single block does: never negative, so that a gain can be told as a share of it.
        """

    @abstractmethod
    def total(self, X: Table) -> float:
        """The total to explain."""

    @abstractmethod
    def clustered(self, side: Side, seed: int) -> np.ndarray:
        """The items clustered anew, whatever their labels were."""

    def weights(self, side: Side) -> np.ndarray:
        """The weight of each item in its cluster."""
        return np.ones(len(side.labels))

    def measured(self, side: Side) -> tuple[np.ndarray, float]:
        """The weights, and the share of the total that the partition explains with them."""
        return self.weights(side), self.explained(side)

    def facing(self, labels: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
        """The matrix by which the data are multiplied to sum over the clusters of this side."""
        return np.eye(count)[labels]


def _x_log_x(x: np.ndarray | float) -> float:
    return float((x * _log(x)).sum())


def _log(x: np.ndarray | float) -> np.ndarray:
    return np.log(np.where(x > 0, x, 1.0))


def _sums(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rows and of columns."""
    rows, columns = (np.asarray(X.sum(axis=axis), dtype=float).ravel() for axis in (1, 0))
    return rows, columns


class EqualCounts(Fit):
    """The I-divergence to the means of the blocks: a Poisson block model."""

    has_weights = False
    is_of_counts = True

    def scores(self, side: Side) -> np.ndarray:
        means = side.blocks / np.maximum(side.entries, 1)
        means = means + 0.01 * side.items.sum() / (len(side.items) * side.sizes.sum())  # ln 0 would keep items out forever
        return side.items @ np.log(means).T - means @ side.sizes

    def explained(self, side: Side) -> float:
        blocks, entries = side.blocks, side.entries
        mean = blocks.sum() / entries.sum()
        return 2 * float((blocks * _log(blocks / np.maximum(mean * entries, mean))).sum())

    def total(self, X: Table) -> float:
        count = X.sums[0].sum()
        return 2 * (X.total("logarithms") - count * float(_log(count / (X.shape[0] * X.shape[1]))))

    def clustered(self, side: Side, seed: int) -> np.ndarray:
        return one_hot_clusters(np.sqrt(side.items), side.count, seed).argmax(axis=1)  # roots of counts have equal variances


class WeightedCounts(Fit):
    """The same with a weight for each row and column: the mutual information of both partitions (Dhillon et al. 2003)."""

    has_weights = True
    is_of_counts = True

    def scores(self, side: Side) -> np.ndarray:
        blocks = side.blocks
        expected = np.outer(*_sums(blocks)) / blocks.sum()
        return side.items @ np.log(0.99 * blocks / np.where(expected > 0, expected, 1.0) + 0.01).T

    def explained(self, side: Side) -> float:
        blocks = side.blocks
        return 2 * (_x_log_x(blocks) - sum(map(_x_log_x, _sums(blocks))) + _x_log_x(blocks.sum()))

    def total(self, X: Table) -> float:
        return 2 * (X.total("logarithms") - sum(map(_x_log_x, X.sums)) + _x_log_x(X.sums[0].sum()))

    def clustered(self, side: Side, seed: int) -> np.ndarray:
        return angular_clusters(side.items, side.count, np.random.default_rng(seed)).argmax(axis=1)

    def weights(self, side: Side) -> np.ndarray:
        return side.items.sum(axis=1)


class EqualSquares(Fit):
    """The squared distance to the means of the blocks: K-means of rows and columns at once."""

    has_weights = False
    is_of_counts = False

    def scores(self, side: Side) -> np.ndarray:
        means = side.blocks / np.maximum(side.entries, 1)
        return 2 * side.items @ means.T - (means * means) @ side.sizes

    def explained(self, side: Side) -> float:
        return float((side.blocks**2 / np.maximum(side.entries, 1)).sum())

    def total(self, X: Table) -> float:
        return X.total("squares")

    def clustered(self, side: Side, seed: int) -> np.ndarray:
        return one_hot_clusters(side.items / np.sqrt(np.maximum(side.sizes, 1)), side.count, seed).argmax(axis=1)


class WeightedSquares(Fit):
    """The same with weights: a cluster is a line through the origin, and explains the squares of coordinates on it."""

    has_weights = True
    is_of_counts = False

    def scores(self, side: Side) -> np.ndarray:
        width, lines = side.items.shape[1], np.empty((side.count, side.items.shape[1]))
        together = max(_GRAMS // width**2, 1)
        for first in range(0, side.count, together):  # LAPACK is called for many small matrices as soon as for one
            several = (side.items[side.labels == k] for k in range(first, min(first + together, side.count)))
            lines[first : first + together] = np.abs(np.linalg.eigh([own.T @ own for own in several])[1][:, :, -1])
        return side.items @ lines.T

    def explained(self, side: Side) -> float:
        return self.measured(side)[1]

    def measured(self, side: Side) -> tuple[np.ndarray, float]:
        weights = self.weights(side)
        return weights, float((weights**2).sum())

    def total(self, X: Table) -> float:
        return X.total("squares")

    def clustered(self, side: Side, seed: int) -> np.ndarray:
        return angular_clusters(side.items, side.count, np.random.default_rng(seed)).argmax(axis=1)

    def weights(self, side: Side) -> np.ndarray:
        return self.scores(side)[np.arange(len(side.labels)), side.labels]

    def facing(self, labels: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
        return _disjoint(labels, weights, count)


def fits_for(divergence: Objective) -> tuple[Fit, Fit]:
    """The criteria of clusters with equal items, and with weighted items."""
    return (EqualSquares(), WeightedSquares()) if divergence.is_quadratic else (EqualCounts(), WeightedCounts())


@dataclass
class Partition:
    """Clusters of rows and of columns, the weights of items in them, and the amount they explain."""

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
    return unit_length(np, factor, "columns")


def best_partition(X: Table, counts: tuple[int, int], equal: Fit, weighted: Fit, seed: int) -> Partition:
    """The best partition found of the rows and columns of X, with weights if they explain more than noise would.

    So many numbers as there are weights explain, of what is left, as large a share as theirs is of all numbers, if they fit nothing
    but noise. Rows of one cluster that are equal, and not only multiples of each other, say more about where they belong.
    """
    generator = np.random.default_rng(seed)
    is_evened = weighted.is_of_counts and not X.is_small
    sought = X.evened() if is_evened else X
    starts = list(_partitions(sought, counts, generator))
    with_weights = _best(sought, starts, counts, weighted, generator)
    with_weights = _measured(X, with_weights.labels, counts, weighted) if is_evened else with_weights
    tried = [*starts, with_weights.labels]
    if X.is_small:
        without = _best_of(X, tried, counts, equal, _EXACT)
        tried = [without.labels]
    else:
        without = _improved(X, with_weights.labels, counts, equal, _PROMISING)
    if _are_weights_real(X, (weighted, with_weights), (equal, without), _PLAINLY):
        return with_weights
    without = _best(X, tried, counts, equal, generator)
    return with_weights if _are_weights_real(X, (weighted, with_weights), (equal, without)) else without


def without_weights(data: Data, labels: list[np.ndarray], counts: tuple[int, int], divergence: Objective) -> list[np.ndarray]:
    """Clusters of rows and of columns, with items of one cluster taken to be equal if weights explain no more than noise would.

    A factor with weights takes rows that are multiples of each other for alike, and so, of rows that are equal but for noise, one
    that has by chance the shape of another cluster for one of that. If the weights are noise, such rows go back to the cluster
    whose means they are closest to. Clusters keep their numbers; items of zeros keep their labels, all do if a cluster is empty.
    """
    data = data.in_units(data.facts.peak)  # or squares might overflow
    X = Table([Items(data, axis) for axis in (0, 1)])
    own = [side[which] for side, which in zip(labels, X.kept, strict=True)]
    if any(len(np.unique(side)) < count for side, count in zip(own, counts, strict=True)):
        return labels
    equal, weighted = fits_for(divergence)

    def improved(fit: Fit, worth: float) -> tuple[Fit, Partition]:
        return fit, _improved(X, own, counts, fit, worth)

    if not X.is_small and _are_weights_real(X, improved(weighted, _PROMISING), improved(equal, _PROMISING), _PLAINLY):
        return labels
    worth = _EXACT if X.is_small else _WORTH
    found = improved(equal, worth)
    if _are_weights_real(X, improved(weighted, worth), found):
        return labels
    read = [side.copy() for side in labels]
    for side, which, new in zip(read, X.kept, found[1].labels, strict=True):
        side[which] = new
    return read


def _are_weights_real(X: Table, weighted: tuple[Fit, Partition], equal: tuple[Fit, Partition], times: float = 1.0) -> bool:
    """Whether weights explain more than noise would, or so many times as much as they must for that."""
    left, left_without = (fit.total(X) - found.explained for fit, found in (weighted, equal))
    counts = weighted[1].counts
    n_weights = sum(X.shape) - sum(counts)
    freedom = max(X.shape[0] * X.shape[1] - n_weights - counts[0] * counts[1], 1)
    noise = n_weights / freedom * max(left, 0.0) + 1e-9 * abs(equal[0].total(X))
    return left_without - left > times * _BEYOND_NOISE * noise


_BEYOND_NOISE = tuned(4, by="documents", on="2026-11-15")
"""Multiples of the share of noise that weights must explain to be taken for real."""
_PLAINLY = tuned(2, by="documents", on="2026-11-17")
"""Multiples of that from which it is plain, and the best clusters without weights are not searched."""


def _best(X: Table, starts: Iterable[list[np.ndarray]], counts: tuple[int, int], fit: Fit, generator: Any) -> Partition:
    """The best that the starts lead to; of small data, until no new clustering of one side, given the other, leads to a better."""
    first, last = (_EXACT, _EXACT) if X.is_small else (_PROMISING, _WORTH)
    best = _best_of(X, starts, counts, fit, first)
    if not X.is_small:
        return _improved(X, best.labels, counts, fit, last)
    for _ in range(_ROUNDS):
        found = _best_of(X, _clustered_anew(X, best, fit, generator), counts, fit, last)
        if found.explained <= best.explained + 1e-9 * abs(best.explained):
            break
        best = found
    return best


def _best_of(X: Table, starts: Iterable[list[np.ndarray]], counts: tuple[int, int], fit: Fit, worth: float) -> Partition:
    """The partition that explains most, after each start was improved."""
    improved = [_improved(X, labels, counts, fit, worth) for labels in starts]
    return max(improved, key=lambda partition: _explained_alike(X, partition, fit) if X.is_even else partition.explained)


def _explained_alike(X: Table, partition: Partition, fit: Fit) -> float:
    """The amount that a partition explains, with rows of equal weight."""
    side = _side(X, partition.labels, partition.weights, partition.counts, fit, 0)
    return fit.explained(replace(side, items=side.items / side.items.sum(axis=1, keepdims=True)))


def _measured(X: Table, labels: list[np.ndarray], counts: tuple[int, int], fit: Fit) -> Partition:
    """A partition with its weights and the amount it explains."""
    weights, explained = [np.ones(len(own)) for own in labels], 0.0
    for own in (0, 1):
        weights[own], explained = fit.measured(_side(X, labels, weights, counts, fit, own))
    return Partition(labels, weights, explained, counts)


def _clustered_anew(X: Table, partition: Partition, fit: Fit, generator: Any) -> Iterator[list[np.ndarray]]:
    for own in (0, 1):
        side = _side(X, partition.labels, partition.weights, partition.counts, fit, own)
        for _ in range(_AGAIN):
            labels = list(partition.labels)
            labels[own] = fit.clustered(side, int(generator.uniform() * 2**31))
            yield labels


def _partitions(X: Table, counts: tuple[int, int], generator: Any) -> Iterator[list[np.ndarray]]:
    """By singular vectors, by distance and by angle, each of both sides; and at random, if the data are small."""
    seeds = [int(generator.uniform() * 2**31) for _ in range(2)]
    yield [_clustered(points, count, seeds[0]) for points, count in zip(_spectral(X, counts, seeds[0]), counts, strict=True)]
    coordinates = X.coordinates(max(counts), np.random.default_rng(seeds[1]))
    for cluster in (_clustered, _by_angle):
        yield [cluster(points, count, seeds[1]) for points, count in zip(coordinates, counts, strict=True)]
    for _ in range(_RANDOM if X.is_small else 0):
        yield [(generator.uniform(size=size) * count).astype(int) for size, count in zip(X.shape, counts, strict=True)]


def _improved(X: Table, labels: list[np.ndarray], counts: tuple[int, int], fit: Fit, worth: float) -> Partition:
    """A partition after assigning rows and columns in turn, until none moves or a round adds less than a share `worth`."""
    labels = list(labels)
    weights = [np.ones(len(own)) for own in labels]
    explained = 0.0
    for _ in range(_ROUNDS):
        before, least = [own.copy() for own in labels], (1 + worth) * explained
        for own in (0, 1):
            side = _side(X, labels, weights, counts, fit, own)
            side.labels = _occupied(labels[own], side.items, counts[own])
            side.labels = labels[own] = _occupied(fit.scores(side).argmax(axis=1), side.items, counts[own])
            weights[own], explained = fit.measured(side)
        if worth and explained <= least:
            break
        if all(np.array_equal(a, b) for a, b in zip(before, labels, strict=True)):
            break
    return Partition(labels, weights, explained, counts)


def _side(X: Table, labels: list[np.ndarray], weights: list[np.ndarray], counts: tuple[int, int], fit: Fit, own: int) -> Side:
    """One side by its sums over the clusters of the other."""
    other = 1 - own
    items = X.times(fit.facing(labels[other], weights[other], counts[other]), own)
    return Side(items, np.bincount(labels[other], minlength=counts[other]), labels[own], counts[own])


def _occupied(labels: np.ndarray, items: np.ndarray, count: int) -> np.ndarray:
    """The labels with the heaviest item of the largest cluster in each empty one."""
    for k in np.flatnonzero(np.bincount(labels, minlength=count) == 0):
        inside = np.flatnonzero(labels == np.bincount(labels, minlength=count).argmax())
        labels[inside[items[inside].sum(axis=1).argmax()]] = k
    return labels


def _clustered(points: np.ndarray, count: int, seed: int) -> np.ndarray:
    return one_hot_clusters(points, count, seed).argmax(axis=1)


def _by_angle(points: np.ndarray, count: int, seed: int) -> np.ndarray:
    return angular_clusters(points, count, np.random.default_rng(seed)).argmax(axis=1)


def _spectral(X: Table, counts: tuple[int, int], seed: int) -> list[np.ndarray]:
    """Rows and columns by the singular vectors of the data divided by the roots of the sums of both."""
    scaled = Scaled(X, 0)
    U, _, VT = leading_singular(scaled, min(max(counts), *X.shape), seed, None if X.is_small else _POWERS)
    return [own[:, :count] * scale[:, None] for own, count, scale in zip((U, VT.T), counts, scaled.scales, strict=True)]
