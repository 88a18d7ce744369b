"""The papers' measures, against naive formulas."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from . import data, dense, invariants
from .trial import Trial


def case(t: Trial) -> None:
    t.pick((_of_bases, _of_clusters, _of_scores, _of_graphs, _of_approximations))(t)


def _of_bases(t: Trial) -> None:
    W = data.matrix(t, *data.sides(t), "W")
    t.subject = "bases"
    F = dense.wide(W)
    m, r = F.shape
    peaks = F.max(axis=0)
    unit = F / np.where(peaks > 0, peaks, 1)
    lengths = np.sqrt((unit**2).sum(axis=0))
    unit = unit / np.where(lengths > 0, lengths, 1)
    cosines = unit.T @ unit
    dead = peaks == 0
    cosines[dead, :], cosines[:, dead] = 1, 1
    np.fill_diagonal(cosines, 0)
    rho = t.call("nonneg.metrics.orthogonality(W)", "rho", refusal=("W",))
    invariants.equal(t, "formula", "orthogonality", rho, 1 - cosines.sum() / (r * (r - 1)) if r > 1 else 1.0, 1e-9, 1)
    error = t.call("nonneg.metrics.orthogonality_error(W)", "error")
    invariants.equal(t, "formula", "orthogonality_error", error, np.sqrt((cosines**2).sum()), 1e-9, 1 + r)
    entropy = t.call("nonneg.metrics.basis_entropy(W)", "entropy")
    shares = unit / np.where(dead, 1, unit.sum(axis=0))
    entropies = -np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1)), 0).sum(axis=0)
    invariants.equal(t, "formula", "basis_entropy", entropy, np.where(dead, np.log(dense.Wide(m)), entropies).mean(), 1e-9, 1)
    axis = t.pick(("columns", "rows", "matrix"))
    found = t.call(f"nonneg.metrics.stochastic_error(W, {axis!r})", "found")
    sums = {"columns": F.sum(axis=0), "rows": F.sum(axis=1), "matrix": F.sum()}[axis]
    invariants.equal(t, "formula", "stochastic_error", found, np.sum(np.abs(1 - sums)), 1e-9)
    sparseness = t.call("nonneg.metrics.sparseness(W)", "sparseness", refusal=("W",))
    root = np.sqrt(dense.Wide(m))
    expected = np.where(dead, 0, (root - np.where(dead, 1, unit.sum(axis=0))) / (root - 1)).mean()
    invariants.equal(t, "formula", "sparseness", sparseness, expected, 1e-7, 1)


def _of_clusters(t: Trial) -> None:
    n, c, k = t.integer(1, 12), t.integer(1, 4), t.integer(1, 4)
    t.subject = "clusters"
    y = t.let("y", f"np.random.default_rng({t.integer(0, 99)}).integers({c}, size={n})" + t.pick(("", ".tolist()", ".astype(str)")))
    z = t.let("z", f"np.random.default_rng({t.integer(0, 99)}).integers({k}, size={n})" + t.pick(("", ".tolist()", " * 7 - 3")))
    classes, clusters = sorted(set(y)), sorted(set(z))
    counts = np.array([[sum(a == p and b == q for a, b in zip(y, z, strict=True)) for p in classes] for q in clusters], dtype=float)
    purity = t.call("nonneg.metrics.purity(y, z)", "purity")
    invariants.equal(t, "formula", "purity", purity, counts.max(axis=1).sum() / n, 1e-12)
    inside = counts / counts.sum(axis=1, keepdims=True)
    entropy = -(
        counts.sum(axis=1) / n * np.where(inside > 0, inside * np.log(np.where(inside > 0, inside, 1)), 0).sum(axis=1)
    ).sum()
    found = t.call("nonneg.metrics.clustering_entropy(y, z)", "found")
    invariants.equal(t, "formula", "clustering_entropy", found, entropy, 1e-9, 1)
    share = t.call("nonneg.metrics.normalized_entropy(y, z)", "share")
    invariants.equal(
        t, "formula", "normalized_entropy", share, entropy / np.log(len(classes)) if len(classes) > 1 else 0.0, 1e-9, 1
    )
    size = max(counts.shape)
    square = np.zeros((size, size))
    square[: counts.shape[0], : counts.shape[1]] = counts
    best = max(sum(square[i, p[i]] for i in range(size)) for p in permutations(range(size)))
    accuracy = t.call("nonneg.metrics.clustering_accuracy(y, z)", "accuracy")
    invariants.equal(t, "formula", "clustering_accuracy", accuracy, best / n, 1e-12)


def _of_scores(t: Trial) -> None:
    n, seed = t.integer(1, 12), t.integer(0, 99)
    t.subject = "scores"
    y = t.let("y", f"np.random.default_rng({seed}).integers(2, size={n})")
    t.let(
        "score",
        f"np.random.default_rng({seed + 1}).{t.pick((f'integers(4, size={n})', f'random({n})', f'standard_normal({n}) * 1e200'))}",
    )
    rate = t.call("nonneg.metrics.equal_error_rate(y, score)", "rate", refusal=("y_true",), must_refuse=len(set(y)) < 2)
    back = t.call("nonneg.metrics.equal_error_rate(1 - y, -score)", "back")
    t.check("shapes", 0 <= rate <= 1, f"a rate of {rate}")
    invariants.equal(t, "formula", "both turned round", rate, back, 1e-9, 1)
    away = t.call("nonneg.metrics.equal_error_rate(y, -score)", "away")
    invariants.equal(t, "formula", "the score turned round", rate + away, 1.0, 1e-9, 1)


def _of_graphs(t: Trial) -> None:
    n = t.integer(1, 8)
    t.subject = "graphs"
    A, B = (data.matrix(t, n, n, name) for name in "AB")
    p = t.let("p", f"np.random.default_rng({t.integer(0, 99)}).permutation({n})")
    found = t.call("nonneg.metrics.edge_error(A, B, p)", "found")
    expected = (dense.wide(A)[np.ix_(p, p)] != dense.wide(B)).sum()
    t.check("formula", found == expected, f"edge_error is {found}, by the formula {expected}")


def _of_approximations(t: Trial) -> None:
    m, n = data.sides(t)
    t.subject = "approximations"
    X, Y = data.matrix(t, m, n), data.matrix(t, m, n, "Y")
    X, Y = dense.wide(X), dense.wide(Y)
    found = t.call("nonneg.metrics.relative_error(X, Y)", "found", refusal=("X",), must_refuse=not X.any())
    with np.errstate(over="ignore"):
        expected = float(np.sqrt(((X - Y) ** 2).sum()) / np.sqrt((X**2).sum()))
    invariants.equal(t, "formula", "relative_error", found, expected, 1e-9)
