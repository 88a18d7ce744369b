"""The fits whose results are on record: models, parameters, data and starts.

Only what `nonneg` exports is used, so that the list outlives any change inside. Data and starts are drawn from seeded generators
here, not in the library.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import nonneg
from nonneg import constraints, divergences, graph, metrics, solvers

# ---- data


def parts(rng: np.random.Generator) -> np.ndarray:
    """40 samples, 30 features: overlapping parts in random amounts, and noise; no zeros."""
    return rng.gamma(1.0, size=(40, 6)) @ rng.gamma(0.4, size=(6, 30)) + 0.05 * rng.uniform(0.1, 1.0, size=(40, 30))


def disjoint(rng: np.random.Generator) -> np.ndarray:
    """50 samples, 24 features: four parts of six features that do not overlap, and noise."""
    basis = np.kron(np.eye(4), np.ones(6)) * rng.uniform(0.5, 1.5, size=24)
    return rng.gamma(1.0, size=(50, 4)) @ basis + 0.1 * rng.uniform(0.1, 1.0, size=(50, 24))


def counts(rng: np.random.Generator) -> np.ndarray:
    """60 documents, 45 terms: counts of four topics, most of them zero; no row and no column is empty."""
    X = rng.poisson(2.0 * rng.dirichlet(np.full(4, 0.2), size=60) @ rng.gamma(0.3, size=(4, 45)))
    X[np.arange(60), np.arange(60) % 45] += 1
    return X.astype(float)


def blocks(rng: np.random.Generator) -> np.ndarray:
    """40 × 30 counts in 2 × 3 blocks."""
    return rng.poisson(np.kron([[9, 1, 4], [2, 6, 8]], np.ones((20, 10)))).astype(float)


def affinities(rng: np.random.Generator) -> np.ndarray:
    """Products of 36 samples in three clusters: symmetric, positive semi-definite, without negative entries."""
    F = np.kron(np.eye(3), np.ones((12, 4))) + 0.4 * rng.random((36, 12))
    return F @ F.T


def friends(rng: np.random.Generator) -> np.ndarray:
    """A graph of 48 vertices in four parts, without weights."""
    block = np.arange(48) // 12
    A = np.triu(rng.random((48, 48)) < np.where(block[:, None] == block, 0.5, 0.06), 1).astype(float)
    A[np.arange(47), np.arange(1, 48)] = 1.0  # no vertex without an edge
    return A + A.T


def classes(rng: np.random.Generator) -> np.ndarray:
    """60 samples in three classes, which `CLASSES` names; entries of either sign."""
    return rng.normal(size=(60, 12)) + np.repeat(rng.normal(size=(3, 12)), 20, axis=0)


def pairs(rng: np.random.Generator) -> np.ndarray:
    """How often each of 12 symbols follows each: 4000 pairs of a chain of three states."""
    W, Y = rng.dirichlet(np.full(12, 0.3), size=3).T, rng.dirichlet(np.ones(9)).reshape(3, 3)
    return rng.multinomial(4000, (W @ Y @ W.T).ravel()).reshape(12, 12).astype(float)


def signed(rng: np.random.Generator) -> np.ndarray:
    """A symmetric matrix of either sign, 30 × 30, with positive blocks."""
    A = np.kron(np.eye(3), np.ones((10, 10))) + 0.5 * rng.normal(size=(30, 30))
    return (A + A.T) / 2


DATA = (parts, disjoint, counts, blocks, affinities, friends, classes, pairs, signed)
CLASSES = np.repeat([0, 1, 2], 20)


# ---- a fit

TOLERANCES = {"float64": 1e-6, "float32": 3e-5}
"""By precision; ``python -m tests.recorded --shake`` shows what rounding alone does."""


@dataclass(frozen=True)
class Fit:
    """One fit. What it is called is what its result is recorded under."""

    name: str
    what: str
    """The name of an estimator or function of `nonneg` or `nonneg.graph`; with a blank in it, a form for `nonneg.factorize`."""
    data: Callable[[np.random.Generator], np.ndarray]
    rank: Mapping[str, int] = field(default_factory=dict)
    """The sizes that the data do not give, by letter."""
    start: Mapping[str, str] | None = None
    """For each factor that is given, its sizes: m samples (rows of X), n features (columns), and the letters of `rank`."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    storage: str = "dense"
    dtype: str = "float64"
    measure: Callable[[Any, Any], float] | None = None
    """What is recorded as the objective, from what was fitted and X; by default the one that was minimised."""
    more_is_better: bool = False
    orthogonal: tuple[str, ...] = ()
    """Factors that ought to be orthogonal, columns of W or, as ``"H.T"``, rows of H."""

    @property
    def tolerance(self) -> float:
        """By how much of its size the objective may be worse than the recorded one."""
        return TOLERANCES[self.dtype]


