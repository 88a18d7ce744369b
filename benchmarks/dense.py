"""Euclidean NMF of dense data beside scikit-learn's `cd`, `mu` and MiniBatchNMF, and torchnmf on the CPU. Two threads.

Each peer runs from the same start to its own stop; ours to the objective that it has then. `cd` also with a tolerance that is ten
times smaller than its default. The random matrix is large, and there `cd` is the only one to compare with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from _bench import Bench, Target, Timed, threads
from _data import described, faces, olivetti, pair, uniform
from _peers import euclidean, scikit_learn, torchnmf
from nonneg import factorize

TITLE = "Dense NMF, Euclidean"
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], Timed]
COORDINATE: dict[str, tuple[Fit, float | None]] = {"scikit-learn cd": (lambda *start: scikit_learn(*start, "cd"), 1)}
ALL: dict[str, tuple[Fit, float | None]] = {
    **COORDINATE,
    "scikit-learn cd, tol=1e-5": (lambda *start: scikit_learn(*start, "cd", tol=1e-5, max_iter=2000), 1),
    "scikit-learn mu": (lambda *start: scikit_learn(*start, "mu"), None),
    "scikit-learn MiniBatchNMF": (lambda *start: scikit_learn(*start, "minibatch"), None),
    "torchnmf": (torchnmf, None),
}
"""For each peer, its fit of X from W and H, and how many times faster ours has to be."""


def run(bench: Bench) -> None:
    for name, load, peers in (("CBCL", faces, ALL), ("Olivetti", olivetti, ALL), ("uniform", uniform, COORDINATE)):
        with bench.attempt(name, TITLE), threads(2):
            compare(bench, name, np.ascontiguousarray(load(bench.quick).T), peers)


def compare(bench: Bench, name: str, X: np.ndarray, peers: dict[str, tuple[Fit, float | None]]) -> None:
    """Samples × features."""
    rank = 4 if bench.quick else 25
    factorize(X, "W H", rank, max_iter=5, random_state=0)
    W, H = pair(X, rank)
    for peer, (fit, wanted) in peers.items():
        words = {"problem": f"{name} {described(X)}, r = {rank}", "what": "W H, to its objective", "peer": peer}
        with bench.attempt(**words):
            bench.race(
                X,
                "W H",
                {"W": W, "H": H},
                lambda fit=fit: fit(X, W, H),
                lambda found: Target(euclidean(X, *found[:2])),
                at_least=wanted,
                **words,
            )
