"""Graphs: partitioned, and matched with each other.

A graph is a networkx graph, a SciPy sparse array, or an array of affinities; see `GraphClustering` and `match_graphs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._reading import Graph, read_graph
from .similarities import SIMILARITIES, DiscriminativeKMeans, Modularity, Regularized, Similarity, VertexSimilarity, cosine_graph

if TYPE_CHECKING:
    from .clustering import GraphClustering
    from .matching import Matching, match_graphs

__all__ = [
    "SIMILARITIES",
    "DiscriminativeKMeans",
    "Graph",
    "GraphClustering",
    "Matching",
    "Modularity",
    "Regularized",
    "Similarity",
    "VertexSimilarity",
    "cosine_graph",
    "match_graphs",
    "read_graph",
]


def __getattr__(name: str) -> Any:
    """Import names that need scikit-learn or SciPy's optimisers on first use."""
    homes = {"GraphClustering": "clustering", "Matching": "matching", "match_graphs": "matching"}
    if name not in homes:
        raise AttributeError(f"module 'nonneg.graph' has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = found = getattr(import_module(f".{homes[name]}", __name__), name)
    return found