class Outcome(NamedTuple):
    objective: float
    n_iter: int | None
    status: str | None
    overlap: float | None
    """‖WᵀW − I‖ with columns of length one, summed over the factors that ought to be orthogonal."""


def made(fit: Fit, noise: float = 0.0, seed: int = 0) -> tuple[Any, dict[str, np.ndarray] | None]:
    """The data of a fit, and its start; both multiplied by numbers that far from one, to see how much hangs on rounding."""
    X = fit.data(np.random.default_rng([0, DATA.index(fit.data)]))
    rng = np.random.default_rng([1, DATA.index(fit.data)])
    sizes = {"m": X.shape[0], "n": X.shape[1], **fit.rank}
    start = fit.start and {
        name: rng.uniform(0.1, 1.0, size=(sizes[letters[0]], sizes[letters[1]])) for name, letters in fit.start.items()
    }
    if noise:
        shaken = np.random.default_rng([2, seed, DATA.index(fit.data)])
        factors = 1 + noise * shaken.uniform(-1, 1, size=X.shape)
        X = X * ((factors + factors.T) / 2 if X.shape[0] == X.shape[1] else factors)
        start = start and {name: F * (1 + noise * shaken.uniform(-1, 1, size=F.shape)) for name, F in start.items()}
    X = X.astype(fit.dtype)
    start = start and {name: F.astype(fit.dtype) for name, F in start.items()}
    return {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_array}[fit.storage](X), start


def found(fit: Fit) -> Any:
    """Make the data and fit: the estimator or solution."""
    return _found(fit, *made(fit))


