"""Graphs as people have them: of networkx, sparse, dense; and refusals."""

import numpy as np
import pytest
from scipy import sparse

from nonneg.exceptions import DataError, IncompatibleError
from nonneg.graph import Graph, cosine_graph, read_graph
from nonneg.graph._reading import asymmetry, is_networkx, undirected

PATH = np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]])
ARCS = np.array([[0.0, 3, 0], [1, 0, 0], [0, 2, 0]])
CONTAINERS = {
    "array": np.asarray,
    "list": np.ndarray.tolist,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "lil_array": sparse.lil_array,
    "csr_matrix": sparse.csr_matrix,
}


@pytest.fixture
def networkx():
    return pytest.importorskip("networkx", reason="networkx is not installed")


def dense(adjacency):
    return adjacency.toarray() if sparse.issparse(adjacency) else adjacency


class TestNetworkx:
    def test_names_and_weights(self, networkx):
        graph = networkx.Graph()
        graph.add_edge("b", "a", weight=2)
        graph.add_edge("a", ("c", 1))  # no weight is a weight of one
        read = read_graph(graph)
        assert list(read.names) == ["b", "a", ("c", 1)]
        assert (read.n, read.directed) == (3, False)
        assert sparse.issparse(read.adjacency)
        assert read.adjacency.dtype == np.float64
        np.testing.assert_array_equal(dense(read.adjacency), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])

    def test_names_that_are_all_pairs_stay_pairs(self, networkx):
        read = read_graph(networkx.grid_2d_graph(2, 2))
        assert list(read.names) == [(0, 0), (0, 1), (1, 0), (1, 1)]

    def test_arcs(self, networkx):
        graph = networkx.DiGraph()
        graph.add_weighted_edges_from([(0, 1, 3.0), (1, 0, 1.0), (2, 1, 2.0)])
        read = read_graph(graph)
        assert read.directed
        np.testing.assert_array_equal(dense(read.adjacency), ARCS)

    def test_arcs_there_and_back_are_edges(self, networkx):
        assert not read_graph(networkx.Graph([(0, 1), (1, 2)]).to_directed()).directed

    @pytest.mark.parametrize("kind", ["MultiGraph", "MultiDiGraph"])
    def test_parallel_edges_add_up(self, networkx, kind):
        graph = getattr(networkx, kind)([(0, 1), (0, 1)])
        graph.add_edge(0, 1, weight=0.5)
        graph.add_edge(1, 2, weight=4.0)
        expected = np.array([[0, 2.5, 0], [0, 0, 4], [0, 0, 0]])
        read = read_graph(graph)
        np.testing.assert_array_equal(dense(read.adjacency), expected if graph.is_directed() else expected + expected.T)
        assert read.directed == graph.is_directed()

    def test_loops_count_once(self, networkx):
        graph = networkx.Graph([(0, 0), (0, 1)])
        np.testing.assert_array_equal(dense(read_graph(graph).adjacency), [[1, 1], [1, 0]])

    def test_vertices_without_edges(self, networkx):
        graph = networkx.Graph()
        graph.add_nodes_from("xyz")
        read = read_graph(graph)
        assert read.n == 3
        assert read.adjacency.nnz == 0
        assert not read.directed

    def test_no_vertices(self, networkx):
        with pytest.raises(DataError, match="A has no vertices"):
            read_graph(networkx.Graph(), "A")

    @pytest.mark.parametrize("weight", ["heavy", [1, 2], {}])
    def test_a_weight_that_is_no_number(self, networkx, weight):
        graph = networkx.Graph()
        graph.add_edge(0, 1, weight=weight)
        graph.add_edge(1, 2)
        with pytest.raises(DataError, match="the graph has an edge whose weight is not a number"):
            read_graph(graph)

    @pytest.mark.parametrize(("weight", "what"), [(np.nan, "not finite"), (np.inf, "not finite"), (-1.5, "negative")])
    def test_a_weight_that_cannot_be(self, networkx, weight, what):
        graph = networkx.Graph()
        graph.add_edge(0, 1, weight=1)
        graph.add_edge(1, 2, weight=weight)
        with pytest.raises(DataError, match=rf"2 weights that are {what}, the first \({weight:g}\) between vertices 1 and 2"):
            read_graph(graph)

    def test_it_is_known_without_importing_networkx(self, networkx):
        assert is_networkx(networkx.DiGraph())
        assert not any(map(is_networkx, (PATH, sparse.csr_array(PATH), [[0]], None)))


