"""
Communities of a novel
======================

Who meets whom in Les Misérables, from networkx. ``n_clusters="auto"`` chooses the number of
communities: the largest whose partitions of subgraphs agree.
"""

import networkx

from nonneg import plot
from nonneg.graph import GraphClustering

graph = networkx.les_miserables_graph()
model = GraphClustering("auto", random_state=0).fit(graph)
for number, community in enumerate(model.communities_):
    print(number, ", ".join(sorted(map(str, community))[:6]))
plot.partition(model, graph)
