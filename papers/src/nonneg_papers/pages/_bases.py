"""What pages ask of bases and the library has no name for. A basis has its components in columns, as in the papers."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment


def unit(W: np.ndarray) -> np.ndarray:
    """The basis with components of length one."""
    return W / np.linalg.norm(W, axis=0)


def matched(W: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The components of W in the order in which they fit those of another basis best."""
    return W[:, linear_sum_assignment(unit(other).T @ unit(W), maximize=True)[1]]


def likeness(W: np.ndarray, other: np.ndarray) -> float:
    """The mean cosine between the components of two bases, matched at best."""
    return float(np.sum(unit(matched(W, other)) * unit(other), axis=0).mean())


def unit_length_entropy(W: np.ndarray) -> float:
    """−Σ w ln w, averaged over components of length one: PNMF Eq. 37 with the lengths of its Eq. 38."""
    W = unit(W)
    return float(np.mean(-np.sum(W * np.log(W, out=np.zeros_like(W), where=W > 0), axis=0)))


def largest_cosine(W: np.ndarray) -> float:
    """Between two different components: how far those overlap that overlap most."""
    cosines = unit(W).T @ unit(W)
    return float(np.max(cosines - np.diag(np.diag(cosines))))


def held_by_largest(W: np.ndarray) -> float:
    """What share of a feature's entries its largest one holds, components of length one: the mean over features that have any."""
    W = unit(W)
    total = W.sum(axis=1)
    return float(np.mean(W.max(axis=1)[total > 0] / total[total > 0]))
