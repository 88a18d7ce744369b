"""Partitions improved by moving single vertices, as long as Σₖ sₖ/vₖ grows: sₖ = Σ M_ij within part k, vₖ its weight.

The weight of a part is that of its vertices, plus `empty`, the same for each part: 0 for most S. If vertices have no weight,
all sₖ are divided by the same.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled, inlined


@inlined
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
    towards: np.ndarray,
    inside: np.ndarray,
    volumes: np.ndarray,
    shares: np.ndarray,
    sizes: np.ndarray,
    empty: float,
    least: float,
    may_be_empty: bool,
) -> int:
    """One visit to each vertex, in the order given, moving it to the part to which it adds most. Returns how many were moved.

    Vertex i may go to part k if movable[i] and allowed[i, k]; it does if that gains more than `least`. M is given in compressed
    rows, less factor · u uᵀ; its diagonal is given without that. `labels`, Σ M_ij of vertex i `towards` part k without what is of
    rank one, and of each part s (`inside`), v (`volumes`), Σ u (`shares`) and the number of vertices (`sizes`) are kept up to date.
    Empty parts count nothing; parts become so only if they may.
    """
    parts, moved = len(volumes), 0
    for i in order:
        own = labels[i]
        if not movable[i] or (sizes[own] <= 1 and not may_be_empty):
            continue
        weight, itself, less = weights[i], diagonal[i] - factor * u[i] * u[i], factor * u[i]
        rest = inside[own] - 2 * (towards[i, own] - less * shares[own]) + itself
        loss = inside[own] / volumes[own]
        if sizes[own] > 1:
            loss -= rest / (volumes[own] - weight)
        best, most, more = own, least, 0.0
        for k in range(parts):
            if k != own and allowed[i, k]:
                joined = inside[k] + 2 * (towards[i, k] - less * shares[k]) + itself
                gain = joined / (volumes[k] + weight) - loss
                if sizes[k] > 0:
                    gain -= inside[k] / volumes[k]
                if gain > most:
                    best, most, more = k, gain, joined
        if best != own:
            for t in range(indptr[i], indptr[i + 1]):
                towards[indices[t], own] -= entries[t]
                towards[indices[t], best] += entries[t]
            inside[own], inside[best] = rest, more
            volumes[own] -= weight
            volumes[best] += weight
            shares[own] -= u[i]
            shares[best] += u[i]
            sizes[own] -= 1
            sizes[best] += 1
            if sizes[own] == 0:
                inside[own], volumes[own] = 0.0, empty
            labels[i] = best
            moved += 1
    return moved


@inlined
def _drawn(state: np.ndarray, below: int) -> int:
    """A number from 0 to `below` − 1 at random; `state` is one of 1 to 2³¹ − 2 (Park and Miller's generator)."""
    state[0] = state[0] * 48271 % 2147483647
    return state[0] * below >> 31


@inlined
def _shake(labels: np.ndarray, free: np.ndarray, parts: int, state: np.ndarray) -> None:
    """Two parts thrown together and cut at random, and every tenth vertex put anywhere, as far as vertices are free.

    The parts are those of two vertices at random; if that is one part, it is cut, and the other goes into any.
    """
    a, b = labels[_drawn(state, len(labels))], labels[_drawn(state, len(labels))]
    if a == b and parts > 1:
        b = _drawn(state, parts - 1)
        b += b >= a
    for i in range(len(labels)):
        if free[i]:
            if labels[i] == a or labels[i] == b:
                labels[i] = a if _drawn(state, 2) else b
            if _drawn(state, 10) == 0:
                labels[i] = _drawn(state, parts)


@inlined
def _fill(labels: np.ndarray, movable: np.ndarray, sizes: np.ndarray, state: np.ndarray) -> None:
    """A vertex for each part that has none, taken from the largest."""
    for part in range(len(sizes)):
        largest = 0
        for k in range(1, len(sizes)):
            if sizes[k] > sizes[largest]:
                largest = k
        if sizes[part] == 0 and sizes[largest] > 1:
            i = _drawn(state, len(labels))
            while labels[i] != largest or not movable[i]:
                i = (i + 1) % len(labels)
            labels[i] = part
            sizes[largest] -= 1
            sizes[part] += 1


@inlined
def _objective(inside: np.ndarray, volumes: np.ndarray) -> tuple[float, float]:
    """The objective Σ sₖ/vₖ, and Σ |sₖ/vₖ|, the size of its terms."""
    total, size = 0.0, 0.0
    for k in range(len(volumes)):
        ratio = inside[k] / volumes[k] if volumes[k] > 0 else inside[k]
        total += ratio
        size += abs(ratio)
    return total, size


@compiled
def settle_vertices(
    shakes: int,
    visits: int,
    in_vain: int,
    returns: int,
    state: np.ndarray,
    tallies: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    entries: np.ndarray,
    diagonal: np.ndarray,
    factor: float,
    u: np.ndarray,
    weights: np.ndarray,
    movable: np.ndarray,
    free: np.ndarray,
    allowed: np.ndarray,
    labels: np.ndarray,
    empty: float,
    may_be_empty: bool,
) -> float:
    """Visits in random order until none moves a vertex any more; then the same from shaken partitions, the best of which is kept.

    There are no more shakes once `in_vain` of them have gained nothing, or `returns` have come back to the best trace. `labels`,
    `state` and `tallies` are kept up to date: shakes in vain, returns, and how many vertices the last visit has moved. A shaken
    partition is left if twice the gain of the last visit would not bring it to the best. Returns the trace.
    """
    n, parts = len(labels), allowed.shape[1]
    order, trial, most = np.arange(n), labels.copy(), 0.0
    inside, volumes, shares, sizes = np.empty(parts), np.empty(parts), np.empty(parts), np.empty(parts, dtype=np.int64)
    towards = np.empty((n, parts))
    for shake in range(shakes + 1):
        if shake > 0:
            if tallies[0] >= in_vain or tallies[1] >= returns:
                break
            for i in range(n):
                trial[i] = labels[i]
            _shake(trial, free, parts, state)
        for k in range(parts):
            sizes[k], volumes[k], shares[k] = 0, empty, 0.0
        for i in range(n):
            sizes[trial[i]] += movable[i]  # a part of vertices without weight is empty
        if not may_be_empty:
            _fill(trial, movable, sizes, state)
        for i in range(n):
            volumes[trial[i]] += weights[i]
            shares[trial[i]] += u[i]
        for k in range(parts):
            inside[k] = -factor * shares[k] * shares[k]
        for i in range(n):
            for k in range(parts):
                towards[i, k] = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                towards[i, trial[indices[t]]] += entries[t]
            inside[trial[i]] += towards[i, trial[i]]
        trace, size = _objective(inside, volumes)
        for _ in range(visits):
            for i in range(n - 1, 0, -1):
                j = _drawn(state, i + 1)
                order[i], order[j] = order[j], order[i]
            tallies[2] = move_vertices(
                order, indptr, indices, entries, diagonal, factor, u, weights, movable, allowed, trial, towards, inside, volumes,
                shares, sizes, empty, 1e-10 * (size + 1e-300), may_be_empty,
            )  # fmt: skip
            before = trace
            trace = _objective(inside, volumes)[0]
            if tallies[2] == 0 or (shake > 0 and trace + 2 * (trace - before) < most):
                break
        if shake > 0:
            rounding = 1e-9 * abs(most)
            if trace > most + rounding:
                tallies[0], tallies[1] = 0, 0
            else:
                tallies[0] += 1
                tallies[1] += trace >= most - rounding
        if shake == 0 or trace > most:
            most = trace
            for i in range(n):
                labels[i] = trial[i]
    return most
