"""`GraphClustering`: planted parts of graphs, accepted input, and refusals."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks

from at_hand import graph_at_hand
from nonneg.estimators.neighbours import neighbour_graph
from nonneg.exceptions import DataError, IncompatibleError, ShapeError
from nonneg.graph import SIMILARITIES, DiscriminativeKMeans, GraphClustering
from nonneg.graph._partitions import trace_of
from nonneg.graph.methods import METHODS, NSC, POD, BlockModel, KernelProjection, NonnegativeLearning, Refined
from nonneg.graph.methods.blocks import expected_degrees
from nonneg.metrics import purity

pytestmark = pytest.mark.wide(one_in=3)


SIZES = (15, 10, 20)
PLANTED = np.repeat([0, 1, 2], SIZES)
WITH_NEGATIVE = {"nl": "discriminative-kmeans", "sqrt-nl": "discriminative-kmeans"}
FEW = {"n_init": 3, "random_state": 0}


def planted(inside=0.6, across=0.05, seed=0):
    """Three parts with many edges inside and few across."""
    g = np.random.default_rng(seed)
    chance = np.where(PLANTED[:, None] == PLANTED, inside, across)
    A = np.triu(g.random(chance.shape) < chance, 1).astype(float)
    return A + A.T


def two_triangles():
    A = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    A[2, 3] = A[3, 2] = 1
    return A


def with_isolated(A, count):
    return np.pad(A, (0, count))


class TestPlantedParts:
    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.coo_array], ids=["dense", "csr", "coo"])
    def test_default(self, container):
        model = GraphClustering(3, **FEW).fit(container(planted()))
        np.testing.assert_array_equal(model.labels_, PLANTED)

    @pytest.mark.parametrize("method", METHODS)
    def test_every_method(self, method):
        model = GraphClustering(3, method=method, similarity=WITH_NEGATIVE.get(method, "auto"), **FEW).fit(planted())
        score = adjusted_rand_score(PLANTED, model.labels_)
        if method in WITH_NEGATIVE:  # without orthogonality W ends far from a partition, as the paper shows
            assert score < 0.9
        else:
            assert score >= 0.95

    @pytest.mark.parametrize("similarity", [name for name in SIMILARITIES if name not in ("laplacian", "adjacency")])
    def test_every_similarity(self, similarity):
        model = GraphClustering(3, similarity=similarity, **FEW).fit(planted())
        least = 0.6 if similarity == "vertex" else 0.9  # S_ii of vertices with few edges is large, and they are singled out
        assert adjusted_rand_score(PLANTED, model.labels_) >= least

    def test_attributes_after_a_fit(self):
        A = planted()
        model = GraphClustering(3, similarity="regularized", **FEW).fit(A)
        assert model.memberships_.shape == (45, 3)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)
        assert (model.memberships_ >= 0).all()
        assert (model.memberships_.argmax(axis=1) == model.labels_).mean() > 0.9
        np.testing.assert_array_equal(model.vertices_, np.arange(45))
        assert model.objective_ == pytest.approx(trace_of(SIMILARITIES["regularized"](A), PLANTED, 3))
        assert model.n_iter_ >= 1
        assert model.n_features_in_ == 45
        np.testing.assert_allclose(model.similarity_.toarray(), SIMILARITIES["regularized"](A).toarray())

    def test_parts_are_numbered_by_their_first_vertices(self):
        shuffled = np.random.default_rng(1).permutation(45)
        model = GraphClustering(3, **FEW).fit(planted()[np.ix_(shuffled, shuffled)])
        assert adjusted_rand_score(PLANTED[shuffled], model.labels_) == 1
        _, first = np.unique(model.labels_, return_index=True)
        assert np.all(np.diff(first) > 0)

    @pytest.mark.parametrize("method", [name for name in METHODS if name not in ("auto", "refined")])
    def test_memberships_agree_with_labels(self, method):
        model = GraphClustering(3, method=method, similarity=WITH_NEGATIVE.get(method, "auto"), **FEW)
        model.fit(planted(0.4, 0.2, seed=2))
        assert (model.memberships_.argmax(axis=1) == model.labels_).all()

    def test_default_memberships_agree_with_labels(self):
        agreed = []
        for seed in range(4):
            g = np.random.default_rng(seed)
            A = np.triu(g.random((30, 30)) < 0.2, 1).astype(float)
            model = GraphClustering(3, n_init=3, random_state=seed).fit(A + A.T)
            agreed.append((model.memberships_.argmax(axis=1) == model.labels_).mean())
        assert min(agreed) >= 0.5

    @pytest.mark.parametrize("method", METHODS)
    def test_same_seed_same_result(self, method):
        def found(seed):
            model = GraphClustering(3, method=method, similarity=WITH_NEGATIVE.get(method, "auto"), n_init=2, random_state=seed)
            return model.fit(planted(0.3, 0.2))

        first, again = found(3), found(3)
        np.testing.assert_array_equal(first.labels_, again.labels_)
        np.testing.assert_array_equal(first.memberships_, again.memberships_)
        np.testing.assert_array_equal(found(np.random.RandomState(3)).labels_, first.labels_)

    def test_more_starts_are_no_worse(self):
        A = planted(0.3, 0.2)
        few, many = (
            GraphClustering(4, method="kernel-kmeans", n_init=count, random_state=0).fit(A).objective_ for count in (1, 10)
        )
        assert many > few


def blocks(sizes, chance, seed):
    """A random graph: between vertices of two parts an edge with the chance of these parts."""
    g, parts = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    A = np.triu(g.random((len(parts),) * 2) < np.asarray(chance)[parts][:, parts], 1).astype(float)
    return sparse.csr_array(A + A.T), parts


class TestNearestNeighbours:
    def test_rings(self):
        """Of K-means and of kernel "rbf" the index is 0."""
        X, rings = make_circles(200, factor=0.4, noise=0.05, random_state=0)
        model = GraphClustering(2, kernel="nearest_neighbors", random_state=0).fit(X)
        assert adjusted_rand_score(rings, model.labels_) == 1
        assert model.method_ == Refined()

    def test_the_graph(self):
        A = neighbour_graph(np.array([[0.0], [1.0], [3.0]]), 1)
        np.testing.assert_array_equal(A.toarray(), [[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]])
        assert neighbour_graph(np.eye(3), 10).nnz == 6


class TestBlockModels:
    def test_a_core_and_its_periphery(self):
        """They differ by their degrees, which the default takes as given."""
        A, parts = blocks((50, 150), [[0.35, 0.12], [0.12, 0.03]], 100)
        assert adjusted_rand_score(parts, GraphClustering(2, method="block-model", random_state=0).fit_predict(A)) > 0.95
        assert adjusted_rand_score(parts, GraphClustering(2, random_state=0).fit_predict(A)) < 0.1

    def test_parts_of_unequal_sizes(self):
        """The normalised cut prefers other parts: its mean is .86 to .90, that of SpectralClustering .93 to .95."""
        sizes, found = (150, 100, 20, 20, 10), []
        for seed in range(4):
            A, parts = blocks(sizes, 0.05 + 0.25 * np.eye(5), seed)
            model = GraphClustering(5, random_state=seed).fit(A)
            found.append(adjusted_rand_score(parts, model.labels_))
            assert model.method_ == BlockModel("parts")
        assert min(found) >= 0.98

    @pytest.mark.parametrize("method", ["auto", "block-model"])
    def test_edges_between_parts(self, method):
        A, parts = blocks((80, 80, 80), 0.15 - 0.13 * np.eye(3), 0)
        model = GraphClustering(3, method=method, random_state=0).fit(A)
        assert adjusted_rand_score(parts, model.labels_) >= 0.97
        assert model.method_ == BlockModel("pairs")
        np.testing.assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)

    def test_degrees_that_vary(self):
        g, parts = np.random.default_rng(0), np.repeat([0, 1], 100)
        u = np.exp(g.standard_normal(200))
        A = np.triu(g.random((200, 200)) < np.outer(u, u) * np.where(parts[:, None] == parts, 0.05, 0.01), 1).astype(float)
        A, parts = A + A.T, parts[A.sum(axis=0) + A.sum(axis=1) > 0]
        A = A[A.any(axis=0)][:, A.any(axis=0)]
        model = GraphClustering(2, random_state=0).fit(A)
        assert adjusted_rand_score(parts, model.labels_) >= 0.8
        k, u = A.sum(axis=1), expected_degrees(sparse.csr_array(A), model.labels_, 2)
        assert np.corrcoef(k, u)[0, 1] == pytest.approx(1)
        assert 0.5 < u.std() / k.std() < 1  # those of a graph without hubs are all the same
        alike = blocks((60, 60), 0.05 + 0.3 * np.eye(2), 0)[0]
        assert expected_degrees(alike, np.repeat([0, 1], 60), 2).std() < 0.1 * alike.sum(axis=1).std()

    @pytest.mark.parametrize("method", ["auto", "block-model"])
    def test_the_objective_is_the_log_likelihood(self, method):
        A, _ = blocks(SIZES, 0.05 + 0.5 * np.eye(3), 1)
        model = GraphClustering(3, method=method, random_state=0).fit(A)
        C = np.eye(3)[model.labels_]
        u = expected_degrees(A, model.labels_, 3)
        edges, sums = C.T @ A @ C, np.outer(C.T @ u, C.T @ u)
        B, own = edges / sums, np.eye(3, dtype=bool)
        if method == "auto":
            B[~own] = edges[~own].sum() / sums[~own].sum()
        log_rates = np.log((C @ B @ C.T) * A.sum())
        assert model.objective_ == pytest.approx((A.toarray() * log_rates).sum() / 2)

    def test_graphs_of_neighbours_are_cut(self):
        """In the plane parts have any shape; a block model prefers parts of equal sizes, whatever lies between them."""
        X = make_moons(300, noise=0.08, random_state=0)[0]
        A = kneighbors_graph(X, 10)
        model = GraphClustering(2, random_state=0).fit(A.maximum(A.T))
        assert model.method_ == Refined()

    def test_invalid_input(self):
        with pytest.raises(IncompatibleError, match="rates can be 'auto', 'parts' or 'pairs'; got 'all'"):
            BlockModel("all")
        with pytest.raises(IncompatibleError, match="use similarity='regularized' or 'normalized'"):
            GraphClustering(3, method="block-model", similarity="modularity").fit(planted())


class TestShapesOfGraphs:
    @pytest.mark.parametrize("method", ["auto", "nsc", "pod", "onl", "kernel-pnmf"])
    def test_components_are_found(self, method):
        g = np.random.default_rng(0)
        A = np.zeros((24, 24))
        for start, stop in ((0, 7), (7, 15), (15, 24)):
            block = np.triu(g.random((stop - start, stop - start)) < 0.7, 1)
            A[start:stop, start:stop] = block + block.T
        order = g.permutation(24)
        model = GraphClustering(3, method=method, **FEW).fit(A[np.ix_(order, order)])
        assert adjusted_rand_score(np.searchsorted([7, 15], order, side="right"), model.labels_) == 1

    def test_vertices_without_edges(self):
        self.check_isolated("pod")

    @pytest.mark.parametrize("method", ["auto", "sqrt-onl", "nsc", "kernel-kmeans", "kernel-pnmf"])
    def test_vertices_without_edges_in_parts_of_their_own(self, method):
        self.check_isolated(method)

    @staticmethod
    def check_isolated(method):
        A = with_isolated(two_triangles(), 14)
        for seed, count in product(range(8), (2, 3)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.filterwarnings("ignore", message="14 of 20 vertices have no edges; .* largest part")
                model = GraphClustering(count, method=method, similarity="normalized", n_init=5, random_state=seed).fit(A)
            assert np.isfinite(model.objective_)
            assert np.isfinite(model.memberships_).all()
            assert len(set(model.labels_[6:])) == 1
            if count == 2:
                np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1] + 14 * [model.labels_[6]])

    def test_vertices_without_edges_are_warned_of(self):
        with pytest.warns(UserWarning, match="2 of 47 vertices have no edges; nothing says where they belong"):
            model = GraphClustering(3, method="pod", random_state=0).fit(with_isolated(planted(), 2))
        np.testing.assert_array_equal(model.labels_, [*PLANTED, 2, 2])  # 20 of the others are there

    def test_isolated_vertices_have_a_part_by_modularity(self):
        A = with_isolated(two_triangles(), 1)
        labels = GraphClustering(3, similarity="modularity", **FEW).fit_predict(A)
        np.testing.assert_array_equal(labels[:6], [0, 0, 0, 1, 1, 1])

    def test_loops(self):
        A = two_triangles() + np.diag([0, 0, 0, 0, 0, 2.0])
        np.testing.assert_array_equal(GraphClustering(2, **FEW).fit_predict(A), [0, 0, 0, 1, 1, 1])

    def test_weights(self):
        A = np.ones((6, 6)) + 9 * np.kron(np.eye(2), np.ones((3, 3))) - 10 * np.eye(6)
        np.testing.assert_array_equal(GraphClustering(2, **FEW).fit_predict(A), [0, 0, 0, 1, 1, 1])

    def test_scale_of_weights_is_nothing_to_it(self):
        A = planted(0.4, 0.1)
        for scale in (1e-8, 1e8):
            labels = GraphClustering(3, **FEW).fit_predict(scale * A)
            np.testing.assert_array_equal(labels, GraphClustering(3, **FEW).fit_predict(A))

    @pytest.mark.parametrize("count", [1, 6])
    def test_as_few_and_as_many_parts_as_can_be(self, count):
        model = GraphClustering(count, **FEW).fit(two_triangles())
        assert len(set(model.labels_)) <= count
        assert model.memberships_.shape == (6, count)

    def test_one_vertex(self):
        np.testing.assert_array_equal(GraphClustering(1, **FEW).fit_predict([[1.0]]), [0])

    def test_ratio_cut_has_as_many_parts_as_asked_for(self):
        for seed in range(10):
            g = np.random.default_rng(seed)
            A = np.triu(g.random((9, 9)) < 0.6, 1) + np.eye(9, k=1)
            model = GraphClustering(3, similarity="laplacian", n_init=1, random_state=seed).fit(A + A.T)
            assert len(set(model.labels_)) == 3

    def test_directed(self):
        A = np.triu(two_triangles())
        with pytest.raises(DataError, match=r"X is directed: .*symmetrize='mean'"):
            GraphClustering(2).fit(A)
        for symmetrize in ("mean", "max"):
            labels = GraphClustering(2, symmetrize=symmetrize, **FEW).fit_predict(A)
            np.testing.assert_array_equal(labels, [0, 0, 0, 1, 1, 1])
        model = GraphClustering(2, similarity="adjacency", symmetrize="max", **FEW).fit(A)
        np.testing.assert_array_equal(model.similarity_.toarray(), two_triangles())
        model = GraphClustering(2, similarity="adjacency", symmetrize="mean", **FEW).fit(A)
        np.testing.assert_array_equal(model.similarity_.toarray(), two_triangles() / 2)


class TestDanglingParts:
    @staticmethod
    def dangling(seed):
        """Two parts of 100 vertices, and a path of four more that nothing joins to them."""
        g = np.random.default_rng(seed)
        halves = np.repeat([0, 1], 100)
        A = np.zeros((204, 204))
        A[:200, :200] = np.triu(g.random((200, 200)) < np.where(halves[:, None] == halves, 0.2, 0.02), 1)
        A[np.arange(200, 203), np.arange(201, 204)] = 1
        return sparse.csr_array(A + A.T), halves

    @pytest.mark.parametrize("seed", range(4))
    def test_they_are_the_best_normalised_cut_and_no_part_by_default(self, seed):
        A, halves = self.dangling(seed)
        plain = GraphClustering(2, similarity="normalized", **FEW).fit_predict(A)
        assert min(np.bincount(plain)) == 4
        labels = GraphClustering(2, **FEW).fit_predict(A)
        assert adjusted_rand_score(halves, labels[:200]) > 0.9

    def test_components_that_are_large_are_still_found(self):
        A = np.kron(np.diag([1.0, 0, 0, 0]), np.ones((5, 5))) * (1 - np.eye(20))
        A[5:, 5:] = 1 - np.eye(15)
        np.testing.assert_array_equal(GraphClustering(2, **FEW).fit_predict(A), np.repeat([0, 1], [5, 15]))


class TestModularity:
    """Karate: .4198 is the maximum over all partitions (Brandes et al. 2008); the others are the best that is known to us."""

    @pytest.mark.parametrize(("name", "weight", "most"), [
        ("karate_club_graph", None, 0.41979), ("karate_club_graph", "weight", 0.44490),
        ("les_miserables_graph", None, 0.56001), ("les_miserables_graph", "weight", 0.56669),
    ])  # fmt: skip
    @pytest.mark.parametrize("count", [6, 10])
    def test_it_is_high(self, name, weight, most, count):
        networkx = pytest.importorskip("networkx", reason="networkx is not installed")
        graph = getattr(networkx, name)()
        A = networkx.to_scipy_sparse_array(graph, weight=weight, dtype=float)
        model = GraphClustering(count, similarity="modularity", random_state=0).fit(A)
        nodes = np.array(list(graph), dtype=object)
        parts = [set(nodes[model.labels_ == k]) for k in set(model.labels_)]
        assert model.objective_ == pytest.approx(networkx.community.modularity(graph, parts, weight=weight))
        assert model.objective_ >= most - 1e-3

    @pytest.mark.parametrize("method", [name for name in METHODS if name not in ("kernel-pnmf", "block-model")])
    def test_the_objective_is_the_modularity(self, method):
        A = planted()
        model = GraphClustering(3, method=method, similarity="modularity", max_iter=50, **FEW).fit(A)
        k = A.sum(axis=1)
        same = model.labels_[:, None] == model.labels_
        assert model.objective_ == pytest.approx(((A - np.outer(k, k) / k.sum()) * same).sum() / k.sum())


class TestListsOfEdges:
    edges = np.argwhere(np.triu(two_triangles()))

    @pytest.mark.parametrize("container", [np.asarray, np.ndarray.tolist, lambda e: e.astype(float), np.transpose],
                             ids=["array", "list", "floats", "transposed"])  # fmt: skip
    def test_the_suggested_remedy_works(self, container):
        edges = container(self.edges)
        with pytest.raises(DataError, match=r"X has shape .* looks like a list of 7 edges; .* of 6 × 6.*kernel='cosine'") as caught:
            GraphClustering(2).fit(edges)
        self.check_recipe(caught.value, np.asarray(edges), two_triangles())

    def test_with_weights(self):
        edges = np.column_stack([self.edges, np.arange(7) + 0.5])
        with pytest.raises(DataError, match="list of 7 edges") as caught:
            GraphClustering(2).fit(edges)
        A = np.zeros((6, 6))
        A[*self.edges.T] = np.arange(7) + 0.5
        self.check_recipe(caught.value, edges, A + A.T)

    @staticmethod
    def check_recipe(error, edges, expected):
        import numpy
        import scipy.sparse

        recipe = str(error).split("Make one: ")[1].split(", if each")[0]
        scope = {"edges": edges, "scipy": scipy, "numpy": numpy}
        exec(recipe, scope)
        np.testing.assert_array_equal(scope["A"].toarray(), expected)
        np.testing.assert_array_equal(GraphClustering(2, **FEW).fit_predict(scope["A"]), [0, 0, 0, 1, 1, 1])

    def test_other_rectangles_are_none(self):
        for X in (np.random.default_rng(0).random((9, 2)), np.ones((4, 5)), -np.ones((5, 2))):
            with pytest.raises(ValueError, match=r"must be square|[Nn]egative"):
                GraphClustering(2).fit(X)


class TestNetworkx:
    @pytest.fixture
    def networkx(self):
        return pytest.importorskip("networkx", reason="networkx is not installed")

    def test_names(self, networkx):
        graph = networkx.Graph(["ab", "bc", "ac", "cx", "xy", "yz", "xz"])
        model = GraphClustering(2, **FEW).fit(graph)
        assert list(model.vertices_) == list("abcxyz")
        np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])
        assert model.n_features_in_ == 6

    def test_weights(self, networkx):
        graph = networkx.complete_graph(6)
        networkx.set_edge_attributes(graph, {(i, j): 10 if (i < 3) == (j < 3) else 1 for i, j in graph.edges}, "weight")
        np.testing.assert_array_equal(GraphClustering(2, **FEW).fit_predict(graph), [0, 0, 0, 1, 1, 1])

    def test_the_karate_club(self, networkx):
        graph = networkx.karate_club_graph()
        club = [graph.nodes[node]["club"] for node in graph]
        assert purity(club, GraphClustering(2, **FEW).fit_predict(graph)) > 0.95

    def test_arcs(self, networkx):
        graph = networkx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
        with pytest.raises(DataError, match="directed"):
            GraphClustering(2).fit(graph)
        np.testing.assert_array_equal(GraphClustering(2, symmetrize="mean", **FEW).fit_predict(graph), [0, 0, 0, 1, 1, 1])

    def test_not_with_a_kernel(self, networkx):
        with pytest.raises(IncompatibleError, match="kernel='cosine' is for samples with features; X is a graph already"):
            GraphClustering(2, kernel="cosine").fit(networkx.path_graph(4))


class TestSamples:
    X = np.repeat(np.eye(3, 8), 12, axis=0) * 3 + np.random.default_rng(0).random((36, 8))
    y = np.repeat([0, 1, 2], 12)

    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_cosines(self, container):
        model = GraphClustering(3, kernel="cosine", **FEW).fit(container(self.X))
        np.testing.assert_array_equal(model.labels_, self.y)
        assert model.n_features_in_ == 8

    def test_cosines_are_the_graph(self):
        model = GraphClustering(3, kernel="cosine", similarity="adjacency", method="pod", **FEW).fit(self.X)
        unit = self.X / np.linalg.norm(self.X, axis=1, keepdims=True)
        np.testing.assert_allclose(model.similarity_.toarray(), unit @ unit.T)

    @pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", lambda a, b: float(np.exp(-np.abs(a - b).sum()))])
    def test_kernels(self, kernel):
        np.testing.assert_array_equal(GraphClustering(3, kernel=kernel, **FEW).fit_predict(self.X), self.y)

    def test_a_kernel_that_is_negative(self):
        with pytest.raises(DataError, match=r"The graph of kernel='linear' has .* negative"):
            GraphClustering(2, kernel="linear").fit(np.array([[1.0, 0], [-1, 0], [1, 1]]))

    def test_rectangular_without_a_kernel(self):
        with pytest.raises(DataError, match=r"X must be square with kernel='precomputed'.*\(36, 8\).*kernel='cosine'"):
            GraphClustering(2).fit(self.X)

    def test_unknown(self):
        with pytest.raises(IncompatibleError, match=r"Unknown kernel 'cosin'. Known names: 'precomputed'.*'rbf'.*function of two"):
            GraphClustering(2, kernel="cosin").fit(self.X)


class TestBadParameters:
    @pytest.mark.parametrize(("parameters", "error", "match"), [
        ({"n_clusters": 0}, ShapeError, "n_clusters must be an int of at least 1, or 'auto'; got 0"),
        ({"n_clusters": 2.0}, ShapeError, "n_clusters must be an int of at least 1, or 'auto'; got 2.0"),
        ({"n_clusters": True}, ShapeError, "n_clusters must be an int"),
        ({"n_clusters": 7}, ShapeError, "n_clusters=7 parts cannot be made of 6 vertices. Use at most as many"),
        ({"method": "spectral"}, IncompatibleError, "Unknown method 'spectral'.*'auto'.*'sqrt-onl'.*'pod'"),
        ({"method": POD}, IncompatibleError, r"Unknown method .*Did you mean POD\(\.\.\.\)"),
        ({"similarity": "cut"}, IncompatibleError, "Unknown similarity 'cut'.*'discriminative-kmeans'.*a function of the adj"),
        ({"similarity": 10}, IncompatibleError, "Unknown similarity 10"),
        ({"symmetrize": "min"}, IncompatibleError, "symmetrize can be None, 'mean' or 'max'; got 'min'"),
        ({"n_neighbors": 0}, IncompatibleError, "n_neighbors must be an int of at least 1; got 0"),
        ({"n_init": 0}, IncompatibleError, "n_init must be an int of at least 1; got 0"),
        ({"n_init": 1.5}, IncompatibleError, "n_init must be an int of at least 1; got 1.5"),
        ({"max_iter": 0}, IncompatibleError, "max_iter must be an int of at least 1; got 0"),
        ({"tol": -1}, IncompatibleError, "tol must be a number of at least 0; got -1"),
        ({"tol": np.nan}, IncompatibleError, "tol must be a number of at least 0; got nan"),
        ({"tol": "small"}, IncompatibleError, "tol must be a number of at least 0; got 'small'"),
        ({"n_clusters": "two"}, ShapeError, "n_clusters must be an int of at least 1, or 'auto'; got 'two'"),
        ({"n_clusters": None}, ShapeError, "n_clusters must be an int of at least 1, or 'auto'; got None"),
        ({"method": ["onl"]}, IncompatibleError, r"Unknown method \['onl'\]"),
        ({"method": None}, IncompatibleError, "Unknown method None"),
        ({"similarity": ["normalized"]}, IncompatibleError, r"Unknown similarity \['normalized'\]"),
        ({"similarity": np.eye(6)}, IncompatibleError, "Unknown similarity array"),
        ({"similarity": DiscriminativeKMeans}, IncompatibleError, r"Unknown similarity .*Did you mean DiscriminativeKMeans\("),
        ({"similarity": lambda A: A}, IncompatibleError, r"similarity=.* must make a nonneg.graph.Similarity .* type ndarray"),
        ({"similarity": lambda A: SIMILARITIES["adjacency"](A[:3, :3])}, IncompatibleError, "Similarity of 6 .*; it made one of 3"),
        ({"kernel": ["cosine"]}, IncompatibleError, r"Unknown kernel \['cosine'\]. Known names: 'precomputed'"),
        ({"kernel": None}, IncompatibleError, "Unknown kernel None"),
        ({"kernel": 3}, IncompatibleError, "Unknown kernel 3"),
        ({"symmetrize": ["mean"]}, IncompatibleError, r"symmetrize can be None, 'mean' or 'max'; got \['mean'\]"),
        ({"symmetrize": 1}, IncompatibleError, "symmetrize can be None, 'mean' or 'max'; got 1"),
        ({"symmetrize": np.ones(2)}, IncompatibleError, "symmetrize can be None"),
        ({"n_init": "ten"}, IncompatibleError, "n_init must be an int of at least 1; got 'ten'"),
        ({"max_iter": None}, IncompatibleError, "max_iter must be an int of at least 1; got None"),
        ({"random_state": -1}, IncompatibleError, "random_state must be None, an int from 0 .*; got -1"),
        ({"random_state": 2**32}, IncompatibleError, "random_state must be None, an int from 0 .*; got 4294967296"),
        ({"random_state": "seed"}, IncompatibleError, "random_state must be None, .*; got 'seed'"),
        ({"random_state": 1.5}, IncompatibleError, "random_state must be None, .*; got 1.5"),
    ])  # fmt: skip
    def test_they_are_named(self, parameters, error, match):
        with pytest.raises(error, match=match):
            GraphClustering(**{"n_clusters": 2} | parameters).fit(two_triangles())

    @pytest.mark.parametrize("parameters", [
        {"n_clusters": 0}, {"method": "x"}, {"similarity": "x"}, {"kernel": "x"}, {"symmetrize": "x"}, {"n_init": 0},
        {"max_iter": 0}, {"tol": -1}, {"random_state": -1},
    ])  # fmt: skip
    def test_they_are_looked_at_before_the_graph(self, parameters):
        (name,) = parameters
        with pytest.raises(ValueError, match=name):
            GraphClustering(**parameters).fit("no graph")

    @pytest.mark.parametrize(("make", "match"), [
        (lambda: NonnegativeLearning("a"), "exponent must be a number above 0; got 'a'"),
        (lambda: NonnegativeLearning(orthogonal="no"), "orthogonal must be True or False; got 'no'"),
        (lambda: NonnegativeLearning(start=3), "start can be 'partition' or 'random'; got 3"),
        (lambda: NSC(start=["random"]), r"start can be 'partition' or 'random'; got \['random'\]"),
        (lambda: KernelProjection(start=None), "start can be 'partition' or 'random'; got None"),
        (lambda: Refined("yes"), "may_be_empty must be None, True or False; got 'yes'"),
    ])  # fmt: skip
    def test_unsuitable_options_of_methods(self, make, match):
        with pytest.raises(IncompatibleError, match=match):
            make()

    @pytest.mark.parametrize("similarity", ["modularity", "laplacian", "discriminative-kmeans"])
    def test_kernel_pnmf_is_for_similarities_without_negative_entries(self, similarity):
        with pytest.raises(IncompatibleError, match=r"method='kernel-pnmf' needs a similarity without negative entries"):
            GraphClustering(2, method="kernel-pnmf", similarity=similarity).fit(two_triangles())

    def test_a_generator_is_drawn_from(self):
        first, again = (GraphClustering(3, n_init=1, random_state=np.random.default_rng(5)).fit(planted(0.3, 0.2)) for _ in "ab")
        np.testing.assert_array_equal(first.memberships_, again.memberships_)

    @pytest.mark.parametrize("X", [np.zeros((4, 4)), sparse.csr_array((4, 4))])
    def test_no_edges(self, X):
        with pytest.raises(DataError, match="X has 4 vertices and no edges: there is nothing to partition it by"):
            GraphClustering(2).fit(X)

    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_negative_weights(self, container):
        with pytest.raises(DataError, match=r"Negative values in data passed to X.*the first"):
            GraphClustering(2).fit(container(-two_triangles()))

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_not_finite(self, value):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            GraphClustering(2).fit(np.where(two_triangles() > 0, value, 0.0))

    def test_names_are_read_however_they_are_written(self):
        model = GraphClustering(2, method="Sqrt_ONL", similarity="Discriminative KMeans", **FEW).fit(two_triangles())
        np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])


class TestParameters:
    def test_clone_and_get_params(self):
        model = GraphClustering(4, method=NSC(), similarity=DiscriminativeKMeans(5.0), kernel="cosine", n_init=2, tol=0.1)
        parameters = model.get_params()
        assert set(parameters) == {
            *("n_clusters", "method", "similarity", "kernel", "n_neighbors"),
            *("symmetrize", "n_init", "max_iter", "tol", "random_state"),
        }
        again = clone(model)
        assert again is not model
        assert again.get_params() == parameters
        assert GraphClustering().n_clusters == 8
        assert "n_clusters=4" in repr(model)

    def test_fit_changes_no_parameter(self):
        model = GraphClustering(2, **FEW)
        before = model.get_params()
        model.fit(two_triangles())
        assert model.get_params() == before

    def test_objects_for_names(self):
        A = planted(0.4, 0.1)
        names = GraphClustering(3, method="onl", similarity="discriminative-kmeans", **FEW).fit(A)
        objects = GraphClustering(3, method=NonnegativeLearning(1.0), similarity=DiscriminativeKMeans(10.0), **FEW).fit(A)
        np.testing.assert_array_equal(names.memberships_, objects.memberships_)
        other = GraphClustering(3, similarity=DiscriminativeKMeans(3.0), **FEW).fit(A)
        assert other.objective_ != pytest.approx(names.objective_)

    def test_auto_stands_for_a_method(self):
        A = planted()
        for method, name in (("auto", "regularized"), ("nsc", "normalized"), ("kernel-pnmf", "random-walk")):
            model = GraphClustering(3, method=method, **FEW).fit(A)
            np.testing.assert_allclose(model.similarity_.toarray(), SIMILARITIES[name](A).toarray())

    def test_input_is_not_modified(self):
        A = sparse.csr_array(planted())
        before = A.copy()
        GraphClustering(3, **FEW).fit(A)
        assert (before != A).nnz == 0


CHECKED = [
    GraphClustering(2, n_init=1, random_state=0),
    GraphClustering(2, kernel="cosine", n_init=1, random_state=0),
    GraphClustering(2, kernel="rbf", method="pod", n_init=1, random_state=0),
]
POSITIVE = {"check_clustering": "standardises its data, which makes it negative, although the estimator is tagged positive_only"}


@pytest.mark.filterwarnings("ignore:.*vertices have no edges:UserWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda estimator: {} if estimator.kernel == "rbf" else POSITIVE)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("readonly", [False, True])
def test_check_clustering_on_data_that_are_not_negative(readonly):
    """sklearn's check_clustering, with blobs that are shifted in place of standardised."""
    X, y = make_blobs(n_samples=50, centers=[[0, 6, 1], [6, 1, 0], [2, 0, 7]], cluster_std=0.5, random_state=1)
    X = X - X.min(axis=0)
    X.flags.writeable = not readonly
    clusterer = GraphClustering(3, kernel="cosine", n_init=2, random_state=0).fit(X)
    assert clusterer.labels_.shape == (50,)
    assert clusterer.labels_.dtype in [np.dtype("int32"), np.dtype("int64")]
    assert adjusted_rand_score(clusterer.labels_, y) > 0.4
    np.testing.assert_array_equal(clone(clusterer).fit_predict(X.tolist()), clusterer.labels_)


