"""Every estimator in its plainest form, by name, and data to fit it to."""

import numpy as np
import pytest

from nonneg.estimators import (
    FONT,
    NMF,
    NMTF,
    ONMF,
    ONMTF,
    OPNMF,
    PNMF,
    BiORNM3F,
    BiQNMF,
    ConsensusNMF,
    ConvexNMF,
    Factorization,
    KernelPNMF,
    NonnegativeSparseCoding,
    ProjectiveClustering,
    SemiNMF,
    SymmetricNMF,
    TruncatedNonnegativeSVD,
)


def parts(n_samples, n_features, n_parts, *, noise=0.05, seed=0):
    """Non-negative combinations of parts that do not overlap, and a little noise."""
    rng = np.random.default_rng([seed, n_samples, n_features])
    basis = np.kron(np.eye(n_parts), np.ones(n_features // n_parts)) * rng.uniform(0.5, 1.5, n_features)
    return rng.gamma(1.0, 1.0, (n_samples, n_parts)) @ basis + noise * rng.uniform(0.1, 1.0, (n_samples, n_features))


def _three(cls, count="n_components", **fixed):
    return lambda **params: cls(**{count: 3, "random_state": 0, **fixed, **params})


MAKERS = {
    "NMF": _three(NMF),
    "ConsensusNMF": _three(ConsensusNMF, n_runs=2, density_threshold=2),
    "NonnegativeSparseCoding": _three(NonnegativeSparseCoding),
    "PNMF": _three(PNMF),
    "OPNMF": _three(OPNMF),
    "ONMF": _three(ONMF),
    "SymmetricNMF": _three(SymmetricNMF, kernel="linear"),
    "NMTF": _three(NMTF),
    "ONMTF": _three(ONMTF),
    "FONT": _three(FONT),
    "FONT-ALS": _three(FONT, solver="als"),
    "KernelPNMF": _three(KernelPNMF, kernel="linear"),
    "TruncatedNonnegativeSVD": _three(TruncatedNonnegativeSVD),
    "Factorization": _three(Factorization, form="W H"),
    "Factorization projective": _three(Factorization, form="X W W.T"),
    "ProjectiveClustering": _three(ProjectiveClustering, "n_clusters"),
    "BiQNMF": _three(BiQNMF, "n_clusters", divergence="euclidean"),
    "BiORNM3F": _three(BiORNM3F, "n_clusters"),
}
"""By name, a function that makes the estimator with three components, and with what else it is told."""

SIGNED = {"SemiNMF": _three(SemiNMF), "ConvexNMF": _three(ConvexNMF)}
"""The same for those that take X of either sign."""

ITERATIVE = [name for name in MAKERS if name not in ("TruncatedNonnegativeSVD", "ConsensusNMF")]
COCLUSTERERS = ["BiQNMF", "BiORNM3F"]
WITH_N_CLUSTERS = ["ProjectiveClustering", *COCLUSTERERS]
PREDICTING = ["NMF", "ConsensusNMF", "NMTF", "ONMTF", "FONT", "FONT-ALS", *WITH_N_CLUSTERS]
TRIFACTOR = ["NMTF", "ONMTF", "FONT", "FONT-ALS"]
PROJECTIVE = ["PNMF", "OPNMF", "Factorization projective"]
PAIRWISE = ["SymmetricNMF", "KernelPNMF"]
ORTHOGONAL = ["OPNMF", "ONMF", "ONMTF", "FONT", "FONT-ALS"]
WITH_DIVERGENCE = [
    "NMF",
    "PNMF",
    "OPNMF",
    "ONMF",
    "SymmetricNMF",
    "NMTF",
    "ONMTF",
    "Factorization",
    "Factorization projective",
    *WITH_N_CLUSTERS,
]
WITH_ARRAY_INIT = {
    "NMF": "H",
    "NonnegativeSparseCoding": "H",
    "PNMF": "W.T",
    "OPNMF": "W.T",
    "ONMF": "H",
    "SymmetricNMF": "W.T",
    "KernelPNMF": "W.T",
    "ProjectiveClustering": "W",
}
"""What an array given as `init` is."""


def given_start(name, n_samples, n_features, rank, seed=5):
    """All factors of an estimator, by name, to start from."""
    rng = np.random.default_rng(seed)
    samples, features = rng.uniform(0.1, 1, (n_samples, rank)), rng.uniform(0.1, 1, (rank, n_features))
    if name in PROJECTIVE:
        return {"W": features.T}
    if name in (*PAIRWISE, "ProjectiveClustering"):
        return {"W": samples}
    if name in COCLUSTERERS:
        start = {"L": samples, "S": rng.uniform(0.1, 1, (rank, rank)), "R": features.T}
        return start if name == "BiORNM3F" else {"L": start["L"], "R": start["R"]}
    if name in TRIFACTOR:
        return {"W": samples, "S": rng.uniform(0.1, 1, (rank, rank)), "H": features}
    return {"W": samples, "H": features}


def count(name, number):
    """So many components or clusters, as a parameter."""
    return {"n_clusters" if name in WITH_N_CLUSTERS else "n_components": number}


def array_start(name, factors):
    """The array, among the factors, that `init` takes."""
    which = WITH_ARRAY_INIT[name]
    return factors["W"].T if which == "W.T" else factors[which]


unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def half_squares(A):
    return 0.5 * np.sum(A**2)


def data_of(estimator, X):
    """What is approximated."""
    return X @ X.T if type(estimator).__name__ in PAIRWISE else X
