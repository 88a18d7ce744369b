"""
Gene programs from counts
=========================

Counts of 600 cells in an AnnData: four identities, and one activity that some cells of each have.
`nonneg.cells.nmf` with the Poisson divergence keeps the counts sparse, and writes results where
scanpy looks for them.
"""

import matplotlib.pyplot as plt
import numpy as np
from anndata import AnnData
from scipy import sparse

from nonneg import cells

rng = np.random.default_rng(0)
programs = rng.gamma(0.3, 1.0, (5, 200))
identity = rng.integers(4, size=600)
usage = np.eye(5)[identity] + 0.8 * np.eye(5)[np.full(600, 4)] * (rng.random((600, 1)) < 0.3)
counts = sparse.csr_matrix(rng.poisson(5 * usage @ programs).astype(np.float32))
adata = AnnData(counts)
adata.var_names = [f"gene{j}" for j in range(200)]

cells.nmf(adata, 5, divergence="kl")
print(adata)

# %%
# Usages are in ``obsm["X_nmf"]``, programs in ``varm["nmf"]``.

order = np.argsort(identity, kind="stable")
shares = adata.obsm["X_nmf"] / adata.obsm["X_nmf"].sum(axis=1, keepdims=True)
figure, axes = plt.subplots(figsize=(8, 2.6))
axes.imshow(shares[order].T, aspect="auto", cmap="Greens")
axes.set(xlabel="cells, by identity", ylabel="program")

# %%
# Markers: genes whose share in a program is far above their share in all cells.

print(cells.markers(adata, count=5))
