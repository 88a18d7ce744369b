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
from scipy.optimize import quadratic_assignment
from sklearn import decomposition
from sklearn.cluster import SpectralBiclustering, SpectralClustering, SpectralCoclustering
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs, make_circles, make_classification, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from _bench import Bench, processed, threads
from communities import blogs, lfr, planted
from nonneg import NMF, OPNMF, QNMFHMM, BiQNMF, KernelPNMF, NonnegativeLDA, SymmetricNMF
from nonneg.graph import GraphClustering, match_graphs
from nonneg_papers import load_graph
from nonneg_papers.pages.biclusters import DATA, counts

TITLE = "Applications: plain calls beside peers, means of 20 seeds"
SEEDS = 20
_NEAREST = "nearest_neighbors"
_SAME = 5e-4
"""Indices that differ by less are the same."""
Case = tuple[Any, np.ndarray]
Solver = Callable[[Any, Any, int], Any]
"""An answer, such as labels, from data, their target, and a seed."""


def run(bench: Bench) -> None:
    warnings.simplefilter("ignore")
    for family in (graphs, samples, matches, coclusters, classes, parts, chains):
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
    """Clusters of samples: defaults beside SpectralClustering's, and graphs of nearest neighbours beside its own."""
    problems: dict[str, Callable[[int], Case]] = {
        "blobs of 150, 100, 50, 30, 20": lambda seed: make_blobs([150, 100, 50, 30, 20], random_state=seed),
        "moons, 300, noise .1": lambda seed: make_moons(300, noise=0.1, random_state=seed),
        "rings, 300, noise .05": lambda seed: make_circles(300, factor=0.4, noise=0.05, random_state=seed),
        "wine": lambda seed: scaled(load_wine()),
        "cancer": lambda seed: scaled(load_breast_cancer()),
        "digits": lambda seed: scaled(load_digits()),
    }

    def ours(clusters: Any, kernel: str, X: Any, target: np.ndarray, seed: int) -> np.ndarray:
        return clusters(len(np.unique(target)), kernel=kernel, random_state=seed).fit_predict(X)

    def theirs(affinity: str, X: Any, target: np.ndarray, seed: int) -> np.ndarray:
        return SpectralClustering(len(np.unique(target)), affinity=affinity, random_state=seed).fit_predict(X)

    kinds = [(KernelPNMF, "local", "rbf"), *((kind, _NEAREST, _NEAREST) for kind in (GraphClustering, KernelPNMF, SymmetricNMF))]
    for name, case in list(problems.items())[: 1 if bench.quick else None]:
        for clusters, kernel, affinity in kinds:
            problem = f"{name}, {clusters.__name__}, {kernel}"
            solvers = {"": partial(ours, clusters, kernel), f"SpectralClustering, {affinity}": partial(theirs, affinity)}
            compare(bench, problem, case, adjusted_rand_index, solvers)


def scaled(bunch: Any) -> Case:
    return minmax_scale(bunch.data), bunch.target


# ---- matches


def matches(bench: Bench) -> None:
    """A graph and its vertices in another order, some of its edges moved, beside the best of ten runs of FAQ."""
    problems = {
        f"{name}, 150 vertices, {share:.0%} of the edges moved": partial(hidden, make, share)
        for name, make in KINDS.items()
        for share in (0.05, 0.1)
    }
    for name, case in list(problems.items())[: 1 if bench.quick else None]:
        compare(bench, name, case, vertices_that_are_right, {"": ours_of_match, "FAQ, best of 10": faq})


def small_world(n: int, seed: int) -> Any:
    import networkx

    return networkx.watts_strogatz_graph(n, 6, 0.1, seed=seed)


def geometric(n: int, seed: int) -> Any:
    import networkx

    return networkx.random_geometric_graph(n, 0.15, seed=seed)


def scale_free(n: int, seed: int) -> Any:
    import networkx

    return networkx.barabasi_albert_graph(n, 3, seed=seed)


def random_graph(n: int, seed: int) -> Any:
    import networkx

    return networkx.gnp_random_graph(n, 0.05, seed=seed)


KINDS: dict[str, Callable[[int, int], Any]] = {
    "Watts–Strogatz": small_world,
    "geometric": geometric,
    "Barabási–Albert": scale_free,
    "Erdős–Rényi": random_graph,
}


def hidden(make: Callable[[int, int], Any], share: float, seed: int) -> Case:
    """Two graphs, of which the second has been reordered by the target."""
    import networkx

    A, generator = networkx.to_numpy_array(make(150, seed), weight=None), np.random.default_rng(seed)
    order = generator.permutation(len(A))
    B = A[np.ix_(order, order)]
    pairs = np.triu_indices(len(B), 1)
    edges = B[pairs]
    count = round(share * edges.sum())
    for value in (1.0, 0.0):
        edges[generator.choice(np.flatnonzero(B[pairs] == value), count, replace=False)] = 1 - value
    B = np.zeros_like(B)
    B[pairs] = edges
    return (A, B + B.T), order


def vertices_that_are_right(target: np.ndarray, found: np.ndarray) -> float:
    return float(np.mean(target == found))


def ours_of_match(graphs: tuple[np.ndarray, np.ndarray], target: np.ndarray, seed: int) -> np.ndarray:
    return match_graphs(*graphs, random_state=seed).permutation


def faq(graphs: tuple[np.ndarray, np.ndarray], target: np.ndarray, seed: int) -> np.ndarray:
    A, B = graphs
    options = {"maximize": True, "P0": "randomized", "rng": np.random.default_rng(seed)}
    runs = [quadratic_assignment(B, A, method="faq", options=options) for _ in range(10)]
    return max(runs, key=lambda run: run.fun).col_ind


