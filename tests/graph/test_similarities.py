"""Each similarity beside its definition, spelled out with dense matrices; as arrays, and as operators that form none."""

import networkx
import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import cosine_similarity

from nonneg import KernelPNMF
from nonneg.data import Need
from nonneg.data.given import Gram, Signed
from nonneg.data.reading import read_data
from nonneg.data.signed import Operator, SignedData, peak_of, stored
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.graph import (
    SIMILARITIES,
    DiscriminativeKMeans,
    GraphClustering,
    Modularity,
    Regularized,
    VertexSimilarity,
    cosine_graph,
    similarities,
)
from nonneg.graph.methods import Effort
from nonneg.graph.methods.nonnegative import learned
from nonneg.graph.similarities import Similarity, chebyshev, discriminative_kmeans, scaled, spectral_radius, vertex_similarity
from nonneg.solvers import Multiplicative

pytestmark = pytest.mark.wide(one_in=6)


rng = np.random.default_rng(0)


def random_graph(n, density=0.4, seed=0, *, weighted=False, loops=False):
    g = np.random.default_rng(seed)
    A = np.triu(g.random((n, n)) < density, 0 if loops else 1) * (g.uniform(0.5, 2.0, (n, n)) if weighted else 1.0)
    return A + np.triu(A, 1).T


def isolated(A, *vertices):
    A = A.copy()
    A[list(vertices), :] = A[:, list(vertices)] = 0
    return A


GRAPHS = {
    "plain": random_graph(12),
    "weighted": random_graph(13, weighted=True, seed=1),
    "loops": random_graph(11, weighted=True, loops=True, seed=2),
    "isolated": isolated(random_graph(12, 0.5, seed=3), 0, 7),
    "disconnected": np.kron(np.eye(2), random_graph(6, 0.8, seed=4)),
}


def adjacency(A):
    return A


def laplacian(A):
    return -(np.diag(A.sum(axis=1)) - A)


def modularity(A):
    k = A.sum(axis=1)
    return A - np.outer(k, k) / k.sum()


def vertex(A, alpha=0.97):
    """Leicht, Holme and Newman 2006, Eq. 15; a vertex without edges is like none."""
    k = A.sum(axis=1)
    there = np.flatnonzero(k)
    D, A = np.diag(k[there]), A[np.ix_(there, there)]
    largest = np.linalg.eigvalsh(A)[-1]
    S = np.zeros((len(k), len(k)))
    inverse = np.linalg.inv(np.eye(len(A)) - alpha / largest * A)
    S[np.ix_(there, there)] = k.sum() / largest * np.linalg.inv(D) @ inverse @ np.linalg.inv(D)
    return S


def discriminative(A, strength=10.0):
    """ONL Eq. 38."""
    one = np.eye(len(A))
    return one - np.linalg.inv(one + A / strength)


def normalized(A):
    k = A.sum(axis=1)
    S = np.zeros_like(A)
    for i in range(len(A)):
        for j in range(len(A)):
            S[i, j] = A[i, j] / np.sqrt(k[i] * k[j]) if A[i, j] else 0
    return S


def random_walk(A):
    """QNMF §5.1: (2D − A) B = A, K = (B + Bᵀ)/2."""
    k = A.sum(axis=1)
    there = np.flatnonzero(k)
    part = A[np.ix_(there, there)]
    B = np.zeros_like(A)
    B[np.ix_(there, there)] = np.linalg.solve(2 * np.diag(k[there]) - part, part)
    return (B + B.T) / 2


def regularized_degrees(A):
    k = A.sum(axis=1)
    return np.where(k > 0, k + 0.02 * k[k > 0].mean(), 0)


def regularized(A):
    weights = regularized_degrees(A)
    root = np.sqrt(np.where(weights > 0, weights, np.inf))
    return A / root[:, None] / root


TRANSCRIBED = {
    "adjacency": adjacency,
    "laplacian": laplacian,
    "modularity": modularity,
    "vertex": vertex,
    "discriminative-kmeans": discriminative,
    "normalized": normalized,
    "regularized": regularized,
    "random-walk": random_walk,
}


