"""
Communities of a novel
======================

Who meets whom in Les Misérables, from networkx, in six communities: of 2 to 7, modularity is
largest there. ``n_clusters="auto"`` takes the largest number whose partitions of subgraphs agree,
and warns here, since those of this graph agree at none: it takes five, the smallest number with a
modularity within 5 % of the largest.
"""

import networkx

from nonneg import plot
from nonneg.graph import GraphClustering

graph = networkx.les_miserables_graph()
model = GraphClustering(6, random_state=0).fit(graph)
for number, community in enumerate(model.communities_):
    print(number, ", ".join(sorted(map(str, community))[:6]))
plot.partition(model, graph)