# ---- co-clusters


def coclusters(bench: Bench) -> None:
    """Clusters of rows and of columns, beside scikit-learn's with the numbers that they take."""
    problems: dict[str, tuple[tuple[int, int], Callable[[int], Any]]] = dict(DATA)
    problems |= {f"counts with means of 0 to {most}, 90 × 60": ((3, 3), partial(few, most)) for most in (0.3, 0.6, 1.2)}
    for name, (k, make) in list(problems.items())[: 1 if bench.quick else None]:
        solvers = {"": partial(ours_of_blocks, k), "SpectralCoclustering": partial(by_pairs, k)}
        solvers["SpectralBiclustering"] = partial(checkerboard, k)
        compare(bench, name, partial(of_rows_and_columns, make), mean_of_both_indices, solvers)


def few(most: float, seed: int) -> Any:
    """Counts most of which are zeros, in blocks with means that are drawn."""
    rows, columns = np.repeat(np.arange(3), (20, 30, 40)), np.repeat(np.arange(3), 20)
    return counts(np.random.default_rng(seed), rows, columns, lambda generator: generator.uniform(0, most, (3, 3)))


def of_rows_and_columns(make: Callable[[int], Any], seed: int) -> Any:
    X, *targets = make(seed)
    return X, targets


def mean_of_both_indices(targets: Any, found: Any) -> float:
    return float(np.mean([adjusted_rand_score(target, labels) for target, labels in zip(targets, found, strict=True)]))


def ours_of_blocks(k: tuple[int, int], X: Any, targets: Any, seed: int) -> Any:
    model = BiQNMF(k, random_state=seed).fit(X)
    return model.row_labels_, model.column_labels_


def by_pairs(k: tuple[int, int], X: Any, targets: Any, seed: int) -> Any:
    return _of_occupied(SpectralCoclustering(max(k), random_state=seed), X)


def checkerboard(k: tuple[int, int], X: Any, targets: Any, seed: int) -> Any:
    return _of_occupied(SpectralBiclustering(k, random_state=seed), X)


def _of_occupied(model: Any, X: Any) -> Any:
    """Labels of rows and columns that are not zero, which scikit-learn refuses, and 0 for the others."""
    labels = [np.zeros(size, dtype=int) for size in X.shape]
    rows, columns = X.any(axis=1), X.any(axis=0)
    model.fit(X[np.ix_(rows, columns)])
    labels[0][rows], labels[1][columns] = model.row_labels_, model.column_labels_
    return labels


# ---- classes

CLASSES = {"200 × 1000": (200, 1000), "400 × 500": (400, 500), "1000 × 50": (1000, 50)}


def classes(bench: Bench) -> None:
    """Two classes that ten features tell apart: accuracy in a quarter that is held out."""
    solvers = {
        "": NonnegativeLDA,
        "LDA, shrinkage": partial(LinearDiscriminantAnalysis, solver="lsqr", shrinkage="auto"),
        "L1 logistic regression": partial(LogisticRegression, penalty="l1", solver="liblinear"),
    }
    for name, shape in list(CLASSES.items())[: 1 if bench.quick else None]:
        made = {who: partial(predicted, make) for who, make in solvers.items()}
        compare(bench, f"two classes, {name}", partial(separable, *shape), accuracy, made)


def separable(n_samples: int, n_features: int, seed: int) -> Any:
    settings = {"n_informative": 10, "n_redundant": 0, "n_clusters_per_class": 1}
    X, y = make_classification(n_samples, n_features, **settings, random_state=seed)
    X, held_out, y, target = train_test_split(X, y, stratify=y, random_state=seed)
    return (X, y, held_out), target


def predicted(make: Callable[[], Any], data: Any, target: np.ndarray, seed: int) -> np.ndarray:
    X, y, held_out = data
    return make().fit(X, y).predict(held_out)


def accuracy(target: np.ndarray, labels: np.ndarray) -> float:
    return float(np.mean(target == labels))


# ---- parts


def parts(bench: Bench) -> None:
    """The limbs of a swimmer: mean cosine of each to the component that is most like it."""
    solvers = {"": partial(components, OPNMF), "scikit-learn's NMF": partial(components, decomposition.NMF)}
    for share in (0.0, 0.3) if not bench.quick else (0.3,):
        for name, ours in (("OPNMF", OPNMF), ("NMF", NMF)):
            case = partial(swimmers, share)
            compare(
                bench, f"limbs with {share:.0%} in common, {name}", case, mean_cosine, solvers | {"": partial(components, ours)}
            )


def swimmers(share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of four limbs in one of four positions each, the positions of a limb with a share of pixels in common."""
    generator, pixels = np.random.default_rng(seed), 10
    limbs = np.zeros((16, 16 * pixels))
    joint = round(share * pixels)
    for limb in range(4):
        first = limb * 4 * pixels
        for position in range(4):
            limbs[4 * limb + position, first : first + joint] = 1
            begin = first + joint + position * (pixels - joint)
            limbs[4 * limb + position, begin : begin + pixels - joint] = 1
    chosen = generator.integers(4, size=(256, 4)) + 4 * np.arange(4)
    X = np.maximum.reduce([limbs[chosen[:, limb]] for limb in range(4)])
    return X * generator.uniform(0.8, 1.2, (256, 1)), limbs


def components(model: Any, X: np.ndarray, target: np.ndarray, seed: int) -> np.ndarray:
    return model(len(target), random_state=seed).fit(X).components_


def mean_cosine(target: np.ndarray, found: np.ndarray) -> float:
    own, theirs = (M / np.maximum(np.linalg.norm(M, axis=1, keepdims=True), 1e-300) for M in (target, found))
    return float((own @ theirs.T).max(axis=1).mean())


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