def test_every_similarity_is_here():
    assert set(TRANSCRIBED) == set(SIMILARITIES)


@pytest.fixture(params=["array", "operator"])
def largest(request, monkeypatch):
    """As for small graphs, and as for large ones."""
    if request.param == "operator":
        monkeypatch.setattr(similarities, "LARGEST", 5)
    return request.param


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", TRANSCRIBED)
class TestDefinitions:
    def test_products(self, name, graph, container, largest):
        A = GRAPHS[graph]
        S, expected = SIMILARITIES[name](container(A)), TRANSCRIBED[name](A)
        scale = np.abs(expected).max()
        assert S.n == len(A)
        for W in (rng.random(len(A)), rng.random((len(A), 3)), rng.normal(size=(len(A), 2)), np.eye(len(A))):
            product = S @ W
            assert product.shape == W.shape
            np.testing.assert_allclose(product, expected @ W, rtol=0, atol=1e-10 * scale)
        if largest == "array":
            np.testing.assert_allclose(S.toarray(), expected, rtol=0, atol=1e-11 * scale)
        else:
            with pytest.raises(IncompatibleError, match=rf"an array of {len(A)} × {len(A)}; at most 5 .* S @ W"):
                S.toarray()

    def test_parts_are_not_negative(self, name, graph, container, largest):
        A = GRAPHS[graph]
        S = SIMILARITIES[name](container(A))
        parts = [part for part in (S.positive, S.negative) if part is not None]
        whole = sum(sign * (part @ np.eye(len(A))) for sign, part in zip((1, -1), parts, strict=False))
        np.testing.assert_allclose(whole, TRANSCRIBED[name](A), rtol=0, atol=1e-10 * np.abs(whole).max())
        for part in parts:
            assert part.shape == A.shape
            product = np.asarray(part @ np.eye(len(A)))
            assert product.min() >= -1e-12 * product.max()
            np.testing.assert_allclose(product, product.T, rtol=0, atol=1e-10 * product.max())

    def test_entries_and_the_subtracted_part(self, name, graph, container, largest):
        A = GRAPHS[graph]
        S = SIMILARITIES[name](container(A))
        solved = name in ("vertex", "discriminative-kmeans", "random-walk")
        assert (S.entries is None) == (solved and largest == "operator")
        if S.entries is None:
            assert isinstance(S.positive, Operator)
            return
        entries = S.entries.toarray() if sparse.issparse(S.entries) else S.entries
        if S.outer is not None:
            entries = entries - S.outer.factor * np.outer(S.outer.u, S.outer.u)
        np.testing.assert_allclose(entries, TRANSCRIBED[name](A), rtol=0, atol=1e-11 * np.abs(entries).max())
        if container is sparse.csr_array and name in ("adjacency", "laplacian", "modularity", "normalized", "regularized"):
            assert sparse.issparse(S.entries)  # no N × N array for these

    def test_weights(self, name, graph, container, largest):
        S = SIMILARITIES[name](container(GRAPHS[graph]))
        if name == "normalized":
            np.testing.assert_allclose(S.weights, GRAPHS[graph].sum(axis=1))
        elif name == "regularized":
            np.testing.assert_allclose(S.weights, regularized_degrees(GRAPHS[graph]))
        else:
            assert S.weights is None


@pytest.mark.parametrize("name", ["random-walk", "vertex"])
def test_products_with_nonnegative_factors_are_nonnegative(name, monkeypatch):
    """Walks that are too long to count would come out a little below zero."""
    monkeypatch.setattr(similarities, "LARGEST", 5)
    path = sparse.diags_array([np.ones(79), np.ones(79)], offsets=[1, -1], format="csr")
    S = SIMILARITIES[name](path)
    for W in (np.eye(80), np.eye(80)[:, 0]):
        assert (S @ W).min() >= 0
    assert (S @ -np.eye(80)).min() < 0


