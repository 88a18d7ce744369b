"""Zachary's karate club."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn.utils import Bunch

EDGES = """
1-2 1-3 1-4 1-5 1-6 1-7 1-8 1-9 1-11 1-12 1-13 1-14 1-18 1-20 1-22 1-32 2-3 2-4 2-8 2-14 2-18 2-20 2-22 2-31 3-4 3-8 3-9 3-10 3-14
3-28 3-29 3-33 4-8 4-13 4-14 5-7 5-11 6-7 6-11 6-17 7-17 9-31 9-33 9-34 10-34 14-34 15-33 15-34 16-33 16-34 19-33 19-34 20-34 21-33
21-34 23-33 23-34 24-26 24-28 24-30 24-33 24-34 25-26 25-28 25-32 26-32 27-30 27-34 28-34 29-32 29-34 30-33 30-34 31-33 31-34 32-33
32-34 33-34
"""
WITH_MR_HI = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22)
"""Members of Mr. Hi's faction, from 1."""


def load_karate() -> Bunch:
    """Load Zachary's karate club: a graph of 34 members, and the side of each after the club split.

    Returns
    -------
    Bunch
        ``adjacency`` (34, 34), a csr_array of zeros and ones, symmetric; ``names`` (34,), numbers from 1; ``target`` (34,), the
        side, and ``target_names``; ``DESCR``.

    See Also
    --------
    nonneg.graph.GraphClustering : Finds the two sides.
    nonneg.graph.read_graph : Graphs from files.

    Examples
    --------
    >>> from nonneg.datasets import load_karate
    >>> load_karate().adjacency.shape
    (34, 34)
    """
    from scipy.sparse import coo_array, csr_array
    from sklearn.utils import Bunch

    i, j = np.array([edge.split("-") for edge in EDGES.split()], dtype=np.int32).T - 1
    half = csr_array(coo_array((np.ones(len(i)), (i, j)), shape=(34, 34)))
    members = np.arange(1, 35)
    return Bunch(
        adjacency=csr_array(half + half.T),
        names=members.astype(str),
        target=(~np.isin(members, WITH_MR_HI)).astype(np.int64),
        target_names=np.array(["Mr. Hi", "Officer"]),
        DESCR=DESCRIPTION,
    )


DESCRIPTION = """Zachary's karate club: 34 members, joined if they met outside the club.

Source: W. W. Zachary, An information flow model for conflict and fission in small groups, 1977.

Undirected, not weighted, 78 edges. The target is the side of each member after the club split, 17 each.
"""
