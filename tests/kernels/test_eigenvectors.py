"""Leading eigenvectors: as many as are asked for, of graphs whose eigenvalues are multiple as of others."""

import networkx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence

from nonneg.graph import SIMILARITIES, GraphClustering, similarities
from nonneg.graph.similarities import spectral_radius
from nonneg.kernels import eigenvectors
from nonneg.kernels.eigenvectors import leading

pytestmark = pytest.mark.wide(one_in=3)


GRAPHS = {
    "cliques": np.kron(np.eye(3), np.ones((10, 10)) - np.eye(10)),
    "complete": np.ones((30, 30)) - np.eye(30),
    "star": networkx.to_numpy_array(networkx.star_graph(29)),
    "pairs": np.kron(np.eye(15), 1 - np.eye(2)),
    "bipartite": networkx.to_numpy_array(networkx.complete_bipartite_graph(10, 20)),
    "loops": np.eye(30),
    "one edge": np.pad(1 - np.eye(2), (0, 28)),
    "cycle": networkx.to_numpy_array(networkx.cycle_graph(30)),
    "two": 1 - np.eye(2),
    "one": np.ones((1, 1)),
}
KINDS = {"dense": np.asarray, "sparse": sparse.csr_array}


@pytest.fixture(params=[False, True], ids=["few vertices", "many vertices"])
def as_if_large(request, monkeypatch):
    """Whether S is treated as it is for many vertices: by products only, where the definition allows it."""
    if request.param:
        monkeypatch.setattr(eigenvectors, "SMALL", 0)
        monkeypatch.setattr(similarities, "LARGEST", 0)
    return request.param


def strong(name):
    """Discriminative K-means of many vertices needs λ above the largest eigenvalue of A, which is 29 of these graphs."""
    return similarities.DiscriminativeKMeans(50.0) if name == "discriminative-kmeans" else SIMILARITIES[name]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SIMILARITIES)
@pytest.mark.parametrize("graph", GRAPHS)
def test_as_many_as_asked_for(graph, name, kind, as_if_large):
    A = GRAPHS[graph]
    S = strong(name)(KINDS[kind](A))
    exact = np.linalg.eigvalsh(S @ np.eye(len(A)))[::-1]
    for count in {1, 2, 4, 12, 16, 29, 30, len(A)}:
        if count <= len(A):
            values, vectors = leading(S, count, np.random.default_rng(0))
            assert vectors.shape == (len(A), count)
            np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-6)
            radius = np.abs(exact).max() + 1e-12
            residual = np.linalg.norm(S @ vectors - vectors * values, axis=0).max()
            if as_if_large:  # ARPACK and the block stop at 1e-4 of the radius, and may miss some of many copies
                assert values[0] == pytest.approx(exact[0], abs=2e-3 * radius)
                assert residual <= 2e-2 * radius
            else:
                np.testing.assert_allclose(values, exact[:count], rtol=0, atol=1e-9 * radius)
                assert residual <= 1e-9 * radius


@pytest.mark.parametrize("error", [ArpackError(3), ArpackNoConvergence("%s", np.ones(1), np.eye(60)[:, :1])])
@pytest.mark.parametrize("name", ["laplacian", "normalized", "modularity", "adjacency"])
def test_eigenvectors_if_arpack_gives_up(name, error, monkeypatch):
    """The block is iterated, towards the algebraically largest: those of a negative Laplacian are the smallest in magnitude."""

    def fails(*args, **kwargs):
        raise error

    monkeypatch.setattr("scipy.sparse.linalg.eigsh", fails)
    monkeypatch.setattr(eigenvectors, "SMALL", 0)
    g = np.random.default_rng(1)
    A = np.kron(np.eye(3), np.ones((20, 20))) * (g.random((60, 60)) < 0.6)
    A = np.triu(A, 1) + np.triu(A, 1).T + 0.02
    S = SIMILARITIES[name](A)
    values, vectors = leading(S, 3, g)
    exact = np.linalg.eigvalsh(S @ np.eye(60))[::-1]
    np.testing.assert_allclose(values, exact[:3], rtol=0, atol=1e-2 * np.abs(exact).max())
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("graph", [name for name in GRAPHS if name != "one"])
def test_spectral_radius(graph, as_if_large):
    A = GRAPHS[graph]
    for kind in KINDS.values():
        assert spectral_radius(kind(A)) == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*vertices have no edges:UserWarning")
@pytest.mark.parametrize("method", ["auto", "pod", "sqrt-onl", "kernel-pnmf"])
@pytest.mark.parametrize("graph", ["cliques", "complete", "star", "pairs", "bipartite", "loops", "one edge"])
def test_partitions(graph, method):
    for name in ("auto", *SIMILARITIES):
        if method == "kernel-pnmf" and name in ("laplacian", "modularity", "discriminative-kmeans"):
            continue  # kernel PNMF is for S without negative entries
        for count in (2, 4):
            model = GraphClustering(count, method=method, similarity=name, n_init=1, max_iter=20, random_state=0)
            A = GRAPHS[graph]
            model.fit(A)
            assert 1 <= len(set(model.labels_)) <= count
            assert np.isfinite(model.objective_)


@pytest.mark.parametrize("method", ["auto", "pod"])
@pytest.mark.parametrize("count", [3, 4])
def test_cliques_are_not_cut_while_there_are_others(method, count):
    labels = GraphClustering(count, method=method, similarity="adjacency", random_state=0).fit_predict(GRAPHS["cliques"])
    assert len({frozenset(labels[i : i + 10]) for i in (0, 10, 20)}) == 3


@pytest.mark.parametrize("name", ["adjacency", "normalized", "regularized", "laplacian"])
@pytest.mark.parametrize("pieces", [1, 4, 30])
def test_no_copy_is_missing_between_small_and_large(name, pieces):
    """ARPACK alone finds one eigenvector for each of the pieces' common eigenvalues, or a few; what it misses is looked for."""
    g = np.random.default_rng(0)
    A = np.triu(g.random((120 // pieces, 120 // pieces)) < 0.5, 1) + 0.0
    A = np.kron(np.eye(pieces), A + A.T + np.eye(120 // pieces, k=1) + np.eye(120 // pieces, k=-1))
    S = SIMILARITIES[name](sparse.csr_array(A))
    exact = np.linalg.eigvalsh(S @ np.eye(120))[::-1]
    values, vectors = leading(S, 5, g, small=10)
    np.testing.assert_allclose(values, exact[:5], rtol=0, atol=1e-2 * np.abs(exact).max())
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-6)


def test_missed_eigenvectors_are_noticed(monkeypatch):
    """The second largest eigenvalue stands for a copy that ARPACK has not found."""
    S = np.diag([3.0, 2.5, 1.0, *np.full(37, 0.5)])
    right = eigenvectors._by_arpack

    def misses(apply, n, count, *rest):
        values, vectors = right(apply, n, count + 1, *rest)
        return (values[[0, 2]], vectors[:, [0, 2]]) if count == 2 else (values[-1:], vectors[:, -1:])

    assert np.allclose(leading(S, 2, np.random.default_rng(0), small=10)[0], [3.0, 2.5], atol=1e-3)
    monkeypatch.setattr(eigenvectors, "_by_arpack", misses)
    np.testing.assert_allclose(leading(S, 2, np.random.default_rng(0), small=10)[0], [3.0, 2.5])
