"""How much of a ridge to add to S_W: as much as makes Fisher's ratio largest on samples that a direction was not learned from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.tuned import tuned
from .fisher import exact, ratio_of
from .groups import Groups, Task

if TYPE_CHECKING:
    from .base import Discriminant

RIDGES = tuned((0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0), by="tuned", on="2026-11-15")
"""Shares of the diagonal that are tried; zero stands for as little as there can be."""
LARGE = tuned((0.3, 1.0, 3.0, 10.0, 30.0), by="tuned", on="2026-11-16")
"""Ridges to try if S_W is not formed: a small one takes long, and is not the best for so many features."""
FOLDS = tuned(5, by="tuned", on="2026-11-15")
"""Folds of the cross-validation of ridges."""
SAMPLES, SAMPLES_LARGE = tuned((2000, 1000), by="tuned", on="2026-11-16")
"""Samples used to choose, at most; the second if S_W is not formed."""
_AS_GOOD = tuned(0.99, by="tuned", on="2026-11-15")
"""The least ridge is taken that has this share of the largest ratio."""


def choose(model: Discriminant, X: Any, codes: np.ndarray, is_formed: bool) -> Iterator[float]:
    """The ridge of each task, by cross-validation; the least if no class has a sample to hold out.

    Folds are runs of samples in the order in which they are given, class by class, so that samples taken together, such as the
    pictures of one person, mostly stay together; nothing is random.
    """
    some = evenly_chosen(codes, SAMPLES if is_formed else SAMPLES_LARGE)
    X, codes = model._part(X, some, some), codes[some]
    folds, ridges = in_runs(codes), RIDGES if is_formed else LARGE
    projected: dict[tuple[int, int], np.ndarray] = {}
    classes: list[int | None] = []
    for number in range(FOLDS):
        held, kept = np.flatnonzero(folds == number), np.flatnonzero(folds != number)
        if not len(held):
            continue
        groups, others = Groups.of(model._part(X, kept, kept), codes[kept]), model._part(X, held, kept)
        classes = []
        for place, task in enumerate(model._tasks(groups)):
            classes.append(task.c)
            for which, w in enumerate(path(model, groups, task, ridges)):
                projected.setdefault((place, which), np.zeros(len(codes)))[held] = groups.projected(others, w)
    was_held = folds >= 0
    for place, c in enumerate(classes):
        yield best_of(ridges, [held_out_ratio(projected[place, which], codes, was_held, c) for which in range(len(ridges))])
    yield from repeat(ridges[0])


def evenly_chosen(codes: np.ndarray, most: int) -> np.ndarray:
    """The numbers of so many samples, in order, as many of each class as is its share."""
    if len(codes) <= most:
        return np.arange(len(codes))
    order = np.argsort(codes, kind="stable")
    spread = order[np.linspace(0, len(order) - 1, most).round().astype(int)]
    first = np.unique(codes, return_index=True)[1]  # a class with few samples has to be there
    return np.union1d(spread, first)


def in_runs(codes: np.ndarray) -> np.ndarray:
    """The fold of each sample; −1 for the only sample of a class, which is never held out."""
    folds = np.empty(len(codes), dtype=int)
    for c in np.unique(codes):
        own = np.flatnonzero(codes == c)
        folds[own] = np.arange(len(own)) * FOLDS // len(own) if len(own) > 1 else -1
    return folds


def path(model: Discriminant, groups: Groups, task: Task, ridges: tuple[float, ...]) -> list[np.ndarray]:
    """Directions of unit scatter for each ridge, from the largest down, each from the support of the one before."""
    (signs,) = model._promising(groups, task, ridges[-1])
    floor, start, guess, found = model._floor(groups, task), None, None, []
    for ridge in reversed(ridges):
        G = model._metric(groups, task, signs, max(ridge, floor))
        F = task.F * G.units[:, None]
        if start is None:
            start = max(np.maximum(np.hstack([F, -F]), 0.0).T, key=lambda w: ratio_of(G, F, w))
        result = exact(G, F, start, int(model.max_iter), model.tol, guess)
        start, guess = result.w, result.w > 0
        w = G.units * result.w
        length = np.sqrt(max(float(w @ task.scatter.product(w)), 0.0))
        found.append(w / length if length > 0 else w)
    return found[::-1]


def held_out_ratio(z: np.ndarray, codes: np.ndarray, was_held: np.ndarray, c: int | None) -> float:
    """Fisher's ratio of projections; zero if those of the class are the smaller ones."""
    labels = codes if c is None else (codes == c).astype(int)
    z, labels = z[was_held], labels[was_held]
    present = np.unique(labels)
    if len(present) < 2:
        return 0.0
    means = np.array([z[labels == k].mean() for k in present])
    shares = np.array([np.mean(labels == k) for k in present])
    if c is not None and means[1] <= means[0]:
        return 0.0
    total, between = float(np.var(z)), float(shares @ (means - shares @ means) ** 2)
    return between / (total - between) if total > between else np.inf


def best_of(ridges: tuple[float, ...], ratios: list[float]) -> float:
    """The least ridge as good as the best; the least of all if none tells the classes apart."""
    return next(ridge for ridge, ratio in zip(ridges, ratios, strict=True) if ratio >= _AS_GOOD * max(ratios))
