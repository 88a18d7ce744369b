"""Graphs: partitioned, matched, and what partitions are made from."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data, dense, invariants
from .trial import Trial

_METHODS = ("auto", "onl", "sqrt-onl", "nl", "sqrt-nl", "nsc", "kernel-pnmf", "kernel-kmeans", "pod")
_SIMILARITIES = (
    "auto",
    "adjacency",
    "laplacian",
    "modularity",
    "vertex",
    "discriminative-kmeans",
    "normalized",
    "regularized",
    "random-walk",
)
_GRAPHS = (
    "np.ones(({n}, {n})) - np.eye({n})",
    "np.eye({n}, k=1) + np.eye({n}, k=-1)",
    "np.kron(np.eye({k}), np.ones((3, 3)) - np.eye(3))",
    "np.roll(np.eye({n}), 1, axis=0) + np.roll(np.eye({n}), -1, axis=0)",
    "np.triu(np.random.default_rng({seed}).random(({n}, {n})) < 0.4, 1) * 1.0",
    "np.triu(np.random.default_rng({seed}).random(({n}, {n})))",
    "np.eye({n})",
    "np.pad(np.ones((2, 2)), (0, {n}))",
    "np.random.default_rng({seed}).integers(0, 3, ({n}, {n}))",
)
_CONTAINERS = (
    "{}",
    "sparse.csr_array({})",
    "nx.from_numpy_array({})",
    "sparse.coo_matrix({})",
    "({}).tolist()",
    "({}) * 1e150",
    "({}) * 1e-150",
)


def case(t: Trial) -> None:
    t.pick((_partition, _match, _similarity))(t)


def _graph(t: Trial, name: str, *, symmetric: bool = True) -> np.ndarray:
    """Set a graph, and return its adjacency matrix as the formulas need it."""
    n, k, seed = t.integer(1, 9), t.integer(1, 4), t.integer(0, 99)
    source = t.pick(_GRAPHS).format(n=n, k=k, seed=seed)
    if symmetric:
        source = f"(lambda A: np.maximum(A, A.T))({source})"
    A = np.asarray(eval(source, {"np": np}), dtype=float)
    container = t.pick(_CONTAINERS) if t.one_in(2) else "{}"
    if "nx." in container:
        import networkx

        t.offer("nx", networkx)
        source = source if symmetric else f"{source}, create_using=nx.DiGraph"
    t.let(name, container.format(source))
    return A * (1e150 if "1e150" in container else 1e-150 if "1e-150" in container else 1.0)


def _partition(t: Trial) -> None:
    A = _graph(t, "G", symmetric=not t.one_in(10))
    n = len(A)
    method, similarity = t.pick(_METHODS), t.pick(_SIMILARITIES)
    count = t.integer(1, t.pick((3, n)))
    options = f"method={method!r}, similarity={similarity!r}, n_init={t.integer(1, 3)}, max_iter={t.pick((50, 1, 300))}"
    call = f"nonneg.graph.GraphClustering({count}, {options}, random_state=0{t.pick(('', ', symmetrize=' + repr('mean')))}).fit(G)"
    t.subject = f"GraphClustering {method}"
    model = t.call(call, "model")
    labels, W = model.labels_, model.memberships_
    t.check("shapes", labels.shape == (n,) and W.shape == (n, count), "labels_ or memberships_ have another shape")
    t.check("shapes", list(dict.fromkeys(labels)) == list(range(labels.max() + 1)), "parts are not numbered as they come")
    invariants.finite(t, "memberships_", W)
    sums = W.sum(axis=1)
    invariants.equal(t, "constraint", "sums of memberships_", sums, np.where(sums > 0.5, 1.0, 0.0), 1e-6, 1)
    t.check("finite", np.isfinite(model.objective_), "objective_ is not finite")
    S = _formula(similarity if similarity != "auto" else _published(method), (A + A.T) / 2)
    if S is not None:
        weights = S[1]
        indicators = np.array([labels == k for k in range(labels.max() + 1)]).T * 1.0
        if weights is not None:
            indicators = indicators * np.sqrt(weights)[:, None]
            lengths = np.sqrt((indicators**2).sum(axis=0))
            indicators = indicators / np.where(lengths > 0, lengths, 1)
        expected = np.trace(indicators.T @ S[0] @ indicators)
        invariants.equal(t, "objective", "objective_", model.objective_, expected, 1e-6, float(np.abs(S[0]).sum()) + 1e-300)
    if t.one_in(4):
        again = t.call(call, "again")
        t.check("same bits", np.array_equal(again.labels_, labels) and again.objective_ == model.objective_, "another partition")


def _published(method: str) -> str:
    if method in ("onl", "sqrt-onl", "nl", "sqrt-nl"):
        return "discriminative-kmeans"
    if method == "kernel-pnmf":
        return "random-walk"
    return "regularized" if method == "auto" else "normalized"


def _formula(similarity: str, A: np.ndarray) -> tuple[np.ndarray, np.ndarray | None] | None:
    """S and the weights of vertices, by the textbook (no weights where parts are not scaled); None without a formula."""
    degrees, ones = A.sum(axis=1), np.ones(len(A))
    if similarity == "adjacency":
        return A, ones
    if similarity == "laplacian":
        return A - np.diag(degrees), ones
    if similarity == "modularity" and degrees.sum() > 0:
        return (A - np.outer(degrees, degrees / degrees.sum())) / degrees.sum(), None
    if similarity in ("normalized", "regularized"):
        share = 0.02 if similarity == "regularized" else 0.0
        weights = np.where(degrees > 0, degrees + share * degrees.sum() / max((degrees > 0).sum(), 1), 0.0)
        roots = np.sqrt(np.where(weights > 0, weights, 1))
        return A / roots[:, None] / roots, weights
    return None


def _match(t: Trial) -> None:
    A = _graph(t, "A", symmetric=t.one_in(2))
    if t.one_in(2):
        t.let("hidden", f"np.random.default_rng({t.integer(0, 99)}).permutation({len(A)})")
        B = A[np.ix_(t["hidden"], t["hidden"])]
        t.let("B", f"np.array({B.tolist()})")
    else:
        B = _graph(t, "B", symmetric=t.one_in(2))
    seeds = f", seeds={[(i, i) for i in range(t.integer(1, min(len(A), len(B))))]}" if t.one_in(4) else ""
    options = {
        "divergence": ('"kullback-leibler"', '"euclidean"', "None", '"hellinger"', "1.5"),
        "constraint": ('"permutation"', '"orthogonal"', '"doubly-stochastic"', '"stochastic"'),
        "init": ('"auto"', '"umeyama"', '"walks"', '"eigenvectors"', '"random"', '["umeyama", "random"]'),
        "polish": ("True", "False"),
        "solver": ('"auto"', '"adaptive"', '"multiplicative"'),
        "n_init": ("0", "2"),
    }
    given = "".join(f", {key}={t.pick(values)}" for key, values in options.items() if t.one_in(3))
    call = f"nonneg.graph.match_graphs(A, B{given}{seeds}, random_state=0)"
    t.subject = "match_graphs"
    found = t.call(call, "found")
    n = max(len(A), len(B))
    t.check("shapes", found.permutation.shape == (len(B),), "permutation has another length")
    matched = [a for a in found.permutation if a >= 0]
    t.check("constraint", len(set(matched)) == len(matched) == min(len(A), len(B)), "a vertex is matched twice, or not at all")
    rest = iter(set(range(n)) - set(matched))
    p = np.array([a if a >= 0 else next(rest) for a in [*found.permutation, *[-1] * (n - len(B))]])
    A, B = (np.pad(M, (0, n - len(M))) for M in (A, B))
    t.check("formula", found.edge_error == np.count_nonzero(A[np.ix_(p, p)] != B), "edge_error is not that of the permutation")
    squares = ((dense.wide(A)[np.ix_(p, p)] - dense.wide(B)) ** 2).sum()
    invariants.equal(t, "formula", "squared_error", found.squared_error, squares, 1e-9)
    if seeds:
        t.check("constraint", all(found.permutation[i] == i for i, _ in eval(seeds.removeprefix(", seeds="))), "a seed is not kept")
    invariants.finite(t, "confidence", found.confidence)
    t.check("shapes", (found.confidence <= 1).all(), "confidence is above one")
    if t.one_in(4):
        again = t.call(call, "again")
        t.check("same bits", np.array_equal(again.permutation, found.permutation), "another matching")


def _similarity(t: Trial) -> None:
    if t.one_in(3):
        m, n = data.sides(t)
        X = data.matrix(t, m, n)
        t.subject = "cosine_graph"
        K = dense.wide(t.call("nonneg.graph.cosine_graph(X)", "K"))
        F = dense.wide(X)
        peaks = np.where(F.max(axis=1) > 0, F.max(axis=1), 1)[:, None]
        lengths = np.sqrt(((F / peaks) ** 2).sum(axis=1))[:, None]
        unit = F / peaks / np.where(lengths > 0, lengths, 1)
        tolerance = 1e-5 if getattr(X, "dtype", None) == np.float32 else 1e-9
        invariants.equal(t, "formula", "cosines", K, unit @ unit.T, tolerance, 1)
        return
    A = _graph(t, "G")
    name = t.pick(_SIMILARITIES[1:])
    t.subject = f"similarity {name}"
    A = t.let("A", "nonneg.graph.read_graph(G).adjacency")
    S: Any = t.call(f"nonneg.graph.SIMILARITIES[{name!r}](A)", "S")
    v = np.random.default_rng(0).random((A.shape[0], 2))
    invariants.finite(t, "S v", S @ v, signed=True)
    expected = _formula(name, dense.wide(A).astype(float))
    if expected is not None:
        formula = expected[0] * (
            A.sum() if name == "modularity" else 1
        )  # the objective alone is divided by the weights of all edges
        invariants.equal(t, "formula", "S v", S @ v, formula @ v, 1e-7, float(np.abs(formula).sum() + abs(A).sum()) * 2 + 1e-300)
