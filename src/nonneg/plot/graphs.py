"""Graphs in parts, graphs matched, and chains of states."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import IncompatibleError, needed
from ..kernels.csr import to_csr
from .axes import axes, colours, ink_on, without_frame
from .views import names_of, top_of

_NAMED = 60
"""Vertices up to which their names are drawn."""


def partition(model: Any, graph: Any, *, names: Any = None, positions: Any = None, ax: Any = None) -> Any:
    """A graph with its vertices coloured by the parts they belong to.

    Parameters
    ----------
    model : GraphClustering, or array of labels
        Fitted; or the part of each vertex.
    graph : networkx graph, sparse array or array of shape (n, n)
        The partitioned graph.
    names : sequence of str, optional
        Names of the vertices.
    positions : array of shape (n, 2), optional
        Positions of vertices; by default of springs between neighbours.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    nonneg.graph.GraphClustering : Finds the parts.
    matching : Two graphs.

    Examples
    --------
    >>> from nonneg import graph, plot
    >>> from nonneg.datasets import load_karate
    >>> A = load_karate().adjacency
    >>> axes = plot.partition(graph.GraphClustering(2, random_state=0).fit(A), A)
    """
    A = adjacency(graph)
    labels = np.asarray(getattr(model, "labels_", model))
    if labels.shape != (A.shape[0],):
        raise IncompatibleError(f"There are labels for {labels.size} vertices, and the graph has {A.shape[0]}.")
    where = laid_out(A) if positions is None else np.asarray(positions, dtype=float)
    ax = axes(ax, (6.5, 5.5))
    palette = colours(int(labels.max()) + 1)
    _edges(ax, A, where, [palette[labels[i]] if labels[i] == labels[j] else (0.75, 0.75, 0.75, 1.0) for i, j in _ends(A)])
    inks = [ink_on(palette[label]) for label in labels]
    _vertices(ax, where, palette[labels], _named(graph, names, A.shape[0]), inks)
    without_frame(ax)
    ax.set_aspect("equal")
    ax.margins(0.08)
    ax.set_title(f"{A.shape[0]} vertices in {len(np.unique(labels))} parts")
    return ax


def matching(found: Any, A: Any, B: Any, *, ax: Any = None) -> Any:
    """Two graphs beside each other, B drawn as A is, with lines between vertices that are matched; edges without a match are red.

    Parameters
    ----------
    found : Matching
        As `nonneg.graph.match_graphs` returns it.
    A, B : networkx graph, sparse array or array
        The two graphs, as they were matched.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    nonneg.graph.match_graphs : Finds the matching.
    partition : A graph and its parts.

    Examples
    --------
    >>> from nonneg import graph, plot
    >>> from nonneg.datasets import load_karate
    >>> A = load_karate().adjacency
    >>> axes = plot.matching(graph.match_graphs(A, A, random_state=0), A, A)
    """
    A, B = adjacency(A), adjacency(B)
    p = found.permutation
    if len(p) != B.shape[0]:
        raise IncompatibleError(f"The matching is of a graph with {len(p)} vertices, and B has {B.shape[0]}.")
    of_A = laid_out(A)
    of_A = (of_A - of_A.min(axis=0)) / np.maximum(np.ptp(of_A, axis=0), 1e-9) * [1.1, 1.0]
    matched = p >= 0
    of_B = laid_out(B) if not matched.any() else np.tile(of_A.mean(axis=0), (len(p), 1))
    of_B[matched] = of_A[p[matched]]
    rest = np.flatnonzero(~matched)
    of_B[rest] += 0.1 * np.column_stack([np.cos(np.arange(len(rest))), np.sin(np.arange(len(rest)))])
    shift = np.array([1.25 * np.ptp(of_A[:, 0]) + 0.15, 0.0])
    of_B = of_B + shift
    ax = axes(ax, (9.0, 4.6))
    confidence = np.asarray(found.confidence)
    from matplotlib.collections import LineCollection

    links = LineCollection(
        [(of_A[p[b]], of_B[b]) for b in np.flatnonzero(matched)],
        colors=[(0.0, 0.45, 0.7, 0.08 + 0.4 * float(np.clip(confidence[b], 0, 1))) for b in np.flatnonzero(matched)],
        linewidths=0.8,
        zorder=0,
    )
    ax.add_collection(links)
    grey, red = (0.6, 0.6, 0.6, 1.0), (0.84, 0.37, 0.0, 1.0)
    back = np.full(A.shape[0], -1)
    back[p[matched]] = np.flatnonzero(matched)
    in_B, in_A = B.toarray(), A.toarray()
    _edges(ax, A, of_A, [grey if back[i] >= 0 and back[j] >= 0 and in_B[back[i], back[j]] else red for i, j in _ends(A)])
    _edges(ax, B, of_B, [grey if p[i] >= 0 and p[j] >= 0 and in_A[p[i], p[j]] else red for i, j in _ends(B)])
    _vertices(ax, of_A, "#0072b2")
    _vertices(ax, of_B, "#0072b2")
    without_frame(ax)
    ax.margins(0.06)
    ax.set_aspect("equal")
    ax.set_title(f"{int(matched.sum())} vertices matched, {found.edge_error} entries differ")
    return ax


def transitions(model: Any, *, least: float = 0.02, count: int = 4, ax: Any = None) -> Any:
    """The states of a chain, as large as they are frequent, with arrows as wide as transitions are probable.

    Parameters
    ----------
    model : QNMFHMM or NNMFHMM
        Fitted.
    least : float, default=0.02
        Transitions less probable than this are not drawn.
    count : int, default=4
        How many of its likeliest symbols a state is described by.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    nonneg.QNMFHMM : A chain.
    nonneg.NNMFHMM : Another way to fit one.

    Examples
    --------
    >>> from nonneg import QNMFHMM, plot
    >>> from nonneg.datasets import make_hidden_chain
    >>> model = QNMFHMM(3, n_init=1, random_state=0).fit_pairs(make_hidden_chain(3, 9, 2000).data)
    >>> axes = plot.transitions(model)
    """
    if not hasattr(model, "transmat_"):
        raise IncompatibleError(f"{type(model).__name__} has no transitions to show.")
    P, start, emissions = np.asarray(model.transmat_), np.asarray(model.startprob_), np.asarray(model.emissionprob_)
    symbols = names_of(model, emissions.shape[1])
    n = len(P)
    ax = axes(ax, (6.0, 6.0))
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    where = np.column_stack([np.cos(angles), np.sin(angles)]) * (1.0 if n > 1 else 0.0)
    distance = 2 * np.sin(np.pi / n) if n > 1 else 1.0
    radii = min(0.34, 0.36 * distance) * (0.45 + 0.55 * np.sqrt(start / start.max()))
    palette = colours(n)
    from matplotlib.patches import Circle, FancyArrowPatch

    for i in range(n):
        for j in range(n):
            if i == j or P[i, j] < least:
                continue
            to = where[j] - where[i]
            length = float(np.linalg.norm(to))
            unit = to / length
            bend = np.array([unit[1], -unit[0]]) * 0.22
            begin = where[i] + radii[i] * _unit(unit + bend)
            end = where[j] - (radii[j] + 0.03) * _unit(unit - bend)
            width = 0.5 + 5 * float(P[i, j])
            arrow = FancyArrowPatch(
                begin,
                end,
                connectionstyle="arc3,rad=0.15",
                arrowstyle=f"-|>,head_length={4 + width},head_width={2 + 0.8 * width}",
                linewidth=width,
                color=(*palette[i][:3], 0.75),
                shrinkA=0,
                shrinkB=0,
                zorder=1,
            )
            ax.add_patch(arrow)
            middle = (begin + end) / 2 + np.array([unit[1], -unit[0]]) * 0.075 * float(np.linalg.norm(end - begin))
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85}
            ax.text(*middle, f"{P[i, j]:.2f}", fontsize="x-small", ha="center", va="center", color="0.25", bbox=box, zorder=3)
    for i in range(n):
        ax.add_patch(Circle(where[i], radii[i], facecolor=palette[i], edgecolor="white", linewidth=1.5, zorder=2))
        top = " ".join(symbols[j] for j in top_of(emissions[i], count))
        inside = f"{i + 1}\n{P[i, i]:.2f} ↻"
        ax.text(*where[i], inside, ha="center", va="center", color=ink_on(palette[i]), fontsize="small", zorder=4)
        out = where[i] * (1 + (radii[i] + 0.07)) if n > 1 else np.array([0.0, -radii[i] - 0.1])
        across = "left" if out[0] > 0.3 else "right" if out[0] < -0.3 else "center"
        up = "bottom" if out[1] > 0.3 else "top" if out[1] < -0.3 else "center"
        ax.text(*out, top, ha=across, va=up, fontsize="small", zorder=4)
    without_frame(ax)
    ax.set_aspect("equal")
    limit = 1.65 if n > 1 else 0.8
    ax.set_xlim(-limit, limit)
    ax.set_ylim(-limit, limit)
    ax.set_title("Transitions between states; ↻ staying")
    return ax


def _unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


def adjacency(graph: Any) -> sparse.csr_array:
    """The weights of a graph, however it is given."""
    if hasattr(graph, "adj") and hasattr(graph, "nodes"):
        return sparse.csr_array(needed("networkx", "graph", "Drawing graphs").to_scipy_sparse_array(graph, dtype=np.float64))
    A = to_csr(graph, "the graph")
    if A.shape[0] != A.shape[1]:
        raise IncompatibleError(f"A graph has as many columns as rows; this has shape {A.shape}.")
    return A


def laid_out(A: sparse.csr_array) -> np.ndarray:
    """Positions of the vertices of a graph: springs between neighbours, settled from the same start each time."""
    networkx = needed("networkx", "graph", "Drawing graphs")
    graph = networkx.from_scipy_sparse_array(A + A.T)
    n = len(graph)
    places = networkx.spring_layout(graph, seed=0, iterations=200 if n <= 300 else 40, k=1.6 / np.sqrt(max(n, 1)), weight=None)
    return np.array([places[i] for i in range(n)])


def _ends(A: sparse.csr_array) -> list[tuple[int, int]]:
    """The pairs of vertices that are neighbours, each once."""
    entries = sparse.coo_array(sparse.triu(A + A.T, k=1))
    return list(zip(entries.coords[0].tolist(), entries.coords[1].tolist(), strict=True))


def _edges(ax: Any, A: sparse.csr_array, where: np.ndarray, colour: Any) -> None:
    from matplotlib.collections import LineCollection

    ends = _ends(A)
    width = float(np.clip(60 / max(len(ends), 1) ** 0.7, 0.25, 1.3))
    ax.add_collection(LineCollection([where[list(pair)] for pair in ends], colors=colour, linewidths=width, alpha=0.7, zorder=1))


def _vertices(ax: Any, where: np.ndarray, colour: Any, names: Any = None, inks: Any = None) -> None:
    size = float(np.clip(9000 / len(where), 14, 260 if names is not None else 70))
    ax.scatter(*where.T, s=size, c=colour, edgecolors="white", linewidths=0.8, zorder=2)
    if names is not None:
        for place, name, ink in zip(where, names, inks, strict=True):
            ax.text(*place, name, fontsize=7, ha="center", va="center", zorder=3, color=ink, clip_on=True)


def _named(graph: Any, given: Any, n: int) -> list[str] | None:
    if n > _NAMED:
        return None
    if given is not None:
        return [str(name)[:10] for name in given]
    return [str(name)[:10] for name in (graph.nodes if hasattr(graph, "nodes") else range(n))]