class TestMatrices:
    @pytest.mark.parametrize("container", CONTAINERS)
    @pytest.mark.parametrize("matrix", [PATH, ARCS], ids=["edges", "arcs"])
    def test_every_container(self, container, matrix):
        read = read_graph(CONTAINERS[container](matrix))
        np.testing.assert_array_equal(dense(read.adjacency), matrix)
        assert sparse.issparse(read.adjacency) == (container not in ("array", "list"))
        assert read.adjacency.dtype == np.float64
        assert list(read.names) == [0, 1, 2]
        assert read.directed == (matrix is ARCS)

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.uint32, np.float32])
    @pytest.mark.parametrize("container", ["array", "csr_array"])
    def test_every_type_of_number(self, dtype, container):
        read = read_graph(CONTAINERS[container]((PATH > 0).astype(dtype)))
        assert read.adjacency.dtype == np.float64
        np.testing.assert_array_equal(dense(read.adjacency), PATH > 0)

    def test_entries_that_come_twice_add_up(self):
        rows, columns = np.array([0, 1, 0, 1, 1, 0]), np.array([1, 0, 1, 0, 1, 0])
        given = sparse.coo_array((np.array([1.0, 1, 2, 2, 5, 0]), (rows, columns)), shape=(2, 2))
        for graph in given, sparse.csr_array((given.data[[0, 2, 5, 1, 3, 4]], [1, 1, 0, 0, 0, 1], [0, 3, 6]), shape=(2, 2)):
            read = read_graph(graph)
            np.testing.assert_array_equal(dense(read.adjacency), [[0, 3], [3, 5]])
            assert read.adjacency.has_canonical_format
            assert read.adjacency.nnz == 3  # nor is the zero kept

    def test_input_is_not_modified(self):
        given = sparse.csr_array((np.array([1.0, 2, 0, 3]), [1, 1, 0, 0], [0, 3, 4]), shape=(2, 2))
        before = given.copy()
        read_graph(given).adjacency.data[:] = 7
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(given, part), getattr(before, part))

    @pytest.mark.parametrize("loops", [0.0, 2.5])
    def test_loops_stay(self, loops):
        read = read_graph(PATH + loops * np.eye(3))
        np.testing.assert_array_equal(np.diagonal(read.adjacency), loops)
        np.testing.assert_array_equal(np.diagonal(undirected(read, None)), loops)

    def test_rounding_makes_no_arcs(self):
        rounded = PATH.copy()
        rounded[0, 1] += 1e-12
        read = read_graph(rounded)
        assert not read.directed
        made = undirected(read, None)
        np.testing.assert_array_equal(made, made.T)
        rounded[0, 1] += 1e-6
        assert read_graph(rounded).directed

    @pytest.mark.parametrize("container", ["array", "csr_array"])
    def test_no_edges_is_a_graph_all_the_same(self, container):
        read = read_graph(CONTAINERS[container](np.zeros((4, 4))))
        assert read.n == 4
        assert not read.directed


