"""
Two sides of a karate club
==========================

Zachary's karate club split in two. `nonneg.graph.GraphClustering` finds the sides from who met
whom.
"""

from sklearn.metrics import adjusted_rand_score

from nonneg import plot
from nonneg.datasets import load_karate
from nonneg.graph import GraphClustering

club = load_karate()
model = GraphClustering(2, random_state=0).fit(club.adjacency)
print(f"Adjusted Rand index with the sides: {adjusted_rand_score(club.target, model.labels_):.2f}")
plot.partition(model, club.adjacency, names=club.names)
