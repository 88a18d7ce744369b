"""How well clusters agree with classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from ._reading import contingency


def purity(labels_true: Any, labels_pred: Any) -> float:
    """The share of samples that belong to the largest class of their cluster: ONL Eq. 44 (FONT Eq. 22 is that of one cluster).

    From the share of the largest class to 1, which is best: every cluster lies within a class.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Class and cluster of each sample, as numbers or strings.

    Returns
    -------
    float
        At most 1, the best.

    See Also
    --------
    clustering_accuracy : Each cluster matched to one class.
    normalized_entropy : How mixed clusters are.

    Notes
    -----
    It never falls when a cluster is split, so it compares only clusterings with equally many clusters.

    Examples
    --------
    One of the five samples is not of its cluster's majority; with a cluster for each sample, none can be:

    >>> purity(["a", "a", "a", "b", "b"], [0, 0, 1, 1, 1])
    0.8
    >>> purity(["a", "a", "a", "b", "b"], [0, 1, 2, 3, 4])
    1.0
    """
    table = contingency(labels_true, labels_pred)
    return float(table.max(axis=1).sum() / table.sum())  # ONL Eq. 44


def clustering_entropy(labels_true: Any, labels_pred: Any) -> float:
    """The mean entropy of the classes within a cluster, weighted by the clusters' sizes, in nats: FONT Eq. 23.

    From 0, which is best (every cluster lies within a class), to ln c for c classes.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Class and cluster of each sample, as numbers or strings.

    Returns
    -------
    float
        In nats; 0 is the best.

    See Also
    --------
    normalized_entropy : The same between 0 and 1.
    purity : The share of the largest class of each cluster.

    Notes
    -----
    In print E_j lacks the minus, which would make the best clustering the largest, and the logarithm has no base; here it is the
    natural one. `normalized_entropy` is this divided by ln c.

    No entropy is below −ln(purity), but FONT prints .760 for the words of ohscal, of purity .374 (Table 2). All of that table
    fits `normalized_entropy`.

    Examples
    --------
    Clusters that know nothing of two equal classes leave one bit, which is ln 2:

    >>> round(clustering_entropy([0, 1, 0, 1], ["x", "x", "y", "y"]), 4)
    0.6931
    """
    return _entropy(contingency(labels_true, labels_pred))


def normalized_entropy(labels_true: Any, labels_pred: Any) -> float:
    """The entropy of the classes within a cluster as a share of the largest possible: PNMF Eq. 36.

    From 0, which is best (every cluster lies within a class), to 1. With a single class it is 0.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Class and cluster of each sample, as numbers or strings.

    Returns
    -------
    float
        Between 0, the best, and 1.

    See Also
    --------
    clustering_entropy : The same in nats.
    purity : The share of the largest class of each cluster.

    Notes
    -----
    The m of the printed log₂ m is c, the number of classes, and its n_i^i is n_i^j.

    Examples
    --------
    Clusters that know nothing of equal classes score 1, however many classes there are:

    >>> round(normalized_entropy([0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1]), 4)
    1.0
    """
    table = contingency(labels_true, labels_pred)
    if table.shape[1] == 1:
        return 0.0
    return min(_entropy(table) / math.log(table.shape[1]), 1.0)  # PNMF Eq. 36, whose base cancels; rounding may put it above one


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """The share of samples in the class of their cluster, clusters and classes matched one to one: PNMF Eq. 35.

    From 1/max(c, k) for c classes and k clusters to 1, which is best: the clusters are the classes. Never above the purity. If
    k and c differ, the samples of clusters or classes left over count as wrong.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Class and cluster of each sample, as numbers or strings.

    Returns
    -------
    float
        At most 1, the best.

    See Also
    --------
    purity : Without matching clusters to classes.
    normalized_entropy : How mixed clusters are.

    Examples
    --------
    Names of clusters do not matter, but one too many does:

    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    from scipy.optimize import linear_sum_assignment

    table = contingency(labels_true, labels_pred).toarray()
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / table.sum())  # PNMF Eq. 35


def _entropy(table: sparse.csr_array) -> float:
    """Σ_j N_j/N · E_j with E_j = −Σ_i p_ij ln p_ij and p_ij = N_ij/N_j, for clusters j and classes i."""
    pairs = table.tocoo()
    sizes = table.sum(axis=1)[pairs.row]
    return float(np.sum(pairs.data * np.log(sizes / pairs.data)) / np.sum(pairs.data))  # FONT Eq. 23