class TestRefusals:
    @pytest.mark.parametrize("container", ["array", "csr_array"])
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, container, value):
        wrong = PATH.copy()
        wrong[1, 2] = value
        with pytest.raises(
            DataError, match=rf"B has 1 weight that is not finite, the first \({value:g}\) between vertices 1 and 2"
        ):
            read_graph(CONTAINERS[container](wrong), "B")

    @pytest.mark.parametrize("container", ["array", "csr_array"])
    def test_negative(self, container):
        wrong = -PATH
        with pytest.raises(
            DataError, match=r"4 weights that are negative, the first \(-1\) between vertices 0 and 1\. Only weights"
        ):
            read_graph(CONTAINERS[container](wrong))
        np.testing.assert_array_equal(dense(read_graph(CONTAINERS[container](wrong), signed=True).adjacency), wrong)

    def test_signed_weights_must_be_finite_too(self):
        with pytest.raises(DataError, match="not finite"):
            read_graph([[0, np.nan], [np.nan, 0]], signed=True)

    @pytest.mark.parametrize("graph", [np.ones((2, 3)), sparse.csr_array(np.ones((3, 2))), np.ones(4), np.ones((2, 2, 2)), 5.0])
    def test_not_square(self, graph):
        with pytest.raises(DataError, match=r"square adjacency matrix; got shape \(.*\)\. Rectangular data become .*cosine_graph"):
            read_graph(graph)

    @pytest.mark.parametrize("graph", [np.zeros((0, 0)), sparse.csr_array((0, 0))])
    def test_empty(self, graph):
        with pytest.raises(DataError, match="has no vertices"):
            read_graph(graph)

    @pytest.mark.parametrize("graph", [[["a", "b"], ["c", "d"]], [[None, 1], [1, 0]], np.eye(2) * 1j, None, {0: [1]}])
    def test_not_numbers(self, graph):
        with pytest.raises(DataError, match=r"holds entries of type .*, which are not weights\. Give a networkx graph"):
            read_graph(graph)

    def test_ragged(self):
        with pytest.raises(DataError, match="the graph cannot be read as an adjacency matrix"):
            read_graph([[0, 1], [1]])


class TestDirected:
    @pytest.mark.parametrize("container", ["array", "csr_array"])
    def test_refused_with_the_remedy(self, container):
        graph = read_graph(CONTAINERS[container](ARCS))
        for refuse in (None, False):
            with pytest.raises(DataError, match=r"X is directed: .* by up to 2\..*symmetrize='mean'.*symmetrize='max'"):
                undirected(graph, refuse, "X")

    @pytest.mark.parametrize("container", ["array", "csr_array"])
    def test_made_undirected(self, container):
        graph = read_graph(CONTAINERS[container](ARCS))
        mean = [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
        np.testing.assert_array_equal(dense(undirected(graph, "mean")), mean)
        np.testing.assert_array_equal(dense(undirected(graph, True)), mean)
        np.testing.assert_array_equal(dense(undirected(graph, "max")), [[0, 3, 0], [3, 0, 2], [0, 2, 0]])
        np.testing.assert_array_equal(dense(graph.adjacency), ARCS)

    @pytest.mark.parametrize("how", [None, "mean", "max"])
    def test_an_undirected_graph_stays(self, how):
        np.testing.assert_array_equal(undirected(read_graph(PATH), how), PATH)

    def test_unknown(self):
        with pytest.raises(IncompatibleError, match="symmetrize can be None, 'mean' or 'max'; got 'min'"):
            undirected(read_graph(PATH), "min")

    def test_asymmetry(self):
        assert asymmetry(PATH) == 0
        assert asymmetry(ARCS) == asymmetry(sparse.csr_array(ARCS)) == 2
        assert isinstance(read_graph(ARCS), Graph)


class TestCosines:
    X = np.array([[3.0, 4, 0], [4, 3, 0], [0, 0, 2], [0, 0, 0]])
    EXPECTED = np.array([[1, 0.96, 0, 0], [0.96, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])

    def test_dense(self):
        np.testing.assert_allclose(cosine_graph(self.X), self.EXPECTED, atol=1e-15)

    def test_sparse_stays_sparse(self):
        cosines = cosine_graph(sparse.csr_array(self.X))
        assert sparse.issparse(cosines)
        assert cosines.nnz == 5
        np.testing.assert_allclose(cosines.toarray(), self.EXPECTED, atol=1e-15)

    def test_negative(self):
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            cosine_graph(-self.X)

    def test_too_many_samples(self, monkeypatch):
        monkeypatch.setattr("nonneg.graph.similarities.LARGEST", 0.75)
        with pytest.raises(DataError, match=r"X has 4 samples.*kneighbors_graph"):
            cosine_graph(self.X)
        assert cosine_graph(sparse.csr_array(self.X)).shape == (4, 4)


@pytest.mark.parametrize(("parameters", "match"), [
    ({"label": 3}, "label must be a str, .*; got 3"),
    ({"signed": "no"}, "signed must be True or False; got 'no'"),
])  # fmt: skip
def test_parameters_are_named(parameters, match):
    with pytest.raises(IncompatibleError, match=match):
        read_graph(np.eye(2), **parameters)
