"""
Which vertex is which?
======================

Two copies of a graph, the second with its vertices shuffled and some edges gone.
`nonneg.graph.match_graphs` finds the correspondence.
"""

import networkx
import numpy as np

from nonneg import plot
from nonneg.graph import match_graphs

rng = np.random.default_rng(0)
graph = networkx.random_geometric_graph(24, 0.32, seed=5)
A = networkx.to_numpy_array(graph, weight=None)
true = rng.permutation(24)
B = A[np.ix_(true, true)]
for i, j in list(zip(*np.triu(B).nonzero(), strict=True))[::12]:
    B[i, j] = B[j, i] = 0

found = match_graphs(A, B, random_state=0)
print(f"{(found.permutation == true).sum()} of 24 vertices are matched right")
plot.matching(found, A, B)