class TestDiscriminativeKMeans:
    A = random_graph(30, 0.2, seed=5)

    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    @pytest.mark.parametrize("beyond", [1.02, 1.5, 10.0])
    def test_operator(self, beyond, container, monkeypatch):
        monkeypatch.setattr(similarities, "LARGEST", 5)
        strength = beyond * np.linalg.eigvalsh(self.A)[-1]
        S = discriminative_kmeans(container(self.A), strength)
        assert isinstance(S.positive, Operator)
        assert S.entries is None
        np.testing.assert_allclose(S @ np.eye(30), discriminative(self.A, strength), atol=1e-9)
        over = self.A / strength
        odd = over @ np.linalg.inv(np.eye(30) - over @ over)
        np.testing.assert_allclose(S.positive @ np.eye(30), odd, atol=1e-9)
        np.testing.assert_allclose(S.negative @ np.eye(30), over @ odd, atol=1e-9)

    def test_too_weak_for_an_operator(self, monkeypatch):
        monkeypatch.setattr(similarities, "LARGEST", 5)
        largest = np.linalg.eigvalsh(self.A)[-1]
        with pytest.raises(DataError, match=rf"With 30 vertices.*{largest:g}; it is 2\..*DiscriminativeKMeans\((\d+)\)") as error:
            discriminative_kmeans(self.A, 2.0)
        advised = float(str(error.value).split("DiscriminativeKMeans(")[1].split(")")[0])
        np.testing.assert_allclose(DiscriminativeKMeans(advised)(self.A) @ np.eye(30), discriminative(self.A, advised), atol=1e-9)

    def test_small_graphs_take_any_strength(self):
        np.testing.assert_allclose(DiscriminativeKMeans(0.7)(self.A).toarray(), discriminative(self.A, 0.7), atol=1e-9)

    def test_singular(self):
        pair = np.array([[0.0, 1], [1, 0]])
        with pytest.raises(DataError, match="singular for λ = 1"):
            discriminative_kmeans(pair, 1.0)

    @pytest.mark.parametrize("strength", [0, -1.0, np.nan])
    def test_bad_strength(self, strength):
        with pytest.raises(IncompatibleError, match="must be a number above 0; got"):
            DiscriminativeKMeans(strength)(self.A)


class TestVertexSimilarity:
    def test_reach(self):
        A = GRAPHS["plain"]
        np.testing.assert_allclose(VertexSimilarity(0.5)(A).toarray(), vertex(A, 0.5), atol=1e-11)
        assert np.abs(vertex(A, 0.5) - vertex(A)).max() > 0.1

    @pytest.mark.parametrize("reach", [0, 1, 1.2, -0.5, np.nan])
    def test_bad_reach(self, reach):
        with pytest.raises(IncompatibleError, match="between 0 and 1"):
            vertex_similarity(GRAPHS["plain"], reach)

    @pytest.mark.parametrize("n", [4, 250])
    def test_no_edges(self, n):
        for A in (np.zeros((n, n)), sparse.csr_array((n, n))):
            with pytest.raises(DataError, match="no edges"):
                vertex_similarity(A)


class TestChebyshev:
    @pytest.mark.parametrize(("low", "high"), [(0.5, 1.5), (0.01, 1.0), (3.0, 3.1), (1e-3, 2.0)])
    @pytest.mark.parametrize("shape", [(20,), (20, 4)])
    def test_it_solves(self, low, high, shape):
        g = np.random.default_rng(1)
        basis = np.linalg.qr(g.normal(size=(20, 20)))[0]
        values = g.uniform(low, high, 20)
        values[:2] = low, high
        M, right = (basis * values) @ basis.T, g.normal(size=shape)
        expected = np.linalg.solve(M, right)
        found = chebyshev(lambda V: M @ V, low, high, right)
        assert np.linalg.norm(found - expected) <= 1e-10 * np.linalg.norm(expected)
        rough = chebyshev(lambda V: M @ V, low, high, right, tol=1e-3)
        assert np.linalg.norm(rough - expected) <= 1e-3 * np.linalg.norm(expected)

    def test_fewer_products_for_a_rough_solution(self):
        def products(tol):
            count = []
            chebyshev(lambda V: count.append(0) or V, 0.5, 1.5, np.ones(3), tol)
            return len(count)

        assert products(1e-3) < products(1e-12) < 40

    @pytest.mark.parametrize("high", [2.0, 2.0 + 1e-15, 2.0 + 1e-9])
    def test_eigenvalues_that_are_all_about_the_same(self, high):
        np.testing.assert_allclose(chebyshev(lambda V: 2.0 * V, 2.0, high, np.ones(3)), 0.5)


