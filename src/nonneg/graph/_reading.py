"""From whatever a graph comes as to its adjacency matrix, or to a sentence that says why not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from .. import io
from ..data.reading import refuse_masked
from ..exceptions import DataError, IncompatibleError
from ..kernels.csr import to_csr
from ..kernels.namespace import is_array, to_host
from ..kernels.tuned import tuned
from ._edges import is_edge_list, is_igraph, of_edges, of_igraph

Symmetrize = Literal["mean", "max"]
_ROUNDED = 1e-9
"""By what share of the largest weight mirror images may differ."""


@dataclass(frozen=True)
class Graph:
    """A graph as it was read.

    Attributes
    ----------
    adjacency : csr_array or array of shape (n, n)
        Weights in float64, sparse unless it was given dense.
    names : array of shape (n,)
        What the vertices are called: the nodes of a networkx graph, or their numbers.
    directed : bool

    See Also
    --------
    read_graph : Returns one.

    Examples
    --------
    >>> from nonneg.graph import read_graph
    >>> read_graph([("a", "b"), ("b", "c")]).names.tolist()
    ['a', 'b', 'c']
    """

    adjacency: Any
    names: np.ndarray
    directed: bool

    @property
    def n(self) -> int:
        return int(self.adjacency.shape[0])


def read_graph(graph: Any, label: str = "the graph", *, signed: bool = False) -> Graph:
    """The adjacency matrix of a graph.

    Parameters
    ----------
    graph : networkx or igraph graph, path, edges, sparse array, or array or table of shape (n, n)
        A path is of .gml, .graphml, .net, .edges, or of a square table.
        Edges are a list of tuples (a, b) or (a, b, weight), or a table with columns "source", "target" and, if there are weights,
        "weight"; each edge is listed once, or each both ways. Of a graph, the attribute "weight" of an edge, 1 where it has none.
        Parallel edges add up. A table of weights has the same names for its rows and columns.
    label : str
        What to call it in an error.
    signed : bool
        Whether weights may be negative.

    Returns
    -------
    Graph
        Adjacency matrix, names of the vertices, and whether edges have a direction.

    See Also
    --------
    Graph : What is returned.
    nonneg.files.read : Tables.

    Examples
    --------
    >>> from nonneg.graph import read_graph
    >>> read_graph([("a", "b", 2.0), ("b", "c", 1.0)]).adjacency.toarray()
    array([[0., 2., 0.],
           [2., 0., 1.],
           [0., 1., 0.]])
    """
    if not isinstance(label, str):
        raise IncompatibleError(f"label must be a str, the name of the graph in errors; got {label!r}.")
    if not isinstance(signed, bool | np.bool_):
        raise IncompatibleError(f"signed must be True or False; got {signed!r}.")
    if isinstance(graph, str | os.PathLike):
        table = io.read_graph(graph)
        graph, names = table.values, np.arange(table.shape[0]) if table.samples is None else np.asarray(table.samples, dtype=object)
        adjacency = read_adjacency(graph, label)
    elif is_networkx(graph):
        import networkx

        if len(graph) == 0:
            raise DataError(f"{label} has no vertices.")
        names = np.empty(len(graph), dtype=object)
        names[:] = list(graph)
        try:
            adjacency = networkx.to_scipy_sparse_array(graph, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"{label} has an edge whose weight is not a number: {error}.") from error
    elif is_igraph(graph) or is_edge_list(graph):
        adjacency, names = of_igraph(graph, label) if is_igraph(graph) else of_edges(graph, label)
    else:
        adjacency = read_adjacency(graph, label)
        names = names_of_table(graph, label) if hasattr(graph, "columns") else np.arange(adjacency.shape[0])
    adjacency = check_weights(adjacency, label, signed=signed)
    return Graph(adjacency, names, directed=asymmetry(adjacency) > 0)


def is_graph(graph: Any) -> bool:
    """Whether it is a graph, or its edges, rather than a matrix."""
    return is_networkx(graph) or is_igraph(graph) or is_edge_list(graph) or isinstance(graph, str | os.PathLike)


def names_of_table(table: Any, label: str) -> np.ndarray:
    """The names of the rows and columns of a table of weights, or numbers."""
    columns = list(table.columns)
    index = list(getattr(table, "index", range(len(columns))))
    if not all(isinstance(name, str) for name in columns):
        return np.arange(len(columns))
    if index != columns and index != list(range(len(columns))):
        raise DataError(f"{label} has other names for its rows than for its columns, or in another order.")
    names = np.empty(len(columns), dtype=object)
    names[:] = columns
    return names


def is_networkx(graph: Any) -> bool:
    """Whether it is a graph of networkx, which is not imported to find out."""
    return hasattr(graph, "is_directed") and hasattr(graph, "adj") and hasattr(graph, "nodes")


def read_adjacency(graph: Any, label: str) -> Any:
    """A square matrix of float64, sparse in canonical form or dense; sparse also where a dense one has few entries.

    What is stored so or so then takes one path, and comes to the same partition.
    """
    refuse_masked(graph, label)
    if not sparse.issparse(graph):
        try:
            graph = _as_array(graph)
        except ValueError as error:
            raise DataError(f"{label} cannot be read as an adjacency matrix: {error}.") from error
    if looks_like_edges(graph):
        raise DataError(edges_given(graph, label))
    if graph.dtype.kind not in "fiub":
        raise DataError(
            f"{label} holds entries of type {graph.dtype}, which are not weights. Give a networkx graph, or a square array."
        )
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise DataError(
            f"{label} must be a networkx graph or a square adjacency matrix; got shape {tuple(graph.shape)}. Rectangular data "
            "become a graph by nonneg.graph.cosine_graph."
        )
    if graph.shape[0] == 0:
        raise DataError(f"{label} has no vertices.")
    if not sparse.issparse(graph) and graph.shape[0] > _MANY and _FEW * np.count_nonzero(graph) < graph.size:
        graph = sparse.csr_array(graph)
    if sparse.issparse(graph):
        adjacency = to_csr(graph, label, dtype=np.float64, copy=True)
        adjacency.sum_duplicates()
        adjacency.eliminate_zeros()
        return adjacency
    return np.ascontiguousarray(graph, dtype=np.float64)


def _as_array(graph: Any) -> np.ndarray:
    return to_host(graph) if is_array(graph) else np.asarray(graph)


_MANY, _FEW = tuned((400, 10), by="graphs", on="2026-11-17")
"""Vertices, and how many times fewer edges than entries, from which a graph is kept by its edges."""


def looks_like_edges(graph: Any) -> bool:
    """Whether it has a row for each edge, of two ends and perhaps a weight, in place of a matrix; or a column for each edge."""
    if sparse.issparse(graph) or isinstance(graph, str) or not hasattr(graph, "__len__"):
        return False
    try:
        table = _as_array(graph)
    except ValueError:
        return False
    if table.ndim != 2 or table.shape[0] == table.shape[1] or 2 not in (table.shape[1], table.shape[0], table.shape[1] - 1):
        return False
    if table.dtype.kind in "USO":
        return table.shape[1] in (2, 3)
    if table.dtype.kind not in "fiu" or not table.size:
        return False
    ends = table[:, :2].T if table.shape[1] in (2, 3) else table
    return bool((ends >= 0).all() and (ends == np.floor(ends)).all() and (ends[0] != ends[1]).any() and ends.max() < 2**53)


def edges_given(graph: Any, label: str) -> str:
    """The advice for a list of edges in place of a matrix; "" if it is none."""
    table = _as_array(graph)
    if table.dtype.kind in "USO":
        add = "add_weighted_edges_from" if table.shape[1] == 3 else "add_edges_from"
        return (
            f"{label} has shape {table.shape} and looks like a list of edges between vertices with names. Give a graph or its "
            f"adjacency matrix. Make one: graph = networkx.Graph(); graph.{add}(edges)."
        )
    across = table.shape[1] not in (2, 3)
    ends = table if across else table[:, :2].T
    n, count = int(ends.max()) + 1, ends.shape[1]
    weights = "edges[:, 2]" if not across and table.shape[1] == 3 else f"numpy.ones({count})"
    rows = "edges" if across else "edges[:, :2].T"
    return (
        f"{label} has shape {table.shape} and looks like a list of {count} edges; the adjacency matrix is needed, here of "
        f"{n} × {n}. Make one: A = scipy.sparse.coo_array(({weights}, {rows}.astype(int)), shape=({n}, {n})); A = A + A.T, if each "
        "edge is listed once."
    )


def check_weights(adjacency: Any, label: str, *, signed: bool = False) -> Any:
    """The matrix as it is, or an error that says which weight cannot be."""
    entries = adjacency.data if sparse.issparse(adjacency) else adjacency
    for wrong, what, remedy in (
        (~np.isfinite(entries), "not finite", "Drop those edges, or give them a weight."),
        (entries < 0 if not signed else np.zeros(0, dtype=bool), "negative", "Only weights of zero and above can be used here."),
    ):
        if wrong.any():
            places = adjacency.tocoo().coords if sparse.issparse(adjacency) else np.indices(adjacency.shape, sparse=False)
            i, j = (int(np.asarray(place).reshape(-1)[int(np.argmax(wrong.reshape(-1)))]) for place in places)
            count = int(wrong.sum())
            raise DataError(
                f"{label} has {count} weight{'s that are' if count > 1 else ' that is'} {what}, the first "
                f"({float(entries.reshape(-1)[int(np.argmax(wrong.reshape(-1)))]):g}) between vertices {i} and {j}. {remedy}"
            )
    return adjacency


def asymmetry(adjacency: Any) -> float:
    """The largest difference between the weights of an edge in its two directions; 0 if it is rounding."""
    difference = abs(adjacency - adjacency.T)
    most = float(difference.max()) if difference.shape[0] else 0.0
    return most if most > _ROUNDED * float(abs(adjacency).max()) else 0.0


def check_symmetrize(symmetrize: Any) -> None:
    """An error if it is not a way to make a graph undirected."""
    if (
        symmetrize is not None
        and not isinstance(symmetrize, bool)
        and not (isinstance(symmetrize, str) and symmetrize in ("mean", "max"))
    ):
        raise IncompatibleError(f"symmetrize can be None, 'mean' or 'max'; got {symmetrize!r}.")


def undirected(graph: Graph, symmetrize: Symmetrize | bool | None, label: str = "the graph") -> Any:
    """The adjacency matrix of an undirected graph; of a directed one, made so as asked, or refused."""
    check_symmetrize(symmetrize)
    A = graph.adjacency
    if not graph.directed:
        return (A + A.T) / 2
    if not symmetrize:
        raise DataError(
            f"{label} is directed: some weights differ from those of the way back, by up to {asymmetry(A):g}. Partitions are of "
            "undirected graphs: symmetrize='mean' takes the mean of both ways, symmetrize='max' the larger one."
        )
    if symmetrize == "max":
        return A.maximum(A.T) if sparse.issparse(A) else np.maximum(A, A.T)
    return (A + A.T) / 2
