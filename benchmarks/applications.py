"""Plain calls on problems with a planted or a known answer, 20 seeds each, beside the peers a user would pick.

Each row is a mean, with its standard error and the seconds of processor time of a fit in its details; the last row of a problem is
by how much the better peer is ahead, which should be no more than the standard error of the difference.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from _bench import Bench, processed, threads
from communities import blogs, lfr, planted
from nonneg import QNMFHMM, KernelPNMF, SymmetricNMF
from nonneg.graph import GraphClustering
from nonneg_papers import load_graph

TITLE = "Applications: plain calls beside peers, means of 20 seeds"
SEEDS = 20
_SAME = 5e-4
"""Indices that differ by less are the same."""
Case = tuple[Any, np.ndarray]
Solver = Callable[[Any, Any, int], Any]
"""An answer, such as labels, from data, their target, and a seed."""


def run(bench: Bench) -> None:
    warnings.simplefilter("ignore")
    for family in (graphs, samples, chains):
        family(bench)


def compare(
    bench: Bench, problem: str, case: Callable[[int], Any], index: Callable[[Any, Any], float], solvers: Mapping[str, Solver]
) -> None:
    """The mean index of each solver, the first of which is ours."""
    with bench.attempt(problem, TITLE), threads(1):
        found: dict[str, list[tuple[float, float]]] = {who: [] for who in solvers}
        for seed in range(1 if bench.quick else SEEDS):
            data, target = case(seed)
            for who, solve in solvers.items():
                seconds, answer = processed(partial(solve, data, target, seed))
                found[who].append((index(target, answer), seconds))
        means = {who: np.mean(values, axis=0) for who, values in found.items()}
        ours, *peers = solvers
        for who, (mean, seconds) in means.items():
            indices = [value for value, _ in found[who]]
            details = {"standard error": _error(indices), "seconds": float(seconds), "seeds": len(indices)}
            words = {"peer": "" if who == ours else who, "details": details}
            bench.number([float(mean)], problem=problem, what=f"{index.__name__.replace('_', ' ')}, mean", **words)
        best = max(peers, key=lambda who: means[who][0])
        behind = [theirs - own for (own, _), (theirs, _) in zip(found[ours], found[best], strict=True)]
        bench.number(
            [float(np.mean(behind))], max(_error(behind), _SAME), problem=problem, peer=best, what="the better peer is ahead by"
        )


def _error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else 1.0


# ---- graphs

BLOCKS = {
    "blocks of 150, 100, 20, 20, 10, edges .3 inside, .05 across": ([150, 100, 20, 20, 10], 0.3, 0.05),
    "the same, .3 and .03": ([150, 100, 20, 20, 10], 0.3, 0.03),
    "blocks of 200, 80, 20, 10, edges .3 inside, .05 across": ([200, 80, 20, 10], 0.3, 0.05),
    "the same, .2 and .02": ([200, 80, 20, 10], 0.2, 0.02),
    "blocks of 300, 150, 80, 40, .1 and .02": ([300, 150, 80, 40], 0.1, 0.02),
    "4 blocks of 150, .08 and .025": ([150] * 4, 0.08, 0.025),
    "8 blocks of 30, .3 and .05": ([30] * 8, 0.3, 0.05),
    "2 blocks of 250, .02 and .005": ([250] * 2, 0.02, 0.005),
    "3 blocks of 80, .03 inside, .12 across": ([80] * 3, 0.03, 0.12),
    "2 blocks of 100, .02 inside, .1 across": ([100] * 2, 0.02, 0.1),
}


def graphs(bench: Bench) -> None:
    problems: dict[str, Callable[[int], Case]] = {name: partial(planted, *sizes) for name, sizes in BLOCKS.items()}
    problems |= {f"LFR, 1000 vertices, μ = {mu}": partial(lfr, mu) for mu in (0.1, 0.2, 0.3, 0.4, 0.5)}
    problems |= {name: partial(real, name) for name in ("karate", "polbooks", "Football")}
    problems["PolBlogs"] = lambda seed: blogs()
    for name, case in list(problems.items())[-14 if bench.quick else 0 :][: 1 if bench.quick else None]:
        compare(bench, name, case, adjusted_rand_index, {"": ours_of_graph, "SpectralClustering": cut, "Leiden": leiden})


def adjusted_rand_index(target: np.ndarray, labels: np.ndarray) -> float:
    return float(adjusted_rand_score(target, labels))


def ours_of_graph(A: Any, target: np.ndarray, seed: int) -> np.ndarray:
    return GraphClustering(len(np.unique(target)), random_state=seed).fit_predict(A)


def cut(A: Any, target: np.ndarray, seed: int) -> np.ndarray:
    return SpectralClustering(len(np.unique(target)), affinity="precomputed", random_state=seed).fit_predict(A.toarray())


def leiden(A: Any, target: np.ndarray, seed: int) -> np.ndarray:
    """Modularity by Leiden, which finds the number of parts itself."""
    try:
        import igraph
        import leidenalg
    except ImportError:  # as in a quick run
        from communities import louvain

        return louvain(A, seed)
    pairs = sparse.coo_array(sparse.triu(A, 1))
    graph = igraph.Graph(n=A.shape[0], edges=np.column_stack([pairs.row, pairs.col]).tolist())
    found = leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, weights=pairs.data.tolist(), seed=seed)
    return np.array(found.membership)


def real(name: str, seed: int) -> Case:
    graph = load_graph(name, drop_isolated=True)
    return sparse.csr_array(graph.adjacency.maximum(graph.adjacency.T)).astype(float), graph.target


# ---- samples


def samples(bench: Bench) -> None:
    """Clusters of samples by the graph of their nearest neighbours, beside SpectralClustering with such a graph and by default."""
    problems: dict[str, Callable[[int], Case]] = {
        "blobs of 150, 100, 50, 30, 20": lambda seed: make_blobs([150, 100, 50, 30, 20], random_state=seed),
        "moons, 300, noise .1": lambda seed: make_moons(300, noise=0.1, random_state=seed),
        "rings, 300, noise .05": lambda seed: make_circles(300, factor=0.4, noise=0.05, random_state=seed),
        "wine": lambda seed: scaled(load_wine()),
        "cancer": lambda seed: scaled(load_breast_cancer()),
        "digits": lambda seed: scaled(load_digits()),
    }

    def ours(clusters: Any, X: Any, target: np.ndarray, seed: int) -> np.ndarray:
        return clusters(len(np.unique(target)), kernel="nearest_neighbors", random_state=seed).fit_predict(X)

    def theirs(affinity: str, X: Any, target: np.ndarray, seed: int) -> np.ndarray:
        return SpectralClustering(len(np.unique(target)), affinity=affinity, random_state=seed).fit_predict(X)

    peers = {f"SpectralClustering, {name}": partial(theirs, name) for name in ("nearest_neighbors", "rbf")}
    for name, case in list(problems.items())[: 1 if bench.quick else None]:
        for clusters in (GraphClustering, KernelPNMF, SymmetricNMF):
            compare(bench, f"{name}, {clusters.__name__}", case, adjusted_rand_index, {"": partial(ours, clusters)} | peers)


def scaled(bunch: Any) -> Case:
    return minmax_scale(bunch.data), bunch.target


# ---- chains

CHAINS: dict[str, tuple[int, float]] = {
    "4 states with any of 12 symbols": (12, 0.5),
    "4 states with any of 40 symbols": (40, 0.5),
    "4 states with any of 12 symbols, more alike": (12, 2.0),
}
"""Numbers of symbols, and how alike emissions are: Dirichlet's parameter."""