class TestSpectralRadius:
    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    @pytest.mark.parametrize("n", [1, 10, 200, 201, 300])
    def test_it_is_the_largest_eigenvalue(self, n, container):
        A = random_graph(n, 0.1, weighted=True, loops=True, seed=n)
        assert spectral_radius(container(A)) == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-6)

    def test_of_a_graph_in_pieces(self):
        """The largest eigenvalue is of a small clique that most of the graph is not joined to."""
        A = np.zeros((300, 300))
        A[:290, :290] = random_graph(290, 0.005, seed=1)
        A[290:, 290:] = 1 - np.eye(10)
        assert spectral_radius(sparse.csr_array(A)) == pytest.approx(9)

    @pytest.mark.parametrize("n", [3, 250])
    def test_no_edges(self, n):
        assert spectral_radius(np.zeros((n, n))) == spectral_radius(sparse.csr_array((n, n))) == 0


@pytest.mark.parametrize("name", ["adjacency", "laplacian", "modularity", "normalized", "regularized", "random-walk",
                                  "discriminative-kmeans"])  # fmt: skip
def test_no_edges(name):
    for A in (np.zeros((7, 7)), sparse.csr_array((7, 7))):
        np.testing.assert_array_equal(SIMILARITIES[name](A) @ np.eye(7), 0)


def test_no_edges_and_many_vertices(monkeypatch):
    monkeypatch.setattr(similarities, "LARGEST", 5)
    np.testing.assert_array_equal(SIMILARITIES["discriminative-kmeans"](sparse.csr_array((7, 7))) @ np.eye(7), 0)


def test_scaled():
    A, by = GRAPHS["weighted"], rng.random(13)
    np.testing.assert_allclose(scaled(A, by), np.diag(by) @ A @ np.diag(by))
    np.testing.assert_allclose(scaled(sparse.csr_array(A), by).toarray(), np.diag(by) @ A @ np.diag(by))


