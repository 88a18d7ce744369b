"""
Soft clusters of samples
========================

`nonneg.KernelPNMF` with an RBF kernel gives each flower a share in three clusters, so that those
between two species can be seen.
"""

from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import MinMaxScaler

from nonneg import KernelPNMF, plot

flowers = load_iris()
X = MinMaxScaler().fit_transform(flowers.data)
model = KernelPNMF(3, kernel="rbf", gamma=5.0, random_state=0).fit(X)
print(f"Adjusted Rand index with the species: {adjusted_rand_score(flowers.target, model.labels_):.2f}")
plot.memberships(model, X)
