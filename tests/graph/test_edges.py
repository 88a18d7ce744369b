"""Graphs as users have them: edges, tables, networkx and igraph; parts by name, their number suggested, a picture."""

import numpy as np
import pytest

from nonneg import load
from nonneg.exceptions import DataError, FileError, IncompatibleError, ShapeError
from nonneg.graph import GraphClustering, match_graphs, read_graph

networkx = pytest.importorskip("networkx")
PAIRS = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "x"), ("x", "y"), ("y", "z"), ("x", "z")]
SIDES = [{"a", "b", "c"}, {"x", "y", "z"}]


def parts_of(graph, **params):
    return GraphClustering(2, random_state=0, **params).fit(graph).communities_


def tables():
    pandas = pytest.importorskip("pandas")
    graph = networkx.Graph(PAIRS)
    plain = pandas.DataFrame(PAIRS, columns=["one", "other"])
    igraphs = plain.rename(columns={"one": "from", "other": "to"}).assign(kind="road", weight=1.0)
    return [networkx.to_pandas_edgelist(graph), plain, plain.assign(w=2.0), igraphs, networkx.to_pandas_adjacency(graph)]


def test_edges_are_read_by_name():
    for edges in (PAIRS, [(a, b, 2.0) for a, b in PAIRS], np.array(PAIRS), [*PAIRS, *((b, a) for a, b in PAIRS)], tuple(PAIRS)):
        assert parts_of(edges) == SIDES
    assert parts_of(list(networkx.Graph(PAIRS).edges(data=True))) == SIDES


def test_tables_are_read_by_name():
    for table in tables():
        assert sorted(map(sorted, parts_of(table))) == sorted(map(sorted, SIDES))


def test_adjacency_of_edges():
    weighted = [(1, 2, 3.0), (2, 2, 5.0), (2, 4, 1.0), (1, 2, 1.0)]
    graph = read_graph(weighted)
    assert graph.names.tolist() == [1, 2, 4]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 4, 0], [4, 5, 1], [0, 1, 0]])
    assert not graph.directed
    np.testing.assert_array_equal(
        read_graph([(0, 1), (1, 0), (1, 2), (2, 1)]).adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    )


def test_edges_both_ways_for_some_are_a_directed_graph():
    edges = [*PAIRS, ("b", "a")]
    assert read_graph(edges).directed
    with pytest.raises(DataError, match="X is directed"):
        parts_of(edges)
    assert parts_of(edges, symmetrize="max") == SIDES


def test_directed_graphs_are_refused_or_made_undirected():
    graph = networkx.DiGraph(PAIRS)
    with pytest.raises(DataError, match="X is directed"):
        parts_of(graph)
    assert parts_of(graph, symmetrize="mean") == SIDES


def test_parts_of_a_bipartite_graph_have_vertices_of_both_sides():
    draw = np.random.default_rng(0)
    buys = draw.random((60, 36)) < np.where(np.arange(60)[:, None] % 3 == np.arange(36) % 3, 0.5, 0.03)
    graph = networkx.Graph([(f"customer{i}", f"good{j}") for i, j in zip(*np.nonzero(buys), strict=True)])
    assert networkx.is_bipartite(graph)
    found = GraphClustering(3, random_state=0).fit(graph).communities_
    assert {frozenset(int(name.strip("customergd")) % 3 for name in part) for part in found} == {frozenset({k}) for k in range(3)}
    with pytest.raises(DataError, match="must be square"):
        parts_of(buys.astype(float))


def test_igraph_in_and_out():
    igraph = pytest.importorskip("igraph", reason="igraph is under the GPL, and no dependency")
    graph = igraph.Graph.TupleList(PAIRS)
    model = GraphClustering(2, random_state=0).fit(graph)
    assert model.communities_ == SIDES
    model.annotate(graph)
    assert dict(zip(graph.vs["name"], graph.vs["part"], strict=True)) == dict.fromkeys("abc", 0) | dict.fromkeys("xyz", 1)
    weighted = igraph.Graph([(0, 1), (1, 2)], edge_attrs={"weight": [2.0, 3.0]})
    np.testing.assert_array_equal(read_graph(weighted).adjacency.toarray(), [[0, 2, 0], [2, 0, 3], [0, 3, 0]])
    assert read_graph(igraph.Graph([(0, 1)], directed=True)).directed