class TestOperator:
    M = random_graph(6, 0.6, weighted=True, seed=9)

    def operator(self):
        return Operator(6, lambda other: self.M @ other, 2.0)

    def test_products_on_both_sides(self):
        operator, W = self.operator(), rng.random((6, 2))
        np.testing.assert_allclose(operator @ W, self.M @ W)
        np.testing.assert_allclose(W.T @ operator, W.T @ self.M)
        np.testing.assert_allclose(operator.T @ W[:, 0], self.M @ W[:, 0])
        np.testing.assert_allclose((operator / 4) @ W, self.M @ W / 4)
        assert operator.shape == (6, 6)
        assert ((operator / 4).peak, operator.peak) == (0.5, 2.0)

    def test_sizes_and_peaks(self):
        assert stored(self.operator()) == 60
        assert stored(self.M) == 36
        assert stored(sparse.csr_array(self.M)) == np.count_nonzero(self.M)
        assert peak_of(self.operator()) == 2
        assert peak_of(self.M) == peak_of(sparse.csr_array(self.M)) == self.M.max()

    def test_signed_data(self):
        data = read_data(Signed(self.operator(), sparse.csr_array(self.M / 2)), "S")
        assert isinstance(data, SignedData)
        assert data.shape == (6, 6)
        assert data.facts[:2] == (-self.M.max() / 2, 2.0)
        assert data.in_units(2.0).facts[:2] == (-self.M.max() / 4, 1.0)
        assert data.costs.gives == {Need.SIGNED_PRODUCTS}
        identity = np.eye(6)
        np.testing.assert_array_equal(data.apply(identity, sign="⁺"), self.operator() @ identity)
        np.testing.assert_array_equal(data.apply(identity, sign="⁻"), self.M / 2)
        for ask in (lambda: data.power_sum(2), lambda: data.apply(identity), lambda: data.visit(identity, None, [])):
            with pytest.raises(IncompatibleError, match="difference of two parts"):
                ask()

    @pytest.mark.parametrize("parts", [(np.ones((3, 3)), np.ones((2, 2))), (np.ones((2, 3)), np.ones((2, 3)))])
    def test_signed_parts_that_do_not_fit(self, parts):
        with pytest.raises(DataError, match="two parts of S must be square and of one size"):
            read_data(Signed(*parts), "S")

    @pytest.mark.parametrize(("positive", "negative", "which"), [(-1.0, 1.0, "positive"), (1.0, np.nan, "negative")])
    def test_signed_parts_are_checked(self, positive, negative, which):
        with pytest.raises(DataError, match=f"the {which} part of S"):
            read_data(Signed(np.full((2, 2), positive), np.full((2, 2), negative)), "S")

    def test_indefinite_gram_matrices_are_refused(self):
        graph = np.array([[0.0, 1], [1, 0]])
        with pytest.raises(DataError, match="not X Xᵀ of any X"):
            read_data(Gram(graph))
        assert read_data(Gram(graph, checked=False)).shape == (2, 2)
        for wrong, what in ((-graph, "negative"), (np.triu(graph), "symmetric"), (graph * np.nan, "not finite")):
            with pytest.raises(DataError, match=what):
                read_data(Gram(wrong, checked=False))


def test_the_array_is_kept():
    S = SIMILARITIES["modularity"](GRAPHS["plain"])
    assert S.toarray() is S.toarray()
    assert isinstance(S, Similarity)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e160])
def test_cosines_do_not_depend_on_scale(scale, rng):
    X = rng.random((5, 4))
    X[2] = 0
    for store in (np.asarray, sparse.csr_array):
        K = cosine_graph(store(scale * X))
        np.testing.assert_allclose(K.toarray() if sparse.issparse(K) else K, cosine_similarity(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "value"),
    [(VertexSimilarity, 2), (DiscriminativeKMeans, -1), (Regularized, -0.1), (Modularity, "a"), (VertexSimilarity, "a")],
)
def test_parameters_are_looked_at_when_they_are_given(kind, value):
    with pytest.raises(IncompatibleError, match="must be"):
        kind(value)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_two_splits_of_modularity(store, rng):
    """One step of ONL Eq. 41 with S⁺ = A, S⁻ = k kᵀ/2m, and with (|S| ± S)/2 as ONL §4 has them."""
    A, W = random_graph(9), rng.random((9, 2)) + 0.5
    k = A.sum(axis=1)
    S = A - np.outer(k, k) / k.sum()
    parts = {"terms": (A, np.outer(k, k) / k.sum()), "entries": ((abs(S) + S) / 2, (abs(S) - S) / 2)}
    steps = {}
    for split, (P, N) in parts.items():
        expected = W * (P @ W + W @ W.T @ N @ W) / (N @ W + W @ W.T @ P @ W)
        found = learned(Modularity(split)(store(A)), W, Multiplicative(1.0), Effort(1, 1, 0.0)).factors["W"]
        np.testing.assert_allclose(found, expected / np.linalg.norm(expected, 2), rtol=1e-12)
        steps[split] = found
    assert np.abs(steps["terms"] / steps["entries"] - 1).max() > 0.005


def test_a_similarity_is_a_kernel():
    """karate's random-walk kernel, to the kernel PNMF of items and to that of graphs."""
    A = networkx.to_numpy_array(networkx.karate_club_graph(), weight=None)
    labels = KernelPNMF(2, kernel="precomputed", random_state=0).fit_predict(SIMILARITIES["random-walk"](A))
    assert adjusted_rand_score(labels, GraphClustering(2, method="kernel-pnmf", random_state=0).fit_predict(A)) > 0.8
