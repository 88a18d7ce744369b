"""Vertices that a graph looks the same from, by colour refinement: any of them could be matched in place of another."""

from __future__ import annotations

import numpy as np

from ..kernels.tuned import tuned

_BLOCK = 1_000_000
"""Entries that are looked at together."""
_EFFORT = tuned(3e7, by="graphs", on="2026-11-16")
"""Entries that may be looked at, for each round, to tell vertices apart that refinement alone does not."""
_ODD = tuple(np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def have_doubles(A: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Mask of vertices that share their orbit with another vertex (colour refinement).

    Vertices begin with one colour, which is refined as long as neighbours' colours, with the weights of the edges there and back,
    differ. Vertices of one colour are then told apart, if they are not too many, by refining again with one of them coloured anew.
    Vertices that an automorphism exchanges always have the same colour; strongly regular graphs may have false positives.

    Parameters
    ----------
    A : array of shape (n, n)
        Weights.
    known : array of int
        Vertices that are known apart from all others.
    """
    n = len(A)
    weights = (A + 0.0).astype(np.float64).view(np.uint64)  # −0 is 0
    kinds = _mixed(weights) ^ _mixed(_mixed(weights.T))
    start = np.zeros(n, dtype=np.uint64)
    start[known] = np.arange(1, len(known) + 1, dtype=np.uint64)
    colours = _refined(kinds, start)
    classes, sizes = np.unique(colours, return_inverse=True, return_counts=True)[1:]
    alike = np.flatnonzero(sizes[classes] > 1)
    if len(alike) * n**2 <= _EFFORT:
        seen = colours.copy()
        for vertex in alike:
            alone = colours.copy()
            alone[vertex] = _mixed(alone[vertex] + np.uint64(1))
            seen[vertex] ^= np.bitwise_xor.reduce(_mixed(np.sort(_refined(kinds, alone)) + np.arange(n, dtype=np.uint64)))
        classes, sizes = np.unique(seen, return_inverse=True, return_counts=True)[1:]
    return np.asarray(sizes[classes] > 1)


def _refined(kinds: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Colours that follow from those of all others, until there are no more of them; the same numbers for the same reasons."""
    n, count = len(kinds), len(np.unique(colours))
    step = max(1, _BLOCK // n)
    while count < n:
        others = _mixed(colours)
        sums = [_mixed(kinds[i : i + step] ^ others).sum(axis=1, dtype=np.uint64) for i in range(0, n, step)]
        colours = _mixed(others ^ np.concatenate(sums))
        before, count = count, len(np.unique(colours))
        if count == before:
            break
    return colours


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Other numbers, which have nothing to do with each other where these differ (splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = numbers + _ODD[0]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _ODD[1]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _ODD[2]
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))
