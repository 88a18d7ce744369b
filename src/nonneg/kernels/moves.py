"""Partitions improved by moving single vertices, as long as Σₖ sₖ/vₖ grows: sₖ = Σ M_ij within part k, vₖ its weight.

The weight of a part is that of its vertices, and what every part has besides, `empty`: 0 for most S. Where vertices have no weight,
all sₖ are divided by the same.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled, inlined


@inlined
def _moved(
    towards: np.ndarray,
    allowed: np.ndarray,
    own: int,
    itself: float,
    weight: float,
    inside: np.ndarray,
    volumes: np.ndarray,
    sizes: np.ndarray,
    empty: float,
    least: float,
) -> int:
    """The part that gains most by a vertex, by more than `least`, and its own if none does; what is known of both parts is changed.

    The vertex has Σ M_ij `towards` each part, M_ii `itself`, and its weight.
    """
    rest = inside[own] - 2 * towards[own] + itself
    loss = inside[own] / volumes[own]
    if sizes[own] > 1:
        loss -= rest / (volumes[own] - weight)
    best, most = own, least
    for k in range(len(volumes)):
        if k != own and allowed[k]:
            gain = (inside[k] + 2 * towards[k] + itself) / (volumes[k] + weight) - loss
            if sizes[k] > 0:
                gain -= inside[k] / volumes[k]
            if gain > most:
                best, most = k, gain
    if best != own:
        inside[own], inside[best] = rest, inside[best] + 2 * towards[best] + itself
        volumes[own] -= weight
        volumes[best] += weight
        sizes[own] -= 1
        sizes[best] += 1
        if sizes[own] == 0:
            inside[own], volumes[own] = 0.0, empty
    return best


@compiled
def move_vertices(
    order: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    entries: np.ndarray,
    diagonal: np.ndarray,
    factor: float,
    u: np.ndarray,
    weights: np.ndarray,
    movable: np.ndarray,
    allowed: np.ndarray,
    labels: np.ndarray,
    inside: np.ndarray,
    volumes: np.ndarray,
    shares: np.ndarray,
    sizes: np.ndarray,
    empty: float,
    least: float,
    may_be_empty: bool,
) -> int:
    """One visit to each vertex, in the order given, moving it to the part where it adds most. Returns how many were moved.

    Vertex i may go to part k where movable[i] and allowed[i, k]. M is given in compressed rows, less factor · u uᵀ; its diagonal is
    given without that. `labels`, and of each part s (`inside`), v (`volumes`), Σ u (`shares`) and the number of vertices (`sizes`)
    are kept up to date. Empty parts count nothing; parts become so only if they may.
    """
    parts, moved = len(volumes), 0
    towards = np.zeros(parts)
    for i in order:
        own = labels[i]
        if not movable[i] or (sizes[own] <= 1 and not may_be_empty):
            continue
        for k in range(parts):
            towards[k] = -factor * u[i] * shares[k]
        for t in range(indptr[i], indptr[i + 1]):
            towards[labels[indices[t]]] += entries[t]
        itself = diagonal[i] - factor * u[i] * u[i]
        best = _moved(towards, allowed[i], own, itself, weights[i], inside, volumes, sizes, empty, least)
        if best != own:
            shares[own] -= u[i]
            shares[best] += u[i]
            labels[i] = best
            moved += 1
    return moved


@compiled
def move_vertices_dense(
    order: np.ndarray,
    matrix: np.ndarray,
    weights: np.ndarray,
    movable: np.ndarray,
    allowed: np.ndarray,
    labels: np.ndarray,
    inside: np.ndarray,
    volumes: np.ndarray,
    sizes: np.ndarray,
    empty: float,
    least: float,
    may_be_empty: bool,
) -> int:
    """`move_vertices` for M as an array."""
    parts, moved, n = len(volumes), 0, len(labels)
    towards = np.zeros(parts)
    for i in order:
        own = labels[i]
        if not movable[i] or (sizes[own] <= 1 and not may_be_empty):
            continue
        towards[:] = 0.0
        for j in range(n):
            towards[labels[j]] += matrix[i, j]
        best = _moved(towards, allowed[i], own, matrix[i, i], weights[i], inside, volumes, sizes, empty, least)
        if best != own:
            labels[i] = best
            moved += 1
    return moved