# ---------------------------------------------------------------- the papers' graphs


@pytest.mark.parametrize(
    ("name", "least"), [("Strike", 0.98), ("Korea1", 0.78), ("Sawmill", 1.0), ("Football", 4.78), ("WorldCities", 2.23)]
)
def test_objectives_of_onl_table_2(name, least):
    """At least what the paper's own method reaches on these files (METHODS.md §4); r is twice the number of classes."""
    graph = graph_at_hand(name)
    count = 2 * len(np.unique(graph.target))
    model = GraphClustering(count, similarity="discriminative-kmeans", symmetrize="max", random_state=0).fit(graph.adjacency)
    assert model.objective_ >= least
    dense = graph.adjacency.toarray()
    S = np.eye(len(dense)) - np.linalg.inv(np.eye(len(dense)) + np.maximum(dense, dense.T) / 10)
    W = (model.labels_[:, None] == np.arange(count)) / np.sqrt(np.maximum(np.bincount(model.labels_, minlength=count), 1))
    assert model.objective_ == pytest.approx(np.trace(W.T @ S @ W))


@pytest.mark.parametrize("name", ["path", "grid", "tree", "cycle"])
def test_sides_of_a_bipartite_graph_are_no_communities(name):
    networkx = pytest.importorskip("networkx")
    graphs = {
        "path": networkx.path_graph(10),
        "grid": networkx.grid_2d_graph(6, 6),
        "tree": networkx.balanced_tree(2, 5),
        "cycle": networkx.cycle_graph(20),
    }
    A = networkx.to_numpy_array(graphs[name])
    labels = GraphClustering(2, random_state=0).fit(A).labels_
    assert np.bincount(labels).min() > 0
    assert (A * (labels[:, None] != labels)).sum() <= 0.12 * A.sum()