def _found(fit: Fit, X: Any, start: Mapping[str, Any] | None) -> Any:
    given: dict[str, Any] = {**fit.parameters, **({} if start is None else {"init": start})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a run ends at max_iter is what is wanted here
        return RUNNERS.get(fit.what, _form if " " in fit.what else _estimator)(fit, X, given)


def run(fit: Fit, noise: float = 0.0, seed: int = 0) -> Outcome:
    """Make the data, fit, and measure."""
    X, start = made(fit, noise, seed)
    found = _found(fit, X, start)
    factors = getattr(found, "factors_", None) or getattr(found, "factors", {})
    overlaps = [
        metrics.orthogonality_error(factors[name[0]].T if name.endswith(".T") else factors[name]) for name in fit.orthogonal
    ]
    status = getattr(found, "status_", getattr(found, "status", None))
    n_iter = getattr(found, "n_iter_", getattr(found, "n_iter", None))
    objective = _objective(found) if fit.measure is None else fit.measure(found, X)
    return Outcome(
        float(objective),
        None if n_iter is None else int(n_iter),
        None if status is None else str(status),
        float(sum(overlaps)) if overlaps else None,
    )


def _objective(found: Any) -> float:
    names = ("objective_", "objective", "squared_error", "value")
    return next(getattr(found, name) for name in names if hasattr(found, name))


def _form(fit: Fit, X: Any, given: dict[str, Any]) -> Any:
    rank = tuple(fit.rank.values()) or None
    return nonneg.factorize(X, fit.what, rank, **given)


def _estimator(fit: Fit, X: Any, given: dict[str, Any]) -> Any:
    maker = getattr(nonneg, fit.what, None) or getattr(graph, fit.what)
    estimator = maker(**given)
    if fit.data is pairs:
        return estimator.fit_pairs(X)
    return estimator.fit(X, CLASSES) if fit.data is classes else estimator.fit(X)


def _matched(fit: Fit, X: Any, given: dict[str, Any]) -> Any:
    """The graph beside itself, its vertices in another order and some of its edges gone."""
    rng = np.random.default_rng(3)
    order, kept = rng.permutation(X.shape[0]), np.triu(rng.random(X.shape) < 0.95, 1)
    return graph.match_graphs(X, (X * (kept | kept.T))[order][:, order], **given)


def _quotient(fit: Fit, X: Any, given: dict[str, Any]) -> Any:
    F = np.random.default_rng(4).normal(size=X.shape)
    return nonneg.maximize_rayleigh(X, F @ F.T / len(F) + np.eye(len(F)), **given)


def _kernel(fit: Fit, X: Any, given: dict[str, Any]) -> Any:
    return nonneg.factorize(nonneg.Gram(X), "W W.T X", tuple(fit.rank.values()), **given)


def _trace(fit: Fit, X: Any, given: dict[str, Any]) -> Any:
    model = nonneg.Model("W.T S W", "trace", {"W": "orthogonal"}, data="S")
    return nonneg.factorize(X, model, tuple(fit.rank.values()), **given)


def _streamed(fit: Fit, X: Any, given: dict[str, Any]) -> Any:
    model = nonneg.PNMF(**given)
    for first in range(0, X.shape[0], 10):
        model.partial_fit(X[first : first + 10])
    return model


RUNNERS: dict[str, Callable[[Fit, Any, dict[str, Any]], Any]] = {
    "match_graphs": _matched,
    "maximize_rayleigh": _quotient,
    "Gram": _kernel,
    "Trace": _trace,
    "PNMF.partial_fit": _streamed,
}
"""What is called otherwise than an estimator or a form."""


def of_new_samples(found: Any, X: Any) -> float:
    """How badly components describe samples that they were not fitted to: the divergence, a sample."""
    return -float(found.score(X[::-1] ** 1.5 if isinstance(X, np.ndarray) else X.power(2)))


def badness(found: Any, X: Any) -> float:
    return -float(found.score(X))


def error(found: Any, X: Any) -> float:
    return float(found.reconstruction_err_)


def fisher(found: Any, X: Any) -> float:
    return float(np.sum(found.fisher_ratio_))


# ---- the list

PAIR = {"W": "mk", "H": "kn"}
THREE = {"W": "mk", "S": "kl", "H": "ln"}
BOTH = {"L": "mk", "R": "nl"}
MIDDLE = {"L": "mk", "S": "kl", "R": "nl"}
OF_FEATURES = {"W": "nk"}
OF_SAMPLES = {"W": "mk"}
CHAIN = {"W": "mk", "Y": "kk"}

K = {"k": 4}
KL = {"k": 2, "l": 3}


def to_the_end(**parameters: Any) -> dict[str, Any]:
    return {"max_iter": 2000, "tol": 1e-6, **parameters}


def steps(count: int, **parameters: Any) -> dict[str, Any]:
    return {"max_iter": count, "tol": 0, **parameters}


def four(settings: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"n_components": 4, **settings, **more}


FITS = [
    # ---- X ≈ W H
    Fit("NMF, coordinate", "NMF", parts, K, PAIR, four(to_the_end(solver="coordinate", tol=1e-9))),
    Fit("NMF, coordinate, sparse", "NMF", counts, K, PAIR, four(steps(30, solver="coordinate")), "csr"),
    Fit("NMF, coordinate, float32", "NMF", parts, K, PAIR, four(steps(30, solver="coordinate")), dtype="float32"),
    Fit("NMF, multiplicative", "NMF", parts, K, PAIR, four(steps(100, solver="multiplicative"))),
    Fit("NMF, paper, KL, sparse", "NMF", counts, K, PAIR, four(steps(100, solver="paper", divergence="kl")), "csr"),
    Fit("NMF, quasi-Newton, KL", "NMF", parts, K, PAIR, four(steps(40, solver="quasi-newton", divergence="kl"))),
    Fit(
        "NMF, quasi-Newton, KL, sparse float32",
        "NMF",
        counts,
        K,
        PAIR,
        four(steps(30, solver="quasi-newton", divergence="kl")),
        "csr",
        "float32",
    ),
    Fit("NMF, adaptive, Itakura–Saito", "NMF", parts, K, PAIR, four(steps(40, solver="adaptive", divergence="itakura-saito"))),
    Fit("NMF, Hellinger, csc", "NMF", counts, K, PAIR, four(steps(40, divergence="hellinger", solver="adaptive")), "csc"),
    Fit("NMF, β = 1.5", "NMF", parts, K, PAIR, four(steps(40, divergence=1.5, solver="quasi-newton"))),
    Fit(
        "NMF, random start",
        "NMF",
        parts,
        K,
        None,
        four(to_the_end(init="random", random_state=0, solver="coordinate", tol=1e-9)),
    ),
    Fit(
        "NMF, fixed components",
        "NMF",
        parts,
        K,
        None,
        four(to_the_end(fixed_components=np.eye(2, 30) + 0.1, init="random", random_state=0)),
    ),
    Fit("NMF, new samples", "NMF", parts, K, PAIR, four(to_the_end(solver="coordinate")), measure=of_new_samples),
    Fit(
        "NMF, new samples, KL, sparse",
        "NMF",
        counts,
        K,
        PAIR,
        four(steps(40, solver="quasi-newton", divergence="kl")),
        "csr",
        measure=of_new_samples,
    ),
    Fit("Consensus NMF", "ConsensusNMF", parts, K, None, four(steps(100, n_runs=10, random_state=0))),
    Fit("Integrative NMF", "IntegrativeNMF", parts, K, None, four(steps(50, random_state=0))),
    Fit("Semi-NMF", "SemiNMF", signed, K, None, four(steps(100, random_state=0))),
    Fit("Convex NMF", "ConvexNMF", signed, K, None, four(steps(100, random_state=0))),
    Fit("NNSC", "NonnegativeSparseCoding", parts, K, PAIR, four(steps(60, alpha=0.2))),
    Fit(
        "NNSC, multiplicative, sparse", "NonnegativeSparseCoding", counts, K, PAIR, four(steps(60, solver="multiplicative")), "csr"
    ),
    # ---- X ≈ X W Wᵀ
    Fit("PNMF, coordinate", "PNMF", parts, K, OF_FEATURES, four(to_the_end(solver="coordinate"))),
    Fit("PNMF, coordinate, sparse", "PNMF", counts, K, OF_FEATURES, four(to_the_end(solver="coordinate")), "csr"),
    Fit("PNMF, paper, float32", "PNMF", parts, K, OF_FEATURES, four(steps(60, solver="paper")), dtype="float32"),
    Fit("PNMF, multiplicative", "PNMF", disjoint, K, OF_FEATURES, four(steps(100, solver="multiplicative"))),
    Fit("PNMF, quasi-Newton, KL", "PNMF", parts, K, OF_FEATURES, four(steps(40, solver="quasi-newton", divergence="kl"))),
    Fit("PNMF, adaptive, dual I", "PNMF", disjoint, K, OF_FEATURES, four(steps(40, solver="adaptive", divergence="dual-i"))),
    Fit("PNMF, batches", "PNMF.partial_fit", disjoint, K, None, {"n_components": 4, "random_state": 0}, measure=badness),
    Fit("OPNMF", "OPNMF", disjoint, K, OF_FEATURES, four(to_the_end()), orthogonal=("W",)),
    Fit("OPNMF, sparse float32", "OPNMF", counts, K, OF_FEATURES, four(steps(40)), "csr", "float32", orthogonal=("W",)),
    Fit("OPNMF, paper", "OPNMF", parts, K, OF_FEATURES, four(steps(100, solver="paper")), orthogonal=("W",)),
    Fit("OPNMF, paper, KL", "OPNMF", disjoint, K, OF_FEATURES, four(steps(60, solver="paper", divergence="kl")), orthogonal=("W",)),
    Fit("OPNMF, exact", "OPNMF", parts, K, OF_FEATURES, four(to_the_end(orthogonality="exact")), orthogonal=("W",)),
    Fit("OPNMF, degree 0.3", "OPNMF", parts, K, OF_FEATURES, four(to_the_end(orthogonality=0.3)), orthogonal=("W",)),
    Fit("OPNMF, rows, sparse", "OPNMF", counts, K, OF_FEATURES, four(to_the_end(orthogonality="rows")), "csr", orthogonal=("W",)),
    # ---- X ≈ W H, H orthogonal
    Fit("ONMF", "ONMF", disjoint, K, PAIR, four(steps(100)), orthogonal=("H.T",)),
    Fit(
        "ONMF, adaptive, KL, sparse",
        "ONMF",
        counts,
        K,
        PAIR,
        four(steps(40, divergence="kl", solver="adaptive")),
        "csr",
        orthogonal=("H.T",),
    ),
    Fit("ONMF, exact", "ONMF", parts, K, PAIR, four(to_the_end(orthogonality="exact")), orthogonal=("H.T",)),
    Fit("ONMF, polar, float32", "ONMF", disjoint, K, PAIR, four(steps(50, orthogonality="polar")), dtype="float32"),
    # ---- X ≈ W S H
    Fit("NMTF", "NMTF", blocks, KL, THREE, to_the_end(n_components=(2, 3))),
    Fit("NMTF, KL, sparse", "NMTF", counts, KL, THREE, steps(40, n_components=(2, 3), divergence="kl"), "csr"),
    Fit(
        "ONMTF",
        "ONMTF",
        blocks,
        KL,
        THREE,
        steps(60, n_components=(2, 3), solver="multiplicative"),
        orthogonal=("W", "H.T"),
    ),
    Fit("ONMTF, paper", "ONMTF", blocks, KL, THREE, steps(100, n_components=(2, 3), solver="paper"), orthogonal=("W", "H.T")),
    Fit("FONT", "FONT", blocks, KL, THREE, steps(60, n_components=(2, 3)), orthogonal=("W", "H.T")),
    Fit("FONT, least squares", "FONT", blocks, KL, THREE, steps(20, n_components=(2, 3), solver="als"), orthogonal=("W", "H.T")),
    Fit("BiQNMF", "BiQNMF", blocks, KL, BOTH, steps(60, n_clusters=(2, 3))),
    Fit("BiQNMF, Euclidean, sparse", "BiQNMF", counts, KL, BOTH, steps(40, n_clusters=(2, 3), divergence="euclidean"), "csr"),
    Fit("BiORNM3F", "BiORNM3F", blocks, KL, MIDDLE, steps(60, n_clusters=(2, 3), solver="adaptive"), orthogonal=("L", "R")),
    Fit(
        "BiORNM3F, paper, KL, sparse",
        "BiORNM3F",
        counts,
        KL,
        MIDDLE,
        steps(60, n_clusters=(2, 3), solver="paper", divergence="kl"),
        "csr",
        orthogonal=("L", "R"),
    ),
    # ---- pairs of samples, clusters of samples
    Fit("ProjectiveClustering", "ProjectiveClustering", disjoint, K, OF_SAMPLES, to_the_end(n_clusters=4)),
    Fit(
        "ProjectiveClustering, KL, sparse",
        "ProjectiveClustering",
        counts,
        K,
        OF_SAMPLES,
        steps(40, n_clusters=4, divergence="kl"),
        "csr",
    ),
    Fit("SymmetricNMF", "SymmetricNMF", affinities, {"k": 3}, OF_SAMPLES, to_the_end(n_components=3)),
    Fit(
        "SymmetricNMF, graph, KL, sparse",
        "SymmetricNMF",
        friends,
        K,
        OF_SAMPLES,
        four(steps(40, divergence="kl", solver="multiplicative")),
        "csr",
    ),
    Fit("KernelPNMF", "KernelPNMF", disjoint, K, OF_SAMPLES, four(to_the_end(kernel="linear"))),
    Fit(
        "KernelPNMF, multiplicative",
        "KernelPNMF",
        parts,
        K,
        OF_SAMPLES,
        four(steps(60, kernel="rbf", gamma=0.1, solver="multiplicative")),
    ),
    # ---- any form
    Fit(
        "Factorization",
        "Factorization",
        parts,
        K,
        OF_FEATURES,
        four(steps(40, form="X W W.T", divergence="kl", constraints={"W": "orthogonal"})),
        orthogonal=("W",),
    ),
    Fit("factorize W H, α = 2", "W H", parts, K, PAIR, steps(40, divergence="chi2", solver="adaptive")),
    Fit("factorize W H, γ = 1", "W H", parts, K, PAIR, steps(40, divergence=divergences.Gamma(1.0), solver="multiplicative")),
    Fit("factorize W H, Rényi, sparse", "W H", counts, K, PAIR, steps(40, divergence=divergences.Renyi(0.5)), "csr"),
    Fit("factorize W H, least squares", "W H", parts, K, PAIR, steps(20, solver="least-squares")),
    Fit(
        "factorize W H, stochastic, KL, sparse",
        "W H",
        counts,
        K,
        PAIR,
        steps(40, divergence="kl", constraints={"H": "stochastic-rows"}),
        "csr",
    ),
    Fit(
        "factorize W W.T X, penalty on overlap",
        "W W.T X",
        parts,
        K,
        OF_SAMPLES,
        to_the_end(constraints={"W": constraints.Disjoint(2.0)}),
    ),
    Fit(
        "factorize W W.T X, rescaled steps",
        "W W.T X",
        disjoint,
        K,
        OF_SAMPLES,
        steps(50, solver=solvers.Multiplicative(exponent=1, rescale=True)),
    ),
    Fit("factorize Gram", "Gram", affinities, {"k": 3}, OF_SAMPLES, to_the_end(solver="coordinate")),
    Fit("factorize trace", "Trace", signed, {"k": 3}, OF_SAMPLES, steps(60), more_is_better=True, orthogonal=("W",)),
    Fit("factorize W A W.T X", "W A W.T X", parts, {"k": 3}, {"W": "mk", "A": "kk"}, steps(30, solver="adaptive")),
    # ---- chains
    Fit("QNMFHMM", "QNMFHMM", pairs, {"k": 3}, CHAIN, steps(40, n_states=3, separate=False)),
    Fit("QNMFHMM, paper, sparse", "QNMFHMM", pairs, {"k": 3}, CHAIN, steps(100, n_states=3, solver="paper"), "csr"),
    Fit("NNMFHMM", "NNMFHMM", pairs, {"k": 3}, None, steps(30, n_states=3, random_state=0)),
    # ---- what has rules of its own
    Fit(
        "TruncatedNonnegativeSVD", "TruncatedNonnegativeSVD", parts, K, None, {"n_components": 4, "random_state": 0}, measure=error
    ),
    Fit(
        "TruncatedNonnegativeSVD, sparse",
        "TruncatedNonnegativeSVD",
        counts,
        K,
        None,
        {"n_components": 4, "random_state": 0},
        "csr",
        measure=error,
    ),
    Fit("NonnegativeLDA", "NonnegativeLDA", classes, measure=fisher, more_is_better=True),
    Fit(
        "NonnegativeLDA, multiplicative",
        "NonnegativeLDA",
        classes,
        parameters={"solver": "multiplicative", "alpha": 0.01},
        measure=fisher,
        more_is_better=True,
    ),
    Fit("NonnegativeKernelFDA", "NonnegativeKernelFDA", classes, parameters={"kernel": "rbf"}, measure=fisher, more_is_better=True),
    Fit(
        "GraphClustering",
        "GraphClustering",
        friends,
        parameters={"n_clusters": 4, "n_init": 2, "random_state": 0},
        storage="csr",
        more_is_better=True,
    ),
    Fit(
        "GraphClustering, ONL",
        "GraphClustering",
        friends,
        parameters={"n_clusters": 4, "method": "onl", "n_init": 2, "max_iter": 200, "random_state": 0},
        more_is_better=True,
    ),
    Fit(
        "GraphClustering, kernel PNMF",
        "GraphClustering",
        friends,
        parameters={"n_clusters": 4, "method": "kernel-pnmf", "n_init": 2, "max_iter": 200, "random_state": 0},
        storage="csr",
        more_is_better=True,
    ),
    Fit("match_graphs", "match_graphs", friends, parameters={"random_state": 0}),
    Fit(
        "match_graphs, Euclidean", "match_graphs", friends, parameters={"init": "walks", "divergence": "euclidean", "polish": False}
    ),
    Fit(
        "maximize_rayleigh",
        "maximize_rayleigh",
        signed,
        parameters={"max_iter": 500, "tol": 0.0, "random_state": 0},
        more_is_better=True,
    ),
]
