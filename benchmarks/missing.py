"""Missing values: hidden entries recovered, parts found, the time of a sweep over ratings, and the cost where none are missing.

Planted data of rank 5 with noise, some entries hidden: the error over these, relative to their norm, of `NMFImputer` beside mean
filling, scikit-learn's imputers, and singular values that are shrunk (soft-impute). Ratings are made up, some things more popular
than others. One thread; the time of a sweep is the processor's. ``python benchmarks/missing.py ratings`` is the part about ratings
with ten million of them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from _bench import Bench, Timed, in_turns, processed, seconds_of, slope, threads
from nonneg import OPNMF, NMFImputer, Observed, factorize
from nonneg.constraints import Sparse
from nonneg.divergences import Alpha

TITLE = "Missing values"
NOISE: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "euclidean": lambda generator, X: np.maximum(X + 0.05 * X.mean() * generator.standard_normal(X.shape), 0.0),
    "kullback-leibler": lambda generator, X: generator.poisson(20 * X / X.mean()) * 1.0,
    "itakura-saito": lambda generator, X: X * generator.gamma(50, 1 / 50, X.shape),
    "hellinger": lambda generator, X: generator.poisson(20 * X / X.mean()) + 0.1,
}
"""For each divergence, noise of the kind that it is for."""


def run(bench: Bench) -> None:
    with threads(1):
        for divergence in NOISE:
            for share in (0.1, 0.5, 0.9):
                recover(bench, divergence, share)
        find_parts(bench)
        rate(bench)
        beside_none(bench)


def planted(divergence: str, share: float, quick: bool, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X without noise, X with noise and NaN, and where that is."""
    generator = np.random.default_rng(seed)
    m, n = (60, 30) if quick else (400, 100)
    X = generator.gamma(1.0, 1.0, (m, 5)) @ generator.gamma(0.5, 1.0, (5, n)) + 0.01
    noisy = NOISE[divergence](generator, X)
    noisy, X = (noisy, X) if divergence in ("euclidean", "itakura-saito") else (noisy, 20 * X / X.mean())
    hidden = generator.random(X.shape) < share
    hidden[np.arange(m), np.arange(m) % n] = False
    return X, np.where(hidden, np.nan, noisy), hidden


def recover(bench: Bench, divergence: str, share: float) -> None:
    X, holes, hidden = planted(divergence, share, bench.quick)
    words = {"problem": f"{X.shape[0]} × {X.shape[1]}, rank 5, {divergence}, {100 * share:.0f} % hidden"}

    def error(filled: np.ndarray) -> float:
        return float(np.linalg.norm((filled - X)[hidden]) / np.linalg.norm(X[hidden]))

    ours: list[float] = []
    with bench.attempt(what="error over what is hidden", **words), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = Alpha(0.5) if divergence == "hellinger" else divergence
        ours.append(error(NMFImputer(5, divergence=chosen, max_iter=500, random_state=0).fit_transform(holes)))
        bench.number(ours, what="error over what is hidden", **words)
    for peer, fill in PEERS.items():
        with bench.attempt(what="error over what is hidden", peer=peer, **words), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = error(fill(holes))
            bench.cost(ours, [theirs], unit="", what="error over what is hidden", peer=peer, **words)