def test_the_default_does_not_cut_off_two_blogs():
    """Two blogs are linked to each other only: that is the best normalised cut, and tells nothing of the other 1222."""
    blogs = graph_at_hand("PolBlogs", drop_isolated=True)
    model = GraphClustering(2, symmetrize="max", n_init=2, random_state=0).fit(blogs.adjacency)
    assert purity(blogs.target, model.labels_) > 0.93


def test_political_blogs():
    """QNMF §5.1: kernel PNMF tells the two sides apart from a random start, NSC does not."""
    blogs = graph_at_hand("PolBlogs", drop_isolated=True)
    purities = {}
    for method in (NSC(start="random"), KernelProjection(start="random")):
        model = GraphClustering(2, method=method, symmetrize="max", random_state=0).fit(blogs.adjacency)
        purities[type(method)] = purity(blogs.target, model.labels_)
    assert purities[NSC] < 0.6
    assert purities[KernelProjection] > 0.85


@pytest.mark.parametrize("seed", range(3))
def test_few_edges_are_stored_so_or_so(seed):
    """A ring of cliques, which has many equally good partitions: one path for both, and so one partition."""
    A = np.kron(np.eye(90), np.ones((5, 5))) - np.eye(450)
    for first in range(0, 450, 5):
        A[first, first - 1] = A[first - 1, first] = 1
    dense, stored = (GraphClustering(18, random_state=seed).fit(kind(A)) for kind in (np.asarray, sparse.csr_array))
    np.testing.assert_array_equal(dense.labels_, stored.labels_)