def chains(bench: Bench) -> None:
    """Log-likelihoods of 20 000 symbols beside the likeliest of three fits by hmmlearn."""
    solvers = {"": ours_of_chain} | {f"hmmlearn, best of 3, n_iter={count}": partial(baum_welch, count) for count in (10, 100)}
    for name, kind in list(CHAINS.items())[: 1 if bench.quick else None]:
        compare(bench, name, partial(overlapping, *kind), log_likelihood_above_the_truth, solvers)


def overlapping(n_symbols: int, alike: float, seed: int) -> tuple[np.ndarray, QNMFHMM]:
    """Symbols, and the chain that they come from, half of whose transitions stay."""
    generator, truth = np.random.default_rng(seed), QNMFHMM(4)
    truth.transmat_ = (np.eye(4) + generator.dirichlet(np.ones(4), 4)) / 2
    truth.startprob_ = np.linalg.matrix_power(truth.transmat_, 1000)[0]
    truth.emissionprob_, truth.symbols_ = generator.dirichlet(np.full(n_symbols, alike), 4), np.arange(n_symbols)
    return truth.sample(20_000, random_state=seed)[0], truth


def log_likelihood_above_the_truth(truth: QNMFHMM, found: tuple[np.ndarray, float]) -> float:
    sequence, value = found
    return value - truth.score(sequence)


def ours_of_chain(sequence: np.ndarray, truth: QNMFHMM, seed: int) -> tuple[np.ndarray, float]:
    return sequence, QNMFHMM(4, random_state=seed).fit(sequence).score(sequence)


def baum_welch(n_iter: int, sequence: np.ndarray, truth: QNMFHMM, seed: int) -> tuple[np.ndarray, float]:
    from hmmlearn.hmm import CategoricalHMM

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    column = sequence[:, None]
    return sequence, max(CategoricalHMM(4, n_iter=n_iter, random_state=3 * seed + k).fit(column).score(column) for k in range(3))


if __name__ == "__main__":
    from _command import main

    sys.exit(main(["applications", *sys.argv[1:]]))