def test_parts_go_out_by_name(tmp_path):
    pytest.importorskip("pandas")
    graph = networkx.Graph(PAIRS)
    model = GraphClustering(2, random_state=0).fit(graph)
    table = model.to_frame()
    assert table.loc["a", "part"] == 0
    np.testing.assert_allclose(table[["membership 0", "membership 1"]].sum(axis=1), 1)
    assert networkx.community.modularity(graph, model.communities_) > 0.3
    graph.add_node("alone")
    assert model.annotate(graph, "side") is graph
    assert networkx.get_node_attributes(graph, "side") == dict.fromkeys("abc", 0) | dict.fromkeys("xyz", 1)
    with pytest.raises(IncompatibleError, match="graph must be a graph of networkx or igraph; got list"):
        model.annotate(PAIRS)
    model.save(tmp_path / "parts.nonneg")
    assert load(tmp_path / "parts.nonneg").communities_ == SIDES


def test_the_number_of_parts_is_suggested():
    draw = np.random.default_rng(0)
    block = np.arange(72) % 3
    A = np.triu(draw.random((72, 72)) < np.where(block[:, None] == block, 0.5, 0.04), 1).astype(float)
    model = GraphClustering("auto", random_state=0).fit(A + A.T)
    assert model.n_clusters_ == 3
    assert len(np.unique(np.column_stack([model.labels_, block]), axis=0)) == 3
    assert GraphClustering(4, random_state=0).fit(A + A.T).n_clusters_ == 4
    with pytest.raises(ShapeError, match="n_clusters must be an int of at least 1, or 'auto'; got 'all'"):
        GraphClustering("all").fit(A + A.T)


def test_a_suggested_number_that_nothing_speaks_for_warns():
    with pytest.warns(UserWarning, match=r"agree at no number .* 5 is the smallest with a modularity, 0\.5\d+, within 5%"):
        model = GraphClustering("auto", random_state=0).fit(pytest.importorskip("networkx").les_miserables_graph())
    assert model.n_clusters_ == 5


def test_files_are_read_with_their_names(tmp_path):
    graph = networkx.les_miserables_graph()
    networkx.write_gml(graph, tmp_path / "miserables.gml")
    model, other = (GraphClustering(5, random_state=0).fit(X) for X in (tmp_path / "miserables.gml", graph))
    assert model.communities_ == other.communities_
    assert match_graphs(str(tmp_path / "miserables.gml"), graph).edge_error == 0
    np.savetxt(tmp_path / "table.csv", np.ones((5, 4)), delimiter=",")
    with pytest.raises(FileError, match=r"table\.csv, line 1: an edge has two ends and perhaps a weight"):
        GraphClustering(2).fit(tmp_path / "table.csv")
    with pytest.raises(FileNotFoundError, match=r"There is no file nothing\.gml"):
        GraphClustering(2).fit("nothing.gml")


def test_a_picture_with_names():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    ax = GraphClustering(2, random_state=0).fit(PAIRS).plot(PAIRS)
    ax.figure.canvas.draw()
    assert {text.get_text() for text in ax.texts} >= set("abcxyz")
    pyplot.close("all")


@pytest.mark.parametrize(
    ("edges", "match"),
    [
        ([("a", None), ("a", "b")], "an edge with a missing end"),
        ([("a", "b", "x")], "an edge whose weight is not a number"),
        ([("a", "b"), ("b", "c", 2)], "edges with a weight and edges without, the first at 1"),
        ([("a", "b", -1.0), ("b", "c", 2.0)], "weights? that (is|are) negative"),
        ([(["a"], "b")], "an edge whose end is no name"),
    ],
)
def test_mistakes(edges, match):
    with pytest.raises(DataError, match=match):
        parts_of(edges)


def test_a_table_with_other_names_for_rows_than_for_columns():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[0.0, 1], [1, 0]], columns=["a", "b"], index=["b", "a"])
    with pytest.raises(DataError, match="other names for its rows than for its columns"):
        read_graph(table)
