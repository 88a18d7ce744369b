"""Graphs given by their edges: lists of pairs, tables, graphs of igraph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError

_ENDS = (("source", "target"), ("from", "to"))
"""Columns of a table of edges: networkx's `to_pandas_edgelist`, and igraph's."""


def is_igraph(graph: Any) -> bool:
    """Whether it is a graph of igraph, which is not imported to find out."""
    return type(graph).__module__.partition(".")[0] == "igraph" and hasattr(graph, "get_edgelist")


def is_edge_list(graph: Any) -> bool:
    """Whether it is a list of tuples, a table with columns "source" and "target", or one of names in two columns or three."""
    if isinstance(graph, list | tuple):
        return bool(graph) and all(isinstance(edge, tuple) and len(edge) in (2, 3) for edge in graph)
    if hasattr(graph, "columns") and hasattr(graph, "iloc"):
        return _ends_of(graph) is not None
    return isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape[1] in (2, 3) and _has_names(graph[:, :2])


def _has_names(ends: np.ndarray) -> bool:
    return ends.dtype.kind in "US" or (ends.dtype == object and all(isinstance(name, str) for name in ends.ravel()))


def _ends_of(table: Any) -> tuple[Any, Any] | None:
    """The two columns of a table that have the ends of edges."""
    for ends in _ENDS:
        if set(ends) <= set(table.columns):
            return ends
    first = list(table.columns[:2])
    is_named = len(first) == 2 and table.shape[1] in (2, 3) and _has_names(table[first].to_numpy(dtype=object))
    return (first[0], first[1]) if is_named else None


def of_igraph(graph: Any, label: str) -> tuple[sparse.csr_array, np.ndarray]:
    """The adjacency matrix of a graph of igraph, with the attribute "weight" of its edges, and the names of its vertices."""
    n = graph.vcount()
    if not n:
        raise DataError(f"{label} has no vertices.")
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = _numbers(graph.es["weight"] if "weight" in graph.es.attributes() else np.ones(len(ends)), label)
    A = _matrix(ends, weights, n)
    names = np.empty(n, dtype=object)
    names[:] = graph.vs["name"] if "name" in graph.vs.attributes() else range(n)
    return (A if graph.is_directed() else _both_ways(A)), names


def of_edges(edges: Any, label: str) -> tuple[sparse.csr_array, np.ndarray]:
    """The adjacency matrix of a list of edges, and the names of its vertices in the order in which they come.

    Edges of one graph are each listed once, or each both ways. Where some are and others are not, the graph is directed.
    """
    first, second, weights = _columns(edges, label)
    place: dict[Hashable, int] = {}
    try:
        ends = np.array(
            [
                [place.setdefault(one, len(place)), place.setdefault(other, len(place))]
                for one, other in zip(first, second, strict=True)
            ]
        )
    except TypeError as error:
        raise DataError(f"{label} has an edge whose end is no name: {error}.") from error
    if any(name is None or name != name for name in place):
        raise DataError(f"{label} has an edge with a missing end.")
    A = _matrix(ends, _numbers(weights, label), len(place))
    names = np.empty(len(place), dtype=object)
    names[:] = list(place)
    off = A - sparse.diags_array(A.diagonal())
    back = (abs(off.sign()) * abs(off.T.sign())).nnz
    return (_both_ways(A) if not back else A), names


def _columns(edges: Any, label: str) -> tuple[Sequence[Any], Sequence[Any], Any]:
    """The ends of edges, and their weights."""
    if hasattr(edges, "iloc"):
        ends = _ends_of(edges)
        assert ends is not None
        others = [name for name in edges.columns if name not in ends]
        held = "weight" if "weight" in others else others[0] if others and edges.shape[1] == 3 else None
        weights = np.ones(len(edges)) if held is None else edges[held].to_numpy()
        return edges[ends[0]].tolist(), edges[ends[1]].tolist(), weights
    rows = edges.tolist() if isinstance(edges, np.ndarray) else edges
    has_weights = [len(edge) == 3 for edge in rows]
    if any(has_weights) != all(has_weights):
        raise DataError(f"{label} has edges with a weight and edges without, the first at {has_weights.index(not has_weights[0])}.")
    weights = [_weight(edge[2]) for edge in rows] if has_weights[0] else np.ones(len(rows))
    return [edge[0] for edge in rows], [edge[1] for edge in rows], weights


def _weight(given: Any) -> Any:
    """A weight, or networkx's dict of attributes with one."""
    return given.get("weight", 1.0) if isinstance(given, dict) else given


def _numbers(weights: Any, label: str) -> np.ndarray:
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{label} has an edge whose weight is not a number: {error}.") from error


def _matrix(ends: np.ndarray, weights: np.ndarray, n: int) -> sparse.csr_array:
    """Weights by their ends; those of parallel edges add up."""
    return sparse.csr_array(sparse.coo_array((weights, (ends[:, 0], ends[:, 1])), shape=(n, n)))


def _both_ways(A: sparse.csr_array) -> sparse.csr_array:
    """Edges that are listed once, both ways; loops stay as they are."""
    return sparse.csr_array(A + A.T - sparse.diags_array(A.diagonal()))