def mean_filling(X: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def iterative(X: np.ndarray) -> np.ndarray:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(random_state=0, max_iter=10, n_nearest_features=20).fit_transform(X)


def nearest(X: np.ndarray) -> np.ndarray:
    from sklearn.impute import KNNImputer

    return KNNImputer().fit_transform(X)


def soft_impute(X: np.ndarray, rounds: int = 200) -> np.ndarray:
    """Singular values shrunk by the one that leaves about five of them, filled again and again (Mazumder et al. 2010)."""
    known = ~np.isnan(X)
    filled = mean_filling(X)
    for _ in range(rounds):
        U, S, VT = np.linalg.svd(filled, full_matrices=False)
        shrunk = np.maximum(S - S[5], 0.0)
        filled = np.where(known, X, (U * shrunk) @ VT)
    return filled


PEERS = {
    "mean of each feature": mean_filling,
    "scikit-learn IterativeImputer": iterative,
    "scikit-learn KNNImputer": nearest,
    "soft-impute": soft_impute,
}


def find_parts(bench: Bench) -> None:
    """Parts that do not overlap, found by OPNMF with 30 % hidden: 1 − ARI."""
    generator = np.random.default_rng(0)
    m, n, r = (60, 30, 5) if bench.quick else (300, 60, 5)
    labels = np.repeat(np.arange(r), n // r)
    X = generator.gamma(1.0, 1.0, (m, r)) @ (np.eye(r)[labels].T * generator.uniform(0.5, 1.5, n))
    X = np.maximum(X + 0.05 * X.mean() * generator.standard_normal(X.shape), 0.0)
    words = {"problem": f"{m} × {n}, {r} parts, 30 % hidden", "what": "1 − ARI of the parts that OPNMF finds"}
    with bench.attempt(**words):
        missed = []
        for seed in range(3):
            holes = np.where(np.random.default_rng(seed).random(X.shape) < 0.3, np.nan, X)
            model = OPNMF(r, missing="ignore", random_state=seed).fit(holes)
            missed.append(1 - adjusted_rand_score(labels, model.components_.argmax(axis=0)))
        bench.number(missed, 0.0, **words)


def ratings(users: int, things: int, count: int, rank: int = 10, seed: int = 0) -> tuple[Any, tuple[np.ndarray, ...]]:
    """Ratings that are observed, as a sparse array, and as many that are held out: rows, columns and values."""
    generator = np.random.default_rng(seed)
    W, H = generator.gamma(0.5, 1.0, (users, rank)), generator.gamma(0.5, 1.0, (rank, things))
    popular = generator.pareto(1.5, things) + 0.1
    rows = generator.integers(0, users, int(1.3 * count))
    columns = generator.choice(things, int(1.3 * count), p=popular / popular.sum())
    key = np.unique(rows * things + columns)
    generator.shuffle(key)
    rows, columns = key // things, key % things
    values = np.einsum("ij,ij->i", W[rows], H.T[columns])
    values = np.clip(values / values.mean() * 3 + 0.3 * generator.standard_normal(len(key)), 0.5, None)
    kept = int(0.9 * len(key))
    stored = sparse.csr_array((values[:kept], (rows[:kept], columns[:kept])), shape=(users, things))
    return stored, (rows[kept:], columns[kept:], values[kept:])


def rate(bench: Bench) -> None:
    users, things = (300, 80) if bench.quick else (10_000, 2_000)
    counts = [2_000, 4_000] if bench.quick else [50_000, 100_000, 200_000, 400_000]
    words = {"problem": f"ratings, {users} × {things}, {counts[0]} to {counts[-1]} observed, r = 10"}
    with bench.attempt(what="slope of the time of a sweep", **words):
        made = [ratings(users, things, count) for count in counts]
        seconds = [[a_sweep(stored) for stored, _ in made] for _ in range(1 if bench.quick else 3)]
        best = np.min(seconds, axis=0)
        sizes = [stored.nnz for stored, _ in made]
        details = {"observed": sizes, "milliseconds": [1e3 * each for each in best]}
        bench.number([slope(sizes, best)], 1.1, what="slope of the time of a sweep", details=details, **words)
        bench.number([1e3 * best[-1]], what="milliseconds of a sweep, the most observed", **words)
    with bench.attempt(peer="surprise", what="RMSE of held-out ratings / their standard deviation", **words):
        beside_surprise(bench, *made[-1])


def beside_surprise(bench: Bench, stored: Any, held_out: tuple[np.ndarray, ...], sweeps: int = 50) -> None:
    """Ratings held out, relative to their standard deviation, and the time of a sweep, beside `surprise`'s NMF of equal rank.

    Ours has a small penalty on both factors, without which a factorization of few ratings follows their noise, and runs to its own
    stop; `surprise` has its own penalty, and so many sweeps, its default being 50.
    """
    from _peers import surprise

    rows, columns, values = held_out
    words = {"problem": f"ratings, {stored.shape[0]} × {stored.shape[1]}, {stored.nnz} observed, r = 10", "peer": "surprise"}

    def error(W: np.ndarray, H: np.ndarray) -> float:
        return float(np.sqrt(np.mean((np.einsum("ij,ij->i", W[rows], H.T[columns]) - values) ** 2)) / values.std())

    penalties = {"W": Sparse(1.0), "H": Sparse(1.0)}
    ours = processed(lambda: factorize(Observed(stored), "W H", 10, constraints=penalties, random_state=0))
    factors, n_iter = ours.result.factors, ours.result.n_iter
    bench.number([error(factors["W"], factors["H"])], what="RMSE of held-out ratings / their standard deviation", **words)
    whole, W, Q = surprise(stored, 10, sweeps)
    bench.number([error(W, Q.T)], what=f"the same of the peer, {sweeps} sweeps", **words)
    details = {"ours": ours.seconds, "iterations": n_iter, "theirs": whole.seconds, "their sweeps": sweeps}
    bench.faster([ours.seconds / max(n_iter, 1)], [whole.seconds / sweeps], what="seconds of a sweep", details=details, **words)
    bench.faster([ours.seconds], [whole.seconds], what=f"seconds to our stop, and of {sweeps} sweeps", **words)


def a_sweep(stored: Any, count: int = 5) -> float:
    """Seconds that the processor takes for a sweep, beyond what a run takes to begin."""

    def run_of(iterations: int) -> float:
        began = process_time()
        factorize(Observed(stored), "W H", 10, init="random", max_iter=iterations, tol=0, check_every=iterations, random_state=0)
        return process_time() - began

    return max((run_of(3 * count) - run_of(count)) / (2 * count), 1e-9)


def beside_none(bench: Bench) -> None:
    """What it costs to say that something may be missing where nothing is."""
    generator = np.random.default_rng(0)
    X = generator.random((60, 40)) if bench.quick else generator.random((2000, 400))
    words = {"problem": f"{X.shape[0]} × {X.shape[1]}, nothing missing, W H", "what": "missing='ignore' / missing='raise'"}
    with bench.attempt(**words):

        def once(missing: str) -> Timed:
            return processed(lambda: factorize(X, "W H", 10, max_iter=20, tol=0, random_state=0, missing=missing))

        once("ignore")
        calls = {missing: (lambda missing=missing: once(missing)) for missing in ("ignore", "raise")}
        taken = in_turns(calls, 1 if bench.quick else 5)
        bench.cost(seconds_of(taken["ignore"]), seconds_of(taken["raise"]), 1.1, **words)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ratings"]:
        large = Bench()
        with threads(1):
            beside_surprise(large, *ratings(100_000, 20_000, 10_000_000))
        for row in large.rows:
            print(row.what, row.ours, row.theirs, row.value, row.details)
    else:
        from _command import main

        sys.exit(main(["missing", *sys.argv[1:]]))
